"""The metric inside `evaluate`: every way to load it, to hand it samples, and to combine it."""

import json
import shutil
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import evaluate
import numpy as np
import pytest

from vendiscore import compute, load, score
from vendiscore.result import key_at
from vendiscore.similarity.sample_arrays import as_samples

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = str(ROOT / "vendiscore.py")
TEXTS = ["Look, Jane.", "See Spot.", "See Spot run.", "Run, Spot, run.", "Jane sees Spot run."]
VS = score(TEXTS, "ngram_overlap")
X = np.random.default_rng(0).standard_normal((6, 3))


def test_loads_by_relative_path_and_by_folder(tmp_path, monkeypatch):
    clone = tmp_path / "vendiscore"
    clone.mkdir()
    for name in ("vendiscore.py", "library.py"):
        shutil.copy(ROOT / name, clone)
    monkeypatch.chdir(tmp_path)
    assert evaluate.load("vendiscore").compute(samples=TEXTS) == {"VS": VS}
    assert evaluate.load("./vendiscore/vendiscore.py").compute(samples=TEXTS) == {"VS": VS}


def test_tuples_of_strings_are_no_groups_and_what_are_is_said(metric):
    for one in (metric, evaluate.load(str(ROOT / "magnitude.py"))):
        with pytest.raises(ValueError, match=r"k=.tags. for sets of labels; a list of lists"):
            one.compute(predictions=[("a", "b"), ("c", "d")])


def test_several_ways_to_pass_samples_mean_the_same(metric):
    for name in ("samples", "predictions", "data"):
        assert metric.compute(**{name: TEXTS}) == {"VS": VS}
    assert metric.compute(predictions=TEXTS, references=["ignored"] * 5) == {"VS": VS}


def test_the_names_of_published_configurations_are_accepted():
    for name in ("int", "text", "image", "default"):
        assert evaluate.load(SCRIPT, name).compute(samples=TEXTS) == {"VS": VS}


@pytest.mark.parametrize("script", ["vendiscore.py", "magnitude.py"])
def test_other_configurations_are_refused(script):
    for name in ("magnitude", "cosine", 3):
        with pytest.raises(ValueError, match=r"`config_name` must be one of .*; remove it"):
            evaluate.load(str(ROOT / script), name)
    with pytest.raises(ValueError, match="`config_name` must be one of"):
        load("magnitude", "text")


def test_several_processes_are_refused_with_the_way_instead():
    for number in (0, 2):
        with pytest.raises(ValueError, match=rf"must be 1, got {number}; .* to a State"):
            evaluate.load(SCRIPT, num_process=number)
    alone = evaluate.load(SCRIPT, num_process=1, process_id=0, timeout=1, keep_in_memory=True)
    assert alone.compute(samples=TEXTS) == {"VS": VS}


def test_an_order_that_no_measure_has_is_refused_unless_it_is_a_default():
    with pytest.raises(TypeError, match=r"`q=2` has no effect on IntDiv; remove `q`, or add .*VS"):
        load("vendiscore").compute(samples=TEXTS, measures="IntDiv", q=2)
    loaded = load("vendiscore", q=2, k="ngram_overlap")
    expected = compute(TEXTS, measures="IntDiv")
    assert loaded.compute(samples=TEXTS, measures="IntDiv") == expected
    suite = evaluate.combine([loaded, load("vendiscore", measures="IntDiv")])
    both = suite.compute(predictions=TEXTS, q=3)
    assert both == compute(TEXTS, q=3) | expected


def test_defaults_are_given_at_load_time_and_overridden_by_the_call():
    metric = evaluate.load(SCRIPT, k="ngram_overlap", q=2, ns=[1])
    assert metric.compute(samples=TEXTS)["VS_q2"] == score(TEXTS, "ngram_overlap", q=2, ns=[1])
    assert metric.compute(samples=TEXTS, q=1)["VS"] == score(TEXTS, "ngram_overlap", ns=[1])
    with pytest.raises(TypeError, match="'nss' is not an option of kernel 'ngram_overlap'"):
        evaluate.load(SCRIPT, k="ngram_overlap", nss=[1])


def test_results_are_plain_floats(metric):
    torch = pytest.importorskip("torch")
    X = torch.eye(3, requires_grad=True)
    assert type(metric.compute(samples=X, score_X=True)["VS"]) is float
    values = metric.compute(samples=TEXTS, q=[0, 1, 2, "inf"])
    assert all(type(value) is float for value in values.values())
    json.dumps(metric.compute(samples=TEXTS, details=True))


def test_samples_may_be_added_one_by_one_and_in_batches(metric):
    metric.add(prediction=TEXTS[0])
    metric.add_batch(predictions=TEXTS[1:3], references=["ignored"] * 2)
    metric.add_batch(samples=iter(TEXTS[3:4]))
    assert len(metric) == 4
    assert metric.compute(samples=TEXTS[4:]) == {"VS": VS}
    assert len(metric) == 0
    with pytest.raises(TypeError, match="or add samples before compute"):
        metric.compute()


def test_vectors_and_numbers_may_be_added_too(metric):
    X = np.random.default_rng(0).standard_normal((6, 3))
    metric.add_batch(samples=X[:4].astype(np.float32))
    metric.add(prediction=X[4].tolist())
    metric.add(prediction=X[5])
    wanted = np.vstack([X[:4].astype(np.float32), X[4:]])
    assert metric.compute(k="cosine")["VS"] == pytest.approx(score(wanted, "cosine"), rel=1e-12)
    metric.add_batch(samples=[0, 0.25])
    metric.add(prediction=1)
    assert metric.compute(k="rbf", sigma=1)["VS"] == score([0, 0.25, 1], "rbf", sigma=1)


def test_ragged_or_infinite_vectors_are_refused_when_they_are_added(metric):
    with pytest.raises(ValueError, match=r"sample 1 .* has shape \(1,\), but other rows have"):
        metric.add_batch(samples=[[1.0, 2.0], [1.0]])
    with pytest.raises(ValueError, match=r"sample 1 .* must be finite, got inf"):
        metric.add_batch(samples=[[1.0, 2.0], [1.0, np.inf]])
    metric.add_batch(samples=TEXTS)
    assert metric.compute() == {"VS": VS}


def test_the_direct_path_writes_nothing(metric, monkeypatch):
    monkeypatch.setattr("evaluate.module.ArrowWriter", None)
    X = np.random.default_rng(0).standard_normal((50, 8))
    assert metric.compute(samples=X, score_X=True, normalize=True)["VS"] > 1


def test_samples_are_read_while_another_thread_imports_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))  # as it is at first
    assert as_samples(("a b", "c d")) == ["a b", "c d"]
    assert as_samples(np.array(["a b", "c d"])) == ["a b", "c d"]


def test_threads_share_one_metric(metric):
    def work(i):
        texts = [f"{word} {i % 7}" for word in ["a", "b", "c", "d", "e"]]
        q = 1 + i % 3
        want = score(texts, "ngram_overlap", q=q)
        return metric.compute(samples=texts, q=q) == {key_at(q): want}

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


def test_generators_of_options_are_read_once(fresh):
    wanted = fresh.compute(samples=TEXTS, q=[1, 2], ns=[1, 2])
    assert fresh.compute(samples=TEXTS, q=iter([1, 2]), ns=iter([1, 2])) == wanted
    fresh.add_batch(samples=iter(TEXTS))
    assert fresh.compute(q=(q for q in (1, 2)), ns=[1, 2]) == wanted
    both = fresh.compute(samples=TEXTS, measures=iter(["VS", "IntDiv"]))
    assert both.keys() == {"VS", "IntDiv"}
    default = evaluate.load(SCRIPT, q=iter([1, 2]), ns=[1, 2])
    assert default.compute(samples=TEXTS) == default.compute(samples=TEXTS) == wanted


def test_threads_add_to_one_metric(fresh):
    def work(i):
        for j in range(20):
            fresh.add_batch(samples=[f"{i} {j} {m}" for m in range(3)])
            fresh.add(prediction=f"{i} {j}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert len(fresh) == 8 * 20 * 4
    assert fresh.compute(k="labels", q=0) == {"VS_q0": pytest.approx(8 * 20 * 4)}


def test_each_sample_is_scored_once_whatever_threads_do(fresh):
    counts, stop = [], threading.Event()

    def score_some():
        while not stop.is_set() or len(fresh):
            try:
                counts.append(fresh.compute(k="labels", q=0)["VS_q0"])
            except TypeError:
                time.sleep(0.001)  # nothing there

    with ThreadPoolExecutor(8) as pool:
        scorers = [pool.submit(score_some) for _ in range(4)]
        adders = [
            pool.submit(lambda i=i: [fresh.add(prediction=f"{i} {j}") for j in range(50)])
            for i in range(4)
        ]
        for adder in adders:
            adder.result()
        stop.set()
        for scorer in scorers:
            scorer.result()
    assert sum(counts) == pytest.approx(200)


@pytest.mark.parametrize(
    ("options", "close"),
    [
        ({"measure": "IntDiv"}, "measures"),
        ({"k": "ngram_overlap", "measure": "IntDiv"}, "measures"),
        ({"sample": TEXTS}, "samples"),
        ({"k": "cosine", "normalise": True}, "normalize"),
    ],
)
def test_a_keyword_of_the_metric_itself_is_suggested(fresh, options, close):
    with pytest.raises(TypeError, match=f"Did you mean `{close}`"):
        fresh.compute(data=TEXTS, **options)


@pytest.mark.parametrize(
    ("q", "keys"), [(1, {"VS"}), (2, {"VS_q2"}), ("inf", {"VS_qinf"}), ([1, 2], {"VS_q1", "VS_q2"})]
)
def test_an_order_at_load_time_is_part_of_the_keys(q, keys):
    assert evaluate.load(SCRIPT, q=q).compute(samples=TEXTS).keys() == keys


def test_a_key_without_its_order_raises_an_error_that_lists_the_keys(metric):
    with pytest.raises(KeyError, match="no key 'VS' for q=2; available keys: 'VS_q2'"):
        metric.compute(samples=TEXTS, q=2)["VS"]
