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
from vendiscore.tools.selection import objectives, prefixes, representatives, search

RNG = np.random.default_rng(0)
CENTRES = RNG.normal(size=(20, 24))
X = CENTRES[RNG.integers(0, 20, 1500)] + RNG.normal(size=(1500, 24)) * np.arange(1, 25) ** -0.5
OBJECTIVES = ["vendi", "represent"]


@pytest.fixture
def few(monkeypatch):
    """Follow few candidates, as of many samples, in single precision."""
    monkeypatch.setattr(objectives, "FEW", 100)
    monkeypatch.setattr(objectives, "SHORTLIST", 50)
    monkeypatch.setattr(objectives, "NEWCOMERS", 300)
    monkeypatch.setattr(objectives, "EXACTLY", 10)
    monkeypatch.setattr(representatives, "FEW", 100)


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
        found = select(samples, 40, objective=objective, swaps=swaps, **how)
        assert len(set(found.places.tolist())) == 40
        best = value(objective, expected.places)
        assert value(objective, found.places) >= best - (0.01 if swaps else 0.003) * abs(best)
        if not swaps and objective == "vendi":
            assert len(set(found.places[:10]) & set(expected.places[:10])) == 10


@pytest.mark.parametrize("q", [0.25, 0.5, 1.5, 1.9])
def test_other_orders_have_short_lists_too(q, request):
    expected = select(X, 30, q=q, k="cosine", swaps=False)
    request.getfixturevalue("few")
    found = select(X, 30, q=q, k="cosine", swaps=False)
    np.testing.assert_array_equal(found.places[:10], expected.places[:10])  # EXACTLY as many
    assert found.scores[-1] >= 0.995 * expected.scores[-1]


def test_groups_and_quality_have_short_lists_too(few):
    groups, quality = np.arange(1500) % 3, RNG.random(1500)
    quota = {0: 20, 1: 15, 2: 5}
    found = select(X, 40, groups=groups, quota=quota, quality=quality, k="cosine", initial=[6])
    assert np.bincount(groups[found.places]).tolist() == [20, 15, 5]
    assert found.places[0] == 6
    plain = select(X, 40, groups=groups, quota=quota, k="cosine")
    assert quality[found.places].mean() > quality[plain.places].mean()


def test_copies_need_no_second_look(few, monkeypatch):
    looks = []
    renew = objectives.Spectral._renew
    monkeypatch.setattr(
        objectives.Spectral, "_renew", lambda self, allowed: looks.append(1) or renew(self, allowed)
    )
    found = select(np.eye(24)[np.arange(1500) % 24], 24, k="cosine", swaps=False)
    assert sorted(found.places % 24) == list(range(24))
    assert len(looks) < 24


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5, 2.0])
def test_scores_of_many_prefixes_come_from_cholesky_factors(q, monkeypatch):
    K = as_similarity(X[:60], k="cosine").dense()
    expected = prefixes.prefix_scores(K, q)
    monkeypatch.setattr(prefixes, "FEW", 10)
    np.testing.assert_allclose(prefixes.prefix_scores(K, q), expected, rtol=1e-7)
    K[0, 1] = K[1, 0] = 3.0  # not a kernel: eigenvalues, as of few
    assert np.isfinite(prefixes.prefix_scores(K, q)).all()


def test_fewer_samples_are_represented_of_many(monkeypatch, capsys):
    whole = select(X, 20, objective="represent", k="cosine")
    monkeypatch.setattr(representatives, "COVERED", 500)
    found = select(X, 20, objective="represent", k="cosine")
    assert "500 samples drawn from 1,500 are represented." in capsys.readouterr().err
    np.testing.assert_allclose(found.gains.sum(), value("represent", found.places))  # of all
    assert found.gains.sum() >= 0.98 * whole.gains.sum()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_interrupted_choice_has_what_was_chosen(objective, monkeypatch):
    whole = select(X, 30, objective=objective, k="cosine", swaps=False)

    def steps(items, total, description):
        for item in items:
            if item == 12:
                raise KeyboardInterrupt
            yield item

    monkeypatch.setattr(search, "track", steps)
    with pytest.warns(UserWarning, match="interrupted: 12 of 30 samples are chosen"):
        found = select(X, 30, objective=objective, k="cosine")
    assert (found.interrupted, whole.interrupted) == (True, False)
    np.testing.assert_array_equal(found.places, whole.places[:12])
    assert len(found.scores) == 12
    assert found.certified <= 1 + 1e-12
    with pytest.raises(KeyboardInterrupt):  # nothing is chosen but what was passed
        select(X, 30, objective=objective, k="cosine", initial=range(12))


def test_above_the_rank_further_samples_are_k_centres():
    few = RNG.normal(size=(300, 3))
    with pytest.warns(UserWarning, match=r"the objective is flat: features of 3 columns"):
        found = select(few, 40, k="cosine")
    unit = few / np.linalg.norm(few, axis=1)[:, None]
    K = unit @ unit.T
    start = np.flatnonzero(found.scores > 3 * math.exp(-1e-3))[0] + 1
    assert 3 <= start < 40
    for m in range(start, 40):
        nearest = K[found.places[:m]].max(axis=0)
        assert nearest[found.places[m]] == pytest.approx(nearest.min(), abs=1e-12)
    assert (found.scores[start - 1 :] > 2.9).all()
    assert found.swapped == 0


def test_quality_is_maximised_above_the_rank_too():
    few = RNG.normal(size=(60, 2))
    quality = RNG.random(60)
    found = select(few, 30, k="cosine", quality=quality)
    assert quality[found.places].mean() > 1.2 * quality.mean()


def test_an_interrupted_exchange_keeps_all(monkeypatch):
    plain = select(X, 30, k="cosine", swaps=False)
    exchange, calls = objectives.Spectral.exchange, []

    def stopped(self, j):
        calls.append(j)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return exchange(self, j)

    monkeypatch.setattr(objectives.Spectral, "exchange", stopped)
    with pytest.warns(UserWarning, match="all 30 samples are chosen, and exchanges ended after"):
        found = select(X, 30, k="cosine")
    assert found.interrupted
    assert len(set(found.places.tolist())) == 30
    assert found.scores[-1] >= plain.scores[-1] - 1e-9


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_control_c_ends_a_choice_in_a_process_of_its_own():
    code = (
        "import signal, numpy as np, vendiscore\n"
        # A shell lets jobs in the background ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "X = np.random.default_rng(0).normal(size=(6000, 300))\n"
        "vendiscore.select(X[:9], 3, k='cosine')\n"
        "print('ready', flush=True)\n"
        "found = vendiscore.select(X, 5000, k='cosine')\n"
        "print(len(found))\n"
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
