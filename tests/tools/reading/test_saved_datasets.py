"""Datasets that the package `datasets` saved are recognized, and converted with a printed call."""

import pytest

from vendiscore.report import RefusedError
from vendiscore.tools.reading.saved_datasets import (
    build_dataset_error,
    check_no_dataset,
    find_saved_datasets,
    format_conversion,
)

SAVED = ("state.json", "dataset_info.json", "data-00000-of-00001.arrow")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (SAVED, ["."]),
        ([f"a/{file}" for file in SAVED], ["a"]),
        (["dataset_dict.json", *(f"test/{file}" for file in SAVED)], [".", "test"]),
        (["state.json", "a.txt"], []),
        (["a/state.json", "b/data.arrow"], []),
        (["dataset_dict.json", "test/a.txt"], []),
    ],
)
def test_datasets_have_a_state_next_to_arrow_files(files, expected):
    assert find_saved_datasets(files) == expected


def test_error_names_the_folder_and_its_first_split(tmp_path):
    assert f"load_from_disk({str(tmp_path)!r}).to_parquet" in str(build_dataset_error(tmp_path))
    (tmp_path / "dataset_dict.json").touch()
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
        (tmp_path / split / "state.json").touch()
    assert "['test'].to_parquet('test.parquet')" in str(build_dataset_error(tmp_path))


@pytest.mark.parametrize(
    "document",
    [
        {"_data_files": [], "_fingerprint": "a", "_format_type": None},
        {"features": {}, "citation": "", "license": ""},
    ],
)
def test_descriptions_of_datasets_are_rejected(document):
    with pytest.raises(RefusedError, match=r"load_from_disk\('FOLDER'\)\.to_parquet"):
        check_no_dataset(document)


def test_list_of_splits_is_rejected_with_a_split():
    with pytest.raises(RefusedError, match=r"\['train'\]\.to_parquet\('train\.parquet'\)"):
        check_no_dataset({"splits": ["train", "test"]})


@pytest.mark.parametrize("document", [["a"], {"splits": 3}, {"features": {}}, {"splits": [1]}])
def test_other_documents_are_accepted(document):
    check_no_dataset(document)


def test_printed_call_converts_a_saved_dataset(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_dict({"text": ["a", "b"]}).save_to_disk(tmp_path / "saved")
    monkeypatch.chdir(tmp_path)
    eval(format_conversion("saved"), {"datasets": datasets})
    assert datasets.Dataset.from_parquet("data.parquet")["text"][:] == ["a", "b"]
