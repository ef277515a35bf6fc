"""Groups measured as stacks have the numbers of each measured by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import NotPSDError, compute, list_measures
from vendiscore.measures.stacked_groups import MAX_STACKED_SIZE
from vendiscore.result import key_at

ORDERS = [0, 0.5, 1, 1.5, 2, 7, "inf"]
MEASURES = ["VS", "IntDiv", "AvgSim", "LC"]
EXACT = 1e-12
WORDS = ["red", "green", "blue", "cat", "dog", "house", "ran", "sat"]


def alone(samples, labels, p=None, **how):
    """Find the numbers of each group, one by one."""
    result = []
    for label in dict.fromkeys(labels.tolist()):
        own = np.flatnonzero(labels == label)
        part = [samples[i] for i in own] if isinstance(samples, list) else samples[own]
        how_own = how if p is None else {**how, "p": p[own] / p[own].sum()}
        result.append(compute(part, **how_own))
    return result


def close(groups, each):
    for key, value in groups.items():
        if not key.endswith(("_se", "_low", "_high")) and key != "details":
            assert value == pytest.approx(np.mean([own[key] for own in each]), rel=EXACT, abs=EXACT)


sizes = st.lists(st.integers(1, 12), min_size=1, max_size=8).map(lambda some: [2, *some])


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
    how = {"k": kernel, "q": ORDERS, "measures": MEASURES if kernel == "rbf" else MEASURES[:3]}
    how |= {"sigma": 2.0} if kernel == "rbf" else {}
    p = None
    if weighted:
        how["measures"] = [name for name in how["measures"] if name != "AvgSim"]
        p = rng.random(len(labels)) + 0.1
        p /= p.sum()
    result = compute(X, groups=labels, p=p, **how)
    close(result, alone(X, labels, p, **how))


@settings(max_examples=15)
@given(sizes, st.integers(0, 10**6))
def test_scores_of_text_groups_match_separate_evaluation(sizes, seed):
    rng = np.random.default_rng(seed)
    groups = [[" ".join(rng.choice(WORDS, 4)) for _ in range(m)] for m in sizes]
    close(compute(groups, q=ORDERS), [compute(group, q=ORDERS) for group in groups])


OF_GROUPS = {measure.name: measure for measure in list_measures() if not measure.groups}
# Measures with this option seek a scale, to nine digits.
ROOT = "epsilon"


def drawn(rng, sizes, kind):
    """Draw samples, some of them twice, and references for groups of these sizes."""
    n = sum(sizes)
    if kind == "texts":
        texts = [" ".join(rng.choice(WORDS, 5)) for _ in range(n + 9)]
        return texts[:n], texts[n:], {}
    X = rng.normal(size=(n + 9, 4))
    X[rng.integers(0, n)] = X[0]
    how = {"k": "rbf", "sigma": 2.0} if kind == "kernel" else {}
    return X[:n], X[n:], how


@pytest.mark.parametrize("name", OF_GROUPS)
@pytest.mark.parametrize("kind", ["texts", "vectors", "kernel"])
@settings(max_examples=6)
@given(sizes=st.lists(st.integers(6, 9), min_size=2, max_size=5), seed=st.integers(0, 10**6))
def test_every_measure_of_groups_matches_separate_evaluation(name, kind, sizes, seed):
    measure = OF_GROUPS[name]
    if kind == "vectors" and measure.needs not in ("distances", "features"):
        kind = "kernel"
    if measure.needs == "samples":
        kind = "texts"
    elif measure.needs == "features":
        kind = "kernel"
    rng = np.random.default_rng(seed)
    samples, references, how = drawn(rng, sizes, kind)
    if measure.needs == "features":
        how = {"k": "cosine"}
    n = len(samples)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    of_samples = {
        "quality": rng.random(n),
        "given": rng.integers(0, 3, n).tolist(),
        "p": rng.random(n) + 0.1,
    }
    own = {option: of_samples[option] for option in measure.options if option in of_samples}
    own |= {"given_k": "labels"} if "given" in own else {}
    how["measures"] = [name]
    if measure.references:
        how["references"] = references
    if measure.weighted:
        own["p"] = of_samples["p"] / of_samples["p"].sum()
    if measure.ordered:
        how["q"] = ORDERS
    each = []
    for label in range(len(sizes)):
        places = np.flatnonzero(labels == label)
        part = [samples[i] for i in places] if kind == "texts" else samples[places]
        parts = {
            key: values if isinstance(values, str) else np.asarray(values)[places]
            for key, values in own.items()
        }
        if "p" in parts:
            parts["p"] /= parts["p"].sum()
        each.append(compute(part, **how, **parts))
    together = compute(samples, groups=labels, **how, **own)
    for key in each[0]:
        mean = np.mean([numbers[key] for numbers in each])
        exact = 1e-8 if ROOT in measure.options else EXACT
        assert together[key] == pytest.approx(mean, rel=exact, abs=exact)


def test_areas_of_groups_of_identical_points():
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 5, axis=0)
    how = {"measures": ["MagArea", "t_conv"], "average": True, "epsilon": 0.9}
    assert compute(X, groups=np.repeat(np.arange(3), 5), **how)["MagArea"] == 1.0
    with pytest.raises(ValueError, match="requires an upper limit above 0") as raised:
        compute(np.arange(8.0)[:, None], groups=list("aaaabbbb"), **how)
    assert any("group 'a'" in note for note in raised.value.__notes__)
    line = {"groups": list("aaab"), "references": [[0.0], [0.0]], "measures": "MagDiff"}
    assert compute(np.zeros((4, 1)), **line)["MagDiff"] == 0.0


def test_groups_larger_than_the_stacking_limit_match_separate_evaluation():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), [1, 40, MAX_STACKED_SIZE, MAX_STACKED_SIZE + 1])
    X = rng.normal(size=(len(labels), 8))
    result = compute(X, groups=labels, k="cosine", ci=0.95, details=True)
    each = alone(X, labels, k="cosine")
    close(result, each)
    table = result["details"]["groups"]
    assert [row["VS"] for row in table] == pytest.approx([own["VS"] for own in each], rel=EXACT)
    assert [row["n"] for row in table] == [1, 40, MAX_STACKED_SIZE, MAX_STACKED_SIZE + 1]
    values = [own["VS"] for own in each]
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
    bad = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1.0]])
    K[3:6, 3:6] = bad
    with pytest.raises(NotPSDError) as raised:
        compute(K, score_K=True, groups=list("aaabbbccc"))
    assert any("group 'b'" in note for note in raised.value.__notes__)
    result = compute(K, score_K=True, groups=list("aaabbbccc"), psd="clip", q=[1, 2])
    clipped = compute(bad, score_K=True, psd="clip")["VS"]
    assert result["VS_q1"] == pytest.approx((6 + clipped) / 3, rel=EXACT)


def test_gradients_of_groups_match_separate_evaluation():
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(6, 5, 4, dtype=torch.float64, generator=generator, requires_grad=True)
    for q in [0.5, 1, 2, 3, "inf"]:
        key = key_at(q)
        labels = np.repeat(np.arange(6), 5)
        how = {"groups": labels, "measures": ["VS", "IntDiv"]}
        result = compute(torch.cat(tuple(X)), k="cosine", q=q, **how)
        (slope,) = torch.autograd.grad(result[key] + result["IntDiv"], X)
        each = [compute(group, k="cosine", q=q, measures=["VS", "IntDiv"]) for group in X]
        mean = sum(own[key] + own["IntDiv"] for own in each) / len(each)
        (naive,) = torch.autograd.grad(mean, X)
        scores = [own[key].item() for own in each]
        assert result[key].item() == pytest.approx(np.mean(scores), rel=EXACT)
        assert torch.allclose(slope, naive, rtol=1e-9, atol=1e-12)


def test_scores_of_thousands_of_pairs_match_closed_form():
    """A block has more sets than the rows from which SciPy's eigensolver takes a matrix."""
    pairs = np.random.default_rng(0).standard_normal((6000, 2, 2))
    unit = pairs / np.linalg.norm(pairs, axis=2, keepdims=True)
    cosines = np.sum(unit[:, 0] * unit[:, 1], axis=1)
    shares = np.stack([(1 + cosines) / 2, (1 - cosines) / 2])
    scores = np.exp(-np.sum(shares * np.log(shares), axis=0))
    result = compute(np.concatenate(pairs), k="cosine", groups=np.repeat(np.arange(6000), 2))
    assert result["VS"] == pytest.approx(scores.mean(), rel=1e-12)
