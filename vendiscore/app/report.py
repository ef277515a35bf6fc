"""An analysis in words: the HTML of the page, the table, the JSON and the lines of Python.

Everything that a visitor sent is escaped here, once, by `escape`. Pictures and downloads travel
inside the HTML, so that no file is written and nothing is left for the next visitor.
"""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import views
from .analysis import ORDERS, Analysis
from .comparing import Comparison
from .scale import Scale

Cell = Callable[[int], str]
# What to import, and the download as an expression.
READ_DOWNLOAD = (
    "import evaluate, json, pathlib",
    'json.loads(pathlib.Path("vendiscore.json").read_text())',
)

_CAPTIONS = {
    "heat": "<b>Similarities.</b> Bright squares along the diagonal are groups of samples that "
    "are alike.",
    "spectrum": "<b>Spectrum.</b> The share of the set that lies in each direction. One bar: all "
    "the same. Equal bars: all different. The score is the effective number of bars.",
    "profile": "<b>Profile.</b> Small q counts rare samples in full, large q looks at the "
    "commonest only. A steep curve means a few dominate.",
    "magnitude": "<b>Magnitude.</b> How many samples can be told apart at scale t (zooming in to "
    "the right). The dashed line is the convergence scale, where 95 % can.",
}


def escape(text: str, longest: int = 160) -> str:
    """Text of a visitor as HTML that cannot be anything but text.

    Braces, `$` and backticks go too, since gradio fills in templates of those.

    >>> escape("<b>${x}")
    '&lt;b&gt;&#36;&#123;x&#125;'
    """
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    text = html.escape(text)
    for sign in "${}`":
        text = text.replace(sign, f"&#{ord(sign)};")
    return text


def problem(message: str) -> str:
    """A message about something that did not work."""
    said = f"<b>That did not work.</b> {escape(message, 600)}"
    return f'<div class="vs-problem" role="alert">{said}</div>'


def note(message: str) -> str:
    """A message while one waits."""
    return f'<div class="vs-note" role="status">{escape(message)}</div>'


def sentence(analysis: Analysis, what: str) -> str:
    """The result in one plain sentence."""
    n, share = analysis.n, 100 * float(analysis.shares[0])
    if n == 1:
        return "One sample alone is exactly one; add more to compare."
    if analysis.score < 1.05:
        return f"These {n} {what} are, to this kernel, all but the same."
    if analysis.score > 0.95 * n:
        return f"Hardly any two of these {n} {what} have anything in common."
    return (
        f"This set of {n} {what} is as diverse as {analysis.score:.1f} that have nothing in "
        f"common; its main direction makes up {share:.0f} % of it."
    )


def headline(analysis: Analysis) -> str:
    """`≈ 12.3 effectively different of 60`."""
    return f"≈ {analysis.score:.1f} effectively different of {analysis.n}"


def page(
    analysis: Analysis,
    what: str,
    cell: Cell,
    labels: Sequence[str],
    scale: Scale | None,
    notes: Sequence[str] = (),
) -> str:
    """The result of one set as HTML.

    Parameters
    ----------
    analysis : Analysis
    what : str
        The samples in the plural: "texts".
    cell : callable
        The HTML of sample i.
    labels : sequence of str
        The samples as text, for the table.
    scale : Scale or None
        The magnitude function, if it is there already.
    notes : sequence of str
        What else to say.
    """
    n, score = analysis.n, analysis.score
    filled = 100.0 if n == 1 else 100 * (score - 1) / (n - 1)
    pictures = [
        ("heat", views.heat_map(analysis)),
        ("spectrum", views.spectrum(analysis)),
        ("profile", views.profile(analysis)),
    ]
    if scale is not None and n > 1:
        picture = views.magnitude(
            scale.scales,
            scale.values,
            scale.distinct,
            scale.convergence,
            scale.chosen,
            scale.magnitude,
        )
        pictures.append(("magnitude", picture))
    figures = "".join(
        f"<figure>{picture}<figcaption>{_CAPTIONS[name]}</figcaption></figure>"
        for name, picture in pictures
    )
    table = _link("Table (CSV)", "vendiscore.csv", "text/csv", table_csv(analysis, labels))
    everything = json.dumps(record(analysis, what, scale) | {"samples": list(labels)}, indent=1)
    full = _link("Everything (JSON)", "vendiscore.json", "application/json", everything)
    magnitude = ""
    if scale is not None and n > 1:
        magnitude = (
            f"<p>At scale t = {scale.chosen:.3g} their magnitude is {scale.magnitude:.1f}; "
            f"95 % of the {scale.distinct} distinct ones can be told apart at "
            f"t = {scale.convergence:.3g}.</p>"
        )
    return (
        f'<section class="vs" aria-label="Result"><p class="vs-score">≈ <b>{score:.1f}</b> '
        f"effectively different of {n}</p>"
        f'<div class="vs-bar" role="img" aria-label="{filled:.0f} % of the way from 1 to {n}">'
        f'<i style="width:{filled:.1f}%"></i></div>'
        f"<p>{escape(sentence(analysis, what), 300)}</p>"
        f"{magnitude}{''.join(f'<p>{escape(text, 300)}</p>' for text in notes)}"
        f'<div class="vs-grid">{figures}</div>'
        f'<div class="vs-grid">{_pairs(analysis, cell)}{_alone(analysis, cell)}</div>'
        f'<p class="vs-links">{table}{full}</p>'
        f'<p class="vs-signature">VS = {score:.6f} · {escape(analysis.details["signature"], 400)}'
        f"</p></section>"
    )


def record(analysis: Analysis, what: str, scale: Scale | None = None) -> dict[str, Any]:
    """The result of one set as plain values: what the API returns and the JSON holds."""
    result: dict[str, Any] = {
        "VS": analysis.score,
        "n": analysis.n,
        "q": analysis.q if analysis.q < float("inf") else "inf",
        "sentence": sentence(analysis, what),
        "shares": [round(float(share), 9) for share in analysis.shares if share > 0],
        "profile": {f"{q:g}": float(v) for q, v in zip(ORDERS, analysis.profile, strict=True)},
        "redundant_pairs": [list(pair) for pair in analysis.pairs],
        "stand_alone": [list(one) for one in analysis.alone],
        "details": dict(analysis.details),
    }
    if scale is not None:
        result["magnitude"] = {
            "convergence_scale": scale.convergence,
            "scales": scale.scales.tolist(),
            "values": scale.values.tolist(),
        }
    return result


def table_csv(analysis: Analysis, labels: Sequence[str]) -> str:
    """One row for each sample: its nearest other sample and how similar it is to all."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["index", "sample", "nearest", "similarity_to_nearest", "mean_similarity"])
    columns = (analysis.nearest, analysis.similarity_to_nearest, analysis.mean_similarity)
    for i, (label, nearest, closest, mean) in enumerate(zip(labels, *columns, strict=True)):
        writer.writerow([i, label, int(nearest), f"{closest:.6g}", f"{mean:.6g}"])
    return buffer.getvalue()


def code(imports: str, samples: str, arguments: Mapping[str, Any], q: float) -> str:
    """Three lines of Python that give the same number; `samples` is an expression."""
    options = keywords(arguments, q)
    return (
        f"{imports}\nsamples = {samples}\n"
        f'print(evaluate.load("{source()}").compute(samples=samples, {options}))'
    )


def keywords(arguments: Mapping[str, Any], q: float) -> str:
    """Arguments of `compute` as one writes them."""
    given = {**arguments, "q": "inf" if q == float("inf") else int(q) if q == int(q) else q}
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def source() -> str:
    """What `evaluate.load` takes: this Space where it runs as one, else the script."""
    return os.environ.get("SPACE_ID") or "vendiscore.py"


def _pairs(analysis: Analysis, cell: Cell) -> str:
    rows = "".join(
        f"<li><span>{similarity:.2f}</span><div>{cell(i)}{cell(j)}</div></li>"
        for i, j, similarity in analysis.pairs
    )
    heading = "<h3>Most redundant pairs</h3><p>and their similarity</p>"
    return f'<div class="vs-list">{heading}<ol>{rows or "<li>none</li>"}</ol></div>'


def _alone(analysis: Analysis, cell: Cell) -> str:
    rows = "".join(
        f"<li><span>{similarity:.2f}</span><div>{cell(i)}</div></li>"
        for i, similarity in analysis.alone
    )
    return (
        f'<div class="vs-list"><h3>Stand alone</h3><p>and their similarity to the nearest</p>'
        f"<ol>{rows or '<li>none</li>'}</ol></div>"
    )


def _link(text: str, name: str, kind: str, content: str) -> str:
    data = base64.b64encode(content.encode()).decode()
    return f'<a download="{name}" href="data:{kind};base64,{data}">{text}</a>'


def comparison(result: Comparison, sets: Sequence[Any], kind: str) -> str:
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
    full = _link(
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
        f'<div class="vs-grid">{figures}</div><p class="vs-links">{full}</p></section>'
    )


def comparison_code(result: Comparison, kind: str) -> str:
    """Three lines of Python that give the whole scores."""
    lines = f'{READ_DOWNLOAD[0]}\nsets = {READ_DOWNLOAD[1]}["sets"]  # the download'
    if kind == "images":
        folders = ["A", "B", "C"][: len(result.sizes)]
        lines = (
            f"import evaluate, glob\nsets = [sorted(glob.glob(folder + '/*')) for folder in "
            f"{folders}]  # of images"
        )
    return (
        f'{lines}\nprint([evaluate.load("{source()}").compute(samples=samples, '
        f"{keywords(result.arguments, result.q)}) for samples in sets])"
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
