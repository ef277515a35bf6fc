""" "KEN", against eigenvalues of a matrix that is not symmetric."""

import math
from typing import Any

import numpy as np
import pytest

from vendiscore import NotPSDError, as_similarity, compute

RBF = {"k": "rbf", "sigma": 1.0}
KERNELS: dict[str, dict] = {
    "rbf": RBF,
    "cosine, of few features": {"k": "cosine"},
    "polynomial": {"k": "polynomial"},
    "random features": {"k": "rbf", "sigma": 1.0, "n_features": 8, "seed": 1},
}


def cloud(n: int, seed: int = 0, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def naive(K: np.ndarray, n: int, eta: float) -> float:
    """Return scores by the eigenvalues of C_X − ηC_Y, as found from K diag(1/n, −η/m)."""
    m = len(K) - n
    values = np.linalg.eigvals(K * np.repeat([1 / n, -eta / m], [n, m])).real
    values = values[values > 1e-13]
    return float((values * np.log(values.sum() / values)).sum())


def novelty(X: Any, Y: Any, **how: Any) -> float:
    return compute(X, Y, measures="KEN", **how)["KEN"]


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("how", KERNELS.values(), ids=KERNELS)
def test_it_is_the_entropy_of_positive_eigenvalues(how: dict, eta: float) -> None:
    X, Y = cloud(16), cloud(12, seed=1) + 0.5
    K = as_similarity(np.vstack([X, Y]), **how).normalized().dense()
    found = novelty(X, Y, eta=eta, **how)
    assert found == pytest.approx(naive(K, 16, eta), abs=1e-10)
    # Together with a measure that needs eigenvectors of both sets, it is read off these.
    beside = compute(X, Y, measures=["KEN", "RelativeVS"], eta=eta, **how)["KEN"]
    assert beside == pytest.approx(found, abs=1e-12)
    single = novelty(X.astype("f"), Y.astype("f"), eta=eta, **how)
    assert single == pytest.approx(found, abs=1e-5)


def test_of_texts() -> None:
    X, Y = ["a cat sat", "a dog ran off", "the cat sat"], ["the dog", "a cat sat", "a cat sat"]
    K = as_similarity(X + Y, k="ngram_overlap").dense()
    assert novelty(X, Y, k="ngram_overlap") == pytest.approx(naive(K, 3, 1.0), abs=1e-12)


def test_of_labels_it_is_the_entropy_of_what_is_more_common() -> None:
    X, Y = list("aaaabbcccd"), list("aaddd")
    more = np.array([0.2, 0.3])  # of b and c; a is as common, d less
    expected = float((more * np.log(more.sum() / more)).sum())
    assert novelty(X, Y, k="labels") == pytest.approx(expected, abs=1e-14)
    assert novelty(["a", "b"], ["a"], k="labels") == 0.0  # one new kind has no entropy


@pytest.mark.parametrize("how", KERNELS.values(), ids=KERNELS)
def test_rounding_is_no_novelty(how: dict) -> None:
    X = cloud(60)
    for Y in (X, X[::-1], np.repeat(X, 2, axis=0)):
        assert novelty(X, Y, **how) == 0.0
        assert compute(X, Y, measures=["KEN", "RelativeVS"], **how)["KEN"] == 0.0
    # Twice as many references as samples, and all of these among them: C_X − 2 C_Y ≤ 0.
    assert novelty(X, np.vstack([X, cloud(60, seed=1)]), eta=2, **how) == 0.0
    smooth = {"k": "rbf", "sigma": 30.0}  # most eigenvalues are rounding
    assert novelty(X, X[::-1], **smooth) == 0.0


def test_without_references_taken_off_it_is_the_log_of_the_vendi_score() -> None:
    X, Y = cloud(20), cloud(9, seed=1)
    scores = compute(X, Y, measures=["VS", "KEN"], eta=0, **RBF)
    assert scores["KEN"] == pytest.approx(math.log(scores["VS"]), rel=1e-12)
    values = [novelty(X, Y, eta=eta, **RBF) for eta in (0.0, 0.5, 1.0, 2.0, 8.0)]
    assert values == sorted(values, reverse=True)


def test_repeats_on_either_side_change_nothing() -> None:
    X, Y = cloud(10), cloud(8, seed=1)
    once = novelty(X, Y, **RBF)
    assert novelty(np.repeat(X, 3, axis=0), Y, **RBF) == pytest.approx(once, rel=1e-11)
    assert novelty(X, np.repeat(Y, 3, axis=0), **RBF) == pytest.approx(once, rel=1e-11)


def test_groups_have_a_novelty_each_beside_all_references() -> None:
    X, Y = cloud(12), cloud(8, seed=1)
    labels = np.arange(12) % 2
    parts = [novelty(X[labels == i], Y, **RBF) for i in (0, 1)]
    assert novelty(X, Y, groups=labels, **RBF) == pytest.approx(np.mean(parts), rel=1e-12)


def test_kernels_that_are_not_positive_semidefinite_are_found_out_or_clipped() -> None:
    def k(a: float, b: float) -> float:
        return 1.0 if a == b else 0.9 if abs(a - b) == 1 else 0.0

    X, Y = [0.0, 1.0, 2.0], [3.0, 7.0]
    with pytest.raises(NotPSDError):
        novelty(X, Y, k=k)
    assert novelty(X, Y, k=k, psd="clip") > 0
    details = compute(X, Y, measures="KEN", k=k, psd="clip", details=True)["details"]
    assert "|psd=clip|" in details["signature"]


def test_tensors_are_measured_and_gradients_refused() -> None:
    torch = pytest.importorskip("torch")
    X, Y = cloud(9), cloud(8, seed=1)
    for how in (RBF, {"k": "cosine"}):
        theirs = novelty(torch.tensor(X), torch.tensor(Y), **how)
        assert theirs == pytest.approx(novelty(X, Y, **how), abs=1e-12)
    with pytest.raises(TypeError, match=r"KEN cannot be differentiated; pass samples\.detach"):
        novelty(torch.tensor(X, requires_grad=True), Y, **RBF)


@pytest.mark.parametrize("eta", [-1, math.nan, math.inf, "1", True])
def test_refused_weights_of_the_references(eta: object) -> None:
    with pytest.raises((TypeError, ValueError), match="`eta` must be a finite number of at least"):
        novelty(cloud(3), cloud(3), eta=eta, **RBF)
