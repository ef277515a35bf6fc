"""Kernels are unsuitable for content and languages that they do not support."""

import pytest

from vendiscore.encoders.kernel_scope import find_unsupported

PROSE = ["A cat sat on the mat.", "It rained all day."]
PROTEINS = ["MKVLAAGIVGLLLAQWERTYHGF", "MKTAYIAKQRQISFVKSHFSRQLE"]
JAPANESE = ["猫が座る。", "雨が降る。"]


@pytest.mark.parametrize(
    ("name", "samples", "content", "kernel"),
    [
        ("semantic", PROSE, "texts", None),
        ("semantic", JAPANESE, "texts", "k='ngram_overlap'"),
        ("static", PROTEINS, "sequences", "k='ngram_overlap', analyzer='char'"),
        ("static", PROTEINS, "texts", "k='ngram_overlap', analyzer='char'"),
        ("semantic", ["CCO", "CCN"], "molecules", "k='morgan'"),
        ("semantic", ["a.png"], "images", "k='pixels'"),
        ("semantic", [[1.0]], "vectors", "k='cosine'"),
        ("ngram_overlap", JAPANESE, "texts", None),
        ("ngram_overlap", PROTEINS, "sequences", None),
        ("bleu", PROTEINS, "sequences", "k='ngram_overlap', analyzer='char'"),
        ("cosine", PROSE, "texts", "k='ngram_overlap'"),
    ],
)
def test_unsupported_samples_are_detected(name, samples, content, kernel):
    mismatch = find_unsupported(name, samples, content)
    assert (mismatch and mismatch.kernel) == kernel
