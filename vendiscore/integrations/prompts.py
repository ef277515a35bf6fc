"""The diversity of a model's answers prompt by prompt, as harnesses ask for it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..scoring.request import Request, read_request

# A blank generation is one more text, so that a run of hours does not end in an error.
BLANK = "∅"


def read_options(options: Mapping[str, object]) -> Request:
    """Read keywords of `compute` that say how generations are measured, and give numbers alone."""
    for name in {"details", "groups", "p", "prompts", "given_prompt"} & options.keys():
        raise ValueError(
            f"`{name}` has no meaning here, where prompts are groups and results are numbers; "
            f"leave it out"
        )
    return read_request(options)


def filled(samples: object) -> Any:
    """Return samples, or lists of them, with `BLANK` for each text without a character.

    >>> filled([["a", " "], ["", "b"]])
    [['a', '∅'], ['∅', 'b']]
    """
    if isinstance(samples, (list, tuple)):
        return [filled(one) for one in samples]
    return BLANK if isinstance(samples, str) and not samples.strip() else samples


def given(request: Request, prompts: object) -> Request:
    """Return a request that takes prompts out of similarities; a blank one takes out nothing."""
    return replace(request, how=request.how.with_prompts(filled(prompts), True))
