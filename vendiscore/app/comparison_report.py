"""A comparison in words: the HTML of the page, the table, the JSON and the lines of Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from . import views
from .comparing import Comparison
from .report import READ_DOWNLOAD, as_csv, keywords, link, source


def page(result: Comparison, sets: Sequence[Any], kind: str) -> str:
    """Sets side by side as HTML."""
    names = "ABC"[: len(result.sizes)]
    rows = ""
    for i, name in enumerate(names):
        mean, sd = result.spread(i)
        gap, gap_sd = result.difference(i, 0)
        rows += (
            f"<tr><th>{name}</th><td>{result.sizes[i]}</td><td>{result.whole[i]:.2f}</td>"
            f"<td>{mean:.2f} ± {sd:.2f}</td>"
            f"<td>{'' if i == 0 else f'{gap:+.2f} ± {gap_sd:.2f}'}</td></tr>"
        )
    best = max(range(len(names)), key=lambda i: result.spread(i)[0])
    verdicts = " ".join(
        _verdict(names[best], names[i], *result.difference(best, i), kind, result.matched)
        for i in range(len(names))
        if i != best
    )
    figures = "".join(
        f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"
        for picture, caption in (
            (
                views.dots(names, result.draws),
                "<b>Scores at matched size.</b> One dot a draw; the bar is their mean. A set of "
                "the matched size is used whole and has one value.",
            ),
            (
                views.profiles(
                    names,
                    [p.mean(axis=0) for p in result.profiles],
                    [p.std(axis=0, ddof=1) for p in result.profiles],
                ),
                "<b>Profiles at matched size.</b> Mean over the draws with one standard "
                "deviation. Curves that cross: which set is more diverse depends on q.",
            ),
        )
    )
    everything = {
        "matched_size": result.matched,
        "q": result.q,
        "sizes": result.sizes,
        "VS_whole": result.whole,
        "VS_matched": [values.tolist() for values in result.draws],
        "arguments": dict(result.arguments),
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
        f"{result.matched} of each (the size of the smallest), without replacement, over "
        f"{len(result.draws[0])} seeds; ± is one standard deviation over the "
        f"draws, and says nothing of how else the smallest set might have come out.</p>"
        f'<div class="vs-grid">{figures}</div><p class="vs-links">{table}{full}</p></section>'
    )


def code(result: Comparison, kind: str) -> str:
    """Three lines of Python that give the whole scores."""
    if kind == "images":
        imports = "import evaluate, glob"
        folders = list("ABC"[: len(result.sizes)])
        sets = f"[sorted(glob.glob(folder + '/*')) for folder in {folders}]  # of images"
    else:
        imports, download = READ_DOWNLOAD
        sets = f'{download}["sets"]  # the download'
    return (
        f'{imports}\nsets = {sets}\nprint([evaluate.load("{source()}").compute(samples=samples, '
        f"{keywords(result.arguments, result.q)}) for samples in sets])"
    )


def _csv(result: Comparison) -> str:
    spreads = [result.spread(i) for i in range(len(result.sizes))]
    return as_csv(
        ["set", "n", "VS", "matched_size", "VS_matched_mean", "VS_matched_sd"],
        *(
            ["ABC"[i], n, f"{whole:.6f}", result.matched, f"{mean:.6f}", f"{sd:.6f}"]
            for i, (n, whole, (mean, sd)) in enumerate(
                zip(result.sizes, result.whole, spreads, strict=True)
            )
        ),
    )


def _verdict(best: str, other: str, gap: float, sd: float, kind: str, size: int) -> str:
    by = f"{gap:.2f} ± {sd:.2f}" if sd else f"{gap:.2f}"  # without draws there is no spread
    if gap <= 2 * sd or gap < 0.01:
        return (
            f"<b>{best} and {other} cannot be told apart:</b> of {size} {kind}, they differ by "
            f"{by}."
        )
    return (
        f"<b>{best} is more diverse than {other}:</b> of {size} {kind}, {by} more are effectively "
        f"different."
    )
