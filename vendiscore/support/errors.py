"""The exceptions NotPSDError and SampleError, and warnings that refer to the line of the caller."""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

import numpy as np

# `evaluate` runs the metric from copies of its script, in the package `evaluate_modules`.
_OWN_PACKAGES = (__name__.partition(".")[0], "evaluate", "evaluate_modules")
MAX_LISTED_SAMPLES = 10  # maximum number of unusable samples whose indices a message lists


def _reduce_error(error: Exception) -> tuple[type, tuple[object, ...]]:
    """Return the class of an error and its constructor arguments, as `__reduce__` for pickle.

    The error must store each argument as an attribute of the same name. By default, pickle would
    call the class only with the message.
    """
    names = inspect.signature(type(error)).parameters
    return type(error), tuple(getattr(error, name) for name in names)


def short_repr(value: object) -> str:
    """Return the `repr` of a value, abbreviated in the middle to at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:39]}…{text[-20:]}"


class NotPSDError(ValueError):
    """Similarities with a negative eigenvalue that is too large to be a rounding error.

    Attributes
    ----------
    smallest : float
        The smallest eigenvalue, relative to a sum of all eigenvalues of 1.
    negative_mass : float
        The absolute sum of the negative eigenvalues.

    Examples
    --------
    >>> from vendiscore import score_K
    >>> try:
    ...     score_K([[1, 1, 0], [1, 1, 1], [0, 1, 1]])  # a = b = c ≠ a
    ... except NotPSDError as error:
    ...     print(f"{error.smallest:.3f}")  # (1 − √2) / 3
    -0.138
    """

    def __init__(self, smallest: float, negative_mass: float) -> None:
        super().__init__(
            f"the similarity must be positive semidefinite, but its smallest eigenvalue is "
            f"{smallest:.3g} and its negative eigenvalues sum to {-negative_mass:.3g}, relative to "
            "a trace of 1. Use a positive semidefinite kernel, or pass psd='clip' to set negative "
            "eigenvalues to zero and rescale the others to sum to 1"
            + (
                ". Negative eigenvalues this small may be rounding errors"
                if negative_mass < 1e-2
                else ""
            )
        )
        self.smallest = smallest
        self.negative_mass = negative_mass

    __reduce__ = _reduce_error


class SampleError(ValueError):
    """Samples that cannot be used, with their indices in the list that was passed.

    Attributes
    ----------
    problems : dict of int to str
        For each unusable sample, by index, what is wrong and what to do, as a predicate such as
        "is empty; remove it".
    index : int
        Index of the first unusable sample.
    problem : str
        What is wrong with the first unusable sample.

    Examples
    --------
    >>> from vendiscore import compute
    >>> try:
    ...     compute(["a cat", "", "the dog", ""])
    ... except SampleError as error:
    ...     list(error.problems)
    [1, 3]
    """

    def __init__(self, index: int, problem: str, problems: Mapping[int, str] | None = None) -> None:
        self.problems: dict[int, str] = dict(sorted({**(problems or {}), index: problem}.items()))
        self.index: int = next(iter(self.problems))
        self.problem: str = self.problems[self.index]
        # The message describes the first unusable sample, and lists the indices of all.
        indices = [*map(str, self.problems)]
        listed_indices = ", ".join(
            indices[:MAX_LISTED_SAMPLES] + ["…"] * (len(indices) > MAX_LISTED_SAMPLES)
        )
        suffix = (
            f" ({len(indices)} samples cannot be used: {listed_indices})"
            if len(indices) > 1
            else ""
        )
        super().__init__(f"sample {self.index} {self.problem}{suffix}")

    @classmethod
    def from_problems(cls, problems: Mapping[int, str]) -> SampleError:
        """Build the error from `problems`, a description for each unusable sample by index."""
        return cls(min(problems), problems[min(problems)], problems)

    @classmethod
    def check(cls, problems: Mapping[int, str]) -> None:
        """Raise a SampleError unless `problems`, a dict from index to description, is empty."""
        if problems:
            raise cls.from_problems(problems)

    def reindexed(self, indices: Sequence[int | np.ndarray] | np.ndarray) -> SampleError:
        """Return the error with each index i replaced by `indices[i]`.

        This converts indices into a subset of samples to indices into the samples that the user
        passed. If `indices[i]` is an array, all indices in it get the problem of sample i.
        """
        problems: dict[int, str] = {}
        for index, problem in self.problems.items():
            problems |= dict.fromkeys(np.atleast_1d(indices[index]).tolist(), problem)
        return SampleError.from_problems(problems)

    __reduce__ = _reduce_error


CollectedWarning = tuple[str, type[Warning]]  # message and category
# Warnings that are collected within `collect_warnings`, or None.
_collected_warnings: ContextVar[list[CollectedWarning] | None] = ContextVar(
    "_collected_warnings", default=None
)
MAX_WARNING_EXAMPLES = 3  # maximum number of similar warnings that are shown in full


@contextmanager
def collect_warnings() -> Iterator[list[CollectedWarning]]:
    """Collect the warnings of this context in a list, which is yielded, instead of emitting them.

    For example, a worker returns the list to another process, which emits them.
    """
    collected: list[CollectedWarning] = []
    token = _collected_warnings.set(collected)
    try:
        yield collected
    finally:
        _collected_warnings.reset(token)


@contextmanager
def merge_warnings(items: str) -> Iterator[None]:
    """Emit similar warnings of this context as a single warning at its end.

    Warnings are similar if they start with the same clause, apart from numbers. The single warning
    contains up to three of the messages, and the number of the remaining ones. `items` describes
    what causes several warnings, such as "groups". A context within another such context has no
    effect.
    """
    if _collected_warnings.get() is not None:
        yield
        return
    collected: list[CollectedWarning] = []
    try:
        with collect_warnings() as collected:
            yield
    finally:
        similar: dict[tuple[str, type[Warning]], list[str]] = {}
        for message, category in collected:
            # The first clause, in which each number, such as 1,234 or 1e-5, becomes "#".
            clause = re.sub(r"\d+([.,]\d+)*(e-?\d+)?", "#", re.split("[,;:]", message)[0])
            similar.setdefault((clause, category), []).append(message)
        for (_, category), messages in similar.items():
            distinct = list(dict.fromkeys(messages))
            shown = "; ".join(distinct[:MAX_WARNING_EXAMPLES])
            n_hidden = len(messages) - len(distinct[:MAX_WARNING_EXAMPLES])
            more = f" ({n_hidden} more similar warnings for other {items})" if n_hidden else ""
            warn(f"{shown}{more}", category)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Emit a warning that refers to the line of code that called this package."""
    collected = _collected_warnings.get()
    if collected is not None:
        collected.append((message, category))
        return
    # Find the outermost frame of this package, from the innermost frame outwards. The search does
    # not stop at the first frame of other code, because frames of functools may lie between those
    # of this package. The line of code to which the warning refers is one frame further out.
    depth = 0  # as for `stacklevel`, this function has depth 1
    depth_of_caller = 0
    frame: FrameType | None = sys._getframe()
    while frame:
        depth += 1
        if frame.f_globals.get("__name__", "").partition(".")[0] in _OWN_PACKAGES:
            depth_of_caller = depth + 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=depth_of_caller)
