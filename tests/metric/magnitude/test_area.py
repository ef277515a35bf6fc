"""Areas of magnitude functions, compared with closed forms and fine sums."""

import math

import numpy as np
import pytest

from vendiscore import convergence_scale, mag_area, mag_areas, mag_diff
from vendiscore.magnitude.area import compute_area, compute_area_difference
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.magnitude.space import MetricSpace, StackedSpaces

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((12, 3)), RNG.standard_normal((8, 3)) * 2


def area_of_two_points(distance, t):
    """Return ∫₀ᵗ 2 / (1 + exp(−d s)) ds, the area of two points at distance d."""
    return 2 * math.log((1 + math.exp(distance * t)) / 2) / distance


@pytest.mark.parametrize("distance", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("t_cut", [0.7, 4.0])
def test_area_of_two_points_matches_closed_form(distance, t_cut):
    result = mag_area([0.0, distance], t_cut=t_cut, n_scales=400)
    assert result == pytest.approx(area_of_two_points(distance, t_cut), rel=1e-4)
    mean = mag_area([0.0, distance], t_cut=t_cut, n_scales=400, average=True)
    assert mean == pytest.approx(result / t_cut, rel=1e-12)


@pytest.mark.parametrize("n_scales", [2, 5, 30])
def test_area_is_trapezoidal_rule_on_equidistant_scales(n_scales):
    space = as_space(X)
    scales = np.linspace(0, 2.5, n_scales)
    expected = np.trapezoid([space.magnitude(t) for t in scales], scales)
    assert mag_area(X, t_cut=2.5, n_scales=n_scales) == pytest.approx(expected, rel=1e-9)
    assert 2.5 <= expected <= 2.5 * 12


def test_area_ends_at_convergence_scale_by_default():
    for epsilon in (0.05, 0.2):
        t_cut = convergence_scale(X, epsilon=epsilon)
        assert mag_area(X, epsilon=epsilon) == pytest.approx(mag_area(X, t_cut=t_cut), rel=1e-9)


def test_areas_of_sets_end_at_median_convergence_scale():
    convergence_scales = [convergence_scale(samples) for samples in (X, Y, X * 5)]
    result = mag_areas([X, Y, X * 5])
    expected = [mag_area(samples, t_cut=np.median(convergence_scales)) for samples in (X, Y, X * 5)]
    assert result == pytest.approx(expected, rel=1e-9)
    expected = [mag_area(samples, t_cut=1.0) for samples in (X, Y)]
    assert mag_areas([X, Y], t_cut=1.0) == pytest.approx(expected, rel=1e-9)


def test_difference_ends_at_convergence_scale_of_references():
    t_cut = convergence_scale(Y)
    areas = mag_area(X, t_cut=t_cut), mag_area(Y, t_cut=t_cut)
    difference = areas[0] - areas[1]
    assert mag_diff(X, Y) == pytest.approx(difference, rel=1e-9)
    assert mag_diff(X, Y, average=True) == pytest.approx(difference / t_cut, rel=1e-9)
    assert mag_diff(X, Y, relative=True) == pytest.approx(difference / areas[1], rel=1e-9)
    assert mag_diff(Y, X, t_cut=t_cut) == pytest.approx(-difference, rel=1e-9)
    assert mag_diff(Y, Y) == 0


def test_absolute_difference_does_not_cancel():
    # The magnitude functions cross.
    wide, narrow = [0.0, 10.0], [0.0, 0.3, 0.6]
    signed = mag_diff(wide, narrow, t_cut=20.0, n_scales=500)
    absolute = mag_diff(wide, narrow, t_cut=20.0, n_scales=500, absolute=True)
    scales = np.linspace(0, 20, 500)
    difference = [as_space(wide).magnitude(t) - as_space(narrow).magnitude(t) for t in scales]
    assert absolute == pytest.approx(np.trapezoid(np.abs(difference), scales), rel=1e-8)
    assert signed == pytest.approx(np.trapezoid(difference, scales), rel=1e-8)
    assert absolute > abs(signed) + 1
    assert absolute == pytest.approx(
        mag_diff(narrow, wide, t_cut=20.0, n_scales=500, absolute=True)
    )


def test_single_point_has_area_0():
    point = [[1.0], [1.0]]
    assert mag_area(point) == 0.0
    assert mag_area(point, average=True) == 1.0
    assert mag_area(point, t_cut=3.0) == pytest.approx(3.0)
    assert mag_diff(point, point) == 0.0
    with pytest.raises(ValueError, match=r"2 distinct points .* `references` is 0"):
        mag_diff([0.0, 1.0], point)
    with pytest.raises(ValueError, match=r"3 distinct points .* the sets is 0"):
        mag_areas([point, point, [0.0, 1.0, 2.0]])


@pytest.mark.parametrize(
    ("sets", "error", "message"),
    [
        ([], ValueError, "`sets` must contain at least one"),
        ("ab", TypeError, "`sets` must be a list of sets of samples, got str"),
        ({"a": [1.0]}, TypeError, "got dict"),
        (3, TypeError, "got int"),
    ],
)
def test_mag_areas_requires_list_of_sets(sets, error, message):
    with pytest.raises(error, match=message):
        mag_areas(sets)


def test_stacked_spaces_match_single_spaces():
    rows = RNG.standard_normal((3, 5, 2))
    D = np.linalg.norm(rows[:, :, None] - rows[:, None], axis=3)
    spaces = [MetricSpace(space.copy()) for space in D]
    for average in (False, True):
        expected = [compute_area(space, 2.0, 20, average) for space in spaces]
        np.testing.assert_allclose(
            compute_area(StackedSpaces(D.copy()), 2.0, 20, average), expected
        )
    reference = as_space(Y)
    options = {"t_cut": None, "epsilon": 0.05, "n_scales": 10}
    for name in ("average", "relative", "absolute"):
        flags = dict.fromkeys(("average", "relative", "absolute"), False) | {name: True}
        expected = [
            compute_area_difference(space, reference, **options, **flags) for space in spaces
        ]
        result = compute_area_difference(StackedSpaces(D.copy()), reference, **options, **flags)
        np.testing.assert_allclose(result, expected, rtol=1e-9)
    one_point = as_space([[1.0]])
    flags = dict.fromkeys(("average", "relative", "absolute"), False)
    assert np.isnan(
        compute_area_difference(StackedSpaces(D.copy()), one_point, **options, **flags)
    ).all()
    t_cuts = np.array([0.0, 1.0, 2.0])
    assert np.isnan(compute_area(StackedSpaces(D.copy()), t_cuts, 10, False)).tolist() == [
        True,
        False,
        False,
    ]


def test_infinite_area_raises():
    with pytest.raises(
        ArithmeticError, match="must be finite and at least 0, got inf; pass a smaller"
    ):
        mag_area([0.0, 1.0], t_cut=1.7e308)
