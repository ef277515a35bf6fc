"""Kernels by name: how one is added, found, described and applied to samples.

A kernel is a function from a list of samples (and options) to a Similarity. Every file in the
folder `vendiscore/kernels` is imported on first use and registers its own, so that adding a file
adds its kernels:

    @register_kernel("same_length", samples="text", source="this docstring")
    def same_length(texts):
        '''1 if two texts are equally long.'''
        lengths = np.array([len(text) for text in texts])
        return MatrixSimilarity((lengths[:, None] == lengths).astype(float), psd=True)

An installed package adds its kernels by naming the module that registers them in its metadata:

    [project.entry-points."vendiscore.kernels"]
    my_kernels = "my_package.kernels"
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

import numpy as np

from .composite import RepeatedSimilarity
from .errors import SampleError, suggestion
from .similarity import Similarity

ENTRY_POINTS = "vendiscore.kernels"

Build = TypeVar("Build", bound=Callable[..., Similarity])


@dataclass(frozen=True)
class Kernel:
    """A registered kernel.

    Attributes
    ----------
    name : str
    build : callable
        `build(samples, **options)` returns a Similarity.
    samples : str
        What kind of sample it compares: "text", "vectors", …
    source : str
        Where it is defined.
    psd : bool
        Whether its matrix is positive semidefinite for any samples.
    unit_diagonal : bool
        Whether k(x, x) = 1 for any sample; otherwise callers say `normalize=True` if needed.
    needs : str
        The extra to install (`pip install 'vendiscore[text]'`), empty if none.
    """

    name: str
    build: Callable[..., Similarity]
    samples: str
    source: str
    psd: bool = True
    unit_diagonal: bool = True
    needs: str = ""

    @property
    def options(self) -> dict[str, Any]:
        """Its keyword options with their defaults."""
        parameters = list(inspect.signature(self.build).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(self.build) or "").partition("\n")[0]


_kernels: dict[str, Kernel] = {}


def register_kernel(
    name: str,
    *,
    samples: str,
    source: str,
    psd: bool = True,
    unit_diagonal: bool = True,
    needs: str = "",
) -> Callable[[Build], Build]:
    """Decorator that makes a function available as `k=name`; see `Kernel` for the arguments.

    Raises
    ------
    ValueError
        If the name is taken by a function defined elsewhere (defining it again, as notebooks do,
        replaces it).
    """

    def register(build: Build) -> Build:
        other = _kernels.get(name)
        if other and _home(other.build) != _home(build):
            raise ValueError(
                f"kernel {name!r} is already registered by {'.'.join(_home(other.build))}; "
                f"choose another name"
            )
        _kernels[name] = Kernel(name, build, samples, source, psd, unit_diagonal, needs)
        return build

    return register


def _home(build: Callable[..., Any]) -> tuple[str, str]:
    return build.__module__, build.__qualname__


@cache
def _load() -> None:
    folder = importlib.import_module(f"{__package__}.kernels")
    for module in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"{folder.__name__}.{module.name}")
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            entry.load()
        except Exception as error:  # another's mistake must not take everyone's kernels away
            warnings.warn(
                f"the kernels of {entry.name!r} ({entry.value}) are left out, because importing "
                f"them failed with {type(error).__name__}: {error}; update or uninstall that "
                f"package",
                stacklevel=3,
            )


def list_kernels() -> list[Kernel]:
    """All registered kernels, by name.

    >>> [kernel.name for kernel in list_kernels() if kernel.samples == "vectors"]
    ['cosine', 'laplacian', 'linear', 'polynomial', 'rbf']
    """
    _load()
    return sorted(_kernels.values(), key=lambda kernel: kernel.name)


def get_kernel(name: str) -> Kernel:
    """The kernel of that name; a ValueError that suggests one if there is none."""
    _load()
    if name not in _kernels:
        raise ValueError(f"unknown kernel `k={name!r}`. {suggestion(name, _kernels)}")
    return _kernels[name]


def check_options(kernel: Kernel, options: Mapping[str, Any]) -> None:
    """Raise a TypeError for an option the kernel does not have."""
    for option in options:
        if option not in kernel.options:
            raise TypeError(
                f"`{option}` is not an option of kernel {kernel.name!r}. "
                f"{suggestion(option, kernel.options)}"
                if kernel.options
                else f"kernel {kernel.name!r} has no options, got `{option}`; leave it out"
            )


def apply_kernel(name: str, samples: Any, options: Mapping[str, Any]) -> Similarity:
    """The Similarity of samples under a kernel and its options.

    Equal strings and numbers are compared once: the kernel sees distinct samples only, and
    errors about one of them name its place in the list that came in. If the kernel left samples
    out, a warning says how many, and `dropped` of the Similarity names their places in that list.
    """
    kernel = get_kernel(name)
    check_options(kernel, options)
    distinct, first, inverse = distinct_samples(samples)
    try:
        similarity = kernel.build(distinct, **options)
    except SampleError as error:
        raise SampleError(int(first[error.index]), error.problem) from None
    similarity.settings = {"kernel": name, **kernel.options, **options, **similarity.settings}
    dropped: dict[int, str] = {}
    if similarity.dropped:
        stays = np.ones(len(first), dtype=bool)
        stays[list(similarity.dropped)] = False
        gone = np.flatnonzero(~stays[inverse])
        dropped = {int(i): similarity.dropped[int(inverse[i])] for i in gone}
        inverse = (np.cumsum(stays) - 1)[inverse[stays[inverse]]]
        i, problem = next(iter(dropped.items()))
        warnings.warn(
            f"kernel {name!r} left out {len(dropped)} of {len(dropped) + len(inverse)} samples, as "
            f"asked; the first is sample {i}, which {problem}",
            stacklevel=2,
        )
    if len(inverse) > similarity.n:
        similarity = RepeatedSimilarity(similarity, inverse)
    similarity.dropped = dropped
    return similarity


def distinct_samples(samples: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """The distinct ones of a list of strings or numbers, where each is first, and which each is.

    Other samples are taken to be distinct, arrays too.

    >>> distinct_samples(["a", "b", "a"])
    (['a', 'b'], array([0, 1]), array([0, 1, 0]))
    """
    n = len(samples) if isinstance(samples, Sequence) else samples.shape[0]
    if not isinstance(samples, list) or not all(
        type(s) in (str, bytes, int, float) for s in samples
    ):
        return samples, np.arange(n), np.arange(n)
    place: dict[Any, int] = {}
    first: list[int] = []
    inverse = np.empty(n, dtype=int)
    for i, sample in enumerate(samples):
        key = type(sample), sample  # 1 and 1.0 may differ to a kernel
        if key not in place:
            place[key] = len(first)
            first.append(i)
        inverse[i] = place[key]
    return [samples[i] for i in first], np.array(first), inverse
