"""Documentation tables of benchmark results; `readme.py` writes them."""

import math
import re
import statistics
from collections.abc import Callable
from typing import Any

from cells import format_percent, format_table, load_result
from growth_tables import tabulate_growth_few, tabulate_limits_few
from interval_tables import (
    tabulate_clusters,
    tabulate_containers,
    tabulate_empty_prompts,
    tabulate_equivalence,
    tabulate_few_samples,
    tabulate_growth,
    tabulate_interval_widening,
    tabulate_limits,
    tabulate_pooled_differences,
    tabulate_pooled_repeats,
    tabulate_prompt_means,
    tabulate_spiders,
    tabulate_vectors,
    tabulate_widths,
)
from power_tables import tabulate_power, tabulate_power_short


def format_ratio(row: dict[str, Any]) -> str:
    """Format how many times faster vendiscore is; '' if there is no other time."""
    return f"{row['times_faster']:.3g} ×" if "times_faster" in row else ""


def sorted_grid_rows() -> list[dict[str, Any]]:
    """Return the rows of the grid with one thread: those with the lowest ratios first."""
    rows = [row for row in load_result("grid")["rows"] if row.get("threads") == 1]
    rows = [row for row in rows if "error" not in row]
    return sorted(rows, key=lambda row: row.get("times_faster", math.inf))


def format_difference(row: dict[str, Any]) -> str:
    """Format the relative difference of both values; '' if there is no other value."""
    return f"{row['difference']:.0e}" if "difference" in row else ""


def tabulate_grid() -> str:
    """Tabulate the cells of the grid with one thread, the lowest ratios first."""
    return format_table(
        ("task", "peer", "seconds", "faster", "difference of the values"),
        (
            (
                row["name"],
                row.get("peer", ""),
                f"{row['ours_s']:.3g}",
                format_ratio(row),
                format_difference(row),
            )
            for row in sorted_grid_rows()
        ),
    )


# Why calls of these tasks take longer than those of the peer.
BOUNDS = {
    "compute: score_K of float32": "eigenvalues are computed in float64, because those of the peer "
    "in float32 have larger errors",
    "compute: score_K": "checks of the entries; the eigensolver is the same",
    "compute: rbf": "the eigenvalues take most of the time; duplicates are searched, and distances "
    "of close rows computed again",
    "explain: nearest neighbours": "`explain` also computes eigenvectors and surprisals",
    "select: 100 by the Vendi Score": "the other package maximizes a determinant, whose gains are "
    "cheaper than those of the Vendi Score",
    "compute: score_X": "checks of the rows",
}


def tabulate_slower_calls() -> str:
    """Tabulate the calls of the grid that take longer than those of another package, and why."""
    rows = [
        row for row in sorted_grid_rows() if row.get("kind") == "peer" and row["times_faster"] < 1
    ]
    if not rows:
        return "No call takes longer than that of another package."
    return format_table(
        ("task", "other package", "faster", "difference of the values", "what takes longer"),
        (
            (
                row["name"],
                row["peer"],
                format_ratio(row),
                format_difference(row),
                next((why for task, why in BOUNDS.items() if row["name"].startswith(task)), ""),
            )
            for row in rows
        ),
    )


def tabulate_score_widths() -> str:
    """Tabulate `score_X` by size and precision, the lowest ratios first."""
    runs: dict[str, dict[int, dict[str, Any]]] = {}
    for row in load_result("score_widths")["rows"]:
        if "error" not in row:
            runs.setdefault(row["name"], {})[row["threads"]] = row
    ordered = sorted(
        runs.items(), key=lambda item: min(row["times_faster"] for row in item[1].values())
    )
    all_threads = sorted({threads for by_threads in runs.values() for threads in by_threads})
    headers = [
        text
        for threads in all_threads
        for text in (f"{threads} thread{'s' * (threads > 1)}", "faster")
    ]
    return format_table(
        ("rows", *headers, "error", "error of vendi_score"),
        (
            (
                name,
                *(
                    text
                    for threads in all_threads
                    for text in (f"{by[threads]['ours_s']:.3g} s", format_ratio(by[threads]))
                ),
                f"{by[1]['ours_error']:.1e}",
                f"{by[1]['theirs_error']:.1e}",
            )
            for name, by in ordered
        ),
    )


# Cells that README shows, with their descriptions.
README_CELLS = {
    "compute: score_X, TREC by MiniLM, normalised, 2,722 × 384": "2,722 sentence embeddings",
    "compute: n-grams of questions, 1,000": "n-grams of 1,000 questions",
    "compare: precision and recall, 1,000 × 384": "precision and recall, 2 × 1,000 vectors",
    "mag_area: mag_area, 1,000 × 384": "magnitude of 1,000 vectors",
    "select: 100 that represent, 10,000 × 384": "selecting 100 of 10,000 vectors",
}

# Descriptions of cells that `summarize_grid_for_readme` uses instead of their names.
DESCRIPTIONS = {
    "select: 100 by the Vendi Score, 1,000": "the selection of 100 of 1,000 vectors by their Vendi "
    "Score, while pyversity maximizes a determinant",
    "explain: nearest neighbours": "`explain`, which computes more than the nearest neighbours of "
    "the package faiss",
    "compute: score_K": "`score_K` of a similarity matrix",
}


def summarize_grid_for_readme() -> str:
    """Report the median and the lowest ratio to other packages, and tabulate `README_CELLS`."""
    rows = [row for row in sorted_grid_rows() if row.get("kind") == "peer"]
    worst = rows[0]
    middle = statistics.median(row["times_faster"] for row in rows)
    description = next(
        text for task, text in DESCRIPTIONS.items() if worst["name"].startswith(task)
    )
    text = (
        f"In all {len(rows)} comparisons with other packages, vendiscore "
        f"{load_result('grid')['environment']['vendiscore']} is {middle:.3g} × as fast as the "
        f"other package in the median, and {worst['times_faster']:.2g} × as fast in the least "
        f"favourable comparison: {description}."
    )
    rows_by_name = {row["name"]: row for row in rows}
    readme_table = format_table(
        ("task, one thread", "seconds (vendiscore)", "other package", "faster"),
        (
            (words, f"{row['ours_s']:.3g}", f"`{row['peer']}`", format_ratio(row))
            for name, words in README_CELLS.items()
            if (row := rows_by_name.get(name))
        ),
    )
    return f"{text}\n\n{readme_table}"


def tabulate_scaling() -> str:
    """Tabulate time and peak memory of calls, each in a separate process."""
    rows = [row for row in load_result("scaling")["rows"] if row["n"] >= 1000]
    return format_table(
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


def tabulate_gpu() -> str:
    """Tabulate the times on a GPU and those of NumPy on its host."""
    run = load_result("gpu")
    rows = [row for row in run["rows"] if "seconds" in row]
    environment = run["environment"]
    description = (
        f"{environment['gpu']}, vendiscore {environment['vendiscore']}, "
        "`python benchmarks/gpu.py --short`."
    )
    return f"{description}\n\n" + format_table(
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


def tabulate_estimate_errors() -> str:
    """Tabulate the errors of estimates and the reported errors."""
    rows = [row for row in load_result("estimates")["rows"] if row["part"] == "coverage"]
    return format_table(
        ("score", "root mean square error", "reported error", "within 2 standard errors"),
        (
            (
                row["name"],
                format_percent(row["rmse"], 3),
                format_percent(row["said"], 3),
                format_percent(row["within_2_se"]),
            )
            for row in rows
        ),
    )


def tabulate_null() -> str:
    """Tabulate how often sets of equal diversity are distinguished, by sizes."""
    rows_by_kind: dict[tuple[str, ...], list[Any]] = {}
    for row in load_result("compare_null")["rows"]:
        # Equal mean scores and intervals of differences have tables of their own.
        if "differ_at_1_percent" in row and row["sources"] != "equal mean scores":
            sizes = row["sizes"]
            sets_text = (
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
            rows_by_kind.setdefault((kind, sets_text, row["q"].replace("inf", "∞")), []).append(row)

    def mean(rows: list[Any], key: str) -> str:
        runs = sum(row["runs"] for row in rows)
        return format_percent(sum(row["runs"] * row[key] for row in rows) / runs, 1)

    keys = ("differ", "differ_at_1_percent")
    return format_table(
        ("populations", "sets", "q", "runs", "difference found at 5 %", "at 1 %"),
        (
            (*kind, f"{sum(row['runs'] for row in rows):,}", *(mean(rows, key) for key in keys))
            for kind, rows in rows_by_kind.items()
        ),
    )


def tabulate_equal_means() -> str:
    """Tabulate the directions stated for populations of equal mean score, all of which are
    wrong.
    """
    rows = [
        row for row in load_result("compare_null")["rows"] if row["sources"] == "equal mean scores"
    ]
    return format_table(
        ("populations", "sets", "runs", "p ≤ 0.05", "interval excludes 0", "direction stated"),
        (
            (
                # "a question has 20 %, texts share four words" becomes "one question of 20 % versus
                # texts that share four words".
                re.sub(
                    r"^a question has (.*), texts",
                    r"one question of \1 versus texts that",
                    row["name"],
                ),
                f"2 × {row['sizes'][0]}",
                f"{row['runs']:,}",
                *(
                    format_percent(row[key], 1)
                    for key in ("differ", "interval_without_0", "directions")
                ),
            )
            for row in rows
        ),
    )


def tabulate_differences() -> str:
    """Tabulate how often intervals cover a difference, and how often it is detected."""
    rows_by_size: dict[int, list[Any]] = {}
    for row in load_result("compare_null")["rows"]:
        if "covered" in row:
            rows_by_size.setdefault(row["sizes"][0], []).append(row)

    def mean(rows: list[Any], key: str) -> str:
        digits = 1 if key == "covered" else 0
        return format_percent(sum(row[key] for row in rows) / len(rows), digits)

    keys = ("covered", "above", "below", "differ")
    columns = ("n", "runs", "interval covers", "lies above", "below")
    return format_table(
        (*columns, "difference found"),
        (
            (str(n), str(sum(row["runs"] for row in rows)), *(mean(rows, key) for key in keys))
            for n, rows in sorted(rows_by_size.items())
        ),
    )


def tabulate_novelty_cases() -> str:
    """Tabulate how well novelty and the nearest neighbours distinguish new samples from known
    ones.
    """
    keys = ("all", "least_of_classes", "nearest")
    return format_table(
        ("new samples", "all references", "smallest over classes", "five nearest"),
        (
            (row["name"], *(f"{row[key]:.2f}" for key in keys))
            for row in load_result("novelty")["rows"]
            if "nearest" in row
        ),
    )


def describe_best_novelty() -> str:
    """Report in how many cases the nearest neighbours distinguish novel samples best."""
    rows = [row for row in load_result("novelty")["rows"] if "nearest" in row]
    keys = ("all", "least_of_classes", "nearest")
    best = [max(keys, key=lambda key, row=row: row[key]) for row in rows]
    above = sum(row["nearest"] > row["all"] for row in rows)
    kinds: dict[str, int] = {}
    for row, key in zip(rows, best, strict=True):
        if key == "nearest":
            kind = row["name"].partition(",")[0]
            kinds[kind] = kinds.get(kind, 0) + 1
    locations = ", ".join(f"{kind}: {count}" for kind, count in kinds.items())
    return (
        f"The similarity to the five nearest references has the largest area in "
        f"{best.count('nearest')} of {len(rows)} cases ({locations}). Its area is larger than "
        "that of "
        f"the novelty with all references in {above} cases."
    )


def tabulate_equal_quality() -> str:
    """Tabulate the true parts of differences at equal quality, and the coverage of intervals."""
    parts = ("total", "among_correct", "from_failures")
    return format_table(
        ("simulation", "prompts", *(f"`{part}`, coverage" for part in parts), "naive"),
        (
            (
                row["name"],
                str(row["prompts"]),
                *(
                    f"{row[part] + 0.0:+.2f}, {format_percent(row[f'{part}_coverage'], 1)}".replace(
                        "-", "−"
                    )
                    for part in parts
                ),
                f"{row['naive']:+.2f}".replace("-", "−"),
            )
            for row in load_result("equal_quality")["rows"]
        ),
    )


def describe_answers(name: str) -> str:
    """Describe simulated answers: numbers of prompts and answers, and how they are drawn."""
    name = re.sub(r"^(one source: )?of 2 to 20 answers", r"\1prompts × 2 to 20 answers", name)
    if name.startswith("one source: "):
        answers, _, source = name.removeprefix("one source: ").partition(" answers, ")
        source = re.sub(r"^the same (\d+) sentences", r"drawn from \1 sentences", source)
        return f"{answers} answers, {source}; independent of the prompt"
    return re.sub(
        r" of (\d+) sentences, a share of ([\d.]+) the prompt's own",
        r", drawn from \1 sentences; a proportion of \2 depends on the prompt",
        name,
    )


def tabulate_shuffled_groups() -> str:
    """Tabulate the diversity between groups, its excess, and how often p is small."""
    return format_table(
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
                *(format_percent(row[f"p_{level}"], 1) for level in (0.05, 0.01)),
            )
            for row in load_result("two_sets_null")["rows"]
            if "deviation" in row
        ),
    )


def tabulate_jackknife() -> str:
    """Tabulate jackknife errors, and the bias of the bootstrap, which is not offered."""
    return format_table(
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
                format_percent(row["bootstrap_bias"], 1),
            )
            for row in load_result("intervals")["rows"]
            if "bootstrap_bias" in row
        ),
    )


def tabulate_selections() -> str:
    """Tabulate the Vendi Scores of subsets that different methods selected."""
    return format_table(
        ("samples", "size", "method", "VS", "time"),
        (
            (
                row["table"],
                str(row["size"]),
                row["name"],
                f"{row['VS']:.2f}",
                f"{row['seconds']:.2g} s" if row["seconds"] else "–",
            )
            for row in load_result("selection")["rows"]
            if "table" in row and "name" in row and "VS" in row
        ),
    )


def tabulate_near_duplicates() -> str:
    """Tabulate recall and precision of near-duplicates for edited copies, by threshold."""
    rows = load_result("near_duplicates")["rows"]
    thresholds = sorted({row["threshold"] for row in rows})
    cells: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        precision = "–" if row["precision"] is None else f"{row['precision']:.2f}"
        names = f"{row['source']}, {row['kernel']}", row["edit"]
        cells.setdefault(names, []).append(f"{row['recall']:.2f}, {precision}")
    header = ("samples, kernel", "edit", *(f"{threshold:g}" for threshold in thresholds))
    return format_table(header, ((*names, *values) for names, values in cells.items()))


def tabulate_typical() -> str:
    """Tabulate scores of known sets at q = 1: a table for each kernel, by source and length."""
    values_by_kernel: dict[tuple[str, str], dict[tuple[str, int], dict[int, str]]] = {}
    for row in load_result("typical_values")["rows"]:
        if row["q"] == 1:
            rows = values_by_kernel.setdefault((row["kind"], row["by"]), {})
            values_by_size = rows.setdefault((row["source"], row["length"] or 0), {})
            values_by_size[row["n"]] = f"{row['VS']:.3g}"
    parts = []
    for (kind, by), sources in values_by_kernel.items():
        sizes = sorted({n for values_by_size in sources.values() for n in values_by_size})
        units = {"texts": ("words",), "proteins": ("residues",)}.get(kind, ())
        names = list(dict.fromkeys(name for name, _ in sources))
        lines = []
        for (name, length), values_by_size in sorted(
            sources.items(), key=lambda x: names.index(x[0][0])
        ):
            cells = (values_by_size.get(n, "") for n in sizes)
            lines.append((name, *([str(length)] if units else []), *cells))
        header = (f"{kind} by {by}", *units, *(f"n = {n:,}" for n in sizes))
        parts.append(format_table(header, lines))
    return "\n\n".join(parts)


def tabulate_typical_answers() -> str:
    """Tabulate scores of eight texts of about ten words, from well-known sources."""
    result: dict[str, dict[str, str]] = {}
    for row in load_result("typical_values")["rows"]:
        if (row["q"], row["kind"], row["n"], row["length"]) == (1, "texts", 8, 10):
            result.setdefault(row["source"], {})[row["by"]] = f"{row['VS']:.3g}"
    kernels = ("n-grams", "n-grams of letters", "shared words", "MiniLM")
    rows = (
        (source, *(values_by_kernel[by] for by in kernels))
        for source, values_by_kernel in result.items()
    )
    return format_table(("8 texts of about 10 words", *kernels), rows)


TABLES: dict[str, Callable[[], str]] = {
    "grid": tabulate_grid,
    "grid-slower": tabulate_slower_calls,
    "score-widths": tabulate_score_widths,
    "speed-short": summarize_grid_for_readme,
    "scaling": tabulate_scaling,
    "gpu": tabulate_gpu,
    "estimate-errors": tabulate_estimate_errors,
    "null": tabulate_null,
    "equal-means": tabulate_equal_means,
    "power": tabulate_power,
    "power-short": tabulate_power_short,
    "novelty": tabulate_novelty_cases,
    "shuffled-groups": tabulate_shuffled_groups,
    "differences": tabulate_differences,
    "covered": tabulate_jackknife,
    "few-samples": tabulate_few_samples,
    "vectors": tabulate_vectors,
    "widths": tabulate_widths,
    "containers": tabulate_containers,
    "recurrence": tabulate_interval_widening,
    "pooled-repeats": tabulate_pooled_repeats,
    "pooled-differences": tabulate_pooled_differences,
    "prompt-means": tabulate_prompt_means,
    "empty-prompts": tabulate_empty_prompts,
    "equivalent": tabulate_equivalence,
    "clusters": tabulate_clusters,
    "chosen": tabulate_selections,
    "grown": tabulate_growth,
    "limits": tabulate_limits,
    "growth-few": tabulate_growth_few,
    "limits-few": tabulate_limits_few,
    "spiders": tabulate_spiders,
    "planted": tabulate_near_duplicates,
    "typical": tabulate_typical,
    "typical-answers": tabulate_typical_answers,
}
