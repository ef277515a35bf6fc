"""Hashed n-grams against exact ones, and that a text's row is its own."""

import hashlib
import math
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from vendiscore import as_similarity, compute, get_kernel
from vendiscore.similarity.hashed_ngrams import hashed_ngrams

ROOT = Path(__file__).resolve().parents[2]
rng = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(300)]
TEXTS = [" ".join(rng.choice(WORDS[: 30 + i], rng.integers(4, 20))) for i in range(60)]
OPTIONS = {"k": "ngram_overlap", "analyzer": "word", "tokenizer": str.split}


def hashed(gram: tuple[str, ...]) -> int:
    """Return the hash of an n-gram: hashes of its tokens, one after the other, mixed by
    SplitMix64."""
    found = None
    for word in gram:
        name = b"s%d:%s" % (len(word.encode()), word.encode())
        token = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")
        if found is None:
            found = token
            continue
        z = (found * 0x9E3779B97F4A7C15 + token) % 2**64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        found = z ^ (z >> 31)
    return found


def naive(text: str, ns: tuple[int, ...], columns: int) -> np.ndarray:
    """Return a row, gram by gram."""
    row = np.zeros(columns)
    words = text.split()
    for n in ns:
        counts = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
        norm = math.sqrt(sum(c * c for c in counts.values())) or 1.0
        for gram, count in counts.items():
            digest = hashed(gram)
            row[(digest >> 1) % columns] += (1 if digest & 1 else -1) * count / norm
    return row / np.linalg.norm(row)


@pytest.mark.parametrize("ns", [1, (2, 3), (1, 2, 3, 4)])
@pytest.mark.parametrize("columns", [7, 512])
def test_rows_are_signed_counts_at_places_that_hashes_say(ns, columns):
    similarity = as_similarity(TEXTS, ns=ns, columns=columns, **OPTIONS)
    orders = (ns,) if isinstance(ns, int) else ns
    expected = np.array([naive(text, orders, columns) for text in TEXTS])
    np.testing.assert_allclose(similarity.features().toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(similarity.diagonal(), 1, atol=1e-14)
    assert similarity.dim == columns


@pytest.mark.parametrize("columns", [256, 4096])
def test_similarities_are_off_by_one_over_the_root_of_columns(columns):
    exact = as_similarity(TEXTS, **OPTIONS).dense()
    pairs = np.triu_indices(len(TEXTS), 1)
    gap = (as_similarity(TEXTS, columns=columns, **OPTIONS).dense() - exact)[pairs]
    assert 0.7 < np.sqrt(np.mean(gap**2)) * math.sqrt(columns) < 1.4
    assert abs(gap.mean()) < 3 / math.sqrt(columns * 60)


def test_the_variance_is_that_of_the_formula():
    # Other names of the same words are other hashes.
    texts, columns = ["a a b c d", "a b b e f g"], 16
    x, y = (Counter(text.split()) for text in texts)
    x, y = ({w: c / math.dist(v.values(), [0] * len(v)) for w, c in v.items()} for v in (x, y))
    found = []
    for trial in range(1500):
        tokens = [[f"{w}{trial}" for w in text.split()] for text in texts]
        rows = hashed_ngrams(tokens, (1,), columns).toarray()
        found.append(rows[0] @ rows[1])
    K = sum(x[w] * y[w] for w in x if w in y)
    expected = 1 + K**2 - 2 * sum((x[w] * y[w]) ** 2 for w in x if w in y)
    assert np.mean(found) == pytest.approx(K, abs=4 * math.sqrt(expected / columns / 1500))
    assert np.var(found) == pytest.approx(expected / columns, rel=0.15)


@pytest.mark.parametrize("analyzer", ["word", "char"])
def test_a_row_depends_on_no_other_text(analyzer, questions):
    build = get_kernel("ngram_overlap").build
    options = {"analyzer": analyzer, "columns": 1000}
    whole = build(questions[:40], **options).features().toarray()
    parts = [build(questions[s], **options).features() for s in (slice(0, 1), slice(1, 40))]
    np.testing.assert_array_equal(whole, np.vstack([part.toarray() for part in parts]))


def test_a_row_is_the_same_in_another_process_with_another_seed_of_hashes():
    code = (
        "from vendiscore.similarity.hashed_ngrams import hashed_ngrams;"
        "print(hashed_ngrams([['a', 'é', 3, b'x', ('a', 1)]], (1, 2), 97).toarray().tolist())"
    )
    ran = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert ran[0] == ran[1]


def test_tokens_that_are_equal_hash_alike_and_others_do_not():
    def row(*tokens: object) -> list[float]:
        return hashed_ngrams([tokens], (len(tokens),), 1 << 20).indices.tolist()

    assert row(3) == row(np.int64(3))
    assert row("a") == row(np.str_("a"))
    assert row(True) == row(1)
    others = [row(t) for t in ("3", 3, b"3", ("3",), (3,), (b"3",), "a", ("a", "b"), "\ud800")]
    others += [row("a", "b"), row("ab", ""), row("", "ab"), row("a", "b", "")]
    assert len({tuple(found) for found in others}) == len(others)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_texts_whose_ngrams_take_each_other_away_keep_a_row(columns):
    texts = [f"{a} {b}" for a in "abcdefgh" for b in "ijklmnop"]
    similarity = as_similarity(texts, ns=1, columns=columns, **OPTIONS)
    np.testing.assert_allclose(similarity.diagonal(), 1)
    alone = [as_similarity([t], ns=1, columns=columns, **OPTIONS).features() for t in texts]
    both = similarity.features().toarray()
    np.testing.assert_array_equal(both, np.vstack([row.toarray() for row in alone]))
    assert 1 <= compute(texts, ns=1, columns=columns, **OPTIONS)["VS"] <= columns + 1e-9


def test_more_columns_come_as_close_as_one_likes():
    exact = math.log(compute(TEXTS, **OPTIONS)["VS"])
    errors = [
        abs(math.log(compute(TEXTS, columns=c, **OPTIONS)["VS"]) - exact)
        for c in (64, 1024, 1 << 20)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-3


def test_the_note_has_the_error_of_pairs():
    notes = compute(TEXTS, columns=900, details=True, **OPTIONS)["details"]["notes"]
    (note,) = [note for note in notes if "hashed" in note]
    told, pairs = re.search(
        r"off by ([\d.]+) \(root mean square over ([\d,]+) pairs\)", note
    ).groups()
    assert float(told) == pytest.approx(1 / 30, rel=0.4)
    assert pairs == "990"
    (single,) = as_similarity(TEXTS[:1], columns=400, **OPTIONS).notes
    assert "to 400 columns: they are off by about 0.05." in single


def test_a_kernel_has_rows_where_the_width_and_what_ngrams_are_of_is_given():
    kernel = get_kernel("ngram_overlap")
    assert kernel.has_rows({"columns": 9, "analyzer": "word"})
    assert kernel.has_rows({"columns": 9, "analyzer": "char", "ns": 3})
    assert kernel.has_rows({"columns": 9, "tokenizer": str.split})
    assert not kernel.has_rows({"columns": 9})
    assert not kernel.has_rows({"analyzer": "word"})
    assert not kernel.has_rows({})


@pytest.mark.parametrize("columns", [0, -3, 2.5, "9", True])
def test_what_is_no_width_is_refused(columns):
    with pytest.raises((TypeError, ValueError), match="`columns` must be an integer of at least 1"):
        compute(TEXTS, columns=columns, **OPTIONS)
