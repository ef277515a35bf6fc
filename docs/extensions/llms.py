"""Write llms.txt next to the pages: a list of all pages, a line each, for programs that read it.
The form follows https://llmstxt.org: a title, a sentence, then a list of links for each part.
"""

from pathlib import Path

from docutils import nodes
from sphinx.addnodes import toctree
from sphinx.application import Sphinx
from sphinx.util.nodes import clean_astext


def first_sentence(document: nodes.document) -> str:
    """Return the first sentence of a page below its title."""
    below = (p for p in document.findall(nodes.paragraph) if isinstance(p.parent, nodes.section))
    paragraph = next(below, None)
    said = " ".join(paragraph.astext().split()) if paragraph else ""
    end = said.find(". ")
    return said if end < 0 else said[: end + 1]


def write(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    root = app.env.get_doctree(app.config.root_doc)
    lines = [f"# {app.config.project}", "", f"> {first_sentence(root)}"]
    for part in root.findall(toctree):
        lines += ["", f"## {part['caption']}", ""]
        for name in part["includefiles"]:
            inside = app.env.get_doctree(name).findall(toctree)
            for page in (name, *(each for tree in inside for each in tree["includefiles"])):
                title = clean_astext(app.env.titles[page])
                said = first_sentence(app.env.get_doctree(page))
                lines.append(f"- [{title}]({app.builder.get_target_uri(page)}): {said}")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
