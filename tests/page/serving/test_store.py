"""Results of visitors are kept by keys that nobody guesses, up to a size, and for a while."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

from vendiscore_page.inputs.visitor_samples import Samples
from vendiscore_page.quotas import RefusedError
from vendiscore_page.serving import store
from vendiscore_page.serving.store import Kept, size_of


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Thing:
    pass


@pytest.fixture
def clock(monkeypatch):
    result = Clock()
    monkeypatch.setattr(store, "time", SimpleNamespace(monotonic=result))
    return result


def test_get_requires_exact_key():
    kept = Kept()
    keys = [kept.put(i, 1) for i in range(100)]
    assert len(set(keys)) == 100
    assert min(map(len, keys)) >= 40
    assert [kept.get(key) for key in keys] == list(range(100))
    for key in ("", keys[0][:-1], keys[0] + "A", None, 7, [], {}):
        assert kept.get(key) is None


def test_least_recently_used_value_is_removed_first():
    kept = Kept(most=30)
    a, b, c = (kept.put(name, 10) for name in "abc")
    assert kept.get(a) == "a"
    d = kept.put("d", 15)
    assert [kept.get(key) for key in (a, b, c, d)] == ["a", None, None, "d"]
    assert kept.nbytes == 25
    kept.put("all", 30)
    assert kept.nbytes == 30


def test_owner_above_share_loses_own_values():
    kept = Kept(most=100)
    others = [kept.put(i, 30, owner=f"other {i}") for i in range(2)]
    mine = [kept.put(i, 10, owner="me") for i in range(4)]
    assert [kept.get(key) for key in mine] == [None, None, 2, 3]
    large = kept.put("large", 40, owner="me")
    assert [kept.get(key) for key in (*mine, large)] == [None] * 4 + ["large"]
    assert [kept.get(key) for key in others] == [0, 1]


def test_put_rejects_value_larger_than_store():
    kept = Kept(most=30_000_000)
    key = kept.put("a", 10)
    with pytest.raises(RefusedError, match="31 MB of memory; this page keeps up to 30 MB"):
        kept.put("b", 31_000_000)
    assert kept.get(key) == "a"


def test_value_expires_after_last_use(clock):
    kept = Kept(seconds=10)
    used, unused = kept.put("used", 1), kept.put("unused", 1)
    clock.now = 9
    assert kept.get(used) == "used"
    clock.now = 11
    assert kept.get(unused) is None
    assert kept.nbytes == 2  # until somebody sweeps
    kept.sweep()
    assert kept.nbytes == 1
    assert kept.get(used) == "used"
    clock.now = 22
    assert kept.get(used) is None


def test_removed_value_is_garbage_collected(clock):
    kept = Kept(seconds=10)
    thing = Thing()
    there = weakref.ref(thing)
    kept.put(thing, 1)
    del thing
    gc.collect()
    assert there() is not None
    clock.now = 11
    kept.sweep()
    gc.collect()
    assert there() is None


def test_size_of_counts_shared_arrays_and_texts_once():
    rows, texts = np.zeros((100, 50)), ["é" * 1000 + str(i) for i in range(100)]
    assert size_of(rows[:10]) == pytest.approx(40_000, rel=0.01)  # a view keeps it all
    assert size_of(texts) == pytest.approx(100 * 1075, rel=0.05)
    samples = Samples([rows, texts, texts], [1, 2, 3], python=lambda *_: ("", ""))
    assert size_of(samples) == pytest.approx(40_000 + 100 * 1075, rel=0.05)
