"""Count how often a verdict and the interval of its difference say different things.

    python benchmarks/compare_verdicts.py --repeats 60

Draws two, three and four sets again and again, of one source or with one narrower set among them,
and two sets of answers to the same prompts. A direction is stated only if p and the interval agree;
counted are intervals that leave out 0 where p shows no difference, and intervals with 0 where p
shows one ("different, direction not shown"). Where all sets have one source, the share of runs in
which any interval leaves out 0 is counted too: 5 % at most are due to chance, however many pairs
there are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pairs import arguments, environment, write

from vendiscore.analysis.compare_options import CompareOptions
from vendiscore.analysis.compare_sets import comparison_steps
from vendiscore.analysis.comparison import SAME, Comparison
from vendiscore.progress import finish

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from sources import SOURCES, pooled

PLAN = CompareOptions(permutations=199).checked()
SIZE = 30
PROMPTS, ANSWERS = 12, 4
ONE, NARROWER = "one source", "one set narrower"


def of_sets(name: str, sets: int, narrow: float, seed: int) -> Comparison:
    """Return sets without groups, the last of which may be narrower."""
    source, options = SOURCES[name]
    rng = np.random.default_rng(seed)
    drawn = [source(rng, SIZE, 0.25 if i + 1 < sets else narrow) for i in range(sets)]
    pool, sizes = pooled(drawn, **options)
    return finish(comparison_steps(pool, np.repeat(range(sets), sizes), list("ABCD"[:sets]), PLAN))


def by_prompt(name: str, sets: int, narrow: float, seed: int) -> Comparison:
    """Draw sets of equally many answers to each prompt; their diversity differs by prompt."""
    source, options = SOURCES[name]
    rng = np.random.default_rng(seed)
    of_prompts = rng.uniform(0.15, 0.35, PROMPTS)
    drawn = [
        [source(rng, ANSWERS, share + (narrow - 0.25) * (i + 1 == sets)) for share in of_prompts]
        for i in range(sets)
    ]
    pool, sizes = pooled([part for own in drawn for part in own], **options)
    places = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    groups = [[places[i * PROMPTS + prompt] for i in range(sets)] for prompt in range(PROMPTS)]
    codes = np.repeat(range(sets), PROMPTS * ANSWERS)
    return finish(comparison_steps(pool, codes, list("ABCD"[:sets]), PLAN, groups))


def disagreements(found: Comparison) -> tuple[int, int, int]:
    """Count intervals without 0 where p shows no difference, with 0 where it does, and all."""
    hidden = said = without = 0
    for row in found.pairs:
        same = found.verdict(row.a, row.b) == SAME
        out = not row.low <= 0 <= row.high
        hidden += same and out
        said += not same and not out
        without += out
    return hidden, said, without


def counted(
    name: str, how: Callable[..., Comparison], sets: int, narrow: float, repeats: int
) -> dict[str, Any]:
    """Return how often verdicts and intervals disagree."""
    found = [disagreements(how(name, sets, narrow, seed)) for seed in range(repeats)]
    row = {
        "name": name,
        "sets": sets,
        "by": "prompts" if how is by_prompt else "samples",
        "sources": ONE if narrow == 0.25 else NARROWER,
        "pairs": repeats * sets * (sets - 1) // 2,
        "out_but_no_difference": sum(each[0] for each in found),
        "in_but_a_difference": sum(each[1] for each in found),
        "runs_with_any_out": sum(each[2] > 0 for each in found) / repeats,
    }
    print(row, flush=True)
    return row


def main() -> None:
    given = arguments(__doc__)
    names = ["texts, n-grams", "vectors, cosine"]
    rows = [
        counted(name, how, sets, narrow, given.repeats)
        for name in names
        for how, several in ((of_sets, (2, 3, 4)), (by_prompt, (2, 3)))
        for sets in several
        for narrow in (0.25, 0.4)
    ]
    pairs, wrong = (
        sum(row[key] for row in rows for key in keys)
        for keys in (("pairs",), ("out_but_no_difference", "in_but_a_difference"))
    )
    print(f"{wrong} of {pairs} pairs disagree")
    write(given.json, rows, environment() | {"repeats": given.repeats, "size": SIZE})


if __name__ == "__main__":
    main()
