"""Files and folders are read by their paths."""

import pytest

from vendiscore.report import RefusedError, Wanted
from vendiscore.tools.reading.paths import read_bytes, read_content


def test_bytes_of_files_and_none_for_folders(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a b\n")
    assert read_bytes(str(tmp_path / "a.txt")) == b"a b\n"
    assert read_bytes(str(tmp_path)) is None
    with pytest.raises(FileNotFoundError):
        read_bytes(str(tmp_path / "b.txt"))


def test_content_of_files_and_folders(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.txt").write_bytes(b"a b\n")
    assert read_content("a.txt", b"a b\nc d\n", Wanted()).values == ["a b", "c d"]
    folder = str(tmp_path)
    assert read_content(folder, None, Wanted(subfolders=True)).values == ["a b"]
    assert read_content(folder, None, Wanted(by="folder")).sets == ["x"]
    assert read_content(folder, None, Wanted(group_by="folder")).groups == ["x"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted(column="a"), "a folder has no columns"),
        (Wanted(by="model"), "a folder has no columns"),
        (Wanted(split="row"), "remove `split` and `type`"),
        (Wanted(type="csv"), "remove `split` and `type`"),
        (Wanted(header=True), "remove `skip_rows`, `header`, `index` and `comments`"),
        (Wanted(by="folder", subfolders=False), "remove `subfolders=False`"),
    ],
)
def test_options_without_effect_on_folders_are_rejected(tmp_path, wanted, message):
    with pytest.raises(RefusedError, match=message):
        read_content(str(tmp_path), None, wanted)


def test_option_for_folders_is_rejected_for_files():
    with pytest.raises(RefusedError, match="not a folder; remove `subfolders`"):
        read_content("a.txt", b"a b\n", Wanted(subfolders=True))
