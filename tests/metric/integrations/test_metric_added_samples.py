"""Samples that are added before `compute()`: all sample types, copies, and errors."""

import copy
import pickle
import warnings
from pathlib import Path

import evaluate
import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import SampleError, TooLargeError, score
from vendiscore.integrations.huggingface import VendiScore

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = str(ROOT / "vendiscore.py")
TEXTS = ["Look, Jane.", "See Spot.", "See Spot run.", "Run, Spot, run.", "Jane sees Spot run."]
VS = score(TEXTS, "ngram_overlap")
X = np.random.default_rng(0).standard_normal((6, 3))


def compute_after_adding(metric, batches, **options):
    """Add batches to a metric, and return the result of `compute()`."""
    for batch in batches:
        metric.add_batch(samples=batch)
    return metric.compute(**options)


class Colour:
    """Sample type that the library does not know."""

    def __init__(self, hue):
        self.hue = hue


def same_hue(a, b):
    return float(a.hue == b.hue)


IMAGES = np.random.default_rng(1).integers(1, 255, (6, 5, 4), dtype=np.uint8)
SAMPLE_TYPES = {
    "text": (TEXTS, {}),
    "lone surrogates": (["a\ud800", "a\ud801", "b", "b"], {"k": "labels"}),
    "large integers": ([2**53, 2**53 + 1, 2**53 + 2, 10**30], {"k": "labels"}),
    "array of large integers": (np.array([2**53, 2**53 + 1, 2**53 + 2]), {"k": "labels"}),
    "truth values": ([True, False, True, True], {"k": "labels"}),
    "numbers of all types": ([1, 2.5, np.float32(0.1), np.int64(7), True], {"k": "labels"}),
    "single precision": (np.float32([0.1, 0.2, 0.7, 0.7]), {"k": "rbf", "sigma": 0.3}),
    "rows in single precision": (X.astype(np.float32), {"k": "cosine", "q": 0.5}),
    "rows of integers": ((10 * X).astype(np.int64), {"score_X": True, "normalize": True}),
    "rows as lists": (X.tolist(), {"k": lambda a, b: float(a == b)}),
    "rows as tuples": ([(1, 2), (1, 3), (1, 2)], {"k": "labels"}),
    "sparse rows": (sp.csr_array(np.eye(6) + 1), {"k": "cosine"}),
    "similarities": (np.eye(6) / 2 + 0.5, {"score_K": True}),
    "sets": ([{"a", "b"}, {"b"}, {"c"}, {"a", "b"}], {"k": "tags"}),
    "lists of tags": ([["a", "b"], ["b"], ["c"]], {"k": "tags"}),
    "records": (
        [{"t": text, "c": i % 2} for i, text in enumerate(TEXTS)],
        {"k": {"ngram_overlap:t": 0.5, "labels:c": 0.5}},
    ),
    "images": (IMAGES, {"k": "pixels", "size": None}),
    "bytes": ([b"a", b"b", b"a"], {"k": "labels"}),
    "objects": ([Colour(1), Colour(2), Colour(1)], {"k": same_hue}),
}


@pytest.mark.parametrize("sample_type", SAMPLE_TYPES)
@pytest.mark.parametrize("batch_size", [1, 2, None])
def test_added_samples_match_single_call_for_all_sample_types(fresh, sample_type, batch_size):
    if sample_type == "images":
        pytest.importorskip("PIL")
    samples, options = SAMPLE_TYPES[sample_type]
    n = samples.shape[0] if hasattr(samples, "shape") else len(samples)
    expected = fresh.compute(samples=samples, **options)
    batches = [samples[i : i + (batch_size or n)] for i in range(0, n, batch_size or n)]
    assert compute_after_adding(fresh, batches, **options) == expected
    assert len(fresh) == 0
    if sample_type != "sparse rows":
        for sample in samples:
            fresh.add(prediction=sample)
        assert fresh.compute(**options) == pytest.approx(expected, rel=1e-14)


def test_added_tensors_match_single_call(fresh):
    torch = pytest.importorskip("torch")
    T = torch.tensor(X, dtype=torch.float32, requires_grad=True)
    expected = fresh.compute(samples=T, score_X=True, normalize=True)
    result = compute_after_adding(fresh, [T[:2], T[2:]], score_X=True, normalize=True)
    assert result == pytest.approx(expected, rel=1e-12)


def test_batches_of_different_containers_are_combined(fresh):
    torch = pytest.importorskip("torch")
    expected = fresh.compute(samples=X, k="cosine")["VS"]
    all_batches = [X[:2], torch.tensor(X[2:3]), X[3:5].tolist(), sp.csr_array(X[5:])]
    for batches in (all_batches, all_batches[::-1], all_batches[1:] + all_batches[:1]):
        assert compute_after_adding(fresh, batches, k="cosine") == {"VS": pytest.approx(expected)}
    result = compute_after_adding(fresh, [torch.tensor(X[:3]).bfloat16(), X[3:]], k="cosine")["VS"]
    assert result == pytest.approx(expected, rel=0.01)


def test_added_samples_are_copied(fresh):
    row, texts, tags = np.zeros(2), ["a"], {"a"}
    rows, expected_tags = [], []
    for i in range(4):
        row[:] = [1, i]
        tags.clear()
        tags.add(i)
        rows.append(row.copy())
        expected_tags.append({i})
        fresh.add(prediction=row)
    assert fresh.compute(k="cosine") == fresh.compute(samples=rows, k="cosine")
    for i in range(4):
        tags.clear()
        tags.add(i)
        fresh.add(prediction=tags)
    assert fresh.compute(k="tags") == {"VS": pytest.approx(4)}
    for i in range(3):
        texts[0] = str(i)
        fresh.add_batch(samples=texts)
    assert fresh.compute(k="labels") == {"VS": pytest.approx(3)}
    Image = pytest.importorskip("PIL.Image")
    canvas = Image.new("L", (4, 4))
    for i in range(4):
        canvas.paste(0, (0, 0, 4, 4))
        canvas.putpixel((i, 0), 255)
        fresh.add(prediction=canvas)
    assert fresh.compute(k="pixels", size=None) == {"VS": pytest.approx(4)}


def raise_keyboard_interrupt(text):
    raise KeyboardInterrupt


def raise_runtime_error(text):
    raise RuntimeError("no tokenizer today")


@pytest.mark.parametrize(
    ("samples", "options", "error"),
    [
        (TEXTS, {"p": [0.5, 0.6]}, ValueError),
        (TEXTS, {"ns": [50]}, ValueError),
        (TEXTS, {"tokenizer": raise_runtime_error}, RuntimeError),
        (TEXTS, {"tokenizer": raise_keyboard_interrupt}, KeyboardInterrupt),
        (TEXTS, {"k": "cosine"}, (TypeError, ValueError)),
        (TEXTS, {"measures": ["LC"], "q": "x"}, (TypeError, ValueError)),
        (TEXTS, {"nss": 1}, TypeError),
        ([*TEXTS, ""], {}, SampleError),
        ([*TEXTS, None], {}, SampleError),
    ],
)
def test_added_samples_are_kept_after_error(fresh, samples, options, error):
    fresh.add_batch(samples=samples[:2])
    fresh.add_batch(samples=samples[2:])
    for _ in range(2):
        with pytest.raises(error):
            fresh.compute(**options)
        assert len(fresh) == len(samples)
    if samples == TEXTS:
        with (
            pytest.raises(ValueError, match="sample 5 has no tokens"),
            warnings.catch_warnings(action="ignore"),
        ):
            fresh.compute(samples=[""])  # this sample is not added
        assert fresh.compute() == {"VS": VS}
    else:
        assert fresh.compute(k=lambda a, b: float(a == b)) == {"VS": pytest.approx(6)}
    assert len(fresh) == 0
    with pytest.raises(TypeError, match="or add samples before compute"):
        fresh.compute()


def test_unscored_added_samples_cause_warning_or_are_scored(fresh):
    fresh.add_batch(samples=TEXTS[:2])
    with pytest.raises(ValueError, match="`p` must have one number"):
        fresh.compute(p=[1.0])
    with pytest.warns(UserWarning, match=r"2 samples that were added before a failed compute\(\)"):
        assert fresh.compute(samples=TEXTS[2:]) == {"VS": VS}
    fresh.add_batch(samples=TEXTS[:2])
    with pytest.raises(ValueError, match="`p` must have one number"):
        fresh.compute(samples=TEXTS[2:], p=[1.0])
    assert fresh.compute(samples=TEXTS[2:]) == {"VS": VS}  # repeats the failed call


def test_added_samples_can_be_rescored_after_memory_error(fresh, monkeypatch):
    points = np.linspace(0, 1, 800)  # their matrix needs 5 MB
    fresh.add_batch(samples=points)
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 10**6)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    with pytest.raises(TooLargeError):
        fresh.compute(k="rbf", sigma=1)
    monkeypatch.undo()
    assert fresh.compute(k="rbf", sigma=1, q=2) == {"VS_q2": score(points, "rbf", sigma=1, q=2)}


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (X, X[:, :2], "contain rows of 3 numbers, got rows of 2 numbers"),
        (X.tolist(), X[:, :2].tolist(), "contain rows of 3 numbers, got rows of 2 numbers"),
        (X, TEXTS, "contain rows of 3 numbers, got samples that are not rows of numbers"),
        (TEXTS, X, "contain samples that are not rows of numbers, got rows of 3"),
        (X, [[1.0, 2.0, np.nan]], "sample 0 of `samples` must be finite, got nan"),
        (X, [[1.0, 2.0, 3.0], [1.0]], "sample 1 of `samples` has shape"),
        (X, [], "`samples` is empty"),
        (X, "text", "`samples` must be a collection"),
        (X, None, "`samples` is required"),
    ],
)
def test_incompatible_batches_are_rejected_when_added(fresh, first, second, message):
    fresh.add_batch(samples=first)
    with pytest.raises((TypeError, ValueError), match=message):
        fresh.add_batch(samples=second)
    assert len(fresh) == len(first)
    options = {"k": "cosine"} if first is not TEXTS else {}
    assert fresh.compute(**options) == fresh.compute(samples=first, **options)


CASES_OF_ANY_LENGTH = {
    "sets of labels": ([[(1, 2), (3, 4)], [(1,), (1, 2)], [{1, 2, 3}]], "tags"),
    "labels": ([[(1, "a")], [(1, "a"), (2,)]], "labels"),
    "arrays and lists": ([np.ones((2, 2)), [[1.0, 1.0], [2.0]]], lambda a, b: float([*a] == [*b])),
    "a function": ([[[1.0, 2.0]], [[1.0], [1.0, 2.0]]], lambda a, b: float(a == b)),
}


@pytest.mark.parametrize("name", CASES_OF_ANY_LENGTH)
def test_samples_of_any_length_are_added_if_kernel_accepts_them(name):
    batches, k = CASES_OF_ANY_LENGTH[name]
    samples = [sample for batch in batches for sample in batch]
    assert compute_after_adding(VendiScore(k=k), batches) == VendiScore().compute(
        samples=samples, k=k
    )


def test_add_rejects_none(fresh):
    with pytest.raises(TypeError, match="`prediction` is required"):
        fresh.add()
    with pytest.raises(TypeError, match="`prediction` is required"):
        fresh.add(prediction=None)
    assert len(fresh) == 0


def test_adding_samples_writes_no_files(tmp_path):
    metric = evaluate.load(SCRIPT, cache_dir=str(tmp_path))
    metric.add_batch(samples=TEXTS)
    with pytest.raises(ValueError, match="must have one number"):
        metric.compute(p=[1.0])
    del metric
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("dumps", [pickle.dumps, pytest.importorskip("dill").dumps])
def test_metric_with_added_samples_can_be_pickled_and_copied(dumps):
    metric = evaluate.load(SCRIPT, q=2)
    metric.add_batch(samples=TEXTS)
    unpickled = pickle.loads(dumps(metric))
    assert unpickled.compute() == metric.compute() == {"VS_q2": score(TEXTS, "ngram_overlap", q=2)}
    metric.add_batch(samples=TEXTS)
    copied = copy.deepcopy(metric)
    assert len(copied) == len(metric) == len(TEXTS)
