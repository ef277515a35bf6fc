"""Correlation of scores with human ratings of diversity, for 1,879 sets of Tevet & Berant.

Each set has five or ten answers to a prompt and a mean rating of diversity. In McDiv_nuggets,
contents differ and wording is controlled; in conTest, contents differ; in decTest, the temperature
of a model. Answers complete a sentence (prompt_gen) or a story (story_gen), or respond to a remark
(resp_gen). Conditioning on the prompt was developed with prompt_gen and story_gen, and the
comparison in context was chosen with resp_gen, so no source is independent of both decisions. In
the first two tests, a label states which sets were written to be diverse.
"""

from pathlib import Path
from typing import Any

import numpy as np
from agreement import (
    average_correlations,
    bootstrap_difference,
    compute_accuracy,
    find_best_threshold,
    spearman_with_interval,
)
from answers import AnswerSet, read_judged_sets
from scorers import DEFAULT, Scorer

TESTS = ("McDiv_nuggets", "conTest", "decTest")
KINDS = ("prompt_gen", "story_gen")
SOURCES = tuple((test, kind) for test in TESTS for kind in KINDS)
LABELLED = SOURCES[:4]
RESPONSES = tuple((test, "resp_gen") for test in TESTS)
VS_NAME, DISTANCE_NAME = "VS, q = 1", "IntDiv"
# Differences of two mean ρ: scorer, whether it conditions on the prompt, and measure.
DIFFERENCES = (
    (("MiniLM", True, VS_NAME), ("MiniLM", False, VS_NAME)),
    (("MiniLM in context", True, VS_NAME), ("MiniLM", True, VS_NAME)),
    (("MiniLM in context", True, VS_NAME), ("MiniLM in context", True, DISTANCE_NAME)),
    (("MiniLM", False, VS_NAME), ("MiniLM", False, DISTANCE_NAME)),
    ((DEFAULT, False, VS_NAME), (DEFAULT, False, DISTANCE_NAME)),
)


def score_sets(scorer: Scorer, sets: list[AnswerSet]) -> dict[str, np.ndarray]:
    """Return the scores of all sets by measure; a set without a score gets the lowest one."""
    all_scores = [scorer.score(answer_set) for answer_set in sets]
    result = {
        name: np.array([scores[name] for scores in all_scores], dtype=float)
        for name in all_scores[0]
    }
    for values in result.values():
        missing = ~np.isfinite(values)
        values[missing] = values[~missing].min() if not missing.all() else 0.0
    return result


def compute_rows(scorers: list[Scorer], data: Path) -> list[dict[str, Any]]:
    """Return one row for each scorer and measure with the agreement by test and source, and rows of
    differences.
    """
    sets = read_judged_sets(data)
    human = np.array([answer_set.facts["human"] for answer_set in sets])
    label = np.array([answer_set.facts["label"] for answer_set in sets])
    is_test = np.array([answer_set.is_in_test_half for answer_set in sets])
    is_source = {
        key: np.array(
            [(answer_set.facts["test"], answer_set.facts["source"]) == key for answer_set in sets]
        )
        for key in (*SOURCES, *RESPONSES)
    }
    table = []
    values_by_scorer = {}
    for scorer in scorers:
        for measure, values in score_sets(scorer, sets).items():
            values_by_scorer[scorer.name, scorer.prompt, measure] = values
            row: dict[str, Any] = {
                "name": scorer.name,
                "kind": scorer.kind,
                "prompt": scorer.prompt,
                "measure": measure,
            }
            all_sets = np.ones(len(sets), bool)
            for part_name, keys, chosen in (
                ("all", SOURCES, all_sets),
                ("resp_gen", RESPONSES, all_sets),
                ("chosen on", SOURCES, ~is_test),
                ("reported on", SOURCES, is_test),
            ):
                masks = [is_source[key] & chosen for key in keys]
                correlations = [spearman_with_interval(values[i], human[i]) for i in masks]
                row[part_name] = {"mean": average_correlations(correlations)}
                if chosen is all_sets:
                    row[part_name]["sources"] = [
                        {"test": test, "source": kind, "n": int(i.sum()), **answer_set}
                        for (test, kind), i, answer_set in zip(
                            keys, masks, correlations, strict=True
                        )
                    ]
            row["temperature"] = [
                {
                    "source": kind,
                    **spearman_with_interval(values[is_source[key]], label[is_source[key]]),
                }
                for key in SOURCES[4:]
                for kind in key[1:]
            ]
            row["labels"] = []
            for key in LABELLED:
                reported_indices, chosen_indices = (
                    is_source[key] & is_test,
                    is_source[key] & ~is_test,
                )
                cut = find_best_threshold(values[chosen_indices], label[chosen_indices] == 1)
                result = compute_accuracy(
                    values[reported_indices], label[reported_indices] == 1, cut
                )
                row["labels"].append(
                    {"test": key[0], "source": key[1], "n": int(reported_indices.sum()), **result}
                )
            table.append(row)
    prompts = np.unique([answer_set.prompt for answer_set in sets], return_inverse=True)[1]
    for first, second in DIFFERENCES:
        if first in values_by_scorer and second in values_by_scorer:
            row = {"kind": "difference", "first": list(first), "second": list(second)}
            for part_name, keys in (("all", SOURCES), ("resp_gen", RESPONSES)):
                source_masks = [is_source[key] for key in keys]
                row[part_name] = bootstrap_difference(
                    values_by_scorer[first], values_by_scorer[second], human, source_masks, prompts
                )
            table.append(row)
    return table
