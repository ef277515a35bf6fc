"""Repeated phrases of the texts of a result, and their costs."""

from dataclasses import replace

from vendiscore import phrases

from ..aliases import Record
from ..quotas import RefusedError
from . import kernel_menu
from .jobs import Job

_KERNEL = "ngram_overlap"  # with which costs are computed
_OTHER_ARGUMENTS = ("k", "prompts", "given_prompt")  # that `phrases` does not have
_MAX_QUICK = 200  # texts whose costs take about a second


def takes_long(job: Job) -> bool:
    """Return whether the costs take more than about a second."""
    return len(job.samples) > _MAX_QUICK


def build_phrase_table(job: Job, q: float) -> Record:
    """Return the phrases that lower the score most, as `vendiscore.phrases` does, and code for it.

    Costs are computed with n-grams and without conditioning. If the score was computed in another
    way, a note describes the difference.
    """
    if job.kind != "texts":
        raise RefusedError(f"Repeated phrases are only available for texts, not for {job.kind}.")
    if q == 0:
        raise RefusedError(
            "Repeated phrases are not available at q = 0; select a larger order, such as 1."
        )
    by_ngrams = job
    if job.choice.kernel != _KERNEL:
        by_ngrams = job.with_kernel(kernel_menu.find_choice("texts", _KERNEL))
    arguments = {k: x for k, x in by_ngrams.arguments.items() if k not in _OTHER_ARGUMENTS}
    described = replace(by_ngrams, arguments=arguments)
    result = phrases(job.samples, groups=job.labels, q=q, **arguments)
    description = kernel_menu.describe_comparison(described.choice, described.arguments, q)
    note = ""
    if job.choice.kernel != _KERNEL:
        note = (
            f"Costs are computed by wording ({description}), not by {job.choice.compared_content}."
        )
    elif job.prompts:
        note = "Costs are computed without conditioning on the prompt."
    return {
        **result.to_dict(),
        "sentence": result.sentence,
        "note": note,
        "code": described.format_phrases_code(q),
    }
