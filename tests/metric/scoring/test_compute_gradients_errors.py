"""Whatever takes a tensor that requires a gradient carries it on, or says that it cannot."""

import numpy as np
import pytest

import vendiscore
from vendiscore import as_similarity, compute, score

torch = pytest.importorskip("torch")

N = 8
OTHERS = torch.rand(N, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64) + 0.1
SHARES = OTHERS / OTHERS.sum(dim=1, keepdim=True)
REFUSED = r"cannot be differentiated; pass {}\.detach\(\)"


def leaf(X=SHARES):
    return X.clone().requires_grad_()


DOORS = {
    "State": lambda X, **how: vendiscore.State.empty(**how).update(X),
    "as_similarity": lambda X, **how: as_similarity(X, **how).dense(),
    "compare": lambda X, **how: vendiscore.compare(X, OTHERS, **how),
    "compute": lambda X, **how: compute(X, **how)["VS"],
    "conditional_score": lambda X, **how: vendiscore.conditional_score(X, ["a", "b"] * 4, **how),
    "explain": vendiscore.explain,
    "group_rewards": vendiscore.group_rewards,
    "growth": vendiscore.growth,
    "mag_diff": lambda X, **how: vendiscore.mag_diff(OTHERS, X, **how),
    "mag_areas": lambda X, **how: vendiscore.mag_areas([OTHERS, X], **how),
    "magnitude_weights": lambda X, **how: vendiscore.magnitude_weights(X, t=1.0, **how),
    "report": vendiscore.report,
    "score": score,
    "select": lambda X, **how: vendiscore.select(X, 3, **how),
    "sources": lambda X, **how: vendiscore.sources(X, by=["a", "b"] * 4, **how),
    "spread": lambda X, **how: vendiscore.spread(X, t=1.0, **how),
    "novelty": lambda X, **how: vendiscore.novelty(OTHERS, X, **how),
} | {
    name: getattr(vendiscore, name)
    for name in ("convergence_scale", "mag_area", "magnitude_dimension", "magnitude_function")
}
DIRECT = {
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
# A metric reports plain numbers; the contract of measures tests theirs.
NO_SAMPLES = {
    "IndefiniteError",
    "MissingPackageError",
    "NotPSDError",
    "SampleError",
    "TooLargeError",
}
NO_SAMPLES |= {"RowsSimilarity", "Selection", "Similarity", "encoder", "load", "plots"}
NO_SAMPLES |= {"get_kernel", "list_kernels", "list_measures", "register_kernel", "register_measure"}
NO_SAMPLES |= {"GroupState", "score_batches"}  # columns of Arrow hold no tensors
REFUSING = set(DOORS) - {"as_similarity", "compute", "conditional_score", "score"}


def series(rows):
    """Return a Series of tensors, which older pandas cannot make of a list of them."""
    cells = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        cells[i] = row
    return pytest.importorskip("pandas").Series(cells)


CONTAINERS = {
    "tensor": leaf,
    "list": lambda: list(leaf()),
    "tuple": lambda: tuple(leaf()),
    "generator": lambda: (x for x in leaf()),
    "series": lambda: series(leaf()),
    "Similarity": lambda: as_similarity(leaf(), k="cosine"),
}


def carries(value):
    value = value.dense() if isinstance(value, vendiscore.Similarity) else value
    return torch.is_tensor(value) and value.requires_grad


def test_cases_cover_every_public_name():
    assert set(vendiscore.__all__) == {*DOORS, *DIRECT, *NO_SAMPLES}


@pytest.mark.parametrize("name", DIRECT)
def test_tensor_functions_keep_gradients(name):
    assert carries(DIRECT[name](leaf()))


@pytest.mark.parametrize("name", DOORS)
def test_sample_functions_keep_gradients_or_raise(name):
    for made, container in CONTAINERS.items():
        how = {} if made == "Similarity" else {"k": "cosine"}
        if made == "Similarity" and name in (
            "State",
            "compare",
            "mag_areas",
            "mag_diff",
            "sources",
            "novelty",
        ):
            continue  # which take none
        if made != "tensor" and name in ("compare", "novelty"):
            continue  # both sets are of one kind
        if name == "score":
            how = {"k": how.get("k")}
        if name in REFUSING:
            with pytest.raises(TypeError, match=REFUSED.format("samples")):
                DOORS[name](container(), **how)
        else:
            assert carries(DOORS[name](container(), **how)), made


@pytest.mark.parametrize("name", sorted(REFUSING - {"State"}))
def test_bandwidth_with_gradient_raises(name):
    for X in (OTHERS, OTHERS.numpy()):
        with pytest.raises(TypeError, match=REFUSED.format("(sigma|samples)")):
            DOORS[name](X, k="rbf", sigma=leaf(torch.tensor(1.0)))


def test_sample_coverage_of_groups_and_mixtures_raises():
    X, names = leaf(), ["a", "b"] * 4
    with pytest.raises(TypeError, match=f"SampleCoverage {REFUSED.format('samples')}"):
        compute(X, k="cosine", measures=["VS", "SampleCoverage"], groups=names)
    records = [{"x": x, "name": name} for x, name in zip(X, names, strict=True)]
    mixture = {"cosine:x": 0.5, "labels:name": 0.5}
    assert carries(compute(records, k=mixture)["VS"])
    with pytest.raises(TypeError, match=REFUSED.format("samples")):
        compute(records, k=mixture, measures="SampleCoverage")


@pytest.mark.parametrize("k", ["labels", "tanimoto", lambda a, b: float(a @ b)])
def test_kernels_without_gradient_raise(k):
    X = torch.eye(4)
    samples = list(X[0]) if k == "labels" else X
    compute(samples, k=k)
    samples = list(leaf(X)[0]) if k == "labels" else leaf(X)
    with pytest.raises(TypeError, match=REFUSED.format("samples")):
        compute(samples, k=k)


def test_other_arguments_keep_gradients_or_raise():
    p, X = leaf(torch.full((N,), 1 / N)), SHARES
    assert carries(compute(X, k="cosine", p=p)["VS"])
    for refused in (
        lambda: vendiscore.explain(X, k="cosine", p=p),
        lambda: vendiscore.State.empty(k="cosine").update(X, p=p),
        lambda: vendiscore.report(X, k="cosine", p=p),
    ):
        with pytest.raises(TypeError, match=REFUSED.format("p")):
            refused()
    for quality in (p, list(p)):
        with pytest.raises(TypeError, match=REFUSED.format("quality")):
            vendiscore.select(X, 3, k="cosine", quality=quality)
    for name, value, call in (
        ("q", 2.0, lambda q: compute(X, k="cosine", q=q)),
        ("t", 1.0, lambda t: vendiscore.magnitude_weights(X, t=t)),
    ):
        with pytest.raises(TypeError, match=REFUSED.format(name)):
            call(leaf(torch.tensor(value)))


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
