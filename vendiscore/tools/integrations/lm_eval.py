"""A metric of lm-evaluation-harness: the diversity of the generations for each prompt."""

from collections.abc import Sequence

from ...scoring.compute import evaluate_request
from ...scoring.score_request import parse_generation_request
from ...support.arguments import check_bool
from ...support.text_detection import fill_blanks

_HINT = (
    "set for example `repeats: 4` in the task, and the filter `take_first_k` with `k: 4` in its "
    "`filter_list`; the default filter, `take_first`, keeps only the first generation"
)


def vendi_score(
    *,
    predictions: Sequence[Sequence[str]],
    references: Sequence[str] = (),
    given_prompt: bool = False,
    **options: object,
) -> dict[str, float]:
    """Score the generations for one prompt, as a metric of an lm-evaluation-harness task.

    Use it as ``metric: !function ...`` in the YAML file of a task.

    Parameters
    ----------
    predictions : list of one list of str
        The generations that the filter returned. All blank ones count as one distinct text.
    references : list of str
        List of one prompt if `given_prompt` is True; otherwise ignored.
    given_prompt : bool, default False
        Whether to condition similarities on the prompt; `doc_to_target` of the task must then be
        the prompt.
    **options
        `k`, `q`, `measures` and options of the kernel, as for `vendiscore.compute`.

    Returns
    -------
    dict of str to float
        {"VS": value}, or for q=2 {"VS_q2": value}. The harness computes means over prompts and
        their standard errors.

    Raises
    ------
    TypeError, ValueError
        If there is only one generation, as after the default filter, or an argument is invalid.

    See Also
    --------
    vendiscore.compute : The function that computes the score.

    Examples
    --------
    >>> vendi_score(predictions=[["a cat", "a cat", "the dog"]], references=[""])
    {'VS': 1.889...}
    """
    (generations,) = predictions
    try:
        request = parse_generation_request(options)
        if check_bool("given_prompt", given_prompt):
            request = request.with_prompts(fill_blanks(references[0]))
        if isinstance(generations, str) or len(generations) < 2:
            count = 1 if generations else 0
            raise ValueError(f"each prompt must have at least 2 generations, got {count}; {_HINT}")
        return evaluate_request(fill_blanks(list(generations)), None, request)
    except TypeError as error:  # after a TypeError, lm-eval would call with other arguments
        raise ValueError(str(error)) from error
