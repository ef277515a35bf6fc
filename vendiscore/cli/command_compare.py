"""`vendiscore compare`: find out which of several sets is more diverse."""

from argparse import Namespace
from typing import Any

from ..analysis.compare_sets import compare
from ..analysis.comparison import Comparison, Plan, chance, percent
from ..signature import line
from . import output
from .kernel_options import (
    compared,
    placing,
    prompts_of,
    read_how,
    read_sets,
    usage,
)


def run_compare(args: Namespace) -> str:
    how = read_how(args, ("psd",))
    with usage():
        Plan(how.order, args.level, args.permutations, args.size, seed=args.seed).checked()
    sources = read_sets(args, how)
    asked = dict(how.of(sources[0]))
    if args.on_error == "skip":  # samples that the kernel refuses, file by file: lines are named
        sources = [compared(each, asked, args.given_prompt)[0] for each in sources]
        asked.pop("on_error")
    asked |= {
        "q": how.order,
        "level": args.level,
        "permutations": args.permutations,
        "size": args.size,
        "seed": args.seed,
    }
    if len(sources) == 1:
        known = {"samples": sources[0]}
        values = sources[0].values
        groups: Any = sources[0].groups
        asked["by"] = sources[0].sets
    else:
        known = {source.name: source for source in sources}
        values = {source.name: source.values for source in sources}
        groups = {source.name: source.groups for source in sources if source.groups}
    asked |= {"groups": groups or None} | prompts_of(sources, args.given_prompt)
    with placing(known):
        return _printed(args, compare(values, **asked))


def _printed(args: Namespace, found: Comparison) -> str:
    result = found.to_dict()
    if args.format == "json":
        return output.as_json(result, args.width)
    pairs = result["pairs"]
    if args.format == "csv":
        return output.comma_separated(pairs, args.width)
    for pair, row in zip(pairs, found.pairs, strict=True):  # however few digits are asked for
        pair["p"] = chance(row.p, 1 / (row.permutations + 1))
        pair["p_adjusted"] = chance(row.p_adjusted, row.p_floor)
        pair["level"] = f"{percent(row.level)} %"
        del pair["p_floor"]  # which ≤ says
        del pair["ratio_low"], pair["ratio_high"]  # of `within`
    made = output.FORMATS[args.format]
    asked = {
        "q": found.q,
        "level": args.level,
        "permutations": args.permutations,
        "seed": args.seed,
    }
    signature = line(["VS"], {**found.settings, **asked})
    tables = [made(result["sets"], args.width), made(pairs, args.width)]
    return "\n".join([f"{found.sentence}\n", *tables, f"{signature}\n"])
