"""Data sets of the Hub: by their id, the first rows, and nobody but the Hub is asked."""

import numpy as np
import pytest
import user_files as files
from fake_dataset_hub import FakeDatasetHub

from vendiscore.report import AskError
from vendiscore_page.inputs import hub, parts
from vendiscore_page.inputs.uploads import Asked, Given, read
from vendiscore_page.quotas import RefusedError

pytest.importorskip("pyarrow")

STORIES = files.encode_parquet(id=[1, 2, 3], answer=files.TEXTS, mark=[0.5, 1.0, 2.0])
OTHERS = files.encode_parquet(answer=["another it is", "and one more"])
SETS = {
    "me/stories": {"default": {"train": [STORIES], "test": [OTHERS]}},
    "me/several": {"en": {"train": [STORIES]}, "de": {"train": [OTHERS], "test": [OTHERS]}},
    "me/odd": {"default": {"left": [STORIES], "right": [OTHERS]}},
    "me/two.columns": {"default": {"train": [files.encode_parquet(a=["b c d"], b=["e f g"])]}},
    "me/vectors": {"default": {"train": [files.encode_parquet(e=files.VECTORS.tolist())]}},
}


@pytest.fixture
def there(monkeypatch):
    with FakeDatasetHub(SETS) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


def of(dataset: str, **asked):
    return read(Given(), Asked(dataset=dataset, **asked))


def test_dataset_is_read_by_id(there):
    result = of("me/stories")
    assert (result.kind, result.values, list(result.places)) == ("texts", files.TEXTS, [1, 2, 3])
    assert result.name == "me/stories:default/train › answer"
    assert result.columns == ("id", "answer", "mark")
    assert all(path.startswith("/api/datasets/me/stories/parquet") for path in there.asked)


def test_configuration_split_and_column_are_accepted(there):
    assert of("me/stories:default/test").values == ["another it is", "and one more"]
    assert of("me/several:en").values == files.TEXTS
    assert of("me/stories", column="mark").values.tolist() == [[0.5], [1.0], [2.0]]
    assert np.array_equal(of("me/vectors").values, files.VECTORS)


@pytest.mark.parametrize(
    ("dataset", "question", "answer"),
    [
        ("me/several", "Which part of me/several", {"dataset": "me/several:de/train"}),
        ("me/odd", "Which part of me/odd", {"dataset": "me/odd:default/right"}),
        ("me/two.columns", "Columns a, b could be meant", {"column": "b"}),
    ],
)
def test_ambiguous_dataset_raises_ask_error(there, dataset, question, answer):
    with pytest.raises(AskError, match=question) as caught:
        of(dataset)
    choices = [options for _, options in caught.value.choices]
    assert answer in choices
    assert len(read(Given(), Asked(**({"dataset": dataset} | answer)))) > 0


@pytest.mark.parametrize(
    "name",
    [
        "stories",
        "me/stories/x",
        "../etc/passwd",
        "/etc/passwd",
        "me/..",
        "https://elsewhere.org/a/b",
        "me/stories?x=1",
        "me/stories#x",
        "me/sto ries",
        "me@elsewhere.org/stories",
        "me/stories:a/b/c",
        "me/stories:../x",
        "me/" + "x" * 200,
        "mé/stories",
        "hf://datasets/me/stories",
    ],
)
def test_invalid_ids_are_rejected_without_request(there, name):
    with pytest.raises(RefusedError, match="Expected the id of a data set, owner/name"):
        of(name)
    assert not there.asked


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ("me/nothing", "There is no public data set me/nothing on the Hub"),
        ("me/stories:none", "me/stories has no 'none'; it has default/train, default/test"),
        ("me/stories:default/none", "has no 'default/none'; it has default/train"),
    ],
)
def test_missing_dataset_or_part_is_rejected(there, dataset, said):
    with pytest.raises(RefusedError, match=said):
        of(dataset)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, b"<html>"), "no tables of a/b that can be read"),
        ((200, b"[1]"), "no tables of a/b"),
        ((200, b"{}"), "no tables of a/b"),
        ((200, b'{"default": {"train": ["http://127.0.0.1:1/x.parquet"]}}'), "no tables of a/b"),
        ((200, b'{"default": {"train": ["file:///etc/passwd"]}}'), "no tables of a/b"),
        ((200, b'{"default": {"train": [3]}}'), "no tables of a/b"),
        ((200, b"[" * 10_000), "no tables of a/b"),
        ((200, b" " * 5_000_000), "no tables of a/b"),
        ((500, b""), "does not answer just now: try again later"),
        ((403, b""), "There is no public data set a/b"),
    ],
)
def test_invalid_hub_responses_are_rejected(monkeypatch, answer, said):
    with FakeDatasetHub({}, lists={"a/b": answer}) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        with pytest.raises(RefusedError, match=said):
            of("a/b")


def test_unreachable_hub_has_its_own_message(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(RefusedError, match="The Hub does not answer just now"):
        of("me/stories")


def test_first_of_several_files_is_read_with_note(there):
    there.sets["me/long"] = {"default": {"train": [STORIES, OTHERS]}}
    result = of("me/long")
    assert result.values == files.TEXTS
    assert result.notes[-1] == "The first of 2 files was read; data sets are often sorted."


def test_too_large_file_is_not_downloaded(there, monkeypatch):
    monkeypatch.setattr(hub, "MAX_UPLOAD", 500)
    there.sets["me/long"] = {
        "default": {"train": [files.encode_parquet(a=["b c"] * 9, d=[*range(9)])]}
    }
    with pytest.raises(RefusedError, match="has 0 MB, more than 0 MB: download it and send"):
        of("me/long")


def test_damaged_file_is_rejected(there):
    there.sets["me/bad"] = {"default": {"train": [b"PAR1" + b"\0" * 500]}}
    with pytest.raises(RefusedError, match="This parquet file cannot be read"):
        of("me/bad")


def test_draw_selects_another_random_subset(there, monkeypatch):
    monkeypatch.setattr(parts.quotas, "MAX_SAMPLES", 2)
    assert {tuple(of("me/stories", draw=draw).places) for draw in range(9)} == {
        (1, 2),
        (1, 3),
        (2, 3),
    }
