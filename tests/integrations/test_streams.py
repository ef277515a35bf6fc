"""Metrics that add samples up as they come, where what they were loaded with allows it."""

import multiprocessing
import pickle
import threading
from pathlib import Path

import evaluate
import newcomer
import numpy as np
import pytest
import scipy.sparse as sp

import vendiscore
from vendiscore import SampleError, State, compute

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = str(ROOT / "vendiscore.py")
X = np.random.default_rng(0).standard_normal((60, 5))
EXACT = 1e-12


def load(**defaults):
    return vendiscore.load("vendiscore", **{"k": "cosine", **defaults})


def added(metric, batches):
    for batch in batches:
        metric.add_batch(samples=batch)
    return metric


def held(metric) -> list:
    """Return what a metric keeps of samples."""
    return metric._added.samples


def lengths(texts):
    return np.array([[len(text), text.count("a") + 1.0] for text in texts])


@pytest.mark.parametrize("size", [1, 7, 60])
def test_added_samples_are_summed_up_and_not_kept(size):
    metric = added(load(), [X[i : i + size] for i in range(0, 60, size)])
    (state,) = held(metric)
    assert isinstance(state, State)
    assert len(metric) == len(state) == 60
    assert len(pickle.dumps(metric)) < len(pickle.dumps(added(load(stream=False), [X])))
    for options in ({}, {"q": [0.5, 2]}, {"q": "inf", "psd": "clip"}):
        again = added(load(), [X[:size], X[size:]] if size < 60 else [X])
        expected = compute(X, k="cosine", **options)
        assert again.compute(**options) == pytest.approx(expected, rel=EXACT)
    assert metric.compute(details=True)["details"]["signature"].startswith("VS|kernel=cosine|p=")
    assert len(metric) == 0


def test_the_entry_script_streams_too():
    metric = evaluate.load(SCRIPT, k="cosine", q=2)
    added(metric, [X[:30].tolist(), X[30:]])
    assert [type(one).__name__ for one in held(metric)] == ["State"]
    assert metric.compute() == pytest.approx(compute(X, k="cosine", q=2), rel=EXACT)
    kept = evaluate.load(SCRIPT, k="cosine", q=2, stream=False)
    added(kept, [X[:30].tolist(), X[30:]])
    assert len(held(kept)) == 2
    assert kept.compute() == pytest.approx(compute(X, k="cosine", q=2), rel=EXACT)


def test_samples_one_by_one_and_given_to_compute_are_summed_up_too():
    metric = load()
    for row in X[:40]:
        metric.add(prediction=row)
    whole = compute(X, k="cosine")
    assert metric.compute(samples=X[40:]) == pytest.approx(whole, rel=EXACT)
    assert metric.compute(samples=X) == whole  # nothing was added: as ever


@pytest.mark.parametrize(
    ("defaults", "samples"),
    [
        ({}, X),
        ({"k": "rbf"}, X),
        ({"k": lambda a, b: float(a == b)}, [1, 2, 1]),
        ({"k": "cosine", "measures": ["VS", "IntDiv"]}, X),
        ({"k": "cosine", "ci": 0.9}, X),
        ({"k": "cosine", "method": "estimate"}, X),
        ({"k": "cosine", "stream": False}, X),
        ({"k": "cosine"}, sp.csr_array(np.eye(6) + 1)),
        ({"k": "text_embeddings", "model": lengths}, [["a", "ab"], ["b", "bb"]]),
        ({"k": "cosine"}, X.reshape(6, 10, 5)),
        ({"score_K": True}, np.eye(3)),
    ],
    ids=[
        *("nothing", "sigma", "function", "measures", "ci", "estimate", "kept"),
        *("sparse", "groups", "cubes", "matrix"),
    ],
)
def test_samples_are_kept_where_a_sum_would_not_do(defaults, samples):
    metric = vendiscore.load("vendiscore", **defaults)
    metric.add_batch(samples=samples)
    assert not isinstance(held(metric)[0], State)
    how = {"k": "cosine"} if not defaults else {}
    stated = {name: value for name, value in defaults.items() if name != "stream"}
    assert metric.compute(**how) == compute(samples, **how, **stated)


def test_batches_of_groups_are_kept_if_they_come_first_and_refused_later():
    metric = load()
    metric.add_batch(samples=X[:4], groups=["a", "a", "b", "b"])
    metric.add_batch(samples=X[4:6], groups=["b", "b"])
    expected = compute(X[:6], k="cosine", groups=[*"aabbbb"])
    assert metric.compute() == pytest.approx(expected, rel=EXACT)
    metric.add_batch(samples=X[:4])
    for batch, groups in ((X[4:6], ["b", "b"]), (X[4:8].reshape(2, 2, 5), None)):
        with pytest.raises(TypeError, match=r"in groups, but earlier .* load .* stream=False"):
            metric.add_batch(samples=batch, groups=groups)
    assert metric.compute() == pytest.approx(compute(X[:4], k="cosine"), rel=EXACT)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"k": "linear", "normalize": True}, "another `k`"),
        ({"k": "rbf"}, "another `k`"),
        ({"normalize": True}, "another `normalize`"),
        ({"groups": ["a"] * 60}, "`groups`"),
        ({"p": np.full(60, 1 / 60)}, "`p`"),
        ({"ci": 0.95}, "`ci`"),
        ({"measures": ["VS", "IntDiv", "AvgSim"]}, "`measures` IntDiv, AvgSim"),
        ({"measures": "IntDiv", "ci": 0.9}, "`ci`, `measures` IntDiv"),
    ],
)
def test_what_sums_do_not_tell_is_refused_and_nothing_is_lost(options, named):
    metric = added(load(), [X[:20], X[20:]])
    for extra in ({}, {"samples": X[:3]}):
        with pytest.raises(TypeError, match=f"{named} cannot be computed from .* stream=False"):
            metric.compute(**extra, **options)
    assert len(metric) == 60
    assert metric.compute(q=[1, 2]) == pytest.approx(compute(X, k="cosine", q=[1, 2]), rel=EXACT)
    assert metric.compute(samples=X, **options) == compute(X, **{"k": "cosine", **options})


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        (X[:, :3], ValueError, "`d` is 5 and 3"),
        (["text"], SampleError, "must be a row of numbers"),
        (np.zeros((2, 5)), SampleError, "sample 0 is a zero vector"),
        ([[1.0, np.nan, 1, 1, 1]], SampleError, "must be finite"),
        ([], ValueError, "`samples` is empty"),
    ],
)
def test_a_batch_that_does_not_fit_is_refused_when_it_is_added(batch, error, message):
    metric = added(load(), [X])
    with pytest.raises(error, match=message):
        metric.add_batch(samples=batch)
    with pytest.raises(error, match=message):
        metric.compute(samples=batch)
    assert metric.compute() == pytest.approx(compute(X, k="cosine"), rel=EXACT)


def test_a_model_and_its_options_stream():
    texts = ["a", "ab", "abc", "aa", "a", "b"]
    metric = vendiscore.load("vendiscore", k="text_embeddings", model=lengths)
    added(metric, [texts[:4], tuple(texts[4:])])
    assert isinstance(held(metric)[0], State)
    expected = compute(texts, k="text_embeddings", model=lengths)
    assert metric.compute() == pytest.approx(expected, rel=EXACT)


def test_tensors_are_summed_up_without_their_gradient():
    torch = pytest.importorskip("torch")
    T = torch.tensor(X, requires_grad=True)
    metric = added(load(), [T[:30], list(T[30:])])
    assert metric.compute() == pytest.approx(compute(X, k="cosine"), rel=EXACT)


def test_samples_that_outlived_an_error_are_told_of():
    metric = added(load(), [X[:20]])
    with pytest.raises(TypeError):
        metric.compute(ci=0.9)
    with pytest.warns(UserWarning, match="20 samples that were added before a compute"):
        assert metric.compute(samples=X[20:]) == pytest.approx(compute(X, k="cosine"), rel=EXACT)


def test_threads_add_to_one_metric_while_another_scores():
    metric, scored = load(), []

    def add(i):
        for row in X[i::4]:
            metric.add(prediction=row)

    def score():
        while sum(scored) < len(X):
            if n := len(metric):
                found = metric.compute(details=True)["details"]["n"]
                assert found >= n
                scored.append(found)

    threads = [threading.Thread(target=add, args=(i,)) for i in range(4)]
    threads.append(threading.Thread(target=score))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert sum(scored) == len(X)
    assert len(metric) == 0


def _process(process_id: int, cache: str) -> list:
    """Return what one of three processes has and finds; the last has nothing."""
    metric = evaluate.load(
        SCRIPT,
        k="cosine",
        num_process=3,
        process_id=process_id,
        experiment_id="sums",
        cache_dir=cache,
    )
    part = [X[:50], X[50:], None][process_id]
    if part is not None:
        metric.add(prediction=part[0])
        metric.add_batch(samples=part[1:])
    return [len(metric), metric.compute(q=[1, 2])]


def _other(process_id: int, cache: str, queue) -> None:
    queue.put((process_id, _process(process_id, cache)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork of a process with threads
def test_three_processes_merge_their_sums(tmp_path):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    cache = str(tmp_path)
    workers = [context.Process(target=_other, args=(i, cache, queue)) for i in (1, 2)]
    with newcomer.spawning():
        for worker in workers:
            worker.start()
    results = {0: _process(0, cache)} | dict(queue.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join()
    whole = pytest.approx(compute(X, k="cosine", q=[1, 2]), rel=EXACT)
    assert results == {0: [50, whole], 1: [10, None], 2: [0, None]}
    assert not list(tmp_path.rglob("*.arrow"))
