"""`vendiscore.read` reads files, folders, records and data frames, as the command does."""

import json
from pathlib import Path

import numpy as np
import pytest

import vendiscore
from vendiscore import AmbiguousInputError, SampleError, compute, read
from vendiscore.report import AskError

HERE = Path(__file__).parent
ROWS = json.loads((HERE / "readings.json").read_text(encoding="utf-8"))
ROWS = [row for row in ROWS if not row["file"].startswith("shared/")]
READABLE = [row for row in ROWS if "take" in row]
AMBIGUOUS = [row["file"] for row in ROWS if "ask" in row]
RECORDS = [
    {"prompt": f"q {i // 4}", "model": "ab"[i % 2], "answer": f"a cat {i}"} for i in range(8)
]
TWO_COLUMNS = [{"one": "a cat", "two": "a dog"}, {"one": "a cow", "two": "a fox"}]
CONVERSATION = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a b"}]


@pytest.mark.parametrize("row", READABLE, ids=lambda row: row["file"])
def test_files_are_read_as_by_the_command(run, row):
    pytest.importorskip("pyarrow")
    path = HERE / "files" / row["file"]
    code, printed, message = run(path, "-b")
    result = read(path)
    if code == 1:  # the kernel cannot use all samples
        with pytest.raises(SampleError):
            compute(**result.arguments)
        return
    assert code == 0
    assert f"{path}: {result.description}\n" in message
    scores = [compute(**subset.arguments)["VS"] for subset in result.by_set().values()]
    assert [float(line) for line in printed.splitlines()] == scores


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore:dropped")
@pytest.mark.parametrize("name", AMBIGUOUS)
def test_choices_of_ambiguous_files_work(name):
    path = HERE / "files" / name
    with pytest.raises(AmbiguousInputError) as caught:
        read(path)
    assert caught.value.choices
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{path}: ")
    for (_, keywords), line in zip(caught.value.choices, lines[1:], strict=True):
        try:
            result = eval(line.strip(), {"vendiscore": vendiscore})
        except AmbiguousInputError as error:
            result = error
        if isinstance(result, AmbiguousInputError):  # a narrower question
            assert str(result) != str(caught.value)
            continue
        for subset in result.by_set().values():
            assert compute(**subset.arguments)["VS"] >= 1
        assert read(path, **keywords).description == result.description


def test_records_have_prompts_and_sets():
    result = read(RECORDS)
    assert result.samples == [record["answer"] for record in RECORDS]
    assert result.prompts == [record["prompt"] for record in RECORDS]
    assert result.sets == [record["model"] for record in RECORDS]
    assert (result.groups, result.weights, result.quality, result.correct) == (None,) * 4
    assert result.positions == list(range(8))
    with pytest.raises(ValueError, match=r"several sets \('a', 'b'\); score each of `by_set\(\)`"):
        _ = result.arguments
    subsets = result.by_set()
    assert list(subsets) == ["a", "b"]
    assert subsets["b"].positions == [1, 3, 5, 7]
    assert subsets["b"].by_set() == {None: subsets["b"]}
    expected = compute(result.samples[::2], groups=result.prompts[::2])
    assert compute(**subsets["a"].arguments) == expected


def test_named_columns_replace_detected_ones():
    pooled = read(RECORDS, pool=True)
    assert pooled.arguments == {"samples": [record["answer"] for record in RECORDS]}
    grouped = read(RECORDS, groups="model")
    assert grouped.groups == [record["model"] for record in RECORDS]
    rated = read([{"text": f"a cat {i}", "score": i, "ok": i > 1} for i in range(4)],
                 column="text", quality="score", correct="ok")  # fmt: skip
    assert (rated.quality, rated.correct) == ([0.0, 1.0, 2.0, 3.0], [False, False, True, True])


@pytest.mark.parametrize(
    ("source", "keywords", "samples"),
    [
        (["a b", "c d"], {}, ["a b", "c d"]),
        ({"text": ["a b", "c d"], "id": [1, 2]}, {}, ["a b", "c d"]),
        ([CONVERSATION] * 2, {}, ["a b", "a b"]),
        (b"a b\nc d\n", {}, ["a b", "c d"]),
        (bytearray(b"text\na b\nc d\n"), {"type": "csv"}, ["a b", "c d"]),
    ],
)
def test_data_in_memory_is_read(source, keywords, samples):
    assert read(source, **keywords).samples == samples


def test_data_frames_are_read():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": ["a b", "c d", None], "score": [1.0, 2.0, float("nan")]})
    assert read(frame.head(2), column="text").samples == ["a b", "c d"]
    with pytest.raises(SampleError, match=r"sample 2 \(record 2, column 'text'\) is missing"):
        read(frame, column="text")
    assert read(frame["text"].head(2)).samples == ["a b", "c d"]


def test_arrow_tables_are_read():
    pa = pytest.importorskip("pyarrow")
    assert read(pa.table({"text": ["a b", "c d"]})).samples == ["a b", "c d"]


def test_keywords_contain_the_kernel_for_the_type(tmp_path):
    assert read([[1.0, 2.0], [3.0, 4.0]]).keywords == {"k": "cosine"}
    assert read([{"smiles": text} for text in ("CCO", "CCN")]).keywords == {"k": "morgan"}
    assert read(b">a\nMKV\n>b\nMKL\n", type="fasta").keywords["analyzer"] == "char"
    assert read(["a", "b"], kind="labels").keywords == {"k": "labels"}
    matrix = read(np.eye(3).tolist(), matrix=True)
    assert matrix.keywords == {"score_K": True}
    (tmp_path / "counts.csv").write_text("species,hill,dale\noak,3,2\nash,1,2\n")
    counts = read(tmp_path / "counts.csv")
    assert compute(**counts.arguments)["VS"] == pytest.approx((4 * 3**-0.75 + 2) / 2)


def test_unusable_samples_are_dropped_on_request():
    source = [{"answer": "a b"}, {"answer": None}, {"answer": "c d"}]
    with pytest.raises(SampleError) as caught:
        read(source)
    assert [*caught.value.problems] == [1]
    result = read(source, on_error="skip")
    assert (result.samples, result.positions) == (["a b", "c d"], [0, 2])
    assert result.description.endswith("; 1 unusable sample is left out")
    assert result.arguments["on_error"] == "skip"


def test_ambiguous_records_have_choices():
    with pytest.raises(AmbiguousInputError) as caught:
        read(TWO_COLUMNS, on_error="skip")
    error = caught.value
    assert [keywords for _, keywords in error.choices] == [
        {"column": "one", "on_error": "skip"},
        {"column": "two", "on_error": "skip"},
    ]
    assert "\n  vendiscore.read(source, on_error='skip', column='two')  # two (" in str(error)
    assert isinstance(error, ValueError)
    assert AskError is AmbiguousInputError


def test_choices_of_folders_can_be_files(tmp_path):
    (tmp_path / "notes.txt").write_text("a b")
    (tmp_path / "table.csv").write_text("text\na b\nc d\n")
    with pytest.raises(AmbiguousInputError) as caught:
        read(tmp_path)
    keywords = [keywords for _, keywords in caught.value.choices]
    assert keywords == [{"kind": "texts"}, {"file": "table.csv"}]
    assert read(tmp_path, file="table.csv").samples == ["a b", "c d"]


def test_folders_of_images_are_read(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    for name in ("a/1.png", "b/2.png"):
        (tmp_path / name).parent.mkdir()
        Image.new("L", (8, 8), 90).save(tmp_path / name)
    result = read(tmp_path, by="folder")
    assert (result.kind, result.sets) == ("images", ["a", "b"])
    assert read(tmp_path, subfolders=True).keywords == {"k": "pixels"}
    with pytest.raises(ValueError, match="except those with the value 'folder'"):
        read(tmp_path, column="x")


@pytest.mark.parametrize(
    ("source", "keywords", "error", "message"),
    [
        ("missing.csv", {}, FileNotFoundError, "missing.csv"),
        (3, {}, TypeError, "must be a file, a folder, records or a data frame, got int"),
        ({"text": "a"}, {}, TypeError, "got one dict; pass a list of dicts"),
        ({"a": [1], "b": [1, 2]}, {}, ValueError, "columns of `source` must have the same length"),
        (np.eye(2), {}, TypeError, "pass it to compute"),
        ([], {}, ValueError, "no samples found"),
        (CONVERSATION, {}, ValueError, "expected several conversations, got the messages"),
        (TWO_COLUMNS, {"column": "three"}, ValueError, "three"),
        (TWO_COLUMNS, {"encoding": "utf-8"}, ValueError, "`encoding` requires a file"),
        (b"a b", {"subfolders": True}, ValueError, "require a folder, got bytes"),
        (TWO_COLUMNS, {"column": 1}, TypeError, "`column` must be a string, got 1"),
        (TWO_COLUMNS, {"kind": "words"}, ValueError, "`kind` must be 'texts'"),
        (__file__, {"file": "a.csv"}, ValueError, "`file` requires a folder"),
    ],
)
def test_invalid_sources_and_keywords_are_rejected(source, keywords, error, message):
    with pytest.raises(error, match=message):
        read(source, **keywords)


@pytest.mark.parametrize(
    ("samples", "keywords", "call"),
    [
        ("answers.json", {}, r"vendiscore.compute\(\*\*vendiscore.read\('answers.json'\)"),
        (Path("answers.json"), {}, r"vendiscore.read\('answers.json'\)"),
        (TWO_COLUMNS, {}, r"vendiscore.read\(records\)"),
        (TWO_COLUMNS, {"k": "ngram_overlap"}, r"vendiscore.read\(df\)"),
        ([CONVERSATION], {}, r"vendiscore.read\(conversations\)"),
    ],
)
def test_errors_of_compute_name_read(samples, keywords, call):
    with pytest.raises((TypeError, ValueError), match=call):
        compute(samples, **keywords)


def test_errors_about_data_frames_name_read():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": ["a b", "c d"], "n": [1, 2]})
    for keywords in ({}, {"k": "ngram_overlap"}, {"k": "morgan"}):
        with pytest.raises(ValueError, match=r"vendiscore.read\(df\)"):
            compute(frame, **keywords)
