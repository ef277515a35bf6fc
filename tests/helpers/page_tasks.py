"""User tasks in the web app: their steps, and the expected result."""

from __future__ import annotations

import csv
import io
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from PIL import Image
from user_files import encode_npy, encode_photo, encode_zip

from vendiscore import compare, compute, explain, select
from vendiscore.tools.analysis.comparison import Comparison
from vendiscore_page.answers import offered_encoders
from vendiscore_page.inputs import examples

_THREE_MODELS = examples.find_example(examples.THREE_MODELS).text
MEANING = offered_encoders.ALLOWED["texts"]["MiniLM"]


class Task(NamedTuple):
    """Steps in the web app, each a verb and its arguments, and the expected result.

    A step is ("open", tab), ("paste", text), ("choose", name, data, number of the set or None),
    ("choose_sets", (name, data) of each set), ("press", button), ("download", entry of the menu),
    ("save", button), ("tab_to", name), ("type", text), ("fill", field, text) or ("key", key).
    """

    steps: tuple[tuple[Any, ...], ...]
    max_clicks: int
    expected_value: float  # as the library computes it
    expected_text: str  # a part of the text at `selector`
    selector: str = "#result .r-number"


def _score_task(*steps: tuple[Any, ...], max_clicks: int, n: int, expected: float) -> Task:
    return Task(steps, max_clicks, expected, f"≈ {expected:,.1f} of {n:,}")


def _compare_task(*steps: tuple[Any, ...], max_clicks: int, comparison: Comparison) -> Task:
    best = max(comparison.sets, key=lambda row: row.matched)
    return Task(
        steps, max_clicks, best.matched, f"{best.name} {best.matched:.1f}", "#result .r-sides"
    )


HABIT_START = "Certainly! Building small habits is the key to a healthier life."
HABITS = [
    f"{HABIT_START} Start with {what} each morning, and let it grow from there.\n\n"
    f"1. Begin with {what}.\n2. Keep at it every day.\n\nRemember: small habits add up!"
    for what in (
        *("one glass of water", "a glass of water", "two glasses of water", "a short walk"),
        *("a brief walk", "a walk", "five push-ups", "ten push-ups", "a few push-ups"),
        *("some stretching", "a little stretching"),
    )
]
SLEEP = [
    f"Sleep well: go to bed at {hour} every night.\n\nA regular bedtime makes all the difference."
    for hour in ("nine", "ten", "half past nine", "half past ten", "the same hour")
]
DIFFERENT_ANSWERS = [
    "No idea, honestly.\n\nAsk my grandmother, she is ninety-six.",
    "Quit the job that makes you ill.\n\nThe money is not worth it.",
    "Vaccines.\n\nNothing else in the history of medicine comes close.",
    "Grow your own tomatoes.\n\nYou will be outdoors, and they taste of something.",
]
ANSWERS = [
    text
    for texts in (HABITS[:6], DIFFERENT_ANSWERS[:1], SLEEP, DIFFERENT_ANSWERS[1:], HABITS[6:])
    for text in texts
]


def score_pasted_answers() -> Task:
    """Score twenty pasted answers with paragraphs."""
    expected = compute(ANSWERS, **MEANING)["VS"]
    text = "\n---\n".join(ANSWERS)
    return _score_task(("paste", text), ("press", "Score"), max_clicks=2, n=20, expected=expected)


def save_rows_without_near_duplicates() -> Task:
    """Save one row of each group of near-duplicates."""
    table = io.StringIO()
    csv.writer(table).writerows([("id", "answer"), *enumerate(ANSWERS, 1)])
    result = explain(ANSWERS, **MEANING)
    steps = (
        ("choose", "answers.csv", table.getvalue().encode(), None),
        ("press", "Score"),
        ("save", f"Save {len(result.kept)} samples without near-duplicates (CSV)"),
    )
    expected = result.score_without_duplicates
    return Task(steps, 3, expected, f"effective number {expected:.1f}", ".r-halves")


VALID_MOLECULES = (
    examples.find_example("Scents").text.splitlines()
    + examples.find_example("Small medicines").text.split()[:6]
)
INVALID_MOLECULES = {3: "C1CC", 9: "CC(C", 10: "Xx", 20: "not a molecule", 28: "c1ccc"}
_remaining_molecules = iter(VALID_MOLECULES)
SMILES = {
    at: INVALID_MOLECULES.get(at) or next(_remaining_molecules) for at in range(2, 29)
}  # by row of the table


def score_csv_column() -> Task:
    """Score the text column of a table, which has repeated texts, so that the web app asks."""
    rows = [f"{i},2024-05-{i % 28 + 1:02},{text}" for i, text in enumerate(_DIVERSE_CAPTIONS * 3)]
    table = "id,date,comment\n" + "\n".join(rows)
    steps = (
        ("choose", "comments.csv", table.encode(), None),
        ("press", "comment"),
        ("press", "Score"),
    )
    return _score_task(
        *steps, max_clicks=3, n=30, expected=compute(_DIVERSE_CAPTIONS * 3, **MEANING)["VS"]
    )


def select_hundred_rows() -> Task:
    """Select 100 diverse answers of the 150 answers of three models."""
    texts = [row[-1] for row in csv.reader(io.StringIO(_THREE_MODELS))][1:]
    steps = (
        ("choose", "answers.csv", _THREE_MODELS.encode(), None),
        ("ask", "Select diverse rows"),
        ("fill", "subset size", "100"),
        ("key", "Enter"),
    )
    expected = float(select(texts, 100, **MEANING).scores[-1])
    return Task(steps, 3, expected, f"100 samples: effective number {expected:.1f}", ".r-subset")


def score_molecule_table() -> Task:
    """Score a table of molecules with five invalid rows."""
    table = "id,smiles,mass\n" + "\n".join(f"M{i},{s},{i}.5" for i, s in SMILES.items())
    steps = ("choose", "molecules.csv", table.encode(), None), ("press", "Score")
    return _score_task(
        *steps, max_clicks=2, n=22, expected=compute(VALID_MOLECULES, k="morgan")["VS"]
    )


def score_zip_of_photos() -> Task:
    """Score a zip of twelve scenes with five photos each."""
    shots = {
        f"trip/IMG_{1000 + i}.jpg": encode_photo(
            width=160, height=120, seed=i // 5, quality=60 + 8 * (i % 5)
        )
        for i in range(60)
    }
    images = [Image.open(io.BytesIO(data)) for data in shots.values()]
    expected = compute(images, **offered_encoders.ALLOWED["images"]["DINOv2"])["VS"]
    steps = ("choose", "trip.zip", encode_zip(shots), None), ("press", "Score")
    return _score_task(*steps, max_clicks=2, n=60, expected=expected)


_SIMILAR_CAPTIONS = [
    f"a photo of {a} {b}" for a in ("a cat", "a dog") for b in ("", "on a sofa", "asleep")
]
_DIVERSE_CAPTIONS = [
    *("a cat asleep on a sofa", "two boats at sunset", "a red bus in the rain"),
    *("children flying kites", "a bowl of ramen", "a glacier from the air", "an empty stadium"),
    *("a blacksmith at work", "a market in Marrakesh", "a chess game in a park"),
]
CAPTIONS = {"model": _SIMILAR_CAPTIONS * 3 + _SIMILAR_CAPTIONS[:2], "people": _DIVERSE_CAPTIONS}


@cache
def compare_captions() -> Comparison:
    names = list(CAPTIONS)
    return compare(*CAPTIONS.values(), names=names, **MEANING)


def compare_two_caption_files() -> Task:
    """Compare two sets of captions of different size."""
    files = [(f"{name}.txt", "\n".join(texts).encode()) for name, texts in CAPTIONS.items()]
    steps = ("open", "Compare"), ("choose_sets", *files), ("press", "Compare")
    return _compare_task(*steps, max_clicks=3, comparison=compare_captions())


def score_twenty_thousand_embeddings() -> Task:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 384))
    X = centres[rng.integers(0, 40, 20_000)] + 0.5 * rng.normal(size=(20_000, 384))
    X = X.astype(np.float32)
    steps = ("choose", "embeddings.npy", encode_npy(X), None), ("press", "Score")
    return _score_task(*steps, max_clicks=2, n=20_000, expected=compute(X, k="cosine")["VS"])


def download_report() -> Task:
    """Score an example and download its report."""
    expected = compute(examples.find_example("A model in a rut").text.splitlines(), **MEANING)["VS"]
    steps = ("press", "A model in a rut"), ("download", "Report (HTML)")
    return _score_task(*steps, max_clicks=3, n=12, expected=expected)


_TOPICS = ["a walk", "the sea", "bread", "winter", "a song", "the moon"]
_TOPICS += ["rain", "a door", "the city", "summer", "a letter", "the wind"]
_FORMS = ["I like {}.", "Nobody forgets {}.", "There is {} in every story.", "Who needs {}?"]
# The number of forms that each model knows; each answer takes one of them.
_FORMS_BY_MODEL = {"small": 1, "medium": 2, "large": 4}
MODEL_ANSWERS = [
    (f"a{topic}-{model}-{i}", model, f"Write about {topic}.", _FORMS[i % n].format(topic))
    for topic in _TOPICS
    for model, n in _FORMS_BY_MODEL.items()
    for i in range(4)
]


@cache
def compare_models() -> Comparison:
    _, by, prompts, texts = map(list, zip(*MODEL_ANSWERS, strict=True))
    return compare(texts, by=by, groups=prompts, **MEANING)


def compare_models_of_table() -> Task:
    """Compare three models in one table of answers to twelve prompts."""
    table = "id,model,prompt,answer\n" + "".join(",".join(row) + "\n" for row in MODEL_ANSWERS)
    steps = (
        ("choose", "answers.csv", table.encode(), None),
        ("press", "Score"),
    )
    return _compare_task(*steps, max_clicks=2, comparison=compare_models())


# Eight answers of one model to each prompt, each answer twice.
ANSWER_ROWS = [[_FORMS[i % 4].format(topic) for i in range(8)] for topic in _TOPICS]


def score_eight_answer_columns() -> Task:
    """Score a table with eight columns of answers of one model."""
    header = ["prompt", *(f"answer_{i}" for i in range(1, 9))]
    rows = [header, *([topic, *texts] for topic, texts in zip(_TOPICS, ANSWER_ROWS, strict=True))]
    table = "".join(",".join(row) + "\n" for row in rows)
    steps = (
        ("choose", "eight.csv", table.encode(), None),
        ("press", "Score"),
    )
    expected = compute(ANSWER_ROWS, **MEANING)["VS"]
    return Task(steps, 2, expected, f"≈ {expected:.1f} of 8 per group")


def score_by_keyboard() -> Task:
    """Return a task that pastes and scores texts without a mouse."""
    texts = ["one red apple on a tree", "one red apple on a plate", "five"]
    return _score_task(
        *(("tab_to", "Text"), ("key", "ArrowRight"), ("key", "Home")),
        *(("tab_to", "Paste texts"), ("type", "\n".join(texts))),
        *(("tab_to", "mean the same"), ("key", "ArrowDown"), ("key", "Control+Enter")),
        max_clicks=0,
        n=3,
        expected=compute(texts, k="ngram_overlap")["VS"],
    )


TASKS = (
    score_pasted_answers,
    score_csv_column,
    save_rows_without_near_duplicates,
    select_hundred_rows,
    score_molecule_table,
    score_zip_of_photos,
    compare_two_caption_files,
    score_twenty_thousand_embeddings,
    download_report,
    compare_models_of_table,
    score_eight_answer_columns,
)
