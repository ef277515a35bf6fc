"""The signature of a number: the settings that it depends on, with digests of arrays, functions."""

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

# Settings that are reported but change no number.
IDLE = frozenset(("audit", "batch_size", "cache", "device", "symmetric_pairs"))
# Characters that structure a signature; text that has one of them is quoted.
_MARKS = set(" |,+=:;*'\"")
# Stands for the digest of functions and objects that are not written in a file.
UNKNOWN = "source=unknown"
_STANDARD = sys.stdlib_module_names
# Modules that are not part of a name.
_NAMELESS = ("builtins", "__main__", "__mp_main__")
# Arrays up to this many numbers are printed.
_PRINTED = 8
_SIMPLE = {type(None), bool, int, float, str}
# The functions under examination: a function may enclose itself.
_OUTER: ContextVar[tuple[object, ...]] = ContextVar("outer", default=())


def digits(x: float) -> str:
    """Return a number with all its digits and no more: 1, 0.5, 1e-30, inf."""
    return f"{x:.0f}" if float(x).is_integer() and abs(x) < 1e16 else repr(float(x))


def plain(value: object) -> Any:
    """Return a value that can be printed, quoted and written to JSON."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple, range)):
        simple = _SIMPLE.issuperset(map(type, value))
        return list(value) if simple else [plain(item) for item in value]
    if isinstance(value, Mapping):
        items = value.items()
        return {str(k): item if type(item) in _SIMPLE else plain(item) for k, item in items}
    if isinstance(value, np.generic) or (is_torch(value) and value.ndim == 0):
        return value.item() if not isinstance(value, np.void) else repr(value)
    if isinstance(value, np.ndarray) or is_torch(value):
        array = to_host(value)
        return array.tolist() if array.size <= _PRINTED else f"{array.shape}@{digest(array)}"
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    return _name(value)


def digest(array: object) -> str:
    """Return eight bytes that tell one array of numbers from another."""
    array = np.ascontiguousarray(to_host(array))
    return hash_bytes(array.tobytes() + repr((array.dtype, array.shape)).encode()).hex()


def line(measures: Iterable[str], settings: Mapping[str, object]) -> str:
    """Return the signature: names of measures, then settings that can change their numbers."""
    shown = plain({name: value for name, value in settings.items() if name not in IDLE})
    parts = [f"{name}={_text(value)}" for name, value in shown.items()]
    return "|".join(["+".join(measures), *parts, f"vendiscore={__version__}"])


def _text(value: object) -> str:
    if isinstance(value, str):
        return repr(value) if _MARKS & set(value) else value
    if isinstance(value, float):
        return digits(value)
    if isinstance(value, list):
        return ",".join(map(_text, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _name(value: object) -> str:
    """Name a function or an object, with a digest of its source and the values that it has."""
    name = str(getattr(value, "__qualname__", type(value).__qualname__))
    outer = _OUTER.get()
    if isinstance(value, type) or is_network(value) or any(value is each for each in outer):
        return name
    module = str(getattr(value, "__module__", None) or "builtins")
    # A script has another name where it is imported, and parts of Python move between versions.
    root = module.partition(".")[0]
    standard = root in _STANDARD
    if root not in _NAMELESS:
        name = f"{root if standard else module}.{name}"
    if standard and hasattr(value, "__qualname__") and _owner(value) is None:
        return name  # Python's own, which its name tells
    token = _OUTER.set((*outer, value))
    try:
        made = repr(_made_of(value))
    except Exception:  # an object may raise anything while it is examined
        made = UNKNOWN
    finally:
        _OUTER.reset(token)
    if UNKNOWN in made:
        return f"{name} {UNKNOWN}"
    return f"{name}@{hash_bytes(made.encode()).hex()[:8]}"


def _owner(function: object) -> object:
    """Return the object that a method belongs to, None for other functions."""
    owner = getattr(function, "__self__", None)
    return None if isinstance(owner, types.ModuleType) else owner


def _made_of(value: object) -> object:
    """Return what makes a function or an object different from others of its name."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, functools.partial):
        return _name(value.func), plain(value.args), plain(value.keywords)
    if isinstance(value, types.MethodType):
        return _name(value.__func__), plain(value.__self__)
    if isinstance(value, types.FunctionType):
        return sorted(repr(_function(each)) for each in _with_helpers(value))
    if hasattr(value, "__qualname__"):  # compiled
        owner = _owner(value)
        return UNKNOWN if owner is None else plain(owner)
    kind: Any = type(value)
    reduce = copyreg.dispatch_table.get(kind, methodcaller("__reduce_ex__", 2))
    return _class_sources(kind), plain(reduce(value))


def _with_helpers(function: types.FunctionType) -> list[types.FunctionType]:
    """Return a function, and the functions of its module that it uses, each once."""
    found = [function]
    for each in found:  # which grows
        for x in _globals(each).values():
            mine = isinstance(x, types.FunctionType) and x.__module__ == function.__module__
            if mine and x not in found:
                found.append(x)
    return found


def _function(function: types.FunctionType) -> tuple[object, ...]:
    """Return source, defaults, enclosed values and global values of one function."""
    code = function.__code__
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    # No lists, dicts and objects, which may be caches and grow from call to call.
    kinds = (int, float, str, tuple, np.ndarray, np.generic, re.Pattern)
    used = {
        name: plain(x)
        for name, x in _globals(function).items()
        if isinstance(x, kinds) or is_torch(x)
    }
    named = {f"{name}=": plain(x) for name, x in (function.__kwdefaults__ or {}).items()}
    values = plain(function.__defaults__), plain(cells), sorted((used | named).items())
    return _source(code, code.co_filename), *values


def _globals(function: types.FunctionType) -> Record:
    """Return the global values that a function, and functions inside of it, may use."""
    return {name: function.__globals__.get(name) for name in _names(function.__code__)}


def _names(code: types.CodeType) -> list[str]:
    inner = [name for c in code.co_consts if isinstance(c, types.CodeType) for name in _names(c)]
    return [*code.co_names, *inner]


@functools.lru_cache(maxsize=256)
def _source(code: types.CodeType, file: str) -> str:
    """Return the text of a function in its file or notebook, or that it is unknown.

    `inspect.getsource` would return whole lines around a lambda, which differ between versions of
    Python. Only Python 3.13 keeps what was typed in a terminal, so that it is not taken.
    """
    if file.startswith("<") and not file.startswith("<ipython-input"):
        return UNKNOWN
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    segments = []
    for node in ast.walk(_tree(text)):
        if isinstance(node, kinds) and getattr(node, "name", "<lambda>") == code.co_name:
            first = min(each.lineno for each in [node, *getattr(node, "decorator_list", ())])
            if first == code.co_firstlineno:
                segments.append(ast.get_source_segment(text, node, padded=True) or UNKNOWN)
    # Lambdas that begin in one line cannot be told apart on every Python.
    return _trimmed(segments[0]) if len(segments) == 1 else UNKNOWN


@functools.lru_cache(maxsize=8)
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


@functools.lru_cache(maxsize=256)
def _class_sources(kind: type) -> list[str]:
    """Return the text of a class and its bases, but for Python's own; OSError if there is none."""
    others = [c for c in kind.__mro__ if c.__module__.partition(".")[0] not in _STANDARD]
    return [_trimmed(inspect.getsource(c)) for c in others]


def _trimmed(text: str) -> str:
    lines = (line.rstrip() for line in textwrap.dedent(text).splitlines())
    return "\n".join(line for line in lines if line)
