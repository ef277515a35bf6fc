"""NumPy files are read without unpickling, and their headers are checked."""

import io
import zipfile

import numpy as np
import pytest

from vendiscore.report import ReadOptions, read_data
from vendiscore.tools.reading.limits import AskError, RefusedError
from vendiscore.tools.reading.numpy_files import NumpyArchive

X = np.arange(6.0).reshape(2, 3)


def npy_bytes(array, **options):
    data = io.BytesIO()
    np.save(data, array, **options)
    return data.getvalue()


def npz_bytes(save=np.savez, **arrays):
    data = io.BytesIO()
    save(data, **arrays)
    return data.getvalue()


@pytest.mark.parametrize(
    "array",
    [
        X,
        np.asfortranarray(X),
        X.astype(">f4"),
        np.arange(5, dtype=np.int8),
        np.zeros((0, 3)),
        np.array(7),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}",
)
@pytest.mark.parametrize("save", [None, np.savez, np.savez_compressed])
def test_arrays_round_trip(array, save):
    data = npy_bytes(array) if save is None else npz_bytes(save, x=array)
    arrays = NumpyArchive(data, save is not None)
    name = arrays.choose_array(None)
    assert name == ("" if save is None else "x")
    result = arrays.read(name)
    np.testing.assert_array_equal(result, array)
    assert result.dtype == array.dtype


def test_npy_array_is_not_copied():
    data = npy_bytes(X)
    result = NumpyArchive(data, False).read("")
    assert np.shares_memory(result, np.frombuffer(data, np.uint8))
    assert not result.flags.writeable


def test_npz_array_is_chosen_by_name():
    arrays = NumpyArchive(npz_bytes(x=X, labels=np.arange(2)), True)
    assert arrays.headers["x"].shape == (2, 3)
    assert arrays.choose_array("labels") == "labels"
    assert arrays.read("labels").tolist() == [0, 1]
    with pytest.raises(RefusedError, match="'y'"):
        arrays.choose_array("y")
    assert arrays.choose_array(None) == "x"


def test_only_arrays_that_can_be_samples_are_offered():
    arrays = NumpyArchive(npz_bytes(x=X, y=X.T, labels=np.arange(2), mean=X.mean(0), step=3), True)
    with pytest.raises(AskError, match="Which array holds the samples") as caught:
        arrays.choose_array(None)
    assert caught.value.choices == [
        ("x (2 × 3)", {"column": "x"}),
        ("y (3 × 2)", {"column": "y"}),
    ]
    with pytest.raises(RefusedError, match=r"None of its arrays .* labels \(2\), step \(1\)"):
        NumpyArchive(npz_bytes(labels=np.arange(2), step=3), True).choose_array(None)


def test_empty_and_sparse_archives_are_rejected():
    with pytest.raises(RefusedError, match="There are no arrays"):
        NumpyArchive(npz_bytes(), True).choose_array(None)
    parts = dict.fromkeys(("data", "indices", "indptr", "shape", "format"), np.arange(2))
    arrays = NumpyArchive(npz_bytes(**parts), True)
    with pytest.raises(RefusedError, match="sparse matrix of SciPy"):
        arrays.choose_array(None)
    assert arrays.choose_array("data") == "data"


def test_object_arrays_are_never_unpickled():
    class Evil:
        def __reduce__(self):
            return pytest.fail, ("unpickled",)

    arrays = NumpyArchive(npy_bytes(np.array([Evil()], object), allow_pickle=True), False)
    with pytest.raises(RefusedError, match="never unpickled"):
        arrays.read("")


@pytest.mark.parametrize("change", [-1, 1, 8])
@pytest.mark.parametrize("in_zip", [False, True])
def test_size_different_from_header_is_rejected(change, in_zip):
    data = npy_bytes(X)
    data = data[:change] if change < 0 else data + bytes(change)
    if in_zip:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("x.npy", data)
        data = file.getvalue()
    arrays = NumpyArchive(data, in_zip)
    with pytest.raises(RefusedError, match="declares 48 bytes, but the file contains"):
        arrays.read(arrays.choose_array(None))


def test_header_with_excessive_shape_is_rejected():
    header = npy_bytes(np.zeros(1)).replace(b"(1,)", b"(9" + b"9" * 14 + b",)")
    with pytest.raises(RefusedError, match=r"damaged|header cannot be read"):
        NumpyArchive(header, False).read("")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        b"\x93NUMPY\x01\x00",
        b"\x93NUMPY\x09\x00" + bytes(100),
        npy_bytes(X)[:30],
        npy_bytes(X).replace(b"(2, 3)", b"(-2,3)"),
    ],
)
def test_unreadable_header_is_rejected(data):
    with pytest.raises(RefusedError, match=r"not a \.npy array"):
        NumpyArchive(data, False)


@pytest.mark.parametrize("shape", [(2, 1, 3), (2, 3, 1), (1, 2, 3), (2, 1, 1, 3)])
def test_arrays_with_dimensions_of_length_one_are_ambiguous(shape):
    data = npy_bytes(X.reshape(shape))
    with pytest.raises(AskError, match="2 × 3 numbers, a vector per row, or images") as caught:
        read_data("a.npy", data, ReadOptions())
    assert [options["kind"] for _, options in caught.value.choices] == ["vectors", "images"]
    result = read_data("a.npy", data, ReadOptions(kind="vectors"))
    np.testing.assert_array_equal(result.values, X)
    assert result.taken == f"2 vectors; shape {shape} is read as (2, 3)"
    assert read_data("a.npy", data, ReadOptions(kind="images")).values.shape == shape


def test_packed_bits_are_ambiguous():
    bits = np.random.default_rng(0).random((4, 64)) < 0.3
    data = npy_bytes(np.packbits(bits, axis=1))
    with pytest.raises(AskError, match=r"np.unpackbits\(X, axis=1\)") as caught:
        read_data("a.npy", data, ReadOptions())
    assert [options for _, options in caught.value.choices] == [{"kind": "vectors"}]
    assert read_data("a.npy", data, ReadOptions(kind="vectors")).values.shape == (4, 8)
    assert read_data("a.npy", npy_bytes(bits.astype(np.uint8)), ReadOptions()).kind == "vectors"


def test_vectors_of_tokens_are_not_images():
    with pytest.raises(RefusedError, match=r"X\.mean\(axis=1\)"):
        read_data("a.npy", npy_bytes(np.full((2, 3, 4), -0.5)), ReadOptions())


@pytest.mark.parametrize("save", [npy_bytes, lambda array: npz_bytes(x=array)])
def test_square_arrays_are_checked_like_tables(save):
    distances = np.abs(np.subtract.outer([0, 1.0, 3], [0, 1.0, 3]))
    similarities = np.exp(-distances)
    name = "a.npy" if save is npy_bytes else "a.npz"
    for array, option in ((similarities, "matrix"), (distances, "distances")):
        with pytest.raises(AskError, match="is it a matrix of") as caught:
            read_data(name, save(array), ReadOptions())
        assert [options for _, options in caught.value.choices] == [
            {option: True},
            {"matrix": False},
        ]
        result = read_data(name, save(array), ReadOptions(**{option: True}))
        np.testing.assert_allclose(result.values, similarities)
