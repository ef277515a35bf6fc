"""What a result has for papers, found when it is asked for: pictures, growth, magnitude."""

from __future__ import annotations

from typing import Any

from ...analysis import sentences
from ...analysis.findings import Findings
from ...errors import MissingPackageError
from ...magnitude.curve import magnitude_curve
from ...report.document import Report, reported
from ...report.figures import Figure, figures, magnitude
from ...report.previews import Shown
from ...signature import plain
from .jobs import Job

MOST = 1_000  # samples whose magnitude is found: a system of equations at each of many scales


def papers(found: Findings, job: Job) -> dict[str, Any]:
    """Pictures with what they show, sentences, and what gives the numbers again."""
    drawn, curve_said = [], ""
    why = ""
    try:
        drawn = list(figures(found))
        curve_said, picture = _magnitude(found, job.what)
        drawn += [picture] if picture else []
    except MissingPackageError as error:
        why = f"No pictures: {error}"
    growth = sentences.growing(found.growth) if found.growth is not None else found.no_growth
    said_ = [sentences.how(found), sentences.orders(found), growth, curve_said, why]
    return {
        "pictures": [pictured(each) for each in drawn],
        "sentences": [sentence for sentence in said_ if sentence],
        "code": job.code(found),
        "signature": found.details["signature"],
        "details": plain(dict(found.details)),
    }


def pictured(figure: Figure) -> dict[str, str]:
    """A picture as plain values."""
    return {"name": figure.name, "svg": figure.svg, "caption": f"{figure.title}. {figure.text}"}


def report(found: Findings, job: Job, title: str | None = None) -> Report:
    """The report, in which images have their names and are as large as they came."""
    if not job.pictures:
        return reported(found, title)
    files = [{"path": picture.name, "bytes": picture.data} for picture in job.pictures]
    return reported(found, title, Shown(files, "images"))


def _magnitude(found: Findings, what: str) -> tuple[str, Figure | None]:
    """The magnitude function of the distances of the kernel, or why there is none."""
    n = found.looked.similarity.n
    if found.grouped or n < 2 or found.curve is not None:
        return "", None
    if n > MOST:
        return f"A magnitude function is drawn of up to {MOST:,} samples.", None
    try:
        curve = magnitude_curve(found.looked.similarity)
    except (ValueError, ArithmeticError) as error:
        return f"There is no magnitude function: {error}", None
    if curve.convergence == 0:
        return "", None
    return sentences.magnitude(curve, what), magnitude(curve)
