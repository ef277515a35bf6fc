"""The table of `explain` matches direct computations, and lists all near-duplicates."""

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


def random_rows(n=40, d=12, seed=0, n_copies=5):
    """Return random rows; the last `n_copies` are near-duplicates of the first."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[n - n_copies :] = X[:n_copies] + 0.02 * rng.standard_normal((n_copies, d))
    return X


def cosine_matrix(X):
    X = X / np.linalg.norm(X, axis=1)[:, None]
    return X @ X.T


def brute_force_representatives(K, threshold):
    """Retain samples with most near-duplicates first; return the retained sample of each duplicate,
    or -1."""
    n = len(K)
    neighbours = [[j for j in range(n) if j != i and K[i, j] >= threshold - 1e-9] for i in range(n)]
    retained = []
    for i in sorted(range(n), key=lambda i: -len(neighbours[i])):  # stable sort
        if neighbours[i] and not set(neighbours[i]) & set(retained):
            retained.append(i)
    representatives = np.full(n, -1)
    for i in range(n):
        candidates = [j for j in retained if j in neighbours[i]]
        if i not in retained and candidates:
            representatives[i] = max(candidates, key=lambda j: K[i, j])
    return representatives


def find_matrix_duplicates(K, threshold):
    return find_duplicates(MatrixSimilarity(K), threshold, threshold - 0.2)[1]


@pytest.mark.parametrize("q", [0.5, 1, 2, "inf"])
@pytest.mark.parametrize("k", ["cosine", "rbf"])
def test_adds_equals_log_ratio_of_scores_with_and_without_the_sample(k, q):
    X = random_rows()
    options = {"k": k, "q": q} | ({"sigma": 1.5} if k == "rbf" else {})
    result = explain(X, **options)
    expected = score(X, **options)
    assert result.score == pytest.approx(expected, rel=1e-12)
    for i in (0, 7, 39):
        score_without = score(np.delete(X, i, axis=0), **options)
        assert result.adds[i] == pytest.approx(math.log(expected / score_without), abs=1e-9)


def test_mean_surprise_equals_log_score():
    for options in ({}, {"p": np.random.default_rng(0).dirichlet(np.ones(40))}):
        result = explain(random_rows(), k="cosine", **options)
        mean = np.average(result.surprise, weights=options.get("p"))
        assert mean == pytest.approx(math.log(result.score), abs=1e-12)


def test_permuted_samples_give_permuted_columns():
    X = random_rows()
    order = np.random.default_rng(1).permutation(len(X))
    before, after = explain(X, k="cosine"), explain(X[order], k="cosine")
    for name in ("surprise", "adds", "unexplained", "nearest_similarity"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name)[order], atol=1e-12)
    np.testing.assert_array_equal(order[after.nearest], before.nearest[order])
    groups = [
        {
            frozenset(indices[[retained, *duplicates]].tolist())
            for retained, duplicates in result.groups
        }
        for result, indices in ((before, np.arange(len(X))), (after, order))
    ]
    assert groups[0] == groups[1]


def test_nearest_and_redundant_of_match_brute_force():
    X = random_rows()
    K = cosine_matrix(X)
    result = explain(X, k="cosine", threshold=0.9)
    np.fill_diagonal(K, -np.inf)
    np.testing.assert_array_equal(result.nearest, K.argmax(axis=1))
    np.testing.assert_allclose(result.nearest_similarity, K.max(axis=1), atol=1e-12)
    np.testing.assert_array_equal(result.redundant_of, brute_force_representatives(K, 0.9))
    assert sorted(result.groups) == [(i, [35 + i]) for i in range(5)]


@settings(max_examples=60)
@given(st.integers(1, 12), st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.8, 1.0]))
def test_retained_samples_differ_and_other_samples_repeat_them(n, seed, threshold):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, (n, n)) / 5
    K = np.triu(values, 1) + np.triu(values, 1).T + np.eye(n)
    indices = rng.integers(0, n, n)
    K = K[np.ix_(indices, indices)]  # with repeated samples
    result = find_matrix_duplicates(K, threshold)
    representatives, retained = result.representatives, result.retained
    assert all(K[i, j] < threshold for i, j in itertools.combinations(retained, 2))
    assert all(
        representatives[representatives[i]] == -1 and K[i, representatives[i]] >= threshold
        for i in np.flatnonzero(representatives >= 0)
    )
    np.testing.assert_array_equal(representatives, brute_force_representatives(K, threshold))
    members = [
        index
        for representative, repeated in result.groups()
        for index in (representative, *repeated)
    ]
    assert len(members) == len(set(members))
    assert set(np.flatnonzero(result.representatives >= 0)) <= set(members)


def test_score_without_duplicates_equals_score_of_retained_samples():
    X = random_rows()
    p = np.random.default_rng(2).dirichlet(np.ones(40))
    for q, weights in itertools.product((0.5, 1, 2, "inf"), (None, p)):
        result = explain(X, k="cosine", threshold=0.9, q=q, p=weights)
        retained = result.kept
        assert len(retained) == 35
        retained_p = None if weights is None else weights[retained] / weights[retained].sum()
        expected = compute(X[retained], k="cosine", q=q, p=retained_p)[key_at(q)]
        assert result.score_without_duplicates == pytest.approx(expected, rel=1e-12)


def test_rethreshold_equals_explain_with_the_threshold():
    X = random_rows()
    result = explain(X, k="cosine", threshold=0.9)
    assert "adds" not in result.__dict__
    column = result.adds
    for threshold in (0.7, 0.85, 1.0):
        rethresholded = result.rethreshold(threshold)
        expected = explain(X, k="cosine", threshold=threshold)
        np.testing.assert_array_equal(rethresholded.redundant_of, expected.redundant_of)
        assert rethresholded.score_without_duplicates == expected.score_without_duplicates
        assert rethresholded.adds is column  # not recomputed
    with pytest.raises(ValueError, match=r"`threshold` must be at least 0\.7, got 0\.6, because"):
        result.rethreshold(0.6)


@pytest.mark.parametrize("k", ["cosine", "rbf", "laplacian"])
def test_default_threshold_is_095_for_any_kernel(k):
    X = random_rows(120, 12, n_copies=15)
    result, explicit = explain(X, k=k), explain(X, k=k, threshold=0.95)
    assert result.threshold == 0.95
    np.testing.assert_array_equal(result.redundant_of, explicit.redundant_of)
    assert f"similar{'ity' if len(result.kept) < 120 else ' as'} 0.95" in result.sentence


@pytest.mark.parametrize("threshold", [0.7, 0.95, 1.0])
def test_repeats_are_counted_at_four_thresholds(threshold):
    X = random_rows(120, 4, n_copies=15)
    result = explain(X, k="cosine", threshold=threshold)
    counts = {}
    for level in (0.8, 0.9, 0.95, 0.99):
        counts[level] = 120 - len(explain(X, k="cosine", threshold=level).kept)
    assert result.repeats == result.rethreshold(0.99).repeats == counts
    assert len(set(counts.values())) == 4
    assert result.to_dict()["repeats"] == {f"{level:g}": n for level, n in counts.items()}
    counts_text = ", ".join(f"{count} at {level}" for level, count in counts.items())
    criterion = f"similarity {threshold:g} or more; " * (len(result.kept) < 120)
    assert f"({criterion}{counts_text})" in result.sentence


def test_repeats_below_the_floor_are_none():
    result = explain(random_rows(), k="cosine", threshold=0.9).duplicates
    shallow = replace(result, floor=0.9)
    assert shallow.count_repeats() == result.count_repeats() | {0.8: None}
    explanation = explain(random_rows(), k="cosine")
    explanation.__dict__["repeats"] = {0.8: None, 0.9: None, 0.95: 3, 0.99: 0}
    assert "; 3 at 0.95, 0 at 0.99)" in explanation.sentence


def test_text_and_to_dict_list_three_pairs_on_both_sides_of_threshold():
    result = explain(random_rows(n=60, d=4), k="cosine", threshold=0.9)
    above, below = result.boundary()
    assert len(above) == len(below) == 3
    pair_texts = [
        ", ".join(f"{i} and {j} ({similarity:.3g})" for i, j, similarity in pairs)
        for pairs in (above, below)
    ]
    assert str(result).endswith(
        f"Samples next to the threshold: {pair_texts[0]} above; {pair_texts[1]} below."
    )
    boundary = result.to_dict()["boundary"]
    assert [pair["i"] for pair in boundary["above"] + boundary["below"]] == [
        p.i for p in above + below
    ]
    assert "next to the threshold" not in str(explain([[1.0, 0.0], [0.0, 1.0]], k="cosine"))


def test_threshold_auto_raises_with_a_hint():
    with pytest.raises(TypeError, match=r"got 'auto'; the default is 0.95; `repeats`"):
        explain(random_rows(), k="cosine", threshold="auto")


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_identical_labels_and_rows_are_near_duplicates(n):
    for labels in (["a"] * n, [f"{i}" for i in range(n)], [f"{i // 2}" for i in range(n)]):
        assert len(explain(labels, k="labels").kept) == len(set(labels))
    vectors = np.repeat(random_rows(n, 5, n_copies=0), 2, axis=0)
    assert len(explain(vectors, k="rbf", sigma=1.0).kept) == n


def test_normalized_text_matches_are_near_duplicates_for_any_kernel():
    texts = ["A cat sat.", "a CAT  sat", "\uff41 cat-sat!", "no dog ran", "it hid", "?!", "..."]
    for options in ({}, {"k": "bleu", "psd": "clip"}, {"k": "word_overlap"}, {"analyzer": "char"}):
        for threshold in (0.95, 1.0):
            result = explain(texts, threshold=threshold, **options)
            assert result.redundant_of.tolist() == [-1, 0, 0, -1, -1, -1, -1]
    assert explain(texts).nearest_similarity[2] < 0.5  # similarity of the kernel
    assert explain(["CC", "cc"], k="labels").redundant_of.tolist() == [-1, -1]
    assert (
        explain(vendiscore.as_similarity(texts)).redundant_of.max() == -1
    )  # the texts are unknown


def test_boundary_matches_brute_force():
    X = random_rows(n=25)
    K = cosine_matrix(X)
    above, below = explain(X, k="cosine", threshold=0.5).boundary(3)
    pairs = sorted((K[i, j], i, j) for i, j in itertools.combinations(range(25), 2))
    assert [(i, j) for i, j, _ in above] == [(i, j) for s, i, j in pairs if s >= 0.5][:3]
    lower = [(i, j) for s, i, j in pairs if 0.3 <= s < 0.5][::-1][:3]
    assert [(i, j) for i, j, _ in below] == lower


def test_too_many_pairs_raise_the_floor_with_a_warning(monkeypatch):
    monkeypatch.setattr(pair_search, "MAX_PAIRS", 50)
    K = cosine_matrix(random_rows(60, 3))
    with pytest.warns(UserWarning, match=r"more than 50 pairs have a similarity of at least 0\.9"):
        result = find_matrix_duplicates(K, 0.9)
    assert result.threshold == result.floor
    assert 0.9 < result.floor < 1
    similarities = K[np.triu_indices(60, 1)]
    threshold = max(result.floor, 0.98)
    assert len(result._pairs[0]) == np.sum(similarities >= result.floor)
    np.testing.assert_array_equal(
        find_matrix_duplicates(K, threshold).representatives,
        brute_force_representatives(K - 2 * np.eye(60), threshold),
    )
    with pytest.raises(ValueError, match=r"`threshold` must be at least 0\.\d+, got 0\.8, because"):
        result.rethreshold(0.8)


def test_identical_samples_do_not_count_towards_the_pair_limit(monkeypatch):
    monkeypatch.setattr(pair_search, "MAX_PAIRS", 50)
    K = np.kron(np.array([[1.0, 0.97], [0.97, 1.0]]), np.ones((30, 30)))
    result = find_matrix_duplicates(K, 0.99)
    assert result.representatives.tolist() == [-1, *[0] * 29, -1, *[30] * 29]
    assert list(result.groups()) == [(0, [*range(1, 30)]), (30, [*range(31, 60)])]
    assert set(result.rethreshold(0.95).representatives[1:].tolist()) == {0}


@pytest.mark.parametrize("seed", range(2))
def test_planted_near_duplicates_of_digits_are_found(mnist, seed):
    rng = np.random.default_rng(seed)
    X = mnist["images"][:1900].reshape(1900, -1).astype(float) / 255
    originals = rng.choice(1900, 100, replace=False)
    planted = np.clip(X[originals] + 0.02 * rng.standard_normal((100, 784)), 0, 1)
    X = np.vstack([X, planted])
    result = explain(X, k="cosine", threshold=0.992)
    found_pairs = {
        frozenset((int(i), int(of))) for i, of in enumerate(result.redundant_of) if of >= 0
    }
    planted_pairs = {frozenset((int(i), 1900 + j)) for j, i in enumerate(originals)}
    assert planted_pairs <= found_pairs
    assert len(planted_pairs) / len(found_pairs) >= 0.99
    assert (result.nearest[1900:] == originals).all()
    expected = compute(np.delete(X, np.setdiff1d(np.arange(2000), result.kept), axis=0), k="cosine")
    assert result.score_without_duplicates == pytest.approx(expected["VS"], rel=1e-12)


def test_modes_have_shares_members_and_exemplars():
    texts = ["a b"] * 5 + ["c d"] * 3 + ["e f"] * 2
    result = explain(texts, ns=[1])
    modes = result.modes()
    assert [mode.share for mode in modes] == pytest.approx([0.5, 0.3, 0.2])
    assert [mode.members.tolist() for mode in modes] == [[0, 1, 2, 3, 4], [5, 6, 7], [8, 9]]
    assert modes[0].exemplars == [0, 1, 2]
    assert result.mode.tolist() == [0] * 5 + [1] * 3 + [2] * 2
    assert len(result.modes(1)) == 1
    with pytest.raises(ValueError, match="`count` must be an integer of at least 1, got -1"):
        result.modes(-1)


def test_coverage_of_labels_equals_good_turing():
    labels = np.random.default_rng(0).geometric(0.1, 300).tolist()
    n_singletons = sum(labels.count(label) == 1 for label in labels)
    assert explain(labels, k="labels").coverage == pytest.approx(1 - n_singletons / 300, abs=1e-6)


def test_skipped_samples_keep_indices_of_the_input():
    texts = ["a b", "", "a b", "c d"]
    with pytest.warns(UserWarning, match="dropped 1 of 4 samples"):
        result = explain(texts, k="ngram_overlap", ns=[1], on_error="skip")
    assert result.places.tolist() == [0, 2, 3]
    assert result.nearest.tolist()[:2] == [2, 0]
    assert result.redundant_of.tolist() == [-1, 0, -1]
    assert result.groups == [(0, [2])]
    assert result.modes()[0].members.tolist() == [0, 2]
    assert result.to_frame().index.tolist() == [0, 2, 3]


def test_explain_accepts_one_and_two_samples():
    single = explain(["a"], ns=[1])
    assert single.adds.tolist() == [0]
    assert single.nearest.tolist() == [0]
    assert single.coverage == 0
    assert "The effective number of samples is 1 of 1" in single.sentence
    pair = explain([[1.0, 0.0], [0.0, 1.0]], k="cosine")
    np.testing.assert_allclose(pair.adds, math.log(2))
    assert json.loads(json.dumps(pair.to_dict(), allow_nan=False))["VS"] == pytest.approx(2)


def test_explanation_converts_to_frame_json_and_html():
    pytest.importorskip("pandas")
    texts = ["a < b", "a < b", "c d", "e f g h", *[f"x{i} y{i} z" for i in range(12)]]
    result = explain(texts, ns=[1])
    frame = result.to_frame()
    assert list(frame.columns) == COLUMNS
    assert frame.loc[1, "redundant_of"] == 0
    record = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert record["n"] == 16
    assert record["VS"] == result.score
    assert record["groups"] == [{"keep": 0, "near_duplicates": [1]}]
    assert record["samples"]["adds"] == result.adds.tolist()
    html = result._repr_html_()
    assert "a &lt; b" in html
    assert html.count("<tr>") == 1 + 10
    assert str(result) in html
    assert f"1 repeats another ({result.criterion})" in str(result)


def test_zero_weight_sample_has_no_surprise():
    result = explain(["a b", "c d", "e f"], ns=[1], p=[0.5, 0.5, 0])
    assert (
        json.loads(json.dumps(result.to_dict(), allow_nan=False))["samples"]["surprise"][2] is None
    )
    assert result.adds[2] == 0


@pytest.mark.parametrize("options", [{"k": "labels"}, {"k": lambda a, b: float(a[0] == b[0])}])
def test_sample_with_weight_is_retained_over_zero_weight_copy(options):
    texts = ["a1", "a1", "b1", "a1"] if options["k"] == "labels" else ["a1", "a2", "b1", "a3"]
    result = explain(texts, p=[0, 0.5, 0.5, 0], **options)
    assert result.redundant_of.tolist() == [1, -1, -1, 1]
    assert result.score_without_duplicates == pytest.approx(2)


@pytest.mark.parametrize("p", [[0, 1], [1, 0]])
def test_sample_with_all_the_weight_adds_nothing(p):
    result = explain(["a", "a"], p=p, k="labels")
    assert result.adds.tolist() == [0, 0]
    assert result.redundant_of[p.index(1)] == -1
    assert result.score_without_duplicates == 1
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["VS"] == 1


def test_plot_shows_all_samples_and_marks_near_duplicates():
    pytest.importorskip("matplotlib").use("Agg")
    result = explain(random_rows(), k="cosine", threshold=0.9)
    ax = result.plot()
    points, duplicates = ax.get_lines()[:2]
    assert len(points.get_xdata()) == 40
    assert len(duplicates.get_xdata()) == 5
    np.testing.assert_allclose(
        points.get_ydata(), np.sort(-100 * np.expm1(-result.adds))[::-1], atol=1e-9
    )


def test_tensor_and_similarity_give_the_result_of_arrays():
    X = random_rows()
    expected = explain(X, k="cosine")
    from_similarity = explain(vendiscore.as_similarity(X, k="cosine"))
    np.testing.assert_allclose(from_similarity.adds, expected.adds, atol=1e-13)
    torch = pytest.importorskip("torch")
    from_tensor = explain(torch.as_tensor(X), k="cosine")
    np.testing.assert_allclose(from_tensor.adds, expected.adds, atol=1e-12)
    np.testing.assert_array_equal(from_tensor.redundant_of, expected.redundant_of)


def test_explain_builds_no_full_matrix_for_few_features():
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
def test_invalid_arguments_raise(options, error, message):
    with pytest.raises(error, match=message):
        explain(["a b", "c d"], **options)


def test_floor_can_be_lowered():
    from vendiscore import as_similarity
    from vendiscore.measures.sample_set import SampleSet
    from vendiscore.tools.analysis.explain import explain_sample_set

    X = np.random.default_rng(0).normal(size=(20, 3))
    sample_set = SampleSet(as_similarity(X, k="rbf", sigma=1.0))
    deep, shallow = (
        explain_sample_set(sample_set, 1.0, 0.8, 0.1),
        explain_sample_set(sample_set, 1.0, 0.8),
    )
    assert (deep.floor, shallow.floor) == (0.1, pytest.approx(0.6))
    assert deep.rethreshold(0.6).groups == shallow.rethreshold(0.6).groups
    assert explain_sample_set(sample_set, 1.0, 0.8, 0.9).floor == 0.8
