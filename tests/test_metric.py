"""The metric inside `evaluate`: every way to load it, to hand it samples, and to combine it."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import textwrap
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import datasets
import evaluate
import numpy as np
import pytest

from vendiscore import score
from vendiscore.arrays import as_samples

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = str(ROOT / "vendiscore.py")
TEXTS = ["Look, Jane.", "See Spot.", "See Spot run.", "Run, Spot, run.", "Jane sees Spot run."]
VS = score(TEXTS, "ngram_overlap")


def python(code: str, cwd: Path, **env: str) -> str:
    """What a fresh Python prints, away from this checkout and without the installed package."""
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": "", "HF_HOME": str(cwd / "hf"), **env},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_loads_by_path_from_another_folder(tmp_path):
    out = python(
        f"""
        import evaluate
        print(evaluate.load({SCRIPT!r}).compute(samples={TEXTS!r})["VS"])
        """,
        tmp_path,
    )
    assert float(out) == VS


def test_loads_by_relative_path_and_by_folder(tmp_path, monkeypatch):
    clone = tmp_path / "vendiscore"
    clone.mkdir()
    for name in ("vendiscore.py", "library.py"):
        shutil.copy(ROOT / name, clone)
    monkeypatch.chdir(tmp_path)
    assert evaluate.load("vendiscore").compute(samples=TEXTS) == {"VS": VS}
    assert evaluate.load("./vendiscore/vendiscore.py").compute(samples=TEXTS) == {"VS": VS}


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


def _one_process(process_id: int, cache: str, queue) -> None:
    metric = evaluate.load(
        SCRIPT, num_process=2, process_id=process_id, experiment_id="pair", cache_dir=cache
    )
    queue.put((process_id, metric.compute(samples=TEXTS[:2] if process_id else TEXTS[2:])))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork of a process with threads
def test_two_processes_are_scored_together(tmp_path):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    workers = [
        context.Process(target=_one_process, args=(i, str(tmp_path), queue)) for i in range(2)
    ]
    for worker in workers:
        worker.start()
    results = dict(queue.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join()
    assert results[1] is None
    assert results[0]["VS"] == pytest.approx(VS)


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
        n_positions=64,
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
