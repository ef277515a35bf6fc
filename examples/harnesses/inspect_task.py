"""An inspect_ai task that measures diversity and accuracy of the answers to each question.

    pip install -e '.[inspect]'     # in a clone of vendiscore
    inspect eval examples/harnesses/inspect_task.py --model …

Every question is answered in four epochs. `vendi_score` is the effective number of different
answers among these four, averaged over questions.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import accuracy, includes
from inspect_ai.solver import generate

from vendiscore.integrations.inspect import vendi_score

QUESTIONS = {
    "Name a planet of the solar system, in a sentence.": "planet",
    "Name a colour, in a sentence.": "colour",
}


@task
def diversity(epochs: int = 4) -> Task:
    """Return a task with questions that have many correct answers."""
    return Task(
        dataset=[Sample(input=ask, target=word) for ask, word in QUESTIONS.items()],
        solver=generate(temperature=1.0),
        scorer=includes(),
        metrics=[accuracy(), vendi_score(ns=(1, 2))],
        epochs=epochs,
    )
