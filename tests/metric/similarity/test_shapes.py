"""Arrays of a dimension more do not stand for groups: the errors, and what to pass instead."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import as_similarity, compare, compute, explain, group_rewards, growth, sources

X = np.random.default_rng(0).standard_normal((12, 3))
STACK = X.reshape(3, 4, 3)
PARTS = [X[:5], X[5:9], X[9:]]
COSINE = {"k": "cosine"}
DOORS = {
    "compute": compute,
    "explain": explain,
    "growth": growth,
    "as_similarity": as_similarity,
    "compare": lambda samples, **how: compare(samples, samples, **how),
}


def spelled(message):
    """Return what an error says to pass as groups."""
    return re.search(r"pass (.+) if each of the", message)[1]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("samples", "passed"),
    [(STACK, r"shape \(3, 4, 3\)"), (PARTS, r"a list of 3 arrays, the first of shape \(5, 3\)")],
    ids=["array", "list"],
)
def test_stacks_of_rows_are_refused_by_every_door(door, samples, passed):
    with pytest.raises(ValueError, match=f"must be two-dimensional, .*, got {passed}; pass .list"):
        DOORS[door](samples, **COSINE)


@pytest.mark.parametrize("door", DOORS)
def test_rows_with_a_dimension_of_one_are_squeezed(door):
    with pytest.raises(ValueError, match=r"got shape \(12, 1, 3\); pass `?\w+.squeeze\(1\)$"):
        DOORS[door](X[:, None], **COSINE)
    assert compute(X[:, None].squeeze(1), **COSINE) == compute(X, **COSINE)


@pytest.mark.parametrize("how", [COSINE, {"k": "rbf"}, {"measures": "MagArea"}], ids=str)
@pytest.mark.parametrize("samples", [STACK, PARTS, list(STACK)], ids=["array", "list", "equal"])
def test_what_is_spelled_scores_the_groups(how, samples):
    with pytest.raises(ValueError, match=r"pass \[list") as refused:
        compute(samples, **how)
    groups = eval(spelled(str(refused.value)), {"samples": samples})
    expected = compute(
        np.concatenate(samples), groups=np.repeat(range(3), [*map(len, samples)]), **how
    )
    assert compute(groups, **how) == pytest.approx(expected, rel=1e-12)


def test_labels_next_to_a_stack_do_not_hide_it():
    for samples in (STACK, PARTS):
        with pytest.raises(ValueError, match=r"list\(x\) for x in samples"):
            compute(samples, groups=["a"] * 12, **COSINE)


def test_sparse_rows_and_bits_and_probabilities_are_rows():
    unit = STACK / np.linalg.norm(STACK, axis=2, keepdims=True)
    parts = [sp.csr_array(rows) for rows in unit]
    with pytest.raises(ValueError, match=r"list\(x\.toarray\(\)\)") as refused:
        compute(parts, score_X=True)
    groups = eval(spelled(str(refused.value)), {"samples": parts})
    expected = compute(np.concatenate(unit), score_X=True, groups=np.repeat(range(3), 4))
    assert compute(groups, score_X=True) == pytest.approx(expected)
    for k, values in (("tanimoto", STACK > 0), ("probability_product", np.full((3, 4, 3), 1 / 3))):
        for samples in (values, list(values)):
            with pytest.raises(ValueError, match=r"list\(x\) for x in"):
                compute(samples, k=k)


def test_tensors_keep_their_gradients():
    torch = pytest.importorskip("torch")
    stack = torch.tensor(STACK, requires_grad=True)
    for samples in (stack, list(stack)):
        with pytest.raises(ValueError, match=r"list\(x\) for x in samples") as refused:
            compute(samples, **COSINE)
        groups = eval(spelled(str(refused.value)), {"samples": samples})
        score = compute(groups, **COSINE)["VS"]
        assert torch.autograd.grad(score, stack)[0].abs().sum() > 0
    with pytest.raises(ValueError, match=r"samples\.squeeze\(1\)"):
        compute(torch.tensor(X[:, None]), **COSINE)


def test_more_dimensions_are_reshaped_or_images():
    images = np.random.default_rng(1).random((5, 4, 4, 3))
    with pytest.raises(ValueError, match=r"pass np\.reshape\(samples, \(5, -1\)\), or images with"):
        compute(images, **COSINE)
    assert compute(np.reshape(images, (5, -1)), **COSINE)["VS"] > 1
    assert list(compute(images[..., 0], k="pixels")) == ["VS"]
    assert list(compute(list(images[..., 0]), k="pixels")) == ["VS"]
    with pytest.raises(ValueError, match=r"got shape \(12,\); reshape it to two dimensions"):
        compute(X[:, 0], score_X=True)


def test_functions_compare_arrays_of_any_shape():
    result = compute(STACK, k=lambda a, b: 1.0 if np.array_equal(a, b) else 0.0)
    assert result == {"VS": pytest.approx(3)}


def test_groups_are_lists_of_lists_of_rows():
    nested = [[row.tolist() for row in rows] for rows in PARTS]
    expected = compute(X, groups=np.repeat([0, 1, 2], [5, 4, 3]), **COSINE)
    assert compute(nested, **COSINE) == pytest.approx(expected)
    assert compute([list(rows) for rows in PARTS], **COSINE) == pytest.approx(expected)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_of_numbers_are_rows(package):
    frames = pytest.importorskip(package)
    frame = frames.DataFrame({name: X[:, i] for i, name in enumerate("abc")})
    assert compute(frame, **COSINE) == compute(X, **COSINE)


def test_rewards_and_sources_take_arrays_of_groups():
    expected = group_rewards([list(rows) for rows in STACK], **COSINE)
    assert group_rewards(STACK, **COSINE) == pytest.approx(expected)
    assert sources({"a": STACK, "b": -STACK}, level=None, k="rbf").score > 0


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "counts",
    [np.ones((4, 3), int), np.ones((4, 3)), [np.array([1, 2]), np.array([3])]],
    ids=["whole", "floats", "arrays"],
)
def test_labels_of_numbers_have_one_dimension(door, counts):
    with pytest.raises(ValueError, match=r"must be one-dimensional, .*compute\(counts=\w+\)"):
        DOORS[door](counts, k="labels")


def test_tables_of_labels_are_refused_and_columns_are_read():
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
