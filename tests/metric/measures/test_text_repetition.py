"""Measures of repetition in texts: distinct n-grams, Self-BLEU and compression ratio."""

import gzip
import re

import numpy as np
import pytest

from vendiscore import SampleError, compute
from vendiscore.encoders.treebank import tokenize

TEXTS = ["a cat sat on a mat", "the cat sat", "a cat sat on a mat", "no, no, no!", "dogs ran"]
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "mat", "Red", "red", "."]


def make_texts(seed, n=12, min_words=1, max_words=9):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(min_words, max_words + 1))) for _ in range(n)]


def make_ngrams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def compute_distinct_fraction(texts, sizes, split=str.split):
    """Return the number of distinct n-grams divided by the number of n-grams."""
    ratios = []
    for n in sizes:
        all_ngrams = [gram for text in texts for gram in make_ngrams(split(text), n)]
        ratios.append(len(set(all_ngrams)) / len(all_ngrams))
    return np.mean(ratios)


def evaluate(texts, measure, **options):
    return compute(texts, measures=measure, **options)[measure]


class TestNgramDiversity:
    @pytest.mark.parametrize("sizes", [1, [2], (1, 2), (1, 2, 3, 4)])
    @pytest.mark.parametrize("seed", range(3))
    def test_ngram_diversity_equals_distinct_over_total_ngrams(self, sizes, seed):
        texts = make_texts(seed)
        result = evaluate(texts, "NgramDiversity", sizes=sizes, tokenizer=str.split)
        assert result == pytest.approx(
            compute_distinct_fraction(texts, np.atleast_1d(sizes)), abs=1e-12
        )

    def test_ngram_diversity_matches_hand_computed_values(self):
        texts = ["a b a b", "a b"]  # 1-grams: a b a b, a b; 2-grams: ab ba ab, ab
        assert evaluate(texts, "NgramDiversity", sizes=1) == 2 / 6
        assert evaluate(texts, "NgramDiversity", sizes=2) == 2 / 4
        assert evaluate(["a b c d e"], "NgramDiversity") == 1.0

    def test_ngram_diversity_uses_tokens_of_the_ngram_kernel(self):
        default_value = compute_distinct_fraction(TEXTS, (1, 2), tokenize)
        measure_options = {"measures": ["VS", "NgramDiversity"], "sizes": (1, 2)}
        assert compute(TEXTS, **measure_options)["NgramDiversity"] == pytest.approx(default_value)
        assert compute(TEXTS, k="labels", **measure_options)["NgramDiversity"] == pytest.approx(
            default_value
        )
        for options, split in (
            ({"tokenizer": str.split}, str.split),
            ({"analyzer": "char"}, list),
        ):
            expected = pytest.approx(compute_distinct_fraction(TEXTS, (1, 2), split))
            for kernel in ({}, {"k": "ngram_overlap"}):
                assert (
                    compute(TEXTS, **measure_options, **options, **kernel)["NgramDiversity"]
                    == expected
                )
                assert (
                    compute(TEXTS, **measure_options, **options, **kernel)["VS"]
                    == compute(TEXTS, **options)["VS"]
                )
                single_measure = evaluate(
                    TEXTS, "NgramDiversity", sizes=(1, 2), **options, **kernel
                )
                assert single_measure == expected

    def test_signature_contains_tokenization(self):
        def signature(**arguments):
            arguments = {"measures": "NgramDiversity", "details": True} | arguments
            return compute(TEXTS, **arguments)["details"]["signature"]

        assert signature().startswith("NgramDiversity|analyzer=word|sizes=1,2,3,4|n=5|")
        two_measures = signature(measures=["VS", "NgramDiversity"])
        assert two_measures.count("analyzer=word") == 1
        option_sets = [{}, {"analyzer": "char"}, {"tokenizer": str.split}]
        assert len({signature(**options) for options in option_sets} | {two_measures}) == 4

    def test_scripts_without_spaces_use_character_ngrams_in_all_groups(self):
        groups = [
            ["我喜欢猫", "我喜欢狗"],
            ["a cat", "a dog"],
            ["我喜欢红色", "他喜欢猫", "他走了"],
        ]
        flat = [text for group in groups for text in group]
        with pytest.warns(UserWarning, match="n-grams of characters are used for all") as warned:
            result = evaluate(groups, "NgramDiversity", sizes=1)
        assert len(warned) == 1
        assert result == np.mean([compute_distinct_fraction(group, [1], list) for group in groups])
        with pytest.warns(UserWarning, match="n-grams of characters are"):
            assert evaluate(flat, "NgramDiversity", sizes=1) == compute_distinct_fraction(
                flat, [1], list
            )

    def test_ngram_sizes_longer_than_all_texts_are_ignored_with_a_note(self):
        result = compute(["a b", "c"], measures="NgramDiversity", details=True)
        assert result["NgramDiversity"] == 1.0
        assert result["details"]["notes"] == [
            "NgramDiversity ignores n-grams of 3, 4 tokens, because the longest text has 2."
        ]
        with pytest.raises(
            ValueError, match=r"requires a text of at least 3 tokens.* longest text has 2"
        ):
            compute(["a b", "c"], measures="NgramDiversity", sizes=[3, 4])

    @pytest.mark.parametrize(
        ("option", "error", "message"),
        [
            ({"sizes": 0}, ValueError, "`sizes` must be an integer of at least 1, got 0"),
            ({"sizes": []}, ValueError, "`sizes` must contain at least one length of n-grams"),
        ],
    )
    def test_ngram_diversity_rejects_invalid_options(self, option, error, message):
        with pytest.raises(error, match=message):
            compute(TEXTS, measures="NgramDiversity", **option)


class TestSelfBLEU:
    @staticmethod
    def compute_with_sacrebleu(texts, lowercase=False, **options):
        from sacrebleu.metrics import BLEU

        bleu = BLEU(effective_order=True, lowercase=lowercase, **options)
        references = [texts[:i] + texts[i + 1 :] for i in range(len(texts))]
        pairs = zip(texts, references, strict=True)
        return (
            np.mean([bleu.sentence_score(text, other_texts).score for text, other_texts in pairs])
            / 100
        )

    @pytest.mark.parametrize("n", [2, 3, 5, 12])
    @pytest.mark.parametrize("seed", range(6))
    def test_self_bleu_equals_mean_sentence_bleu_against_other_texts(self, seed, n):
        pytest.importorskip("sacrebleu")
        texts = make_texts(seed, n)
        assert evaluate(texts, "SelfBLEU") == pytest.approx(
            self.compute_with_sacrebleu(texts), abs=1e-12
        )

    @pytest.mark.parametrize(
        ("kernel_options", "sacrebleu_options"),
        [
            ({"smooth": "floor"}, {"smooth_method": "floor"}),
            ({"smooth": "add-k", "max_order": 2}, {"smooth_method": "add-k", "max_ngram_order": 2}),
            ({"smooth": "none"}, {"smooth_method": "none"}),
            ({"tokenize": "char", "max_order": 6}, {"tokenize": "char", "max_ngram_order": 6}),
            ({"lowercase": True}, {"lowercase": True}),
        ],
        ids=str,
    )
    def test_self_bleu_uses_options_of_the_bleu_kernel(self, kernel_options, sacrebleu_options):
        pytest.importorskip("sacrebleu")
        texts = make_texts(7, 20)
        expected = pytest.approx(self.compute_with_sacrebleu(texts, **sacrebleu_options), abs=1e-12)
        kernel_options |= {"k": "bleu", "psd": "clip"}
        assert evaluate(texts, "SelfBLEU", **kernel_options) == expected
        assert evaluate(texts, "SelfBLEU", **kernel_options) != evaluate(texts, "SelfBLEU")
        result = compute(texts, measures=["VS", "SelfBLEU"], **kernel_options)
        assert result["SelfBLEU"] == expected
        assert result["VS"] == compute(texts, **kernel_options)["VS"]
        options = {"measures": "SelfBLEU", "details": True, **kernel_options}
        name, value = next(iter(kernel_options.items()))
        assert f"|{name}={value}|" in compute(texts, **options)["details"]["signature"]

    def test_self_bleu_of_questions_matches_sacrebleu(self, questions):
        pytest.importorskip("sacrebleu")
        texts = [*questions[:150], *questions[:3]]
        assert evaluate(texts, "SelfBLEU") == pytest.approx(
            self.compute_with_sacrebleu(texts), abs=1e-8
        )

    def test_self_bleu_of_duplicates_is_one_and_of_disjoint_texts_zero(self):
        pytest.importorskip("sacrebleu")
        assert evaluate(["a cat sat on it"] * 3, "SelfBLEU") == 1.0
        assert evaluate(["a", "a"], "SelfBLEU") == 1.0
        assert evaluate(["a cat", "the dog", "red"], "SelfBLEU") == 0.0

    def test_self_bleu_rejects_single_texts_and_unknown_options(self):
        pytest.importorskip("sacrebleu")
        with pytest.raises(ValueError, match=r"SelfBLEU requires at least 2 texts, got 1; pass"):
            compute(["alone"], measures="SelfBLEU")
        for name, misspelt, suggestion in (("smooth", "ext", "exp"), ("tokenize", "13b", "13a")):
            with pytest.raises(
                ValueError, match=f"`{name}` is unknown: '{misspelt}'.*'{suggestion}'"
            ):
                compute(TEXTS, k="bleu", measures="SelfBLEU", **{name: misspelt})
        with pytest.raises(
            TypeError,
            match=r"unknown keyword 'max_order'\. It is an option of 'bleu'; pass the name",
        ):
            compute(TEXTS, measures="SelfBLEU", max_order=2)


class TestCompressionRatio:
    def test_compression_ratio_matches_gzip_of_joined_texts(self):
        texts = [*TEXTS, "été", "\ud800"]
        data = " ".join(texts).encode("utf-8", "surrogatepass")
        expected = len(data) / len(gzip.compress(data, 9))
        assert evaluate(texts, "CompressionRatio") == pytest.approx(expected, abs=1e-12)

    def test_compression_ratio_grows_with_repetition(self):
        texts = [" ".join(np.random.default_rng(i).choice(WORDS, 20)) for i in range(50)]
        ratios = [evaluate(texts[:m] * (50 // m), "CompressionRatio") for m in (50, 25, 10, 5, 1)]
        assert ratios == sorted(set(ratios))


@pytest.mark.parametrize("measure", ["NgramDiversity", "SelfBLEU", "CompressionRatio"])
class TestEveryMeasure:
    def test_value_of_groups_is_mean_over_groups(self, measure):
        groups = [make_texts(1, 4), make_texts(2, 7), make_texts(3, 5)]
        expected = np.mean([evaluate(group, measure) for group in groups])
        assert evaluate(groups, measure) == pytest.approx(expected, abs=1e-12)
        flat = [text for group in groups for text in group]
        labels = np.repeat([0, 1, 2], [4, 7, 5])
        result = compute(flat, groups=labels, measures=[measure, "VS"])
        assert result[measure] == pytest.approx(expected, abs=1e-12)

    def test_dropped_texts_are_ignored(self, measure):
        texts = make_texts(4, 8, min_words=2)
        options = {"measures": [measure], "k": "ngram_overlap", "ns": 2, "on_error": "skip"}
        with pytest.warns(UserWarning, match="dropped 1 of 9 samples"):
            result = compute([*texts[:3], "word", *texts[3:]], **options)
        assert result[measure] == pytest.approx(evaluate(texts, measure), abs=1e-12)

    @pytest.mark.parametrize("samples", [np.eye(3), ["a", 3.5]], ids=["rows", "number"])
    def test_samples_other_than_strings_raise(self, measure, samples):
        description = "ndarray" if isinstance(samples, np.ndarray) else "float at index 1"
        message = f"{measure} requires samples that are strings, got {description}; remove"
        with pytest.raises(TypeError, match=re.escape(message)):
            compute(samples, measures=measure)

    def test_empty_texts_raise_with_sample_and_group(self, measure):
        with pytest.raises(SampleError, match=r"^sample 3 \(sample 1 of group 1\) (has no|is emp)"):
            compute([["a", "b"], ["c", " ", "d"]], measures=measure)

    def test_weights_raise(self, measure):
        with pytest.raises(ValueError, match=f"`p` are not supported by {measure}"):
            compute(TEXTS, measures=measure, p=np.full(5, 0.2))

    def test_interval_contains_the_value(self, measure):
        result = compute(make_texts(5, 30), measures=measure, ci=0.9)
        assert result[f"{measure}_low"] < result[measure] < result[f"{measure}_high"]
