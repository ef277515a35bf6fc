"""Tables of how often intervals hold, for the documentation."""

import re
from typing import Any

import numpy as np
from cells import RESULTS, loaded, percent, table


def few_samples() -> str:
    """Tabulate how often 95 % intervals hold, where it is least often, and their median width."""
    cells: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for row in loaded("few_samples")["rows"]:
        if "orders" in row and not {"by", "vectors"} & row.keys():
            name = re.sub(r"prompt \d+", "ten prompts", row["name"])
            width = next(x["width"] for x in row["orders"] if x["q"] == 1)
            held = min(x["held"] for x in row["orders"])
            cells.setdefault((name, row["n"]), []).append((held, width))
    sizes = sorted({n for _, n in cells})

    def cell(found: list[tuple[float, float]]) -> str:
        held, widths = zip(*found, strict=True)
        return f"{percent(min(held))} ({np.median(widths):.2g})"

    return table(
        ("population", *(f"n = {n}" for n in sizes)),
        (
            (name, *(cell(cells[name, n]) for n in sizes))
            for name in dict.fromkeys(name for name, _ in cells)
        ),
    )


def vectors() -> str:
    """Tabulate how often 95 % intervals of vectors hold, and the share of sets with an error."""
    rows = [row for row in loaded("few_samples")["rows"] if "vectors" in row]
    sizes = sorted({row["n"] for row in rows})
    cells = {}
    for row in rows:
        shares = [x["held"] for x in row["orders"]]
        refused = f", error in {percent(row['refused'] / row['sets'])}" if row["refused"] else ""
        cells[row["name"], row["n"]] = f"{percent(min(shares))} to {percent(max(shares))}{refused}"
    return table(
        ("vectors", *(f"n = {n}" for n in sizes)),
        (
            (name, *(cells[name, n] for n in sizes))
            for name in dict.fromkeys(x["name"] for x in rows)
        ),
    )


def widths() -> str:
    """Tabulate the median width of intervals of order 1 relative to the score, and coverage."""
    cells: dict[tuple[str, int], str] = {}
    for row in loaded("few_samples")["rows"]:
        if "orders" in row and not {"by", "vectors"} & row.keys():
            of_one = next(x for x in row["orders"] if x["q"] == 1)
            cells[row["name"], row["n"]] = f"{of_one['relative']:.2f} ({percent(of_one['held'])})"
    sizes = sorted({n for _, n in cells})
    return table(
        ("population", *(f"n = {n}" for n in sizes)),
        (
            (name, *(cells[name, n] for n in sizes))
            for name in dict.fromkeys(name for name, _ in cells)
        ),
    )


def containers() -> str:
    """Tabulate how often 95 % intervals hold where samples recur, in every container."""
    rows = [row for row in loaded("recurrence")["rows"] if "coverage" in row]
    columns = ("texts", "matrix", "embeddings", "tuples")
    held = {(row["source"], row["container"]): percent(row["coverage"], 1) for row in rows}
    sources = {row["source"]: row["n"] for row in rows}
    return table(
        ("population", "n", *columns),
        (
            (name, str(n), *(held.get((name, column), "–") for column in columns))
            for name, n in sources.items()
        ),
    )


def recurrence() -> str:
    """Tabulate the width of intervals that do not allow for recurrence, and its growth by it."""
    rows = [row for row in loaded("recurrence")["rows"] if "growth" in row]
    cells = {
        (row["source"], row["n"]): (
            f"{row['before']:.2g}, × {row['growth']:.3g} (× {row['needed']:.3g})"
        )
        for row in rows
    }
    sizes = sorted({n for _, n in cells})
    return table(
        ("embeddings", *(f"n = {n}" for n in sizes)),
        (
            (name, *(cells[name, n] for n in sizes))
            for name in dict.fromkeys(name for name, _ in cells)
        ),
    )


def pooled_repeats() -> str:
    """Tabulate how often intervals of single prompts hold that take repeats from all prompts.

    A cell has the least proportion over orders and numbers of prompts, and the median width at
    q = 1 of each prompt by itself and of ten prompts together.
    """
    if not (RESULTS / "pooled_repeats.json").exists():
        return "`python benchmarks/pooled_repeats.py` counts them in ten minutes."
    rows = [row for row in loaded("pooled_repeats")["rows"] if row["part"] == "covered"]
    held: dict[tuple[str, str], list[float]] = {}
    widths = {}
    for row in rows:
        cell = row["source"], str(row["n"])
        held.setdefault(cell, []).append(row["held_pooled"])
        if row["q"] == 1 and row["prompts"] == 10:
            widths[cell] = f"{row['width_own']:.2g} → {row['width_pooled']:.2g}"
    sizes = list(dict.fromkeys(n for _, n in held))
    return table(
        ("population of each prompt", *(f"n = {n}".replace("n = mixed", "4 to 20") for n in sizes)),
        (
            (name, *(f"{percent(min(held[name, n]))} ({widths[name, n]})" for n in sizes))
            for name in dict.fromkeys(name for name, _ in held)
        ),
    )


def pooled_differences() -> str:
    """Tabulate how often intervals of a difference in one prompt hold, of tables of ten prompts."""
    if not (RESULTS / "pooled_repeats.json").exists():
        return "`python benchmarks/pooled_repeats.py` counts them in ten minutes."
    rows = [row for row in loaded("pooled_repeats")["rows"] if row["part"] == "differences"]
    return table(
        ("sets", "n", "interval covers", "wrong direction", "direction stated", "width"),
        (
            (
                row["pair"],
                str(row["n"]),
                percent(row["held_pooled"], 1),
                percent(row["wrong_pooled"], 1),
                f"{percent(row['stated_own'], 1)} → {percent(row['stated_pooled'], 1)}",
                f"{row['width_own']:.2g} → {row['width_pooled']:.2g}",
            )
            for row in rows
            if row["prompts"] == 10
        ),
    )


def empty_prompts() -> str:
    """Tabulate how often intervals of the number of sources hold."""
    rows = [row for row in loaded("sources")["rows"] if row["part"] == "empty"]
    sizes = sorted({row["prompts"] for row in rows})
    held = {(row["q"], row["prompts"]): percent(row["held"], 1) for row in rows}
    return table(
        ("order", *(f"{m} prompts" for m in sizes)),
        ((f"{q:g}", *(held[q, m] for m in sizes)) for q in dict.fromkeys(q for q, _ in held)),
    )


def clusters() -> str:
    """Tabulate how often intervals of near-copies hold, by clusters and by samples."""
    rows = [row for row in loaded("few_samples")["rows"] if "by" in row]
    ranges: dict[tuple[str, int], dict[str, str]] = {}
    for row in rows:
        shares = [x["held"] for x in row["orders"]]
        told = f"{percent(min(shares))} to {percent(max(shares))}"
        ranges.setdefault((row["name"], row["clusters"]), {})[row["by"]] = told
    return table(
        ("population", "clusters", "`clusters=`", "without"),
        ((name, str(m), by["clusters"], by["samples"]) for (name, m), by in ranges.items()),
    )


def prompt_means() -> str:
    """Tabulate coverage and width of intervals of means over few prompts, now and before."""
    rows = [row for row in loaded("prompt_means")["rows"] if row["part"] == "means"]
    lines = []
    for m in sorted({row["prompts"] for row in rows}):
        cells = [str(m)]
        for chosen_on in (False, True):
            some = [row for row in rows if (row["prompts"], row["chosen_on"]) == (m, chosen_on)]
            for key in ("held", "held_logit"):
                shares = [row[key] for row in some]
                cells.append(f"{percent(min(shares), 1)} to {percent(max(shares), 1)}")
            cells.append(f"{np.exp(np.mean(np.log([row['width'] for row in some]))):.2g}")
        lines.append(cells)
    head = ["covered", "logit only", "width"]
    return table(("prompts", *head, *(f"{name} (4 sources)" for name in head)), lines)


def equivalent() -> str:
    """Tabulate how often sources that differ by just the share asked are called the same."""
    rows = (row for row in loaded("compare_options")["rows"] if "same" in row)
    return table(
        ("populations", "sets", "`within=`", "runs", 'verdict "the same"'),
        (
            (
                row["name"],
                f"2 × {row['sizes'][0]}",
                f"{row['within']:.3f}",
                str(row["runs"]),
                percent(row["same"], 1),
            )
            for row in rows
        ),
    )


def grown() -> str:
    """Return intervals of growth to twice the samples, and how often they lie above and below."""
    return _by_order("at_2n", "grows")


def limits() -> str:
    """Return intervals of the score of infinitely many samples, and how often there is one."""
    return _by_order("asymptote")


def _by_order(where: str, *more: str) -> str:
    """Return a row for each source and size, with a cell for each order."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for row in loaded("growth")["rows"]:
        if where in row:
            rows.setdefault((row["name"], row["n"]), {})[row["q"]] = row
    orders = list(next(iter(rows.values())))

    def cell(found: dict[str, Any]) -> str:
        told = found.get("told", 1.0)
        if told < 0.01:
            return "–"
        sides = ", ".join(f"{100 * found[side]:.0f}" for side in ("above", "below"))
        given = f" of {percent(told)}" if told < 1 else ""
        return f"{percent(found['covered'])}{given} ({sides})"

    return table(
        ("population", "n", *("log VS grows, q = 1" for _ in more), *(f"q = {q}" for q in orders)),
        (
            (
                name,
                str(n),
                *(f"{result['1.0'][key]:.2f}" for key in more),
                *(cell(result[q][where]) for q in orders),
            )
            for (name, n), result in rows.items()
        ),
    ).replace("q = inf", "q = ∞")


def spiders() -> str:
    """Return growth of published counts of species, and what ecology's estimators say."""
    head = ("spiders", "q", "", "half of them", "all n", "2n", "infinitely many")
    rows = []
    for row in loaded("growth")["rows"]:
        for who, key in (("growth", "ours"), ("iNEXT", "chao")) if "chao" in row else ():
            scores = ("not identified" if x is None else f"{x:.2f}" for x in row[key])
            rows.append((row["name"], str(row["q"]), who, *scores))
    return table(head, rows)
