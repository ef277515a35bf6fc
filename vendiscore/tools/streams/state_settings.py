"""The settings by which samples of a state are compared, as values that tell states apart."""

import types
from collections.abc import Mapping

from ...encoders.sample_encoder import Encoder
from ...resolve.kernel import Kernel, list_kernels
from ...resolve.similarity_spec import SimilaritySpec, similarity_spec_from_keywords
from ...support.signature import IRRELEVANT_SETTINGS, to_plain
from ...support.types import Options, Record

# Kernels whose features are the vectors that they compare, divided by their lengths.
_OF_ROWS = {"cosine": False, "linear": True, "X": True}  # and whether the lengths must be 1
# Reported settings of an encoder that depend on its samples, or that repeat d.
_COUNTS = frozenset(("dims",))
_DOT_PRODUCTS = "dot products of X"


def must_be_unit(how: SimilaritySpec) -> bool | None:
    """Return whether rows that are features must have unit length; None for other samples."""
    name = how.input_form or getattr(how.k, "name", "")
    if name not in _OF_ROWS or how.conditioning_prompts is not None:
        return None
    return _OF_ROWS[name] and not how.normalize


def refused(how: SimilaritySpec) -> str:
    """Say why samples cannot be added up under these settings; "" if they can."""
    names = [repr(kernel.name) for kernel in list_kernels() if kernel.rows]
    can = f"{', '.join(names)}, or score_X=True for rows of features"
    if how.input_form == "K":
        return (
            f"`score_K` gives similarities between samples, which batches lack; pass the samples, "
            f"with one of the kernels whose features can be added up: {can}"
        )
    if how.k is None and not how.input_form:
        return f"`k` is missing: a state needs a kernel whose features can be added up: {can}"
    if not (how.input_form or isinstance(how.k, Kernel)):
        kind = "a mixture of kernels" if isinstance(how.k, tuple) else "a function of two samples"
        return f"`k` is {kind}, which has no features that could be added up; pass one of {can}"
    if isinstance(how.k, Kernel) and not how.k.rows:
        return (
            f"kernel {how.k.name!r} has no features of fixed width that depend on no other sample, "
            f"so that batches cannot be added up; pass one of {can}, or all samples at once to "
            f"compute(…, method='estimate')"
        )
    for name in ("metric", "fit"):
        if getattr(how, name) is not None:
            return f"`{name}` is not an option of a state; leave it out"
    return ""


def settings_of(how: SimilaritySpec) -> Record:
    """Return kernel and options in values that can be written down and told apart."""
    settings: Record = {"kernel": _DOT_PRODUCTS}
    if isinstance(how.k, Kernel):
        settings["kernel"] = how.k.name
        for name, value in {**how.k.options, **how.options}.items():
            if name not in IRRELEVANT_SETTINGS and name != "on_error":
                settings[name] = _told(value)
        if how.drop_unusable:
            settings["on_error"] = "skip"
    if how.normalize:
        settings["normalize"] = True
    if how.conditioning_prompts is not None:
        settings["prompts"] = "given"
    return settings


def found_in(settings: Options, asked: Options) -> Record:
    """Return the settings that a batch reports of its encoder beyond those requested."""
    reported = {}
    for name, setting in settings.items():
        value = to_plain(setting)
        requested = asked.get(name, "nothing")
        # A function that was asked for has "@" and what it does, its report has only its name.
        named = name in IRRELEVANT_SETTINGS | _COUNTS or "@" in str(requested)
        if not named and requested != value:
            reported[name] = value
    return reported


def restored(settings: Options) -> SimilaritySpec | None:
    """Return how to compare more batches, from settings in bytes; None if these are incomplete."""
    if "prompts" in settings:
        return None
    arguments = dict(settings)
    kernel = arguments.pop("kernel")
    if kernel == _DOT_PRODUCTS:
        arguments["score_X"] = True
    else:
        arguments["k"] = kernel
    try:
        return similarity_spec_from_keywords(arguments)
    except (TypeError, ValueError):  # a kernel of one's own, or one that has other options here
        return None


def is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _told(value: object) -> object:
    """Return a value in words; an object by its own description, since its bytes may differ."""
    if isinstance(value, Encoder):
        return to_plain(
            {name: own for name, own in value.settings.items() if name not in IRRELEVANT_SETTINGS}
        )
    kinds = (Mapping, set, frozenset, range, types.FunctionType)
    if hasattr(value, "dtype") or is_plain(value) or isinstance(value, kinds):
        return to_plain(value)
    return str(getattr(value, "__qualname__", type(value).__qualname__))
