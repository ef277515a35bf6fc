"""The metric inside `evaluate`: every way to load it, to hand it samples, and to combine it."""

import copy
import json
import multiprocessing
import pickle
import shutil
import sys
import textwrap
import threading
import time
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import datasets
import evaluate
import newcomer
import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import SampleError, TooLargeError, score
from vendiscore.arrays.inputs import as_samples

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = str(ROOT / "vendiscore.py")
TEXTS = ["Look, Jane.", "See Spot.", "See Spot run.", "Run, Spot, run.", "Jane sees Spot run."]
VS = score(TEXTS, "ngram_overlap")
X = np.random.default_rng(0).standard_normal((6, 3))


def test_loads_by_path_from_another_folder(tmp_path):
    code = f"""
    import evaluate
    print(evaluate.load({SCRIPT!r}).compute(samples={TEXTS!r})["VS"])
    """
    assert newcomer.Python(code, tmp_path).lines() == [str(VS)]


def test_loads_by_relative_path_and_by_folder(tmp_path, monkeypatch):
    clone = tmp_path / "vendiscore"
    clone.mkdir()
    for name in ("vendiscore.py", "library.py"):
        shutil.copy(ROOT / name, clone)
    monkeypatch.chdir(tmp_path)
    assert evaluate.load("vendiscore").compute(samples=TEXTS) == {"VS": VS}
    assert evaluate.load("./vendiscore/vendiscore.py").compute(samples=TEXTS) == {"VS": VS}


@pytest.mark.parametrize(
    "samples", [[["a b", "b c"]], [["a", "b"], ["c"]], [("a", "b"), ("c", "d")]]
)
def test_lists_of_strings_are_groups_or_tags_and_it_is_said(metric, samples):
    for one in (metric, evaluate.load(str(ROOT / "magnitude.py"))):
        with pytest.raises(ValueError, match="groups one at a time; or k='tags'"):
            one.compute(predictions=samples)


def test_several_ways_to_pass_samples_mean_the_same(metric):
    for name in ("samples", "predictions", "data"):
        assert metric.compute(**{name: TEXTS}) == {"VS": VS}
    assert metric.compute(predictions=TEXTS, references=["ignored"] * 5) == {"VS": VS}


def test_the_names_of_published_configurations_are_accepted():
    for name in ("int", "text", "image", "default"):
        assert evaluate.load(SCRIPT, name).compute(samples=TEXTS) == {"VS": VS}


def test_defaults_are_given_at_load_time_and_overridden_by_the_call():
    metric = evaluate.load(SCRIPT, k="ngram_overlap", q=2, ns=[1])
    assert metric.compute(samples=TEXTS)["VS"] == score(TEXTS, "ngram_overlap", q=2, ns=[1])
    assert metric.compute(samples=TEXTS, q=1)["VS"] == score(TEXTS, "ngram_overlap", ns=[1])
    with pytest.raises(TypeError, match="`nss` is not an option of kernel 'ngram_overlap'"):
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
    with pytest.raises(ValueError, match=r"sample 1 .* has shape \(1,\), others have"):
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
        want = score(texts, "ngram_overlap", q=1 + i % 3)
        return metric.compute(samples=texts, q=1 + i % 3) == {"VS": want}

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


# What two processes add, round after round, and how it is scored.
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


LOCAL_METRIC = """
import datasets
import evaluate


class ExactMatch(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="",
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
            ),
        )

    def _compute(self, predictions, references):
        same = [a == b for a, b in zip(predictions, references)]
        return {"exact_match": sum(same) / len(same)}
"""


@pytest.fixture
def exact_match(tmp_path):
    path = tmp_path / "exact_match.py"
    path.write_text(LOCAL_METRIC)
    return str(path)


def test_combines_with_a_metric_that_needs_references(exact_match):
    suite = evaluate.combine([exact_match, SCRIPT])
    result = suite.compute(predictions=TEXTS, references=[*TEXTS[:4], "no"])
    assert result == {"exact_match": 0.8, "VS": VS}
    for text in TEXTS:
        suite.add(prediction=text, reference=text)
    assert suite.compute() == {"exact_match": 1.0, "VS": pytest.approx(VS)}


def test_two_configurations_in_one_suite():
    words = evaluate.load(SCRIPT, q=1)
    characters = evaluate.load(SCRIPT, k="ngram_overlap", analyzer="char", ns=[2], q=2)
    assert evaluate.combine([words, characters]).compute(predictions=TEXTS) == {
        "vendi_score_0_VS": VS,
        "vendi_score_1_VS": score(TEXTS, "ngram_overlap", q=2, analyzer="char", ns=[2]),
    }
    assert evaluate.combine({"words": words, "characters": characters}).compute(
        predictions=TEXTS
    ).keys() == {"words_VS", "characters_VS"}


@pytest.fixture(scope="module")
def tiny_generator(tmp_path_factory):
    """A GPT-2 of two layers with a word tokenizer, and both saved to a folder."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["<eos>", *sorted({word for text in TEXTS for word in text.split()})]
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<eos>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<eos>", pad_token="<eos>", unk_token="<eos>"
    )
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(words),
        n_embd=16,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = transformers.GPT2LMHeadModel(config)
    model.generation_config = transformers.GenerationConfig(
        max_new_tokens=4, do_sample=True, pad_token_id=0, eos_token_id=None
    )
    return model, tokenizer


# evaluate 0.4.6 and transformers warn about each other's future.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strategy", ["simple", "bootstrap"])
def test_scores_what_a_model_generates(tiny_generator, strategy):
    from evaluate import evaluator

    model, tokenizer = tiny_generator
    result = evaluator("text-generation").compute(
        model_or_pipeline=model,
        tokenizer=tokenizer,
        data=datasets.Dataset.from_dict({"text": TEXTS}),
        metric=evaluate.load(SCRIPT),
        strategy=strategy,
        n_resamples=20,
        random_state=0,
    )
    value = result["VS"] if strategy == "simple" else result["VS"]["score"]
    assert 1 < value <= len(TEXTS)


@pytest.mark.filterwarnings("ignore")
def test_works_in_an_evaluation_suite(tiny_generator, tmp_path):
    model, tokenizer = tiny_generator
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    datasets.Dataset.from_dict({"text": TEXTS}).to_csv(str(prompts / "test.csv"))
    suite_file = tmp_path / "diversity_suite.py"
    suite_file.write_text(
        textwrap.dedent(
            f"""
            import evaluate
            from evaluate.evaluation_suite import SubTask


            class Suite(evaluate.EvaluationSuite):
                def __init__(self, name):
                    super().__init__(name)
                    self.suite = [
                        SubTask(
                            task_type="text-generation",
                            data={str(tmp_path / "prompts")!r},
                            split="test",
                            args_for_task={{"metric": {SCRIPT!r}, "input_column": "text"}},
                        )
                    ]
            """
        )
    )
    suite = evaluate.EvaluationSuite.load(str(suite_file))
    suite.assert_suite_nonempty()
    suite.suite[0].args_for_task["tokenizer"] = tokenizer
    (result,) = suite.run(model)
    assert 1 < result["VS"] <= len(TEXTS)


@pytest.fixture
def fresh():
    """A metric to which nothing was added."""
    return evaluate.load(SCRIPT)


def added(metric, batches, **options):
    """What a metric gives for batches that are added one after the other."""
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
    with pytest.raises(ValueError, match="`p` must have one weight"):
        fresh.compute(p=[1.0])
    with pytest.warns(
        UserWarning, match="2 samples that were added before a compute.. that failed"
    ):
        assert fresh.compute(samples=TEXTS[2:]) == {"VS": VS}
    fresh.add_batch(samples=TEXTS[:2])
    with pytest.raises(ValueError, match="`p` must have one weight"):
        fresh.compute(samples=TEXTS[2:], p=[1.0])
    assert fresh.compute(samples=TEXTS[2:]) == {"VS": VS}  # the same call again


def test_after_too_large_a_score_a_smaller_one_can_be_had(fresh, monkeypatch):
    fresh.add_batch(samples=X)
    monkeypatch.setattr("vendiscore.arrays.memory.available_bytes", lambda: 100)
    with pytest.raises(TooLargeError):
        fresh.compute(k="rbf", sigma=1)
    monkeypatch.undo()
    assert fresh.compute(k="rbf", sigma=1, q=2) == {"VS": score(X, "rbf", sigma=1, q=2)}


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (X, X[:, :2], "got rows of 3 numbers and now rows of 2 numbers"),
        (X.tolist(), X[:, :2].tolist(), "got rows of 3 numbers and now rows of 2 numbers"),
        (X, TEXTS, "got rows of 3 numbers and now other samples than rows of numbers"),
        (TEXTS, X, "got other samples than rows of numbers and now rows of 3"),
        (X, [[1.0, 2.0, np.nan]], "sample 0 of `samples` must be finite, got nan"),
        (X, [[1.0, 2.0, 3.0], [1.0]], "sample 1 of `samples` has shape"),
        (X, [], "`samples` is empty"),
        (X, "text", "`samples` must be a collection"),
        (X, None, "`samples` is missing"),
    ],
)
def test_a_batch_that_does_not_fit_is_refused_when_it_is_added(fresh, first, second, message):
    fresh.add_batch(samples=first)
    with pytest.raises((TypeError, ValueError), match=message):
        fresh.add_batch(samples=second)
    assert len(fresh) == len(first)
    options = {"k": "cosine"} if first is not TEXTS else {}
    assert fresh.compute(**options) == fresh.compute(samples=first, **options)


def test_none_is_no_sample_to_add(fresh):
    with pytest.raises(TypeError, match="`prediction` is missing"):
        fresh.add()
    with pytest.raises(TypeError, match="`prediction` is missing"):
        fresh.add(prediction=None)
    assert len(fresh) == 0


def test_adding_writes_no_files(tmp_path):
    metric = evaluate.load(SCRIPT, cache_dir=str(tmp_path))
    metric.add_batch(samples=TEXTS)
    with pytest.raises(ValueError, match="must have one weight"):
        metric.compute(p=[1.0])
    del metric
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("dumps", [pickle.dumps, pytest.importorskip("dill").dumps])
def test_a_metric_and_its_samples_can_be_pickled(dumps):
    metric = evaluate.load(SCRIPT, q=2)
    metric.add_batch(samples=TEXTS)
    again = pickle.loads(dumps(metric))
    assert again.compute() == metric.compute() == {"VS": score(TEXTS, "ngram_overlap", q=2)}
    metric.add_batch(samples=TEXTS)
    twin = copy.deepcopy(metric)
    assert len(twin) == len(metric) == len(TEXTS)


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
    assert fresh.compute(k="labels", q=0) == {"VS": pytest.approx(8 * 20 * 4)}


def test_each_sample_is_scored_once_whatever_threads_do(fresh):
    counts, stop = [], threading.Event()

    def score_some():
        while not stop.is_set() or len(fresh):
            try:
                counts.append(fresh.compute(k="labels", q=0)["VS"])
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


class TestSuiteOfBothEntries:
    """`evaluate.combine` passes every option to every fresh."""

    @pytest.fixture
    def pair(self, fresh):
        return [fresh, evaluate.load(str(ROOT / "magnitude.py"))]

    @pytest.mark.parametrize(
        ("options", "first", "second"),
        [
            ({"q": 2}, {"q": 2}, {}),
            ({"q": [0, 1], "psd": "clip", "p": np.full(6, 1 / 6)}, None, {}),
            ({"epsilon": 0.1, "n_scales": 5}, {}, {"epsilon": 0.1, "n_scales": 5}),
            ({"t": 2, "q": 2}, {"q": 2}, {"t": 2}),
        ],
        ids=str,
    )
    def test_each_takes_what_is_its_own(self, pair, options, first, second):
        alone = pair[0].compute(samples=X, k="cosine", **(options if first is None else first))
        alone |= pair[1].compute(samples=X, k="cosine", **second)
        suite = evaluate.combine(pair)
        assert suite.compute(predictions=X, k="cosine", **options) == alone
        suite.add_batch(predictions=X[:3])
        for row in X[3:]:
            suite.add(prediction=row)
        assert suite.compute(k="cosine", **options) == pytest.approx(alone)

    def test_a_metric_of_vectors_is_for_the_one_that_looks_at_distances(self, pair):
        rows = evaluate.load(SCRIPT, score_X=True, normalize=True)
        options = {"metric": "minkowski", "exponent": 3}
        result = evaluate.combine([rows, pair[1]]).compute(predictions=X, **options)
        assert result == rows.compute(samples=X) | pair[1].compute(samples=X, **options)

    def test_what_nobody_knows_is_refused_and_so_is_what_would_change_nothing(self, pair):
        with pytest.raises(TypeError, match="`qq`"):
            evaluate.combine(pair).compute(predictions=X, k="cosine", qq=2)
        with pytest.raises(TypeError, match="`epsilon` is an option of MagArea, MagDiff, t_conv"):
            pair[0].compute(predictions=X, epsilon=2)
