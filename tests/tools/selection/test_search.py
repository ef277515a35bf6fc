"""Greedy search with a shortlist of candidates; interrupted searches."""

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
def shortlist(monkeypatch):
    """Use a short list of candidates and single precision, as for many samples."""
    monkeypatch.setattr(vendi_objective, "MAX_EXHAUSTIVE_CANDIDATES", 100)
    monkeypatch.setattr(vendi_objective, "SHORTLIST_SIZE", 50)
    monkeypatch.setattr(vendi_objective, "MAX_SWAP_CANDIDATES", 300)
    monkeypatch.setattr(vendi_objective, "MAX_EXACT_SIZE", 10)
    monkeypatch.setattr(facility_location, "MAX_DOUBLE_PRECISION_SAMPLES", 100)


def evaluate_selection(objective, indices):
    K = as_similarity(X, k="cosine").dense()
    if objective == "represent":
        return K[indices].max(axis=0).mean()
    return score_K(K[np.ix_(indices, indices)])


@pytest.mark.parametrize("input_form", ["float64", "float32", "matrix"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_shortlist_gives_nearly_the_exhaustive_selection(objective, input_form, request):
    samples = X.astype(np.float32) if input_form == "float32" else X
    options = {"k": "cosine"}
    if input_form == "matrix":
        samples, options = MatrixSimilarity(as_similarity(X, **options).dense(), psd=True), {}
    exhaustive = [
        select(X, 40, objective=objective, k="cosine", swaps=swaps) for swaps in (False, True)
    ]
    request.getfixturevalue("shortlist")
    for swaps, expected in zip((False, True), exhaustive, strict=True):
        result = select(samples, 40, objective=objective, swaps=swaps, **options)
        assert len(set(result.places.tolist())) == 40
        expected_value = evaluate_selection(objective, expected.places)
        assert evaluate_selection(objective, result.places) >= expected_value - (
            0.01 if swaps else 0.003
        ) * abs(expected_value)
        if not swaps and objective == "vendi":
            assert len(set(result.places[:10]) & set(expected.places[:10])) == 10


@pytest.mark.parametrize("q", [0.25, 0.5, 1.5, 1.9])
def test_shortlist_at_other_orders_gives_the_exhaustive_selection(q, request):
    expected = select(X, 30, q=q, k="cosine", swaps=False)
    request.getfixturevalue("shortlist")
    result = select(X, 30, q=q, k="cosine", swaps=False)
    np.testing.assert_array_equal(result.places[:10], expected.places[:10])
    assert result.scores[-1] >= 0.995 * expected.scores[-1]


def test_shortlist_respects_groups_and_quality(shortlist):
    groups, quality = np.arange(1500) % 3, RNG.random(1500)
    quota = {0: 20, 1: 15, 2: 5}
    result = select(X, 40, groups=groups, quota=quota, quality=quality, k="cosine", initial=[6])
    assert np.bincount(groups[result.places]).tolist() == [20, 15, 5]
    assert result.places[0] == 6
    without_quality = select(X, 40, groups=groups, quota=quota, k="cosine")
    assert quality[result.places].mean() > quality[without_quality.places].mean()


def test_shortlist_is_rebuilt_less_than_once_per_selected_sample(shortlist, monkeypatch):
    rebuilds = []
    rebuild = vendi_objective.VendiObjective._rebuild
    monkeypatch.setattr(
        vendi_objective.VendiObjective,
        "_rebuild",
        lambda self, allowed: rebuilds.append(1) or rebuild(self, allowed),
    )
    result = select(np.eye(24)[np.arange(1500) % 24], 24, k="cosine", swaps=False)
    assert sorted(result.places % 24) == list(range(24))
    assert len(rebuilds) < 24


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5, 2.0])
def test_many_prefixes_are_scored_with_cholesky_factors(q, monkeypatch):
    K = as_similarity(X[:60], k="cosine").dense()
    expected = prefixes.prefix_scores(K, q)
    monkeypatch.setattr(prefixes, "MAX_EXACT_SIZE", 10)
    np.testing.assert_allclose(prefixes.prefix_scores(K, q), expected, rtol=1e-7)
    K[0, 1] = K[1, 0] = 3.0  # not positive semidefinite, so eigenvalues are used
    assert np.isfinite(prefixes.prefix_scores(K, q)).all()


def test_large_sets_are_represented_by_a_random_subset(monkeypatch, capsys):
    full = select(X, 20, objective="represent", k="cosine")
    monkeypatch.setattr(facility_location, "MAX_REPRESENTED", 500)
    result = select(X, 20, objective="represent", k="cosine")
    assert (
        "The selection represents a random subset of 500 of the 1,500 samples;"
        in capsys.readouterr().err
    )
    np.testing.assert_allclose(result.gains.sum(), evaluate_selection("represent", result.places))
    assert result.gains.sum() >= 0.98 * full.gains.sum()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_interrupted_select_returns_the_samples_selected_so_far(objective, monkeypatch):
    complete = select(X, 30, objective=objective, k="cosine", swaps=False)

    def interrupted_track(items, total, description):
        for item in items:
            if item == 12:
                raise KeyboardInterrupt
            yield item

    monkeypatch.setattr(search, "track", interrupted_track)
    with pytest.warns(UserWarning, match="interrupted: .* the first 12 of 30 samples"):
        result = select(X, 30, objective=objective, k="cosine")
    assert (result.interrupted, complete.interrupted) == (True, False)
    np.testing.assert_array_equal(result.places, complete.places[:12])
    assert len(result.scores) == 12
    assert result.certified <= 1 + 1e-12
    with pytest.raises(KeyboardInterrupt):  # only the initial samples were selected
        select(X, 30, objective=objective, k="cosine", initial=range(12))


def test_samples_beyond_the_rank_are_k_centers():
    rows = RNG.normal(size=(300, 3))
    with pytest.warns(UserWarning, match=r"number of features \(3\)"):
        result = select(rows, 40, k="cosine")
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    K = unit @ unit.T
    start = np.flatnonzero(result.scores > 3 * math.exp(-1e-3))[0] + 1
    assert 3 <= start < 40
    for m in range(start, 40):
        nearest = K[result.places[:m]].max(axis=0)
        assert nearest[result.places[m]] == pytest.approx(nearest.min(), abs=1e-12)
    assert (result.scores[start - 1 :] > 2.9).all()
    assert result.swapped == 0


def test_quality_is_maximized_beyond_the_rank():
    rows = RNG.normal(size=(60, 2))
    quality = RNG.random(60)
    result = select(rows, 30, k="cosine", quality=quality)
    assert quality[result.places].mean() > 1.2 * quality.mean()


def test_interrupted_swap_search_keeps_all_samples(monkeypatch):
    without_swaps = select(X, 30, k="cosine", swaps=False)
    swap, calls = vendi_objective.VendiObjective.swap, []

    def interrupted_swap(self, j):
        calls.append(j)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return swap(self, j)

    monkeypatch.setattr(vendi_objective.VendiObjective, "swap", interrupted_swap)
    with pytest.warns(UserWarning, match="all 30 samples, but the search stopped after"):
        result = select(X, 30, k="cosine")
    assert result.interrupted
    assert len(set(result.places.tolist())) == 30
    assert result.scores[-1] >= without_swaps.scores[-1] - 1e-9


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_interrupted_ordering_of_swapped_samples_is_reported(monkeypatch):
    complete = select(X, 30, k="cosine")
    assert complete.swapped > 0
    searches = []

    def interrupted_track(items, total, description):
        searches.append(description)
        for item in items:
            if len(searches) == 2 and item == 29:  # the second search orders the selected samples
                raise KeyboardInterrupt
            yield item

    monkeypatch.setattr(search, "track", interrupted_track)
    with pytest.warns(UserWarning, match="interrupted: .* the first 29 of 30 samples"):
        result = select(X, 30, k="cosine")
    assert result.interrupted
    np.testing.assert_array_equal(result.places, complete.places[:29])


def test_sigint_interrupts_select_in_a_subprocess():
    code = (
        "import signal, numpy as np, vendiscore\n"
        # Shells make background jobs ignore SIGINT.
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
