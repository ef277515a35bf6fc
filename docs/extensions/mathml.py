"""Formulas as MathML, which browsers draw themselves: no script, no font, no request."""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

NAMES = "log|exp|sin|cos|sinh|cosh"
SPACE = '<mspace width="0.17em"/>'


def drawn(latex: str, display: str) -> str:
    """Draw a formula, and add to the converter's output: thin spaces around names of functions,
    three signs (± ⪯ ⪰) as operators, which have space around them, and no space around a slash."""
    formula = convert(latex, display=display)
    formula = re.sub(r"<mi>(&#x0(?:00B1|2AAF|2AB0);)</mi>", r"<mo>\1</mo>", formula)
    formula = formula.replace("<mo>&#x0002F;", '<mo lspace="0" rspace="0">&#x0002F;')
    formula = re.sub(rf"(<mi>(?:{NAMES})</mi>)(?=<m(?!o))", rf"\1{SPACE}", formula)
    return re.sub(rf"(</(?:mi|mn|msub|msup)>)(?=<mi>(?:{NAMES})</mi>)", rf"\1{SPACE}", formula)


def inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(drawn(node.astext(), "inline"))
    raise nodes.SkipNode


def displayed(writer: Any, node: nodes.math_block) -> None:
    formula = drawn(node.astext(), "block")
    writer.body.append(f'<div class="math">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
