"""Accessibility violations that axe-core finds in a page."""

from __future__ import annotations

from typing import Any

import pytest

axe_base = pytest.importorskip("axe_playwright_python.base")
SERIOUS_IMPACTS = ("serious", "critical")
_RUN_SCRIPT = """
options => axe.run(document, {resultTypes: ['violations'], ...options})
    .then(({violations}) => violations.map(({id, impact, nodes}) =>
        [impact, id, nodes.map(({html, failureSummary}) => `${html}: ${failureSummary}`)]))
"""
# Rules for narrow windows that set a colour.
_NARROW_COLOUR_RULES_SCRIPT = """
() => [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
    .filter(rule => /max-width/.test(rule.conditionText)).flatMap(rule => [...rule.cssRules])
    .map(rule => rule.cssText).filter(text => /(color|background|opacity)[^:;{]*:/.test(text))
"""
_CONTRAST_RULE = "color-contrast"


def find_violations(page: Any, **options: Any) -> list[tuple[str, str, list[str]]]:
    """Return (impact, rule, elements) of each violation that axe-core finds."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe_base.AXE_SCRIPT)
    return [tuple(violation) for violation in page.evaluate(_RUN_SCRIPT, options)]


def find_serious_violations(page: Any, **options: Any) -> list[tuple[str, str, list[str]]]:
    """Return only violations with serious or critical impact."""
    return [
        violation
        for violation in find_violations(page, **options)
        if violation[0] in SERIOUS_IMPACTS
    ]


def find_violations_in_both_themes(page: Any) -> list[tuple[str, str, list[str]]]:
    """Return serious violations in the light theme, and contrast violations in the dark theme.

    A narrow window has the same colours as a wide one, so its contrasts are not checked again.
    """
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    if page.viewport_size["width"] < 640:
        assert page.evaluate(_NARROW_COLOUR_RULES_SCRIPT) == []
        return find_serious_violations(page, rules={_CONTRAST_RULE: {"enabled": False}})
    result = find_serious_violations(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    return result + find_serious_violations(page, runOnly=[_CONTRAST_RULE])
