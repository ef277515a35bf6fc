"""What axe-core finds on a page: who cannot see it, read it, or reach it."""

from __future__ import annotations

from typing import Any

import pytest

base = pytest.importorskip("axe_playwright_python.base")
GRAVE = ("serious", "critical")
_RUN = """
rules => axe.run(document, {resultTypes: ['violations'], ...(rules && {runOnly: rules})})
    .then(({violations}) => violations.map(({id, impact, nodes}) =>
        [impact, id, nodes.map(({html, failureSummary}) => `${html}: ${failureSummary}`)]))
"""


def findings(page: Any, *rules: str) -> list[tuple[str, str, list[str]]]:
    """Impact, rule and places of everything that axe finds, by some of its rules or by all."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(base.AXE_SCRIPT)
    return [tuple(found) for found in page.evaluate(_RUN, list(rules) or None)]


def grave(page: Any, *rules: str) -> list[tuple[str, str, list[str]]]:
    """Those that lock somebody out."""
    return [found for found in findings(page, *rules) if found[0] in GRAVE]


def in_all_colours(page: Any) -> list[tuple[str, str, list[str]]]:
    """Those of the page in the light and in the dark, where nothing but colours differs."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = grave(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    return found + grave(page, "color-contrast")
