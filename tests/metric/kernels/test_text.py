"""Kernels on text: BLEU against sacrebleu's own, n-grams against a naive count."""

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


def by_sentence_score(texts: list[str], max_order: int = 4, **options: object) -> np.ndarray:
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True, max_ngram_order=max_order, **options)
    K = np.array([[metric.sentence_score(a, [b]).score / 100 for b in texts] for a in texts])
    return np.minimum((K + K.T) / 2, 1)


@pytest.fixture(autouse=True)
def _sacrebleu(request):
    if "bleu" in request.node.name:
        pytest.importorskip("sacrebleu")


@pytest.mark.parametrize(
    ("ours", "theirs"),
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
def test_bleu_is_that_of_sacrebleu(ours, theirs):
    K = as_similarity(TEXTS, k="bleu", **ours).dense()
    np.testing.assert_allclose(K, by_sentence_score(TEXTS, **theirs), rtol=0, atol=2e-16)


def test_bleu_of_many_questions_is_that_of_sacrebleu(questions):
    some = questions[::60]
    K = as_similarity(some, k="bleu").dense()
    np.testing.assert_allclose(K, by_sentence_score(some), rtol=0, atol=2e-16)


def test_bleu_does_not_depend_on_how_pairs_are_cut_into_blocks(monkeypatch):
    whole = as_similarity(TEXTS, k="bleu").dense()
    for pairs in (1, 20):
        monkeypatch.setattr(bleu_module, "MAX_PAIRS_PER_BLOCK", pairs)
        np.testing.assert_array_equal(as_similarity(TEXTS, k="bleu").dense(), whole)


def test_bleu_of_long_texts_has_keys_that_do_not_overflow():
    draw = random.Random(0)
    texts = [" ".join(draw.choices("abcdefgh", k=3000)) for _ in range(3)]
    K = as_similarity(texts, k="bleu", max_order=6).dense()
    np.testing.assert_allclose(K, by_sentence_score(texts, max_order=6), rtol=0, atol=2e-16)


def test_distinct_tuples_are_found_beyond_the_range_of_integers():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, (4, 50)) * 10**6 for _ in range(5)]
    first, inverse = bleu_module._find_distinct_tuples(columns)
    tuples = list(zip(*(c.ravel().tolist() for c in columns), strict=True))
    assert len(first) == len(set(tuples))
    assert [tuples[first[i]] for i in inverse] == tuples


def test_bleu_of_the_same_tokens_is_exactly_one():
    texts = ["one two three four five six", "one  two three four five six ", "six"]
    K = as_similarity(texts, k="bleu").dense()
    assert K[0, 0] == K[0, 1] == K[2, 2] == 1.0
    assert K[0, 2] < 1


def test_bleu_that_is_not_psd_is_refused_or_repaired_with_its_size():
    draw = random.Random(1)
    texts = [" ".join(draw.choices("abcd", k=draw.randrange(2, 9))) for _ in range(40)]
    K = as_similarity(texts, k="bleu").dense()
    values = np.linalg.eigvalsh(K) / len(texts)
    mass = -values[values < 0].sum()
    assert mass > 1e-4, "choose texts whose BLEU has negative eigenvalues"
    with pytest.raises(NotPSDError, match=r"positive semidefinite.*psd='clip'") as refused:
        compute(texts, k="bleu")
    (note,) = refused.value.__notes__
    assert note.startswith("no single sample causes this: k='bleu' has negative eigenvalues")
    without = note.partition("; positive semidefinite kernels for text: ")[2].split(", ")
    assert {"equivalence", "ngram_overlap", "text_embeddings", "word_overlap"} <= {*without}
    assert "bleu" not in without
    result = compute(texts, k="bleu", psd="clip", details=True)
    assert result["details"]["negative_mass"] == pytest.approx(mass, rel=1e-6)
    kept = values[values > 0] / values[values > 0].sum()
    assert result["VS"] == pytest.approx(math.exp(-np.sum(kept * np.log(kept))))
    q2 = compute(texts, k="bleu", psd="clip", q=2, details=True)
    assert q2["VS_q2"] == pytest.approx(1 / np.sum(kept**2))
    assert q2["details"]["negative_mass"] == pytest.approx(mass, rel=1e-6)
    # Without clipping, order 2 has a closed form, which sees no eigenvalues, and says so.
    q2 = compute(texts, k="bleu", q=2, details=True)
    assert q2["details"]["negative_mass"] is None
    assert any("negative eigenvalues are not detected" in note for note in q2["details"]["notes"])


def test_bleu_names_what_it_cannot_read():
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
def test_ngram_overlap_is_the_mean_of_cosines(ns, questions):
    texts = [q.split() for q in questions[::150] if len(q.split()) >= max(ns)]
    K = as_similarity([" ".join(t) for t in texts], k="ngram_overlap", ns=ns, tokenizer=str.split)
    np.testing.assert_allclose(K.dense(), naive_ngram_overlap(texts, ns), atol=1e-12)


def ngrams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("ab👍ßc"), min_size=1, max_size=9), min_size=1, max_size=8)
)
def test_ngrams_of_any_texts_are_those_of_a_naive_count(tokens):
    texts = [" ".join(own) for own in tokens]
    how = {"k": "ngram_overlap", "tokenizer": str.split}
    expected = naive_ngram_overlap(tokens, (1, 2, 3, 4))
    bags = [Counter(chain(*(ngrams(own, n) for n in (1, 2, 3, 4)))) for own in tokens]
    for few in (0, text_module.MAX_DENSE_SIZE):  # sparse, and dense
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text_module, "MAX_DENSE_SIZE", few)
            K = as_similarity(texts, **how)
            np.testing.assert_allclose(K.dense(), expected, rtol=0, atol=1e-14)
            same = K.groups()
            score = compute(K, q=2)["VS_q2"]
        for i, j in combinations(range(len(bags)), 2):
            if bags[i] == bags[j]:
                assert same[i] == same[j]
            elif expected[i, j] < 1 - 1e-12:  # counts in proportion are as similar as copies
                assert same[i] != same[j]
        assert score == pytest.approx(len(texts) ** 2 / (expected**2).sum(), rel=1e-12)


def test_sequences_are_compared_by_their_kmers():
    sequences = ["GATTACA", "GATTACT", "CCCGGG"]
    K = as_similarity(sequences, k="ngram_overlap", analyzer="char", ns=(2, 3)).dense()
    np.testing.assert_allclose(
        K, naive_ngram_overlap([list(s) for s in sequences], (2, 3)), atol=1e-12
    )


def test_ngram_overlap_keeps_no_matrix_of_all_pairs(questions):
    similarity = as_similarity(questions, k="ngram_overlap")
    F = similarity.features()
    assert F.data.nbytes + F.indices.nbytes < 8 * similarity.n**2 / 50


@pytest.mark.parametrize(
    "ns", [2, np.int64(2), (2,), [2], {2}, np.array([2]), np.array(2), range(2, 3)]
)
def test_lengths_of_ngrams_are_read_from_any_integers(ns):
    texts = ["a b c", "a b d", "e f"]
    assert compute(texts, ns=ns, details=True) == compute(texts, ns=2, details=True)


@pytest.mark.parametrize(
    "ns", [2.0, None, "2", True, [1, 2.0], [None], b"1", [True], np.array(2.0)]
)
def test_what_is_no_length_of_ngrams_is_refused(ns):
    with pytest.raises((TypeError, ValueError), match="`ns` must be an integer of at least 1, got"):
        compute(["a b", "c"], ns=ns)


class Token:
    """Equal to itself alone, as a spaCy token is."""


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
def test_what_a_tokenizer_returns_is_checked(tokenizer, message):
    with pytest.raises(TypeError, match=f"`tokenizer` {message}"):
        compute(["a b", "c d"], tokenizer=tokenizer)


def test_tokens_may_be_numbers_or_come_in_arrays_and_tensors():
    texts = ["a b c", "a b d", "e f g"]
    expected = compute(texts, tokenizer=str.split)
    ids = {letter: i for i, letter in enumerate("abcdefg")}
    for kind in (list, tuple, np.array, pytest.importorskip("torch").tensor, iter):

        def tokenizer(text, kind=kind):
            return kind([ids[letter] for letter in text.split()])

        assert compute(texts, tokenizer=tokenizer) == expected
    assert compute(texts, tokenizer=lambda text: [(t, 1) for t in text.split()]) == expected


def test_an_exception_of_the_tokenizer_quotes_the_text():
    def tokenizer(text):
        return [text[3]]

    with pytest.raises(IndexError) as caught:
        compute(["a b c", "ab"], tokenizer=tokenizer)
    assert caught.value.__notes__ == ["raised by `tokenizer` for 'ab'"]


@pytest.mark.parametrize("first", [None, "", " ", float("nan")])
def test_texts_that_begin_with_none_are_texts(first):
    with pytest.raises(SampleError, match=r"sample 0 .*2 samples cannot be used: 0, 2"):
        compute([first, "a b", None, "c d"])
    with pytest.warns(
        UserWarning, match="dropped 2 of 4 samples that kernel 'ngram_overlap' cannot use"
    ):
        scores = compute([first, "a b", None, "c d"], on_error="skip", q=2)
    assert scores["VS_q2"] == pytest.approx(2)


def test_text_is_left_out_by_its_place_among_repeats():
    texts = ["a b", "", "a b", "  ", "", "c d"]
    with pytest.warns(UserWarning, match="dropped 3 of 6 samples.*: sample 1"):
        details = compute(texts, on_error="skip", p=[0.1, 0.2, 0.2, 0.1, 0.1, 0.3], details=True)
    assert list(details["details"]["dropped"]) == [1, 3, 4]
    assert details["VS"] == pytest.approx(2)
