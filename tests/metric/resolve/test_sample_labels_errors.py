"""Errors for samples that cannot be grouped or scored in groups."""

import numpy as np
import pytest

from vendiscore import NotPSDError, SampleError, compute
from vendiscore.magnitude.metric_space_builder import as_space

TEXTS = [["a cat sat", "a dog sat", "the cat ran off"], ["red", "red", "blue"], ["no", "yes"]]
CLOUD = np.random.default_rng(0).standard_normal((12, 3))
LABELS = np.repeat(["x", "y", "z"], [5, 4, 3])


@pytest.mark.parametrize(
    ("samples", "options", "error", "message"),
    [
        (TEXTS, {"groups": [0, 1, 2]}, ValueError, "already defines groups; remove `groups`"),
        ([["a"], [], ["b"]], {}, ValueError, "group 1 of `samples` is empty; remove this group"),
        ([np.eye(2)] * 2, {"score_K": True}, ValueError, "one matrix with the similarities of"),
        (
            np.ones((3, 2, 2)),
            {"metric": "precomputed", "measures": "MagArea"},
            ValueError,
            "pass one matrix, and to `compute` also `groups`",
        ),
        (
            as_space(CLOUD),
            {"measures": "MagArea", "groups": LABELS},
            TypeError,
            "`groups` is not supported for a MetricSpace",
        ),
        (
            as_space(CLOUD),
            {"measures": "MagArea", "ci": 0.9},
            TypeError,
            "`ci` is not supported for a MetricSpace",
        ),
        ([[], []], {"k": "ngram_overlap"}, ValueError, "group 0 of `samples` is empty"),
        (
            ["a", "b"],
            {"groups": [1]},
            ValueError,
            "one label per sample, got 1 labels for 2 samples",
        ),
        (CLOUD, {"k": "rbf", "groups": [1, 2]}, ValueError, "got 2 labels for 12 samples"),
        (CLOUD, {"measures": "MagArea", "groups": [1]}, ValueError, "got 1 labels for 12 samples"),
        (
            ["a", "b"],
            {"groups": "prompt"},
            TypeError,
            r"for a column of a table, pass df\['prompt'\]",
        ),
        (
            ["a", "b"],
            {"groups": ["x", None]},
            ValueError,
            "sample 1 has no label in `groups`, got None",
        ),
        (
            ["a", "b"],
            {"groups": [np.nan, 1]},
            ValueError,
            "sample 0 has no label in `groups`, got nan; set its",
        ),
        (["a", "b"], {"groups": [1, (1, [2])]}, TypeError, "hashable labels, got tuple"),
        (
            ["a", "b"],
            {"groups": [1, [2]]},
            TypeError,
            "hashable labels, got list \\[2\\] for sample 1",
        ),
        (
            ["a", "b"],
            {"groups": [[1], [2]]},
            TypeError,
            "must be a flat list with one label per sample",
        ),
        (CLOUD, {"k": "rbf", "groups": np.ones((12, 2))}, ValueError, "got shape \\(12, 2\\)"),
        (["a", "b"], {"groups": []}, ValueError, "`groups` is empty"),
        (["a", "b"], {"measures": "TotalVS"}, ValueError, "TotalVS requires groups; pass"),
        (
            ["a", ["b"]],
            {},
            SampleError,
            "sample 1 must be a str, got list: .* for groups, a list of lists",
        ),
        (["a b", "c", "d"], {"groups": [1, 1, 2], "ns": 2}, SampleError, "sample 1 has 1 token"),
    ],
)
def test_invalid_groups_raise_with_a_hint(samples, options, error, message):
    with pytest.raises(error, match=message):
        compute(samples, **options)


def test_unusable_sample_raises_with_its_group():
    with pytest.raises(SampleError, match=r"sample 4 \(sample 1 of group 1\) must be a str, got f"):
        compute([TEXTS[0], ["red", 0.5]])
    invalid = [[[1.0, 2.0], [3.0, np.nan]], [[1.0, 1.0]]]
    with pytest.raises(SampleError, match=r"sample 1 \(sample 1 of group 0\) of `samples` must be"):
        compute(invalid, k="cosine")
    with pytest.raises(NotPSDError) as error_info:
        compute(list("abcde"), k=lambda a, b: 1.0 if a == b else -0.9, groups=[1, 1, 2, 2, 2])
    assert error_info.value.__notes__ == ["this error refers to group 2"]
