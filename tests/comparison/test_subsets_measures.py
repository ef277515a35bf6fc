"""Sets are compared by measures other than the Vendi Score."""

import math

import numpy as np
import pytest
from sources import sentences

from vendiscore import compare
from vendiscore.comparison import SAME
from vendiscore.scoring.compute import compute


def compared(*sets, **options):
    return compare(*sets, **{"permutations": 99, **options})


def normal(seed: int, n: int, narrow: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 6)) * np.r_[1.0, [narrow] * 5]


@pytest.mark.parametrize("measure", ["IntDiv", "RKE", "Spread", "Magnitude"])
def test_scores_and_errors_are_those_of_each_set(measure):
    X, Y = normal(0, 12), normal(1, 12, 0.3)
    k = {"k": "rbf", "sigma": 2.0}
    how = {**k, "metric": "kernel"} if measure in ("Spread", "Magnitude") else k
    found = compared(X, Y, measures=measure, **k)

    def value(Z):
        return compute(Z, measures=measure, **how)[measure]

    for row, Z in zip(found.sets, (X, Y), strict=True):
        left = [value(np.delete(Z, i, axis=0)) for i in range(12)]
        assert (row.score, row.matched) == pytest.approx((value(Z), value(Z)))
        assert row.se == pytest.approx(math.sqrt(11 * np.var(left)), rel=1e-5)
        assert row.low <= row.score <= row.high
    assert found.measure == measure
    assert found.pairs[0].difference == pytest.approx(value(X) - value(Y))


def test_a_difference_of_a_measure_is_put_into_words():
    X, Y = normal(0, 40), normal(1, 40, 0.2)
    k = {"k": "rbf", "sigma": 2.0}
    found = compared(X, Y, names=["wide", "thin"], measures="IntDiv", **k)
    assert found.verdict("wide", "thin") == "higher"
    assert found.verdict("thin", "wide") == "lower"
    assert found.sentence.startswith("wide is higher than thin: 0.")
    assert " more in IntDiv at 40 samples each (95 % interval 0." in found.sentence
    assert found.to_dict()["measure"] == "IntDiv"
    assert " is IntDiv of 40, " in found.sets[0].sentence
    assert compared(X, Y, measures="VS", **k).pairs == compared(X, Y, **k).pairs


def test_p_of_a_measure_is_that_of_a_naive_permutation_test():
    X, Y = normal(0, 10), normal(1, 10, 0.6)
    pool = np.vstack([X, Y])

    def apart(order):
        a, b = (compute(pool[at], k="cosine", measures="IntDiv") for at in (order[:10], order[10:]))
        return a["IntDiv"] - b["IntDiv"]

    rng, seen = np.random.default_rng(0), apart(np.arange(20))
    naive = np.mean([abs(apart(rng.permutation(20))) >= abs(seen) for _ in range(200)])
    found = compare(X, Y, k="cosine", measures="IntDiv", permutations=499)
    assert found.pairs[0].p == pytest.approx(naive, abs=0.1)


def test_sets_of_one_source_have_one_measure():
    p = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sets = sentences(rng, 10), sentences(rng, 16)
        p.append(compared(*sets, measures="AvgSim").pairs[0].p)
    assert np.mean(np.array(p) <= 0.05) <= 0.15
    assert 0.3 < np.mean(p) < 0.7


def test_options_of_a_measure_and_few_samples_are_told():
    X, Y = normal(0, 8), normal(1, 8)
    one = compared(X, Y, k="cosine", measures={"Spread": {"t": 1.0}})
    other = compared(X, Y, k="cosine", measures="Spread", t=3.0)
    assert one.sets[0].score < other.sets[0].score
    assert one.verdict("A", "B") == SAME


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measures": ["IntDiv", "VS"]}, "`measures` must name one measure for each call"),
        ({"measures": "Recall"}, "must look at one set of samples in any order, but Recall does"),
        ({"measures": "IntDif"}, "Did you mean 'IntDiv'"),
        ({"measures": "IntDiv", "groups": [[0] * 8] * 2}, "take no `groups` or `clusters`"),
        ({"measures": "GMStds"}, "must be computed from similarities, since subsets are scored"),
        ({"measures": "SelfBLEU", "k": "ngram_overlap"}, "SelfBLEU reads samples"),
    ],
)
def test_measures_that_cannot_be_compared_are_refused_in_words(options, said):
    sets = [["a b", "c d", "e f", "g h"]] * 2 if "k" in options else [normal(0, 8), normal(1, 8)]
    with pytest.raises((TypeError, ValueError), match=said):
        compared(*sets, **{"k": "cosine", **options})
