"""Sentences of the report and of the page: how samples were compared, pictures."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from vendiscore import as_similarity, compare
from vendiscore.report import report_of
from vendiscore.tools.analysis import report_text
from vendiscore.tools.analysis.report_data import compute_report_data

TEXTS = [f"the {a} {b} again" for a in ("cat", "dog", "cow") for b in ("sat", "ran", "sat")]
HOW = {"k": "ngram_overlap", "ns": [1], "q": 1}


def test_small_numbers_keep_four_digits():
    assert [report_text.format_short(value) for value in (12.3456, 0.0123456)] == [
        "12.35",
        "0.01235",
    ]


def test_of_how_many_pairs_were_looked_at_is_said_where_not_of_all():
    assert report_text.describe_subsample(5, 5) == ""
    assert "2,000 of the 20,000 samples, drawn at random" in report_text.describe_subsample(
        2000, 20_000
    )


def test_findings_of_a_similarity_that_is_known_are_those_of_the_samples():
    known = as_similarity(TEXTS, k="ngram_overlap", ns=[1])
    ours, right = (
        compute_report_data(TEXTS, None, HOW, similarity=known),
        compute_report_data(TEXTS, None, HOW),
    )
    assert ours.similarity is known
    assert ours.numbers == right.numbers
    assert ours.arguments == right.arguments
    assert report_of(ours).html() == report_of(right).html()
    labels = ["x", "y", "x", "y", "x", "y", "x", "y", "x"]
    grouped = [
        compute_report_data(TEXTS, None, {**HOW, "groups": labels}, similarity=each).numbers
        for each in (known, None)
    ]
    assert grouped[0] == grouped[1]


def test_near_duplicates_are_those_of_a_threshold_of_choice():
    result = replace(compute_report_data(TEXTS, None, HOW), threshold=0.7, floor=0.1)
    assert result.explanation.threshold == 0.7
    assert result.explanation.floor == 0.1
    assert "similarity 0.7 or more" in report_of(result).html()


def test_samples_can_be_shown_otherwise_than_they_came():
    result = compute_report_data(TEXTS, None, HOW)
    page = report_of(result, "Mine", [f"text no. {i}" for i in range(9)]).html()
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


def test_names_before_version_0_5_still_work():
    public = importlib.import_module("vendiscore.report")
    old = importlib.import_module("vendiscore.analysis.sentences")
    assert (old.how, old.short) == (report_text.describe_kernel, report_text.format_short)
    assert public.sentences.copies is report_text.describe_duplicates
    assert public.Findings is public.ReportData
    result = public.find(TEXTS, None, HOW)
    assert result.places is result.indices
    assert result.looked is result.subsample
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = result.other
