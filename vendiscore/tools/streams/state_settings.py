"""The settings of a `State`, as plain values that can be compared and serialized."""

import types
from collections.abc import Mapping

from ...encoders.sample_encoder import Encoder
from ...resolve.kernel import Kernel, list_kernels
from ...resolve.similarity_spec import SimilaritySpec, similarity_spec_from_keywords
from ...support.signature import IRRELEVANT_SETTINGS, to_plain
from ...support.types import Options, Record

# Kernels whose features are the vectors themselves, divided by their norms; True if the norms of
# the vectors must be 1 unless they are normalized.
UNIT_NORM_REQUIRED = {"cosine": False, "linear": True, "X": True}
# Reported settings of an encoder that depend on its samples, or that repeat d.
SAMPLE_DEPENDENT_SETTINGS = frozenset(("dims",))
_DOT_PRODUCTS = "dot products of X"


def requires_unit_rows(spec: SimilaritySpec) -> bool | None:
    """Return whether vectors must have unit norm; None if samples are no feature vectors."""
    name = spec.input_form or getattr(spec.k, "name", "")
    if name not in UNIT_NORM_REQUIRED or spec.conditioning_prompts is not None:
        return None
    return UNIT_NORM_REQUIRED[name] and not spec.normalize


def describe_unsupported(spec: SimilaritySpec) -> str:
    """Describe why a State does not support this specification; "" if it does."""
    names = [repr(kernel.name) for kernel in list_kernels() if kernel.rows]
    supported = f"{', '.join(names)}, or score_X=True for features"
    if spec.input_form == "K":
        return (
            f"`score_K` is not supported by a State, because batches contain no similarities to "
            f"samples of other batches; pass the samples and one of the kernels {supported}"
        )
    if spec.k is None and not spec.input_form:
        return (
            f"`k` is required: a State supports only kernels whose features do not depend on other "
            f"samples; pass one of {supported}"
        )
    if not (spec.input_form or isinstance(spec.k, Kernel)):
        passed = (
            "a mixture of kernels" if isinstance(spec.k, tuple) else "a function of two samples"
        )
        return f"a State does not support {passed} as `k`; pass one of {supported}"
    if isinstance(spec.k, Kernel) and not spec.k.rows:
        return (
            f"a State does not support kernel {spec.k.name!r}, which has no features of fixed "
            f"length that do not depend on other samples; pass one of {supported}, or pass all "
            f"samples to compute(…, method='estimate')"
        )
    for name in ("metric", "fit"):
        if getattr(spec, name) is not None:
            return f"`{name}` is not supported by a State; remove it"
    return ""


def plain_settings(spec: SimilaritySpec) -> Record:
    """Return the kernel and its options as plain values, which can be compared and serialized."""
    settings: Record = {"kernel": _DOT_PRODUCTS}
    if isinstance(spec.k, Kernel):
        settings["kernel"] = spec.k.name
        for name, value in {**spec.k.options, **spec.options}.items():
            if name not in IRRELEVANT_SETTINGS and name != "on_error":
                settings[name] = _to_plain_value(value)
        if spec.drop_unusable:
            settings["on_error"] = "skip"
    if spec.normalize:
        settings["normalize"] = True
    if spec.conditioning_prompts is not None:
        settings["prompts"] = "given"
    return settings


def encoder_settings(settings: Options, requested_settings: Options) -> Record:
    """Return the settings that an encoder reported for a batch and that were not requested."""
    reported = {}
    for name, setting in settings.items():
        value = to_plain(setting)
        requested = requested_settings.get(name, "nothing")
        # A requested function is described by its name, "@" and its source; an encoder reports only
        # its name.
        is_ignored = name in IRRELEVANT_SETTINGS | SAMPLE_DEPENDENT_SETTINGS or "@" in str(
            requested
        )
        if not is_ignored and requested != value:
            reported[name] = value
    return reported


def spec_from_settings(settings: Options) -> SimilaritySpec | None:
    """Return the SimilaritySpec for deserialized settings of a `State`, or None.

    None is returned if similarities were conditioned on prompts, because a `State` does not store
    prompts, or if its kernel is not registered, or has other options, in this process.
    """
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
    except (TypeError, ValueError):
        return None


def is_plain(value: object) -> bool:
    """Return whether JSON can represent the value, possibly a nested list."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _to_plain_value(value: object) -> object:
    """Return a setting as a plain value; an object is represented by its settings or its name."""
    if isinstance(value, Encoder):
        return to_plain(
            {
                name: setting
                for name, setting in value.settings.items()
                if name not in IRRELEVANT_SETTINGS
            }
        )
    kinds = (Mapping, set, frozenset, range, types.FunctionType)
    if hasattr(value, "dtype") or is_plain(value) or isinstance(value, kinds):
        return to_plain(value)
    return str(getattr(value, "__qualname__", type(value).__qualname__))
