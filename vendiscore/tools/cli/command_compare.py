"""`vendiscore compare`: find out which of several sets is more diverse."""

from argparse import Namespace

from ...support.signature import format_signature
from ..analysis.compare_options import CompareOptions
from ..analysis.compare_sets import compare
from ..analysis.comparison import Comparison, format_bounded_p
from . import output
from .kernel_options import (
    compared,
    placing,
    prompts_of,
    read_how,
    read_sets,
    usage,
)

_PLAN = ("size", "level", "permutations", "seed")


def run_compare(args: Namespace) -> str:
    return _printed(args, compared_sets(args))


def compared_sets(args: Namespace) -> Comparison:
    """Compare the sets of files as the options of a command say."""
    own = ("psd", "allow_repeats", "pool_repeats")
    how = read_how(args, own)
    with usage():
        CompareOptions(
            how.order, args.level, args.permutations, args.size, seed=args.seed
        ).checked()
    sources = read_sets(args, how)
    asked = dict(how.of(sources[0]))
    if args.on_error == "skip":  # samples that the kernel refuses, file by file: lines are named
        of_kernel = {name: value for name, value in asked.items() if name not in own}
        sources = [compared(each, of_kernel, args.given_prompt)[0] for each in sources]
        asked.pop("on_error")
    asked["q"] = how.order
    asked |= {name: getattr(args, name) for name in _PLAN}
    if len(sources) == 1:
        known = {"samples": sources[0]}
        values = sources[0].values
        groups: object = sources[0].groups
        asked["by"] = sources[0].sets
    else:
        known = {source.name: source for source in sources}
        values = {source.name: source.values for source in sources}
        groups = {source.name: source.groups for source in sources if source.groups}
    asked |= {"groups": groups or None} | prompts_of(sources, args.given_prompt)
    with placing(known):
        return compare(values, **asked)


def signature_of(args: Namespace, found: Comparison) -> str:
    """Return the settings of a comparison in a line."""
    asked = {name: getattr(args, name) for name in _PLAN}
    if found.allow_repeats is not None:
        asked["allow_repeats"] = found.allow_repeats
    return format_signature(["VS"], {**found.settings, "q": found.q, **asked})


def _printed(args: Namespace, found: Comparison) -> str:
    result = found.to_dict()
    shown = []
    for pair in result["pairs"]:
        row = {name: pair[name] for name in ("a", "b", "difference", "low", "high")}
        row["p"] = format_bounded_p(pair["p_adjusted"], pair["p_floor"])
        row["detectable"] = pair["detectable_difference"]
        shown.append(row | {"verdict": pair["verdict"]})
    sets = result["sets"]
    if found.groups:  # the largest possible score beside the score
        first = ("name", "n", "n_per_group")
        sets = [{name: row[name] for name in first} | row for row in sets]
    else:
        per_group = {"n_per_group", "size_per_group"}
        sets = [{key: row[key] for key in row if key not in per_group} for row in sets]
    tables = [("sets", sets), ("pairs", shown)]
    signature = signature_of(args, found)
    return output.answer(args, found.to_dict, found.sentence, result["pairs"], tables, signature)
