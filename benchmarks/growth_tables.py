"""Documentation tables of the results of `growth_few.py`."""

import math
from collections.abc import Iterable
from typing import Any

from cells import format_percent, format_table, load_result

SIZES = (20, 50, 100)
NAMES = {
    "labels, Zipf": "labels, Zipf's law, 200 kinds",
    "labels, TREC": "labels, TREC's fine classes",
    "clusters, Zipf": "20 clusters of vectors, Zipf's law",
    "clusters, ten even": "ten even clusters of vectors",
    "static vectors, TREC": "static word vectors, TREC",
}


def tabulate_growth_few() -> str:
    """Tabulate how often curves of few samples are undecided; report the coverage of their
    intervals.
    """
    rows = load_result("growth_few")["rows"]
    cells: dict[str, dict[int, str]] = {}
    for row in rows:
        if row["q"] == 1 and row["n"] in SIZES:
            cell = f"{format_percent(row['undecided'])}, {row['error']:.2f}"
            cells.setdefault(row["name"], {})[row["n"]] = cell
    text = format_table(
        ("population", "n = 20: undecided, error", "n = 50", "n = 100"),
        ([NAMES.get(name, name), *(by_size[n] for n in SIZES)] for name, by_size in cells.items()),
    )
    small_rows = [row for row in rows if row["q"] == 2 and row["n"] < 20]
    rows_of_20 = [row for row in rows if row["q"] == 2 and row["n"] == 20]
    texts = [row for row in rows_of_20 if row["name"] in ("n-grams, TREC", "static vectors, TREC")]
    other_rows = [row for row in rows_of_20 if row not in texts]
    large_rows = [row for row in rows if row["n"] >= 20]
    covered = [
        (row[key], row["repeats"])
        for row in large_rows
        for key in ("covered_at_n", "covered_at_2n")
    ]
    error = max(math.sqrt(p * (1 - p) / count) for p, count in covered)
    undecided = [
        _format_range(row["undecided"] for row in group)
        for group in (other_rows, texts, small_rows)
    ]
    return (
        f"{text}\n\n"
        f"At order 2, {undecided[0]} of sets of 20 labels or vectors in clusters are undecided, "
        f"and {undecided[1]} of sets of 20 texts. With 5 and 10 samples, `growth` extrapolates "
        f"only at order 2, and {undecided[2]} of sets are undecided. From 20 samples on, 95 % "
        f"intervals at n and at 2n cover the true value for "
        f"{_format_range(p for p, _ in covered)} of sets at both "
        f"orders (standard errors up to {format_percent(error, 1)})."
    )


def tabulate_limits_few() -> str:
    """Tabulate the errors of limits of few labels, and how often they are too high."""
    cells: dict[tuple[str, int], dict[float, dict[str, Any]]] = {}
    for row in load_result("growth_few")["rows"]:
        if "limit" in row and row["n"] in SIZES:
            cells.setdefault((row["name"], row["n"]), {})[row["q"]] = row["limit"]
    return format_table(
        ("population", "n", "order 1: mean error", "above", "order 2: mean error", "above"),
        (
            (
                NAMES.get(name, name),
                str(n),
                *(
                    cell
                    for q in (1, 2)
                    for cell in (
                        format_percent(round(math.expm1(result[q]["bias"]), 2) + 0.0),
                        format_percent(result[q]["above"]),
                    )
                ),
            )
            for (name, n), result in cells.items()
        ),
    )


def _format_range(values: Iterable[float]) -> str:
    """Format the lowest and the highest of several proportions as percentages."""
    percentages = list(values)
    return f"{100 * min(percentages):.0f} to {format_percent(max(percentages))}"
