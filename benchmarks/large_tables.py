"""Tables of what large sets cost, from the results of benchmarks."""

from collections.abc import Callable

from cells import loaded, percent, table


def explained() -> str:
    """Write the time and memory of explaining many rows, and what an index finds."""
    return table(
        ("rows", "spectrum", "`index`", "time", "× products", "memory", "recall", "nearest"),
        (
            (
                f"{row['n']:,}",
                row["spectrum"],
                row["index"],
                f"{row['explain_s']:.3g} s",
                f"{row['times_products']:.2f}",
                f"{row['peak_mb']:,.0f} MB",
                percent(row["recall"], 1),
                percent(row["nearest"], 1),
            )
            for row in loaded("explain_large")["rows"]
            if "index" in row
        ),
    )


def commands() -> str:
    """Write how long the commands take."""
    row = loaded("explain_large")["rows"][-1]
    told = (f"`{name}` {seconds:.0f} s" for name, seconds in row["commands_s"].items())
    return f"Of {row['n']:,} rows {' and '.join(told)}, in {row['peak_mb']:,.0f} MB."


LARGE: dict[str, Callable[[], str]] = {
    "explained-large": explained,
    "commands-large": commands,
}
