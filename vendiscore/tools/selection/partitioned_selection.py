"""The function `select_batches`: a diverse subset of data in partitions (GreeDi), with a bound.

First, 2k rows of each partition are selected greedily, and k of all these rows (Mirzasoleiman et
al., NeurIPS 2013). A second pass computes an upper bound on the score of every selection of k rows
from a tangent of the objective (see `upper_bound`), and adds the k rows with the largest gradient
to the candidates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...encoders.sample_encoder import keep_encoders
from ...resolve.similarity_spec import KernelArgument
from ...similarity import sparse as sp
from ...similarity.base import Similarity
from ...similarity.sample_arrays import as_samples
from ...support.arguments import DEFAULT_ORDER, check_int, check_order
from ...support.errors import collect_warnings, merge_warnings
from ...support.namespace import to_host
from ...support.progress import quiet
from ...support.summary import SummaryMixin, make_frame, to_json_record, truncate_line
from ...support.types import Frame, Record
from ..streams.arrow_tables import concatenate_tables, select_columns
from ..streams.engines import Batches, reduce_data
from ..streams.second_moment import SecondMoment, scale_to_diagonal, second_moment_from_similarity
from ..streams.state import State
from ..streams.state_settings import is_plain
from .prefixes import prefix_scores
from .select_samples import select
from .upper_bound import compute_tangent, log_score_or_infinity

if TYPE_CHECKING:
    import pyarrow

# Partitions with more rows are divided, which limits the memory. Up to this number of candidates,
# the second round selects from the candidates of all partitions; more of them are reduced before.
MAX_PARTITION_ROWS = 1 << 16
MAX_CANDIDATES = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class BatchSelection(SummaryMixin):
    """Result of `select_batches`: selected rows, ordered by their gain.

    Attributes
    ----------
    places : array of int of shape (size,)
        Indices of the selected rows, in the order of the data.
    rows : pyarrow.Table
        The selected rows: the column with the samples, and the columns of `keep`.
    scores : array of shape (size,)
        VS_q of the first row, the first two and so on.
    bound : float
        A proved upper bound on VS_q of all selections of this size.
    q : float
        Order of `scores` and `bound`.
    n : int
        Number of rows of the data.

    See Also
    --------
    vendiscore.select_batches : Select rows.

    Examples
    --------
    >>> from vendiscore import select_batches
    >>> batches = [{"x": [[1.0, 0.0], [1.0, 0.1]]}, {"x": [[0.0, 1.0]]}]
    >>> result = select_batches(batches, "x", 2, k="cosine")
    >>> result.places.tolist(), round(result.certified, 6)
    ([0, 2], 1.0)
    """

    places: np.ndarray
    rows: Any
    scores: np.ndarray
    bound: float
    q: float
    n: int

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[int]:
        return iter(self.places.tolist())

    @property
    def certified(self) -> float:
        """The ratio ``scores[-1] / bound``, in (0, 1]; 1 means that no selection scores more."""
        return float(self.scores[-1]) / self.bound

    @property
    def sentence(self) -> str:
        """The number of selected rows, their score, and its ratio to the bound."""
        return (
            f"{len(self)} of {self.n:,} rows: VS (q={self.q:g}) = {self.scores[-1]:.4g}, at least "
            f"{self.certified:.1%} of the maximum."
        )

    def __repr__(self) -> str:
        brief = self.sentence.rstrip(".")
        return truncate_line(f"BatchSelection({brief}, places={self.places.tolist()!r})")

    def to_dict(self) -> Record:
        """Return the result as built-in types, for JSON.

        Returns
        -------
        dict
            Values of built-in types. `rows` is a list of dicts.
        """
        return to_json_record(
            {
                "places": self.places,
                "rows": self.rows.to_pylist(),
                "scores": self.scores,
                "bound": self.bound,
                "certified": self.certified,
                "q": self.q,
                "n": self.n,
            }
        )

    def to_frame(self) -> Frame:
        """Return one row per selected row as a pandas DataFrame.

        Returns
        -------
        pandas DataFrame
            Index, score and columns of each row.
        """
        columns = {name: self.rows[name].to_pylist() for name in self.rows.column_names}
        return make_frame({"index": self.places, "score": self.scores, **columns})


@dataclass(frozen=True)
class CandidateRows:
    """Rows of a partition that may be selected.

    Attributes
    ----------
    indices : array of shape (m,)
        Indices of the rows in the partition.
    features : array of shape (m, d)
        Their features of unit norm.
    rows : pyarrow.Table or None
        The rows; None if there are none.
    """

    indices: np.ndarray
    features: np.ndarray
    rows: pyarrow.Table | None

    def __len__(self) -> int:
        return len(self.indices)

    def take(self, positions: np.ndarray) -> CandidateRows:
        rows = None if self.rows is None else self.rows.take(positions)
        return CandidateRows(self.indices[positions], self.features[positions], rows)


NO_ROWS = CandidateRows(np.zeros(0, int), np.zeros((0, 0)), None)


def concatenate_candidates(parts: Sequence[CandidateRows], offsets: Sequence[int]) -> CandidateRows:
    """Concatenate candidates of partitions whose first rows have the indices `offsets`."""
    pairs = [(part, offset) for part, offset in zip(parts, offsets, strict=True) if len(part)]
    if not pairs:
        return NO_ROWS
    tables: list[Any] = [part.rows for part, _ in pairs]
    return CandidateRows(
        np.concatenate([part.indices + offset for part, offset in pairs]),
        np.concatenate([part.features for part, _ in pairs]),
        concatenate_tables(tables, tables[0].column_names),
    )


@dataclass(frozen=True)
class PassResult:
    """The result of one pass over a part of the data.

    Attributes
    ----------
    n : int
        Number of rows.
    candidates : CandidateRows
        In the first pass, the rows selected from each partition; in the second pass, the rows with
        the largest gradients.
    best, best_score : CandidateRows, float
        In the first pass, the best selection of `size` rows within one partition, and its score.
    moment : SecondMoment or None
        In the first pass, the sum of x xᵀ over the features x of all rows.
    gradients : array
        In the second pass, the gradients of `candidates`.
    """

    n: int = 0
    candidates: CandidateRows = NO_ROWS
    best: CandidateRows = NO_ROWS
    best_score: float = -math.inf
    moment: SecondMoment | None = None
    gradients: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class FirstPass:
    """Selects up to 2 `size` rows of each partition, and sums x xᵀ; a `Reduction` of engines.

    `columns` are the column with the samples and the columns to keep.
    """

    empty: State
    columns: list[str]
    size: int
    q: float
    shared: Record

    def compute(self, batches: Batches) -> PassResult:
        """Return the result for the rows of batches, divided into partitions of limited size."""
        results = []
        tables: list[Any] = []
        with keep_encoders():
            for batch in batches:
                tables.append(select_columns(batch, self.columns))
                if sum(map(len, tables)) >= MAX_PARTITION_ROWS:
                    results.append(self._compute_partition(tables))
                    tables = []
            if sum(map(len, tables)):
                results.append(self._compute_partition(tables))
        return self.merge(results)

    def _compute_partition(self, tables: Sequence[Any]) -> PassResult:
        table = concatenate_tables(tables, list(dict.fromkeys(self.columns)))
        samples = as_samples(table[self.columns[0]])
        similarity = scale_to_diagonal(self.empty._build_similarity(samples, self.empty.spec))
        usable = np.setdiff1d(np.arange(len(table)), list(similarity.dropped))
        F = similarity.features()
        F = np.asarray(F.toarray() if sp.issparse(F) else to_host(F), dtype=float)
        return self.compute_features(similarity, F, usable, table)

    def compute_features(
        self, similarity: Similarity, F: np.ndarray, usable: np.ndarray, table: pyarrow.Table
    ) -> PassResult:
        """Return the result for a partition with features F of its rows with indices `usable`."""
        positions, score = select_features(F, min(2 * self.size, len(F)), self.size, self.q)
        indices = usable[positions]
        candidates = CandidateRows(indices, F[positions], table.take(indices))
        moment = second_moment_from_similarity(similarity, None)
        if len(positions) < self.size:
            return PassResult(len(table), candidates, moment=moment)
        best = candidates.take(np.arange(self.size))
        return PassResult(len(table), candidates, best, score, moment)

    def merge(self, results: Sequence[PassResult]) -> PassResult:
        """Concatenate candidates; if there are too many, select 2 `size` of them."""
        offsets = np.cumsum([0, *(result.n for result in results)]).tolist()
        n = offsets.pop()
        candidates = concatenate_candidates([result.candidates for result in results], offsets)
        if len(candidates) > MAX_CANDIDATES:
            F = candidates.features
            positions, _ = select_features(F, 2 * self.size, self.size, self.q)
            candidates = candidates.take(positions)
        best = NO_ROWS
        best_score = -math.inf
        moment = None
        for result, offset in zip(results, offsets, strict=True):
            if result.best_score > best_score:
                best = concatenate_candidates([result.best], [offset])
                best_score = result.best_score
            if moment is None or result.moment is None:
                moment = moment or result.moment
            else:
                moment = moment.combined_with(result.moment)
        return PassResult(n, candidates, best, best_score, moment)


@dataclass(frozen=True)
class SecondPass(FirstPass):
    """Finds the `size` rows x with the largest gradients xᵀ M x."""

    M: np.ndarray

    def compute_features(
        self, similarity: Similarity, F: np.ndarray, usable: np.ndarray, table: pyarrow.Table
    ) -> PassResult:
        gradients = np.vecdot(F @ self.M, F)
        positions = np.argsort(-gradients, kind="stable")[: self.size]
        indices = usable[positions]
        candidates = CandidateRows(indices, F[positions], table.take(indices))
        return PassResult(len(table), candidates, gradients=gradients[positions])

    def merge(self, results: Sequence[PassResult]) -> PassResult:
        """Return the `size` candidates with the largest gradients."""
        offsets = np.cumsum([0, *(result.n for result in results)]).tolist()
        n = offsets.pop()
        candidates = concatenate_candidates([result.candidates for result in results], offsets)
        gradients = np.concatenate([np.zeros(0), *(result.gradients for result in results)])
        order = np.argsort(-gradients, kind="stable")[: self.size]
        return PassResult(n, candidates.take(order), gradients=gradients[order])


def select_features(F: np.ndarray, m: int, size: int, q: float) -> tuple[np.ndarray, float]:
    """Select m rows of F. Return their indices, and the score of the first `size` selected rows."""
    with collect_warnings(), quiet():  # warnings about the selection from a part of the rows
        selection = select(F, m, q=q, k="cosine")
    if selection.interrupted:  # `select` returns the samples selected so far
        raise KeyboardInterrupt
    return selection.places, float(selection.scores[min(size, m) - 1])


def select_batches(
    batches: Iterable[object],
    column: str,
    size: int,
    *,
    keep: Sequence[str] = (),
    q: float = DEFAULT_ORDER,
    k: KernelArgument | None = None,
    **options: object,
) -> BatchSelection:
    """Select a diverse subset of rows in many partitions, with a bound on how good it is.

    Rows are selected from each partition, on the workers of an engine if it has some, and `size` of
    all these rows here (GreeDi). A second pass over the data computes an upper bound for all
    subsets of `size` rows, and adds the rows with the largest gradients to the candidates.

    Parameters
    ----------
    batches : data frame, dataset or sequence of batches
        The data, as for `score_batches`, but not a stream that can be read only once.
    column : str
        Column with the samples.
    size : int
        Number of rows to select.
    keep : sequence of str, optional
        Further columns of the selected rows to return, such as an identifier.
    q : float, default 1
        Order of the score, 0 < q <= 2.
    k : str
        The kernel, one that `State` accepts.
    **options
        `score_X`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    BatchSelection
        The selected rows (`.rows`), their indices (`.places`), the scores of the first 1, 2, ... of
        them (`.scores`), an upper bound for all selections (`.bound`) and `.certified`.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices in their partition.
    TypeError, ValueError
        If there are fewer than `size` usable rows, the data can be read only once, a column is
        missing, `State` does not accept the kernel, or another argument is invalid.

    See Also
    --------
    select : Select from samples that fit in memory.
    score_batches : Score all rows.

    Notes
    -----
    2 `size` rows of each partition are candidates, and partitions with more than 65536 rows are
    divided. Let f be a monotone submodular function, such as sum_i lambda_i^q with q < 1, m the
    number of partitions and k = `size`. Then f of the selection is at least (1 - 1/e)^2 / min(m, k)
    of the maximum (Mirzasoleiman et al.), and if rows are assigned to partitions at random, at
    least (1 - 1/e) / 2 in expectation (Barbosa et al.). For q >= 1, there is no such guarantee. For
    all q, `bound` is an upper bound for the given data. The selection depends on the partitioning.

    Each pass embeds the samples. Each partition needs memory for its features and 2 `size`
    candidates. More than 65536 candidates are reduced to 2 `size` in a further round.

    References
    ----------
    B. Mirzasoleiman, A. Karbasi, R. Sarkar and A. Krause, "Distributed Submodular Maximization:
    Identifying Representative Elements in Massive Data", NeurIPS, 2013.

    R. Barbosa, A. Ene, H. Nguyen and J. Ward, "The Power of Randomization: Distributed Submodular
    Maximization on Massive Datasets", ICML, 2015. arXiv:1502.02606.

    Examples
    --------
    >>> batches = [{"id": [1, 2], "x": [[1.0, 0.0], [1.0, 0.1]]}, {"id": [3], "x": [[0.0, 1.0]]}]
    >>> result = select_batches(batches, "x", 2, keep=["id"], k="cosine")
    >>> result.rows["id"].to_pylist(), result.scores.tolist()
    ([1, 3], [1.0, 2.0])
    """
    size = check_int("size", size)
    order = check_order(
        q,
        allow_zero=False,
        max_value=2,
        hint="the default is q=1; q=0.5 emphasizes rare samples, q=2 common ones",
    )
    if isinstance(batches, Iterator):
        raise TypeError(
            f"`batches` is read twice, but a {type(batches).__name__} can be read only once; pass "
            f"a data frame, a dataset or a list of batches"
        )
    kernel_keywords: Record = {"k": k, **options}
    empty = State(**kernel_keywords)
    columns = [column, *keep]
    shared = {name: value for name, value in kernel_keywords.items() if not is_plain(value)}
    with merge_warnings("partitions"), keep_encoders():
        first_pass = FirstPass(empty, columns, size, order, shared)
        first = reduce_data(batches, columns, first_pass)
        if first.moment is None or len(first.candidates) < size:
            raise ValueError(
                f"`size` must be at most the number of usable rows, got size={size} for "
                f"{first.n} rows"
            )
        best = _select_best([first.candidates, first.best], size, order)
        # The tangent at the mean of the second moments of all rows and of the selection.
        total = SecondMoment(first.moment.d, first.moment.packed_triangle()).matrix()
        A = (total / np.trace(total) + best.features.T @ best.features / size) / 2
        dims = min(size, len(A))
        power_sum, V, slopes = compute_tangent(A, dims, order)
        second_pass = SecondPass(empty, columns, size, order, shared, V * slopes[:-1] @ V.T)
        with collect_warnings():  # the same as those of the first pass
            second = reduce_data(batches, columns, second_pass)
    candidates = concatenate_candidates([first.candidates, second.candidates], [0, 0])
    candidates = candidates.take(np.unique(candidates.indices, return_index=True)[1])
    best = _select_best([candidates, best], size, order)
    scores = prefix_scores(best.features @ best.features.T, order)
    log_bound = log_score_or_infinity(power_sum + float(second.gradients.mean()), order)
    bound = min(float(dims), math.exp(min(log_bound, math.log(dims))))
    # Rounding can make the bound slightly smaller than the score.
    bound = max(bound, float(scores[-1]))
    return BatchSelection(best.indices, best.rows, scores, bound, order, first.n)


def _select_best(options: Sequence[CandidateRows], size: int, q: float) -> CandidateRows:
    """Select `size` rows of each option, and return the selection with the largest score."""
    best = NO_ROWS
    best_score = -math.inf
    for candidates in options:
        if len(candidates) >= size:
            positions, score = select_features(candidates.features, size, size, q)
            if score > best_score:
                best = candidates.take(positions)
                best_score = score
    return best
