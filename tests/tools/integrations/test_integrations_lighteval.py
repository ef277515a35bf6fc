"""The lighteval metric, run by lighteval on the example task."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from vendiscore import compute

pytest.importorskip("lighteval")

import lighteval_task
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.dummy.dummy_model import DummyModel, DummyModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.pipeline import ParallelismManager, Pipeline, PipelineParameters
from lighteval.tasks.registry import Registry
from lighteval_task import VendiScore, vendi_score

ANSWERS = [
    ["the sea rose", "the sea rose", "the sea fell", "no light"],
    ["an umbrella", "a book", "an umbrella and a book", "a child"],
    ["Loaf", "Loaf", " ", ""],
]
GROUPS = [*ANSWERS[:2], ["Loaf", "Loaf", "∅", "∅"]]


class PredefinedModel(DummyModel):
    """A model that returns the requested number of predefined answers."""

    def greedy_until(self, docs):
        return [ModelResponse(text=ANSWERS[int(doc.id)][: doc.num_samples]) for doc in docs]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs the example with a model and returns the metrics of the task."""
    # Some built-in tasks of lighteval download files on import.
    for name in ("_load_from_files", "_load_from_subdirs"):
        monkeypatch.setattr(Registry, name, staticmethod(lambda *others: {}))

    def run(model):
        pipeline = Pipeline(
            tasks="diversity|0",
            pipeline_parameters=PipelineParameters(
                launcher_type=ParallelismManager.NONE,
                custom_tasks_directory=lighteval_task.__file__,
            ),
            evaluation_tracker=EvaluationTracker(output_dir=str(tmp_path)),
            model=model(DummyModelConfig(cache_dir=str(tmp_path))),
        )
        pipeline.evaluate()
        return pipeline.evaluation_tracker.metrics_logger.metric_aggregated["diversity|0"]

    return run


def test_metric_is_the_mean_over_prompts_with_standard_error(run):
    result = run(PredefinedModel)
    expected = compute(GROUPS)
    assert result["vendi_score"] == pytest.approx(expected["VS"], rel=1e-12)
    assert result["vendi_score_stderr"] == pytest.approx(expected["VS_se"], rel=1e-12)


def test_model_with_too_few_generations_raises(run):
    with pytest.raises(ValueError, match=r"expected 4 generations .*got 1; use a model that"):
        run(DummyModel)


def test_metric_uses_post_processed_generations():
    metric = vendi_score(4, "order 2", q=2)
    response = ModelResponse(text=["<think>…</think> a"] * 4, text_post_processed=GROUPS[0])
    result = metric.compute_sample(doc=None, model_response=response)
    assert result == {"order 2": compute(GROUPS[0], q=2)["VS_q2"]}


def test_example_data_folder_exists():
    assert Path(lighteval_task.TASKS_TABLE[0].hf_repo).is_dir()


def test_given_prompt_uses_the_query():
    document = SimpleNamespace(query="what of the sea?")
    answers = SimpleNamespace(final_text=ANSWERS[0])
    result = VendiScore(4, given_prompt=True).compute(document, answers)
    assert result == compute(ANSWERS[0], prompts="what of the sea?", given_prompt=True)["VS"]
