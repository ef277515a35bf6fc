"""Groups of near-duplicates: one retained sample, and samples that are similar to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...measures.stacked_groups import MAX_STACKED_SIZE
from ...resolve.kernel import list_kernels
from ...resolve.sample_labels import encode_labels
from ...resolve.similarity_builder import similarity_subset
from ...similarity import sparse as sp
from ...similarity.base import Similarity
from ...similarity.duplicate_rows import joint_groups
from ...similarity.group_indices import iter_groups_by_size
from ...support.arguments import DEFAULT_THRESHOLD, check_float
from ...support.call_hints import AttributeHintMixin
from ...support.errors import warn
from ...support.namespace import Array, row_blocks, to_host
from ...support.summary import format_repr
from ...support.text_detection import normalize_text
from ...support.types import Samples
from . import pair_search
from .near_pairs import ROUNDING, Neighbours, Pair
from .pair_search import FLOOR_MARGIN, SimilarPairs, first_in_group, search_pairs

REPEAT_THRESHOLDS = (0.8, 0.9, 0.95, 0.99)  # thresholds at which repeats are counted


def find_duplicates(
    similarity: Similarity,
    threshold: float = DEFAULT_THRESHOLD,
    floor: float | None = None,
    p: Array | None = None,
    forms: Sequence[str] | None = None,
    codes: np.ndarray | None = None,
) -> tuple[Neighbours, Duplicates]:
    """Find nearest neighbours and near-duplicates in one pass over all pairs of n samples.

    Samples with equal `forms`, such as normalized texts, are near-duplicates at any threshold.
    Samples with different `codes`, such as codes of prompts, are not compared. `p` are the weights
    of the samples; samples of weight 0 are not retained if another sample can be. If more than
    MAX_PAIRS pairs reach the threshold, it is raised, with a warning.
    """
    n = similarity.n
    groups = _merge_identical(similarity.groups(), forms)
    has_zero_weight = np.zeros(n, dtype=bool)
    if p is not None:
        has_zero_weight = to_host(p) == 0
    # Of identical samples, those of weight 0 come last.
    first = first_in_group(groups, has_zero_weight)
    if codes is None:
        neighbours, floor, pairs = search_pairs(similarity, first, threshold, floor)
    else:
        first = first_in_group(joint_groups([codes, first]), has_zero_weight)
        neighbours, floor, pairs = _search_pairs_by_code(similarity, codes, first, threshold, floor)
    if floor > threshold + ROUNDING:
        warn(
            f"more than {pair_search.MAX_PAIRS:,} pairs have a similarity of at least "
            f"{threshold:g}; the threshold for near-duplicates was raised to {floor:.6g}"
        )
        threshold = floor
    i, j, similarities = pairs
    order = np.lexsort((j, i, -similarities))
    ordered = [column[order] for column in pairs]
    return neighbours, Duplicates(n, threshold, floor, first, ordered, has_zero_weight)


def _search_pairs_by_code(
    similarity: Similarity,
    codes: np.ndarray,
    first: np.ndarray,
    threshold: float,
    floor: float | None,
) -> tuple[Neighbours, float, SimilarPairs]:
    """Compare only samples with equal codes; arguments and results are those of `search_pairs`."""
    neighbours = Neighbours(similarity.n)
    if floor is None:
        floor = threshold - FLOOR_MARGIN
    # Small groups of distinct samples are compared together, and others one by one.
    has_copy = first != np.arange(similarity.n)
    has_copy[first[has_copy]] = True
    identical = similarity.groups()
    if identical is not None:
        joint = joint_groups([codes, identical])
        has_copy |= np.bincount(joint)[joint] > 1
    columns: list[SimilarPairs] = []
    remaining = []
    for _, members in iter_groups_by_size(codes):
        is_stacked = ~has_copy[members].any(axis=1) & (1 < members.shape[1] <= MAX_STACKED_SIZE)
        remaining += list(members[~is_stacked])
        columns += _compare_stacked_groups(similarity, members[is_stacked], neighbours, floor)
    for rows in remaining:
        subset = similarity_subset(similarity, rows)
        first_in_subset = np.searchsorted(rows, first[rows])
        subset_neighbours, floor, (i, j, similarities) = search_pairs(
            subset, first_in_subset, threshold, floor
        )
        neighbours.nearest[rows] = rows[subset_neighbours.nearest]
        neighbours.similarity[rows] = subset_neighbours.similarity
        columns.append((rows[i], rows[j], similarities))
    i, j, similarities = map(np.concatenate, zip(*columns, strict=True))
    return neighbours, floor, (i, j, similarities)


def _compare_stacked_groups(
    similarity: Similarity, members: np.ndarray, neighbours: Neighbours, floor: float
) -> Iterator[SimilarPairs]:
    """Compare the samples of g groups of m samples; yield pairs, and set their `neighbours`.

    `members` (g, m) are the indices of samples in ascending order. Pairs have a similarity of at
    least `floor`.
    """
    m = members.shape[1]
    for block in row_blocks(len(members), 8 * m * max(m, similarity.dim or 0)):
        rows = members[block]
        K = np.array(to_host(similarity.stack(rows)), dtype=np.float64)
        K[:, np.arange(m), np.arange(m)] = -np.inf  # a sample is not its own neighbour
        neighbours.nearest[rows] = np.take_along_axis(rows, K.argmax(axis=2), axis=1)
        neighbours.similarity[rows] = K.max(axis=2)
        group, a, b = np.nonzero(np.triu(floor - 2 * ROUNDING <= K))
        yield rows[group, a], rows[group, b], K[group, a, b]


def _merge_identical(groups: np.ndarray | None, forms: Sequence[str] | None) -> np.ndarray | None:
    """Return a group code for each of n samples; identical samples and equal forms have one code.

    `groups`, shape (n,), are the codes of identical samples. The result has shape (n,), or is None
    if both arguments are None.
    """
    if forms is None:
        return groups
    from scipy.sparse import csgraph

    codes = encode_labels(forms).codes
    if groups is None:
        return codes
    n = len(codes)
    is_later = np.zeros(n, dtype=bool)
    first = np.r_[first_in_group(codes, is_later), first_in_group(groups, is_later)]
    indices = np.arange(n)
    edges = np.ones(2 * n, dtype=bool)
    graph = sp.coo_array((edges, (np.r_[indices, indices], first)), shape=(n, n))
    _, components = csgraph.connected_components(graph, directed=False)
    return components


@dataclass(frozen=True, eq=False, repr=False)
class Duplicates(AttributeHintMixin):
    """Near-duplicates among n samples: pairs whose similarity is at least `threshold`."""

    n: int
    threshold: float
    floor: float  # the lowest threshold that `rethreshold` accepts
    _first_copy: np.ndarray  # index of the first sample that is identical to each sample
    _pairs: Sequence[np.ndarray]  # indices i, indices j and similarities, in descending order
    _has_zero_weight: np.ndarray  # True for samples of weight 0

    def __repr__(self) -> str:
        values = {"n": self.n, "threshold": self.threshold, "groups": len(self.groups())}
        return format_repr("Duplicates", values)

    def rethreshold(self, threshold: float) -> Duplicates:
        """Return the near-duplicates at another threshold, without comparing samples again."""
        checked = check_float("threshold", threshold, "a similarity, at most 1", lambda t: t <= 1)
        if checked < self.floor - ROUNDING:
            raise ValueError(
                f"`threshold` must be at least {self.floor:.6g}, got {checked:.6g}, because less "
                f"similar pairs were not stored; call explain with threshold={checked:.6g}"
            )
        return replace(self, threshold=checked)

    @cached_property
    def representatives(self) -> np.ndarray:
        """Position of the retained sample that each of the n samples repeats, shape (n,).

        −1 for retained samples. If a near-duplicate is similar to several retained samples, the
        most similar one is used.
        """
        # Samples with the most near-duplicates are retained first, samples of weight 0 last.
        i, j, similarity = self._select_pairs(slice(self._num_near_duplicate_pairs))
        copies = np.bincount(
            self._first_copy, minlength=self.n
        )  # number of copies, itself included
        rows = np.r_[i, j]
        columns = np.r_[j, i]
        entries = np.r_[similarity, similarity]
        graph = sp.csr_array((entries, (rows, columns)), shape=(self.n, self.n))
        neighbours = np.bincount(rows, copies[columns], self.n)
        n_near_duplicates = neighbours + copies - 1
        representative = np.full(self.n, -1)
        best = np.full(self.n, -np.inf)
        for candidate in np.lexsort((-n_near_duplicates, self._has_zero_weight)).tolist():
            if (
                not copies[candidate]
                or not n_near_duplicates[candidate]
                or best[candidate] > -np.inf
            ):
                continue  # a copy, without near-duplicates, or similar to a retained sample
            row_slice = slice(graph.indptr[candidate], graph.indptr[candidate + 1])
            neighbours = graph.indices[row_slice]
            similarities = graph.data[row_slice]
            closer = similarities > best[neighbours]
            updated = neighbours[closer]
            best[updated] = similarities[closer]
            representative[updated] = candidate
        is_copy = self._first_copy != np.arange(self.n)
        representative_of_first = representative[self._first_copy]
        return np.where(
            is_copy & (representative_of_first < 0), self._first_copy, representative_of_first
        )

    @property
    def retained(self) -> np.ndarray:
        """Positions of the samples that remain if near-duplicates are removed, ascending."""
        return np.flatnonzero(self.representatives < 0)

    def groups(self) -> list[tuple[int, list[int]]]:
        """Return the groups of near-duplicates by position, the largest group first.

        A group is a tuple of the retained sample and a list of its near-duplicates.
        """
        groups: dict[int, list[int]] = {}
        for position, representative in enumerate(self.representatives.tolist()):
            if representative >= 0:
                groups.setdefault(representative, []).append(position)
        return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))

    def boundary(self, count: int, input_indices: np.ndarray) -> tuple[list[Pair], list[Pair]]:
        """Return up to `count` pairs above and below the threshold, those closest to it.

        Pairs contain `input_indices` of samples. Of identical samples, only one is considered.
        """
        edge = self._num_near_duplicate_pairs
        above = min(edge, count)
        i, j, similarity = self._select_pairs(slice(edge - above, edge + count))
        columns = zip(
            input_indices[i].tolist(), input_indices[j].tolist(), similarity.tolist(), strict=True
        )
        pairs = [Pair(*column) for column in columns]
        nearest_first = pairs[:above][::-1]
        return nearest_first, pairs[above:]

    def count_repeats(self) -> dict[float, int | None]:
        """Count near-duplicates by threshold in `REPEAT_THRESHOLDS`; None below the floor."""
        counts: dict[float, int | None] = dict.fromkeys(REPEAT_THRESHOLDS)
        for level in REPEAT_THRESHOLDS:
            if level >= self.floor - ROUNDING:
                changed = self.rethreshold(level)
                counts[level] = self.n - len(changed.retained)
        return counts

    def _select_pairs(self, positions: slice) -> list[np.ndarray]:
        """Return indices i, indices j and similarities of a slice of the stored pairs."""
        return [column[positions] for column in self._pairs]

    @property
    def _num_near_duplicate_pairs(self) -> int:
        """Number of pairs with a similarity of at least the threshold."""
        min_similarity = self.threshold - ROUNDING
        similarity = self._pairs[2]
        return int(np.searchsorted(-similarity, -min_similarity, side="right"))


def normalize_texts(
    similarity: Similarity, samples: Samples, indices: np.ndarray
) -> list[str] | None:
    """Return the texts at `indices` without case, spaces and punctuation.

    The result is None if the samples are not texts, or are not compared as texts.
    """
    if not isinstance(samples, list):
        return None
    text_kernels = [kernel.name for kernel in list_kernels() if kernel.samples == "text"]
    if similarity.settings.get("kernel") not in text_kernels:
        return None
    texts = [samples[i] for i in indices]
    if not all(isinstance(text, str) for text in texts):
        return None
    return [normalize_text(text) for text in texts]
