"""How the score of a state came about, as `details` of `compute` tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..optional import versions
from ..signature import digits, line
from ..spectral.estimate import Estimate
from ..spectral.spectrum import PSD, Spectrum


def details(
    settings: Mapping[str, Any],
    counts: Mapping[str, int],
    notes: Sequence[str],
    p: str,
    psd: PSD,
    orders: Sequence[float],
    estimates: Sequence[Estimate],
    spectrum: Spectrum,
) -> dict[str, Any]:
    """Return the keys that `result.details` has of a Vendi Score, as far as sums can tell them.

    `counts` are n, d and dropped, `notes` those of the kernel; `p` says which weights there were.
    """
    names = [digits(order) for order in orders]
    kernel, *options = settings.items()
    told = {**settings, "p": p, "q": names} | ({"psd": psd} if psd != "check" else {})
    left = {"dropped": counts["dropped"]} if counts["dropped"] else {}
    return {
        "n": counts["n"],
        "dropped": counts["dropped"],
        "kernel": kernel[1],
        "options": dict(options),
        "method": {name: each.route for name, each in zip(names, estimates, strict=True)},
        "why": dict.fromkeys(names, f"the samples were added up, {counts['d']} features of each"),
        "negative_mass": spectrum.negative_mass,
        "cut": spectrum.cut,
        "notes": [*(f"Of the first batch: {note}" for note in notes), *_notes(settings, spectrum)],
        "versions": versions(),
        "signature": line(["VS"], told | {"n": counts["n"]} | left),
    }


def _notes(settings: Mapping[str, Any], spectrum: Spectrum) -> list[str]:
    notes = []
    if settings.get("precision") == "single":
        notes.append("Rows in float32 were multiplied in single precision, as asked.")
    return notes + spectrum.notes
