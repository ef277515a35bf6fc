"""The function `novelty`: the change of log VS of the references by each new sample."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.eigenvalues import PSD, check_psd
from ...resolve.kernel_builder import can_compute_subsets_separately
from ...resolve.sample_labels import count_samples_by_set, encode_labels, parse_group_labels
from ...resolve.similarity_builder import build_pooled_similarity, check_collection
from ...resolve.similarity_spec import KernelArgument, similarity_spec_from_keywords
from ...similarity import sparse as sp
from ...similarity.base import Similarity
from ...spectral.leave_one_out import check_novelty_order, log_score_gains
from ...spectral.spectrum import positive_eigenpairs
from ...spectral.vendi_scores import compute_spectrum
from ...support.arguments import DEFAULT_ORDER, check_no_gradient
from ...support.namespace import row_blocks, to_host
from ...support.summary import SummaryMixin, make_frame
from ...support.types import Frame, Samples


@dataclass(frozen=True, eq=False, repr=False)
class Novelty(SummaryMixin):
    """Result of `novelty`: what each new sample adds to log VS_q of the references.

    Attributes
    ----------
    values : array of shape (n,)
        Minimum over classes of what each sample adds; NaN for dropped samples.
    table : array of shape (n, C)
        What each sample adds to each class: log VS with the sample minus log VS without it.
    most : array of shape (C,)
        What a sample adds that has nothing in common with any reference.
    classes : tuple of length C
        Labels of the references, in order of appearance; (None,) without labels.

    See Also
    --------
    vendiscore.novelty : Compute novelty.

    Examples
    --------
    >>> from vendiscore import novelty
    >>> novelty(["a", "z"], ["a", "b"], k="labels").values.round(3)
    array([-0.057,  0.405])
    """

    _repr_attributes = ("classes",)

    values: np.ndarray
    table: np.ndarray
    most: np.ndarray
    classes: tuple[Hashable, ...]

    @property
    def sentence(self) -> str:
        """The result in a sentence."""
        i = int(np.nanargmax(self.values))
        return f"Sample {i} adds most to the references, {self.values[i]:.3g} in log VS."

    def to_frame(self) -> Frame:
        """Return one row per sample as a pandas DataFrame.

        Returns
        -------
        pandas DataFrame
            Novelty and nearest class of each sample; `class` is the class to which the sample adds
            least, None for dropped samples.
        """
        nearest = [
            None if np.isnan(value) else self.classes[int(np.argmin(gains))]
            for value, gains in zip(self.values, self.table, strict=True)
        ]
        return make_frame({"novelty": self.values, "class": nearest})


def novelty(
    samples: Samples,
    references: Samples,
    labels: Sequence[Hashable] | None = None,
    *,
    k: KernelArgument | None = None,
    q: float = DEFAULT_ORDER,
    psd: PSD = "check",
    **how: object,
) -> Novelty:
    """Compute what each new sample would add to the score of a reference set.

    The novelty of a sample is log VS_q of the references with the sample minus log VS_q without it,
    computed exactly. It does not depend on the other new samples.

    Parameters
    ----------
    samples : list or array-like
        The n new samples. Not modified.
    references : list or array-like
        The m reference samples. Not modified.
    labels : sequence of length m of hashable labels, optional
        Class of each reference. The novelty of a sample is then its minimum over classes. Use
        classes of equal size, because a sample adds more to a small set.
    k : str, callable, dict or list, optional
        The kernel, as for `compute`. Strings are compared by "ngram_overlap" if omitted. Options
        that a kernel fits to data, such as `sigma`, are fitted to the references.
    q : float, default 1
        Order of the score, 0 < q <= 2.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues of the references' similarities beyond rounding: raise
        a NotPSDError, or set them to zero and rescale the others to sum to 1.
    **how
        `score_X`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    Novelty
        `values` of shape (n,), in nats, `table` of shape (n, C) for C classes, `most` and
        `classes`. A value is negative for a sample that makes the set less diverse, and at most
        `most`, for a sample that has nothing in common with the references.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    NotPSDError
        If similarities of the references have negative eigenvalues and ``psd="check"``.
    TooLargeError
        If the decomposition does not fit in memory; raised before allocation.
    TypeError, ValueError
        If samples cannot be compared, the number of labels is not m, or the order is above 2.

    See Also
    --------
    explain : Contribution of each sample to its own set.
    State : Score data batch by batch.

    Notes
    -----
    To detect samples from another population, similarity to the nearest references often works
    better. A sample adds little if it lies in directions that the references already cover, even if
    it is far from each of them. In benchmarks/novelty.py (results in
    benchmarks/results/novelty.json) the five nearest references have the largest area under the ROC
    curve in 5 of 10 cases: in all four of digits (0.89 to 0.92; novelty 0.71 to 0.79, with classes
    0.83 to 0.86) and, by less than 0.01, in one of two of questions with n-grams. Novelty with
    classes is best for the other and for embeddings of questions, novelty without classes for
    molecules.

    Time is one decomposition of each class, O(m d^2 + d^3) for d features or O(m^3), and one
    projection per sample, O(d^2) or O(m^2). A function `k` is evaluated on all pairs.

    References
    ----------
    1. "Vendi Novelty Scores", 2026. arXiv:2602.10062. Its detector computes such a gain for each
       class and weights them by the class probabilities that a classifier predicts for the sample,
       which this function does not. The identity used here is
       derived in docs/identity.md.

    Examples
    --------
    >>> result = novelty([[0.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [2.0, 0.0]], k="cosine")
    >>> result.values.round(3)
    array([0.637, 0.381])
    """
    spec = similarity_spec_from_keywords({**how, "k": k}, novelty, allow_fit=True)
    order = check_novelty_order(q)
    check_psd(psd)
    named_sets = {"samples": samples, "references": references}
    sets = [
        check_collection(container, spec, name, has_other_sets=True)
        for name, container in named_sets.items()
    ]
    similarity = build_pooled_similarity(sets, spec, list(named_sets))
    check_no_gradient("novelty", **how, samples=similarity)
    if can_compute_subsets_separately(similarity):
        raise TypeError(
            "novelty requires a kernel whose similarity of two samples does not depend on others; "
            f"k={getattr(spec.k, 'name', '')!r} assigns classes jointly, so pass its classes with "
            "k='labels'"
        )
    n, m = count_samples_by_set(sets, spec)
    groups = (
        encode_labels([None] * m) if labels is None else parse_group_labels(labels, "labels", m)
    )
    classes = groups.labels
    input_indices = np.setdiff1d(
        np.arange(n + m), list(similarity.dropped)
    )  # of the rows of `similarity`
    retained_samples = input_indices[input_indices < n]
    codes = groups.codes[input_indices[len(retained_samples) :] - n]
    table = np.full((n, len(classes)), np.nan)
    max_gains = np.empty(len(classes))
    with np.errstate(all="ignore"):
        for code in range(len(classes)):
            class_rows = len(retained_samples) + np.flatnonzero(codes == code)
            if not len(class_rows):
                raise ValueError(
                    f"class {classes[code]!r} has no usable references; add some of this class"
                )
            table[retained_samples, code], max_gains[code] = compute_class_gains(
                similarity, len(retained_samples), class_rows, order, psd
            )
    return Novelty(table.min(axis=1), table, max_gains, classes)


def compute_class_gains(
    similarity: Similarity, n: int, class_rows: np.ndarray, q: float, psd: PSD
) -> tuple[np.ndarray, float]:
    """Return the increase of log VS_q of one class by each of the first n samples, shape (n,).

    `similarity` contains the n new samples, then the references; `class_rows` are the rows of the
    references of the class. Also return the maximum increase, that by a sample which has nothing in
    common with any of these references.
    """
    spectrum = compute_spectrum(similarity.take(class_rows), psd=psd, vectors=True)
    values, U = positive_eigenpairs(spectrum, q)
    weights = U / np.sqrt(values * len(class_rows))  # coefficients of unit eigenvectors
    F = None if similarity.dim is None else similarity.bare().features()  # without a copy per class
    if sp.issparse(F):
        F = None
    if F is not None:
        F = to_host(F)
        scale = np.ones(similarity.n) if similarity.scale is None else to_host(similarity.scale)
        axes = F[class_rows].T @ (weights * scale[class_rows, None])
    added = np.empty(n)
    for rows in row_blocks(n, 8 * (len(class_rows) + len(values)), min_rows=1024):
        if F is not None:
            Z = F[rows] @ axes * scale[rows, None]
        else:
            block = np.arange(rows.start, rows.stop)
            block_similarity = similarity.part(np.append(block, class_rows))
            K = block_similarity.rows(np.arange(len(block), block_similarity.n))
            Z = to_host(K)[:, : len(block)].T @ weights
        added[rows] = log_score_gains(spectrum, Z, q, 1 / len(class_rows))
    orthogonal = np.zeros((1, len(values)))
    return added, float(log_score_gains(spectrum, orthogonal, q, 1 / len(class_rows))[0])
