"""How often does a comparison find a difference where there is none, and where there is one?

    python benchmarks/compare_null.py --repeats 300

Draws two sets of one source again and again, and counts how often `compare` says at 5 % that they
differ; a z-test of the scores of whole sets beside it, which takes size for diversity. Then two
sources of one diversity that have nothing in common (the words of the second spelt otherwise, its
vectors turned), where exchanging labels is not all there is to it: the same permutations without
dividing by the standard error are counted beside. Then a source and a narrower one: power.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pairs import arguments, environment, write

from vendiscore.comparison import Comparison, subsets
from vendiscore.comparison.compare_sets import comparing
from vendiscore.comparison.comparison import Plan
from vendiscore.progress import finish

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from sources import SOURCES, pooled

PERMUTATIONS = 99
PLAN = Plan(permutations=PERMUTATIONS).checked()


def elsewhere(samples: Any) -> Any:
    """Samples as diverse, that have nothing in common with those of the source."""
    if isinstance(samples, np.ndarray):
        return np.hstack([np.zeros_like(samples), samples])
    return [" ".join(f"z{word}" for word in text.split()) for text in samples]


def here(samples: Any) -> Any:
    """The source, beside what is elsewhere."""
    if isinstance(samples, np.ndarray):
        return np.hstack([samples, np.zeros_like(samples)])
    return samples


def compared(sets: Sequence[Any], options: dict[str, Any]) -> Comparison:
    """Both sets, by `compare` at few permutations; without its bar."""
    pool, sizes = pooled(sets, **options)
    return finish(comparing(pool, np.cumsum([0, *sizes]), ["A", "B"], PLAN))


def naive(found: Comparison) -> bool:
    """Whether a z-test of the scores of whole sets says that they differ."""
    a, b = found.sets
    error = np.hypot(a.se / a.score, b.se / b.score)
    return bool(abs(np.log(a.score / b.score)) > 1.96 * error)


def differ(
    name: str, sizes: tuple[int, int], narrow: float, repeats: int, other: bool = False
) -> dict[str, Any]:
    """How often two sets are said to differ, as a share."""
    source, options = SOURCES[name]
    said = whole = plain = covered = 0
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        sets = [source(rng, sizes[0]), source(rng, sizes[1], narrow)]
        if other:
            sets = [here(sets[0]), elsewhere(sets[1])]
        found = compared(sets, options)
        pair = found.pairs[0]
        said += pair.p <= 0.05
        covered += pair.low <= 0 <= pair.high
        whole += naive(found)
        if other:
            kept, subsets._NO_ERROR = subsets._NO_ERROR, 1e9  # T without its standard error
            plain += compared(sets, options).pairs[0].p <= 0.05
            subsets._NO_ERROR = kept
    row = {
        "name": name,
        "sizes": sizes,
        "narrow": narrow,
        "sources": "two of one diversity" if other else "one" if narrow == 0.25 else "two",
        "differ": said / repeats,
        "interval_has_0": covered / repeats,
        "z_of_whole_sets": whole / repeats,
    }
    if other:
        row["without_standard_error"] = plain / repeats
    print(row, flush=True)
    return row


def main() -> None:
    given = arguments(__doc__)
    vectors_and_texts = [name for name in SOURCES if not name.startswith("molecules")]
    rows = [differ(n, s, 0.25, given.repeats) for n in SOURCES for s in ((40, 40), (80, 40))]
    rows += [differ(n, (80, 80), 0.25, given.repeats, True) for n in vectors_and_texts]
    rows += [differ(n, (40, 40), w, given.repeats) for n in SOURCES for w in (0.35, 0.5)]
    facts = {"repeats": given.repeats, "permutations": PERMUTATIONS}
    write(given.json, rows, environment() | facts)


if __name__ == "__main__":
    main()
