"""Kernel "bleu": mean sentence BLEU of both directions, compared with sacrebleu."""

import numpy as np
import pytest

from vendiscore import SampleError, as_similarity, compute
from vendiscore.kernels import bleu as module

sacrebleu = pytest.importorskip("sacrebleu")
TEXTS = [
    "the cat sat on the mat",
    "the cat sat on a mat today",
    "a dog",
    "the the the cat",
    "The cat sat on the mat",
    "it rained , all day long !",
]


def compute_expected_bleu(texts, **options):
    names = {"smooth": "smooth_method", "max_order": "max_ngram_order"}
    options = {names.get(name, name): value for name, value in options.items()}
    metric = sacrebleu.BLEU(effective_order=True, **options)

    def score(a, b):
        return min(metric.sentence_score(a, [b]).score / 100, 1.0)

    return np.array([[(score(a, b) + score(b, a)) / 2 for b in texts] for a in texts])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"smooth": "floor"},
        {"smooth": "none"},
        {"smooth": "add-k"},
        {"max_order": 2},
        {"max_order": 6},
        {"lowercase": True},
        {"tokenize": "char"},
        {"tokenize": "none"},
    ],
    ids=str,
)
@pytest.mark.parametrize("max_pairs", [1, 8, 1 << 18])
def test_similarities_match_sacrebleu(options, max_pairs, monkeypatch):
    monkeypatch.setattr(module, "MAX_PAIRS_PER_BLOCK", max_pairs)
    result = as_similarity(TEXTS, k="bleu", **options).dense()
    np.testing.assert_allclose(
        result, compute_expected_bleu(TEXTS, **options), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_array_equal(result, result.T)


def test_texts_with_same_tokens_have_similarity_1():
    result = as_similarity(["a b", "a  b", "a b c"], k="bleu").dense()
    assert result[0, 1] == 1.0
    assert result[0, 2] < 1
    assert (result.diagonal() == 1).all()


def test_subset_matches_separate_similarity():
    parent = as_similarity(TEXTS, k="bleu")
    subset = parent.part(np.array([3, 0]))
    expected = as_similarity([TEXTS[3], TEXTS[0]], k="bleu")
    np.testing.assert_array_equal(subset.dense(), expected.dense())


def test_options_are_reported_and_similarity_is_not_marked_psd():
    similarity = as_similarity(TEXTS, k="bleu", max_order=3, lowercase=True)
    assert not similarity.psd
    details = compute(TEXTS, k="bleu", max_order=3, psd="clip", details=True)["details"]
    assert details["options"]["max_order"] == 3
    assert details["kernel"] == "bleu"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"smooth": "exponential"}, ValueError, "`smooth` is unknown: 'exponential'.*exp, floor"),
        ({"smooth": None}, ValueError, "`smooth` is unknown"),
        ({"tokenize": "13b"}, ValueError, "13b"),
        ({"max_order": 0}, ValueError, "`max_order` must be an integer of at least 1"),
        ({"lowercase": 1}, TypeError, "`lowercase` must be True or False"),
    ],
)
def test_invalid_options_are_rejected(options, error, message):
    with pytest.raises(error, match=message):
        as_similarity(TEXTS, k="bleu", **options)


def test_texts_without_tokens_are_rejected():
    with pytest.raises(SampleError, match="sample 1"):
        as_similarity(["a", " "], k="bleu")


def test_find_distinct_tuples_handles_key_overflow():
    columns = [np.array([2**20, 0, 2**20, 5]) for _ in range(5)]
    first, inverse = module._find_distinct_tuples(columns)
    assert inverse[0] == inverse[2]
    assert len(first) == 3
    assert len({*inverse}) == 3
    largest = 2**22 - 1
    first, _ = module._find_distinct_tuples(
        [np.array([0, 2**21, largest]), *[np.array([0, 0, largest])] * 2]
    )
    assert first.tolist() == [0, 1, 2]
