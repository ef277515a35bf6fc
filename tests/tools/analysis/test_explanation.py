"""The table of samples: each row is checked in the plain way, and all near-duplicates are named."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vendiscore
from vendiscore import MatrixSimilarity, compute, explain, score
from vendiscore.result import key_at
from vendiscore.tools.analysis import pair_search
from vendiscore.tools.analysis.duplicates import find_duplicates

COLUMNS = [
    "surprise",
    "adds",
    "unexplained",
    "mode",
    "nearest",
    "nearest_similarity",
    "redundant_of",
]


def rows(n=40, d=12, seed=0, copies=5):
    """Return random rows, of which the first few come again, almost."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[n - copies :] = X[:copies] + 0.02 * rng.standard_normal((copies, d))
    return X


def cosines(X):
    X = X / np.linalg.norm(X, axis=1)[:, None]
    return X @ X.T


def slow_redundant(K, threshold):
    """Return the sample with the most near-duplicates first; each of them to the most similar
    kept."""
    n = len(K)
    near = [[j for j in range(n) if j != i and K[i, j] >= threshold - 1e-9] for i in range(n)]
    kept = []
    for i in sorted(range(n), key=lambda i: -len(near[i])):  # a stable sort
        if near[i] and not set(near[i]) & set(kept):
            kept.append(i)
    of = np.full(n, -1)
    for i in range(n):
        owners = [j for j in kept if j in near[i]]
        if i not in kept and owners:
            of[i] = max(owners, key=lambda j: K[i, j])
    return of


def duplicates_of(K, threshold):
    return find_duplicates(MatrixSimilarity(K), threshold, threshold - 0.2)[1]


@pytest.mark.parametrize("q", [0.5, 1, 2, "inf"])
@pytest.mark.parametrize("k", ["cosine", "rbf"])
def test_what_a_sample_adds_is_the_score_with_it_over_that_without(k, q):
    X = rows()
    options = {"k": k, "q": q} | ({"sigma": 1.5} if k == "rbf" else {})
    result = explain(X, **options)
    whole = score(X, **options)
    assert result.score == pytest.approx(whole, rel=1e-12)
    for i in (0, 7, 39):
        without = score(np.delete(X, i, axis=0), **options)
        assert result.adds[i] == pytest.approx(math.log(whole / without), abs=1e-9)


def test_the_mean_surprise_is_the_score():
    for options in ({}, {"p": np.random.default_rng(0).dirichlet(np.ones(40))}):
        result = explain(rows(), k="cosine", **options)
        mean = np.average(result.surprise, weights=options.get("p"))
        assert mean == pytest.approx(math.log(result.score), abs=1e-12)


def test_rows_are_in_the_order_of_the_samples():
    X = rows()
    order = np.random.default_rng(1).permutation(len(X))
    before, after = explain(X, k="cosine"), explain(X[order], k="cosine")
    for name in ("surprise", "adds", "unexplained", "nearest_similarity"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name)[order], atol=1e-12)
    np.testing.assert_array_equal(order[after.nearest], before.nearest[order])
    groups = [
        {frozenset(places[[keep, *rest]].tolist()) for keep, rest in result.groups}
        for result, places in ((before, np.arange(len(X))), (after, order))
    ]
    assert groups[0] == groups[1]


def test_nearest_and_redundant_are_those_of_a_search_over_all_pairs():
    X = rows()
    K = cosines(X)
    result = explain(X, k="cosine", threshold=0.9)
    np.fill_diagonal(K, -np.inf)
    np.testing.assert_array_equal(result.nearest, K.argmax(axis=1))
    np.testing.assert_allclose(result.nearest_similarity, K.max(axis=1), atol=1e-12)
    np.testing.assert_array_equal(result.redundant_of, slow_redundant(K, 0.9))
    assert sorted(result.groups) == [(i, [35 + i]) for i in range(5)]


@settings(max_examples=60)
@given(st.integers(1, 12), st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.8, 1.0]))
def test_kept_samples_differ_and_the_others_repeat_one_of_them(n, seed, threshold):
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, 6, (n, n)) / 5
    K = np.triu(steps, 1) + np.triu(steps, 1).T + np.eye(n)
    drawn = rng.integers(0, n, n)
    K = K[np.ix_(drawn, drawn)]  # some come more than once
    result = duplicates_of(K, threshold)
    of, kept = result.representatives, result.retained
    assert all(K[i, j] < threshold for i, j in itertools.combinations(kept, 2))
    assert all(of[of[i]] == -1 and K[i, of[i]] >= threshold for i in np.flatnonzero(of >= 0))
    np.testing.assert_array_equal(of, slow_redundant(K, threshold))
    members = [place for keep, rest in result.groups() for place in (keep, *rest)]
    assert len(members) == len(set(members))
    assert set(np.flatnonzero(result.representatives >= 0)) <= set(members)


def test_the_score_without_duplicates_is_that_of_the_kept_samples():
    X = rows()
    p = np.random.default_rng(2).dirichlet(np.ones(40))
    for q, weights in itertools.product((0.5, 1, 2, "inf"), (None, p)):
        result = explain(X, k="cosine", threshold=0.9, q=q, p=weights)
        kept = result.kept
        assert len(kept) == 35
        left = None if weights is None else weights[kept] / weights[kept].sum()
        expected = compute(X[kept], k="cosine", q=q, p=left)[key_at(q)]
        assert result.score_without_duplicates == pytest.approx(expected, rel=1e-12)


def test_another_threshold_gives_what_explaining_with_it_gives():
    X = rows()
    result = explain(X, k="cosine", threshold=0.9)
    assert "adds" not in result.__dict__
    column = result.adds
    for threshold in (0.7, 0.85, 1.0):
        moved = result.rethreshold(threshold)
        direct = explain(X, k="cosine", threshold=threshold)
        np.testing.assert_array_equal(moved.redundant_of, direct.redundant_of)
        assert moved.score_without_duplicates == direct.score_without_duplicates
        assert moved.adds is column  # nothing is computed again
    with pytest.raises(ValueError, match=r"`threshold` must be at least 0\.7, got 0\.6, because"):
        result.rethreshold(0.6)


@pytest.mark.parametrize("k", ["cosine", "rbf", "laplacian"])
def test_the_threshold_is_095_whatever_the_kernel_and_the_result_says_so(k):
    X = rows(120, 12, copies=15)
    result, same = explain(X, k=k), explain(X, k=k, threshold=0.95)
    assert result.threshold == 0.95
    np.testing.assert_array_equal(result.redundant_of, same.redundant_of)
    assert f"similar{'ity' if len(result.kept) < 120 else ' as'} 0.95" in result.sentence


@pytest.mark.parametrize("threshold", [0.7, 0.95, 1.0])
def test_repeats_are_counted_at_four_thresholds(threshold):
    X = rows(120, 4, copies=15)
    result = explain(X, k="cosine", threshold=threshold)
    counts = {}
    for level in (0.8, 0.9, 0.95, 0.99):
        counts[level] = 120 - len(explain(X, k="cosine", threshold=level).kept)
    assert result.repeats == result.rethreshold(0.99).repeats == counts
    assert len(set(counts.values())) == 4
    assert result.to_dict()["repeats"] == {f"{level:g}": n for level, n in counts.items()}
    said = ", ".join(f"{count} at {level}" for level, count in counts.items())
    more = f"similarity {threshold:g} or more; " * (len(result.kept) < 120)
    assert f"({more}{said})" in result.sentence


def test_repeats_below_the_floor_are_unknown():
    result = explain(rows(), k="cosine", threshold=0.9).duplicates
    high = replace(result, floor=0.9)
    assert high.count_repeats() == result.count_repeats() | {0.8: None}
    few = explain(rows(), k="cosine")
    few.__dict__["repeats"] = {0.8: None, 0.9: None, 0.95: 3, 0.99: 0}
    assert "; 3 at 0.95, 0 at 0.99)" in few.sentence


def test_three_pairs_on_each_side_of_the_threshold_are_in_the_words_and_in_the_data():
    result = explain(rows(n=60, d=4), k="cosine", threshold=0.9)
    above, below = result.boundary()
    assert len(above) == len(below) == 3
    said = [
        ", ".join(f"{i} and {j} ({similarity:.3g})" for i, j, similarity in pairs)
        for pairs in (above, below)
    ]
    assert str(result).endswith(f"Samples next to the threshold: {said[0]} above; {said[1]} below.")
    read = result.to_dict()["boundary"]
    assert [pair["i"] for pair in read["above"] + read["below"]] == [p.i for p in above + below]
    assert "next to the threshold" not in str(explain([[1.0, 0.0], [0.0, 1.0]], k="cosine"))


def test_auto_is_refused_with_the_way_instead():
    with pytest.raises(TypeError, match=r"got 'auto'; the default is 0.95; `repeats`"):
        explain(rows(), k="cosine", threshold="auto")


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_identical_labels_and_rows_are_near_duplicates(n):
    for labels in (["a"] * n, [f"{i}" for i in range(n)], [f"{i // 2}" for i in range(n)]):
        assert len(explain(labels, k="labels").kept) == len(set(labels))
    vectors = np.repeat(rows(n, 5, copies=0), 2, axis=0)
    assert len(explain(vectors, k="rbf", sigma=1.0).kept) == n


def test_texts_that_differ_in_case_space_and_punctuation_are_near_duplicates_by_any_kernel():
    texts = ["A cat sat.", "a CAT  sat", "\uff41 cat-sat!", "no dog ran", "it hid", "?!", "..."]
    for how in ({}, {"k": "bleu", "psd": "clip"}, {"k": "word_overlap"}, {"analyzer": "char"}):
        for threshold in (0.95, 1.0):
            result = explain(texts, threshold=threshold, **how)
            assert result.redundant_of.tolist() == [-1, 0, 0, -1, -1, -1, -1]
    assert explain(texts).nearest_similarity[2] < 0.5  # as the kernel has it
    assert explain(["CC", "cc"], k="labels").redundant_of.tolist() == [-1, -1]
    assert explain(vendiscore.as_similarity(texts)).redundant_of.max() == -1  # of texts unseen


def test_the_boundary_is_the_pairs_next_to_the_threshold():
    X = rows(n=25)
    K = cosines(X)
    above, below = explain(X, k="cosine", threshold=0.5).boundary(3)
    every = sorted((K[i, j], i, j) for i, j in itertools.combinations(range(25), 2))
    assert [(i, j) for i, j, _ in above] == [(i, j) for s, i, j in every if s >= 0.5][:3]
    lower = [(i, j) for s, i, j in every if 0.3 <= s < 0.5][::-1][:3]
    assert [(i, j) for i, j, _ in below] == lower


def test_pairs_that_are_too_many_raise_the_floor_and_are_not_looked_for_below_it(monkeypatch):
    monkeypatch.setattr(pair_search, "MAX_PAIRS", 50)
    K = cosines(rows(60, 3))
    with pytest.warns(UserWarning, match=r"more than 50 pairs have a similarity of at least 0\.9"):
        few = duplicates_of(K, 0.9)
    assert few.threshold == few.floor
    assert 0.9 < few.floor < 1
    upper = K[np.triu_indices(60, 1)]
    high = max(few.floor, 0.98)
    assert len(few._pairs[0]) == np.sum(upper >= few.floor)
    np.testing.assert_array_equal(
        duplicates_of(K, high).representatives, slow_redundant(K - 2 * np.eye(60), high)
    )
    with pytest.raises(ValueError, match=r"`threshold` must be at least 0\.\d+, got 0\.8, because"):
        few.rethreshold(0.8)


def test_identical_samples_are_no_crowd(monkeypatch):
    monkeypatch.setattr(pair_search, "MAX_PAIRS", 50)
    K = np.kron(np.array([[1.0, 0.97], [0.97, 1.0]]), np.ones((30, 30)))
    result = duplicates_of(K, 0.99)
    assert result.representatives.tolist() == [-1, *[0] * 29, -1, *[30] * 29]
    assert list(result.groups()) == [(0, [*range(1, 30)]), (30, [*range(31, 60)])]
    assert set(result.rethreshold(0.95).representatives[1:].tolist()) == {0}


@pytest.mark.parametrize("seed", range(2))
def test_planted_near_duplicates_among_digits_are_all_named(mnist, seed):
    rng = np.random.default_rng(seed)
    X = mnist["images"][:1900].reshape(1900, -1).astype(float) / 255
    chosen = rng.choice(1900, 100, replace=False)
    planted = np.clip(X[chosen] + 0.02 * rng.standard_normal((100, 784)), 0, 1)
    X = np.vstack([X, planted])
    result = explain(X, k="cosine", threshold=0.992)
    named = {frozenset((int(i), int(of))) for i, of in enumerate(result.redundant_of) if of >= 0}
    pairs = {frozenset((int(i), 1900 + j)) for j, i in enumerate(chosen)}
    assert pairs <= named
    assert len(pairs) / len(named) >= 0.99
    assert (result.nearest[1900:] == chosen).all()
    expected = compute(np.delete(X, np.setdiff1d(np.arange(2000), result.kept), axis=0), k="cosine")
    assert result.score_without_duplicates == pytest.approx(expected["VS"], rel=1e-12)


def test_modes_are_the_shares_with_their_samples():
    words = ["a b"] * 5 + ["c d"] * 3 + ["e f"] * 2
    result = explain(words, ns=[1])
    modes = result.modes()
    assert [mode.share for mode in modes] == pytest.approx([0.5, 0.3, 0.2])
    assert [mode.members.tolist() for mode in modes] == [[0, 1, 2, 3, 4], [5, 6, 7], [8, 9]]
    assert modes[0].exemplars == [0, 1, 2]
    assert result.mode.tolist() == [0] * 5 + [1] * 3 + [2] * 2
    assert len(result.modes(1)) == 1
    with pytest.raises(ValueError, match="`count` must be an integer of at least 1, got -1"):
        result.modes(-1)


def test_coverage_of_labels_is_that_of_good_and_turing():
    labels = np.random.default_rng(0).geometric(0.1, 300).tolist()
    once = sum(labels.count(label) == 1 for label in labels)
    assert explain(labels, k="labels").coverage == pytest.approx(1 - once / 300, abs=1e-6)


def test_samples_that_were_left_out_keep_their_places():
    texts = ["a b", "", "a b", "c d"]
    with pytest.warns(UserWarning, match="dropped 1 of 4 samples"):
        result = explain(texts, k="ngram_overlap", ns=[1], on_error="skip")
    assert result.places.tolist() == [0, 2, 3]
    assert result.nearest.tolist()[:2] == [2, 0]
    assert result.redundant_of.tolist() == [-1, 0, -1]
    assert result.groups == [(0, [2])]
    assert result.modes()[0].members.tolist() == [0, 2]
    assert result.to_frame().index.tolist() == [0, 2, 3]


def test_a_single_sample_and_two_have_a_table():
    one = explain(["a"], ns=[1])
    assert one.adds.tolist() == [0]
    assert one.nearest.tolist() == [0]
    assert one.coverage == 0
    assert "The effective number of samples is 1 of 1" in one.sentence
    two = explain([[1.0, 0.0], [0.0, 1.0]], k="cosine")
    np.testing.assert_allclose(two.adds, math.log(2))
    assert json.loads(json.dumps(two.to_dict(), allow_nan=False))["VS"] == pytest.approx(2)


def test_the_table_is_a_frame_a_dict_json_and_html():
    pytest.importorskip("pandas")
    texts = ["a < b", "a < b", "c d", "e f g h", *[f"x{i} y{i} z" for i in range(12)]]
    result = explain(texts, ns=[1])
    frame = result.to_frame()
    assert list(frame.columns) == COLUMNS
    assert frame.loc[1, "redundant_of"] == 0
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert read["n"] == 16
    assert read["VS"] == result.score
    assert read["groups"] == [{"keep": 0, "near_duplicates": [1]}]
    assert read["samples"]["adds"] == result.adds.tolist()
    page = result._repr_html_()
    assert "a &lt; b" in page
    assert page.count("<tr>") == 1 + 10
    assert str(result) in page
    assert f"1 repeats another ({result.criterion})" in str(result)


def test_samples_of_no_weight_have_no_surprise_and_json_says_so():
    result = explain(["a b", "c d", "e f"], ns=[1], p=[0.5, 0.5, 0])
    assert (
        json.loads(json.dumps(result.to_dict(), allow_nan=False))["samples"]["surprise"][2] is None
    )
    assert result.adds[2] == 0


@pytest.mark.parametrize("options", [{"k": "labels"}, {"k": lambda a, b: float(a[0] == b[0])}])
def test_a_sample_of_no_weight_is_not_kept_in_the_place_of_one_that_has_some(options):
    texts = ["a1", "a1", "b1", "a1"] if options["k"] == "labels" else ["a1", "a2", "b1", "a3"]
    result = explain(texts, p=[0, 0.5, 0.5, 0], **options)
    assert result.redundant_of.tolist() == [1, -1, -1, 1]
    assert result.score_without_duplicates == pytest.approx(2)


@pytest.mark.parametrize("p", [[0, 1], [1, 0]])
def test_a_sample_that_has_all_the_weight_is_explained_as_a_single_one_is(p):
    result = explain(["a", "a"], p=p, k="labels")
    assert result.adds.tolist() == [0, 0]
    assert result.redundant_of[p.index(1)] == -1
    assert result.score_without_duplicates == 1
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["VS"] == 1


def test_a_plot_shows_every_sample_and_marks_the_near_duplicates():
    pytest.importorskip("matplotlib").use("Agg")
    result = explain(rows(), k="cosine", threshold=0.9)
    ax = result.plot()
    samples, marked = ax.get_lines()[:2]
    assert len(samples.get_xdata()) == 40
    assert len(marked.get_xdata()) == 5
    np.testing.assert_allclose(
        samples.get_ydata(), np.sort(-100 * np.expm1(-result.adds))[::-1], atol=1e-9
    )


def test_a_tensor_and_a_similarity_have_the_same_table():
    X = rows()
    plain = explain(X, k="cosine")
    given_similarity = explain(vendiscore.as_similarity(X, k="cosine"))
    np.testing.assert_allclose(given_similarity.adds, plain.adds, atol=1e-13)
    torch = pytest.importorskip("torch")
    tensor = explain(torch.as_tensor(X), k="cosine")
    np.testing.assert_allclose(tensor.adds, plain.adds, atol=1e-12)
    np.testing.assert_array_equal(tensor.redundant_of, plain.redundant_of)


def test_no_matrix_of_all_pairs_is_made_where_features_are_few():
    import tracemalloc

    X = np.random.default_rng(0).standard_normal((6000, 8))
    tracemalloc.start()
    try:
        result = explain(X, k="cosine", threshold=0.9999)
        assert result.adds.shape == (6000,)
        assert result.coverage == pytest.approx(1, abs=1e-6)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.5 * 8 * 6000**2


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"q": 0}, ValueError, "`q` must be an order above 0, got 0; use a small order"),
        ({"q": [1, 2]}, TypeError, r"`q` must be an order above 0, got \[1, 2\]"),
        ({"threshold": 1.5}, ValueError, "`threshold` must be a similarity, from -1 to 1, got 1.5"),
        ({"threshold": -2}, ValueError, "`threshold` must be a similarity, from -1 to 1, got -2"),
        ({"threshold": "high"}, TypeError, "`threshold` must be a similarity, from -1 to 1"),
        ({"nss": [1]}, TypeError, "unknown keyword 'nss'"),
        ({"p": [0.5, 0.6]}, ValueError, "`p` must sum to 1"),
        ({"psd": "no"}, ValueError, "`psd` must be 'check' or 'clip', got 'no'"),
        ({"groups": [1, 2]}, TypeError, "unknown keyword 'groups'"),
        ({"ci": 0.95}, TypeError, "unknown keyword 'ci'"),
    ],
)
def test_what_cannot_be_explained_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        explain(["a b", "c d"], **options)


def test_the_floor_can_be_further_down():
    from vendiscore import as_similarity
    from vendiscore.measures.sample_set import SampleSet
    from vendiscore.tools.analysis.explain import explain_sample_set

    X = np.random.default_rng(0).normal(size=(20, 3))
    subject = SampleSet(as_similarity(X, k="rbf", sigma=1.0))
    deep, shallow = (
        explain_sample_set(subject, 1.0, 0.8, 0.1),
        explain_sample_set(subject, 1.0, 0.8),
    )
    assert (deep.floor, shallow.floor) == (0.1, pytest.approx(0.6))
    assert deep.rethreshold(0.6).groups == shallow.rethreshold(0.6).groups
    assert explain_sample_set(subject, 1.0, 0.8, 0.9).floor == 0.8
