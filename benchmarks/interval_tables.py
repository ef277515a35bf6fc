"""Documentation tables of the coverage of intervals."""

import re
from typing import Any

import numpy as np
from cells import RESULTS, format_percent, format_table, load_result


def tabulate_few_samples() -> str:
    """Tabulate the lowest coverage of 95 % intervals over orders, and their median width."""
    cells: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for row in load_result("few_samples")["rows"]:
        if "orders" in row and not {"by", "vectors"} & row.keys():
            name = re.sub(r"prompt \d+", "ten prompts", row["name"])
            width = next(x["width"] for x in row["orders"] if x["q"] == 1)
            coverage = min(x["held"] for x in row["orders"])
            cells.setdefault((name, row["n"]), []).append((coverage, width))
    sizes = sorted({n for _, n in cells})

    def cell(coverage_and_widths: list[tuple[float, float]]) -> str:
        coverage, widths = zip(*coverage_and_widths, strict=True)
        return f"{format_percent(min(coverage))} ({np.median(widths):.2g})"

    return format_table(
        ("population", *(f"n = {n}" for n in sizes)),
        (
            (name, *(cell(cells[name, n]) for n in sizes))
            for name in dict.fromkeys(name for name, _ in cells)
        ),
    )


def tabulate_vectors() -> str:
    """Tabulate the coverage of 95 % intervals of vectors, and the proportion of sets with an
    error.
    """
    rows = [row for row in load_result("few_samples")["rows"] if "vectors" in row]
    sizes = sorted({row["n"] for row in rows})
    cells = {}
    for row in rows:
        coverages = [x["held"] for x in row["orders"]]
        error_text = (
            f", error in {format_percent(row['refused'] / row['sets'])}" if row["refused"] else ""
        )
        cells[row["name"], row["n"]] = (
            f"{format_percent(min(coverages))} to {format_percent(max(coverages))}{error_text}"
        )
    return format_table(
        ("vectors", *(f"n = {n}" for n in sizes)),
        (
            (name, *(cells[name, n] for n in sizes))
            for name in dict.fromkeys(x["name"] for x in rows)
        ),
    )


def tabulate_widths() -> str:
    """Tabulate the median width of intervals of order 1 relative to the score, and their
    coverage.
    """
    cells: dict[tuple[str, int], str] = {}
    for row in load_result("few_samples")["rows"]:
        if "orders" in row and not {"by", "vectors"} & row.keys():
            order_1 = next(x for x in row["orders"] if x["q"] == 1)
            cells[row["name"], row["n"]] = (
                f"{order_1['relative']:.2f} ({format_percent(order_1['held'])})"
            )
    sizes = sorted({n for _, n in cells})
    return format_table(
        ("population", *(f"n = {n}" for n in sizes)),
        (
            (name, *(cells[name, n] for n in sizes))
            for name in dict.fromkeys(name for name, _ in cells)
        ),
    )


def tabulate_containers() -> str:
    """Tabulate the coverage of 95 % intervals for recurring samples in several containers."""
    rows = [row for row in load_result("recurrence")["rows"] if "coverage" in row]
    columns = ("texts", "matrix", "embeddings", "tuples")
    coverage = {
        (row["source"], row["container"]): format_percent(row["coverage"], 1) for row in rows
    }
    sources = {row["source"]: row["n"] for row in rows}
    return format_table(
        ("population", "n", *columns),
        (
            (name, str(n), *(coverage.get((name, column), "–") for column in columns))
            for name, n in sources.items()
        ),
    )


def tabulate_interval_widening() -> str:
    """Tabulate by how much the default intervals are wider than with `allow_repeats=False`.

    The samples are vectors that never recur. A cell is "w, × a (× b)": w is the median width with
    `allow_repeats=False`, a the factor by which the default intervals are wider, and b a lower
    bound of this factor for any interval that also covers the score of a population in which one
    vector recurs.
    """
    rows = [row for row in load_result("recurrence")["rows"] if "growth" in row]
    cells = {
        (row["source"], row["n"]): (
            f"{row['before']:.2g}, × {row['growth']:.3g} (× {row['needed']:.3g})"
        )
        for row in rows
    }
    sizes = sorted({n for _, n in cells})
    return format_table(
        ("embeddings", *(f"n = {n}" for n in sizes)),
        (
            (name, *(cells[name, n] for n in sizes))
            for name in dict.fromkeys(name for name, _ in cells)
        ),
    )


def tabulate_pooled_repeats() -> str:
    """Tabulate the coverage of intervals of single prompts that use the repeats of all prompts. A
    cell contains the lowest proportion over orders and numbers of prompts, and the median width at
    q = 1, for separate prompts and for ten prompts together.
    """
    if not (RESULTS / "pooled_repeats.json").exists():
        return "`python benchmarks/pooled_repeats.py` counts them in ten minutes."
    rows = [row for row in load_result("pooled_repeats")["rows"] if row["part"] == "covered"]
    coverages: dict[tuple[str, str], list[float]] = {}
    widths = {}
    for row in rows:
        cell = row["source"], str(row["n"])
        coverages.setdefault(cell, []).append(row["held_pooled"])
        if row["q"] == 1 and row["prompts"] == 10:
            widths[cell] = f"{row['width_own']:.2g} → {row['width_pooled']:.2g}"
    sizes = list(dict.fromkeys(n for _, n in coverages))
    return format_table(
        ("population of each prompt", *(f"n = {n}".replace("n = mixed", "4 to 20") for n in sizes)),
        (
            (
                name,
                *(f"{format_percent(min(coverages[name, n]))} ({widths[name, n]})" for n in sizes),
            )
            for name in dict.fromkeys(name for name, _ in coverages)
        ),
    )


def tabulate_pooled_differences() -> str:
    """Tabulate the coverage of intervals of the difference of two sets in one prompt.

    The lower limits of scores are computed without and with the other nine of ten prompts.
    """
    if not (RESULTS / "pooled_repeats.json").exists():
        return "`python benchmarks/pooled_repeats.py` counts them in ten minutes."
    rows = [row for row in load_result("pooled_repeats")["rows"] if row["part"] == "differences"]
    return format_table(
        ("sets", "n", "interval covers", "wrong direction", "direction stated", "width"),
        (
            (
                row["pair"],
                str(row["n"]),
                format_percent(row["held_pooled"], 1),
                format_percent(row["wrong_pooled"], 1),
                f"{format_percent(row['stated_own'], 1)} → "
                f"{format_percent(row['stated_pooled'], 1)}",
                f"{row['width_own']:.2g} → {row['width_pooled']:.2g}",
            )
            for row in rows
            if row["prompts"] == 10
        ),
    )


def tabulate_empty_prompts() -> str:
    """Tabulate the coverage of intervals of the number of sources."""
    rows = [row for row in load_result("sources")["rows"] if row["part"] == "empty"]
    sizes = sorted({row["prompts"] for row in rows})
    coverage = {(row["q"], row["prompts"]): format_percent(row["held"], 1) for row in rows}
    return format_table(
        ("order", *(f"{m} prompts" for m in sizes)),
        (
            (f"{q:g}", *(coverage[q, m] for m in sizes))
            for q in dict.fromkeys(q for q, _ in coverage)
        ),
    )


def tabulate_clusters() -> str:
    """Tabulate the coverage of intervals for near-copies, with and without `clusters`."""
    rows = [row for row in load_result("few_samples")["rows"] if "by" in row]
    ranges: dict[tuple[str, int], dict[str, str]] = {}
    for row in rows:
        coverages = [x["held"] for x in row["orders"]]
        text = f"{format_percent(min(coverages))} to {format_percent(max(coverages))}"
        ranges.setdefault((row["name"], row["clusters"]), {})[row["by"]] = text
    return format_table(
        ("population", "clusters", "`clusters=`", "without"),
        ((name, str(m), by["clusters"], by["samples"]) for (name, m), by in ranges.items()),
    )


def tabulate_prompt_means() -> str:
    """Tabulate coverage and width of intervals of means over few prompts, with earlier methods."""
    rows = [row for row in load_result("prompt_means")["rows"] if row["part"] == "means"]
    lines = []
    for m in sorted({row["prompts"] for row in rows}):
        cells = [str(m)]
        for chosen_on in (False, True):
            group = [row for row in rows if (row["prompts"], row["chosen_on"]) == (m, chosen_on)]
            for key in ("held", "held_logit"):
                coverages = [row[key] for row in group]
                cells.append(
                    f"{format_percent(min(coverages), 1)} to {format_percent(max(coverages), 1)}"
                )
            cells.append(f"{np.exp(np.mean(np.log([row['width'] for row in group]))):.2g}")
        lines.append(cells)
    columns = ["covered", "logit only", "width"]
    return format_table(("prompts", *columns, *(f"{name} (4 sources)" for name in columns)), lines)


def tabulate_equivalence() -> str:
    """Tabulate false verdicts of equivalence.

    They are verdicts "the same" for populations that differ by exactly the margin.
    """
    rows = (row for row in load_result("compare_options")["rows"] if "same" in row)
    return format_table(
        ("populations", "sets", "`within=`", "runs", 'verdict "the same"'),
        (
            (
                row["name"],
                f"2 × {row['sizes'][0]}",
                f"{row['within']:.3f}",
                str(row["runs"]),
                format_percent(row["same"], 1),
            )
            for row in rows
        ),
    )


def tabulate_growth() -> str:
    """Tabulate the coverage of intervals of growth to twice the number of samples."""
    return _tabulate_by_order("at_2n", "grows")


def tabulate_limits() -> str:
    """Tabulate the coverage of intervals of the limit, and how often there is one."""
    return _tabulate_by_order("asymptote")


def _tabulate_by_order(result_key: str, *extra_keys: str) -> str:
    """Tabulate the coverage of intervals by population and size, with a column for each order."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for row in load_result("growth")["rows"]:
        if result_key in row:
            rows.setdefault((row["name"], row["n"]), {})[row["q"]] = row
    orders = list(next(iter(rows.values())))

    def cell(result: dict[str, Any]) -> str:
        # `told` is the proportion of sets with an interval; `above` and `below` are the proportions
        # of intervals that lie above and below the true value.
        reported = result.get("told", 1.0)
        if reported < 0.01:
            return "–"
        sides = ", ".join(f"{100 * result[side]:.0f}" for side in ("above", "below"))
        suffix = f" of {format_percent(reported)}" if reported < 1 else ""
        return f"{format_percent(result['covered'])}{suffix} ({sides})"

    return format_table(
        (
            "population",
            "n",
            *("log VS grows, q = 1" for _ in extra_keys),
            *(f"q = {q}" for q in orders),
        ),
        (
            (
                name,
                str(n),
                *(f"{result['1.0'][key]:.2f}" for key in extra_keys),
                *(cell(result[q][result_key]) for q in orders),
            )
            for (name, n), result in rows.items()
        ),
    ).replace("q = inf", "q = ∞")


def tabulate_spiders() -> str:
    """Compare growth of published counts of species with ecological estimators."""
    header = ("spiders", "q", "", "half of them", "all n", "2n", "infinitely many")
    rows = []
    for row in load_result("growth")["rows"]:
        for estimator, key in (("growth", "ours"), ("iNEXT", "chao")) if "chao" in row else ():
            scores = ("not identified" if x is None else f"{x:.2f}" for x in row[key])
            rows.append((row["name"], str(row["q"]), estimator, *scores))
    return format_table(header, rows)
