"""Load the prompts of the task from this folder."""

from pathlib import Path

import datasets


def load(**options: object) -> datasets.DatasetDict:
    """Load prompts.jsonl. lm-eval passes the metadata of the task, which is not used."""
    path = Path(__file__).resolve().parent / "prompts.jsonl"
    return datasets.load_dataset("json", data_files={"test": str(path)})
