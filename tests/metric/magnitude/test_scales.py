"""Search for the convergence scale: number of solves, and termination for all functions."""

import math

import numpy as np
import pytest
from point_sets import make_normal_rows

from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.magnitude.scales import _find_root, find_convergence_scale


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("epsilon", [0.05, 0.3])
@pytest.mark.parametrize("d", [2, 10, 48])
def test_convergence_scale_needs_at_most_six_solves(d: int, epsilon: float, metric: str) -> None:
    space = as_space(make_normal_rows(400, d), metric=metric)
    t = find_convergence_scale(space, epsilon)
    assert space.magnitude(t) == pytest.approx((1 - epsilon) * 400, rel=1e-9)
    assert len(space.solver.solutions) <= 6


def test_clusters_of_different_sizes_have_convergence_scale() -> None:
    sizes = 10.0 ** -np.arange(5)
    X = np.concatenate(
        [[100.0 * i] + size * make_normal_rows(80, 3, i) for i, size in enumerate(sizes)]
    )
    space = as_space(X)
    t = find_convergence_scale(space, 0.05)
    assert space.magnitude(t) == pytest.approx(0.95 * 400, rel=1e-9)
    assert len(space.solver.solutions) <= 20


ROOTS = {
    "straight": (lambda x: x - 3, 3.0),
    "steep": (lambda x: math.expm1(min(20 * (x - 3), 300.0)), 3.0),
    "flat at the root": (lambda x: (x - 3) ** 3, 3.0),
    "a step": (lambda x: math.copysign(1, x - 3.2), 3.2),
    "far below": (lambda x: x + 300, -300.0),
    "far above": (lambda x: math.atan(x - 300), 300.0),
    "in steps": (lambda x: math.floor(8 * (x - 3)) / 8 + 0.01, 3.0),
    "noisy": (lambda x: x - 3 + 1e-4 * math.sin(1e6 * x), 3.0),
}


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("slope", [1.0, 1e-3, 100.0, -1.0, 0.0])
@pytest.mark.parametrize("start", [0.0, 2.9, 3.3, 40.0])
def test_root_is_found_for_increasing_functions(name: str, slope: float, start: float) -> None:
    f, expected = ROOTS[name]
    arguments: list[float] = []

    def record_argument(x: float) -> float:
        arguments.append(x)
        return f(x)

    result = _find_root(record_argument, start, slope, 1e-9)
    tolerance = {"flat at the root": 1e-5, "noisy": 2e-4}.get(name, 2e-9)
    assert isinstance(result, float)
    assert result == pytest.approx(expected, abs=tolerance)
    assert result in arguments  # so the solution at this scale is cached
    assert len(arguments) <= 100


@pytest.mark.parametrize("value", [-1.0, 1.0])
def test_missing_root_returns_search_interval(value: float) -> None:
    low, high = _find_root(lambda x: value, 1.0, 1.0, 1e-9)
    assert low == 1.0 if value < 0 else high == 1.0
    assert high - low > 300


def test_root_of_non_monotonic_function_is_found() -> None:
    f = lambda x: math.sin(x) + 0.2 * x - 1  # noqa: E731
    result = _find_root(f, 4.0, 0.5, 1e-9)
    assert isinstance(result, float)
    assert f(result) == pytest.approx(0, abs=1e-8)
