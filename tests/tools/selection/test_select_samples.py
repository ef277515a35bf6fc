"""`select` matches brute-force greedy selection, and swaps never decrease the objective."""

import itertools
import json
import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import FeatureSimilarity, MatrixSimilarity, as_similarity, compute, select
from vendiscore.result import key_at
from vendiscore.similarity.bit_sets import BitSimilarity
from vendiscore.support.synonyms import ELSEWHERE
from vendiscore.tools.selection import marginal_gains

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) + 2 * RNG.normal(size=(6, 5))[RNG.integers(0, 6, 60)]
TEXTS = [" ".join(RNG.choice(list("abcdefg"), size=6)) for _ in range(40)]
BITS = (RNG.random((50, 30)) < 0.2).astype(np.uint8)
SETS = {
    "rbf": (X, {"k": "rbf", "sigma": 1.5}),
    "features": (X, {"k": "cosine"}),
    "text": (TEXTS, {"k": "ngram_overlap", "ns": [1, 2]}),
    "tanimoto": (BitSimilarity(BITS), {}),
    "few features": (np.abs(X[:, :3]), {"k": "cosine"}),
}
ORDERS = [0.5, 1.0, 1.5, 2.0]


def similarity_matrix(name):
    samples, options = SETS[name]
    return as_similarity(samples, **options).dense()


def log_score(K, indices, q, quality=None):
    """Compute the objective "vendi" from its definition."""
    values = np.linalg.eigvalsh(K[np.ix_(indices, indices)] / len(indices))
    values = values[values > 1e-14]
    logs = -values @ np.log(values) if q == 1 else np.log(np.sum(values**q)) / (1 - q)
    return logs if quality is None else logs + np.log(np.mean(quality[list(indices)]))


def assert_greedy(K, indices, q, quality=None, rtol=1e-9):
    """Assert that each selected sample was the best candidate, except for ties."""
    for m in range(1, len(indices)):
        candidates = np.setdiff1d(np.arange(len(K)), indices[:m])
        best = max(log_score(K, [*indices[:m], v], q, quality) for v in candidates)
        value = log_score(K, indices[: m + 1], q, quality)
        assert value >= best - rtol * max(1, abs(best)), (m, best - value)


@pytest.mark.parametrize("q", [0.1, 0.25, *ORDERS, 1.95])
@pytest.mark.parametrize("name", SETS)
def test_greedy_selection_matches_brute_force(name, q):
    samples, options = SETS[name]
    assert_greedy(
        similarity_matrix(name), select(samples, 12, q=q, swaps=False, **options).places, q
    )


@pytest.mark.parametrize("q", ORDERS)
def test_greedy_selection_with_near_ties_matches_brute_force(q):
    # A hundred points on a circle: the gains of the remaining points are nearly equal.
    angles = np.sort(RNG.random(100)) * 2 * np.pi
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    result = select(circle, 8, q=q, k="rbf", sigma=0.5, swaps=False)
    assert_greedy(as_similarity(circle, k="rbf", sigma=0.5).dense(), result.places, q)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("name", SETS)
def test_scores_and_gains_match_prefix_scores(name, q):
    samples, options = SETS[name]
    result = select(samples, 9, q=q, **options)
    K = similarity_matrix(name)
    expected = [
        compute(K[np.ix_(result.places[:m], result.places[:m])], score_K=True, q=q)[key_at(q)]
        for m in range(1, 10)
    ]
    np.testing.assert_allclose(result.scores, expected, rtol=1e-9)
    np.testing.assert_allclose(np.cumsum(result.gains), np.log(expected), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("name", SETS)
def test_swaps_never_decrease_the_objective(name, q):
    samples, options = SETS[name]
    without_swaps = select(samples, 10, q=q, swaps=False, **options)
    with_swaps = select(samples, 10, q=q, **options)
    assert len(set(with_swaps.places.tolist())) == 10
    assert with_swaps.gains.sum() >= without_swaps.gains.sum() - 1e-9
    assert with_swaps.swapped or (with_swaps.places == without_swaps.places).all()


def test_swaps_end_at_a_local_maximum():
    K = similarity_matrix("rbf")
    result = select(X, 6, k="rbf", sigma=1.5)
    value = log_score(K, result.places, 1.0)
    for j, v in itertools.product(range(6), np.setdiff1d(np.arange(60), result.places)):
        changed = result.places.copy()
        changed[j] = v
        assert log_score(K, changed, 1.0) <= value + 2 * marginal_gains.COARSE_TOLERANCE


@pytest.mark.parametrize("objective", ["vendi", "represent"])
def test_prefixes_equal_smaller_selections(objective):
    large = select(X, 12, objective=objective, k="rbf", sigma=1.5, swaps=False)
    small = select(X, 5, objective=objective, k="rbf", sigma=1.5, swaps=False)
    np.testing.assert_array_equal(large.places[:5], small.places)


def test_order_after_swaps_is_greedy_within_the_selection():
    result = select(X, 12, k="rbf", sigma=1.5)
    assert result.swapped
    reordered = select(X[result.places], 12, k="rbf", sigma=1.5, swaps=False)
    np.testing.assert_array_equal(reordered.places, np.arange(12))


@pytest.mark.parametrize("name", SETS)
def test_represent_maximizes_mean_nearest_similarity_greedily(name):
    samples, options = SETS[name]
    K = similarity_matrix(name)
    n = len(K)
    value = lambda places: K[list(places)].max(axis=0).mean()  # noqa: E731
    indices: list[int] = []
    for _ in range(7):
        values = [-np.inf if v in indices else value([*indices, v]) for v in range(n)]
        indices.append(int(np.argmax(np.array(values) >= max(values) - 1e-12)))
    result = select(samples, 7, objective="represent", **options)
    np.testing.assert_allclose(value(result.places), value(indices))
    np.testing.assert_allclose(result.gains.sum(), value(indices))


@pytest.mark.parametrize("max_cached", [0, 2000, 1 << 20])
@pytest.mark.parametrize("input_form", ["features", "matrix"])
def test_represent_matches_plain_greedy_with_fewer_evaluations(input_form, max_cached, monkeypatch):
    from vendiscore.tools.selection import facility_location

    similarity = as_similarity(np.vstack([X, X[:20]]), k="cosine")  # copies cause ties
    K = similarity.dense()
    if input_form == "matrix":
        similarity = MatrixSimilarity(K, psd=True)
    nearest, expected = np.full(80, -1.0), []
    for _ in range(15):
        gains = np.maximum(K, nearest).mean(axis=1)
        gains[expected] = -np.inf
        expected.append(int(np.argmax(gains >= gains.max() - 1e-11)))
        nearest = np.maximum(nearest, K[expected[-1]])
    evaluations, update_gains = [], facility_location.FacilityLocation._update_gains
    monkeypatch.setattr(facility_location, "BATCH_SIZE", 1)
    monkeypatch.setattr(facility_location, "MAX_CACHED_SIMILARITIES", max_cached)
    monkeypatch.setattr(
        facility_location.FacilityLocation,
        "_update_gains",
        lambda self, indices: evaluations.append(len(indices)) or update_gains(self, indices),
    )
    result = select(similarity, 15, objective="represent")
    assert result.places.tolist() == expected
    assert sum(evaluations) < 80 * 15 / 3


@pytest.mark.parametrize(("objectives", "sentence"), ELSEWHERE["objective"].items())
def test_objective_of_another_package_raises_with_a_hint(objectives, sentence):
    for objective in objectives.split():
        message = f"or 'represent', got {objective!r}; {sentence}"
        with pytest.raises(ValueError, match=re.escape(message)):
            select(X, 3, objective=objective, k="cosine")


def test_copies_are_selected_last():
    doubled = np.vstack([X[:8], X[:8]])
    result = select(doubled, 12, k="rbf", sigma=0.1)
    assert sorted(result.places[:8] % 8) == list(range(8))
    assert result.gains[8] < 0
    identical = select(np.ones((5, 2)), 5, k="rbf", sigma=1.0)
    np.testing.assert_allclose(identical.scores, 1)
    assert identical.places.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "sample_type", ["float32", "sparse", "torch", "features", "torch matrix", "negative zeros"]
)
def test_sample_types_give_the_same_selection(sample_type):
    rows = np.round(X, 1) + 0.0
    expected = select(rows, 7, k="cosine")
    if sample_type.startswith("torch"):
        torch = pytest.importorskip("torch")
    result = {
        "float32": lambda: select(rows.astype(np.float32), 7, k="cosine"),
        "sparse": lambda: select(sp.csr_array(rows), 7, k="cosine"),
        "torch": lambda: select(torch.tensor(rows), 7, k="cosine"),
        "features": lambda: select(FeatureSimilarity(rows), 7, normalize=True),
        "torch matrix": lambda: select(
            torch.tensor(as_similarity(rows, k="cosine").dense()), 7, score_K=True
        ),
        "negative zeros": lambda: select(np.where(rows == 0, -0.0, rows), 7, k="cosine"),
    }[sample_type]()
    np.testing.assert_array_equal(result.places, expected.places)
    np.testing.assert_allclose(result.scores, expected.scores, rtol=1e-5)
    np.testing.assert_allclose(result.bound, expected.bound, rtol=1e-4)


def test_quality_is_multiplied_by_diversity():
    K, quality = similarity_matrix("rbf"), RNG.random(60)
    result = select(X, 8, k="rbf", sigma=1.5, quality=quality, swaps=False)
    assert_greedy(K, result.places, 1.0, quality)
    value = log_score(K, result.places, 1.0, quality)
    np.testing.assert_allclose(result.gains.sum(), value, atol=1e-9)
    swapped = select(X, 8, k="rbf", sigma=1.5, quality=quality)
    assert swapped.gains.sum() >= result.gains.sum()
    for q in (0.5, 2.0):
        assert select(X, 8, k="rbf", q=q, quality=quality).gains.sum() > 0


@pytest.mark.parametrize("q", [1, 2])
def test_relevance_selection_ignores_scale_and_offset(q):
    relevance = RNG.normal(size=60)
    options = {"k": "rbf", "sigma": 1.5, "q": q}
    result = select(X, 8, relevance=relevance, **options)
    scaled = select(X, 8, relevance=1e200 * relevance, **options)
    shifted = select(X, 8, relevance=(3 * relevance - 7).tolist(), **options)
    z = (relevance - relevance.mean()) / relevance.std()
    from_quality = select(X, 8, quality=np.exp(z), **options)
    for equivalent in (scaled, shifted, from_quality):
        np.testing.assert_array_equal(result.places, equivalent.places)
    np.testing.assert_array_equal(
        select(X, 8, relevance=np.full(60, -2.0), **options).places, select(X, 8, **options).places
    )


@pytest.mark.parametrize("q", [1, 2])
def test_tradeoff_ranges_from_only_relevance_to_only_diversity(q):
    relevance = RNG.normal(size=60)
    options = {"k": "rbf", "sigma": 1.5, "q": q}
    tradeoffs = [0, 0.2, 0.5, 0.8, 1]
    result = [
        select(X, 8, relevance=relevance, tradeoff=tradeoff, **options) for tradeoff in tradeoffs
    ]
    assert sorted(result[0].places) == sorted(np.argsort(-relevance)[:8])
    np.testing.assert_array_equal(result[-1].places, select(X, 8, **options).places)
    means = [relevance[selection.places].mean() for selection in result]
    scores = [selection.scores[-1] for selection in result]
    assert means[0] >= means[2] >= means[4]
    assert scores[0] < scores[4]
    default = select(X, 8, relevance=relevance, **options)
    np.testing.assert_array_equal(result[2].places, default.places)


def test_gains_sum_to_the_objective_at_any_tradeoff():
    quality = RNG.random(60) + 0.1
    result = select(X, 8, k="rbf", sigma=1.5, quality=quality, tradeoff=0.3)
    mean = quality[result.places].mean()
    expected = 0.6 * np.log(result.scores[-1]) + 1.4 * np.log(mean)
    np.testing.assert_allclose(result.gains.sum(), expected, atol=1e-9)
    K = similarity_matrix("rbf")
    without_swaps = select(
        X, 8, k="rbf", sigma=1.5, quality=quality, tradeoff=0.3, swaps=False
    ).places
    for m in range(1, 8):
        values = [
            0.6 * log_score(K, [*without_swaps[:m], v], 1.0)
            + 1.4 * np.log(quality[[*without_swaps[:m], v]].mean())
            for v in np.setdiff1d(np.arange(60), without_swaps[:m])
        ]
        selected_value = 0.6 * log_score(K, without_swaps[: m + 1], 1.0)
        selected_value += 1.4 * np.log(quality[without_swaps[: m + 1]].mean())
        assert selected_value >= max(values) - 1e-9


def test_dropped_samples_do_not_shift_indices():
    texts = [*TEXTS[:10], "", *TEXTS[10:20]]
    quality = np.arange(21.0)
    with pytest.warns(UserWarning, match="dropped"):
        result = select(
            texts, 5, k="ngram_overlap", ns=[1], on_error="skip", initial=[12], quality=quality
        )
    assert result.places[0] == 12
    assert 10 not in result.places
    expected = select(
        [*texts[:10], *texts[11:]],
        5,
        k="ngram_overlap",
        ns=[1],
        initial=[11],
        quality=np.delete(quality, 10),
    )
    np.testing.assert_array_equal(result.places - (result.places > 10), expected.places)


def test_quality_and_groups_can_omit_dropped_samples():
    texts = [*TEXTS[:10], "", *TEXTS[10:20]]
    keywords = {"quality": np.arange(21.0), "groups": np.arange(21) % 2, "quota": 3}
    retained_keywords = {
        name: np.delete(values, 10) for name, values in keywords.items() if name != "quota"
    }
    with pytest.warns(UserWarning, match="dropped"):
        result = [
            select(texts, 5, k="ngram_overlap", on_error="skip", **{**keywords, **changes})
            for changes in ({}, retained_keywords)
        ]
    np.testing.assert_array_equal(result[0].places, result[1].places)


def test_selection_converts_to_repr_json_and_html():
    result = select(X, 12, k="rbf", sigma=1.5)
    assert repr(result).startswith("Selection(12 of 60 samples (objective='vendi'): VS (q=1) = ")
    assert "of the maximum" not in result._repr_html_()
    record = result.to_dict()
    assert json.loads(json.dumps(record)) == record
    assert record["places"] == result.places.tolist()
    assert record["certified"] == result.scores[-1] / result.bound
    assert "of the maximum" in result._repr_html_()
    assert json.dumps(select(X, 3, objective="represent", k="rbf").to_dict())
    with pytest.raises(AttributeError):
        result.places = 3


def test_plot_shows_scores_and_the_bound():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    result = select(X, 5, k="rbf", sigma=1.5)
    assert result.plot(ax) is ax
    scores, bound = ax.get_lines()
    np.testing.assert_array_equal(scores.get_ydata(), result.scores)
    assert bound.get_ydata()[0] == result.bound


def test_select_builds_no_matrix_of_all_pairs():
    n, d, size = 20_000, 64, 20
    rows = np.random.default_rng(1).normal(size=(n, d))
    similarity = FeatureSimilarity(rows / np.linalg.norm(rows, axis=1)[:, None])
    select(MatrixSimilarity(np.eye(3)), 2)
    tracemalloc.start()
    try:
        result = select(similarity, size)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(result) == size
    assert peak < 1.25 * rows.nbytes  # a matrix of all pairs is 300 times larger


def test_selection_is_a_sequence_of_indices():
    X = np.random.default_rng(0).normal(size=(20, 3))
    selection = select(X, 3, k="cosine")
    indices = selection.places.tolist()
    assert list(selection) == indices == [selection[i] for i in range(3)]
    assert all(type(i) is int for i in selection)
    assert type(selection[-1]) is int
    assert selection[1:].tolist() == selection[[1, 2]].tolist() == indices[1:]
    with pytest.raises(IndexError):
        selection[3]
    assert indices[0] in selection
    assert sorted(selection) == sorted(indices)


def test_selection_indexes_arrays_and_data_frames():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(20, 8))
    selection = select(X, 3, k="cosine")
    np.testing.assert_array_equal(X[selection], X[selection.places])
    np.testing.assert_array_equal(np.take(X, selection, axis=0), X[selection.places])
    np.testing.assert_array_equal(pandas.DataFrame(X).iloc[selection], X[selection.places])
    as_floats = np.array(selection, dtype=float)
    assert as_floats.dtype == float
    as_floats[0] = -1  # a copy
    assert selection.places[0] >= 0
    larger = select(X, 5, k="cosine", initial=selection)
    assert list(larger)[:3] == list(selection)


def test_selection_equals_only_itself_and_is_true():
    selection = select(["a b", "c d"], 1)
    assert selection == selection
    assert selection != select(["a b", "c d"], 1)
    assert bool(selection)
    assert len({selection, selection}) == 1


def test_to_frame_has_one_row_per_selected_sample():
    pytest.importorskip("pandas")
    selection = select(["a b", "a b", "c d"], 2)
    frame = selection.to_frame()
    assert list(frame) == ["index", "score", "gain"]
    assert frame["index"].tolist() == [0, 2]
    assert frame["score"].tolist() == pytest.approx([1, 2])
