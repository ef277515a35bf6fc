"""Notes and warnings on samples that a kernel did not see, or not wholly."""

from collections.abc import Sequence

import numpy as np

from ..core.errors import SampleError, quoted, warn
from ..reading.string_patterns import INVISIBLE
from .base import Similarity

# One sample in so many is worth a note; one in so many, of at least as many samples, a warning: of
# fewer, a single one would be.
NOTED = 100
WARNED = 20


def omission_notes(
    name: str,
    similarity: Similarity,
    texts: Sequence[str],
    first: np.ndarray,
    inverse: np.ndarray,
) -> list[str]:
    """Return notes on what a kernel did not see of distinct samples, and warn of what is worth it.

    Raise a SampleError if it saw nothing of any. Distinct sample i, one of `texts` if they are
    texts, stands at `first[i]`, and wherever `inverse` is i.

    >>> from vendiscore import as_similarity
    >>> as_similarity(["a cat", "rain"], k="ngram_overlap").notes[0][:51]
    "Kernel 'ngram_overlap' saw only a part of 1 of 2 sa"
    """
    missed = dict(similarity.missed)
    for i, text in enumerate(texts):
        if not str(text).strip(INVISIBLE):
            missed[i] = f"is blank: {quoted(text)}; remove it"
    if len(missed) == len(first):
        raise SampleError.of(missed)
    n = len(inverse)
    notes = []
    equal = _equal(similarity, texts, first)
    for what, problems in (
        ("saw nothing", missed),
        ("saw only a part", similarity.partial),
        ("saw no difference", equal),
    ):
        count = int(np.isin(inverse, [*problems]).sum())
        if not count or (problems is not equal and count * NOTED < n):
            continue
        i = min(problems)
        why = f"sample {first[i]} {problems[i]}"
        notes.append(f"Kernel {name!r} {what} of {count:,} of {n:,} samples; {why}.")
        if n >= WARNED and count * WARNED >= n:
            warn(notes[-1])
    return notes


def _equal(similarity: Similarity, texts: Sequence[str], first: np.ndarray) -> dict[int, str]:
    """Return texts with the row of an earlier one that differ in more than case and space."""
    equal: dict[int, str] = {}
    earliest: dict[int, int] = {}
    groups = similarity.groups() if similarity.merges else None
    for i, group in enumerate(() if groups is None else groups.tolist()):
        j = earliest.setdefault(group, i)
        if i != j and texts[i].casefold().split() != texts[j].casefold().split():
            equal[i] = f"differs from sample {first[j]}, but not in what was seen"
    return equal
