"""Text as HTML, and the few elements that a report is made of."""

import html
from collections.abc import Iterable

from ...support.summary import truncate

SEEN = 160  # characters of a text before it is unfolded


def escape(text: str, longest: int = 160) -> str:
    """Escape untrusted text, so that HTML shows it as text and nothing else."""
    signs = {ord(sign): f"&#{ord(sign)};" for sign in "${}`"}  # gradio fills in templates at these
    return html.escape(truncate(text, longest)).translate(signs)


def folded(text: str, longest: int) -> str:
    """Show the beginning of a text, and the rest, up to a length, after a click."""
    if min(len(text), longest) <= SEEN:
        return f"<bdi>{escape(text, longest)}</bdi>"
    beyond = len(text) - longest
    more = f"<i>… and {beyond:,} more characters</i>" if beyond > 0 else ""
    rest = escape(text[SEEN:longest], longest)
    seen = f"<summary>{escape(text[:SEEN])}…</summary>"
    return f'<details class="text" dir="auto">{seen}{rest}{more}</details>'


def paragraph(*sentences: str) -> str:
    """Return sentences of plain text as a paragraph, without empty ones."""
    said = " ".join(filter(None, sentences))
    return f"<p>{escape(said, 2_000)}</p>" if said else ""


def listing(items: Iterable[str], kind: str = "ul", name: str = "") -> str:
    """Return items of HTML as a list; `name` is for the style sheet."""
    of = f' class="{name}"' if name else ""
    return f"<{kind}{of}>{''.join(f'<li>{item}</li>' for item in items)}</{kind}>"


def more(count: int, what: str) -> str:
    """State how many items are not listed, if any."""
    return paragraph(f"And {count:,} more{what}.") if count > 0 else ""


def preformatted(text: str) -> str:
    """Return code, or a line to copy, as HTML."""
    return f'<pre tabindex="0"><code>{html.escape(text)}</code></pre>'
