"""False alarms, delays and coverage of `Monitor`.

    python benchmarks/monitor.py --json benchmarks/results/monitor.json

Values are the log Vendi Scores of eight answers to one prompt, divided by log 8, of humans and two
models (NoveltyBench, 100 prompts each), drawn with replacement; and three simulated distributions.
A run has 1,000 values. `false_alarms` is the proportion of runs with an alarm if the baseline is
the true mean; `misses` bounds the proportion of runs whose interval does not cover the mean after
every value. `delay` is the median number of prompts until an alarm after a decrease; `paired` if
each prompt is compared with its own baseline, `late` if the decrease happens after 1,000 prompts.
`fixed_n` is the number of prompts with which a one-sided t-test at 5 %, made once, detects the
decrease in 80 % of cases, and `repeated_t` the proportion of false alarms of a t-test at 5 % that
is repeated after every prompt.
"""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from pairs import DATA, collect_environment, write_results
from scipy import stats

from vendiscore import compute
from vendiscore.tools.streams.betting import GRID_SIZE, ChangeTest, MeanTest

N_ANSWERS = 8
N_RUNS = 1000
N_VALUES = 1000
ALPHA = 0.05
MIN_T_TEST = 5  # values before the first repeated t-test
FALLS = [("human", "gpt-4o"), ("gpt-4o", "gemini-1.5-pro"), ("human", "gemini-1.5-pro")]


def load_values(data: Path) -> dict[str, np.ndarray]:
    """Return the values of the prompts of each source, in the same order of prompts."""
    values: dict[str, dict[str, float]] = {}
    path = data / "noveltybench_curated.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            score = compute(row["generations"][:N_ANSWERS])["VS"]
            values.setdefault(row["model"], {})[row["prompt"]] = np.log(score) / np.log(N_ANSWERS)
    prompts = sorted(values["human"])
    return {
        source: np.array([by_prompt[prompt] for prompt in prompts])
        for source, by_prompt in values.items()
    }


def simulated_values(rng: np.random.Generator) -> dict[str, tuple[np.ndarray, float]]:
    """Return runs and the mean of three distributions: rare zeros, uniform, nearly constant."""
    shape = (N_VALUES, N_RUNS)
    return {
        "0 in 5 %, else 1": ((rng.random(shape) > 0.05).astype(float), 0.95),
        "uniform": (rng.random(shape), 0.5),
        "0.6 to 0.62": (rng.uniform(0.6, 0.62, shape), 0.61),
    }


def find_alarms(runs: np.ndarray, baseline: float) -> np.ndarray:
    """Return the number of values at the alarm of each run; infinity without an alarm."""
    test = ChangeTest()
    alarms = np.full(runs.shape[1], np.inf)
    for i, row in enumerate(runs):
        test.update(row, baseline)
        is_new = (test.log_wealth >= -np.log(ALPHA)) & np.isinf(alarms)
        alarms[is_new] = i + 1
    return alarms


def bound_misses(runs: np.ndarray, mean: float) -> float:
    """Return an upper bound of the proportion of runs whose interval ever excludes the mean.

    An interval contains the candidate means, on a grid, that no test rejects, and extends to the
    next grid points. So it excludes the mean only if the grid points directly below and above the
    mean are both rejected.
    """
    candidates = np.array([np.floor(mean * GRID_SIZE), np.ceil(mean * GRID_SIZE)]) / GRID_SIZE
    is_rejected = np.zeros((2, runs.shape[1]), dtype=bool)
    for candidate, rejected in zip(candidates, is_rejected, strict=True):
        if not 0 < candidate < 1:
            rejected[:] = True
            continue
        below, above = MeanTest(), MeanTest()
        for row in runs:
            below.update(row, candidate)
            above.update(1 - row, 1 - candidate)
            log_wealth = np.maximum(below.log_wealth, above.log_wealth)
            rejected |= log_wealth >= np.log(2 / ALPHA)
    return float(is_rejected.all(axis=0).mean())


def measure_t_alarm_rate(runs: np.ndarray, baseline: float) -> float:
    """Return the proportion of runs with a false alarm of repeated t-tests.

    A one-sided t-test is repeated after every value. An alarm is a p-value below ALPHA.
    """
    n = np.arange(1, len(runs) + 1)[:, None]
    mean = np.cumsum(runs, axis=0) / n
    variance = (np.cumsum(runs**2, axis=0) / n - mean**2) * n / np.maximum(n - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (mean - baseline) / np.sqrt(np.maximum(variance, 0) / n)
    limits = stats.t.ppf(ALPHA, np.maximum(n - 1, 1))
    return float((t < limits)[MIN_T_TEST - 1 :].any(axis=0).mean())


def fixed_size(values: np.ndarray, baseline: float, rng: np.random.Generator) -> int:
    """Return the smallest n at which a single one-sided t-test has 80 % power."""
    for n in range(3, N_VALUES):
        runs = rng.choice(values, (n, 2000))
        p = stats.ttest_1samp(runs, baseline, axis=0, alternative="less").pvalue
        if (p < ALPHA).mean() >= 0.8:
            return n
    return N_VALUES


def evaluate_exchanged_pairs(
    values: dict[str, np.ndarray], rng: np.random.Generator
) -> dict[str, Any]:
    """Return false alarms if the two runs of a prompt are exchanged at random."""
    a, b = values["human"], values["gemini-1.5-pro"]
    prompts = rng.integers(0, len(a), (N_VALUES, N_RUNS))
    is_exchanged = rng.random(prompts.shape) < 0.5
    differences = np.where(is_exchanged, -1, 1) * (a - b)[prompts]
    false_alarms = float(np.isfinite(find_alarms((differences + 1) / 2, 0.5)).mean())
    row = {"name": "human and gemini-1.5-pro, exchanged at random", "false_alarms": false_alarms}
    print(row, flush=True)
    return row


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    values = load_values(options.data)
    sources = {
        source: (rng.choice(source_values, (N_VALUES, N_RUNS)), float(source_values.mean()))
        for source, source_values in values.items()
    }
    rows: list[dict[str, Any]] = []
    for name, (runs, mean) in (sources | simulated_values(rng)).items():
        row = {
            "name": name,
            "mean": mean,
            "false_alarms": float(np.isfinite(find_alarms(runs, mean)).mean()),
            "misses": bound_misses(runs, mean),
            "repeated_t": measure_t_alarm_rate(runs, mean),
        }
        print(row, flush=True)
        rows.append(row)
    rows.append(evaluate_exchanged_pairs(values, rng))
    for before, after in FALLS:
        baseline = float(values[before].mean())
        runs = sources[after][0]
        differences = values[after] - values[before]
        prompts = rng.integers(0, len(differences), (N_VALUES, N_RUNS))
        paired = find_alarms((differences[prompts] + 1) / 2, 0.5)
        late_runs = np.concatenate([sources[before][0], runs])
        late = find_alarms(late_runs, baseline) - N_VALUES
        row = {
            "name": f"{before} to {after}",
            "delay": float(np.median(find_alarms(runs, baseline))),
            "fixed_n": fixed_size(values[after], baseline, rng),
            "paired_delay": float(np.median(paired)),
            "paired_fixed_n": fixed_size(differences, 0.0, rng),
            "late_delay": float(np.median(late[late > 0])),
        }
        print(row, flush=True)
        rows.append(row)
    write_results(options.json, rows, collect_environment())


if __name__ == "__main__":
    main()
