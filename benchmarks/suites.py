"""What do all measures cost together, compared with the dearest of them alone?

    python benchmarks/suites.py --data ../shared/data --json benchmarks/results/suites.json

All of one set that suit 2,000 questions compared by n-grams, and all of two sets that suit 2,000
digits and 2,000 others under "rbf": each alone and all in one call, taking turns. All registered
measures run; measures that do not suit the samples are reported. Needs `trec_questions.tsv` and
`mnist_test.npz`.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from pairs import PAUSE, ROOT, environment, write

from vendiscore import compute, list_measures

N, FEW = 2000, 64
AGREE = 1e-8
DATA = ROOT.parent / "shared" / "data"


def questions(data: Path) -> list[str]:
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        return [row["question"] for row in csv.DictReader(file, delimiter="\t")][:N]


def digits(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the first 2,000 and the next 2,000, as rows of numbers from 0 to 1."""
    with np.load(data / "mnist_test.npz") as file:
        rows = file["images"][: 2 * N].reshape(2 * N, -1) / 255.0
    return rows[:N], rows[N:]


def suited(names: list[str], few: list[Any], how: dict[str, Any]) -> tuple[list[str], dict]:
    """Return the measures that a few of the samples have, and why the others are left out."""
    left: dict[str, str] = {}
    for name in names:
        try:
            compute(*few, measures=name, **how)
        except (TypeError, ValueError) as error:
            if name not in str(error):  # which is then no refusal of this measure
                raise
            left[name] = str(error)
            print(f"left out: {error}", flush=True)
    return [name for name in names if name not in left], left


def measured(what: str, names: list[str], sets: list[Any], repeats: int, **how: Any) -> dict:
    """Return median seconds of each measure alone and of all, and their ratio to the dearest.

    By the clock, and by processor time, which a busy machine changes less.
    """
    names, left = suited(names, [samples[:FEW] for samples in sets], how)
    calls = {name: [name] for name in names} | {"all": names}
    found: dict[str, dict[str, float]] = {}
    clocks = {"seconds": time.perf_counter, "cpu_seconds": time.process_time}
    taken: dict[str, dict[str, list[float]]] = {c: {name: [] for name in calls} for c in clocks}
    for repeat in range(repeats + 1):
        for name, measures in calls.items():
            time.sleep(PAUSE)
            start = {clock: now() for clock, now in clocks.items()}
            found[name] = compute(*sets, measures=measures, **how)
            for clock, now in clocks.items() if repeat else ():  # the first round is for agreement
                taken[clock][name].append(now() - start[clock])
        alone = {key: value for name in names for key, value in found[name].items()}
        assert list(alone) == list(found["all"])
        for key, value in found["all"].items():
            np.testing.assert_allclose(value, alone[key], rtol=AGREE, atol=AGREE, err_msg=key)
    row: dict[str, Any] = {"name": what, "values": found["all"], "left_out": left}
    for clock, times in taken.items():
        medians = {name: statistics.median(each) for name, each in times.items()}
        dearest = max(names, key=medians.__getitem__)
        ratios = [a / b for a, b in zip(times["all"], times[dearest], strict=True)]
        for name in sorted(calls, key=medians.__getitem__):
            print(f"{what:<18} {clock:<12} {name:<18} {medians[name]:8.3f}", flush=True)
        ratio = statistics.median(ratios)
        print(f"{what}, {clock}: all are {ratio:.2f} × {dearest}", flush=True)
        told = {"dearest": dearest, "ratio": ratio, "ratio_range": [min(ratios), max(ratios)]}
        row[clock] = {"medians": medians, **told}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=("one", "two"), help="one set, or two")
    given = parser.parse_args()
    datasets.disable_progress_bars()
    every = [measure for measure in list_measures() if not measure.groups]
    rows = []
    if given.only != "two":
        names = [measure.name for measure in every if not measure.references]
        texts = [questions(given.data)]
        rows.append(measured("2,000 questions", names, texts, given.repeats, k="ngram_overlap"))
    if given.only != "one":
        names = [measure.name for measure in every if measure.references]
        pair = list(digits(given.data))
        rows.append(measured("2 × 2,000 digits", names, pair, given.repeats, k="rbf"))
    write(given.json, rows, environment() | {"n": N, "repeats": given.repeats})


if __name__ == "__main__":
    main()
