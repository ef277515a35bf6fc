"""Estimates for combinations of spectrum shapes, kernels and orders."""

import random

import numpy as np
import pytest
from estimate_cases import (
    KERNELS,
    MODES,
    ORDERS,
    SHAPES,
    TOLERANCES,
    check_estimate,
    make_case,
    make_eigenvalues,
)

SIZE, CASES_PER_SHAPE = 150, 2


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_estimates_of_all_spectra_are_accurate_or_refused(kernel, shape):
    rng = random.Random(f"{kernel} {shape}")
    for _ in range(CASES_PER_SHAPE):
        q, rtol = rng.choice(ORDERS), rng.choice(TOLERANCES)
        result = check_estimate(kernel, shape, q, rtol, "forced", SIZE)
        assert result.is_correct, (q, rtol, result)


def test_requested_estimates_are_within_their_tolerance():
    rng = random.Random(0)
    endings = set()
    for kernel in ("matrix", "rbf"):
        for q in rng.sample(ORDERS, 5):
            result = check_estimate(kernel, "power law", q, 0.05, "asked", 1200)
            assert result.is_correct, (kernel, q, result)
            endings.add(result.outcome)
    assert "estimate" in endings


def test_cases_have_the_eigenvalues_of_their_shape():
    for shape in SHAPES:
        values = make_case("matrix", shape, SIZE)[2]
        np.testing.assert_allclose(values, make_eigenvalues(shape, SIZE), atol=1e-12)
    assert set(MODES) == {"asked", "forced"}
