"""Single-precision rows use single-precision products only for orders of at least 1."""

import math

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, effective_number, spectrum
from vendiscore.spectral.routes import SINGLE_PRECISION_NOTE
from vendiscore.spectral.vendi_scores import compute_vendi_scores

N, D = 17_000, 60  # more than a block of rows
rng = np.random.default_rng(0)
column_index = np.arange(D)
rotation = np.linalg.qr(rng.standard_normal((D, D)))[0]


def normal_rows(d=D):
    return rng.standard_normal((N, d))


SPECTRA = {
    "white": normal_rows(),
    "exponential": normal_rows() * np.exp(-column_index / 20),
    "exponential, rotated": normal_rows() * np.exp(-column_index / 6) @ rotation,
    "power law, rotated": normal_rows() / np.sqrt(column_index + 1) @ rotation,
    "rank 5": normal_rows(5) @ normal_rows()[:5],
    "one direction": normal_rows() * np.where(column_index == 0, 60, 1) @ rotation,
    "mean of 3": normal_rows() + 3,
    "clusters": normal_rows() @ rotation / 9 + normal_rows()[rng.integers(0, 7, N)],
    "column scales": normal_rows() * 10.0 ** rng.uniform(-5, 2, D),
    "half of the rows equal": np.where(np.arange(N)[:, None] % 2, normal_rows()[:1], normal_rows()),
}
# One eigenvalue, or a few columns, dominate the trace.
DOUBLE_PRECISION_SPECTRA = {"mean of 3", "column scales"}
MAX_ERROR = 2e-5  # of log VS, if log VS is at least 2e-3


def float32_similarity(X):
    rows = X / np.linalg.norm(X, axis=1)[:, None]
    return FeatureSimilarity(rows.astype(np.float32)).normalized()


@pytest.mark.parametrize("name", SPECTRA)
def test_scores_from_order_1_on_have_single_precision_accuracy(name):
    similarity = float32_similarity(SPECTRA[name])
    exact = spectrum(similarity)
    orders = [1.0, 1.5, 3.0, math.inf]
    scores = compute_vendi_scores(similarity, orders)
    for q, score, estimate in zip(orders, scores.values, scores.estimates, strict=True):
        assert estimate.reason.endswith(SINGLE_PRECISION_NOTE) == (
            name not in DOUBLE_PRECISION_SPECTRA
        )
        assert math.log(score / effective_number(exact, q)) == pytest.approx(0, abs=MAX_ERROR)


def uses_single_precision(similarity, orders, p=None):
    return compute_vendi_scores(similarity, orders, p).spectrum.single_precision


def test_double_precision_is_used_where_single_is_inaccurate():
    X = SPECTRA["white"]
    assert uses_single_precision(float32_similarity(X), [1.0])
    assert not uses_single_precision(float32_similarity(X), [1.0, 0.5])
    assert not uses_single_precision(float32_similarity(X), [1.0], rng.dirichlet(np.ones(N)))
    assert not uses_single_precision(FeatureSimilarity(X).normalized(), [1.0])
    assert not uses_single_precision(float32_similarity(X[:1000]), [1.0])  # a small set
    assert not uses_single_precision(
        FeatureSimilarity(X.astype(np.float32)).normalized(), [1.0]
    )  # rows without unit norm
    clusters = np.repeat(rotation[:2], N // 2, axis=0)  # negative eigenvalues reveal the inaccuracy
    assert not uses_single_precision(float32_similarity(clusters), [1.0])
    for similar_rows in (X + 1000, np.repeat(X[:1], N, axis=0)):
        assert not uses_single_precision(float32_similarity(similar_rows), [1.0])


def test_single_precision_spectrum_rejects_orders_below_1():
    similarity = float32_similarity(SPECTRA["exponential"])
    single_spectrum = compute_vendi_scores(similarity, [1.0]).spectrum
    with pytest.raises(ValueError, match=r"order 0\.5 requires a spectrum in double precision"):
        single_spectrum.effective_number(0.5)
    result = compute_vendi_scores(similarity, [0.5], spectrum=single_spectrum)
    assert not result.spectrum.single_precision
    assert result.values == compute_vendi_scores(similarity, [0.5]).values
    assert (
        compute_vendi_scores(similarity, [2.0, 1.0], spectrum=single_spectrum).spectrum
        is single_spectrum
    )


def test_tensor_score_and_gradient_match_double_precision():
    torch = pytest.importorskip("torch")
    X = float32_similarity(SPECTRA["clusters"]).X
    T = torch.tensor(X, requires_grad=True)
    (score,) = compute_vendi_scores(FeatureSimilarity(T).normalized(), [1.5]).values
    (array_score,) = compute_vendi_scores(float32_similarity(X), [1.5]).values
    assert float(score.detach()) == pytest.approx(array_score, rel=MAX_ERROR)
    score.backward()
    tensor64 = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    (exact_score,) = compute_vendi_scores(FeatureSimilarity(tensor64).normalized(), [1.5]).values
    exact_score.backward()
    relative_error = torch.linalg.norm(
        T.grad.to(tensor64.dtype) - tensor64.grad
    ) / torch.linalg.norm(tensor64.grad)
    assert float(relative_error) < 1e-4


def test_error_names_float32_rows_with_nan():
    X = SPECTRA["white"].astype(np.float32)
    X[5, 3] = np.nan
    with pytest.raises(ValueError, match="5"):
        compute_vendi_scores(FeatureSimilarity(X).normalized(), [1.0])
