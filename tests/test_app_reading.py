"""What a visitor sends is read within limits, and whatever is refused is refused in words."""

import base64
import json
import time

import hostile
import numpy as np
import pytest
from hostile import archive, npy_header, png

from vendiscore.app import limits, matrices, reading
from vendiscore.app.limits import RefusedError

PIL = pytest.importorskip("PIL.Image")
from vendiscore.app import pictures  # noqa: E402


def refused(read, *args) -> str:
    """The message, after little work: a file that unpacks to much would take far more."""
    start = time.process_time()
    with pytest.raises(RefusedError) as caught:
        read(*args)
    assert time.process_time() - start < 20
    message = str(caught.value)
    assert "Traceback" not in message
    assert len(message) < 400
    return message


def test_texts_come_from_lines_columns_and_json(save):
    box = reading.lines(" a \n\n b\r\n")
    assert (box.values, list(box.places), box.unit) == (["a", "b"], [1, 3], "line")
    assert reading.texts(save("a.txt", "\ufeffone\ntwo\n")).values == ["one", "two"]
    table = save("a.csv", 'id,answer\n1,"yes, it is"\n2,no\n')
    assert reading.columns(table) == (["id", "answer"], "answer")
    assert reading.texts(table, "answer").values == ["yes, it is", "no"]
    rows = save("a.jsonl", '{"q": "?", "a": "x"}\n{"q": "!", "a": "y"}\n')
    assert reading.columns(rows)[0] == ["q", "a"]
    assert reading.texts(rows, "a").values == ["x", "y"]
    assert reading.texts(save("b.jsonl", '"x"\n"y"\n')).values == ["x", "y"]


def test_numbers_come_from_boxes_npy_csv_and_parquet(save, tmp_path):
    X = np.array([[1.0, 2.5], [-3.0, 4.0], [0.0, 1e-3]])
    rows = "\n".join(", ".join(map(str, row)) for row in X)
    assert np.array_equal(reading.numbers(rows).values, X)
    assert np.array_equal(reading.numbers(rows.replace(", ", ";")).values, X)
    assert np.array_equal(reading.matrix(save("a.csv", "u,v\n" + rows)).values, X)
    np.save(tmp_path / "a.npy", X.astype(np.float32))
    assert reading.matrix(str(tmp_path / "a.npy")).values == pytest.approx(X)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["u", "v"])
    frame.to_parquet(tmp_path / "a.parquet")
    assert np.array_equal(reading.matrix(str(tmp_path / "a.parquet")).values, X)
    frame.assign(name=["a", "b", "c"]).set_index([[7, 9, 12]]).to_parquet(tmp_path / "a.parquet")
    found = reading.matrix(str(tmp_path / "a.parquet"))
    assert np.array_equal(found.values, X)
    assert "left out, as no numbers: name, __index_level_0__" in found.notes[0]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.exe", "MZ", "cannot be read here"),
        ("a.txt", b"\xff\xfe\x00", "not UTF-8"),
        ("a.txt", "", "empty"),
        ("a.csv", 'a,b\n"x,y\n', "not valid CSV"),
        ("a.jsonl", "{", "not valid JSON"),
        ("a.jsonl", "[" * 100_000, "not valid JSON"),
        ("a.jsonl", "[1]", "must be a JSON object"),
        ("a.csv", "a\n" + "x\n" * 1001, "More than 1,000 texts"),
        ("a.csv", "a" + ",a" * 10**6 + "\n", "columns are too many"),
        ("a.csv", "\n" * 2_000_000, "lines are too many"),
        ("a.txt", "\n" * 2_000_000, "lines are too many"),
        ("a.csv", ",".join("a" * 4_000) + "\n" + "1," * 3_999 + "2\n", "No column is clearly"),
        ("a.csv", "a,b\n" + ("," * 19_000 + "\n") * 999, "cells are too many"),
    ],
)
def test_bad_text_files_are_refused(save, name, data, said):
    assert said in refused(reading.texts, save(name, data))


def test_a_missing_column_is_named_and_the_others_listed(save):
    message = refused(reading.texts, save("a.csv", "one,two\n1,2\n"), "three")
    assert "'three'" in message
    assert "one, two" in message


def test_a_million_characters_on_one_line_are_refused():
    assert "has 1,000,000 characters" in refused(limits.check_texts, ["x" * 10**6])
    assert "number 0 is int" in refused(limits.check_texts, [1])
    assert "in all" in refused(limits.check_texts, ["x" * 19_000] * 30)
    assert "no texts yet" in refused(limits.check_texts, [])


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
        (npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }"), "no rows"),
        (npy_header("__import__('os').system('true')"), "header cannot be read"),
        (hostile.object_array(), "never pickled"),
        (b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s.", "not a .npy"),
        (npy_header("{'descr': '<U9', 'fortran_order': False, 'shape': (1, 1), }"), "only real"),
        (npy_header("{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }"), "only real"),
        (
            npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1), }", b"\0" * 8),
            "shape (1, 1, 1)",
        ),
    ],
)
def test_npy_files_are_judged_by_their_header(save, data, said):
    assert said in refused(reading.matrix, save("a.npy", data))


def test_a_192_byte_file_that_claims_40_gigabytes_is_refused_without_allocating(save):
    path = save("a.npy", hostile.forty_gigabytes())
    assert (reading.size(path), 8 * 1000 * 5_000_000) == (192, 40 * 10**9)
    assert "too many" in refused(reading.matrix, path)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("1" + ",1" * 10**6, "1,000,001 columns are too many"),
        ("1" + " 1" * 5000, "5,001 columns are too many"),
        ("1\n" * 1001, "More than 1,000 rows"),
        (("1," * 2999 + "1\n") * 700, "cells are too many"),
        (("1 " * 2999 + "1\n") * 700, "cells are too many"),
        ("", "no rows yet"),
    ],
)
def test_numbers_beyond_the_limits_are_refused(rows, said):
    assert said in refused(reading.numbers, rows)


def test_bad_parquet_files_are_refused(save, tmp_path):
    pandas = pytest.importorskip("pandas")
    assert "cannot be read" in refused(reading.matrix, save("a.parquet", b"PAR1" + b"\0" * 99))
    path = str(tmp_path / "b.parquet")
    pandas.DataFrame({"a": ["x"]}).to_parquet(path)
    assert "no other holds numbers" in refused(reading.matrix, path)
    pandas.DataFrame({"a": np.zeros(2_000_000)}).to_parquet(path)  # a few kB on disk
    assert "More than 1,000 rows" in refused(reading.matrix, path)
    pandas.DataFrame({"a": pandas.array([1, None], dtype="Int64")}).to_parquet(path)
    assert reading.matrix(path).problems == {1: "has nan"}


@pytest.mark.parametrize("X", [[["a"]], [[1, 2], [3]], [[[1]]], {"a": 1}, None, [[1j]], [[None]]])
def test_an_api_call_with_no_matrix_is_refused(X):
    refused(matrices.check_matrix, X)


def test_images_come_from_files_and_zips_without_their_folders(save):
    inside = archive(
        {
            "../../etc/a.png": png(8, 8, 50),
            "C:\\b\\c.png": png(8, 8, 90),
            "__MACOSX/._a.png": b"junk",
            "readme.txt": b"hello",
        }
    )
    samples = pictures.pictures([save("x.zip", inside), save("d.png", png(40, 20))])
    found = samples.values
    assert [picture.name for picture in found] == samples.places == ["a.png", "c.png", "d.png"]
    assert {picture.small.size for picture in found} == {(32, 32)}
    assert found[0].thumbnail.startswith("data:image/png;base64,")


def test_an_image_read_here_has_the_pixels_that_the_kernel_sees(save):
    from vendiscore.app.jobs import image_job
    from vendiscore.progress import finish
    from vendiscore.scoring import compute

    rng = np.random.default_rng(0)
    paths = []
    for i in range(4):
        path = save(f"{i}.png", b"")
        PIL.fromarray(rng.integers(0, 255, (50, 41, 3), dtype=np.uint8)).save(path)
        paths.append(path)
    ours = finish(image_job(pictures.pictures(paths).values).score(1)).score
    assert ours == pytest.approx(compute(paths, k="pixels", mode="RGB")["VS"], rel=1e-12)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.svg", lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no image that can be"),
        ("a.zip", lambda: b"PK\x03\x04 and no more", "cannot be read"),
        ("a.zip", lambda: archive({f"{i}.png": b"x" for i in range(10_000)}), "10,000 entries"),
        ("a.zip", lambda: archive({f"{i}.png": b"x" for i in range(300)}), "More than 200"),
        ("a.zip", lambda: archive({"a.png": b"\0" * 10**8}), "unpacks to more than"),
        ("a.zip", lambda: archive({"a.txt": b"hello"}), "no images in the zip"),
    ],
    ids=range(6),
)
def test_hostile_images_are_refused(save, name, data, said):
    assert said in refused(pictures.pictures, [save(name, data())])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            lambda: png(10_000, 10_000),
            "has more than 80 megapixels, where this page takes up to 25",
        ),
        (lambda: png(5_001, 5_000), "has 25 megapixels, where this page takes up to 25"),
        (lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is not an image that can be read"),
        (lambda: b"hello", "is not an image that can be read here (PNG, JPEG"),
        (lambda: png(300, 300)[:-30], "cannot be read"),
        (hostile.half_a_jpeg, "cannot be read"),
    ],
    ids=range(6),
)
def test_an_image_that_cannot_be_used_is_named_and_the_others_are_read(save, data, said):
    bad = data()
    files = [save("a.png", png(9, 9)), save("b.png", bad), save("c.zip", archive({"d.png": bad}))]
    samples = pictures.pictures(files)
    assert samples.places == ["a.png", "b.png", "d.png"]
    assert list(samples.problems) == [1, 2]
    assert all(problem.startswith(said) for problem in samples.problems.values())
    assert said in refused(pictures.decoded, [base64.b64encode(bad).decode()])


def test_too_many_or_too_large_images_together_are_refused(save):
    path = save("a.png", png(9, 9))
    assert "More than 200 images" in refused(pictures.pictures, [path] * 10_000)
    large = save("b.png", png(4900, 5000))
    assert "megapixels together" in refused(pictures.pictures, [large] * 9)


def test_images_of_the_api_are_base64_with_or_without_a_prefix():
    data = base64.b64encode(png(9, 9)).decode()
    found = pictures.decoded([data, f"data:image/png;base64,{data}"])
    assert found[0].small.tobytes() == found[1].small.tobytes()
    assert "Image 0 is not valid base64" in refused(pictures.decoded, ["*"])
    assert "Expected a list" in refused(pictures.decoded, "abc")
    assert "not an image" in refused(pictures.decoded, [base64.b64encode(b"hello").decode()])


def test_an_upload_that_was_deleted_says_so():
    assert "upload it again" in refused(reading.texts, "/nowhere/a.txt")


def test_json_with_a_huge_number_is_no_crash(save):
    path = save("a.jsonl", json.dumps({"a": "x"}) + "\n" + '{"a": ' + "9" * 10_000 + "}")
    assert list(reading.texts(path).problems) == [1]
