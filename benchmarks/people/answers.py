"""Answers to prompts that humans rated: sets with ratings, pairs with labels, three sources."""

import gzip
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILES = ("human_diversity", "human_diversity_resp", "noveltybench_pairs", "noveltybench_curated")
SOURCES = {"human": "people", "gemini-1.5-pro": "gemini-1.5-pro", "gpt-4o": "gpt-4o"}
ANSWERS_PER_SOURCE = 8  # of each source to a prompt; there are eight human answers


@dataclass(frozen=True)
class AnswerSet:
    """A set of answers to a prompt, and further fields such as its rating."""

    prompt: str
    texts: tuple[str, ...]
    facts: dict[str, Any]

    @property
    def contexts(self) -> tuple[str, ...]:
        """The answers, each after the prompt."""
        return tuple(f"{self.prompt} {text}" for text in self.texts)

    @property
    def is_in_test_half(self) -> bool:
        """Whether accuracies are reported on this set; thresholds are chosen on the other half."""
        return hashlib.sha256(self.prompt.encode()).digest()[0] % 2 == 1


def read_lines(data: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_judged_sets(data: Path) -> list[AnswerSet]:
    """Read 1,879 sets with the mean human rating of diversity (Tevet & Berant). The comparison of
    answers in context was chosen on the last 623, whose source is resp_gen.
    """
    keys = ("test", "source", "label", "human")
    return [
        AnswerSet(row["prompt"], tuple(row["responses"]), {key: row[key] for key in keys})
        for file in ("human_diversity", "human_diversity_resp")
        for row in read_lines(data, file)
    ]


def read_confirmatory_sets(data: Path) -> list[AnswerSet]:
    """Read 3,792 sets of McDiv whose prompts do not occur in sets with ratings (Tevet & Berant).

    The label of a set states whether its writers were instructed to give different answers.
    """
    keys = ("source", "nugget", "contents_differ")
    return [
        AnswerSet(row["prompt"], tuple(row["responses"]), {key: row[key] for key in keys})
        for row in read_lines(data, "mcdiv_confirmatory")
    ]


def read_judged_pairs(data: Path) -> list[AnswerSet]:
    """Read 1,000 pairs of answers that humans called similar or not (NoveltyBench)."""
    return [
        AnswerSet(
            row["prompt"],
            (row["generation_0"], row["generation_1"]),
            {"similar": bool(row["similar"])},
        )
        for row in read_lines(data, "noveltybench_pairs")
    ]


def read_sources(data: Path) -> list[AnswerSet]:
    """Read the first eight answers of humans and two models to 100 prompts (NoveltyBench)."""
    return [
        AnswerSet(
            row["prompt"],
            tuple(row["generations"][:ANSWERS_PER_SOURCE]),
            {
                "source": SOURCES[row["model"]],
                "classes": len(set(row["partition"][:ANSWERS_PER_SOURCE])),
            },
        )
        for row in read_lines(data, "noveltybench_curated")
    ]
