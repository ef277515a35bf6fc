"""Entropies of a similarity matrix, and sample coverage."""

from functools import partial

import numpy as np

from ..spectral.leave_one_out import compute_coverage, compute_residual_fractions
from ..spectral.vendi_scores import compute_vendi_scores
from ..support.namespace import is_torch
from ..support.types import Number
from .measure import register_measure
from .sample_set import SampleSet
from .stacked_groups import StackedGroups


def compute_log_score(sample_set: SampleSet | StackedGroups, q: float) -> Number:
    """Compute log VS_q, the logarithm of the Vendi Score of order q.

    The result is an array with one number per group for stacked groups. If other measures use the
    eigenvalues, these are not computed again.
    """
    if isinstance(sample_set, StackedGroups):
        (score,) = sample_set.compute_spectra([q]).values
    else:
        spectrum = sample_set.needed_spectrum
        (score,) = compute_vendi_scores(
            sample_set.similarity, [q], sample_set.p, sample_set.psd, spectrum=spectrum
        ).values
    return score.log() if is_torch(score) else np.log(score)


_register_entropy = partial(
    register_measure, needs="similarity", range="[0, ∞)", weighted=True, stacks=True
)


@_register_entropy("RKE", source="Jalali, Li & Farnia, NeurIPS 2023")
def renyi_kernel_entropy(sample_set: SampleSet | StackedGroups) -> Number:
    """The Rényi kernel entropy of order 2, −log Σ p_i p_j k_ij², which is log VS at q = 2.

    k_ij is the similarity of samples i and j, p_i the weight of sample i (1/n by default), and VS
    the Vendi Score. The argument `q` of `compute` has no effect on the measure.
    """
    return compute_log_score(sample_set, 2.0)


@_register_entropy("KernelLanguageEntropy", source="Nikitin et al., NeurIPS 2024, arXiv 2405.20003")
def kernel_language_entropy(sample_set: SampleSet | StackedGroups) -> Number:
    """The von Neumann entropy of the kernel matrix with unit trace, in nats; log VS at q = 1.

    The measure supports any kernel, and is at most log n for n samples. The argument `q` of
    `compute` has no effect on it. With k="equivalence" it equals SemanticEntropy, which ignores
    similarity between classes of equivalent samples.
    """
    return compute_log_score(sample_set, 1.0)


@register_measure(
    "SampleCoverage",
    needs="eigenvectors",
    range="[0, 1]",
    direction="lower",
    source="Good, Biometrika 1953; extended to similarities as 1 − mean of 1/(K⁻¹)_ii",
    weighted=True,
    stacks=True,
)
def sample_coverage(sample_set: SampleSet | StackedGroups) -> Number:
    """The mean fraction of a sample that the others explain; Good–Turing coverage for labels.

    The fraction of sample i is 1 − 1/(K⁻¹)_ii, where K is the similarity matrix, to whose diagonal
    1e-9 is added, because K may be singular. It is 0 if no other sample is similar to sample i, and
    1 if the features of sample i are a linear combination of the features of other samples.
    """
    if isinstance(sample_set, StackedGroups):
        spectra = sample_set.compute_spectra([], vectors=True)  # for no order: no scores are needed
        residual_fractions = spectra.compute_residual_fractions()
    else:
        residual_fractions = compute_residual_fractions(sample_set.eigen)
    return compute_coverage(residual_fractions, sample_set.p)
