"""Pictures of a report, with captions that have the numbers."""

import numpy as np
import pytest

from vendiscore.magnitude.curve import magnitude_curve
from vendiscore.tools.analysis.report_data import compute_report_data
from vendiscore.tools.reports import figures
from vendiscore.tools.reports.figures import Figure, pictures

pytest.importorskip("matplotlib")
X = np.random.default_rng(0).standard_normal((24, 3))
HOW = {"k": "rbf", "sigma": 1.0}


def test_there_is_a_picture_for_each_finding():
    report_data = compute_report_data(X, None, HOW)
    drawn = list(pictures(report_data, magnitude_curve(X)))
    names = [figure.name for figure in drawn]
    assert names[:3] == ["heat", "spectrum", "profile"]
    assert names[-1] == "magnitude"
    assert all(figure.svg.startswith("<svg") for figure in drawn)
    assert all(figure.title and figure.text.endswith(".") for figure in drawn)
    without = [
        figure.name for figure in pictures(compute_report_data(X, None, {"measures": ["MagArea"]}))
    ]
    assert "heat" not in without


def test_a_picture_is_read_out_by_its_label():
    figure = Figure.of("dots", "Dots", "Two.", lambda ax: ax.plot([0, 1], "o"), "two dots & more")
    assert (figure.name, figure.title, figure.text) == ("dots", "Dots", "Two.")
    assert "two dots &amp; more" in figure.svg


def test_the_spectrum_names_its_largest_share():
    report_data = compute_report_data(X, None, HOW)
    percent = 100 * float(report_data.spectrum.values[0])
    assert (
        f"the largest of 24 normalized eigenvalues is {percent:.1f}%"
        in figures.spectrum_figure(report_data).svg
    )


def test_the_profile_names_its_ends():
    report_data = compute_report_data(X, None, HOW)
    label = f"from {report_data.profile[0]:.1f} at q = 0 to {report_data.profile[-1]:.1f}"
    assert label in figures.profile_figure(report_data).svg


def test_groups_are_divided_by_lines():
    grouped = compute_report_data(X, None, {**HOW, "groups": [0, 1] * 12})
    assert "Lines separate the groups" in figures.heat_map_figure(grouped).text
    assert "Lines separate" not in figures.heat_map_figure(compute_report_data(X, None, HOW)).text


def test_the_magnitude_names_its_convergence_scale():
    curve = magnitude_curve(X)
    figure = figures.magnitude_figure(curve)
    t = curve.convergence
    assert f"{curve.at(t):.1f} at scale {t:.3g}, 24 far beyond" in figure.svg
