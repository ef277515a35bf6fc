"""Pictures draw the numbers they are given, on the Axes they are given, in the reader's style."""

import subprocess
import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_rgba  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from vendiscore import as_similarity, compare, growth, plots  # noqa: E402
from vendiscore.magnitude.curve import magnitude_curve  # noqa: E402
from vendiscore.tools.analysis.report_data import compute_report_data  # noqa: E402

X = np.random.default_rng(0).normal(size=(40, 2))
SIMILARITY = as_similarity(X, k="rbf", sigma=1.0)
FOUND = compute_report_data(SIMILARITY, None, {"q": 2})
SHARES = FOUND.spectrum.values
CURVE = magnitude_curve(SIMILARITY)
COMPARED = compare(X[:15], X[15:], k="rbf", sigma=1.0, permutations=19)
GROWN = growth(X, [10, 20, 40, 80], k="rbf", sigma=1.0, q=2)


PLOTS = {
    "spectrum": lambda ax=None: plots.spectrum(SHARES, ax=ax),
    "profile": lambda ax=None: plots.profile(FOUND.profile_orders, FOUND.profile, ax=ax),
    "heat_map": lambda ax=None: plots.heat_map(FOUND.K, FOUND.heat_map_order, ax=ax),
    "magnitude": lambda ax=None: plots.magnitude(CURVE, ax=ax),
    "source_map": lambda ax=None: plots.source_map(X[:, :2], list("abcd" * 10), ax=ax),
    "contributions": lambda ax=None: plots.contributions(X[:, 0] / 9, X[:, 1] > 1, ax=ax),
    "selection": lambda ax=None: plots.selection(np.array([1.0, 1.9, 2.7]), 2.9, ax=ax),
    "growth": lambda ax=None: GROWN.plot(ax),
    "intervals": lambda ax=None: COMPARED.plot(ax),
}


@pytest.fixture
def ax():
    return Figure().add_subplot()


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def test_every_plot_is_tried():
    assert set(PLOTS) == set(plots.__all__)


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_gives_back_the_axes_it_drew_on_and_leaves_the_style_alone(name, ax):
    style = dict(matplotlib.rcParams)
    assert PLOTS[name](ax) is ax
    assert ax.has_data()
    assert pyplot.get_fignums() == []
    own = PLOTS[name]()
    assert own.has_data()
    assert pyplot.get_fignums() == [own.figure.number]
    own.figure.canvas.draw()
    assert dict(matplotlib.rcParams) == style


@pytest.mark.parametrize("name", sorted(set(PLOTS) - {"heat_map", "source_map"}))
def test_colours_are_those_of_the_style(name):
    with matplotlib.rc_context({"axes.prop_cycle": matplotlib.cycler(color=["red", "blue"])}):
        drawn = PLOTS[name]()
        lines = [line.get_color() for line in drawn.lines if line.get_linestyle() != ":"]
        first = lines[0] if lines else drawn.patches[0].get_facecolor()
        assert to_rgba(first) == to_rgba("red")


def test_bars_are_shares_in_percent(ax):
    plots.spectrum(SHARES, ax=ax)
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(100 * SHARES[:30])


@pytest.mark.parametrize(("q", "marked"), [(2, True), (7, False), (float("inf"), False)])
def test_an_order_is_marked_where_it_is_in_the_picture(ax, q, marked):
    plots.profile(FOUND.profile_orders, FOUND.profile, mark=(q, 3.0), ax=ax)
    curve, *points = ax.lines
    assert np.array_equal(
        curve.get_xydata(), np.column_stack([FOUND.profile_orders, FOUND.profile])
    )
    assert [point.get_xydata().tolist() for point in points] == [[[q, 3.0]]] * marked


def test_a_heat_map_shows_samples_in_their_order(ax):
    plots.heat_map(FOUND.K, FOUND.heat_map_order, ax=ax)
    shown = ax.images[0].get_array()
    assert np.array_equal(shown, FOUND.K[np.ix_(FOUND.heat_map_order, FOUND.heat_map_order)])
    assert ax.get_xlabel() == "samples, clustered"
    as_they_come = plots.heat_map(FOUND.K)
    assert np.array_equal(as_they_come.images[0].get_array(), FOUND.K)
    assert as_they_come.get_xlabel() == "samples"


def test_lines_of_a_heat_map_divide_groups_that_stand_side_by_side(ax):
    groups = np.array([1, 0, 1, 0, 2])
    order = np.argsort(groups, kind="stable")
    plots.heat_map(np.eye(5), order, groups=groups, ax=ax)
    upright = [line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1]
    assert upright == [2.5, 4.5]
    assert not plots.heat_map(np.eye(5), groups=["a"] * 5, ax=Figure().add_subplot()).lines


def test_the_room_of_plots_is_a_public_name():
    code = "import sys, vendiscore; print('matplotlib' in sys.modules, vendiscore.plots.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "vendiscore.plots"]


def test_large_heat_maps_are_averages_of_squares(ax):
    K = np.kron(np.random.default_rng(0).random((240, 240)), np.ones((2, 2)))
    plots.heat_map(K, ax=ax)
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(K[::2, ::2])
    coarse = plots.heat_map(K, cells=2)
    assert np.asarray(coarse.images[0].get_array())[0, 0] == pytest.approx(K[:240, :240].mean())


def test_a_scale_is_marked_on_the_magnitude_function(ax):
    plots.magnitude(CURVE, t=1.0, ax=ax)
    curve, approached, converged, point = ax.lines
    assert np.array_equal(curve.get_xydata(), np.column_stack([CURVE.scales, CURVE.values]))
    assert set(approached.get_ydata()) == {40}
    assert set(converged.get_xdata()) == {CURVE.convergence}
    assert point.get_xydata().tolist() == [[1.0, CURVE.at(1.0)]]


def test_there_is_a_dot_and_an_interval_for_each_set(ax):
    plots.intervals(["ours", "$C$"], [3, 4], [2, 3.5], [5, 4.5], label="scores", ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ours", "$C$"]
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    assert [list(line.get_xdata()) for line in ax.lines] == [[2, 5], [3], [3.5, 4.5], [4]]
    assert ax.get_xlabel() == "scores"


def test_growth_is_dashed_where_it_is_extrapolated(ax):
    GROWN.plot(ax)
    known, beyond, _ = ax.lines
    assert list(known.get_xdata()) == [10, 20, 40]
    assert list(beyond.get_xdata()) == [40, 80]
    assert beyond.get_linestyle() == "--"
    plots.growth([2, 4], [1, 2], [1, 1.5], [1, 2.5], 4, ax=Figure().add_subplot())


def test_matplotlib_comes_with_the_first_picture_and_is_named_where_it_is_missing():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from vendiscore import plots\n"
        "try: plots.spectrum([0.5, 0.5])\n"
        "except ImportError as error: print(error, f'({error.extra})')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "a figure needs the package 'matplotlib'" in run.stdout
    assert "pip install matplotlib (plots)" in run.stdout


def test_no_two_sets_look_alike_where_the_style_has_fewer_colours():
    names = list("ABCDEFGH")
    with matplotlib.rc_context({"axes.prop_cycle": matplotlib.cycler(color=["red", "blue"])}):
        dots = plots.intervals(names, [2] * 8, [1] * 8, [3] * 8).lines[1::2]
        marks = [(to_rgba(dot.get_color()), dot.get_marker()) for dot in dots]
    assert len(set(marks)) == 8
