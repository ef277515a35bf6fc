"""The number of a matrix whose sum of powers changed, by hand."""

import math

import numpy as np
import pytest

from vendiscore import effective_number
from vendiscore.spectral.quadrature import (
    compute_surprisal,
    log_score_from_change,
    log_score_from_entropy,
)


def test_a_change_of_a_sum_of_powers_moves_the_number_by_it():
    """S_q of a matrix of another trace is S_q of its shares, but for the factor."""
    values = np.array([0.5, 0.3, 0.2])
    for q in (0.5, 1, 3):
        none = log_score_from_change(values, np.zeros(1), np.ones(1), q)
        assert none == pytest.approx([math.log(effective_number(values, q))])
        A = 3 * values  # of trace 3, with the terms of `values` and further ones
        terms = A * ((A / 3) ** (q - 1) - 1) / (1 - q) if q != 1 else -A * np.log(A / 3)
        change = np.array([terms.sum() - values @ compute_surprisal(np.log(values), q)])
        result = log_score_from_change(values, change, np.array([3.0]), q)
        assert result == pytest.approx([math.log(3 * effective_number(values, q))])


@pytest.mark.parametrize("q", [0.5, 1, 2])
def test_sets_of_a_stack_have_their_own_sums_and_zeros_are_left_out(q):
    values = np.array([[0.5, 0.3, 0.2], [0.0, 0.6, 0.4]])
    change, trace = np.array([[0.1, 0.2], [0.0, -0.1]]), np.array([[1.0, 0.9], [1.1, 1.0]])
    together = log_score_from_change(values, change, trace, q)
    assert together[0] == pytest.approx(log_score_from_change(values[0], change[0], trace[0], q))
    assert together[1] == pytest.approx(
        log_score_from_change(values[1, 1:], change[1], trace[1], q)
    )


@pytest.mark.parametrize("q", [0.5, 1, 3])
def test_entropies_are_means_of_surprisals(q):
    """S_q = Σ λ (λ^{q−1} − 1)/(1 − q), of which log VS_q follows."""
    values = np.array([0.5, 0.3, 0.2])
    S = values @ compute_surprisal(np.log(values), q)
    assert log_score_from_entropy(S, q) == pytest.approx(math.log(effective_number(values, q)))
