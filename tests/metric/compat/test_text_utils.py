"""The functions of vendi_score.text_utils give the numbers of that package."""

import numpy as np
import pytest
import tiny_text_models
from vendi_score import text_utils as peer
from vendi_score import vendi as theirs

from vendiscore.compat import text_utils

transformers = pytest.importorskip("transformers")
pytestmark = [
    pytest.mark.filterwarnings("ignore:The parameter 'token_pattern'"),
    pytest.mark.filterwarnings("ignore:Please import `csr_matrix`"),
]
TEXTS = ["the cat sat on the mat .", "a dog ran to the mat .", "the cat ran to a dog ."] * 2
TEXTS += ["it rains all day long .", "snow fell on the hill"]
REPETITION = {
    "single_ngram_diversity": lambda t: t.single_ngram_diversity(TEXTS, 2, str.split),
    "ngram_diversity": lambda t: t.ngram_diversity(TEXTS, tokenizer=str.split, lowercase=True),
    "self_bleu": lambda t: t.self_bleu(TEXTS, str.split),
    "pairwise_bleu": lambda t: t.pairwise_bleu(TEXTS, str.split),
    "bleu": lambda t: t.bleu([x.split() for x in TEXTS[:2]], [x.split() for x in TEXTS[2:]]),
    "get_ngrams": lambda t: t.get_ngrams(TEXTS, (1, 2), str.split).toarray(),
}


@pytest.mark.parametrize("name", REPETITION)
def test_repetition_of_words_is_equal(name):
    compute_with = REPETITION[name]
    np.testing.assert_allclose(compute_with(text_utils), compute_with(peer), rtol=1e-9)


def test_bleu_of_strings_is_that_of_their_words():
    """There it compares characters."""
    words = [text.split() for text in TEXTS]
    result = text_utils.bleu(TEXTS[:2], TEXTS[2:], str.split)
    assert result == pytest.approx(peer.bleu(words[:2], words[2:]), rel=1e-9)


def test_the_score_of_ngrams_is_that_of_the_mean_of_their_cosines():
    """There SciPy's present versions raise an AttributeError."""
    counts = [peer.get_ngrams(TEXTS, n, str.split).toarray() for n in (1, 2)]
    units = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in counts]
    mean = np.mean([unit @ unit.T for unit in units], axis=0)
    result = text_utils.ngram_vendi_score(TEXTS, ns=[1, 2], tokenizer=str.split)
    assert result == pytest.approx(theirs.score_K(mean), rel=1e-9)


def test_embeddings_of_a_loaded_network_are_equal(tmp_path):
    folder = tiny_text_models.save_tiny_bert(tmp_path)
    words = [text for text in tiny_text_models.TEXTS if 0 < len(text) < 50]
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    given = {"model": model, "tokenizer": tokenizer}
    np.testing.assert_allclose(
        text_utils.get_embeddings(words, **given), peer.get_embeddings(words, **given), rtol=1e-5
    )
    result = text_utils.embedding_vendi_score(words, **given)
    assert result == pytest.approx(peer.embedding_vendi_score(words, **given), rel=1e-5)


def test_counts_of_ngrams_are_those_of_each_text():
    X, vectorizer = text_utils.get_ngrams(
        ["a b a", "b c"], tokenizer=str.split, return_vectorizer=True
    )
    assert vectorizer.get_feature_names_out().tolist() == ["a", "b", "c"]
    assert X.toarray().tolist() == [[2, 1, 0], [0, 1, 1]]


def test_diversity_of_ngrams_is_distinct_ones_over_all():
    texts = ["a b a", "b c"]
    assert text_utils.single_ngram_diversity(texts, 1, str.split) == pytest.approx(3 / 5)
    assert text_utils.single_ngram_diversity(texts, 2, str.split) == pytest.approx(3 / 3)
    assert text_utils.ngram_diversity(texts, (1, 2), str.split) == pytest.approx(0.8)


def test_bleu_of_identical_texts_is_1():
    texts = ["the cat sat on the mat"] * 3
    assert text_utils.self_bleu(texts, str.split) == pytest.approx(1)
    assert text_utils.pairwise_bleu(texts, str.split) == pytest.approx(1)


def test_embeddings_of_a_model_without_a_pooler_are_its_first_tokens(tmp_path):
    torch = pytest.importorskip("torch")
    folder = tiny_text_models.save_tiny_bert(tmp_path)
    words = ["the cat sat", "a dog"]
    model = transformers.AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    result = text_utils.get_embeddings(words, model=model, tokenizer=tokenizer)
    with torch.no_grad():
        inputs = tokenizer(words, return_tensors="pt", padding=True)
        expected = model(**inputs).last_hidden_state[:, 0]
    np.testing.assert_allclose(result, expected.numpy(), rtol=1e-4, atol=1e-6)
