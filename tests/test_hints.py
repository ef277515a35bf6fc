"""Names that are none of ours, and strings that are no text: what is said about them."""

import magnitudes
import numpy as np
import pytest

import vendiscore
from vendiscore import compute, get_kernel, list_kernels
from vendiscore.hints import meant, suggestion, unspaced, words_by

TEXTS = ["a b", "a c", "d"]
CHINESE = [f"我今天去商店买了{fruit}。" for fruit in ("苹果", "香蕉", "梨子", "橙子")]
THAI = ["วันนี้ฝนตกหนักมากและฉันลืมเอาร่มมา", "วันนี้ฝนตกหนักมากและฉันลืมเอาเสื้อมา"]
SMILES = ["CCO", "CC(=O)O", "c1ccccc1", "C[C@H](N)C(=O)O", "[Na+].[Cl-]"]


@pytest.mark.parametrize(
    ("keywords", "hint"),
    [
        ({"kernel": "cosine"}, "Did you mean `k`?"),
        ({"weights": [0.2, 0.3, 0.5]}, "Did you mean `p`?"),
        ({"order": 2}, "Did you mean `q`?"),
        ({"k": "ngram_overlap", "order": 2}, "Did you mean `q`?"),
        ({"k": "ngram_overlap", "weights": [0.2, 0.3, 0.5]}, "Did you mean `p`?"),
        ({"prediction": TEXTS}, "Did you mean `samples`?"),
        ({"texts": TEXTS}, "Did you mean `samples`?"),
        ({"bandwidth": 1}, "Did you mean `sigma`?"),
        ({"k": "ngram"}, "Did you mean 'ngram_overlap'?"),
        ({"k": "NGRAM-overlap"}, "Did you mean 'ngram_overlap'?"),
        ({"k": "ecfp4"}, "Did you mean 'morgan'?"),
        ({"k": "jaccard"}, "Did you mean 'tanimoto'?"),
        ({"measures": "vs"}, "Did you mean 'VS'?"),
        ({"measures": ["VS", "magnitude"]}, "Did you mean 'MagArea'?"),
        ({"model": len}, "`model` is an option of 'image_embeddings', 'text_embeddings'"),
        ({"sigma": 1}, "`sigma` is an option of 'laplacian', 'rbf'"),
        (
            {"zzz": 1},
            "Keywords are analyzer, ci, columns, ",
        ),
        ({"k": "zzz"}, "text: 'bleu', 'ngram_overlap', 'text_embeddings'"),
        ({"k": get_kernel("labels")}, "got Kernel; pass k='labels'"),
    ],
)
def test_a_misspelt_name_gets_one_hint_or_where_to_look(keywords, hint):
    with pytest.raises((TypeError, ValueError)) as refused:
        compute(TEXTS, **keywords)
    assert hint in str(refused.value)
    assert "max_path" not in str(refused.value)  # no list of the options of all kernels


def test_magnitude_hints_at_its_own_keywords():
    for keywords, hint in [
        ({"kernel": "rbf"}, "Did you mean `k`?"),
        ({"scale": 1}, "Did you mean `n_scales`?"),
        ({"sample": [1.0]}, "Did you mean `samples`?"),
        (
            {"zzz": 1},
            "Keywords are analyzer, average, ci, ",
        ),
    ]:
        with pytest.raises(TypeError) as refused:
            magnitudes.compute([0.0, 1.0], **keywords)
        assert hint in str(refused.value)


def test_a_model_as_k_is_told_where_it_goes():
    class Encoder:
        def encode(self, texts):
            return np.ones((len(texts), 2))

        __call__ = encode

    with pytest.raises(TypeError, match="got a model, Encoder; pass it as model=… with k='text_em"):
        compute(TEXTS, k=Encoder())


def test_hints_find_what_is_known_only():
    assert meant("weights", ["q", "k"]) is None
    assert meant("weights", ["p", "weights"]) == "p"
    many = [f"name{i}" for i in range(40)]
    assert suggestion("spin", many) == "Available: " + ", ".join(sorted(many)[:12]) + ", …"
    assert suggestion("name39", many) == "Did you mean 'name39'?"


def test_help_of_a_kernel_shows_its_options_and_what_they_do(capsys):
    help(vendiscore.get_kernel("morgan"))
    told = capsys.readouterr().out
    assert (
        "radius=2, n_bits=2048, chirality=False, coefficient='tanimoto', on_error='raise'" in told
    )
    assert "Bonds around each atom" in told
    for kernel in list_kernels():
        assert set(kernel.options) == {given.partition("=")[0] for given in kernel.signature}
        assert kernel.summary in kernel.__doc__


@pytest.mark.parametrize("texts", [CHINESE, THAI])
def test_scripts_without_spaces_go_by_characters_and_it_is_said(texts):
    with pytest.warns(UserWarning, match="without spaces between words: n-grams are of characters"):
        result = compute(texts, details=True)
    assert result["VS"] == compute(texts, analyzer="char")["VS"]
    details = result["details"]
    assert details["options"]["analyzer"] == "char"
    assert "|analyzer=char|" in details["signature"]
    assert any("n-grams are of characters for all" in note for note in details["notes"])
    assert compute(texts, analyzer="word")["VS"] == pytest.approx(len(texts))  # obeyed, and silent
    assert compute(texts, tokenizer=list)["VS"] == pytest.approx(result["VS"])


@pytest.mark.parametrize(
    ("texts", "remedy"),
    [
        (CHINESE, "tokenizer=jieba.lcut"),
        (THAI, "tokenizer=pythainlp.word_tokenize"),
        (["今日は雨です。", "明日は晴れです。"], "tokenizer='ja-mecab'"),
        (["ພາສາລາວ"], "a `tokenizer` of your own"),
    ],
)
def test_the_tokenizer_that_finds_words_is_named(texts, remedy):
    assert words_by(texts).startswith(remedy)
    with pytest.warns(UserWarning, match=f"of characters for all; {remedy}.* would have words"):
        compute(texts, ns=1)


def test_sets_of_several_scripts_are_compared_one_way():
    spoken = [f"I bought {fruit} today." for fruit in ("apples", "pears", "plums")]
    with pytest.warns(UserWarning, match="4 of 7 distinct texts .* of characters for all"):
        most = compute([*CHINESE, *spoken])
    assert most["VS"] == compute([*CHINESE, *spoken], analyzer="char")["VS"]
    with pytest.warns(UserWarning, match="one word a clause.*analyzer='char' would have char"):
        few = compute([*CHINESE[:1], *spoken], details=True)
    assert few["VS"] == compute([*CHINESE[:1], *spoken], analyzer="word")["VS"]
    assert few["details"]["options"]["analyzer"] == "word"
    # Words that were split by hand are words.
    assert (
        unspaced(["我 今天 去 商店", "我 昨天 去 商店", "วันนี้ ฝน ตก หนัก มาก", "안녕하세요 세계"])
        == 0
    )
    assert (
        unspaced(["ខ្ញុំស្រលាញ់ភាសាខ្មែរ", "မြန်မာဘာသာစကား", "ພາສາລາວ", "私は東京に住んでいます。"]) == 4
    )


def test_two_sets_are_compared_by_one_analyzer():
    english = ["The cat sat on the mat.", "The dog sat on the mat."]
    with pytest.warns(UserWarning, match="of characters for all"):
        found = magnitudes.compute(english, references=CHINESE, details=True)
    assert found["details"]["options"]["analyzer"] == "char"
    assert magnitudes.compute(english, references=CHINESE, analyzer="char")[
        "MagDiff"
    ] == pytest.approx(found["MagDiff"])
    with pytest.warns(UserWarning, match="of characters for all"):
        notes = magnitudes.compute(CHINESE, details=True)["details"]["notes"]
    assert any("n-grams are of characters" in note for note in notes)


def test_case_and_normalisation_count():
    assert compute(["Hello World", "hello world"])["VS"] == pytest.approx(2)
    assert compute(["caf\u00e9", "cafe\u0301"], analyzer="char")["VS"] > 1.1


def test_a_hint_takes_any_value_for_a_name():
    for value in (np.zeros((2, 2)), ["cosine"], {}, None, 3):
        assert suggestion(value, ["cosine"], ["linear"], kind="kernel").endswith("cosine.")
