"""Orders within rounding of 1 give the results of order 1 in all functions."""

import numpy as np
import pytest

from vendiscore import as_similarity, compare, compute, explain, growth, select
from vendiscore.result import key_at
from vendiscore.spectral.leave_one_out import compute_surprise, log_score_drops
from vendiscore.spectral.vendi_scores import compute_spectrum

# The sum of ten tenths, the next float above 1, and two values farther from 1.
ORDERS = [sum([0.1] * 10), 1 + 2**-52, 1 - 1e-13, 1 + 1e-11]
X = np.random.default_rng(0).standard_normal((60, 3))
Y = X[:, ::-1] / 2
SMOOTH, NARROW = {"k": "rbf", "sigma": 1.5}, {"k": "rbf", "sigma": 1.0}
SPECTRUM = compute_spectrum(as_similarity(X, **SMOOTH), vectors=True)
# A large set of high rank, for estimates.
MANY_ROWS = np.random.default_rng(1).standard_normal((1500, 6))
GROUPS = [list(np.arange(60) // 6)] * 2

CALLS = {
    "score": lambda q: compute(X, q=q, **SMOOTH)[key_at(q)],
    "a smooth spectrum": lambda q: compute(X[:, :1], q=q, **SMOOTH)[key_at(q)],
    "interval": lambda q: compute(X, q=q, ci=0.95, **SMOOTH)[f"{key_at(q)}_se"],
    "growth": lambda q: growth(X, [20, 40], q=q, **SMOOTH).scores,
    "estimate": lambda q: compute(MANY_ROWS, q=q, method="estimate", rtol=0.05, **NARROW)[
        key_at(q)
    ],
    "selection": lambda q: select(X, 8, q=q, **SMOOTH).places,
    "selection by quality": lambda q: select(X, 8, q=q, quality=X[:, 0] ** 2, **SMOOTH).places,
    "certificate": lambda q: select(X, 8, q=q, **SMOOTH).bound,
    "explanation": lambda q: explain(X, q=q, **SMOOTH).adds,
    "comparison": lambda q: compare(X, Y, q=q, permutations=99, **SMOOTH).pairs[0].difference,
    "groups": lambda q: compare(X, Y, groups=GROUPS, q=q, **SMOOTH).sets[0].matched,
    "contributions": lambda q: log_score_drops(SPECTRUM, q),
    "surprise": lambda q: compute_surprise(SPECTRUM, q),
}


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("name", CALLS)
def test_orders_near_1_give_the_results_of_order_1(name, q):
    np.testing.assert_allclose(CALLS[name](q), CALLS[name](1.0), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("q", ORDERS)
def test_tensor_score_and_gradient_near_order_1_equal_those_of_order_1(q):
    torch = pytest.importorskip("torch")
    tensor = torch.as_tensor(X).requires_grad_()
    result = compute(tensor, q=q, **SMOOTH)[key_at(q)]
    assert result.item() == pytest.approx(compute(X, **SMOOTH)["VS"], rel=1e-9)
    (gradient,) = torch.autograd.grad(result, tensor)
    (expected,) = torch.autograd.grad(compute(tensor, **SMOOTH)["VS"], tensor)
    np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-10)
