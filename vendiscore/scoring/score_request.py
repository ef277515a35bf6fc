"""Validation of the arguments of `compute`. Later stages assume a valid `ScoreRequest`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ..core.eigenvalues import PSD, check_psd
from ..measures.evaluation import ConfiguredMeasure, parse_measures
from ..measures.measure import BETWEEN, Measure, list_measures, measures_with_option
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
from ..support.suggestions import describe_parameters
from ..support.types import Options, Record, Samples, Weights

if TYPE_CHECKING:
    from ..magnitude.magnitude_options import SolverName
    from ..resolve.sample_labels import GroupLabels

# Keywords that neither define how samples are compared nor are options of measures.
_OPTIONAL_KEYWORDS = ("p", "measures", "groups", "counts", "ci", "clusters", "rtol", "permutations")
_DEFAULTS: Record = {
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
_UNSET_IF_NONE = ("t", "seed")  # None is treated as not passed
# Measures with intervals from leave-one-out values, at almost no cost.
WITH_JACKKNIFE = ("VS", "IntDiv", "AvgSim")
# Default measures, depending on the other keywords and the references.
Measures: TypeAlias = Mapping[str, Options]
DefaultMeasures: TypeAlias = "Callable[[Options, Samples | bool | None], Measures]"


def default_measures(arguments: Options, references: object = None) -> Measures:
    """Return the default measures of `compute` and of the metric `vendiscore`."""
    return {"VS": {}}


def default_magnitude_measures(arguments: Options, references: object = None) -> Measures:
    """Return the default measures of the metric `magnitude`; the area of one set ends at t_conv."""
    if arguments.get("t") is not None:
        return {"Magnitude": {}}
    if references is not None:
        return {"MagArea": {}, "t_conv": {}, "MagDiff": {}}
    cut = {} if arguments.get("t_cut") is not None else {"t_cut": "t_conv"}
    return {"MagArea": cut, "t_conv": {}}


@dataclass(frozen=True)
class ScoreRequest:
    """Validated arguments of `compute`, except `p`, `groups` and `counts`."""

    spec: SimilaritySpec
    measures: tuple[ConfiguredMeasure, ...]
    orders: tuple[float, ...] = (DEFAULT_ORDER,)
    # orders were passed as a sequence, so every key includes its order
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
        """Return a request whose similarities are conditioned on the prompts."""
        return replace(self, spec=self.spec.with_prompts(prompts, True))

    @cached_property
    def suffixes(self) -> list[str]:
        """The suffix of each order in the keys of ordered measures."""
        return order_suffixes(self.orders, several=self.several_orders)

    @property
    def main_order(self) -> float:
        """The order described in reports: 1 if it was passed, otherwise the first."""
        return 1.0 if 1.0 in self.orders else self.orders[0]

    @property
    def vendi_key(self) -> str:
        """The key of the Vendi Score at the main order."""
        return f"VS{self.suffixes[self.orders.index(self.main_order)]}"

    @property
    def keys(self) -> list[str]:
        """The keys of all measures, including orders."""
        return [
            f"{chosen.measure.name}{suffix}"
            for chosen in self.measures
            for suffix in (self.suffixes if chosen.measure.ordered else [""])
        ]

    @cached_property
    def names(self) -> list[str]:
        """The names of the measures."""
        return [chosen.measure.name for chosen in self.measures]

    @cached_property
    def group_measures(self) -> list[str]:
        """The names of the measures that need groups."""
        return [chosen.measure.name for chosen in self.measures if chosen.measure.groups]

    @cached_property
    def uses_permutation_null(self) -> bool:
        """True if BetweenVS is compared with its null distribution."""
        return self.permutations != 0 and BETWEEN in self.group_measures

    @cached_property
    def two_sample_measures(self) -> list[str]:
        """The names of the measures that compare the samples with references."""
        return [chosen.measure.name for chosen in self.measures if chosen.measure.references]

    @cached_property
    def needs_distance_scale(self) -> bool:
        """True if a measure sets its distance scale by the references, if there are any."""
        names = ((chosen, chosen.measure.references_without) for chosen in self.measures)
        return any(name and chosen.options.get(name) is None for chosen, name in names)

    @cached_property
    def needs(self) -> tuple[frozenset[str], frozenset[str]]:
        """The needs of measures of a set or of each group, and of those of all groups together."""
        measures = [chosen.measure for chosen in self.measures if not chosen.measure.pooled]
        each, together = (
            frozenset(measure.needs for measure in measures if measure.groups is groups)
            for groups in (False, True)
        )
        return each, together

    @cached_property
    def solver(self) -> SolverName:
        """The solver for magnitude weights; the first one that a measure specifies."""
        every: list[Any] = [chosen.options.get("solver") for chosen in self.measures]
        return next(filter(None, every), "auto")

    @cached_property
    def pooled_needs(self) -> frozenset[str]:
        """Views of samples and references together that measures need, such as similarities."""
        return frozenset(each.measure.needs for each in self.measures if each.measure.pooled)


_CACHEABLE_TYPES = {str, int, float, bool, type(None)}


def parse_request(
    arguments: Options,
    get_default_measures: DefaultMeasures = default_measures,
    references: Samples | bool | None = None,
    *,
    ignored_names: Collection[str] | None = None,
    allow_unused_order: bool = False,
    caller: Callable[..., object] | None = None,
) -> ScoreRequest:
    """Parse the keywords of `compute`; `ignored_names` belong to other metrics and are ignored.

    With `allow_unused_order`, `q` may have no effect, because it is a default or has other uses.
    Errors about unknown keywords also describe the parameters of `caller`.
    """
    read: Callable[..., ScoreRequest] = _parse_request
    if ignored_names is None and _CACHEABLE_TYPES.issuperset(map(type, arguments.values())):
        read = _parse_request_cached
        references = references is not None or None
    return read(
        get_default_measures,
        references,
        ignored_names,
        allow_unused_order,
        caller,
        Registry.version,
        **arguments,
    )


def parse_generation_request(options: Mapping[str, object]) -> ScoreRequest:
    """Parse keywords from an evaluation harness, which supplies prompts and needs plain numbers.

    Raises a ValueError for keywords about single samples, otherwise as `parse_request`.
    """
    for name in {"details", "groups", "p", "prompts", "given_prompt"} & options.keys():
        raise ValueError(
            f"`{name}` has no meaning here, where prompts are groups and results are numbers; "
            f"leave it out"
        )
    return parse_request(options)


def _parse_request(
    get_default_measures: DefaultMeasures,
    references: Samples | bool | None,
    ignored_names: Collection[str] | None,
    allow_unused_order: bool,
    caller: Callable[..., object] | None,
    registry_version: int,
    /,
    **arguments: Any,
) -> ScoreRequest:
    own = {name: arguments.get(name, default) for name, default in _DEFAULTS.items()}
    rest = {
        name: value
        for name, value in arguments.items()
        if name not in own and (name not in _UNSET_IF_NONE or value is not None)
    }
    if own["counts"] is not None:
        from .counts import check_counts_keywords

        rest = check_counts_keywords(arguments, rest)
    distances = [name for name in _DISTANCE_KEYWORDS if rest.get(name) is not None]
    q = own["q"]
    p = own["p"]
    permutations = own["permutations"]
    ci = None if own["ci"] is None else check_confidence_level("ci", own["ci"])
    clusters = own["clusters"]
    if clusters is not None:
        from ..resolve.sample_labels import parse_group_labels

        clusters = parse_group_labels(clusters, "clusters")
    estimating = _parse_method(own["method"], own["rtol"], rest)
    spec = parse_similarity_spec(rest)
    if estimating is not None:
        rest.pop("seed", None)
    names = (
        get_default_measures(arguments, references) if own["measures"] is None else own["measures"]
    )
    chosen = parse_measures(names, rest)
    measures = [each.measure for each in chosen]
    needs = {measure.needs for measure in measures}
    orders = check_orders(q)
    q_is_passed = is_collection(q) or orders != [DEFAULT_ORDER]
    psd = check_psd(own["psd"])
    said = ", ".join(measure.name for measure in measures)
    if ignored_names is not None:
        rest = {
            n: value
            for n, value in rest.items()
            if n not in ignored_names and not measures_with_option(n)
        }
        if not all(measure.weighted for measure in measures):
            p = None
    elif distances and "distances" not in needs:
        raise TypeError(
            f"`{distances[0]}` is about distances, which {said} does not look at; "
            f"{_suggest_similarity(spec)}, or name a measure of distances such as 'MagArea' in "
            f"`measures`"
        )
    elif (
        q_is_passed and not allow_unused_order and not any(measure.ordered for measure in measures)
    ):
        ordered = ", ".join(each.name for each in list_measures() if each.ordered)
        raise TypeError(
            f"`q={short_repr(q)}` has no effect on {said}: it is the order of {ordered}; leave it "
            f"out, or name one of these in `measures`"
        )
    if needs == {"distances"}:
        check_kernel_or_metric(spec, said)
    if p is not None and (without := [m.name for m in measures if not m.weighted]):
        exponent = "; the exponent of metric='minkowski' is `exponent`" if spec.metric else ""
        raise ValueError(
            f"`p` cannot be used with {', '.join(without)}, which take no weights; leave out one "
            f"or the other{exponent}"
        )
    if ci is not None:
        _check_interval(orders, p, measures)
    elif clusters is not None:
        raise TypeError(
            "`clusters` says which samples came together, for the interval: pass ci=0.95 with it"
        )
    allow_repeats = check_bool("allow_repeats", own["allow_repeats"])
    if not allow_repeats:
        check_allow_repeats(ci, clusters is not None, own["groups"] is not None, measures)
    pool_repeats = check_bool("pool_repeats", own["pool_repeats"])
    details = check_bool("details", own["details"])
    if not pool_repeats:
        check_pool_repeats(ci, details, measures)
    if permutations is not None:
        permutations = check_int("permutations", permutations, 0, hint="99 or 999 are usual")
        if not any(measure.name == BETWEEN for measure in measures):
            raise TypeError(
                f"`permutations` is for {BETWEEN}, and {said} has no null; leave it out"
            )
    if estimating is not None:
        _check_estimate(ci, orders, measures)
    if rest:
        accepted = dict.fromkeys((*_DEFAULTS, "samples", "references", "seed"), "")
        if caller is not None:
            accepted |= describe_parameters(caller)
        accepted |= SIMILARITY_KEYWORDS
        if estimating is None:
            del accepted["seed"]
        for measure in measures:
            accepted |= dict.fromkeys(measure.options, f"Option of {measure.name}.")
        every = {
            name: measures_with_option(name)
            for measure in list_measures()
            for name in measure.options
        }
        spec = apply_text_kernel_options(spec, rest, accepted, every)
    return ScoreRequest(
        spec=spec,
        measures=tuple(chosen),
        orders=tuple(orders),
        several_orders=is_collection(q),
        p=p,
        psd=psd,
        details=details,
        groups=own["groups"],
        counts=own["counts"],
        ci=ci,
        clusters=clusters,
        allow_repeats=allow_repeats,
        pool_repeats=pool_repeats,
        estimate_options=estimating,
        permutations=permutations,
    )


# Plain keywords are parsed only once for all calls with the same keywords and plugins.
_parse_request_cached = lru_cache(maxsize=256, typed=True)(_parse_request)


def _parse_method(method: object, rtol: object, remaining: Record) -> EstimateOptions | None:
    """Return the options of an estimate, or None for exact scores."""
    if check_choice("method", method, get_args(Method)) == "auto":
        if rtol is not None:
            raise TypeError(
                "`rtol` is the largest error of an estimate, and scores are exact: pass "
                "method='estimate' with it, or leave it out"
            )
        return None
    given: Record = {}
    if rtol is not None:
        # The mean over random vectors cannot be more accurate in reasonable time.
        expected = "a relative error from 1e-08 to 1"
        remedy = "2e-3 is usual"
        given["rtol"] = check_float("rtol", rtol, expected, lambda r: 1e-8 <= r < 1, remedy)
    if "seed" in remaining:  # also an option of some kernels
        given["seed"] = check_int("seed", remaining["seed"], 0)
    return EstimateOptions(**given)


def _check_estimate(ci: float | None, orders: list[float], measures: list[Measure]) -> None:
    """Raise if an estimate is requested that does not exist for any samples."""
    if others := [measure.name for measure in measures if measure.name != "VS"]:
        raise ValueError(
            f"`method='estimate'` is for the Vendi Score, and {', '.join(others)} would be exact; "
            f"name 'VS' alone in `measures`, or leave `method` out"
        )
    if ci is not None:
        raise ValueError(
            "`ci` needs all eigenvectors, which `method='estimate'` does not compute; "
            "leave one of them out"
        )
    if 0 in orders:
        raise ValueError(
            "q=0 counts eigenvalues above rounding, which an estimate cannot; pass a small order "
            "such as q=0.1, or leave `method` out"
        )


def _check_interval(orders: list[float], p: Weights | None, measures: list[Measure]) -> None:
    """Raise if a requested standard error is not defined for any samples."""
    if 0 in orders and any(measure.ordered for measure in measures):
        raise ValueError(
            "`ci` needs orders above 0: q=0 counts dimensions, and one sample changes that by "
            "one or not at all; pass a small order such as q=0.1, or leave `ci` out"
        )
    if p is not None:
        raise ValueError(
            "`ci` is for samples that are drawn alike, but `p` weighs them differently; leave one "
            "or the other out"
        )


def check_allow_repeats(
    ci: float | None, has_clusters: bool, has_groups: bool, measures: Iterable[Measure]
) -> None:
    """Raise a TypeError if `allow_repeats=False` has no effect on any interval."""
    if ci is None:
        reason = "is about the interval, which was not requested: pass ci=0.95 with it, or"
    elif has_clusters:
        reason = "has no effect with `clusters`, which are the independent units of the interval;"
    elif has_groups:
        reason = "has no effect on the interval of a mean over groups or prompts;"
    elif not any(measure.name in WITH_JACKKNIFE for measure in measures):
        names = ", ".join(WITH_JACKKNIFE)
        reason = f"has an effect on intervals of {names}, and none of them is measured;"
    else:
        return
    raise TypeError(f"`allow_repeats=False` {reason} leave it out")


def check_pool_repeats(
    ci: float | None, details: bool, measures: Iterable[Measure], rows: str = "groups"
) -> None:
    """Raise a TypeError if `pool_repeats=False` has no effect on the interval of any group.

    `rows` names the items with a row in the details, or is empty.
    """
    if ci is None:
        reason = "is about intervals of groups, which were not requested: pass ci=0.95 with it, or"
    elif not details:
        reason = "is about intervals of groups in `details`: pass details=True with it, or"
    elif not any(measure.name == "VS" for measure in measures):
        reason = "has an effect on intervals of VS of each group, which is not measured;"
    elif not rows:
        reason = "is about intervals of groups or prompts, and there is one set;"
    elif rows != "groups":
        reason = f"has no effect on {rows};"
    else:
        return
    raise TypeError(f"`pool_repeats=False` {reason} leave it out")


def _suggest_similarity(spec: SimilaritySpec) -> str:
    """Suggest a kernel to pass instead of a metric when a similarity is expected."""
    if spec.metric == "precomputed":
        return "pass a similarity matrix with score_K=True"
    kernels = {"cosine": "cosine", "euclidean": "rbf", "manhattan": "laplacian"}
    if spec.defines_similarity or not isinstance(spec.metric, str) or spec.metric not in kernels:
        return "leave it out"
    return f"pass k={kernels[spec.metric]!r} instead"


def check_orders(q: object) -> list[float]:
    """Return the distinct orders of `q` as floats; an error names the first invalid one."""
    orders = map(check_order, q if is_collection(q) else [q])
    distinct = list(dict.fromkeys(orders))
    if not distinct:
        raise ValueError("`q` must be an order or several, got an empty list; pass q=1")
    return distinct


def check_confidence_level(name: str, value: object) -> float:
    """Validate a confidence level such as 0.95; 0.05 raises an error."""
    remedy = "pass a level such as 0.95"
    return check_float(name, value, "a level from 0.5 to below 1", lambda x: 0.5 <= x < 1, remedy)
