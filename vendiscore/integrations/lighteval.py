"""The diversity of the generations for each prompt, as a metric of lighteval."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from ..arguments import flag, integer
from ..optional import require
from .prompts import of_prompt, read_options

_samples: Any = require("lighteval.metrics.metrics_sample", "lighteval", "a metric of lighteval")
_metrics: ModuleType = require("lighteval.metrics.utils.metric_utils", "lighteval", "a metric")


# lighteval generates several texts for a prompt only if a metric is a SamplingMetric.
class VendiScore(_samples.SamplingMetric, _samples.SampleLevelComputation):  # type: ignore[misc]
    """The Vendi Score of the generations for one prompt.

    Parameters
    ----------
    n : int of at least 2, how many texts lighteval generates for a prompt (it wants a temperature)
    given_prompt : bool, whether to take the query of each document out of the similarity
    **options : `k`, `q` and options of the kernel, as for `vendiscore.compute`, of one number

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> VendiScore(2).compute(None, SimpleNamespace(final_text=["a cat", "the dog"]))
    2.0
    """

    def __init__(self, n: int, given_prompt: bool = False, **options: object) -> None:
        super().__init__()
        self.given_prompt: bool = flag("given_prompt", given_prompt)
        self.n: int = integer("n", n, 2, remedy="one generation scores 1 whatever it is")
        request = read_options(options)
        if request.several or len(request.measures) > 1 or request.ci is not None:
            raise ValueError(
                f"a metric of lighteval is one number, got {options!r:.80}; make a metric with a "
                f"`name` of its own for each order or measure"
            )
        self.options = options

    def num_samples(self) -> int:
        """Return how many texts lighteval is to generate."""
        return self.n

    def compute(self, doc: Any, model_response: Any, **others: object) -> float:
        """Score the texts of a response, at least two of them; blank ones count as one text."""
        remedy = f"the model was asked for {self.n}, and must heed `num_samples`"
        request, prompt = read_options(self.options), doc.query if self.given_prompt else None
        (value,) = of_prompt(model_response.final_text, request, remedy, prompt).values()
        return value


def vendi_score(n: int, name: str = "vendi_score", **options: Any) -> Any:
    """Make the metric for `metrics` of a task; its mean over prompts equals `compute`'s.

    Parameters
    ----------
    n : int of at least 2, how many texts lighteval generates for a prompt
    name : str, the name of the metric in lighteval
    **options : `given_prompt`, `k`, `q` and options of the kernel, as for `vendiscore.compute`

    Returns
    -------
    SampleLevelMetric of lighteval

    Examples
    --------
    >>> vendi_score(n=4, q=2, name="vendi_q2").metric_name
    'vendi_q2'
    """
    return _metrics.SampleLevelMetric(
        metric_name=name,
        higher_is_better=True,
        category=_metrics.SamplingMethod.GENERATIVE,
        sample_level_fn=VendiScore(n, **options),
        corpus_level_fn=np.mean,
    )
