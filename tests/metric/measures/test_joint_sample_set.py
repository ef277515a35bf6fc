"""Samples and references as one set."""

import numpy as np
import pytest

from vendiscore import MatrixSimilarity, as_similarity, compute
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.measures.sample_set import SampleSet
from vendiscore.resolve.sample_labels import parse_group_labels
from vendiscore.resolve.similarity_spec import similarity_spec_from_keywords

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((9, 3)), RNG.standard_normal((6, 3))


def make_joint_set(samples=X, references=Y, **kernel_options):
    return SampleSet(
        samples,
        similarity_spec_from_keywords(kernel_options, allow_metric=True, allow_fit=True),
        references=references,
    ).both


def test_joint_rows_are_samples_followed_by_references():
    result = make_joint_set(metric="euclidean")
    np.testing.assert_array_equal(result.rows, np.concatenate([X, Y]))
    kernel = make_joint_set(k="cosine")
    expected = as_similarity(np.concatenate([X, Y]), k="cosine").dense()
    np.testing.assert_allclose(kernel.similarity.dense(), expected)
    assert kernel.sizes == (9, 6)


def test_joint_similarity_of_a_group_includes_all_references():
    labels = parse_group_labels(list("ababababa"), "groups")
    spec = similarity_spec_from_keywords({"k": "cosine"}, allow_fit=True)
    sample_set = SampleSet(X, spec, references=Y, groups=labels)
    subset = sample_set.parts[1].both
    expected = as_similarity(np.concatenate([X[1::2], Y]), k="cosine").dense()
    np.testing.assert_allclose(subset.similarity.dense(), expected)
    assert subset.sizes == (4, 6)


def test_ball_counts_agree_for_rows_functions_and_kernels():
    def euclidean(x, y):
        return float(np.linalg.norm(np.subtract(x, y)))

    row_counts = make_joint_set(metric="euclidean").neighbourhoods.count_balls(2)
    function_counts = make_joint_set(metric=euclidean).neighbourhoods.count_balls(2)
    kernel_counts = make_joint_set(k="rbf", sigma=1.0).neighbourhoods.count_balls(
        2
    )  # a function of the distance
    for expected, from_function, from_kernel in zip(
        row_counts, function_counts, kernel_counts, strict=True
    ):
        np.testing.assert_array_equal(expected, from_function)
        np.testing.assert_array_equal(expected, from_kernel)


def test_settings_contain_metric_or_kernel():
    assert make_joint_set().settings == {"metric": "euclidean"}
    minkowski = make_joint_set(metric="minkowski", exponent=3).settings
    assert minkowski == {"metric": "minkowski", "exponent": 3.0}
    assert make_joint_set(k="rbf", sigma=1.0).settings["kernel"] == "rbf"


@pytest.mark.parametrize("options", [{}, {"k": "cosine"}])
def test_digest_depends_on_the_references(options):
    digest = make_joint_set(**options).digest
    assert make_joint_set(**options).digest == digest
    assert make_joint_set(references=Y[::-1].copy(), **options).digest != digest
    assert len(digest) == 16


def test_digest_of_labels_depends_on_order_of_references():
    first, second = (
        make_joint_set(["a", "c"], other, k="labels").digest for other in (["a", "b"], ["b", "a"])
    )
    assert first != second


def test_digest_does_not_depend_on_the_samples():
    assert make_joint_set(samples=X[:4]).digest == make_joint_set().digest


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        (as_space(X), {}, "measures that compare two sets do not support a MetricSpace"),
        (
            np.abs(X[:, :1] - X[:, 0]),
            {"metric": "precomputed"},
            "do not support a matrix of distances",
        ),
    ],
    ids=["space", "distances"],
)
def test_rows_reject_precomputed_distances_and_metric_spaces(samples, options, message):
    with pytest.raises(TypeError, match=message):
        _ = make_joint_set(samples=samples, **options).rows


def test_matrix_similarity_is_rejected_with_references():
    with pytest.raises((TypeError, ValueError), match="not to samples of other sets"):
        compute(MatrixSimilarity(np.eye(3)), references=Y, measures=["MMD"])
