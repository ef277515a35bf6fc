"""Sets of samples that came in clusters: left out and exchanged as a whole."""

import numpy as np
import pytest

from vendiscore import compare, compute

QUIET = {"k": "cosine", "permutations": 99}


def near_copies(seed, clusters=10, copies=5):
    """Return rows in clusters of near-copies, in no order, and the cluster of each."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(clusters), copies))
    centres = rng.standard_normal((clusters, 6)) + 0.3
    return centres[codes] + 0.05 * rng.standard_normal((len(codes), 6)), codes


def test_errors_are_by_clusters_and_scores_those_of_all_samples():
    (a, of_a), (b, of_b) = near_copies(0), near_copies(1)
    found = compare(a, b, clusters=[of_a, of_b], **QUIET)
    apart = compare(a, b, **QUIET)
    for row, alone, (samples, codes) in zip(
        found.sets, apart.sets, ((a, of_a), (b, of_b)), strict=True
    ):
        expected = compute(samples, k="cosine", ci=0.95, clusters=codes)
        assert row.score == pytest.approx(alone.score) == pytest.approx(expected["VS"])
        ends = expected["VS_se"], expected["VS_low"], expected["VS_high"]
        assert (row.se, row.low, row.high) == pytest.approx(ends)
        assert row.se > 1.5 * alone.se
    pair, alone = found.pairs[0], apart.pairs[0]
    assert pair.difference == pytest.approx(alone.difference)
    assert pair.high - pair.low > 1.5 * (alone.high - alone.low)


def test_one_source_in_clusters_is_not_said_to_differ():
    """Twelve trials at 5 %: more than 3 have a probability of 0.2 %; without clusters most do."""
    told, naive = 0, 0
    for seed in range(12):
        (a, of_a), (b, of_b) = near_copies(2 * seed), near_copies(2 * seed + 1)
        told += compare(a, b, clusters=[of_a, of_b], **QUIET).pairs[0].p <= 0.05
        naive += compare(a, b, **QUIET).pairs[0].p <= 0.05
    assert told <= 3
    assert naive > 2 * told


def test_sets_that_differ_are_found_in_clusters_of_uneven_size():
    wide, of_wide = near_copies(0, 30, 3)
    narrow, of_narrow = near_copies(1, 20, 6)
    found = compare(wide, np.abs(narrow) + 2, clusters=[of_wide, of_narrow], q=2, **QUIET)
    assert found.verdict("A", "B") == "more diverse"
    assert found.sets[0].size == 90


def test_labels_by_name_by_column_and_by_set_are_the_same():
    (a, of_a), (b, of_b) = near_copies(0), near_copies(1)
    one = compare({"x": a, "y": b}, clusters={"x": of_a, "y": of_b}, **QUIET)
    by = ["x"] * len(a) + ["y"] * len(b)
    other = compare(np.concatenate([a, b]), by=by, clusters=np.r_[of_a, of_b], **QUIET)
    assert one.to_dict()["pairs"] == other.to_dict()["pairs"]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"clusters": [[0] * 50, [0] * 50]}, "`clusters` must be at least 4 of each set, got 1 of"),
        ({"clusters": [np.arange(9), np.arange(50)]}, "`clusters` must have a label for each samp"),
        ({"clusters": [np.arange(50)] * 2, "groups": [[0] * 50] * 2}, "leave one of the two out"),
        ({"clusters": [np.arange(50)] * 2, "q": 0}, "need an order above 0"),
    ],
)
def test_clusters_that_cannot_be_used_are_refused(how, message):
    (a, _), (b, _) = near_copies(0), near_copies(1)
    with pytest.raises(ValueError, match=message):
        compare(a, b, **QUIET, **how)
