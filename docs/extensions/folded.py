"""Fold full tables below the blocks that show some of their rows, or where <!-- all NAME --> is.

A block is shortened if `short_tables.py` has its name, and `readme.py` makes the full table.
"""

import re

from readme import FULL_TABLES
from short_tables import SHORT_TABLES
from sphinx.application import Sphinx

SHORTENED = "|".join(FULL_TABLES.keys() & SHORT_TABLES.keys())
PLACE = re.compile(rf"^<!-- (?:/({SHORTENED})|all ([\w-]+)) -->$", re.MULTILINE)
# Markdown between blank lines stays Markdown inside of HTML.
FOLD = "\n<details><summary>All rows</summary>\n\n{}\n\n</details>\n"


def fold(app: Sphinx, name: str, source: list[str]) -> None:
    """Put full tables behind their blocks."""
    source[0] = PLACE.sub(lambda match: FOLD.format(FULL_TABLES[match[1] or match[2]]()), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
