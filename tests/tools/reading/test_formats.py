"""File formats are detected by endings and first bytes; the command and the web app share them."""

import gzip
import io
import json
import shlex
import subprocess
import sys
import zipfile
from argparse import Namespace

import pytest

from vendiscore.report import AskError, Limits, ReadOptions, RefusedError, read_data
from vendiscore.tools.cli.files import read_samples as read_file
from vendiscore.tools.reading import formats
from vendiscore.tools.reading.tables import Table
from vendiscore_page.inputs.uploads import UserInput
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


@pytest.mark.parametrize("name", ["a", "a.csv", "a.npy", "a.json", "a.dat"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"%PDF-1.7", "PDF"),
        (b"\x80\x04\x95", "pickle"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"RDX3\nX\n", "file of R"),
        (b"X\n\0\0\0\3", "file of R"),
        (b"SQLite format 3\0", "SQLite"),
        (b"ARROW1\0\0", "Arrow"),
        (b"MThd\0\0\0\6", "MIDI"),
        (b"RIFF1234WAVE", "audio"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"BZh91AY&SY", "archive"),
        (b"a.txt".ljust(257, b"\0") + b"ustar", "archive"),
    ],
)
def test_unsupported_content_is_named_whatever_the_ending(name, data, message):
    with pytest.raises(RefusedError, match=rf"this is .*{message}"):
        formats.format_of(name, data)


@pytest.mark.parametrize(
    ("data", "n"),
    [
        (b'{"answer": "a cat"}\n{"answer": "a dog"}\n', 2),
        (b'["a cat", "a dog", "a cow"]', 3),
        (b">one\nACDE\n>two\nACDF\n", 2),
        (b"1.5 2\n3.5 4\n2.5 4\n", 3),
        (gzip.compress(b'["a cat", "a dog"]', mtime=0), 2),
    ],
)
def test_content_decides_if_ending_is_unknown(data, n):
    assert len(read_data("a.dat", data, ReadOptions())) == n


def test_unclear_content_of_unknown_ending_is_ambiguous():
    with pytest.raises(AskError, match="Of which type") as caught:
        read_data("a.hyp", b"one two\nthree four\n", ReadOptions())
    assert caught.value.choices[0][1] == {"type": "txt"}
    with pytest.raises(AskError, match="Of which type") as caught:
        read_data("a.hyp", b"a,b\nx,y\n", ReadOptions())
    assert caught.value.choices[0][1] == {"type": "csv"}


@pytest.mark.parametrize(
    ("name", "data"), [("a.pkl", b""), ("a.ipynb", b"{}"), ("a", b"PK\x03\x04 xl/workbook")]
)
def test_unsupported_formats_are_rejected(name, data):
    with pytest.raises(RefusedError, match=r"Files of type \.\w+ are not read: "):
        formats.format_of(name, data)


COMMANDS = {
    "film.srt": (b"1\n00:00:01,000 --> 00:00:02,000\n<i>A cat</i>\nsat.\n\n", ["A cat sat."]),
    "talk.vtt": (b"WEBVTT\n\n00:01.000 --> 00:02.000\nA cat.", ["A cat."]),
    "song.lrc": (
        b"[ti:Cats]\n[00:12.00]A cat\n[00:14.00]\n[00:17.20] sat. \n[00:30.00][00:40.00]A dog\n",
        ["A cat", "sat.", "A dog"],
    ),
    "papers.bib": (b"@book{a,\n title = {A {Cat}},\n booktitle={B},\n}\n", ["A {Cat"]),
    "papers.ris": (b"TY  - JOUR\nTI  - A cat\nER  - \n", ["A cat"]),
    "mail.eml": (b"Subject: Cats\nContent-Type: text/plain\n\nA cat.\n", ["A cat.\n"]),
    "mail.mbox": (
        b"From a Tue Jan  5 10:00:00 2027\nSubject: a\n\nA cat.\n\n"
        b"From a Tue Jan  5 10:00:00 2027\nSubject: b\n\nA dog.\n",
        ["A cat.\n", "A dog.\n"],
    ),
    "answers.toml": (b'answers = ["a cat"]\n', {"answers": ["a cat"]}),
    "work.ipynb": (
        b'{"cells": [{"cell_type": "code", "source": ["a\\n", "b"]}, '
        b'{"cell_type": "markdown", "source": []}]}',
        ["a\nb"],
    ),
    "items.xml": (b"<?xml?>\n<a><b>A &amp; B</b>\n<b x='1'>C\nD</b></a>", ["A & B", "C\nD"]),
    "chats.json": (
        b'[{"title": "a", "mapping": {"r": {"message": null}, "u": {"message": {"author": '
        b'{"role": "user"}, "content": {"parts": ["Why?"]}}}, "a": {"message": {"author": '
        b'{"role": "assistant"}, "content": {"parts": ["A cat.", {"asset": 1}, ""]}}}}}]',
        ["A cat."],
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_printed_command_saves_samples(name, tmp_path, monkeypatch):
    data, samples = COMMANDS[name]
    (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RefusedError) as caught:
        formats.format_of(name, data)
    _, _, command = str(caught.value).partition(": python ")
    flag, script, sign, new_file = shlex.split(command)
    assert (flag, sign) == ("-c", ">")
    assert new_file == f"{name.partition('.')[0]}_samples.json"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout
    assert json.loads(printed) == samples


def test_command_for_unusual_name_has_placeholder():
    with pytest.raises(RefusedError, match=r"open\('FILE', 'rb'\)"):
        formats.format_of('a "$x".toml', b"")


def test_new_format_needs_single_registry_entry(monkeypatch, tmp_path):
    def parse(data, options):
        rows = [[word] for word in data.decode().split("+")]
        return Table(["text"], rows, range(1, len(rows) + 1), typed=True)

    monkeypatch.setitem(formats.FORMATS, "plus", formats.Format(("plus",), parse))
    monkeypatch.setitem(formats.ENDINGS, "plus", "plus")
    monkeypatch.setattr("vendiscore.tools.reading.reader.TYPES", (*formats.TYPES, "plus"))
    path = tmp_path / "a.plus"
    path.write_bytes(b"a b+c d")
    assert read_file(str(path), ReadOptions(), Namespace()).values == ["a b", "c d"]
    upload = UserInput(files=[("a.plus", b"a b+c d")])
    assert read_upload(upload).values == ["a b", "c d"]


def test_log_with_file_above_unpacked_limit_is_rejected():
    zip_file = io.BytesIO()
    with zipfile.ZipFile(zip_file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1_epoch_1.json", b" " * 3_000_000)
    limits = Limits(unpacked=2_000_000)
    with pytest.raises(RefusedError, match="unpacks to more than 2 MB"):
        formats.FORMATS["eval"].parse(zip_file.getvalue(), ReadOptions(limits=limits))


def test_log_with_total_above_unpacked_limit_is_rejected():
    zip_file = io.BytesIO()
    with zipfile.ZipFile(zip_file, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(3):
            archive.writestr(f"samples/{i}_epoch_1.json", b" " * 900_000)
    limits = Limits(unpacked=2_000_000)
    with pytest.raises(RefusedError, match="unpacks to more than 2 MB"):
        formats.FORMATS["eval"].parse(zip_file.getvalue(), ReadOptions(limits=limits))
