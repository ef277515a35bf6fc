"""Arguments of `compute` as text, such as `k="rbf", sigma=0.5, measures=["VS", "IntDiv"]`.

Values are literals, and names are in a fixed list: all arguments of `compute` that need no code, no
files and no other models than the encoders offered here.
"""

import ast
import inspect
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache

from vendiscore import compute, list_kernels, list_measures
from vendiscore.resolve.kernel import NAMED_MODELS, parse_kernel_name
from vendiscore.resolve.presets import PRESETS
from vendiscore.support.errors import short_repr
from vendiscore.support.suggestions import suggest_name

from ..aliases import Options, Record
from ..quotas import MAX_ARGUMENTS, RefusedError
from . import offered_encoders

# Arguments that would run code, read or write files, or load other models.
# fmt: off
FORBIDDEN = frozenset([
    "batch_size", "cache", "device", "half", "model", "model_path", "revision", "tokenize",
    "tokenizer", "transform",
])
# Options of kernels, measures, metrics and mixtures, besides the arguments of `compute`.
_OPTIONS = frozenset([
    "absolute", "analyzer", "audit", "average", "background", "chirality", "coefficient", "combine",
    "epsilon", "exponent", "given", "given_k", "graded", "in_context", "logprobs", "lowercase",
    "max_length", "max_order", "max_path", "mode", "n_bits", "n_scales", "neighbours", "ns",
    "on_error", "options", "patience", "pooling", "quality", "radius", "relative", "same",
    "same_above", "sigma", "size", "sizes", "smooth", "solver", "t", "t_cut", "unbiased",
])
# fmt: on
# Arguments with one value per sample, which may also be the name of a column.
COLUMN_ARGUMENTS = ("groups", "prompts", "clusters", "p", "quality", "logprobs", "given")
# The largest number, and the largest length of a list, that an argument may contain, because both
# determine the time of a call.
MAX_NUMBERS: Mapping[str, float] = {
    "audit": 1_000,
    "max_length": 512,
    "max_order": 10,
    "max_path": 7,
    "n_bits": 16_384,
    "n_scales": 1_000,
    "ns": 100,
    "permutations": 9_999,
    "radius": 10,
    "size": 224,
    "sizes": 100,
}
MAX_LENGTHS: Mapping[str, int] = {
    "k": 20,
    "measures": 50,
    "ns": 20,
    "q": 100,
    "sizes": 20,
    "t": 500,
}
_KERNEL_ARGUMENTS = ("k", "given_k")
_MIN_RTOL = 1e-3  # smaller errors of an estimate need too many random vectors
_MAX_INTEGER = 2**63
_PARSE_ERRORS = (SyntaxError, ValueError, MemoryError, RecursionError)
_EXAMPLE = 'write them as in k="rbf", sigma=0.5, measures=["VS", "IntDiv"]'
# Names of functions with the samples, which is another argument of the API.
_SAMPLES = ("samples", "predictions", "data")


@cache
def list_allowed_names() -> frozenset[str]:
    """Return the names of all arguments that can be set."""
    parameters = inspect.signature(compute).parameters.values()
    names = {
        parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD
    }
    return frozenset(names | _OPTIONS) - {"samples"}


def parse_arguments(text: object) -> Record:
    """Parse the arguments of a call; raise a RefusedError unless all are allowed.

    The whole call `compute(samples, …)` is also accepted.
    """
    if not isinstance(text, str):
        raise RefusedError(f"`arguments` must be text, got {short_repr(text)}; {_EXAMPLE}.")
    if len(text) > MAX_ARGUMENTS:
        raise RefusedError(
            f"The arguments have {len(text):,} characters; this page accepts up to "
            f"{MAX_ARGUMENTS:,}. Send values of samples as columns of the samples."
        )
    text = _strip_call(text)
    try:
        call = ast.parse(f"f(\n{text}\n)", mode="eval").body
    except _PARSE_ERRORS as error:
        line = (getattr(error, "text", "") or "").strip()
        location = f", at {short_repr(line)}" if len(line) > 1 else ""
        raise RefusedError(f"The arguments cannot be read{location}; {_EXAMPLE}.") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise RefusedError(f"Every argument must have a name; {_EXAMPLE}.")
    arguments: Record = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise RefusedError(f"Every argument must have a name; {_EXAMPLE}.")
        if keyword.arg in arguments:
            raise RefusedError(f"`{keyword.arg}` is set twice; remove one of them.")
        arguments[keyword.arg] = _parse_value(keyword.arg, keyword.value)
    check_arguments(arguments)
    return arguments


def _strip_call(text: str) -> str:
    """Return the arguments of a whole call `compute(samples, …)` alone, without the samples."""
    match = re.fullmatch(
        r"\s*(?:vendiscore\.)?compute\(\s*(?:samples\s*(?:,|$))?(.*)\)\s*", text, re.S
    )
    stripped = match[1] if match else text
    return re.sub(r"^\s*samples\s*(?:,|$)", "", stripped)


def _parse_value(name: str, node: ast.expr) -> object:
    try:
        value = ast.literal_eval(node)
    except _PARSE_ERRORS:
        shown_name = (
            short_repr(ast.unparse(node)) if isinstance(node, ast.Name | ast.Attribute) else ""
        )
        raise RefusedError(
            f"`{name}` must be a number, a text, True, False, None, or a list or dict of these"
            f"{f', got {shown_name}' if shown_name else ''}; {_EXAMPLE}."
        ) from None
    _check_literal(name, value)
    return _replace_tuples(value)


def _replace_tuples(value: object) -> object:
    """Return a value with lists instead of tuples, as in JSON."""
    if isinstance(value, list | tuple):
        return [_replace_tuples(item) for item in value]
    if isinstance(value, dict):
        return {key: _replace_tuples(item) for key, item in value.items()}
    return value


def _check_literal(name: str, value: object) -> None:
    """Raise a RefusedError for types that JSON lacks, such as bytes, and for huge integers."""
    if isinstance(value, Mapping):
        values: Iterable[object] = [*value, *value.values()]
    elif isinstance(value, list | tuple | set):
        values = value
    elif (
        value is None
        or isinstance(value, str | bool | float)
        or (isinstance(value, int) and abs(value) < _MAX_INTEGER)
    ):
        return
    else:
        kind = "number" if isinstance(value, int) else type(value).__name__
        raise RefusedError(f"`{name}` contains an unsupported {kind}; remove it.")
    for item in values:
        _check_literal(name, item)


def check_arguments(arguments: Options) -> None:
    """Raise a RefusedError unless all arguments and options of measures are allowed."""
    for name, value in arguments.items():
        check_argument(name, value)
    measures = arguments.get("measures")
    if isinstance(measures, str):
        measures = [measures]
    if isinstance(measures, Collection):
        for name in measures:
            _check_name("measures", name, _list_measure_names(), "measure")
    for options in _iter_nested_options(arguments):
        check_arguments(options)
    _check_encoders(arguments)


def _check_encoders(arguments: Options) -> None:
    """Raise a RefusedError if a kernel of embeddings would use another model than those here."""
    options = arguments.get("options")
    for argument in _KERNEL_ARGUMENTS:
        for name in find_kernels(arguments, argument):
            kernel = name.partition(":")[0]
            if kernel not in _list_embedding_kernels():
                continue
            kernel_options = options.get(name) if isinstance(options, Mapping) else None
            kernel_options = kernel_options if isinstance(kernel_options, Mapping) else arguments
            # Options, such as the model, belong to `k`: the conditions use the default model.
            if argument != "k" or kernel_options.get("model_path") not in list_offered_models():
                raise RefusedError(
                    f"The kernel {name!r} needs a model; use {argument}="
                    f"{_find_offered_encoder(kernel)!r} instead."
                )


def _find_offered_encoder(kernel: str) -> str:
    """Return the name that selects an encoder offered here which this kernel uses."""
    encoders = zip(_list_offered_options(), list_offered_kernels(), strict=True)
    return next(name for options, name in encoders if options["k"] == kernel)


def _iter_nested_options(arguments: Options) -> Iterator[Options]:
    """Yield the options of single measures and of kernels of a mixture."""
    for name in ("measures", "options"):
        value = arguments.get(name)
        if isinstance(value, Mapping):
            yield from (options for options in value.values() if isinstance(options, Mapping))


def check_argument(name: str, value: object) -> None:
    """Raise a RefusedError unless an argument can be set to this value here."""
    if name in _SAMPLES:
        raise RefusedError(f"`{name}` is not one of the arguments; send the samples separately.")
    if name == "model_path" and value in list_offered_models():
        return
    if name in FORBIDDEN:
        hint = ""
        if name in ("model", "model_path") and list_offered_models():
            hint = f"; to compare by a model, use k={next(iter(list_offered_kernels()))!r}"
        raise RefusedError(f"`{name}` cannot be set here{hint}.")
    if name not in list_allowed_names():
        hint = keep_valid_hint(
            suggest_name(name, sorted(list_allowed_names()), kind="keyword", quote="`")
        )
        raise RefusedError(f"Unknown argument `{name:.40}`. {hint or 'Remove it.'}")
    if name == "same" and isinstance(value, str) and value != "exact":
        raise RefusedError("`same` must be 'exact' or a matrix here; remove it.")
    if name == "rtol" and isinstance(value, float) and value < _MIN_RTOL:
        raise RefusedError(f"`rtol` must be at least {_MIN_RTOL:g} here, got {value:g}.")
    if name in MAX_LENGTHS and isinstance(value, Collection) and not isinstance(value, str):
        max_length = MAX_LENGTHS[name]
        if len(value) > max_length:
            raise RefusedError(
                f"`{name}` can have up to {max_length} entries here, got {len(value)}."
            )
    if name in MAX_NUMBERS and (number := _find_largest(value)) > MAX_NUMBERS[name]:
        raise RefusedError(f"`{name}` can be at most {MAX_NUMBERS[name]:,} here, got {number:,g}.")
    if name in _KERNEL_ARGUMENTS:
        _check_kernels(name, value)


def _find_largest(value: object) -> float:
    """Return the largest absolute number in a value; 0 without numbers."""
    if isinstance(value, list | tuple | set):
        return max(map(_find_largest, value), default=0.0)
    return abs(value) if isinstance(value, int | float) and not math.isnan(value) else 0.0


def _check_kernels(argument: str, value: object) -> None:
    names = [value] if isinstance(value, str) else value
    if value is None or not isinstance(names, Collection):
        return  # which `compute` refuses
    for name in names:
        # Names in a mixture can have a column, as in "morgan:smiles".
        kernel = name.partition(":")[0] if isinstance(name, str) and names is value else name
        _check_name(argument, kernel, list_kernel_names(), "kernel")
        if argument == "given_k" and parse_kernel_name(kernel)[0].samples == "images":
            raise RefusedError("`given_k` cannot compare images here; remove it.")


def _check_name(argument: str, name: object, allowed: Collection[str], kind: str) -> None:
    if isinstance(name, str) and name in allowed:
        return
    hint = keep_valid_hint(suggest_name(name, allowed)) or f"Use one of {', '.join(allowed)}."
    raise RefusedError(f"Unknown {kind} `{argument}={short_repr(name)}`. {hint}")


@cache
def _list_measure_names() -> tuple[str, ...]:
    return (*(measure.name for measure in list_measures()), *PRESETS)


def list_kernel_names() -> tuple[str, ...]:
    """Return the allowed values of `k`: registered kernels without a model, and encoders."""
    without_model = _list_embedding_kernels() - {
        options["k"] for options in _list_offered_options()
    }
    registered = [kernel.name for kernel in list_kernels()]
    return (*(name for name in registered if name not in without_model), *list_offered_kernels())


def _list_embedding_kernels() -> set[str]:
    """Return the names of the kernels that compare samples by embeddings of a model."""
    kinds = offered_encoders.ALLOWED.values()
    return {options["k"] for encoders in kinds for options in encoders.values()}


def list_offered_models() -> tuple[str, ...]:
    """Return the models of the available encoders."""
    return tuple(options["model_path"] for options in _list_offered_options())


def list_offered_kernels() -> tuple[str, ...]:
    """Return the short names or Hub ids by which `k` selects the available encoders."""
    short = {model: name for name, model in NAMED_MODELS.items()}
    return tuple(short.get(model, model) for model in list_offered_models())


def _list_offered_options() -> list[Record]:
    return [
        encoder_options
        for kind in offered_encoders.ALLOWED
        for encoder_options in offered_encoders.list_offered(kind).values()
    ]


def needs_encoder(arguments: Options) -> bool:
    """Return whether a kernel of the call is one of the encoders."""
    encoders = {*list_offered_kernels(), *_list_embedding_kernels()}
    return any(name.partition(":")[0] in encoders for name in find_kernels(arguments))


def names_encoder(text: object) -> bool:
    """Return whether a text that was not parsed may contain the name of an encoder."""
    names = (*list_offered_kernels(), *list_offered_models(), *_list_embedding_kernels())
    return isinstance(text, str) and any(name in text for name in names)


def find_kernels(arguments: Options, argument: str = "k") -> list[str]:
    """Return the names of kernels in `argument`, each with its column if it has one."""
    k = arguments.get(argument)
    if isinstance(k, str):
        return [k]
    return [name for name in k if isinstance(name, str)] if isinstance(k, Collection) else []


def format_arguments(arguments: Options) -> str:
    """Write arguments as the text that `parse_arguments` reads."""
    return ", ".join(f"{name}={_format_literal(value)}" for name, value in arguments.items())


def _format_literal(value: object) -> str:
    if isinstance(value, Mapping):
        items = (f"{_format_literal(key)}: {_format_literal(x)}" for key, x in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_format_literal, value))}]"
    if isinstance(value, float) and math.isinf(value):
        return '"inf"'
    if isinstance(value, str) and "'" not in repr(value)[1:-1] and '"' not in value:
        return f'"{repr(value)[1:-1]}"'
    return repr(value)


# Suggestions `name=value` in the messages of the library, and parts of these that only a caller in
# Python can follow.
_SUGGESTION = re.compile(r"(?<![\w.])`?([A-Za-z_]\w*)=")
_ONLY_PYTHON = re.compile(
    r"\b(?!k\()[A-Za-z_]\w*\(|\bdf\[|\bfunctions?\b|\bcallable\b|\bpath\b|\bfolder\b|\bHub id\b"
    r"|\bclass\b|\bDataFrame|\bobject\b|\btensor|\btorch\b|pip install|vendiscore|Similarity\b"
    r"|MetricSpace"
)


def keep_valid_hint(hint: str, names: Collection[str] = ()) -> str:
    """Return a hint if its suggestions are valid arguments here, else "".

    `names` are the allowed names, by default those of `list_allowed_names`.
    """
    allowed = names or list_allowed_names()
    suggested = _SUGGESTION.findall(hint) + re.findall(r"`([A-Za-z_]\w*)`", hint)
    is_valid = all(name in allowed for name in suggested) and not _ONLY_PYTHON.search(hint)
    return hint if is_valid else ""


def describe_error(error: Exception, tool_names: Collection[str] = ()) -> str:
    """Return the message of the library about a call, without hints that are invalid here.

    Messages are "problem; hint", in which a hint can have alternatives, or "problem. Hint".
    `tool_names` are the arguments of the tool that was called, by default those of `compute`.
    """
    message = str(error)
    if not isinstance(error, RefusedError):
        counts = re.search(r" \(\d[\d,]* samples? cannot be used: [^()]*\)$", message)
        message, suffix = (message[: counts.start()], counts[0]) if counts else (message, "")
        problem, mark, hint = message.partition("; ")
        if not mark:
            problem, mark, hint = message.partition(". ")
        if hint:
            parts = [part for part in _split_alternatives(hint) if keep_valid_hint(part)]
            valid_hint = ", or ".join(parts)
            message = f"{problem}{mark}{valid_hint}" if valid_hint else problem
            if tool_names and valid_hint and not keep_valid_hint(valid_hint, tool_names):
                message += ", as an argument of the tool `compute`"
        message += suffix
    return message


def _split_alternatives(hint: str) -> list[str]:
    """Split the alternatives of a hint, such as "remove `q`, or add a measure"."""
    return [hint] if "\n" in hint or ";" in hint else hint.split(", or ")
