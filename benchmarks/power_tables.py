"""Tables of how often a direction is stated, for the documentation."""

from collections.abc import Iterable
from typing import Any

from cells import LABELS, loaded, percent, table


def power() -> str:
    """Tabulate how often the right direction is stated, and any where scores are equal."""
    rows = loaded("power")["rows"]
    parts = {part: [row for row in rows if row["part"] == part] for part in ("unpaired", "equal")}
    prompts = [row for row in rows if "prompts" in row]
    return "\n\n".join(
        [
            by_size("more frequent in the second population", "n", parts["unpaired"], average=True),
            by_size("answers of the first set; of the second set", "prompts", prompts),
            by_size("equal mean scores: any direction", "n", parts["equal"]),
        ]
    )


def power_short() -> str:
    """Tabulate how often the right direction is stated, without prompts and with them."""
    rows = loaded("power")["rows"]
    unpaired = [row for row in rows if row["part"] == "unpaired"]
    unpaired = [row for row in unpaired if "allow_repeats" not in row["name"]]
    labels = [row for row in unpaired if row["name"].startswith("labels")]
    paired = [row for row in rows if row["part"] == "paired"]
    designs = {
        "texts and molecules, 20 % less": [row for row in unpaired if row not in labels],
        "labels, 20 % less": labels,
    }
    by_prompts = {
        f"{percent(1 - ratio)} less": [row for row in paired if row["ratio"] == ratio]
        for ratio in sorted({row["ratio"] for row in paired}, reverse=True)
    }
    return "\n\n".join(
        [
            averages("samples of each model, without prompts", "n", designs),
            averages("the same prompts, eight answers of each model", "prompts", by_prompts),
        ]
    )


def averages(head: str, size: str, designs: dict[str, list[dict[str, Any]]]) -> str:
    """Tabulate the mean over sources for each design, with a column for each size."""
    sizes = sorted({row[size] for rows in designs.values() for row in rows})
    lines = []
    for title, rows in designs.items():
        shares = {n: [row["more"] for row in rows if row[size] == n] for n in sizes}
        columns = (percent(sum(x) / len(x)) if x else "–" for x in shares.values())
        lines.append((title, *columns))
    return table((head, *(str(n) for n in sizes)), lines)


def by_size(head: str, size: str, rows: Iterable[dict[str, Any]], average: bool = False) -> str:
    """Tabulate how often a direction is stated, before and now, with a column for each size."""
    cells: dict[str, dict[int, dict[str, Any]]] = {}
    for row in rows:
        cells.setdefault(name(row), {})[row[size]] = row
    sizes = sorted({column for own in cells.values() for column in own})
    lines = [
        (title, *(cell([own[column]]) if column in own else "–" for column in sizes))
        for title, own in cells.items()
    ]
    if average:
        recurring = [own for title, own in cells.items() if "allow_repeats" not in title]
        complete = [column for column in sizes if all(column in own for own in recurring)]
        means = {column: cell([own[column] for own in recurring]) for column in complete}
        label = "mean of rows without `allow_repeats`"
        lines.insert(0, (label, *(means.get(column, "–") for column in sizes)))
    unit = "n = " if size == "n" else ""
    return table((head, *(f"{unit}{column}" + " prompts" * (not unit) for column in sizes)), lines)


def name(row: dict[str, Any]) -> str:
    """Return the label of a row; with prompts, also the difference and whether they are passed."""
    short_name, comma, option = row["name"].partition(", allow_repeats=False")
    label = LABELS.get(short_name, short_name)
    if "prompts" not in row:
        return f"{label}, `allow_repeats=False`{option}" if comma else label
    design = "by prompt" if row["part"] == "paired" else "without prompts"
    return f"{label}; {percent(1 - row['ratio'])} lower, {design}"


def cell(rows: list[dict[str, Any]]) -> str:
    """Return how often a direction is stated, before and now, and how often a wrong one is."""

    def mean(numbers: list[dict[str, Any]], key: str) -> float:
        return float(sum(each[key] for each in numbers) / len(numbers))

    equal = rows[0]["part"] == "equal"
    now, before = (
        mean(some, "more") + equal * mean(some, "less")
        for some in (rows, [row.get("before", row) for row in rows])
    )
    digits = 1 if equal else 0
    told = percent(now, digits)
    if percent(before, digits) != told:
        told = f"{percent(before, digits)} → {told}"
    wrong = 0.0 if equal else mean(rows, "less")
    return told + (f" (wrong {percent(wrong, 1)})" if wrong else "")
