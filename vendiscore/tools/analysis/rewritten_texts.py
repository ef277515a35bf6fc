"""Scores of texts after some of their words are replaced by words that occur in no other text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ...core.eigenvalues import EigenvalueTolerance
from ...core.hill import hill_number
from ...core.score import Solver, compute_hill_numbers
from ...kernels.text import Tokens, count_by_text, iter_ngrams, weight_ngrams
from ...similarity import sparse as sp
from ...similarity.features import MAX_COMMON_COLUMNS, MIN_COMMON_FREQUENCY, add_sparse
from ...spectral.eigendecomposition import decompose
from ...support.memory import has_room, require
from ...support.namespace import row_blocks

# Small sets are processed together, up to this number of texts.
MAX_BLOCK_SIZE = 256
MAX_ROW_VALUES = 1 << 24  # values of changed rows that are processed at once
_NO_POSITIONS = np.zeros(0, int)


class NgramFeatures:
    """Features of texts whose dot products are similarities under the kernel "ngram_overlap".

    Parameters
    ----------
    tokens : sequence of sequences
        The tokens of each text.
    orders : sequence of int
        Lengths n of the n-grams, the option `ns` of the kernel.
    """

    def __init__(self, tokens: Sequence[Tokens], orders: Sequence[int]) -> None:
        """Assign a feature column to each distinct n-gram of each length in `orders`."""
        self.orders = orders
        self.lengths: np.ndarray = np.array(list(map(len, tokens)))
        # First position of each text.
        self.starts: np.ndarray = np.cumsum(self.lengths) - self.lengths
        self.text_ids: np.ndarray = np.repeat(np.arange(len(tokens)), self.lengths)
        # For each n, the column of the n-gram that starts at each position; -1 if it has none.
        self.columns: np.ndarray = np.full((len(orders), len(self.text_ids)), -1)
        offset = 0
        for n, (grams, starts) in enumerate(iter_ngrams(tokens, max(orders)), 1):
            for row in np.flatnonzero(np.equal(orders, n)):
                self.columns[row, starts] = offset + grams
                offset += int(grams.max(initial=-1)) + 1
        self.width = offset

    def rewritten(self, texts: np.ndarray, positions: np.ndarray = _NO_POSITIONS) -> sp.csr_array:
        """Return the features of some texts, with unique tokens at the given positions.

        N-grams that occur in no other text have no column, so rows have a norm of at most 1.
        """
        lengths = self.lengths[texts]
        rows = np.repeat(np.arange(len(texts)), lengths)
        offsets = np.cumsum(lengths) - lengths
        window = np.arange(len(rows)) - offsets[rows] + self.starts[texts][rows]
        # The number of replaced tokens before each token, to count those in each n-gram.
        is_replaced = np.isin(window, positions)
        n_before = np.append(0, np.cumsum(is_replaced))
        ngrams = []
        for n, columns in zip(self.orders, self.columns[:, window], strict=True):
            ends = np.minimum(np.arange(len(rows)) + n, len(rows))
            is_shared = (columns >= 0) & (n_before[ends] == n_before[:-1])
            ngrams.append(count_by_text(columns[is_shared], rows[is_shared], len(texts)))
        weights = weight_ngrams(lengths, self.orders, ngrams)
        entries = [
            (row, column, counts * factors[row])
            for (row, column, counts), (factors, _) in zip(ngrams, weights, strict=True)
        ]
        row, column, values = map(np.concatenate, zip(*entries, strict=True))
        return sp.csr_array((values, (row, column)), shape=(len(texts), self.width))

    def compute_factors(self) -> np.ndarray:
        """Return the value of the feature of an n-gram that occurs once in a text.

        The result has a row for each n in `orders` and a column for each text.
        """
        ngrams = []
        for columns in self.columns:
            is_shared = columns >= 0
            ngrams.append(
                count_by_text(columns[is_shared], self.text_ids[is_shared], len(self.lengths))
            )
        return np.array([each for each, _ in weight_ngrams(self.lengths, self.orders, ngrams)])


@dataclass(frozen=True, eq=False)
class _Block:
    """One set of texts, or several small sets, whose similarities are computed together.

    Attributes
    ----------
    texts : array (n,)
        Indices of the texts, sorted by set.
    set_codes : array (n,)
        The set of each text, as its position in `RewrittenSets.sets`.
    common : array (n, c)
        The features of the texts in the c frequent columns.
    rare : sparse array (d, n)
        The transpose of the features in the d other columns.
    """

    texts: np.ndarray
    set_codes: np.ndarray
    common: np.ndarray
    rare: sp.csr_array


class RewrittenSets:
    """Scores of sets of texts after tokens at some positions are replaced by unique tokens.

    The score is the mean over the sets, as `compute` returns it for groups.

    Parameters
    ----------
    features : NgramFeatures
        The features of all texts.
    sets : sequence of array of int
        Indices of the texts of each set.
    weights : array (n_texts,)
        Weights of the texts, which sum to 1 in each set.
    """

    def __init__(
        self, features: NgramFeatures, sets: Sequence[np.ndarray], weights: np.ndarray
    ) -> None:
        """Split the sets into blocks, and find the features that are frequent among all texts."""
        self.features = features
        self.sets = sets
        self.weights = weights
        self.n_sets: int = len(sets)
        self.max_size = max(map(len, sets))
        X = features.rewritten(np.arange(len(features.lengths)))
        counts = np.bincount(X.indices, minlength=X.shape[1])
        self._is_common = counts > max(MIN_COMMON_FREQUENCY * X.shape[0], 8)
        self._is_common[np.argsort(-counts)[MAX_COMMON_COLUMNS:]] = False
        self._blocks = list(self._build_blocks(X))
        # The block of each text and its row in it; -1 for texts that are in no set.
        self._block_of, self._row_of = np.full((2, X.shape[0]), -1)
        for i, block in enumerate(self._blocks):
            self._block_of[block.texts] = i
            self._row_of[block.texts] = np.arange(len(block.texts))

    def _build_blocks(self, X: sp.csr_array) -> Iterator[_Block]:
        """Yield blocks of successive sets: one set, or as many as fit into MAX_BLOCK_SIZE texts."""
        start = 0
        while start < self.n_sets:
            size = len(self.sets[start])
            end = start + 1
            while end < self.n_sets and size + len(self.sets[end]) <= MAX_BLOCK_SIZE:
                size += len(self.sets[end])
                end += 1
            texts = np.concatenate(self.sets[start:end])
            sizes = list(map(len, self.sets[start:end]))
            set_codes = np.repeat(np.arange(start, end), sizes)
            common, rare = self._split(X[texts])
            yield _Block(texts, set_codes, common, rare.T.tocsr())
            start = end

    def _split(self, X: sp.csr_array) -> tuple[np.ndarray, sp.csr_array]:
        """Return the frequent columns of X as a dense array, and the others as a sparse array."""
        return X[:, self._is_common].toarray(), X[:, ~self._is_common]

    @cached_property
    def _similarities(self) -> list[np.ndarray] | None:
        """The similarities of the texts of each block; None if they do not fit in memory."""
        if not has_room(8 * sum(len(block.texts) ** 2 for block in self._blocks)):
            return None
        return [
            np.concatenate([rows for _, rows in self._iter_rows(block)]) for block in self._blocks
        ]

    def _iter_rows(self, block: _Block) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the similarities of the texts of a block in slices of rows."""
        n = len(block.texts)
        for rows in row_blocks(n, 8 * n):
            X = self.features.rewritten(block.texts[rows])
            yield rows, _set_diagonal(self._multiply(X, block), np.arange(n)[rows])

    def _multiply(self, X: sp.csr_array, block: _Block) -> np.ndarray:
        """Return the dot products of features and those of the texts of a block."""
        common, rare = self._split(X)
        return add_sparse(common @ block.common.T, rare @ block.rare)

    def _original_rows(self, block_index: int, rows: np.ndarray) -> np.ndarray:
        """Return the similarities of some texts of a block to all texts of the block."""
        if self._similarities is not None:
            return self._similarities[block_index][rows]
        block = self._blocks[block_index]
        X = self.features.rewritten(block.texts[rows])
        return _set_diagonal(self._multiply(X, block), rows)

    def iter_changes(
        self, positions: np.ndarray, max_rows: int | None = None
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the similarities of the changed texts, for each block that contains any.

        A text changes if tokens at some of its positions become unique. Yields (block_index,
        changed, selected, K): `changed` contains the rows of all changed texts in the block,
        `selected` indices into `changed`, and K, shape (len(selected), n), the similarities of the
        selected texts to all n texts of the block after the change. With `max_rows`, one block may
        be yielded several times, each time with at most this number of selected texts.
        """
        texts = np.unique(self.features.text_ids[positions])
        blocks = self._block_of[texts]
        for i in np.unique(blocks[blocks >= 0]).tolist():
            block = self._blocks[i]
            changed_texts = texts[blocks == i]
            changed = self._row_of[changed_texts]
            X = self.features.rewritten(changed_texts, positions)
            # Similarities to changed texts are replaced by those to the rewritten texts.
            transposed = X.T.tocsr()
            n = len(changed)
            step = n if max_rows is None else max_rows
            for start in range(0, n, step):
                selected = np.arange(start, min(start + step, n))
                K = self._multiply(X[selected], block)
                K[:, changed] = (X[selected] @ transposed).toarray()
                yield i, changed, selected, _set_diagonal(K, changed[selected])

    @cached_property
    def _squared_norms(self) -> np.ndarray:
        """Σ p_i p_j K_ij² of each set, the inverse of its score of order 2."""
        sums = np.zeros(self.n_sets)
        for block in self._blocks:
            p = self.weights[block.texts]
            for rows, K in self._iter_rows(block):
                K *= K
                K *= block.set_codes[rows, None] == block.set_codes
                np.add.at(sums, block.set_codes[rows], p[rows] * (K @ p))
        return sums

    def compute_score_of_order_2(self, positions: np.ndarray = _NO_POSITIONS) -> float:
        """Return the mean score of order 2, with unique tokens at the given positions.

        The score of a set is 1 / Σ p_i p_j K_ij². `sums` contains the sum of each set; only the
        terms of changed texts are updated.
        """
        sums = self._squared_norms.copy()
        max_rows = max(1, MAX_ROW_VALUES // self.max_size)
        for i, changed, selected, K in self.iter_changes(positions, max_rows):
            block = self._blocks[i]
            p = self.weights[block.texts]
            # Pairs with an unchanged text occur twice in the sum, in a changed row and column.
            pair_weights = 2 * p
            pair_weights[changed] = p[changed]
            rows = changed[selected]
            differences = K * K
            differences -= self._original_rows(i, rows) ** 2
            differences *= block.set_codes[rows, None] == block.set_codes
            np.add.at(sums, block.set_codes[rows], p[rows] * (differences @ pair_weights))
        return float(np.mean(1 / sums))

    def iter_squared_changes(
        self, positions: np.ndarray
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield the changes of squared similarities in each set with texts that change.

        Yields the index of the set, the positions in the set of the texts that change, and the
        differences (new minus old) of their squared similarities to all texts of the set.
        """
        for i, changed, _, K in self.iter_changes(positions):
            set_codes = self._blocks[i].set_codes
            differences = K**2 - self._original_rows(i, changed) ** 2
            for code in np.unique(set_codes[changed]).tolist():
                start, stop = np.searchsorted(set_codes, [code, code + 1])
                is_in_set = set_codes[changed] == code
                yield code, changed[is_in_set] - start, differences[is_in_set, start:stop]

    def iter_squared_similarities(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the index of each set and the squared similarities of its texts."""
        for i, block in enumerate(self._blocks):
            for code in np.unique(block.set_codes).tolist():
                rows = np.flatnonzero(block.set_codes == code)
                yield code, self._original_rows(i, rows)[:, rows] ** 2

    def compute_score(self, q: float, positions: np.ndarray = _NO_POSITIONS) -> float:
        """Return the mean score of order q, with unique tokens at the given positions."""
        if q == 2:
            return self.compute_score_of_order_2(positions)
        scores = np.array(self._original_scores(q))
        for i, changed, _, changed_rows in self.iter_changes(positions):
            K = self._copy_similarities(i)  # of block i
            K[changed] = changed_rows
            K[:, changed] = changed_rows.T
            codes = np.unique(self._blocks[i].set_codes[changed])
            scores[codes] = self._score_block(self._blocks[i], K, codes, q)
        return float(np.mean(scores))

    def _copy_similarities(self, block_index: int) -> np.ndarray:
        """Return a new array with the similarities of all texts of a block."""
        n = len(self._blocks[block_index].texts)
        require(24 * n**2, f"the similarity matrix of {n:,} texts", "use q=2, or fewer texts")
        return self._original_rows(block_index, np.arange(n))

    def _original_scores(self, q: float) -> np.ndarray:
        """Return the score of order q of each set."""
        if q not in self._scores:
            scores = np.empty(self.n_sets)
            for i, block in enumerate(self._blocks):
                codes = np.unique(block.set_codes)
                scores[codes] = self._score_block(block, self._copy_similarities(i), codes, q)
            self._scores[q] = scores
        return self._scores[q]

    @cached_property
    def _scores(self) -> dict[float, np.ndarray]:
        return {}

    def _score_block(self, block: _Block, K: np.ndarray, codes: np.ndarray, q: float) -> np.ndarray:
        """Return the scores of some sets of a block, from the similarities K of all its texts.

        `codes` are the indices of these sets. Sets of equal size are scored together.
        """
        roots = np.sqrt(self.weights[block.texts])
        scores = np.empty(len(codes))
        starts = np.searchsorted(block.set_codes, codes)
        sizes = np.searchsorted(block.set_codes, codes, side="right") - starts
        for size in np.unique(sizes).tolist():
            selected = np.flatnonzero(sizes == size)
            rows = starts[selected, None] + np.arange(size)
            A = K[rows[:, :, None], rows[:, None]] if len(K) > size else K[None]
            A *= roots[rows][:, :, None] * roots[rows][:, None]
            tolerance = EigenvalueTolerance(size, semidefinite=True)
            solver = Solver(partial(decompose, describe_cause=tolerance.describe_cause))
            matrices = A[0] if len(A) == 1 else A  # single large matrices are decomposed faster
            (score,), _ = compute_hill_numbers(matrices, [q], tolerance, solver=solver)
            scores[selected] = score
        return scores

    def compute_max_score(self, q: float) -> float:
        """Return the mean score of order q if no two texts had a token in common."""
        return float(np.mean([float(hill_number(self.weights[texts], q)) for texts in self.sets]))


def _set_diagonal(K: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Set the similarity of the text of each row to itself, in the given columns, to 1."""
    K[np.arange(len(K)), columns] = 1
    return K
