"""Precision, recall, density and coverage, by the formulas."""

import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import as_similarity, compute
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.similarity import nearest_neighbours as blocks
from vendiscore.similarity.distance_matrix import compute_distances

NAMES = ["Precision", "Recall", "Density", "Coverage"]


def cloud(n: int, seed: int = 0, d: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def found(X: Any, Y: Any, neighbours: int = 5, **how: Any) -> dict[str, float]:
    return compute(X, Y, measures=NAMES, neighbours=neighbours, **how)


def naive(D: np.ndarray, n: int, k: int) -> dict[str, float]:
    """Return the measures from distances of n samples and references, formula by formula."""
    ties = 1 + 1e-12
    cross, own = D[:n, n:], D[n:, n:]
    of_samples = np.sort(D[:n, :n], axis=1)[:, k] * ties
    of_references = np.sort(own, axis=1)[:, k] * ties
    balls = cross <= of_references
    return {
        "Precision": float(balls.any(axis=1).mean()),
        "Recall": float((cross <= of_samples[:, None]).any(axis=0).mean()),
        "Density": float(balls.sum() / (k * n)),
        "Coverage": float(balls.any(axis=0).mean()),
    }


METRICS: dict[str, dict[str, Any]] = {
    "euclidean": {},
    "manhattan": {},
    "cosine": {},
    "correlation": {},
    "sqeuclidean": {},
    "chebyshev": {},
    "canberra": {},
    "minkowski": {"exponent": 3.0},
}
CLOUDS: dict[str, Callable[[int, int], np.ndarray]] = {
    "normal": lambda n, seed: cloud(n, seed) + 0.2 * seed,
    "on a lattice": lambda n, seed: np.random.default_rng(seed).integers(
        [6, 1, 1, 1, 1], [9, 4, 4, 4, 4], (n, 5)
    ),
    "of twins": lambda n, seed: np.repeat(cloud(n, 0), 2, axis=0)[seed : n + seed],
    "far away": lambda n, seed: 1e4 + cloud(n, seed) / 1e3,
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", CLOUDS)
@pytest.mark.parametrize(("n", "m", "k"), [(41, 30, 3), (20, 57, 1)])
def test_values_match_formulas_for_all_metrics(
    monkeypatch: pytest.MonkeyPatch, metric: str, kind: str, n: int, m: int, k: int
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 200)  # several blocks
    monkeypatch.setattr(blocks, "MIN_COLUMN_GROUPS", 8)
    monkeypatch.setattr(blocks, "GROUPS_PER_NEIGHBOUR", 2)
    X, Y = CLOUDS[kind](n, 0), CLOUDS[kind](m, 1)
    D = compute_distances(np.concatenate([X, Y]), metric, METRICS[metric])
    assert found(X, Y, k, metric=metric, **METRICS[metric]) == pytest.approx(
        naive(D, n, k), rel=1e-12
    )


@pytest.mark.parametrize("metric", ["kernel", "1-k"])
@pytest.mark.parametrize("how", ["rbf", "laplacian", "cosine", "function"])
def test_values_match_formulas_for_kernels(metric: str, how: str) -> None:
    X, Y = np.r_[cloud(30), cloud(5, 1)], cloud(36, 1)  # some are in both
    k: Any = {"function": lambda a, b: float(np.exp(-np.abs(a - b).sum()))}.get(how, how)
    options = {"sigma": 2.0} if how in ("rbf", "laplacian") else {}
    K = as_similarity(np.r_[X, Y], k=k, **options).dense()
    D = np.where(2 - 2 * K < 1e-14, 0, 2 - 2 * K)
    D = D / 2 if metric == "1-k" else np.sqrt(D)
    assert found(X, Y, 3, k=k, metric=metric, **options) == pytest.approx(naive(D, 35, 3))


@pytest.mark.filterwarnings("ignore:.* is one word")
def test_values_match_formulas_for_texts() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcd"), rng.integers(1, 5))) for _ in range(70)]
    K = as_similarity(texts).dense()
    D = np.sqrt(np.where(2 - 2 * K < 1e-13, 0, 2 - 2 * K))
    assert found(texts[:40], texts[40:], 3) == pytest.approx(naive(D, 40, 3))


def test_values_without_ties_match_prdc() -> None:
    # prdc 0.2: compute_prdc(real_features=Y, fake_features=X, nearest_k=5).
    theirs = {"Precision": 0.845, "Recall": 0.82, "Density": 0.824, "Coverage": 0.92}
    X, Y = cloud(200, 0, 16) + 0.3, cloud(150, 1, 16)
    ours = found(X, Y)
    assert {name: ours[name] for name in theirs} == pytest.approx(theirs, rel=1e-12)
    # The same without the boundaries of balls.
    D = np.linalg.norm(np.r_[X, Y][:, None] - np.r_[X, Y], axis=2)
    balls = D[:200, 200:] < np.sort(D[200:, 200:], axis=1)[:, 5]
    assert balls.sum() / 1000 == pytest.approx(ours["Density"])
    assert balls.any(axis=0).mean() == ours["Coverage"]


@pytest.mark.parametrize("kind", CLOUDS)
def test_values_of_a_set_with_itself_are_one(kind: str) -> None:
    X = CLOUDS[kind](40, 0)
    scores = found(X, X[::-1])
    assert scores.pop("Density") >= 1
    assert scores == dict.fromkeys(scores, 1.0)
    same = found(np.zeros((9, 2)), np.zeros((7, 2)))
    assert same == dict.fromkeys(NAMES, 1.0) | {"Density": 7 / 5}  # as many as there can be


def test_values_of_distant_sets_are_zero() -> None:
    assert found(cloud(20) + 100, cloud(20, 1)) == dict.fromkeys(NAMES, 0.0)


def test_balls_include_their_boundary_and_duplicates() -> None:
    Y = np.array([0.0, 1.0, 1.0, 5.0])
    for x, precise in ((0.0, 1), (-1.0, 1), (-1.0 - 1e-9, 0), (9.0, 1), (1 + 1e-15, 1)):
        assert (
            compute([[x]], Y[:, None], measures="Precision", neighbours=1)["Precision"] == precise
        )
    # Twins have a ball of radius 0, in which is nothing but copies.
    twins = np.repeat([[0.1, 0.7], [0.3, 0.3]], 2, axis=0)
    for x, precise in (([0.3, 0.3], 1), ([np.nextafter(0.3, 1), 0.3], 0), ([-0.0, 0.0], 0)):
        scores = compute([x], twins, measures="Precision", neighbours=1)
        assert scores["Precision"] == precise


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_close_points_are_distinguished_far_from_the_origin(dtype: type) -> None:
    rng = np.random.default_rng(0)
    step = 1e8 * np.finfo(dtype).eps
    X, Y = ((1e8 + step * rng.integers(0, 9, (n, 20))).astype(dtype) for n in (14, 17))
    X[::2], Y[::2] = -X[::2], -Y[::2]  # two places, far from each other
    rows = [[Fraction(float(x)) for x in row] for row in np.r_[X, Y]]
    exact = [[sum((a - b) ** 2 for a, b in zip(r, s, strict=True)) for s in rows] for r in rows]
    ranks = np.unique(np.array(exact, dtype=object).ravel(), return_inverse=True)[1]
    expected, scores = naive(ranks.reshape(31, 31) * 1.0, 14, 3), found(X, Y, 3)
    for name in NAMES:  # for which the order of distances is enough
        assert scores[name] == pytest.approx(expected[name], rel=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e200])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "minkowski"])
def test_values_do_not_depend_on_scale(scale: float, metric: str) -> None:
    X, Y = cloud(30), cloud(30, 1)
    how = {"metric": metric, **METRICS[metric]}
    assert found(scale * X, scale * Y, **how) == found(X, Y, **how)
    X[:, 1:] *= 0  # all but one at the origin, of a tiny size
    X[0] = 1.0
    X[1:] *= 1e-180
    Y[:] = np.r_[X[2:], [X[0], X[0]]]
    expected = naive(np.abs(np.r_[X, Y][:, None, 0] - np.r_[X, Y][:, 0]), 30, 3)
    if metric != "manhattan":  # 5 times the difference of one column
        X[:, 1:], Y[:, 1:] = 0, 0
    assert found(X, Y, 3, **how)["Coverage"] == expected["Coverage"]


def test_outlier_among_references_increases_precision() -> None:
    X, Y = cloud(50) + 12, cloud(50, 1)
    assert found(X, Y) == dict.fromkeys(NAMES, 0.0)
    Y[0] = 40
    fooled = found(X, Y)
    assert fooled["Precision"] == 1
    assert fooled["Density"] == 1 / 5
    assert fooled["Recall"] == 0


def test_outlier_among_samples_increases_recall_but_not_coverage() -> None:
    X, Y = cloud(50) + 12, cloud(50, 1)
    X[0] = -40
    fooled = found(X, Y)
    assert fooled["Recall"] == 1
    assert fooled["Coverage"] == fooled["Precision"] == 0


def test_values_do_not_depend_on_type_of_rows() -> None:
    X, Y = cloud(30).astype(np.float32), cloud(30, 1).astype(np.float32)
    scores = found(X, Y)
    assert found(X.tolist(), Y.astype(np.float64)) == scores
    assert found(sp.csr_array(X), sp.csr_array(Y)) == scores
    torch = pytest.importorskip("torch")
    assert found(torch.from_numpy(X), torch.from_numpy(Y)) == scores
    for how in ({}, {"k": "rbf"}, {"score_X": True}):
        rows = torch.eye(2)[[0] * 9]
        with pytest.raises(TypeError, match="Recall cannot be differentiated"):
            compute(rows.clone().requires_grad_(), rows, measures="Recall", **how)


def test_values_of_groups_match_separate_sets_with_all_references() -> None:
    X, Y, labels = cloud(40) + 0.5, cloud(30, 1), np.arange(40) % 3
    for how in ({}, {"k": "laplacian", "sigma": 1.0}, {"metric": "cosine"}):
        together = found(X, Y, groups=labels, **how)
        alone = [found(X[labels == label], Y, **how) for label in range(3)]
        for name in NAMES:
            assert together[name] == pytest.approx(np.mean([scores[name] for scores in alone]))


def test_dropped_samples_and_references_are_ignored() -> None:
    texts = ["a b", "a c", "b c d", "c d", "a b c d", "d"]
    expected = found(texts, texts[::-1], 2, k="ngram_overlap")
    how = {"k": "ngram_overlap", "on_error": "skip"}
    with pytest.warns(UserWarning, match="dropped 2 of 14 samples"):
        assert found([*texts, ""], ["", *texts[::-1]], 2, **how) == expected


def test_distance_blocks_are_shared_between_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    original = blocks.EuclideanDistances.block

    def block(self: Any, rows: slice, columns: slice) -> np.ndarray:
        looked.append(f"{rows.start // 20}{columns.start // 20}")
        return original(self, rows, columns)

    monkeypatch.setattr(blocks.EuclideanDistances, "block", block)
    found(cloud(20), cloud(20, 1))
    assert sorted(looked) == ["00", "01", "11"]
    looked.clear()
    each = {name: {"neighbours": k} for name, k in zip(NAMES, (1, 2, 3, 3), strict=True)}
    compute(cloud(20), cloud(20, 1), measures=each)
    assert sorted(looked) == ["00", "01", "01", "01", "11"]
    looked.clear()
    found(cloud(60), cloud(20, 1), groups=np.arange(60) // 20)  # distances of references only once
    assert sorted(looked) == ["00"] * 3 + ["01"] * 3 + ["33"]


def test_callable_metric_matches_named_metric() -> None:
    X, Y = cloud(12), cloud(9, 1)
    ours = found(X, Y, 2, metric=lambda a, b: float(np.abs(a - b).sum()))
    assert ours == found(X, Y, 2, metric="manhattan")


@pytest.mark.parametrize(
    ("X", "Y", "how", "error", "message"),
    [
        (
            9,
            5,
            {},
            ValueError,
            "Recall with `neighbours=5` requires more than 5 references, got 5; pass",
        ),
        (
            3,
            9,
            {},
            ValueError,
            "Recall with `neighbours=5` requires more than 5 samples, got 3; pass",
        ),
        (9, 9, {"neighbours": 0}, ValueError, "`neighbours` must be an integer of at least 1"),
        (9, 9, {"neighbours": 2.5}, TypeError, "`neighbours` must be an integer of at least 1"),
        (
            9,
            9,
            {"metric": "precomputed"},
            TypeError,
            "measures .* do not support a matrix of distances",
        ),
        (9, 9, {"score_K": True}, TypeError, "`samples` contains similarities only within one set"),
        (9, 9, {"sigma": 1.0}, TypeError, "unknown keyword .sigma.. It is an option of"),
    ],
)
def test_recall_rejects_invalid_arguments(
    X: int, Y: int, how: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{message}"):
        compute(cloud(X, d=9), cloud(Y, d=9), measures="Recall", **how)


def test_undefined_distances_raise_with_row_and_set() -> None:
    X, Y = cloud(9), cloud(9, 1)
    assert compute(X[:1], Y, measures="Precision")["Precision"] in (0, 1)  # needs none of their own
    Y[3] = X[4] = 0
    with pytest.raises(ValueError, match="sample 4 is a zero vector"):
        found(X, Y, metric="cosine")
    with pytest.raises(ValueError, match=r"sample 3 is a zero vector.* from `references`"):
        found(cloud(9), Y, metric="cosine")
    for Z, own in ((Y, "row 0 of `references` and row 3 of `references`"), (cloud(9), "`samples`")):
        with pytest.raises(
            ValueError, match=rf"jensenshannon' is undefined \(got inf\) for .*{own}"
        ):
            found(abs(X), abs(Z), metric="jensenshannon")
    with pytest.raises(ValueError, match="distances between rows are too large for double"):
        found(1e308 * np.sign(X), cloud(9))
    with pytest.raises(TypeError, match="do not support a MetricSpace"):
        found(as_space(X, metric="euclidean"), Y)


def test_details_contain_distance_and_options() -> None:
    X, Y = cloud(20), cloud(20, 1)
    details = compute(X, Y, measures="Recall", metric="manhattan", details=True)["details"]
    assert details["distance"] == "manhattan"
    assert details["options"] == {"neighbours": 5}
    assert details["signature"].startswith("Recall|metric=manhattan|references=")
    details = compute(X, Y, measures="Recall", k="laplacian", sigma=2.0, details=True)["details"]
    assert "metric=√(2−2k)|kernel=laplacian|sigma=2|" in details["signature"]


@pytest.mark.slow
def test_large_sets_use_little_memory() -> None:
    X, Y = cloud(8000, 0, 64), cloud(8000, 1, 64)
    tracemalloc.start()
    try:
        scores = found(X, Y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1e8  # all distances would be 512 MB
    assert scores["Coverage"] > 0.9
