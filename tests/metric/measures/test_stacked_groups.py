"""Values of groups evaluated as stacks match values of separate evaluation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import NotPSDError, compute, list_measures
from vendiscore.measures.stacked_groups import MAX_STACKED_SIZE
from vendiscore.result import key_at

ORDERS = [0, 0.5, 1, 1.5, 2, 7, "inf"]
MEASURES = ["VS", "IntDiv", "AvgSim", "LC"]
TOLERANCE = 1e-12
WORDS = ["red", "green", "blue", "cat", "dog", "house", "ran", "sat"]


def evaluate_separately(samples, labels, p=None, **options):
    """Return the values of the groups, computed separately."""
    result = []
    for label in dict.fromkeys(labels.tolist()):
        indices = np.flatnonzero(labels == label)
        group = [samples[i] for i in indices] if isinstance(samples, list) else samples[indices]
        group_options = options if p is None else {**options, "p": p[indices] / p[indices].sum()}
        result.append(compute(group, **group_options))
    return result


def check_means_match(groups, separate_values):
    for key, value in groups.items():
        if not key.endswith(("_se", "_low", "_high")) and key != "details":
            assert value == pytest.approx(
                np.mean([group_values[key] for group_values in separate_values]),
                rel=TOLERANCE,
                abs=TOLERANCE,
            )


sizes = st.lists(st.integers(1, 12), min_size=1, max_size=8).map(lambda sizes: [2, *sizes])


@settings(max_examples=40)
@given(
    sizes, st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from(["cosine", "rbf"])
)
def test_scores_of_vector_groups_match_separate_evaluation(sizes, seed, weighted, repeated, kernel):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(labels), 5))
    if repeated:
        X = X[rng.integers(0, len(X), len(X))]
    options = {"k": kernel, "q": ORDERS, "measures": MEASURES if kernel == "rbf" else MEASURES[:3]}
    options |= {"sigma": 2.0} if kernel == "rbf" else {}
    p = None
    if weighted:
        options["measures"] = [name for name in options["measures"] if name != "AvgSim"]
        p = rng.random(len(labels)) + 0.1
        p /= p.sum()
    result = compute(X, groups=labels, p=p, **options)
    check_means_match(result, evaluate_separately(X, labels, p, **options))


@settings(max_examples=15)
@given(sizes, st.integers(0, 10**6))
def test_scores_of_text_groups_match_separate_evaluation(sizes, seed):
    rng = np.random.default_rng(seed)
    groups = [[" ".join(rng.choice(WORDS, 4)) for _ in range(m)] for m in sizes]
    check_means_match(compute(groups, q=ORDERS), [compute(group, q=ORDERS) for group in groups])


SET_MEASURES = {measure.name: measure for measure in list_measures() if not measure.groups}
# Measures with this option search for a scale with nine digits.
SCALE_SEARCH_OPTION = "epsilon"


def draw_samples(rng, sizes, samples_kind):
    """Draw samples with some duplicates, and references, for groups of the given sizes."""
    n = sum(sizes)
    if samples_kind == "texts":
        texts = [" ".join(rng.choice(WORDS, 5)) for _ in range(n + 9)]
        return texts[:n], texts[n:], {}
    X = rng.normal(size=(n + 9, 4))
    X[rng.integers(0, n)] = X[0]
    options = {"k": "rbf", "sigma": 2.0} if samples_kind == "kernel" else {}
    return X[:n], X[n:], options


@pytest.mark.parametrize("name", SET_MEASURES)
@pytest.mark.parametrize("samples_kind", ["texts", "vectors", "kernel"])
@settings(max_examples=6)
@given(sizes=st.lists(st.integers(6, 9), min_size=2, max_size=5), seed=st.integers(0, 10**6))
def test_every_measure_of_groups_matches_separate_evaluation(name, samples_kind, sizes, seed):
    measure = SET_MEASURES[name]
    if samples_kind == "vectors" and measure.needs not in ("distances", "features"):
        samples_kind = "kernel"
    if measure.needs == "samples":
        samples_kind = "texts"
    elif measure.needs == "features":
        samples_kind = "kernel"
    rng = np.random.default_rng(seed)
    samples, references, options = draw_samples(rng, sizes, samples_kind)
    if measure.needs == "features":
        options = {"k": "cosine"}
    n = len(samples)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    per_sample = {
        "quality": rng.random(n),
        "given": rng.integers(0, 3, n).tolist(),
        "p": rng.random(n) + 0.1,
    }
    measure_arguments = {
        option: per_sample[option] for option in measure.options if option in per_sample
    }
    measure_arguments |= {"given_k": "labels"} if "given" in measure_arguments else {}
    options["measures"] = [name]
    if measure.references:
        options["references"] = references
    if measure.weighted:
        measure_arguments["p"] = per_sample["p"] / per_sample["p"].sum()
    if measure.ordered:
        options["q"] = ORDERS
    separate_values = []
    for label in range(len(sizes)):
        indices = np.flatnonzero(labels == label)
        group = [samples[i] for i in indices] if samples_kind == "texts" else samples[indices]
        group_arguments = {
            key: values if isinstance(values, str) else np.asarray(values)[indices]
            for key, values in measure_arguments.items()
        }
        if "p" in group_arguments:
            group_arguments["p"] /= group_arguments["p"].sum()
        separate_values.append(compute(group, **options, **group_arguments))
    result = compute(samples, groups=labels, **options, **measure_arguments)
    for key in separate_values[0]:
        mean = np.mean([group_values[key] for group_values in separate_values])
        tolerance = 1e-8 if SCALE_SEARCH_OPTION in measure.options else TOLERANCE
        assert result[key] == pytest.approx(mean, rel=tolerance, abs=tolerance)


def test_areas_of_groups_of_identical_points():
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 5, axis=0)
    options = {"measures": ["MagArea", "t_conv"], "average": True, "epsilon": 0.9}
    assert compute(X, groups=np.repeat(np.arange(3), 5), **options)["MagArea"] == 1.0
    with pytest.raises(ValueError, match="requires an upper limit above 0") as error_info:
        compute(np.arange(8.0)[:, None], groups=list("aaaabbbb"), **options)
    assert any("group 'a'" in note for note in error_info.value.__notes__)
    arguments = {"groups": list("aaab"), "references": [[0.0], [0.0]], "measures": "MagDiff"}
    assert compute(np.zeros((4, 1)), **arguments)["MagDiff"] == 0.0


def test_groups_larger_than_the_stacking_limit_match_separate_evaluation():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), [1, 40, MAX_STACKED_SIZE, MAX_STACKED_SIZE + 1])
    X = rng.normal(size=(len(labels), 8))
    result = compute(X, groups=labels, k="cosine", ci=0.95, details=True)
    separate_values = evaluate_separately(X, labels, k="cosine")
    check_means_match(result, separate_values)
    table = result["details"]["groups"]
    assert [row["VS"] for row in table] == pytest.approx(
        [group_values["VS"] for group_values in separate_values], rel=TOLERANCE
    )
    assert [row["n"] for row in table] == [1, 40, MAX_STACKED_SIZE, MAX_STACKED_SIZE + 1]
    values = [group_values["VS"] for group_values in separate_values]
    assert result["VS_se"] == pytest.approx(np.std(values, ddof=1) / 2, rel=1e-9)
    assert result["VS_low"] < result["VS"] < result["VS_high"]


def test_unusable_sample_raises_error_with_its_group():
    rng = np.random.default_rng(0)
    groups = rng.normal(size=(1000, 8, 3))
    groups[713, 5] = 0.0
    with pytest.raises(ValueError, match=r"sample 5 of group 713\b.*zero"):
        compute(groups.tolist(), k="cosine")
    texts = [["a cat", "a dog"] for _ in range(800)]
    texts[713][1] = " "
    with pytest.raises(ValueError, match=r"sample 1 of group 713\b.*no tokens"):
        compute(texts)


def test_not_psd_error_names_the_group():
    K = np.eye(9)
    indefinite = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1.0]])
    K[3:6, 3:6] = indefinite
    with pytest.raises(NotPSDError) as error_info:
        compute(K, score_K=True, groups=list("aaabbbccc"))
    assert any("group 'b'" in note for note in error_info.value.__notes__)
    result = compute(K, score_K=True, groups=list("aaabbbccc"), psd="clip", q=[1, 2])
    clipped = compute(indefinite, score_K=True, psd="clip")["VS"]
    assert result["VS_q1"] == pytest.approx((6 + clipped) / 3, rel=TOLERANCE)


def test_gradients_of_groups_match_separate_evaluation():
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(6, 5, 4, dtype=torch.float64, generator=generator, requires_grad=True)
    for q in [0.5, 1, 2, 3, "inf"]:
        key = key_at(q)
        labels = np.repeat(np.arange(6), 5)
        options = {"groups": labels, "measures": ["VS", "IntDiv"]}
        result = compute(torch.cat(tuple(X)), k="cosine", q=q, **options)
        (gradient,) = torch.autograd.grad(result[key] + result["IntDiv"], X)
        separate_values = [
            compute(group, k="cosine", q=q, measures=["VS", "IntDiv"]) for group in X
        ]
        mean = sum(
            group_values[key] + group_values["IntDiv"] for group_values in separate_values
        ) / len(separate_values)
        (expected_gradient,) = torch.autograd.grad(mean, X)
        scores = [group_values[key].item() for group_values in separate_values]
        assert result[key].item() == pytest.approx(np.mean(scores), rel=TOLERANCE)
        assert torch.allclose(gradient, expected_gradient, rtol=1e-9, atol=1e-12)


def test_scores_of_thousands_of_pairs_match_closed_form():
    """Blocks contain more sets than the row limit of SciPy's eigensolver."""
    pairs = np.random.default_rng(0).standard_normal((6000, 2, 2))
    unit_rows = pairs / np.linalg.norm(pairs, axis=2, keepdims=True)
    cosines = np.sum(unit_rows[:, 0] * unit_rows[:, 1], axis=1)
    eigenvalues = np.stack([(1 + cosines) / 2, (1 - cosines) / 2])
    scores = np.exp(-np.sum(eigenvalues * np.log(eigenvalues), axis=0))
    result = compute(np.concatenate(pairs), k="cosine", groups=np.repeat(np.arange(6000), 2))
    assert result["VS"] == pytest.approx(scores.mean(), rel=1e-12)
