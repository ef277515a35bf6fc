"""Tables of how often a direction is stated, for the documentation."""

from collections.abc import Iterable
from typing import Any

from cells import loaded, percent, table


def power() -> str:
    """Tabulate how often the right direction is stated, and any where scores are equal."""
    rows = loaded("power")["rows"]
    parts = {part: [row for row in rows if row["part"] == part] for part in ("unpaired", "equal")}
    prompts = [row for row in rows if "prompts" in row]
    return "\n\n".join(
        [
            by_size("second source scores a fifth less", "n", parts["unpaired"], average=True),
            by_size("answers to prompts", "prompts", prompts),
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
    """Tabulate the directions stated, before and now, with a column for each size."""
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
        lines.insert(0, ("mean over sources", *(means.get(column, "–") for column in sizes)))
    unit = "n = " if size == "n" else ""
    return table((head, *(f"{unit}{column}" + " prompts" * (not unit) for column in sizes)), lines)


def name(row: dict[str, Any]) -> str:
    """Return the name of a row: with the difference of prompts, and whether they are matched."""
    if "prompts" not in row:
        return str(row["name"].replace("allow_repeats=False", "`allow_repeats=False`"))
    how = "matched" if row["part"] == "paired" else "without their prompts"
    return f"{row['name']}, {percent(1 - row['ratio'])} less, {how}"


def cell(rows: list[dict[str, Any]]) -> str:
    """Return the directions stated, before and now where they differ; wrong ones in parentheses."""

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
