"""`vendiscore compare`: which of several files is more diverse."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import Any

from ..resolve import as_similarity
from ..signature import line
from ..uncertainty.comparing import compare
from ..uncertainty.comparison import Comparison
from ..uncertainty.plan import Plan
from . import printing
from .comparing import left_out, placing, read_all, read_how, read_order, usage
from .errors import UsageError
from .reading import read


def run(args: Namespace) -> str:
    """What is printed."""
    if len(args.files) < 2 or len(set(args.files)) < len(args.files):
        raise UsageError("compare takes two files or more, each once")
    how, order = read_how(args, ("psd",)), read_order(args)
    with usage():
        Plan(order, args.level, args.permutations, args.match, args.size, seed=args.seed).checked()
    sources = read_all(read, args.files, how.wanted(args), how)
    known = {source.name: source for source in sources}
    asked = dict(how.of(sources[0]))
    if how.skip:  # those that the kernel refuses, file by file, so that their lines can be told
        sources = [left_out(each, as_similarity(each.values, **asked).dropped) for each in sources]
        asked.pop("on_error")
    with placing(known):
        found = compare(
            {source.name: source.values for source in sources},
            groups={source.name: source.groups for source in sources} if args.group_by else None,
            q=order,
            level=args.level,
            permutations=args.permutations,
            match=args.match,
            size=args.size,
            seed=args.seed,
            **asked,
        )
    return _printed(args, found)


def _printed(args: Namespace, found: Comparison) -> str:
    if args.format == "json":
        return printing.as_json(found.to_dict(), args.width)
    sets: list[dict[str, Any]] = [
        {name: value for name, value in asdict(row).items() if value is not None}
        for row in found.sets
    ]
    pairs: list[dict[str, Any]] = [
        asdict(row) | {"verdict": found.verdict(row.a, row.b)} for row in found.pairs
    ]
    if args.format == "csv":
        return printing.comma_separated(pairs, args.width)
    for pair in pairs:  # however few digits are asked for
        pair |= {name: f"{pair[name]:.2g}" for name in ("p", "p_adjusted")}
    made = printing.markdown if args.format == "md" else printing.table
    asked = {name: getattr(args, name) for name in ("level", "match", "permutations", "seed")}
    said = line(["VS"], {**found.settings, "q": found.q, **asked})
    return "\n".join(
        [f"{found.sentence}\n", made(sets, args.width), made(pairs, args.width), f"{said}\n"]
    )
