"""Modes that a classifier finds, as a measure of rows of class probabilities."""

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import SampleError, compute
from vendiscore.measures.classifier_modes import mode_diversity

P = np.random.default_rng(0).dirichlet(np.full(5, 0.4), 12)
WEIGHTS = np.random.default_rng(1).dirichlet(np.ones(12)) * (np.arange(12) != 3)
WEIGHTS /= WEIGHTS.sum()
LABELS = np.random.default_rng(2).permutation(np.repeat(["x", "y", "z"], [5, 4, 3]))
PRODUCT = {"k": "probability_product"}


def naive(rows, p=None):
    mean = np.average(rows, axis=0, weights=p)
    mean = mean[mean > 0] / mean.sum()
    return np.exp(-(mean * np.log(mean)).sum())


@pytest.mark.parametrize("how", [{}, PRODUCT, {"k": "rbf"}], ids=str)
@pytest.mark.parametrize("p", [None, WEIGHTS], ids=["uniform", "weighted"])
@pytest.mark.parametrize("of", [np.asarray, np.ndarray.tolist, sp.csr_array, np.float32])
def test_is_the_perplexity_of_the_mean_prediction(of, p, how):
    found = compute(of(P), measures="ModeDiversity", p=p, **how)["ModeDiversity"]
    assert found == pytest.approx(naive(P, p), rel=1e-6 if of is np.float32 else 1e-12)


def test_is_that_of_the_function_beside_the_score():
    found = compute(P, measures=["VS", "ModeDiversity"], p=WEIGHTS, details=True, **PRODUCT)
    assert found["ModeDiversity"] == mode_diversity(P, WEIGHTS)
    assert found["VS"] == compute(P, p=WEIGHTS, **PRODUCT)["VS"]
    assert "|p=" in found["details"]["signature"]


@pytest.mark.parametrize("how", [{}, PRODUCT], ids=str)
@pytest.mark.parametrize("p", [None, WEIGHTS], ids=["uniform", "weighted"])
def test_groups_are_a_loop(how, p):
    parts = [label == LABELS for label in "xyz"]
    each = [naive(P[own], None if p is None else p[own]) for own in parts]
    found = compute(P, measures="ModeDiversity", groups=LABELS, p=p, **how)
    assert found["ModeDiversity"] == pytest.approx(np.mean(each), rel=1e-12)


def test_certain_predictions_of_every_class_have_as_many_modes():
    assert compute(np.eye(4), measures="ModeDiversity") == {"ModeDiversity": 4.0}
    assert compute(np.eye(4)[[1, 1]], measures="ModeDiversity") == {"ModeDiversity": 1.0}
    assert compute([[0.25] * 4], measures="ModeDiversity")["ModeDiversity"] == pytest.approx(4)


def test_rows_that_the_kernel_leaves_out_are_left_out():
    rows, p = P.copy(), WEIGHTS
    rows[4] = [2, -1, 0, 0, 0]
    kept = np.delete(np.arange(12), 4)
    for weights in (None, p):
        with pytest.warns(UserWarning, match="left out 1 of 12 samples"):
            found = compute(rows, measures="ModeDiversity", p=weights, on_error="skip", **PRODUCT)
        expected = naive(P[kept], None if weights is None else weights[kept])
        assert found["ModeDiversity"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("samples", "how", "error", "message"),
    [
        (P @ P.T, {"score_K": True}, TypeError, "ModeDiversity needs samples that are rows of cla"),
        (np.eye(3) + 1, {}, SampleError, "sample 0 of `probabilities` must .* got a sum of 4"),
        (np.eye(3) * [1, 1, 2], {"groups": [0, 1, 1]}, SampleError, "^sample 2 of `probabilities`"),
        (["a", "b"], {}, TypeError, "ModeDiversity needs samples that are rows of class"),
    ],
)
def test_what_are_no_probabilities_is_refused(samples, how, error, message):
    with pytest.raises(error, match=message):
        compute(samples, measures="ModeDiversity", **how)


def test_gradients_go_through():
    torch = pytest.importorskip("torch")
    logits = torch.tensor(np.log(P), requires_grad=True)

    def value(logits):
        return compute(logits.softmax(1), measures="ModeDiversity", **PRODUCT)["ModeDiversity"]

    assert float(value(logits).detach()) == pytest.approx(naive(P), rel=1e-12)
    assert torch.autograd.gradcheck(value, logits)
