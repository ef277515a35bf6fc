"""The Vendi Score of data that arrives in batches, from a sum over all samples."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from copy import copy
from types import MappingProxyType
from typing import NoReturn, Self

import numpy as np

from ...core.eigenvalues import PSD, check_psd
from ...resolve.similarity_builder import build_set_similarities
from ...resolve.similarity_spec import KernelArgument, SimilaritySpec, similarity_spec_from_keywords
from ...result import Result, order_suffixes
from ...scoring.score_request import check_orders
from ...similarity.arrow import row_chunks
from ...similarity.base import Similarity
from ...similarity.concatenation import num_samples
from ...similarity.prompt_residuals import describe_repeated_prompts
from ...similarity.sample_arrays import as_samples, check_in_memory
from ...similarity.weights import check_per_sample
from ...spectral.estimate import Estimate
from ...spectral.leave_one_out import check_novelty_order, log_score_gains
from ...spectral.spectrum import (
    Spectrum,
    compute_spectrum_from_covariance,
    positive_eigenpairs,
    score_covariance,
)
from ...support.arguments import DEFAULT_ORDER, check_bool, check_no_gradient, is_collection
from ...support.call_hints import AttributeHintMixin, HelpfulCallMeta
from ...support.errors import short_repr
from ...support.namespace import is_torch, to_host
from ...support.optional import versions
from ...support.signature import format_number, format_signature
from ...support.types import Options, Record, SampleContainer, Samples, Weights
from .second_moment import (
    SecondMoment,
    scale_to_diagonal,
    second_moment_from_rows,
    second_moment_from_similarity,
)
from .state_bytes import read_record, write_record
from .state_settings import (
    describe_unsupported,
    encoder_settings,
    is_plain,
    plain_settings,
    requires_unit_rows,
    spec_from_settings,
)

# Minimum and maximum sum of weights. Outside of this range, products would underflow or overflow.
MIN_WEIGHT_SUM = 1e-200
MAX_WEIGHT_SUM = 1e300
COUNT_ATTRIBUTES = ("n", "weight", "uneven", "dropped")
# Held while the sum of a state is replaced, so that threads that add batches lose none.
_UPDATE_LOCK = threading.Lock()


class State(AttributeHintMixin, metaclass=HelpfulCallMeta):
    """Vendi Score of data that arrives in batches or does not fit in memory.

    A state contains the sum of w x x^T over all samples, where x is the unit-norm feature vector of
    a sample and w its weight. This determines the Vendi Score of every order. It takes at most d (d
    + 1) / 2 numbers, 0.6 MB for d = 384 features; for fewer than d / 2 samples their features are
    stored instead.

    `update` changes a state in place; if it fails or is interrupted, the state is unchanged.
    `merge` and ``+`` return a new state. States with the same configuration can be merged in any
    order. Threads may share a state.

    Parameters
    ----------
    k : str, optional
        A kernel with a fixed number of features that do not depend on other samples, such as
        "cosine".
    score_X : bool, default False
        Treat samples as features of shape (n, d) whose dot products are the similarities.
    score_dual : bool, default False
        Same as `score_X`, for compatibility with `vendi_score`.
    normalize : bool, default False
        Divide features by their norm. If False, features must have unit norm.
    **options
        Options of the kernel, as for `compute`, including those that it fits to samples.

    Attributes
    ----------
    n : int
        Number of samples that were added.
    dropped : int
        Number of samples that ``on_error="skip"`` dropped.
    d : int or None
        Number of features; None before any sample was added.
    weight : float
        Sum of the weights; n if no weights were passed.
    notes : tuple of str
        Notes of the kernel on the first batch, such as the error of approximate features.
    settings : dict
        Kernel, options and encoder, which must agree for states to be merged.

    Raises
    ------
    TypeError, ValueError
        If `compute` does not accept the arguments, or the kernel has no fixed features.

    See Also
    --------
    compute : Score samples that fit in memory.
    score_batches : Score a stream of record batches.
    GroupState : The same with groups or prompts.

    Notes
    -----
    The eigenvalues of the sum, divided by its trace, are those of diag(sqrt(p)) K diag(sqrt(p))
    with p = w / sum(w). Scores do not depend on how samples are split into batches, up to rounding
    errors of about 1e-12, except at order 0 with eigenvalues this small.

    Examples
    --------
    >>> state = State(k="cosine")
    >>> for batch in ([[1.0, 0.0], [2.0, 0.0]], [[0.0, 3.0]]):
    ...     _ = state.update(batch)
    >>> state.compute(q=[0, 1])
    {'VS_q0': 2.0, 'VS_q1': 1.889...}
    >>> State.from_bytes(state.to_bytes()) + state
    <State of 6 samples, 2 features: kernel='cosine'>
    """

    _requested_settings: Options  # kernel and options as plain values, which can be serialized
    # None in a restored state with an option that cannot be serialized, such as a model
    _spec: SimilaritySpec | None
    # settings that the encoder reported for a batch
    _encoder_settings: Options = MappingProxyType({})
    n: int = 0
    weight: float = 0.0
    uneven: bool = False  # whether any weights were passed
    dropped: int = 0
    notes: tuple[str, ...] = ()
    _second_moment: SecondMoment | None = None

    def __init__(
        self,
        k: KernelArgument | None = None,
        *,
        score_X: bool = False,
        score_dual: bool = False,
        normalize: bool = False,
        **options: object,
    ) -> None:
        arguments = {
            "k": k,
            "score_X": score_X,
            "score_dual": score_dual,
            "normalize": normalize,
        }
        # `metric` and `fit` are accepted here, because the next check has a more specific message.
        spec = similarity_spec_from_keywords(arguments | options, allow_metric=True, allow_fit=True)
        if message := describe_unsupported(spec):
            raise ValueError(message)
        vars(self).update(_requested_settings=plain_settings(spec), _spec=spec)

    @classmethod
    def empty(cls, k: KernelArgument | None = None, **options: object) -> Self:
        """Create the state of no samples; the same as ``State(k, **options)``.

        Parameters
        ----------
        k : str, optional
            The kernel, as for `State`.
        **options
            Other arguments of `State`.

        Returns
        -------
        State
            The new state.
        """
        return cls(k, **options)  # type: ignore[arg-type]

    def replaced(self, **attributes: object) -> Self:
        """Return a copy with some attributes replaced. It shares the second moment (read-only)."""
        state = copy(self)
        vars(state).update(attributes)
        return state

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(
            f"attribute `{name}` of a State cannot be set; add samples with `update`"
        )

    @property
    def d(self) -> int | None:
        return None if self._second_moment is None else self._second_moment.d

    @property
    def settings(self) -> Record:
        return {**self._requested_settings, **self._encoder_settings}

    @property
    def spec(self) -> SimilaritySpec:
        """The specification of the kernel; raises a ValueError if it could not be restored."""
        if self._spec is None:
            raise ValueError(
                "this State was restored from bytes that do not contain its kernel or model, so "
                "samples cannot be added; add them to a new State with the same keywords, and "
                "merge both states"
            )
        return self._spec

    def __len__(self) -> int:
        return self.n

    def __bool__(self) -> bool:
        return True  # also for an empty state

    def __repr__(self) -> str:
        kernel = self.settings["kernel"]
        width = "" if self.d is None else f", {self.d} features"
        return f"<State of {self.n} samples{width}: kernel={kernel!r}>"

    def __str__(self) -> str:
        return f"{self.n:,} samples were added up, compared by {self.settings['kernel']!r}."

    def update(
        self,
        batch: Samples,
        p: Weights | None = None,
        *,
        prompts: object = None,
        given_prompt: bool = False,
    ) -> Self:
        """Add a batch of samples in place and return this state.

        Parameters
        ----------
        batch : list or array-like
            The m samples, as for `compute`; m may be 0. Not modified and not stored.
        p : array-like of shape (m,), optional
            Non-negative weights of these samples, with any sum; by default 1 each.
        prompts : list of samples or single sample, optional
            The prompt of each sample or of all. Requires ``given_prompt=True``.
        given_prompt : bool, default False
            Whether to condition similarities on the prompts, as in `compute`.

        Returns
        -------
        State
            This state.

        Raises
        ------
        SampleError
            If samples are unusable; the message lists their indices.
        TooLargeError
            If the state would not fit in memory.
        TypeError, ValueError
            If weights are invalid, the number of features changes, options would have to be fitted
            to the batch, or a state read from bytes lacks its encoder.

        Notes
        -----
        Time is O(m d^2) plus the time of the kernel. If an exception is raised, the state is
        unchanged.
        """
        spec = self.spec
        if prompts is not None or given_prompt is not False:
            spec = spec.with_prompts(prompts, given_prompt, allow_grouping=False)
        check_no_gradient("a State", p=p)
        check_in_memory(batch, "samples")
        unit_rows_required = requires_unit_rows(spec)  # None if samples are no feature vectors
        chunks: list[SampleContainer] = []
        if unit_rows_required is not None and p is None:
            chunks += row_chunks(batch)
        if not chunks:
            chunks.append(as_samples(batch, empty=True))
        n = sum(map(num_samples, chunks))
        weights = None
        if p is not None:
            weights = to_host(check_per_sample(p, "p", min_value=0, weights=True).for_samples(n))
        if not n:
            return self
        if self.n and ("prompts" in self.settings) != (spec.conditioning_prompts is not None):
            raise ValueError("`prompts` must be passed for all batches of a State or for none")
        batch_fields: Record = {"dropped": 0}
        total = (
            None
            if unit_rows_required is None
            else second_moment_from_rows(chunks, weights, unit_rows_required)
        )
        if total is None:
            samples = chunks[0] if len(chunks) == 1 else as_samples(batch)
            similarity = self._build_similarity(samples, spec)
            n = similarity.n
            if weights is not None:
                weights = np.delete(weights, list(similarity.dropped))
            total = second_moment_from_similarity(similarity, weights)
            batch_fields = {
                "dropped": len(similarity.dropped),
                "notes": tuple(similarity.notes),
                "_encoder_settings": encoder_settings(
                    similarity.settings, self._requested_settings
                ),
            }
        batch_fields["n"] = n
        batch_fields["weight"] = float(n if weights is None else weights.sum())
        batch_fields["uneven"] = weights is not None
        batch_fields["_second_moment"] = total
        with _UPDATE_LOCK:
            merged = self.merge(self.replaced(**batch_fields))
            vars(self).update(vars(merged))
        return self

    def _build_similarity(self, samples: Samples, spec: SimilaritySpec) -> Similarity:
        """Return the similarity of a batch; its features must not depend on the batch."""
        similarity = build_set_similarities([samples], spec, ["samples"])[0]
        if similarity.fitted:
            name, value = next(iter(similarity.fitted.items()))
            raise ValueError(
                f"`{name}` would be fitted to each batch separately ({short_repr(value)} for this "
                f"batch); pass `{name}` to State to use the same value for all batches"
            )
        if similarity.dim is None:
            raise TypeError(
                f"kernel {self.settings['kernel']!r} is registered with rows=True, but returned a "
                f"{type(similarity).__name__} without features; return a FeatureSimilarity"
            )
        check_no_gradient("a State", **spec.options, samples=similarity)
        return similarity

    def merge(self, *others: State) -> Self:
        """Merge this state with others into a new one; ``a + b`` is ``a.merge(b)``.

        Parameters
        ----------
        *others : State
            States with the same settings and number of features.

        Returns
        -------
        State
            The state of all samples.

        Raises
        ------
        TypeError
            If an argument is not a state.
        ValueError
            If settings or numbers of features differ.
        """
        merged = self.replaced()
        for state in others:
            if not isinstance(state, State):
                raise TypeError(
                    f"`merge` requires State objects, got {type(state).__name__}; convert bytes "
                    "with State.from_bytes"
                )
            other = state.replaced()
            merged._check_compatible(other)
            total = merged._second_moment or other._second_moment
            if merged._second_moment and other._second_moment:
                total = merged._second_moment.combined_with(other._second_moment)
            merged = merged.replaced(
                _spec=merged._spec or other._spec,
                _encoder_settings={**merged._encoder_settings, **other._encoder_settings},
                n=merged.n + other.n,
                weight=merged.weight + other.weight,
                uneven=merged.uneven or other.uneven,
                dropped=merged.dropped + other.dropped,
                notes=merged.notes or other.notes,
                _second_moment=total,
            )
        return merged

    def __add__(self, other: object) -> Self:
        return self.merge(other) if isinstance(other, State) else NotImplemented

    def _check_compatible(self, other: State) -> None:
        """Raise a ValueError if two states have different settings or numbers of features."""
        a = self._requested_settings
        b = other._requested_settings
        if self.n and other.n:
            a = {**self.settings, "d": self.d}
            b = {**other.settings, "d": other.d}
        differ = [
            f"`{name}` is {a.get(name, 'nothing')!r} and {b.get(name, 'nothing')!r}"
            for name in sorted({*a, *b})
            if a.get(name, "nothing") != b.get(name, "nothing")
        ]
        if differ:
            raise ValueError(
                "states can be merged only if they have the same settings, but "
                f"{'; '.join(differ)}; create all states with the same keywords, and add samples "
                "of the same type"
            )

    def compute(
        self,
        q: float | str | Iterable[float | str] = DEFAULT_ORDER,
        *,
        psd: PSD = "check",
        details: bool = False,
    ) -> Record:
        """Compute the Vendi Score of all samples that were added.

        Parameters
        ----------
        q : float, "inf" or sequence of these, default 1
            Order of the score, 0 <= q <= infinity.
        psd : {"check", "clip"}, default "check"
            Whether negative eigenvalues, which here can only result from rounding, raise a
            NotPSDError or are set to zero.
        details : bool, default False
            Add a dict under the key "details" with settings, notes and package versions.

        Returns
        -------
        dict
            {"VS": value} with 1 <= value <= n. Any other single order is part of the key ("VS_q2"),
            as is each of several orders ("VS_q0", "VS_q1").

        Raises
        ------
        TypeError, ValueError
            If the state is empty, or the sum of the weights is 0 or not representable.

        Notes
        -----
        Time is O(d^3), or O(n^3) for n < d / 2.
        """
        orders = check_orders(q)
        psd = check_psd(psd)
        with_details = check_bool("details", details)
        state = self.replaced()  # a copy that no other thread updates
        if state._second_moment is None:
            raise ValueError("`compute` requires samples, but none were added; call `update` first")
        if not MIN_WEIGHT_SUM <= state.weight <= MAX_WEIGHT_SUM:
            raise ValueError(
                f"the sum of all weights must be between {MIN_WEIGHT_SUM:g} and "
                f"{MAX_WEIGHT_SUM:g}, got {state.weight:g}; rescale the weights `p`"
            )
        estimates, spectrum = score_covariance(state._second_moment.matrix(), state.n, orders, psd)
        scores = Result()
        for suffix, estimate in zip(
            order_suffixes(orders, several=is_collection(q)), estimates, strict=True
        ):
            scores[f"VS{suffix}"] = estimate.value
        if with_details:
            by_order = dict(zip(map(format_number, orders), estimates, strict=True))
            scores["details"] = state._details(psd, by_order, spectrum)
        return scores

    def novelty(self, samples: Samples, q: float = DEFAULT_ORDER) -> np.ndarray:
        """Compute how much each of m new samples would increase log VS_q.

        Each sample is considered on its own, with a weight of 1. The state is not changed.

        Parameters
        ----------
        samples : list or array-like
            The m new samples, of the same type as those that were added. Not modified.
        q : float, default 1
            Order of the score, 0 < q <= 2.

        Returns
        -------
        array of shape (m,)
            log VS_q with the sample minus log VS_q without it. ``on_error="skip"`` drops unusable
            samples.

        Raises
        ------
        SampleError
            If samples are unusable; the message lists their indices.
        TypeError, ValueError
            If the order is invalid, the state is empty, the number of features differs, or
            similarities of the state are conditioned on prompts.

        See Also
        --------
        vendiscore.novelty : The same for a reference set in memory.

        Notes
        -----
        Time is O(d^3) for one decomposition, and O(d^2) per sample.
        """
        order = check_novelty_order(q)
        state = self.replaced()  # a copy that no other thread updates
        if state._second_moment is None:
            raise ValueError("`novelty` requires samples, but none were added; call `update` first")
        similarity = scale_to_diagonal(self._build_similarity(as_samples(samples), self.spec))
        if "prompts" in state.settings:
            raise ValueError(
                "`novelty` is not supported for a State that is conditioned on prompts; use "
                "vendiscore.novelty"
            )
        if similarity.dim != state.d:
            raise ValueError(
                f"new samples must have {state.d} features like the samples that were added, got "
                f"{similarity.dim}"
            )
        spectrum = compute_spectrum_from_covariance(
            state._second_moment.matrix(), state.n, vectors=True
        )
        principal_axes = state._second_moment.principal_axes(positive_eigenpairs(spectrum)[1])
        rows = similarity.features()
        Z = (to_host(rows) if is_torch(rows) else rows) @ principal_axes
        return log_score_gains(spectrum, Z, order, 1 / state.weight)

    def _details(
        self, psd: PSD, estimates: Mapping[str, Estimate], spectrum: Spectrum | None
    ) -> Record:
        """Return the details of a Vendi Score that can be determined from the state."""
        settings = self.settings
        notes = [f"First batch: {note}" for note in self.notes]
        repeated_weight = (
            self._second_moment.last_diagonal_entry()
            if "prompts" in settings and self._second_moment
            else 0.0
        )
        if repeated_weight:
            subject = f"{repeated_weight:,.0f} of {self.n:,} samples"
            if self.uneven:
                subject = f"Samples of {repeated_weight / self.weight:.3g} of the weight"
            notes.append(describe_repeated_prompts(subject))
        p = f"given, sum {format_number(self.weight)}" if self.uneven else "uniform"
        reason = f"the samples were added up, {self.d} features of each"
        signed = {**settings, "p": p, "q": list(estimates)}
        if psd != "check":
            signed["psd"] = psd
        signed["n"] = self.n
        if self.dropped:
            signed["dropped"] = self.dropped
        return {
            "n": self.n,
            "dropped": self.dropped,
            "kernel": settings.pop("kernel"),
            "options": settings,
            "method": {q: estimate.route for q, estimate in estimates.items()},
            "why": dict.fromkeys(estimates, reason),
            "negative_mass": None if spectrum is None else spectrum.negative_mass,
            "cut": 0.0 if spectrum is None else spectrum.largest_threshold,
            "notes": notes + ([] if spectrum is None else spectrum.notes),
            "versions": versions(),
            "signature": format_signature(["VS"], signed),
        }

    def to_bytes(self) -> bytes:
        """Serialize the state to about 4 d (d + 1) bytes, the same on every machine.

        The bytes contain no code. Options that are objects, such as a model, are stored by name
        only.

        Returns
        -------
        bytes
            The serialized state.

        See Also
        --------
        from_bytes : Restore a state.
        """
        state = self.replaced()  # a copy that no other thread updates
        fields = {
            "settings": dict(state._requested_settings),
            "found": dict(state._encoder_settings),
            "whole": state._spec is not None and all(map(is_plain, state._spec.options.values())),
            **{name: getattr(state, name) for name in COUNT_ATTRIBUTES},
            "notes": list(state.notes),
        }
        return write_record(fields, state._second_moment)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Restore a state from the bytes that `to_bytes` returned.

        The state accepts further samples, unless an option is an object that bytes cannot contain.
        Then merge it with a state that was created with the same arguments.

        Parameters
        ----------
        data : bytes
            A serialized state.

        Returns
        -------
        State
            The restored state.

        Raises
        ------
        ValueError
            If the bytes are not a serialized state.

        See Also
        --------
        to_bytes : Serialize a state.
        """
        fields, total = read_record(data)
        if fields["settings"].get("precision") == "single":
            raise ValueError(
                "`data` was written in single precision by an earlier version, which is not "
                "supported; add the samples to a new State"
            )
        state = cls.__new__(cls)
        vars(state).update(
            {name: fields[name] for name in COUNT_ATTRIBUTES},
            _requested_settings=fields["settings"],
            _spec=spec_from_settings(fields["settings"]) if fields["whole"] else None,
            _encoder_settings=fields["found"],
            notes=tuple(fields["notes"]),
            _second_moment=total,
        )
        return state
