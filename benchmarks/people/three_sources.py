"""Who is more diverse, eight people or eight answers of one model? 100 prompts of NoveltyBench.

Next to each mean score stand the equivalence classes that the benchmark's classifier found.
"""

from pathlib import Path
from typing import Any

import numpy as np
from agreement import spearman
from answers import SOURCES, sources
from human_scores import scored
from scorers import Scorer


def rows(scorers: list[Scorer], data: Path) -> list[dict[str, Any]]:
    """Return one row for each scorer and measure: means by source, and the order of the three."""
    sets = sources(data)
    classes = np.array([one.facts["classes"] for one in sets], dtype=float)
    of = {
        name: np.array([one.facts["source"] == name for one in sets]) for name in SOURCES.values()
    }
    truth = sorted(of, key=lambda name: -classes[of[name]].mean())
    table = []
    for scorer in scorers:
        for measure, values in scored(scorer, sets).items():
            means = {
                name: {
                    "mean": float(values[i].mean()),
                    "se": float(values[i].std(ddof=1) / np.sqrt(i.sum())),
                }
                for name, i in of.items()
            }
            order = sorted(of, key=lambda name: -means[name]["mean"])
            table.append(
                {
                    "name": scorer.name,
                    "kind": scorer.kind,
                    "prompt": scorer.prompt,
                    "measure": measure,
                    "means": means,
                    "order": order,
                    "same_order": order == truth,
                    "with_classes": spearman(values, classes),
                    "with_classes_within": [
                        {"source": name, **spearman(values[i], classes[i])}
                        for name, i in of.items()
                    ],
                }
            )
    means = {name: float(classes[i].mean()) for name, i in of.items()}
    return [{"name": "classes", "kind": "classes", "means": means, "order": truth}, *table]
