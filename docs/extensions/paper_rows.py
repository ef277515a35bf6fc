"""Fold all rows of a part of the papers' page below it, where it says <!-- all papers-NAME -->."""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks" / "papers"))

from findings import committed, folded

MARK = re.compile(r"^<!-- all papers-([\w-]+) -->$", re.MULTILINE)
# Markdown between blank lines stays Markdown inside of HTML.
FOLD = "<details><summary>All rows</summary>\n\n{}\n\n</details>\n"


def fold(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the rows, which the scripts' results have, in the place of their marks."""
    if name == "papers":
        source[0] = MARK.sub(lambda mark: FOLD.format(folded(committed(), mark[1])), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
