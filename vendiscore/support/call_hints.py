"""Errors with suggestions for calls with invalid arguments, and for unknown attributes."""

import functools
import inspect
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, ParamSpec, TypeVar

from .suggestions import (
    describe_candidates,
    describe_entries,
    describe_parameters,
    first_sentence,
    join_hint,
    replacement_hint,
    resolve_synonyms,
    suggest_name,
    suggestion,
)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_MAX_LISTED_PARAMETERS = 8  # in an error about an unknown keyword
_KERNEL_KEYWORDS = ("k", "score_K", "score_X", "normalize")
# Functions without these keywords, and how to set the options of the only kernel that they support.
_FIXED_KERNELS = {
    "phrases": (
        "`phrases` always uses the n-gram kernel 'ngram_overlap'; set its options with `ns`, "
        "`tokenizer` and `analyzer`."
    )
}


@functools.cache
def with_call_hints(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Wrap a function, so that calls with invalid arguments raise an error with a hint.

    These are calls with unknown, missing or superfluous arguments.
    """

    @functools.wraps(function)
    def call(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        return _call_with_hints(function, function, args, options)

    call.__module__ = __name__.partition(".")[0]  # pickle imports it from there
    return call


class UnknownAttributeError(AttributeError):
    """An unknown attribute of an object; the message, with suggestions, is built when it is shown.

    The message is not built earlier, because libraries often test whether an object has an
    attribute, which must be fast.
    """

    def __str__(self) -> str:
        return describe_unknown_attribute(self.obj, str(self.name))

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


class AttributeHintMeta(ABCMeta):
    """Metaclass: an unknown attribute of the class raises an AttributeError with suggestions."""

    if not TYPE_CHECKING:  # type checkers should still report unknown attributes

        def __getattr__(cls, name: str) -> NoReturn:
            raise UnknownAttributeError(name=name, obj=cls)


class HelpfulCallMeta(AttributeHintMeta):
    """Metaclass: constructor calls with invalid arguments raise an error with a hint."""

    def __call__(cls, *args: object, **options: object) -> Any:
        return _call_with_hints(super().__call__, cls, args, options)

    @property
    def __signature__(cls) -> inspect.Signature:
        """Signature of `__init__`, for `help` and the documentation."""
        _self, *parameters = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
        return inspect.Signature(parameters)


def add_method_hints(cls: type) -> None:
    """Wrap the public methods that a class defines, so that errors about arguments have a hint.

    Methods that the class inherits are not changed.
    """
    for name, method in [*vars(cls).items()]:
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(cls, name, _with_method_hints(method))


def _with_method_hints(method: FunctionType) -> Callable[..., object]:
    """Wrap a method, so that calls with invalid arguments raise a TypeError with a hint."""

    @functools.wraps(method)
    def call(self: object, *args: object, **options: object) -> object:
        # A bound method has a signature without `self`, as users see it.
        bound = method.__get__(self)
        return _call_with_hints(bound, bound, args, options)

    return call


def _call_with_hints(
    function: Callable[..., Result],
    documented_callable: Callable[..., object],
    args: Sequence[object],
    options: Mapping[str, object],
) -> Result:
    """Call `function`; if its arguments are invalid, raise a TypeError with a hint.

    The hint is based on the signature and docstring of `documented_callable`: the function itself,
    or the class if `function` is a constructor.
    """
    try:
        return function(*args, **options)
    except (AttributeError, TypeError) as error:
        # If the arguments do not fit the signature, the traceback ends here. Otherwise, the error
        # was raised within the function, and is not about the call.
        is_internal = error.__traceback__ is None or error.__traceback__.tb_next is not None
        message = ""
        if not is_internal and not inspect.isabstract(documented_callable):
            message = describe_call_error(documented_callable, args, options)
        # For a class with a `_call_hint`, users should call another function, which the hint names.
        # It also replaces errors within the constructor.
        if not message and hasattr(documented_callable, "_call_hint"):
            hint = documented_callable._call_hint
            message = f"cannot make a {documented_callable.__name__} of these arguments; {hint}"
        if not message:
            raise
        raise TypeError(message) from (error if is_internal else None)


def describe_call_error(
    function: Callable[..., object], args: Sequence[object], options: Mapping[str, object]
) -> str:
    """Describe the first argument that does not fit the signature of a function; "" if all fit.

    `args` and `options` are the positional and keyword arguments of the call.
    """
    parameters = inspect.signature(function).parameters.values()
    accepts_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    named_parameters = [  # without *args and **options
        parameter
        for parameter in parameters
        if not parameter.kind.description.startswith("variadic")
    ]
    positional = [
        parameter.name
        for parameter in named_parameters
        if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    passed_names = {*positional[: len(args)], *options}
    required_names = [
        parameter.name for parameter in named_parameters if parameter.default is parameter.empty
    ]
    missing_names = [name for name in required_names if name not in passed_names]
    call_arguments = [name if name in positional else f"{name}=…" for name in required_names]
    call = f"{function.__name__}({', '.join(call_arguments)})"  # an example of a valid call
    descriptions = describe_parameters(function)
    for name, value in options.items():
        # A function with **options accepts unknown keywords, which it checks itself. Here, they are
        # an error only if they are synonyms of a missing argument.
        if name not in descriptions and (
            not accepts_any or resolve_synonyms(name, missing_names, "keyword")
        ):
            hint = suggest_name(name, descriptions, kind="keyword", value=value, quote="`")
            fixed_kernel = _FIXED_KERNELS.get(function.__name__, "")
            is_kernel = name in _KERNEL_KEYWORDS or resolve_synonyms(name, ["k"], "keyword")
            if is_kernel or not hint:
                listed = ", ".join(list(descriptions)[:_MAX_LISTED_PARAMETERS])
                more = ", …" * (len(descriptions) > _MAX_LISTED_PARAMETERS)
                hint = fixed_kernel or hint or f"Remove it; the parameters are {listed}{more}."
            return f"unknown keyword {name!r}. {hint}"
    repeated = [name for name in positional[: len(args)] if name in options]
    if repeated:
        return f"`{repeated[0]}` is passed both by position and by name; remove one of them"
    if missing_names:
        # An unknown keyword may have been passed instead of the missing argument.
        hints = (replacement_hint(name, "keyword") for name in options if name not in descriptions)
        hint = next(filter(None, hints), "")
        return f"`{missing_names[0]}` is missing; pass {call}{hint and '. '}{hint}"
    if len(args) > len(positional):
        return (
            f"got {len(args)} positional arguments, expected at most {len(positional)}; pass "
            f"{function.__name__}({', '.join(positional)}), and other arguments as name=value"
        )
    return ""


class AttributeHintMixin(metaclass=AttributeHintMeta):
    """Mixin: unknown attributes, and invalid arguments of methods, raise errors with suggestions.

    Classes with methods that must stay fast set `_has_method_hints` to False.
    """

    _has_method_hints: ClassVar[bool] = True

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if cls._has_method_hints:
            add_method_hints(cls)

    if not TYPE_CHECKING:  # type checkers should still report unknown attributes

        def __getattr__(self, name: str) -> NoReturn:
            if hasattr(type(self), name):
                # Python calls `__getattr__` if a property raises an AttributeError: raise it again.
                object.__getattribute__(self, name)
            raise UnknownAttributeError(name=name, obj=self)


def describe_unknown_attribute(owner: object, name: str) -> str:
    """Return the message about the unknown attribute `name` of `owner`, an object or a class.

    It contains suggestions and the names of all public attributes.
    """
    cls = owner if isinstance(owner, type) else type(owner)
    subject = f"type object {cls.__name__!r}" if cls is owner else f"{cls.__name__!r} object"
    message = f"{subject} has no attribute {name!r}"
    if name.startswith("_"):
        return message
    # Attributes that other packages define are not listed.
    packages = {base.__module__.partition(".")[0] for base in cls.__mro__}
    attributes = [key for base in cls.__mro__ if _is_own_class(base) for key in vars(base)]
    # Attributes of instances may come from base classes of other packages, if there are any.
    if not packages - {__name__.partition(".")[0], "builtins", "abc"}:
        attributes += [*vars(owner)]
    names = sorted({key for key in attributes if not key.startswith("_")})
    described = describe_entries(inspect.getdoc(cls) or "", "Attributes")
    descriptions = {
        key: described.get(key) or first_sentence(inspect.getdoc(getattr(cls, key, "")) or "")
        for key in names
    }
    hint = suggestion(name, names, "attribute", quote="`", other_scopes=_describe_items(owner))
    hint = hint or describe_candidates(name, descriptions, "attribute", quote="`")
    available = f"Available attributes: {', '.join(names)}"
    return f"{message}. {join_hint(hint, available)}"


def _is_own_class(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == __name__.partition(".")[0]


def _describe_items(owner: object) -> dict[str, str]:
    """Return names that users may mistake for attributes of `owner`, with their locations.

    These are the keys of `owner`, if it is a dict, and the attributes of the items of its lists.
    """
    locations = {}
    if isinstance(owner, Mapping):
        locations = {key: f"a key of this dict: result[{key!r}]" for key in map(str, owner)}
    for name, value in vars(owner).items():
        if not name.startswith("_") and isinstance(value, list | tuple) and value:
            # The first item represents all; they are objects of the same class.
            item = value[0]
            if is_dataclass(item) and not isinstance(item, type):
                for field in fields(item):
                    path = f"result.{name}[0].{field.name}"
                    locations.setdefault(
                        field.name, f"an attribute of the items of `{name}`: {path}"
                    )
    return locations
