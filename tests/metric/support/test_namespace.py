"""Computations on tensors stay in torch, except for scalars and eigenvalues."""

import importlib
import math
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

from vendiscore import (
    FeatureSimilarity,
    MatrixSimilarity,
    State,
    as_similarity,
    compute,
    effective_number,
    mag_area,
    magnitude_weights,
    report,
    score,
    score_K,
    score_X,
    spectrum,
)
from vendiscore.result import key_at
from vendiscore.similarity.exponential_kernels import median_distance
from vendiscore.similarity.row_distances import distinct_row_indices
from vendiscore.similarity.sample_arrays import as_shared_numpy
from vendiscore.support.namespace import namespace

torch = pytest.importorskip("torch")
VendiLoss = pytest.importorskip("vendiscore.tools.integrations.loss").VendiLoss

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
ORDERS = [0.5, 1, 2, 3, math.inf]
CONVERSION_METHODS = ("numpy", "__array__", "tolist", "cpu")
KERNELS = {
    "cosine": {},
    "rbf": {},
    "rbf, fixed sigma": {"sigma": 2.0},
    "laplacian": {},
    "laplacian, fixed sigma": {"sigma": 2.0},
}


@pytest.fixture
def conversions(monkeypatch):
    """Record conversions of tensors to NumPy with their stack, except scalars and eigenvalues.

    Tensors behave as on another device, where NumPy cannot share their memory.
    """
    result = []
    monkeypatch.setattr(sys.modules[as_shared_numpy.__module__], "_SHARED_DTYPES", ())

    def record_calls(name, method):
        def convert(self, *args, **options):
            lines = "".join(traceback.format_stack(limit=6)[:-1])
            # core converts all eigenvalues once.
            if self.numel() > 1 and "core/eigenvalues.py" not in lines:
                result.append((name, lines))
            return method(self, *args, **options)

        return convert

    for name in CONVERSION_METHODS:
        monkeypatch.setattr(torch.Tensor, name, record_calls(name, getattr(torch.Tensor, name)))
    return result


def rows(n, d, dtype="float64"):
    generator = torch.Generator().manual_seed(0)
    X = torch.randint(-3, 4, (n, d), generator=generator)
    X[:, 0] += 10
    X[-1] = X[0]
    return X.to(getattr(torch, dtype))


def cosines(X):
    F = X.double()
    F = F / F.norm(dim=1, keepdim=True)
    return (F @ F.T).to(X.dtype if X.is_floating_point() else torch.float64)


def test_fixture_records_conversions_to_numpy(conversions):
    rows(4, 2).numpy()
    assert [name for name, _ in conversions] == ["numpy"]


@pytest.mark.filterwarnings("ignore:negative eigenvalues", "ignore:.*may be rounding")
@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("shape", [(70, 5), (5, 30)], ids=["tall", "wide"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "int64"])
def test_scores_of_tensors_stay_in_torch(conversions, dtype, shape, gradient):
    X = rows(*shape, dtype)
    K = cosines(X)
    p = torch.full((len(X),), 1 / len(X), dtype=torch.float64)
    if gradient and X.is_floating_point():
        X.requires_grad_()
    for q in ORDERS:
        assert torch.is_tensor(score_X(X, q=q, p=p))
        assert torch.is_tensor(score_K(K, q=q, p=p, normalize=True))
        for kernel, options in KERNELS.items():
            value = score(X, kernel.partition(",")[0], q=q, **options)
            assert torch.is_tensor(value)
            assert value.requires_grad == X.requires_grad
    assert not conversions


@pytest.mark.filterwarnings("ignore:negative eigenvalues", "ignore:.*may be rounding")
@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "int64"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_conditioning_on_prompts_stays_in_torch(conversions, kernel, dtype, gradient):
    X = rows(12, 4, dtype)
    U = X[torch.arange(12) % 2]
    if gradient and X.is_floating_point():
        X.requires_grad_()
    options = {"k": kernel.partition(",")[0], **KERNELS[kernel]}
    prompt_list = [float(x) for x in U[1].double()]
    del conversions[:]
    for q in ORDERS:
        for prompts in (U[1], U, prompt_list):  # two samples repeat their prompt
            similarity = as_similarity(X, prompts=prompts, given_prompt=True, **options)
            value = compute(similarity, q=q)[key_at(q)]
            assert torch.is_tensor(value)
            assert value.requires_grad == X.requires_grad
    K = as_similarity(X, prompts=U, given_prompt=True, **options)
    assert K.echoes[:2].all()
    assert torch.is_tensor(K.dense())
    assert not conversions


def test_loss_and_its_gradient_stay_in_torch(conversions):
    X = rows(12, 4).requires_grad_()
    for kernel, options in KERNELS.items():
        VendiLoss(kernel.partition(",")[0], **options)(X).backward()
    VendiLoss(score_K=True)(cosines(X)).backward()
    assert not conversions


def test_spectra_and_several_orders_stay_in_torch(conversions):
    X = rows(9, 4)
    values = spectrum(FeatureSimilarity(X).normalized())
    assert torch.is_tensor(values)
    assert torch.is_tensor(effective_number(values, 3))
    assert torch.is_tensor(spectrum(MatrixSimilarity(cosines(X))))
    result = compute(X, k="rbf", q=[1, 2, "inf"], measures=["VS", "IntDiv"])
    assert all(map(torch.is_tensor, result.values()))
    assert not conversions


# Maximum numbers of reads: entries, lengths, the diagonal and eigenvalues are checked separately;
# for matrices, asymmetry and entries above 1 are checked instead of lengths.
READ_LIMITS = {
    "score_X": (lambda X: score_X(X), 4),
    "unit rows": (lambda X: score_X(X / X.norm(dim=1, keepdim=True), normalize=False), 3),
    "cosine": (lambda X: score(X, "cosine"), 4),
    "rbf": (lambda X: score(X, "rbf", sigma=3.0), 3),
    "order 2": (lambda X: score(X, "cosine", q=2), 5),
    "score_K": (lambda X: score_K(cosines(X)), 5),
    "loss": (lambda X: VendiLoss()(X), 4),
}


@pytest.mark.parametrize("name", READ_LIMITS)
def test_scores_need_few_reads_from_the_device(name, conversions, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    HostReads = importlib.import_module("host_reads").HostReads
    compute_score, max_reads = READ_LIMITS[name]
    X = torch.randn(40, 12, generator=torch.Generator().manual_seed(0)).requires_grad_()
    with HostReads() as reads:
        value = compute_score(X)
    assert 0 < reads.total <= max_reads, reads.count
    if name != "order 2":
        with HostReads() as reads:
            value.backward()
        assert reads.total == 1, reads.count


@pytest.mark.parametrize("input_form", ["rows", "matrix"])
def test_estimates_match_numpy_and_large_arrays_stay_in_torch(conversions, input_form):
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(1500, 6, dtype=torch.float64, generator=generator)
    options = {"k": "rbf", "sigma": 1.0}
    if input_form == "matrix":
        X, options = as_similarity(X, **options).dense(), {"score_K": True}
    estimate_options = {"method": "estimate", "rtol": 0.01, **options}
    result = compute(X, **estimate_options)
    assert all("block_lanczos.py" in lines for _, lines in conversions)  # small random blocks
    expected = compute(X.numpy(), **estimate_options)
    assert result["VS_se"] > 0
    assert result == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
def test_torch_and_numpy_scores_are_equal(dtype, kernel, q):
    X = rows(20, 4, dtype)
    options = {"q": q, **KERNELS[kernel]}
    name = kernel.partition(",")[0]
    result = score(X, name, **options)
    assert result.dtype == torch.float64
    # Kernels of float32 in NumPy have entries of single precision.
    rel = 1e-5 if dtype == "float32" else 1e-9
    assert float(result) == pytest.approx(score(X.numpy(), name, **options), rel=rel)


@pytest.mark.filterwarnings("ignore:negative eigenvalues")
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_converted_to_double_before_products(dtype):
    X = rows(20, 4, dtype)
    X_double = X.double()
    for kernel in ("cosine", "rbf", "laplacian"):
        assert float(score(X, kernel)) == pytest.approx(float(score(X_double, kernel)), rel=1e-12)
    K = cosines(rows(20, 4)).to(X.dtype)
    assert float(score_K(K, normalize=True)) == pytest.approx(
        float(score_K(cosines(rows(20, 4)), normalize=True)), rel=0.1
    )


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_distinct_row_indices_and_medians_stay_in_torch(conversions, kernel):
    X = torch.tensor([[0.0, 1.0], [3.0, 1.0], [-0.0, 1.0], [3.0, 1.0], [0.5, 2.0]])
    result = distinct_row_indices(X)
    distinct_median, repeated_median = (
        median_distance(X[rows], kernel) for rows in ([0, 1, 4], [0, 0, 1, 4, 4, 4])
    )
    assert not conversions
    assert result.tolist() == distinct_row_indices(X.numpy()).tolist() == [0, 1, 4]
    assert float(distinct_median) == float(repeated_median)


@pytest.mark.parametrize("n", [3, 50, 200])
def test_median_distance_matches_the_median_of_all_pairs(n):
    X = torch.randn(n, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(n))
    distances = torch.pdist(X)
    assert float(median_distance(X, "gaussian")) == pytest.approx(
        np.median(distances.numpy()), rel=1e-12
    )
    manhattan_distances = torch.pdist(X, p=1.0)
    assert float(median_distance(X, "laplace")) == pytest.approx(
        np.median(manhattan_distances.numpy()), rel=1e-12
    )


def test_report_accepts_bfloat16_rows():
    X = rows(12, 4).to(torch.bfloat16)
    assert "12 rows" in str(report(X, k="cosine"))


def test_negated_tensor_views_are_accepted():
    X = torch.complex(rows(12, 4), rows(12, 4)).conj().imag
    assert X.is_neg()
    array = X.resolve_neg().numpy()
    for function in (mag_area, magnitude_weights, lambda X: State.empty(k="cosine").update(X).n):
        assert np.array_equal(function(X), function(array))


def test_inexact_integer_tensors_are_rejected():
    X = torch.tensor([[1, 2], [2**60 + 1, 1]])
    with pytest.raises(ValueError, match="has the integer 1152921504606846977, which float64"):
        score(X, "cosine")
    assert float(score(torch.tensor([[1, 2], [3, 1]], dtype=torch.uint64), "cosine")) > 1


def test_asymmetric_torch_kernel_is_rejected():
    from vendiscore.resolve.kernel import Kernel
    from vendiscore.resolve.kernel_builder import build_kernel_similarity

    K = torch.eye(3, dtype=torch.float64)
    K[0, 2] = 0.5
    with pytest.raises(ValueError, match=r"k\(x, y\) = 0.5 and k\(y, x\) = 0 for samples 0 and 2"):
        build_kernel_similarity(
            Kernel("skew", lambda samples: MatrixSimilarity(K), "", "vectors"), K, {}
        )


def test_out_of_memory_errors_of_torch_are_passed_on(monkeypatch):
    def raise_out_of_memory(*args):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")

    K = torch.full((3, 3), 0.5, dtype=torch.float64).fill_diagonal_(1.0).requires_grad_()
    monkeypatch.setattr(namespace(K).linalg, "eigvalsh", raise_out_of_memory)
    with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate 20 GiB"):
        score_K(K)
