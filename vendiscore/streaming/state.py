"""One immutable sum of samples, from which their Vendi Score follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ..arguments import DEFAULT_ORDER, flag, is_several, refuse_gradient
from ..arrays.inputs import as_samples
from ..arrays.namespace import Samples, Weights, is_numpy, is_torch
from ..arrays.pools import as_numpy, size
from ..resolve.kernel_request import How, KernelArgument
from ..resolve.sets import resolve_sets
from ..scoring.request import check_orders
from ..signature import digits
from ..similarity.base import Similarity
from ..spectral.spectrum import PSD, Spectrum, check_psd, from_covariance
from .configuration import Configuration, configure, found_in, must_be_unit, restored
from .serialization import read_record, write_record
from .state_details import details as describe
from .sums import Precision, Sum, of_similarity, of_vectors, read_weights

# Sums of weights outside of these leave no digits, or no room, for those of products.
_LEAST, _MOST = 1e-200, 1e300
_COUNTED = ("n", "weight", "uneven", "dropped")


class FollowsFromDataError(ValueError):
    """An option follows from the samples unless it is given, so that batches would differ in it."""


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """The sum of all that was added, Σ w x xᵀ over samples x of unit length and weight w.

    Its eigenvalues over its trace are those of diag(√p) K diag(√p) with p = w / Σ w, so that
    the Vendi Score of every order follows from it, exactly. A state is not changed: `update` and
    `merge` give another. States of one configuration form a commutative monoid under `merge`, with
    the empty state as identity, and a state of samples is the merger of the states of its parts,
    whatever these are, up to rounding in double precision (1e-12); order 0 counts eigenvalues, and
    may count one more or less where that is itself as small as rounding.

    Attributes
    ----------
    n : int
        How many samples were added.
    d : int or None
        How many features they have; None as long as there are none.
    weight : float
        Σ w; n where no weights were given.
    dropped : int
        How many samples were left out by on_error="skip".
    notes : tuple of str
        What the kernel had to say of the first batch, such as how far approximate features are
        off.
    settings : dict
        Kernel, options, encoder: what states that are merged must have in common.

    Notes
    -----
    d (d + 1) / 2 numbers at most, however many samples there were: 0.6 MB at d = 384. Of fewer than
    d / 2 samples, their features.

    Examples
    --------
    >>> state = State.empty(k="cosine")
    >>> for batch in ([[1.0, 0.0], [2.0, 0.0]], [[0.0, 3.0]]):
    ...     state = state.update(batch)
    >>> state.compute(q=[0, 1])
    {'VS_q0': 2.0, 'VS_q1': 1.889...}
    >>> State.from_bytes(state.to_bytes()) + state
    <State of 6 samples, 2 features: kernel='cosine'>
    """

    _configuration: Configuration
    n: int = 0
    weight: float = 0.0
    uneven: bool = False  # whether any weights were given
    dropped: int = 0
    notes: tuple[str, ...] = ()
    _sum: Sum | None = field(default=None, repr=False)

    @classmethod
    def empty(
        cls,
        k: KernelArgument | None = None,
        *,
        score_X: bool = False,
        score_dual: bool = False,
        normalize: bool = False,
        precision: Precision = "double",
        **options: Any,
    ) -> Self:
        """Return the state of no samples.

        Parameters
        ----------
        k : str, optional
            A kernel whose features of a sample are of fixed width and depend on no other sample,
            such as "cosine", "text_embeddings" or "image_embeddings".
        score_X, score_dual, normalize : bool
            Samples are rows of features, compared by dot products; of unit length, or given it.
        **options
            Of the kernel, as for `compute`. Options that follow from the samples there, such as a
            bandwidth, must be given here.
        precision : {"double", "single"}
            What NumPy rows in float32 are multiplied in, by "cosine", "linear" and `score_X`, if
            more than d / 2 come at once.
            "single" takes half the time, and gives orders of 1 and above only, to about 1e-7
            (relative; benchmarks/streaming.py), or 1e-4 where features are linearly dependent, as
            of a few samples repeated; one set that is cut into batches in two ways has scores
            that differ by as much.

        Raises
        ------
        TypeError, ValueError
            For what `compute` refuses, and what cannot be added up; the message says what can.
        """
        return cls(configure(k, score_X, score_dual, normalize, precision, options))

    @property
    def d(self) -> int | None:
        return None if self._sum is None else self._sum.d

    @property
    def settings(self) -> dict[str, Any]:
        return self._configuration.told

    @property
    def how(self) -> How:
        """How samples are compared.

        Raises
        ------
        ValueError
            If it came as bytes that do not hold all of it.
        """
        if self._configuration.how is None:
            raise ValueError(
                "a state from bytes that do not hold its kernel or model cannot take samples; "
                "add them to State.empty(…) with the same keywords, and merge the two"
            )
        return self._configuration.how

    def __len__(self) -> int:
        return self.n

    def __bool__(self) -> bool:
        return True  # an empty one, too

    def __repr__(self) -> str:
        kernel = self.settings["kernel"]
        width = "" if self.d is None else f", {self.d} features"
        return f"<State of {self.n} samples{width}: kernel={kernel!r}>"

    def __str__(self) -> str:
        return f"{self.n:,} samples were added up, compared by {self.settings['kernel']!r}."

    def update(self, batch: Samples, p: Weights | None = None) -> Self:
        """Return the state with a batch added.

        Parameters
        ----------
        batch : list or array
            m samples of the kind that `k` compares, or none. Not changed, not kept.
        p : array, optional
            Weights of these samples, at least 0; 1 for each unless given. They are divided by
            the sum over all batches when a score is computed, so that they need not sum to 1.

        Raises
        ------
        SampleError
            For samples that cannot be used, by their places in the batch.
        TypeError, ValueError
            For what is no batch of such samples, features of another number than those before,
            weights that are none, options that would follow from the batch, and a state from
            bytes whose encoder they do not hold. The state is as it was.
        TooLargeError
            If the state would not fit in memory.

        Notes
        -----
        Time O(m d²) for m samples, after what the kernel takes to find their features.
        """
        how, configuration = self.how, self._configuration
        refuse_gradient("a State", p=p)
        samples = as_samples(batch, empty=True)
        weights = None if p is None else read_weights(p, size(samples))
        if not size(samples):
            return self
        total = self._of_vectors(samples, how, weights)
        n, left, notes = size(samples), [], self.notes
        if total is None:
            similarity = self._seen(samples, how)
            left, notes = sorted(similarity.dropped), tuple(similarity.notes)
            weights = weights if weights is None else np.delete(weights, left)
            total, n = of_similarity(similarity, weights), similarity.n
            found = found_in(similarity.settings, configuration.settings)
            configuration = replace(configuration, found=found)
        piece = replace(
            self,
            _configuration=configuration,
            n=n,
            weight=float(n if weights is None else weights.sum()),
            uneven=weights is not None,
            dropped=len(left),
            notes=notes,
            _sum=total,
        )
        return self.merge(piece)

    def _of_vectors(self, samples: Any, how: How, weights: np.ndarray | None) -> Sum | None:
        """Return the sum of a batch of plain rows of numbers, or None where a kernel must see
        it."""
        unit = must_be_unit(how)
        if is_torch(samples) and samples.device.type == "cpu" and not samples.requires_grad:
            samples = as_numpy(samples)  # which is the same memory
        plain = is_numpy(samples) and samples.ndim == 2 and samples.dtype in (np.float32, float)
        if unit is None or not plain or not samples.shape[1]:
            return None
        return of_vectors(samples, weights, self._configuration.precision, unit)

    def _seen(self, samples: Any, how: How) -> Similarity:
        """Return a batch as its kernel sees it, with features that depend on no other batch."""
        similarity = resolve_sets([samples], how, ["samples"])[0]
        if similarity.fitted:
            name, value = next(iter(similarity.fitted.items()))
            raise FollowsFromDataError(
                f"`{name}` would follow from each batch alone, {value!r:.60} for this one; pass "
                f"`{name}` to State.empty, one value for all batches"
            )
        if similarity.dim is None:
            raise TypeError(
                f"kernel {self.settings['kernel']!r} says that it has rows, but returned a "
                f"{type(similarity).__name__} without features; return a FeatureSimilarity"
            )
        refuse_gradient("a State", **how.options, samples=similarity)
        return similarity

    def merge(self, *others: State) -> Self:
        """Return the state of all samples of this and other states; `a + b` is `a.merge(b)`.

        Raises
        ------
        TypeError
            If one is no state.
        ValueError
            If one was made with another kernel, other options, another encoder or precision, or
            has another number of features; the message says which, with both values.
        """
        merged = self
        for other in others:
            if not isinstance(other, State):
                raise TypeError(
                    f"`merge` takes states, got {type(other).__name__}; of bytes make one by "
                    f"State.from_bytes"
                )
            merged._check_alike(other)
            mine, its = merged._configuration, other._configuration
            found = {**mine.found, **its.found}
            merged = replace(
                merged,
                _configuration=replace(mine, how=mine.how or its.how, found=found),
                n=merged.n + other.n,
                weight=merged.weight + other.weight,
                uneven=merged.uneven or other.uneven,
                dropped=merged.dropped + other.dropped,
                notes=merged.notes or other.notes,
                _sum=merged._sum or other._sum,
            )
        every: list[State] = [self, *others]
        sums = [each._sum for each in every if each._sum is not None]
        return replace(merged, _sum=sums[0].plus(sums[1:])) if sums else merged

    def __add__(self, other: State) -> Self:
        return self.merge(other) if isinstance(other, State) else NotImplemented

    def _check_alike(self, other: State) -> None:
        differ = self._configuration.differences(other._configuration)
        if not differ and self.d is not None and other.d is not None and self.d != other.d:
            differ = {"d": (self.d, other.d)}
        if differ:
            told = "; ".join(f"`{name}` is {a!r} and {b!r}" for name, (a, b) in differ.items())
            raise ValueError(
                f"states can be merged only if they are of one configuration, but {told}; make "
                f"all by State.empty with the same keywords, of samples of one kind"
            )

    def compute(
        self,
        q: float | str | Iterable[float | str] = DEFAULT_ORDER,
        *,
        psd: PSD = "check",
        details: bool = False,
    ) -> dict[str, Any]:
        """Return the Vendi Score of all samples that were added: what `vendiscore.compute` gives
        of them.

        Parameters
        ----------
        q : float in [0, ∞], "inf", or several
            Order.
        psd : {"check", "clip"}
            What to do about negative eigenvalues, which a sum of x xᵀ has by rounding only.
        details : bool
            Add how the number came about, under the key `details`.

        Returns
        -------
        dict
            {"VS": value} with 1 ≤ value ≤ n; for several orders {"VS_q0": …, "VS_q1": …}.

        Raises
        ------
        TypeError, ValueError
            If there are no samples, or their weights are all 0 or too large or small to add up.

        Notes
        -----
        Time O(d³), or O(n³) for n < d / 2 samples.
        """
        orders = list(dict.fromkeys(check_orders(q)))
        psd = check_psd(psd)
        told = flag("details", details)
        if self._configuration.precision == "single" and min(orders) < 1:
            raise ValueError(
                f"order {min(orders):g} depends on shares that are rounding in single precision; "
                f"stream with precision='double', or ask for orders of 1 and above"
            )
        spectrum = self._spectrum(psd)
        estimates = spectrum.estimates(orders)
        names = [f"VS_q{digits(order)}" for order in orders] if is_several(q) else ["VS"]
        values = [min(max(float(each.value), 1.0), float(self.n)) for each in estimates]
        scores: dict[str, Any] = dict(zip(names, values, strict=True))
        if not told:
            return scores
        counts = {"n": self.n, "d": self.d or 0, "dropped": self.dropped}
        p = f"given, sum {digits(self.weight)}" if self.uneven else "uniform"
        report = describe(self.settings, counts, self.notes, p, psd, orders, estimates, spectrum)
        return scores | {"details": report}

    def _spectrum(self, psd: PSD) -> Spectrum:
        if self._sum is None:
            raise ValueError("`compute` needs samples, and none were added; update the state first")
        if not _LEAST <= self.weight <= _MOST:
            raise ValueError(
                f"weights must sum to a number between {_LEAST:g} and {_MOST:g}, got "
                f"{self.weight:g}; pass larger `p`, or smaller ones, to update"
            )
        if self._configuration.precision == "single":
            roundoff = float(np.finfo(np.float32).eps)
            return from_covariance(self._sum.matrix(), self.n, "clip", roundoff=roundoff)
        return from_covariance(self._sum.matrix(), self.n, psd)

    def to_bytes(self) -> bytes:
        """Return the state as bytes, the same on every machine: 4 d (d + 1) and a short head at
        most.

        They hold numbers and text, no code: options that are objects, such as a model, are named
        only. A checksum is at the end.
        """
        configuration = self._configuration
        fields = {
            "settings": dict(configuration.settings),
            "found": dict(configuration.found),
            "whole": configuration.how is not None and not configuration.objects,
            **{name: getattr(self, name) for name in _COUNTED},
            "notes": list(self.notes),
        }
        return write_record(fields, self._sum)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the state that `to_bytes` wrote.

        It takes more samples, unless an option is an object that bytes do not hold; then it can be
        merged into, and by, one that was made by `empty` with the same keywords.

        Raises
        ------
        TypeError
            If it is no bytes.
        ValueError
            If the bytes are no state, cut off, changed, or of a version that is not known here.
        """
        fields, total = read_record(data)
        settings, notes = fields["settings"], tuple(fields["notes"])
        how = restored(settings) if fields["whole"] else None
        configuration = Configuration(settings, how, fields["found"])
        counts = {name: fields[name] for name in _COUNTED}
        return cls(configuration, **counts, notes=notes, _sum=total)
