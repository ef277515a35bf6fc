"""Documentation tables and sentences about the results of `sources.py`."""

from collections.abc import Callable
from typing import Any

from cells import format_percent, format_table, load_result


def select_rows(part_name: str) -> list[dict[str, Any]]:
    return [row for row in load_result("sources")["rows"] if row["part"] == part_name]


def format_interval(row: dict[str, Any], name: str = "VS", digits: int = 2) -> str:
    """Format a value with its interval."""
    value, low, high = (f"{row[name + end]:.{digits}f}" for end in ("", "_low", "_high"))
    return f"{value} ({low} to {high})"


def tabulate_alpaca() -> str:
    """Tabulate the effective number of models of AlpacaEval, with time and memory."""
    return format_table(
        ("kernel", "effective number", "q = 2", "per prompt", "time", "memory beyond answers"),
        (
            (
                row["name"].partition(", by ")[2],
                format_interval(row, digits=1),
                f"{row['VS_q2']:.1f}",
                f"{row['per_prompt']['mean']:.1f}",
                f"{row['seconds']:.0f} s",
                f"{row['peak_mb']:,.0f} MB",
            )
            for row in select_rows("alpaca")
        ),
    )


def tabulate_pairs() -> str:
    """Tabulate the most and the least similar models of AlpacaEval, by wording."""
    row = select_rows("alpaca")[0]
    return format_table(
        ("nearest", "similarity", "farthest", "similarity"),
        (
            (f"{a}, {b}", f"{s:.2f}", f"{c}, {d}", f"{t:.3f}")
            for (a, b, s), (c, d, t) in zip(row["nearest"][:6], row["farthest"][:6], strict=True)
        ),
    )


def quote_alpaca() -> str:
    """Return a sentence about AlpacaEval to quote."""
    row_of_ngrams, *other_rows = select_rows("alpaca")
    n, prompts = len(row_of_ngrams["sources"]), row_of_ngrams["prompts"]
    text = f"> The answers of {n} models to {prompts} prompts of AlpacaEval 2 are as diverse as "
    text += f"those of {row_of_ngrams['VS']:.0f} completely different models, if their wording is "
    text += "compared "
    text += f"(95 % interval {row_of_ngrams['VS_low']:.0f} to {row_of_ngrams['VS_high']:.0f}; "
    text += "n-grams of one to "
    text += "four words, q = 1)"
    for row in other_rows:
        text += f". If static word vectors are compared, the effective number is {row['VS']:.1f}"
    return f"{text}."


def tabulate_novelty() -> str:
    """Tabulate the number of sources for humans and two models: all answers, halves, and single
    answers.
    """
    parts = {
        "novelty": "3, all answers",
        "halves": "6, halves of the answers",
        "one answer": "3, one answer",
    }
    return format_table(
        ("kernel", "sources", "effective number", "corrected"),
        (
            (
                row["by"],
                description,
                format_interval(row),
                format_interval(row, "VS_corrected") if "VS_corrected" in row else "",
            )
            for part_name, description in parts.items()
            for row in select_rows(part_name)
        ),
    )


def quote_people() -> str:
    """Return a sentence with the effective number of sources of eight people and two models."""
    row_of_ngrams, row_of_embeddings = select_rows("novelty")
    return (
        f"> On 100 prompts of NoveltyBench, the effective number of three sources (eight people, "
        f"gemini-1.5-pro and gpt-4o) is {format_interval(row_of_ngrams)} by wording (n-grams of "
        "one to four words) "
        f"and {format_interval(row_of_embeddings)} by meaning (MiniLM), with q = 1 and 95 % "
        "intervals. Corrected for "
        f"chance, it is {format_interval(row_of_ngrams, 'VS_corrected')} and "
        f"{format_interval(row_of_embeddings, 'VS_corrected')}."
    )


def tabulate_people() -> str:
    """Tabulate the contributions of three sources, and how similar their answers are.

    The sources are eight people (as one source) and two models, on NoveltyBench.
    """
    return format_table(
        ("kernel", "source", "contribution", "nearest", "similarity", "within"),
        (
            (
                row["by"],
                source["name"],
                f"{source['adds']:.2f}",
                source["nearest"],
                *(f"{source[key]:.2f}" for key in ("similarity", "within")),
            )
            for row in select_rows("novelty")
            for source in row["sources"]
        ),
    )


def tabulate_parts() -> str:
    """Tabulate the effective number of sources for four random parts of one data set.

    It should be near 1, because the parts differ only by chance.
    """
    return format_table(
        ("samples", "size of each part", "score", "corrected", "intervals that start at 1"),
        (
            (
                row["name"],
                f"{row['n']:,}",
                f"{row['VS']:.3f}",
                f"{row['VS_corrected']:.3f}",
                format_percent(row["held"]),
            )
            for row in select_rows("parts")
        ),
    )


def tabulate_coverage() -> str:
    """Tabulate the coverage of intervals from few prompts, and their median widths."""
    few_rows = select_rows("few")
    counts = sorted({row["prompts"] for row in few_rows})
    cells = {
        (row["name"], row["prompts"]): f"{format_percent(row['held'], 1)} ({row['width']:.2g})"
        for row in few_rows
    }
    scores = {row["name"]: row["score"] for row in few_rows}
    return format_table(
        ("sources", "by 100 prompts", *(f"{n} prompts" for n in counts)),
        (
            (name, f"{score:.2f}", *(cells[name, count] for count in counts))
            for name, score in scores.items()
        ),
    )


SOURCE_TABLES: dict[str, Callable[[], str]] = {
    "sources-alpaca": tabulate_alpaca,
    "sources-pairs": tabulate_pairs,
    "sources-quoted": quote_alpaca,
    "sources-novelty": tabulate_novelty,
    "sources-people": tabulate_people,
    "sources-people-quoted": quote_people,
    "sources-parts": tabulate_parts,
    "sources-held": tabulate_coverage,
}
