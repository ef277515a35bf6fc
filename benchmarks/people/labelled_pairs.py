"""Do similarities of two answers go with whether people call them similar? 1,000 pairs.

The pairs are NoveltyBench's: two long answers of one model to a prompt, and one person's word. For
two samples any order of the Vendi Score ranks as their similarity does.
"""

from pathlib import Path
from typing import Any

import numpy as np
from agreement import accuracy, area, threshold
from answers import judged_pairs
from human_scores import scored
from scorers import Scorer


def rows(scorers: list[Scorer], data: Path) -> list[dict[str, Any]]:
    """Return one row for each scorer and measure: area under the curve, and accuracy."""
    pairs = judged_pairs(data)
    different = np.array([not one.facts["similar"] for one in pairs])
    reported = np.array([one.reported for one in pairs])
    table = []
    for scorer in scorers:
        for measure, values in scored(scorer, pairs).items():
            cut = threshold(values[~reported], different[~reported])
            table.append(
                {
                    "name": scorer.name,
                    "kind": scorer.kind,
                    "prompt": scorer.prompt,
                    "measure": measure,
                    "n": len(pairs),
                    "different": float(different.mean()),
                    "n_reported": int(reported.sum()),
                    "different_reported": float(different[reported].mean()),
                    "area": area(values, different),
                    "accuracy": accuracy(values[reported], different[reported], cut),
                }
            )
    return table
