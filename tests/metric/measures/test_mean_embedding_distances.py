"""MMD and KID, compared with sums over all pairs."""

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import compute

RBF = {"k": "rbf", "sigma": 1.5}
TEXTS = ["a cat sat", "a dog ran off", "the cat sat", "a cat sat"], ["the dog", "a cat ran off"]


def make_normal_rows(n: int, seed: int = 0, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def compute_rbf_kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / (2 * 1.5**2))


def compute_cosine_kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    A, B = (Z / np.linalg.norm(Z, axis=1)[:, None] for Z in (A, B))
    return A @ B.T


def compute_cubic_kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the polynomial kernel of torch-fidelity: degree 3, gamma 1/d, coef0 1."""
    return (A @ B.T / A.shape[1] + 1) ** 3


def compute_naively(k: Any, X: Any, Y: Any, unbiased: bool) -> Any:
    XX, XY, YY = k(X, X), k(X, Y), k(Y, Y)
    if not unbiased:
        return XX.mean() + YY.mean() - 2 * XY.mean()
    n, m = len(X), len(Y)
    within = (XX.sum() - np.trace(XX)) / (n * (n - 1)) + (YY.sum() - np.trace(YY)) / (m * (m - 1))
    return within - 2 * XY.mean()


def evaluate(name: str, X: Any, Y: Any, **arguments: Any) -> Any:
    return compute(X, Y, measures=name, **arguments)[name]


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize(
    ("kernel", "options"), [(compute_rbf_kernel, RBF), (compute_cosine_kernel, {"k": "cosine"})]
)
def test_mmd_matches_means_over_pairs(kernel: Any, options: dict, unbiased: bool) -> None:
    X, Y = make_normal_rows(17), make_normal_rows(11, seed=1) + 0.5
    result = evaluate("MMD", X, Y, unbiased=unbiased, **options)
    assert result == pytest.approx(compute_naively(kernel, X, Y, unbiased), abs=1e-13)
    float32_result = evaluate("MMD", X.astype("f"), Y.astype("f"), unbiased=unbiased, **options)
    assert float32_result == pytest.approx(result, abs=1e-6)


def test_mmd_of_texts_uses_a_joint_vocabulary() -> None:
    X, Y = TEXTS
    from vendiscore import as_similarity

    K = as_similarity(X + Y, k="ngram_overlap").dense()
    expected = K[:4, :4].mean() + K[4:, 4:].mean() - 2 * K[:4, 4:].mean()
    assert evaluate("MMD", X, Y, k="ngram_overlap") == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("options", [RBF, {"k": "cosine"}])
def test_mmd_of_a_set_with_itself_is_zero(options: dict) -> None:
    X = make_normal_rows(19)
    for Y in (X, X[::-1], np.repeat(X, 3, axis=0)):
        assert 0 <= evaluate("MMD", X, Y, **options) < 1e-15
    with_opposite = evaluate("MMD", X[:1], -X[:1], k="cosine")
    assert with_opposite == pytest.approx(4, abs=1e-14)


def test_unbiased_mmd_has_correct_mean_and_may_be_negative() -> None:
    X, Y = make_normal_rows(3), make_normal_rows(3, seed=1)
    draws = [
        evaluate("MMD", X[list(x)], Y[list(y)], unbiased=True, **RBF)
        for x in itertools.product(range(3), repeat=2)
        for y in itertools.product(range(3), repeat=2)
    ]
    assert np.mean(draws) == pytest.approx(
        compute_naively(compute_rbf_kernel, X, Y, False), abs=1e-13
    )
    pair = np.array([[1.0], [-1.0]])  # −1/(n−1) − 1/(m−1), the minimum
    assert evaluate("MMD", pair, pair, k="cosine", unbiased=True) == pytest.approx(-2, abs=1e-14)


def test_mmd_gradient_matches_naive_gradient() -> None:
    torch = pytest.importorskip("torch")
    initial, Y = torch.tensor(make_normal_rows(6)), torch.tensor(make_normal_rows(5, seed=1))

    def gaussian(A: Any, B: Any) -> Any:
        return torch.exp(-(A[:, None] - B[None]).square().sum(-1) / 4.5)

    def cosines(A: Any, B: Any) -> Any:
        return torch.nn.functional.normalize(A) @ torch.nn.functional.normalize(B).T

    for k, options in ((gaussian, RBF), (cosines, {"k": "cosine"})):
        X, X_naive = (initial.clone().requires_grad_() for _ in range(2))
        evaluate("MMD", X, Y, **options).backward()
        compute_naively(k, X_naive, Y, False).backward()
        torch.testing.assert_close(X.grad, X_naive.grad)


def test_kid_matches_torch_fidelity_formula_for_any_kernel() -> None:
    X, Y = make_normal_rows(40, d=8) + 0.1, 1.2 * make_normal_rows(30, seed=1, d=8)
    expected = compute_naively(compute_cubic_kernel, X, Y, True)
    for options in (RBF, {"k": "cosine"}, {"score_X": True, "normalize": True}, {}):
        assert evaluate("KID", X, Y, **options) == pytest.approx(expected, rel=1e-12)
    assert evaluate("KID", X.tolist(), Y, **RBF) == pytest.approx(expected, rel=1e-12)
    rows = sp.csr_array(X), sp.csr_array(Y)
    assert evaluate("KID", *rows, score_X=True, normalize=True) == pytest.approx(expected)
    float32_rows = X.astype("f"), Y.astype("f")
    float64_value = compute_naively(
        compute_cubic_kernel, *(Z.astype(float) for Z in float32_rows), True
    )
    assert evaluate("KID", *float32_rows, **RBF) == pytest.approx(float64_value, rel=1e-12)


def test_kid_of_several_blocks_of_rows_matches_naive() -> None:
    X, Y = make_normal_rows(200), make_normal_rows(3000, seed=1)
    assert evaluate("KID", X, Y) == pytest.approx(
        compute_naively(compute_cubic_kernel, X, Y, True), rel=1e-9
    )


def test_kid_equals_mean_over_all_subset_pairs() -> None:
    X, Y = make_normal_rows(6), make_normal_rows(5, seed=1) + 0.3
    subset_values = [
        compute_naively(compute_cubic_kernel, X[list(x)], Y[list(y)], True)
        for x in itertools.combinations(range(6), 3)
        for y in itertools.combinations(range(5), 3)
    ]
    assert evaluate("KID", X, Y) == pytest.approx(np.mean(subset_values), rel=1e-12)


def test_kid_uses_kernel_features_before_normalization() -> None:
    rows = dict(zip([*TEXTS[0], *TEXTS[1]], 3 * make_normal_rows(6, d=4), strict=True))

    def embed(texts: list[str]) -> np.ndarray:
        return np.array([rows[text] for text in texts])

    options = {"k": "text_embeddings", "model": embed}
    X, Y = map(embed, TEXTS)  # two texts of the first set are equal and embedded once
    expected = compute_naively(compute_cubic_kernel, X, Y, True)
    assert evaluate("KID", *TEXTS, **options) == pytest.approx(expected, rel=1e-6)
    assert len({len(X), len(set(TEXTS[0]))}) == 2
    grouped = compute(TEXTS[0], TEXTS[1], groups=[0, 0, 1, 1], measures="KID", **options)["KID"]
    group_values = [
        compute_naively(compute_cubic_kernel, group, Y, True) for group in (X[:2], X[2:])
    ]
    assert grouped == pytest.approx(np.mean(group_values), rel=1e-6)


def test_signature_contains_options_and_digest_of_references() -> None:
    X, Y = make_normal_rows(6), make_normal_rows(5, seed=1)

    def signature(Y: np.ndarray, **options: Any) -> str:
        return compute(X, Y, measures="MMD", details=True, **RBF, **options)["details"]["signature"]

    assert signature(Y).startswith("MMD|kernel=rbf|sigma=1.5|")
    assert "|unbiased=True|" in signature(Y, unbiased=True)
    assert signature(Y) == signature(Y.copy()) != signature(Y + 1)


@pytest.mark.parametrize(
    ("name", "n_samples", "n_references", "options", "message"),
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
    name: str, n_samples: int, n_references: int, options: dict, message: str
) -> None:
    with pytest.raises((TypeError, ValueError)) as error_info:
        compute(
            make_normal_rows(n_samples),
            make_normal_rows(n_references, seed=1),
            measures=name,
            **RBF,
            **options,
        )
    assert message in str(error_info.value)


def test_unsupported_kernels_and_samples_raise() -> None:
    def indefinite(a: float, b: float) -> float:
        return 1.0 if (a < 0) == (b < 0) and a == b else 0.9 if (a < 0) != (b < 0) else -0.9

    with pytest.raises(
        ValueError, match=r"MMD must be at least 0, got -\d.*, so the kernel is not pos"
    ):
        evaluate("MMD", [1.0, 2.0], [-1.0, -2.0], k=indefinite)
    with pytest.raises(TypeError, match="KID requires samples that are vectors, or a kernel with"):
        evaluate("KID", *TEXTS, k=lambda a, b: float(a == b))
    with pytest.raises(TypeError, match="`samples` contains similarities only within one set"):
        evaluate("MMD", np.eye(2), np.eye(2), score_K=True)
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(make_normal_rows(4), requires_grad=True)
    with pytest.raises(TypeError, match="KID cannot be differentiated"):
        evaluate("KID", tensor, tensor, k="cosine")
    assert evaluate("KID", tensor.detach(), make_normal_rows(4), k="cosine") == evaluate(
        "KID", make_normal_rows(4), make_normal_rows(4)
    )
