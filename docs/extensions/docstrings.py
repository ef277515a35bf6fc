"""Docstrings as they are meant, where napoleon and autodoc read them otherwise."""

import inspect
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import NumpyDocstring


def properties(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep docstrings of properties as sentences: words before a colon in them are not a type."""
    if what == "property" and (text := inspect.getdoc(obj)):
        lines[:] = NumpyDocstring(text, app.config, app, "method", name, obj, options).lines()


def signatures(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, args: str | None, returns: str | None
) -> tuple[str, str] | None:
    """Hide the signature of classes without parameters: only functions make them."""
    made = what in ("class", "exception") and args
    return ("", "") if made and "\nParameters\n---" not in (inspect.getdoc(obj) or "") else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", properties, priority=600)  # after napoleon
    app.connect("autodoc-process-signature", signatures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
