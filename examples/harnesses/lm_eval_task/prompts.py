"""The prompts of the task, from the folder that this file is in."""

from pathlib import Path

import datasets


def load(**options: object) -> datasets.DatasetDict:
    """Read prompts.jsonl; lm-eval passes what the task has for `metadata`, which is not needed."""
    path = Path(__file__).resolve().parent / "prompts.jsonl"
    return datasets.load_dataset("json", data_files={"test": str(path)})
