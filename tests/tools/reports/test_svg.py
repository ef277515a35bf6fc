"""Figures use the chart colours of the web app, and ticks at round numbers."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib

import vendiscore_page
from vendiscore.tools.reports import svg

STATIC_FOLDER = Path(vendiscore_page.__file__).parent / "static"
COLOR_PATTERN = re.compile(r"(?:#|%23)([0-9a-f]{6})\b")


def test_page_has_a_copy_of_the_palette() -> None:
    assert (STATIC_FOLDER / "palette.css").read_text(encoding="utf-8") == svg.PALETTE
    assert len(svg.ACCENTS) == 8


def test_page_and_report_use_no_colors_beside_the_palette() -> None:
    palette = set(COLOR_PATTERN.findall(svg.PALETTE))
    viridis = {"440154", "3b528b", "21918c", "5ec962", "fde725"}
    files = [path for kind in ("css", "js", "html") for path in STATIC_FOLDER.rglob(f"*.{kind}")]
    files.append(Path(svg.__file__).with_name("style.css"))
    for path in files:
        used = set(COLOR_PATTERN.findall(path.read_text(encoding="utf-8")))
        assert used <= palette | viridis, path


def test_group_colors_have_sufficient_contrast() -> None:
    for color in svg.ACCENTS:
        for background in ("#ffffff", "#faf9fc", "#131219", "#1b1a23"):
            assert contrast_ratio(color, background) >= 3


def test_matrix_colors_of_the_page_match_viridis() -> None:
    text = (STATIC_FOLDER / "showing" / "matrix.js").read_text(encoding="utf-8")
    stops = json.loads(text.partition("const COLOURS = ")[2].partition(";")[0])
    viridis = matplotlib.colormaps["viridis"](np.linspace(0, 1, len(stops)))[:, :3]
    np.testing.assert_allclose(stops, 255 * viridis, atol=1.5)  # nearest of 256 colours


@pytest.mark.parametrize("upper", [0.26, 1.2, 7, 26, 130, 2_600])
def test_ticks_are_at_multiples_of_1_2_or_5(upper) -> None:
    axes = []

    def draw(ax) -> None:
        ax.plot([0, upper], [0, upper])
        axes.append(ax)

    svg.render_svg(draw, "a line")
    step = np.diff(axes[0].get_xticks())[0]
    assert round(step / 10 ** np.floor(np.log10(step) + 1e-9), 6) in (1, 2, 5)


def contrast_ratio(color: str, background: str) -> float:
    low, high = sorted(map(relative_luminance, (color, background)))
    return (high + 0.05) / (low + 0.05)


def relative_luminance(colour: str) -> float:
    channels = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
