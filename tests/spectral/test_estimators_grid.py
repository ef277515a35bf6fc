"""Estimates of spectra of every shape: a sample of benchmarks/estimate_grid.py."""

import random

import numpy as np
import pytest
from spectra import KERNELS, ORDERS, SHAPES, TOLERANCES, WAYS, case, cell, eigenvalues

from vendiscore.spectral.cholesky import Factor
from vendiscore.spectral.hill import effective_number
from vendiscore.spectral.weighted_similarity import weighted_by

SIZE, CELLS = 150, 2


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_estimates_of_every_spectrum_are_right_exact_or_refused(kernel, shape):
    rng = random.Random(f"{kernel} {shape}")
    for _ in range(CELLS):
        q, rtol = rng.choice(ORDERS), rng.choice(TOLERANCES)
        found = cell(kernel, shape, q, rtol, "forced", SIZE)
        assert found.right, (q, rtol, found)


def test_estimates_that_are_asked_for_keep_their_tolerance():
    rng = random.Random(0)
    ends = set()
    for kernel in ("matrix", "rbf", "polynomial"):
        for q in rng.sample(ORDERS, 5):
            found = cell(kernel, "power law", q, 0.05, "asked", 520)
            assert found.right, (kernel, q, found)
            ends.add(found.end)
    assert "estimate" in ends


def test_cases_have_the_spectra_that_they_are_named_for():
    for shape in SHAPES:
        shares = case("matrix", shape, SIZE)[2]
        np.testing.assert_allclose(shares, eigenvalues(shape, SIZE), atol=1e-12)
    assert set(WAYS) == {"asked", "forced"}


@pytest.mark.parametrize("q", [0.1, 0.3, 0.5])
def test_bounds_contain_the_rounding_of_small_eigenvalues(q):
    """Ten points, each there many times, but for 1e-5: thirty eigenvalues of about 1e-12."""
    similarity, p, shares = case("rbf", "low rank", 300)
    factor = Factor(weighted_by(similarity, p), 150)
    while factor.left > 1e-14:
        factor.extend()
    least, even = factor.shares()
    low, exact, high = (effective_number(each, q) for each in (least, shares, even))
    assert low < exact < high < 1.01 * low
