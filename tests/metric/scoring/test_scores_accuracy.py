"""log VS of float32 rows is within max(1e-8, min(2e-5, 1 %)) of float64, in all functions."""

import math
from functools import cache

import numpy as np
import pytest
from hard_sets import (
    CASES,
    ORDERS,
    error_ratio,
    exact_log_scores,
    hard_rows,
    unit_rows,
)

from vendiscore import State, compute, conditional_score, explain, score_dual, score_K, score_X

N = 2000
KEYS = ("VS_q1", "VS_q2", "VS_qinf")


@cache
def make_hard_rows_with_scores(case, d):
    X = hard_rows(case, N, d)
    return X, exact_log_scores(X)


def compute_error_ratios(scores, log_scores):
    return [error_ratio(float(score), log) for score, log in zip(scores, log_scores, strict=True)]


@pytest.mark.parametrize("d", [384, 768, 1536])
@pytest.mark.parametrize("case", CASES)
def test_scores_of_hard_sets_are_within_tolerance(case, d):
    X, exact = make_hard_rows_with_scores(case, d)
    scores = [score_X(X, q) for q in ORDERS[:2]]
    assert max(compute_error_ratios(scores, exact[:2])) <= 1
    scores_by_key = compute(X, k="cosine", q=ORDERS)
    assert max(compute_error_ratios([scores_by_key[key] for key in KEYS], exact)) <= 1


@pytest.mark.parametrize("case", CASES)
def test_scores_of_all_functions_are_within_tolerance(case):
    X, exact = make_hard_rows_with_scores(case, 384)
    assert error_ratio(score_X(X, math.inf), exact[2]) <= 1
    assert error_ratio(score_dual(X, normalize=False), exact[0]) <= 1
    assert error_ratio(compute(X, k="cosine")["VS"], exact[0]) <= 1
    assert error_ratio(compute(X, k="cosine", ci=0.95)["VS"], exact[0]) <= 1
    assert error_ratio(compute(X, k="cosine", q=[0.5, 1])["VS_q1"], exact[0]) <= 1
    duplicated = np.concatenate([X, X[::-1]])
    group_scores = compute(duplicated, k="cosine", groups=np.repeat([0, 1], N), q=ORDERS)
    assert max(compute_error_ratios([group_scores[key] for key in KEYS], exact)) <= 1
    state = State.empty("cosine").update(X[: N // 3]).update(X[N // 3 :])
    state_scores = state.compute(ORDERS)
    assert max(compute_error_ratios([state_scores[key] for key in KEYS], exact)) <= 1


@pytest.mark.parametrize("case", CASES)
def test_scores_of_tensors_are_within_tolerance(case):
    torch = pytest.importorskip("torch")
    X, exact = make_hard_rows_with_scores(case, 384)
    for T in (torch.tensor(X), torch.tensor(X, requires_grad=True)):
        scores = [score_X(T, q).detach() for q in ORDERS]
        assert max(compute_error_ratios(scores, exact)) <= 1
        scores_by_key = compute(T, k="cosine", q=ORDERS)
        assert max(compute_error_ratios([scores_by_key[key].detach() for key in KEYS], exact)) <= 1


def test_scores_of_rows_of_any_length_are_within_tolerance():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 384))
    with_one_long_row = X * np.where(np.arange(N) == 0, 1e4, 1)[:, None]
    for rows in (X + 1000, with_one_long_row, unit_rows(X) * np.float32(2)):
        rows = rows.astype(np.float32)
        exact = exact_log_scores(rows)
        assert max(compute_error_ratios([score_X(rows, q) for q in ORDERS], exact)) <= 1
        scores_by_key = compute(rows, k="cosine", q=ORDERS)
        assert max(compute_error_ratios([scores_by_key[key] for key in KEYS], exact)) <= 1


@pytest.mark.parametrize("case", ["2 large", "30 outliers", "3 clusters"])
def test_between_vs_equals_ratio_of_total_and_within_vs(case):
    X, exact = make_hard_rows_with_scores(case, 384)
    labels = np.arange(N) % 2
    measures = ["TotalVS", "WithinVS", "BetweenVS", "RKE"]
    for q in (1, 2, math.inf):
        values = compute(X, k="cosine", groups=labels, q=[q], measures=measures)
        total, within, between = (values[f"{name}_q{q:g}"] for name in measures[:3])
        assert between >= 1 - 1e-12
        assert between == pytest.approx(total / within, rel=1e-12)
    rke = compute(X, k="cosine", q=[1], measures=["VS", "RKE"])["RKE"]
    assert error_ratio(math.exp(rke), exact[1]) <= 1
    conditional = conditional_score(X, X[:, :1] * 0 + 1, k="cosine", given_k="cosine")
    assert error_ratio(conditional, exact[0]) <= 1


def test_autocast_does_not_change_scores():
    torch = pytest.importorskip("torch")
    X = hard_rows("10 large", N, 128, noise=1.0)
    groups = np.arange(N) % 3
    for T in (torch.tensor(X), torch.tensor(X, requires_grad=True)):
        K = (T[:200] @ T[:200].T).detach()
        calls = {
            "score_X": lambda T=T: score_X(T),
            "order 2": lambda T=T: score_X(T, 2),
            "score_K": lambda K=K: score_K(K, normalize=True),
            "cosine": lambda T=T: compute(T, k="cosine", q=ORDERS),
            "rbf": lambda T=T: compute(T[:100], k="rbf", sigma=1.0, q=ORDERS),
            "groups": lambda T=T: compute(T, k="cosine", groups=groups, q=ORDERS),
            "small groups": lambda T=T: compute(T[:400], k="cosine", groups=np.arange(400) % 50),
        }
        if not T.requires_grad:
            calls |= {
                "interval": lambda T=T: compute(T[:300], k="cosine", ci=0.95),
                "state": lambda T=T: State.empty("cosine").update(T).compute(ORDERS),
                "explain": lambda T=T: explain(T[:300], k="cosine").adds.tolist(),
                "novelty": lambda T=T: State.empty("cosine").update(T).novelty(T[:5]).tolist(),
            }
        for name, call in calls.items():
            expected = call()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                assert call() == expected, name


def test_matmul_precision_setting_does_not_reduce_accuracy():
    torch = pytest.importorskip("torch")
    X = hard_rows("10 large", N, 128, noise=1.0)
    exact = exact_log_scores(X)
    T = torch.tensor(X, requires_grad=True)  # not converted to an array
    precision = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        scores = [score_X(T, q).detach() for q in ORDERS]
    finally:
        torch.set_float32_matmul_precision(precision)
    assert max(compute_error_ratios(scores, exact)) <= 1e-4  # computed in float64
