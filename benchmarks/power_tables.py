"""Documentation tables of how often a direction is stated."""

from collections.abc import Iterable
from typing import Any

from cells import LABELS, format_percent, format_table, load_result


def tabulate_power() -> str:
    """Tabulate how often the right direction is stated, and how often any is if scores are
    equal.
    """
    rows = load_result("power")["rows"]
    rows_by_part = {
        part_name: [row for row in rows if row["part"] == part_name]
        for part_name in ("unpaired", "equal")
    }
    prompts = [row for row in rows if "prompts" in row]
    return "\n\n".join(
        [
            tabulate_by_size(
                "more frequent in the second population",
                "n",
                rows_by_part["unpaired"],
                average=True,
            ),
            tabulate_by_size("answers of the first set; of the second set", "prompts", prompts),
            tabulate_by_size("equal mean scores: any direction", "n", rows_by_part["equal"]),
        ]
    )


def tabulate_power_short() -> str:
    """Tabulate how often the right direction is stated, without prompts and with prompts."""
    rows = load_result("power")["rows"]
    unpaired = [row for row in rows if row["part"] == "unpaired"]
    unpaired = [row for row in unpaired if "allow_repeats" not in row["name"]]
    labels = [row for row in unpaired if row["name"].startswith("labels")]
    paired = [row for row in rows if row["part"] == "paired"]
    designs = {
        "texts and molecules, 20 % less": [row for row in unpaired if row not in labels],
        "labels, 20 % less": labels,
    }
    by_prompts = {
        f"{format_percent(1 - ratio)} less": [row for row in paired if row["ratio"] == ratio]
        for ratio in sorted({row["ratio"] for row in paired}, reverse=True)
    }
    return "\n\n".join(
        [
            tabulate_averages("samples of each model, without prompts", "n", designs),
            tabulate_averages(
                "the same prompts, eight answers of each model", "prompts", by_prompts
            ),
        ]
    )


def tabulate_averages(
    title_of_table: str, size: str, designs: dict[str, list[dict[str, Any]]]
) -> str:
    """Tabulate the mean over populations for each design, with a column for each size."""
    sizes = sorted({row[size] for rows in designs.values() for row in rows})
    lines = []
    for title, rows in designs.items():
        proportions = {n: [row["more"] for row in rows if row[size] == n] for n in sizes}
        columns = (format_percent(sum(x) / len(x)) if x else "–" for x in proportions.values())
        lines.append((title, *columns))
    return format_table((title_of_table, *(str(n) for n in sizes)), lines)


def tabulate_by_size(
    title_of_table: str, size: str, rows: Iterable[dict[str, Any]], average: bool = False
) -> str:
    """Tabulate how often a direction is stated, before and now, with a column for each size."""
    cells: dict[str, dict[int, dict[str, Any]]] = {}
    for row in rows:
        cells.setdefault(format_name(row), {})[row[size]] = row
    sizes = sorted({column for row_by_size in cells.values() for column in row_by_size})
    lines = [
        (
            title,
            *(
                format_directions([row_by_size[column]]) if column in row_by_size else "–"
                for column in sizes
            ),
        )
        for title, row_by_size in cells.items()
    ]
    if average:
        recurring = [
            row_by_size for title, row_by_size in cells.items() if "allow_repeats" not in title
        ]
        complete = [
            column for column in sizes if all(column in row_by_size for row_by_size in recurring)
        ]
        means = {
            column: format_directions([row_by_size[column] for row_by_size in recurring])
            for column in complete
        }
        label = "mean of rows without `allow_repeats`"
        lines.insert(0, (label, *(means.get(column, "–") for column in sizes)))
    unit = "n = " if size == "n" else ""
    return format_table(
        (title_of_table, *(f"{unit}{column}" + " prompts" * (not unit) for column in sizes)), lines
    )


def format_name(row: dict[str, Any]) -> str:
    """Return the label of a row; with prompts, also the difference and whether they are passed."""
    short_name, comma, option = row["name"].partition(", allow_repeats=False")
    label = LABELS.get(short_name, short_name)
    if "prompts" not in row:
        return f"{label}, `allow_repeats=False`{option}" if comma else label
    design = "by prompt" if row["part"] == "paired" else "without prompts"
    return f"{label}; {format_percent(1 - row['ratio'])} lower, {design}"


def format_directions(rows: list[dict[str, Any]]) -> str:
    """Return how often a direction is stated, and how often a wrong one, as text.

    "more" and "less" are the proportions of runs that state that the more diverse set is more or
    less diverse. For sets of equal diversity, both are statements of a direction, and both are
    wrong. If the proportion differs from that of the earlier version ("before"), both are shown.
    """

    def mean(values: list[dict[str, Any]], key: str) -> float:
        return float(sum(row[key] for row in values) / len(values))

    equal = rows[0]["part"] == "equal"

    def compute_proportion(values: list[dict[str, Any]]) -> float:
        more = mean(values, "more")
        return more + mean(values, "less") if equal else more

    proportion = compute_proportion(rows)
    earlier_proportion = compute_proportion([row.get("before", row) for row in rows])
    digits = 1 if equal else 0
    text = format_percent(proportion, digits)
    if format_percent(earlier_proportion, digits) != text:
        text = f"{format_percent(earlier_proportion, digits)} → {text}"
    wrong = 0.0 if equal else mean(rows, "less")
    return text + (f" (wrong {format_percent(wrong, 1)})" if wrong else "")
