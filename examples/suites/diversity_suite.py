"""An EvaluationSuite that measures the diversity of a language model for two types of prompts.

    suite = evaluate.EvaluationSuite.load("examples/suites/diversity_suite.py")
    suite.run("gpt2")

returns common measures of text diversity for each type of prompts: Vendi Score, distinct n-grams,
self-BLEU and compression ratio. To evaluate another model, pass its name to `run`.
"""

import atexit
import shutil
import tempfile
from pathlib import Path

import evaluate
from datasets import Dataset
from evaluate.evaluation_suite import SubTask

import vendiscore

PROMPTS = {
    "stories": ["Once upon a time", "The door opened and", "Far from the city"],
    "advice": ["To sleep better,", "To learn a language,", "To save money,"],
}
TIMES = 4  # number of answers to each prompt


class Suite(evaluate.EvaluationSuite):
    """One task for each type of prompts, scored with the preset "text"."""

    def __init__(self, name):
        super().__init__(name)
        metric = vendiscore.load("vendiscore", measures="text")
        folder = Path(tempfile.mkdtemp(prefix="prompts-"))  # a suite loads data from a path
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        self.suite = []
        for kind, prompts in PROMPTS.items():
            (folder / kind).mkdir()
            Dataset.from_dict({"text": prompts * TIMES}).to_csv(folder / kind / "test.csv")
            self.suite.append(
                SubTask(
                    task_type="text-generation",
                    data=str(folder / kind),
                    split="test",
                    args_for_task={"metric": metric, "input_column": "text"},
                )
            )
