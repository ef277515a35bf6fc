"""Calls of the API: their lanes, arguments and errors."""

import base64

import hostile_files
import pytest

pytest.importorskip("starlette")
pytest.importorskip("PIL")

from vendiscore.support.progress import run_steps
from vendiscore_page.quotas import RefusedError
from vendiscore_page.serving import api_calls
from vendiscore_page.serving.lanes import SHORT, TINY
from vendiscore_page.serving.workers import run_here

LARGE_IMAGE = base64.b64encode(hostile_files.encode_webp(7_000)).decode()


@pytest.fixture
def calls():
    return api_calls.ApiCalls(run_here)


@pytest.mark.parametrize(
    ("sent", "lane"),
    [
        ({"texts": ["a"] * 90, "kernel": "ngram_overlap"}, "tiny"),
        ({"texts": ["a"] * 300, "kernel": "ngram_overlap"}, "short"),
        ({"texts": ["a few words"] * 900, "kernel": "ngram_overlap"}, "short"),
        ({"smiles": ["C"], "kernel": "morgan"}, "short"),
        ({"rows": [[1.0] * 90] * 90, "kernel": "K"}, "tiny"),
        ({"texts": [["a few words"] * 500] * 4, "kernel": "ngram_overlap"}, "middle"),
        ({"texts": ["a"], "kernel": "MiniLM"}, "long"),
        ({"rows": [[1.0] * 100] * 900, "kernel": "cosine"}, "short"),
        ({"rows": [[1.0] * 500] * 900, "kernel": "cosine"}, "middle"),
        ({"sets": [["a"], ["b"]], "kernel": "ngram_overlap"}, "middle"),
        ({"sets": [{"model": "a", "image": LARGE_IMAGE}] * 10, "kind": "images"}, "long"),
        ({"sets": [["a"], ["b"]], "kernel": "DINOv2"}, "long"),
        ({"texts": None, "kernel": []}, "tiny"),
        ({"images": [LARGE_IMAGE], "kernel": "pixels"}, "long"),
    ],
)
def test_lane_depends_on_size_and_kernel_of_call(sent, lane):
    assert api_calls._choose_lane(sent) == lane


def test_prepared_call_returns_result_of_function(calls):
    lane, steps = calls.prepare("vendi_score_texts", {"texts": ["a b", "c d"], "q": 2})
    assert lane == TINY
    assert run_steps(steps)["VS_q2"] == pytest.approx(2)
    assert calls.prepare("vendi_score_molecules", {"smiles": ["C"]})[0] == SHORT


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("vendi_score_texts", {"text": ["a"]}, "Unknown argument 'text'; pick one of texts, "),
        ("vendi_score_texts", {}, "vendi_score_texts requires the argument `texts`"),
        ("vendi_score_sounds", {}, "Unknown function 'vendi_score_sounds'; pick one of vendi_"),
    ],
)
def test_invalid_calls_are_rejected_before_they_run(calls, name, arguments, message):
    with pytest.raises(RefusedError, match=message):
        calls.prepare(name, arguments)


def test_errors_of_functions_suggest_arguments_of_the_api(calls):
    _, steps = calls.prepare("vendi_score_vectors", {"rows": [[2, 1], [1, 2]], "kernel": "K"})
    with pytest.raises(ValueError, match="normalize=True") as caught:
        run_steps(steps)
    text, status = calls.describe_error(caught.value, "vendi_score_vectors")
    assert status == 422
    assert ", as an argument of the tool `compute` (2 samples" in text
    assert calls.describe_error(KeyError("secret"), "compute")[1] == 500
