"""Data sets are read from the Hub by id, and no other host is contacted."""

import numpy as np
import pytest
import user_files as files
from fake_dataset_hub import FakeDatasetHub

from vendiscore.report import AskError
from vendiscore_page.inputs import hub, parts
from vendiscore_page.inputs.uploads import InputSettings, UserInput, read
from vendiscore_page.quotas import RefusedError

pytest.importorskip("pyarrow")

STORIES = files.encode_parquet(id=[1, 2, 3], answer=files.TEXTS, mark=[0.5, 1.0, 2.0])
OTHER_ANSWERS = files.encode_parquet(answer=["another it is", "and one more"])
SETS = {
    "me/stories": {"default": {"train": [STORIES], "test": [OTHER_ANSWERS]}},
    "me/several": {
        "en": {"train": [STORIES]},
        "de": {"train": [OTHER_ANSWERS], "test": [OTHER_ANSWERS]},
    },
    "me/odd": {"default": {"left": [STORIES], "right": [OTHER_ANSWERS]}},
    "me/two.columns": {"default": {"train": [files.encode_parquet(a=["b c d"], b=["e f g"])]}},
    "me/vectors": {"default": {"train": [files.encode_parquet(e=files.VECTORS.tolist())]}},
}


@pytest.fixture
def hub_server(monkeypatch):
    with FakeDatasetHub(SETS) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def read_dataset(dataset: str, **options):
    return read(UserInput(), InputSettings(dataset=dataset, **options))


def test_dataset_is_read_by_id(hub_server):
    result = read_dataset("me/stories")
    assert (result.kind, result.values, list(result.places)) == ("texts", files.TEXTS, [1, 2, 3])
    assert result.name == "me/stories:default/train › answer"
    assert result.columns == ("id", "answer", "mark")
    assert all(
        path.startswith("/api/datasets/me/stories/parquet") for path in hub_server.requested_paths
    )


def test_configuration_split_and_column_are_accepted(hub_server):
    assert read_dataset("me/stories:default/test").values == ["another it is", "and one more"]
    assert read_dataset("me/several:en").values == files.TEXTS
    assert read_dataset("me/stories", column="mark").values.tolist() == [[0.5], [1.0], [2.0]]
    assert np.array_equal(read_dataset("me/vectors").values, files.VECTORS)


@pytest.mark.parametrize(
    ("dataset", "question", "expected_options"),
    [
        ("me/several", "Which part of me/several", {"dataset": "me/several:de/train"}),
        ("me/odd", "Which part of me/odd", {"dataset": "me/odd:default/right"}),
        ("me/two.columns", "Columns a, b could be meant", {"column": "b"}),
    ],
)
def test_ambiguous_dataset_raises_ask_error(hub_server, dataset, question, expected_options):
    with pytest.raises(AskError, match=question) as caught:
        read_dataset(dataset)
    choices = [options for _, options in caught.value.choices]
    assert expected_options in choices
    assert len(read(UserInput(), InputSettings(**({"dataset": dataset} | expected_options)))) > 0


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
def test_invalid_ids_are_rejected_without_request(hub_server, name):
    with pytest.raises(RefusedError, match="Expected the name of a dataset, owner/name"):
        read_dataset(name)
    assert not hub_server.requested_paths


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ("me/nothing", "There is no public dataset me/nothing on the Hub"),
        (
            "me/stories:none",
            "me/stories has no part 'none'. Available: default/train, default/test",
        ),
        ("me/stories:default/none", "has no part 'default/none'. Available: default/train"),
    ],
)
def test_missing_dataset_or_part_is_rejected(hub_server, dataset, message):
    with pytest.raises(RefusedError, match=message):
        read_dataset(dataset)


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ((200, b"<html>"), "no readable tables of a/b"),
        ((200, b"[1]"), "no readable tables of a/b"),
        ((200, b"{}"), "no readable tables of a/b"),
        (
            (200, b'{"default": {"train": ["http://127.0.0.1:1/x.parquet"]}}'),
            "no readable tables of a/b",
        ),
        ((200, b'{"default": {"train": ["file:///etc/passwd"]}}'), "no readable tables of a/b"),
        ((200, b'{"default": {"train": [3]}}'), "no readable tables of a/b"),
        ((200, b"[" * 10_000), "no readable tables of a/b"),
        ((200, b" " * 5_000_000), "no readable tables of a/b"),
        ((500, b""), "does not respond; try again later"),
        ((403, b""), "There is no public dataset a/b"),
    ],
)
def test_invalid_hub_responses_are_rejected(monkeypatch, response, message):
    with FakeDatasetHub({}, responses={"a/b": response}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        with pytest.raises(RefusedError, match=message):
            read_dataset("a/b")


def test_unreachable_hub_has_its_own_message(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(RefusedError, match="The Hub does not respond"):
        read_dataset("me/stories")


def test_first_of_several_files_is_read_with_note(hub_server):
    hub_server.sets["me/long"] = {"default": {"train": [STORIES, OTHER_ANSWERS]}}
    result = read_dataset("me/long")
    assert result.values == files.TEXTS
    assert (
        result.notes[-1] == "Only the first of 2 files was read, which may not be a random subset."
    )


def test_too_large_file_is_not_downloaded(hub_server, monkeypatch):
    monkeypatch.setattr(hub, "MAX_UPLOAD", 500)
    hub_server.sets["me/long"] = {
        "default": {"train": [files.encode_parquet(a=["b c"] * 9, d=[*range(9)])]}
    }
    with pytest.raises(RefusedError, match="has 0 MB, more than 0 MB; download it and send"):
        read_dataset("me/long")


def test_damaged_file_is_rejected(hub_server):
    hub_server.sets["me/bad"] = {"default": {"train": [b"PAR1" + b"\0" * 500]}}
    with pytest.raises(RefusedError, match="This parquet file cannot be read"):
        read_dataset("me/bad")


def test_draw_selects_another_random_subset(hub_server, monkeypatch):
    monkeypatch.setattr(parts.quotas, "MAX_SAMPLES", 2)
    assert {tuple(read_dataset("me/stories", draw=draw).places) for draw in range(9)} == {
        (1, 2),
        (1, 3),
        (2, 3),
    }
