"""Similarities from judgements of pairs: equivalence classes as in NoveltyBench, or scores."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain, combinations, permutations
from typing import TypeAlias

import numpy as np

from ..support.namespace import Array
from . import sparse as sp
from .base import Index, Similarity
from .composite import RepeatedSimilarity
from .features import FeatureSimilarity
from .matrix import MatrixSimilarity, restore_similarity

Pair: TypeAlias = tuple[int, int]
# Maps pairs of ids of distinct samples to scores, or to booleans: whether the two samples are
# equivalent. The first id of a pair belongs to the earlier sample.
Judge: TypeAlias = Callable[[list[Pair]], Iterable[float]]


def count_open_triples(same: np.ndarray) -> int:
    """Count triples with a ~ b and b ~ c but not a ~ c, for a symmetric relation ~ of n items.

    Entry (i, j) of `same` (n, n) is whether i ~ j. The diagonal is ignored.

    >>> count_open_triples(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool))
    1
    """
    adjacency = same.astype(float)
    np.fill_diagonal(adjacency, 0)
    degrees = adjacency.sum(0)
    # Ordered triples (a, b, c) with a ~ b ~ c, and those with a ~ c as well. Each open triple is
    # counted in both directions.
    n_paths = (degrees * (degrees - 1)).sum()
    n_closed = np.vdot(adjacency @ adjacency, adjacency)
    return round(float(n_paths - n_closed) / 2)


class Judgements:
    """Judgements of pairs of distinct samples, each computed once and cached.

    Distinct samples are identified by integer ids, in the order of their first occurrence. `judge`
    is a function that maps a list of pairs of ids to their judgements: a score, or whether the two
    samples are equivalent. If samples are assigned to classes, all pairs are judged in sets of at
    most `audit` distinct samples, to count the open triples, in which a is equivalent to b and b to
    c, but not a to c. In larger sets, only those pairs are judged that are needed to assign the
    samples to classes.
    """

    def __init__(self, judge: Judge, audit: int) -> None:
        self.judge = judge
        self.audit = audit
        self.cached_scores: dict[Pair, float] = {}
        # Number of open triples of each set of ids; None if not counted.
        self.open_triples: dict[tuple[int, ...], int | None] = {}
        # The δ of `compute_matrix` of each set of ids, as bytes.
        self.diagonal_shifts: dict[bytes, float] = {}

    def judge_pairs(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the judgement of each pair of ids; `judge` is called once for all new pairs."""
        new_pairs = [pair for pair in dict.fromkeys(pairs) if pair not in self.cached_scores]
        if new_pairs:
            self.cached_scores.update(zip(new_pairs, self.judge(new_pairs), strict=True))
        return [self.cached_scores[pair] for pair in pairs]

    def assign_classes(self, sets: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Assign the samples of each set to equivalence classes, using only pairs in that set.

        `sets` contains the ids of the samples of each set. Returns for each set an array with the
        class code of each sample. Classes are formed by the rule of NoveltyBench: the first sample
        without a class forms a class with all later samples that have no class and are equivalent
        to it, and so on. All sets are processed together, so that the function `judge` is called
        with many pairs at a time.
        """
        unassigned = [list(dict.fromkeys(ids.tolist())) for ids in sets]
        self._audit_transitivity(map(tuple, unassigned))
        code_by_id: list[dict[int, int]] = [{} for _ in sets]
        code = 0
        while any(unassigned):  # compare the first unassigned sample of each set with the others
            pairs = [(ids[0], other) for ids in unassigned for other in ids[1:]]
            # In the order of `pairs`: first those of the first set, and so on.
            verdicts = iter(self.judge_pairs(pairs))
            for j, ids in enumerate(unassigned):
                equivalent = [i for i in ids[1:] if next(verdicts)]
                code_by_id[j].update(dict.fromkeys([*ids[:1], *equivalent], code))
                unassigned[j] = [i for i in ids if i not in code_by_id[j]]
            code += 1
        classes = []
        for set_codes, set_ids in zip(code_by_id, sets, strict=True):
            classes.append(np.array([set_codes[i] for i in set_ids.tolist()]))
        return classes

    def _audit_transitivity(self, sets: Iterable[tuple[int, ...]]) -> None:
        """Judge all pairs in each set of at most `audit` samples, and count its open triples.

        Each of `sets` contains the ids of its distinct samples. In an open triple, a is equivalent
        to b and b to c, but not a to c.
        """
        new_sets = [ids for ids in sets if len(ids) > 2 and ids not in self.open_triples]
        small_sets = [ids for ids in new_sets if len(ids) <= self.audit]
        pairs_of_sets = [list(combinations(ids, 2)) for ids in small_sets]
        self.judge_pairs(list(chain(*pairs_of_sets)))  # one call of the judge for all sets
        self.open_triples.update(dict.fromkeys(new_sets))  # None for sets that are too large
        for ids, pairs in zip(small_sets, pairs_of_sets, strict=True):
            n = len(ids)
            same = np.zeros((n, n), dtype=bool)
            same[np.triu_indices(n, 1)] = self.judge_pairs(pairs)
            self.open_triples[ids] = count_open_triples(same | same.T)

    def compute_matrix(self, ids: np.ndarray) -> np.ndarray:
        """Compute the matrix (K + δI)/(1 + δ) of mean scores K of the distinct samples `ids`.

        The entry K_ij is the mean of the scores of (i, j) and (j, i), and K_ii is 1. I is the
        identity matrix, and δ ≥ 0 is the smallest number that makes the result positive
        semidefinite.

        >>> judgements = Judgements(lambda pairs: [i / 4 for i, _ in pairs], audit=0)
        >>> judgements.compute_matrix(np.array([1, 3]))
        array([[1. , 0.5],
               [0.5, 1. ]])
        """
        m = len(ids)
        identity = np.eye(m)
        K = identity.copy()
        # `permutations` yields ordered pairs in the order of the off-diagonal entries.
        K[identity == 0] = self.judge_pairs([*permutations(ids.tolist(), 2)])
        K = (K + K.T) / 2
        shift = -np.linalg.eigvalsh(K)[0]  # minus the smallest eigenvalue
        if shift <= 1e-12 * m:  # not negative, except for rounding errors
            shift = 0.0
        self.diagonal_shifts[ids.tobytes()] = shift
        return (K + shift * identity) / (1 + shift)

    @property
    def notes(self) -> list[str]:
        """Sentences for users on judgements that are not transitive or not semidefinite."""
        counts = [count for count in self.open_triples.values() if count is not None]
        notes = []
        total = sum(counts)
        if total:
            notes.append(
                f"`same` is not transitive: in {total:,} triples, a is equivalent to b and b to "
                "c, but a is not equivalent to c. Classes therefore depend on the order of "
                f"samples ({sum(map(bool, counts)):,} of {len(counts):,} sets in which all "
                "pairs were judged contain such triples)."
            )
        if len(counts) < len(self.open_triples):
            notes.append(
                f"Transitivity of `same` was checked in {len(counts):,} of "
                f"{len(self.open_triples):,} sets: those with at most {self.audit:,} distinct "
                f"samples, in which all pairs are judged (see `audit`)."
            )
        shifts = [*filter(None, self.diagonal_shifts.values())]
        if shifts:
            notes.append(
                f"The scores of `same` are not positive semidefinite: up to {max(shifts):.2g} was "
                f"added to the diagonal, in {len(shifts):,} of {len(self.diagonal_shifts):,} sets."
            )
        return notes


class JudgedSimilarity(Similarity):
    """Base class of similarities from judgements of pairs, which are judged on first use.

    For a subset, the method `part` judges only pairs of samples in the subset, and `take` judges
    all pairs and selects rows and columns. `ids` (n,) are the ids by which `judgements` identifies
    the samples; identical samples have the same id.
    """

    psd = True
    divisible = True  # subsets can be judged separately
    _full_similarity: Similarity  # of all samples; subclasses compute it on first use

    def __init__(self, judgements: Judgements, ids: np.ndarray) -> None:
        self.n: int = len(ids)
        self.judgements = judgements
        self.ids = ids
        self._notes: Sequence[str] = ()

    @property
    def notes(self) -> Sequence[str]:
        """The notes that were set for this similarity, and the notes on all judgements so far.

        A note on judgements replaces an earlier one with the same beginning, whose counts are
        outdated.
        """
        current_notes = self.judgements.notes
        beginnings = tuple(note[:40] for note in current_notes)
        other_notes = [note for note in self._notes if not note.startswith(beginnings)]
        return (*other_notes, *current_notes)

    @notes.setter
    def notes(self, notes: Sequence[str]) -> None:
        self._notes = notes

    def compact(self) -> Similarity:
        return self._copy_metadata_to(self._full_similarity, slice(None)).compact()

    def __reduce__(self) -> tuple[Callable[..., object], tuple[Similarity]]:
        """Pickle the judged matrix, because the function that judges pairs may not be picklable."""
        return restore_similarity, (self._copy_attributes_to(self._full_similarity),)

    def _diagonal(self) -> Array:
        return np.ones(self.n)

    def _rows(self, index: Index) -> Array:
        return self._full_similarity.rows(index)

    def _take(self, index: np.ndarray) -> Similarity:
        return self._full_similarity.take(index)

    def _part(self, index: np.ndarray) -> Similarity:
        return type(self)(self.judgements, self.ids[index])

    def _groups(self) -> np.ndarray | None:
        return self._full_similarity.groups()


class EquivalenceSimilarity(JudgedSimilarity):
    """Similarity 1 for samples of the same equivalence class, else 0.

    For a subset, the method `part` forms classes from pairs of samples in the subset only.

    >>> same = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool)
    >>> judgements = Judgements(lambda pairs: [same[pair] for pair in pairs], audit=3)
    >>> K = EquivalenceSimilarity(judgements, np.arange(3))
    >>> K.codes, K.part(np.array([1, 2])).codes
    (array([0, 0, 1]), array([0, 0]))
    """

    @cached_property
    def codes(self) -> np.ndarray:
        """The class of each sample, shape (n,), as codes numbered in order of first occurrence."""
        return self.judgements.assign_classes([self.ids])[0]

    @cached_property
    def _full_similarity(self) -> Similarity:  # type: ignore[override]
        """The similarity of all samples: 1 in the same class, else 0."""
        # Features with one column per class, in which its samples are 1.
        ones = np.ones(self.n)
        shape = (self.n, int(self.codes.max()) + 1)
        row_starts = np.arange(self.n + 1)
        return FeatureSimilarity(sp.csr_array((ones, self.codes, row_starts), shape))

    def _rows(self, index: Index) -> Array:
        is_same_class = self.codes[index, None] == self.codes
        return is_same_class.astype(float)

    def _stack(self, indices: np.ndarray) -> Array:
        """Compute the similarities within g sets of m samples, shape (g, m, m).

        Samples of the same class have similarity 1, others 0. Only judgements of pairs within the
        same set determine its classes. `indices` (g, m) contains the indices of the samples of each
        set.
        """
        codes = np.array(self.judgements.assign_classes(list(self.ids[indices])))
        is_same_class = codes[:, :, None] == codes[:, None, :]
        return is_same_class.astype(float)


class GradedSimilarity(JudgedSimilarity):
    """The mean score of two samples x and y over both orders, (x, y) and (y, x); 1 for duplicates.

    If the matrix of mean scores has negative eigenvalues, a multiple of the identity matrix is
    added, and the diagonal is rescaled to 1.

    >>> judgements = Judgements(lambda pairs: [i / 4 for i, _ in pairs], audit=0)
    >>> GradedSimilarity(judgements, np.array([1, 3, 1])).dense()
    array([[1. , 0.5, 1. ],
           [0.5, 1. , 0.5],
           [1. , 0.5, 1. ]])
    """

    @cached_property
    def _full_similarity(self) -> Similarity:  # type: ignore[override]
        """The mean scores of all samples, from those of distinct samples."""
        distinct, inverse = np.unique(self.ids, return_inverse=True)
        K = MatrixSimilarity(self.judgements.compute_matrix(distinct), psd=True)
        return RepeatedSimilarity(K, inverse)

    def _stack(self, indices: np.ndarray) -> Array:
        """Compute the mean scores within g sets of m samples, shape (g, m, m).

        `indices` (g, m) contains the indices of the samples of each set.
        """
        # Judge the pairs of all sets in one call; `_stack` then uses the cached judgements.
        sets = self.ids[indices].tolist()
        self.judgements.judge_pairs([pair for ids in sets for pair in permutations(set(ids), 2)])
        return super()._stack(indices)
