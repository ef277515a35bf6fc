"""Tables and sentences of `sources.py` for the page on different models."""

from collections.abc import Callable
from typing import Any

from cells import loaded, percent, table


def rows(part: str) -> list[dict[str, Any]]:
    return [row for row in loaded("sources")["rows"] if row["part"] == part]


def ends(row: dict[str, Any], name: str = "VS", digits: int = 2) -> str:
    """Return a number with its interval."""
    value, low, high = (f"{row[name + end]:.{digits}f}" for end in ("", "_low", "_high"))
    return f"{value} ({low} to {high})"


def alpaca() -> str:
    """Return models of AlpacaEval: how many differ, and what it took."""
    return table(
        ("kernel", "effective number", "q = 2", "per prompt", "time", "memory beyond answers"),
        (
            (
                row["name"].partition(", by ")[2],
                ends(row, digits=1),
                f"{row['VS_q2']:.1f}",
                f"{row['per_prompt']['mean']:.1f}",
                f"{row['seconds']:.0f} s",
                f"{row['peak_mb']:,.0f} MB",
            )
            for row in rows("alpaca")
        ),
    )


def pairs() -> str:
    """Return the nearest and the farthest models of AlpacaEval by their words."""
    row = rows("alpaca")[0]
    return table(
        ("nearest", "similarity", "farthest", "similarity"),
        (
            (f"{a}, {b}", f"{s:.2f}", f"{c}, {d}", f"{t:.3f}")
            for (a, b, s), (c, d, t) in zip(row["nearest"][:6], row["farthest"][:6], strict=True)
        ),
    )


def quoted() -> str:
    """Return the sentence to quote."""
    words, *others = rows("alpaca")
    n, prompts = len(words["sources"]), words["prompts"]
    text = f"> The answers of {n} models to {prompts} prompts of AlpacaEval 2 are as diverse as "
    text += f"those of {words['VS']:.0f} completely different models, if their wording is compared "
    text += f"(95 % interval {words['VS_low']:.0f} to {words['VS_high']:.0f}; n-grams of one to "
    text += "four words, q = 1)"
    for row in others:
        text += f". If static word vectors are compared, the effective number is {row['VS']:.1f}"
    return f"{text}."


def novelty() -> str:
    """Return people and two models: all answers, halves, and one answer each."""
    parts = {
        "novelty": "3, all answers",
        "halves": "6, halves of the answers",
        "one answer": "3, one answer",
    }
    return table(
        ("kernel", "sources", "effective number", "corrected"),
        (
            (
                row["by"],
                said,
                ends(row),
                ends(row, "VS_corrected") if "VS_corrected" in row else "",
            )
            for part, said in parts.items()
            for row in rows(part)
        ),
    )


def people_quoted() -> str:
    """Return the sentence to quote of people and two models."""
    words, meaning = rows("novelty")
    return (
        f"> On 100 prompts of NoveltyBench, the effective number of three sources (eight people, "
        f"gemini-1.5-pro and gpt-4o) is {ends(words)} by wording (n-grams of one to four words) "
        f"and {ends(meaning)} by meaning (MiniLM), with q = 1 and 95 % intervals. Corrected for "
        f"chance, it is {ends(words, 'VS_corrected')} and {ends(meaning, 'VS_corrected')}."
    )


def people() -> str:
    """Write what each of the three sources adds, and how alike its answers are."""
    return table(
        ("kernel", "source", "contribution", "nearest", "similarity", "within"),
        (
            (
                row["by"],
                one["name"],
                f"{one['adds']:.2f}",
                one["nearest"],
                *(f"{one[key]:.2f}" for key in ("similarity", "within")),
            )
            for row in rows("novelty")
            for one in row["sources"]
        ),
    )


def parts() -> str:
    """Return four parts of one set."""
    return table(
        ("samples", "size of each part", "score", "corrected", "intervals that start at 1"),
        (
            (
                row["name"],
                f"{row['n']:,}",
                f"{row['VS']:.3f}",
                f"{row['VS_corrected']:.3f}",
                percent(row["held"]),
            )
            for row in rows("parts")
        ),
    )


def held() -> str:
    """Tabulate the coverage of intervals from few prompts, and their median widths."""
    every = rows("few")
    counts = sorted({row["prompts"] for row in every})
    cells = {
        (row["name"], row["prompts"]): f"{percent(row['held'], 1)} ({row['width']:.2g})"
        for row in every
    }
    scores = {row["name"]: row["score"] for row in every}
    return table(
        ("sources", "by 100 prompts", *(f"{n} prompts" for n in counts)),
        (
            (name, f"{score:.2f}", *(cells[name, count] for count in counts))
            for name, score in scores.items()
        ),
    )


SOURCES: dict[str, Callable[[], str]] = {
    "sources-alpaca": alpaca,
    "sources-pairs": pairs,
    "sources-quoted": quoted,
    "sources-novelty": novelty,
    "sources-people": people,
    "sources-people-quoted": people_quoted,
    "sources-parts": parts,
    "sources-held": held,
}
