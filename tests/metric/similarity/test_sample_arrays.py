"""Common containers are converted to rows of numbers; errors name the invalid rows."""

from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

from vendiscore import SampleError, compute, mag_diff
from vendiscore.similarity.duplicate_rows import group_identical_rows
from vendiscore.similarity.sample_arrays import (
    as_matrix,
    as_samples,
    machine_epsilon,
    move_from_mps,
)

ROWS = np.array([[1.0, 2.0], [0.0, 3.0], [-1.0, 0.5]])


class ForeignArray:
    """An array of another library, with the array API and optional conversion to NumPy."""

    def __init__(self, values, convertible=True):
        self.values, self.convertible = values, convertible
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim

    def __array_namespace__(self, api_version=None):
        return np

    def __array__(self, dtype=None, copy=None):
        if not self.convertible:
            raise TypeError("Implicit conversion to a NumPy array is not allowed.")
        return self.values


CONTAINERS = {
    "list": ROWS.tolist(),
    "tuple of tuples": tuple(map(tuple, ROWS.tolist())),
    "Fortran order": np.asfortranarray(ROWS),
    "every second row": np.repeat(ROWS, 2, axis=0)[::2],
    "other byte order": ROWS.astype(">f8"),
    "objects": ROWS.astype(object),
    "matrix": sp.csr_matrix(ROWS).todense(),
    "masked array without masked entries": np.ma.masked_array(ROWS),
    "long double": ROWS.astype(np.longdouble),
    "fractions and decimals": [[Fraction(1), Decimal(2)], [0, 3.0], [-1, Fraction(1, 2)]],
    "frame": pd.DataFrame(ROWS),
    "nullable frame": pd.DataFrame(ROWS).astype("Float64"),
    "arrow": pa.array(ROWS.tolist()),
    "another library": ForeignArray(ROWS),
    **{kind: getattr(sp, f"{kind}_array")(ROWS) for kind in ("csr", "csc", "coo", "dok", "lil")},
    "dok matrix": sp.dok_matrix(ROWS),
}


@pytest.mark.parametrize("samples", [[], np.zeros((0, 3)), ()])
def test_as_samples_rejects_empty_collections_by_default(samples):
    message = "`references` is empty; pass at least one sample"
    with pytest.raises(ValueError, match=message):
        as_samples(samples, "references")
    assert len(as_samples(samples, "references", empty=True)) == 0


@pytest.mark.parametrize("container", CONTAINERS)
def test_as_matrix_accepts_any_container(container):
    X = as_matrix(CONTAINERS[container])
    np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, ROWS)
    assert X.dtype == np.float64


def test_duplicate_sparse_entries_are_summed():
    rows = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])))
    np.testing.assert_array_equal(as_matrix(rows).toarray(), [[3, 0], [0, 5]])
    assert rows.nnz == 3  # the argument is not changed


# Invalid rows and the corresponding error messages.
BAD_ROWS = [
    ([1.0], r"has shape \(1,\), but other rows have \(2,\)"),
    ([1.0, None], "must be a row of numbers, got NoneType None in it"),
    (["a", 1.0], "must be a row of numbers, got str 'a' in it"),
    ([1.0, 1j], "must be a row of numbers, got complex 1j in it"),
    ([1.0, [2.0]], "must be a row of numbers, got list"),
    ([pd.NA, 1.0], "must be a row of numbers, got NAType <NA> in it"),
    (None, "must be a row of numbers, got NoneType: None"),
    ("ab", "must be a row of numbers, got str: 'ab'"),
    ({"a": 1.0}, "must be a row of numbers, got dict.*pass one of its columns"),
    ([np.nan, 1.0], "must be finite, got nan"),
    ([1.0, -np.inf], "must be finite, got -inf"),
    (
        [10**30, 1],
        "has the integer 1000000000000000000000000000000, which float64 cannot represent",
    ),
    ([10**400, 1], "has 10+…0+, which exceeds the range of double precision"),
    (np.ma.masked_array([1.0, 2.0], mask=[0, 1]), "has masked entries"),
]


@pytest.mark.parametrize(("row", "message"), BAD_ROWS)
def test_error_lists_all_invalid_rows(row, message):
    rows = [[1.0, 2.0], row, [1.0, 2.0], [3.0, 4.0], row]
    with pytest.raises(SampleError, match=f"sample 1 of `x` {message}.*2 samples.*1, 4") as caught:
        as_matrix(rows, "x")
    assert list(caught.value.problems) == [1, 4]


def test_error_lists_rows_with_different_problems():
    rows = [[1.0, 2.0], *(row for row, _ in BAD_ROWS), [3.0, 4.0]]
    with pytest.raises(SampleError) as caught:
        as_matrix(rows)
    assert list(caught.value.problems) == list(range(1, len(BAD_ROWS) + 1))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, "torch"])
def test_error_lists_all_nonfinite_rows(container):
    X = np.array([[1.0, 0.0], [np.nan, 1.0], [0.0, 2.0], [1.0, -np.inf]])
    X = pytest.importorskip("torch").tensor(X) if container == "torch" else container(X)
    with pytest.raises(SampleError) as caught:
        as_matrix(X)
    assert list(caught.value.problems) == [1, 3]
    assert "got nan" in caught.value.problems[1]
    assert "got -inf" in caught.value.problems[3]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, "torch"])
def test_integers_without_exact_float64_value_are_rejected(dtype):
    X = [[1, 2], [2**53 + 1, 0], [2**53 + 2, 0]]
    X = pytest.importorskip("torch").tensor(X) if dtype == "torch" else np.array(X, dtype)
    with pytest.raises(SampleError, match="the integer 9007199254740993, which float64") as caught:
        as_matrix(X)
    assert list(caught.value.problems) == [1]


def test_masked_arrays_are_rejected_for_all_arguments():
    masked = np.ma.masked_array(np.eye(2), mask=[[False, True], [False, False]])
    for arguments in (
        {"score_X": True},
        {"score_K": True},
        {"k": "rbf"},
        {"k": "cosine"},
        {"k": "labels"},
        {"k": "probability_product"},
        {"k": lambda a, b: 1.0},
    ):
        with pytest.raises(TypeError, match="`samples` has masked entries, which have no value"):
            compute(masked, **arguments)
    with pytest.raises(TypeError, match="`p` has masked entries"):
        compute(["a", "b"], p=np.ma.masked_array([0.5, 0.5], mask=[True, False]))


def test_arrays_without_numpy_conversion_raise_with_the_original_error():
    with pytest.raises(
        TypeError, match=r"got .*ForeignArray \(Implicit conversion.*; convert it to a"
    ):
        compute(ForeignArray(ROWS, convertible=False), k="rbf")
    matrix = as_matrix(ForeignArray(ROWS.astype(np.float32)))
    assert isinstance(matrix, np.ndarray)
    assert matrix.dtype == np.float32


def test_arrow_tables_of_numbers_score_like_data_frames():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 0.25, 1.0], "c": [True, False, True]})
    table = pa.Table.from_pandas(frame)
    for arrow_table in (table, table.to_batches()[0], pa.concat_tables([table[:1], table[1:]])):
        np.testing.assert_array_equal(as_matrix(arrow_table), frame.to_numpy(dtype=float))
        assert compute(arrow_table, k="cosine") == compute(frame.astype(float), k="cosine")
    assert as_matrix(table.select(["b"]).cast(pa.schema([("b", pa.float32())]))).dtype == np.float32
    with pytest.raises(SampleError, match="sample 1 of `samples` must be finite, got nan"):
        compute(pa.table({"a": [1, None, 3]}), k="cosine")
    assert (
        compute(table, k={"rbf:a": 0.5, "labels:c": 0.5}, options={"rbf:a": {"sigma": 1}})["VS"] > 1
    )


def test_as_samples_returns_records_for_mixed_tables():
    table = pa.table({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert as_samples(table) == [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}]
    with pytest.raises(SampleError, match=r"got dict: {'a': 1.0, 'b': 'x'}; pass one of its"):
        compute(table, k="cosine")


@pytest.mark.parametrize(
    "make_tensor",
    [
        lambda torch: torch.eye(3).to_sparse(),
        lambda torch: torch.eye(3, device="meta"),
        lambda torch: torch.nested.nested_tensor(
            [torch.ones(2), torch.ones(3)], layout=torch.jagged
        ),
        lambda torch: [torch.ones(2).to_sparse()] * 2,
    ],
    ids=["sparse", "meta", "nested", "in a list"],
)
def test_sparse_meta_and_nested_tensors_are_rejected(make_tensor):
    torch = pytest.importorskip("torch")
    for arguments in ({"k": "rbf"}, {"k": "cosine"}, {"score_X": True}):
        with pytest.raises(TypeError, match=r"`samples` must be a dense torch tensor .*to_dense"):
            compute(make_tensor(torch), **arguments)


def test_error_names_mismatched_tensors_in_a_list():
    torch = pytest.importorskip("torch")
    tensors = [torch.ones(2), torch.zeros(2).double()]
    assert as_matrix(tensors).dtype == torch.float64
    with pytest.raises(
        SampleError, match=r"sample 2 .* has shape \(3,\), but other rows have \(2,\)"
    ):
        as_matrix([*tensors, torch.ones(3)])
    with pytest.raises(
        SampleError, match=r"sample 0 .* must be a torch tensor like the other rows, got"
    ):
        as_matrix([[1.0, 2.0], *tensors])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
def test_machine_epsilon_follows_the_input_dtype(dtype):
    expected = np.finfo(dtype).eps if np.dtype(dtype).kind == "f" else np.finfo(float).eps
    assert machine_epsilon(np.ones(2, dtype)) == expected
    assert machine_epsilon([np.ones(2, dtype)]) == expected


FLOAT_DTYPES = {
    "double": np.float64,
    "single": np.float32,
    "half": np.float16,
}


@pytest.mark.parametrize("dtype", FLOAT_DTYPES.values(), ids=FLOAT_DTYPES)
def test_group_identical_rows_treats_signed_zeros_as_equal(dtype):
    A = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, -1.0], [-0.0, -1.0]], dtype)
    np.testing.assert_array_equal(group_identical_rows(A), [0, 0, 1, 1])
    np.testing.assert_array_equal(group_identical_rows(np.asfortranarray(A)), [0, 0, 1, 1])
    assert np.signbit(A[1, 0])  # the argument is not changed


def test_group_identical_rows_ignores_stored_sparse_zeros():
    data = np.array([0.0, 1.0, 1.0, -0.0, 1.0])
    A = sp.csr_array((data, np.array([0, 1, 1, 0, 1]), np.array([0, 2, 3, 5])), (3, 2))
    np.testing.assert_array_equal(group_identical_rows(A), [0, 0, 0])
    assert A.nnz == 5


@pytest.mark.parametrize(
    "options",
    [{"k": "cosine"}, {"k": "rbf"}, {"score_X": True, "normalize": True}, {"measures": "t_conv"}],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_array_api_arrays_are_converted_in_their_own_precision(options, dtype):
    strict = pytest.importorskip("array_api_strict")
    X = np.random.default_rng(0).normal(size=(9, 3)).astype(dtype)
    foreign = strict.asarray(X)
    assert compute(foreign, **options) == compute(X, **options)
    p = np.random.default_rng(1).dirichlet(np.ones(9))
    if "measures" not in options:
        assert compute(foreign, p=strict.asarray(p), **options) == compute(X, p=p, **options)
    assert mag_diff(foreign, X[:5]) == mag_diff(X, X[:5])


def test_arrays_without_numpy_conversion_raise_with_a_hint():
    class GpuArray:  # like CuPy arrays
        shape, ndim, dtype = (2, 2), 2, np.dtype(float)

        def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
            raise TypeError("implicit conversion is not allowed; use .get()")

    with pytest.raises(TypeError, match=r"must be a NumPy array, a torch tensor or .*use .get"):
        compute(GpuArray(), k="cosine")


@pytest.mark.parametrize("method", ["collect", "to_spark", "__dask_graph__"])
def test_lazy_collections_are_rejected_before_reading(method):
    def fail_if_read(self):
        raise AssertionError("read")

    methods = dict.fromkeys((method, "to_numpy", "__iter__", "__len__", "__array__"), fail_if_read)
    lazy = type("Lazy", (), {**methods, "npartitions": 2})()
    for call in (
        lambda: compute(lazy, k="cosine"),
        lambda: compute(ROWS, k="cosine", p=lazy),
        lambda: mag_diff(ROWS, lazy),
    ):
        with pytest.raises(TypeError, match=r"` must be in memory, got .*Lazy, .* if it fits into"):
            call()


def test_tables_with_columns_named_like_lazy_methods_are_accepted():
    table = pd.DataFrame(ROWS, columns=["collect", "to_spark"])
    np.testing.assert_array_equal(as_matrix(table), ROWS)


def test_polars_frames_are_accepted_and_lazy_frames_rejected():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1]})
    np.testing.assert_array_equal(as_matrix(frame), ROWS)
    with pytest.raises(TypeError, match=r"got polars.*LazyFrame, .*pass samples\.collect\(\) if"):
        compute(frame.lazy(), k="cosine")


def test_weights_and_references_are_converted_to_the_library_of_samples():
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(0).normal(size=(9, 3))
    p = np.random.default_rng(1).dirichlet(np.ones(9))
    tensor = torch.from_numpy(X)
    expected = compute(X, k="cosine", p=p)["VS"]
    for samples, weights in (
        (tensor, p),
        (tensor, torch.from_numpy(p).float()),
        (X, torch.from_numpy(p)),
    ):
        result = compute(samples, k="cosine", p=weights)["VS"]
        assert isinstance(result, torch.Tensor) == (samples is tensor)
        assert float(result) == pytest.approx(expected, rel=1e-6)
    assert mag_diff(tensor, X[:5], k="cosine") == pytest.approx(mag_diff(X, X[:5], k="cosine"))
    options = {"k": "rbf", "measures": ["VS", "MagDiff"]}
    result, expected = compute(tensor, X[:5], **options), compute(X, X[:5], **options)
    assert isinstance(result["VS"], torch.Tensor)
    assert {name: float(value) for name, value in result.items()} == pytest.approx(expected)


def test_move_from_mps_moves_tensors_to_the_cpu():
    torch = pytest.importorskip("torch")
    cpu_tensor = torch.ones(2, 3)
    assert move_from_mps(cpu_tensor) is cpu_tensor
    mps_tensor = SimpleNamespace(device=SimpleNamespace(type="mps"), cpu=lambda: cpu_tensor)
    with pytest.warns(UserWarning, match="MPS does not support double precision"):
        assert move_from_mps(mps_tensor) is cpu_tensor
