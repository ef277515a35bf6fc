"""How often does a comparison find a difference where there is none, and where there is one?

    python benchmarks/compare_null.py --repeats 60

Draws two sets of one source again and again, and counts how often each of two rules says that they
differ: that of `compare`, and the one that it had before (the smaller set used whole, the larger
drawn down to its size, a difference of more than two deviations over these draws), which knows
nothing of how else the sets might have come out. Then the same for a source and a narrower one.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from pairs import arguments, environment, write

from vendiscore.similarity.base import Similarity
from vendiscore.spectral.vendi import vendi
from vendiscore.uncertainty import FEW, SAME, compare

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from sources import SOURCES, pooled

SIZES = [(40, 40), (40, 42), (40, 80), (12, 12), (200, 200)]
DRAWS = 10


def before(together: Similarity, sizes: list[int]) -> bool:
    """The rule of one-sided draws: do the sets differ?"""
    matched, start, scores = min(sizes), 0, []
    for size in sizes:
        draws = [
            np.random.default_rng(seed).choice(size, matched, replace=False)
            for seed in range(DRAWS if size > matched else 1)
        ]
        each = [float(vendi(together.take(start + draw), [1]).values[0]) for draw in draws]
        scores.append(np.resize(each, DRAWS))
        start += size
    gaps = scores[0] - scores[1]
    deviation = gaps.std(ddof=1) if np.ptp(gaps) else 0.0
    return bool(abs(gaps.mean()) > max(2 * deviation, 0.01))


def differ(name: str, sizes: tuple[int, int], narrow: float, repeats: int) -> dict[str, Any]:
    """How often the rules tell a set of a source from one of the source or a narrower one."""
    source, options = SOURCES[name]
    now = then = 0
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        sets = [source(rng, sizes[0]), source(rng, sizes[1], narrow)]
        together, each = pooled(sets, **options)
        now += compare(together, each, draws=DRAWS).verdict(0, 1) not in (SAME, FEW)
        then += before(together, each)
    print(f"{name:<20} {sizes!s:<12} {narrow:<6} now {now:3d}   before {then:3d}", flush=True)
    return {"name": name, "sizes": sizes, "narrow": narrow, "now": now, "before": then}


def main() -> None:
    given = arguments(__doc__)
    print(f"of {given.repeats} pairs of sets, said to differ:")
    rows = [
        differ(name, sizes, narrow, given.repeats)
        for narrow in (0.25, 0.35, 0.5)
        for name in SOURCES
        for sizes in (SIZES if narrow == 0.25 else SIZES[:1])
    ]
    write(given.json, rows, environment() | {"repeats": given.repeats, "draws": DRAWS})


if __name__ == "__main__":
    main()
