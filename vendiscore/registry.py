"""Kernels by name: how one is added, found, described and applied to samples.

A kernel is a function from a list of samples (and options) to a Similarity. Every file in the
folder `vendiscore/kernels`, and in the folder `kernels` beside the entry script of a clone or a
Space, is imported on first use and registers its own, so that adding a file adds its kernels:

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

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np

from .arguments import one_of
from .arrays.inputs import choose
from .arrays.namespace import to_host
from .discovery import discover, left_out
from .errors import SampleError, warn
from .hints import suggestion
from .similarity.base import Similarity
from .similarity.bits import BitSimilarity
from .similarity.composite import RepeatedSimilarity
from .similarity.features import FeatureSimilarity

# How many rows of what a kernel returns are compared with their columns, and how far apart they
# may be by rounding in single precision, relative to the largest.
SYMMETRY_ROWS = 64
SYMMETRY_TOLERANCE = 1e-5

Build = TypeVar("Build", bound=Callable[..., Similarity])
Fit = Callable[..., Mapping[str, Any]]


class Fitted(dict[str, Any]):
    """Options that follow from samples, with sentences that whoever reads a number should know.

    What `fit` of a kernel returns; where there is nothing to say, a plain dict will do.
    """

    def __init__(self, options: Mapping[str, Any], notes: Sequence[str] = ()) -> None:
        super().__init__(options)
        self.notes = tuple(notes)


@dataclass(frozen=True)
class Kernel:
    """A registered kernel; `help(get_kernel("morgan"))` tells its options and what they do.

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
    fit : callable, optional
        `fit(samples, **options)` returns the options that follow from samples where they are not
        given, such as a bandwidth: `build` gets them like any others, and so do all sets that are
        compared.
    rows : bool
        Whether features of a sample depend on no other sample.
    """

    name: str
    build: Callable[..., Similarity]
    samples: str
    source: str
    psd: bool = True
    unit_diagonal: bool = True
    needs: str = ""
    fit: Fit | None = None
    rows: bool = False

    def __post_init__(self) -> None:
        head = f"k={self.name!r} compares {self.samples}. Options: {', '.join(self.signature)}."
        text = f"{head}\n\n{inspect.getdoc(self.build) or ''}"
        object.__setattr__(self, "__doc__", text)  # what help() of a kernel shows

    @property
    def options(self) -> dict[str, Any]:
        """Its keyword options with their defaults.

        Every kernel has `on_error`: "raise" refuses samples that it cannot use, "skip" leaves
        them out, warns, and lists them in `Similarity.dropped` and the details.
        """
        parameters = list(inspect.signature(self.build).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters} | {
            "on_error": "raise"
        }

    @property
    def signature(self) -> list[str]:
        """Its options as they would be passed, such as "sigma=None"."""
        return [f"{name}={_printed(default)}" for name, default in self.options.items()]

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(self.build) or "").partition("\n")[0]


def _printed(default: Any) -> str:
    return getattr(default, "__name__", repr(default))


_kernels: dict[str, Kernel] = {}
_loading = threading.RLock()


def register_kernel(
    name: str,
    *,
    samples: str,
    source: str,
    psd: bool = True,
    unit_diagonal: bool = True,
    needs: str = "",
    fit: Fit | None = None,
    rows: bool = False,
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
        if other and _module(other.build) != _module(build) and _file(other.build) != _file(build):
            raise ValueError(
                f"kernel {name!r} is already registered by {'.'.join(_module(other.build))} in "
                f"{_file(other.build)[0]}; choose another name for that of {_file(build)[0]}"
            )
        _kernels[name] = Kernel(name, build, samples, source, psd, unit_diagonal, needs, fit, rows)
        return build

    return register


def _module(build: Callable[..., Any]) -> tuple[str, str]:
    return build.__module__, build.__qualname__


def _file(build: Callable[..., Any]) -> tuple[str, str]:
    """Where it is defined, whatever name the file was imported under."""
    code = getattr(inspect.unwrap(build), "__code__", None)
    return getattr(code, "co_filename", build.__module__), build.__qualname__


def _load() -> None:
    with _loading:
        _load_once()


@cache
def _load_once() -> None:
    discover(_kernels)


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
        missing = [f" Those of {where} are left out: {why}." for where, why in left_out.items()]
        raise ValueError(
            f"unknown kernel `k={name!r}`. {suggestion(name, _kernels, look=by_kind())}"
            f"{''.join(missing)}"
        )
    return _kernels[name]


def by_kind() -> str:
    """A sentence that names all kernels by what they compare."""
    kinds: dict[str, list[str]] = {}
    for kernel in list_kernels():
        kinds.setdefault(kernel.samples, []).append(repr(kernel.name))
    listed = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items())
    return f"Kernels of {listed}."


def check_options(kernel: Kernel, options: Mapping[str, Any], also: Iterable[str] = ()) -> None:
    """Raise a TypeError for an option the kernel does not have; `also` may have been meant."""
    for option in options:
        if option not in kernel.options:
            raise TypeError(
                f"`{option}` is not an option of kernel {kernel.name!r}. "
                f"{suggestion(option, kernel.options, also, mark='`')}"
            )


def having(option: str) -> list[str]:
    """The names of the kernels that have this option."""
    return [kernel.name for kernel in list_kernels() if option in kernel.options]


def apply_kernel(name: str, samples: Any, options: Mapping[str, Any]) -> Similarity:
    """The Similarity of samples under a kernel and its options.

    Equal strings and numbers are compared once: the kernel sees distinct samples only, and
    errors about some of them name their places in the list that came in. With
    `on_error="skip"`, samples that the kernel cannot use are left out: a warning says how many,
    and `dropped` of the Similarity names their places in that list.
    """
    kernel = get_kernel(name)
    check_options(kernel, options)
    skip = check_on_error(options.get("on_error", "raise")) == "skip"
    own = {option: value for option, value in options.items() if option != "on_error"}
    if skip:
        samples = repeatable(samples)
    n = len(samples) if isinstance(samples, Sequence) else samples.shape[0]
    dropped: dict[int, str] = {}
    while True:
        kept = np.setdiff1d(np.arange(n), list(dropped)) if dropped else np.arange(n)
        if not len(kept):
            i, problem = min(dropped.items())
            raise ValueError(
                f"kernel {name!r} can use none of the {n} samples: sample {i} {problem}"
            )
        try:
            similarity = build_kernel(kernel, choose(samples, kept) if dropped else samples, own)
            break
        except SampleError as error:
            if not skip:
                error.add_note("pass on_error='skip' to leave out samples that cannot be used")
                raise
            dropped |= error.at(kept.tolist()).problems
    dropped |= {int(kept[i]): problem for i, problem in similarity.dropped.items()}
    similarity = similarity.noted(dropped=dict(sorted(dropped.items())))
    warn_dropped(f"kernel {name!r}", similarity)
    return similarity


def check_on_error(on_error: Any) -> str:
    """What to do about samples that a kernel cannot use."""
    return one_of("on_error", on_error, ("raise", "skip"))


def warn_dropped(who: str, similarity: Similarity) -> None:
    """One warning if samples were left out."""
    if similarity.dropped:
        i, problem = next(iter(similarity.dropped.items()))
        n = similarity.n + len(similarity.dropped)
        warn(
            f"{who} left out {len(similarity.dropped)} of {n} samples, as asked, first of all: "
            f"sample {i} {problem}"
        )


def repeatable(samples: Any) -> Any:
    """The samples in a form that can be read more than once: lists for iterators among them."""
    if not isinstance(samples, list):
        return samples
    return [list(s) if isinstance(s, Iterator) else s for s in samples]


def build_kernel(kernel: Kernel, samples: Any, options: Mapping[str, Any]) -> Similarity:
    """The Similarity of samples, of which each distinct one is seen once by the kernel.

    Raises
    ------
    SampleError
        For samples that the kernel cannot use, by their places in `samples`.
    TypeError, ValueError
        If what it returns is no Similarity of its samples.
    """
    distinct, first, inverse = distinct_samples(samples)
    try:
        # NumPy's default, whatever the caller has set: kernels know what may underflow.
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            found = kernel.fit(distinct, **options) if kernel.fit else {}
            similarity = kernel.build(distinct, **{**options, **found})
    except SampleError as error:
        strange = [i for i in error.problems if not 0 <= i < len(first)]
        if strange:
            raise ValueError(
                f"kernel {kernel.name!r} names a sample {strange[0]} of the {len(first)} that it "
                f"was given ({error}); give places from 0 to {len(first) - 1}"
            ) from error
        order = np.argsort(inverse, kind="stable")
        places = np.split(order, np.cumsum(np.bincount(inverse))[:-1])
        raise error.at(places) from error.__cause__
    _check_built(kernel.name, similarity, first)
    given = {option: value for option, value in kernel.options.items() if option != "on_error"}
    similarity = similarity.noted(
        settings={"kernel": kernel.name, **given, **options, **similarity.settings},
        fitted={**similarity.fitted, **found},
        notes=getattr(found, "notes", ()),
    )
    if similarity.dropped:  # by a kernel that leaves out samples by itself
        stays = np.ones(len(first), dtype=bool)
        stays[list(similarity.dropped)] = False
        gone = np.flatnonzero(~stays[inverse])
        similarity = similarity.noted(
            dropped={int(i): similarity.dropped[int(inverse[i])] for i in gone}
        )
        inverse = (np.cumsum(stays) - 1)[inverse[stays[inverse]]]
    if len(inverse) == similarity.n:
        return similarity
    return RepeatedSimilarity(similarity, inverse).noted(dropped=similarity.dropped)


def _check_built(name: str, similarity: Any, places: np.ndarray) -> None:
    n = len(places)
    if not isinstance(similarity, Similarity):
        raise TypeError(
            f"kernel {name!r} must return a Similarity, got {type(similarity).__name__}; wrap a "
            f"matrix (n, n) in MatrixSimilarity, rows of features in FeatureSimilarity"
        )
    if similarity.n + len(similarity.dropped) != n:
        raise ValueError(
            f"kernel {name!r} must return a Similarity of its {n} samples, got one of "
            f"{similarity.n}; give each sample its row, in order"
        )
    if isinstance(similarity, (FeatureSimilarity, BitSimilarity)):
        return  # symmetric by construction
    index = np.unique(np.linspace(0, similarity.n - 1, SYMMETRY_ROWS).astype(int))
    rows = similarity.rows(index)
    K = to_host(rows[:, index])
    largest = float(np.abs(K).max())
    gap = np.abs(K - K.T)
    if not gap.max() <= SYMMETRY_TOLERANCE * largest:  # nor where it is NaN
        i, j = divmod(int(np.argmax(np.where(np.isnan(gap), np.inf, gap))), len(index))
        a, b = np.setdiff1d(np.arange(n), list(similarity.dropped))[index[[i, j]]]
        raise ValueError(
            f"kernel {name!r} must return a symmetric Similarity of finite numbers, but gives "
            f"{K[i, j]:.6g} and {K[j, i]:.6g} for samples {places[a]} and {places[b]} in the two "
            f"directions"
        )


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
        # 1 and 1.0, 0.0 and −0.0 may differ to a kernel.
        key = type(sample), sample or repr(sample)
        if key not in place:
            place[key] = len(first)
            first.append(i)
        inverse[i] = place[key]
    return [samples[i] for i in first], np.array(first), inverse
