"""A table of answers of two models to three prompts, in random order."""

import numpy as np
import pandas as pd

NEW_ANSWERS, OLD_ANSWERS = [f"w{i} x{i}" for i in range(8)], ["a b", "c d", "e f", "g h"] * 2
PROMPTS = [f"p{i}" for i in (0, 1, 2, 0, 0, 1, 2, 1)] * 2  # not all with the same difference
ORDER = np.random.default_rng(0).permutation(16)
TABLE = pd.DataFrame(
    {
        "answer": [(NEW_ANSWERS + OLD_ANSWERS)[i] for i in ORDER],
        "model": [("new", "old")[i // 8] for i in ORDER],
        "prompt": [PROMPTS[i] for i in ORDER],
    }
)
