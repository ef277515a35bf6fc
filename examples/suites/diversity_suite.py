"""An EvaluationSuite: how diverse what a language model writes is, to prompts of two kinds.

    suite = evaluate.EvaluationSuite.load("examples/suites/diversity_suite.py")
    suite.run("gpt2")

gives, for each kind of prompts, the measures of text that people quote: a Vendi Score, distinct
n-grams, self-BLEU and a compression ratio. Another model is another argument of `run`.
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
TIMES = 4  # each prompt is answered as often


class Suite(evaluate.EvaluationSuite):
    """One task for each kind of prompts, all measured by the preset "text"."""

    def __init__(self, name):
        super().__init__(name)
        metric = vendiscore.load("vendiscore", measures="text")
        folder = Path(tempfile.mkdtemp(prefix="prompts-"))  # a suite names its data by a path
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
