"""The store keeps user results under secret keys, up to a size and for a limited time."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

from vendiscore_page.inputs.visitor_samples import Samples
from vendiscore_page.quotas import RefusedError
from vendiscore_page.serving import store
from vendiscore_page.serving.store import Store, measure_size


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Value:
    pass


@pytest.fixture
def clock(monkeypatch):
    result = Clock()
    monkeypatch.setattr(store, "time", SimpleNamespace(monotonic=result))
    return result


def test_get_requires_exact_key():
    cache = Store()
    keys = [cache.put(i, 1) for i in range(100)]
    assert len(set(keys)) == 100
    assert min(map(len, keys)) >= 40
    assert [cache.get(key) for key in keys] == list(range(100))
    for key in ("", keys[0][:-1], keys[0] + "A", None, 7, [], {}):
        assert cache.get(key) is None


def test_least_recently_used_value_is_removed_first():
    cache = Store(most=30)
    a, b, c = (cache.put(name, 10) for name in "abc")
    assert cache.get(a) == "a"
    d = cache.put("d", 15)
    assert [cache.get(key) for key in (a, b, c, d)] == ["a", None, None, "d"]
    assert cache.nbytes == 25
    cache.put("all", 30)
    assert cache.nbytes == 30


def test_owner_keeps_the_latest_64_values():
    cache = Store()
    other_key = cache.put("other", 1, owner="other")
    keys = [cache.put(i, 1, owner="me") for i in range(100)]
    assert [cache.get(key) for key in keys] == [None] * 36 + list(range(36, 100))
    assert cache.get(other_key) == "other"
    assert cache.nbytes == 65


def test_owner_above_share_loses_own_values():
    cache = Store(most=100)
    other_keys = [cache.put(i, 30, owner=f"other {i}") for i in range(2)]
    my_keys = [cache.put(i, 10, owner="me") for i in range(4)]
    assert [cache.get(key) for key in my_keys] == [None, None, 2, 3]
    large = cache.put("large", 40, owner="me")
    assert [cache.get(key) for key in (*my_keys, large)] == [None] * 4 + ["large"]
    assert [cache.get(key) for key in other_keys] == [0, 1]


def test_put_rejects_value_larger_than_store():
    cache = Store(most=30_000_000)
    key = cache.put("a", 10)
    with pytest.raises(RefusedError, match="31 MB of memory; this page stores up to 30 MB"):
        cache.put("b", 31_000_000)
    assert cache.get(key) == "a"


def test_value_expires_after_last_use(clock):
    cache = Store(seconds=10)
    used, unused = cache.put("used", 1), cache.put("unused", 1)
    clock.now = 9
    assert cache.get(used) == "used"
    clock.now = 11
    assert cache.get(unused) is None
    assert cache.nbytes == 2  # until the next sweep
    cache.sweep()
    assert cache.nbytes == 1
    assert cache.get(used) == "used"
    clock.now = 22
    assert cache.get(used) is None


def test_taken_value_is_removed(clock):
    cache = Store()
    key = cache.put("a", 5)
    assert cache.take(key) == "a"
    assert (cache.take(key), cache.get(key), cache.nbytes) == (None, None, 0)


def test_removed_value_is_garbage_collected(clock):
    cache = Store(seconds=10)
    thing = Value()
    reference = weakref.ref(thing)
    cache.put(thing, 1)
    del thing
    gc.collect()
    assert reference() is not None
    clock.now = 11
    cache.sweep()
    gc.collect()
    assert reference() is None


def test_size_of_counts_shared_arrays_and_texts_once():
    rows, texts = np.zeros((100, 50)), ["é" * 1000 + str(i) for i in range(100)]
    assert measure_size(rows[:10]) == pytest.approx(
        40_000, rel=0.01
    )  # a view keeps its whole base array
    assert measure_size(texts) == pytest.approx(100 * 1075, rel=0.05)
    samples = Samples([rows, texts, texts], [1, 2, 3], python=lambda *_: ("", ""))
    assert measure_size(samples) == pytest.approx(40_000 + 100 * 1075, rel=0.05)
