"""The metric in `evaluate`: loading, samples, defaults, threads and combination."""

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


def test_metric_loads_by_relative_path_and_folder(tmp_path, monkeypatch):
    clone = tmp_path / "vendiscore"
    clone.mkdir()
    for name in ("vendiscore.py", "library.py"):
        shutil.copy(ROOT / name, clone)
    monkeypatch.chdir(tmp_path)
    assert evaluate.load("vendiscore").compute(samples=TEXTS) == {"VS": VS}
    assert evaluate.load("./vendiscore/vendiscore.py").compute(samples=TEXTS) == {"VS": VS}


def test_tuples_of_strings_are_rejected_as_ambiguous(metric):
    for loaded_metric in (metric, evaluate.load(str(ROOT / "magnitude.py"))):
        with pytest.raises(ValueError, match=r"k=.tags. for sets of labels; a list of lists"):
            loaded_metric.compute(predictions=[("a", "b"), ("c", "d")])


def test_samples_predictions_and_data_are_equivalent(metric):
    for name in ("samples", "predictions", "data"):
        assert metric.compute(**{name: TEXTS}) == {"VS": VS}
    assert metric.compute(predictions=TEXTS, references=["ignored"] * 5) == {"VS": VS}


def test_published_configuration_names_are_accepted():
    for name in ("int", "text", "image", "default"):
        assert evaluate.load(SCRIPT, name).compute(samples=TEXTS) == {"VS": VS}


@pytest.mark.parametrize("script", ["vendiscore.py", "magnitude.py"])
def test_unknown_configurations_are_rejected(script):
    for name in ("magnitude", "cosine", 3):
        with pytest.raises(ValueError, match=r"`config_name` must be one of .*; remove it"):
            evaluate.load(str(ROOT / script), name)
    with pytest.raises(ValueError, match="`config_name` must be one of"):
        load("magnitude", "text")


def test_load_rejects_multiple_processes():
    for num_process in (0, 2):
        with pytest.raises(ValueError, match=rf"must be 1, got {num_process}; .* to a State"):
            evaluate.load(SCRIPT, num_process=num_process)
    metric = evaluate.load(SCRIPT, num_process=1, process_id=0, timeout=1, keep_in_memory=True)
    assert metric.compute(samples=TEXTS) == {"VS": VS}


def test_order_without_effect_is_rejected_unless_default():
    with pytest.raises(TypeError, match=r"`q=2` has no effect on IntDiv; remove `q`, or add .*VS"):
        load("vendiscore").compute(samples=TEXTS, measures="IntDiv", q=2)
    # So may a default `k`.
    with_kernel = load("vendiscore", k="labels")
    result = with_kernel.compute(samples=TEXTS, measures="CompressionRatio")
    assert result == compute(TEXTS, measures="CompressionRatio")
    with pytest.raises(TypeError, match="`k` has no effect on CompressionRatio"):
        with_kernel.compute(samples=TEXTS, measures="CompressionRatio", k="word_overlap")
    loaded = load("vendiscore", q=2, k="ngram_overlap")
    expected = compute(TEXTS, measures="IntDiv")
    assert loaded.compute(samples=TEXTS, measures="IntDiv") == expected
    suite = evaluate.combine([loaded, load("vendiscore", measures="IntDiv")])
    result = suite.compute(predictions=TEXTS, q=3)
    assert result == compute(TEXTS, q=3) | expected


def test_call_overrides_load_time_defaults():
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


def test_added_samples_match_single_call(metric):
    metric.add(prediction=TEXTS[0])
    metric.add_batch(predictions=TEXTS[1:3], references=["ignored"] * 2)
    metric.add_batch(samples=iter(TEXTS[3:4]))
    assert len(metric) == 4
    assert metric.compute(samples=TEXTS[4:]) == {"VS": VS}
    assert len(metric) == 0
    with pytest.raises(TypeError, match="or add samples before compute"):
        metric.compute()


def test_added_vectors_and_numbers_are_scored(metric):
    X = np.random.default_rng(0).standard_normal((6, 3))
    metric.add_batch(samples=X[:4].astype(np.float32))
    metric.add(prediction=X[4].tolist())
    metric.add(prediction=X[5])
    expected_rows = np.vstack([X[:4].astype(np.float32), X[4:]])
    assert metric.compute(k="cosine")["VS"] == pytest.approx(
        score(expected_rows, "cosine"), rel=1e-12
    )
    metric.add_batch(samples=[0, 0.25])
    metric.add(prediction=1)
    assert metric.compute(k="rbf", sigma=1)["VS"] == score([0, 0.25, 1], "rbf", sigma=1)


def test_ragged_and_infinite_vectors_are_rejected_when_added(metric):
    with pytest.raises(ValueError, match=r"sample 1 .* has shape \(1,\), but other rows have"):
        metric.add_batch(samples=[[1.0, 2.0], [1.0]])
    with pytest.raises(ValueError, match=r"sample 1 .* must be finite, got inf"):
        metric.add_batch(samples=[[1.0, 2.0], [1.0, np.inf]])
    metric.add_batch(samples=TEXTS)
    assert metric.compute() == {"VS": VS}


def test_compute_with_samples_writes_no_files(metric, monkeypatch):
    monkeypatch.setattr("evaluate.module.ArrowWriter", None)
    X = np.random.default_rng(0).standard_normal((50, 8))
    assert metric.compute(samples=X, score_X=True, normalize=True)["VS"] > 1


def test_as_samples_accepts_partially_imported_torch(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "torch", types.ModuleType("torch")
    )  # a module that is only partially imported
    assert as_samples(("a b", "c d")) == ["a b", "c d"]
    assert as_samples(np.array(["a b", "c d"])) == ["a b", "c d"]


def test_threads_compute_with_shared_metric(metric):
    def check_score(i):
        texts = [f"{word} {i % 7}" for word in ["a", "b", "c", "d", "e"]]
        q = 1 + i % 3
        expected = score(texts, "ngram_overlap", q=q)
        return metric.compute(samples=texts, q=q) == {key_at(q): expected}

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(check_score, range(200)))


def test_iterators_of_options_are_read_once(fresh):
    expected = fresh.compute(samples=TEXTS, q=[1, 2], ns=[1, 2])
    assert fresh.compute(samples=TEXTS, q=iter([1, 2]), ns=iter([1, 2])) == expected
    fresh.add_batch(samples=iter(TEXTS))
    assert fresh.compute(q=(q for q in (1, 2)), ns=[1, 2]) == expected
    result = fresh.compute(samples=TEXTS, measures=iter(["VS", "IntDiv"]))
    assert result.keys() == {"VS", "IntDiv"}
    loaded_metric = evaluate.load(SCRIPT, q=iter([1, 2]), ns=[1, 2])
    assert loaded_metric.compute(samples=TEXTS) == loaded_metric.compute(samples=TEXTS) == expected


def test_threads_add_to_shared_metric(fresh):
    def add_samples(i):
        for j in range(20):
            fresh.add_batch(samples=[f"{i} {j} {m}" for m in range(3)])
            fresh.add(prediction=f"{i} {j}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_samples, range(8)))
    assert len(fresh) == 8 * 20 * 4
    assert fresh.compute(k="labels", q=0) == {"VS_q0": pytest.approx(8 * 20 * 4)}


def test_concurrent_threads_score_samples_exactly_once(fresh):
    counts, stop = [], threading.Event()

    def compute_until_stopped():
        while not stop.is_set() or len(fresh):
            try:
                counts.append(fresh.compute(k="labels", q=0)["VS_q0"])
            except TypeError:
                time.sleep(0.001)  # no samples to score

    with ThreadPoolExecutor(8) as pool:
        scorers = [pool.submit(compute_until_stopped) for _ in range(4)]
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
    ("options", "suggestion"),
    [
        ({"measure": "IntDiv"}, "measures"),
        ({"k": "ngram_overlap", "measure": "IntDiv"}, "measures"),
        ({"sample": TEXTS}, "samples"),
        ({"k": "cosine", "normalise": True}, "normalize"),
    ],
)
def test_misspelled_keywords_suggest_metric_keywords(fresh, options, suggestion):
    with pytest.raises(TypeError, match=f"Did you mean `{suggestion}`"):
        fresh.compute(data=TEXTS, **options)


@pytest.mark.parametrize(
    ("q", "keys"), [(1, {"VS"}), (2, {"VS_q2"}), ("inf", {"VS_qinf"}), ([1, 2], {"VS_q1", "VS_q2"})]
)
def test_load_time_order_is_part_of_keys(q, keys):
    assert evaluate.load(SCRIPT, q=q).compute(samples=TEXTS).keys() == keys


def test_missing_key_raises_error_with_available_keys(metric):
    with pytest.raises(KeyError, match="no key 'VS' for q=2; available keys: 'VS_q2'"):
        metric.compute(samples=TEXTS, q=2)["VS"]
