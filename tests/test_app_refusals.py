"""Files made to hurt are refused in words, after little work and within little memory."""

import base64
import io
import json
import resource
import struct
import time
import zipfile

import files_people_have as files
import hostile
import numpy as np
import pytest
from hostile import archive, npy_header, png

from vendiscore.app import limits, matrices, zips
from vendiscore.app.limits import RefusedError
from vendiscore.app.reading import Asked, Given, read

pytest.importorskip("pyarrow")
pytest.importorskip("PIL.Image")
from vendiscore.app import pictures

_MOST_MEMORY = 1_500_000  # kB that a file may cost at its peak


def given(name: str, data: bytes | str) -> Given:
    return Given(files=[(name, data.encode() if isinstance(data, str) else data)])


def refused(work, *args) -> str:
    """The message, after little work: a file that unpacks to much would take far more."""
    start = time.process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(RefusedError) as caught:
        work(*args)
    assert time.process_time() - start < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < _MOST_MEMORY
    message = str(caught.value)
    assert "Traceback" not in message
    assert len(message) < 400
    return message


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.csv", "a" + ",a" * 10**6 + "\n", "columns are too many"),
        ("a.csv", "\n" * 2_000_000, "lines are too many"),
        ("a.txt", "x\n" * 2_000_000, "lines are too many"),
        ("a.csv", "a,b\n" + ("," * 19_000 + "x\n") * 999, "cells are too many"),
        ("a.csv", "a,b\n" + ("x" + "," * 3_000 + "\n") * 2_000, "cells are too many"),
        ("a.json", "[" * 10**6, "nested too deeply"),
        ("a.json", "[" * 10**5 + "]" * 10**5, "nested too deeply"),
        ("a.json", "[" + "[]," * 3_000_000 + "[]]", "arrays and objects in one value"),
        ("a.json", '{"a":' * 10**5, "nested too deeply"),
        ("a.json", "[" + "9" * 10_000 + "]", "thousands of digits"),
        ("a.json", json.dumps([{f"k{i}": 1} for i in range(5_000)]), "5,000 fields are too many"),
        ("a.json", json.dumps([{str(i % 4096): ""} for i in range(4_096)]), "values"),
        ("a.jsonl", "[" * 100_000, "not valid JSON"),
        ("a.jsonl", '{"a": 1}x', "not valid JSON"),
        ("a.txt", "one\ntwo\n\0\n", "Line 3 holds a NUL"),
        ("a.csv", "id,answer\n1,\0\n", "Line 2 holds a NUL"),
        ("a.txt", b"\xff\xfe\x00", "not UTF-8"),
        ("a.csv", 'a,b\n"' + "x" * 200_000 + '",y\n', "not valid CSV"),
    ],
    ids=range(18),
)
def test_hostile_tables_are_refused(name, data, said):
    assert said in refused(read, given(name, data))


def test_a_line_of_ten_megabytes_is_a_problem_of_that_line():
    found = read(Given(text="a short one\n" + "x" * 10**7 + "\nanother one"))
    assert list(found.problems.items()) == [(1, "has 10,000,000 characters, more than 20,000")]
    assert max(map(len, found.values)) < 300
    assert read(Given(text="x" * 10**7)).problems


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            npy_header(
                "{'descr': '<f8', 'fortran_order': False, 'shape': (50000, 100000), }", b"\0" * 64
            ),
            "100,000 columns are too many",
        ),
        (
            npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (900, 9), }", b"\0" * 64),
            "it is damaged",
        ),
        (
            npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10**9, 9), }"),
            "header cannot be read",
        ),
        (
            npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999, 9), }"),
            "The array has 720 MB",
        ),
        (npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }"), "no rows"),
        (npy_header("__import__('os').system('true')"), "header cannot be read"),
        (hostile.object_array(), "never pickled"),
        (npy_header("{'descr': '<U9', 'fortran_order': False, 'shape': (1, 1), }"), "only real"),
        (npy_header("{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }"), "only real"),
        (
            npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1), }", b"\0" * 8),
            "shape (1, 1, 1)",
        ),
        (hostile.forty_gigabytes(), "too many"),
    ],
    ids=range(11),
)
def test_arrays_are_judged_by_their_header(data, said):
    assert said in refused(read, given("a.npy", data))
    assert said in refused(read, given("a.npz", archive({"a.npy": data})))


def test_a_pickle_is_not_an_array_whatever_it_is_called():
    pickled = b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s."
    assert "not a .npy" in refused(read, given("a.npy", pickled))
    assert "unpickling" in refused(read, given("a.csv", pickled))
    assert "not a .npy" in refused(read, given("a.npz", archive({"a.npy": pickled})))


def test_an_array_that_unpacks_to_more_than_it_says_is_damaged():
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"
    bomb = archive({"a.npy": npy_header(head, b"\0" * 10**8)})
    assert len(bomb) < 200_000
    assert "it is damaged" in refused(read, given("a.npz", bomb))
    many = archive({f"{i}.npy": b"" for i in range(200)})
    assert "more than 100 arrays" in refused(read, given("a.npz", many))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (lambda: b"PAR1" + b"\0" * 99, "cannot be read"),
        (lambda: files.parquet(a=[{"b": 1}]), "Expected a column of texts or of numbers"),
        (lambda: files.parquet(a=[["x"]]), "Expected a column of texts or of numbers"),
        (lambda: files.parquet(a=np.zeros(0)), "no texts yet"),
        (lambda: files.parquet(a=[[0.0] * 5_000]), "5,000 columns are too many"),
        (lambda: files.parquet(**{f"a{i}": [0.0] for i in range(5_000)}), "5,000 columns"),
    ],
    ids=range(6),
)
def test_bad_parquet_files_are_refused(data, said):
    assert said in refused(read, given("a.parquet", data()))


def test_a_parquet_file_that_says_one_text_a_million_times_holds_it_once():
    import pyarrow as pa

    once = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(300_000, np.int32)), pa.array(["long " * 50_000])
    )
    data = files.parquet(text=once)
    assert len(data) < 2_000_000
    found = read(given("a.parquet", data))
    assert (len(found), found.total) == (1_000, 200_000)
    assert "Only the first 200,000 rows were read." in found.notes
    assert len(found.problems) == 1_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4_000_000


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.svg", lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", "as PNG or JPEG"),
        ("a.zip", lambda: b"PK\x03\x04 and no more", "cannot be read"),
        ("a.zip", lambda: archive({f"{i}.png": b"x" for i in range(30_000)}), "30,000 entries"),
        ("a.zip", lambda: archive({"a.png": b"\0" * 10**8}), "unpacks to more than"),
        (
            "a.zip",
            lambda: archive({f"{i}.png": b"\0" * 6 * 10**7 for i in range(4)}),
            "unpacks to more than 192 MB",
        ),
        ("a.zip", lambda: archive({"a.doc": b"hello"}), "no images and no .txt files"),
        ("a.zip", lambda: archive({}), "but nothing"),
        ("a.zip", lambda: archive({"b.zip": archive({"a.png": b""})}), "but b.zip"),
    ],
    ids=range(8),
)
def test_hostile_zips_are_refused(name, data, said):
    assert said in refused(read, given(name, data()))


def test_a_zip_with_a_list_of_entries_beyond_all_measure_is_refused_unread():
    data = bytearray(archive({"a.png": b"x"}))
    end = data.rfind(b"PK\x05\x06")
    data[end + 12 : end + 16] = struct.pack("<I", 60_000_000)
    assert "more files than this page takes" in refused(zips.names, bytes(data))


def test_names_in_zips_lead_nowhere():
    entries = {
        "../../etc/a.png": png(8, 8, 50),
        "C:\\b\\c.png": png(8, 8, 90),
        "__MACOSX/._a.png": b"junk",
        "readme.txt": b"hello",
    }
    found = read(Given(files=[("x.zip", archive(entries)), ("../d.png", png(40, 20))]))
    assert found.places == [picture.name for picture in found.values]
    assert found.places == ["a.png", "c.png", "d.png"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (lambda: png(20_000, 20_000), "has more than 80 megapixels, where this page takes"),
        (lambda: png(9_001, 7_000), "has 63 megapixels, where this page takes up to 55"),
        (lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is not an image that can be read"),
        (lambda: b"hello", "is not an image that can be read here (PNG, JPEG"),
        (lambda: png(300, 300)[:-30], "cannot be read"),
        (hostile.half_a_jpeg, "cannot be read"),
        (lambda: files.photo("HEIF")[:-200], "cannot be read"),
    ],
    ids=range(7),
)
def test_an_image_that_cannot_be_used_is_named_and_the_others_are_read(data, said):
    bad = data()
    found = read(
        Given(files=[("a.png", png(9, 9)), ("b.png", bad), ("c.zip", archive({"d.png": bad}))])
    )
    assert found.places == ["a.png", "b.png", "d.png"]
    assert list(found.problems) == [1, 2]
    assert all(problem.startswith(said) for problem in found.problems.values())
    assert said in refused(pictures.decoded, [base64.b64encode(bad).decode()])


def test_too_many_megapixels_together_are_refused(monkeypatch):
    monkeypatch.setattr(pictures, "MAX_ALL_PIXELS", 1_000_000)
    several = Given(files=[(f"{i}.png", png(700, 700)) for i in range(3)])
    assert "more than 1 megapixels together" in refused(read, several)


def test_of_more_images_than_fit_a_part_is_decoded():
    entries = {f"{i}.png": png(5, 5, i % 250) for i in range(300)}
    found = read(given("a.zip", archive(entries)))
    assert (len(found), found.total) == (200, 300)
    assert "200 of 300 images, drawn at random" in found.notes[-1]
    other = read(given("a.zip", archive(entries)), Asked(draw=1))
    assert found.places != other.places


def test_images_of_the_api_are_base64_with_or_without_a_prefix():
    data = base64.b64encode(png(9, 9)).decode()
    found = pictures.decoded([data, f"data:image/png;base64,{data}"])
    assert found[0].small.tobytes() == found[1].small.tobytes()
    assert "Image 0 is not valid base64" in refused(pictures.decoded, ["*"])
    assert "Expected a list" in refused(pictures.decoded, "abc")
    assert "not an image" in refused(pictures.decoded, [base64.b64encode(b"hello").decode()])


@pytest.mark.parametrize("X", [[["a"]], [[1, 2], [3]], [[[1]]], {"a": 1}, None, [[1j]], [[None]]])
def test_an_api_call_with_no_matrix_is_refused(X):
    refused(matrices.check_matrix, X)


def test_files_are_weighed_one_by_one_and_together():
    large = b"x" * (limits.MAX_UPLOAD + 1)
    assert "takes up to 64 MB a file" in refused(read, given("a.txt", large))
    third = [(f"{i}.txt", b"x" * 50_000_000) for i in range(3)]
    assert "128 MB in one go" in refused(read, Given(files=third))


def test_texts_of_the_api_are_counted_and_measured():
    assert "has 1,000,000 characters" in refused(limits.check_texts, ["x" * 10**6])
    assert "number 0 is int" in refused(limits.check_texts, [1])
    assert "in all" in refused(limits.check_texts, ["x" * 19_000] * 30)
    assert "no texts yet" in refused(limits.check_texts, [])


def test_an_encrypted_zip_says_so():
    buffer = io.BytesIO(archive({"a.png": png(9, 9)}))
    data = bytearray(buffer.getvalue())
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(sign) + offset] |= 1
    assert zipfile.ZipFile(io.BytesIO(bytes(data))).infolist()[0].flag_bits & 1
    assert "it is encrypted" in refused(read, given("a.zip", bytes(data)))
