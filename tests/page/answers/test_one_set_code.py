"""The generated Python code gives the same score as the web app."""

import base64
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from image_samples import encode_png
from page_answers import make_clusters, make_samples, score_as_json

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore.report import ReadOptions
from vendiscore.result import key_at
from vendiscore_page.answers import api
from vendiscore_page.inputs import examples, uploads
from vendiscore_page.inputs.file_code import FileCode
from vendiscore_page.inputs.submission import InputSettings, UserInput

ROOT = Path(__file__).resolve().parents[3]
IMAGES = examples.find_example("Shapes in three colours").open_images()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working directory, without a clone of the repository."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run_code(capsys):
    """A function that runs code and returns the last printed value."""

    def run(code: str):
        exec(code, {})
        return eval(capsys.readouterr().out.splitlines()[-1])

    return run


FILE_CODE = FileCode("mine.npy", ReadOptions(kind="vectors"), strings=False)


def save_answer(folder: Path, answer: dict) -> None:
    """Save an answer to the file that the page offers as a download."""
    (folder / "vendiscore.json").write_text(json.dumps(answer))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "score",
    [
        lambda: api.vendi_score_texts(
            examples.find_example("A primer").text.splitlines(), ns=[1, 2], q=2
        ),
        lambda: api.vendi_score_molecules(
            examples.find_example("Small medicines").text.splitlines(), q=0.5
        ),
        lambda: api.vendi_score_vectors([[1, 0], [1, 1], [0, 2]], "rbf", 0.7, q="inf"),
        lambda: api.vendi_score_vectors([[1, 0.5], [0.5, 1]], "K"),
        lambda: api.vendi_score_texts([["a b", "a c"], ["d", "d", "e f"]], ns=[1, 2], q=2),
        lambda: api.vendi_score_molecules([["CCO", "CCC"], ["CCCC", "c1ccccc1"]], q=0.5),
        lambda: api.vendi_score_vectors([[[1, 0], [1, 1]], [[0, 2], [3, 1], [1, 1]]], "rbf"),
    ],
)
def test_code_contains_few_samples(run_code, score):
    case = score()
    result = run_code(case["code"])
    key = key_at(case["q"])
    assert result[key] == pytest.approx(case[key], rel=1e-12)
    assert result.get(f"{key}_se", 0) == pytest.approx(case.get(f"{key}_se", 0), rel=1e-9)


def test_code_on_space_loads_metric_of_space(run_code, folder, monkeypatch):
    """The name of a Space is also a path: here, of a local folder with the metric."""
    space = folder / "someone" / "vendiscore"
    space.mkdir(parents=True)
    for name in ("vendiscore.py", "library.py"):
        (space / name).symlink_to(ROOT / name)
    monkeypatch.setenv("SPACE_ID", "someone/vendiscore")
    case = api.vendi_score_texts(["a b", "c d", "a d"])
    assert 'evaluate.load("someone/vendiscore").compute(samples=samples, ' in case["code"]
    assert run_code(case["code"])["VS"] == pytest.approx(case["VS"], rel=1e-12)


LONG = [f"text {i} of many, each of which is a little longer" for i in range(40)]


@pytest.mark.parametrize("kind", ["texts", "molecules"])
def test_code_reads_many_samples_from_download(run_code, folder, kind):
    samples = LONG if kind == "texts" else ["C" * (1 + i % 40) + "O" for i in range(90)]
    answer = score_as_json(samples, kind, "" if kind == "texts" else "morgan")
    save_answer(folder, answer)
    assert run_code(answer["code"])["VS"] == answer["VS"]


def test_code_reads_grouped_samples_from_download(run_code, folder):
    labels = [f"prompt {i % 3}" for i in range(40)]
    answer = score_as_json(make_samples(LONG, groups=labels))
    save_answer(folder, answer)
    result = run_code(answer["code"])
    assert (result["VS"], result["VS_se"]) == (answer["VS"], answer["se"])


def answers_table(rows: int, invalid_text: str = "") -> str:
    """Return a table of answers with spaces around them; sample 3 is `invalid_text`."""
    texts = [f"  {LONG[i % 37]}, or {i % 7}" for i in range(rows)]
    texts[3] = invalid_text
    lines = (f"{'ab'[i % 2]},prompt {i % 3},{text!r}" for i, text in enumerate(texts))
    return "model,prompt,answer\n" + "\n".join(lines).replace("'", '"') + "\n"


LINES = "\n".join(f"  {text} " for text in LONG[:20]) + "\n\n" + "\n".join(LONG[20:])
GROUP_OPTIONS = {"column": "answer", "by": "prompt"}
FILES = {
    "lines.txt": (LINES, {}, {}),
    "letters.txt": (LINES, {}, {"options": {"unit": "char", "ns": [2, 3]}}),
    "western.txt": (LINES.replace("many", "ma\xf1ana").encode("cp1252"), {}, {}),
    "separated.csv": (LINES, {"separator": "line"}, {}),
    "all.csv": (answers_table(40), {"column": "answer", "pool": True}, {}),
    "left_out.csv": (answers_table(40, invalid_text=" "), {"column": "answer", "pool": True}, {}),
    "groups.csv": (answers_table(40), GROUP_OPTIONS, {}),
    "groups_left_out.csv": (answers_table(40, invalid_text=" "), GROUP_OPTIONS, {}),
    "sets.csv": (answers_table(40), {"column": "answer", "sets": "model"}, {}),
    "sets_in_groups.csv": (answers_table(40), GROUP_OPTIONS | {"sets": "model"}, {}),
    "prompts.csv": (answers_table(40), {"column": "answer", "prompts": "prompt"}, {}),
    "one_prompt.csv": (answers_table(40), {"column": "answer", "pool": True}, {"prompts": "Why?"}),
    "drawn.csv": (answers_table(1_100), {"column": "answer", "pool": True}, {}),
    "molecules.csv": (
        "smiles\n" + "\n".join("C" * (1 + i % 40) + "O" for i in range(90)),
        {},
        {"kernel": "morgan"},
    ),
}


@pytest.mark.filterwarnings("ignore:The interval of the mean over 3 groups has width 0")
@pytest.mark.parametrize("name", FILES)
def test_code_reads_texts_from_uploaded_file(run_code, folder, name):
    text, read_options, settings = FILES[name]
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(data)
    samples = uploads.read(UserInput(files=[(name, data)]), InputSettings(**read_options))
    answer = score_as_json(samples, leave_out=True, **settings)
    assert f"read_data('{name}'" in answer["code"]
    assert "vendiscore.json" not in answer["code"]
    result = run_code(answer["code"])
    assert result["VS"] == pytest.approx(answer["VS"], rel=1e-12)
    assert result.get("VS_se") == pytest.approx(answer["se"], rel=1e-9)


def test_code_reads_answer_columns_from_download(run_code, folder):
    texts = [text.replace(",", "") for text in LONG]
    table = "prompt,answer_1,answer_2,answer_3\n" + "\n".join(
        f"prompt {i},{texts[i]},{texts[i + 9]},{texts[i + 20]}" for i in range(15)
    )
    read_options = InputSettings(answers=True)
    answer = score_as_json(uploads.read(UserInput(files=[("a.csv", table.encode())]), read_options))
    save_answer(folder, answer)
    assert run_code(answer["code"])["VS"] == pytest.approx(answer["VS"], rel=1e-12)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("kind", ["texts", "vectors"])
def test_code_contains_few_samples_in_mixed_groups(run_code, kind):
    values = ["a b", "c d", "a c", "e f"] if kind == "texts" else make_clusters(4, 2)
    answer = score_as_json(
        make_samples(values, kind, groups=["x", "y", "x", "y"]),
        kernel="" if kind == "texts" else "rbf",
    )
    result = run_code(answer["code"])
    assert result["VS"] == pytest.approx(answer["VS"], rel=1e-12)
    assert result["VS_se"] == pytest.approx(answer["se"], rel=1e-9)


def test_code_reads_grouped_vectors_from_one_file(run_code, folder):
    X = np.random.default_rng(0).normal(size=(60, 5))
    np.savetxt(folder / "samples.csv", X, delimiter=",", fmt="%.17g")
    rows = [group.tolist() for group in np.split(X, [7, 30])]
    case = api.vendi_score_vectors(rows, "laplacian")
    result = run_code(case["code"])
    assert result["VS"] == pytest.approx(case["VS"], rel=1e-12)
    assert result["VS_se"] == pytest.approx(case["VS_se"], rel=1e-9)


@pytest.mark.parametrize("kernel", ["cosine", "rbf", "K, clipped"])
def test_code_reads_vectors_without_unusable_rows(run_code, folder, kernel):
    X = make_clusters(50, 50)
    X = np.exp(-np.abs(np.subtract.outer(X[:, 0], X[:, 0]))) if kernel.startswith("K") else X
    np.save(folder / "mine.npy", X)
    options = replace(FILE_CODE.read_options, matrix=kernel.startswith("K"))
    code = replace(FILE_CODE, read_options=options)
    samples = make_samples(X, "vectors", problems={3: "has nan", 9: "has nan"}, python=code)
    answer = score_as_json(samples, kernel=kernel, leave_out=True)
    assert answer["n"] == 48
    assert run_code(answer["code"])["VS"] == answer["VS"]


def test_code_reads_same_random_rows(run_code, folder):
    X = make_clusters(1_010, 2)
    np.save(folder / "mine.npy", X)
    answer = score_as_json(make_samples(X, "vectors", python=FILE_CODE), kernel="laplacian")
    assert answer["n"] == 1_000
    assert run_code(answer["code"])["VS"] == answer["VS"]


@pytest.mark.usefixtures("folder")
def test_code_omits_dropped_molecules(run_code):
    answer = score_as_json(["CCO", "XX", "CCC"], "molecules", "morgan", leave_out=True)
    assert "samples = ['CCO', 'CCC']" in answer["code"]
    assert run_code(answer["code"])["VS"] == answer["VS"]


def test_code_reads_images_from_folder(run_code, folder):
    (folder / "images").mkdir()
    for i, image in enumerate(IMAGES):
        image.save(folder / "images" / f"{i:02}.png")
    case = api.vendi_score_images(
        [base64.b64encode(encode_png(image)).decode() for image in IMAGES]
    )
    assert run_code(case["code"])["VS"] == pytest.approx(case["VS"], rel=1e-12)


def test_code_reads_image_groups_from_nested_folders(run_code, folder):
    groups = [IMAGES[:5], IMAGES[5:]]
    for name, images in zip("ab", groups, strict=True):
        (folder / "images" / name).mkdir(parents=True)
        for i, image in enumerate(images):
            image.save(folder / "images" / name / f"{i:02}.png")
    case = api.vendi_score_images(
        [[base64.b64encode(encode_png(image)).decode() for image in images] for images in groups]
    )
    result = run_code(case["code"])
    assert result["VS"] == pytest.approx(case["VS"], rel=1e-12)
    assert result["VS_se"] == pytest.approx(case["VS_se"], rel=1e-9)
