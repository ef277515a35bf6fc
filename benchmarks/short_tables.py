"""The rows of long tables that a reader decides by, for the documents; the site folds the rest."""

import re
import statistics
from collections.abc import Callable, Iterable, Sequence

import registries
from cells import loaded, percent, table
from growth_tables import limits_few
from interval_tables import (
    containers,
    few_samples,
    grown,
    limits,
    pooled_repeats,
    recurrence,
    spiders,
    vectors,
    widths,
)
from large_tables import partitions, retrieved, selected
from source_tables import novelty, pairs, parts, people
from tables import (
    chosen,
    clusters,
    covered,
    differences,
    equivalent,
    estimate_errors,
    gpu,
    novel_best,
    novel_samples,
    null,
    planted,
    ratio,
    scaling,
    shuffled_groups,
    typical_answers,
)

Row = Sequence[str]
OF_WIDTHS = (
    "n-grams, TREC",
    "MiniLM, TREC",
    "one question has 20 %",
    "stories of people, proportions of Zipf's law",
)
OF_PROMPTS = (
    "300 equally frequent labels",
    "questions, one with proportion Beta(1, 60)",
    "labels; in every tenth prompt, one label of 50 %",
    "items of similarity 0.8, one item with proportion Beta(1, 6)",
    "answers of gpt-4o",
    "answers of eight people",
    "vectors with 384 columns, none recurs",
)
SIZES = ("n = 4", "n = 8", "n = 20", "n = 50", "n = 100")


def cells(text: str) -> list[list[str]]:
    """Return the head and the rows of a table, as cells."""
    text = text.replace("\N{NO-BREAK SPACE}", " ")  # `table` sets them anew
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    return [[cell.strip() for cell in row] for row in (rows[0], *rows[2:])]


def some(text: str, wanted: Callable[[Row], bool], columns: Iterable[str] = ()) -> str:
    """Return a table of the wanted rows and the named columns."""
    head, *rows = cells(text)
    places = [head.index(name) for name in columns] or range(len(head))
    return table(
        [head[i] for i in places], ([row[i] for i in places] for row in rows if wanted(row))
    )


def only(text: str, columns: Iterable[str]) -> str:
    """Return a table of the named columns."""
    return some(text, lambda row: True, columns)


def leading(text: str, count: int) -> str:
    """Return a table of the first rows."""
    head, *rows = cells(text)
    return table(head, rows[:count])


def number(cell: str) -> float:
    """Return the first number of a cell; of an empty one, infinity."""
    result = re.search(r"[\d.]+", cell)
    return float(result[0]) if result else float("inf")


def least(text: str, columns: Iterable[str], count: int) -> str:
    """Return a table of the rows with the smallest numbers in some columns, in their order."""
    head, *rows = cells(text)
    places = [head.index(name) for name in columns]
    order = sorted(rows, key=lambda row: min(number(row[i]) for i in places))
    return table(head, [row for row in rows if row in order[:count]])


def least_of_each(
    text: str, column: str, columns: Iterable[str] = (), kind: Callable[[str], str] = str
) -> str:
    """Return for each source, or kind of source, the row with the smallest number in a column."""
    head, *rows = cells(text)
    place = head.index(column)
    worst: dict[str, list[str]] = {}
    for row in rows:
        kept = worst.setdefault(kind(row[0]), row)
        if number(row[place]) < number(kept[place]):
            worst[kind(row[0])] = row
    return only(table(head, worst.values()), columns)


def grid() -> str:
    """Summarise the grid by the package that ours was timed against, on one thread and on two."""
    rows = [row for row in loaded("grid")["rows"] if "times_faster" in row]
    every: dict[str, list[dict[str, float]]] = {}
    for row in rows:
        every.setdefault(row.get("peer", "bare NumPy, SciPy or RDKit"), []).append(row)
    lines = []
    for peer, own in every.items():
        slowest = min(own, key=lambda row: row["times_faster"])
        middle = statistics.median(row["times_faster"] for row in own)
        threads = f"{slowest['name']}, threads: {slowest['threads']}"
        lines.append((peer, str(len(own)), f"{middle:.3g} ×", ratio(slowest), threads))
    return table(
        ("peer", "comparisons", "median", "smallest ratio", "call with the smallest ratio"), lines
    )


def largest() -> str:
    """Return of each call of the scaling the largest set."""
    head, *rows = cells(scaling())
    last = {row[0]: row for row in rows}
    return only(
        table(head, last.values()),
        ("call", "n", "vendiscore", "peer", "memory", "memory of the peer"),
    )


def on_a_gpu() -> str:
    """Return one row for each kind of work on a GPU, below the sentence that names it."""
    text = gpu()
    names = (
        "score_X, 200,000 × 512, float64",
        "groups, 10,000 × 8 × 384",
        "explain, 200,000 × 64",
        "eigvalsh, 5,000, float64",
    )
    columns = ("call", "GPU", "NumPy on the CPU", "memory")
    return f"{text.splitlines()[0]}\n\n{some(text, lambda row: row[0] in names, columns)}"


def null_rates() -> str:
    """Return how often equal sets of usual sizes are distinguished."""
    kinds = {
        "one population": ("2 × 8", "2 × 20", "2 × 80"),
        "two populations of equal diversity": ("2 × 20",),
        "models whose difference varies over 20 prompts": ("2 × 8",),
    }
    columns = ("populations", "sets", "difference found at 5 %", "at 1 %")
    return some(null(), lambda row: row[1] in kinds.get(row[0], ()) and row[2] == "1", columns)


def subsets() -> str:
    """Compare rules of choice by the score of their subsets, a column for each pool."""
    _, *rows = cells(chosen())
    pools = list(dict.fromkeys((row[0], row[1]) for row in rows))
    scores: dict[str, dict[tuple[str, str], str]] = {}
    for pool, size, rule, score, _ in rows:
        scores.setdefault(rule, {})[pool, size] = score
    rules = ("vendi", "vendi, swaps=False", "submodlib log det", "greedy DPP (Chen et al.)")
    rules += ("RDKit MaxMin", "represent", "random")
    best = [each["bound"] for each in bounds(pools)]
    return table(
        ("method", *(f"{size} of {pool}" for pool, size in pools)),
        (
            *((rule, *(scores[rule][pool] for pool in pools)) for rule in rules),
            ("upper bound for all subsets", *(f"{bound:.2f}" for bound in best)),
        ),
    )


def bounds(pools: Iterable[tuple[str, str]]) -> list[dict[str, float]]:
    """Return of each pool the row with the bound on every subset."""
    rows = [row for row in loaded("selection")["rows"] if "bound" in row and "table" in row]
    return [next(row for row in rows if (row["table"], str(row["size"])) == pool) for pool in pools]


def shares_held() -> str:
    """Report the coverage of intervals of the number of sources from few prompts."""
    rows = [row for row in loaded("sources")["rows"] if row["part"] == "few"]
    rows = [row for row in rows if row["prompts"] >= 4]
    shares = sorted(row["held"] for row in rows)
    counts = sorted({row["prompts"] for row in rows})
    (draws,) = {row["draws"] for row in rows}
    return (
        f"95 % intervals that are computed from {counts[0]} to {counts[-1]} random prompts of "
        f"NoveltyBench cover the score of all 100 prompts in {percent(shares[0], 1)} to "
        f"{percent(shares[-1], 1)} of "
        f"{draws:,} draws, for two to six sources."
    )


def shares_of_empty() -> str:
    """Say how often intervals hold where some prompts tell nothing."""
    rows = [row for row in loaded("sources")["rows"] if row["part"] == "empty"]
    shares = sorted(row["held"] for row in rows)
    counts = sorted({row["prompts"] for row in rows})
    return (
        "95 % intervals of the effective number of five sources were computed for 2,000 simulated "
        "data sets, in which the sources share 10 to 90 % of their answers. The intervals cover "
        f"the true number in {percent(shares[0], 1)} to {percent(shares[-1], 1)} of the data sets, "
        f"depending on the order and on the number of prompts ({counts[0]} to {counts[-1]}) "
        "([sources.py](../benchmarks/sources.py), [results](../benchmarks/results/sources.json))."
    )


def typical_ends() -> str:
    """Return the lowest and the highest of known sets of 100 that are not texts, by kernel."""
    every: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in loaded("typical_values")["rows"]:
        if (row["q"], row["n"]) == (1, 100) and row["kind"] != "texts":
            unit = f", {row['length']} residues" if row["length"] else ""
            result = every.setdefault((row["kind"], row["by"]), [])
            result.append((row["VS"], f"{row['source']}{unit}"))
    return table(
        ("100 samples", "lowest", "VS", "highest", "VS"),
        (
            (f"{kind} by {by}", low[1], f"{low[0]:.3g}", high[1], f"{high[0]:.3g}")
            for (kind, by), result in every.items()
            for low, high in [(min(result), max(result))]
        ),
    )


def typical_few() -> str:
    """Tabulate scores of eight texts by source and kernel, for the README."""
    rows = [row for row in loaded("typical_few")["rows"] if row["q"] == 1]
    kernels = list(dict.fromkeys(row["by"] for row in rows))
    scores: dict[str, list[str]] = {}
    for row in rows:
        scores.setdefault(row["source"], []).append(f"{row['VS']:.3g}")
    return table(
        ("8 texts of about 10 words", *kernels),
        ((source, *values) for source, values in scores.items()),
    )


def clause(text: str) -> str:
    """Return the first clause of a definition, or two if the first is a symbol."""
    first, *others = re.split(r"(?<=[:;]) ", text)
    return (f"{first} {others[0]}" if len(first) < 4 and others else first).rstrip(":;")


def kernels() -> str:
    """Return the kernels by what they compute and the extra that they need."""
    head, *rows = cells(only(registries.markdown(), ("kernel", "similarity", "extra")))
    return table(head, ([row[0], clause(row[1]), row[2]] for row in rows))


def measures() -> str:
    """Return the measures by their definitions."""
    head, *rows = cells(only(registries.measures(), ("measure", "definition")))
    return table(head, ([row[0], clause(row[1])] for row in rows))


def presets() -> str:
    """Return the names that mean several measures."""
    return only(registries.presets(), ("`measures=`", "means"))


SHORT: dict[str, Callable[[], str]] = {
    "grid": grid,
    "scaling": largest,
    "gpu": on_a_gpu,
    "estimate-errors": lambda: least(estimate_errors(), ["within 2 standard errors"], 3),
    "null": null_rates,
    "shuffled-groups": lambda: some(
        shuffled_groups(),
        lambda row: re.match(r"20 × 4 .*(digits|from 10 sentences)", row[0]) is not None,
    ),
    "clusters": lambda: some(clusters(), lambda row: row[1] == "8" and "unequal" not in row[0]),
    "covered": lambda: some(covered(), lambda row: row[1] == "100"),
    "differences": lambda: only(differences(), ("n", "interval covers", "difference found")),
    "equivalent": lambda: some(equivalent(), lambda row: number(row[4]) > 0),
    "chosen": subsets,
    "containers": containers,
    "recurrence": recurrence,
    "few-samples": lambda: only(least(few_samples(), SIZES, 4), ["population", *SIZES]),
    "vectors": lambda: least(vectors(), SIZES[:4], 6),
    "pooled-repeats": lambda: some(pooled_repeats(), lambda row: row[0] in OF_PROMPTS),
    "widths": lambda: some(widths(), lambda row: row[0] in OF_WIDTHS),
    "grown": lambda: least_of_each(grown(), "q = 1.0", ["population", "n", "q = 1.0", "q = ∞"]),
    "limits": lambda: least_of_each(limits(), "q = 2.0", ["population", "n", "q = 1.0", "q = 2.0"]),
    "limits-few": lambda: some(limits_few(), lambda row: "Zipf" in row[0] or "TREC" in row[0]),
    "spiders": lambda: some(spiders(), lambda row: row[:2] == ["Girdled", "1"]),
    "planted": lambda: some(
        planted(),
        lambda row: row[1] in ("typo", "word dropped", "synonym"),
        ("samples, kernel", "edit", "0.9", "0.95"),
    ),
    "novelty": lambda: least_of_each(
        novel_samples(), "all references", kind=lambda name: name.partition(",")[0]
    ),
    "novel-best": novel_best,
    "typical": typical_ends,
    "typical-answers": lambda: some(
        typical_answers(),
        lambda row: row[0] != "questions about people",
        ("8 texts of about 10 words", "n-grams", "n-grams of letters", "MiniLM"),
    ),
    "sources-pairs": lambda: leading(pairs(), 2),
    "sources-novelty": lambda: leading(novelty(), 4),
    "sources-parts": lambda: some(parts(), lambda row: row[1] == "20"),
    "sources-held": shares_held,
    "empty-prompts": shares_of_empty,
    "sources-people": lambda: only(people(), ("kernel", "source", "contribution", "within")),
    "selected-large": lambda: some(
        selected(), lambda row: "swaps" not in row[0] and "normals" not in row[0]
    ),
    "retrieved": lambda: leading(retrieved(), 5),
    "partitions": lambda: only(partitions(), ("function", "all rows", "within prompts")),
    "kernels": kernels,
    "measures": measures,
    "presets": presets,
    "typical-few": typical_few,
}
