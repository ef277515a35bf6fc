"""The surprise of samples, by logarithms of matrices."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import as_similarity, surprise

RBF = {"k": "rbf", "sigma": 1.0}
KERNELS: dict[str, dict] = {
    "rbf": RBF,
    "cosine, of few features": {"k": "cosine"},
    "polynomial": {"k": "polynomial", "degree": 2},
}
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=20, deadline=None)


def cloud(n: int, seed: int = 0, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def log(A: np.ndarray) -> np.ndarray:
    """Return the logarithm of a matrix, on its range."""
    values, V = np.linalg.eigh(A)
    kept = values > 1e-14
    return V[:, kept] * np.log(values[kept]) @ V[:, kept].T


def naive(K: np.ndarray, n: int) -> tuple[float, np.ndarray]:
    """Return the relative entropy of n samples to both sets, and the part of each sample in it."""
    F = scipy.linalg.sqrtm(K).real  # rows whose dot products are K
    of_X, of_Y = (part.T @ part / len(part) for part in (F[:n], F[n:]))
    mixture = (of_X + of_Y) / 2
    relative = float(np.trace(of_X @ (log(of_X) - log(mixture))))
    each = np.einsum("ij,jk,ik->i", F[:n], log(of_X) - log(mixture), F[:n])
    return relative, each


@pytest.mark.parametrize("how", KERNELS.values(), ids=KERNELS)
def test_it_is_that_of_matrices_whose_logs_are_taken(how: dict) -> None:
    X, Y = cloud(9), cloud(7, seed=1) + 0.5
    relative, each = naive(as_similarity(np.vstack([X, Y]), **how).dense(), 9)
    found = surprise(X, Y, **how)
    assert found == pytest.approx(each, abs=1e-7)
    assert found.mean() == pytest.approx(relative, abs=1e-8)


@few
@given(seeds, st.integers(1, 9), st.integers(1, 9))
def test_it_is_at_most_log_two_and_at_least_zero_on_average(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, 2)), rng.standard_normal((m, 2)) * rng.choice([0.1, 1, 5])
    each = surprise(X, Y, **RBF)
    assert each.max() <= math.log(2)
    assert each.mean() > -1e-9


@pytest.mark.parametrize("how", KERNELS.values(), ids=KERNELS)
def test_a_set_is_none_apart_from_itself(how: dict) -> None:
    X = cloud(20)
    for Y in (X, X[::-1], np.repeat(X, 2, axis=0)):
        assert surprise(X, Y, **how) == pytest.approx(0, abs=1e-10)


def test_sets_that_have_nothing_in_common_are_as_far_apart_as_can_be() -> None:
    X, Y = ["a", "b", "b"], ["c", "d"]
    assert surprise(X, Y, k="labels") == pytest.approx(math.log(2), abs=1e-14)


def test_of_labels_it_is_that_of_frequencies() -> None:
    X, Y = list("aaabbc"), list("abdd")
    p, q = np.array([3, 2, 1, 0]) / 6, np.array([1, 1, 0, 2]) / 4
    ratio = {
        label: math.log(2 * a / (a + b)) for label, a, b in zip("abcd", p, q, strict=True) if a
    }
    assert surprise(X, Y, k="labels") == pytest.approx([ratio[x] for x in X], abs=1e-12)


def test_tensors_are_read_and_gradients_refused() -> None:
    torch = pytest.importorskip("torch")
    X, Y = cloud(5), cloud(4, seed=1)
    with pytest.raises(TypeError, match="surprise cannot be differentiated"):
        surprise(torch.tensor(X, requires_grad=True), Y, **RBF)
    theirs = surprise(torch.tensor(X), torch.tensor(Y), **RBF)
    assert theirs == pytest.approx(surprise(X, Y, **RBF), abs=1e-9)


def test_surprise_reads_what_compute_reads() -> None:
    X, Y = cloud(6), cloud(5, seed=1)
    X[2] = 0
    with pytest.warns(UserWarning, match="left out 1 of 11 samples"):
        found = surprise(X, Y, k="cosine", on_error="skip")
    assert np.flatnonzero(np.isnan(found)).tolist() == [2]
    rest = np.delete(X, 2, axis=0)
    assert np.delete(found, 2) == pytest.approx(surprise(rest, Y, k="cosine"), abs=1e-9)
    order = np.random.default_rng(0).permutation(5)
    again = surprise(rest[order], Y[::-1], k="cosine")
    assert again == pytest.approx(surprise(rest, Y, k="cosine")[order], abs=1e-9)
    assert surprise(["a b", "c d"], ["a b"]) == pytest.approx([math.log(2 / 3), math.log(2)])
    assert surprise([[1.0]], [[1.0]], **RBF) == pytest.approx([0.0])


def arguments(X: Any = None, **how: Any) -> tuple[Any, dict]:
    return cloud(3) if X is None else X, how


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (arguments(k="rfb"), "unknown kernel `k='rfb'`"),
        (arguments(k="rbf", sigmo=1), "`sigmo` is not an option of kernel 'rbf'"),
        (arguments(k="rbf", psd="no"), "`psd` must be 'check' or 'clip', got 'no'"),
        (arguments([], k="rbf"), "`samples` is empty"),
        (arguments(np.eye(2), k="rbf"), "`references` must be of the kind of `samples`"),
        (arguments(as_similarity(np.eye(3), k="rbf")), "`samples` holds similarities, which"),
        (arguments(), "`k` is missing"),
    ],
)
def test_refusals(given: tuple[Any, dict], message: str) -> None:
    X, how = given
    with pytest.raises((TypeError, ValueError)) as raised:
        surprise(X, cloud(3, seed=1), **how)
    assert message in str(raised.value)


def test_two_draws_of_one_source_are_far_from_equal_and_their_excess_is_near_nothing() -> None:
    texts = [f"w{i} of w{i % 7}" for i in np.random.default_rng(0).permutation(60)]
    two = texts[:30], texts[30:]
    assert (surprise(*two) > 0.6 * math.log(2)).mean() > 0.6
    assert abs(surprise(*two, permutations=50).mean()) < 0.05
