"""The metric in `evaluate.combine`, `evaluator` and `EvaluationSuite`."""

import textwrap
from pathlib import Path

import datasets
import evaluate
import numpy as np
import pytest

from vendiscore import compute, score
from vendiscore.measures.measure import get_measure
from vendiscore.resolve.presets import PRESETS

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = str(ROOT / "vendiscore.py")
TEXTS = ["Look, Jane.", "See Spot.", "See Spot run.", "Run, Spot, run.", "Jane sees Spot run."]
VS = score(TEXTS, "ngram_overlap")
X = np.random.default_rng(0).standard_normal((6, 3))
POINTS = np.random.default_rng(1).standard_normal((12, 3))


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

    def _compute(self, predictions, references, ignore_case=False, tokenize=None):
        fold = str.lower if ignore_case else str
        same = [fold(a) == fold(b) for a, b in zip(predictions, references)]
        return {"exact_match": sum(same) / len(same)}
"""


@pytest.fixture
def exact_match(tmp_path):
    path = tmp_path / "exact_match.py"
    path.write_text(LOCAL_METRIC)
    return str(path)


def test_metric_combines_with_reference_based_metric(exact_match):
    suite = evaluate.combine([exact_match, SCRIPT])
    result = suite.compute(predictions=TEXTS, references=[*TEXTS[:4], "no"])
    assert result == {"exact_match": 0.8, "VS": VS}
    for text in TEXTS:
        suite.add(prediction=text, reference=text)
    assert suite.compute() == {"exact_match": 1.0, "VS": pytest.approx(VS)}


def test_options_of_other_metric_are_ignored_only_in_suite(exact_match):
    suite = evaluate.combine([exact_match, SCRIPT])
    references = [text.upper() for text in TEXTS]
    pairs = {"predictions": TEXTS, "references": references}
    # `tokenize` is also an option of the kernel "bleu", which is not used here.
    result = suite.compute(**pairs, ignore_case=True, tokenize="x")
    assert result == {"exact_match": 1.0, "VS": VS}
    with pytest.raises(TypeError, match="unknown keyword 'ignore_cas'"):
        evaluate.combine([SCRIPT, exact_match]).compute(**pairs, ignore_cas=True)
    with pytest.raises(TypeError, match="'ignore_case'"):  # without a suite
        evaluate.load(SCRIPT).compute(**pairs, ignore_case=True)


def test_suite_combines_two_configurations():
    word_metric = evaluate.load(SCRIPT, q=1)
    character_metric = evaluate.load(SCRIPT, k="ngram_overlap", analyzer="char", ns=[2], q=2)
    assert evaluate.combine([word_metric, character_metric]).compute(predictions=TEXTS) == {
        "VS": VS,
        "VS_q2": score(TEXTS, "ngram_overlap", q=2, analyzer="char", ns=[2]),
    }
    assert evaluate.combine({"words": word_metric, "characters": character_metric}).compute(
        predictions=TEXTS
    ).keys() == {"VS", "VS_q2"}
    character_metric_order_1 = evaluate.load(SCRIPT, k="ngram_overlap", analyzer="char", ns=[2])
    assert evaluate.combine({"words": word_metric, "characters": character_metric_order_1}).compute(
        predictions=TEXTS
    ).keys() == {"words_VS", "characters_VS"}


@pytest.fixture(scope="module")
def tiny_generator(tmp_path_factory):
    """Small GPT-2 model with random weights, and its word tokenizer."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["<eos>", *sorted({word for text in TEXTS for word in text.split()})]
    word_tokenizer = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<eos>")
    )
    word_tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=word_tokenizer, eos_token="<eos>", pad_token="<eos>", unk_token="<eos>"
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


# evaluate 0.4.6 and transformers emit deprecation warnings.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strategy", ["simple", "bootstrap"])
def test_evaluator_scores_generated_texts(tiny_generator, strategy):
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
def test_evaluation_suite_scores_generated_texts(tiny_generator, tmp_path):
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


@pytest.mark.filterwarnings("ignore")
def test_example_suite_scores_all_prompt_types(tiny_generator):
    model, tokenizer = tiny_generator
    suite = evaluate.EvaluationSuite.load(str(ROOT / "examples" / "suites" / "diversity_suite.py"))
    for task in suite.suite:
        task.args_for_task["tokenizer"] = tokenizer
    result = suite.run(model)
    assert [Path(task_result["task_name"]).name for task_result in result] == ["stories", "advice"]
    for task_result in result:
        assert set(PRESETS["text"].measures) <= task_result.keys()
        assert 1 <= task_result["VS"] <= 12


@pytest.mark.parametrize("name", PRESETS)
def test_presets_work_in_combined_metrics(name, exact_match):
    """The metric returns the scores of `compute`, also in a suite."""
    preset = PRESETS[name]
    X, Y = (TEXTS, TEXTS[::-1]) if name == "text" else (POINTS, POINTS[::-1] + 0.1)
    options = {} if name == "text" else {"k": "rbf", "sigma": 1.0}
    if name == "novelty":
        options["quality"] = list(range(len(X)))
    metric = evaluate.load(SCRIPT, measures=name, **options)
    measures = map(get_measure, preset.measures)
    needs_references = any(measure.references or measure.references_without for measure in measures)
    expected = compute(X, Y if needs_references else None, measures=name, **options)
    null_suffixes = ("_null", "_excess")
    assert [key for key in expected if not key.endswith(null_suffixes)] == list(preset.measures)
    if name == "text":
        suite = evaluate.combine([exact_match, metric])
        assert suite.compute(predictions=X, references=Y) == expected | {"exact_match": 0.2}
    suite = evaluate.combine([metric])
    assert suite.compute(predictions=X, references=Y) == expected


class TestSuiteOfBothMetrics:
    """`evaluate.combine` passes all options to all metrics."""

    @pytest.fixture
    def both_metrics(self, fresh):
        return [fresh, evaluate.load(str(ROOT / "magnitude.py"))]

    @pytest.mark.parametrize(
        ("options", "vendi_options", "magnitude_options"),
        [
            ({"q": 2}, {"q": 2}, {}),
            ({"q": [0, 1], "psd": "clip", "p": np.full(6, 1 / 6)}, None, {}),
            ({"epsilon": 0.1, "n_scales": 5}, {}, {"epsilon": 0.1, "n_scales": 5}),
            ({"t": 2, "q": 2}, {"q": 2}, {"t": 2}),
        ],
        ids=str,
    )
    def test_options_are_routed_to_metrics_that_support_them(
        self, both_metrics, options, vendi_options, magnitude_options
    ):
        expected = both_metrics[0].compute(
            samples=X, k="cosine", **(options if vendi_options is None else vendi_options)
        )
        expected |= both_metrics[1].compute(samples=X, k="cosine", **magnitude_options)
        suite = evaluate.combine(both_metrics)
        assert suite.compute(predictions=X, k="cosine", **options) == expected
        suite.add_batch(predictions=X[:3])
        for row in X[3:]:
            suite.add(prediction=row)
        assert suite.compute(k="cosine", **options) == pytest.approx(expected)

    def test_distance_options_go_only_to_magnitude_metric(self, both_metrics):
        vendi_metric = evaluate.load(SCRIPT, score_X=True, normalize=True)
        options = {"metric": "minkowski", "exponent": 3}
        result = evaluate.combine([vendi_metric, both_metrics[1]]).compute(predictions=X, **options)
        assert result == vendi_metric.compute(samples=X) | both_metrics[1].compute(
            samples=X, **options
        )

    def test_unknown_and_ineffective_options_are_rejected(self, both_metrics):
        with pytest.raises(TypeError, match="'qq'"):
            evaluate.combine(both_metrics).compute(predictions=X, k="cosine", qq=2)
        with pytest.raises(TypeError, match="`epsilon` is an option of MagArea, MagDiff, t_conv"):
            both_metrics[0].compute(predictions=X, epsilon=2)
