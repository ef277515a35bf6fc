"""Rows in single precision: multiplied as they are for orders from 1 on, in double for others."""

import math

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, effective_number, spectrum
from vendiscore.spectral.routes import SINGLE_PRECISION_NOTE
from vendiscore.spectral.vendi_scores import compute_vendi_scores

N, D = 17_000, 60  # more than a block of rows
rng = np.random.default_rng(0)
falling = np.arange(D)
turn = np.linalg.qr(rng.standard_normal((D, D)))[0]


def normal(d=D):
    return rng.standard_normal((N, d))


SPECTRA = {
    "white": normal(),
    "exponential": normal() * np.exp(-falling / 20),
    "exponential, turned": normal() * np.exp(-falling / 6) @ turn,
    "power law, turned": normal() / np.sqrt(falling + 1) @ turn,
    "of rank 5": normal(5) @ normal()[:5],
    "one direction": normal() * np.where(falling == 0, 60, 1) @ turn,
    "mean of 3": normal() + 3,
    "clusters": normal() @ turn / 9 + normal()[rng.integers(0, 7, N)],
    "scales of columns": normal() * 10.0 ** rng.uniform(-5, 2, D),
    "half of the rows equal": np.where(np.arange(N)[:, None] % 2, normal()[:1], normal()),
}
# In these, one eigenvalue is most of the trace, or so are few columns.
IN_DOUBLE = {"mean of 3", "scales of columns"}
CONTRACT = 2e-5  # of log VS, where it is at least 2e-3


def similarity_of(X):
    rows = X / np.linalg.norm(X, axis=1)[:, None]
    return FeatureSimilarity(rows.astype(np.float32)).normalized()


@pytest.mark.parametrize("name", SPECTRA)
def test_scores_of_orders_from_1_on_are_as_right_as_single_precision_allows(name):
    similarity = similarity_of(SPECTRA[name])
    exact = spectrum(similarity)
    orders = [1.0, 1.5, 3.0, math.inf]
    scores = compute_vendi_scores(similarity, orders)
    for q, score, estimate in zip(orders, scores.values, scores.estimates, strict=True):
        assert estimate.reason.endswith(SINGLE_PRECISION_NOTE) == (name not in IN_DOUBLE)
        assert math.log(score / effective_number(exact, q)) == pytest.approx(0, abs=CONTRACT)


def is_single(similarity, orders, p=None):
    return compute_vendi_scores(similarity, orders, p).spectrum.single_precision


def test_double_precision_is_used_where_single_does_not_serve():
    X = SPECTRA["white"]
    assert is_single(similarity_of(X), [1.0])
    assert not is_single(similarity_of(X), [1.0, 0.5])
    assert not is_single(similarity_of(X), [1.0], rng.dirichlet(np.ones(N)))
    assert not is_single(FeatureSimilarity(X).normalized(), [1.0])
    assert not is_single(similarity_of(X[:1000]), [1.0])  # a small set costs nothing
    assert not is_single(FeatureSimilarity(X.astype(np.float32)).normalized(), [1.0])  # any length
    clusters = np.repeat(turn[:2], N // 2, axis=0)  # which negative eigenvalues show
    assert not is_single(similarity_of(clusters), [1.0])
    for nearly_equal in (X + 1000, np.repeat(X[:1], N, axis=0)):
        assert not is_single(similarity_of(nearly_equal), [1.0])


def test_a_spectrum_in_single_precision_gives_no_order_below_1():
    similarity = similarity_of(SPECTRA["exponential"])
    read = compute_vendi_scores(similarity, [1.0]).spectrum
    with pytest.raises(ValueError, match=r"order 0\.5 requires a spectrum in double precision"):
        read.effective_number(0.5)
    again = compute_vendi_scores(similarity, [0.5], spectrum=read)
    assert not again.spectrum.single_precision
    assert again.values == compute_vendi_scores(similarity, [0.5]).values
    assert compute_vendi_scores(similarity, [2.0, 1.0], spectrum=read).spectrum is read


def test_tensors_give_the_score_of_their_array_and_its_gradient():
    torch = pytest.importorskip("torch")
    X = similarity_of(SPECTRA["clusters"]).X
    T = torch.tensor(X, requires_grad=True)
    (score,) = compute_vendi_scores(FeatureSimilarity(T).normalized(), [1.5]).values
    (array,) = compute_vendi_scores(similarity_of(X), [1.5]).values
    assert float(score.detach()) == pytest.approx(array, rel=CONTRACT)
    score.backward()
    wide = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    (exact,) = compute_vendi_scores(FeatureSimilarity(wide).normalized(), [1.5]).values
    exact.backward()
    gap = torch.linalg.norm(T.grad.to(wide.dtype) - wide.grad) / torch.linalg.norm(wide.grad)
    assert float(gap) < 1e-4


def test_single_rows_with_nan_or_overflow_are_named():
    X = SPECTRA["white"].astype(np.float32)
    X[5, 3] = np.nan
    with pytest.raises(ValueError, match="5"):
        compute_vendi_scores(FeatureSimilarity(X).normalized(), [1.0])
