"""The findings of axe-core on a page: parts that some cannot see, read, or reach."""

from __future__ import annotations

from typing import Any

import pytest

base = pytest.importorskip("axe_playwright_python.base")
GRAVE = ("serious", "critical")
_RUN = """
options => axe.run(document, {resultTypes: ['violations'], ...options})
    .then(({violations}) => violations.map(({id, impact, nodes}) =>
        [impact, id, nodes.map(({html, failureSummary}) => `${html}: ${failureSummary}`)]))
"""
# Rules for narrow windows that set a colour.
_COLOURS = """
() => [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
    .filter(rule => /max-width/.test(rule.conditionText)).flatMap(rule => [...rule.cssRules])
    .map(rule => rule.cssText).filter(text => /(color|background|opacity)[^:;{]*:/.test(text))
"""
_CONTRAST = "color-contrast"


def findings(page: Any, **options: Any) -> list[tuple[str, str, list[str]]]:
    """Return impact, rule and places of all that axe finds."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(base.AXE_SCRIPT)
    return [tuple(each) for each in page.evaluate(_RUN, options)]


def grave(page: Any, **options: Any) -> list[tuple[str, str, list[str]]]:
    """Return what locks somebody out of all that axe finds."""
    return [each for each in findings(page, **options) if each[0] in GRAVE]


def in_all_colours(page: Any) -> list[tuple[str, str, list[str]]]:
    """Return what is found in the light and in the dark, where nothing but colours differs.

    A narrow window has the colours of a wide one, which alone is asked for its contrasts.
    """
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    if page.viewport_size["width"] < 640:
        assert page.evaluate(_COLOURS) == []
        return grave(page, rules={_CONTRAST: {"enabled": False}})
    result = grave(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    return result + grave(page, runOnly=[_CONTRAST])
