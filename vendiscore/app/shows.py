"""What each tab shows, stage by stage, and what it says when something does not work."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Generator, Iterator
from typing import Any

from . import comparison_report, jobs, reading, report, scale
from .jobs import Job
from .limits import RefusedError
from .pictures import pictures
from .steps import Steps, Value

Shown = tuple[str, str]  # HTML of the result, lines of Python

# What is raised about the input, by this page and by the library: its message is for the visitor.
EXPECTED = (ValueError, TypeError, MemoryError, ImportError)
OURS = "Something went wrong on our side, not with your input; please try again later."
_log = logging.getLogger(__name__)


def stages(job: Job, q: Any, zoom: Any) -> Iterator[Shown]:
    """The result as soon as there is one, then with the magnitude function."""
    analysis = yield from _noted(job.score(q))
    code = job.code(q)

    def html(found: scale.Scale | None, *notes: str) -> str:
        return report.page(analysis, job.what, job.cell, job.labels, found, notes)

    at = _zoom(zoom)
    if analysis.n > 200:  # else the magnitude function takes no time
        yield html(None), code
    try:
        found = scale.look(analysis.similarity, at)
    except ValueError as error:  # not every similarity matrix comes from a metric space
        yield html(None, f"There is no magnitude function: {error}"), code
    else:
        yield html(found), code


def show_text(
    box: str,
    path: str | None,
    column: str | None,
    kernel: str,
    ns: list[int],
    unit: str,
    q: float,
    zoom: float,
) -> Iterator[Shown]:
    """The text tab; a file counts before the box."""
    texts = reading.texts(path, column) if path else reading.lines(box)
    yield from stages(jobs.text_job(texts, kernel, ns, unit), q, zoom)


def show_images(
    gallery: list[Any] | None, archive: str | None, kernel: str, q: float, zoom: float
) -> Iterator[Shown]:
    """The image tab; a zip counts before the gallery."""
    paths = [archive] if archive else [path for path, _ in gallery or []]
    yield from stages(jobs.image_job(pictures(paths), kernel), q, zoom)


def show_molecules(
    box: str, path: str | None, column: str | None, kernel: str, q: float, zoom: float
) -> Iterator[Shown]:
    """The molecules tab; a file counts before the box."""
    smiles = reading.texts(path, column, "molecule") if path else reading.lines(box)
    yield from stages(jobs.molecule_job(smiles, kernel), q, zoom)


def show_vectors(
    box: str, path: str | None, kernel: str, sigma: float | None, q: float, zoom: float
) -> Iterator[Shown]:
    """The tab of vectors and matrices; a file counts before the box."""
    X = reading.matrix(path) if path else reading.numbers(box)
    yield from stages(jobs.vector_job(X, kernel, sigma or 0.0, path), q, zoom)


def show_comparison(
    kind: str,
    kernel: str,
    a: str,
    b: str,
    c: str,
    file_a: str | None,
    file_b: str | None,
    file_c: str | None,
    q: float,
    draws: float,
) -> Iterator[Shown]:
    """The tab that compares; a file counts before its box, and images come as files only."""
    sources = [(a, file_a), (b, file_b), (c, file_c)]
    sets = [
        _set(box, path, kind)
        for box, path in sources
        if path or (kind != "images" and (box or "").strip())
    ]
    each = [jobs.comparable(samples, kind, kernel) for samples in sets]
    whole = int(draws) if isinstance(draws, float) and draws.is_integer() else draws
    result = yield from _noted(jobs.comparison(each, q, whole))  # type: ignore[arg-type]
    named = [job.labels for job in each] if kind == "images" else sets
    yield comparison_report.page(result, named, kind), comparison_report.code(result, kind)


def _set(box: str, path: str | None, kind: str) -> Any:
    if kind == "images":
        return pictures([path] if path else [])
    if kind == "vectors":
        return reading.matrix(path) if path else reading.numbers(box)
    return reading.texts(path, None, kind[:-1]) if path else reading.lines(box)


def _noted(steps: Steps[Value]) -> Generator[Shown, None, Value]:
    """Take the steps, showing what they say; between two of them, a visitor's Stop takes effect."""
    while True:
        try:
            said = next(steps)
        except StopIteration as end:
            value: Value = end.value
            return value
        yield report.note(said), ""


def _zoom(zoom: Any) -> float:
    try:
        value = float(zoom)
    except (TypeError, ValueError):
        raise RefusedError(f"The scale must be a number, got {zoom!r:.40}.") from None
    if not 0 <= value <= scale.FURTHEST:
        raise RefusedError(f"The scale must be from 0 to {scale.FURTHEST}, got {value:g}.")
    return value


def safe(show: Callable[..., Iterator[Shown]]) -> Callable[..., Iterator[Shown]]:
    """The handler, with what goes wrong said in the place of the result."""

    @functools.wraps(show)
    def run(*values: Any) -> Iterator[Shown]:
        try:
            yield from show(*values)
        except EXPECTED as error:
            yield report.problem(str(error)), ""
        except Exception:
            _log.exception("%s failed", show.__name__)
            yield report.problem(OURS), ""

    return run
