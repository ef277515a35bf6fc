"""Compare eight humans with eight answers of each of two models, for 100 prompts of NoveltyBench.

The mean scores are compared with the numbers of equivalence classes from the benchmark's
classifier.
"""

from pathlib import Path
from typing import Any

import numpy as np
from agreement import spearman_with_interval
from answers import SOURCES, read_sources
from human_scores import score_sets
from scorers import Scorer


def compute_rows(scorers: list[Scorer], data: Path) -> list[dict[str, Any]]:
    """Return one row for each scorer and measure: means by source, and the order of the sources."""
    sets = read_sources(data)
    classes = np.array([answer_set.facts["classes"] for answer_set in sets], dtype=float)
    is_source = {
        name: np.array([answer_set.facts["source"] == name for answer_set in sets])
        for name in SOURCES.values()
    }
    truth = sorted(is_source, key=lambda name: -classes[is_source[name]].mean())
    table = []
    for scorer in scorers:
        for measure, values in score_sets(scorer, sets).items():
            means = {
                name: {
                    "mean": float(values[i].mean()),
                    "se": float(values[i].std(ddof=1) / np.sqrt(i.sum())),
                }
                for name, i in is_source.items()
            }
            order = sorted(is_source, key=lambda name: -means[name]["mean"])
            table.append(
                {
                    "name": scorer.name,
                    "kind": scorer.kind,
                    "prompt": scorer.prompt,
                    "measure": measure,
                    "means": means,
                    "order": order,
                    "same_order": order == truth,
                    "with_classes": spearman_with_interval(values, classes),
                    "with_classes_within": [
                        {"source": name, **spearman_with_interval(values[i], classes[i])}
                        for name, i in is_source.items()
                    ],
                }
            )
    means = {name: float(classes[i].mean()) for name, i in is_source.items()}
    return [{"name": "classes", "kind": "classes", "means": means, "order": truth}, *table]
