"""Default kernel and second score for texts that the encoder does not suit."""

from collections import OrderedDict

import pytest
from page_answers import compare_as_json, json_round_trip, make_samples, score_samples

from vendiscore import compute
from vendiscore.support.progress import run_steps
from vendiscore_page.answers import kernel_menu, offered_encoders, one_set, sample_readout
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs import uploads
from vendiscore_page.inputs.submission import UserInput
from vendiscore_page.quotas import RefusedError

PROTEINS = [
    "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ",
    "MKTAYIAKQRQISFVKSHFSRQLEERLGMIEVQ",
    "GSHMASMTGGQQMGRGSEFELRRQACGRTLVDK",
    "MENFQKVEKIGEGTYGVVYKARNKLTGEVVALK",
]
JAPANESE = ["猫がソファで寝ている。", "今日は株価が急落した。", "彼女は毎晩バイオリンを弾く。"]
LETTERS = {"k": "ngram_overlap", "analyzer": "char"}
UNSUITED = {
    "the samples are sequences of letters (proteins or DNA)": PROTEINS,
    "the texts are mostly Japanese": JAPANESE,
    "the samples look like identifiers or numbers": ["user_1", "user_2", "order-77"],
    "the samples look like SMILES of molecules": ["CC(=O)O", "c1ccccc1", "CCBr", "C1CC1"],
}

pytestmark = [
    pytest.mark.usefixtures("cached_encoders"),
    pytest.mark.filterwarnings("ignore:.*script without spaces between words"),
    pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' represents"),
]


def read_upload(name: str, text: str):
    return uploads.read(UserInput([(name, text.encode())], ""))


@pytest.mark.parametrize(("reason", "texts"), UNSUITED.items())
def test_unsuited_texts_use_ngrams_and_give_reason(reason, texts):
    result = run_steps(one_set.score(make_samples(texts), Settings()))
    assert result.answer["kernel"] == "ngram_overlap"
    assert json_round_trip(result.answer)["second"]["sentence"] == (
        f"Score by meaning: not computed, because {reason}; the model (MiniLM) is for English text"
    )
    assert not result.second_is_long
    with pytest.raises(RefusedError, match="Score by meaning: not computed, because the "):
        run_steps(result.second())
    assert "semantic" not in result.answer["wording"]
    preview = sample_readout.read_answer(make_samples(texts))
    assert preview["kernel"] == "ngram_overlap"
    assert reason in preview["advice"][0]


def test_english_text_uses_encoder_by_default():
    texts = ["A cat sat on the mat.", "Stocks fell.", "It rains."]
    result = run_steps(one_set.score(make_samples(texts), Settings()))
    assert result.answer["kernel"] == "MiniLM"
    preview = sample_readout.read_answer(make_samples(texts))
    assert (preview["kernel"], preview["advice"]) == ("", [])


@pytest.mark.parametrize("reason", UNSUITED)
def test_chosen_encoder_warns_for_unsuited_texts(reason, monkeypatch):
    monkeypatch.setattr(offered_encoders, "_recent", OrderedDict())
    with pytest.warns(UserWarning, match="is for prose in Latin script"):
        result = score_samples(UNSUITED[reason], kernel="MiniLM")
    assert result.answer["kernel"] == "MiniLM"
    (note,) = (note for note in result.answer["notes"] if reason in note)
    assert note.endswith("The score is unreliable for them.")  # without Python keywords


@pytest.mark.filterwarnings(
    "ignore:Kernel 'text_embeddings' with the model .* is for prose in Latin script"
)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.fasta", "".join(f">p{i}\n{protein}\n" for i, protein in enumerate(PROTEINS))),
        ("a.txt", "\n".join(PROTEINS)),
        ("a.csv", "\n".join(["protein", *PROTEINS])),
    ],
)
def test_proteins_are_compared_by_characters(name, text):
    samples = read_upload(name, text)
    expected = compute(PROTEINS, **LETTERS)["VS"]
    assert expected < 3  # as words, all four proteins are different
    result = run_steps(one_set.score(samples, Settings()))
    assert result.answer["VS"] == pytest.approx(expected)
    explicit = run_steps(one_set.score(samples, Settings("MiniLM")))
    assert any("sequences of letters" in note for note in explicit.answer["notes"])
    assert run_steps(explicit.second())["VS"] == pytest.approx(expected)


def test_comparison_uses_same_default_kernel():
    sets = {
        "A": make_samples(PROTEINS, letters=True),
        "B": make_samples(PROTEINS[::-1], letters=True),
    }
    assert compare_as_json(sets)["kernel"] == "ngram_overlap"
    kernel_choice = Settings().select_kernel(
        *(make_samples(texts) for texts in (["A cat sat.", "It rains."], JAPANESE))
    )
    assert kernel_choice.kernel == "ngram_overlap"
    assert Settings("MiniLM").select_kernel(make_samples(JAPANESE)).kernel == "MiniLM"


def test_missing_encoder_gives_no_advice(monkeypatch):
    monkeypatch.setattr(offered_encoders, "list_offered", lambda kind: {})
    assert kernel_menu.default_choice("texts", [make_samples(JAPANESE)])[1] == ""
    answer = score_samples(JAPANESE, kernel="ngram_overlap").answer
    assert answer["second"] is None
    assert "semantic" not in answer["wording"]
