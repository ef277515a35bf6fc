"""Measures of equivalence classes, compared with formulas and stored NoveltyBench results."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import as_similarity, compute

MEASURES = ["DistinctK", "SemanticEntropy", "KernelLanguageEntropy"]
forty_examples = settings(max_examples=40)
partitions = st.lists(st.integers(0, 4), min_size=1, max_size=9)


def compute_entropy(masses):
    return -sum(m * math.log(m) for m in masses if m)


@pytest.mark.parametrize("model", ["human", "gemini-1.5-pro", "gpt-4o"])
def test_measures_match_stored_noveltybench_results(novelty_answers, model):
    rows = [row for row in novelty_answers if row["model"] == model]
    assert len(rows) == 100
    texts = [text for row in rows for text in row["generations"]]
    groups = [row["id"] for row in rows for _ in row["generations"]]
    classes = np.array([1000 * i + c for i, row in enumerate(rows) for c in row["partition"]])
    quality = [row["partition_scores"][c] for row in rows for c in row["partition"]]
    result = compute(
        texts,
        groups=groups,
        k="equivalence",
        same=classes[:, None] == classes,
        measures=["UtilityK", *MEASURES],
        quality=quality,
        details=True,
    )
    assert result["DistinctK"] == np.mean([len(set(row["partition"])) for row in rows])
    for values, row in zip(result["details"]["groups"], rows, strict=True):
        assert values["DistinctK"] == len(set(row["partition"]))
        assert values["UtilityK"] == pytest.approx(row["utility"], abs=1e-6)
        masses = np.bincount(row["partition"]) / len(row["partition"])
        assert values["SemanticEntropy"] == pytest.approx(compute_entropy(masses), abs=1e-12)
        assert values["KernelLanguageEntropy"] == pytest.approx(compute_entropy(masses), abs=1e-9)


def test_equivalence_kernel_matches_stored_classes_from_pairs(novelty_answers):
    for row in novelty_answers:
        classes = row["partition"]
        indices = list(range(len(classes)))
        K = as_similarity(
            indices, k="equivalence", same=lambda a, b, classes=classes: classes[a] == classes[b]
        )
        assert K.codes.tolist() == classes


def make_answers(partition):
    return [f"answer {c}" for c in partition]


@forty_examples
@given(partitions, st.floats(0, 1), st.randoms())
def test_utility_k_matches_formula(partition, patience, random):
    quality = [random.uniform(0, 10) for _ in partition]
    n = len(partition)
    total = sum(patience**i * quality[i] for i in range(n) if partition[i] not in partition[:i])
    expected = total / sum(patience**i for i in range(n))
    result = compute(
        make_answers(partition), k="equivalence", measures="novelty", quality=quality,
        patience=patience,
    )  # fmt: skip
    assert result["UtilityK"] == pytest.approx(expected, abs=1e-12)
    assert result["DistinctK"] == len(set(partition))
    assert result["UtilityK"] <= max(quality) + 1e-12


@forty_examples
@given(partitions, st.randoms())
def test_entropies_match_class_probabilities(partition, random):
    weights = np.array([random.uniform(0.01, 1) for _ in partition])
    p = weights / weights.sum()
    masses = [p[np.array(partition) == c].sum() for c in set(partition)]
    texts = make_answers(partition)
    result = compute(texts, k="equivalence", measures=MEASURES, p=p)
    assert result["SemanticEntropy"] == pytest.approx(compute_entropy(masses), abs=1e-12)
    assert result["KernelLanguageEntropy"] == pytest.approx(compute_entropy(masses), abs=1e-9)
    logprobs = np.log(weights) - 800  # their exponentials underflow
    distinct = [f"{text} {i}" for i, text in enumerate(texts)]
    kernel_options = {"k": "equivalence", "same": r"answer (\d+)"}
    result_with_logprobs = compute(
        distinct, measures="SemanticEntropy", logprobs=logprobs, **kernel_options
    )
    assert result_with_logprobs["SemanticEntropy"] == pytest.approx(
        compute_entropy(masses), abs=1e-12
    )


def test_logprobs_are_normalized_within_each_group():
    logprobs = [-1.0, -2.0, -900.0, -901.0, -900.0]
    groups, texts = ["a", "a", "b", "b", "b"], ["x", "y", "x", "y", "a y"]
    result = compute(texts, groups=groups, k="equivalence", same="([xy])", logprobs=logprobs,
                    measures="SemanticEntropy", details=True)["details"]["groups"]  # fmt: skip
    m = 1 / (1 + math.e)
    n = 1 / (2 + 1 / math.e)
    expected = [compute_entropy([m, 1 - m]), compute_entropy([n, 1 - n])]
    assert [row["SemanticEntropy"] for row in result] == pytest.approx(expected)


@pytest.mark.parametrize("k", ["equivalence", "labels"])
def test_values_of_identical_and_of_different_samples(k):
    assert compute(["a"] * 6, k=k, measures=MEASURES) == pytest.approx(
        {"DistinctK": 1, "SemanticEntropy": 0, "KernelLanguageEntropy": 0}, abs=1e-12
    )
    assert compute(list("abcdef"), k=k, measures=MEASURES) == pytest.approx(
        {"DistinctK": 6, "SemanticEntropy": math.log(6), "KernelLanguageEntropy": math.log(6)}
    )


@forty_examples
@given(partitions, st.randoms())
def test_values_do_not_depend_on_order_for_transitive_equivalence(partition, random):
    texts = make_answers(partition)
    expected = compute(texts, k="equivalence", measures=MEASURES)
    random.shuffle(texts)
    assert compute(texts, k="equivalence", measures=MEASURES) == pytest.approx(expected)


def test_distinct_k_equals_vendi_score_of_order_zero():
    texts = make_answers([0, 1, 0, 2, 2, 0])
    result = compute(texts, k="equivalence", measures=["VS", "DistinctK"], q=0)
    assert result["VS_q0"] == pytest.approx(result["DistinctK"]) == 3


def test_same_above_sets_the_threshold_of_classes_for_any_kernel():
    X = np.array([[1.0, 0], [0.9, 0.1], [0, 1], [1, 1]])
    for threshold, n_classes in ((0.5, 2), (0.75, 3), (0.9999, 4), (-1, 1)):
        assert compute(X, k="cosine", measures="DistinctK", same_above=threshold)["DistinctK"] == (
            n_classes
        )
    groups = compute(
        np.concatenate([X, X[:2]]),
        k="cosine",
        groups=[0, 0, 0, 0, 1, 1],
        measures="DistinctK",
        same_above=0.75,
        details=True,
    )["details"]["groups"]
    assert [row["DistinctK"] for row in groups] == [3, 1]


def test_classes_without_weight_are_ignored():
    p = [0.5, 0.5, 0, 0]
    assert compute(list("abca"), k="equivalence", measures="DistinctK", p=p)["DistinctK"] == 2
    grouped = compute(list("abca"), k="equivalence", measures="DistinctK", p=p, groups=[0, 0, 0, 0])
    assert grouped["DistinctK"] == 2


def test_entropy_gradient_of_weights_matches_formula():
    torch = pytest.importorskip("torch")
    X = torch.eye(3, dtype=torch.float64)[[0, 0, 1, 2]]
    p = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64, requires_grad=True)
    for name in ("SemanticEntropy", "KernelLanguageEntropy"):
        (slope,) = torch.autograd.grad(compute(X, k="cosine", measures=name, p=p)[name], p)
        m = torch.tensor([0.3, 0.3, 0.3, 0.4]).double()
        expected = -m.log()
        torch.testing.assert_close(slope - slope.mean(), expected - expected.mean())


@pytest.mark.parametrize(
    ("measures", "options", "message"),
    [
        ("novelty", {}, "UtilityK requires `quality`"),
        ("novelty", {"quality": [1, 2]}, "`quality` must have one number for each of 3 samples"),
        ("novelty", {"quality": [1, 2, -3]}, "must be finite and at least 0, got -3"),
        ("novelty", {"quality": [1, 2, 3], "patience": 1.5}, "`patience` must be a number from 0"),
        ("novelty", {"quality": [1, 2, 3], "p": [1 / 3] * 3}, "`p` are not supported by UtilityK"),
        ("SemanticEntropy", {"logprobs": [-1, -2]}, "`logprobs` must have one number"),
        (
            "SemanticEntropy",
            {"logprobs": [[-1, -2]] * 3},
            "`logprobs` must be one list in the order",
        ),
        (
            "SemanticEntropy",
            {"logprobs": [-1, -2, -3], "p": [1 / 3] * 3},
            "`p` and `logprobs` are mutually exclusive",
        ),
        ({"DistinctK": {"same_above": 1}}, {}, "`same_above` must be a number from −1 to below 1"),
    ],
)
def test_invalid_arguments_raise(measures, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compute(["a", "b", "c"], k="equivalence", measures=measures, **options)


def test_samples_must_be_distinct_with_logprobs_and_may_repeat_without_them():
    """The probability of a sequence counts once; without probabilities, each sample counts."""
    options = {"k": "equivalence", "same": r"(\d)", "measures": "SemanticEntropy"}
    with pytest.raises(ValueError, match="remove repeated samples, or omit `logprobs`"):
        compute(["4", "4", "a 5"], logprobs=[-1, -1, -2], **options)
    with_logprobs = compute(["4", "is 4", "a 5"], logprobs=[-1, -1, -2], **options)[
        "SemanticEntropy"
    ]
    masses = np.array([2 * math.exp(-1), math.exp(-2)]) / (2 * math.exp(-1) + math.exp(-2))
    assert with_logprobs == pytest.approx(-np.sum(masses * np.log(masses)))
    without_logprobs = compute(["4", "4", "a 5"], **options)["SemanticEntropy"]
    assert without_logprobs == pytest.approx(math.log(3) - 2 * math.log(2) / 3)
