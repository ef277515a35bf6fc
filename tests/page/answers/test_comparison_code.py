"""The generated Python code of a comparison gives the same numbers as the web app."""

import base64
import contextlib
import io
import json

import numpy as np
import pytest
from image_samples import encode_png
from page_answers import check_comparison, compare_as_json, make_clusters, make_samples
from PIL import Image

pytest.importorskip("matplotlib")
from vendiscore_page.inputs import uploads
from vendiscore_page.inputs.pictures import decode_images
from vendiscore_page.inputs.submission import InputSettings, UserInput

WORDS = ["apple", "pear", "plum", "sea", "sky", "stone", "river", "cat", "dog", "house"]


def make_rows(times: int, models: str = "abc"):
    rng = np.random.default_rng(0)
    return [
        (model, f"Question {prompt}?", " ".join(rng.choice(WORDS[: 3 + 2 * number], 4)))
        for prompt in range(6)
        for number, model in enumerate(models)
        for _ in range(times)
    ]


def encode_table(table_rows) -> bytes:
    return "".join(
        ",".join(row) + "\n" for row in [("model", "prompt", "answer"), *table_rows]
    ).encode()


def read_upload(name: str, data: bytes, **options):
    return uploads.read(UserInput(files=[(name, data)]), InputSettings(**options))


def run_code(page, folder, monkeypatch, **files: bytes):
    """Run the code in a folder with the files and the download; return comparison and last line."""
    monkeypatch.chdir(folder)
    (folder / "vendiscore.json").write_text(json.dumps(page))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(page["code"], names)
    return names["result"], out.getvalue().splitlines()[-1]


@pytest.mark.parametrize(("times", "conditioned"), [(1, False), (3, False), (3, True)])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_code_reads_table_from_uploaded_file(times, conditioned, form, tmp_path, monkeypatch):
    table_rows = make_rows(times)
    data = encode_table(table_rows)
    if form == "jsonl":
        keys = ("model", "prompt", "answer")
        lines = (json.dumps(dict(zip(keys, row, strict=True))) for row in table_rows)
        data = "\n".join(lines).encode()
    by = "prompt" if times > 1 and not conditioned else None
    options = {"sets": "model", "by": by, "prompts": "prompt" if conditioned else None}
    samples = read_upload(f"a.{form}", data, column="answer", **options)
    page = compare_as_json({"a": samples})
    assert f"read_data('a.{form}'" in page["code"]
    assert page["saved"] is None
    result, last_line = run_code(page, tmp_path, monkeypatch, **{f"a.{form}": data})
    check_comparison(page, result)
    assert last_line == page["sources"]["sentence"]


@pytest.mark.filterwarnings("ignore:.* cells .* are missing")
@pytest.mark.parametrize(
    ("correct", "line"),
    [
        ({"correct": "passed"}, "correct = data.correct"),
        ({"correct": "score", "min_quality": 0.3}, "correct = [quality >= 0.3 for quality in "),
    ],
)
@pytest.mark.parametrize("form", ["csv", "pasted"])
def test_code_compares_correct_answers(correct, line, form, tmp_path, monkeypatch):
    rows = [
        (*row, ["yes", "no"][i % 4 == 3], f"{(i % 5) / 5}") for i, row in enumerate(make_rows(5))
    ]
    rows = [row for row in rows if row[:2] != ("a", "Question 0?")]
    header = ("model", "prompt", "answer", "passed", "score")
    data = "".join(",".join(row) + "\n" for row in [header, *rows]).encode()
    options = {"column": "answer", "sets": "model", "by": "prompt", **correct}
    if form == "csv":
        samples = read_upload("a.csv", data, **options)
    else:
        samples = uploads.read(UserInput(text=data.decode()), InputSettings(**options))
    page = compare_as_json({"a": samples})
    assert (line in page["code"]) == (form == "csv")
    result, _ = run_code(page, tmp_path, monkeypatch, **{"a.csv": data})
    check_comparison(page, result)
    assert page["missing_cells"] == result.missing_cells == 1
    values = {(row["a"], row["b"]): row["among_correct"] for row in page["quality"]["parts"]}
    assert len(values) == 3
    for parts in result.quality_parts:
        sign = 1 if (parts.a, parts.b) in values else -1
        value = values[(parts.a, parts.b)[::sign]]
        assert value == pytest.approx(sign * parts.among_correct)


def test_code_reads_two_uploaded_files(tmp_path, monkeypatch):
    one, two = ("\n".join(text for _, _, text in make_rows(2, models)).encode() for models in "ab")
    page = compare_as_json(
        {"first": read_upload("1.txt", one), "second": read_upload("2.txt", two)}
    )
    result, _ = run_code(page, tmp_path, monkeypatch, **{"1.txt": one, "2.txt": two})
    check_comparison(page, result)


def test_code_reads_two_tables_with_prompts_from_download(tmp_path, monkeypatch):
    one, two = (encode_table(make_rows(2, model)) for model in "ab")
    sets = {"a": read_upload("1.csv", one, column="answer", model="", pool=True)}
    sets["b"] = read_upload("2.csv", two, column="answer", model="", pool=True)
    page = compare_as_json(sets)
    result, last_line = run_code(page, tmp_path, monkeypatch)
    check_comparison(page, result)
    assert last_line == page["sources"]["sentence"]


@pytest.mark.parametrize("has_long_texts", [False, True])
def test_code_contains_short_pasted_samples_and_saves_long_ones(
    has_long_texts, tmp_path, monkeypatch
):
    models, prompts, texts = zip(*make_rows(3 if has_long_texts else 2, "ab"), strict=True)
    texts = [f"{text}{' and so on' * 20 * has_long_texts}" for text in texts]
    samples = make_samples(list(texts), sets=models, groups=prompts, asked=prompts)
    page = compare_as_json({"A": samples})
    assert (page["saved"] is not None) == ("vendiscore.json" in page["code"]) == has_long_texts
    result, last_line = run_code(page, tmp_path, monkeypatch)
    check_comparison(page, result)
    assert last_line == page["sources"]["sentence"]


def test_code_reads_selected_samples_from_download(tmp_path, monkeypatch):
    data = encode_table([*make_rows(8), ("a", "Question 0?", "")])
    samples = read_upload("a.csv", data, column="answer", sets="model", by="prompt")
    page = compare_as_json({"a": samples}, leave_out=True)
    assert "vendiscore.json" in page["code"]
    check_comparison(page, run_code(page, tmp_path, monkeypatch)[0])


def test_code_reads_vectors_from_uploaded_file(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = (
        f"{'ab'[i % 2]}," + ",".join(f"{x:.4f}" for x in rng.normal(size=9)) for i in range(60)
    )
    data = "\n".join(["model," + ",".join(f"x{i}" for i in range(9)), *lines]).encode()
    page = compare_as_json({"a": read_upload("a.csv", data, sets="model")}, "vectors", "rbf")
    result, last_line = run_code(page, tmp_path, monkeypatch, **{"a.csv": data})
    check_comparison(page, result)
    assert last_line == page["sources"]["sentence"]
    short = compare_as_json(
        {name: make_clusters(5, 2, seed) for seed, name in enumerate("AB")}, "vectors", "cosine"
    )
    check_comparison(short, run_code(short, tmp_path, monkeypatch)[0])


def test_code_reads_images_from_one_folder_per_set(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    sets = {}
    for name, count in {"A": 5, "B": 6}.items():
        (tmp_path / name).mkdir()
        images = [
            Image.fromarray(pixels) for pixels in rng.integers(1, 255, (count, 8, 8, 3), np.uint8)
        ]
        for i, image in enumerate(images):
            image.save(tmp_path / name / f"{i}.png")
        sets[name] = decode_images(
            [base64.b64encode(encode_png(image)).decode() for image in images]
        )
    page = compare_as_json(sets, "images", "pixels")
    check_comparison(page, run_code(page, tmp_path, monkeypatch)[0])
