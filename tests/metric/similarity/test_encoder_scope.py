"""Samples unsuitable for encoders of English text: other scripts, sequences, code, identifiers."""

import inspect
import random
import textwrap

import pytest

from vendiscore.similarity import encoder_scope
from vendiscore.similarity.encoder_scope import find_mismatch

LATIN = ["LATIN"]
PROTEINS = ["".join(random.Random(i).choices("ACDEFGHIKLMNPQRSTVWY", k=60)) for i in range(15)]
SENTENCES = {
    "Japanese": [
        "猫がソファで寝ている。",
        "今日は株価が急落した。",
        "彼女は毎晩バイオリンを弾く。",
    ],
    "Chinese": ["猫在沙发上睡觉。", "今天股价大跌。", "她每晚拉小提琴。"],
    "Korean": ["고양이가 소파에서 잔다.", "오늘 주가가 급락했다."],
    "in Arabic script": ["القطة تنام على الأريكة.", "انخفضت أسعار الأسهم اليوم."],
    "in Thai script": ["แมวนอนบนโซฟา", "ราคาหุ้นตกลงอย่างมากในวันนี้"],
    "in Cyrillic script": ["Кошка спит на диване.", "Цены сегодня резко упали."],
    "in Devanagari script": ["बिल्ली सोफे पर सो रही है।", "आज शेयर गिर गए।"],
    "in Greek script": ["Η γάτα κοιμάται.", "Οι τιμές έπεσαν."],
}
SUITABLE = [
    ["A cat sat on the mat.", "Stock prices fell (again) today!", "I paid $5 for 2 * 3 cakes."],
    ["El gato duerme en el sofá.", "Con mèo ngủ trên ghế sofa."],  # languages are not detected
    ["cat", "dog", "good-bye", "don't", "Yes.", "McDonald"],
    ["ＦＵＬＬ ｗｉｄｔｈ", "𝐁𝐨𝐥𝐝 𝐰𝐨𝐫𝐝𝐬"],
    ["🥹", "🈁", ":)", "…"],
    ["A cat sat: 猫.", "The word привет means hello."],
    [],
]
SEQUENCES = "the samples are sequences of letters (proteins or DNA)"
IDENTIFIERS = "the samples look like identifiers or numbers"


@pytest.mark.parametrize(("script", "texts"), SENTENCES.items())
def test_mismatch_names_the_script_of_most_texts(script, texts):
    assert find_mismatch(texts, LATIN).reason == f"the texts are mostly {script}"
    assert find_mismatch([*texts, *SUITABLE[0] * 3], LATIN) is None
    assert find_mismatch(texts, []) is None


@pytest.mark.parametrize("texts", SUITABLE)
def test_texts_in_the_scripts_of_the_encoder_have_no_mismatch(texts):
    assert find_mismatch(texts, LATIN) is None


def test_mismatch_depends_on_the_scripts_of_the_encoder():
    assert find_mismatch(SENTENCES["in Greek script"], ["LATIN", "GREEK"]) is None
    assert find_mismatch(SUITABLE[0], ["GREEK"]).reason == "the texts are mostly in Latin script"


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        (PROTEINS, SEQUENCES),
        (["ACGTTGCAAC", "GGCATTACGT"], SEQUENCES),
        (["acguugcaac", "ggcauuacgu"], SEQUENCES),
        (["CC(=O)O", "c1ccccc1", "CCBr"], "the samples look like SMILES of molecules"),
        (["a/1.png", "b 2.jpg"], "the samples look like names of image files"),
        (["user_12", "user_13"], IDENTIFIERS),
        (["ENSG00000141510", "TP53"], IDENTIFIERS),
        (["https://example.org/a", "a@example.org"], IDENTIFIERS),
        (["getName", "setName"], IDENTIFIERS),
        (["42", "3.5", "1,000"], IDENTIFIERS),
        (["InChI=1S/CH4/h1H4", "InChI=1S/H2O/h1H2"], IDENTIFIERS),
    ],
)
def test_mismatch_names_samples_that_are_not_prose(samples, reason):
    assert find_mismatch(samples, LATIN).reason == reason
    assert find_mismatch([*samples, *SUITABLE[0] * len(samples)], LATIN) is None


def test_sequences_true_overrides_detection():
    assert find_mismatch(["MKV", "ACG"], LATIN, sequences=True).reason == SEQUENCES


def test_mismatch_names_code():
    snippets = [inspect.getsource(f) for _, f in inspect.getmembers(textwrap, inspect.isfunction)]
    snippets.append("function add(a, b) {\n  return a + b;\n}")
    snippets.append('int main(void) {\n  printf("%d\\n", 3);\n  return 0;\n}')
    assert find_mismatch(snippets, LATIN).reason == "the samples look like code"


def test_answers_to_prompts_are_classified_as_prose_or_numbers(judged_answers, novelty_answers):
    for row in judged_answers:
        texts = next(value for value in row.values() if isinstance(value, list))
        assert find_mismatch(texts, LATIN) is None, texts
    result = []
    for row in novelty_answers:
        texts = next(value for value in row.values() if isinstance(value, list))
        result.append(find_mismatch([x for x in texts if isinstance(x, str)], LATIN))
    reasons = {mismatch.reason for mismatch in result if mismatch}
    assert reasons <= {IDENTIFIERS}  # answers to prompts such as "pick a number"
    assert sum(mismatch is not None for mismatch in result) < len(result) / 10


def test_at_most_a_thousand_samples_are_checked(monkeypatch):
    counts = []
    monkeypatch.setattr(encoder_scope, "are_sequences", lambda texts: counts.append(len(texts)))
    find_mismatch(["A cat sat."] * 2_500, LATIN)
    assert counts[0] <= 1_000
