"""Subsets are chosen as brute force would choose them, and exchanges never make them worse."""

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


def dense(name):
    samples, how = SETS[name]
    return as_similarity(samples, **how).dense()


def log_score(K, places, q, quality=None):
    """Return the objective "vendi" from the definition."""
    values = np.linalg.eigvalsh(K[np.ix_(places, places)] / len(places))
    values = values[values > 1e-14]
    logs = -values @ np.log(values) if q == 1 else np.log(np.sum(values**q)) / (1 - q)
    return logs if quality is None else logs + np.log(np.mean(quality[list(places)]))


def check_picks(K, places, q, quality=None, rtol=1e-9):
    """Return each is the best of all samples at its time, by trying them all; but for ties."""
    for m in range(1, len(places)):
        others = np.setdiff1d(np.arange(len(K)), places[:m])
        best = max(log_score(K, [*places[:m], v], q, quality) for v in others)
        own = log_score(K, places[: m + 1], q, quality)
        assert own >= best - rtol * max(1, abs(best)), (m, best - own)


@pytest.mark.parametrize("q", [0.1, 0.25, *ORDERS, 1.95])
@pytest.mark.parametrize("name", SETS)
def test_every_pick_is_that_of_brute_force(name, q):
    samples, how = SETS[name]
    check_picks(dense(name), select(samples, 12, q=q, swaps=False, **how).places, q)


@pytest.mark.parametrize("q", ORDERS)
def test_of_many_near_ties_the_best_is_taken(q):
    # A hundred points on a circle: all that is left differs little.
    angles = np.sort(RNG.random(100)) * 2 * np.pi
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    result = select(circle, 8, q=q, k="rbf", sigma=0.5, swaps=False)
    check_picks(as_similarity(circle, k="rbf", sigma=0.5).dense(), result.places, q)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("name", SETS)
def test_scores_and_gains_are_those_of_the_prefixes(name, q):
    samples, how = SETS[name]
    result = select(samples, 9, q=q, **how)
    K = dense(name)
    expected = [
        compute(K[np.ix_(result.places[:m], result.places[:m])], score_K=True, q=q)[key_at(q)]
        for m in range(1, 10)
    ]
    np.testing.assert_allclose(result.scores, expected, rtol=1e-9)
    np.testing.assert_allclose(np.cumsum(result.gains), np.log(expected), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("name", SETS)
def test_exchanges_never_lower_what_is_maximised(name, q):
    samples, how = SETS[name]
    plain = select(samples, 10, q=q, swaps=False, **how)
    better = select(samples, 10, q=q, **how)
    assert len(set(better.places.tolist())) == 10
    assert better.gains.sum() >= plain.gains.sum() - 1e-9
    assert better.swapped or (better.places == plain.places).all()


def test_exchanges_end_where_no_single_one_is_better():
    K = dense("rbf")
    result = select(X, 6, k="rbf", sigma=1.5)
    own = log_score(K, result.places, 1.0)
    for j, v in itertools.product(range(6), np.setdiff1d(np.arange(60), result.places)):
        changed = result.places.copy()
        changed[j] = v
        assert log_score(K, changed, 1.0) <= own + 2 * marginal_gains.COARSE_TOLERANCE


@pytest.mark.parametrize("objective", ["vendi", "represent"])
def test_prefixes_are_the_selections_of_fewer_samples(objective):
    long = select(X, 12, objective=objective, k="rbf", sigma=1.5, swaps=False)
    short = select(X, 5, objective=objective, k="rbf", sigma=1.5, swaps=False)
    np.testing.assert_array_equal(long.places[:5], short.places)


def test_after_exchanges_the_order_is_greedy_within_the_set():
    result = select(X, 12, k="rbf", sigma=1.5)
    assert result.swapped
    again = select(X[result.places], 12, k="rbf", sigma=1.5, swaps=False)
    np.testing.assert_array_equal(again.places, np.arange(12))


@pytest.mark.parametrize("name", SETS)
def test_represent_takes_what_raises_the_mean_similarity_to_the_nearest_most(name):
    samples, how = SETS[name]
    K = dense(name)
    n = len(K)
    value = lambda places: K[list(places)].max(axis=0).mean()  # noqa: E731
    places: list[int] = []
    for _ in range(7):
        worth = [-np.inf if v in places else value([*places, v]) for v in range(n)]
        places.append(int(np.argmax(np.array(worth) >= max(worth) - 1e-12)))
    result = select(samples, 7, objective="represent", **how)
    np.testing.assert_allclose(value(result.places), value(places))
    np.testing.assert_allclose(result.gains.sum(), value(places))


@pytest.mark.parametrize("kept", [0, 2000, 1 << 20])
@pytest.mark.parametrize("kind", ["features", "matrix"])
def test_represent_takes_the_picks_of_plain_greedy_with_fewer_looks(kind, kept, monkeypatch):
    from vendiscore.tools.selection import facility_location

    similarity = as_similarity(np.vstack([X, X[:20]]), k="cosine")  # ties: copies
    K = similarity.dense()
    if kind == "matrix":
        similarity = MatrixSimilarity(K, psd=True)
    nearest, expected = np.full(80, -1.0), []
    for _ in range(15):
        gains = np.maximum(K, nearest).mean(axis=1)
        gains[expected] = -np.inf
        expected.append(int(np.argmax(gains >= gains.max() - 1e-11)))
        nearest = np.maximum(nearest, K[expected[-1]])
    looks, look = [], facility_location.FacilityLocation._update_gains
    monkeypatch.setattr(facility_location, "BATCH_SIZE", 1)
    monkeypatch.setattr(facility_location, "MAX_CACHED_SIMILARITIES", kept)
    monkeypatch.setattr(
        facility_location.FacilityLocation,
        "_update_gains",
        lambda self, indices: looks.append(len(indices)) or look(self, indices),
    )
    result = select(similarity, 15, objective="represent")
    assert result.places.tolist() == expected
    assert sum(looks) < 80 * 15 / 3


@pytest.mark.parametrize(("objectives", "sentence"), ELSEWHERE["objective"].items())
def test_an_objective_of_other_packages_is_named_with_the_package(objectives, sentence):
    for objective in objectives.split():
        message = f"or 'represent', got {objective!r}; {sentence}"
        with pytest.raises(ValueError, match=re.escape(message)):
            select(X, 3, objective=objective, k="cosine")


def test_copies_come_last():
    doubled = np.vstack([X[:8], X[:8]])
    result = select(doubled, 12, k="rbf", sigma=0.1)
    assert sorted(result.places[:8] % 8) == list(range(8))
    assert result.gains[8] < 0
    whole = select(np.ones((5, 2)), 5, k="rbf", sigma=1.0)
    np.testing.assert_allclose(whole.scores, 1)
    assert whole.places.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "kind", ["float32", "sparse", "torch", "features", "torch matrix", "negative zeros"]
)
def test_samples_of_any_kind_give_the_same(kind):
    rows = np.round(X, 1) + 0.0
    expected = select(rows, 7, k="cosine")
    if kind.startswith("torch"):
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
    }[kind]()
    np.testing.assert_array_equal(result.places, expected.places)
    np.testing.assert_allclose(result.scores, expected.scores, rtol=1e-5)
    np.testing.assert_allclose(result.bound, expected.bound, rtol=1e-4)


def test_quality_and_diversity_are_multiplied():
    K, quality = dense("rbf"), RNG.random(60)
    result = select(X, 8, k="rbf", sigma=1.5, quality=quality, swaps=False)
    check_picks(K, result.places, 1.0, quality)
    own = log_score(K, result.places, 1.0, quality)
    np.testing.assert_allclose(result.gains.sum(), own, atol=1e-9)
    swapped = select(X, 8, k="rbf", sigma=1.5, quality=quality)
    assert swapped.gains.sum() >= result.gains.sum()
    for q in (0.5, 2.0):
        assert select(X, 8, k="rbf", q=q, quality=quality).gains.sum() > 0


@pytest.mark.parametrize("q", [1, 2])
def test_relevance_is_quality_whatever_its_unit_and_zero(q):
    relevance = RNG.normal(size=60)
    how = {"k": "rbf", "sigma": 1.5, "q": q}
    result = select(X, 8, relevance=relevance, **how)
    moved = select(X, 8, relevance=1e200 * relevance, **how)
    shifted = select(X, 8, relevance=(3 * relevance - 7).tolist(), **how)
    z = (relevance - relevance.mean()) / relevance.std()
    same = select(X, 8, quality=np.exp(z), **how)
    for other in (moved, shifted, same):
        np.testing.assert_array_equal(result.places, other.places)
    np.testing.assert_array_equal(
        select(X, 8, relevance=np.full(60, -2.0), **how).places, select(X, 8, **how).places
    )


@pytest.mark.parametrize("q", [1, 2])
def test_a_tradeoff_goes_from_relevance_alone_to_diversity_alone(q):
    relevance = RNG.normal(size=60)
    how = {"k": "rbf", "sigma": 1.5, "q": q}
    shares = [0, 0.2, 0.5, 0.8, 1]
    result = [select(X, 8, relevance=relevance, tradeoff=share, **how) for share in shares]
    assert sorted(result[0].places) == sorted(np.argsort(-relevance)[:8])
    np.testing.assert_array_equal(result[-1].places, select(X, 8, **how).places)
    means = [relevance[one.places].mean() for one in result]
    scores = [one.scores[-1] for one in result]
    assert means[0] >= means[2] >= means[4]
    assert scores[0] < scores[4]
    plain = select(X, 8, relevance=relevance, **how)
    np.testing.assert_array_equal(result[2].places, plain.places)


def test_gains_add_up_to_the_objective_at_any_tradeoff():
    quality = RNG.random(60) + 0.1
    result = select(X, 8, k="rbf", sigma=1.5, quality=quality, tradeoff=0.3)
    mean = quality[result.places].mean()
    expected = 0.6 * np.log(result.scores[-1]) + 1.4 * np.log(mean)
    np.testing.assert_allclose(result.gains.sum(), expected, atol=1e-9)
    K = dense("rbf")
    plain = select(X, 8, k="rbf", sigma=1.5, quality=quality, tradeoff=0.3, swaps=False).places
    for m in range(1, 8):
        value = [
            0.6 * log_score(K, [*plain[:m], v], 1.0) + 1.4 * np.log(quality[[*plain[:m], v]].mean())
            for v in np.setdiff1d(np.arange(60), plain[:m])
        ]
        own = 0.6 * log_score(K, plain[: m + 1], 1.0)
        own += 1.4 * np.log(quality[plain[: m + 1]].mean())
        assert own >= max(value) - 1e-9


def test_samples_that_are_left_out_keep_their_places():
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


def test_quality_and_groups_may_have_one_entry_for_each_sample_kept():
    texts = [*TEXTS[:10], "", *TEXTS[10:20]]
    keywords = {"quality": np.arange(21.0), "groups": np.arange(21) % 2, "quota": 3}
    kept = {name: np.delete(values, 10) for name, values in keywords.items() if name != "quota"}
    with pytest.warns(UserWarning, match="dropped"):
        result = [
            select(texts, 5, k="ngram_overlap", on_error="skip", **{**keywords, **some})
            for some in ({}, kept)
        ]
    np.testing.assert_array_equal(result[0].places, result[1].places)


def test_a_selection_tells_of_itself():
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


def test_a_selection_draws_itself_below_the_bound():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    result = select(X, 5, k="rbf", sigma=1.5)
    assert result.plot(ax) is ax
    scores, bound = ax.get_lines()
    np.testing.assert_array_equal(scores.get_ydata(), result.scores)
    assert bound.get_ydata()[0] == result.bound


def test_memory_beside_the_features_is_small_and_nothing_has_all_pairs():
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
    assert peak < 1.25 * rows.nbytes  # a matrix of all pairs is 300 times that


def test_a_selection_is_a_sequence_of_its_indices():
    X = np.random.default_rng(0).normal(size=(20, 3))
    chosen = select(X, 3, k="cosine")
    indices = chosen.places.tolist()
    assert list(chosen) == indices == [chosen[i] for i in range(3)]
    assert all(type(i) is int for i in chosen)
    assert type(chosen[-1]) is int
    assert chosen[1:].tolist() == chosen[[1, 2]].tolist() == indices[1:]
    with pytest.raises(IndexError):
        chosen[3]
    assert indices[0] in chosen
    assert sorted(chosen) == sorted(indices)


def test_a_selection_selects_rows_of_arrays_and_of_frames():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(20, 8))
    chosen = select(X, 3, k="cosine")
    np.testing.assert_array_equal(X[chosen], X[chosen.places])
    np.testing.assert_array_equal(np.take(X, chosen, axis=0), X[chosen.places])
    np.testing.assert_array_equal(pandas.DataFrame(X).iloc[chosen], X[chosen.places])
    as_floats = np.array(chosen, dtype=float)
    assert as_floats.dtype == float
    as_floats[0] = -1  # a copy
    assert chosen.places[0] >= 0
    more = select(X, 5, k="cosine", initial=chosen)
    assert list(more)[:3] == list(chosen)


def test_a_selection_is_equal_to_itself_only_and_true():
    chosen = select(["a b", "c d"], 1)
    assert chosen == chosen
    assert chosen != select(["a b", "c d"], 1)
    assert bool(chosen)
    assert len({chosen, chosen}) == 1


def test_the_frame_of_a_selection_has_a_row_for_each_chosen_sample():
    pytest.importorskip("pandas")
    chosen = select(["a b", "a b", "c d"], 2)
    frame = chosen.to_frame()
    assert list(frame) == ["index", "score", "gain"]
    assert frame["index"].tolist() == [0, 2]
    assert frame["score"].tolist() == pytest.approx([1, 2])
