"""HTML elements of a report."""

import html
import re
from collections.abc import Iterable

from ...support.summary import truncate

# Number of characters of a long text that are visible before it is expanded.
PREVIEW_CHARACTERS = 160


def escape(text: str, max_characters: int = 160) -> str:
    """Truncate untrusted text, and escape it for HTML and for the templates of Gradio."""
    replacements = {ord(character): f"&#{ord(character)};" for character in "${}`"}
    return html.escape(truncate(text, max_characters)).translate(replacements)


def escape_and_mark(text: str, max_characters: int, marks: re.Pattern[str] | None) -> str:
    """Truncate and escape text, and highlight the matches of a pattern, if there is one."""
    text = truncate(text, max_characters)
    result, start = "", 0
    for match in marks.finditer(text) if marks else ():
        result += escape(text[start : match.start()], max_characters)
        result += f"<mark>{escape(match.group(), max_characters)}</mark>"
        start = match.end()
    return result + escape(text[start:], max_characters)


def render_collapsible(text: str, max_characters: int, marks: re.Pattern[str] | None = None) -> str:
    """Render text; if it is long, only its beginning is visible until the user expands it.

    Matches of the pattern `marks` are highlighted.
    """
    if min(len(text), max_characters) <= PREVIEW_CHARACTERS:
        return f"<bdi>{escape_and_mark(text, max_characters, marks)}</bdi>"
    n_omitted = len(text) - max_characters
    omitted = f"<i>… and {n_omitted:,} more characters</i>" if n_omitted > 0 else ""
    beginning, continuation = (
        escape_and_mark(part, max_characters, marks)
        for part in (text[:PREVIEW_CHARACTERS], text[PREVIEW_CHARACTERS:max_characters])
    )
    summary = f"<summary>{beginning}…</summary>"
    return f'<details class="text" dir="auto">{summary}{continuation}{omitted}</details>'


def render_paragraph(*sentences: str) -> str:
    """Render sentences of plain text as a paragraph; empty sentences are ignored."""
    text = " ".join(filter(None, sentences))
    return f"<p>{escape(text, 2_000)}</p>" if text else ""


def render_list(items: Iterable[str], tag: str = "ul", css_class: str = "") -> str:
    """Render items, which are HTML, as a list with the tag "ul" or "ol"."""
    attribute = f' class="{css_class}"' if css_class else ""
    return f"<{tag}{attribute}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>"


def render_remaining_count(count: int, noun: str, clause: str = "") -> str:
    """Render "And 12 more groups." for items that are not listed; "" if there are none.

    `noun` is in the singular; `clause` ends the sentence.
    """
    if count <= 0:
        return ""
    plural = "s" if count > 1 else ""
    return render_paragraph(f"And {count:,} more {noun}{plural}{clause}.")


def render_code(text: str) -> str:
    """Render code, or a line to copy."""
    return f'<pre tabindex="0"><code>{html.escape(text)}</code></pre>'
