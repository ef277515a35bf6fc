"""The diversity of the answers to each sample over epochs, as a metric of inspect_ai.

It needs a release with `@metric(scores="unreduced")`, and is registered by an entry point.
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
Make = Callable[..., object]
if TYPE_CHECKING:
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target
    from inspect_ai.solver import TaskState
else:  # inspect_ai looks up by these names what a metric takes
    SampleScore = _scorer.SampleScore
    Score = _scorer.Score


def _documented(decorate: Callable[[Make], Make]) -> Callable[[Make], Make]:
    """Make a decorator of inspect_ai keep docstring and signature."""
    return lambda make: update_wrapper(decorate(make), make)


@_documented(_scorer.metric(scores="unreduced"))
def vendi_score(given_prompt: bool = False, **options: object) -> Metric:
    """Score the answers to each sample: the mean over samples, and its standard error.

    Parameters
    ----------
    given_prompt : bool
        Take the prompt out of the similarity; the scorer leaves it in `metadata["prompt"]` of a
        score, as `completion` does.
    **options : `k`, `q`, `measures` and options of the kernel, as for `vendiscore.compute`

    Returns
    -------
    metric
        Of scores with their text in `answer`, to {"VS": …, "VS_se": …, "samples": …}, or for
        q=2 {"VS_q2": …, "VS_q2_se": …, "samples": …}. Blank answers count as one more text. Samples
        without two answers are left out, so that VS is NaN, of 0 samples, while the first epoch
        runs, and if the scorer gives no answers.

    Examples
    --------
    >>> from inspect_ai.scorer import SampleScore, Score
    >>> scores = [Score(value=1, answer=text) for text in ("red", "blue", "a cat", "a cat")]
    >>> vendi_score()([SampleScore(score=s, sample_id=i // 2) for i, s in enumerate(scores)])
    {'VS': 1.5, 'VS_se': 0.5, 'samples': 2}
    """
    request = parse_generation_request(options)
    taking = check_bool("given_prompt", given_prompt)

    def diversity(scores: list[SampleScore]) -> dict[str, float]:
        answers: dict[object, list[str]] = {}
        prompts = {each.sample_id: (each.score.metadata or {}).get("prompt") for each in scores}
        if any(each.score.answer is not None for each in scores):
            for each in scores:
                answers.setdefault(each.sample_id, []).append(each.score.answer or "")
        some = {of: texts for of, texts in answers.items() if len(texts) > 1}
        groups = list(map(fill_blanks, some.values()))
        own = [prompts[of] for of in some]
        if taking and None in own:
            raise ValueError(
                "`given_prompt` needs the prompt in `metadata['prompt']` of each score; use the "
                "scorer `completion`, or one that leaves it there"
            )
        asked = request.with_prompts(fill_blanks(own)) if taking else request
        if groups:
            result = evaluate_request(groups, None, asked)
        else:
            result = Result(dict.fromkeys(request.keys, float("nan")))
        result["samples"] = len(groups)
        return result

    return diversity


@_documented(_scorer.scorer(metrics=[vendi_score()]))
def completion() -> Scorer:
    """Make a scorer that keeps the whole completion as the answer, where no other one does."""

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        return Score(value=len(text), answer=text, metadata={"prompt": state.input_text})

    return score
