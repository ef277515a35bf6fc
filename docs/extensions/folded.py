"""Fold the whole table below each block that shows some of its rows, or a sentence about them."""

import re

from readme import WHOLE
from short_tables import SHORT
from sphinx.application import Sphinx

CLOSING = re.compile(rf"^<!-- /({'|'.join(WHOLE.keys() & SHORT.keys())}) -->$", re.MULTILINE)
# Markdown between blank lines stays Markdown inside of HTML.
FOLD = "\n<details><summary>All rows</summary>\n\n{}\n\n</details>\n"


def fold(app: Sphinx, name: str, source: list[str]) -> None:
    """Put whole tables, which `benchmarks/readme.py` makes, behind their blocks."""
    source[0] = CLOSING.sub(lambda mark: FOLD.format(WHOLE[mark[1]]()), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
