"""Values by group are those of each group alone, however the groups are computed."""

import numpy as np
import pytest

from vendiscore import NotPSDError, compute
from vendiscore.measures.group_spectra import compute_by_group
from vendiscore.measures.sample_set import SampleSet
from vendiscore.resolve.sample_labels import encode_labels
from vendiscore.resolve.similarity_spec import similarity_spec_from_keywords
from vendiscore.spectral.leave_one_out import compute_surprise

RNG = np.random.default_rng(0)
# Groups of 1, 5, 5 and 70 samples in random order; those of 70 are too large for a stack.
LABELS = RNG.permutation([*"a", *"bbbbb", *"ccccc", *"d" * 70]).tolist()
X = RNG.standard_normal((len(LABELS), 4))
WEIGHTS = RNG.dirichlet(np.ones(len(LABELS)))


def make_sample_set(samples, labels, p=None, **options):
    spec = similarity_spec_from_keywords(options, compute)
    return SampleSet(samples, spec, orders=[1.0], weights=p, groups=encode_labels(labels))


def surprisals(sample_set):
    singles = []

    def compute_single(group):
        singles.append(group.name)
        return compute_surprise(group.eigen, 1.0), group.eigen.effective_number(1.0)

    def compute_stacked(spectra):
        return spectra.compute_surprise(1.0)

    values, scores = compute_by_group(sample_set, 1.0, compute_stacked, compute_single)
    return values, scores, singles


@pytest.mark.parametrize("p", [None, WEIGHTS], ids=["uniform", "weighted"])
def test_values_and_scores_are_those_of_each_group_alone(p):
    values, scores, singles = surprisals(make_sample_set(X, LABELS, p, k="cosine"))
    assert singles == ["group 'd'"]
    for label, score in zip(dict.fromkeys(LABELS), scores, strict=True):
        rows = np.flatnonzero(np.array(LABELS) == label)
        weights = None if p is None else p[rows] / p[rows].sum()
        expected = compute(X[rows], k="cosine", p=weights)["VS"]
        assert score == pytest.approx(expected, rel=1e-10)
        # At order 1, the weighted mean of the surprisals is log VS.
        mean = np.average(values[rows], weights=weights)
        assert mean == pytest.approx(np.log(expected), abs=1e-10)


def test_error_names_the_group():
    K = np.eye(6)
    K[3, 4] = K[4, 3] = K[4, 5] = K[5, 4] = 0.9  # the second group has a negative eigenvalue
    sample_set = make_sample_set(K, list("aaabbb"), score_K=True)
    with pytest.raises(NotPSDError) as caught:
        surprisals(sample_set)
    assert caught.value.__notes__ == ["this is about group 'b'"]
