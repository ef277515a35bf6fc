"""Notes and warnings on samples that a kernel cannot represent, or only in part."""

from collections.abc import Sequence

import numpy as np

from ..support.errors import SampleError, short_repr, warn
from ..support.text_detection import INVISIBLE_CHARACTERS
from .base import Similarity
from .encoder_scope import find_mismatch

# Truncated texts, and texts without any token of the model, always cause a warning. Other samples,
# such as blank texts, cause a note if they are at least one in NOTE_ONE_IN, and a warning if they
# are at least one in WARN_ONE_IN. Sets of fewer samples get no such warning, because a single
# sample would cause it.
NOTE_ONE_IN = 100
WARN_ONE_IN = 20
_MAX_EXAMPLES = 3


def representation_notes(
    name: str,
    similarity: Similarity,
    texts: Sequence[str],
    first: np.ndarray,
    inverse: np.ndarray,
) -> list[str]:
    """Return notes on samples that a kernel cannot represent or distinguish, and emit warnings.

    Distinct sample i, which is `texts[i]` if samples are texts, first occurs at index `first[i]`.
    `inverse` maps the index of each sample to its distinct sample. Raises a SampleError if the
    kernel can represent no sample.

    >>> from vendiscore import as_similarity
    >>> as_similarity(["a cat", "rain"], k="ngram_overlap").notes[0][:51]
    "Kernel 'ngram_overlap' saw only a part of 1 of 2 sa"
    """
    blank = {
        i: f"is blank: {short_repr(text)}; remove it"
        for i, text in enumerate(texts)
        if not str(text).strip(INVISIBLE_CHARACTERS)
    }
    missed = {**similarity.missed, **blank}
    if len(missed) == len(first):
        raise SampleError.from_problems(missed)
    n = len(inverse)
    notes = []
    equal = _find_merged_texts(similarity, texts, first)
    for what, problems in (
        ("saw nothing", missed),
        ("saw only a part", similarity.partial),
        ("saw no difference", equal),
    ):
        count = int(np.isin(inverse, [*problems]).sum())
        matters = similarity.truncates and problems is similarity.partial
        matters |= problems is missed and missed.keys() > blank.keys()
        if not count or (count * NOTE_ONE_IN < n and problems is not equal and not matters):
            continue
        i, *others = sorted(problems)[:_MAX_EXAMPLES]
        why = f"sample {first[i]} {problems[i]}"
        if matters and others:
            why += f" (also {', '.join(f'sample {first[j]}' for j in others)})"
        notes.append(f"Kernel {name!r} {what} of {count:,} of {n:,} samples; {why}.")
        if matters or (n >= WARN_ONE_IN and count * WARN_ONE_IN >= n):
            warn(notes[-1])
    mismatch = find_mismatch(texts, similarity.scripts)
    if mismatch:
        model = similarity.settings.get("model_path") or name
        scripts = " and ".join(script.title() for script in similarity.scripts)
        notes.append(
            f"Kernel {name!r} compares prose in {scripts} script here ({model}), but "
            f"{mismatch.reason}: the score says little about them; use {mismatch.kernel}, or a "
            f"model for such samples."
        )
        warn(notes[-1])
    return notes


def _find_merged_texts(
    similarity: Similarity, texts: Sequence[str], first: np.ndarray
) -> dict[int, str]:
    """Find texts with the same features as an earlier text, despite other words.

    Differences in case and white space are ignored.
    """
    equal: dict[int, str] = {}
    earliest: dict[int, int] = {}
    groups = similarity.groups() if similarity.merges else None
    for i, group in enumerate(() if groups is None else groups.tolist()):
        j = earliest.setdefault(group, i)
        if i != j and texts[i].casefold().split() != texts[j].casefold().split():
            equal[i] = f"differs from sample {first[j]}, but not in what was seen"
    return equal
