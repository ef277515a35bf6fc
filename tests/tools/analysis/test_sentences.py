"""Sentences of the report and of the page: how samples were compared, pictures."""

from dataclasses import replace

import numpy as np
import pytest

from vendiscore import as_similarity, compare
from vendiscore.report import report_of
from vendiscore.tools.analysis import sentences
from vendiscore.tools.analysis.findings import find

TEXTS = [f"the {a} {b} again" for a in ("cat", "dog", "cow") for b in ("sat", "ran", "sat")]
HOW = {"k": "ngram_overlap", "ns": [1], "q": 1}


def test_small_numbers_keep_four_digits():
    assert [sentences.short(value) for value in (12.3456, 0.0123456)] == ["12.35", "0.01235"]


def test_of_how_many_pairs_were_looked_at_is_said_where_not_of_all():
    assert sentences.looked_at(5, 5) == ""
    assert "2,000 of the 20,000 samples, drawn at random" in sentences.looked_at(2000, 20_000)


def test_findings_of_a_similarity_that_is_known_are_those_of_the_samples():
    known = as_similarity(TEXTS, k="ngram_overlap", ns=[1])
    ours, right = find(TEXTS, None, HOW, similarity=known), find(TEXTS, None, HOW)
    assert ours.similarity is known
    assert ours.numbers == right.numbers
    assert ours.arguments == right.arguments
    assert report_of(ours).html() == report_of(right).html()
    labels = ["x", "y", "x", "y", "x", "y", "x", "y", "x"]
    grouped = [
        find(TEXTS, None, {**HOW, "groups": labels}, similarity=each).numbers
        for each in (known, None)
    ]
    assert grouped[0] == grouped[1]


def test_near_duplicates_are_those_of_a_threshold_of_choice():
    found = replace(find(TEXTS, None, HOW), threshold=0.7, floor=0.1)
    assert found.explanation.threshold == 0.7
    assert found.explanation.floor == 0.1
    assert "similarity 0.7 or more" in report_of(found).html()


def test_samples_can_be_shown_otherwise_than_they_came():
    found = find(TEXTS, None, HOW)
    page = report_of(found, "Mine", [f"text no. {i}" for i in range(9)]).html()
    assert "text no. 8" in page
    assert "<title>Mine</title>" in page


def test_sets_that_were_compared_are_drawn_and_told_pair_by_pair():
    pytest.importorskip("matplotlib")
    from vendiscore_page.answers.set_pictures import compared

    X = np.random.default_rng(0).normal(size=(30, 3))
    sets = {"one": X[:10], "two": X[10:20], "three": X[20:] * [1, 0, 0]}
    result = compare(sets, k="cosine", permutations=99)
    assert "95 % interval" in compared(result).text
    assert len(result.verdicts) == 3
    assert "No difference shown between one and two" in result.verdicts[0]
