"""Samples as the page reads them, and its answers about them."""

import json
from typing import Any

import numpy as np
import pytest

from vendiscore.support.progress import run_steps
from vendiscore_page.answers import one_set, several_sets
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs.visitor_samples import Samples


def make_samples(values: Any, kind: str = "texts", **given: Any) -> Samples:
    """Return samples of a kind, in lines numbered from 1."""
    return Samples(values, range(1, len(values) + 1), kind=kind, **given)


def score_samples(
    values: Any, kind: str = "texts", kernel: str = "", **settings: Any
) -> one_set.Result:
    """Return the result of samples, or of values of a kind."""
    samples = values if isinstance(values, Samples) else make_samples(values, kind)
    usual = {"texts": "ngram_overlap", "images": "pixels"}.get(samples.kind, "")
    return run_steps(one_set.score(samples, Settings(kernel or usual, **settings)))


def score_as_json(
    values: Any, kind: str = "texts", kernel: str = "", **settings: Any
) -> dict[str, Any]:
    """Return what the page shows of them, as it comes through JSON."""
    return json_round_trip(score_samples(values, kind, kernel, **settings).answer)


def json_round_trip(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer as a browser gets it: an error where it has NaN, or anything but plain
    values."""
    return json.loads(json.dumps(answer, allow_nan=False))


def compare_as_json(
    sets: dict[str, Any], kind: str = "texts", kernel: str = "", **given: Any
) -> Any:
    """Return what the page shows of sets side by side."""
    usual = {"texts": "ngram_overlap", "images": "pixels"}.get(kind, "")
    every = {
        name: values if isinstance(values, Samples) else make_samples(values, kind)
        for name, values in sets.items()
    }
    steps = several_sets.compare(every, Settings(kernel or usual, **given))
    return json_round_trip(run_steps(steps))


def check_comparison(answer: dict[str, Any], right: Any) -> None:
    """Compare the numbers of an answer, the most diverse set first, with the library's numbers."""
    rows = sorted(right.sets, key=lambda row: -row.matched)
    for ours, row in zip(answer["rows"], rows, strict=True):
        assert (ours["name"], ours["n"]) == (row.name, row.n)
        numbers = [ours[name] for name in ("VS", "matched", "low", "high")]
        theirs = [row.score, row.matched, row.matched_low, row.matched_high]
        assert numbers == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    rank = [row.name for row in rows]
    pairs = {frozenset((row.a, row.b)): row for row in right.pairs}
    for ours in answer["pairs"]:
        row = pairs.pop(frozenset((ours["a"], ours["b"])))
        assert rank.index(ours["a"]) < rank.index(ours["b"])
        sign = 1 if row.a == ours["a"] else -1
        ends = sorted((sign * row.low, sign * row.high))
        numbers = [ours[name] for name in ("difference", "low", "high", "p", "level")]
        theirs = [sign * row.difference, *ends, row.p_adjusted, row.level]
        assert numbers == pytest.approx(theirs, rel=1e-9, abs=1e-12)
        assert ours["verdict"] == right.verdict(ours["a"], ours["b"])
    assert not pairs


def make_clusters(n: int, d: int = 8, seed: int = 0) -> np.ndarray:
    """Return n rows around a fifth as many centres."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, n // 5), d))
    return centres[rng.integers(len(centres), size=n)] + rng.normal(scale=0.2, size=(n, d))
