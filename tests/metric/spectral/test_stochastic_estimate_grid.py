"""Estimates of spectra of every shape, under every kind of kernel and at every order."""

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

SIZE, CELLS = 150, 2


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_estimates_of_every_spectrum_are_right_exact_or_refused(kernel, shape):
    rng = random.Random(f"{kernel} {shape}")
    for _ in range(CELLS):
        q, rtol = rng.choice(ORDERS), rng.choice(TOLERANCES)
        result = check_estimate(kernel, shape, q, rtol, "forced", SIZE)
        assert result.right, (q, rtol, result)


def test_estimates_that_are_asked_for_keep_their_tolerance():
    rng = random.Random(0)
    ends = set()
    for kernel in ("matrix", "rbf"):
        for q in rng.sample(ORDERS, 5):
            result = check_estimate(kernel, "power law", q, 0.05, "asked", 1200)
            assert result.right, (kernel, q, result)
            ends.add(result.end)
    assert "estimate" in ends


def test_cases_have_the_spectra_that_they_are_named_for():
    for shape in SHAPES:
        shares = make_case("matrix", shape, SIZE)[2]
        np.testing.assert_allclose(shares, make_eigenvalues(shape, SIZE), atol=1e-12)
    assert set(MODES) == {"asked", "forced"}
