"""Text as HTML."""

from __future__ import annotations

import html


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
