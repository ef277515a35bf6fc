"""The diversity of the generations for each prompt, as a metric of lm-eval.

In the YAML of a task, with `repeats` and a filter that keeps them, and keywords of `compute`:

    metric_list:
      - metric: !function vendiscore.integrations.lm_eval.vendi_score
        aggregation: mean
        higher_is_better: true
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .prompts import of_prompt, read_options

REMEDY = (
    "set `repeats: 4`, say, in the task and the filter `take_first_k` with `k: 4` in its "
    "`filter_list`: the default filter, `take_first`, throws all repeats but the first away"
)


def vendi_score(
    *, predictions: Sequence[Sequence[str]], references: Any = None, **options: Any
) -> dict[str, float]:
    """Score the generations for one prompt, as lm-eval calls it.

    Parameters
    ----------
    predictions : list of one list of str
        The generations that the filter kept. Blank ones count as one more text.
    references : list
        Ignored.
    **options
        As for `vendiscore.compute`: `k`, `q`, `measures`, and options of the kernel.

    Returns
    -------
    dict of str to float
        {"VS": …}. Each number is a metric of the task: its mean over prompts, and the standard
        error of that, are those of `compute` of a list of lists.

    Raises
    ------
    ValueError
        For a single generation, naming the filter that throws the others away, and for whatever
        `compute` refuses.

    Examples
    --------
    >>> vendi_score(predictions=[["a cat", "a cat", "the dog"]], references=[""])
    {'VS': 1.889...}
    """
    (generations,) = predictions
    try:
        return of_prompt(generations, read_options(options), REMEDY)
    except TypeError as error:  # after which lm-eval would try a call of another kind
        raise ValueError(str(error)) from error
