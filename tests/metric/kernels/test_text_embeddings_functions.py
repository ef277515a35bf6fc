"""Kernel "text_embeddings" with functions as models, and invalid outputs."""

import numpy as np
import pytest
from tiny_text_models import LetterCounts, cosine_matrix, text_similarity, torch

from vendiscore import SampleError
from vendiscore.encoders.embeddings import embed
from vendiscore.kernels.text_embeddings import text_embeddings
from vendiscore.support.progress import run_steps

# Some shared texts are too long for the small model, or contain only unknown words.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Kernel 'text_embeddings' (represents|cannot represent)"
)


@pytest.mark.parametrize(
    "model",
    [
        LetterCounts(),
        LetterCounts().encode,
        lambda texts: LetterCounts().encode(texts).tolist(),
        lambda texts: torch.tensor(LetterCounts().encode(texts), requires_grad=True),
        lambda texts: torch.tensor(LetterCounts().encode(texts)).bfloat16(),
        lambda texts: list(torch.tensor(LetterCounts().encode(texts))),
    ],
    ids=["object", "method", "lists", "tensor", "bfloat16", "tensors"],
)
def test_encode_methods_and_functions_are_models(model):
    texts = ["abc", "aabbee", "", "abracadabra", "ecce"]
    S = text_similarity(texts, model=model, batch_size=2)
    np.testing.assert_allclose(S.dense(), cosine_matrix(LetterCounts().encode(texts)), atol=1e-7)
    assert S.settings["dims"] == 5
    assert S.settings["model_path"] is None


def test_function_receives_batches_and_keeps_float64():
    batches = []

    def model(texts):
        batches.append(texts)
        return LetterCounts().encode(texts) / 3

    S = text_similarity(["a", "bbb", "cc", "dddd", "ee"], model=model, batch_size=2)
    assert batches == [["dddd", "bbb"], ["cc", "ee"], ["a"]]  # longest first
    assert S.X.dtype == np.float64
    float16_output = text_similarity(
        ["a", "bb"], model=lambda t: LetterCounts().encode(t).astype(np.float16)
    )
    assert float16_output.X.dtype == np.float32


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (lambda t: np.ones(5), ValueError, r"shape \(2, d\) for a list of 2 .* got shape \(5,\)"),
        (lambda t: np.ones((1, 5)), ValueError, r"got shape \(1, 5\)"),
        (lambda t: np.ones((len(t), 0)), ValueError, r"got shape \(2, 0\)"),
        (
            lambda t: np.ones((len(t), len(t[0]))),
            ValueError,
            "of equal length, got lengths 4 and 2",
        ),
        (lambda t: [[1, 2], [1]], ValueError, "got rows of different lengths"),
        (lambda t: None, TypeError, "array of real numbers, one row per sample, got NoneType"),
        (lambda t: np.full((len(t), 2), "x"), TypeError, "got ndarray of dtype <U1"),
        ("some/model", TypeError, "got str; pass model_path='some/model'"),
        (3, TypeError, r"`model` must have a method encode\(list of samples\).* got int"),
        (torch.nn.Linear(2, 2), TypeError, r"`tokenizer` is missing: `model` is a torch .*Linear"),
    ],
)
def test_invalid_models_and_outputs_are_rejected(model, error, message):
    with pytest.raises(error, match=message):
        text_similarity(["aaaa", "bbbb", "cc"], model=model, batch_size=2)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (float("nan"), "sample 3 has nan in its embedding; check the model"),
        (float("inf"), "sample 3 has inf in its embedding"),
        (0.0, "sample 3 has an embedding of zeros, which has no cosine"),
    ],
)
def test_embedding_without_direction_is_named(entry, message):
    def model(texts):
        return [[entry, entry] if text == "bad" else [1.0, len(text)] for text in texts]

    with pytest.raises(SampleError, match=message) as caught:
        text_similarity(["a", "a", "long text", "bad", "b"], model=model, batch_size=2)
    assert caught.value.index == 3


def test_all_texts_without_usable_embedding_are_named(tmp_path):
    with pytest.raises(SampleError) as caught:
        text_embeddings(["a", None, "b", 3.0], model_path="no/such")
    assert list(caught.value.problems) == [1, 3]

    def model(texts):
        if "fails" in texts:
            raise SampleError(texts.index("fails"), "is not for this model")
        return [[float("nan") if "nan" in t else len(t) * ("zero" not in t), 0.0] for t in texts]

    texts = ["a", "nan 1", "b", "fails", "zero", "c c c c c", "nan 2 2 2 2 2"]
    for batch_size in (1, 2, 3, 64):
        with pytest.raises(SampleError) as caught:
            text_embeddings(texts, model=model, batch_size=batch_size)
        assert list(caught.value.problems) == [1, 3, 4, 6]
    usable_texts = [texts[i] for i in (0, 2, 5)]
    assert text_embeddings(usable_texts, model=model).n == 3


def test_embed_accepts_array_rows_as_samples():
    X = np.arange(10.0).reshape(5, 2) + 1
    np.testing.assert_array_equal(run_steps(embed(X, np.stack, {}, batch_size=2)), X)
