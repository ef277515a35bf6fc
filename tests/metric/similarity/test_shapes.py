"""Three-dimensional arrays are not accepted as groups; the errors suggest what to pass."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import as_similarity, compare, compute, explain, group_rewards, growth, sources

X = np.random.default_rng(0).standard_normal((12, 3))
STACK = X.reshape(3, 4, 3)
GROUPS = [X[:5], X[5:9], X[9:]]
COSINE = {"k": "cosine"}
FUNCTIONS = {
    "compute": compute,
    "explain": explain,
    "growth": growth,
    "as_similarity": as_similarity,
    "compare": lambda samples, **options: compare(samples, samples, **options),
}


def suggested_expression(message):
    """Return the expression that an error message suggests to pass as groups."""
    return re.search(r"pass (.+) if each of the", message)[1]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("samples", "description"),
    [(STACK, r"shape \(3, 4, 3\)"), (GROUPS, r"a list of 3 arrays, the first of shape \(5, 3\)")],
    ids=["array", "list"],
)
def test_three_dimensional_samples_are_rejected_by_all_functions(function, samples, description):
    with pytest.raises(
        ValueError, match=f"must be two-dimensional, .*, got {description}; pass .list"
    ):
        FUNCTIONS[function](samples, **COSINE)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_error_suggests_squeezing_a_dimension_of_length_one(function):
    with pytest.raises(ValueError, match=r"got shape \(12, 1, 3\); pass `?\w+.squeeze\(1\)$"):
        FUNCTIONS[function](X[:, None], **COSINE)
    assert compute(X[:, None].squeeze(1), **COSINE) == compute(X, **COSINE)


@pytest.mark.parametrize("options", [COSINE, {"k": "rbf"}, {"measures": "MagArea"}], ids=str)
@pytest.mark.parametrize("samples", [STACK, GROUPS, list(STACK)], ids=["array", "list", "equal"])
def test_expression_suggested_by_the_error_scores_the_groups(options, samples):
    with pytest.raises(ValueError, match=r"pass \[list") as caught:
        compute(samples, **options)
    groups = eval(suggested_expression(str(caught.value)), {"samples": samples})
    expected = compute(
        np.concatenate(samples), groups=np.repeat(range(3), [*map(len, samples)]), **options
    )
    assert compute(groups, **options) == pytest.approx(expected, rel=1e-12)


def test_three_dimensional_samples_with_group_labels_are_rejected():
    for samples in (STACK, GROUPS):
        with pytest.raises(ValueError, match=r"list\(x\) for x in samples"):
            compute(samples, groups=["a"] * 12, **COSINE)


def test_three_dimensional_sparse_bit_and_probability_rows_are_rejected():
    unit = STACK / np.linalg.norm(STACK, axis=2, keepdims=True)
    matrices = [sp.csr_array(rows) for rows in unit]
    with pytest.raises(ValueError, match=r"list\(x\.toarray\(\)\)") as caught:
        compute(matrices, score_X=True)
    groups = eval(suggested_expression(str(caught.value)), {"samples": matrices})
    expected = compute(np.concatenate(unit), score_X=True, groups=np.repeat(range(3), 4))
    assert compute(groups, score_X=True) == pytest.approx(expected)
    for k, values in (("tanimoto", STACK > 0), ("probability_product", np.full((3, 4, 3), 1 / 3))):
        for samples in (values, list(values)):
            with pytest.raises(ValueError, match=r"list\(x\) for x in"):
                compute(samples, k=k)


def test_code_suggested_for_stacked_tensors_keeps_gradients():
    torch = pytest.importorskip("torch")
    stack = torch.tensor(STACK, requires_grad=True)
    for samples in (stack, list(stack)):
        with pytest.raises(ValueError, match=r"list\(x\) for x in samples") as caught:
            compute(samples, **COSINE)
        groups = eval(suggested_expression(str(caught.value)), {"samples": samples})
        score = compute(groups, **COSINE)["VS"]
        assert torch.autograd.grad(score, stack)[0].abs().sum() > 0
    with pytest.raises(ValueError, match=r"samples\.squeeze\(1\)"):
        compute(torch.tensor(X[:, None]), **COSINE)


def test_four_dimensional_samples_must_be_reshaped_or_images():
    images = np.random.default_rng(1).random((5, 4, 4, 3))
    with pytest.raises(ValueError, match=r"pass np\.reshape\(samples, \(5, -1\)\), or images with"):
        compute(images, **COSINE)
    assert compute(np.reshape(images, (5, -1)), **COSINE)["VS"] > 1
    assert list(compute(images[..., 0], k="pixels")) == ["VS"]
    assert list(compute(list(images[..., 0]), k="pixels")) == ["VS"]
    with pytest.raises(ValueError, match=r"got shape \(12,\); reshape it to two dimensions"):
        compute(X[:, 0], score_X=True)


def test_callable_kernels_accept_arrays_of_any_shape():
    result = compute(STACK, k=lambda a, b: 1.0 if np.array_equal(a, b) else 0.0)
    assert result == {"VS": pytest.approx(3)}


def test_compute_accepts_lists_of_lists_of_rows_as_groups():
    nested = [[row.tolist() for row in rows] for rows in GROUPS]
    expected = compute(X, groups=np.repeat([0, 1, 2], [5, 4, 3]), **COSINE)
    assert compute(nested, **COSINE) == pytest.approx(expected)
    assert compute([list(rows) for rows in GROUPS], **COSINE) == pytest.approx(expected)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_data_frames_of_numbers_score_like_arrays(package):
    frames = pytest.importorskip(package)
    frame = frames.DataFrame({name: X[:, i] for i, name in enumerate("abc")})
    assert compute(frame, **COSINE) == compute(X, **COSINE)


def test_rewards_and_sources_accept_three_dimensional_arrays():
    expected = group_rewards([list(rows) for rows in STACK], **COSINE)
    assert group_rewards(STACK, **COSINE) == pytest.approx(expected)
    assert sources({"a": STACK, "b": -STACK}, level=None, k="rbf").score > 0


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "counts",
    [np.ones((4, 3), int), np.ones((4, 3)), [np.array([1, 2]), np.array([3])]],
    ids=["integers", "floats", "arrays"],
)
def test_two_dimensional_labels_are_rejected(function, counts):
    with pytest.raises(ValueError, match=r"must be one-dimensional, .*compute\(counts=\w+\)"):
        FUNCTIONS[function](counts, k="labels")


def test_tables_of_labels_are_rejected_and_columns_accepted():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"oak": [3, 1, 0], "fir": [1, 1, 5]})
    with pytest.raises(ValueError, match=r"got shape \(3, 2\); .*compute\(counts=samples\)"):
        compute(frame, k="labels")
    with pytest.raises(ValueError, match=r"a table of shape \(3, 2\); .*compute\(counts=samples\)"):
        compute(frame.astype("Int64"), k="labels")
    with pytest.raises(ValueError, match=r"pass samples\.squeeze\(1\)"):
        compute(frame[["oak"]], k="labels")
    expected = compute([3, 1, 0], k="labels")
    assert compute(frame[["oak"]].squeeze(1), k="labels") == expected
    assert compute(frame["oak"], k="labels") == expected
    nested = [[1, 2, 2], [3, 1]]
    assert compute(pd.Series(nested), k="labels") == compute(nested, k="labels")
    words = pd.Series([np.array(["a", "b"], object), np.array(["a", "a"], object)])
    assert compute(words, k="labels") == compute([["a", "b"], ["a", "a"]], k="labels")
