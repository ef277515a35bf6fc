"""`compare` detects real differences in diversity and controls the false positive rate."""

import itertools
import json
import math
import pickle

import numpy as np
import pytest
from populations import POPULATIONS, draw_sentences, draw_vectors

from vendiscore import MatrixSimilarity, ProductSimilarity, as_similarity, compare, compute
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.resolve.similarity_builder import build_pooled_similarity
from vendiscore.resolve.similarity_spec import SimilaritySpec
from vendiscore.support.progress import run_steps
from vendiscore.tools.analysis.compare_options import CompareOptions
from vendiscore.tools.analysis.compare_sets import comparison_steps
from vendiscore.tools.analysis.pair_inference import adjust_p_values


def quick_compare(*sets, **options):
    return compare(*sets, **{"permutations": 99, **options})


def normal_rows(seed: int, n: int, d: int = 6, scale: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)) * np.r_[1.0, [scale] * (d - 1)]


@pytest.mark.parametrize("sizes", [(40, 40), (80, 40)])
def test_false_positive_rate_for_the_same_source_is_at_most_the_level(sizes):
    """benchmarks/compare_null.py tests nine sources of 4 to 200 samples: 2 to 5 % have p ≤ 0.05."""
    p_values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p_values.append(
            quick_compare(*(draw_vectors(rng, n) for n in sizes), k="cosine").pairs[0].p
        )
    assert 0 <= np.mean(np.array(p_values) <= 0.05) <= 0.12
    assert 0.3 < np.mean(p_values) < 0.7  # p is approximately uniform


def test_false_positive_rate_for_disjoint_sources_is_at_most_the_level():
    """Without dividing T by its standard error, 12 of 100 comparisons would show a difference."""
    n_significant = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, Y = draw_vectors(rng, 60), draw_vectors(rng, 60)
        X, Y = np.hstack([X, 0 * X]), np.hstack([0 * Y, Y])
        n_significant += quick_compare(X, Y, k="cosine").pairs[0].p <= 0.05
    assert n_significant <= 3


@pytest.mark.parametrize("sizes", [(40, 40), (40, 80), (80, 40)])
@pytest.mark.parametrize("name", ["texts, n-grams", "vectors, cosine"])
def test_narrow_source_is_less_diverse_than_wide_source(name, sizes):
    source, options = POPULATIONS[name]
    rng = np.random.default_rng(0)
    result = quick_compare(source(rng, sizes[0]), source(rng, sizes[1], 0.8), **options)
    assert (result.verdict("A", "B"), result.verdict("B", "A")) == ("more diverse", "less diverse")
    row = result.pairs[0]
    assert 0 < row.low < row.difference < row.high
    assert row.p == row.p_adjusted == 0.01


@pytest.mark.filterwarnings("ignore:intervals have width 0")
@pytest.mark.parametrize("q", [0, 0.5, 1, 2, 3, math.inf])
def test_set_does_not_differ_from_itself(q):
    texts = draw_sentences(np.random.default_rng(0), 20)
    for other in (texts, texts[::-1]):
        result = quick_compare(texts, other, q=q)
        assert result.verdict("A", "B") == "no difference shown"
        assert result.pairs[0].p == 1.0
        assert result.pairs[0].low <= 0 <= result.pairs[0].high


def test_shared_samples_do_not_raise_the_false_positive_rate():
    p_values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        common = draw_vectors(rng, 20)
        sets = [np.vstack([common, draw_vectors(rng, 20)]) for _ in range(2)]
        p_values.append(quick_compare(*sets, k="cosine").pairs[0].p)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05


def test_score_and_jackknife_error_of_a_set_equal_those_of_compute():
    sets = [normal_rows(0, 40), normal_rows(1, 25)]
    result = quick_compare(*sets, k="cosine")
    for row, X in zip(result.sets, sets, strict=True):
        assert (row.n, row.size) == (len(X), 25)
        assert row.score == pytest.approx(compute(X, k="cosine")["VS"], rel=1e-9)
        leave_one_out_logs = [
            math.log(compute(np.delete(X, i, axis=0), k="cosine")["VS"]) for i in range(len(X))
        ]
        error = math.sqrt((len(X) - 1) * np.var(leave_one_out_logs))
        assert row.se == pytest.approx(row.score * error, rel=1e-6)
        assert 1 <= row.low < row.score < row.high < len(X)
    assert result.sets[1].matched == pytest.approx(result.sets[1].score, rel=1e-9)
    assert result.sets[0].matched < result.sets[0].score
    assert result.sets[0].matched_se < result.sets[0].matched / result.sets[0].score * 2 * (
        result.sets[0].se
    )


def test_p_matches_naive_permutation_test():
    X, Y = normal_rows(0, 12), normal_rows(1, 12, scale=0.7)
    pooled = np.vstack([X, Y])

    def statistic(a, b):
        values = []
        for samples in (pooled[a], pooled[b]):
            logs = [
                math.log(compute(np.delete(samples, i, axis=0), k="cosine")["VS"])
                for i in range(len(samples))
            ]
            variance = (len(samples) - 1) * np.var(logs)
            values.append((math.log(compute(samples, k="cosine")["VS"]), variance))
        return (values[0][0] - values[1][0]) / math.sqrt(values[0][1] + values[1][1])

    observed = statistic(np.arange(12), np.arange(12, 24))
    rng = np.random.default_rng(0)
    orders = [rng.permutation(24) for _ in range(200)]
    naive = np.mean([abs(statistic(o[:12], o[12:])) >= abs(observed) for o in orders])
    result = compare(X, Y, k="cosine", permutations=1999)
    assert result.pairs[0].p == pytest.approx(naive, abs=0.1)
    assert result.pairs[0].difference == pytest.approx(
        compute(X, k="cosine")["VS"] - compute(Y, k="cosine")["VS"], rel=1e-9
    )


def test_interval_excludes_0_if_and_only_if_p_is_below_the_level():
    for seed in range(12):
        result = quick_compare(
            normal_rows(seed, 30), normal_rows(50 + seed, 30, scale=0.8), k="cosine"
        )
        row = result.pairs[0]
        if abs(row.p - 0.05) > 0.02:
            assert (row.low <= 0 <= row.high) == (row.p > 0.05)


def test_labels_that_are_all_distinct_or_identical_have_an_interval():
    """Standard errors are 0 in the sets or after permutations."""
    different, same = list("abcdefgh"), ["a"] * 8
    row = quick_compare(different, same, k="labels").pairs[0]
    assert (row.difference, row.low, row.high, row.p) == (7, 7, 7, 0.01) or row.low > 0
    row = quick_compare(different[:4], ["a", "b", "b", "c"], k="labels").pairs[0]
    assert -3 <= row.low <= row.difference <= row.high <= 3
    row = quick_compare(different, list("ijklmnop"), k="labels").pairs[0]
    assert (row.difference, row.p) == (0, 1)
    row = quick_compare(same, same, k="labels").pairs[0]
    assert (row.difference, row.p) == (0, 1)


def test_bandwidth_is_fitted_to_all_sets():
    X, Y = normal_rows(0, 20), 100 + normal_rows(1, 20)
    pooled_sigma = compute(np.vstack([X, Y]), k="rbf", details=True)["details"]["options"]["sigma"]
    result = quick_compare(X, Y, k="rbf")
    assert result.settings["sigma"] == pytest.approx(pooled_sigma)
    assert result.sets[0].score == pytest.approx(compute(X, k="rbf", sigma=pooled_sigma)["VS"])


def test_three_sets_have_three_pairs_with_adjusted_p():
    rng = np.random.default_rng(0)
    sets = {
        "wide": draw_sentences(rng, 40),
        "too": draw_sentences(rng, 45),
        "thin": draw_sentences(rng, 40, 0.8),
    }
    result = quick_compare(sets, permutations=199)
    assert [(row.a, row.b) for row in result.pairs] == list(itertools.combinations(sets, 2))
    assert [row.p_adjusted for row in result.pairs] == adjust_p_values(
        [row.p for row in result.pairs]
    )
    assert result.verdict("thin", "wide") == result.verdict("thin", "too") == "less diverse"
    assert result.verdict("wide", "too") == "no difference shown"
    # The sentence keeps the order of the pairs, even if the first pair does not differ.
    texts = [
        "No difference shown between wide and too",
        "wide is more diverse than thin",
        "too is more diverse than thin",
    ]
    positions = [result.sentence.index(text) for text in texts]
    assert positions == sorted(positions)
    assert result.sentence.startswith(texts[0])
    frame = result.to_frame()
    assert list(frame.columns[:6]) == ["a", "b", "difference", "low", "high", "p"]
    assert result.to_frame("sets")["name"].tolist() == list(sets)
    text = json.dumps(result.to_dict())
    assert json.loads(text)["pairs"][0]["a"] == "wide"
    assert result._repr_html_().count("<tr>") == 8
    assert quick_compare(*sets.values(), names=iter(sets), permutations=199).pairs == result.pairs
    with pytest.raises(ValueError, match=r"`a` and `b` must be two of the sets 'wide', 'too'"):
        result.verdict("wide", "wide")


def test_sentence_summarizes_three_sets_without_differences():
    rng = np.random.default_rng(1)
    result = quick_compare(*(draw_vectors(rng, 20) for _ in range(3)), k="cosine")
    assert result.sentence.startswith("No difference shown between A, B and C at 20 samples")
    result = quick_compare(*(draw_vectors(rng, 80) for _ in range(3)), k="cosine")
    assert result.sentence.startswith("No difference shown between A, B and C at 80")


def test_comparison_is_immutable_and_picklable():
    result = quick_compare(normal_rows(0, 8), normal_rows(1, 8), k="cosine")
    with pytest.raises(AttributeError):
        result.q = 2
    assert pickle.loads(pickle.dumps(result)).pairs == result.pairs


def test_sentence_matches_order_and_sign_of_the_table():
    result = quick_compare(
        normal_rows(0, 40, scale=0.3), normal_rows(1, 40), k="cosine", names=["old", "new"]
    )
    row = result.pairs[0]
    assert result.sentence == (
        f"old is less diverse than new: {row.difference:+.2f} effective samples "
        f"at 40 samples each (95 % interval {row.low:.2f} to {row.high:.2f}, p ≤ 0.01, "
        f"the smallest that 99 permutations can give)."
    )


def test_seed_and_options_change_pairs():
    X, Y = normal_rows(0, 30), normal_rows(1, 22, scale=0.3)
    default = quick_compare(X, Y, k="cosine")
    assert quick_compare(X, Y, k="cosine").pairs == default.pairs
    for change in ({"seed": 1}, {"level": 0.9}, {"size": 10}, {"q": 2}, {"permutations": 199}):
        assert quick_compare(X, Y, k="cosine", **change).pairs != default.pairs, change


def test_to_dict_writes_order_infinity_as_a_string():
    result = quick_compare(normal_rows(0, 30), normal_rows(1, 22), k="rbf", sigma=2.0, q=math.inf)
    assert json.dumps(result.to_dict()).count('"inf"') == 1


def test_psd_clip_accepts_negative_eigenvalues():
    K = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    K_all = np.kron(np.eye(4), K)
    indices = list(range(12))

    def k(a, b):
        return K_all[a, b]

    with pytest.raises(ValueError, match="positive semidefinite"):
        quick_compare(indices[:6], indices[6:], k=k)
    result = quick_compare(indices[:6], indices[6:], k=k, psd="clip")
    expected = compute(K_all[:6, :6], score_K=True, psd="clip")["VS"]
    assert result.sets[0].score == pytest.approx(expected)


@pytest.mark.parametrize("row_type", ["float32", "tensor", "list", "sparse"])
def test_any_row_type_gives_the_result_of_arrays(row_type):
    X, Y = normal_rows(0, 20).astype(np.float32), normal_rows(1, 12, scale=0.5).astype(np.float32)
    expected = quick_compare(X.astype(float), Y.astype(float), score_X=True, normalize=True)
    if row_type == "tensor":
        torch = pytest.importorskip("torch")
        sets = [torch.asarray(X), torch.asarray(Y)]
    elif row_type == "sparse":
        import scipy.sparse as sp

        sets = [sp.csr_array(X), sp.csr_array(Y)]
    else:
        sets = [X, Y] if row_type == "float32" else [X.tolist(), Y.tolist()]
    result = quick_compare(*sets, score_X=True, normalize=True)
    assert result.pairs[0].difference == pytest.approx(expected.pairs[0].difference, rel=1e-4)
    assert result.pairs[0].p == pytest.approx(expected.pairs[0].p, abs=0.02)


def test_skipped_samples_reduce_the_size_of_their_set():
    pytest.importorskip("rdkit")
    valid_molecules = ["CCO", "CCN", "CCC", "CCCl", "CCBr"]
    with pytest.warns(UserWarning, match="dropped 2 of 12"):
        result = quick_compare(
            [*valid_molecules, "bad"], ["bad", *valid_molecules], k="morgan", on_error="skip"
        )
    assert [row.n for row in result.sets] == [5, 5]


def test_mixture_compares_columns_of_records():
    rows = [{"text": text, "class": i % 3} for i, text in enumerate("abcdabcdabcd")]
    k = {"ngram_overlap:text": 0.5, "labels:class": 0.5}
    result = quick_compare(rows[:6], rows[6:], k=k, options={"ngram_overlap:text": {"ns": [1]}})
    assert result.sets[0].score == pytest.approx(
        compute(rows[:6], k=k, options={"ngram_overlap:text": {"ns": [1]}})["VS"]
    )


def test_pooled_similarity_equals_similarity_of_concatenated_samples():
    X, Y = normal_rows(0, 5), normal_rows(1, 4)
    similarity = build_pooled_similarity(
        [X, Y], SimilaritySpec(input_form="X", normalize=True), ["A", "B"]
    )
    expected = as_similarity(np.vstack([X, Y]), k="cosine").dense()
    assert np.allclose(similarity.dense(), expected, atol=1e-12)


def test_comparison_steps_yield_the_number_of_permutations():
    similarity = build_pooled_similarity([["a", "b", "c", "d"]] * 2, SimilaritySpec(), ["A", "B"])
    options = CompareOptions(permutations=99).checked()
    codes = np.repeat([0, 1], 4)
    assert list(comparison_steps(similarity, codes, ["A", "B"], options)) == [0, 99]


X, Y = normal_rows(0, 8), normal_rows(1, 8)
TEXTS = [f"w{i}" for i in range(8)]


@pytest.mark.parametrize(
    ("sets", "options", "message"),
    [
        ([X], {}, "compare requires at least two sets, got 1; pass compare(A, B), a dict"),
        ([{"a": X}], {}, "compare requires at least two sets, got 1"),
        ([X, Y[:3]], {}, "`B` must have at least 4 samples to be compared, got 3; add samples"),
        (
            [X, Y[:, :3]],
            {},
            "`B` must have the same sample type as `A` (rows of 6 numbers), got rows of 3",
        ),
        (
            [X, TEXTS],
            {},
            "`B` must have the same sample type as `A` (rows of 6 numbers), got strings",
        ),
        (
            [TEXTS, [1, 2, 3, 4]],
            {"k": None},
            "`B` must have the same sample type as `A` (strings), got numbers",
        ),
        ([X, np.zeros((0, 6))], {}, "`B` is empty"),
        ([as_space(X), Y], {}, "`A` must be a collection of samples, got MetricSpace"),
        ([X, as_similarity(Y, k="cosine")], {}, "`B` contains similarities only within one set"),
        ([X, Y], {"k": None, "score_K": True}, "`A` contains similarities only within one set"),
        ([X, Y], {"fit": "samples"}, "`fit` must be 'pool' in compare, got 'samples'"),
        (
            [X, Y],
            {"names": ["a"]},
            "`names` must contain 2 distinct strings, one per set, got ['a']",
        ),
        ([X, Y], {"names": ["a", "a"]}, "`names` must contain 2 distinct strings"),
        ([X, Y], {"names": "ab"}, "`names` must be a list of strings, one per set, got 'ab'"),
        (
            [{"a": X, "b": Y}],
            {"names": ["a", "b"]},
            "cannot be combined with a dict of sets, whose keys are the names; remove",
        ),
        ([X, Y], {"permutations": 10}, "`permutations` must be an integer of at least 19, got 10"),
        ([X, Y], {"level": 0.999}, "`permutations` must be an integer of at least 999, got 99"),
        (
            [X, Y, X, Y],
            {"permutations": 99},
            "`permutations` must be at least 119 for 6 pairs at level 0.95",
        ),
        ([X, Y], {"groups": [[0, 1] * 4] * 2, "size": 4}, "`size` is not supported with `groups`"),
        (
            [X, Y],
            {"level": 95},
            "from 0.5 to below 1, got 95; pass a level such as 0.95",
        ),
        ([X, Y], {"match": "coverage"}, "'match' is not an option of kernel 'cosine'"),
        ([X, Y], {"size": 9}, "`size` must be at most 8, the size of the smallest set, got 9"),
        ([X, Y], {"size": 3}, "`size` must be an integer of at least 4, got 3"),
        ([X, Y], {"seed": -1}, "`seed` must be an integer of at least 0, got -1"),
        ([X, Y], {"q": -1}, "`q` must be a number in [0, inf] or 'inf', got -1"),
        ([X, Y], {"orders": [0, 1]}, "did you mean `q`"),
        ([X, Y], {"psd": "no"}, "`psd` must be 'check' or 'clip', got 'no'"),
        ([X, Y], {"p": [1] * 8}, "is not supported by magnitude"),
        ([X, Y], {"permutation": 9}, "did you mean `permutations`"),
        (
            [X, Y],
            {"groups": 3},
            "`groups` must contain 2 lists of labels, one per set, got 3; pass",
        ),
        ([X, Y], {"groups": [[0] * 8]}, "`groups` must contain 2 lists of labels, one per set"),
        ([X, Y], {"groups": [[0] * 8, [0] * 7]}, "got 7 labels for the 8 samples of `B`"),
        (
            [X, Y],
            {"groups": [[0] * 8, [0] * 8]},
            "`groups` must have at least two different labels, got 1",
        ),
        (
            [X, Y],
            {"groups": [[0, 0, 0, 0, 1, 1, 1, 1], [0] * 7 + [1]]},
            "two different labels with at least two samples of each set, got 1; omit `groups`",
        ),
        (
            [X, Y],
            {"groups": [[0, 0, 0, 0, 1, 1, 1, 1], [0] * 4 + [2] * 4]},
            "two different labels with at least two samples of each set, got 1; omit `groups`",
        ),
        (
            [X, Y],
            {"groups": {"A": [0] * 8}},
            "the keys of `groups` must be the names of the sets, 'A', 'B'",
        ),
        ([X, Y], {"groups": [[math.nan] * 8] * 2}, "has no label in `groups`, got nan"),
    ],
)
def test_invalid_arguments_raise(sets, options, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        quick_compare(*sets, **{"k": "cosine", **options})
    assert message.lower() in str(caught.value).lower()


def test_product_similarity_gives_the_result_of_its_factor():
    """Subsamples of a product and of its only nontrivial factor give the same difference."""
    K = as_similarity(normal_rows(0, 16), k="rbf", sigma=1.0)
    product = ProductSimilarity([K, MatrixSimilarity(np.ones((16, 16)), psd=True)])
    options = CompareOptions(permutations=99).checked()
    codes = np.repeat([0, 1], 8)
    plain_result, product_result = (
        run_steps(comparison_steps(similarity, codes, ["A", "B"], options))
        for similarity in (K, product)
    )
    assert plain_result.pairs[0].difference == pytest.approx(
        product_result.pairs[0].difference, abs=1e-9
    )
