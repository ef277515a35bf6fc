"""Scores computed from changes of Σ λ^q, compared with scores of the changed spectrum."""

import math

import numpy as np
import pytest

from vendiscore import effective_number
from vendiscore.spectral.quadrature import (
    compute_surprisal,
    log_score_from_change,
    log_score_from_entropy,
)


def test_log_score_from_change_matches_the_changed_spectrum():
    """Scaling a matrix changes its trace but not its normalized eigenvalues."""
    values = np.array([0.5, 0.3, 0.2])
    for q in (0.5, 1, 3):
        unchanged = log_score_from_change(values, np.zeros(1), np.ones(1), q)
        assert unchanged == pytest.approx([math.log(effective_number(values, q))])
        A = 3 * values  # has trace 3
        terms = A * ((A / 3) ** (q - 1) - 1) / (1 - q) if q != 1 else -A * np.log(A / 3)
        change = np.array([terms.sum() - values @ compute_surprisal(np.log(values), q)])
        result = log_score_from_change(values, change, np.array([3.0]), q)
        assert result == pytest.approx([math.log(3 * effective_number(values, q))])


@pytest.mark.parametrize("q", [0.5, 1, 2])
def test_log_score_from_change_accepts_stacks_and_ignores_zeros(q):
    values = np.array([[0.5, 0.3, 0.2], [0.0, 0.6, 0.4]])
    change, trace = np.array([[0.1, 0.2], [0.0, -0.1]]), np.array([[1.0, 0.9], [1.1, 1.0]])
    stacked = log_score_from_change(values, change, trace, q)
    assert stacked[0] == pytest.approx(log_score_from_change(values[0], change[0], trace[0], q))
    assert stacked[1] == pytest.approx(log_score_from_change(values[1, 1:], change[1], trace[1], q))


@pytest.mark.parametrize("q", [0.5, 1, 3])
def test_log_score_from_entropy_matches_the_effective_number(q):
    """S_q = Σ λ (λ^{q−1} − 1)/(1 − q) determines log VS_q."""
    values = np.array([0.5, 0.3, 0.2])
    entropy = values @ compute_surprisal(np.log(values), q)
    assert log_score_from_entropy(entropy, q) == pytest.approx(
        math.log(effective_number(values, q))
    )
