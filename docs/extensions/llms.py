"""Writes llms.txt beside the pages: what there is, a line each, for those who read by machine.

The form is that of https://llmstxt.org: a title, a sentence, then a list of links for each part.
"""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.nodes import clean_astext


def first_sentence(document: nodes.document) -> str:
    """What a page says first."""
    paragraph = next(iter(document.findall(nodes.paragraph)), None)
    said = " ".join(paragraph.astext().split()) if paragraph else ""
    end = said.find(". ")
    return said if end < 0 else said[: end + 1]


def write(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    env = app.env
    root = env.get_doctree(app.config.root_doc)
    lines = [f"# {app.config.project}", "", f"> {first_sentence(root)}"]
    for part in root.findall(lambda node: node.tagname == "toctree"):
        lines += ["", f"## {part['caption'] or 'Pages'}", ""]
        for name in part["includefiles"]:
            title = clean_astext(env.titles[name])
            said = first_sentence(env.get_doctree(name))
            lines.append(f"- [{title}]({app.builder.get_target_uri(name)}): {said}")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
