"""Magnitude curves for plots."""

import numpy as np
import pytest

from vendiscore import as_similarity, convergence_scale, magnitude_function
from vendiscore.magnitude.curve import magnitude_curve

X = np.random.default_rng(0).normal(size=(20, 2))


def test_curve_is_magnitude_function_beyond_convergence_scale():
    result = magnitude_curve(X)
    assert result.convergence == convergence_scale(X)
    assert result.scales == pytest.approx(np.linspace(0, 1.5 * result.convergence, 25))
    expected = magnitude_function(X, scales=result.scales)
    assert result.values == pytest.approx(expected.values, rel=1e-9)
    assert result.values[0] == 1
    assert np.all(np.diff(result.values) > 0)
    assert result.magnitude_at(result.convergence) == pytest.approx(0.95 * result.distinct)


def test_curve_of_similarity_uses_its_distances():
    similarity = as_similarity(["a b c", "a b d", "x y z", "x y z"], k="ngram_overlap")
    result = magnitude_curve(similarity)
    assert result.distinct == 3
    assert [result.magnitude_at(1.0)] == magnitude_function(
        similarity, scales=[1.0]
    ).values.tolist()


def test_identical_samples_have_constant_curve():
    result = magnitude_curve(np.ones((3, 2)))
    assert (result.convergence, result.distinct) == (0, 1)
    assert np.all(result.values == 1)


def test_old_names_are_aliases():
    from vendiscore.magnitude.curve import Curve

    curve = magnitude_curve(np.array([[0.0], [1.0], [3.0]]))
    assert isinstance(curve, Curve)
    assert curve.at(1.0) == curve.magnitude_at(1.0)
