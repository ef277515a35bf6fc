"""`compat.text_utils` returns the results of `vendi_score.text_utils`."""

import numpy as np
import pytest
import tiny_text_models
from vendi_score import text_utils as reference
from vendi_score import vendi as reference_vendi

from vendiscore.compat import text_utils

transformers = pytest.importorskip("transformers")
pytestmark = [
    pytest.mark.filterwarnings("ignore:The parameter 'token_pattern'"),
    pytest.mark.filterwarnings("ignore:Please import `csr_matrix`"),
]
TEXTS = ["the cat sat on the mat .", "a dog ran to the mat .", "the cat ran to a dog ."] * 2
TEXTS += ["it rains all day long .", "snow fell on the hill"]
CALLS = {
    "single_ngram_diversity": lambda t: t.single_ngram_diversity(TEXTS, 2, str.split),
    "ngram_diversity": lambda t: t.ngram_diversity(TEXTS, tokenizer=str.split, lowercase=True),
    "self_bleu": lambda t: t.self_bleu(TEXTS, str.split),
    "pairwise_bleu": lambda t: t.pairwise_bleu(TEXTS, str.split),
    "bleu": lambda t: t.bleu([x.split() for x in TEXTS[:2]], [x.split() for x in TEXTS[2:]]),
    "get_ngrams": lambda t: t.get_ngrams(TEXTS, (1, 2), str.split).toarray(),
}


@pytest.mark.parametrize("name", CALLS)
def test_ngram_and_bleu_functions_match_vendi_score(name):
    compute_with = CALLS[name]
    np.testing.assert_allclose(compute_with(text_utils), compute_with(reference), rtol=1e-9)


def test_bleu_of_strings_uses_their_words():
    """vendi_score compares characters instead."""
    words = [text.split() for text in TEXTS]
    result = text_utils.bleu(TEXTS[:2], TEXTS[2:], str.split)
    assert result == pytest.approx(reference.bleu(words[:2], words[2:]), rel=1e-9)


def test_ngram_vendi_score_uses_mean_of_cosine_matrices():
    """vendi_score raises an AttributeError with current versions of SciPy."""
    counts = [reference.get_ngrams(TEXTS, n, str.split).toarray() for n in (1, 2)]
    normalized_counts = [
        matrix / np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in counts
    ]
    mean = np.mean([rows @ rows.T for rows in normalized_counts], axis=0)
    result = text_utils.ngram_vendi_score(TEXTS, ns=[1, 2], tokenizer=str.split)
    assert result == pytest.approx(reference_vendi.score_K(mean), rel=1e-9)


def test_embeddings_of_passed_model_match_vendi_score(tmp_path):
    folder = tiny_text_models.save_tiny_bert(tmp_path)
    texts = [text for text in tiny_text_models.TEXTS if 0 < len(text) < 50]
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    options = {"model": model, "tokenizer": tokenizer}
    np.testing.assert_allclose(
        text_utils.get_embeddings(texts, **options),
        reference.get_embeddings(texts, **options),
        rtol=1e-5,
    )
    result = text_utils.embedding_vendi_score(texts, **options)
    assert result == pytest.approx(reference.embedding_vendi_score(texts, **options), rel=1e-5)


def test_get_ngrams_counts_ngrams_per_text():
    X, vectorizer = text_utils.get_ngrams(
        ["a b a", "b c"], tokenizer=str.split, return_vectorizer=True
    )
    assert vectorizer.get_feature_names_out().tolist() == ["a", "b", "c"]
    assert X.toarray().tolist() == [[2, 1, 0], [0, 1, 1]]


def test_ngram_diversity_is_distinct_over_total():
    texts = ["a b a", "b c"]
    assert text_utils.single_ngram_diversity(texts, 1, str.split) == pytest.approx(3 / 5)
    assert text_utils.single_ngram_diversity(texts, 2, str.split) == pytest.approx(3 / 3)
    assert text_utils.ngram_diversity(texts, (1, 2), str.split) == pytest.approx(0.8)


def test_bleu_of_identical_texts_is_1():
    texts = ["the cat sat on the mat"] * 3
    assert text_utils.self_bleu(texts, str.split) == pytest.approx(1)
    assert text_utils.pairwise_bleu(texts, str.split) == pytest.approx(1)


def test_embeddings_without_pooler_are_first_token_states(tmp_path):
    torch = pytest.importorskip("torch")
    folder = tiny_text_models.save_tiny_bert(tmp_path)
    texts = ["the cat sat", "a dog"]
    model = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    result = text_utils.get_embeddings(texts, model=model, tokenizer=tokenizer)
    with torch.no_grad():
        inputs = tokenizer(texts, return_tensors="pt", padding=True)
        expected = model(**inputs).last_hidden_state[:, 0]
    np.testing.assert_allclose(result, expected.numpy(), rtol=1e-4, atol=1e-6)
