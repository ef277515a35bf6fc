"""The signature of a number: the settings that it depends on, with digests of arrays, functions."""

from __future__ import annotations

import functools
import json
import math
import pickle
import types
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any

import numpy as np

from .arrays.hashing import hash_bytes
from .arrays.namespace import is_network, is_torch, to_host
from .arrays.types import Record
from .optional import versions

# Settings that are reported but change no number.
IDLE = frozenset(("audit", "batch_size", "device", "symmetric_pairs"))
# Characters that structure a signature; text that has one of them is quoted.
_MARKS = set(" |,+=:;*'\"")
_BUILTIN = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    type,
)
# Arrays up to this many numbers are printed.
_PRINTED = 8
# The functions under examination: a function may enclose itself.
_OUTER: ContextVar[tuple[object, ...]] = ContextVar("outer", default=())


def digits(x: float) -> str:
    """Return a number with all its digits and no more: 1, 0.5, 1e-30, inf."""
    return f"{x:.0f}" if float(x).is_integer() and abs(x) < 1e16 else repr(float(x))


def plain_order(q: float) -> float | str:
    """Return an order for JSON, which has no ∞."""
    return q if math.isfinite(q) else "inf"


def plain(value: object) -> Any:
    """Return a value that can be printed, quoted and written to JSON."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic) or (is_torch(value) and value.ndim == 0):
        return value.item() if not isinstance(value, np.void) else repr(value)
    if isinstance(value, np.ndarray) or is_torch(value):
        array = to_host(value)
        return array.tolist() if array.size <= _PRINTED else f"{array.shape}@{digest(array)}"
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, (list, tuple, range)):
        return [plain(item) for item in value]
    return _name(value)


def digest(array: object) -> str:
    """Return eight bytes that tell one array of numbers from another."""
    array = np.ascontiguousarray(to_host(array))
    return hash_bytes(array.tobytes() + repr((array.dtype, array.shape)).encode()).hex()


def line(measures: Iterable[str], settings: Mapping[str, object]) -> str:
    """Return the signature: names of measures, then settings that can change their numbers."""
    told = {name: value for name, value in settings.items() if name not in IDLE}
    parts = [f"{name}={_text(plain(value))}" for name, value in told.items()]
    return "|".join(["+".join(measures), *parts, f"vendiscore={versions()['vendiscore']}"])


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
    """Name a function or an object, with a digest of what it is made of."""
    name = getattr(value, "__qualname__", type(value).__qualname__)
    outer = _OUTER.get()
    if isinstance(value, _BUILTIN) or is_network(value) or any(value is each for each in outer):
        return str(name)
    token = _OUTER.set((*outer, value))
    try:
        return f"{name}@{hash_bytes(repr(_made_of(value)).encode()).hex()[:8]}"
    except Exception:  # what cannot be looked into has its name only
        return str(name)
    finally:
        _OUTER.reset(token)


def _made_of(value: object) -> Any:
    """Return what makes a function different from others of its name."""
    if isinstance(value, functools.partial):
        return _made_of(value.func), plain(value.args), plain(value.keywords)
    if isinstance(value, types.MethodType):
        return _made_of(value.__func__), plain(value.__self__)
    if isinstance(value, types.FunctionType):
        return tuple(part for each in _with_helpers(value) for part in _function(each))
    return pickle.dumps(value)


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
    """Return code, defaults, enclosed values and global values of one function."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    # No lists, dicts and objects, which may be caches and grow from call to call.
    kinds = (int, float, str, tuple, np.ndarray, np.generic)
    used = {
        name: plain(x)
        for name, x in _globals(function).items()
        if isinstance(x, kinds) or is_torch(x)
    }
    named = {f"{name}=": plain(x) for name, x in (function.__kwdefaults__ or {}).items()}
    return _code(function.__code__), plain(function.__defaults__), plain(cells), used | named


def _globals(function: types.FunctionType) -> Record:
    """Return the global values that a function, and functions inside of it, may use."""
    return {name: function.__globals__.get(name) for name in _names(function.__code__)}


def _names(code: types.CodeType) -> list[str]:
    inner = [name for c in code.co_consts if isinstance(c, types.CodeType) for name in _names(c)]
    return [*code.co_names, *inner]


def _code(code: types.CodeType) -> Any:
    constants = [_code(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return code.co_code, code.co_names, constants
