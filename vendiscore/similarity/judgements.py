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
    """Count triples with a ~ b and b ~ c but not a ~ c, for a symmetric relation of n items.

    >>> count_open_triples(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool))
    1
    """
    S = same.astype(float)
    np.fill_diagonal(S, 0)
    degrees = S.sum(0)
    paths = (degrees * (degrees - 1)).sum()
    closed = np.vdot(S @ S, S)
    return round(float(paths - closed) / 2)


class Judgements:
    """Judgements of pairs of distinct samples, each computed once and cached.

    In sets of at most `audit` distinct samples, all pairs are judged, to count triples that are
    not transitive. In larger sets, only the pairs that the rule of NoveltyBench needs are judged.
    """

    def __init__(self, judge: Judge, audit: int) -> None:
        self.judge = judge
        self.audit = audit
        self.cached_scores: dict[Pair, float] = {}
        # number of open triples of each set, None if not counted
        self.open_triples: dict[tuple[int, ...], int | None] = {}
        self.diagonal_shifts: dict[bytes, float] = {}  # δ of the matrix of each set

    def judge_pairs(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the judgement of each pair, from the cache if possible."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.cached_scores]
        if new:
            self.cached_scores.update(zip(new, self.judge(new), strict=True))
        return [self.cached_scores[pair] for pair in pairs]

    def assign_classes(self, sets: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Assign the samples of each set to classes, using only pairs within that set."""
        remaining = [list(dict.fromkeys(ids.tolist())) for ids in sets]
        self._audit(map(tuple, remaining))
        codes: list[dict[int, int]] = [{} for _ in sets]
        code = 0
        while any(remaining):  # compare the first remaining sample of each set with the others
            pairs = [(ids[0], other) for ids in remaining for other in ids[1:]]
            verdicts = iter(self.judge_pairs(pairs))
            for j, ids in enumerate(remaining):
                equivalent = [i for i in ids[1:] if next(verdicts)]
                codes[j].update(dict.fromkeys([*ids[:1], *equivalent], code))
                remaining[j] = [i for i in ids if i not in codes[j]]
            code += 1
        classes = []
        for code_by_id, set_ids in zip(codes, sets, strict=True):
            classes.append(np.array([code_by_id[i] for i in set_ids.tolist()]))
        return classes

    def _audit(self, sets: Iterable[tuple[int, ...]]) -> None:
        """Judge all pairs of small sets, and count their open triples."""
        new = [ids for ids in sets if len(ids) > 2 and ids not in self.open_triples]
        small = [ids for ids in new if len(ids) <= self.audit]
        pairs = [list(combinations(ids, 2)) for ids in small]
        self.judge_pairs(list(chain(*pairs)))  # one call for all sets
        self.open_triples.update(dict.fromkeys(new))
        for ids, set_pairs in zip(small, pairs, strict=True):
            n = len(ids)
            S = np.zeros((n, n), dtype=bool)
            upper = np.triu_indices(n, 1)
            S[upper] = self.judge_pairs(set_pairs)
            self.open_triples[ids] = count_open_triples(S | S.T)

    def compute_matrix(self, ids: np.ndarray) -> np.ndarray:
        """Compute (K + δI)/(1 + δ) for distinct samples, with the smallest δ ≥ 0 that makes it PSD.

        The entry k_ij is the mean of the scores of (i, j) and (j, i), and k_ii is 1.

        >>> judgements = Judgements(lambda pairs: [i / 4 for i, _ in pairs], audit=0)
        >>> judgements.compute_matrix(np.array([1, 3]))
        array([[1. , 0.5],
               [0.5, 1. ]])
        """
        m = len(ids)
        identity = np.eye(m)
        K = 1 * identity
        K[identity == 0] = self.judge_pairs([*permutations(ids.tolist(), 2)])
        K = (K + K.T) / 2
        shift = -np.linalg.eigvalsh(K)[0]
        if shift <= 1e-12 * m:  # rounding error
            shift = 0.0
        self.diagonal_shifts[ids.tobytes()] = shift
        return (K + shift * identity) / (1 + shift)

    @property
    def notes(self) -> list[str]:
        """Sentences about the judgements."""
        counted = [count for count in self.open_triples.values() if count is not None]
        notes = []
        total = sum(counted)
        if total:
            notes.append(
                f"`same` is not transitive: in {total:,} triples, a is equivalent to b and b to "
                "c, but a is not equivalent to c. Classes therefore depend on the order of "
                f"samples ({sum(map(bool, counted)):,} of {len(counted):,} sets in which all "
                "pairs were judged contain such triples)."
            )
        if len(counted) < len(self.open_triples):
            notes.append(
                f"Transitivity of `same` was checked in {len(counted):,} of "
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

    `part` judges only pairs of the subset; `take` judges all pairs and selects rows and columns.
    """

    psd = True
    divisible = True
    _full_similarity: Similarity  # of all samples

    def __init__(self, judgements: Judgements, ids: np.ndarray) -> None:
        self.n: int = len(ids)
        self.judgements = judgements
        self.ids = ids
        self._notes: Sequence[str] = ()

    @property
    def notes(self) -> Sequence[str]:
        """The notes of the similarity, and current notes on the judgements."""
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
        """Pickle the judged similarities, because the judge may not support pickling."""
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
    """Similarity 1 for samples of the same class, else 0; `part` computes classes of the subset.

    >>> same = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool)
    >>> judgements = Judgements(lambda pairs: [same[pair] for pair in pairs], audit=3)
    >>> K = EquivalenceSimilarity(judgements, np.arange(3))
    >>> K.codes, K.part(np.array([1, 2])).codes
    (array([0, 0, 1]), array([0, 0]))
    """

    @cached_property
    def codes(self) -> np.ndarray:
        """The class of each sample (n,), numbered by first occurrence."""
        return self.judgements.assign_classes([self.ids])[0]

    @cached_property
    def _full_similarity(self) -> Similarity:  # type: ignore[override]
        ones = np.ones(self.n)
        shape = (self.n, int(self.codes.max()) + 1)
        starts = np.arange(self.n + 1)
        return FeatureSimilarity(sp.csr_array((ones, self.codes, starts), shape))

    def _rows(self, index: Index) -> Array:
        same = self.codes[index, None] == self.codes
        return same.astype(float)

    def _stack(self, indices: np.ndarray) -> Array:
        codes = np.array(self.judgements.assign_classes(list(self.ids[indices])))
        same = codes[:, :, None] == codes[:, None, :]
        return same.astype(float)


class GradedSimilarity(JudgedSimilarity):
    """The mean score of two samples in both orders; 1 for duplicates. See `compute_matrix`.

    >>> judgements = Judgements(lambda pairs: [i / 4 for i, _ in pairs], audit=0)
    >>> GradedSimilarity(judgements, np.array([1, 3, 1])).dense()
    array([[1. , 0.5, 1. ],
           [0.5, 1. , 0.5],
           [1. , 0.5, 1. ]])
    """

    @cached_property
    def _full_similarity(self) -> Similarity:  # type: ignore[override]
        distinct, inverse = np.unique(self.ids, return_inverse=True)
        K = MatrixSimilarity(self.judgements.compute_matrix(distinct), psd=True)
        return RepeatedSimilarity(K, inverse)

    def _stack(self, indices: np.ndarray) -> Array:
        sets = self.ids[indices].tolist()
        self.judgements.judge_pairs([pair for ids in sets for pair in permutations(set(ids), 2)])
        return super()._stack(indices)
