"""The printed code gives the numbers that the page shows, from the visitor's own files."""

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
from vendiscore_page.inputs.submission import Asked, Given

WORDS = ["apple", "pear", "plum", "sea", "sky", "stone", "river", "cat", "dog", "house"]


def rows(times: int, models: str = "abc"):
    rng = np.random.default_rng(0)
    return [
        (model, f"Question {prompt}?", " ".join(rng.choice(WORDS[: 3 + 2 * at], 4)))
        for prompt in range(6)
        for at, model in enumerate(models)
        for _ in range(times)
    ]


def table(found) -> bytes:
    return "".join(",".join(row) + "\n" for row in [("model", "prompt", "answer"), *found]).encode()


def uploaded(name: str, data: bytes, **asked):
    return uploads.read(Given(files=[(name, data)]), Asked(**asked))


def ran(page, folder, monkeypatch, **files: bytes):
    """Run the code near the files and the download; return its comparison and its last line."""
    monkeypatch.chdir(folder)
    (folder / "vendiscore.json").write_text(json.dumps(page))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(page["code"], names)
    return names["found"], out.getvalue().splitlines()[-1]


@pytest.mark.parametrize(("times", "given"), [(1, False), (3, False), (3, True)])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_code_reads_table_from_uploaded_file(times, given, form, tmp_path, monkeypatch):
    found = rows(times)
    data = table(found)
    if form == "jsonl":
        keys = ("model", "prompt", "answer")
        lines = (json.dumps(dict(zip(keys, row, strict=True))) for row in found)
        data = "\n".join(lines).encode()
    by = "prompt" if times > 1 and not given else None
    asked = {"sets": "model", "by": by, "prompts": "prompt" if given else None}
    samples = uploaded(f"a.{form}", data, column="answer", **asked)
    page = compare_as_json({"a": samples})
    assert f"read_data('a.{form}'" in page["code"]
    assert page["saved"] is None
    result, last = ran(page, tmp_path, monkeypatch, **{f"a.{form}": data})
    check_comparison(page, result)
    assert last == page["sources"]["sentence"]


def test_code_reads_two_uploaded_files(tmp_path, monkeypatch):
    one, two = ("\n".join(text for _, _, text in rows(2, models)).encode() for models in "ab")
    page = compare_as_json({"first": uploaded("1.txt", one), "second": uploaded("2.txt", two)})
    result, _ = ran(page, tmp_path, monkeypatch, **{"1.txt": one, "2.txt": two})
    check_comparison(page, result)


def test_code_reads_two_tables_with_prompts_from_download(tmp_path, monkeypatch):
    one, two = (table(rows(2, model)) for model in "ab")
    sets = {"a": uploaded("1.csv", one, column="answer", model="", pool=True)}
    sets["b"] = uploaded("2.csv", two, column="answer", model="", pool=True)
    page = compare_as_json(sets)
    result, last = ran(page, tmp_path, monkeypatch)
    check_comparison(page, result)
    assert last == page["sources"]["sentence"]


@pytest.mark.parametrize("long", [False, True])
def test_code_contains_short_pasted_samples_and_saves_long_ones(long, tmp_path, monkeypatch):
    models, prompts, texts = zip(*rows(3 if long else 2, "ab"), strict=True)
    texts = [f"{text}{' and so on' * 20 * long}" for text in texts]
    samples = make_samples(list(texts), sets=models, groups=prompts, asked=prompts)
    page = compare_as_json({"A": samples})
    assert (page["saved"] is not None) == ("vendiscore.json" in page["code"]) == long
    result, last = ran(page, tmp_path, monkeypatch)
    check_comparison(page, result)
    assert last == page["sources"]["sentence"]


def test_code_reads_selected_samples_from_download(tmp_path, monkeypatch):
    data = table([*rows(8), ("a", "Question 0?", "")])
    samples = uploaded("a.csv", data, column="answer", sets="model", by="prompt")
    page = compare_as_json({"a": samples}, leave_out=True)
    assert "vendiscore.json" in page["code"]
    check_comparison(page, ran(page, tmp_path, monkeypatch)[0])


def test_code_reads_vectors_from_uploaded_file(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = (
        f"{'ab'[i % 2]}," + ",".join(f"{x:.4f}" for x in rng.normal(size=9)) for i in range(60)
    )
    data = "\n".join(["model," + ",".join(f"x{i}" for i in range(9)), *lines]).encode()
    page = compare_as_json({"a": uploaded("a.csv", data, sets="model")}, "vectors", "rbf")
    result, last = ran(page, tmp_path, monkeypatch, **{"a.csv": data})
    check_comparison(page, result)
    assert last == page["sources"]["sentence"]
    short = compare_as_json(
        {name: make_clusters(5, 2, seed) for seed, name in enumerate("AB")}, "vectors", "cosine"
    )
    check_comparison(short, ran(short, tmp_path, monkeypatch)[0])


def test_code_reads_images_from_one_folder_per_set(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    sets = {}
    for name, count in {"A": 5, "B": 6}.items():
        (tmp_path / name).mkdir()
        images = [
            Image.fromarray(each) for each in rng.integers(1, 255, (count, 8, 8, 3), np.uint8)
        ]
        for i, image in enumerate(images):
            image.save(tmp_path / name / f"{i}.png")
        sets[name] = decode_images(
            [base64.b64encode(encode_png(image)).decode() for image in images]
        )
    page = compare_as_json(sets, "images", "pixels")
    check_comparison(page, ran(page, tmp_path, monkeypatch)[0])
