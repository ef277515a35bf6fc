"""Several processes score their samples together, through the files of `evaluate`."""

import multiprocessing
from pathlib import Path

import evaluate
import newcomer
import numpy as np
import pytest

from vendiscore import SampleError, score

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = str(ROOT / "vendiscore.py")
TEXTS = ["Look, Jane.", "See Spot.", "See Spot run.", "Run, Spot, run.", "Jane sees Spot run."]
VS = score(TEXTS, "ngram_overlap")
X = np.random.default_rng(0).standard_normal((6, 3))


ROWS = X.astype(np.float32)
ROUNDS = [
    (
        (["a\ud800", 2**53, 0.1], ["a\ud801", 2**53 + 1, np.float32(0.1), True, b"x"]),
        {"k": "labels"},
    ),
    ((ROWS[:4], ROWS[4:]), {"k": "cosine", "q": 0.5}),
    ((["a", "b"], None), {"k": "labels"}),
    ((None, ["c"]), {"k": "labels"}),
    *(((["a"], ["b"] * i), {"k": "labels", "q": 0}) for i in (1, 2, 3)),
    ((["a", ""], ["b"]), {}),
]


def _process(process_id: int, cache: str, queue) -> None:
    metric = evaluate.load(
        SCRIPT, num_process=2, process_id=process_id, experiment_id="pair", cache_dir=cache
    )
    first = metric.compute(samples=TEXTS[:2] if process_id else TEXTS[2:])
    results = [first]
    for batches, options in ROUNDS:
        if batches[process_id] is not None:
            metric.add_batch(samples=batches[process_id])
        try:
            results.append(metric.compute(**options))
        except SampleError as error:
            results += [str(error), len(metric), metric.compute(k="labels")]
    queue.put((process_id, results))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork of a process with threads
def test_two_processes_are_scored_together_and_lose_nothing(metric, tmp_path):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    workers = [context.Process(target=_process, args=(i, str(tmp_path), queue)) for i in range(2)]
    with newcomer.spawning():
        for worker in workers:
            worker.start()
    results = dict(queue.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join()
    assert all(result is None for result in results[1])
    texts, kinds, rows, alone, other, *counts, error, kept, later = results[0]
    assert texts == {"VS": pytest.approx(VS)}
    assert kinds == {"VS": pytest.approx(8)}
    assert rows == metric.compute(samples=ROWS, k="cosine", q=0.5)
    assert (alone, other) == ({"VS": pytest.approx(2)}, {"VS": pytest.approx(1)})
    assert counts == [{"VS": pytest.approx(2)}] * 3  # one process may be ahead of the other
    assert "has no tokens" in error
    assert (kept, later) == (3, {"VS": pytest.approx(3)})
    assert not list(tmp_path.rglob("*.arrow"))


def test_a_process_that_nobody_joins_says_so(tmp_path):
    metric = evaluate.load(SCRIPT, num_process=2, cache_dir=str(tmp_path), timeout=0.5)
    with pytest.raises(TimeoutError, match=r"process 0 of 2 waited for the others.*every process"):
        metric.add_batch(samples=TEXTS)
    with pytest.raises(TypeError, match="must be text, numbers or rows of numbers, got object"):
        metric.add_batch(samples=[object()])
    assert not list(tmp_path.rglob("*.arrow"))
