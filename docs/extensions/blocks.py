"""Blocks of examples without the blank last line that doctest needs in Markdown."""

from docutils import nodes
from sphinx.application import Sphinx


def trimmed(app: Sphinx, document: nodes.document) -> None:
    for block in document.findall(nodes.literal_block):
        if block.rawsource == block.astext():  # what is highlighted, see Sphinx's HTML writer
            block.rawsource = block.rawsource.rstrip("\n")
            block.children[:] = [nodes.Text(block.rawsource)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", trimmed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
