"""Samples as the web app reads them, and its answers after a JSON round trip."""

import json
from typing import Any

import numpy as np
import pytest

from vendiscore.support.progress import run_steps
from vendiscore_page.answers import one_set, several_sets
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs.visitor_samples import Samples


def make_samples(values: Any, kind: str = "texts", **options: Any) -> Samples:
    """Return samples of a type, with line numbers from 1."""
    return Samples(values, range(1, len(values) + 1), kind=kind, **options)


def score_samples(
    values: Any, kind: str = "texts", kernel: str = "", **settings: Any
) -> one_set.Result:
    """Return the result of the web app for `Samples`, or for a list of values of type `kind`."""
    samples = values if isinstance(values, Samples) else make_samples(values, kind)
    default_kernel = {"texts": "ngram_overlap", "images": "pixels"}.get(samples.kind, "")
    return run_steps(one_set.score(samples, Settings(kernel or default_kernel, **settings)))


def score_as_json(
    values: Any, kind: str = "texts", kernel: str = "", **settings: Any
) -> dict[str, Any]:
    """Return the answer that the page shows, after a JSON round trip."""
    return json_round_trip(score_samples(values, kind, kernel, **settings).answer)


def json_round_trip(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer as a browser receives it; fail for NaN and for other values than JSON."""
    return json.loads(json.dumps(answer, allow_nan=False))


def compare_as_json(
    sets: dict[str, Any], kind: str = "texts", kernel: str = "", **settings: Any
) -> Any:
    """Return the comparison that the page shows, after a JSON round trip."""
    default_kernel = {"texts": "ngram_overlap", "images": "pixels"}.get(kind, "")
    samples_by_name = {
        name: values if isinstance(values, Samples) else make_samples(values, kind)
        for name, values in sets.items()
    }
    steps = several_sets.compare(samples_by_name, Settings(kernel or default_kernel, **settings))
    return json_round_trip(run_steps(steps))


def check_comparison(answer: dict[str, Any], expected: Any) -> None:
    """Check that a comparison equals the one of the library, most diverse set first."""
    rows = sorted(expected.sets, key=lambda row: -row.matched)
    for entry, row in zip(answer["rows"], rows, strict=True):
        assert (entry["name"], entry["n"]) == (row.name, row.n)
        values = [entry[name] for name in ("VS", "matched", "low", "high")]
        expected_values = [row.score, row.matched, row.matched_low, row.matched_high]
        assert values == pytest.approx(expected_values, rel=1e-9, abs=1e-12)
    rank = [row.name for row in rows]
    pairs = {frozenset((row.a, row.b)): row for row in expected.pairs}
    for entry in answer["pairs"]:
        row = pairs.pop(frozenset((entry["a"], entry["b"])))
        assert rank.index(entry["a"]) < rank.index(entry["b"])
        sign = 1 if row.a == entry["a"] else -1
        interval = sorted((sign * row.low, sign * row.high))
        values = [entry[name] for name in ("difference", "low", "high", "p", "level")]
        expected_values = [sign * row.difference, *interval, row.p_adjusted, row.level]
        assert values == pytest.approx(expected_values, rel=1e-9, abs=1e-12)
        assert entry["verdict"] == expected.verdict(entry["a"], entry["b"])
    assert not pairs


def make_clusters(n: int, d: int = 8, seed: int = 0) -> np.ndarray:
    """Return n rows around n/5 random centres."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, n // 5), d))
    return centres[rng.integers(len(centres), size=n)] + rng.normal(scale=0.2, size=(n, d))
