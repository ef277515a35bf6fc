"""The inspect_ai metric, run by inspect_ai on the example task."""

import math
from importlib.metadata import entry_points

import pytest

from vendiscore import compute

inspect_ai = pytest.importorskip("inspect_ai")

from inspect_ai import score as rescore  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.scorer import SampleScore, Score, Target, accuracy, includes, scorer  # noqa: E402
from inspect_task import QUESTIONS, diversity  # noqa: E402

from vendiscore.tools.integrations.inspect import completion, vendi_score  # noqa: E402

pytestmark = [  # warnings of inspect_ai
    pytest.mark.filterwarnings("ignore:The .initial. parameter is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Unclosed <Memory:ResourceWarning"),
]

ANSWERS = [
    ["Mars is a planet.", "Mars is a planet.", "Venus is a planet.", "The sun?"],
    ["Red is a colour.", "", "Blue", "  "],
]
GROUPS = [ANSWERS[0], ["Red is a colour.", "∅", "Blue", "∅"]]


def mock_model():
    """Return a model with predefined answers to each question."""
    answers = dict(zip(QUESTIONS, map(iter, ANSWERS), strict=True))

    def answer(messages, *arguments):
        output = ModelOutput.from_content("mockllm/model", next(answers[messages[-1].text]))
        output.usage = ModelUsage()  # otherwise a tokenizer would be downloaded to count tokens
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


@pytest.fixture
def run(tmp_path):
    """Return a function that evaluates a task and returns its log."""

    def run(task, **options):
        (log,) = inspect_ai.eval(
            task, model=mock_model(), log_dir=str(tmp_path), display="none", **options
        )
        assert log.status == "success", log.error
        return log

    return run


def metric_values(log):
    """Return the metric values of a log, with or without reduction over epochs."""
    return {
        name: value.value for score in log.results.scores for name, value in score.metrics.items()
    }


@pytest.mark.parametrize("display", [False, True])
def test_metric_is_the_mean_over_samples_with_standard_error(run, display):
    result = metric_values(run(diversity(), score_display=display))
    expected = compute(GROUPS, ns=(1, 2))
    assert result["VS"] == pytest.approx(expected["VS"], rel=1e-12)
    assert result["VS_se"] == pytest.approx(expected["VS_se"], rel=1e-12)
    assert result["samples"] == 2
    assert result["accuracy"] == pytest.approx(4 / 8)


def test_rescored_log_uses_the_same_options(run):
    log = run(diversity())
    rescored_log = rescore(log, includes(), display="none")
    assert metric_values(rescored_log)["VS"] == metric_values(log)["VS"]


def test_single_epoch_gives_nan(run):
    result = metric_values(run(diversity(epochs=1)))
    assert math.isnan(result["VS"])
    assert result["samples"] == 0


def test_scorer_completion_keeps_the_full_answer(run):
    task = diversity()
    task.scorer, task.metrics = [completion()], None
    result = metric_values(run(task))
    assert result["VS"] == pytest.approx(compute(GROUPS)["VS"], rel=1e-12)


def test_scorer_without_answers_gives_nan(run):
    @scorer(metrics=[vendi_score(), accuracy()])
    def silent():
        async def score(state, target: Target) -> Score:
            return Score(value="C")

        return score

    task = diversity()
    task.scorer, task.metrics = [silent()], None
    result = metric_values(run(task))
    assert math.isnan(result["VS"])
    assert result["accuracy"] == 1


def sample_scores(answers):
    """Return scores as passed by inspect_ai: one per sample and epoch."""
    rows = [(i, text) for i, texts in enumerate(answers) for text in texts]
    return [SampleScore(score=Score(value=1, answer=text), sample_id=i) for i, text in rows]


def test_samples_with_fewer_than_two_answers_are_ignored():
    result = vendi_score(q=2)(sample_scores([["a", "b"], ["c"], ["d", None]]))
    expected = compute([["a", "b"], ["d", "∅"]], q=2)
    assert result == {**expected, "samples": 2}


def test_keys_contain_the_order_even_without_scored_samples():
    result = vendi_score(q=2)(sample_scores([["a", "b"]] * 2))
    assert list(result) == ["VS_q2", "VS_q2_se", "samples"]
    nan_result = vendi_score(q=2, measures=["VS", "IntDiv"])(sample_scores([["a"]]))
    assert list(nan_result) == ["VS_q2", "IntDiv", "samples"]
    assert math.isnan(nan_result["VS_q2"])
    assert nan_result["samples"] == 0
    with pytest.raises(KeyError, match="no key 'VS' for q=2"):
        nan_result["VS"]


def test_metric_validates_keywords_when_created():
    with pytest.raises(TypeError, match="unknown keyword 'nss'"):
        vendi_score(nss=1)
    with pytest.raises(ValueError, match="`details` is not supported in an evaluation"):
        vendi_score(details=True)


def test_package_has_entry_point_for_inspect():
    (point,) = entry_points(group="inspect_ai", name="vendiscore")
    assert point.load().vendi_score is vendi_score


def test_given_prompt_uses_prompts_of_the_scorer():
    prompts = ["Which planet?", "Which colour?"]
    samples = [
        SampleScore(
            score=Score(value=1, answer=text, metadata={"prompt": prompt}), sample_id=prompt
        )
        for prompt, group in zip(prompts, GROUPS, strict=True)
        for text in group
    ]
    result = vendi_score(given_prompt=True)(samples)
    assert result["VS"] == pytest.approx(compute(GROUPS, prompts=prompts, given_prompt=True)["VS"])
    without_prompt = [
        SampleScore(score=Score(value=1, answer=text), sample_id=1) for text in GROUPS[0]
    ]
    with pytest.raises(ValueError, match="use the scorer `completion`"):
        vendi_score(given_prompt=True)(without_prompt)
