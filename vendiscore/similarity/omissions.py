"""What a kernel does not see of samples, and how much of that is worth a note or a warning."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.errors import SampleError, warn
from .base import Similarity

# One sample in so many is worth a note; one in so many, of at least as many samples, a warning: of
# fewer, a single one would be.
NOTED = 100
WARNED = 20


def omission_notes(
    name: str,
    missed: Mapping[int, str],
    similarity: Similarity,
    samples: Sequence[str],
    first: np.ndarray,
    inverse: np.ndarray,
) -> list[str]:
    """Return notes on what a kernel did not see of distinct samples, and warn of what is worth it.

    A SampleError is raised where all are `missed`: nothing was seen of them. Distinct sample i
    stands at `first[i]`, and wherever `inverse` is i.

    >>> from vendiscore import as_similarity
    >>> as_similarity(["a cat", "rain"], k="ngram_overlap").notes[0][:51]
    "Kernel 'ngram_overlap' did not see all of 1 of 2 sa"
    """
    if len(missed) == len(first):
        raise SampleError.of(missed)
    n = len(inverse)
    notes = []
    for what, problems, noted, warned in (
        ("saw nothing", missed, NOTED, WARNED),
        ("did not see all", similarity.partial, NOTED, WARNED),
        ("saw no difference", _equal(similarity, samples, first), n, n),
    ):
        count = int(np.isin(inverse, [*problems]).sum())
        if count * noted < n:
            continue
        i = min(problems)
        why = f"sample {first[i]} {problems[i]}"
        notes.append(f"Kernel {name!r} {what} of {count:,} of {n:,} samples; {why}.")
        if n >= WARNED and count * warned >= n:
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
