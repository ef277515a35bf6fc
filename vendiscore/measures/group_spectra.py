"""Values of each sample and scores of each group from eigenvectors, for many groups at once."""

from collections.abc import Callable

import numpy as np

from ..spectral.stacked_spectra import StackedSpectra
from ..support.namespace import to_host
from .sample_set import SampleSet, SampleSubset
from .stacked_groups import iter_stacked_groups


def compute_by_group(
    sample_set: SampleSet,
    q: float,
    compute_stacked: Callable[[StackedSpectra], np.ndarray],
    compute_single: Callable[[SampleSubset], tuple[np.ndarray, float]],
) -> tuple[np.ndarray, np.ndarray]:
    """Compute a value of each sample, and the Vendi Score of order q of each group.

    Small groups of equal size are decomposed together. Groups that cannot be, for example because
    they are large or have negative eigenvalues, are computed one by one, which may raise an error.

    Parameters
    ----------
    sample_set : SampleSet
        The samples with their groups; no sample was dropped.
    q : float
        Order of the scores.
    compute_stacked : callable
        Returns the values of the samples of g groups of m samples, shape (g, m), from their
        eigenvectors. Only called for m ≥ 2; the value of a sample that is alone in its group is 0.
    compute_single : callable
        Returns the values of the m samples of one group, shape (m,), and its score.

    Returns
    -------
    values : ndarray of shape (n,)
        A value for each sample, in the order of the rows of the similarity of `sample_set`.
    scores : ndarray of shape (number of groups,)
        The score of each group.
    """
    assert sample_set.groups is not None
    values = np.zeros(sample_set.similarity.n)
    scores = np.ones(len(sample_set.groups))
    is_pending = np.ones(len(scores), dtype=bool)
    for group_indices, stack in iter_stacked_groups(sample_set):
        spectra = StackedSpectra(
            stack.K, stack.p, [q], sample_set.psd, vectors=True, similarity=stack.similarity
        )
        is_valid = ~(stack.unusual | to_host(spectra.unusual))
        if stack.n > 1:
            values[stack.rows[is_valid]] = compute_stacked(spectra)[is_valid]
        scores[group_indices[is_valid]] = to_host(spectra.values[0])[is_valid]
        is_pending[group_indices[is_valid]] = False
    for i in np.flatnonzero(is_pending):
        group = sample_set.parts[i]
        try:
            values[group.rows], scores[i] = compute_single(group)
        except Exception as error:
            error.add_note(f"this is about {group.name}")
            raise
    return values, scores
