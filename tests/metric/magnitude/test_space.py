"""Magnitude, weights and spread of metric spaces, compared with the inverse of exp(−tD)."""

import numpy as np
import pytest

from vendiscore.magnitude.space import MetricSpace, StackedSpaces

RNG = np.random.default_rng(0)
X = RNG.standard_normal((9, 3))
D = np.linalg.norm(X[:, None] - X, axis=2)
SCALES = [0.1, 1.0, 5.0]


def naive_magnitude(D, t):
    return np.linalg.inv(np.exp(-t * D)).sum()


@pytest.mark.parametrize("t", SCALES)
def test_magnitude_weights_and_spread_match_definitions(t):
    space = MetricSpace(D.copy(), negative_type=True)
    assert space.magnitude(t) == pytest.approx(naive_magnitude(D, t), rel=1e-10)
    weights = np.linalg.solve(np.exp(-t * D), np.ones(9))
    np.testing.assert_allclose(space.weights(t), weights, rtol=1e-8)
    spread = (1 / np.exp(-t * D).sum(axis=1)).sum()
    assert space.spread(t) == pytest.approx(spread, rel=1e-12)


def test_magnitude_is_1_at_scale_0_and_for_single_point():
    assert MetricSpace(D.copy()).magnitude(0) == 1.0
    assert MetricSpace(D.copy()).spread(0) == pytest.approx(1)
    assert MetricSpace(np.zeros((1, 1))).magnitude(7.0) == 1.0
    assert MetricSpace(np.zeros((1, 1))).weights(7.0).tolist() == [1.0]


def test_two_points_match_closed_form():
    for t in SCALES:
        space = MetricSpace(np.array([[0.0, 2.0], [2.0, 0.0]]))
        assert space.magnitude(t) == pytest.approx(1 + np.tanh(t))


def test_samples_at_distance_0_are_merged_and_share_weight():
    indices = np.array([0, 1, 0, 2, 1, 0])
    space = MetricSpace(D[np.ix_(indices, indices)])
    distinct = MetricSpace(D[:3, :3].copy())
    assert (space.n, space.distinct) == (6, 3)
    assert space.inverse.tolist() == indices.tolist()
    assert space.magnitude(1.0) == pytest.approx(distinct.magnitude(1.0))
    expected = distinct.weights(1.0)[indices] / np.array([3, 2, 3, 1, 2, 3])
    np.testing.assert_allclose(space.weights(1.0), expected)
    assert space.weights(1.0).sum() == pytest.approx(space.magnitude(1.0))
    assert space.spread(1.0) == pytest.approx(distinct.spread(1.0))


def test_inverse_maps_samples_to_points():
    space = MetricSpace(D[:2, :2].copy(), np.array([1, 0, 1]))
    assert (space.n, space.distinct) == (3, 2)
    point_weights = np.linalg.solve(np.exp(-D[:2, :2]), np.ones(2))
    np.testing.assert_allclose(
        space.weights(1.0), [point_weights[1] / 2, point_weights[0], point_weights[1] / 2]
    )


def test_chains_at_distance_0_are_single_point():
    shared_zero_distances = np.array([[0.0, 0, 1], [0, 0, 1], [1, 1, 0]])
    three_identical = np.zeros((4, 4))
    three_identical[3, :3] = three_identical[:3, 3] = 1
    assert MetricSpace(shared_zero_distances).distinct == 2
    assert MetricSpace(three_identical).inverse.tolist() == [0, 0, 0, 1]


def test_identical_points_must_have_equal_distances():
    inconsistent = np.array([[0.0, 0, 1], [0, 0, 2], [1, 2, 0]])
    with pytest.raises(
        ValueError,
        match="samples 0 and 1 have distance 0, but different distances 1 and 2 to sample 2",
    ):
        MetricSpace(inconsistent)
    nearly_consistent = np.array([[0.0, 0, 1], [0, 0, 1 + 5e-7], [1, 1 + 5e-7, 0]])
    assert MetricSpace(nearly_consistent).distinct == 2
    assert MetricSpace(inconsistent, slack=1.5).distinct == 2
    with pytest.raises(ValueError, match=r"samples 2 and 4 have distance 0.* to sample 0"):
        MetricSpace(
            inconsistent, np.array([2, 2, 0, 2, 1])
        )  # the index of the first sample of each point is reported


def test_magnitude_out_of_range_raises():
    space = MetricSpace(D.copy(), negative_type=True)
    for value in (0.5, 10.0, np.nan):
        space.solver.magnitude = lambda t, value=value: value
        with pytest.raises(ArithmeticError, match=r"scale t=1 must be between 1 and 9"):
            space.magnitude(1.0)
    space.solver.magnitude = lambda t: 9 * (1 + 1e-12)
    assert space.magnitude(1.0) == pytest.approx(9)
    general_space = MetricSpace(D.copy())  # magnitude may exceed n
    general_space.solver.magnitude = lambda t: 10.0
    assert general_space.magnitude(1.0) == 10.0


def test_space_has_repr_notes_and_unit():
    space = MetricSpace(D.copy(), settings={"metric": "euclidean"}, notes=["a"], unit=2.0)
    assert repr(space) == "MetricSpace(n=9, distinct=9, metric='euclidean')"
    assert str(space) == "Distances between 9 samples, 9 of them distinct."
    assert (space.notes, space.unit) == (("a",), 2.0)


class TestStackedSpaces:
    def draw_distances(self):
        rows = RNG.standard_normal((4, 5, 3))
        return np.linalg.norm(rows[:, :, None] - rows[:, None], axis=3)

    def test_stacked_spaces_match_single_spaces(self):
        distances = self.draw_distances()
        spaces = StackedSpaces(distances.copy())
        result = spaces.compute_magnitudes(np.array([0.0, *SCALES]))
        expected = [[1.0, *(naive_magnitude(D, t) for t in SCALES)] for D in distances]
        np.testing.assert_allclose(result, expected, rtol=1e-9)
        for t in SCALES:
            spreads = [MetricSpace(D.copy()).spread(t) for D in distances]
            np.testing.assert_allclose(spaces.spread(t), spreads, rtol=1e-12)

    def test_spaces_can_have_different_scales(self):
        distances = self.draw_distances()
        t = np.array([[0.5], [1.0], [2.0], [0.0]])
        expected = [
            [naive_magnitude(D, scale) if scale else 1.0]
            for D, (scale,) in zip(distances, t, strict=True)
        ]
        np.testing.assert_allclose(
            StackedSpaces(distances.copy()).compute_magnitudes(t), expected, rtol=1e-9
        )

    def test_spaces_with_zero_or_nan_distance_are_nan(self):
        distances = self.draw_distances()
        distances[1, 0, 2] = distances[1, 2, 0] = 0
        distances[2, 0, 2] = np.nan
        spaces = StackedSpaces(distances.copy())
        assert spaces.is_valid.tolist() == [True, False, False, True]
        result = spaces.compute_magnitudes(np.array([1.0]))
        assert np.isnan(result[:, 0]).tolist() == [False, True, True, False]
        assert np.isnan(spaces.spread(1.0)).tolist() == [False, True, True, False]

    def test_inaccurate_magnitudes_are_nan(self):
        # Points on a line have magnitude 1 + Σ tanh(t gap / 2). Spaces are solved separately: if
        # one matrix is singular, the whole stack is NaN.
        lines = [x for gap in 10.0 ** -np.arange(17) for x in np.sort(RNG.random((3, 40))) * gap]
        result, expected = [], []
        for x in lines:
            space = StackedSpaces(np.abs(np.subtract.outer(x, x))[None])
            result.append(space.compute_magnitudes(np.array([1.0]))[0, 0])
            expected.append(1 + np.tanh(np.diff(x) / 2).sum())
        result, expected = np.array(result), np.array(expected)
        is_accurate = ~np.isnan(result)
        np.testing.assert_allclose(result[is_accurate], expected[is_accurate], rtol=1e-11)
        assert is_accurate[:3].all()
        assert not is_accurate.all()
