"""Notes and warnings about samples that a kernel cannot represent, or represents only in part."""

from collections.abc import Sequence

import numpy as np

from ..support.errors import SampleError, short_repr, warn
from ..support.text_detection import INVISIBLE_CHARACTERS
from .base import Similarity
from .encoder_scope import find_mismatch

# Truncated texts, and texts without any token of the model, always cause a warning. Other samples,
# such as blank texts, cause a note if they are at least one in NOTE_ONE_IN samples, and a warning
# if they are at least one in WARN_ONE_IN. In sets of fewer than WARN_ONE_IN samples they cause no
# warning, because a single sample would be enough.
NOTE_ONE_IN = 100
WARN_ONE_IN = 20
_MAX_EXAMPLES = 3


def representation_notes(
    name: str,
    similarity: Similarity,
    texts: Sequence[str],
    first_indices: np.ndarray,
    inverse: np.ndarray,
) -> list[str]:
    """Return notes about samples that a kernel cannot represent or distinguish, and emit warnings.

    `name` is the name of the kernel. `similarity` is the similarity of the distinct samples; its
    attributes `missed` and `partial` are the distinct samples that the kernel cannot represent, or
    only in part. Distinct sample i, which is `texts[i]` if samples are texts, first occurs at index
    `first_indices[i]` of all samples. `inverse` contains the position of each sample among the
    distinct samples. Raises a SampleError if the kernel cannot represent any sample.

    >>> from vendiscore import as_similarity
    >>> as_similarity(["a cat", "rain"], k="ngram_overlap").notes[0][:49]
    "Kernel 'ngram_overlap' represents 1 of 2 samples "
    """
    blank = {
        i: f"is blank: {short_repr(text)}; remove it"
        for i, text in enumerate(texts)
        if not str(text).strip(INVISIBLE_CHARACTERS)
    }
    missed = {**similarity.missed, **blank}
    if len(missed) == len(first_indices):
        raise SampleError.from_problems(missed)
    n = len(inverse)
    notes = []
    merged_texts = _find_merged_texts(similarity, texts, first_indices)
    for sentence, problems in (
        ("cannot represent {} samples", missed),
        ("represents {} samples only in part", similarity.partial),
        ("does not distinguish {} samples from others", merged_texts),
    ):
        count = int(np.isin(inverse, [*problems]).sum())  # of all samples, not of distinct ones
        # Truncated texts, and texts without any token of the model, always cause a warning. Other
        # problems cause a note if at least one in NOTE_ONE_IN samples has them, and a warning if at
        # least one in WARN_ONE_IN has them.
        always_warn = similarity.truncates and problems is similarity.partial
        always_warn |= problems is missed and missed.keys() > blank.keys()
        always_note = always_warn or problems is merged_texts
        if not count or (count * NOTE_ONE_IN < n and not always_note):
            continue
        i, *further = sorted(problems)[:_MAX_EXAMPLES]
        problem, _, hint = problems[i].partition("; ")
        example = f"sample {first_indices[i]} {problem}"
        if further:
            example += f" (also {', '.join(f'sample {first_indices[j]}' for j in further)})"
        if hint:
            example += f"; {hint}"
        description = sentence.format(f"{count:,} of {n:,}")
        notes.append(f"Kernel {name!r} {description}; {example}.")
        if always_warn or (n >= WARN_ONE_IN and count * WARN_ONE_IN >= n):
            warn(notes[-1])
    mismatch = find_mismatch(texts, similarity.scripts)
    if mismatch:
        model = similarity.settings.get("model_path") or name
        scripts = " and ".join(script.title() for script in similarity.scripts)
        notes.append(
            f"Kernel {name!r} with the model {model} is for prose in {scripts} script, but "
            f"{mismatch.reason}. The score is unreliable for them; use {mismatch.kernel}, or a "
            f"model for such samples."
        )
        warn(notes[-1])
    return notes


def _find_merged_texts(
    similarity: Similarity, texts: Sequence[str], first_indices: np.ndarray
) -> dict[int, str]:
    """Find texts with the same features as an earlier text, although they have other words.

    `texts` are distinct, and `texts[i]` first occurs at index `first_indices[i]` of all samples.
    Returns a description of the problem of each such text, by its index in `texts`. Texts that
    differ only in case or white space are not reported.
    """
    # `merges` is True for kernels under which different texts may have the same features.
    groups = similarity.groups() if similarity.merges else None
    if groups is None:
        return {}
    problems: dict[int, str] = {}
    first_of_group: dict[int, int] = {}
    for i, group in enumerate(groups.tolist()):
        j = first_of_group.setdefault(group, i)
        if i != j and texts[i].casefold().split() != texts[j].casefold().split():
            problems[i] = f"differs from sample {first_indices[j]}, but has the same features"
    return problems
