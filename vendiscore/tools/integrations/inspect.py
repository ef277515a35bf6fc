"""A metric of inspect_ai: the diversity of the answers to each sample over several epochs.

It requires a release of inspect_ai that supports `@metric(scores="unreduced")`. The package
registers it by an entry point.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import ModuleType
from typing import TYPE_CHECKING

from ...result import Result
from ...scoring.compute import evaluate_request
from ...scoring.score_request import parse_generation_request
from ...support.arguments import check_bool
from ...support.optional import require
from ...support.text_detection import fill_blanks

_scorer: ModuleType = require("inspect_ai.scorer", "inspect", "the metric of inspect_ai")
Factory = Callable[..., object]
if TYPE_CHECKING:
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target
    from inspect_ai.solver import TaskState
else:  # inspect_ai resolves the annotations of a metric by these names
    SampleScore = _scorer.SampleScore
    Score = _scorer.Score


def _keep_metadata(decorator: Callable[[Factory], Factory]) -> Callable[[Factory], Factory]:
    """Wrap a decorator of inspect_ai so that it keeps the docstring and signature."""
    return lambda factory: update_wrapper(decorator(factory), factory)


@_keep_metadata(_scorer.metric(scores="unreduced"))
def vendi_score(given_prompt: bool = False, **options: object) -> Metric:
    """Make a metric: the mean score of the answers to each sample, and its standard error.

    Parameters
    ----------
    given_prompt : bool, default False
        Whether to condition similarities on the prompt. The scorer must then store the prompt in
        `metadata["prompt"]` of each score, as `completion` does.
    **options
        `k`, `q`, `measures` and options of the kernel, as for `vendiscore.compute`.

    Returns
    -------
    metric
        Function of scores whose attribute `answer` is the text. It returns {"VS": …, "VS_se": …,
        "samples": …}, or for q=2 {"VS_q2": …, "VS_q2_se": …, "samples": …}, where "samples" is the
        number of samples with at least two answers; others are ignored. All blank answers count as
        one distinct text. VS is NaN if no sample has two answers, as during the first epoch.

    See Also
    --------
    vendiscore.compute : The function that computes the score.

    Examples
    --------
    >>> from inspect_ai.scorer import SampleScore, Score
    >>> scores = [Score(value=1, answer=text) for text in ("red", "blue", "a cat", "a cat")]
    >>> vendi_score()([SampleScore(score=s, sample_id=i // 2) for i, s in enumerate(scores)])
    {'VS': 1.5, 'VS_se': 0.5, 'samples': 2}
    """
    request = parse_generation_request(options)
    check_bool("given_prompt", given_prompt)

    def diversity(scores: list[SampleScore]) -> dict[str, float]:
        """Return the mean score over samples that have at least two answers (epochs)."""
        answers: dict[object, list[str]] = {}
        prompts = {row.sample_id: (row.score.metadata or {}).get("prompt") for row in scores}
        if any(row.score.answer is not None for row in scores):
            for row in scores:
                answers.setdefault(row.sample_id, []).append(row.score.answer or "")
        repeated = {sample_id: texts for sample_id, texts in answers.items() if len(texts) > 1}
        groups = list(map(fill_blanks, repeated.values()))
        conditioned_request = request
        if given_prompt:
            group_prompts = [prompts[sample_id] for sample_id in repeated]
            if None in group_prompts:
                raise ValueError(
                    "`given_prompt` requires the prompt in `metadata['prompt']` of each score; use "
                    "the scorer `completion`, or one that stores it there"
                )
            conditioned_request = request.with_prompts(fill_blanks(group_prompts))
        if groups:
            result = evaluate_request(groups, None, conditioned_request)
        else:
            result = Result(dict.fromkeys(request.keys, float("nan")))
        result["samples"] = len(groups)
        return result

    return diversity


@_keep_metadata(_scorer.scorer(metrics=[vendi_score()]))
def completion() -> Scorer:
    """Make a scorer that stores the completion as the answer, and the prompt in the metadata.

    Returns
    -------
    scorer
        Use it if the task has no other scorer that sets `answer`.
    """

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        # Inspect requires a value; `vendi_score` uses only answer and prompt.
        return Score(value=len(text), answer=text, metadata={"prompt": state.input_text})

    return score
