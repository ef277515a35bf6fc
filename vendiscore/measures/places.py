"""Where samples are among all that came in, for measures that read them as they came."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..errors import SampleError
from .subject import Subject


def places_of(subject: Subject) -> np.ndarray:
    """The place of each sample that was not left out, among all that came in."""
    whole, places = subject.whole, subject.places
    known = whole.row_of if "similarities" in whole.__dict__ else whole.rows_came
    return places[known[places] >= 0]


@contextmanager
def located(subject: Subject) -> Iterator[None]:
    """Errors about samples of a subject, with their places among all that came in."""
    try:
        yield
    except SampleError as error:
        places = places_of(subject)
        problems = {int(places[i]): problem for i, problem in error.problems.items()}
        raise SampleError(*next(iter(problems.items())), problems) from error.__cause__
