"""Tables of benchmark results for the documentation, from their JSON; `readme.py` writes them."""

import re
import statistics
from collections.abc import Callable
from typing import Any

from cells import loaded, percent, table
from growth_tables import growth_few, limits_few
from interval_tables import (
    clusters,
    containers,
    empty_prompts,
    equivalent,
    few_samples,
    grown,
    limits,
    pooled_differences,
    pooled_repeats,
    prompt_means,
    recurrence,
    spiders,
    vectors,
    widths,
)
from power_tables import power, power_short


def ratio(row: dict[str, Any]) -> str:
    """Return how many times faster ours is; an empty cell where the time stands alone."""
    return f"{row['times_faster']:.3g} ×" if "times_faster" in row else ""


def grid() -> str:
    """Return the cells of the grid, with one thread and with two."""
    cells: dict[tuple[str, str], dict[int, tuple[str, str]]] = {}
    for row in loaded("grid")["rows"]:
        if "error" not in row:
            runs = cells.setdefault((row["name"], row.get("peer", "")), {})
            runs[row["threads"]] = f"{row['ours_s']:.3g} s", ratio(row)
    return table(
        ("task", "peer", "1 thread", "faster", "2 threads", "faster"),
        ((*names, *runs.get(1, ("", "")), *runs.get(2, ("", ""))) for names, runs in cells.items()),
    )


# One row for each kind of work, for the README.
FEW = {
    "compute: score_X, TREC by MiniLM, normalised, 2,722 × 384": "2,722 sentence embeddings",
    "compute: n-grams of questions, 1,000": "n-grams of 1,000 questions",
    "compare: precision and recall, 1,000 × 384": "precision and recall, 2 × 1,000 vectors",
    "mag_area: mag_area, 1,000 × 384": "magnitude of 1,000 vectors",
    "select: 100 that represent, 10,000 × 384": "selecting 100 of 10,000 vectors",
}

# Descriptions of cells that `grid_short` prints instead of their names.
DESCRIPTIONS = {
    "compute: score_K, 1,000 × 1,000": "`score_K` of a 1,000 × 1,000 similarity matrix",
}


def grid_short() -> str:
    """Say the median and the worst ratio to other packages, and tabulate the cells of `FEW`."""
    result = loaded("grid_peers")
    rows = [row for row in result["rows"] if "times_faster" in row]
    worst = min(rows, key=lambda row: row["times_faster"])
    middle = statistics.median(row["times_faster"] for row in rows)
    text = (
        f"In {len(rows)} comparisons with other packages, vendiscore "
        f"{result['environment']['vendiscore']} is {middle:.3g} × as fast as the other package in "
        f"the median, and {worst['times_faster']:.2g} × as fast in the least favourable comparison "
        f"({DESCRIPTIONS.get(worst['name'], worst['name'])}, with "
        f"{worst['threads']} thread{'s' if worst['threads'] > 1 else ''})."
    )
    found = {row["name"]: row for row in rows if row["threads"] == 1}
    few = table(
        ("task, one thread", "seconds", "peer", "faster"),
        (
            (words, f"{row['ours_s']:.3g}", f"`{row['peer']}`", ratio(row))
            for name, words in FEW.items()
            if (row := found.get(name))
        ),
    )
    return f"{text}\n\n{few}"


def scaling() -> str:
    """Return one call in a process of its own, with the memory that the process takes at most."""
    rows = [row for row in loaded("scaling")["rows"] if row["n"] >= 1000]
    return table(
        ("call", "n", "vendiscore", "peer", "peer / vendiscore", "memory", "memory of the peer"),
        (
            (
                row["series"],
                f"{row['n']:,}",
                *(f"{row[k]:.3g} s" for k in ("ours_s", "theirs_s")),
                f"{row['ratio']:.3g}",
                *(f"{row[k]:,.0f} MB" for k in ("ours_peak_mb", "theirs_peak_mb")),
            )
            for row in rows
        ),
    )


def gpu() -> str:
    """Tabulate the times of a GPU next to NumPy's on its host."""
    run = loaded("gpu")
    rows = [row for row in run["rows"] if "seconds" in row]
    about = run["environment"]
    head = f"{about['gpu']}, vendiscore {about['vendiscore']}, `python benchmarks/gpu.py --short`."
    return f"{head}\n\n" + table(
        ("call", "GPU", "NumPy on the CPU", "memory", "predicted memory", "host reads"),
        (
            (
                row["name"],
                f"{row['seconds']:.3g} s",
                f"{row['numpy_s']:.3g} s" if "numpy_s" in row else "",
                f"{row['peak_gb']:.2g} GB",
                f"{row['foretold_gb']:.2g} GB" if "foretold_gb" in row else "",
                str(row.get("host_reads", "")),
            )
            for row in rows
        ),
    )


def estimate_errors() -> str:
    """Return whether estimates are as far off as they say."""
    rows = [row for row in loaded("estimates")["rows"] if row["part"] == "coverage"]
    return table(
        ("score", "root mean square error", "reported error", "within 2 standard errors"),
        (
            (
                row["name"],
                percent(row["rmse"], 3),
                percent(row["said"], 3),
                percent(row["within_2_se"]),
            )
            for row in rows
        ),
    )


def null() -> str:
    """Return how often equal sets are distinguished, over all sources of one size."""
    every: dict[tuple[str, ...], list[Any]] = {}
    for row in loaded("compare_null")["rows"]:
        if "differ_at_1_percent" in row and row["sources"] != "equal mean scores":
            sizes = row["sizes"]
            many = (
                f"{len(sizes)} × {sizes[0]}"
                if len(set(sizes)) == 1
                else " and ".join(map(str, sizes))
            )
            kinds = {
                "prompts": "one source, by prompt",
                "recurring": "one source, answers recur or not",
                "random effects": f"models that differ at random over {row['name']}",
            }
            kind = kinds.get(row["sources"], row["sources"])
            every.setdefault((kind, many, row["q"].replace("inf", "∞")), []).append(row)

    def mean(rows: list[Any], key: str) -> str:
        runs = sum(row["runs"] for row in rows)
        return percent(sum(row["runs"] * row[key] for row in rows) / runs, 1)

    keys = ("differ", "differ_at_1_percent")
    return table(
        ("populations", "sets", "q", "runs", "difference found at 5 %", "at 1 %"),
        (
            (*kind, f"{sum(row['runs'] for row in rows):,}", *(mean(rows, key) for key in keys))
            for kind, rows in every.items()
        ),
    )


def equal_means() -> str:
    """Tabulate the directions stated between sources of equal mean score: all are wrong."""
    rows = [row for row in loaded("compare_null")["rows"] if row["sources"] == "equal mean scores"]
    return table(
        ("populations", "sets", "runs", "p ≤ 0.05", "interval excludes 0", "direction stated"),
        (
            (
                re.sub(
                    r"^a question has (.*), texts",
                    r"one question of \1 versus texts that",
                    row["name"],
                ),
                f"2 × {row['sizes'][0]}",
                f"{row['runs']:,}",
                *(percent(row[key], 1) for key in ("differ", "interval_without_0", "directions")),
            )
            for row in rows
        ),
    )


def differences() -> str:
    """Return how often intervals cover a difference, and how often it is found, over sources."""
    every: dict[int, list[Any]] = {}
    for row in loaded("compare_null")["rows"]:
        if "covered" in row:
            every.setdefault(row["sizes"][0], []).append(row)

    def mean(rows: list[Any], key: str) -> str:
        return percent(sum(row[key] for row in rows) / len(rows))

    keys = ("covered", "above", "below", "differ")
    head = ("n", "runs", "interval covers", "lies above", "below")
    return table(
        (*head, "difference found"),
        (
            (str(n), str(sum(row["runs"] for row in rows)), *(mean(rows, key) for key in keys))
            for n, rows in sorted(every.items())
        ),
    )


def novel_samples() -> str:
    """Return how well novelty tells new samples from known ones, and the nearest neighbours."""
    keys = ("all", "least_of_classes", "nearest")
    return table(
        ("new samples", "all references", "smallest over classes", "five nearest"),
        (
            (row["name"], *(f"{row[key]:.2f}" for key in keys))
            for row in loaded("novelty")["rows"]
            if "nearest" in row
        ),
    )


def novel_best() -> str:
    """Say in how many cases the nearest neighbours tell novel samples best, and where."""
    rows = [row for row in loaded("novelty")["rows"] if "nearest" in row]
    keys = ("all", "least_of_classes", "nearest")
    best = [max(keys, key=lambda key, row=row: row[key]) for row in rows]
    above = sum(row["nearest"] > row["all"] for row in rows)
    kinds: dict[str, int] = {}
    for row, key in zip(rows, best, strict=True):
        if key == "nearest":
            kind = row["name"].partition(",")[0]
            kinds[kind] = kinds.get(kind, 0) + 1
    where = ", ".join(f"{kind}: {count}" for kind, count in kinds.items())
    return (
        f"The similarity to the five nearest references has the largest area in "
        f"{best.count('nearest')} of {len(rows)} cases ({where}). Its area is larger than that of "
        f"the novelty with all references in {above} cases."
    )


def describe_answers(name: str) -> str:
    """Describe simulated answers: numbers of prompts and answers, and how they are drawn."""
    name = re.sub(r"^(one source: )?of 2 to 20 answers", r"\1prompts × 2 to 20 answers", name)
    if name.startswith("one source: "):
        answers, _, drawn = name.removeprefix("one source: ").partition(" answers, ")
        drawn = re.sub(r"^the same (\d+) sentences", r"drawn from \1 sentences", drawn)
        return f"{answers} answers, {drawn}; independent of the prompt"
    return re.sub(
        r" of (\d+) sentences, a share of ([\d.]+) the prompt's own",
        r", drawn from \1 sentences; a proportion of \2 depends on the prompt",
        name,
    )


def shuffled_groups() -> str:
    """Return the diversity between groups, its excess, and how often p is small."""
    return table(
        (
            "prompts × answers",
            "`BetweenVS`",
            "excess",
            "p ≤ 0.05",
            "p ≤ 0.01",
        ),
        (
            (
                describe_answers(row["name"]),
                f"{row['BetweenVS']:.2f}",
                f"{row['BetweenVS_excess']:.2f}".replace("-", "−"),
                *(percent(row[f"p_{level}"], 1) for level in (0.05, 0.01)),
            )
            for row in loaded("two_sets_null")["rows"]
            if "deviation" in row
        ),
    )


def covered() -> str:
    """Return intervals of the jackknife, and the bootstrap that is not offered."""
    return table(
        (
            "kernel",
            "n",
            "standard deviation of log VS",
            "jackknife error",
            "bias of the bootstrap",
        ),
        (
            (
                row["name"],
                str(row["n"]),
                f"{row['deviation']:.3f}",
                f"{row['jackknife_error']:.3f}",
                percent(row["bootstrap_bias"], 1),
            )
            for row in loaded("intervals")["rows"]
            if "bootstrap_bias" in row
        ),
    )


def chosen() -> str:
    """Return the Vendi Score of subsets that were chosen by different rules."""
    return table(
        ("samples", "size", "method", "VS", "time"),
        (
            (
                row["table"],
                str(row["size"]),
                row["name"],
                f"{row['VS']:.2f}",
                f"{row['seconds']:.2g} s" if row["seconds"] else "–",
            )
            for row in loaded("selection")["rows"]
            if "table" in row and "name" in row and "VS" in row
        ),
    )


def planted() -> str:
    """Return recall and precision of near-duplicates that were planted, at each threshold."""
    rows = loaded("near_duplicates")["rows"]
    thresholds = sorted({row["threshold"] for row in rows})
    cells: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        precision = "–" if row["precision"] is None else f"{row['precision']:.2f}"
        names = f"{row['source']}, {row['kernel']}", row["edit"]
        cells.setdefault(names, []).append(f"{row['recall']:.2f}, {precision}")
    head = ("samples, kernel", "edit", *(f"{threshold:g}" for threshold in thresholds))
    return table(head, ((*names, *own) for names, own in cells.items()))


def typical() -> str:
    """Return scores of known sets at q = 1: a table for each kernel, by source and length."""
    every: dict[tuple[str, str], dict[tuple[str, int], dict[int, str]]] = {}
    for row in loaded("typical_values")["rows"]:
        if row["q"] == 1:
            rows = every.setdefault((row["kind"], row["by"]), {})
            own = rows.setdefault((row["source"], row["length"] or 0), {})
            own[row["n"]] = f"{row['VS']:.3g}"
    parts = []
    for (kind, by), sources in every.items():
        sizes = sorted({n for own in sources.values() for n in own})
        units = {"texts": ("words",), "proteins": ("residues",)}.get(kind, ())
        names = list(dict.fromkeys(name for name, _ in sources))
        lines = []
        for (name, length), own in sorted(sources.items(), key=lambda x: names.index(x[0][0])):
            cells = (own.get(n, "") for n in sizes)
            lines.append((name, *([str(length)] if units else []), *cells))
        head = (f"{kind} by {by}", *units, *(f"n = {n:,}" for n in sizes))
        parts.append(table(head, lines))
    return "\n\n".join(parts)


def typical_answers() -> str:
    """Return scores of eight texts of about ten words, of sources that people know."""
    result: dict[str, dict[str, str]] = {}
    for row in loaded("typical_values")["rows"]:
        if (row["q"], row["kind"], row["n"], row["length"]) == (1, "texts", 8, 10):
            result.setdefault(row["source"], {})[row["by"]] = f"{row['VS']:.3g}"
    ways = ("n-grams", "n-grams of letters", "shared words", "MiniLM")
    rows = ((source, *(own[by] for by in ways)) for source, own in result.items())
    return table(("8 texts of about 10 words", *ways), rows)


TABLES: dict[str, Callable[[], str]] = {
    "grid": grid,
    "speed-short": grid_short,
    "scaling": scaling,
    "gpu": gpu,
    "estimate-errors": estimate_errors,
    "null": null,
    "equal-means": equal_means,
    "power": power,
    "power-short": power_short,
    "novelty": novel_samples,
    "shuffled-groups": shuffled_groups,
    "differences": differences,
    "covered": covered,
    "few-samples": few_samples,
    "vectors": vectors,
    "widths": widths,
    "containers": containers,
    "recurrence": recurrence,
    "pooled-repeats": pooled_repeats,
    "pooled-differences": pooled_differences,
    "prompt-means": prompt_means,
    "empty-prompts": empty_prompts,
    "equivalent": equivalent,
    "clusters": clusters,
    "chosen": chosen,
    "grown": grown,
    "limits": limits,
    "growth-few": growth_few,
    "limits-few": limits_few,
    "spiders": spiders,
    "planted": planted,
    "typical": typical,
    "typical-answers": typical_answers,
}
