"""Random Fourier features against the kernels that they approximate."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from vendiscore import as_similarity, compute, get_kernel
from vendiscore.similarity import fourier
from vendiscore.similarity.features import FeatureSimilarity

N = 60


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def exact(X: np.ndarray, kernel: str, sigma: float) -> np.ndarray:
    if kernel == "rbf":
        return np.exp(-cdist(X, X, "sqeuclidean") / (2 * sigma**2))
    return np.exp(-cdist(X, X, "cityblock") / sigma)


def naive(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the mean over frequencies of cos ω·(x − y)."""
    gaps = X[:, None, :] - X[None, :, :]
    return np.cos(gaps @ W).mean(axis=2)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("d", [1, 3, 8, 9, 40])
@pytest.mark.parametrize("m", [1, 5, 100])
def test_similarities_are_means_of_cosines_with_a_diagonal_of_one(kernel, d, m, rng):
    X = rng.standard_normal((N, d))
    similarity = as_similarity(X, k=kernel, sigma=1.5, n_features=m, seed=3)
    law = "gaussian" if kernel == "rbf" else "laplace"
    expected = naive(X, fourier.frequencies(law, d, m, 3) / 1.5)
    np.testing.assert_allclose(similarity.dense(), expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(similarity.diagonal(), 1, rtol=0, atol=1e-14)
    assert similarity.features().shape == (N, 2 * m)
    assert similarity.dim == 2 * m


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("d", [2, 8, 30])
def test_the_error_is_that_of_the_definition_or_less_and_has_no_mean(kernel, d, rng):
    X = rng.standard_normal((N, d))
    sigma = 2.0 * (math.sqrt(d) if kernel == "rbf" else d)
    K, m = exact(X, kernel, sigma), 64
    errors = np.array(
        [
            as_similarity(X, k=kernel, sigma=sigma, n_features=m, seed=seed).dense() - K
            for seed in range(30)
        ]
    )
    variance = (1 - K**2) ** 2 / (2 * m) if kernel == "rbf" else (1 - K**2) / (2 * m)
    off = ~np.eye(N, dtype=bool)
    drawn = np.sqrt(np.mean(errors**2, axis=0)[off].mean() / variance[off].mean())
    # Evenly spread and orthogonal frequencies have less than what single ones have.
    assert drawn < (0.75 if kernel == "rbf" else 1.1)
    assert abs(errors.mean(axis=0))[off].mean() < 3 * np.sqrt(variance[off].mean() / 30)


@pytest.mark.parametrize("d", [2, 20])
def test_more_features_come_as_close_as_one_likes(d, rng):
    X = rng.standard_normal((200, d))
    expected = compute(X, k="rbf")["VS"]
    errors = [
        abs(math.log(compute(X, k="rbf", n_features=m)["VS"] / expected)) for m in (16, 128, 2048)
    ]
    assert errors[0] > 4 * errors[1] > 16 * errors[2]
    assert errors[2] < 5e-3


@pytest.mark.parametrize("d", [1, 8, 9, 50])
def test_frequencies_are_normal_and_those_of_many_columns_orthogonal(d):
    m = 120
    W = np.array([fourier.frequencies("gaussian", d, m, seed) for seed in range(40)])
    assert W.mean() == pytest.approx(0, abs=0.05)
    assert W.std() == pytest.approx(1, abs=0.05)
    assert np.mean(np.abs(W) < 0.6745) == pytest.approx(0.5, abs=0.03)
    if d > 8:
        G = W[0].T @ W[0]
        block = G[:d, :d][: min(d, m), : min(d, m)]
        np.testing.assert_allclose(block, np.diag(np.diagonal(block)), atol=1e-10)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_features_of_a_sample_depend_on_the_seed_and_on_no_other_sample(kernel, rng):
    X = rng.standard_normal((N, 20))
    options = {"sigma": 2.0, "n_features": 30, "seed": 5}
    build = get_kernel(kernel).build
    whole = build(X, **options).features()
    parts = [build(X[part], **options).features() for part in (slice(0, 1), slice(1, 50))]
    np.testing.assert_allclose(whole[:50], np.vstack(parts), rtol=0, atol=1e-7)
    np.testing.assert_array_equal(build(X, **options).features(), whole)
    assert np.abs(build(X, **(options | {"seed": 6})).features() - whole).max() > 0.1


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_kernel_has_rows_where_width_and_number_are_given(kernel):
    kernel = get_kernel(kernel)
    assert kernel.has_rows({"sigma": 1.0, "n_features": 8})
    assert kernel.has_rows({"sigma": 1.0, "n_features": 8, "seed": 2})
    assert not kernel.has_rows({"n_features": 8})
    assert not kernel.has_rows({"sigma": 1.0})
    assert not kernel.has_rows({})


def test_the_width_follows_from_the_samples_as_without_features(rng):
    X = rng.standard_normal((N, 5))
    similarity = as_similarity(X, k="rbf", n_features=8)
    assert dict(similarity.fitted) == dict(as_similarity(X, k="rbf").fitted)
    assert dict(as_similarity(X, k="rbf", sigma=2.0, n_features=8).fitted) == {}
    assert similarity.settings["n_features"] == 8


def test_the_note_has_the_error_of_pairs(rng):
    X = rng.standard_normal((N, 5))
    found = compute(X, k="rbf", sigma=2.0, n_features=100, details=True)["details"]
    K = exact(X, "rbf", 2.0)
    pairs = np.triu_indices(N, 1)
    kept = range(len(pairs[0]))
    gap = (as_similarity(X, k="rbf", sigma=2.0, n_features=100).dense() - K)[pairs][kept]
    (note,) = [note for note in found["notes"] if "random Fourier" in note]
    told = float(note.split("off by ")[1].split(" ")[0])
    assert told == pytest.approx(np.sqrt(np.mean(gap**2)), rel=0.1)
    assert "over 1,000 pairs" in note
    (single,) = as_similarity(X[:1], k="rbf", sigma=2.0, n_features=50).notes
    assert "off by about 0.1 or less" in single


def test_samples_far_from_zero_are_refused_before_their_digits_are_lost(rng):
    X = rng.standard_normal((9, 12))
    near = compute(X, k="rbf", sigma=3.0, n_features=32)["VS"]
    far = compute(X + 1e4, k="rbf", sigma=3.0, n_features=32)["VS"]
    assert 1 < far < 9
    assert far != near  # other phases, of the same law
    for shift in (1e12, 1e300):
        with pytest.raises(ValueError, match=r"`n_features` needs samples .* subtract the mean"):
            compute(X + shift, k="rbf", sigma=1e-3, n_features=32)


@pytest.mark.parametrize("unit", [2.0**-700, 2.0**700])
def test_numbers_of_any_size_have_the_features_of_their_ratio_to_the_width(unit, rng):
    X = rng.standard_normal((9, 12))
    options = {"k": "rbf", "n_features": 32}
    expected = compute(X, sigma=3.0, **options)["VS"]
    assert compute(X * unit, sigma=3.0 * unit, **options)["VS"] == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:.*may be rounding and count as zero")
def test_orders_that_single_precision_products_do_not_serve_are_found_in_double(monkeypatch, rng):
    monkeypatch.setattr("vendiscore.spectral.routes.SINGLE_SIZE", 0)
    X = rng.standard_normal((300, 2))
    orders = {"q": [0, 0.1, 0.5, 1, 2, 5, "inf"], "k": "rbf", "sigma": 3.0, "n_features": 40}
    found = compute(X, **orders)
    F = as_similarity(X, k="rbf", sigma=3.0, n_features=40).features()
    exact = compute(F.astype(float), score_X=True, q=orders["q"])
    assert found == pytest.approx(exact, rel=1e-4)
    assert found["VS_q0"] == exact["VS_q0"]


def test_eigenvalues_that_single_precision_made_negative_are_none(monkeypatch, rng):
    monkeypatch.setattr("vendiscore.spectral.routes.SINGLE_SIZE", 0)
    X = rng.standard_normal((600, 2))
    options = {"k": "rbf", "sigma": 5.0, "n_features": 200}
    found = compute(X, details=True, **options)
    F = as_similarity(X, **options).features().astype(float)
    assert found["VS"] == pytest.approx(compute(F, score_X=True)["VS"], rel=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_tensors_give_the_same_and_a_gradient(kernel, rng):
    torch = pytest.importorskip("torch")
    X = rng.standard_normal((6, 4))
    Y = torch.tensor(X, requires_grad=True)
    sigma = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    options = {"k": kernel, "n_features": 16, "seed": 1}
    score = compute(Y, sigma=sigma, **options)["VS"]
    assert score.item() == pytest.approx(compute(X, sigma=1.5, **options)["VS"], rel=1e-6)

    def value(Y: object, sigma: object) -> object:
        return compute(Y, sigma=sigma, **options)["VS"]

    assert torch.autograd.gradcheck(value, (Y, sigma), eps=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 0}, "`n_features` must be an integer of at least 1, got 0"),
        ({"n_features": 2.5}, "`n_features` must be an integer of at least 1, got 2.5"),
        ({"n_features": 4, "seed": -1}, "`seed` must be an integer of at least 0, got -1"),
    ],
)
def test_what_is_no_number_of_features_is_refused(options, message, rng):
    with pytest.raises((TypeError, ValueError), match=message):
        as_similarity(rng.standard_normal((5, 2)), k="rbf", **options)


def test_features_of_single_precision_weights_and_whole_numbers(rng):
    X = rng.integers(0, 5, (N, 3)).astype(np.uint8)
    options = {"k": "rbf", "sigma": 1.5, "n_features": 64}
    expected = compute(X.astype(float), **options)["VS"]
    assert compute(X, **options)["VS"] == expected
    assert compute(X.astype(np.float32), **options)["VS"] == expected
    p = np.bincount(rng.integers(0, N, 200), minlength=N) / 200
    repeated = np.repeat(X, np.rint(200 * p).astype(int), axis=0)
    assert compute(X, p=p, **options)["VS"] == pytest.approx(compute(repeated, **options)["VS"])
    assert isinstance(as_similarity(X, **options), FeatureSimilarity)
