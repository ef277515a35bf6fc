"""The time to split texts into words and punctuation, compared with NLTK's `NLTKWordTokenizer`.

python benchmarks/tokenizer.py --json benchmarks/results/tokenizer.json

All tokens are compared before anything is timed. Nothing is remembered from text to text, so that
the first pass over texts, which is a row of its own, takes what later ones take. A process that
splits one text has both sides' imports.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from nltk.tokenize import NLTKWordTokenizer
from pairs import DATA, ROOT, arguments, compare, environment, write

from vendiscore.encoders.treebank import tokenize

Split = Callable[[str], list[str]]
nltk_tokenize: Split = NLTKWordTokenizer().tokenize
WORDS = 60
PROCESSES = (
    "from vendiscore.encoders.treebank import tokenize; tokenize('a, b')",
    "from nltk.tokenize import NLTKWordTokenizer; NLTKWordTokenizer().tokenize('a, b')",
)


def sets() -> dict[str, list[str]]:
    """Return questions of TREC, and answers of language models: beginnings, and whole answers."""
    with (DATA / "trec_questions.tsv").open(encoding="utf-8") as file:
        questions = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    with gzip.open(DATA / "noveltybench_pairs.jsonl.gz", "rt", encoding="utf-8") as file:
        pairs = [json.loads(line) for line in file]
    answers = [pair[name] for pair in pairs for name in ("generation_0", "generation_1")]
    return {
        "questions": questions,
        f"answers, first {WORDS} words": [" ".join(a.split(" ")[:WORDS]) for a in answers],
        "answers": answers,
    }


def each(split: Split, texts: list[str]) -> Callable[[], list[list[str]]]:
    return lambda: [split(text) for text in texts]


def process(code: str) -> None:
    """Run a process; its bytecode is kept, as bytecode of installed packages is."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", code], env=kept | {"PYTHONPATH": str(ROOT)}, check=True)


def main() -> None:
    options = arguments(__doc__)
    rows: list[dict[str, Any]] = []
    for name, texts in sets().items():
        words = sum(len(text.split()) for text in texts) / len(texts)
        facts = {"n": len(texts), "words": round(words, 1)}
        ours, theirs = each(tokenize, texts), each(nltk_tokenize, texts)
        rows.append(compare(f"tokens of {name}, first pass", ours, theirs, 1, **facts))
        for text in texts:
            assert tokenize(text) == nltk_tokenize(text), text
        rows.append(compare(f"tokens of {name}", ours, theirs, options.repeats, **facts))
    for code in PROCESSES:
        process(code)
    ours, theirs = (lambda: process(PROCESSES[0])), (lambda: process(PROCESSES[1]))
    rows.append(compare("tokens of one text, in a process", ours, theirs, options.repeats))
    write(options.json, rows, environment("nltk"))


if __name__ == "__main__":
    main()
