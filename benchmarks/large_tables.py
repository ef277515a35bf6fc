"""Tables of what large sets cost, from the results of benchmarks."""

import re
from collections.abc import Callable

from cells import loaded, percent, table


def explained() -> str:
    """Write the time and memory of explaining many rows."""
    return table(
        ("rows", "spectrum", "time", "× products", "memory"),
        (
            (
                f"{row['n']:,}",
                row["spectrum"],
                f"{row['explain_s']:.3g} s",
                f"{row['times_products']:.2f}",
                f"{row['peak_mb']:,.0f} MB",
            )
            for row in loaded("explain_large")["rows"]
            if "spectrum" in row
        ),
    )


def selected() -> str:
    """Compare the time of choosing with all products, and VS with the full greedy choice's."""
    return table(
        ("samples", "time", "× products", "VS", "VS of full greedy"),
        (
            (
                re.sub(r"\b(\d{1,2})000\b", r"\1,000", row["name"]),
                f"{row['ours_s']:.2g} s",
                f"{row['times_bare']:.2g}",
                f"{row['VS']:.2f}",
                f"{row['VS_full_greedy']:.2f}",
            )
            for row in loaded("selection_scale")["rows"]
            if "VS_full_greedy" in row
        ),
    )


def selected_huge() -> str:
    """Write how long choosing from 200,000 takes by each objective."""
    rows = [row for row in loaded("selection_scale")["rows"] if row["part"] == "huge"]
    told = (f"{row['seconds']:.0f} s for {row['size']:,} by {row['objective']!r}" for row in rows)
    vendi = next(row for row in rows if "certified" in row)
    return (
        f"Choosing from 200,000 × 384 takes {', '.join(told)}. The choice by 'vendi' has at "
        f"least {percent(vendi['certified'], 1)} of the highest score possible; computing this "
        f"bound takes {vendi['seconds_of_bound']:.0f} s more."
    )


def retrieved() -> str:
    """Write α-nDCG of ten documents by methods with their defaults."""
    rows = {(row["table"], row["name"]): row for row in loaded("retrieval")["rows"]}
    names = [name for kind, name in rows if kind == "topics" and not re.search(r", \S*\d", name)]
    return table(
        ("method", "topics", "digits"),
        (
            (
                name,
                *(
                    f"{rows[kind, name]['alpha_ndcg']:.3f} ± {rows[kind, name]['error']:.3f}"
                    for kind in ("topics", "digits")
                ),
            )
            for name in names
        ),
    )


LARGE: dict[str, Callable[[], str]] = {
    "explained-large": explained,
    "selected-large": selected,
    "selected-huge": selected_huge,
    "retrieved": retrieved,
}
