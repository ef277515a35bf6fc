"""The signature of a result: one line with all settings, and digests of arrays and functions."""

import ast
import copyreg
import functools
import inspect
import json
import linecache
import re
import sys
import textwrap
import types
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from operator import methodcaller
from typing import Any

import numpy as np

from .. import __version__
from .hashing import hash_bytes
from .namespace import is_torch, to_host
from .optional import is_network
from .types import Record

# Settings that are reported but do not change results.
IRRELEVANT_SETTINGS = frozenset(("audit", "batch_size", "cache", "device", "symmetric_pairs"))
# Characters with a special meaning in signatures; text that contains one of them is quoted.
_RESERVED_CHARACTERS = set(" |,+=:;*'\"")
# Replaces the digest of functions and objects whose source code is not available.
UNKNOWN_SOURCE = "source=unknown"
_STANDARD_LIBRARY = sys.stdlib_module_names
# Modules that are omitted from the names of functions and objects.
_UNNAMED_MODULES = ("builtins", "__main__", "__mp_main__")
# Larger arrays are represented by a digest.
_MAX_PRINTED_NUMBERS = 8
_SIMPLE_TYPES = {type(None), bool, int, float, str}
# The functions that are being described, to stop at a function that contains a reference to itself.
_ENCLOSING_FUNCTIONS: ContextVar[tuple[object, ...]] = ContextVar("outer", default=())


def format_number(x: float) -> str:
    """Format a number with the fewest digits that identify it: 1, 0.5, 1e-30, inf."""
    return f"{x:.0f}" if float(x).is_integer() and abs(x) < 1e16 else repr(float(x))


def to_plain(value: object) -> Any:
    """Convert a value to built-in types that can be printed and written as JSON.

    Large arrays, functions and other objects become strings with a digest.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, range)):
        simple = _SIMPLE_TYPES.issuperset(map(type, value))
        return list(value) if simple else [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        items = value.items()
        return {
            str(k): item if type(item) in _SIMPLE_TYPES else to_plain(item) for k, item in items
        }
    if isinstance(value, np.generic) or (is_torch(value) and value.ndim == 0):
        # A record of a structured array (np.void) may contain arrays.
        return value.item() if not isinstance(value, np.void) else repr(value)
    if isinstance(value, np.ndarray) or is_torch(value):
        array = to_host(value)
        return (
            array.tolist()
            if array.size <= _MAX_PRINTED_NUMBERS
            else f"{array.shape}@{compute_digest(array)}"
        )
    if isinstance(value, (set, frozenset)):
        return sorted((to_plain(item) for item in value), key=repr)
    return _describe_object(value)


def compute_digest(array: object) -> str:
    """Return a hash of the values, dtype and shape of an array as 16 hexadecimal digits."""
    array = np.ascontiguousarray(to_host(array))
    return hash_bytes(array.tobytes() + repr((array.dtype, array.shape)).encode()).hex()


def format_signature(measures: Iterable[str], settings: Mapping[str, object]) -> str:
    """Format the signature of a result as one line that identifies how it was computed.

    It consists of the names of the measures, the settings that affect results, and the version.
    """
    relevant_settings = to_plain(
        {name: value for name, value in settings.items() if name not in IRRELEVANT_SETTINGS}
    )
    parts = [f"{name}={_format_setting(value)}" for name, value in relevant_settings.items()]
    return "|".join(["+".join(measures), *parts, f"vendiscore={__version__}"])


def _format_setting(value: object) -> str:
    """Format the value of a setting for a signature."""
    if isinstance(value, str):
        return repr(value) if _RESERVED_CHARACTERS & set(value) else value
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, list):
        return ",".join(map(_format_setting, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _describe_object(value: object) -> str:
    """Describe a function or object by its name and a digest of its source code.

    The digest also includes the values that a function uses, or the state of an object, so the
    description identifies it across processes. Without source code, the digest is replaced by
    UNKNOWN_SOURCE; classes and torch networks are described only by their name.
    """
    name = str(getattr(value, "__qualname__", type(value).__qualname__))
    enclosing = _ENCLOSING_FUNCTIONS.get()  # objects whose description contains this one
    is_recursive = any(value is function for function in enclosing)
    if isinstance(value, type) or is_network(value) or is_recursive:
        return name
    module = str(getattr(value, "__module__", None) or "builtins")
    # Omit the names of scripts, which differ if a script is imported, and submodules of the
    # standard library, which change between Python versions.
    root = module.partition(".")[0]
    is_standard = root in _STANDARD_LIBRARY
    if root not in _UNNAMED_MODULES:
        name = f"{root if is_standard else module}.{name}"
    if is_standard and hasattr(value, "__qualname__") and _bound_object(value) is None:
        return name  # functions of the standard library are identified by their name
    token = _ENCLOSING_FUNCTIONS.set((*enclosing, value))
    try:
        content = repr(_describe_content(value))
    except Exception:  # arbitrary objects can raise any exception
        content = UNKNOWN_SOURCE
    finally:
        _ENCLOSING_FUNCTIONS.reset(token)
    if UNKNOWN_SOURCE in content:
        return f"{name} {UNKNOWN_SOURCE}"
    return f"{name}@{hash_bytes(content.encode()).hex()[:8]}"


def _bound_object(function: object) -> object:
    """Return the object to which a method is bound; None for other functions."""
    owner = getattr(function, "__self__", None)
    return None if isinstance(owner, types.ModuleType) else owner


def _describe_content(value: object) -> object:
    """Return what the digest of a function or object is computed from.

    This is its source code, with the values that a function uses, or the state of an object. It
    distinguishes the function or object from others of the same name.
    """
    if isinstance(value, bytes):
        return value
    if isinstance(value, functools.partial):
        return _describe_object(value.func), to_plain(value.args), to_plain(value.keywords)
    if isinstance(value, types.MethodType):
        return _describe_object(value.__func__), to_plain(value.__self__)
    if isinstance(value, types.FunctionType):
        # Describe the function and the functions of its module that it uses, in any order.
        return sorted(repr(_describe_function(helper)) for helper in _collect_helpers(value))
    if hasattr(value, "__qualname__"):  # a compiled function or method, which has no source code
        owner = _bound_object(value)
        return UNKNOWN_SOURCE if owner is None else to_plain(owner)
    # Other objects: their class, and the state that pickle would store.
    cls: Any = type(value)
    reduce = copyreg.dispatch_table.get(cls, methodcaller("__reduce_ex__", 2))
    return _class_sources(cls), to_plain(reduce(value))


def _collect_helpers(function: types.FunctionType) -> list[types.FunctionType]:
    """Return a function and all functions of its module that it uses, directly or indirectly."""
    functions = [function]
    for helper in functions:  # the list grows in the loop
        for x in _global_values(helper).values():
            is_helper = isinstance(x, types.FunctionType) and x.__module__ == function.__module__
            if is_helper and x not in functions:
                functions.append(x)
    return functions


def _describe_function(function: types.FunctionType) -> tuple[object, ...]:
    """Return the source code, defaults, enclosed values and global values of a function."""
    code = function.__code__
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    # Lists, dicts and other objects are omitted: they may be caches that grow from call to call.
    value_types = (int, float, str, tuple, np.ndarray, np.generic, re.Pattern)
    used = {
        name: to_plain(x)
        for name, x in _global_values(function).items()
        if isinstance(x, value_types) or is_torch(x)
    }
    keyword_defaults = function.__kwdefaults__ or {}  # of keyword-only parameters
    # The suffix "=" distinguishes parameters from global values of the same name.
    used |= {f"{name}=": to_plain(x) for name, x in keyword_defaults.items()}
    values = to_plain(function.__defaults__), to_plain(cells), sorted(used.items())
    return _source_text(code, code.co_filename), *values


def _global_values(function: types.FunctionType) -> Record:
    """Return the global values that a function, including its inner functions, may use."""
    return {name: function.__globals__.get(name) for name in _global_names(function.__code__)}


def _global_names(code: types.CodeType) -> list[str]:
    """Return the names that the code of a function and of its inner functions refers to."""
    inner = [
        name for c in code.co_consts if isinstance(c, types.CodeType) for name in _global_names(c)
    ]
    return [*code.co_names, *inner]


@functools.lru_cache(maxsize=256)
def _source_text(code: types.CodeType, file: str) -> str:
    """Return the source code of a function in a file or notebook, or UNKNOWN_SOURCE.

    The function is found by its name and first line. `inspect.getsource` is not used: for a lambda,
    it returns whole lines, which differ between Python versions. Code typed in a terminal is not
    used, because only Python 3.13 keeps it.
    """
    if file.startswith("<") and not file.startswith("<ipython-input"):
        return UNKNOWN_SOURCE
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file))
    node_types = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    segments = []
    for node in ast.walk(_parse_source(text)):
        if isinstance(node, node_types) and getattr(node, "name", "<lambda>") == code.co_name:
            decorators = getattr(node, "decorator_list", ())
            # In `co_firstlineno`, a function starts with its first decorator.
            first_line = min(part.lineno for part in [node, *decorators])
            if first_line == code.co_firstlineno:
                segments.append(ast.get_source_segment(text, node, padded=True) or UNKNOWN_SOURCE)
    # Not every Python version can distinguish lambdas that begin on the same line.
    return _strip_blank_lines(segments[0]) if len(segments) == 1 else UNKNOWN_SOURCE


@functools.lru_cache(maxsize=8)
def _parse_source(text: str) -> ast.Module:
    return ast.parse(text)


@functools.lru_cache(maxsize=256)
def _class_sources(cls: type) -> list[str]:
    """Return the source code of a class and its bases, except classes of the standard library.

    Raises an OSError if the source code is not available.
    """
    classes = [c for c in cls.__mro__ if c.__module__.partition(".")[0] not in _STANDARD_LIBRARY]
    return [_strip_blank_lines(inspect.getsource(c)) for c in classes]


def _strip_blank_lines(text: str) -> str:
    """Remove blank lines, common indentation and trailing spaces, which do not change the code."""
    lines = (line.rstrip() for line in textwrap.dedent(text).splitlines())
    return "\n".join(line for line in lines if line)
