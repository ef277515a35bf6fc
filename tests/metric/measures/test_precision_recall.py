"""Precision, Recall, Density and Coverage, compared with their formulas."""

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


def make_normal_rows(n: int, seed: int = 0, d: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def compute_all(X: Any, Y: Any, neighbours: int = 5, **options: Any) -> dict[str, float]:
    return compute(X, Y, measures=NAMES, neighbours=neighbours, **options)


def compute_naively(D: np.ndarray, n: int, k: int) -> dict[str, float]:
    """Return the measures from distances of n samples and references, formula by formula."""
    ties = 1 + 1e-12
    cross_distances, reference_distances = D[:n, n:], D[n:, n:]
    sample_radii = np.sort(D[:n, :n], axis=1)[:, k] * ties
    reference_radii = np.sort(reference_distances, axis=1)[:, k] * ties
    balls = cross_distances <= reference_radii
    return {
        "Precision": float(balls.any(axis=1).mean()),
        "Recall": float((cross_distances <= sample_radii[:, None]).any(axis=0).mean()),
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
    "normal": lambda n, seed: make_normal_rows(n, seed) + 0.2 * seed,
    "on a lattice": lambda n, seed: np.random.default_rng(seed).integers(
        [6, 1, 1, 1, 1], [9, 4, 4, 4, 4], (n, 5)
    ),
    "of duplicates": lambda n, seed: np.repeat(make_normal_rows(n, 0), 2, axis=0)[seed : n + seed],
    "far away": lambda n, seed: 1e4 + make_normal_rows(n, seed) / 1e3,
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize(("n", "m", "k"), [(41, 30, 3), (20, 57, 1)])
def test_values_match_formulas_for_all_metrics(
    monkeypatch: pytest.MonkeyPatch, metric: str, cloud: str, n: int, m: int, k: int
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 200)  # use several blocks
    monkeypatch.setattr(blocks, "MIN_COLUMN_GROUPS", 8)
    monkeypatch.setattr(blocks, "GROUPS_PER_NEIGHBOUR", 2)
    X, Y = CLOUDS[cloud](n, 0), CLOUDS[cloud](m, 1)
    D = compute_distances(np.concatenate([X, Y]), metric, METRICS[metric])
    assert compute_all(X, Y, k, metric=metric, **METRICS[metric]) == pytest.approx(
        compute_naively(D, n, k), rel=1e-12
    )


@pytest.mark.parametrize("metric", ["kernel", "1-k"])
@pytest.mark.parametrize("kernel_options", ["rbf", "laplacian", "cosine", "function"])
def test_values_match_formulas_for_kernels(metric: str, kernel_options: str) -> None:
    X, Y = (
        np.r_[make_normal_rows(30), make_normal_rows(5, 1)],
        make_normal_rows(36, 1),
    )  # some rows are in both sets
    k: Any = {"function": lambda a, b: float(np.exp(-np.abs(a - b).sum()))}.get(
        kernel_options, kernel_options
    )
    kernel = {"sigma": 2.0} if kernel_options in ("rbf", "laplacian") else {}
    K = as_similarity(np.r_[X, Y], k=k, **kernel).dense()
    D = np.where(2 - 2 * K < 1e-14, 0, 2 - 2 * K)
    D = D / 2 if metric == "1-k" else np.sqrt(D)
    assert compute_all(X, Y, 3, k=k, metric=metric, **kernel) == pytest.approx(
        compute_naively(D, 35, 3)
    )


@pytest.mark.filterwarnings("ignore:.* is one word")
def test_values_match_formulas_for_texts() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcd"), rng.integers(1, 5))) for _ in range(70)]
    K = as_similarity(texts).dense()
    D = np.sqrt(np.where(2 - 2 * K < 1e-13, 0, 2 - 2 * K))
    assert compute_all(texts[:40], texts[40:], 3) == pytest.approx(compute_naively(D, 40, 3))


def test_values_without_ties_match_prdc() -> None:
    # prdc 0.2: compute_prdc(real_features=Y, fake_features=X, nearest_k=5).
    prdc_values = {"Precision": 0.845, "Recall": 0.82, "Density": 0.824, "Coverage": 0.92}
    X, Y = make_normal_rows(200, 0, 16) + 0.3, make_normal_rows(150, 1, 16)
    values = compute_all(X, Y)
    assert {name: values[name] for name in prdc_values} == pytest.approx(prdc_values, rel=1e-12)
    # The values are equal if balls exclude their boundary.
    D = np.linalg.norm(np.r_[X, Y][:, None] - np.r_[X, Y], axis=2)
    balls = D[:200, 200:] < np.sort(D[200:, 200:], axis=1)[:, 5]
    assert balls.sum() / 1000 == pytest.approx(values["Density"])
    assert balls.any(axis=0).mean() == values["Coverage"]


@pytest.mark.parametrize("cloud", CLOUDS)
def test_values_of_a_set_with_itself_are_one(cloud: str) -> None:
    X = CLOUDS[cloud](40, 0)
    scores = compute_all(X, X[::-1])
    assert scores.pop("Density") >= 1
    assert scores == dict.fromkeys(scores, 1.0)
    of_zeros = compute_all(np.zeros((9, 2)), np.zeros((7, 2)))
    assert of_zeros == dict.fromkeys(NAMES, 1.0) | {"Density": 7 / 5}  # the maximum


def test_values_of_distant_sets_are_zero() -> None:
    assert compute_all(make_normal_rows(20) + 100, make_normal_rows(20, 1)) == dict.fromkeys(
        NAMES, 0.0
    )


def test_balls_include_their_boundary_and_duplicates() -> None:
    Y = np.array([0.0, 1.0, 1.0, 5.0])
    for x, expected in ((0.0, 1), (-1.0, 1), (-1.0 - 1e-9, 0), (9.0, 1), (1 + 1e-15, 1)):
        assert (
            compute([[x]], Y[:, None], measures="Precision", neighbours=1)["Precision"] == expected
        )
    # Duplicates have a ball of radius 0, which contains only duplicates.
    duplicates = np.repeat([[0.1, 0.7], [0.3, 0.3]], 2, axis=0)
    for x, expected in (([0.3, 0.3], 1), ([np.nextafter(0.3, 1), 0.3], 0), ([-0.0, 0.0], 0)):
        scores = compute([x], duplicates, measures="Precision", neighbours=1)
        assert scores["Precision"] == expected


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_close_points_are_distinguished_far_from_the_origin(dtype: type) -> None:
    rng = np.random.default_rng(0)
    step = 1e8 * np.finfo(dtype).eps
    X, Y = ((1e8 + step * rng.integers(0, 9, (n, 20))).astype(dtype) for n in (14, 17))
    X[::2], Y[::2] = -X[::2], -Y[::2]  # two distant clusters
    rows = [[Fraction(float(x)) for x in row] for row in np.r_[X, Y]]
    exact = [[sum((a - b) ** 2 for a, b in zip(r, s, strict=True)) for s in rows] for r in rows]
    ranks = np.unique(np.array(exact, dtype=object).ravel(), return_inverse=True)[1]
    expected, scores = compute_naively(ranks.reshape(31, 31) * 1.0, 14, 3), compute_all(X, Y, 3)
    for name in NAMES:  # these depend only on the order of distances
        assert scores[name] == pytest.approx(expected[name], rel=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e200])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "minkowski"])
def test_values_do_not_depend_on_scale(scale: float, metric: str) -> None:
    X, Y = make_normal_rows(30), make_normal_rows(30, 1)
    options = {"metric": metric, **METRICS[metric]}
    assert compute_all(scale * X, scale * Y, **options) == compute_all(X, Y, **options)
    X[:, 1:] *= 0  # all but one are close to the origin
    X[0] = 1.0
    X[1:] *= 1e-180
    Y[:] = np.r_[X[2:], [X[0], X[0]]]
    expected = compute_naively(np.abs(np.r_[X, Y][:, None, 0] - np.r_[X, Y][:, 0]), 30, 3)
    if metric != "manhattan":  # otherwise the sum over 5 columns
        X[:, 1:], Y[:, 1:] = 0, 0
    assert compute_all(X, Y, 3, **options)["Coverage"] == expected["Coverage"]


def test_outlier_among_references_increases_precision() -> None:
    X, Y = make_normal_rows(50) + 12, make_normal_rows(50, 1)
    assert compute_all(X, Y) == dict.fromkeys(NAMES, 0.0)
    Y[0] = 40
    values = compute_all(X, Y)
    assert values["Precision"] == 1
    assert values["Density"] == 1 / 5
    assert values["Recall"] == 0


def test_outlier_among_samples_increases_recall_but_not_coverage() -> None:
    X, Y = make_normal_rows(50) + 12, make_normal_rows(50, 1)
    X[0] = -40
    values = compute_all(X, Y)
    assert values["Recall"] == 1
    assert values["Coverage"] == values["Precision"] == 0


def test_values_do_not_depend_on_type_of_rows() -> None:
    X, Y = make_normal_rows(30).astype(np.float32), make_normal_rows(30, 1).astype(np.float32)
    scores = compute_all(X, Y)
    assert compute_all(X.tolist(), Y.astype(np.float64)) == scores
    assert compute_all(sp.csr_array(X), sp.csr_array(Y)) == scores
    torch = pytest.importorskip("torch")
    assert compute_all(torch.from_numpy(X), torch.from_numpy(Y)) == scores
    for options in ({}, {"k": "rbf"}, {"score_X": True}):
        rows = torch.eye(2)[[0] * 9]
        with pytest.raises(TypeError, match="Recall cannot be differentiated"):
            compute(rows.clone().requires_grad_(), rows, measures="Recall", **options)


def test_values_of_groups_match_separate_sets_with_all_references() -> None:
    X, Y, labels = make_normal_rows(40) + 0.5, make_normal_rows(30, 1), np.arange(40) % 3
    for options in ({}, {"k": "laplacian", "sigma": 1.0}, {"metric": "cosine"}):
        result = compute_all(X, Y, groups=labels, **options)
        separate_values = [compute_all(X[labels == label], Y, **options) for label in range(3)]
        for name in NAMES:
            assert result[name] == pytest.approx(
                np.mean([scores[name] for scores in separate_values])
            )


def test_dropped_samples_and_references_are_ignored() -> None:
    texts = ["a b", "a c", "b c d", "c d", "a b c d", "d"]
    expected = compute_all(texts, texts[::-1], 2, k="ngram_overlap")
    options = {"k": "ngram_overlap", "on_error": "skip"}
    with pytest.warns(UserWarning, match="dropped 2 of 14 samples"):
        assert compute_all([*texts, ""], ["", *texts[::-1]], 2, **options) == expected


def test_distance_blocks_are_shared_between_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    computed_blocks: list[str] = []
    original = blocks.EuclideanDistances.block

    def block(self: Any, rows: slice, columns: slice) -> np.ndarray:
        computed_blocks.append(f"{rows.start // 20}{columns.start // 20}")
        return original(self, rows, columns)

    monkeypatch.setattr(blocks.EuclideanDistances, "block", block)
    compute_all(make_normal_rows(20), make_normal_rows(20, 1))
    assert sorted(computed_blocks) == ["00", "01", "11"]
    computed_blocks.clear()
    measures = {name: {"neighbours": k} for name, k in zip(NAMES, (1, 2, 3, 3), strict=True)}
    compute(make_normal_rows(20), make_normal_rows(20, 1), measures=measures)
    assert sorted(computed_blocks) == ["00", "01", "01", "01", "11"]
    computed_blocks.clear()
    compute_all(
        make_normal_rows(60), make_normal_rows(20, 1), groups=np.arange(60) // 20
    )  # distances between references are computed once
    assert sorted(computed_blocks) == ["00"] * 3 + ["01"] * 3 + ["33"]


def test_callable_metric_matches_named_metric() -> None:
    X, Y = make_normal_rows(12), make_normal_rows(9, 1)
    result = compute_all(X, Y, 2, metric=lambda a, b: float(np.abs(a - b).sum()))
    assert result == compute_all(X, Y, 2, metric="manhattan")


@pytest.mark.parametrize(
    ("n_samples", "n_references", "options", "error", "message"),
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
    n_samples: int, n_references: int, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{message}"):
        compute(
            make_normal_rows(n_samples, d=9),
            make_normal_rows(n_references, d=9),
            measures="Recall",
            **options,
        )


def test_undefined_distances_raise_with_row_and_set() -> None:
    X, Y = make_normal_rows(9), make_normal_rows(9, 1)
    assert compute(X[:1], Y, measures="Precision")["Precision"] in (
        0,
        1,
    )  # needs no distances between samples
    Y[3] = X[4] = 0
    with pytest.raises(ValueError, match="sample 4 is a zero vector"):
        compute_all(X, Y, metric="cosine")
    with pytest.raises(ValueError, match=r"sample 3 is a zero vector.* from `references`"):
        compute_all(make_normal_rows(9), Y, metric="cosine")
    for Z, location in (
        (Y, "row 0 of `references` and row 3 of `references`"),
        (make_normal_rows(9), "`samples`"),
    ):
        with pytest.raises(
            ValueError, match=rf"jensenshannon' is undefined \(got inf\) for .*{location}"
        ):
            compute_all(abs(X), abs(Z), metric="jensenshannon")
    with pytest.raises(ValueError, match="distances between rows are too large for double"):
        compute_all(1e308 * np.sign(X), make_normal_rows(9))
    with pytest.raises(TypeError, match="do not support a MetricSpace"):
        compute_all(as_space(X, metric="euclidean"), Y)


def test_details_contain_distance_and_options() -> None:
    X, Y = make_normal_rows(20), make_normal_rows(20, 1)
    details = compute(X, Y, measures="Recall", metric="manhattan", details=True)["details"]
    assert details["distance"] == "manhattan"
    assert details["options"] == {"neighbours": 5}
    assert details["signature"].startswith("Recall|metric=manhattan|references=")
    details = compute(X, Y, measures="Recall", k="laplacian", sigma=2.0, details=True)["details"]
    assert "metric=√(2−2k)|kernel=laplacian|sigma=2|" in details["signature"]


@pytest.mark.slow
def test_large_sets_use_little_memory() -> None:
    X, Y = make_normal_rows(8000, 0, 64), make_normal_rows(8000, 1, 64)
    tracemalloc.start()
    try:
        scores = compute_all(X, Y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1e8  # all distances would be 512 MB
    assert scores["Coverage"] > 0.9
