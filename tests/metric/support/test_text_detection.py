"""Texts in scripts without spaces between words: detection and comparison."""

import magnitude_measures
import pytest

from vendiscore import compute
from vendiscore.support.text_detection import count_unspaced, suggest_tokenizer

CHINESE = [f"我今天去商店买了{fruit}。" for fruit in ("苹果", "香蕉", "梨子", "橙子")]
THAI = ["วันนี้ฝนตกหนักมากและฉันลืมเอาร่มมา", "วันนี้ฝนตกหนักมากและฉันลืมเอาเสื้อมา"]


@pytest.mark.parametrize("texts", [CHINESE, THAI])
def test_texts_without_spaces_use_characters_with_a_warning(texts):
    with pytest.warns(
        UserWarning, match="without spaces between words, so n-grams of characters are"
    ):
        result = compute(texts, details=True)
    assert result["VS"] == compute(texts, analyzer="char")["VS"]
    details = result["details"]
    assert details["options"]["analyzer"] == "char"
    assert "|analyzer=char|" in details["signature"]
    assert any("n-grams of characters are used for all" in note for note in details["notes"])
    assert compute(texts, analyzer="word")["VS"] == pytest.approx(len(texts))  # no warning
    assert compute(texts, tokenizer=list)["VS"] == pytest.approx(result["VS"])


@pytest.mark.parametrize(
    ("texts", "hint"),
    [
        (CHINESE, "tokenizer=jieba.lcut"),
        (THAI, "tokenizer=pythainlp.word_tokenize"),
        (["今日は雨です。", "明日は晴れです。"], "tokenizer='ja-mecab'"),
        (["ພາສາລາວ"], "a `tokenizer` of your own"),
    ],
)
def test_suggest_tokenizer_names_a_word_tokenizer(texts, hint):
    assert suggest_tokenizer(texts).startswith(hint)
    with pytest.warns(UserWarning, match=f"of characters are used for all texts; .* pass {hint}"):
        compute(texts, ns=1)


def test_sets_of_mixed_scripts_use_one_analyzer():
    english = [f"I bought {fruit} today." for fruit in ("apples", "pears", "plums")]
    with pytest.warns(UserWarning, match="4 of 7 distinct texts .* of characters are used for all"):
        char_result = compute([*CHINESE, *english])
    assert char_result["VS"] == compute([*CHINESE, *english], analyzer="char")["VS"]
    with pytest.warns(
        UserWarning, match="counts as one word.*compare characters, pass analyzer='char'"
    ):
        word_result = compute([*CHINESE[:1], *english], details=True)
    assert word_result["VS"] == compute([*CHINESE[:1], *english], analyzer="word")["VS"]
    assert word_result["details"]["options"]["analyzer"] == "word"
    # Words that are separated by spaces are recognized.
    assert (
        count_unspaced(
            ["我 今天 去 商店", "我 昨天 去 商店", "วันนี้ ฝน ตก หนัก มาก", "안녕하세요 세계"]
        )
        == 0
    )
    assert (
        count_unspaced(["ខ្ញុំស្រលាញ់ភាសាខ្មែរ", "မြန်မာဘာသာစကား", "ພາສາລາວ", "私は東京に住んでいます。"])
        == 4
    )


def test_samples_and_references_use_one_analyzer():
    english = ["The cat sat on the mat.", "The dog sat on the mat."]
    with pytest.warns(UserWarning, match="of characters are used for all"):
        result = magnitude_measures.compute_magnitude(english, references=CHINESE, details=True)
    assert result["details"]["options"]["analyzer"] == "char"
    assert magnitude_measures.compute_magnitude(english, references=CHINESE, analyzer="char")[
        "MagDiff"
    ] == pytest.approx(result["MagDiff"])
    with pytest.warns(UserWarning, match="of characters are used for all"):
        notes = magnitude_measures.compute_magnitude(CHINESE, details=True)["details"]["notes"]
    assert any("n-grams of characters are" in note for note in notes)


def test_case_and_unicode_normalization_change_scores():
    assert compute(["Hello World", "hello world"])["VS"] == pytest.approx(2)
    assert compute(["caf\u00e9", "cafe\u0301"], analyzer="char")["VS"] > 1.1
