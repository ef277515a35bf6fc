"""Texts have a score by wording and one by meaning, which match the library."""

import pytest
from page_answers import json_round_trip, make_samples, score_samples

from vendiscore import compute
from vendiscore.scoring.typical import NGRAM_LIMITS
from vendiscore.support.progress import run_steps
from vendiscore_page.answers import api, offered_encoders, one_set
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.quotas import RefusedError

TEXTS = ["The cat sat.", "A cat was sitting.", "The cat sat down.", "Stocks fell.", "It rains."] * 2
TEXTS += ["Shares dropped sharply.", "Rain is falling."]
PROMPT = "Tell me what happened to the cat."
WORDING = {"k": "ngram_overlap"}
MEANING = offered_encoders.ALLOWED["texts"]["MiniLM"]


@pytest.mark.usefixtures("cached_encoders")
@pytest.mark.parametrize("q", [1, 2, "inf"])
@pytest.mark.parametrize(
    ("kernel", "first_options", "second_options"),
    [("ngram_overlap", WORDING, MEANING), ("MiniLM", MEANING, WORDING)],
)
def test_both_scores_match_compute(kernel, first_options, second_options, q):
    result = score_samples(TEXTS, kernel=kernel, q=q)
    first, second = (
        compute(TEXTS, **kernel_options, q=q, ci=0.95)
        for kernel_options in (first_options, second_options)
    )
    key = next(iter(first))
    second_answer = json_round_trip(run_steps(result.second()))
    assert result.answer[key] == pytest.approx(first[key], rel=1e-6)
    assert second_answer[key] == pytest.approx(second[key], rel=1e-6)
    for suffix in ("se", "low", "high"):
        assert second_answer[suffix] == pytest.approx(second[f"{key}_{suffix}"], rel=1e-4)
    names = {"k": "wording (n-grams)", "model_path": "meaning (MiniLM)"}
    first_name, second_name = (
        names["model_path" if "model_path" in kernel_options else "k"]
        for kernel_options in (first_options, second_options)
    )
    assert result.answer["second"] == {"own": first_name, "by": second_name}
    assert (
        second_answer["sentence"]
        == f"{first[key]:.1f} by {first_name}, {second[key]:.1f} by {second_name}"
    )
    assert any("95 % interval" in note for note in second_answer["notes"])


@pytest.mark.usefixtures("cached_encoders")
def test_code_prints_both_scores(capsys):
    result = score_samples(TEXTS, kernel="ngram_overlap", q=2)
    first_code = result.answer["code"]
    second_answer = run_steps(result.second())
    assert second_answer["code"].startswith(f"{first_code}\n")
    assert result.papers()["code"] == second_answer["code"]
    exec(second_answer["code"], {})
    first, second = map(eval, capsys.readouterr().out.splitlines()[-2:])
    assert first["VS_q2"] == result.answer["VS_q2"]
    assert second["VS_q2"] == pytest.approx(second_answer["VS_q2"], rel=1e-6)
    assert first_code == api.vendi_score_texts(TEXTS, q=2)["code"]


@pytest.mark.usefixtures("cached_encoders")
def test_score_of_second_kernel_is_conditioned_on_prompt():
    result = score_samples(TEXTS, kernel="MiniLM", prompts=PROMPT)
    second_answer = run_steps(result.second())
    assert second_answer["sentence"].endswith("by wording (n-grams), conditioned on the prompt")
    expected = compute(TEXTS, **WORDING, prompts=[PROMPT], given_prompt=True)["VS"]
    assert second_answer["VS"] == pytest.approx(expected, rel=1e-12)
    assert second_answer["VS"] != pytest.approx(compute(TEXTS, **WORDING)["VS"], rel=1e-6)


@pytest.mark.usefixtures("cached_encoders")
def test_score_of_second_kernel_is_mean_over_groups():
    samples = make_samples(TEXTS, groups=list("aaabbbcccddd"))
    result = score_samples(samples, kernel="ngram_overlap")
    nested = [TEXTS[i : i + 3] for i in range(0, 12, 3)]
    second_answer = run_steps(result.second())
    assert second_answer["VS"] == pytest.approx(compute(nested, **MEANING)["VS"], rel=1e-6)


@pytest.mark.usefixtures("cached_encoders")
def test_first_answer_does_not_run_encoder(monkeypatch):
    monkeypatch.setattr(offered_encoders, "compute_similarity", None)
    result = score_samples(TEXTS, kernel="ngram_overlap")
    assert result.second_is_long
    assert not score_samples(TEXTS, kernel="ngram_overlap").answer["second"].keys() - {"own", "by"}


@pytest.mark.usefixtures("cached_encoders")
def test_score_of_second_kernel_is_computed_once():
    result = score_samples([f"{text} Once." for text in TEXTS], kernel="ngram_overlap")
    assert next(iter(result.second())) == "Encoding: 0 of 7 done."
    second_answer = run_steps(result.second())
    assert not result.second_is_long
    assert list(result.second()) == []
    assert run_steps(result.second()) is second_answer


@pytest.mark.usefixtures("cached_encoders")
def test_samples_other_than_texts_have_one_score():
    molecules = run_steps(one_set.score(make_samples(["CCO", "CCC"], "molecules"), Settings()))
    assert molecules.answer["second"] is None
    with pytest.raises(RefusedError, match="Only one kernel"):
        run_steps(molecules.second())
    assert score_samples(["alone"]).answer["second"] is None


def test_missing_encoder_adds_hint_about_ngram_limits(monkeypatch):
    monkeypatch.setattr(offered_encoders, "list_offered", lambda kind: {})
    answer = score_samples(TEXTS, kernel="ngram_overlap").answer
    assert answer["second"] is None
    hint = 'To compare meaning, use the Python package: vendiscore.compute(texts, k="semantic").'
    assert answer["wording"] == f"{NGRAM_LIMITS} {hint}"


@pytest.mark.usefixtures("cached_encoders")
def test_ngram_limits_are_noted_with_encoder():
    assert score_samples(TEXTS, kernel="ngram_overlap").answer["wording"] == NGRAM_LIMITS
    assert score_samples(TEXTS, kernel="MiniLM").answer["wording"] == ""
    notes = run_steps(score_samples(TEXTS, kernel="MiniLM").second())["notes"]
    assert NGRAM_LIMITS in notes
