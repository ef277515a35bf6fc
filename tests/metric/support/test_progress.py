"""Announcements of the expected duration of long computations."""

import re
import threading

import numpy as np
import pytest

from vendiscore import compute, explain, growth, magnitude_function
from vendiscore.spectral.eigendecomposition import decompose
from vendiscore.support import progress

LINE = re.compile(r"Scoring: about \d+(\.\d)? (seconds|minutes|hours)( and (.+) of memory)?\.\n")
LONG_WORK = 1e17


def test_announce_duration_prints_time_and_memory_of_long_work(capsys):
    progress.announce_duration("Scoring", LONG_WORK, 3.2e9)
    line = capsys.readouterr().err
    assert LINE.fullmatch(line)[4] == "3.2 GB"
    progress.announce_duration("Scoring", LONG_WORK, 1000)
    assert LINE.fullmatch(capsys.readouterr().err)[3] is None


def test_announce_duration_prints_nothing_for_short_work(capsys):
    progress.announce_duration("Scoring", 1e9, 1e9)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("seconds", "lines"), [(9.9, 0), (10.1, 1)])
def test_announce_duration_prints_only_above_ten_seconds(seconds, lines, capsys, monkeypatch):
    monkeypatch.setattr(progress, "_measure_flops_per_second", lambda single: 2e10)
    progress.announce_duration("Scoring", seconds * 2e10)
    assert capsys.readouterr().err.count("\n") == lines


@pytest.mark.parametrize("q", [1, 2, "inf"])
def test_duration_of_sparse_features_is_not_overestimated(q, capsys, monkeypatch):
    """2,000 texts of 30,000 n-grams take less than a second; dense columns would take 12."""
    monkeypatch.setattr(progress, "_measure_flops_per_second", lambda single: 1e10)
    words = np.random.default_rng(0).zipf(1.3, (2000, 12)) % 5000
    compute([" ".join(f"w{i}" for i in row) for row in words], k="ngram_overlap", q=q)
    assert ": about " not in capsys.readouterr().err


def test_announcement_ends_with_the_hint(capsys):
    progress.announce_duration("Scoring", LONG_WORK, hint="order 2 needs less")
    assert capsys.readouterr().err.endswith("hours; order 2 needs less.\n")


def test_nested_work_is_not_announced(capsys):
    with progress.announce_duration("Scoring", 1.0):
        progress.announce_duration("Scoring", LONG_WORK)
        with progress.announce_duration("Scoring", LONG_WORK):
            pass
        progress.announce_duration("Scoring", LONG_WORK)
    assert capsys.readouterr().err == ""
    progress.announce_duration("Scoring", LONG_WORK)
    assert capsys.readouterr().err.count("\n") == 1


def test_abandoned_tqdm_lock_does_not_block_progress():
    """tqdm keeps its lock if an interrupt occurs before the release."""
    from tqdm.auto import tqdm

    lock = tqdm.get_lock()
    lock.acquire()
    items = []
    try:
        worker = threading.Thread(
            target=lambda: items.extend(progress.track("ab", 2, "waiting")), daemon=True
        )
        worker.start()
        worker.join(20)
        assert items == ["a", "b"]
        assert list(progress.track("ab", 2, "going on")) == ["a", "b"]
    finally:
        lock.release()


def test_quiet_suppresses_the_announcement(capsys):
    with progress.quiet():
        progress.announce_duration("Scoring", LONG_WORK)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(9.6, "10 seconds"), (99, "99 seconds"), (130, "2.2 minutes"), (6100, "1.7 hours")],
)
def test_format_duration_uses_two_digits(seconds, expected):
    assert progress._format_duration(seconds) == expected


ROWS = np.random.default_rng(0).standard_normal((40, 90))
LONG_CALLS = {
    "Computing the spectrum of 40 samples": lambda: compute(ROWS, k="cosine"),
    "Computing the spectrum of 90 samples": lambda: compute(ROWS.T, k="cosine"),
    "Scoring 40 samples, order 2": lambda: compute(ROWS, k="cosine", q=2),
    "Computing the spectrum and eigenvectors of 40 samples": lambda: explain(ROWS, k="cosine"),
    "Magnitude of 40 points at 5 scales": lambda: magnitude_function(ROWS, scales=range(1, 6)),
    "Scoring subsets of 40 samples": lambda: growth(ROWS, [20, 40], k="cosine"),
    "Computing the 40 eigenvalues of a matrix": lambda: decompose(ROWS @ ROWS.T),
}


@pytest.mark.parametrize("description", LONG_CALLS)
def test_long_calls_announce_their_duration_once(description, capsys, monkeypatch):
    monkeypatch.setattr(progress, "_MIN_ANNOUNCED_SECONDS", 0.0)
    monkeypatch.setattr("vendiscore.spectral.eigendecomposition.NUMPY_SIZE", 30)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 0)
    LONG_CALLS[description]()
    lines = [line for line in capsys.readouterr().err.splitlines() if ": about " in line]
    assert sum(line.startswith(description) for line in lines) == 1
    assert not any(line.startswith("Computing the 40 eigen") for line in lines[1:])
