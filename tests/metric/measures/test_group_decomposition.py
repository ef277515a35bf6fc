"""Within, between and total diversity of groups, against eigenvalues of the whole matrices."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from vendiscore import TooLargeError, as_similarity, compute, conditional_score, effective_number
from vendiscore.result import key_at

NAMES = ["TotalVS", "WithinVS", "BetweenVS"]
ORDERS = [0, 0.5, 1, 1.5, 2, 5, "inf"]
CLOUD = np.random.default_rng(0).standard_normal((14, 3))
LABELS = list("aaabbbbbbccccc")
seeds = settings(max_examples=40)


def naive(K, labels, p, q):
    """Return γ, α and β from two eigendecompositions: of K and of K ∘ K_T."""
    labels, root = np.array(labels), np.sqrt(p)
    same = labels[:, None] == labels[None, :]
    shares = [np.linalg.eigvalsh(root[:, None] * A * root) for A in (K, K * same)]
    weights = [p[labels == label].sum() for label in dict.fromkeys(labels.tolist())]
    total, joint = (hill(values, q) for values in shares)
    within = joint / hill(np.array(weights), q)
    return total, within, total / within


def hill(shares, q):
    shares = shares[shares > 1e-13]
    if q == 1:
        return math.exp(-(shares * np.log(shares)).sum())
    return 1 / shares.max() if math.isinf(q) else (shares**q).sum() ** (1 / (1 - q))


def laplacian(X):
    return np.exp(-np.abs(X[:, None] - X[None]).sum(-1))


@pytest.mark.parametrize("weighted", [False, True])
def test_total_within_and_between_match_eigenvalues_at_all_orders(weighted):
    p = np.random.default_rng(1).dirichlet(np.ones(14)) if weighted else np.full(14, 1 / 14)
    how = {"k": "laplacian", "sigma": 1, "groups": LABELS, "measures": NAMES, "q": ORDERS}
    result = compute(CLOUD, p=p if weighted else None, **how)
    for q in ORDERS:
        expected = naive(laplacian(CLOUD), LABELS, p, float(q))
        assert [result[f"{name}_q{q}"] for name in NAMES] == pytest.approx(expected, rel=1e-9)


@seeds
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_between_vs_of_order_one_equals_exp_of_holevo_quantity(seed, groups):
    rng = np.random.default_rng(seed)
    X, p = rng.standard_normal((9, 2)), rng.dirichlet(np.full(9, 0.4))
    labels = rng.integers(0, groups, 9)
    result = compute(X, k="laplacian", sigma=1, p=p, groups=labels, measures=NAMES)
    weights = np.bincount(labels, p)
    weights = weights[weights > 0]
    root = np.sqrt(p)
    rho = root[:, None] * laplacian(X) * root
    entropies = []
    for label in np.unique(labels):
        own = np.ix_(labels == label, labels == label)
        part = rho[own]
        if np.trace(part) > 1e-12:
            entropies.append(
                (np.trace(part), math.log(hill(np.linalg.eigvalsh(part / np.trace(part)), 1)))
            )
    holevo = math.log(hill(np.linalg.eigvalsh(rho), 1)) - sum(w * h for w, h in entropies)
    assert math.log(result["BetweenVS"]) == pytest.approx(holevo, abs=1e-9)
    assert 1 - 1e-9 <= result["BetweenVS"] <= effective_number(weights) * (1 + 1e-9)
    assert result["BetweenVS"] * result["WithinVS"] == pytest.approx(result["TotalVS"])


@seeds
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5, 2, 4, "inf"]))
def test_between_vs_is_at_most_the_effective_number_of_groups(seed, q):
    rng = np.random.default_rng(seed)
    X, labels = rng.standard_normal((12, 2)), rng.permutation(np.repeat([0, 1, 2], 4))
    how = {"k": "laplacian", "sigma": 1, "measures": "BetweenVS", "q": q}
    key = key_at(q, "BetweenVS")
    alike = compute(X, groups=labels, **how)[key]
    assert 1 - 1e-9 <= alike <= 3 + 1e-9
    p = rng.dirichlet(np.full(12, 0.5))
    weights = np.bincount(labels, p)
    most = effective_number(weights, float(q))
    assert compute(X, groups=labels, p=p, **how)[key] <= most * (1 + 1e-9)


def test_between_vs_may_be_below_one_for_unequal_weights():
    K = np.eye(3)
    K[0, 1] = K[1, 0] = 1
    how = {"score_K": True, "p": [0.36, 0.28, 0.36], "groups": [0, 1, 0], "measures": "BetweenVS"}
    # Group 0 has two kinds, group 1 one of these: Σ w^q gives the smaller group too little weight.
    assert compute(K, q="inf", **how)["BetweenVS_qinf"] < 1
    assert compute(K, q=1, **how)["BetweenVS"] > 1


def test_between_vs_of_disjoint_and_of_identical_groups():
    blocks = np.kron(np.eye(3), np.full((2, 2), 0.4) + 0.6 * np.eye(2))
    how = {"score_K": True, "measures": NAMES, "q": ORDERS}
    apart = compute(blocks, groups=[0, 0, 1, 1, 2, 2], **how)
    own = compute(blocks[:2, :2], score_K=True, q=ORDERS)
    for q in ORDERS:
        assert apart[f"BetweenVS_q{q}"] == pytest.approx(3)
        assert apart[f"WithinVS_q{q}"] == pytest.approx(own[f"VS_q{q}"])
    # The same texts in groups of any weight.
    texts = ["a cat", "a dog", "no"]
    alike = compute([texts, texts, texts * 2], measures=NAMES, q=ORDERS)
    for q in ORDERS:
        assert alike[f"BetweenVS_q{q}"] == pytest.approx(1)
        assert alike[f"WithinVS_q{q}"] == pytest.approx(alike[f"TotalVS_q{q}"])


def test_single_group_and_single_sample_groups_give_extreme_values():
    how = {"k": "rbf", "measures": NAMES}
    one = compute(CLOUD, groups=[0] * 14, **how)
    assert one["BetweenVS"] == pytest.approx(1)
    assert one["WithinVS"] == pytest.approx(one["TotalVS"])
    alone = compute(CLOUD, groups=range(14), **how)
    assert alone["WithinVS"] == pytest.approx(1)
    assert alone["BetweenVS"] == pytest.approx(compute(CLOUD, k="rbf")["VS"])


def test_within_vs_of_equal_groups_is_geometric_mean_of_scores():
    groups = [CLOUD[:5], CLOUD[5:10], CLOUD[9:14]]
    result = compute(
        [list(rows) for rows in groups], k="rbf", measures=["VS", "WithinVS"], details=True
    )
    scores = [row["VS"] for row in result["details"]["groups"]]
    assert result["WithinVS"] == pytest.approx(math.exp(np.mean(np.log(scores))), rel=1e-12)


def test_groups_of_weight_zero_are_ignored():
    p = np.r_[np.full(9, 1 / 9), np.zeros(5)]
    how = {"k": "laplacian", "sigma": 1, "measures": NAMES}
    result = compute(CLOUD, p=p, groups=LABELS, **how)
    assert result == pytest.approx(compute(CLOUD[:9], groups=LABELS[:9], **how))


def test_total_vs_raises_too_large_error_if_memory_is_insufficient(monkeypatch):
    from vendiscore.support import memory

    texts = [[f"{i} {j} a b" for j in range(4)] for i in range(300)]
    monkeypatch.setattr(memory, "available_bytes", lambda: 8 * 600**2)
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 1 << 22)
    assert compute(texts, measures="WithinVS")["WithinVS"] > 1
    with pytest.raises(TooLargeError, match="score fewer samples"):
        compute(texts, measures="TotalVS")


@pytest.mark.parametrize("q", [0.5, 1, 2, "inf"])
def test_conditional_score_given_labels_equals_within_vs(q):
    for p in (None, np.random.default_rng(2).dirichlet(np.ones(14))):
        result = conditional_score(CLOUD, LABELS, k="rbf", given_k="labels", q=q, p=p)
        expected = compute(CLOUD, k="rbf", groups=LABELS, p=p, q=q, measures="WithinVS")
        assert result == pytest.approx(expected[key_at(q, "WithinVS")], rel=1e-9)


def test_conditional_score_given_prompts_matches_eigenvalues():
    prompts = ["a cat", "a cat", "the cat", "a dog", "no"] * 2
    X = CLOUD[:10] / np.linalg.norm(CLOUD[:10], axis=1, keepdims=True)
    T = as_similarity(prompts)
    expected = hill(np.linalg.eigvalsh(X @ X.T * T.dense() / 10), 1)
    expected /= hill(np.linalg.eigvalsh(T.dense() / 10), 1)
    for samples, how in ((X, {"score_X": True}), (X @ X.T, {"score_K": True})):
        assert conditional_score(samples, prompts, **how) == pytest.approx(expected)
    assert conditional_score(CLOUD[:10], T, k="cosine") == pytest.approx(expected)
    # Given nothing it is the score; given itself, or what differs everywhere, one sample is left.
    assert conditional_score(X, [0] * 10, score_X=True, given_k="labels") == pytest.approx(
        compute(X, score_X=True)["VS"]
    )
    assert conditional_score(X, range(10), score_X=True, given_k="labels") == pytest.approx(1)


def test_conditional_score_of_tensors_is_differentiable():
    torch = pytest.importorskip("torch")
    X = torch.tensor(CLOUD, requires_grad=True)
    unit = X / torch.linalg.vector_norm(X, dim=1, keepdim=True)
    result = conditional_score(unit, LABELS, score_X=True, given_k="labels")
    expected = conditional_score(unit.detach().numpy(), LABELS, score_X=True, given_k="labels")
    assert result.item() == pytest.approx(expected)
    result.backward()
    assert bool(torch.isfinite(X.grad).all())


@pytest.mark.parametrize(
    ("given", "how", "error", "message"),
    [
        (
            ["a", "b"],
            {},
            ValueError,
            "`given` must contain one value for each of the 14 samples, got 2",
        ),
        (LABELS, {"q": [1, 2]}, TypeError, "`q` must be a single order"),
        (LABELS, {"q": -1}, ValueError, "`q` must be a number in"),
        (LABELS, {"psd": "no"}, ValueError, "`psd` must be 'check' or 'clip'"),
        (LABELS, {"p": [1.0]}, ValueError, "`p` must have one number for each of 14 samples"),
    ],
)
def test_conditional_score_rejects_invalid_arguments(given, how, error, message):
    with pytest.raises(error, match=message):
        conditional_score(CLOUD, given, k="rbf", given_k="labels", **how)


def test_between_vs_of_two_equal_sets_is_exp_of_jensen_shannon_divergence():
    labels, x, y = [*"aaabbc", *"abdd"], np.array([3, 2, 1, 0]) / 6, np.array([1, 1, 0, 2]) / 4
    p = np.repeat([1 / 12, 1 / 8], [6, 4])
    groups = np.repeat([0, 1], [6, 4])
    result = compute(labels, k="labels", groups=groups, p=p, measures="BetweenVS", permutations=0)
    assert math.log(result["BetweenVS"]) == pytest.approx(jensenshannon(x, y) ** 2, abs=1e-12)
