"""What each tab shows, stage by stage, and what it says when something does not work."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import MissingPackageError
from ..explanation.analysis import Analysis
from ..progress import Steps, Value, told
from . import comparison_report, group_report, jobs, reading, report
from .grouping import ByGroup, taken_apart
from .jobs import Job
from .limits import RefusedError
from .pictures import pictures
from .samples import Samples, read_html
from .sifting import UnusableError, left_out, sifted
from .zoom import FURTHEST, Zoom, zoomed

Shown = tuple[str, str]  # HTML of the result, lines of Python

# What is raised about the input, by this page and by the library: its message is for the visitor.
EXPECTED = (ValueError, TypeError, MemoryError, MissingPackageError)
# What a visitor turned to last.
BOX, FILE = "box", "file"
OURS = "Something went wrong on our side, not with your input; please try again later."
_log = logging.getLogger(__name__)


def stages(job: Job, q: Any, zoom: Any, notes: Sequence[str] = ()) -> Iterator[Shown]:
    """The result as soon as there is one, then with the magnitude function."""
    analysis = yield from _noted(job.score(q))
    yield from _result(job, analysis, q, zoom, notes)


def _result(
    job: Job, analysis: Analysis, q: Any, zoom: Any, notes: Sequence[str]
) -> Iterator[Shown]:
    code = job.code(q)

    def html(found: Zoom | None, *more: str) -> str:
        said = (*notes, *_of_characters(job, analysis), *more)
        return report.page(analysis, job.what, job.cell, job.labels, found, said)

    at = _zoom(zoom)
    if analysis.n > 200:  # else the magnitude function takes no time
        yield html(None), code
    try:
        found = zoomed(analysis.similarity, at)
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
    separator: str = reading.LINE,
    leave_out: bool = False,
    blocks: bool = False,
    by: str | None = None,
    source: str = BOX,
) -> Iterator[Shown]:
    """The text tab."""
    samples = texts(box, path, column, "text", separator, source, blocks, by)

    def make(kept: list[int]) -> Job:
        labels = [samples.groups[i] for i in kept] if samples.groups else []
        return jobs.text_job(samples.take(kept), kernel, ns, unit, labels)

    yield from _shown(samples, "texts", make, q, zoom, leave_out)


def show_images(
    gallery: list[Any] | None,
    archive: str | None,
    kernel: str,
    q: float,
    zoom: float,
    leave_out: bool = False,
    source: str = BOX,
) -> Iterator[Shown]:
    """The image tab; a zip counts before the gallery."""
    _check_arrived(archive, source, bool(gallery))
    samples = images([archive] if archive else [path for path, _ in gallery or []], archive)

    def make(kept: list[int]) -> Job:
        left = [str(samples.places[i]) for i in range(len(samples)) if i not in kept]
        return jobs.image_job(samples.take(kept), kernel, left)

    yield from _shown(samples, "images", make, q, zoom, leave_out)


def show_molecules(
    box: str,
    path: str | None,
    column: str | None,
    kernel: str,
    q: float,
    zoom: float,
    leave_out: bool = False,
    source: str = BOX,
) -> Iterator[Shown]:
    """The molecules tab."""
    samples = texts(box, path, column, "molecule", reading.LINE, source)

    def make(kept: list[int]) -> Job:
        return jobs.molecule_job(samples.take(kept), kernel)

    yield from _shown(samples, "molecules", make, q, zoom, leave_out)


def show_vectors(
    box: str,
    path: str | None,
    kernel: str,
    sigma: float | None,
    q: float,
    zoom: float,
    leave_out: bool = False,
    source: str = BOX,
) -> Iterator[Shown]:
    """The tab of vectors and matrices."""
    samples = vectors(box, path, source)
    square = str(kernel).startswith("K") and len(set(samples.values.shape)) == 1

    def make(kept: list[int]) -> Job:
        X = samples.take(kept)
        left = set(range(len(samples))) - set(kept)
        python = samples.python(left, square) if samples.python else None
        return jobs.vector_job(X[:, kept] if square else X, kernel, sigma or 0.0, python)

    yield from _shown(samples, "rows", make, q, zoom, leave_out)


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
    permutations: float,
    column: str | None = None,
    separator: str = reading.LINE,
    leave_out: bool = False,
    source_a: str = BOX,
    source_b: str = BOX,
    source_c: str = BOX,
) -> Iterator[Shown]:
    """The tab that compares; images come as files only."""
    boxes = dict(zip("ABC", (a, b, c), strict=True))
    files = dict(zip("ABC", (file_a, file_b, file_c), strict=True))
    sources = dict(zip("ABC", (source_a, source_b, source_c), strict=True))
    sets: dict[str, Samples] = {}
    for name, path in files.items():
        try:
            found = sample_set(kind, boxes[name] or "", path, column, separator, sources[name])
        except RefusedError as error:
            raise RefusedError(f"Set {name}: {error}") from None
        if found:
            sets[name] = found
    whole = isinstance(permutations, float) and permutations.is_integer()
    count = int(permutations) if whole else permutations

    def run(kept: dict[str, list[int]]) -> Generator[Shown, None, Any]:
        each = [jobs.comparable(sets[name].take(kept[name]), kind, kernel) for name in sets]
        result = yield from _noted(jobs.comparison(each, q, count))  # type: ignore[arg-type]
        return each, result

    bad, (each, result) = yield from sifted(sets, kind, run, leave_out)
    named = [job.labels if kind == "images" else job.samples for job in each]
    notes = [
        f"Set {name}: {note}"
        for name, samples in sets.items()
        for note in (*samples.notes, *left_out(samples, bad[name]))
    ]
    if kind == "images" and any(bad.values()):
        notes.append("The lines of Python read whole folders: take these images out of them first.")
    html = read_html(notes) + comparison_report.page(result, named, kind)
    yield html, comparison_report.code(result, kind)


def texts(
    box: str,
    path: str | None,
    column: str | None,
    what: str,
    separator: str,
    source: str,
    blocks: bool = False,
    by: str | None = None,
) -> Samples:
    """Texts or molecules of the file or the box, whichever the visitor turned to last."""
    _check_arrived(path, source, bool(str(box).strip()))
    if path:
        return reading.texts(path, column or None, what, separator, blocks, by or None)
    return reading.lines(box, separator, what, blocks)


def vectors(box: str, path: str | None, source: str) -> Samples:
    """Rows of numbers of the file or the box."""
    _check_arrived(path, source, bool(str(box).strip()))
    return reading.matrix(path) if path else reading.numbers(box)


def images(paths: list[str], archive: str | None) -> Samples:
    """Images by their names."""
    found = pictures(paths)
    if not archive:
        return found
    return replace(found, notes=(f"Read {len(found)} images of {Path(archive).name:.60}.",))


def sample_set(
    kind: str, box: str, path: str | None, column: str | None, separator: str, source: str
) -> Samples | None:
    """One set of a comparison, if there is one."""
    if kind == "images":
        if not path:
            return None
        return images([path], path)
    if not path and not box.strip():
        return None
    if kind == "vectors":
        return vectors(box, path, source)
    what = kind[:-1] if isinstance(kind, str) else ""
    return texts(box, path, column, what, separator if what == "text" else reading.LINE, source)


def _check_arrived(path: str | None, source: str, others: bool) -> None:
    """Nothing else is scored for an upload that is still under way or was turned down."""
    if not path and source != BOX and others:
        raise RefusedError(
            "No file has arrived: it is still being sent, or was turned down for its size or type. "
            "What is shown above the upload was not scored in its place: close the upload to "
            "score that."
        )


def _shown(
    samples: Samples,
    what: str,
    make: Callable[[list[int]], Job],
    q: Any,
    zoom: Any,
    leave_out: bool,
) -> Iterator[Shown]:
    """The result of the samples that can be used, if all can or the others are to be left out."""

    def run(kept: dict[str, list[int]]) -> Generator[Shown, None, tuple[Job, Analysis | ByGroup]]:
        job = make(kept[""])
        if job.groups is not None:
            return job, (yield from _noted(job.by_group(q)))
        return job, (yield from _noted(job.score(q)))

    bad, (job, found) = yield from sifted({"": samples}, what, run, leave_out)
    notes = (*samples.notes, *left_out(samples, bad[""]))
    if isinstance(found, ByGroup):
        members = taken_apart(job.samples, job.groups)
        said = (*notes, *_of_characters(job, found))
        yield group_report.page(found, job.what, members, said), job.code(q)
    else:
        yield from _result(job, found, q, zoom, notes)


def _of_characters(job: Job, analysis: Analysis | ByGroup) -> tuple[str, ...]:
    """What to say where the library chose what n-grams are made of, by the script of the texts."""
    if analysis.similarity.settings.get("analyzer") != "char" or "analyzer" in job.arguments:
        return ()
    return ("These texts have no spaces between words, so n-grams of characters were compared.",)


def _noted(steps: Steps[Value]) -> Generator[Shown, None, Value]:
    """Take the steps, showing what they say; between two of them, a visitor's Stop takes effect."""
    return told(steps, lambda said: (report.note(said), ""))


def _zoom(zoom: Any) -> float:
    try:
        value = float(zoom)
    except (TypeError, ValueError):
        raise RefusedError(f"The scale must be a number, got {zoom!r:.40}.") from None
    if not 0 <= value <= FURTHEST:
        raise RefusedError(f"The scale must be from 0 to {FURTHEST}, got {value:g}.")
    return value


def safe(show: Callable[..., Iterator[Shown]]) -> Callable[..., Iterator[Shown]]:
    """The handler, with what goes wrong said in the place of the result."""

    @functools.wraps(show)
    def run(*values: Any) -> Iterator[Shown]:
        try:
            yield from show(*values)
        except UnusableError as error:
            yield error.html(), ""
        except EXPECTED as error:
            yield report.problem(str(error)), ""
        except Exception:
            _log.exception("%s failed", show.__name__)
            yield report.problem(OURS), ""

    return run
