"""The accepted values of the keywords for which users may type a synonym.

The module `suggestions` suggests a keyword only if it accepts the value that the user passed.
"""

from collections.abc import Callable, Mapping, Sequence
from numbers import Real


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_level(value: object) -> bool:
    """Return whether a value can be a confidence level."""
    return isinstance(value, Real) and 0.5 <= float(value) < 1


def _is_count(value: object) -> bool:
    """Return whether a value is an integer and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_order(value: object) -> bool:
    """Return whether a value is a number of at least 0, "inf" or a sequence of orders."""
    if isinstance(value, bool):  # in Python, booleans are numbers, too
        return False
    if isinstance(value, Real):
        return float(value) >= 0
    return isinstance(value, Sequence) and (not isinstance(value, str) or value == "inf")


def _is_per_sample(value: object) -> bool:
    """Return whether a value can be a collection of samples, or of one value per sample."""
    return hasattr(value, "__iter__") and not isinstance(value, str | bytes)


def _is_text_or_callable(value: object) -> bool:
    """Return whether a value is a name, a dict or list of names, or a function."""
    return isinstance(value, str | Mapping | list | tuple) or (
        callable(value) and not hasattr(value, "__array__")
    )


# For each of these keywords: a function that returns whether the keyword accepts a value, and an
# example of a valid argument, which is shown if it does not. Other keywords accept any value.
ACCEPTED_VALUES: dict[str, tuple[Callable[[object], bool], str]] = {
    "allow_repeats": (lambda value: isinstance(value, bool), "allow_repeats=False"),
    "by": (_is_per_sample, "by=labels, one label per sample"),
    "ci": (_is_level, "ci=0.95"),
    "clusters": (_is_per_sample, "clusters=labels, one label per sample"),
    "counts": (_is_per_sample, "counts=[3, 1, 2]"),
    "groups": (_is_per_sample, "groups=labels, one label per sample"),
    "k": (_is_text_or_callable, "k='cosine'"),
    "level": (_is_level, "level=0.95"),
    "measures": (_is_text_or_callable, "measures='IntDiv'"),
    "n_bits": (_is_count, "n_bits=2048"),
    "n_scales": (_is_count, "n_scales=10"),
    "method": (lambda value: value in ("auto", "estimate"), "method='estimate'"),
    "names": (_is_per_sample, "names=['A', 'B']"),
    "neighbours": (_is_count, "neighbours=3"),
    "ns": (lambda value: _is_count(value) or _is_per_sample(value), "ns=[1, 2]"),
    "objective": (lambda value: value in ("vendi", "represent"), "objective='represent'"),
    "on_error": (lambda value: value in ("raise", "skip"), "on_error='skip'"),
    "p": (_is_per_sample, "p=weights, one weight per sample"),
    "permutations": (_is_count, "permutations=999"),
    "q": (_is_order, "q=2"),
    "quality": (_is_per_sample, "quality=scores, one score per sample"),
    "references": (_is_per_sample, "references=samples, a second set"),
    "samples": (_is_per_sample, "a list of samples as the first argument"),
    "scales": (_is_per_sample, "scales=[0.5, 1.0, 2.0]"),
    "seed": (_is_count, "seed=0"),
    "sigma": (_is_real, "sigma=1.0"),
    "size": (_is_count, "size=5"),
    "sizes": (lambda value: _is_count(value) or _is_per_sample(value), "sizes=[10, 20, 50]"),
    "threshold": (_is_real, "threshold=0.9"),
    "within": (_is_real, "within=0.05"),
}
