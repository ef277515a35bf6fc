"""Pictures have the colours of the page's charts, and ticks at round numbers."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib

import vendiscore_page
from vendiscore.tools.reports import svg

SHOWING = Path(vendiscore_page.__file__).parent / "static" / "showing"


def test_the_page_has_the_same_colours_of_sets_on_light_and_dark_pages() -> None:
    text = (SHOWING / "results.css").read_text(encoding="utf-8")
    assert re.findall(r"--r-group-\d: (#\w+)", text) == svg.ACCENTS


def test_each_colour_is_seen_on_both_grounds() -> None:
    for colour in svg.ACCENTS:
        for ground in ("#ffffff", "#faf9fc", "#131219", "#1b1a23"):
            assert contrast(colour, ground) >= 3


def test_the_matrix_of_the_page_has_the_colours_of_matplotlib() -> None:
    text = (SHOWING / "matrix.js").read_text(encoding="utf-8")
    stops = json.loads(text.partition("const COLOURS = ")[2].partition(";")[0])
    viridis = matplotlib.colormaps["viridis"](np.linspace(0, 1, len(stops)))[:, :3]
    np.testing.assert_allclose(stops, 255 * viridis, atol=1.5)  # of 256 colours, the next


@pytest.mark.parametrize("upper", [0.26, 1.2, 7, 26, 130, 2_600])
def test_ticks_are_one_two_or_five_times_a_power_of_ten_apart(upper) -> None:
    axes = []

    def draw(ax) -> None:
        ax.plot([0, upper], [0, upper])
        axes.append(ax)

    svg.render_svg(draw, "a line")
    step = np.diff(axes[0].get_xticks())[0]
    assert round(step / 10 ** np.floor(np.log10(step) + 1e-9), 6) in (1, 2, 5)


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    shares = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
