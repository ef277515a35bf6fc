"""Files of a folder are samples; a folder with several sample types is ambiguous."""

import pytest

from vendiscore.tools.reading.folder_samples import read_folder
from vendiscore.tools.reading.limits import AskError, ReadOptions, RefusedError


@pytest.fixture
def folder(tmp_path):
    """Return a function that makes a folder of files."""

    def make(*names, content=b"text\n"):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return tmp_path

    return make


def test_texts_are_read_from_files_in_order(folder):
    root = folder("b.txt", "a.txt")
    (root / "a.txt").write_bytes("né\n\n".encode())
    result = read_folder(root, ReadOptions())
    assert (result.values, result.places, result.kind) == (
        ["né", "text"],
        ["a.txt", "b.txt"],
        "texts",
    )
    assert result.place(0) == "file a.txt"
    assert result.written([1]) == f"{root / 'b.txt'}\n"
    assert result.groups == ()


def test_images_are_returned_as_paths(folder):
    root = folder("b.png", "a.JPG")
    result = read_folder(root, ReadOptions())
    assert result.kind == "images"
    assert sorted(result.values) == sorted(str(root / name) for name in ("a.JPG", "b.png"))


def test_undecodable_file_is_reported_as_problem(folder):
    root = folder("a.txt", "b.txt")
    (root / "b.txt").write_bytes(b"x\n\xff")
    result = read_folder(root, ReadOptions())
    assert result.values == ["text", ""]
    assert [*result.problems] == [1]
    assert "is not text: line 2, column 1" in result.problems[1]
    latin = read_folder(root, ReadOptions(encoding="latin-1"))
    assert latin.values == ["text", "x\nÿ"]


def test_ignored_files_are_listed_in_notes(folder):
    result = read_folder(folder("a.txt", "notes.md", "b.txt"), ReadOptions())
    assert len(result.values) == 2
    assert result.notes[0].startswith("2 samples; left out, as no texts: ")
    assert "notes.md" in result.notes[0]


def test_folder_with_several_sample_types_is_ambiguous(folder):
    root = folder("a.txt", "b.png", "c.png", "d.csv")
    with pytest.raises(AskError, match=r"has 2 images, 1 \.txt file, tables .*d\.csv") as caught:
        read_folder(root, ReadOptions())
    assert [options for _, options in caught.value.choices] == [
        {"kind": "images"},
        {"kind": "texts"},
        {"file": str(root / "d.csv")},
    ]
    assert len(read_folder(root, ReadOptions(kind="images")).values) == 2
    assert read_folder(root, ReadOptions(kind="texts")).values == ["text"]


def test_files_at_top_and_in_subfolders_are_ambiguous(folder):
    root = folder("a.txt", "x/b.txt", "x/c.txt")
    with pytest.raises(AskError, match=r"has 1 \.txt file, and its folders have 2 more") as caught:
        read_folder(root, ReadOptions())
    assert [options for _, options in caught.value.choices] == [
        {"subfolders": False},
        {"subfolders": True},
        {"group_by": "folder"},
    ]
    assert read_folder(root, ReadOptions(subfolders=False)).places == ["a.txt"]
    assert len(read_folder(root, ReadOptions(subfolders=True)).places) == 3


def test_subfolders_become_groups_if_requested(folder):
    root = folder("x/a.txt", "x/b.txt", "y/z/c.txt")
    result = read_folder(root, ReadOptions(group_by="folder"))
    assert result.groups == ["x", "x", "y/z"]
    assert read_folder(root, ReadOptions(by="folder")).groups == ["x", "x", "y/z"]
    with pytest.raises(
        AskError, match=r"contain 3 \.txt files, and the folder itself contains none"
    ):
        read_folder(root, ReadOptions())
    assert len(read_folder(root, ReadOptions(pool=True)).places) == 3


def test_folder_without_samples_is_rejected(folder):
    with pytest.raises(RefusedError, match=r"the folder has no images; it has .*d\.csv"):
        read_folder(folder("d.csv"), ReadOptions())
    with pytest.raises(RefusedError, match=r"the folder has no \.txt files"):
        read_folder(folder("notes.md"), ReadOptions(kind="texts"))


def test_saved_dataset_is_rejected_with_call_that_converts_it(folder):
    root = folder("a/state.json", "a/dataset_info.json", "a/data-00000-of-00001.arrow")
    call = r"datasets\.load_from_disk\('.*a'\)\.to_parquet\('data\.parquet'\)"
    with pytest.raises(RefusedError, match=call):
        read_folder(root / "a", ReadOptions())
    with pytest.raises(RefusedError, match=call):
        read_folder(root, ReadOptions())


def test_saved_dataset_with_splits_is_rejected_with_call_that_converts_it(folder):
    files = ("state.json", "dataset_info.json", "data-00000-of-00001.arrow")
    root = folder(
        "dataset_dict.json", *(f"{s}/{file}" for s in ("test", "train") for file in files)
    )
    call = r"load_from_disk\('.*'\)\['test'\]\.to_parquet\('test\.parquet'\)"
    with pytest.raises(RefusedError, match=call):
        read_folder(root, ReadOptions())


def test_saved_dataset_next_to_images_is_ignored(folder):
    root = folder("b.png", "a/state.json", "a/dataset_info.json", "a/data-00000-of-00001.arrow")
    assert len(read_folder(root, ReadOptions()).values) == 1
