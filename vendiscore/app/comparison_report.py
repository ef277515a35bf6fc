"""A comparison in words: the HTML of the page, the table, the JSON and the lines of Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..uncertainty.comparison import FEW, MIN_SIZE, SAME, Comparison
from . import views
from .comparing import Compared
from .report import READ_DOWNLOAD, as_csv, call, link, source


def page(compared: Compared, sets: Sequence[Any], kind: str) -> str:
    """Sets side by side as HTML."""
    result = compared.comparison
    names = "ABC"[: len(result.sizes)]
    rows = ""
    for i, name in enumerate(names):
        gap, error = result.difference(i, 0)
        rows += (
            f"<tr><th>{name}</th><td>{result.sizes[i]}</td><td>{result.whole[i]:.2f}</td>"
            f"<td>{result.mean(i):.2f} ± {result.error(i):.2f}</td>"
            f"<td>{'' if i == 0 else f'{gap:+.2f} ± {error:.2f}'}</td></tr>"
        )
    best = max(range(len(names)), key=result.mean)
    verdicts = " ".join(
        _verdict(result, best, i, names, kind) for i in range(len(names)) if i != best
    )
    figures = "".join(
        f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"
        for picture, caption in (
            (
                views.draws(result, names),
                "<b>Scores at matched size.</b> One dot a draw; the bar is their mean.",
            ),
            (
                views.profiles(result, names),
                "<b>Profiles at matched size.</b> Means with one standard error. Curves that "
                "cross: which set is more diverse depends on q.",
            ),
        )
    )
    everything = {
        "matched_size": result.matched,
        "q": result.q,
        "sizes": result.sizes,
        "VS_whole": result.whole,
        "VS_matched": [values.tolist() for values in result.draws],
        "arguments": dict(compared.arguments),
        "sets": [list(each) if isinstance(each, list) else each.tolist() for each in sets],
    }
    table = link("Table (CSV)", "vendiscore.csv", "text/csv", _csv(result))
    full = link(
        "Everything (JSON)", "vendiscore.json", "application/json", json.dumps(everything, indent=1)
    )
    return (
        f'<section class="vs" aria-label="Result"><p>{verdicts}</p><div class="vs-scroll">'
        f"<table><thead><tr><th>set</th><th>n</th><th>score, whole</th><th>score of "
        f"{result.matched}</th><th>against A</th></tr></thead><tbody>{rows}</tbody></table></div>"
        f"<p>A larger set scores higher for its size alone, so the last two columns draw "
        f"{result.matched} of each (half of the smallest), without replacement, in "
        f"{len(result.draws[0])} pairs of draws with no sample in common. ± is one standard error: "
        f"what another set of the same source might change. Two sets of one source are said to "
        f"differ at most once in a hundred times.</p>"
        f'<div class="vs-grid">{figures}</div><p class="vs-links">{table}{full}</p></section>'
    )


def code(compared: Compared, kind: str) -> str:
    """Three lines of Python that give the whole scores."""
    result = compared.comparison
    if kind == "images":
        modules = "glob"
        folders = list("ABC"[: len(result.sizes)])
        sets = f"[sorted(glob.glob(folder + '/*')) for folder in {folders}]  # of images"
    else:
        modules, download = READ_DOWNLOAD
        sets = f'{download}["sets"]  # the download'
    scores = call("samples", compared.arguments, result.q)
    return f"{source(modules)}\nsets = {sets}\nprint([{scores} for samples in sets])"


def _csv(result: Comparison) -> str:
    return as_csv(
        ["set", "n", "VS", "matched_size", "VS_matched_mean", "VS_matched_sd", "VS_matched_se"],
        *(
            [
                "ABC"[i],
                n,
                f"{result.whole[i]:.6f}",
                result.matched,
                f"{result.mean(i):.6f}",
                f"{result.deviation(i):.6f}",
                f"{result.error(i):.6f}",
            ]
            for i, n in enumerate(result.sizes)
        ),
    )


def _verdict(result: Comparison, best: int, other: int, names: str, kind: str) -> str:
    a, b = names[best], names[other]
    gap, error = result.difference(best, other)
    found = result.verdict(best, other)
    if found == FEW:
        return (
            f"<b>{a} and {b} are too few to tell apart:</b> a comparison needs at least "
            f"{MIN_SIZE} {kind} in every set."
        )
    if found == SAME:
        return (
            f"<b>{a} and {b} cannot be told apart:</b> of {result.matched} {kind}, they differ by "
            f"{gap:.2f} ± {error:.2f}; so much may be chance."
        )
    return (
        f"<b>{a} is more diverse than {b}:</b> of {result.matched} {kind}, {gap:.2f} ± {error:.2f} "
        f"more are effectively different."
    )
