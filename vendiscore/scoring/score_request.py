"""Validation of the arguments of `compute`: `parse_request` returns them as a `ScoreRequest`.

Later steps, which build the samples and evaluate measures, do not check these arguments again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ..core.eigenvalues import PSD, check_psd
from ..measures.evaluation import ConfiguredMeasure, parse_measures
from ..measures.measure import (
    BETWEEN,
    Measure,
    list_measures,
    measures_with_option,
    unused_kernel_keywords,
)
from ..resolve.kernel import Kernel, get_kernel
from ..resolve.kernel_builder import TEXT_KERNEL
from ..resolve.registry import Registry
from ..resolve.similarity_spec import (
    SIMILARITY_KEYWORDS,
    SimilaritySpec,
    apply_text_kernel_options,
    check_kernel_or_metric,
    parse_similarity_spec,
)
from ..result import order_suffixes
from ..spectral.estimate import EstimateOptions
from ..support.arguments import (
    DEFAULT_ORDER,
    check_bool,
    check_choice,
    check_float,
    check_int,
    check_order,
    is_collection,
)
from ..support.errors import short_repr
from ..support.suggestions import describe_parameters, find_related_names
from ..support.types import Options, Record, Samples, Weights

if TYPE_CHECKING:
    from ..magnitude.magnitude_options import SolverName
    from ..resolve.sample_labels import GroupLabels

# Keywords with the default None that neither define how samples are compared nor are options of
# measures; and the defaults of all such keywords.
_OPTIONAL_KEYWORDS = ("p", "measures", "groups", "counts", "ci", "clusters", "rtol", "permutations")
_COMPUTE_DEFAULTS: Record = {
    "q": DEFAULT_ORDER,
    "psd": "check",
    "method": "auto",
    "details": False,
    "allow_repeats": True,
    "pool_repeats": True,
    **dict.fromkeys(_OPTIONAL_KEYWORDS),
}
Method = Literal["auto", "estimate"]
# Keywords used only by distance-based measures.
_DISTANCE_KEYWORDS = ("metric", "exponent")
_UNSET_IF_NONE = ("t", "seed")  # options for which None means that they were not passed
# Measures whose intervals are computed from leave-one-out values, at almost no additional cost.
WITH_JACKKNIFE = ("VS", "IntDiv", "AvgSim")
# Default measures, depending on the other keywords and the references.
Measures: TypeAlias = Mapping[str, Options]
DefaultMeasures: TypeAlias = "Callable[[Options, Samples | bool | None], Measures]"


def default_measures(arguments: Options, references: object = None) -> Measures:
    """Return the default measures of `compute` and of the `evaluate` metric "vendiscore".

    The arguments have no effect; they are those of other functions of the type `DefaultMeasures`.
    """
    return {"VS": {}}


def default_magnitude_measures(arguments: Options, references: object = None) -> Measures:
    """Return the default measures of the `evaluate` metric "magnitude", with their options.

    If `t` is in `arguments`, the measure is the magnitude at scale `t`. Otherwise the measures are
    the area under the magnitude function and its convergence scale, at which magnitude has nearly
    reached the number of points; with references, also the difference of the areas of both sets.
    Without references, MagArea is the area up to the convergence scale unless `t_cut` is passed.
    """
    if arguments.get("t") is not None:
        return {"Magnitude": {}}
    if references is not None:
        return {"MagArea": {}, "t_conv": {}, "MagDiff": {}}
    area_options = {} if arguments.get("t_cut") is not None else {"t_cut": "t_conv"}
    return {"MagArea": area_options, "t_conv": {}}


@dataclass(frozen=True)
class ScoreRequest:
    """Validated arguments of `compute`.

    `spec` defines how similarities and distances are computed, `measures` are the measures with
    their options, and `orders` are the distinct orders `q`. `several_orders` is True if `q` was a
    sequence. `estimate_options` are the options of method="estimate", or None for exact scores. The
    other attributes have the names of the arguments. Among them, `p`, `groups` and `counts` are
    validated later, with the samples.
    """

    spec: SimilaritySpec
    measures: tuple[ConfiguredMeasure, ...]
    orders: tuple[float, ...] = (DEFAULT_ORDER,)
    # True if orders were passed as a sequence; every key then includes its order.
    several_orders: bool = False
    p: Weights | None = None
    psd: PSD = "check"
    details: bool = False
    groups: object = None
    counts: Samples | None = None
    ci: float | None = None
    clusters: GroupLabels | None = None
    allow_repeats: bool = True
    pool_repeats: bool = True
    estimate_options: EstimateOptions | None = None
    permutations: int | None = None

    def with_prompts(self, prompts: object) -> ScoreRequest:
        """Return a copy of the request whose similarities are conditioned on the prompts."""
        return replace(self, spec=self.spec.with_prompts(prompts, given_prompt=True))

    @cached_property
    def suffixes(self) -> list[str]:
        """The suffix of each order in the keys of measures with an order, such as "_q2"."""
        return order_suffixes(self.orders, several=self.several_orders)

    @property
    def main_order(self) -> float:
        """The order that reports describe: 1 if it is among the orders, otherwise the first."""
        return 1.0 if 1.0 in self.orders else self.orders[0]

    @property
    def vendi_key(self) -> str:
        """The key of the Vendi Score of the main order in results, such as "VS" or "VS_q2"."""
        return f"VS{self.suffixes[self.orders.index(self.main_order)]}"

    @property
    def keys(self) -> list[str]:
        """The keys of all measures in the result, one per measure and order, such as "VS_q2"."""
        return [
            f"{configured.measure.name}{suffix}"
            for configured in self.measures
            for suffix in (self.suffixes if configured.measure.ordered else [""])
        ]

    @cached_property
    def names(self) -> list[str]:
        """The names of the measures."""
        return [configured.measure.name for configured in self.measures]

    @cached_property
    def group_measures(self) -> list[str]:
        """The names of the measures that need groups, such as BetweenVS."""
        return [
            configured.measure.name for configured in self.measures if configured.measure.groups
        ]

    @cached_property
    def uses_permutation_null(self) -> bool:
        """True if BetweenVS is compared with its values under permuted group labels."""
        return self.permutations != 0 and BETWEEN in self.group_measures

    @cached_property
    def two_sample_measures(self) -> list[str]:
        """The names of the measures that compare the samples with references."""
        return [
            configured.measure.name for configured in self.measures if configured.measure.references
        ]

    @cached_property
    def needs_distance_scale(self) -> bool:
        """True if references, if passed, determine the distance scale of a measure.

        Such a measure is registered with `references_without`, the name of an option such as
        "t_cut" that sets the scale. References determine the scale if this option is not passed.
        """
        return any(
            configured.measure.references_without
            and configured.options.get(configured.measure.references_without) is None
            for configured in self.measures
        )

    @cached_property
    def needs(self) -> tuple[frozenset[str], frozenset[str]]:
        """The views of the samples that measures require, such as "similarity" or "distances".

        A view is a quantity that is computed from the samples. The first set contains the views
        that are computed for each group, or for all samples if there are no groups. The second
        contains the views of all samples together that measures such as BetweenVS require, which
        compare groups. Views of samples and references as one set are not included.
        """
        measures = [
            configured.measure for configured in self.measures if not configured.measure.pooled
        ]
        group_needs, joint_needs = (
            frozenset(measure.needs for measure in measures if measure.groups is needs_groups)
            for needs_groups in (False, True)
        )
        return group_needs, joint_needs

    @cached_property
    def solver(self) -> SolverName:
        """The solver for magnitude: the first option `solver` that a measure has, or "auto"."""
        solvers: list[Any] = [configured.options.get("solver") for configured in self.measures]
        return next(filter(None, solvers), "auto")

    @cached_property
    def pooled_needs(self) -> frozenset[str]:
        """The views that measures require of the samples and references as one set.

        A view is a quantity that is computed from this set, such as "similarity" or "distances".
        """
        return frozenset(
            configured.measure.needs for configured in self.measures if configured.measure.pooled
        )


# Types of keywords whose request can be cached.
_CACHEABLE_TYPES = {str, int, float, bool, type(None)}


def parse_request(
    arguments: Options,
    get_default_measures: DefaultMeasures = default_measures,
    references: Samples | bool | None = None,
    *,
    ignored_names: Collection[str] | None = None,
    allow_unused: frozenset[str] = frozenset(),
    caller: Callable[..., object] | None = None,
) -> ScoreRequest:
    """Parse the keywords of `compute`.

    Parameters
    ----------
    arguments : dict
        The keywords of `compute`, including options of kernels and measures.
    get_default_measures : callable
        Function of `arguments` and `references`. It returns the measures to compute, with their
        options, if `measures` is not among the arguments.
    references : list, array-like, bool or None
        The references, or True; None if there are none. They only affect the default measures.
    ignored_names : collection of str, optional
        Keywords of other metrics in `evaluate.combine`, which are ignored.
    allow_unused : frozenset of str
        Names of keywords to accept even if no measure uses them, because they are defaults or used
        elsewhere: the order `q`, the kernel `k` and its options.
    caller : callable, optional
        The function that the user called. Its parameters are suggested in errors about unknown
        keywords.

    Raises
    ------
    TypeError, ValueError
        If a keyword is invalid, unknown or has no effect.
    """
    parse: Callable[..., ScoreRequest] = _parse_request
    # Arguments must be hashable for the cache, so references are replaced by True.
    if ignored_names is None and _CACHEABLE_TYPES.issuperset(map(type, arguments.values())):
        parse = _parse_request_cached
        references = references is not None or None
    return parse(
        get_default_measures,
        references,
        ignored_names,
        allow_unused,
        caller,
        Registry.version,
        **arguments,
    )


def parse_generation_request(options: Mapping[str, object]) -> ScoreRequest:
    """Parse the options of a metric in an evaluation harness, such as lm-eval.

    They are keywords of `compute`. The harness supplies the prompts, which define the groups.

    Raises a ValueError for keywords that refer to single samples or add details, and the errors of
    `parse_request` for invalid keywords.
    """
    for name in {"details", "groups", "p", "prompts", "given_prompt"} & options.keys():
        raise ValueError(
            f"`{name}` is not supported in an evaluation harness, which supplies the prompts and "
            f"expects numbers; remove it"
        )
    return parse_request(options)


def _parse_request(
    get_default_measures: DefaultMeasures,
    references: Samples | bool | None,
    ignored_names: Collection[str] | None,
    allow_unused: frozenset[str],
    caller: Callable[..., object] | None,
    registry_version: int,
    /,
    **arguments: Any,
) -> ScoreRequest:
    """Parse the keywords of `compute`, passed as `arguments`; the uncached `parse_request`.

    If `measures` is not among the keywords, `get_default_measures` returns them, depending on the
    keywords and the references. Keywords in `ignored_names`, and `q`, `k` and kernel options in
    `allow_unused`, may have no effect. Errors about unknown keywords suggest parameters of
    `caller`. `registry_version` changes if a kernel or measure is registered. It is only part of
    the cache key.
    """
    values = {name: arguments.get(name, default) for name, default in _COMPUTE_DEFAULTS.items()}
    # All other keywords. The functions below remove those that they parse. If an option in
    # `_UNSET_IF_NONE` is None, it counts as not passed.
    remaining = {
        name: value
        for name, value in arguments.items()
        if name not in values and (name not in _UNSET_IF_NONE or value is not None)
    }
    if values["counts"] is not None:
        from .counts import check_counts_keywords

        remaining = check_counts_keywords(arguments, remaining)

    # Parse each keyword.
    distance_keywords = [name for name in _DISTANCE_KEYWORDS if remaining.get(name) is not None]
    q = values["q"]
    p = values["p"]
    ci = None if values["ci"] is None else check_confidence_level("ci", values["ci"])
    clusters = values["clusters"]
    if clusters is not None:
        from ..resolve.sample_labels import parse_group_labels

        clusters = parse_group_labels(clusters, "clusters")
    estimate_options = _parse_method(values["method"], values["rtol"], remaining)
    spec = parse_similarity_spec(remaining)
    if estimate_options is not None:
        remaining.pop("seed", None)  # parsed by `_parse_method`
    requested_measures = values["measures"]
    if requested_measures is None:
        requested_measures = get_default_measures(arguments, references)
    configured_measures = parse_measures(requested_measures, remaining)
    measures = [configured.measure for configured in configured_measures]
    orders = check_orders(q)
    psd = check_psd(values["psd"])

    # Check that the keywords are compatible, and that each of them has an effect.
    if ignored_names is not None:
        # In `evaluate.combine`, all metrics get the same keywords, so unused ones are ignored.
        remaining = {
            name: value
            for name, value in remaining.items()
            if name not in ignored_names and not measures_with_option(name)
        }
        if not all(measure.weighted for measure in measures):
            p = None
    else:
        _check_distance_keywords(distance_keywords, spec, measures)
        if (is_collection(q) or orders != [DEFAULT_ORDER]) and "q" not in allow_unused:
            _check_order_has_effect(q, measures)
    if all(measure.needs == "distances" for measure in measures):
        check_kernel_or_metric(spec, _format_names(measures))
    if p is not None:
        _check_weights_supported(measures, spec)
    if ci is not None:
        _check_interval(orders, p, measures)
    elif clusters is not None:
        raise TypeError("`clusters` requires `ci`; for example, pass ci=0.95")
    allow_repeats = check_bool("allow_repeats", values["allow_repeats"])
    if not allow_repeats:
        check_allow_repeats(
            ci,
            has_clusters=clusters is not None,
            has_groups=values["groups"] is not None,
            measures=measures,
        )
    pool_repeats = check_bool("pool_repeats", values["pool_repeats"])
    details = check_bool("details", values["details"])
    if not pool_repeats:
        check_pool_repeats(ci, details, measures)
    permutations = values["permutations"]
    if permutations is not None:
        permutations = check_int("permutations", permutations, 0, hint="99 or 999 are common")
        if not any(measure.name == BETWEEN for measure in measures):
            raise TypeError(
                f"`permutations` has no effect on {_format_names(measures)}; remove it, or add "
                f"{BETWEEN!r} to `measures`"
            )
    if estimate_options is not None:
        _check_estimate(ci, orders, measures)
    if remaining:
        spec = _parse_text_kernel_options(
            remaining, spec, measures, caller, has_seed=estimate_options is not None
        )
    if ignored_names is None:
        # Names such as k="static" set further options, which are not checked.
        _check_kernel_has_effect(spec, measures, arguments.keys() - allow_unused)
    return ScoreRequest(
        spec=spec,
        measures=tuple(configured_measures),
        orders=tuple(orders),
        several_orders=is_collection(q),
        p=p,
        psd=psd,
        details=details,
        groups=values["groups"],
        counts=values["counts"],
        ci=ci,
        clusters=clusters,
        allow_repeats=allow_repeats,
        pool_repeats=pool_repeats,
        estimate_options=estimate_options,
        permutations=permutations,
    )


def _format_names(measures: Iterable[Measure]) -> str:
    return ", ".join(measure.name for measure in measures)


def _check_distance_keywords(
    distance_keywords: Sequence[str], spec: SimilaritySpec, measures: Sequence[Measure]
) -> None:
    """Raise a TypeError if keywords for distances were passed, but no measure uses distances.

    `distance_keywords` are the names of those that were passed.
    """
    if distance_keywords and all(measure.needs != "distances" for measure in measures):
        raise TypeError(
            f"`{distance_keywords[0]}` has no effect on {_format_names(measures)}, which uses no "
            f"distances; {_suggest_similarity(spec)}, or add a distance-based measure such as "
            f"'MagArea' to `measures`"
        )


def _check_kernel_has_effect(
    spec: SimilaritySpec, measures: Sequence[Measure], keywords: Collection[str]
) -> None:
    """Raise a TypeError if `k`, a kernel option or `normalize` was passed, but is not used.

    Only the passed `keywords` are checked. A kernel with on_error="skip" always has an effect,
    because it determines which samples are dropped.
    """
    components = spec.k if isinstance(spec.k, tuple) else ()  # of a mixture
    if spec.drop_unusable or any(component.drop_unusable for component in components):
        return
    kernel = spec.k.name if isinstance(spec.k, Kernel) else None
    unused = unused_kernel_keywords(
        TEXT_KERNEL if spec.k is None else kernel, spec.options, measures
    )
    if spec.normalize and all(measure.needs == "samples" for measure in measures):
        unused.append("normalize")
    unused = [name for name in unused if name in keywords]
    if unused:
        options = [option for measure in measures for option in measure.options]
        similar = find_related_names(unused[0], options, "keyword")
        hint = f"pass `{similar[0]}` instead" if similar else "remove it"
        raise TypeError(
            f"`{unused[0]}` has no effect on {_format_names(measures)}, which uses no "
            f"similarities; {hint}, or add a measure of similarities such as 'VS' to `measures`"
        )


def _check_order_has_effect(q: object, measures: Sequence[Measure]) -> None:
    """Raise a TypeError if no measure has an order, because `q` then has no effect."""
    if not any(measure.ordered for measure in measures):
        ordered_names = _format_names(measure for measure in list_measures() if measure.ordered)
        raise TypeError(
            f"`q={short_repr(q)}` has no effect on {_format_names(measures)}; remove `q`, or add a "
            f"measure with an order to `measures`: {ordered_names}"
        )


def _check_weights_supported(measures: Sequence[Measure], spec: SimilaritySpec) -> None:
    """Raise a ValueError if a measure does not support weights `p`."""
    unweighted = [measure for measure in measures if not measure.weighted]
    if unweighted:
        # In SciPy, `p` is the exponent of the Minkowski distance.
        exponent_hint = ". The exponent of metric='minkowski' is `exponent`" if spec.metric else ""
        raise ValueError(
            f"weights `p` are not supported by {_format_names(unweighted)}; remove `p`, or remove "
            f"{'this measure' if len(unweighted) == 1 else 'these measures'}{exponent_hint}"
        )


def _parse_text_kernel_options(
    remaining: Record,
    spec: SimilaritySpec,
    measures: Sequence[Measure],
    caller: Callable[..., object] | None,
    *,
    has_seed: bool,
) -> SimilaritySpec:
    """Return a copy of `spec` with the keywords in `remaining` as options of the text kernel.

    `remaining` are the keywords that the call has not used otherwise. Raise a TypeError for
    keywords that are not options of the default text kernel. The message suggests similar
    keywords: arguments of `compute`, parameters of `caller` (the function that the user called),
    options of the measures, and `seed` if `has_seed` is True, as for method="estimate".
    """
    # The keywords that the message may suggest, with their descriptions.
    descriptions = dict.fromkeys((*_COMPUTE_DEFAULTS, "samples", "references", "seed"), "")
    if caller is not None:
        descriptions |= describe_parameters(caller)
    descriptions |= SIMILARITY_KEYWORDS
    if not has_seed:
        del descriptions["seed"]
    for measure in measures:
        descriptions |= dict.fromkeys(measure.options, f"Option of {measure.name}.")
    # If a keyword is an option of a measure that was not requested, the message names the measure.
    measures_by_option = {
        name: measures_with_option(name) for measure in list_measures() for name in measure.options
    }
    unused = unused_kernel_keywords(TEXT_KERNEL, get_kernel(TEXT_KERNEL).options, measures)
    return apply_text_kernel_options(
        spec, remaining, descriptions, measures_by_option, unused_options=unused
    )


# Keywords of cacheable types are parsed only once for all calls with the same keywords and
# registered kernels and measures.
_parse_request_cached = lru_cache(maxsize=256, typed=True)(_parse_request)


def _parse_method(method: object, rtol: object, remaining: Record) -> EstimateOptions | None:
    """Return the options of method="estimate"; None for method="auto", which is exact.

    `remaining` are the keywords that were not parsed yet, among them `seed` if it was passed.
    """
    if check_choice("method", method, get_args(Method)) == "auto":
        if rtol is not None:
            raise TypeError(
                "`rtol` requires method='estimate', because the default method is exact; remove "
                "`rtol`, or pass method='estimate'"
            )
        return None
    options: Record = {}
    if rtol is not None:
        # A smaller error of the mean over random vectors would take too much time.
        expected = "a relative error from 1e-08 to 1"
        hint = "2e-3 is common"
        options["rtol"] = check_float("rtol", rtol, expected, lambda r: 1e-8 <= r < 1, hint)
    if "seed" in remaining:  # also an option of some kernels
        options["seed"] = check_int("seed", remaining["seed"], 0)
    return EstimateOptions(**options)


def _check_estimate(ci: float | None, orders: list[float], measures: list[Measure]) -> None:
    """Raise a ValueError for arguments that method="estimate" does not support."""
    if other_measures := [measure.name for measure in measures if measure.name != "VS"]:
        raise ValueError(
            f"`method='estimate'` supports only the measure 'VS', got {', '.join(other_measures)}; "
            f"remove the other measures, or remove `method`"
        )
    if ci is not None:
        raise ValueError(
            "`ci` is not supported with `method='estimate'`; remove `ci`, or remove `method`"
        )
    if 0 in orders:
        raise ValueError(
            "q=0 (the numerical rank) is not supported with `method='estimate'`; pass a small "
            "order such as q=0.1, or remove `method`"
        )


def _check_interval(orders: list[float], p: Weights | None, measures: list[Measure]) -> None:
    """Raise a ValueError for orders or weights `p` that intervals do not support."""
    if 0 in orders and any(measure.ordered for measure in measures):
        raise ValueError(
            "`ci` requires orders above 0, because q=0 (the numerical rank) has no standard error; "
            "pass a small order such as q=0.1, or remove `ci`"
        )
    if p is not None:
        raise ValueError(
            "`ci` assumes identically distributed samples and is not supported with weights `p`; "
            "remove `p`, or remove `ci`"
        )


def check_allow_repeats(
    ci: float | None, has_clusters: bool, has_groups: bool, measures: Iterable[Measure]
) -> None:
    """Raise a TypeError if `allow_repeats=False` has no effect on any interval.

    It affects only intervals of measures in `WITH_JACKKNIFE`, without clusters and groups.
    """
    if ci is None:
        reason = "requires `ci`; pass ci=0.95, or remove `allow_repeats`"
    elif has_clusters:
        reason = "has no effect with `clusters`; remove one of them"
    elif has_groups:
        reason = "has no effect on the interval of a mean over groups; remove it"
    elif not any(measure.name in WITH_JACKKNIFE for measure in measures):
        names = ", ".join(WITH_JACKKNIFE)
        reason = f"affects only intervals of {names}; remove it, or add one of these measures"
    else:
        return
    raise TypeError(f"`allow_repeats=False` {reason}")


def check_pool_repeats(
    ci: float | None, details: bool, measures: Iterable[Measure], rows: str = "groups"
) -> None:
    """Raise a TypeError if `pool_repeats=False` has no effect on the interval of any group.

    It affects only intervals of the Vendi Score in the table of groups in "details". `rows` says
    what the rows of this table are: "groups", a description of the means that they contain instead
    of single groups, or "" if there are no groups.
    """
    if ci is None:
        reason = "requires `ci`; pass ci=0.95, or remove `pool_repeats`"
    elif not details:
        reason = (
            "affects only the intervals of groups in `details`; pass details=True, or remove "
            "`pool_repeats`"
        )
    elif not any(measure.name == "VS" for measure in measures):
        reason = "affects only intervals of VS; remove it, or add 'VS' to `measures`"
    elif not rows:
        reason = "requires groups; pass `groups` or `prompts`, or remove `pool_repeats`"
    elif rows != "groups":
        reason = f"has no effect on {rows}; remove it"
    else:
        return
    raise TypeError(f"`pool_repeats=False` {reason}")


def _suggest_similarity(spec: SimilaritySpec) -> str:
    """Suggest what to pass instead of a metric for measures that use only similarities.

    The result is a part of an error message.
    """
    if spec.metric == "precomputed":
        return "pass a similarity matrix with score_K=True"
    kernels = {"cosine": "cosine", "euclidean": "rbf", "manhattan": "laplacian"}
    if spec.defines_similarity or not isinstance(spec.metric, str) or spec.metric not in kernels:
        return "remove it"
    return f"pass k={kernels[spec.metric]!r} instead"


def check_orders(q: object) -> list[float]:
    """Return the distinct orders of `q` as floats; raise if one is invalid or there is none."""
    orders = map(check_order, q if is_collection(q) else [q])
    distinct = list(dict.fromkeys(orders))
    if not distinct:
        raise ValueError(
            "`q` must be an order or a sequence of orders, got an empty sequence; pass q=1"
        )
    return distinct


def check_confidence_level(name: str, value: object) -> float:
    """Return a confidence level as a float; raise unless 0.5 <= level < 1."""
    hint = "pass a level such as 0.95"
    expected = "a confidence level from 0.5 to below 1"
    return check_float(name, value, expected, lambda level: 0.5 <= level < 1, hint)
