"""Divergences of entropies, "JensenShannon" and "RelativeVS", and `surprise`, by matrix logs."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from vendiscore import as_similarity, compute, report, surprise
from vendiscore.measures import both

NAMES = ["JensenShannon", "RelativeVS"]
ALONE: dict[str, Any] = {"permutations": 0}
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


def naive(K: np.ndarray, n: int) -> tuple[float, float, np.ndarray]:
    """Return the Jensen–Shannon divergence, exp of the relative entropy, and each sample's part in
    it."""
    F = scipy.linalg.sqrtm(K).real  # rows whose dot products are K
    of_X, of_Y = (part.T @ part / len(part) for part in (F[:n], F[n:]))
    mixture = (of_X + of_Y) / 2
    relative = [np.trace(rho @ (log(rho) - log(mixture))) for rho in (of_X, of_Y)]
    each = np.einsum("ij,jk,ik->i", F[:n], log(of_X) - log(mixture), F[:n])
    return float(np.mean(relative)), math.exp(relative[0]), each


@pytest.mark.parametrize("how", KERNELS.values(), ids=KERNELS)
def test_they_are_those_of_matrices_whose_logs_are_taken(how: dict) -> None:
    X, Y = cloud(9), cloud(7, seed=1) + 0.5
    divergence, relative, each = naive(as_similarity(np.vstack([X, Y]), **how).dense(), 9)
    found = compute(X, Y, measures=NAMES, **how)
    assert found["JensenShannon"] == pytest.approx(divergence, abs=1e-8)
    assert found["RelativeVS"] == pytest.approx(relative, abs=1e-8)
    assert surprise(X, Y, **how) == pytest.approx(each, abs=1e-7)
    single = compute(X.astype("f"), Y.astype("f"), measures=NAMES, **how)
    assert single == pytest.approx(found, abs=1e-5)


@few
@given(seeds, st.integers(1, 9), st.integers(1, 9))
def test_identities_hold_for_any_two_sets(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, 2)), rng.standard_normal((m, 2)) * rng.choice([0.1, 1, 5])
    there, back = (compute(*sets, measures=NAMES, **RBF) for sets in ((X, Y), (Y, X)))
    assert there["JensenShannon"] == pytest.approx(back["JensenShannon"], abs=1e-9)
    mean = math.log(there["RelativeVS"] * back["RelativeVS"]) / 2
    assert there["JensenShannon"] == pytest.approx(mean, abs=1e-9)
    each = surprise(X, Y, **RBF)
    assert each.max() <= math.log(2)
    assert each.mean() == pytest.approx(math.log(there["RelativeVS"]), abs=1e-9)


@pytest.mark.parametrize("how", KERNELS.values(), ids=KERNELS)
def test_a_set_is_none_apart_from_itself(how: dict) -> None:
    X = cloud(20)
    for Y in (X, X[::-1], np.repeat(X, 2, axis=0)):
        found = compute(X, Y, measures=NAMES, **how, **ALONE)
        assert found == pytest.approx({"JensenShannon": 0, "RelativeVS": 1}, abs=1e-10)
        assert surprise(X, Y, **how) == pytest.approx(0, abs=1e-10)


def test_sets_that_have_nothing_in_common_are_as_far_apart_as_can_be() -> None:
    X, Y = ["a", "b", "b"], ["c", "d"]
    found = compute(X, Y, k="labels", measures=NAMES, **ALONE)
    assert found == pytest.approx({"JensenShannon": math.log(2), "RelativeVS": 2}, abs=1e-14)
    assert surprise(X, Y, k="labels") == pytest.approx(math.log(2), abs=1e-14)


def test_of_labels_they_are_those_of_frequencies() -> None:
    X, Y = list("aaabbc"), list("abdd")
    p, q = np.array([3, 2, 1, 0]) / 6, np.array([1, 1, 0, 2]) / 4
    found = compute(X, Y, k="labels", measures=NAMES)
    assert found["JensenShannon"] == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-14)
    ratio = {
        label: math.log(2 * a / (a + b)) for label, a, b in zip("abcd", p, q, strict=True) if a
    }
    assert surprise(X, Y, k="labels") == pytest.approx([ratio[x] for x in X], abs=1e-12)


def test_of_sets_of_one_size_it_is_the_log_of_the_diversity_between_them() -> None:
    X, Y = cloud(8), cloud(8, seed=1) + 1
    labels = np.repeat([0, 1], 8)
    between = compute(np.vstack([X, Y]), groups=labels, measures="BetweenVS", **RBF)["BetweenVS"]
    found = compute(X, Y, measures="JensenShannon", **RBF)["JensenShannon"]
    assert found == pytest.approx(math.log(between), abs=1e-12)


def test_orders_do_not_matter_nor_what_else_is_asked_for() -> None:
    X, Y = cloud(8), cloud(6, seed=1)
    alone = {
        name: compute(X, Y, measures=[name, "VS"], q=q, **RBF)[name]
        for name, q in zip(NAMES, (2, 0.5), strict=True)
    }
    for names in ([*NAMES, "VS"], ["VS", *NAMES[::-1]]):
        together = compute(X, Y, measures=names, **RBF, **ALONE)
        assert list(together) == names
        assert {name: together[name] for name in NAMES} == pytest.approx(alone, abs=1e-12)
    details = compute(X, Y, measures=NAMES, details=True, **RBF)["details"]
    assert "|q=" not in details["signature"]


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sets that are decomposed."""
    found: list[int] = []
    original = both.spectrum_of
    monkeypatch.setattr(
        both, "spectrum_of", lambda K, *a, **o: found.append(K.n) or original(K, *a, **o)
    )
    return found


@pytest.mark.parametrize("names", [[*NAMES, "KEN"], ["KEN", *NAMES[::-1]]])
def test_one_decomposition_of_both_sets_serves_all(sizes: list[int], names: list[str]) -> None:
    found = compute(cloud(12), cloud(5, seed=1), measures=names, **RBF, **ALONE)
    assert list(found) == names
    assert sorted(sizes) == [5, 12, 17]


def test_groups_share_the_spectrum_of_the_references(sizes: list[int]) -> None:
    X, Y = cloud(12), cloud(5, seed=1)
    labels = np.arange(12) % 3
    found = compute(X, Y, groups=labels, measures=NAMES, **RBF, **ALONE)
    assert sorted(sizes) == [4, 4, 4, 5, 9, 9, 9]
    parts = [compute(X[labels == i], Y, measures=NAMES, **RBF) for i in range(3)]
    for name in NAMES:
        assert found[name] == pytest.approx(np.mean([part[name] for part in parts]), abs=1e-12)


def test_jensen_shannon_can_be_differentiated_and_the_others_say_that_they_cannot() -> None:
    torch = pytest.importorskip("torch")
    X, Y, step = cloud(5), cloud(4, seed=1), 1e-5
    for how in (RBF, {"k": "polynomial"}):
        tensor = torch.tensor(X, requires_grad=True)
        found = compute(tensor, torch.tensor(Y), measures="JensenShannon", **how)["JensenShannon"]
        found.backward()
        for i, j in np.ndindex(X.shape):
            moved = np.zeros_like(X)
            moved[i, j] = step
            ends = [
                compute(Z, Y, measures="JensenShannon", **how)["JensenShannon"]
                for Z in (X + moved, X - moved)
            ]
            slope = (ends[0] - ends[1]) / (2 * step)
            assert float(tensor.grad[i, j]) == pytest.approx(slope, abs=1e-7)
    with pytest.raises(TypeError, match="RelativeVS cannot be differentiated"):
        compute(tensor, Y, measures="RelativeVS", **RBF)
    with pytest.raises(TypeError, match="surprise cannot be differentiated"):
        surprise(tensor, Y, **RBF)
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
    found = compute(*two, measures=NAMES, details=True)
    assert found["RelativeVS"] > 1.5
    assert abs(found["RelativeVS_excess"]) < 0.05 < found["RelativeVS_null"]
    assert abs(found["JensenShannon_excess"]) < 0.02
    assert (surprise(*two) > 0.6 * math.log(2)).mean() > 0.6
    assert abs(surprise(*two, permutations=50).mean()) < 0.05
    notes = found["details"]["notes"]
    assert sum("if labels mean nothing" in note for note in notes) == 2
    assert not any("labels" in n for n in compute(*two, details=True)["details"]["notes"])


def test_the_report_says_it_too() -> None:
    texts = [f"{kind}{i} b" for kind in "ac" for i in range(8)]
    page = report(texts[:8], texts[8:], measures=NAMES).html()
    assert "RelativeVS_excess is RelativeVS less RelativeVS_null" in page
