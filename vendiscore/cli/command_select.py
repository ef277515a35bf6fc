"""`vendiscore select` and `vendiscore explain`: choose samples, or explain them one by one."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.explain import explained, read_terms
from ..analysis.sample_table import COLUMNS, Explanation
from ..core.types import Record
from ..measures.subject import Subject
from ..reading.samples import Samples
from ..resolve.sets import as_similarity
from ..selection import select
from ..signature import line
from ..similarity.base import Similarity
from ..summary import shortened
from . import output
from .exit_codes import UsageError
from .kernel_options import How, given_prompts, left_out, parse_value, placing, read_all, read_how

_LETTERS = 60


def run_select(args: Namespace) -> str:
    """Return the chosen samples, as the file has them."""
    if (args.quota is None) != (args.group_by is None):
        raise UsageError("--quota and --group-by need each other; pass both, or none")
    how, source, similarity, given = _read(args, "initial", "swaps", "psd")
    with placing({"samples": source}):
        found = select(
            similarity,
            args.size,
            objective=args.objective,
            groups=source.groups or None,
            quota=None if args.quota is None else _quota(args.quota),
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
    unit, size = source.unit, args.size

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
    given = how.of(source)
    rest = {"q": how.order} | {name: given.pop(name) for name in own if name in given}
    with placing({"samples": source}):
        similarity = as_similarity(source.values, **given_prompts([source]), **given)
    left = left_out(source, similarity.dropped)
    return how, left, similarity.noted(dropped={}) if similarity.dropped else similarity, rest


def _places(source: Samples, kept: Sequence[int]) -> list[int | str]:
    return [source.places[i] for i in kept]


def _quota(text: str) -> Any:
    """Read at most how many of any group, or how many of each."""
    if "=" not in text:
        return parse_value(text)
    pairs = [part.rpartition("=") for part in text.split(",")]
    return {name: parse_value(count) for name, _, count in pairs}


def _samples(found: Explanation, source: Samples) -> list[Record]:
    """Return a row for each sample; further samples by their places in the file."""
    columns: dict[str, list[object]] = {source.unit: list(source.places)}
    for name in COLUMNS:
        values = getattr(found, name).tolist()
        if name in ("nearest", "redundant_of"):
            values = [source.places[i] if i >= 0 else None for i in values]
        columns[name] = [None if value != value else value for value in values]
    columns["sample"] = [_shown(source, i) for i in range(len(source))]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _shown(source: Samples, i: int) -> str:
    value = source.values[i]
    if isinstance(value, np.ndarray):
        return ", ".join(f"{x:.4g}" for x in value.ravel()[:4]) + (", …" if value.size > 4 else "")
    return shortened(" ".join(str(value).split()), _LETTERS)
