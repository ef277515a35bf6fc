"""`vendiscore select` and `vendiscore explain`: choose samples, or explain them one by one."""

import sys
from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from ..analysis import sentences
from ..analysis.explain import explained, read_terms
from ..analysis.sample_table import COLUMNS, Explanation
from ..core.types import Record
from ..measures.subject import Subject
from ..reading.samples import Samples
from ..resolve.prompt_groups import groups_of
from ..selection import select
from ..signature import line
from ..similarity.base import Similarity
from ..summary import shortened
from . import output
from .exit_codes import UsageError
from .kernel_options import (
    How,
    check_one_set,
    compared,
    placing,
    read_all,
    read_how,
)

_LETTERS = 60


def run_select(args: Namespace) -> str:
    """Return the chosen samples, as the file has them."""
    how, source, similarity, given = _read(args, "initial", "swaps", "psd")
    if source.prompts and not args.given_prompt:
        raise UsageError(
            "select looks at one set: take the prompts out of similarities by --given-prompt, or "
            "leave --prompt out"
        )
    with placing({"samples": source}):
        found = select(
            similarity,
            args.size,
            objective=args.objective,
            quality=source.quality or None,
            **given,
        )
    kept = found.places.tolist()
    places = _places(source, kept)
    if args.format == "json":
        text = output.as_json({**found.to_dict(), "samples": places}, args.width)
    else:
        how.note(f"{source.name}: {found.sentence}")
        text = "".join(f"{place}\n" for place in places)
        if source.written and not args.rows:
            text = source.written(kept)
    if found.interrupted:
        sys.stdout.write(text)
        raise KeyboardInterrupt
    return text


def run_explain(args: Namespace) -> str:
    """Return a summary, near-duplicates and modes; or a row for each sample."""
    _, source, similarity, given = _read(args, "psd")
    with placing({"samples": source}):
        order, limit, psd = read_terms(given["q"], args.threshold, given.get("psd", "check"))
        groups = groups_of(source.prompts) if source.prompts else None
        subject = Subject(similarity, orders=[order], psd=psd, groups=groups)
        within = groups is not None
        found = explained(subject, order, limit, texts=source.values, within=within)
    if args.format == "json":
        return output.as_json({**found.to_dict(), "places": source.places}, args.width)
    rows = _samples(found, source)
    made = output.FORMATS[args.format]
    if args.format == "csv":
        return made(rows, args.width)
    heading = "### {}\n\n" if args.format == "md" else "{}:\n"
    shown = filter(None, [found.sentence, found.strip, ""])
    parts = ["".join(f"{line}\n" for line in shown)]
    for title, some in _tables(found, source, rows, args.size).items():
        if some:
            parts.append(heading.format(title) + made(some, args.width))
    settings = {**similarity.settings, "q": order, "threshold": found.threshold}
    signature = line(["explain"], settings)
    return "\n".join([*parts, f"{signature}\n"])


def _tables(
    found: Explanation, source: Samples, rows: list[Record], size: int
) -> dict[str, list[Record]]:
    """Return the tables of an explanation by their headings, of up to `size` rows."""
    unit = source.unit

    def pick(i: int, *names: str) -> Record:
        return {name: rows[i][name] for name in names}

    repeated = []
    for i, rest in found.groups[:size]:
        near = ", ".join(map(str, _places(source, rest[:8])))
        if len(rest) > 8:
            near += ", …"
        repeated.append(pick(i, unit) | {"near-duplicates": near} | pick(i, "sample"))
    pairs = []
    above, below = found.boundary()
    for i, j, alike in [*above[::-1], *below]:
        other = pick(j, unit, "sample")
        named = {f"other {name}": value for name, value in other.items()}
        pairs.append({"similarity": alike} | pick(i, unit, "sample") | named)
    modes = []
    for mode in found.modes():
        if len(mode.exemplars):
            row = {"share": mode.share, "members": len(mode.members)}
            modes.append(row | pick(int(mode.exemplars[0]), unit, "sample"))
    columns = (unit, "adds", "surprise", "unexplained", "sample")
    adding = [pick(i, *columns) for i in range(len(rows))]
    adding.sort(key=lambda row: -row["adds"])
    return {
        "near-duplicates": repeated,
        "pairs next to the threshold": pairs,
        "modes": modes[:size],
        "samples that add the most": adding[:size],
    }


def _read(args: Namespace, *own: str) -> tuple[How, Samples, Similarity, Record]:
    """Return the samples that a kernel can use, their similarity, q, and the keywords of `own`."""
    how = read_how(args, own)
    source = read_all([args.file], how)[0]
    check_one_set(source)
    given = how.of(source)
    rest = {"q": how.order} | {name: given.pop(name) for name in own if name in given}
    source, similarity = compared(source, given, args.given_prompt)
    if similarity.dropped:
        similarity = similarity.noted(dropped={})
    return how, source, similarity, rest


def _places(source: Samples, kept: Sequence[int]) -> list[int | str]:
    return [source.places[i] for i in kept]


def _samples(found: Explanation, source: Samples) -> list[Record]:
    """Return a row for each sample; further samples by their places in the file."""
    rows: list[Record] = [{source.unit: place} for place in source.places]
    for name in COLUMNS:
        for row, value in zip(rows, getattr(found, name).tolist(), strict=True):
            row[name] = None if value != value else value
            if name in ("nearest", "redundant_of"):
                row[name] = source.places[value] if value >= 0 else None
    for row, sample in zip(rows, source.values, strict=True):
        if isinstance(sample, np.ndarray):
            row["sample"] = sentences.numbers(sample.ravel())
        else:
            row["sample"] = shortened(" ".join(str(sample).split()), _LETTERS)
    return rows
