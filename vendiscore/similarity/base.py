"""The base class `Similarity`: the symmetric similarity matrix K of n samples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import ClassVar, Self, TypeVar

import numpy as np

from ..core.checks import check_positive_diagonal, check_unit_diagonal
from ..support import memory
from ..support.call_hints import AttributeHintMixin, HelpfulCallMeta
from ..support.namespace import (
    Array,
    gram,
    is_numpy,
    namespace,
    product,
    row_blocks,
    scale_rows,
    to_host,
)
from ..support.summary import format_repr
from ..support.types import Options, Rows
from . import sparse as sp
from .duplicate_rows import joint_groups

Index = slice | np.ndarray

_NO_OPTIONS: Options = MappingProxyType({})
_NO_SAMPLES: Mapping[int, str] = MappingProxyType({})
S = TypeVar("S", bound="Similarity")


class Similarity(AttributeHintMixin, metaclass=HelpfulCallMeta):
    """Base class of similarities between n samples: a symmetric matrix K of shape (n, n).

    Kernels return a subclass and measures use its methods. K may be stored, computed on demand, or
    a product of features. It can be scaled by a factor s_i per sample, to diag(s) K diag(s).
    Methods return new objects and modify none. For a kernel of your own, return one of the
    subclasses; see `register_kernel`.

    Attributes
    ----------
    n : int
        Number of samples.
    dim : int or None
        Number of columns of `features`; None if K has no features.
    psd : bool
        Whether K is positive semidefinite by construction.
    scale : array of shape (n,) or None
        The factors s; None means ones.
    settings : mapping
        How K was computed, for reports. `noted` returns a copy with more settings or notes.
    notes : sequence of str
        Sentences for users about how K was computed.
    fitted : mapping
        Options fitted to the samples, such as a bandwidth. Passed as keywords, they define the
        same kernel for other samples.
    roundoff : float
        Relative precision of the input if it is lower than double precision (2^-7 for bfloat16),
        else 0.
    dropped : mapping of int to str
        Samples dropped by ``on_error="skip"``: index in the list that was passed, and the reason.
        K and n describe the remaining samples, in their order.
    missed : mapping of int to str
        Samples that the kernel cannot represent: index, and reason such as "is blank". Kernels set
        this attribute, `partial` and `merges`; `notes` mentions these samples.
    partial : mapping of int to str
        Samples that the kernel represents only in part: index, and reason such as "is truncated at
        256 tokens".
    merges : bool
        Whether different texts may have identical features.
    truncates : bool
        Whether the samples in `partial` are truncated. This always causes a warning.
    scripts : sequence of str
        Scripts of the texts that an encoder was trained for, as the first word of names of Unicode
        characters ("LATIN"). Texts in other scripts cause a warning and a note.
    echoes : array of bool of shape (n,) or None
        Which samples repeat their prompt verbatim, if similarities are conditioned on prompts; None
        if there are none.
    vocabulary_columns : bool
        Whether the columns of `features` are classes, tags, words or fragments, only some of which
        occur in a set. Measures that compare columns then ignore columns that are zero for all
        samples.

    See Also
    --------
    as_similarity : Build a similarity from samples.
    MatrixSimilarity : Similarities as a matrix.
    FeatureSimilarity : Similarities as dot products of features.
    RowsSimilarity : Similarities computed on demand.

    Examples
    --------
    >>> from vendiscore import as_similarity
    >>> K = as_similarity(["red", "red", "blue"], k="labels")
    >>> K.matmul(np.ones(3))  # number of samples in each class
    array([2., 2., 1.])
    >>> K.take(np.array([0, 2])).dense()
    array([[1., 0.],
           [0., 1.]])
    """

    _has_method_hints = False

    n: int
    dim: int | None = None
    psd: bool = False
    scale: Array | None = None
    settings: Options = _NO_OPTIONS
    fitted: Options = _NO_OPTIONS
    notes: Sequence[str] = ()
    roundoff: float = 0.0
    dropped: Mapping[int, str] = _NO_SAMPLES
    missed: Mapping[int, str] = _NO_SAMPLES
    partial: Mapping[int, str] = _NO_SAMPLES
    merges: bool = False
    truncates: bool = False
    scripts: Sequence[str] = ()
    echoes: Array | None = None
    vocabulary_columns: bool = False
    _call_hint: ClassVar[str] = "pass samples to as_similarity(samples, k=…)"

    def __repr__(self) -> str:
        return format_repr(type(self).__name__, {"n": self.n, **self.settings})

    def __str__(self) -> str:
        suffix = ""
        if "kernel" in self.settings:
            suffix = f", by {self.settings['kernel']!r}"
        return f"Similarities between {self.n:,} samples{suffix}."

    def __copy__(self) -> Self:
        new = object.__new__(type(self))  # not via `__reduce__`, which may compute all entries
        vars(new).update(vars(self))
        return new

    def __getstate__(self) -> dict[str, object]:
        """Return the attributes to pickle, with read-only mappings converted to dicts."""
        return {name: _to_picklable(value) for name, value in vars(self).items()}

    def _copy_attributes_to(self, other: S) -> S:
        """Return a copy of `other` with the attributes of this similarity, except `n` and `dim`.

        `other` is an object of another subclass of Similarity that represents the same matrix K.
        """
        names = [
            name for name in Similarity.__annotations__ if name not in ("n", "dim", "_call_hint")
        ]
        return other._replace(**{name: _to_picklable(getattr(self, name)) for name in names})

    @property
    def in_threads(self) -> bool:
        """Whether rows of K can be computed in several threads at once."""
        return False

    @abstractmethod
    def _diagonal(self) -> Array:
        """Return the diagonal of K in float64, shape (n,), without the factors `scale`.

        The public method `diagonal` multiplies the result by these factors of the samples.
        """

    @abstractmethod
    def _rows(self, index: Index) -> Array:
        """Return the m rows K[index], shape (m, n), without the factors `scale`.

        The public method `rows` multiplies the result by these factors of the samples. The array is
        dense, and the caller must not modify it.
        """

    @abstractmethod
    def _take(self, index: np.ndarray) -> Similarity:
        """Return the similarity K[index][:, index], without the factors `scale`.

        The public method `take` scales the result by these factors of the samples.
        """

    def _part(self, index: np.ndarray) -> Similarity:
        """Return the similarity of the samples `index`, computed from these samples only.

        The result is without the factors `scale`, by which the public method `part` scales it.
        Subclasses override this method if the similarities of a subset can differ from those in the
        whole set, or can be computed faster.
        """
        return self._take(index)

    def _blocks(self) -> Iterable[slice]:
        """Divide the n rows of K into slices whose rows fit in the cache."""
        return row_blocks(self.n, 8 * self.n)

    def _upper_blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield (block, K[block, block.start:]) for slices of rows, `block`.

        Together these arrays contain all entries of the upper triangle of K. They are without the
        factors `scale`, by which the caller multiplies rows and columns.
        """
        for block in self._blocks():
            yield block, self._rows(block)[:, block.start :]

    def _features(self) -> Rows:
        """Return features F (n, dim) with K = F Fᵀ, if K has features, without factors `scale`."""
        raise TypeError(
            f"{type(self).__name__} has no features (`dim` is None), only similarities; use `dense`"
        )

    def _matmul(self, V: Array) -> Array:
        """Compute K @ V for V of shape (n,) or (n, m), where K is without the factors `scale`.

        The public method `matmul` multiplies V and the result by these factors of the samples.
        """
        products = [product(self._rows(block), V) for block in self._blocks()]
        xp = namespace(products[0])
        return xp.concat(products)

    def _groups(self) -> np.ndarray | None:
        """Return one code per sample, shape (n,); samples with equal codes have equal rows of K.

        K is without the factors `scale`; the public method `groups` takes them into account.
        Returns None if it is unknown which samples are identical.
        """
        return None

    def groups(self) -> np.ndarray | None:
        """Return a code for each sample; samples with equal codes are identical for the kernel.

        These groups of identical samples are not related to the argument `groups` of `compute`.

        Returns
        -------
        array of int of shape (n,) or None
            The codes; None if it is unknown which samples are identical.
        """
        groups = self._groups()
        if groups is None or self.scale is None:
            return groups
        # Samples with different scale factors are not identical.
        return joint_groups([groups, to_host(self.scale)])

    @property
    def _has_unit_scale(self) -> bool:
        """Whether all factors `scale` are known to be 1, up to rounding in single precision."""
        return self.scale is None

    def diagonal(self) -> Array:
        """Return k(x, x), the similarity with itself, of every sample x.

        Returns
        -------
        array of shape (n,)
            The diagonal of K.
        """
        diagonal = self._diagonal()
        if self.scale is None:
            return diagonal
        return diagonal * self.scale**2

    def rows(self, index: Index) -> Array:
        """Return the rows of K of m selected samples.

        Parameters
        ----------
        index : slice or array of int
            Indices of the selected samples.

        Returns
        -------
        array of shape (m, n)
            The rows, dense. Do not modify them.
        """
        rows = self._rows(index)
        if self.scale is None:
            return rows
        return rows * self.scale[index, None] * self.scale[None, :]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Iterate over all rows of K in blocks that fit in the cache.

        Yields
        ------
        tuple of slice and array
            The indices of the rows, and the rows.
        """
        for block in self._blocks():
            yield block, self.rows(block)

    def dense(self) -> Array:
        """Return K as a new array.

        Returns
        -------
        array of shape (n, n)
            The matrix in float64.

        Raises
        ------
        TooLargeError
            If the matrix does not fit in memory.
        """
        diagonal = self.diagonal()
        if not is_numpy(diagonal):  # keep the device and the gradient
            xp = namespace(diagonal)
            K = xp.concat([rows for _, rows in self.blocks()])
            return xp.astype(K, xp.float64, copy=False)
        out = self._new_matrix()
        for block, rows in self.blocks():
            out[block] = rows
        return out

    def entries_work(self) -> float:
        """Return the cost of computing all entries of K.

        Returns
        -------
        float
            The number of multiplications of a dense matrix product that takes the same time.
        """
        return float(self.n) ** 2 * (self.dim or 0)

    def covariance_work(self) -> float:
        """Return the cost of computing `covariance()`, the matrix F^T F of the features F.

        Returns
        -------
        float
            The number of multiplications of a dense matrix product that takes the same time.
        """
        return float(self.n) * (self.dim or 0) ** 2

    def _new_matrix(self) -> np.ndarray:
        """Return an uninitialized matrix (n, n); raise a TooLargeError if memory is too small."""
        description = f"the similarity matrix of {self.n} samples"
        memory.require(8 * self.n**2, description, "compare fewer samples")
        return np.empty((self.n, self.n))

    def features(self) -> Rows:
        """Return features F with K = F F^T. Raises a TypeError if `dim` is None.

        Returns
        -------
        array or CSR array of shape (n, dim)
            The features.
        """
        F = self._features()
        if self.scale is None:
            return F
        return scale_rows(F, self.scale)

    def projected(self, V: Array, single: bool = False) -> Array:
        """Compute the product of the features F (n, dim) with a matrix, F @ V.

        Parameters
        ----------
        V : array of shape (dim, m)
            A matrix with m columns.
        single : bool, default False
            Whether to compute in float32 if the features are a NumPy array.

        Returns
        -------
        array of shape (n, m)
            A new array.
        """
        return self.features() @ V

    def covariance(self) -> Array:
        """Compute F^T F for features F (n, dim), which has the same non-zero eigenvalues as K.

        Returns
        -------
        array of shape (dim, dim)
            A new array.
        """
        F = self.features()
        if sp.issparse(F):
            return (F.T @ F).toarray()
        return gram(F.T)

    def matmul(self, V: Array) -> Array:
        """Compute the product K @ V in float64.

        Parameters
        ----------
        V : array of shape (n,) or (n, m)
            A vector or matrix.

        Returns
        -------
        array of the shape of V
            The product; a torch tensor if the similarities are stored as tensors.
        """
        if self.scale is None:
            return self._matmul(V)
        s = self.scale
        if V.ndim > 1:
            s = s[:, None]  # multiplies rows
        return self._matmul(V * s) * s  # diag(s) K diag(s) V

    def squared_norm(self) -> Array | float:
        """Compute the squared Frobenius norm of K.

        Returns
        -------
        float or 0-d tensor
            The sum of squared entries.
        """
        if self.dim is not None and self.dim < self.n:
            C = self.covariance()  # for features F, ‖F Fᵀ‖² = ‖Fᵀ F‖²
            return namespace(C).sum(C * C)
        if not is_numpy(self.diagonal()):
            return sum(namespace(K).sum(K * K) for _, K in self.blocks())
        # Σ s_i² K_ij² s_j², where s are the factors `scale`.
        scale = self.scale
        if scale is None:
            scale = np.ones(self.n)
        row_weights = scale**2
        total = 0.0
        for block, K in self._upper_blocks():
            scaled_columns = K * scale[block.start :]  # scale before squaring, which could overflow
            # The entries in columns after the block count twice, by symmetry.
            diagonal_block, later = np.split(scaled_columns, [len(K)], axis=1)
            row_squares = np.vecdot(diagonal_block, diagonal_block) + 2 * np.vecdot(later, later)
            total += float(row_weights[block] @ row_squares)
        return total

    def _replace(self, **changes: object) -> Self:
        """Return a copy of this similarity in which attributes have the values in `changes`."""
        new = copy(self)
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def noted(self, *, notes: Sequence[str] = (), **attributes: object) -> Self:
        """Return a copy with additional notes and other attributes.

        Parameters
        ----------
        notes : sequence of str, default ()
            Notes to append.
        **attributes
            New values of other attributes, such as `settings`, `fitted` or `dropped`.

        Returns
        -------
        Similarity
            The copy.
        """
        return self._replace(notes=(*self.notes, *notes), **attributes)

    def scaled(self, s: Array) -> Self:
        """Multiply row i and column i of K by s_i, for each sample i: diag(s) K diag(s).

        Parameters
        ----------
        s : array of shape (n,)
            One factor per sample.

        Returns
        -------
        Similarity
            The scaled similarities.
        """
        if self.scale is not None:
            s = self.scale * s
        return self._replace(scale=s)

    def compact(self) -> Similarity:
        """Return the same similarities without features that are zero for all samples.

        Returns
        -------
        Similarity
            The copy.
        """
        return self

    def bare(self) -> Self:
        """Return the similarities without the factors `scale`.

        These are the factors by which rows and columns of K are multiplied.

        Returns
        -------
        Similarity
            The unscaled similarities.
        """
        return self._replace(scale=None)

    def take(self, index: np.ndarray) -> Similarity:
        """Return the similarities of a subset of samples, in the given order.

        Parameters
        ----------
        index : array of int
            Indices of samples; duplicates are allowed.

        Returns
        -------
        Similarity
            The subset.
        """
        return self._copy_metadata_to(self._take(index), index)

    def part(self, index: np.ndarray) -> Similarity:
        """Return the similarities of a subset, using only features and pairs of its samples.

        Values can differ from those that `take` returns if the similarity of two samples depends on
        other samples, as for equivalence classes.

        Parameters
        ----------
        index : array of int
            Indices of samples; duplicates are allowed.

        Returns
        -------
        Similarity
            The subset.
        """
        return self._copy_metadata_to(self._part(index), index)

    def in_numpy(self) -> Self:
        """Convert tensors to NumPy arrays that share their memory, if possible.

        Returns
        -------
        Similarity
            The same object if it already uses NumPy.
        """
        return self

    def stack(self, indices: np.ndarray) -> Array:
        """Compute the similarity matrices of several sets of equal size.

        Parameters
        ----------
        indices : array of int of shape (g, m)
            Indices of the m samples of each of g sets.

        Returns
        -------
        array of shape (g, m, m)
            The matrices in float64.
        """
        K = self._stack(indices)
        if self.scale is None:
            return K
        s = self.scale[indices]
        return K * s[:, :, None] * s[:, None, :]

    def _stack(self, indices: np.ndarray) -> Array:
        """Compute the similarity matrices of g sets of m samples, shape (g, m, m).

        `indices` (g, m) contains the indices of the samples of each set. The matrices are without
        the factors `scale`, by which the public method `stack` multiplies their rows and columns.
        """
        matrices = [self._part(set_indices).dense() for set_indices in indices]
        return namespace(matrices[0]).stack(matrices)

    def _copy_metadata_to(self, subset: S, index: Index) -> S:
        """Return a copy of `subset` with the settings, fitted options and notes of this similarity.

        `index` are the samples of this similarity that `subset` contains; their scale is copied as
        well. Attributes that list samples by index, such as `dropped`, are not copied.
        """
        echoes = self.echoes  # which samples repeat their prompt verbatim, one bool per sample
        if echoes is not None:
            echoes = echoes[index]
        subset = subset._replace(
            settings=self.settings,
            fitted=self.fitted,
            notes=self.notes,
            roundoff=self.roundoff,
            echoes=echoes,
            vocabulary_columns=self.vocabulary_columns,
        )
        if self.scale is None:
            return subset
        return subset.scaled(self.scale[index])

    def normalized(self) -> Self:
        """Return the similarities divided by sqrt(K_ii K_jj), with ones on the diagonal.

        Returns
        -------
        Similarity
            The normalized similarities.

        Raises
        ------
        SampleError
            If diagonal entries are not positive.
        """
        diagonal = self.diagonal()
        check_positive_diagonal(diagonal, indices=_input_indices(self) if self.dropped else None)
        return self.scaled(1 / namespace(diagonal).sqrt(diagonal))


def _input_indices(similarity: Similarity) -> list[int]:
    """Return the index of each of the n samples in the list that the user passed.

    That list also contains the samples in `similarity.dropped`, which are not among the n samples.
    """
    dropped = list(similarity.dropped)
    return np.setdiff1d(range(similarity.n + len(dropped)), dropped).tolist()


def _to_picklable(value: object) -> object:
    """Convert a MappingProxyType, which cannot be pickled, to a dict; return others unchanged."""
    return dict(value) if isinstance(value, MappingProxyType) else value


def check_diagonal(similarity: S) -> S:
    """Return the similarity; raise a SampleError unless k(x, x) = 1 for every sample x."""
    if getattr(similarity, "has_unit_diagonal", False) and similarity._has_unit_scale:
        return similarity  # known by construction, or examined in single precision
    with np.errstate(all="ignore"):
        diagonal = similarity.diagonal()
    check_unit_diagonal(
        diagonal,
        similarity.roundoff,
        has_features=similarity.dim is not None,
        indices=_input_indices(similarity) if similarity.dropped else None,
    )
    return similarity
