"""Small files in common layouts, with the samples that they contain or the choice that they need.

A table is stored in every format of tables, because its container must not change how it is read.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from user_files import encode_npy, encode_npz, encode_parquet

Columns = Mapping[str, Sequence[object]]


class Scored(NamedTuple):
    """The expected reading of a file that can be read in only one way.

    Attributes
    ----------
    samples : list or array of shape (n, d)
    groups : list
        Group of each sample, empty without groups.
    sets : list
        Set of each sample, empty without sets.
    kernel : str
        Kernel that the command uses for these samples.
    """

    samples: object
    groups: Sequence[object] = ()
    sets: Sequence[object] = ()
    kernel: str = "ngram_overlap"


class Asked(NamedTuple):
    """The expected choice for an ambiguous file.

    Attributes
    ----------
    options : sequence of dict
        The options of `ReadOptions` that are offered, in this order.
    question : str, optional
        A part of the question that the command asks.
    """

    options: Sequence[Mapping[str, object]]
    question: str | None = None


class Refused(NamedTuple):
    """The expected error: a pattern of its message."""

    message: str


class ReadingCase(NamedTuple):
    """A file and its expected reading."""

    name: str
    data: bytes
    expected: Scored | Asked | Refused


ANSWERS = [
    "the old cat sat on the mat",
    "a small dog ran to the park",
    "many birds sing in the morning",
    "we walked home in the rain",
    "she reads a book by the lake",
    "he cooks dinner for his friends",
]
OTHER_ANSWERS = [
    "it is far too cold today",
    "they moved to a new town",
    "the train was late once more",
    "nobody knows where she went",
    "my bike has a flat tyre",
    "all the shops close at noon",
]
PROMPTS = ["What did you see?"] * 3 + ["What happened then?"] * 3
QUESTIONS = [f"Where is place {word}?" for word in ("one", "two", "three", "four", "five", "six")]
WORDS = ["cat", "dog", "fox", "owl", "bee", "ant"]
FEW = ["a", "b", "b", "a", "a", "b"]
LEVELS = ["low", "high", "low", "high", "low", "high"]
NUMBERS = [1.5, 2.25, 7.5, 3.75, 0.5, 4.25]
OTHER_NUMBERS = [2.5, 0.25, 1.75, 6.5, 3.5, 8.25]
SMILES = ["CCO", "CC(=O)O", "c1ccccc1", "C#N", "CCN", "CC(C)=O"]
DNA = ["ACGTACGTAA", "ACGTACGTAC", "CCGTACGTAA", "GCGTACGTAA", "TCGTACGTAA", "ACGTAGGTAA"]
IDS = [11, 12, 13, 14, 15, 16]
FEATURES = np.array([NUMBERS, OTHER_NUMBERS]).T
MODELS = ["small", "small", "large"] * 2
SUBTITLES = "\n".join(
    f"{i}\n00:00:0{i},000 --> 00:00:0{i},900\n{text}\n" for i, text in enumerate(ANSWERS, 1)
).encode()
MOL_BLOCK = b"""ethanol
  RDKit          2D

  3  2  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.0000 C   0  0  0  0  0  0  0  0  0  0  0  0
    1.2990    0.7500    0.0000 C   0  0  0  0  0  0  0  0  0  0  0  0
    2.5981   -0.0000    0.0000 O   0  0  0  0  0  0  0  0  0  0  0  0
  1  2  1  0
  2  3  1  0
M  END
"""
XML_ITEMS = (
    b'<?xml version="1.0"?>\n<items>\n'
    + b"".join(b"<item><text>%s</text></item>\n" % text.encode() for text in ANSWERS)
    + b"</items>\n"
)
MAIL = b"From: ann@example.org\nSubject: Cats\nContent-Type: text/plain\n\nA cat sat.\n"

#: Tables and their expected readings, by a name.
TABLES: dict[str, tuple[Columns, Scored | Asked | Refused]] = {
    "ids_and_answers": ({"id": IDS, "answer": ANSWERS}, Scored(ANSWERS)),
    "grouped_answers": ({"prompt": PROMPTS, "response": ANSWERS}, Scored(ANSWERS, PROMPTS)),
    "prompts_asked_once": ({"question": QUESTIONS, "answer": ANSWERS}, Scored(ANSWERS)),
    "single_prompt": ({"prompt": ["Why?"] * 6, "answer": ANSWERS}, Scored(ANSWERS)),
    "reasons_of_completions": (
        {"prompt": PROMPTS, "completion_reason": LEVELS, "completion": ANSWERS},
        Scored(ANSWERS, PROMPTS),
    ),
    "explained_verdicts": (
        {"response": ANSWERS, "judge_explanation": OTHER_ANSWERS, "judge_score": NUMBERS},
        Scored(ANSWERS),
    ),
    "gold_answers": (
        {"question": PROMPTS, "gold_answer": OTHER_ANSWERS, "answer": ANSWERS},
        Scored(ANSWERS, PROMPTS),
    ),
    "models": (
        {"model": MODELS, "answer": ANSWERS},
        Scored(ANSWERS, sets=MODELS),
    ),
    "comments_with_ratings": (
        {"comment": ANSWERS, "rating": NUMBERS, "votes": OTHER_NUMBERS},
        Scored(ANSWERS),
    ),
    "labelled_texts": ({"text": ANSWERS, "label": FEW}, Scored(ANSWERS)),
    "quotes_with_dates": (
        {"date": [f"2026-01-0{i}" for i in range(1, 7)], "quote": ANSWERS},
        Scored(ANSWERS),
    ),
    "links": (
        {"url": [f"https://example.org/{word}" for word in WORDS], "post": ANSWERS},
        Scored(ANSWERS),
    ),
    "translations": ({"source": OTHER_ANSWERS, "translation": ANSWERS}, Scored(ANSWERS)),
    "other_language": ({"pregunta": PROMPTS, "respuesta": ANSWERS}, Scored(ANSWERS, PROMPTS)),
    "camel_case": ({"promptText": PROMPTS, "modelAnswer": ANSWERS}, Scored(ANSWERS, PROMPTS)),
    "titles": ({"id": IDS, "title": ANSWERS}, Scored(ANSWERS)),
    "words": ({"id": IDS, "word": WORDS}, Scored(WORDS)),
    "seeds": (
        {"prompt": PROMPTS, "seed": [1, 2, 3] * 2, "response": ANSWERS},
        Scored(ANSWERS, PROMPTS),
    ),
    "instruction_and_input": (
        {"instruction": ["Sum up."] * 6, "input": PROMPTS, "output": ANSWERS},
        Scored(ANSWERS, PROMPTS),
    ),
    "numbered_answers": (
        {"prompt": QUESTIONS, "answer_1": ANSWERS, "answer_2": OTHER_ANSWERS},
        Scored(
            [text for pair in zip(ANSWERS, OTHER_ANSWERS, strict=True) for text in pair],
            [prompt for prompt in QUESTIONS for _ in range(2)],
        ),
    ),
    "molecules": ({"id": IDS, "smiles": SMILES}, Scored(SMILES, kernel="morgan")),
    "molecules_with_properties": (
        {"name": WORDS, "smiles": SMILES, "mass": NUMBERS, "logp": OTHER_NUMBERS},
        Scored(SMILES, kernel="morgan"),
    ),
    "features": ({"x": NUMBERS, "y": OTHER_NUMBERS}, Scored(FEATURES, kernel="cosine")),
    "features_with_ids": (
        {"id": IDS, "x": NUMBERS, "y": OTHER_NUMBERS},
        Scored(FEATURES, kernel="cosine"),
    ),
    "features_of_species": (
        {"length": NUMBERS, "width": OTHER_NUMBERS, "species": FEW},
        Scored(FEATURES, kernel="cosine"),
    ),
    "features_of_names": (
        {"name": ANSWERS, "x": NUMBERS, "y": OTHER_NUMBERS},
        Scored(FEATURES, kernel="cosine"),
    ),
    "features_and_year": (
        {"x": NUMBERS, "y": OTHER_NUMBERS, "year": [2020, 2021, 2020, 2022, 2021, 2020]},
        Asked([{"column": "x,y", "kind": "vectors"}, {"kind": "vectors"}], "Column year has whole"),
    ),
    "features_of_clusters": (
        {"batch": [1, 2, 3] * 2, "x": NUMBERS, "y": OTHER_NUMBERS, "z": NUMBERS, "age": IDS},
        Asked(
            [{"column": "x,y,z", "kind": "vectors"}, {"kind": "vectors"}],
            "Columns batch, age have whole",
        ),
    ),
    "features_of_named_clusters": (
        {"species": FEW, "x": NUMBERS, "y": OTHER_NUMBERS, "cluster": [1, 2, 3] * 2},
        Asked([{"column": "x,y", "kind": "vectors"}, {"kind": "vectors"}], "Is it a feature"),
    ),
    "answers_of_workers": (
        {"WorkerId": ["w1", "w2", "w3"] * 2, "Input.prompt": PROMPTS, "Answer.response": ANSWERS},
        Scored(ANSWERS, PROMPTS),
    ),
    "several_answers_of_annotators": (
        {
            "annotator": ["w1", "w1", "w2", "w2"] * 2,
            "prompt": [PROMPTS[0]] * 4 + [PROMPTS[3]] * 4,
            "response": ANSWERS + OTHER_ANSWERS[:2],
        },
        Scored(
            ANSWERS + OTHER_ANSWERS[:2],
            [PROMPTS[0]] * 4 + [PROMPTS[3]] * 4,
            ["w1", "w1", "w2", "w2"] * 2,
        ),
    ),
    "texts_of_authors": (
        {"author": MODELS, "answer": ANSWERS},
        Scored(ANSWERS, sets=MODELS),
    ),
    "prompts": ({"prompt": QUESTIONS}, Asked([{"column": "prompt"}], "prompts only")),
    "prompts_and_categories": (
        {"prompt": QUESTIONS, "category": FEW},
        Asked([{"column": "prompt"}, {"column": "category"}]),
    ),
    "ground_truth": (
        {"question": QUESTIONS, "ground_truth": ANSWERS},
        Asked([{"column": "question"}, {"column": "ground_truth"}]),
    ),
    "multiple_choice": (
        {"question": QUESTIONS, "answer": [letter.upper() for letter in FEW]},
        Asked([{"column": "answer"}, {"column": "question"}]),
    ),
    "labels": ({"label": FEW}, Asked([{"column": "label"}])),
    "preferences": (
        {"prompt": PROMPTS, "chosen": ANSWERS, "rejected": OTHER_ANSWERS},
        Asked([{"column": "chosen"}, {"column": "rejected"}, {"column": "prompt"}]),
    ),
    "survey": (
        {"id": IDS, "What do you like?": ANSWERS, "What is missing?": OTHER_ANSWERS},
        Asked([{"column": "What do you like?"}, {"column": "What is missing?"}]),
    ),
    "models_in_columns": (
        {"prompt": PROMPTS, "gpt": ANSWERS, "gemini": OTHER_ANSWERS},
        Asked([{"column": "gpt"}, {"column": "gemini"}, {"column": "prompt"}]),
    ),
    "settings": (
        {
            "prompt": PROMPTS,
            "temperature": [0.5, 1.5] * 3,
            "tone": LEVELS[1:] + LEVELS[:1],
            "response": ANSWERS,
        },
        Asked([{"group_by": "temperature"}, {"group_by": "tone"}, {"pool": True}], "differ among"),
    ),
    "conditions": (
        {"condition": FEW, "story": ANSWERS},
        Asked([{"group_by": "condition"}, {"pool": True}], "a set of its own"),
    ),
    "languages": (
        {"language": FEW, "review": ANSWERS},
        Asked([{"group_by": "language"}, {"pool": True}], "a set of its own"),
    ),
    "names_of_products": (
        {"brand": [f"product {word}" for word in WORDS], "x": NUMBERS, "y": OTHER_NUMBERS},
        Asked([{"column": "brand"}, {"kind": "vectors"}]),
    ),
    "masses_of_names": (
        {"name": WORDS, "mass": NUMBERS},
        Asked([{"column": "name"}, {"kind": "vectors"}]),
    ),
    "capitals": (
        {"country": WORDS, "capital": WORDS[::-1]},
        Asked([{"column": "country"}, {"column": "capital"}]),
    ),
}


def write_csv(columns: Columns, delimiter: str = ",") -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue().encode()


def to_records(columns: Columns) -> list[dict[str, object]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def write_json_lines(columns: Columns) -> bytes:
    return "\n".join(map(json.dumps, to_records(columns))).encode()


#: Functions that store a table, by the ending of the file.
TABLE_WRITERS: dict[str, Callable[[Columns], bytes]] = {
    "csv": write_csv,
    "semicolons.csv": lambda columns: write_csv(columns, ";"),
    "tsv": lambda columns: write_csv(columns, "\t"),
    "jsonl": write_json_lines,
    "json": lambda columns: json.dumps(to_records(columns)).encode(),
    "parquet": lambda columns: encode_parquet(**columns),
}


def table_cases() -> list[ReadingCase]:
    """Return a case for each table and each format."""
    return [
        ReadingCase(f"{name}.{ending}", write(columns), expected)
        for name, (columns, expected) in TABLES.items()
        for ending, write in TABLE_WRITERS.items()
        # One column of words and sentences has no delimiters, and many texts with semicolons.
        if not (ending == "semicolons.csv" and len(columns) == 1)
    ]


def write_lines(*lines: str) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def write_chats(
    answers: Sequence[str],
    prompts: Sequence[str],
    roles: tuple[str, str] = ("user", "assistant"),
    key: str = "content",
) -> bytes:
    """Return a JSON Lines file with one chat, a prompt and its answer, per line."""
    user, assistant = roles
    chats = [
        [{"role": user, key: prompt}, {"role": assistant, key: answer}]
        for prompt, answer in zip(prompts, answers, strict=True)
    ]
    return write_json_lines({"messages": chats})


TITLE_LINES = ["Customer feedback", "Exported by,J. Smith", "Date,2024-03-01", ""]


def make_chat_case(name: str, line: str, authors: tuple[str, str], *above: str) -> ReadingCase:
    """Return a chat whose messages have a time; the command asks for the name of an author.

    The answers alternate between the authors. `line` is the format of a message with its number i.
    """
    lines = [line.format(i=i, name=authors[i % 2], text=text) for i, text in enumerate(ANSWERS)]
    options = [{"type": "fields", "column": author} for author in authors]
    return ReadingCase(
        name, write_lines(*above, *lines), Asked([*options, {"split": "row"}], "names")
    )


def write_export(above: Sequence[str], comments: Sequence[str], below: Sequence[str]) -> bytes:
    """Return a table of comments between further lines, as programs export it."""
    rows = (f"{i},{comment},{i % 3 + 1}" for i, comment in enumerate(comments, 1))
    return write_lines(*above, "No.,Comment,Score", *rows, *below)


SIMILARITIES = np.array([[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]])


def other_cases() -> list[ReadingCase]:
    """Return cases of files that are no tables of samples, or have one format only."""
    lines = write_lines(*ANSWERS)
    return [
        ReadingCase("lines.txt", lines, Scored(ANSWERS)),
        ReadingCase("lines", lines, Scored(ANSWERS)),
        ReadingCase("windows.txt", lines.replace(b"\n", b"\r\n"), Scored(ANSWERS)),
        ReadingCase("blank_lines.txt", lines.replace(b"\n", b"\n\n"), Scored(ANSWERS)),
        ReadingCase("marked.txt", b"\xef\xbb\xbf" + lines, Scored(ANSWERS)),
        ReadingCase("strings.json", json.dumps(ANSWERS).encode(), Scored(ANSWERS)),
        ReadingCase("strings.jsonl", "\n".join(map(json.dumps, ANSWERS)).encode(), Scored(ANSWERS)),
        ReadingCase("chats.jsonl", write_chats(ANSWERS, PROMPTS), Scored(ANSWERS, PROMPTS)),
        ReadingCase("molecules.smi", write_lines(*SMILES), Scored(SMILES, kernel="morgan")),
        ReadingCase("vectors.npy", encode_npy(FEATURES), Scored(FEATURES, kernel="cosine")),
        ReadingCase("vectors.npz", encode_npz(X=FEATURES), Scored(FEATURES, kernel="cosine")),
        ReadingCase(
            "rows.json", json.dumps(FEATURES.tolist()).encode(), Scored(FEATURES, kernel="cosine")
        ),
        ReadingCase(
            "matrix.csv",
            write_lines(*(",".join(map(str, row)) for row in SIMILARITIES)),
            Asked([{"matrix": True}, {"matrix": False}], "symmetric"),
        ),
        ReadingCase(
            "named_matrix.csv",
            write_csv(
                {"": ["u", "v", "w"], "u": [1, 0.5, 0.2], "v": [0.5, 1, 0.1], "w": [0.2, 0.1, 1]}
            ),
            Asked([{"matrix": True}, {"matrix": False}], "symmetric"),
        ),
        ReadingCase(
            "sites.csv",
            write_csv({"site": ["n", "s", "e"], "wren": [1, 2, 0], "crow": [3, 0, 4]}),
            Asked([{"kind": "counts"}, {"kind": "vectors"}], "count the individuals"),
        ),
        ReadingCase(
            "paragraphs.txt",
            b"a b\nc d\n\ne f\ng h\n\ni j\nk l\n",
            Asked([{"split": "blank"}, {"split": "row"}], "parts?|paragraph|line"),
        ),
        ReadingCase(
            "run.json",
            json.dumps(
                {
                    "scale": 4.0,
                    "prompts": QUESTIONS,
                    "plain": ANSWERS,
                    "steered": OTHER_ANSWERS,
                    "checks": [{"name": "a"}, {"name": "b"}],
                }
            ).encode(),
            Asked([{"column": "plain"}, {"column": "steered"}]),
        ),
        ReadingCase(
            "numbered_matrix.csv",
            write_csv(
                {"": [101, 205, 7], "101": [1, 0.5, 0.2], "205": [0.5, 1, 0.1], "7": [0.2, 0.1, 1]}
            ),
            Asked([{"matrix": True}, {"matrix": False}], "symmetric"),
        ),
        ReadingCase(
            "lower_triangle.csv",
            write_csv({"": ["u", "v", "w"], "u": [0, 2.5, 2], "v": ["", 0, 1.5], "w": ["", "", 0]}),
            Asked([{"distances": True}, {"matrix": False}], "symmetric"),
        ),
        ReadingCase(
            "upper_triangle.csv",
            write_csv(
                {"": ["u", "v", "w"], "u": [1, "", ""], "v": [0.5, 1, ""], "w": [0.2, 0.1, 1]}
            ),
            Asked([{"matrix": True}, {"matrix": False}], "symmetric"),
        ),
        ReadingCase(
            "strict_triangle.csv",
            write_csv({"": ["v", "w", "x"], "u": [2.5, 2, 1], "v": ["", 1.5, 3], "w": ["", "", 4]}),
            Refused("without the diagonal"),
        ),
        ReadingCase(
            "table_between_tabs.txt",
            write_csv({"id": IDS, "answer": ANSWERS}, "\t"),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "unnamed_cells_between_tabs.txt",
            write_csv({WORDS[0]: IDS, "the sun": ANSWERS}, "\t"),
            Asked([{"type": "csv"}, {"type": "txt"}], "table"),
        ),
        ReadingCase("comment_above.txt", b"# of run 3\n" + lines, Scored(ANSWERS)),
        ReadingCase(
            "comments_between.txt",
            b"# of run 3\n" + lines + b"# of run 4\n" + write_lines(*OTHER_ANSWERS),
            Asked([{"comments": True}, {"comments": False}], "comments"),
        ),
        ReadingCase(
            "hashtags.txt", write_lines("#cat", "#dog", "#owl"), Scored(["#cat", "#dog", "#owl"])
        ),
        ReadingCase(
            "exported_below_names_and_values.csv",
            write_export(TITLE_LINES, ANSWERS, ["", "Total,6 comments"]),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "exported_with_equal_widths.csv",
            write_export(
                [line + "," * (2 - line.count(",")) for line in TITLE_LINES],
                ANSWERS,
                [",Average,3.1"],
            ),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "exported_below_one_name_and_value.csv",
            write_export(["Date,2024-03-01,"], ANSWERS, []),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "unnamed_last_column.csv",
            write_lines("a,b,", *(f"{i},{text},{i % 3}" for i, text in enumerate(ANSWERS))),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "named_sites.csv",
            write_csv(
                {
                    "Location": ["North Hill", "South Hill", "Valley Road"],
                    "oak": [3, 2, 5],
                    "beech": [4, 1, 5],
                    "maple": [5, 8, 1],
                }
            ),
            Asked([{"kind": "counts"}, {"column": "Location"}, {"kind": "vectors"}]),
        ),
        ReadingCase(
            "german_sites.csv",
            write_csv({"Standort": WORDS[:3], "Quercus robur": [12, 2, 1], "Acer": [3, 9, 4]}, ";"),
            Asked([{"kind": "counts"}, {"kind": "vectors"}], "Do Quercus robur, Acer count"),
        ),
        ReadingCase(
            "counted_species.csv",
            write_csv({"Art": WORDS, "Anzahl": [5, 3, 2, 8, 1, 4]}, ";"),
            Asked(
                [{"weights": "Anzahl"}, {"column": "Art"}, {"kind": "counts", "transpose": True}]
            ),
        ),
        ReadingCase(
            "counted_words.csv",
            write_csv({"country": WORDS, "visits": [50, 30, 20, 80, 10, 40]}),
            Asked(
                [{"column": "country"}, {"kind": "vectors"}, {"kind": "counts", "transpose": True}]
            ),
        ),
        ReadingCase(
            "state.json",
            json.dumps(
                {"_data_files": [{"filename": "data.arrow"}], "_fingerprint": "ab"}
            ).encode(),
            Refused(r"load_from_disk\('FOLDER'\)\.to_parquet\('data\.parquet'\)"),
        ),
        ReadingCase(
            "dataset_info.json",
            json.dumps({"citation": "", "features": {"answer": {}}, "license": ""}).encode(),
            Refused(r"load_from_disk\('FOLDER'\)\.to_parquet\('data\.parquet'\)"),
        ),
        ReadingCase(
            "dataset_dict.json",
            json.dumps({"splits": ["train", "test"]}).encode(),
            Refused(r"load_from_disk\('FOLDER'\)\['train'\]\.to_parquet\('train\.parquet'\)"),
        ),
        ReadingCase(
            "retrieved_ids.jsonl",
            write_json_lines(
                {"query": PROMPTS, "top": [["d1", "d2"], ["d2", "d3"], ["d4", "d5"]] * 2}
            ),
            Asked([{"column": "query"}, {"column": "top"}]),
        ),
        ReadingCase(
            "disclaimers.csv",
            write_csv({"key": IDS, "note": ["not a medical advice"] * 6}),
            Asked([{"column": "note"}]),
        ),
        ReadingCase(
            "transcripts.jsonl",
            write_json_lines(
                {
                    "summary": ANSWERS,
                    "log": [f"User: what now?\nAssistant: {text}" for text in OTHER_ANSWERS],
                }
            ),
            Asked([{"column": "summary"}, {"column": "log"}]),
        ),
        ReadingCase(
            "titled_descriptions.csv",
            write_csv({"title": ANSWERS, "description": OTHER_ANSWERS}),
            Asked([{"column": "description"}, {"column": "title"}]),
        ),
        ReadingCase(
            "titled_texts.csv",
            write_csv({"title": OTHER_ANSWERS, "text": ANSWERS}),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "results.csv",
            write_csv({"run": WORDS, "accuracy": NUMBERS, "loss": OTHER_NUMBERS}),
            Asked([{"kind": "vectors"}, {"column": "run"}]),
        ),
        ReadingCase(
            "cover.csv",
            write_csv(
                {
                    "id": WORDS,
                    **{
                        f"moss {name}": [0, 0, 0, 0.5, 2.5, 0][i:] + [0] * i
                        for i, name in enumerate("uvwxy")
                    },
                }
            ),
            Asked([{"kind": "vectors"}], "abundances"),
        ),
        ReadingCase(
            "document.md",
            b"# Outputs\n---\n## One\n```text\na cat\n```\n---\n## Two\n```text\na dog\n```\n",
            Asked([{"split": "---"}, {"split": "row"}], "line"),
        ),
        ReadingCase(
            "headings.txt",
            b"Poem of A:\nthe sea is blue\n\nPoem of B:\nthe sky is grey\n",
            Asked([{"split": "blank"}, {"split": "row"}]),
        ),
        ReadingCase(
            "padded.csv",
            b'id , answer             \n1  , "a cat, a dog"     \n2  , "a ""red"" bird, seen" \n',
            Scored(["a cat, a dog", 'a "red" bird, seen']),
        ),
        ReadingCase(
            "keyed_records.json",
            json.dumps(
                [
                    {word: {"answer": text, "n": 1}}
                    for word, text in zip(WORDS, ANSWERS, strict=True)
                ]
            ).encode(),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "molecules_without_header.csv",
            write_lines(*SMILES),
            Scored(SMILES, kernel="morgan"),
        ),
        ReadingCase(
            "pairs_with_one_rejected_text.jsonl",
            write_json_lines({"chosen": ANSWERS, "rejected": ["i do not know this"] * 6}),
            Asked([{"column": "chosen"}, {"column": "rejected"}]),
        ),
        ReadingCase(
            "repeated_places.csv",
            write_csv(
                {"genus": WORDS, "area": ["the old national park", "the new town forest"] * 3}
            ),
            Asked([{"column": "area"}, {"column": "genus"}]),
        ),
        ReadingCase(
            "named_rows_of_many_numbers.csv",
            write_csv({"place": ANSWERS, **dict.fromkeys("uvwxy", NUMBERS)}),
            Asked([{"kind": "vectors"}, {"column": "place"}]),
        ),
        ReadingCase(
            "few_temperatures.csv",
            write_csv({"temperature": [0.2, 0.7, 0.7, 1.2, 1.2], "output": ANSWERS[:5]}),
            Asked([{"group_by": "temperature"}, {"pool": True}]),
        ),
        ReadingCase(
            "table.md",
            b"# Times\n\n| case | ms |\n|---|---|\n| one | 12 |\n| two | 15 |\n",
            Asked([{"type": "csv"}, {"split": "row"}, {"split": "blank"}], "table.*Markdown"),
        ),
        ReadingCase(
            "appended_arrays.json",
            json.dumps([{"answer": text} for text in ANSWERS[:3]], indent=1).encode()
            + json.dumps([{"answer": text} for text in ANSWERS[3:]], indent=1).encode(),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "genes_in_rows.csv",
            write_csv(
                {"": ["G1", "G2", "G3"], "1": [278, 5, 12], "2": [3, 51, 9], "3": [1, 2, 40]}
            ),
            Asked([{"kind": "counts", "transpose": True}, {"kind": "counts"}, {"kind": "vectors"}]),
        ),
        ReadingCase(
            "names_and_formulas.csv",
            write_csv(
                {
                    "id": IDS,
                    "compound_name": [f"Compound {letter}" for letter in "ABCDEF"],
                    "structure": ["C20H25N3O", "C21H30O2", "C8H11NO2", "C9H8O4", "C6H6", "CH4O"],
                }
            ),
            Asked([{"column": "compound_name"}, {"column": "structure"}]),
        ),
        ReadingCase(
            "headlines.csv",
            write_csv({"brand": ["Old Town News", *WORDS[1:]], "headline": ANSWERS}),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "letters_of_answers.csv",
            write_csv({"answer": FEW, "value": NUMBERS, "ms": OTHER_NUMBERS}),
            Asked([{"column": "answer"}, {"kind": "vectors"}]),
        ),
        ReadingCase(
            "word_frequencies.csv",
            write_csv({"words": WORDS, "n": [5, 3, 2, 8, 1, 4]}),
            Asked([{"weights": "n"}, {"column": "words"}]),
        ),
        ReadingCase(
            "generated_and_summary.csv",
            write_csv({"summary": ANSWERS, "generated": OTHER_ANSWERS}),
            Asked([{"column": "generated"}, {"column": "summary"}]),
        ),
        ReadingCase(
            "tune.txt",
            b"X:0\nM:3/4\n=B =E =G | =D\n",
            Asked([{"split": "row"}, {"split": "blank"}]),
        ),
        ReadingCase(
            "chat.txt",
            b"You: who are you?\nAgent: an agent\nYou: I see\nAgent: ask me\n",
            Asked(
                [
                    {"type": "fields", "column": "Agent"},
                    {"type": "fields", "column": "You"},
                    {"split": "row"},
                    {"split": "blank"},
                ],
                "Lines begin with names",
            ),
        ),
        ReadingCase(
            "summaries.txt",
            b"A test\n===\nID: a1\nLong Summary: a cat sat\nand slept\nShort Summary: a cat\n"
            b"===\nID: a2\nLong Summary: a dog ran\nShort Summary: a dog\n===\n",
            Asked(
                [
                    {"type": "fields", "column": "Long Summary"},
                    {"type": "fields", "column": "Short Summary"},
                    {"split": "==="},
                    {"split": "row"},
                ],
            ),
        ),
        ReadingCase(
            "descriptions_and_notes.csv",
            write_csv({"about": ANSWERS, "steps": [f"{text} " * 20 for text in ANSWERS]}),
            Asked([{"column": "steps"}, {"column": "about"}]),
        ),
        ReadingCase(
            "affinities.csv",
            write_csv({"label": [0, 1] * 3, "affinity_score": NUMBERS}),
            Asked([{"kind": "vectors"}]),
        ),
        ReadingCase(
            "meanings.jsonl",
            write_json_lines({"meaning": ANSWERS, "translation_fr": OTHER_ANSWERS}),
            Scored(OTHER_ANSWERS),
        ),
        ReadingCase(
            "sites_with_blanks.csv",
            b";Area 1;Area 2\nwren;1;\ncrow;;2\nkite;3;1\nswan;;1\n",
            Asked([{"kind": "counts", "transpose": True}, {"kind": "counts"}], "count individuals"),
        ),
        ReadingCase(
            "mapped_sites.csv",
            write_csv(
                {
                    "code": WORDS,
                    "x": NUMBERS,
                    "y": OTHER_NUMBERS,
                    "wren": [1, 0] * 3,
                    "crow": [0, 2] * 3,
                }
            ),
            Asked(
                [
                    {"kind": "counts"},
                    {"kind": "counts", "transpose": True},
                    {"kind": "vectors"},
                ],
                "count individuals",
            ),
        ),
        ReadingCase(
            "confusions.csv",
            b"actual,cat,dog,fox\ncat,9,2,1\ndog,3,8,0\nfox,1,1,7\n",
            Asked([{"matrix": False}], "not symmetric"),
        ),
        ReadingCase(
            "scoring_matrix.csv",
            b"3,0,1\n0,2,1\n1,1,4\n",
            Asked([{"matrix": True, "normalize": True}, {"matrix": False}], "different numbers"),
        ),
        ReadingCase(
            "fortunes.txt",
            b"a cat sat\non a mat\n%\na dog ran\n%\nthe sea\n%\nrain again\n%\n",
            Scored(["a cat sat\non a mat", "a dog ran", "the sea", "rain again"]),
        ),
        ReadingCase(
            "speakers_of_messages.json",
            json.dumps(
                [{"user": name, "content": text} for text in ANSWERS for name in ("Ann", "Bot")]
            ).encode(),
            Asked([{"group_by": "user"}, {"pool": True}], "set of its own"),
        ),
        ReadingCase(
            "two_speakers.json",
            json.dumps(
                [{"talk": [{"user": "hi there", "bot": text}]} for text in ANSWERS]
            ).encode(),
            Asked([{"column": "talk[*].bot"}, {"column": "talk[*].user"}]),
        ),
        ReadingCase(
            "degrees.txt",
            b"[0, 0, 3, 5]\n",
            Asked([{"type": "json"}, {"type": "txt"}]),
        ),
        ReadingCase(
            "predicted_classes.csv",
            write_csv({"gene": WORDS, "pred": ["benign", "benign", "unknown"] * 2}),
            Asked([{"column": "pred"}, {"column": "gene"}]),
        ),
        ReadingCase(
            "one_error.jsonl",
            write_json_lines(
                {
                    "error": ["no such file", *[None] * 5],
                    "verdict": [{"raw": text} for text in ANSWERS],
                }
            ),
            Asked([{"column": "verdict.raw"}, {"column": "error"}]),
        ),
        ReadingCase(
            "rewritten_texts.csv",
            write_csv({"text": ANSWERS, "rewritten": OTHER_ANSWERS}),
            Asked([{"column": "text"}, {"column": "rewritten"}]),
        ),
        ReadingCase(
            "birds.csv",
            write_csv(
                {"wren": [1, 0], "crow": [0, 3], "kite": [0, 0], "swan": [2, 0], "owl": [0, 1]}
            ),
            Asked([{"kind": "counts"}, {"kind": "vectors"}], "count the individuals"),
        ),
        ReadingCase(
            "gene_counts.csv",
            write_csv({"gene": WORDS, "sample_A": [100, 50, 300, 5, 8, 9], "sample_B": [9] * 6}),
            Asked([{"kind": "counts", "transpose": True}, {"kind": "vectors"}]),
        ),
        ReadingCase(
            "transcripts.tsv",
            write_csv(
                {"target_id": WORDS, "length": NUMBERS, "est_counts": NUMBERS, "tpm": NUMBERS}, "\t"
            ),
            Asked([{"kind": "vectors"}, {"column": "target_id"}]),
        ),
        ReadingCase(
            "iris.dat",
            b"0.5 0.3 1\n0.4 0.2 1\n0.6 0.3 2\n0.7 0.1 2\n",
            Asked([{"column": "column 1,column 2"}, {"kind": "vectors"}], "the class of the row"),
        ),
        ReadingCase(
            "tokens.tab",
            b"33\t0\tOn\n33\t1\tthe\n33\t2\tother\n34\t0\thand\n",
            Asked([{"kind": "vectors"}, {"column": "column 3"}]),
        ),
        ReadingCase(
            "haiku.json",
            json.dumps(
                [
                    {"lines": text.split(" the "), "by": word}
                    for text, word in zip(ANSWERS, WORDS, strict=True)
                ]
            ).encode(),
            Scored([text.replace(" the ", "\n") for text in ANSWERS]),
        ),
        ReadingCase(
            "list_of_prompts.json",
            json.dumps({"prompts": QUESTIONS}).encode(),
            Asked([{"column": "prompts"}], "prompts only"),
        ),
        ReadingCase(
            "emails.jsonl",
            write_json_lines({"generated_email": ANSWERS, "tone": OTHER_ANSWERS}),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "bromeliads.csv",
            write_csv(
                {
                    "sp_code": [f"sp_{i}" for i in (1, 2, 3, 1, 3, 4)],
                    "Bromeliad": ["B3", "B3", "B3", "B46", "B46", "B46"],
                    "abundance": [1.0, 2.0, 1.0, 4.0, 1.0, 3.0],
                }
            ),
            Asked([{"kind": "counts"}], "count the individuals"),
        ),
        ReadingCase(
            "requests.jsonl",
            write_json_lines({"request": QUESTIONS, "chosen": ANSWERS, "rejected": OTHER_ANSWERS}),
            Asked([{"column": "chosen"}, {"column": "rejected"}, {"column": "request"}]),
        ),
        ReadingCase("commas.tab", write_csv({"id": IDS, "answer": ANSWERS}), Scored(ANSWERS)),
        ReadingCase(
            "stories.txt",
            b"\n\n".join([b"a king"] * 4 + [b"a sea\nwith a boat\nand no men"] * 3) + b"\n",
            Asked([{"split": "blank"}, {"split": "row"}]),
        ),
        ReadingCase(
            "log.txt",
            b"Input:\nTell a joke.\n---\nJoke: a cat\nEnd: a dog\n---\nJoke: a sea\nEnd: a sky\n",
            Asked(
                [
                    {"type": "fields", "column": "Joke"},
                    {"type": "fields", "column": "End"},
                    {"split": "---"},
                    {"split": "row"},
                ]
            ),
        ),
        ReadingCase(
            "lists_of_molecules.json",
            json.dumps(
                {
                    "note": "SMILES from names",
                    "train": [{"name": "a", "smiles": each} for each in SMILES],
                    "test": [{"smiles": each} for each in SMILES[:3]],
                }
            ).encode(),
            Asked([{"column": "train[*].smiles"}, {"column": "test[*].smiles"}]),
        ),
        ReadingCase(
            "dialogue.json",
            json.dumps(
                {
                    "topic": "How do people learn?",
                    "personas": [{"name": "Aria", "voice": "a calm and clear voice"}] * 2,
                    "turns": [
                        {"speaker": ["Aria", "Max"][i % 2], "text": text}
                        for i, text in enumerate(ANSWERS)
                    ],
                }
            ).encode(),
            Asked([{"column": "turns[*].text"}]),
        ),
        ReadingCase(
            "speakers.jsonl",
            write_chats(ANSWERS, ["hello you"] * 6, ("buyer", "clerk"), "text"),
            Asked([{"column": "messages[*].text"}]),
        ),
        ReadingCase(
            "customers.jsonl",
            write_chats(ANSWERS, ["hello you"] * 6, ("customer", "chatbot")),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "species_without_header.tsv",
            write_lines(
                *(f"{text}\t{word}.jpg" for text, word in zip(ANSWERS, WORDS, strict=True))
            ),
            Scored(ANSWERS),
        ),
        ReadingCase(
            "captions_of_images.json",
            json.dumps(
                {
                    "images": [{"id": i, "file_name": f"{i}.jpg"} for i in (1, 2)],
                    "annotations": [
                        {"image_id": i % 2 + 1, "caption": text} for i, text in enumerate(ANSWERS)
                    ],
                }
            ).encode(),
            Asked([{"column": "annotations[*].caption"}, {"column": "images[*].file_name"}]),
        ),
        ReadingCase(
            "ids_of_sentences.json",
            json.dumps(
                {
                    "images": [
                        {"sentids": [2 * i, 2 * i + 1], "sentences": [{"raw": a}, {"raw": b}]}
                        for i, (a, b) in enumerate(zip(ANSWERS, OTHER_ANSWERS, strict=True))
                    ]
                }
            ).encode(),
            Asked([{"column": "sentences[*].raw"}, {"column": "sentids"}]),
        ),
        ReadingCase(
            "promptfoo.json",
            json.dumps(
                {
                    "evalId": "eval-1",
                    "results": {
                        "version": 3,
                        "prompts": [{"raw": "{{question}}", "provider": "small"}],
                        "results": [
                            {
                                "prompt": {"raw": prompt, "label": "{{question}}"},
                                "response": {"output": text, "cached": False},
                                "vars": {"question": prompt},
                            }
                            for prompt, text in zip(PROMPTS, ANSWERS, strict=True)
                        ],
                        "stats": {"successes": 6},
                    },
                    "config": {"description": "a test"},
                }
            ).encode(),
            Scored(ANSWERS, PROMPTS),
        ),
        ReadingCase(
            "promptfoo_models.json",
            json.dumps(
                {
                    "results": {
                        "results": [
                            {
                                "provider": {"id": model},
                                "prompt": {"raw": "Why?"},
                                "response": {"output": text},
                            }
                            for model, text in zip(MODELS, ANSWERS, strict=True)
                        ]
                    }
                }
            ).encode(),
            Scored(ANSWERS, sets=MODELS),
        ),
        ReadingCase(
            "conversations.json",
            json.dumps(
                [
                    {
                        "title": "Places",
                        "create_time": 1.5,
                        "mapping": {
                            "root": {"message": None, "parent": None, "children": ["a"]},
                            "a": {
                                "message": {
                                    "author": {"role": "assistant"},
                                    "content": {"content_type": "text", "parts": [text]},
                                }
                            },
                        },
                        "moderation_results": [],
                    }
                    for text in ANSWERS
                ]
            ).encode(),
            Refused("export of ChatGPT.*python -c"),
        ),
        ReadingCase(
            "claude.json",
            json.dumps(
                [
                    {
                        "uuid": f"chat-{i}",
                        "name": f"Chat {i}",
                        "summary": "They talk about cats." if i != 1 else "",
                        "account": {"uuid": "account"},
                        "chat_messages": [
                            {
                                "sender": sender,
                                "text": text,
                                "content": [{"type": "text", "text": text}],
                            }
                            for sender, text in (("human", "Why is it?"), ("assistant", answer))
                        ],
                    }
                    for i, answer in enumerate(ANSWERS)
                ]
            ).encode(),
            Scored(ANSWERS),
        ),
        make_chat_case(
            "messages_of_two.txt",
            "12/31/23, 9:4{i} PM - {name}: {text}",
            ("Ann Lee", "Tom"),
            "12/31/23, 9:40 PM - Messages are end-to-end encrypted.",
        ),
        make_chat_case(
            "messages_in_brackets.txt",
            "[31.12.23, 21:4{i}:07] {name}: {text}",
            ("Ann", "+49 151 2345678"),
        ),
        ReadingCase("film.srt", SUBTITLES, Refused(r"\.srt are not read.*python -c")),
        ReadingCase("film.txt", SUBTITLES, Refused("file of subtitles.*python -c")),
        ReadingCase(
            "talk.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\na cat\n", Refused("python -c")
        ),
        ReadingCase(
            "answers_table.md",
            b"| id | answer |\n|----|:------:|\n"
            + write_lines(*(f"| {i} | {text} |" for i, text in zip(IDS, ANSWERS, strict=True))),
            Asked([{"type": "csv"}, {"split": "row"}, {"split": "blank"}], "table"),
        ),
        ReadingCase(
            "grid.txt",
            b"+----+--------+\n| id | answer |\n+----+--------+\n"
            + write_lines(*(f"| {i} | {text} |" for i, text in zip(IDS, ANSWERS, strict=True)))
            + b"+----+--------+\n",
            Asked([{"type": "csv"}, {"split": "row"}], "table"),
        ),
        ReadingCase(
            "numbered.txt",
            write_lines(*(f"{i}. {text}" for i, text in enumerate(ANSWERS, 1))),
            Asked([{"type": "list"}, {"split": "row"}], "marks of a list"),
        ),
        ReadingCase(
            "numbered_with_remarks.txt",
            b"Here are some ideas:\n\n"
            + write_lines(*(f"{i}) {text}" for i, text in enumerate(ANSWERS, 1)))
            + b"\nTell me if you need more!\n",
            Asked([{"type": "list"}, {"split": "row"}], "marks of a list"),
        ),
        ReadingCase(
            "bullets.md",
            write_lines(*(f"- {text}\n  and more" for text in ANSWERS)),
            Asked([{"type": "list"}, {"split": "row"}], "marks of a list"),
        ),
        ReadingCase(
            "numbered_molecules.txt",
            write_lines(*(f"{i}. {smiles}" for i, smiles in enumerate(SMILES, 1))),
            Asked([{"type": "list"}, {"split": "row"}], "marks of a list"),
        ),
        ReadingCase("ethanol.mol", MOL_BLOCK, Refused(r"\.mol are not read.*python -c")),
        ReadingCase("library.sdf", MOL_BLOCK + b"$$$$\n", Refused(r"\.sdf.*python -c")),
        ReadingCase("library_as_text.txt", MOL_BLOCK + b"$$$$\n", Refused("SMILES.*python -c")),
        ReadingCase(
            "papers.bib",
            b"@article{a,\n  title = {A cat},\n  year = 2026\n}\n",
            Refused(r"\.bib.*python -c"),
        ),
        ReadingCase("papers.ris", b"TY  - JOUR\nTI  - A cat\nER  - \n", Refused("python -c")),
        ReadingCase(
            "work.ipynb",
            b'{"cells": [{"cell_type": "code", "source": ["1 + 1"]}]}',
            Refused(r"\.ipynb.*python -c"),
        ),
        ReadingCase("items.xml", XML_ITEMS, Refused(r"elements <text>.*python -c")),
        ReadingCase("xml_items.txt", XML_ITEMS, Refused(r"elements <text>.*python -c")),
        ReadingCase(
            "list.html",
            b"<!DOCTYPE html>\n<ul>\n<li>a cat</li>\n<li>a dog</li>\n</ul>\n",
            Refused(r"elements <li>.*python -c"),
        ),
        ReadingCase("mail.eml", MAIL, Refused(r"\.eml.*python -c")),
        ReadingCase(
            "mail.mbox",
            b"From ann@example.org Tue Jan  5 10:00:00 2027\n" + MAIL,
            Refused(r"\.mbox.*python -c"),
        ),
        ReadingCase(
            "song.lrc",
            b"[00:12.00]Line one of the song\n[00:17.20]Line two of the song\n",
            Refused(r"\.lrc.*python -c"),
        ),
        ReadingCase("water.xyz", b"3\nwater\nO 0 0 0\nH 0 0 1\nH 0 1 0\n", Refused(r"SMILES")),
        ReadingCase("water.cif", b"data_water\n_cell_length_a 1\n", Refused(r"SMILES")),
        ReadingCase(
            "points.xyz",
            b"0.5 1.25 2.5\n1.5 0.25 0.5\n2.5 1.75 3.5\n",
            Scored(
                np.array([[0.5, 1.25, 2.5], [1.5, 0.25, 0.5], [2.5, 1.75, 3.5]]), kernel="cosine"
            ),
        ),
        ReadingCase("answers.toml", b'answers = ["a cat", "a dog"]\n', Refused("tomllib")),
        ReadingCase("link.csv", b"../data/answers.csv", Refused("symbolic link")),
        ReadingCase("responses.yaml", b"- a: hello\n- a: bye\n", Refused("YAML|not read")),
        ReadingCase("sheet.xlsx", b"PK\x03\x04[Content_Types].xml", Refused("CSV UTF-8")),
        ReadingCase("report.pdf", b"%PDF-1.7", Refused("pdf")),
        ReadingCase("empty.json", b"{}", Refused("array")),
        ReadingCase("open.json", b'[{"a": 1', Refused("delimiter|Expecting|JSON")),
    ]


def reading_cases() -> list[ReadingCase]:
    """Return all cases."""
    return table_cases() + other_cases()
