"""A task of lighteval: how diverse four answers to each prompt are.

    pip install 'vendiscore[lighteval]'
    lighteval accelerate "model_name=…,generation_parameters={temperature:1.0}" \\
        "diversity|0" --custom-tasks examples/harnesses/lighteval_task.py
"""

from pathlib import Path

from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

from vendiscore.integrations.lighteval import vendi_score

PROMPTS = Path(__file__).resolve().parent / "lm_eval_task"  # a folder with prompts.jsonl


def prompt(line: dict[str, str], task_name: str = "") -> Doc:
    """Return a document of lighteval."""
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
