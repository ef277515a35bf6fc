"""`phrases` lists repeated phrases by the exact gain in the score without them."""

import re

import numpy as np
import pytest

from vendiscore import SampleError, compute, phrases, score
from vendiscore.kernels.text import tokenize_texts

TEXTS = [
    "as a model I like red",
    "as a model I like blue",
    "as a model you eat",
    "the big dog ran home",
    "the big cat sat here",
    "nobody knows it",
    "red and blue",
    "I eat it as a rule",
]
CODES = [0, 0, 1, 0, 1, 1, 1, 0]
WEIGHTS = np.array([3, 1, 1, 1, 2, 1, 1, 2]) / 12
SPLIT = {"tokenizer": str.split}


def rewrite(texts, rewritten_phrases, analyzer="word"):
    """Replace each token of the phrases, wherever they occur, by a unique token."""
    separator = "" if analyzer == "char" else " "
    count = 0
    result = []
    for text in texts:
        tokens = list(text) if analyzer == "char" else text.split()
        is_replaced = np.zeros(len(tokens), bool)
        for phrase in rewritten_phrases:
            words = list(phrase) if analyzer == "char" else phrase.split()
            for start in range(len(tokens) - len(words) + 1):
                if tokens[start : start + len(words)] == words:
                    is_replaced[start : start + len(words)] = True
        for i in np.flatnonzero(is_replaced):
            tokens[i] = chr(0x4E00 + count) if analyzer == "char" else f"unique{count}"
            count += 1
        result.append(separator.join(tokens))
    return result


@pytest.mark.parametrize("q", [0.5, 1, 2, "inf"])
@pytest.mark.parametrize(
    "options",
    [
        SPLIT,
        {**SPLIT, "ns": (1, 2)},
        {**SPLIT, "ns": 2},
        {**SPLIT, "groups": CODES},
        {**SPLIT, "prompts": CODES},
        {**SPLIT, "p": WEIGHTS},
        {**SPLIT, "p": WEIGHTS, "groups": CODES},
        {"analyzer": "char", "ns": (2, 3)},
    ],
    ids=["words", "ns", "one n", "groups", "prompts", "weights", "groups and weights", "chars"],
)
def test_cost_equals_gain_in_score_of_rewritten_texts(options, q):
    result = phrases(TEXTS, q=q, n_phrases=30, **options)
    assert result.rows
    key = "VS" if q == 1 else f"VS_q{q:g}" if q != "inf" else "VS_qinf"

    def compute_score(texts):
        return compute(texts, q=q, **options)[key]

    analyzer = options.get("analyzer", "word")
    for row in result.rows:
        before = rewrite(TEXTS, row.overlaps, analyzer)
        after = rewrite(TEXTS, [*row.overlaps, row.phrase], analyzer)
        expected = compute_score(after) - compute_score(before)
        assert row.cost == pytest.approx(expected, abs=1e-9)
        assert row.share == pytest.approx(row.cost / (result.max_score - result.score))
        assert row.n_texts == sum(
            a != b for a, b in zip(TEXTS, rewrite(TEXTS, [row.phrase], analyzer), strict=True)
        )
    assert result.score == pytest.approx(compute_score(TEXTS))
    costs = [row.cost for row in result.rows]
    assert costs == sorted(costs, reverse=True)


def test_phrases_of_lists_of_lists_are_those_of_groups():
    order = np.argsort(CODES, kind="stable")
    lists = [[TEXTS[i] for i in order if CODES[i] == code] for code in (0, 1)]
    grouped = phrases([TEXTS[i] for i in order], groups=[CODES[i] for i in order], **SPLIT)
    assert phrases(lists, **SPLIT).to_dict() == grouped.to_dict()
    assert grouped.n_groups == 2
    assert "mean over 2 groups" in str(grouped)


def test_prompts_within_groups_are_scored_separately():
    prompts = list("abababab")
    result = phrases(TEXTS, groups=CODES, prompts=prompts, **SPLIT)
    assert result.score == pytest.approx(
        compute(TEXTS, groups=CODES, prompts=prompts, **SPLIT)["VS"]
    )


def test_max_score_is_that_of_texts_without_common_words():
    unlike = [f"x{i} y{i} z{i}" for i in range(8)]
    assert phrases(TEXTS, p=WEIGHTS).max_score == pytest.approx(score(unlike, p=WEIGHTS))


def test_words_of_two_phrases_are_counted_once():
    texts = [f"before we start please note that {word}" for word in "abcdef"] + [
        "note that x",
        "note that y",
    ]
    rows = phrases(texts, **SPLIT).rows
    assert [row.phrase for row in rows] == ["before we start please note that", "note that"]
    assert rows[0].overlaps == ()
    assert rows[1].overlaps == ("before we start please note that",)
    assert rows[1].cost < rows[0].cost
    total = score(
        rewrite(texts, ["note that", "before we start please note that"]), **SPLIT
    ) - score(texts, **SPLIT)
    assert rows[0].cost + rows[1].cost == pytest.approx(total)


def test_phrases_that_add_nothing_to_longer_ones_are_omitted():
    texts = [f"before we start please note that {word}" for word in "abcdef"] + ["note that x", "z"]
    assert [row.phrase for row in phrases(texts, min_texts=2, **SPLIT).rows] == [
        "before we start please note that"
    ]


def test_planted_phrase_is_first():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(60)]
    texts = [" ".join(rng.choice(words, 8)) for _ in range(60)]
    for i in range(0, 60, 6):
        texts[i] += " in conclusion it depends"
    row = phrases(texts).rows[0]
    assert row.phrase == "in conclusion it depends"
    assert row.n_texts == 10


def test_phrases_are_written_as_in_the_text():
    texts = ['Well, I don\'t  say "yes": a', 'Well, I don\'t  say "yes": b', "c", "d"]
    assert phrases(texts).rows[0].phrase == 'Well, I don\'t say "yes":'


def test_phrases_are_not_parts_of_words():
    texts = ["Lisa says it is a cat", "Lisa thinks this is a dog", "no", "yes"]
    assert "is a" in [row.phrase for row in phrases(texts).rows]


def test_texts_without_repeats_have_no_phrases():
    result = phrases(["a b", "c d", "e f"])
    assert result.rows == []
    assert str(result) == "No phrase that occurs in at least 2 of 3 texts lowers the score."
    assert len(result.to_frame()) == 0


def test_default_minimum_is_two_percent_of_texts():
    texts = [f"x{i} y{i}" for i in range(148)] + ["a b"] * 2
    assert phrases(texts).rows == []
    assert phrases(texts).min_texts == 3
    assert [row.phrase for row in phrases(texts, min_texts=2).rows] == ["a b"]


def test_unusable_texts_are_dropped_on_request():
    texts = [TEXTS[0], "", *TEXTS[1:]]
    with pytest.raises(SampleError, match="sample 1 of `texts` has no tokens"):
        phrases(texts)
    with pytest.warns(UserWarning, match="dropped 1 of 9 samples"):
        result = phrases(texts, on_error="skip")
    assert result.to_dict() == phrases(TEXTS).to_dict()


@pytest.mark.parametrize(
    ("max_exact", "max_top", "n_exact"), [(4, 100, 2), (4, 5, 0)], ids=["first", "none"]
)
def test_costs_of_large_sets_are_partly_omitted(max_exact, max_top, n_exact, monkeypatch):
    expected = phrases(TEXTS, **SPLIT)
    for name, value in (("MAX_EXACT_SIZE", max_exact), ("MAX_TOP_SIZE", max_top), ("N_TOP", 2)):
        monkeypatch.setattr(f"vendiscore.tools.analysis.phrases.{name}", value)
    result = phrases(TEXTS, **SPLIT)
    assert [not np.isnan(row.cost) for row in result.rows] == [
        i < n_exact for i in range(len(result.rows))
    ]
    known = {row.phrase: row for row in expected.rows}
    for row in result.rows[:n_exact]:
        assert row.cost == pytest.approx(known[row.phrase].cost)
    ranked = [row.cost_q2 for row in result.rows]
    assert ranked == sorted(ranked, reverse=True)
    assert "order 2" in result.sentence
    assert result.notes
    assert np.isnan(result.score) == (n_exact == 0)


def test_texts_may_be_any_sequence_or_iterator():
    pd = pytest.importorskip("pandas")
    expected = phrases(TEXTS).to_dict()
    for texts in (tuple(TEXTS), iter(TEXTS), np.array(TEXTS), pd.Series(TEXTS, index=range(3, 11))):
        assert phrases(texts).to_dict() == expected
    compared = phrases(TEXTS, TEXTS[::-1], permutations=19).to_dict()
    assert phrases(iter(TEXTS), pd.Series(TEXTS[::-1]), permutations=19).to_dict() == compared


def test_long_computations_are_announced(monkeypatch, capsys):
    monkeypatch.setattr("vendiscore.support.progress._MIN_ANNOUNCED_SECONDS", 0)
    phrases(TEXTS)
    assert "Costs of 15 phrases: about" in capsys.readouterr().err


@pytest.mark.parametrize("texts", [["one text only"], ["a", "b"]])
def test_few_texts_have_no_phrases(texts):
    assert phrases(texts).rows == []


A = [f"Sure, I can help with w{i} x{i}" for i in range(8)] + ["red dog", "blue cat"]
B = [f"y{i} z{i} is here" for i in range(8)] + ["red cat", "blue dog"]


def test_phrase_of_one_set_is_significant():
    result = phrases(A, B, permutations=199)
    row = result.rows[0]
    assert row.phrase == "Sure, I can help with"
    assert (row.n_texts_a, row.n_texts_b) == (8, 0)
    assert row.p <= 0.05
    assert row.cost_a == pytest.approx(phrases(A).rows[0].cost)
    assert row.cost_b == 0
    assert row.difference == row.cost_a
    assert result.score_a == pytest.approx(score(A))
    assert result.score_b == pytest.approx(score(B))
    assert "costs set A more than set B" in str(result)


def test_phrase_that_costs_the_second_set_more_is_not_significant():
    result = phrases(B, A, permutations=99)
    assert {row.phrase: row.p for row in result.rows}["Sure, I can help with"] > 0.5


def test_sets_are_compared_at_the_size_of_the_smaller_one():
    result = phrases(A * 3, B, permutations=19)
    assert result.size == 10
    assert result.score_b == pytest.approx(score(B))


def test_sets_are_compared_within_prompts():
    prompts = [[i % 2 for i in range(10)], [i % 2 for i in range(8)] + [0, 1]]
    result = phrases(A, B, prompts=prompts, permutations=99)
    assert result.n_groups == 2
    assert result.score_a == pytest.approx(compute(A, groups=prompts[0])["VS"])
    as_lists = phrases([A[::2], A[1::2]], [B[::2], B[1::2]], permutations=99)
    assert as_lists.to_dict() == result.to_dict()
    assert result.rows[0].phrase == "Sure, I can help with"


def test_order_of_texts_does_not_change_p_at_equal_sizes():
    p_values = {row.phrase: row.p for row in phrases(A, B, permutations=499).rows}
    again = {row.phrase: row.p for row in phrases(A[::-1], B[::-1], permutations=499).rows}
    assert p_values.keys() == again.keys()
    assert list(p_values.values()) == pytest.approx([again[name] for name in p_values], abs=0.1)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("a text",), {}, TypeError, "`texts` must be a list of strings, got str: 'a text'"),
        (([1.0, 2.0],), {}, SampleError, "must be a str, got float"),
        ((TEXTS, "a text"), {}, TypeError, "`other` must be a list of strings"),
        ((TEXTS, TEXTS), {"p": WEIGHTS}, TypeError, "`p` is not supported with a second set"),
        ((TEXTS,), {"permutations": 99}, TypeError, "`permutations` requires a second set"),
        ((TEXTS,), {"seed": 1}, TypeError, "`seed` requires a second set"),
        ((TEXTS,), {"q": 0}, ValueError, "`q` must be"),
        ((TEXTS,), {"min_texts": 1}, ValueError, "`min_texts` must be"),
        ((TEXTS,), {"n_phrases": 0}, ValueError, "`n_phrases` must be"),
        ((TEXTS, TEXTS), {"permutations": 3}, ValueError, "`permutations` must be"),
        ((TEXTS, TEXTS), {"groups": [CODES, CODES], "prompts": [CODES, CODES]}, ValueError,
         "cannot be combined with a second set"),
        ((TEXTS, [TEXTS]), {}, ValueError, "is a list of lists, which defines groups"),
    ],
)  # fmt: skip
def test_invalid_arguments_raise_errors(arguments, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        phrases(*arguments, **options)


def test_tokens_are_those_of_the_kernel():
    texts = ["你好吗朋友", "你好吗先生", "再见"]
    result = phrases(texts, analyzer="char", ns=(1, 2))
    assert result.rows[0].phrase == "你好吗"
    assert tokenize_texts(texts, None, "char")[0] == list(texts[0])


@pytest.mark.parametrize("keyword", ["k", "kernel", "model", "sigma", "score_K"])
def test_unknown_kernel_keywords_name_the_options_of_the_kernel(keyword):
    message = (
        f"unknown keyword {keyword!r}. `phrases` always uses the n-gram kernel 'ngram_overlap'; "
        f"set its options with `ns`, `tokenizer` and `analyzer`."
    )
    with pytest.raises(TypeError, match=re.escape(message)):
        phrases(["a b c", "a b d"], **{keyword: "cosine"})


def test_misspelled_keywords_are_suggested():
    with pytest.raises(TypeError, match=r"'n_phrase'\. Did you mean `n_phrases`"):
        phrases(["a b c", "a b d"], n_phrase=3)
