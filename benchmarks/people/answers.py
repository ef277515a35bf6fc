"""Answers to one prompt that people judged: sets with scores, pairs with labels, three sources."""

import gzip
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILES = ("human_diversity", "human_diversity_resp", "noveltybench_pairs", "noveltybench_curated")
SOURCES = {"human": "people", "gemini-1.5-pro": "gemini-1.5-pro", "gpt-4o": "gpt-4o"}
EACH = 8  # answers of each source to a prompt, as many as people gave


@dataclass(frozen=True)
class Answers:
    """One set of answers to a prompt, and the facts that are known about it."""

    prompt: str
    texts: tuple[str, ...]
    facts: dict[str, Any]

    @property
    def contexts(self) -> tuple[str, ...]:
        """Its answers, each after the prompt."""
        return tuple(f"{self.prompt} {text}" for text in self.texts)

    @property
    def reported(self) -> bool:
        """Tell whether numbers are reported on it; on the other half they are chosen."""
        return hashlib.sha256(self.prompt.encode()).digest()[0] % 2 == 1


def lines(data: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def judged_sets(data: Path) -> list[Answers]:
    """Read 1,879 sets with the mean of people's scores of diversity (Tevet & Berant).

    Reading answers in context was chosen on the last 623, whose source is resp_gen.
    """
    keys = ("test", "source", "label", "human")
    return [
        Answers(row["prompt"], tuple(row["responses"]), {key: row[key] for key in keys})
        for file in ("human_diversity", "human_diversity_resp")
        for row in lines(data, file)
    ]


def confirmatory_sets(data: Path) -> list[Answers]:
    """Read 3,792 sets of McDiv whose prompts occur in no set with scores (Tevet & Berant).

    The label says whether the writers were asked for answers whose contents differ.
    """
    keys = ("source", "nugget", "contents_differ")
    return [
        Answers(row["prompt"], tuple(row["responses"]), {key: row[key] for key in keys})
        for row in lines(data, "mcdiv_confirmatory")
    ]


def judged_pairs(data: Path) -> list[Answers]:
    """Read 1,000 pairs of answers that people called similar, or not (NoveltyBench)."""
    return [
        Answers(
            row["prompt"],
            (row["generation_0"], row["generation_1"]),
            {"similar": bool(row["similar"])},
        )
        for row in lines(data, "noveltybench_pairs")
    ]


def sources(data: Path) -> list[Answers]:
    """Read the first eight answers of people and two models to 100 prompts (NoveltyBench)."""
    return [
        Answers(
            row["prompt"],
            tuple(row["generations"][:EACH]),
            {"source": SOURCES[row["model"]], "classes": len(set(row["partition"][:EACH]))},
        )
        for row in lines(data, "noveltybench_curated")
    ]
