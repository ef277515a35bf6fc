"""File formats are detected by endings and first bytes; the command and the web app share them."""

import io
import zipfile
from argparse import Namespace

import pytest

from vendiscore.report import Limits, RefusedError, Wanted
from vendiscore.tools.cli.files import read_samples as read_file
from vendiscore.tools.reading import formats
from vendiscore.tools.reading.tables import Table
from vendiscore_page.inputs.uploads import Given
from vendiscore_page.inputs.uploads import read as read_upload


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.csv", b"a,b\n", "csv"),
        ("A.TAB", b"a\tb\n", "tsv"),
        ("a.hyp", b"one\n", None),
        ("no ending", b"one\n", "txt"),
        ("answers of v1.2", b"one\n", "txt"),
        ("no ending", b"\x93NUMPY\x01", "npy"),
        ("wrong.txt", b"PAR1", "parquet"),
        ("a.npz", b"PK\x03\x04", "npz"),
        ("a.jpe", b"\xff\xd8\xff", "image"),
        ("photo", b"\0\0\0\x18ftypheic", "image"),
    ],
)
def test_format_is_detected_from_ending_and_first_bytes(name, data, expected):
    assert formats.format_of(name, data) == expected


@pytest.mark.parametrize(
    ("name", "data"), [("a.pkl", b""), ("a.csv", b"\x80\x04\x95"), ("a", b"PK\x03\x04 xl/workbook")]
)
def test_unsupported_formats_are_rejected(name, data):
    with pytest.raises(RefusedError, match=r"Files of type \.\w+ are not read: "):
        formats.format_of(name, data)


def test_new_format_needs_single_registry_entry(monkeypatch, tmp_path):
    def parse(data, options):
        rows = [[word] for word in data.decode().split("+")]
        return Table(["text"], rows, range(1, len(rows) + 1), typed=True)

    monkeypatch.setitem(formats.FORMATS, "plus", formats.Format(("plus",), parse))
    monkeypatch.setitem(formats.ENDINGS, "plus", "plus")
    monkeypatch.setattr("vendiscore.tools.reading.reader.TYPES", (*formats.TYPES, "plus"))
    path = tmp_path / "a.plus"
    path.write_bytes(b"a b+c d")
    assert read_file(str(path), Wanted(), Namespace()).values == ["a b", "c d"]
    upload = Given(files=[("a.plus", b"a b+c d")])
    assert read_upload(upload).values == ["a b", "c d"]


def test_log_with_file_above_unpacked_limit_is_rejected():
    zip_file = io.BytesIO()
    with zipfile.ZipFile(zip_file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1_epoch_1.json", b" " * 3_000_000)
    limits = Limits(unpacked=2_000_000)
    with pytest.raises(RefusedError, match="unpacks to more than 2 MB"):
        formats.FORMATS["eval"].parse(zip_file.getvalue(), Wanted(limits=limits))


def test_log_with_total_above_unpacked_limit_is_rejected():
    zip_file = io.BytesIO()
    with zipfile.ZipFile(zip_file, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(3):
            archive.writestr(f"samples/{i}_epoch_1.json", b" " * 900_000)
    limits = Limits(unpacked=2_000_000)
    with pytest.raises(RefusedError, match="unpacks to more than 2 MB"):
        formats.FORMATS["eval"].parse(zip_file.getvalue(), Wanted(limits=limits))
