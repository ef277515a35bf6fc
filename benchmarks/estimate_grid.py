"""Estimates on spectra of seven shapes, under eight kinds of kernel, at twelve orders.

    python benchmarks/estimate_grid.py --json benchmarks/results/estimate_grid.json

Each of 6,720 cells must be within five standard errors of the exact score, exact, or
refused: as asked for, where the exact score is what else there is, and forced, as where
that does not fit in memory. The table says how cells ended, and how many were within one, two and
three standard errors; a cell that is wrong is printed and ends the script with an error.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from pairs import environment, write

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from spectra import KERNELS, ORDERS, SHAPES, TOLERANCES, WAYS, Cell, case, cell

SIZES = {"asked": 600, "forced": 220}
ENDS = ("exact", "refused", "estimate")


def summary(name: str, cells: list[Cell], seconds: float) -> dict[str, Any]:
    """Count how cells of one kind ended."""
    ends = Counter(each.end for each in cells)
    offs = np.array([each.off for each in cells if each.end == "estimate"])
    within = [float(np.mean(offs <= times)) if len(offs) else None for times in (1, 2, 3)]
    row: dict[str, Any] = {"name": name, "cells": len(cells), **{e: ends[e] for e in ENDS}}
    row |= dict(zip(("within_1_se", "within_2_se", "within_3_se"), within, strict=True))
    row |= {"largest": float(offs.max(initial=0.0)), "wrong": sum(not each.right for each in cells)}
    counts = "  ".join(f"{end} {ends[end]:4}" for end in ENDS)
    shares = " ".join("none" if share is None else f"{share:6.1%}" for share in within)
    print(
        f"{name:<32} {counts}   within 1, 2, 3 se {shares}   largest {row['largest']:.1f}   "
        f"wrong {row['wrong']}   {seconds:.0f} s",
        flush=True,
    )
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--only", nargs="*", help="kernels", default=KERNELS)
    given = parser.parse_args()
    rows, wrong = [], []
    by_order: dict[float, list[Cell]] = defaultdict(list)
    for way, kernel in itertools.product(WAYS, given.only):
        cells, start = [], time.perf_counter()
        for shape, q, rtol in itertools.product(SHAPES, ORDERS, TOLERANCES):
            found = cell(kernel, shape, q, rtol, way, SIZES[way])
            cells.append(found)
            by_order[q].append(found)
            if not found.right:
                wrong.append({"cell": f"{way}, {kernel}, {shape}, q = {q:g}, rtol = {rtol:g}"})
                wrong[-1] |= {"off": found.off}
                print("WRONG", wrong[-1]["cell"], found, flush=True)
        case.cache_clear()
        rows.append(summary(f"{way}, {kernel}", cells, time.perf_counter() - start))
    rows += [summary(f"q = {q:g}", cells, 0.0) for q, cells in by_order.items()]
    rows.append(summary("all", [each for cells in by_order.values() for each in cells], 0.0))
    write(given.json, [*rows, *wrong], environment())
    if wrong:
        raise SystemExit(f"{len(wrong)} cells are wrong")


if __name__ == "__main__":
    main()
