"""Hostile tables and arrays are rejected with a message, in little time and memory."""

import json
import resource

import hostile_files
import numpy as np
import pytest
import user_files as files
from hostile_files import npy_header
from rejections import get_rejection_message, make_upload
from user_files import encode_zip

from vendiscore_page import quotas
from vendiscore_page.inputs import matrices
from vendiscore_page.inputs.uploads import UserInput, read

pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", "a" + ",a" * 10**6 + "\n", "columns are too many"),
        ("a.csv", "\n" * 2_000_000, "lines are too many"),
        ("a.txt", "x\n" * 2_000_000, "lines are too many"),
        ("a.csv", "a,b\n" + ("," * 19_000 + "x\n") * 999, "cells are too many"),
        ("a.csv", "a,b\n" + ("x" + "," * 3_000 + "\n") * 5_000, "cells are too many"),
        ("a.json", "[" * 10**6, "nested too deeply"),
        ("a.json", "[" * 10**5 + "]" * 10**5, "nested too deeply"),
        ("a.json", "[" + "[]," * 3_000_000 + "[]]", "arrays and objects in one value"),
        ("a.json", '{"a":' * 10**5, "nested too deeply"),
        ("a.json", "[" + "9" * 10_000 + "]", "thousands of digits"),
        ("a.json", json.dumps([{f"k{i}": 1} for i in range(5_000)]), "5,000 fields are too many"),
        ("a.json", json.dumps([{str(i % 4096): ""} for i in range(4_096)]), "values"),
        ("a.jsonl", "[" * 100_000, "not valid JSON"),
        ("a.jsonl", '{"a": 1}x', "not valid JSON"),
        ("a.txt", "one\ntwo\n\0\n", "Line 3, column 1: there is a NUL"),
        ("a.csv", "id,answer\n1,\0\n", "Line 2, column 3: there is a NUL"),
        ("a.txt", b"\xff\xfe\x00", "is not utf-16"),
        ("a.csv", 'a,b\n"' + "x" * 200_000 + '",y\n', "not valid CSV"),
    ],
    ids=range(18),
)
def test_hostile_tables_are_rejected(name, data, message):
    assert message in get_rejection_message(read, make_upload(name, data))


def test_line_of_ten_megabytes_is_listed_as_problem():
    result = read(UserInput(text="a short one\n" + "x" * 10**7 + "\nanother one"))
    assert list(result.problems.items()) == [(1, "has 10,000,000 characters, more than 20,000")]
    assert max(map(len, result.values)) < 300
    assert read(UserInput(text="x" * 10**7)).problems


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            npy_header(
                "{'descr': '<f8', 'fortran_order': False, 'shape': (50000, 100000), }", b"\0" * 64
            ),
            "40,000 MB; this page accepts up to 192 MB",
        ),
        (
            npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (900, 9), }", b"\0" * 64),
            "array is damaged",
        ),
        (
            npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**9, 9), }"),
            "header cannot be read",
        ),
        (
            npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999, 9), }"),
            "The array has 720 MB",
        ),
        (
            npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }"),
            "header cannot be read",
        ),
        (npy_header("__import__('os').system('true')"), "header cannot be read"),
        (hostile_files.npy_with_objects(), "never unpickled"),
        (
            npy_header("{'descr': '<U9', 'fortran_order': False, 'shape': (1, 1), }"),
            "Expected an array of real numbers",
        ),
        (
            npy_header("{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }"),
            "Expected an array of real numbers",
        ),
        (
            npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1), }", b"\0" * 8),
            "shape (1, 1, 1)",
        ),
        (hostile_files.npy_claiming_forty_gigabytes(), "40,000 MB; this page"),
    ],
    ids=range(11),
)
def test_invalid_arrays_are_rejected_by_header(data, message):
    assert message in get_rejection_message(read, make_upload("a.npy", data))
    assert message in get_rejection_message(read, make_upload("a.npz", encode_zip({"a.npy": data})))


def test_pickle_is_rejected_under_any_file_name():
    pickled = b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s."
    assert "a pickle" in get_rejection_message(read, make_upload("a.npy", pickled))
    assert "unpickling" in get_rejection_message(read, make_upload("a.csv", pickled))
    assert "not a .npy" in get_rejection_message(
        read, make_upload("a.npz", encode_zip({"a.npy": pickled}))
    )


def test_npz_larger_than_declared_is_rejected():
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"
    zip_bomb = encode_zip({"a.npy": npy_header(header, b"\0" * 10**8)})
    assert len(zip_bomb) < 200_000
    assert "array is damaged" in get_rejection_message(read, make_upload("a.npz", zip_bomb))
    many_arrays = encode_zip({f"{i}.npy": b"" for i in range(200)})
    assert "200 entries, more than 100" in get_rejection_message(
        read, make_upload("a.npz", many_arrays)
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda: b"PAR1" + b"\0" * 99, "cannot be read"),
        (lambda: files.encode_parquet(a=[{"b": 1}]), "There is no column of samples; it has a."),
        (
            lambda: files.encode_parquet(a=[{"bytes": None, "path": "a.png"}]),
            "contains names of images, not images",
        ),
        (lambda: files.encode_parquet(a=np.zeros(0)), "no texts yet"),
        (lambda: files.encode_parquet(a=[[0.0] * 5_000]), "5,000 columns are too many"),
        (lambda: files.encode_parquet(**{f"a{i}": [0.0] for i in range(5_000)}), "5,000 columns"),
    ],
    ids=range(6),
)
def test_invalid_parquet_files_are_rejected(data, message):
    assert message in get_rejection_message(read, make_upload("a.parquet", data()))


def test_parquet_with_repeated_long_text_uses_little_memory():
    import pyarrow as pa

    repeated_text = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(300_000, np.int32)), pa.array(["long " * 50_000])
    )
    data = files.encode_parquet(text=repeated_text)
    assert len(data) < 2_000_000
    peak_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # of all tests so far
    result = read(make_upload("a.parquet", data))
    assert (len(result), result.total) == (1_000, 200_000)
    assert "Only the first 200,000 rows were read." in result.notes
    assert len(result.problems) == 1_000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak < max(4_000_000, 1.01 * peak_before)


@pytest.mark.parametrize("X", [[["a"]], [[1, 2], [3]], [[[1]]], {"a": 1}, None, [[1j]], [[None]]])
def test_check_matrix_rejects_invalid_matrices(X):
    get_rejection_message(matrices.check_matrix, X)


def test_too_large_file_is_rejected():
    data = b"x" * (quotas.MAX_UPLOAD + 1)
    assert "accepts up to 64 MB per file" in get_rejection_message(read, make_upload("a.txt", data))


def test_check_texts_rejects_invalid_texts():
    assert "has 1,000,000 characters" in get_rejection_message(quotas.check_texts, ["x" * 10**6])
    assert "number 0 is int" in get_rejection_message(quotas.check_texts, [1])
    assert "in all" in get_rejection_message(quotas.check_texts, ["x" * 19_000] * 30)
    assert "no texts yet" in get_rejection_message(quotas.check_texts, [])
