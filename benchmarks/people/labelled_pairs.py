"""Agreement of similarities with human labels for 1,000 pairs of answers.

The pairs are those of NoveltyBench: two long answers of a model to a prompt, and the label of one
person. For two samples, the Vendi Score of any order decreases with their similarity.
"""

from pathlib import Path
from typing import Any

import numpy as np
from agreement import compute_accuracy, compute_auc, find_best_threshold
from answers import read_judged_pairs
from human_scores import score_sets
from scorers import Scorer


def compute_rows(scorers: list[Scorer], data: Path) -> list[dict[str, Any]]:
    """Return one row for each scorer and measure: area under the curve, and accuracy."""
    pairs = read_judged_pairs(data)
    different = np.array([not pair.facts["similar"] for pair in pairs])
    is_test = np.array([pair.is_in_test_half for pair in pairs])
    table = []
    for scorer in scorers:
        for measure, values in score_sets(scorer, pairs).items():
            threshold = find_best_threshold(values[~is_test], different[~is_test])
            table.append(
                {
                    "name": scorer.name,
                    "kind": scorer.kind,
                    "prompt": scorer.prompt,
                    "measure": measure,
                    "n": len(pairs),
                    "different": float(different.mean()),
                    "n_reported": int(is_test.sum()),
                    "different_reported": float(different[is_test].mean()),
                    "area": compute_auc(values, different),
                    "accuracy": compute_accuracy(values[is_test], different[is_test], threshold),
                }
            )
    return table
