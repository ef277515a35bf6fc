"""Figures of a report, with labels that contain the values."""

import numpy as np
import pytest

from vendiscore.magnitude.curve import magnitude_curve
from vendiscore.tools.analysis.report_data import compute_report_data
from vendiscore.tools.reports import figures
from vendiscore.tools.reports.figures import Figure, pictures

pytest.importorskip("matplotlib")
X = np.random.default_rng(0).standard_normal((24, 3))
OPTIONS = {"k": "rbf", "sigma": 1.0}


def test_pictures_include_all_available_figures():
    report_data = compute_report_data(X, None, OPTIONS)
    report_figures = list(pictures(report_data, magnitude_curve(X)))
    names = [figure.name for figure in report_figures]
    assert names[:3] == ["heat", "spectrum", "profile"]
    assert names[-1] == "magnitude"
    assert all(figure.svg.startswith("<svg") for figure in report_figures)
    assert all(figure.title and figure.text.endswith(".") for figure in report_figures)
    names_without_similarity = [
        figure.name for figure in pictures(compute_report_data(X, None, {"measures": ["MagArea"]}))
    ]
    assert "heat" not in names_without_similarity


def test_label_is_part_of_the_svg():
    figure = Figure.of("dots", "Dots", "Two.", lambda ax: ax.plot([0, 1], "o"), "two dots & more")
    assert (figure.name, figure.title, figure.text) == ("dots", "Dots", "Two.")
    assert "two dots &amp; more" in figure.svg


def test_spectrum_label_contains_the_largest_eigenvalue():
    report_data = compute_report_data(X, None, OPTIONS)
    percent = 100 * float(report_data.spectrum.values[0])
    assert (
        f"the largest of 24 normalized eigenvalues is {percent:.1f}%"
        in figures.spectrum_figure(report_data).svg
    )


def test_profile_label_contains_first_and_last_value():
    report_data = compute_report_data(X, None, OPTIONS)
    label = f"from {report_data.profile[0]:.1f} at q = 0 to {report_data.profile[-1]:.1f}"
    assert label in figures.profile_figure(report_data).svg


def test_heat_map_separates_groups_by_lines():
    grouped = compute_report_data(X, None, {**OPTIONS, "groups": [0, 1] * 12})
    assert "Lines separate the groups" in figures.heat_map_figure(grouped).text
    ungrouped = compute_report_data(X, None, OPTIONS)
    assert "Lines separate" not in figures.heat_map_figure(ungrouped).text


def test_magnitude_label_contains_the_convergence_scale():
    curve = magnitude_curve(X)
    figure = figures.magnitude_figure(curve)
    t = curve.convergence
    assert f"{curve.at(t):.1f} at scale {t:.3g}; at larger scales, it approaches 24," in figure.svg
