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


def both(samples=X, references=Y, **how):
    return SampleSet(
        samples,
        similarity_spec_from_keywords(how, allow_metric=True, allow_fit=True),
        references=references,
    ).both


def test_joint_rows_are_samples_followed_by_references():
    result = both(metric="euclidean")
    np.testing.assert_array_equal(result.rows, np.concatenate([X, Y]))
    kernel = both(k="cosine")
    expected = as_similarity(np.concatenate([X, Y]), k="cosine").dense()
    np.testing.assert_allclose(kernel.similarity.dense(), expected)
    assert kernel.sizes == (9, 6)


def test_joint_similarity_of_a_group_includes_all_references():
    labels = parse_group_labels(list("ababababa"), "groups")
    how = similarity_spec_from_keywords({"k": "cosine"}, allow_fit=True)
    sample_set = SampleSet(X, how, references=Y, groups=labels)
    part = sample_set.parts[1].both
    expected = as_similarity(np.concatenate([X[1::2], Y]), k="cosine").dense()
    np.testing.assert_allclose(part.similarity.dense(), expected)
    assert part.sizes == (4, 6)


def test_ball_counts_agree_for_rows_functions_and_kernels():
    def euclidean(x, y):
        return float(np.linalg.norm(np.subtract(x, y)))

    rows = both(metric="euclidean").neighbourhoods.count_balls(2)
    function = both(metric=euclidean).neighbourhoods.count_balls(2)
    kernel = both(k="rbf", sigma=1.0).neighbourhoods.count_balls(2)  # a function of the distance
    for one, two, three in zip(rows, function, kernel, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)


def test_settings_contain_metric_or_kernel():
    assert both().settings == {"metric": "euclidean"}
    minkowski = both(metric="minkowski", exponent=3).settings
    assert minkowski == {"metric": "minkowski", "exponent": 3.0}
    assert both(k="rbf", sigma=1.0).settings["kernel"] == "rbf"


@pytest.mark.parametrize("how", [{}, {"k": "cosine"}])
def test_digest_depends_on_the_references(how):
    usual = both(**how).digest
    assert both(**how).digest == usual
    assert both(references=Y[::-1].copy(), **how).digest != usual
    assert len(usual) == 16


def test_digest_of_labels_depends_on_order_of_references():
    one, two = (both(["a", "c"], other, k="labels").digest for other in (["a", "b"], ["b", "a"]))
    assert one != two


def test_digest_does_not_depend_on_the_samples():
    assert both(samples=X[:4]).digest == both().digest


@pytest.mark.parametrize(
    ("samples", "how", "message"),
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
def test_rows_reject_precomputed_distances_and_metric_spaces(samples, how, message):
    with pytest.raises(TypeError, match=message):
        _ = both(samples=samples, **how).rows


def test_matrix_similarity_is_rejected_with_references():
    with pytest.raises((TypeError, ValueError), match="not to samples of other sets"):
        compute(MatrixSimilarity(np.eye(3)), references=Y, measures=["MMD"])
