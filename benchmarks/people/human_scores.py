"""Do scores of a set go with how diverse people find it? 1,879 sets of Tevet & Berant.

Each has five or ten answers to a prompt and the mean score of diversity that people gave. In
McDiv_nuggets contents differ and wording is controlled, in conTest contents differ, in decTest the
temperature of a model; answers finish a sentence (prompt_gen) or a story (story_gen), or respond to
a remark (resp_gen). Conditioning on the prompt was developed on the first two kinds, and reading
answers in context was chosen on the third, so no source is held out for both. In the first two
tests a label says by construction which sets are diverse.
"""

from pathlib import Path
from typing import Any

import numpy as np
from agreement import accuracy, difference_of_means, mean_of, spearman, threshold
from answers import Answers, judged_sets
from scorers import DEFAULT, Scorer

TESTS = ("McDiv_nuggets", "conTest", "decTest")
KINDS = ("prompt_gen", "story_gen")
SOURCES = tuple((test, kind) for test in TESTS for kind in KINDS)
LABELLED = SOURCES[:4]
RESPONSES = tuple((test, "resp_gen") for test in TESTS)
VS, DISTANCE = "VS, q = 1", "IntDiv"
# Differences of two mean ρ: scorer, whether the prompt is taken out, and measure.
DIFFERENCES = (
    (("MiniLM", True, VS), ("MiniLM", False, VS)),
    (("MiniLM in context", True, VS), ("MiniLM", True, VS)),
    (("MiniLM in context", True, VS), ("MiniLM in context", True, DISTANCE)),
    (("MiniLM", False, VS), ("MiniLM", False, DISTANCE)),
    ((DEFAULT, False, VS), (DEFAULT, False, DISTANCE)),
)


def scored(scorer: Scorer, sets: list[Answers]) -> dict[str, np.ndarray]:
    """Return the scores of all sets by measure; a set without a score has the lowest."""
    every = [scorer.score(one) for one in sets]
    result = {name: np.array([each[name] for each in every], dtype=float) for name in every[0]}
    for values in result.values():
        missing = ~np.isfinite(values)
        values[missing] = values[~missing].min() if not missing.all() else 0.0
    return result


def rows(scorers: list[Scorer], data: Path) -> list[dict[str, Any]]:
    """Return one row for each scorer and measure: agreement by test and source; and differences."""
    sets = judged_sets(data)
    human = np.array([one.facts["human"] for one in sets])
    label = np.array([one.facts["label"] for one in sets])
    reported = np.array([one.reported for one in sets])
    of = {
        key: np.array([(one.facts["test"], one.facts["source"]) == key for one in sets])
        for key in (*SOURCES, *RESPONSES)
    }
    table = []
    known = {}
    for scorer in scorers:
        for measure, values in scored(scorer, sets).items():
            known[scorer.name, scorer.prompt, measure] = values
            row: dict[str, Any] = {
                "name": scorer.name,
                "kind": scorer.kind,
                "prompt": scorer.prompt,
                "measure": measure,
            }
            every = np.ones(len(sets), bool)
            for part, keys, chosen in (
                ("all", SOURCES, every),
                ("resp_gen", RESPONSES, every),
                ("chosen on", SOURCES, ~reported),
                ("reported on", SOURCES, reported),
            ):
                places = [of[key] & chosen for key in keys]
                each = [spearman(values[i], human[i]) for i in places]
                row[part] = {"mean": mean_of(each)}
                if chosen is every:
                    row[part]["sources"] = [
                        {"test": test, "source": kind, "n": int(i.sum()), **one}
                        for (test, kind), i, one in zip(keys, places, each, strict=True)
                    ]
            row["temperature"] = [
                {"source": kind, **spearman(values[of[key]], label[of[key]])}
                for key in SOURCES[4:]
                for kind in key[1:]
            ]
            row["labels"] = []
            for key in LABELLED:
                here, there = of[key] & reported, of[key] & ~reported
                cut = threshold(values[there], label[there] == 1)
                result = accuracy(values[here], label[here] == 1, cut)
                row["labels"].append(
                    {"test": key[0], "source": key[1], "n": int(here.sum()), **result}
                )
            table.append(row)
    prompts = np.unique([one.prompt for one in sets], return_inverse=True)[1]
    for first, second in DIFFERENCES:
        if first in known and second in known:
            row = {"kind": "difference", "first": list(first), "second": list(second)}
            for part, keys in (("all", SOURCES), ("resp_gen", RESPONSES)):
                some = [of[key] for key in keys]
                row[part] = difference_of_means(known[first], known[second], human, some, prompts)
            table.append(row)
    return table
