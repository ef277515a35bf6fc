"""Samples that are added before they are scored: any kind, kept as they are, lost by no error."""

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


def added(metric, batches, **options):
    """Return what a metric gives for batches that are added one after the other."""
    for batch in batches:
        metric.add_batch(samples=batch)
    return metric.compute(**options)


class Colour:
    """A sample of a kind that the library has never seen."""

    def __init__(self, hue):
        self.hue = hue


def same_hue(a, b):
    return float(a.hue == b.hue)


IMAGES = np.random.default_rng(1).integers(1, 255, (6, 5, 4), dtype=np.uint8)
KINDS = {
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", [1, 2, None])
def test_samples_of_any_kind_score_alike_whether_added_or_given_at_once(fresh, kind, cut):
    if kind == "images":
        pytest.importorskip("PIL")
    samples, options = KINDS[kind]
    n = samples.shape[0] if hasattr(samples, "shape") else len(samples)
    whole = fresh.compute(samples=samples, **options)
    batches = [samples[i : i + (cut or n)] for i in range(0, n, cut or n)]
    assert added(fresh, batches, **options) == whole
    assert len(fresh) == 0
    if kind != "sparse rows":
        for sample in samples:
            fresh.add(prediction=sample)
        assert fresh.compute(**options) == pytest.approx(whole, rel=1e-14)


def test_tensors_may_be_added(fresh):
    torch = pytest.importorskip("torch")
    T = torch.tensor(X, dtype=torch.float32, requires_grad=True)
    whole = fresh.compute(samples=T, score_X=True, normalize=True)
    again = added(fresh, [T[:2], T[2:]], score_X=True, normalize=True)
    assert again == pytest.approx(whole, rel=1e-12)


def test_batches_of_several_containers_go_together(fresh):
    torch = pytest.importorskip("torch")
    whole = fresh.compute(samples=X, k="cosine")["VS"]
    parts = [X[:2], torch.tensor(X[2:3]), X[3:5].tolist(), sp.csr_array(X[5:])]
    for batches in (parts, parts[::-1], parts[1:] + parts[:1]):
        assert added(fresh, batches, k="cosine") == {"VS": pytest.approx(whole)}
    with_half = added(fresh, [torch.tensor(X[:3]).bfloat16(), X[3:]], k="cosine")["VS"]
    assert with_half == pytest.approx(whole, rel=0.01)


def test_what_is_added_is_what_it_was_then(fresh):
    row, words, tags = np.zeros(2), ["a"], {"a"}
    rows, bags = [], []
    for i in range(4):
        row[:] = [1, i]
        tags.clear()
        tags.add(i)
        rows.append(row.copy())
        bags.append({i})
        fresh.add(prediction=row)
    assert fresh.compute(k="cosine") == fresh.compute(samples=rows, k="cosine")
    for i in range(4):
        tags.clear()
        tags.add(i)
        fresh.add(prediction=tags)
    assert fresh.compute(k="tags") == {"VS": pytest.approx(4)}
    for i in range(3):
        words[0] = str(i)
        fresh.add_batch(samples=words)
    assert fresh.compute(k="labels") == {"VS": pytest.approx(3)}
    Image = pytest.importorskip("PIL.Image")
    canvas = Image.new("L", (4, 4))
    for i in range(4):
        canvas.paste(0, (0, 0, 4, 4))
        canvas.putpixel((i, 0), 255)
        fresh.add(prediction=canvas)
    assert fresh.compute(k="pixels", size=None) == {"VS": pytest.approx(4)}


def interrupt(text):
    raise KeyboardInterrupt


def broken(text):
    raise RuntimeError("no tokenizer today")


@pytest.mark.parametrize(
    ("samples", "options", "error"),
    [
        (TEXTS, {"p": [0.5, 0.6]}, ValueError),
        (TEXTS, {"ns": [50]}, ValueError),
        (TEXTS, {"tokenizer": broken}, RuntimeError),
        (TEXTS, {"tokenizer": interrupt}, KeyboardInterrupt),
        (TEXTS, {"k": "cosine"}, (TypeError, ValueError)),
        (TEXTS, {"measures": ["LC"], "q": "x"}, (TypeError, ValueError)),
        (TEXTS, {"nss": 1}, TypeError),
        ([*TEXTS, ""], {}, SampleError),
        ([*TEXTS, None], {}, SampleError),
    ],
)
def test_added_samples_survive_an_error(fresh, samples, options, error):
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
            fresh.compute(samples=[""])  # which is not added
        assert fresh.compute() == {"VS": VS}
    else:
        assert fresh.compute(k=lambda a, b: float(a == b)) == {"VS": pytest.approx(6)}
    assert len(fresh) == 0
    with pytest.raises(TypeError, match="or add samples before compute"):
        fresh.compute()


def test_samples_that_outlived_an_error_are_not_scored_in_silence_with_others(fresh):
    fresh.add_batch(samples=TEXTS[:2])
    with pytest.raises(ValueError, match="`p` must have one number"):
        fresh.compute(p=[1.0])
    with pytest.warns(UserWarning, match=r"2 samples that were added before a failed compute\(\)"):
        assert fresh.compute(samples=TEXTS[2:]) == {"VS": VS}
    fresh.add_batch(samples=TEXTS[:2])
    with pytest.raises(ValueError, match="`p` must have one number"):
        fresh.compute(samples=TEXTS[2:], p=[1.0])
    assert fresh.compute(samples=TEXTS[2:]) == {"VS": VS}  # the same call again


def test_after_too_large_a_score_a_smaller_one_can_be_had(fresh, monkeypatch):
    many = np.linspace(0, 1, 800)  # whose matrix takes 5 MB
    fresh.add_batch(samples=many)
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 10**6)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    with pytest.raises(TooLargeError):
        fresh.compute(k="rbf", sigma=1)
    monkeypatch.undo()
    assert fresh.compute(k="rbf", sigma=1, q=2) == {"VS_q2": score(many, "rbf", sigma=1, q=2)}


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
def test_a_batch_that_does_not_fit_is_refused_when_it_is_added(fresh, first, second, message):
    fresh.add_batch(samples=first)
    with pytest.raises((TypeError, ValueError), match=message):
        fresh.add_batch(samples=second)
    assert len(fresh) == len(first)
    options = {"k": "cosine"} if first is not TEXTS else {}
    assert fresh.compute(**options) == fresh.compute(samples=first, **options)


OF_ANY_LENGTH = {
    "sets of labels": ([[(1, 2), (3, 4)], [(1,), (1, 2)], [{1, 2, 3}]], "tags"),
    "labels": ([[(1, "a")], [(1, "a"), (2,)]], "labels"),
    "arrays and lists": ([np.ones((2, 2)), [[1.0, 1.0], [2.0]]], lambda a, b: float([*a] == [*b])),
    "a function": ([[[1.0, 2.0]], [[1.0], [1.0, 2.0]]], lambda a, b: float(a == b)),
}


@pytest.mark.parametrize("name", OF_ANY_LENGTH)
def test_samples_of_numbers_of_any_length_may_be_added_where_the_metric_knows(name):
    batches, k = OF_ANY_LENGTH[name]
    whole = [sample for batch in batches for sample in batch]
    assert added(VendiScore(k=k), batches) == VendiScore().compute(samples=whole, k=k)


def test_none_is_no_sample_to_add(fresh):
    with pytest.raises(TypeError, match="`prediction` is required"):
        fresh.add()
    with pytest.raises(TypeError, match="`prediction` is required"):
        fresh.add(prediction=None)
    assert len(fresh) == 0


def test_adding_writes_no_files(tmp_path):
    metric = evaluate.load(SCRIPT, cache_dir=str(tmp_path))
    metric.add_batch(samples=TEXTS)
    with pytest.raises(ValueError, match="must have one number"):
        metric.compute(p=[1.0])
    del metric
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("dumps", [pickle.dumps, pytest.importorskip("dill").dumps])
def test_a_metric_and_its_samples_can_be_pickled(dumps):
    metric = evaluate.load(SCRIPT, q=2)
    metric.add_batch(samples=TEXTS)
    again = pickle.loads(dumps(metric))
    assert again.compute() == metric.compute() == {"VS_q2": score(TEXTS, "ngram_overlap", q=2)}
    metric.add_batch(samples=TEXTS)
    twin = copy.deepcopy(metric)
    assert len(twin) == len(metric) == len(TEXTS)
