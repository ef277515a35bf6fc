"""`vendiscore select` and `vendiscore explain`: choose samples, or explain them one by one."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from ..analysis import sentences
from ..analysis.explain import explained, read_terms
from ..analysis.sample_table import COLUMNS, Explanation
from ..core.types import Record
from ..measures.subject import Subject
from ..reading.samples import Samples
from ..selection import select
from ..signature import line
from ..similarity.base import Similarity
from ..summary import shortened
from . import output
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
    with placing({"samples": source}):
        found = select(
            similarity,
            args.size,
            objective=args.objective,
            quality=source.quality or None,
            **given,
        )
    kept = found.places.tolist()
    if args.format == "json":
        return output.as_json({**found.to_dict(), "samples": _places(source, kept)}, args.width)
    how.note(
        f"{source.name}: {len(kept):,} of {len(source):,} samples by {args.objective!r}, of which "
        f"{found.scores[-1]:.4g} are effectively different"
    )
    if source.written and not args.rows:
        return source.written(kept)
    return "".join(f"{place}\n" for place in _places(source, kept))


def run_explain(args: Namespace) -> str:
    """Return a summary, near-duplicates and modes; or a row for each sample."""
    _, source, similarity, given = _read(args, "psd")
    with placing({"samples": source}):
        order, limit, psd = read_terms(given["q"], args.threshold, given.get("psd", "check"))
        subject = Subject(similarity, orders=[order], psd=psd)
        found = explained(subject, order, limit, texts=source.values)
    if args.format == "json":
        return output.as_json({**found.to_dict(), "places": source.places}, args.width)
    rows = _samples(found, source)
    made = output.FORMATS[args.format]
    if args.format == "csv":
        return made(rows, args.width)
    heading = "### {}\n\n" if args.format == "md" else "{}:\n"
    unit = source.unit
    size = args.size

    def pick(i: int, *names: str) -> Record:
        return {name: rows[i][name] for name in names}

    largest = sorted(range(len(rows)), key=lambda i: -rows[i]["adds"])[:size]
    modes = [mode for mode in found.modes() if len(mode.exemplars)][:size]
    tables = {
        "near-duplicates": [
            pick(i, unit) | {"near-duplicates": ", ".join(map(str, near))} | pick(i, "sample")
            for i, rest in found.groups[:size]
            for near in [[*_places(source, rest[:8]), *["…"] * (len(rest) > 8)]]
        ],
        "pairs next to the threshold": [
            {"similarity": alike}
            | pick(i, unit, "sample")
            | {f"other {name}": value for name, value in pick(j, unit, "sample").items()}
            for pairs in (found.boundary()[0][::-1], found.boundary()[1])
            for i, j, alike in pairs
        ],
        "modes": [
            {"share": mode.share, "members": len(mode.members)}
            | pick(int(mode.exemplars[0]), unit, "sample")
            for mode in modes
        ],
        "samples that add the most": [
            pick(i, unit, "adds", "surprise", "novelty", "sample") for i in largest
        ],
    }
    parts = [heading.format(name) + made(some, args.width) for name, some in tables.items() if some]
    said = line(["explain"], {**similarity.settings, "q": given["q"], "threshold": found.threshold})
    return "\n".join([f"{found.sentence}\n", *parts, f"{said}\n"])


def _read(args: Namespace, *own: str) -> tuple[How, Samples, Similarity, Record]:
    """Return the samples that a kernel can use, their similarity, q, and the keywords of `own`."""
    how = read_how(args, own)
    source = read_all([args.file], how)[0]
    check_one_set(args, source)
    given = how.of(source)
    rest = {"q": how.order} | {name: given.pop(name) for name in own if name in given}
    source, similarity = compared(source, given)
    return how, source, similarity.noted(dropped={}) if similarity.dropped else similarity, rest


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
        row["sample"] = _shown(sample)
    return rows


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray):
        return sentences.numbers(value.ravel())
    return shortened(" ".join(str(value).split()), _LETTERS)
