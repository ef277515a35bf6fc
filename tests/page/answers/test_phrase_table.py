"""Repeated phrases in the web app match `vendiscore.phrases`."""

import contextlib
import io

import pytest
from page_answers import json_round_trip, make_samples, score_samples

pytest.importorskip("matplotlib")
from vendiscore import phrases
from vendiscore.support.progress import run_steps
from vendiscore_page.inputs import examples
from vendiscore_page.quotas import RefusedError

TEXTS = [
    *(f"Great question! The answer is {word}." for word in ("red", "two", "Oslo", "in May")),
    *("It depends.", "Nobody knows that.", "Ask me tomorrow, please.", "That is hard to say."),
]


def compute_phrases(values, kernel: str = "", **settings):
    """Return the phrases that the page shows, after a JSON round trip."""
    return json_round_trip(run_steps(score_samples(values, "texts", kernel, **settings).phrases()))


@pytest.mark.parametrize("q", [1, 2, "inf"])
@pytest.mark.parametrize(
    ("options", "keywords"),
    [
        ({}, {}),
        ({"ns": [1, 3]}, {"ns": [1, 3]}),
        ({"ns": [2, 3], "unit": "char"}, {"ns": [2, 3], "analyzer": "char"}),
    ],
)
def test_phrases_match_library(q, options, keywords):
    answer = compute_phrases(TEXTS, q=q, options=options)
    expected = phrases(TEXTS, q=q, **keywords)
    assert answer["phrases"] == expected.to_dict()["phrases"]
    assert answer["sentence"] == expected.sentence
    assert answer["note"] == ""


def test_phrases_are_found_within_groups():
    labels = ["a", "b"] * 4
    answer = compute_phrases(make_samples(TEXTS, groups=labels))
    assert answer["phrases"] == phrases(TEXTS, groups=labels).to_dict()["phrases"]
    assert answer["n_groups"] == 2


def test_phrases_ignore_conditioning_with_note():
    answer = compute_phrases(TEXTS, prompts="What is the answer?")
    assert answer["phrases"] == phrases(TEXTS).to_dict()["phrases"]
    assert answer["note"] == "Costs are computed without conditioning on the prompt."


def test_phrases_omit_unused_samples():
    samples = make_samples([*TEXTS, ""], problems={len(TEXTS): "is empty"})
    answer = compute_phrases(samples, leave_out=True)
    assert answer["n"] == len(TEXTS)


@pytest.mark.parametrize("groups", [(), ["a", "b"] * 4])
def test_code_prints_same_phrases(groups):
    answer = compute_phrases(make_samples(TEXTS, groups=groups), options={"ns": [1, 2]})
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(answer["code"], {})
    expected = phrases(TEXTS, ns=[1, 2], groups=groups or None)
    assert out.getvalue() == f"{expected.to_frame()}\n"


def test_phrases_are_refused_for_order_0_and_other_samples():
    with pytest.raises(RefusedError, match="not available at q = 0; select a larger order"):
        compute_phrases(TEXTS, q=0)
    molecules = examples.MENU["molecules"][0].text.split()
    result = score_samples(make_samples(molecules, "molecules"), kernel="morgan")
    with pytest.raises(RefusedError, match="only available for texts, not for molecules"):
        run_steps(result.phrases())


def test_large_sets_take_long():
    assert not score_samples(TEXTS).phrases_take_long
    texts = [f"{i} of {i % 7} words" for i in range(300)]
    assert score_samples(texts).phrases_take_long
