"""A lighteval task that measures the diversity of four answers to each prompt.

    pip install -e . lighteval 'xxhash<4'     # in a clone of vendiscore
    lighteval accelerate "model_name=…,generation_parameters={temperature:1.0}" \\
        "diversity|0" --custom-tasks examples/harnesses/lighteval_task.py
"""

from pathlib import Path

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation, SamplingMetric
from lighteval.metrics.utils.metric_utils import SampleLevelMetric, SamplingMethod
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from vendiscore import score

PROMPTS = Path(__file__).resolve().parent / "lm_eval_task"  # a folder with prompts.jsonl


# lighteval generates several texts for a prompt only if a metric is a SamplingMetric.
class VendiScore(SamplingMetric, SampleLevelComputation):
    """The Vendi Score of n answers to a prompt, with options of `vendiscore.compute`.

    `given_prompt=True` conditions the similarity on the query of each document.
    """

    def __init__(self, n: int, given_prompt: bool = False, **options: object) -> None:
        super().__init__()
        self.n, self.given_prompt, self.options = n, given_prompt, options

    def num_samples(self) -> int:
        """Return the number of texts that lighteval generates for each prompt."""
        return self.n

    def compute(self, doc: Doc, model_response: ModelResponse, **others: object) -> float:
        """Score the texts of a response (at least two). All blank texts count as identical."""
        texts = [text if text.strip() else "∅" for text in model_response.final_text]
        if len(texts) < 2:
            raise ValueError(
                f"expected {self.n} generations for a prompt (at least 2), got {len(texts)}; use a "
                f"model that supports `num_samples`"
            )
        condition = {"prompts": doc.query, "given_prompt": True} if self.given_prompt else {}
        return score(texts, **condition, **self.options)


def vendi_score(n: int, name: str = "vendi_score", **options: object) -> SampleLevelMetric:
    """Return a metric of a task; the mean over prompts equals the result of `compute`."""
    return SampleLevelMetric(
        metric_name=name,
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=VendiScore(n, **options),
        corpus_level_fn=np.mean,
    )


def prompt(line: dict[str, str], task_name: str = "") -> Doc:
    """Convert a row to a document of lighteval."""
    return Doc(task_name=task_name, query=line["prompt"] + "\n", choices=[""], gold_index=0)


TASKS_TABLE = [
    LightevalTaskConfig(
        name="diversity",
        prompt_function=prompt,
        hf_repo=str(PROMPTS),
        hf_subset="default",
        hf_avail_splits=["train"],
        evaluation_splits=["train"],
        metrics=[vendi_score(n=4)],
        generation_size=64,
        stop_sequence=["\n"],
    )
]
