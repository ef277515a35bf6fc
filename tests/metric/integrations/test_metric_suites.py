"""The metric among others: `evaluate.combine`, `evaluator` and `EvaluationSuite`."""

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


def test_combines_with_a_metric_that_needs_references(exact_match):
    suite = evaluate.combine([exact_match, SCRIPT])
    result = suite.compute(predictions=TEXTS, references=[*TEXTS[:4], "no"])
    assert result == {"exact_match": 0.8, "VS": VS}
    for text in TEXTS:
        suite.add(prediction=text, reference=text)
    assert suite.compute() == {"exact_match": 1.0, "VS": pytest.approx(VS)}


def test_options_of_another_metric_are_not_ours(exact_match):
    suite = evaluate.combine([exact_match, SCRIPT])
    references = [text.upper() for text in TEXTS]
    pairs = {"predictions": TEXTS, "references": references}
    # `tokenize` is an option of our kernel "bleu", too, which is not the one that is used.
    result = suite.compute(**pairs, ignore_case=True, tokenize="x")
    assert result == {"exact_match": 1.0, "VS": VS}
    with pytest.raises(TypeError, match="unknown keyword 'ignore_cas'"):
        evaluate.combine([SCRIPT, exact_match]).compute(**pairs, ignore_cas=True)
    with pytest.raises(TypeError, match="'ignore_case'"):  # of no suite
        evaluate.load(SCRIPT).compute(**pairs, ignore_case=True)


def test_two_configurations_in_one_suite():
    words = evaluate.load(SCRIPT, q=1)
    characters = evaluate.load(SCRIPT, k="ngram_overlap", analyzer="char", ns=[2], q=2)
    assert evaluate.combine([words, characters]).compute(predictions=TEXTS) == {
        "VS": VS,
        "VS_q2": score(TEXTS, "ngram_overlap", q=2, analyzer="char", ns=[2]),
    }
    assert evaluate.combine({"words": words, "characters": characters}).compute(
        predictions=TEXTS
    ).keys() == {"VS", "VS_q2"}
    same_order = evaluate.load(SCRIPT, k="ngram_overlap", analyzer="char", ns=[2])
    assert evaluate.combine({"words": words, "characters": same_order}).compute(
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


@pytest.mark.filterwarnings("ignore")
def test_the_suite_of_the_examples_measures_each_kind_of_prompts(tiny_generator):
    model, tokenizer = tiny_generator
    suite = evaluate.EvaluationSuite.load(str(ROOT / "examples" / "suites" / "diversity_suite.py"))
    for task in suite.suite:
        task.args_for_task["tokenizer"] = tokenizer
    result = suite.run(model)
    assert [Path(each["task_name"]).name for each in result] == ["stories", "advice"]
    for each in result:
        assert set(PRESETS["text"].measures) <= each.keys()
        assert 1 <= each["VS"] <= 12


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_metric_to_be_combined(name, exact_match):
    """Among others, and with the numbers of the library."""
    preset = PRESETS[name]
    X, Y = (TEXTS, TEXTS[::-1]) if name == "text" else (POINTS, POINTS[::-1] + 0.1)
    how = {} if name == "text" else {"k": "rbf", "sigma": 1.0}
    if name == "novelty":
        how["quality"] = list(range(len(X)))
    metric = evaluate.load(SCRIPT, measures=name, **how)
    measures = map(get_measure, preset.measures)
    pairs = any(each.references or each.references_without for each in measures)
    alone = compute(X, Y if pairs else None, measures=name, **how)
    beside = ("_null", "_excess")
    assert [key for key in alone if not key.endswith(beside)] == list(preset.measures)
    if name == "text":
        suite = evaluate.combine([exact_match, metric])
        assert suite.compute(predictions=X, references=Y) == alone | {"exact_match": 0.2}
    suite = evaluate.combine([metric])
    assert suite.compute(predictions=X, references=Y) == alone


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
        with pytest.raises(TypeError, match="'qq'"):
            evaluate.combine(pair).compute(predictions=X, k="cosine", qq=2)
        with pytest.raises(TypeError, match="`epsilon` is an option of MagArea, MagDiff, t_conv"):
            pair[0].compute(predictions=X, epsilon=2)
