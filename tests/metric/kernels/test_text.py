"""Kernels "bleu" and "ngram_overlap", compared with sacrebleu and naive counts."""

import math
import random
import re
from collections import Counter
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import NotPSDError, SampleError, as_similarity, compute
from vendiscore.kernels import bleu as bleu_module
from vendiscore.kernels import text as text_module

TEXTS = [
    "The cat sat on the mat.",
    "The cat sat on the mat, the cat!",
    "A dog ran by the door.",
    "the the the the the",
    "the cat",
    "cat",
    "What is 3.5% of $1,000?",
    "你好 世界",
]


def compute_sacrebleu_similarity(
    texts: list[str], max_order: int = 4, **options: object
) -> np.ndarray:
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True, max_ngram_order=max_order, **options)
    K = np.array([[metric.sentence_score(a, [b]).score / 100 for b in texts] for a in texts])
    return np.minimum((K + K.T) / 2, 1)


@pytest.fixture(autouse=True)
def _sacrebleu(request):
    if "bleu" in request.node.name:
        pytest.importorskip("sacrebleu")


@pytest.mark.parametrize(
    ("options", "sacrebleu_options"),
    [
        ({}, {}),
        ({"smooth": "floor"}, {"smooth_method": "floor"}),
        ({"smooth": "add-k"}, {"smooth_method": "add-k"}),
        ({"smooth": "none"}, {"smooth_method": "none"}),
        ({"tokenize": "char", "max_order": 6}, {"tokenize": "char", "max_order": 6}),
        ({"lowercase": True, "max_order": 2}, {"lowercase": True, "max_order": 2}),
        ({"tokenize": "intl"}, {"tokenize": "intl"}),
    ],
)
def test_bleu_matches_sacrebleu_to_machine_precision(options, sacrebleu_options):
    K = as_similarity(TEXTS, k="bleu", **options).dense()
    np.testing.assert_allclose(
        K, compute_sacrebleu_similarity(TEXTS, **sacrebleu_options), rtol=0, atol=2e-16
    )


def test_bleu_of_many_questions_matches_sacrebleu(questions):
    subset = questions[::60]
    K = as_similarity(subset, k="bleu").dense()
    np.testing.assert_allclose(K, compute_sacrebleu_similarity(subset), rtol=0, atol=2e-16)


def test_bleu_of_long_texts_matches_sacrebleu():
    generator = random.Random(0)
    texts = [" ".join(generator.choices("abcdefgh", k=3000)) for _ in range(3)]
    K = as_similarity(texts, k="bleu", max_order=6).dense()
    np.testing.assert_allclose(
        K, compute_sacrebleu_similarity(texts, max_order=6), rtol=0, atol=2e-16
    )


def test_find_distinct_tuples_handles_large_integers():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, (4, 50)) * 10**6 for _ in range(5)]
    first, inverse = bleu_module._find_distinct_tuples(columns)
    tuples = list(zip(*(column.ravel().tolist() for column in columns), strict=True))
    assert len(first) == len(set(tuples))
    assert [tuples[first[i]] for i in inverse] == tuples


def test_indefinite_bleu_is_rejected_or_clipped_with_negative_mass():
    generator = random.Random(1)
    texts = [" ".join(generator.choices("abcd", k=generator.randrange(2, 9))) for _ in range(40)]
    K = as_similarity(texts, k="bleu").dense()
    eigenvalues = np.linalg.eigvalsh(K) / len(texts)
    negative_mass = -eigenvalues[eigenvalues < 0].sum()
    assert negative_mass > 1e-4, "choose texts whose BLEU has negative eigenvalues"
    with pytest.raises(NotPSDError, match=r"positive semidefinite.*psd='clip'") as error:
        compute(texts, k="bleu")
    (note,) = error.value.__notes__
    assert note.startswith("no single sample causes this: k='bleu' has negative eigenvalues")
    suggested_kernels = note.partition("; positive semidefinite kernels for text: ")[2].split(", ")
    assert {"equivalence", "ngram_overlap", "text_embeddings", "word_overlap"} <= {
        *suggested_kernels
    }
    assert "bleu" not in suggested_kernels
    result = compute(texts, k="bleu", psd="clip", details=True)
    assert result["details"]["negative_mass"] == pytest.approx(negative_mass, rel=1e-6)
    clipped_eigenvalues = eigenvalues[eigenvalues > 0] / eigenvalues[eigenvalues > 0].sum()
    assert result["VS"] == pytest.approx(
        math.exp(-np.sum(clipped_eigenvalues * np.log(clipped_eigenvalues)))
    )
    order_2 = compute(texts, k="bleu", psd="clip", q=2, details=True)
    assert order_2["VS_q2"] == pytest.approx(1 / np.sum(clipped_eigenvalues**2))
    assert order_2["details"]["negative_mass"] == pytest.approx(negative_mass, rel=1e-6)
    # Without clipping, order 2 uses a closed form without eigenvalues, and a note mentions this.
    order_2 = compute(texts, k="bleu", q=2, details=True)
    assert order_2["details"]["negative_mass"] is None
    assert any(
        "negative eigenvalues are not detected" in note for note in order_2["details"]["notes"]
    )


def test_bleu_rejects_invalid_samples_and_options():
    with pytest.raises(SampleError, match="sample 1 has no tokens: ' '"):
        compute(["a", " "], k="bleu")
    with pytest.raises(SampleError, match="sample 0 must be a str, got int"):
        compute([1, "a"], k="bleu")
    with pytest.raises(
        ValueError, match=re.escape("`tokenize` is unknown: '13'. Did you mean '13a'?")
    ):
        compute(["a"], k="bleu", tokenize="13")
    with pytest.raises(ValueError, match=r"`smooth` is unknown: 'ad-k'\. Did you mean 'add-k'"):
        compute(["a"], k="bleu", smooth="ad-k")
    with pytest.raises(ValueError, match="`max_order` must be an integer of at least 1, got 0"):
        compute(["a"], k="bleu", max_order=0)


def naive_ngram_overlap(texts: list[list[str]], ns: tuple[int, ...]) -> np.ndarray:
    total = np.zeros((len(texts), len(texts)))
    for n in ns:
        bags = [Counter(tuple(t[i : i + n]) for i in range(len(t) - n + 1)) for t in texts]
        norms = [math.sqrt(sum(c * c for c in bag.values())) for bag in bags]
        for i, a in enumerate(bags):
            for j, b in enumerate(bags):
                if norms[i] and norms[j]:
                    total[i, j] += sum(a[g] * b[g] for g in a) / (norms[i] * norms[j])
    return total / np.sqrt(np.outer(np.diag(total), np.diag(total)))


@pytest.mark.parametrize("ns", [(1,), (2, 3), (1, 2, 3, 4)])
def test_ngram_overlap_is_mean_of_cosines(ns, questions):
    texts = [q.split() for q in questions[::150] if len(q.split()) >= max(ns)]
    K = as_similarity([" ".join(t) for t in texts], k="ngram_overlap", ns=ns, tokenizer=str.split)
    np.testing.assert_allclose(K.dense(), naive_ngram_overlap(texts, ns), atol=1e-12)


def list_ngrams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("ab👍ßc"), min_size=1, max_size=9), min_size=1, max_size=8)
)
def test_ngram_overlap_matches_naive_counts_for_generated_texts(tokens):
    texts = [" ".join(text_tokens) for text_tokens in tokens]
    options = {"k": "ngram_overlap", "tokenizer": str.split}
    expected = naive_ngram_overlap(tokens, (1, 2, 3, 4))
    bags = [
        Counter(chain(*(list_ngrams(text_tokens, n) for n in (1, 2, 3, 4))))
        for text_tokens in tokens
    ]
    for max_dense_size in (0, text_module.MAX_DENSE_SIZE):  # sparse, and dense
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text_module, "MAX_DENSE_SIZE", max_dense_size)
            K = as_similarity(texts, **options)
            np.testing.assert_allclose(K.dense(), expected, rtol=0, atol=1e-14)
            group_codes = K.groups()
            score = compute(K, q=2)["VS_q2"]
        for i, j in combinations(range(len(bags)), 2):
            if bags[i] == bags[j]:
                assert group_codes[i] == group_codes[j]
            elif expected[i, j] < 1 - 1e-12:  # proportional counts also have similarity 1
                assert group_codes[i] != group_codes[j]
        assert score == pytest.approx(len(texts) ** 2 / (expected**2).sum(), rel=1e-12)


def test_character_ngrams_compare_sequences_by_kmers():
    sequences = ["GATTACA", "GATTACT", "CCCGGG"]
    K = as_similarity(sequences, k="ngram_overlap", analyzer="char", ns=(2, 3)).dense()
    np.testing.assert_allclose(
        K, naive_ngram_overlap([list(s) for s in sequences], (2, 3)), atol=1e-12
    )


def test_ngram_overlap_uses_sparse_features(questions):
    similarity = as_similarity(questions, k="ngram_overlap")
    F = similarity.features()
    assert F.data.nbytes + F.indices.nbytes < 8 * similarity.n**2 / 50


@pytest.mark.parametrize(
    "ns", [2, np.int64(2), (2,), [2], {2}, np.array([2]), np.array(2), range(2, 3)]
)
def test_ns_accepts_any_integer_types(ns):
    texts = ["a b c", "a b d", "e f"]
    assert compute(texts, ns=ns, details=True) == compute(texts, ns=2, details=True)


@pytest.mark.parametrize(
    "ns", [2.0, None, "2", True, [1, 2.0], [None], b"1", [True], np.array(2.0)]
)
def test_ns_rejects_other_types(ns):
    with pytest.raises((TypeError, ValueError), match="`ns` must be an integer of at least 1, got"):
        compute(["a b", "c"], ns=ns)


class Token:
    """Token that equals only itself, like a spaCy token."""


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (lambda text: None, "must return a list of tokens, got NoneType for 'a b'"),
        (str.lower, "must return a list of tokens, got str for 'a b'; pass a function such as"),
        (lambda text: {"input_ids": [1], "mask": [1]}, "must return a list of tokens, got dict"),
        (lambda text: set(text), "must return a list of tokens, got set"),
        (lambda text: 7, "must return a list of tokens, got int"),
        (lambda text: [[1]], r"must return tokens that are str or int, got list \[1\] for 'a b'"),
        (lambda text: [Token()], "must return tokens that are str or int, got Token"),
        (lambda text: [None], "must return tokens that are str or int, got NoneType"),
    ],
)
def test_invalid_tokenizer_results_are_rejected(tokenizer, message):
    with pytest.raises(TypeError, match=f"`tokenizer` {message}"):
        compute(["a b", "c d"], tokenizer=tokenizer)


def test_tokenizer_can_return_numbers_arrays_and_tensors():
    texts = ["a b c", "a b d", "e f g"]
    expected = compute(texts, tokenizer=str.split)
    ids = {letter: i for i, letter in enumerate("abcdefg")}
    for container in (list, tuple, np.array, pytest.importorskip("torch").tensor, iter):

        def tokenizer(text, kind=container):
            return kind([ids[letter] for letter in text.split()])

        assert compute(texts, tokenizer=tokenizer) == expected
    assert compute(texts, tokenizer=lambda text: [(t, 1) for t in text.split()]) == expected


def test_tokenizer_error_includes_text():
    def tokenizer(text):
        return [text[3]]

    with pytest.raises(IndexError) as caught:
        compute(["a b c", "ab"], tokenizer=tokenizer)
    assert caught.value.__notes__ == ["raised by `tokenizer` for 'ab'"]


@pytest.mark.parametrize("first", [None, "", " ", float("nan")])
def test_texts_are_detected_after_leading_missing_value(first):
    with pytest.raises(SampleError, match=r"sample 0 .*2 samples cannot be used: 0, 2"):
        compute([first, "a b", None, "c d"])
    with pytest.warns(
        UserWarning, match="dropped 2 of 4 samples that kernel 'ngram_overlap' cannot use"
    ):
        scores = compute([first, "a b", None, "c d"], on_error="skip", q=2)
    assert scores["VS_q2"] == pytest.approx(2)


def test_dropped_texts_are_named_by_index_among_duplicates():
    texts = ["a b", "", "a b", "  ", "", "c d"]
    with pytest.warns(UserWarning, match="dropped 3 of 6 samples.*: sample 1"):
        result = compute(texts, on_error="skip", p=[0.1, 0.2, 0.2, 0.1, 0.1, 0.3], details=True)
    assert list(result["details"]["dropped"]) == [1, 3, 4]
    assert result["VS"] == pytest.approx(2)
