"""The metric of inspect_ai, run by inspect_ai itself on the task of the examples."""

import math
from importlib.metadata import entry_points

import pytest

from vendiscore import compute

inspect_ai = pytest.importorskip("inspect_ai")

from inspect_ai import score as rescored  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.scorer import SampleScore, Score, Target, accuracy, includes, scorer  # noqa: E402
from inspect_task import QUESTIONS, diversity  # noqa: E402

from vendiscore.tools.integrations.inspect import completion, vendi_score  # noqa: E402

pytestmark = [  # of inspect_ai itself
    pytest.mark.filterwarnings("ignore:The .initial. parameter is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Unclosed <Memory:ResourceWarning"),
]

ANSWERS = [
    ["Mars is a planet.", "Mars is a planet.", "Venus is a planet.", "The sun?"],
    ["Red is a colour.", "", "Blue", "  "],
]
GROUPS = [ANSWERS[0], ["Red is a colour.", "∅", "Blue", "∅"]]


def ready():
    """Return a model that has its answers to each question ready."""
    answers = dict(zip(QUESTIONS, map(iter, ANSWERS), strict=True))

    def answer(messages, *others):
        output = ModelOutput.from_content("mockllm/model", next(answers[messages[-1].text]))
        output.usage = ModelUsage()  # else counted, by a tokenizer that would be fetched
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


@pytest.fixture
def run(tmp_path):
    """Evaluate a task; its log."""

    def run(task, **options):
        (log,) = inspect_ai.eval(
            task, model=ready(), log_dir=str(tmp_path), display="none", **options
        )
        assert log.status == "success", log.error
        return log

    return run


def numbers(log):
    """Return the numbers of a log, whose metrics may be reduced over epochs or not."""
    return {
        name: value.value for each in log.results.scores for name, value in each.metrics.items()
    }


@pytest.mark.parametrize("display", [False, True])
def test_inspect_finds_the_mean_over_samples_and_its_error(run, display):
    result = numbers(run(diversity(), score_display=display))
    expected = compute(GROUPS, ns=(1, 2))
    assert result["VS"] == pytest.approx(expected["VS"], rel=1e-12)
    assert result["VS_se"] == pytest.approx(expected["VS_se"], rel=1e-12)
    assert result["samples"] == 2
    assert result["accuracy"] == pytest.approx(4 / 8)


def test_a_log_is_scored_again_with_the_same_options(run):
    log = run(diversity())
    again = rescored(log, includes(), display="none")
    assert numbers(again)["VS"] == numbers(log)["VS"]


def test_one_epoch_has_no_diversity(run):
    result = numbers(run(diversity(epochs=1)))
    assert math.isnan(result["VS"])
    assert result["samples"] == 0


def test_the_whole_completion_is_kept_by_the_scorer(run):
    task = diversity()
    task.scorer, task.metrics = [completion()], None
    result = numbers(run(task))
    assert result["VS"] == pytest.approx(compute(GROUPS)["VS"], rel=1e-12)


def test_a_scorer_without_answers_gives_no_number(run):
    @scorer(metrics=[vendi_score(), accuracy()])
    def silent():
        async def score(state, target: Target) -> Score:
            return Score(value="C")

        return score

    task = diversity()
    task.scorer, task.metrics = [silent()], None
    result = numbers(run(task))
    assert math.isnan(result["VS"])
    assert result["accuracy"] == 1


def scores(answers):
    """Return scores as inspect_ai hands them over, in epochs: sample by sample, with holes."""
    rows = [(i, text) for i, own in enumerate(answers) for text in own]
    return [SampleScore(score=Score(value=1, answer=text), sample_id=i) for i, text in rows]


def test_samples_without_two_answers_are_left_out_and_counted():
    result = vendi_score(q=2)(scores([["a", "b"], ["c"], ["d", None]]))
    expected = compute([["a", "b"], ["d", "∅"]], q=2)
    assert result == {**expected, "samples": 2}


def test_keys_name_an_order_other_than_1_where_nothing_is_scored_too():
    assert list(vendi_score(q=2)(scores([["a", "b"]] * 2))) == ["VS_q2", "VS_q2_se", "samples"]
    alone = vendi_score(q=2, measures=["VS", "IntDiv"])(scores([["a"]]))
    assert list(alone) == ["VS_q2", "IntDiv", "samples"]
    assert math.isnan(alone["VS_q2"])
    assert alone["samples"] == 0
    with pytest.raises(KeyError, match="no key 'VS' for q=2"):
        alone["VS"]


def test_keywords_are_read_when_the_metric_is_made():
    with pytest.raises(TypeError, match="unknown keyword 'nss'"):
        vendi_score(nss=1)
    with pytest.raises(ValueError, match="`details` is not supported in an evaluation"):
        vendi_score(details=True)


def test_inspect_finds_it_by_its_entry_point():
    (point,) = entry_points(group="inspect_ai", name="vendiscore")
    assert point.load().vendi_score is vendi_score


def test_the_prompt_may_be_taken_out():
    prompts = ["Which planet?", "Which colour?"]
    scores = [
        SampleScore(
            score=Score(value=1, answer=text, metadata={"prompt": prompt}), sample_id=prompt
        )
        for prompt, group in zip(prompts, GROUPS, strict=True)
        for text in group
    ]
    result = vendi_score(given_prompt=True)(scores)
    assert result["VS"] == pytest.approx(compute(GROUPS, prompts=prompts, given_prompt=True)["VS"])
    bare = [SampleScore(score=Score(value=1, answer=text), sample_id=1) for text in GROUPS[0]]
    with pytest.raises(ValueError, match="use the scorer `completion`"):
        vendi_score(given_prompt=True)(bare)
