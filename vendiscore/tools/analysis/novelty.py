"""Novelty: what each new sample adds to the score of a set of references, or of its classes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.eigenvalues import PSD, check_psd
from ...resolve.kernel_builder import is_divisible
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
    """The gains of n samples: log VS_q of the references, or of each class, with each added.

    Attributes
    ----------
    values : array (n,), the least that each adds to a class; NaN for samples left out
    table : array (n, C), log VS of each class with the sample minus without
    most : array (C,), what a sample adds that has nothing in common with any reference
    classes : tuple (C,) of the labels of the references, in order of appearance; (None,) without

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
        """Return a pandas DataFrame with a row for each sample: its novelty and nearest class.

        `class` is the label of the class to which the sample adds least, None if it was left out.
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
    """Return what each new sample would add to the score of the references.

    This is log VS_q of the references with the sample minus log VS_q without it, exactly. It
    depends on no other new sample, so that a threshold found today holds tomorrow.

    Parameters
    ----------
    samples, references : list or array
        n and m samples of the kind that `k` compares. Not changed.
    labels : sequence of hashable (m,), optional
        The class of each reference: the novelty of a sample is the least that it adds to a class.
        Classes of one size, since one sample adds more to a small set.
    k : str, callable, dict or list, optional
        A registered kernel, a function of two samples, or a mixture; strings: "ngram_overlap".
        Options that a kernel fits, such as `sigma`, follow from the references alone.
    q : float in (0, 2], the order
    psd : {"check", "clip"}
        Raise for negative eigenvalues of the references' similarities, or set them to zero.
    **how
        `score_X`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    Novelty
        `values` (n,), in nats, `table` (n, C), `most` and `classes`: below 0 for a sample that
        makes the set less diverse, at most `most`, for one that has nothing in common with it.

    Raises
    ------
    TypeError, ValueError, SampleError, NotPSDError, TooLargeError
        For input that cannot be compared, labels of another number, an order above 2; see `psd`;
        if the spectrum would not fit in memory.

    Notes
    -----
    To detect samples of another source, the similarity with the nearest references is often the
    better score. A sample adds little to the references if it lies in directions that they have
    already, however far it is from each of them. In benchmarks/novelty.py (results
    benchmarks/results/novelty.json) the five nearest references have the largest area under the ROC
    curve in 5 of 10 cases: for all four of digits (0.89 to 0.92; novelty 0.71 to 0.79, with classes
    0.83 to 0.86) and, by less than 0.01, for one of two of questions by n-grams. Novelty with
    classes is best for the other and for embeddings of questions, novelty without classes for
    molecules.
    One decomposition of each class, O(m d² + d³) from d features or O(m³), and then a projection,
    O(d²) or O(m²) a sample: linear in the samples, but for functions `k`, which compare all pairs.

    References
    ----------
    Vendi Novelty Scores, arXiv 2602.10062, whose detector also weights these gains by the predicted
    classes of the sample, which this function does not; the identity is in docs/identity.md.

    Examples
    --------
    >>> found = novelty([[0.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [2.0, 0.0]], k="cosine")
    >>> found.values.round(3)
    array([0.637, 0.381])
    """
    read = similarity_spec_from_keywords({**how, "k": k}, allow_fit=True)
    order = check_novelty_order(q)
    check_psd(psd)
    named = {"samples": samples, "references": references}
    sets = [check_collection(each, read, name, has_other_sets=True) for name, each in named.items()]
    pool = build_pooled_similarity(sets, read, list(named))
    check_no_gradient("novelty", **how, samples=pool)
    if is_divisible(pool):
        raise TypeError(
            "novelty needs a kernel by which two samples are as alike in any company, which the "
            f"classes of k={getattr(read.k, 'name', '')!r} are not: pass them to k='labels'"
        )
    n, m = count_samples_by_set(sets, read)
    groups = (
        encode_labels([None] * m) if labels is None else parse_group_labels(labels, "labels", m)
    )
    classes = groups.labels
    places = np.setdiff1d(np.arange(n + m), list(pool.dropped))  # of rows of the pool
    kept = places[places < n]
    codes = groups.codes[places[len(kept) :] - n]
    table = np.full((n, len(classes)), np.nan)
    most = np.empty(len(classes))
    with np.errstate(all="ignore"):
        for code in range(len(classes)):
            members = len(kept) + np.flatnonzero(codes == code)
            if not len(members):
                raise ValueError(f"no reference of class {classes[code]!r} is left; add some")
            table[kept, code], most[code] = gains(pool, len(kept), members, order, psd)
    return Novelty(table.min(axis=1), table, most, classes)


def gains(
    pool: Similarity, n: int, members: np.ndarray, q: float, psd: PSD
) -> tuple[np.ndarray, float]:
    """Return what each of the first n samples of a pool adds to log VS_q of the `members`, (n,).

    And what a sample adds that has nothing in common with any of them.
    """
    spectrum = compute_spectrum(pool.take(members), psd=psd, vectors=True)
    values, U = positive_eigenpairs(spectrum, q)
    weights = U / np.sqrt(values * len(members))  # of members in each eigenvector, a unit vector
    F = None if pool.dim is None else pool.bare().features()  # no copy, for each class
    if sp.issparse(F):
        F = None
    if F is not None:
        F = to_host(F)
        scale = np.ones(pool.n) if pool.scale is None else to_host(pool.scale)
        axes = F[members].T @ (weights * scale[members, None])
    added = np.empty(n)
    for rows in row_blocks(n, 8 * (len(members) + len(values)), min_rows=1024):
        if F is not None:
            Z = F[rows] @ axes * scale[rows, None]
        else:
            block = np.arange(rows.start, rows.stop)
            both = pool.part(np.append(block, members))
            K = both.rows(np.arange(len(block), both.n))
            Z = to_host(K)[:, : len(block)].T @ weights
        added[rows] = log_score_gains(spectrum, Z, q, 1 / len(members))
    alone = np.zeros((1, len(values)))
    return added, float(log_score_gains(spectrum, alone, q, 1 / len(members))[0])
