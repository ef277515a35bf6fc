"""Magnitude, weights and spread of distances, against the inverse of exp(−tD)."""

import numpy as np
import pytest

from vendiscore.magnitude.space import MetricSpace, StackedSpaces

RNG = np.random.default_rng(0)
X = RNG.standard_normal((9, 3))
D = np.linalg.norm(X[:, None] - X, axis=2)
SCALES = [0.1, 1.0, 5.0]


def magnitude(D, t):
    return np.linalg.inv(np.exp(-t * D)).sum()


@pytest.mark.parametrize("t", SCALES)
def test_magnitude_weights_and_spread_are_those_of_the_definition(t):
    space = MetricSpace(D.copy(), negative_type=True)
    assert space.magnitude(t) == pytest.approx(magnitude(D, t), rel=1e-10)
    weights = np.linalg.solve(np.exp(-t * D), np.ones(9))
    np.testing.assert_allclose(space.weights(t), weights, rtol=1e-8)
    spread = (1 / np.exp(-t * D).sum(axis=1)).sum()
    assert space.spread(t) == pytest.approx(spread, rel=1e-12)


def test_at_scale_0_every_space_has_magnitude_1():
    assert MetricSpace(D.copy()).magnitude(0) == 1.0
    assert MetricSpace(D.copy()).spread(0) == pytest.approx(1)
    assert MetricSpace(np.zeros((1, 1))).magnitude(7.0) == 1.0
    assert MetricSpace(np.zeros((1, 1))).weights(7.0).tolist() == [1.0]


def test_two_points_have_the_magnitude_of_leinster():
    for t in SCALES:
        space = MetricSpace(np.array([[0.0, 2.0], [2.0, 0.0]]))
        assert space.magnitude(t) == pytest.approx(1 + np.tanh(t))


def test_samples_at_distance_0_are_one_point_and_share_its_weight():
    copies = np.array([0, 1, 0, 2, 1, 0])
    space = MetricSpace(D[np.ix_(copies, copies)])
    distinct = MetricSpace(D[:3, :3].copy())
    assert (space.n, space.distinct) == (6, 3)
    assert space.inverse.tolist() == copies.tolist()
    assert space.magnitude(1.0) == pytest.approx(distinct.magnitude(1.0))
    expected = distinct.weights(1.0)[copies] / np.array([3, 2, 3, 1, 2, 3])
    np.testing.assert_allclose(space.weights(1.0), expected)
    assert space.weights(1.0).sum() == pytest.approx(space.magnitude(1.0))
    assert space.spread(1.0) == pytest.approx(distinct.spread(1.0))


def test_a_given_inverse_names_the_samples_of_each_point():
    space = MetricSpace(D[:2, :2].copy(), np.array([1, 0, 1]))
    assert (space.n, space.distinct) == (3, 2)
    w = np.linalg.solve(np.exp(-D[:2, :2]), np.ones(2))
    np.testing.assert_allclose(space.weights(1.0), [w[1] / 2, w[0], w[1] / 2])


def test_chains_of_points_at_distance_0_are_one_point():
    path = np.array([[0.0, 0, 1], [0, 0, 1], [1, 1, 0]])
    three = np.zeros((4, 4))
    three[3, :3] = three[:3, 3] = 1
    assert MetricSpace(path).distinct == 2
    assert MetricSpace(three).inverse.tolist() == [0, 0, 0, 1]


def test_points_at_distance_0_must_be_at_equal_distances_from_others():
    wrong = np.array([[0.0, 0, 1], [0, 0, 2], [1, 2, 0]])
    with pytest.raises(
        ValueError,
        match="samples 0 and 1 have distance 0, but different distances 1 and 2 to sample 2",
    ):
        MetricSpace(wrong)
    near = np.array([[0.0, 0, 1], [0, 0, 1 + 5e-7], [1, 1 + 5e-7, 0]])
    assert MetricSpace(near).distinct == 2
    assert MetricSpace(wrong, slack=1.5).distinct == 2
    with pytest.raises(ValueError, match=r"samples 2 and 4 have distance 0.* to sample 0"):
        MetricSpace(wrong, np.array([2, 2, 0, 2, 1]))  # which sample is first at each point


def test_a_magnitude_out_of_its_range_is_an_error():
    space = MetricSpace(D.copy(), negative_type=True)
    for value in (0.5, 10.0, np.nan):
        space.solver.magnitude = lambda t, value=value: value
        with pytest.raises(ArithmeticError, match=r"scale t=1 must be between 1 and 9"):
            space.magnitude(1.0)
    space.solver.magnitude = lambda t: 9 * (1 + 1e-12)
    assert space.magnitude(1.0) == pytest.approx(9)
    other = MetricSpace(D.copy())  # magnitude may exceed n
    other.solver.magnitude = lambda t: 10.0
    assert other.magnitude(1.0) == 10.0


def test_a_space_is_described_by_its_settings():
    space = MetricSpace(D.copy(), settings={"metric": "euclidean"}, notes=["a"], unit=2.0)
    assert repr(space) == "MetricSpace(n=9, distinct=9, metric='euclidean')"
    assert str(space) == "Distances between 9 samples, 9 of them distinct."
    assert (space.notes, space.unit) == (("a",), 2.0)


class TestSpaces:
    def stack(self):
        rows = RNG.standard_normal((4, 5, 3))
        return np.linalg.norm(rows[:, :, None] - rows[:, None], axis=3)

    def test_each_space_has_the_numbers_that_it_has_alone(self):
        stack = self.stack()
        spaces = StackedSpaces(stack.copy())
        result = spaces.compute_magnitudes(np.array([0.0, *SCALES]))
        expected = [[1.0, *(magnitude(each, t) for t in SCALES)] for each in stack]
        np.testing.assert_allclose(result, expected, rtol=1e-9)
        for t in SCALES:
            alone = [MetricSpace(each.copy()).spread(t) for each in stack]
            np.testing.assert_allclose(spaces.spread(t), alone, rtol=1e-12)

    def test_scales_may_differ_between_spaces(self):
        stack = self.stack()
        t = np.array([[0.5], [1.0], [2.0], [0.0]])
        expected = [[magnitude(each, s) if s else 1.0] for each, (s,) in zip(stack, t, strict=True)]
        np.testing.assert_allclose(
            StackedSpaces(stack.copy()).compute_magnitudes(t), expected, rtol=1e-9
        )

    def test_spaces_with_a_distance_of_0_or_without_one_are_nan(self):
        stack = self.stack()
        stack[1, 0, 2] = stack[1, 2, 0] = 0
        stack[2, 0, 2] = np.nan
        spaces = StackedSpaces(stack.copy())
        assert spaces.is_valid.tolist() == [True, False, False, True]
        result = spaces.compute_magnitudes(np.array([1.0]))
        assert np.isnan(result[:, 0]).tolist() == [False, True, True, False]
        assert np.isnan(spaces.spread(1.0)).tolist() == [False, True, True, False]

    def test_magnitudes_that_rounding_may_have_changed_are_nan(self):
        # Points on a line have magnitude 1 + Σ tanh(t gap / 2). Each is solved alone: if one matrix
        # is singular, the whole stack is NaN.
        lines = [x for gap in 10.0 ** -np.arange(17) for x in np.sort(RNG.random((3, 40))) * gap]
        result, expected = [], []
        for x in lines:
            space = StackedSpaces(np.abs(np.subtract.outer(x, x))[None])
            result.append(space.compute_magnitudes(np.array([1.0]))[0, 0])
            expected.append(1 + np.tanh(np.diff(x) / 2).sum())
        result, expected = np.array(result), np.array(expected)
        known = ~np.isnan(result)
        np.testing.assert_allclose(result[known], expected[known], rtol=1e-11)
        assert known[:3].all()
        assert not known.all()
