"""Discrepancies of means, "MMD" and "KID", against sums over all pairs."""

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import compute

RBF = {"k": "rbf", "sigma": 1.5}
TEXTS = ["a cat sat", "a dog ran off", "the cat sat", "a cat sat"], ["the dog", "a cat ran off"]


def cloud(n: int, seed: int = 0, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def rbf(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / (2 * 1.5**2))


def cosine(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    A, B = (Z / np.linalg.norm(Z, axis=1)[:, None] for Z in (A, B))
    return A @ B.T


def cubic(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the polynomial kernel of torch-fidelity: degree 3, gamma 1/d, coef0 1."""
    return (A @ B.T / A.shape[1] + 1) ** 3


def naive(k: Any, X: Any, Y: Any, unbiased: bool) -> Any:
    XX, XY, YY = k(X, X), k(X, Y), k(Y, Y)
    if not unbiased:
        return XX.mean() + YY.mean() - 2 * XY.mean()
    n, m = len(X), len(Y)
    within = (XX.sum() - np.trace(XX)) / (n * (n - 1)) + (YY.sum() - np.trace(YY)) / (m * (m - 1))
    return within - 2 * XY.mean()


def measured(name: str, X: Any, Y: Any, **how: Any) -> Any:
    return compute(X, Y, measures=name, **how)[name]


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize(("kernel", "how"), [(rbf, RBF), (cosine, {"k": "cosine"})])
def test_mmd_matches_means_over_pairs(kernel: Any, how: dict, unbiased: bool) -> None:
    X, Y = cloud(17), cloud(11, seed=1) + 0.5
    result = measured("MMD", X, Y, unbiased=unbiased, **how)
    assert result == pytest.approx(naive(kernel, X, Y, unbiased), abs=1e-13)
    single = measured("MMD", X.astype("f"), Y.astype("f"), unbiased=unbiased, **how)
    assert single == pytest.approx(result, abs=1e-6)


def test_mmd_of_texts_uses_a_joint_vocabulary() -> None:
    X, Y = TEXTS
    from vendiscore import as_similarity

    K = as_similarity(X + Y, k="ngram_overlap").dense()
    expected = K[:4, :4].mean() + K[4:, 4:].mean() - 2 * K[:4, 4:].mean()
    assert measured("MMD", X, Y, k="ngram_overlap") == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("how", [RBF, {"k": "cosine"}])
def test_mmd_of_a_set_with_itself_is_zero(how: dict) -> None:
    X = cloud(19)
    for Y in (X, X[::-1], np.repeat(X, 3, axis=0)):
        assert 0 <= measured("MMD", X, Y, **how) < 1e-15
    with_opposite = measured("MMD", X[:1], -X[:1], k="cosine")
    assert with_opposite == pytest.approx(4, abs=1e-14)


def test_unbiased_mmd_has_correct_mean_and_may_be_negative() -> None:
    X, Y = cloud(3), cloud(3, seed=1)
    draws = [
        measured("MMD", X[list(x)], Y[list(y)], unbiased=True, **RBF)
        for x in itertools.product(range(3), repeat=2)
        for y in itertools.product(range(3), repeat=2)
    ]
    assert np.mean(draws) == pytest.approx(naive(rbf, X, Y, False), abs=1e-13)
    pair = np.array([[1.0], [-1.0]])  # −1/(n−1) − 1/(m−1), below which no set is
    assert measured("MMD", pair, pair, k="cosine", unbiased=True) == pytest.approx(-2, abs=1e-14)


def test_mmd_gradient_matches_naive_gradient() -> None:
    torch = pytest.importorskip("torch")
    start, Y = torch.tensor(cloud(6)), torch.tensor(cloud(5, seed=1))

    def gaussian(A: Any, B: Any) -> Any:
        return torch.exp(-(A[:, None] - B[None]).square().sum(-1) / 4.5)

    def cosines(A: Any, B: Any) -> Any:
        return torch.nn.functional.normalize(A) @ torch.nn.functional.normalize(B).T

    for k, how in ((gaussian, RBF), (cosines, {"k": "cosine"})):
        X, again = (start.clone().requires_grad_() for _ in range(2))
        measured("MMD", X, Y, **how).backward()
        naive(k, again, Y, False).backward()
        torch.testing.assert_close(X.grad, again.grad)


def test_kid_matches_torch_fidelity_formula_for_any_kernel() -> None:
    X, Y = cloud(40, d=8) + 0.1, 1.2 * cloud(30, seed=1, d=8)
    expected = naive(cubic, X, Y, True)
    for how in (RBF, {"k": "cosine"}, {"score_X": True, "normalize": True}, {}):
        assert measured("KID", X, Y, **how) == pytest.approx(expected, rel=1e-12)
    assert measured("KID", X.tolist(), Y, **RBF) == pytest.approx(expected, rel=1e-12)
    rows = sp.csr_array(X), sp.csr_array(Y)
    assert measured("KID", *rows, score_X=True, normalize=True) == pytest.approx(expected)
    single = X.astype("f"), Y.astype("f")
    exact = naive(cubic, *(Z.astype(float) for Z in single), True)
    assert measured("KID", *single, **RBF) == pytest.approx(exact, rel=1e-12)


def test_kid_of_several_blocks_of_rows_matches_naive() -> None:
    X, Y = cloud(200), cloud(3000, seed=1)
    assert measured("KID", X, Y) == pytest.approx(naive(cubic, X, Y, True), rel=1e-9)


def test_kid_equals_mean_over_all_subset_pairs() -> None:
    X, Y = cloud(6), cloud(5, seed=1) + 0.3
    every = [
        naive(cubic, X[list(x)], Y[list(y)], True)
        for x in itertools.combinations(range(6), 3)
        for y in itertools.combinations(range(5), 3)
    ]
    assert measured("KID", X, Y) == pytest.approx(np.mean(every), rel=1e-12)


def test_kid_uses_kernel_features_before_normalization() -> None:
    rows = dict(zip([*TEXTS[0], *TEXTS[1]], 3 * cloud(6, d=4), strict=True))

    def embed(texts: list[str]) -> np.ndarray:
        return np.array([rows[text] for text in texts])

    how = {"k": "text_embeddings", "model": embed}
    X, Y = map(embed, TEXTS)  # of the first set, two are equal, and embedded once
    expected = naive(cubic, X, Y, True)
    assert measured("KID", *TEXTS, **how) == pytest.approx(expected, rel=1e-6)
    assert len({len(X), len(set(TEXTS[0]))}) == 2
    grouped = compute(TEXTS[0], TEXTS[1], groups=[0, 0, 1, 1], measures="KID", **how)["KID"]
    parts = [naive(cubic, part, Y, True) for part in (X[:2], X[2:])]
    assert grouped == pytest.approx(np.mean(parts), rel=1e-6)


def test_signature_contains_options_and_digest_of_references() -> None:
    X, Y = cloud(6), cloud(5, seed=1)

    def signature(Y: np.ndarray, **how: Any) -> str:
        return compute(X, Y, measures="MMD", details=True, **RBF, **how)["details"]["signature"]

    assert signature(Y).startswith("MMD|kernel=rbf|sigma=1.5|")
    assert "|unbiased=True|" in signature(Y, unbiased=True)
    assert signature(Y) == signature(Y.copy()) != signature(Y + 1)


@pytest.mark.parametrize(
    ("name", "X", "Y", "how", "message"),
    [
        (
            "MMD",
            1,
            3,
            {"unbiased": True},
            "MMD requires at least 2 samples and 2 references, got 1 and 3",
        ),
        (
            "KID",
            3,
            1,
            {},
            "KID requires at least 2 samples and 2 references, got 3 and 1; pass larger",
        ),
        ("MMD", 3, 3, {"unbiased": 1}, "`unbiased` must be True or False, got 1"),
        ("KID", 3, 3, {"unbiased": True}, "`unbiased` is an option of MMD"),
    ],
)
def test_invalid_sizes_and_options_raise(
    name: str, X: int, Y: int, how: dict, message: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        compute(cloud(X), cloud(Y, seed=1), measures=name, **RBF, **how)
    assert message in str(raised.value)


def test_unsupported_kernels_and_samples_raise() -> None:
    def indefinite(a: float, b: float) -> float:
        return 1.0 if (a < 0) == (b < 0) and a == b else 0.9 if (a < 0) != (b < 0) else -0.9

    with pytest.raises(
        ValueError, match=r"MMD must be at least 0, got -\d.*, so the kernel is not pos"
    ):
        measured("MMD", [1.0, 2.0], [-1.0, -2.0], k=indefinite)
    with pytest.raises(TypeError, match="KID requires samples that are vectors, or a kernel with"):
        measured("KID", *TEXTS, k=lambda a, b: float(a == b))
    with pytest.raises(TypeError, match="`samples` contains similarities only within one set"):
        measured("MMD", np.eye(2), np.eye(2), score_K=True)
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(cloud(4), requires_grad=True)
    with pytest.raises(TypeError, match="KID cannot be differentiated"):
        measured("KID", tensor, tensor, k="cosine")
    assert measured("KID", tensor.detach(), cloud(4), k="cosine") == measured(
        "KID", cloud(4), cloud(4)
    )
