"""How numbers came about: the section of settings, notes, the signature and Python."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.findings import Findings
from ..analysis.python_code import reproduced
from ..signature import digits, plain
from .markup import escape, folded, listing, paragraph, preformatted, table
from .previews import Shown

_LONGEST = 800  # characters of a setting


def settings(found: Findings, shown: Shown) -> str:
    """Settings, notes, the signature, versions, and Python that gives the numbers again."""
    details = found.details
    notes = listing(escape(note, 2_000) for note in details["notes"]) if details["notes"] else ""
    code = reproduced(
        found.given, found.references, found.arguments, shown.counted(found.subject.came)
    )
    if found.request.ci is None and found.beside("low") is not None:
        code += "\n# With ci=0.95 it gives intervals too; those of other measures take long."
    return "".join(
        [
            table(["setting", "value"], _settings(found)),
            f"<h3>Notes</h3>{notes}" if notes else "",
            "<h3>Signature</h3>",
            paragraph("To be quoted with the numbers: equal signatures, equal ways to count."),
            preformatted(details["signature"]),
            "<h3>The same in Python</h3>",
            preformatted(code),
        ]
    )


def _settings(found: Findings) -> Iterator[list[str]]:
    details = found.details
    yield ["samples", f"{found.n:,}, {details['distinct']:,} distinct"]
    for name in ("kernel", "distance"):
        if name in details:
            yield [name, escape(str(details[name]))]
    for name, value in details["options"].items():
        if name not in ("kernel", "distance") and value is not None:
            yield [escape(name), folded(str(plain(value)), _LONGEST)]
    yield ["q", ", ".join(digits(q) for q in found.request.orders)]
    for q, why in details.get("why", {}).items():
        yield [f"found at q={escape(q)} from", escape(why or details["method"][q], 400)]
    if "interval" in details:
        methods = ", ".join(
            f"{name} by {how}" for name, how in details["interval"]["method"].items()
        )
        yield ["interval", escape(f"{100 * details['interval']['level']:g} %: {methods}", 400)]
    versions = (f"{name} {version}" for name, version in details["versions"].items())
    yield ["versions", escape(", ".join(versions))]
