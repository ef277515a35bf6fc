"""Fold the whole table below the rows that a document shows, where it says <!-- all NAME -->."""

import re

from readme import WHOLE
from sphinx.application import Sphinx

MARK = re.compile(r"^<!-- all ([\w-]+) -->$", re.MULTILINE)
# Markdown between blank lines stays Markdown inside of HTML.
FOLD = "<details><summary>All rows</summary>\n\n{}\n\n</details>\n"


def unfold(app: Sphinx, name: str, source: list[str]) -> None:
    """Put whole tables, which `benchmarks/readme.py` makes, in the place of their marks."""
    source[0] = MARK.sub(lambda mark: FOLD.format(WHOLE[mark[1]]()), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", unfold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
