"""Functions keep the gradient of a tensor, or raise."""

import numpy as np
import pytest

import vendiscore
from vendiscore import as_similarity, compute, score

torch = pytest.importorskip("torch")

N = 8
OTHERS = torch.rand(N, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64) + 0.1
SHARES = OTHERS / OTHERS.sum(dim=1, keepdim=True)
NO_GRADIENT_MESSAGE = r"cannot be differentiated; pass {}\.detach\(\)"


def make_leaf(X=SHARES):
    return X.clone().requires_grad_()


SAMPLE_FUNCTIONS = {
    "State": lambda X, **options: vendiscore.State.empty(**options).update(X),
    "as_similarity": lambda X, **options: as_similarity(X, **options).dense(),
    "compare": lambda X, **options: vendiscore.compare(X, OTHERS, **options),
    "compute": lambda X, **options: compute(X, **options)["VS"],
    "conditional_score": lambda X, **options: vendiscore.conditional_score(
        X, ["a", "b"] * 4, **options
    ),
    "explain": vendiscore.explain,
    "group_rewards": vendiscore.group_rewards,
    "growth": vendiscore.growth,
    "mag_diff": lambda X, **options: vendiscore.mag_diff(OTHERS, X, **options),
    "mag_areas": lambda X, **options: vendiscore.mag_areas([OTHERS, X], **options),
    "magnitude_weights": lambda X, **options: vendiscore.magnitude_weights(X, t=1.0, **options),
    "report": vendiscore.report,
    "score": score,
    "select": lambda X, **options: vendiscore.select(X, 3, **options),
    "sources": lambda X, **options: vendiscore.sources(X, by=["a", "b"] * 4, **options),
    "spread": lambda X, **options: vendiscore.spread(X, t=1.0, **options),
    "novelty": lambda X, **options: vendiscore.novelty(OTHERS, X, **options),
} | {
    name: getattr(vendiscore, name)
    for name in ("convergence_scale", "mag_area", "magnitude_dimension", "magnitude_function")
}
TENSOR_FUNCTIONS = {
    "FeatureSimilarity": lambda X: vendiscore.FeatureSimilarity(X).dense(),
    "MatrixSimilarity": lambda X: vendiscore.MatrixSimilarity(X @ X.T).dense(),
    "ProductSimilarity": lambda X: vendiscore.ProductSimilarity([as_similarity(X, k="cosine")] * 2),
    "SumSimilarity": lambda X: vendiscore.SumSimilarity([as_similarity(X, k="cosine")], [1.0]),
    "effective_number": lambda X: vendiscore.effective_number(X[0]),
    "score_K": lambda X: vendiscore.score_K(X @ X.T, normalize=True),
    "score_X": vendiscore.score_X,
    "score_dual": vendiscore.score_dual,
    "spectrum": lambda X: vendiscore.spectrum(as_similarity(X, k="cosine")),
}
# The evaluate metric returns floats; test_measures_contract covers measures.
NO_SAMPLES = {
    "IndefiniteError",
    "MissingPackageError",
    "NotPSDError",
    "SampleError",
    "TooLargeError",
}
NO_SAMPLES |= {"RowsSimilarity", "Selection", "Similarity", "encoder", "load", "plots"}
NO_SAMPLES |= {"get_kernel", "list_kernels", "list_measures", "register_kernel", "register_measure"}
NO_SAMPLES |= {"phrases"}  # of texts
NO_SAMPLES |= {"Monitor"}  # tests/tools/streams/test_monitor.py
NO_SAMPLES |= {"read", "ReadResult", "AmbiguousInputError"}  # files and records have no gradients
# Arrow columns cannot contain tensors.
NO_SAMPLES |= {"BatchSelection", "GroupState", "score_batches", "select_batches"}
FUNCTIONS_WITHOUT_GRADIENT = set(SAMPLE_FUNCTIONS) - {
    "as_similarity",
    "compute",
    "conditional_score",
    "score",
}


def make_tensor_series(rows):
    """Return a Series of tensors, which older pandas cannot construct from a list."""
    cells = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        cells[i] = row
    return pytest.importorskip("pandas").Series(cells)


CONTAINERS = {
    "tensor": make_leaf,
    "list": lambda: list(make_leaf()),
    "tuple": lambda: tuple(make_leaf()),
    "generator": lambda: (x for x in make_leaf()),
    "series": lambda: make_tensor_series(make_leaf()),
    "Similarity": lambda: as_similarity(make_leaf(), k="cosine"),
}


def has_gradient(value):
    value = value.dense() if isinstance(value, vendiscore.Similarity) else value
    return torch.is_tensor(value) and value.requires_grad


def test_cases_cover_every_public_name():
    assert set(vendiscore.__all__) == {*SAMPLE_FUNCTIONS, *TENSOR_FUNCTIONS, *NO_SAMPLES}


@pytest.mark.parametrize("name", TENSOR_FUNCTIONS)
def test_tensor_functions_keep_gradients(name):
    assert has_gradient(TENSOR_FUNCTIONS[name](make_leaf()))


@pytest.mark.parametrize("name", SAMPLE_FUNCTIONS)
def test_sample_functions_keep_gradients_or_raise(name):
    for container_name, make_container in CONTAINERS.items():
        options = {} if container_name == "Similarity" else {"k": "cosine"}
        if container_name == "Similarity" and name in (
            "State",
            "compare",
            "mag_areas",
            "mag_diff",
            "sources",
            "novelty",
        ):
            continue  # these functions do not accept a Similarity
        if container_name != "tensor" and name in ("compare", "novelty"):
            continue  # both sets must have the same type
        if name == "score":
            options = {"k": options.get("k")}
        if name in FUNCTIONS_WITHOUT_GRADIENT:
            with pytest.raises(TypeError, match=NO_GRADIENT_MESSAGE.format("samples")):
                SAMPLE_FUNCTIONS[name](make_container(), **options)
        else:
            assert has_gradient(SAMPLE_FUNCTIONS[name](make_container(), **options)), container_name


@pytest.mark.parametrize("name", sorted(FUNCTIONS_WITHOUT_GRADIENT - {"State"}))
def test_bandwidth_with_gradient_raises(name):
    for X in (OTHERS, OTHERS.numpy()):
        with pytest.raises(TypeError, match=NO_GRADIENT_MESSAGE.format("(sigma|samples)")):
            SAMPLE_FUNCTIONS[name](X, k="rbf", sigma=make_leaf(torch.tensor(1.0)))


def test_sample_coverage_of_groups_and_mixtures_raises():
    X, names = make_leaf(), ["a", "b"] * 4
    with pytest.raises(TypeError, match=f"SampleCoverage {NO_GRADIENT_MESSAGE.format('samples')}"):
        compute(X, k="cosine", measures=["VS", "SampleCoverage"], groups=names)
    records = [{"x": x, "name": name} for x, name in zip(X, names, strict=True)]
    mixture = {"cosine:x": 0.5, "labels:name": 0.5}
    assert has_gradient(compute(records, k=mixture)["VS"])
    with pytest.raises(TypeError, match=NO_GRADIENT_MESSAGE.format("samples")):
        compute(records, k=mixture, measures="SampleCoverage")


@pytest.mark.parametrize("k", ["labels", "tanimoto", lambda a, b: float(a @ b)])
def test_kernels_without_gradient_raise(k):
    X = torch.eye(4)
    samples = list(X[0]) if k == "labels" else X
    compute(samples, k=k)
    samples = list(make_leaf(X)[0]) if k == "labels" else make_leaf(X)
    with pytest.raises(TypeError, match=NO_GRADIENT_MESSAGE.format("samples")):
        compute(samples, k=k)


def test_weights_and_quality_keep_gradients_or_raise():
    p, X = make_leaf(torch.full((N,), 1 / N)), SHARES
    assert has_gradient(compute(X, k="cosine", p=p)["VS"])
    for unsupported_call in (
        lambda: vendiscore.explain(X, k="cosine", p=p),
        lambda: vendiscore.State.empty(k="cosine").update(X, p=p),
        lambda: vendiscore.report(X, k="cosine", p=p),
    ):
        with pytest.raises(TypeError, match=NO_GRADIENT_MESSAGE.format("p")):
            unsupported_call()
    for quality in (p, list(p)):
        with pytest.raises(TypeError, match=NO_GRADIENT_MESSAGE.format("quality")):
            vendiscore.select(X, 3, k="cosine", quality=quality)
    for name, value, call in (
        ("q", 2.0, lambda q: compute(X, k="cosine", q=q)),
        ("t", 1.0, lambda t: vendiscore.magnitude_weights(X, t=t)),
    ):
        with pytest.raises(TypeError, match=NO_GRADIENT_MESSAGE.format(name)):
            call(make_leaf(torch.tensor(value)))


def test_tensors_without_gradient_match_arrays():
    X = SHARES.numpy()
    assert float(score(SHARES, "cosine")) == pytest.approx(score(X, "cosine"))
    result = vendiscore.select(SHARES, 3, k="cosine")
    assert np.array_equal(result.places, vendiscore.select(X, 3, k="cosine").places)


@pytest.mark.parametrize("transform", ["grad", "vmap"])
def test_torch_func_transforms_raise(transform):
    apply = getattr(torch.func, transform)
    X = torch.ones(2, 4, 3, dtype=torch.float64)
    for compute_score in (vendiscore.score_X, lambda X: compute(X, k="cosine")["VS"]):
        with pytest.raises(TypeError, match=r"within a transform of torch\.func"):
            apply(compute_score)(X if transform == "vmap" else X[0])
