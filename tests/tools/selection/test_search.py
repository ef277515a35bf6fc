"""Each pick looks at few of many candidates, and the choice is the same as if it looked at all."""

import math
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from vendiscore import MatrixSimilarity, as_similarity, score_K, select
from vendiscore.tools.selection import facility_location, prefixes, search, vendi_objective

RNG = np.random.default_rng(0)
CENTRES = RNG.normal(size=(20, 24))
X = CENTRES[RNG.integers(0, 20, 1500)] + RNG.normal(size=(1500, 24)) * np.arange(1, 25) ** -0.5
OBJECTIVES = ["vendi", "represent"]


@pytest.fixture
def few(monkeypatch):
    """Follow few candidates, as of many samples, in single precision."""
    monkeypatch.setattr(vendi_objective, "MAX_EXHAUSTIVE_CANDIDATES", 100)
    monkeypatch.setattr(vendi_objective, "SHORTLIST_SIZE", 50)
    monkeypatch.setattr(vendi_objective, "MAX_SWAP_CANDIDATES", 300)
    monkeypatch.setattr(vendi_objective, "MAX_EXACT_SIZE", 10)
    monkeypatch.setattr(facility_location, "MAX_DOUBLE_PRECISION_SAMPLES", 100)


def value(objective, places):
    K = as_similarity(X, k="cosine").dense()
    if objective == "represent":
        return K[places].max(axis=0).mean()
    return score_K(K[np.ix_(places, places)])


@pytest.mark.parametrize("form", ["float64", "float32", "matrix"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_short_list_gives_the_greedy_choice(objective, form, request):
    samples = X.astype(np.float32) if form == "float32" else X
    how = {"k": "cosine"}
    if form == "matrix":
        samples, how = MatrixSimilarity(as_similarity(X, **how).dense(), psd=True), {}
    whole = [select(X, 40, objective=objective, k="cosine", swaps=swaps) for swaps in (False, True)]
    request.getfixturevalue("few")
    for swaps, expected in zip((False, True), whole, strict=True):
        result = select(samples, 40, objective=objective, swaps=swaps, **how)
        assert len(set(result.places.tolist())) == 40
        best = value(objective, expected.places)
        assert value(objective, result.places) >= best - (0.01 if swaps else 0.003) * abs(best)
        if not swaps and objective == "vendi":
            assert len(set(result.places[:10]) & set(expected.places[:10])) == 10


@pytest.mark.parametrize("q", [0.25, 0.5, 1.5, 1.9])
def test_other_orders_have_short_lists_too(q, request):
    expected = select(X, 30, q=q, k="cosine", swaps=False)
    request.getfixturevalue("few")
    result = select(X, 30, q=q, k="cosine", swaps=False)
    np.testing.assert_array_equal(result.places[:10], expected.places[:10])
    assert result.scores[-1] >= 0.995 * expected.scores[-1]


def test_groups_and_quality_have_short_lists_too(few):
    groups, quality = np.arange(1500) % 3, RNG.random(1500)
    quota = {0: 20, 1: 15, 2: 5}
    result = select(X, 40, groups=groups, quota=quota, quality=quality, k="cosine", initial=[6])
    assert np.bincount(groups[result.places]).tolist() == [20, 15, 5]
    assert result.places[0] == 6
    plain = select(X, 40, groups=groups, quota=quota, k="cosine")
    assert quality[result.places].mean() > quality[plain.places].mean()


def test_copies_need_no_second_look(few, monkeypatch):
    looks = []
    renew = vendi_objective.VendiObjective._rebuild
    monkeypatch.setattr(
        vendi_objective.VendiObjective,
        "_rebuild",
        lambda self, allowed: looks.append(1) or renew(self, allowed),
    )
    result = select(np.eye(24)[np.arange(1500) % 24], 24, k="cosine", swaps=False)
    assert sorted(result.places % 24) == list(range(24))
    assert len(looks) < 24


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5, 2.0])
def test_scores_of_many_prefixes_come_from_cholesky_factors(q, monkeypatch):
    K = as_similarity(X[:60], k="cosine").dense()
    expected = prefixes.prefix_scores(K, q)
    monkeypatch.setattr(prefixes, "MAX_EXACT_SIZE", 10)
    np.testing.assert_allclose(prefixes.prefix_scores(K, q), expected, rtol=1e-7)
    K[0, 1] = K[1, 0] = 3.0  # not a kernel: eigenvalues, as of few
    assert np.isfinite(prefixes.prefix_scores(K, q)).all()


def test_fewer_samples_are_represented_of_many(monkeypatch, capsys):
    whole = select(X, 20, objective="represent", k="cosine")
    monkeypatch.setattr(facility_location, "MAX_REPRESENTED", 500)
    result = select(X, 20, objective="represent", k="cosine")
    assert (
        "The selection represents a random subset of 500 of the 1,500 samples;"
        in capsys.readouterr().err
    )
    np.testing.assert_allclose(result.gains.sum(), value("represent", result.places))  # of all
    assert result.gains.sum() >= 0.98 * whole.gains.sum()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_interrupted_choice_has_what_was_chosen(objective, monkeypatch):
    whole = select(X, 30, objective=objective, k="cosine", swaps=False)

    def steps(items, total, description):
        for item in items:
            if item == 12:
                raise KeyboardInterrupt
            yield item

    monkeypatch.setattr(search, "track", steps)
    with pytest.warns(UserWarning, match="interrupted: .* the first 12 of 30 samples"):
        result = select(X, 30, objective=objective, k="cosine")
    assert (result.interrupted, whole.interrupted) == (True, False)
    np.testing.assert_array_equal(result.places, whole.places[:12])
    assert len(result.scores) == 12
    assert result.certified <= 1 + 1e-12
    with pytest.raises(KeyboardInterrupt):  # nothing is chosen but what was passed
        select(X, 30, objective=objective, k="cosine", initial=range(12))


def test_above_the_rank_further_samples_are_k_centres():
    few = RNG.normal(size=(300, 3))
    with pytest.warns(UserWarning, match=r"number of features \(3\)"):
        result = select(few, 40, k="cosine")
    unit = few / np.linalg.norm(few, axis=1)[:, None]
    K = unit @ unit.T
    start = np.flatnonzero(result.scores > 3 * math.exp(-1e-3))[0] + 1
    assert 3 <= start < 40
    for m in range(start, 40):
        nearest = K[result.places[:m]].max(axis=0)
        assert nearest[result.places[m]] == pytest.approx(nearest.min(), abs=1e-12)
    assert (result.scores[start - 1 :] > 2.9).all()
    assert result.swapped == 0


def test_quality_is_maximised_above_the_rank_too():
    few = RNG.normal(size=(60, 2))
    quality = RNG.random(60)
    result = select(few, 30, k="cosine", quality=quality)
    assert quality[result.places].mean() > 1.2 * quality.mean()


def test_an_interrupted_exchange_keeps_all(monkeypatch):
    plain = select(X, 30, k="cosine", swaps=False)
    exchange, calls = vendi_objective.VendiObjective.swap, []

    def stopped(self, j):
        calls.append(j)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return exchange(self, j)

    monkeypatch.setattr(vendi_objective.VendiObjective, "swap", stopped)
    with pytest.warns(UserWarning, match="all 30 samples, but the search stopped after"):
        result = select(X, 30, k="cosine")
    assert result.interrupted
    assert len(set(result.places.tolist())) == 30
    assert result.scores[-1] >= plain.scores[-1] - 1e-9


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_control_c_ends_a_choice_in_a_process_of_its_own():
    code = (
        "import signal, numpy as np, vendiscore\n"
        # A shell lets jobs in the background ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "X = np.random.default_rng(0).normal(size=(6000, 300))\n"
        "vendiscore.select(X[:9], 3, k='cosine')\n"
        "print('ready', flush=True)\n"
        "result = vendiscore.select(X, 5000, k='cosine')\n"
        "print(len(result))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    limit = threading.Timer(300, process.kill)
    limit.start()
    assert process.stdout.readline() == "ready\n"
    time.sleep(3.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    limit.cancel()
    assert 0 < int(out) < 5000
    assert "interrupted: " in err
