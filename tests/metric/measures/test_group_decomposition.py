"""WithinVS, BetweenVS and TotalVS, compared with eigenvalues of the full matrices."""

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
forty_examples = settings(max_examples=40)


def compute_naively(K, labels, p, q):
    """Return γ, α and β from two eigendecompositions: of K and of K ∘ K_T."""
    labels, root = np.array(labels), np.sqrt(p)
    same_group = labels[:, None] == labels[None, :]
    eigenvalues = [np.linalg.eigvalsh(root[:, None] * A * root) for A in (K, K * same_group)]
    weights = [p[labels == label].sum() for label in dict.fromkeys(labels.tolist())]
    total, joint = (compute_hill_number(values, q) for values in eigenvalues)
    within = joint / compute_hill_number(np.array(weights), q)
    return total, within, total / within


def compute_hill_number(proportions, q):
    proportions = proportions[proportions > 1e-13]
    if q == 1:
        return math.exp(-(proportions * np.log(proportions)).sum())
    return 1 / proportions.max() if math.isinf(q) else (proportions**q).sum() ** (1 / (1 - q))


def compute_laplacian_kernel(X):
    return np.exp(-np.abs(X[:, None] - X[None]).sum(-1))


@pytest.mark.parametrize("weighted", [False, True])
def test_total_within_and_between_match_eigenvalues_at_all_orders(weighted):
    p = np.random.default_rng(1).dirichlet(np.ones(14)) if weighted else np.full(14, 1 / 14)
    options = {"k": "laplacian", "sigma": 1, "groups": LABELS, "measures": NAMES, "q": ORDERS}
    result = compute(CLOUD, p=p if weighted else None, **options)
    for q in ORDERS:
        expected = compute_naively(compute_laplacian_kernel(CLOUD), LABELS, p, float(q))
        assert [result[f"{name}_q{q}"] for name in NAMES] == pytest.approx(expected, rel=1e-9)


@forty_examples
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_between_vs_of_order_one_equals_exp_of_holevo_quantity(seed, n_groups):
    rng = np.random.default_rng(seed)
    X, p = rng.standard_normal((9, 2)), rng.dirichlet(np.full(9, 0.4))
    labels = rng.integers(0, n_groups, 9)
    result = compute(X, k="laplacian", sigma=1, p=p, groups=labels, measures=NAMES)
    weights = np.bincount(labels, p)
    weights = weights[weights > 0]
    root = np.sqrt(p)
    rho = root[:, None] * compute_laplacian_kernel(X) * root
    entropies = []
    for label in np.unique(labels):
        group_block = np.ix_(labels == label, labels == label)
        group_rho = rho[group_block]
        if np.trace(group_rho) > 1e-12:
            entropies.append(
                (
                    np.trace(group_rho),
                    math.log(
                        compute_hill_number(np.linalg.eigvalsh(group_rho / np.trace(group_rho)), 1)
                    ),
                )
            )
    holevo = math.log(compute_hill_number(np.linalg.eigvalsh(rho), 1)) - sum(
        w * h for w, h in entropies
    )
    assert math.log(result["BetweenVS"]) == pytest.approx(holevo, abs=1e-9)
    assert 1 - 1e-9 <= result["BetweenVS"] <= effective_number(weights) * (1 + 1e-9)
    assert result["BetweenVS"] * result["WithinVS"] == pytest.approx(result["TotalVS"])


@forty_examples
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5, 2, 4, "inf"]))
def test_between_vs_is_at_most_the_effective_number_of_groups(seed, q):
    rng = np.random.default_rng(seed)
    X, labels = rng.standard_normal((12, 2)), rng.permutation(np.repeat([0, 1, 2], 4))
    options = {"k": "laplacian", "sigma": 1, "measures": "BetweenVS", "q": q}
    key = key_at(q, "BetweenVS")
    equal_weights_value = compute(X, groups=labels, **options)[key]
    assert 1 - 1e-9 <= equal_weights_value <= 3 + 1e-9
    p = rng.dirichlet(np.full(12, 0.5))
    weights = np.bincount(labels, p)
    max_value = effective_number(weights, float(q))
    assert compute(X, groups=labels, p=p, **options)[key] <= max_value * (1 + 1e-9)


def test_between_vs_may_be_below_one_for_unequal_weights():
    K = np.eye(3)
    K[0, 1] = K[1, 0] = 1
    options = {
        "score_K": True,
        "p": [0.36, 0.28, 0.36],
        "groups": [0, 1, 0],
        "measures": "BetweenVS",
    }
    # Group 0 has two distinct items, group 1 one of them. Σ w^q underweights the smaller group.
    assert compute(K, q="inf", **options)["BetweenVS_qinf"] < 1
    assert compute(K, q=1, **options)["BetweenVS"] > 1


def test_between_vs_of_disjoint_and_of_identical_groups():
    blocks = np.kron(np.eye(3), np.full((2, 2), 0.4) + 0.6 * np.eye(2))
    options = {"score_K": True, "measures": NAMES, "q": ORDERS}
    disjoint = compute(blocks, groups=[0, 0, 1, 1, 2, 2], **options)
    single_block = compute(blocks[:2, :2], score_K=True, q=ORDERS)
    for q in ORDERS:
        assert disjoint[f"BetweenVS_q{q}"] == pytest.approx(3)
        assert disjoint[f"WithinVS_q{q}"] == pytest.approx(single_block[f"VS_q{q}"])
    # The same texts in every group; groups differ in weight.
    texts = ["a cat", "a dog", "no"]
    identical = compute([texts, texts, texts * 2], measures=NAMES, q=ORDERS)
    for q in ORDERS:
        assert identical[f"BetweenVS_q{q}"] == pytest.approx(1)
        assert identical[f"WithinVS_q{q}"] == pytest.approx(identical[f"TotalVS_q{q}"])


def test_single_group_and_single_sample_groups_give_extreme_values():
    options = {"k": "rbf", "measures": NAMES}
    single_group = compute(CLOUD, groups=[0] * 14, **options)
    assert single_group["BetweenVS"] == pytest.approx(1)
    assert single_group["WithinVS"] == pytest.approx(single_group["TotalVS"])
    single_samples = compute(CLOUD, groups=range(14), **options)
    assert single_samples["WithinVS"] == pytest.approx(1)
    assert single_samples["BetweenVS"] == pytest.approx(compute(CLOUD, k="rbf")["VS"])


def test_within_vs_of_equal_groups_is_geometric_mean_of_scores():
    groups = [CLOUD[:5], CLOUD[5:10], CLOUD[9:14]]
    result = compute(
        [list(rows) for rows in groups], k="rbf", measures=["VS", "WithinVS"], details=True
    )
    scores = [row["VS"] for row in result["details"]["groups"]]
    assert result["WithinVS"] == pytest.approx(math.exp(np.mean(np.log(scores))), rel=1e-12)


def test_groups_of_weight_zero_are_ignored():
    p = np.r_[np.full(9, 1 / 9), np.zeros(5)]
    options = {"k": "laplacian", "sigma": 1, "measures": NAMES}
    result = compute(CLOUD, p=p, groups=LABELS, **options)
    assert result == pytest.approx(compute(CLOUD[:9], groups=LABELS[:9], **options))


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
    prompt_similarity = as_similarity(prompts)
    expected = compute_hill_number(np.linalg.eigvalsh(X @ X.T * prompt_similarity.dense() / 10), 1)
    expected /= compute_hill_number(np.linalg.eigvalsh(prompt_similarity.dense() / 10), 1)
    for samples, options in ((X, {"score_X": True}), (X @ X.T, {"score_K": True})):
        assert conditional_score(samples, prompts, **options) == pytest.approx(expected)
    assert conditional_score(CLOUD[:10], prompt_similarity, k="cosine") == pytest.approx(expected)
    # A constant condition returns the score; distinct conditions return 1.
    assert conditional_score(X, [0] * 10, score_X=True, given_k="labels") == pytest.approx(
        compute(X, score_X=True)["VS"]
    )
    assert conditional_score(X, range(10), score_X=True, given_k="labels") == pytest.approx(1)


def test_conditional_score_of_tensors_is_differentiable():
    torch = pytest.importorskip("torch")
    X = torch.tensor(CLOUD, requires_grad=True)
    unit_rows = X / torch.linalg.vector_norm(X, dim=1, keepdim=True)
    result = conditional_score(unit_rows, LABELS, score_X=True, given_k="labels")
    expected = conditional_score(unit_rows.detach().numpy(), LABELS, score_X=True, given_k="labels")
    assert result.item() == pytest.approx(expected)
    result.backward()
    assert bool(torch.isfinite(X.grad).all())


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
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
def test_conditional_score_rejects_invalid_arguments(given, options, error, message):
    with pytest.raises(error, match=message):
        conditional_score(CLOUD, given, k="rbf", given_k="labels", **options)


def test_between_vs_of_two_equal_sets_is_exp_of_jensen_shannon_divergence():
    labels, x, y = [*"aaabbc", *"abdd"], np.array([3, 2, 1, 0]) / 6, np.array([1, 1, 0, 2]) / 4
    p = np.repeat([1 / 12, 1 / 8], [6, 4])
    groups = np.repeat([0, 1], [6, 4])
    result = compute(labels, k="labels", groups=groups, p=p, measures="BetweenVS", permutations=0)
    assert math.log(result["BetweenVS"]) == pytest.approx(jensenshannon(x, y) ** 2, abs=1e-12)
