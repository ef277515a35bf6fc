"""Short tables for documents, with the most informative rows; the site collapses the full
tables.
"""

import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import registries
from cells import format_percent, format_table, load_result
from growth_tables import tabulate_limits_few
from interval_tables import (
    tabulate_clusters,
    tabulate_containers,
    tabulate_equivalence,
    tabulate_few_samples,
    tabulate_growth,
    tabulate_interval_widening,
    tabulate_limits,
    tabulate_pooled_repeats,
    tabulate_spiders,
    tabulate_vectors,
    tabulate_widths,
)
from large_tables import tabulate_partitions, tabulate_retrieval, tabulate_selection
from source_tables import tabulate_novelty, tabulate_pairs, tabulate_parts, tabulate_people
from tables import (
    describe_best_novelty,
    format_ratio,
    sorted_grid_rows,
    tabulate_differences,
    tabulate_equal_quality,
    tabulate_estimate_errors,
    tabulate_gpu,
    tabulate_jackknife,
    tabulate_near_duplicates,
    tabulate_novelty_cases,
    tabulate_null,
    tabulate_scaling,
    tabulate_selections,
    tabulate_shuffled_groups,
    tabulate_typical_answers,
)

Row = Sequence[str]
WIDTH_POPULATIONS = (
    "n-grams, TREC",
    "MiniLM, TREC",
    "one question has 20 %",
    "stories of people, proportions of Zipf's law",
)
PROMPT_POPULATIONS = (
    "300 equally frequent labels",
    "questions, one with proportion Beta(1, 60)",
    "labels; in every tenth prompt, one label of 50 %",
    "items of similarity 0.8, one item with proportion Beta(1, 6)",
    "answers of gpt-4o",
    "answers of eight people",
    "vectors with 384 columns, none recurs",
)
SIZE_COLUMNS = ("n = 4", "n = 8", "n = 20", "n = 50", "n = 100")


def parse_table(text: str) -> list[list[str]]:
    """Return the cells of the header and the rows of a table."""
    text = text.replace("\N{NO-BREAK SPACE}", " ")  # `format_table` adds them again
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    return [[cell.strip() for cell in row] for row in (rows[0], *rows[2:])]


def select_rows(text: str, is_wanted: Callable[[Row], bool], columns: Iterable[str] = ()) -> str:
    """Return a table of the rows for which `is_wanted` is true, and of the named columns."""
    header, *rows = parse_table(text)
    column_indices = [header.index(name) for name in columns] or range(len(header))
    return format_table(
        [header[i] for i in column_indices],
        ([row[i] for i in column_indices] for row in rows if is_wanted(row)),
    )


def select_columns(text: str, columns: Iterable[str]) -> str:
    """Return a table of the named columns."""
    return select_rows(text, lambda row: True, columns)


def first_rows(text: str, count: int) -> str:
    """Return a table of the first rows."""
    header, *rows = parse_table(text)
    return format_table(header, rows[:count])


def first_number(cell: str) -> float:
    """Return the first number of a cell; infinity if there is none."""
    result = re.search(r"[\d.]+", cell)
    return float(result[0]) if result else float("inf")


def rows_with_smallest(text: str, columns: Iterable[str], count: int) -> str:
    """Return a table of the `count` rows with the smallest numbers in some columns, in their
    order.
    """
    header, *rows = parse_table(text)
    column_indices = [header.index(name) for name in columns]
    order = sorted(rows, key=lambda row: min(first_number(row[i]) for i in column_indices))
    return format_table(header, [row for row in rows if row in order[:count]])


def smallest_row_by_source(
    text: str, column: str, columns: Iterable[str] = (), group_name: Callable[[str], str] = str
) -> str:
    """Return, for each source or group of sources, the row with the smallest number in a column."""
    header, *rows = parse_table(text)
    column_index = header.index(column)
    worst: dict[str, list[str]] = {}
    for row in rows:
        smallest = worst.setdefault(group_name(row[0]), row)
        if first_number(row[column_index]) < first_number(smallest[column_index]):
            worst[group_name(row[0])] = row
    return select_columns(format_table(header, worst.values()), columns)


def describe_call(row: dict[str, Any]) -> str:
    """Describe the function, the samples and the number of threads of a row of the grid."""
    function, _, samples = row["name"].partition(": ")
    samples = samples.removeprefix(f"{function}, ")
    samples = samples.replace("100 that represent,", "100 representative vectors of")
    return f"`{function}`: {samples}"


def summarize_grid() -> str:
    """Summarize the grid by the other package, with one thread."""
    rows = [row for row in sorted_grid_rows() if "times_faster" in row]
    rows_by_peer: dict[str, list[dict[str, float]]] = {}
    for row in rows:
        rows_by_peer.setdefault(row.get("peer", "bare NumPy, SciPy or RDKit"), []).append(row)
    lines = []
    for peer, peer_rows in rows_by_peer.items():
        slowest = min(peer_rows, key=lambda row: row["times_faster"])
        middle = statistics.median(row["times_faster"] for row in peer_rows)
        call = describe_call(slowest)
        lines.append((peer, str(len(peer_rows)), f"{middle:.3g} ×", format_ratio(slowest), call))
    lines.sort(key=lambda line: float(line[3].split()[0]))
    return format_table(
        ("peer", "comparisons", "median", "smallest ratio", "call with the smallest ratio"), lines
    )


def summarize_score_widths() -> str:
    """Tabulate for each number of columns the rows whose `score_X` is slowest next to the peer."""
    slowest: dict[int, dict[str, Any]] = {}
    for row in load_result("score_widths")["rows"]:
        if row.get("dtype") == "float32":
            other = slowest.setdefault(row["d"], row)
            if row["times_faster"] < other["times_faster"]:
                slowest[row["d"]] = row
    rows = sorted(slowest.values(), key=lambda row: row["times_faster"])
    return format_table(
        ("rows", "threads", "seconds", "faster", "error", "error of vendi_score"),
        (
            (
                row["name"],
                str(row["threads"]),
                f"{row['ours_s']:.3g}",
                format_ratio(row),
                f"{row['ours_error']:.1e}",
                f"{row['theirs_error']:.1e}",
            )
            for row in rows
        ),
    )


def largest_sizes() -> str:
    """Return the row of the largest set for each call of the scaling benchmark."""
    header, *rows = parse_table(tabulate_scaling())
    last = {row[0]: row for row in rows}
    return select_columns(
        format_table(header, last.values()),
        ("call", "n", "vendiscore", "peer", "memory", "memory of the peer"),
    )


def summarize_gpu() -> str:
    """Return one row for each type of work on a GPU, below the description of the GPU."""
    text = tabulate_gpu()
    names = (
        "score_X, 200,000 × 512, float64",
        "groups, 10,000 × 8 × 384",
        "explain, 200,000 × 64",
        "eigvalsh, 5,000, float64",
    )
    columns = ("call", "GPU", "NumPy on the CPU", "memory")
    return f"{text.splitlines()[0]}\n\n{select_rows(text, lambda row: row[0] in names, columns)}"


def summarize_null() -> str:
    """Return how often sets of equal diversity are distinguished, for common sizes."""
    kinds = {
        "one population": ("2 × 8", "2 × 20", "2 × 80"),
        "two populations of equal diversity": ("2 × 20",),
        "models whose difference varies over 20 prompts": ("2 × 8",),
    }
    columns = ("populations", "sets", "difference found at 5 %", "at 1 %")
    header, *rows = parse_table(tabulate_null())
    indices = [header.index(column) for column in columns]
    ordered_rows = (
        row
        for kind, sizes in kinds.items()
        for row in rows
        if row[0] == kind and row[1] in sizes and row[2] == "1"
    )
    return format_table(columns, ([row[i] for i in indices] for row in ordered_rows))


def compare_subsets() -> str:
    """Compare methods by the score of their selections, with a column for each pool."""
    _, *rows = parse_table(tabulate_selections())
    pools = list(dict.fromkeys((row[0], row[1]) for row in rows))
    scores: dict[str, dict[tuple[str, str], str]] = {}
    for pool, size, rule, score, _ in rows:
        scores.setdefault(rule, {})[pool, size] = score
    rules = ("vendi", "vendi, swaps=False", "submodlib log det", "greedy DPP (Chen et al.)")
    rules += ("RDKit MaxMin", "represent", "random")
    best = [bound_row["bound"] for bound_row in find_bounds(pools)]
    return format_table(
        ("method", *(f"{size} of {pool}" for pool, size in pools)),
        (
            *((rule, *(scores[rule][pool] for pool in pools)) for rule in rules),
            ("upper bound for all subsets", *(f"{bound:.2f}" for bound in best)),
        ),
    )


def find_bounds(pools: Iterable[tuple[str, str]]) -> list[dict[str, float]]:
    """Return the row with the upper bound of each pool."""
    rows = [row for row in load_result("selection")["rows"] if "bound" in row and "table" in row]
    return [next(row for row in rows if (row["table"], str(row["size"])) == pool) for pool in pools]


def describe_source_coverage() -> str:
    """Report the coverage of intervals of the number of sources from few prompts."""
    rows = [row for row in load_result("sources")["rows"] if row["part"] == "few"]
    rows = [row for row in rows if row["prompts"] >= 4]
    coverages = sorted(row["held"] for row in rows)
    counts = sorted({row["prompts"] for row in rows})
    (draws,) = {row["draws"] for row in rows}
    return (
        f"95 % intervals that are computed from {counts[0]} to {counts[-1]} random prompts of "
        f"NoveltyBench cover the score of all 100 prompts in {format_percent(coverages[0], 1)} to "
        f"{format_percent(coverages[-1], 1)} of "
        f"{draws:,} draws, for two to six sources."
    )


def describe_empty_prompt_coverage() -> str:
    """Report the coverage of intervals if some prompts contain no comparison."""
    rows = [row for row in load_result("sources")["rows"] if row["part"] == "empty"]
    coverages = sorted(row["held"] for row in rows)
    counts = sorted({row["prompts"] for row in rows})
    return (
        "95 % intervals of the effective number of five sources were computed for 2,000 simulated "
        "data sets, in which the sources share 10 to 90 % of their answers. The intervals cover "
        f"the true number in {format_percent(coverages[0], 1)} to "
        f"{format_percent(coverages[-1], 1)} of the data sets, "
        f"depending on the order and on the number of prompts ({counts[0]} to {counts[-1]}) "
        "([sources.py](../benchmarks/sources.py), [results](../benchmarks/results/sources.json))."
    )


def tabulate_typical_extremes() -> str:
    """Return the lowest and the highest of the known sets of 100 that are not texts, by kernel."""
    values_by_kernel: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in load_result("typical_values")["rows"]:
        if (row["q"], row["n"]) == (1, 100) and row["kind"] != "texts":
            unit = f", {row['length']} residues" if row["length"] else ""
            result = values_by_kernel.setdefault((row["kind"], row["by"]), [])
            result.append((row["VS"], f"{row['source']}{unit}"))
    return format_table(
        ("100 samples", "lowest", "VS", "highest", "VS"),
        (
            (f"{kind} by {by}", low[1], f"{low[0]:.3g}", high[1], f"{high[0]:.3g}")
            for (kind, by), result in values_by_kernel.items()
            for low, high in [(min(result), max(result))]
        ),
    )


def tabulate_typical_few() -> str:
    """Tabulate scores of eight texts by source and kernel, for the README."""
    rows = [row for row in load_result("typical_few")["rows"] if row["q"] == 1]
    kernels = list(dict.fromkeys(row["by"] for row in rows))
    scores: dict[str, list[str]] = {}
    for row in rows:
        scores.setdefault(row["source"], []).append(f"{row['VS']:.3g}")
    return format_table(
        ("8 texts of about 10 words", *kernels),
        ((source, *values) for source, values in scores.items()),
    )


def first_clause(text: str) -> str:
    """Return the first clause of a definition, or two clauses if the first is a symbol."""
    first, *more_clauses = re.split(r"(?<=[:;]) ", text)
    return (f"{first} {more_clauses[0]}" if len(first) < 4 and more_clauses else first).rstrip(":;")


def tabulate_short_kernels() -> str:
    """Return the kernels with their definitions and required extras."""
    header, *rows = parse_table(
        select_columns(registries.tabulate_kernels(), ("kernel", "similarity", "extra"))
    )
    return format_table(header, ([row[0], first_clause(row[1]), row[2]] for row in rows))


def tabulate_short_measures() -> str:
    """Return the measures with their definitions."""
    header, *rows = parse_table(
        select_columns(registries.tabulate_measures(), ("measure", "definition"))
    )
    return format_table(header, ([row[0], first_clause(row[1])] for row in rows))


def tabulate_short_presets() -> str:
    """Return the presets with their measures."""
    return select_columns(registries.tabulate_presets(), ("`measures=`", "means"))


SHORT_TABLES: dict[str, Callable[[], str]] = {
    "grid": summarize_grid,
    "score-widths": summarize_score_widths,
    "scaling": largest_sizes,
    "gpu": summarize_gpu,
    "estimate-errors": lambda: rows_with_smallest(
        tabulate_estimate_errors(), ["within 2 standard errors"], 3
    ),
    "null": summarize_null,
    "shuffled-groups": lambda: select_rows(
        tabulate_shuffled_groups(),
        lambda row: re.match(r"20 × 4 .*(digits|from 10 sentences)", row[0]) is not None,
    ),
    "clusters": lambda: select_rows(
        tabulate_clusters(), lambda row: row[1] == "8" and "unequal" not in row[0]
    ),
    "covered": lambda: select_rows(tabulate_jackknife(), lambda row: row[1] == "100"),
    "differences": lambda: select_columns(
        tabulate_differences(), ("n", "interval covers", "difference found")
    ),
    "equivalent": lambda: select_rows(tabulate_equivalence(), lambda row: first_number(row[4]) > 0),
    "chosen": compare_subsets,
    "containers": tabulate_containers,
    "recurrence": tabulate_interval_widening,
    "few-samples": lambda: select_columns(
        rows_with_smallest(tabulate_few_samples(), SIZE_COLUMNS, 4), ["population", *SIZE_COLUMNS]
    ),
    "vectors": lambda: rows_with_smallest(tabulate_vectors(), SIZE_COLUMNS[:4], 6),
    "pooled-repeats": lambda: select_rows(
        tabulate_pooled_repeats(), lambda row: row[0] in PROMPT_POPULATIONS
    ),
    "widths": lambda: select_rows(tabulate_widths(), lambda row: row[0] in WIDTH_POPULATIONS),
    "grown": lambda: smallest_row_by_source(
        tabulate_growth(), "q = 1.0", ["population", "n", "q = 1.0", "q = ∞"]
    ),
    "limits": lambda: smallest_row_by_source(
        tabulate_limits(), "q = 2.0", ["population", "n", "q = 1.0", "q = 2.0"]
    ),
    "limits-few": lambda: select_rows(
        tabulate_limits_few(), lambda row: "Zipf" in row[0] or "TREC" in row[0]
    ),
    "spiders": lambda: select_rows(tabulate_spiders(), lambda row: row[:2] == ["Girdled", "1"]),
    "planted": lambda: select_rows(
        tabulate_near_duplicates(),
        lambda row: row[1] in ("typo", "word dropped", "synonym"),
        ("samples, kernel", "edit", "0.9", "0.95"),
    ),
    "novelty": lambda: smallest_row_by_source(
        tabulate_novelty_cases(), "all references", group_name=lambda name: name.partition(",")[0]
    ),
    "novel-best": describe_best_novelty,
    "equal-quality": tabulate_equal_quality,
    "typical": tabulate_typical_extremes,
    "typical-answers": lambda: select_rows(
        tabulate_typical_answers(),
        lambda row: row[0] != "questions about people",
        ("8 texts of about 10 words", "n-grams", "n-grams of letters", "MiniLM"),
    ),
    "sources-pairs": lambda: first_rows(tabulate_pairs(), 2),
    "sources-novelty": lambda: first_rows(tabulate_novelty(), 4),
    "sources-parts": lambda: select_rows(tabulate_parts(), lambda row: row[1] == "20"),
    "sources-held": describe_source_coverage,
    "empty-prompts": describe_empty_prompt_coverage,
    "sources-people": lambda: select_columns(
        tabulate_people(), ("kernel", "source", "contribution", "within")
    ),
    "selected-large": lambda: select_rows(
        tabulate_selection(), lambda row: "swaps" not in row[0] and "normals" not in row[0]
    ),
    "retrieved": lambda: first_rows(tabulate_retrieval(), 5),
    "partitions": lambda: select_columns(
        tabulate_partitions(), ("engine", "all rows", "within prompts")
    ),
    "kernels": tabulate_short_kernels,
    "measures": tabulate_short_measures,
    "presets": tabulate_short_presets,
    "typical-few": tabulate_typical_few,
}
