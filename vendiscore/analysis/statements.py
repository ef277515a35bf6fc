"""What there is to say of findings, in plain sentences: for the report and the page."""

from __future__ import annotations

from ..arrays.namespace import to_host
from ..registry.kernel import get_kernel, list_kernels
from ..registry.measure import Aspect, Measure, list_measures
from . import sentences
from .findings import Findings
from .sentences import short

# What more of each aspect is called, of samples or, beside references, of these too.
_MORE: dict[Aspect, str] = {
    "diversity": "more diverse",
    "dimension": "of more dimensions",
    "fidelity": "more like the references",
    "likeness": "more alike",
    "novelty": "more novel",
}


def meaning(found: Findings, what: str) -> str:
    """What the number means; `what` samples are called in the plural."""
    if not found.is_vendi:
        known = measure(found.key)
        if known is None:
            return ""
        return f"{found.key}: {known.summary} {about(known).capitalize()}."
    if found.grouped:
        sizes = [int(row["n"]) for row in found.details["groups"]]
        return sentences.of_groups(sizes, found.value, found.beside("se"), what)
    share = float(to_host(found.spectrum.values)[0])
    return sentences.diversity(found.n, found.value, share, what, lambda: found.neighbours)


def interval(found: Findings, what: str) -> str:
    """How sure it is, or why nothing is said of that."""
    low, high, se = (found.beside(name) for name in ("low", "high", "se"))
    if found.request.estimating is not None:
        if not se and low == high:
            return f"An estimate was asked for, and the score came out exact. {found.no_interval}"
        bounds = f"It is proved to be between {low:.4g} and {high:.4g}." if low is not None else ""
        error = f"Its computation has a standard error of {se:.2g}." if se is not None else ""
        return f"This score is an estimate. {bounds}{error} {found.no_interval}"
    if low is None or high is None or se is None:
        return found.no_interval or "No interval was asked for."
    level = float(found.details["interval"]["level"])
    if found.grouped:
        sizes = [int(row["n"]) for row in found.details["groups"]]
        if low <= 1 and high >= sum(sizes) / len(sizes):
            return (
                f"There is no interval: {len(sizes)} groups, of such different scores, are too few "
                f"for one of their mean. Sets of a few sources are compared, not averaged."
            )
        return (
            f"{100 * level:g} % interval of the mean over groups: {short(low)} to {short(high)} "
            f"(Student's t)."
        )
    return sentences.interval(found.n, level, low, high, se, what)


def how(found: Findings) -> str:
    """By what samples were compared."""
    details = found.details
    if "kernel" not in details:
        return f"Distances: {details['distance']}."
    name = str(details["kernel"])
    known = {kernel.name: kernel for kernel in list_kernels()}
    summary = known[name].summary if name in known else ""
    of_kernel = set(get_kernel(name).options) if name in known else set()
    options = {key: details["options"][key] for key in details["options"] if key in of_kernel}
    return sentences.kernel(name, summary, options)


def orders(found: Findings) -> str:
    """What the orders asked for do."""
    ordered = any(chosen.measure.ordered for chosen in found.request.measures)
    return " ".join(map(sentences.order, found.request.orders)) if ordered else ""


def beside(found: Findings) -> str:
    """By what samples were compared with the references."""
    if not found.request.pairs:
        return ""
    names = ", ".join(
        each.measure.name for each in found.request.measures if each.measure.references
    )
    return f"Compared with the references by {names}."


def left_out(found: Findings) -> str:
    """Which samples the kernel could not use."""
    dropped = found.details["dropped"]
    if not dropped:
        return ""
    place, why = next(iter(dropped.items()))
    several = "1 sample was" if len(dropped) == 1 else f"{len(dropped):,} samples were"
    return f"{several} left out, which the kernel cannot use: sample {place} {why}."


def about(measure: Measure) -> str:
    """Which values of a measure mean more of what it tells."""
    return f"{measure.direction} is {_MORE[measure.aspect]}"


def measure(key: str) -> Measure | None:
    """The measure that a number is of."""
    known = {measure.name: measure for measure in list_measures()}
    names = sorted((name for name in known if f"{key}_".startswith(f"{name}_")), key=len)
    return known[names[-1]] if names else None
