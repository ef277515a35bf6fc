"""Plots show the passed values on the passed Axes, in the user's style."""

import subprocess
import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_rgba  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from vendiscore import Monitor, as_similarity, compare, growth, plots  # noqa: E402
from vendiscore.magnitude.curve import magnitude_curve  # noqa: E402
from vendiscore.tools.analysis.report_data import compute_report_data  # noqa: E402

X = np.random.default_rng(0).normal(size=(40, 2))
SIMILARITY = as_similarity(X, k="rbf", sigma=1.0)
REPORT_DATA = compute_report_data(SIMILARITY, None, {"q": 2})
EIGENVALUES = REPORT_DATA.spectrum.values
CURVE = magnitude_curve(SIMILARITY)
COMPARISON = compare(X[:15], X[15:], k="rbf", sigma=1.0, permutations=19)
MONITOR = Monitor(3.0, size=4)
for value in [3.2] * 20 + [1.2] * 20:
    MONITOR.update(value)
GROWTH = growth(X, [10, 20, 40, 80], k="rbf", sigma=1.0, q=2)


PLOTS = {
    "spectrum": lambda ax=None: plots.spectrum(EIGENVALUES, ax=ax),
    "profile": lambda ax=None: plots.profile(
        REPORT_DATA.profile_orders, REPORT_DATA.profile, ax=ax
    ),
    "heat_map": lambda ax=None: plots.heat_map(REPORT_DATA.K, REPORT_DATA.heat_map_order, ax=ax),
    "magnitude": lambda ax=None: plots.magnitude(CURVE, ax=ax),
    "source_map": lambda ax=None: plots.source_map(X[:, :2], list("abcd" * 10), ax=ax),
    "contributions": lambda ax=None: plots.contributions(X[:, 0] / 9, X[:, 1] > 1, ax=ax),
    "selection": lambda ax=None: plots.selection(np.array([1.0, 1.9, 2.7]), 2.9, ax=ax),
    "phrases": lambda ax=None: plots.phrases(["of course", "I think"], [2.0, 1.0], ax=ax),
    "growth": lambda ax=None: GROWTH.plot(ax),
    "monitor": lambda ax=None: MONITOR.plot(ax, window=8),
    "intervals": lambda ax=None: COMPARISON.plot(ax),
}


@pytest.fixture
def ax():
    return Figure().add_subplot()


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def test_all_plots_are_tested():
    assert set(PLOTS) == set(plots.__all__)


@pytest.mark.parametrize("name", PLOTS)
def test_plot_returns_its_axes_and_keeps_rcparams(name, ax):
    style = dict(matplotlib.rcParams)
    assert PLOTS[name](ax) is ax
    assert ax.has_data()
    assert pyplot.get_fignums() == []
    new_axes = PLOTS[name]()
    assert new_axes.has_data()
    assert pyplot.get_fignums() == [new_axes.figure.number]
    new_axes.figure.canvas.draw()
    assert dict(matplotlib.rcParams) == style


@pytest.mark.parametrize("name", sorted(set(PLOTS) - {"heat_map", "source_map"}))
def test_plots_use_colors_of_the_style(name):
    with matplotlib.rc_context({"axes.prop_cycle": matplotlib.cycler(color=["red", "blue"])}):
        axes = PLOTS[name]()
        lines = [line.get_color() for line in axes.lines if line.get_linestyle() != ":"]
        first = lines[0] if lines else axes.patches[0].get_facecolor()
        assert to_rgba(first) == to_rgba("red")


def test_spectrum_bars_are_percentages(ax):
    plots.spectrum(EIGENVALUES, ax=ax)
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(100 * EIGENVALUES[:30])


@pytest.mark.parametrize(("q", "expects_mark"), [(2, True), (7, False), (float("inf"), False)])
def test_profile_marks_an_order_within_its_range(ax, q, expects_mark):
    plots.profile(REPORT_DATA.profile_orders, REPORT_DATA.profile, mark=(q, 3.0), ax=ax)
    curve, *marks = ax.lines
    assert np.array_equal(
        curve.get_xydata(), np.column_stack([REPORT_DATA.profile_orders, REPORT_DATA.profile])
    )
    assert [mark.get_xydata().tolist() for mark in marks] == [[[q, 3.0]]] * expects_mark


def test_heat_map_shows_samples_in_order(ax):
    plots.heat_map(REPORT_DATA.K, REPORT_DATA.heat_map_order, ax=ax)
    image = ax.images[0].get_array()
    assert np.array_equal(
        image, REPORT_DATA.K[np.ix_(REPORT_DATA.heat_map_order, REPORT_DATA.heat_map_order)]
    )
    assert ax.get_xlabel() == "samples, clustered"
    unordered = plots.heat_map(REPORT_DATA.K)
    assert np.array_equal(unordered.images[0].get_array(), REPORT_DATA.K)
    assert unordered.get_xlabel() == "samples"


def test_heat_map_lines_separate_groups(ax):
    groups = np.array([1, 0, 1, 0, 2])
    order = np.argsort(groups, kind="stable")
    plots.heat_map(np.eye(5), order, groups=groups, ax=ax)
    vertical_lines = [line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1]
    assert vertical_lines == [2.5, 4.5]
    assert not plots.heat_map(np.eye(5), groups=["a"] * 5, ax=Figure().add_subplot()).lines


def test_plots_is_imported_without_matplotlib():
    code = "import sys, vendiscore; print('matplotlib' in sys.modules, vendiscore.plots.__name__)"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.split() == ["False", "vendiscore.plots"]


def test_large_heat_maps_average_cells(ax):
    K = np.kron(np.random.default_rng(0).random((240, 240)), np.ones((2, 2)))
    plots.heat_map(K, ax=ax)
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(K[::2, ::2])
    coarse = plots.heat_map(K, cells=2)
    assert np.asarray(coarse.images[0].get_array())[0, 0] == pytest.approx(K[:240, :240].mean())


def test_magnitude_marks_scale_limit_and_convergence(ax):
    plots.magnitude(CURVE, t=1.0, ax=ax)
    curve, limit_line, convergence_line, point = ax.lines
    assert np.array_equal(curve.get_xydata(), np.column_stack([CURVE.scales, CURVE.values]))
    assert set(limit_line.get_ydata()) == {40}
    assert set(convergence_line.get_xdata()) == {CURVE.convergence}
    assert point.get_xydata().tolist() == [[1.0, CURVE.at(1.0)]]


def test_intervals_shows_a_dot_and_an_interval_per_set(ax):
    plots.intervals(["ours", "$C$"], [3, 4], [2, 3.5], [5, 4.5], label="scores", ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ours", "$C$"]
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    assert [list(line.get_xdata()) for line in ax.lines] == [[2, 5], [3], [3.5, 4.5], [4]]
    assert ax.get_xlabel() == "scores"


def test_growth_is_dashed_beyond_n(ax):
    GROWTH.plot(ax)
    observed, extrapolated, _ = ax.lines
    assert list(observed.get_xdata()) == [10, 20, 40]
    assert list(extrapolated.get_xdata()) == [40, 80]
    assert extrapolated.get_linestyle() == "--"
    plots.growth([2, 4], [1, 2], [1, 1.5], [1, 2.5], 4, ax=Figure().add_subplot())


def test_missing_matplotlib_raises_at_the_first_plot():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from vendiscore import plots\n"
        "try: plots.spectrum([0.5, 0.5])\n"
        "except ImportError as error: print(error, f'({error.extra})')"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "a figure needs the package 'matplotlib'" in process.stdout
    assert "pip install matplotlib (plots)" in process.stdout


def test_intervals_distinguishes_sets_if_the_style_has_few_colors():
    names = list("ABCDEFGH")
    with matplotlib.rc_context({"axes.prop_cycle": matplotlib.cycler(color=["red", "blue"])}):
        dots = plots.intervals(names, [2] * 8, [1] * 8, [3] * 8).lines[1::2]
        styles = [(to_rgba(dot.get_color()), dot.get_marker()) for dot in dots]
    assert len(set(styles)) == 8


def test_monitor_shows_means_of_windows_baseline_and_evidence(ax):
    PLOTS["monitor"](ax)
    lines = {line.get_label(): line for line in ax.lines}
    counts, means = lines["mean"].get_data()
    assert counts.tolist() == [0, 8, 16, 24, 32, 40]
    expected = [3.2, 3.2, 3.2**0.5 * 1.2**0.5, 1.2, 1.2, 1.2]  # geometric means; the last twice
    assert means == pytest.approx(expected)
    assert lines["baseline"].get_ydata()[0] == pytest.approx(3.0)
    assert lines["alarm"].get_xdata()[0] == MONITOR.alarm_at
    evidence_ax = ax.figure.axes[1]
    evidence, threshold = (line.get_ydata() for line in evidence_ax.lines)
    assert len(evidence) == 40
    assert evidence[-1] == MONITOR.evidence
    assert threshold[0] == pytest.approx(20)
    assert evidence[MONITOR.alarm_at - 2] < 20 <= evidence[MONITOR.alarm_at - 1]


def test_monitor_without_baseline_or_with_prompts_is_plotted(ax):
    monitor = Monitor(size=4)
    with pytest.raises(ValueError, match="a plot requires at least one update"):
        monitor.plot(ax)
    monitor.update(2.0)
    monitor.plot(ax)
    assert len(ax.figure.axes) == 1  # no evidence
    paired = Monitor({"a": 2.0}, size=4)
    paired.update(2.0, "a")
    _, line = paired.plot(Figure().add_subplot()).lines
    assert line.get_ydata()[0] == pytest.approx(1)  # a ratio
