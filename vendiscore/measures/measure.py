"""The registry of measures: functions of a `SampleSet`, the samples, with keyword options."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

from ..resolve.kernel_builder import TEXT_KERNEL
from ..resolve.presets import PRESETS
from ..resolve.registry import Registry, get_docstring_summary, get_option_defaults
from ..support.errors import short_repr
from ..support.namespace import is_torch, to_float
from ..support.signature import to_plain
from ..support.suggestions import suggest_name
from ..support.summary import SummaryMixin
from ..support.types import Number, Record

Needs = Literal["similarity", "scores", "eigenvectors", "distances", "features", "samples"]
# Values of `needs` that similarities of the samples satisfy.
SIMILARITY_NEEDS = frozenset({"similarity", "scores", "eigenvectors"})
Aspect = Literal["diversity", "dimension", "fidelity", "likeness"]
Direction = Literal["higher", "lower"]
Compute = TypeVar("Compute", bound=Callable[..., object])
Reader = Callable[[Any], object]

# Tolerance for values outside the range of a measure, in addition to the input precision.
RANGE_ROUNDING = 1e-9
_RANGE = re.compile(r"[\[(](n|[−∞\d.]+), (n|[−∞\d.]+)[\])]")


@dataclass(frozen=True, repr=False)
class Measure(SummaryMixin):
    """A registered measure; to compute it, pass its name as `measures` of `compute`.

    The attributes that are not listed here are the arguments of `register_measure`.

    Attributes
    ----------
    compute : callable
        ``compute(sample_set, **options)`` returns a number; one number for each order q if
        `ordered`; or a mapping to numbers from suffixes of the key of the measure in the result,
        such as "_t0.5".

    See Also
    --------
    list_measures : List all measures.
    register_measure : Add a measure.

    Examples
    --------
    >>> measure = get_measure("MagArea")
    >>> measure.range, measure.options["n_scales"]
    ('[0, ∞)', 30)
    """

    _repr_attributes = ("name", "range", "direction", "needs")
    name: str
    compute: Callable[..., Any]
    needs: Needs
    range: str
    direction: Direction
    source: str
    weighted: bool
    ordered: bool
    references: bool
    readers: Mapping[str, Reader]
    groups: bool
    aspect: Aspect
    pooled: bool
    references_without: str | None
    stacks: bool
    kernel_options: Mapping[str, Sequence[str]]

    @property
    def sentence(self) -> str:
        """A sentence about the range and direction of the measure."""
        return f"{self.name} is in {self.range}; {self.direction} values mean more {self.aspect}."

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        # Pickled by name, because `compute` and `readers` may not be picklable.
        return get_measure, (self.name,)

    def to_dict(self) -> Record:
        """Return the attributes and options of the measure as built-in types, for JSON.

        Returns
        -------
        dict
            Values of built-in types.
        """
        names = ("name", "needs", "range", "direction", "aspect", "source")
        flags = ("weighted", "ordered", "references", "groups", "pooled", "stacks", "summary")
        attributes = {name: getattr(self, name) for name in (*names, *flags)}
        return attributes | {"options": to_plain(self.options)}

    @cached_property
    def options(self) -> Record:
        """The keyword options of `compute` with their default values."""
        return get_option_defaults(self.compute)

    @property
    def summary(self) -> str:
        """The first line of the docstring of `compute`."""
        return get_docstring_summary(self.compute)

    @cached_property
    def ends(self) -> tuple[float | None, float | None]:
        """The lower and the upper limit of `range`, where None means n, the number of samples."""
        match = _RANGE.fullmatch(self.range)
        if match is None:
            raise ValueError(
                f"`range` of measure {self.name!r} must be an interval whose limits are numbers, n "
                f"or ∞, such as '[1, n]', got {self.range!r}"
            )
        low, high = map(_parse_limit, match.groups())
        return low, high

    def limits(self, n: float) -> tuple[float, float]:
        """Return the lower and upper limit of `range` for n samples.

        Parameters
        ----------
        n : float
            Number of samples.

        Returns
        -------
        tuple of float
            The lower and the upper limit.
        """
        low, high = self.ends
        return float(n) if low is None else low, float(n) if high is None else high

    def check(self, value: Number, n: int, rounding: float = 0.0) -> Number:
        """Clip a value to the range of the measure, or raise an error if it is far outside.

        Parameters
        ----------
        value : float or tensor
            The value.
        n : int
            Number of samples.
        rounding : float, default 0.0
            Size of possible rounding errors of the similarities, such as machine epsilon.

        Returns
        -------
        float or tensor
            The value, clipped to the range.

        Raises
        ------
        ValueError
            If the value is outside the range by more than rounding errors explain.
        """
        low, high = self.limits(n)
        number = value if type(value) is float else to_float(value)  # not a NumPy scalar
        slack = (RANGE_ROUNDING + 4 * rounding) * max(1.0, abs(number))
        if not (math.isfinite(number) and low - slack <= number <= high + slack):
            raise ValueError(
                f"{self.name} must be in its range {self.range} for n={n} samples, got "
                f"{number:.6g}; check the kernel for NaN, overflow and negative similarities"
            )
        if value is not number and is_torch(value):
            return value  # not clipped, to keep its gradient
        return min(max(number, low), high)


def _parse_limit(text: str) -> float | None:
    """Parse a limit of the range of a measure: a number, "∞", or "n", which is returned as None."""
    if text == "n":
        return None
    return float(text.replace("−", "-").replace("∞", "inf"))


# The only measure that is also computed for permuted group labels (`permutations` of `compute`).
BETWEEN = "BetweenVS"
# The measures defined by each module of `vendiscore/measures/`.
MEASURES_BY_MODULE = {
    "column_spread": "GMStds",
    "conditional": "ConditionalVS",
    "group_decomposition": "TotalVS WithinVS BetweenVS",
    "kernel_entropies": "RKE KernelLanguageEntropy SampleCoverage",
    "mean_embedding_distances": "MMD KID",
    "magnitude_measures": "Magnitude Spread MagArea t_conv MagDiff",
    "mean_similarity": "LC IntDiv AvgSim",
    "precision_recall": "Precision Recall Density Coverage",
    "vendi_family": "VS qVS",
    "semantic_classes": "DistinctK UtilityK SemanticEntropy",
    "text_repetition": "NgramDiversity SelfBLEU CompressionRatio",
}
_measures: Registry[Measure] = Registry("measure", "measures", MEASURES_BY_MODULE)


def register_measure(
    name: str,
    *,
    needs: Needs,
    range: str,
    source: str,
    direction: Direction = "higher",
    weighted: bool = False,
    ordered: bool = False,
    references: bool = False,
    readers: Mapping[str, Reader] | None = None,
    groups: bool = False,
    aspect: Aspect = "diversity",
    pooled: bool = False,
    references_without: str | None = None,
    stacks: bool = False,
    kernel_options: Mapping[str, Sequence[str]] | None = None,
) -> Callable[[Compute], Compute]:
    """Register a function of a `SampleSet` as a measure, as a decorator.

    ``compute(samples, measures=[name])`` then evaluates it. The first parameter of the decorated
    function is a `SampleSet`, called `sample_set` below; further parameters are options with
    defaults. The function returns a number; one number for each order q if `ordered`; or a mapping
    to numbers from suffixes of the key of the measure in the result, such as "_t0.5". The first
    line of its docstring is shown in tables of measures.

    Parameters
    ----------
    name : str
        Name of the measure, in the argument `measures` and in results.
    needs : {"similarity", "scores", "eigenvectors", "distances", "features", "samples"}
        What the function uses of the samples: `sample_set.similarity`; Vendi Scores,
        `sample_set.spectral`; eigenvalues with eigenvectors, `sample_set.eigen`; distances,
        `sample_set.space`, which takes n^2 memory; `sample_set.features`; or `sample_set.samples`
        as they were passed.
    range : str
        The possible values, such as "[1, n]" or "[0, ∞)". Values outside this range raise an error.
    source : str
        Where the measure is defined, for example a paper or "this docstring".
    direction : {"higher", "lower"}, default "higher"
        Whether higher or lower values mean more of the `aspect`, such as diversity.
    weighted : bool, default False
        Whether the measure supports weights of samples, `sample_set.p`.
    ordered : bool, default False
        Whether the function returns one number for each of `sample_set.orders`.
    references : bool, default False
        Whether the measure compares the samples with a second set, the references.
    readers : mapping of str to callable, optional
        Functions that validate options of the measure before any computation, by option. Each
        function takes the value of an option, and returns the validated value.
    groups : bool, default False
        Whether the measure requires groups and has one value for all groups together, computed
        from `sample_set.parts`, the groups. Other measures are averaged over groups.
    aspect : {"diversity", "dimension", "fidelity", "likeness"}, default "diversity"
        What the measure describes: diversity; the dimension of the data; for two sets, the
        proportion of samples that resemble a reference ("fidelity"), or the similarity of the sets
        ("likeness").
    pooled : bool, default False
        Whether the measure compares samples with references as a single set, `sample_set.both`.
        `references` is then True.
    references_without : str, optional
        Name of an option of a measure of one set. If the caller passes references but not this
        option, the references determine its value.
    stacks : bool, default False
        Whether the function also accepts several groups of equal size at once, as a
        `StackedGroups` (module `vendiscore.measures.stacked_groups`) instead of a `SampleSet`. It
        then returns an array with one number per group.
    kernel_options : mapping of str to sequence of str, optional
        Names of the options that the function reads from `sample_set.spec` without using
        similarities, by kernel: ``{"ngram_overlap": ["tokenizer"]}``. If no requested measure uses
        similarities, `compute` raises an error for other kernels and options.

    Returns
    -------
    callable
        The decorator. It returns the function unchanged.

    Raises
    ------
    ValueError
        If a function defined elsewhere is registered under this name, or `range` is invalid.

    See Also
    --------
    list_measures : List all measures.
    register_kernel : Add a kernel.

    Examples
    --------
    >>> from vendiscore import compute
    >>> @register_measure("Unlikest", needs="similarity", range="[0, 1]", direction="lower",
    ...                   source="this docstring")
    ... def unlikest(sample_set):
    ...     '''The smallest similarity of two samples.'''
    ...     return sample_set.similarity.dense().min()
    >>> compute(["red", "red", "blue"], k="labels", measures=["VS", "Unlikest"], q=0)
    {'VS_q0': 2.0, 'Unlikest': 0.0}
    """

    # Here, `locals()` contains only the parameters, which are named like the attributes of Measure.
    # Measures of samples and references as a single set (`pooled`) need references.
    fields = {
        **locals(),
        "references": references or pooled,
        "readers": dict(readers or {}),
        "kernel_options": dict(kernel_options or {}),
    }

    def register(compute: Compute) -> Compute:
        measure = Measure(compute=compute, **fields)
        measure.limits(1)  # raises a ValueError if `range` is invalid
        _measures.add(name, measure, compute)
        return compute

    return register


def list_measures() -> list[Measure]:
    """List all registered measures, sorted by name.

    Returns
    -------
    list of Measure
        The measures; `measure.name` is the value to pass in `measures`.

    See Also
    --------
    register_measure : Add a measure.
    compute : Compute measures.

    Examples
    --------
    >>> [measure.name for measure in list_measures() if measure.groups]
    ['BetweenVS', 'TotalVS', 'WithinVS']
    """
    _measures.load()
    return list(_measures.entries.values())


def get_measure(name: str) -> Measure:
    """Return the measure with this name; raise a ValueError with a suggestion if it is unknown."""
    measure = _measures.find(name)
    if measure is None:  # suggest measures and presets with similar names or descriptions
        descriptions = {
            preset_name: f"Preset: {', '.join(preset.measures)}."
            for preset_name, preset in PRESETS.items()
        }
        descriptions |= {key: entry.summary for key, entry in _measures.entries.items()}
        preset_names = ", ".join(map(repr, PRESETS))
        fallback = (
            f"`vendiscore.list_measures()` lists all measures; {preset_names} are presets of "
            f"several measures."
        )
        hint = suggest_name(name, descriptions, fallback=fallback, kind="measure")
        raise ValueError(f"unknown measure {short_repr(name)}. {hint}")
    return measure


def measures_with_option(option: str) -> list[str]:
    """Return the names of the measures that have this option."""
    return [measure.name for measure in list_measures() if option in measure.options]


def unused_kernel_keywords(
    kernel: str | None, options: Iterable[str], measures: Sequence[Measure]
) -> list[str]:
    """Return those of the keyword `k` and of the kernel options that no measure uses.

    `kernel` is the name of a registered kernel, or None for a function or a mixture, and `options`
    are names of options. Measures that use only the samples use neither, except for the options
    that they declare as `kernel_options`. The default kernel of texts may always be passed as `k`.
    """
    if any(measure.needs != "samples" for measure in measures):
        return []
    declared = [measure.kernel_options for measure in measures]
    used = {option for by_kernel in declared for option in by_kernel.get(kernel or "", ())}
    unused = [option for option in options if option not in used]
    is_used = kernel == TEXT_KERNEL or any(kernel in by_kernel for by_kernel in declared)
    return unused if is_used else ["k", *unused]
