"""Texts of reports and of the web app, such as descriptions of kernels and comparisons."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from vendiscore import as_similarity, compare, report
from vendiscore.report import report_of
from vendiscore.tools.analysis import report_text
from vendiscore.tools.analysis.report_data import compute_report_data

TEXTS = [f"the {a} {b} again" for a in ("cat", "dog", "cow") for b in ("sat", "ran", "sat")]
OPTIONS = {"k": "ngram_overlap", "ns": [1], "q": 1}


def test_format_short_keeps_four_digits():
    assert [report_text.format_short(value) for value in (12.3456, 0.0123456)] == [
        "12.35",
        "0.01235",
    ]


def test_describe_subsample_is_empty_for_all_samples():
    assert report_text.describe_subsample(5, 5) == ""
    assert "random subset of 2,000 of the 20,000 samples" in report_text.describe_subsample(
        2000, 20_000
    )


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (np.eye(1), "A single sample has nothing to differ from."),
        (np.ones((4, 4)), "These 4 texts are nearly identical."),
        (np.eye(4), "Nearly all 4 texts are different: they count as 4.0."),
        (np.kron(np.eye(3), np.ones((2, 2))), "These 6 texts count as 3.0 different ones."),
        (np.kron(np.eye(2), np.ones((3, 3))), "These 6 texts count as only 2.0 different ones."),
    ],
)
def test_finding_of_one_set_states_the_score(matrix, expected):
    result = compute_report_data(matrix, None, {"score_K": True, "q": 1})
    assert report_text.describe_finding(result, "texts") == expected
    assert expected in report_of(result).html().replace("samples", "texts").replace("1 of", "")


def test_finding_of_groups_is_their_mean():
    options = {"k": "labels", "q": 1, "groups": [0, 0, 0, 0, 1, 1, 1, 1]}
    result = compute_report_data(list("abababab"), None, options)
    expected = "In a group of 4 texts, there are 2.0 different ones on average."
    assert report_text.describe_finding(result, "texts") == expected


def test_finding_is_empty_for_other_measures():
    result = compute_report_data(TEXTS, None, {"k": "ngram_overlap", "measures": "IntDiv"})
    assert report_text.describe_finding(result, "texts") == ""


def test_finding_of_comparison_names_the_most_and_the_least_diverse_set():
    groups = [[i // 4 for i in range(40)]] * 2
    varied, uniform = list(range(40)), [*(i // 4 for i in range(38)), 38, 39]
    result = compare(varied, uniform, groups=groups, k="labels", names=["Raven", "Parrot"])
    assert report_text.describe_comparison(result, "texts") == (
        "Raven gives 4.0 different answers out of 4; Parrot repeats itself: 1.2."
    )
    result = compare(varied, varied[:20] + varied[:20], k="labels", names=["a", "b"])
    assert report_text.describe_comparison(result, "texts") == (
        "a contains 40.0 different texts out of 40; b contains 20.0."
    )
    result = compare(varied, varied[:24], k="labels", names=["a", "b"])
    assert report_text.describe_comparison(result, "images") == (
        "a contains 24.0 different images out of every 24, b 24.0: no difference shown."
    )


def test_precomputed_similarity_gives_the_report_of_samples():
    precomputed = as_similarity(TEXTS, k="ngram_overlap", ns=[1])
    result, expected = (
        compute_report_data(TEXTS, None, OPTIONS, similarity=precomputed),
        compute_report_data(TEXTS, None, OPTIONS),
    )
    assert result.similarity is precomputed
    assert result.numbers == expected.numbers
    assert result.arguments == expected.arguments
    assert report_of(result).html() == report_of(expected).html()
    labels = ["x", "y", "x", "y", "x", "y", "x", "y", "x"]
    grouped = [
        compute_report_data(
            TEXTS, None, {**OPTIONS, "groups": labels}, similarity=similarity
        ).numbers
        for similarity in (precomputed, None)
    ]
    assert grouped[0] == grouped[1]


def test_threshold_and_floor_change_near_duplicates():
    result = replace(compute_report_data(TEXTS, None, OPTIONS), threshold=0.7, floor=0.1)
    assert result.explanation.threshold == 0.7
    assert result.explanation.floor == 0.1
    assert "similarity 0.7 or more" in report_of(result).html()


def test_report_shows_custom_sample_texts():
    result = compute_report_data(TEXTS, None, OPTIONS)
    html = report_of(result, "Mine", [f"text no. {i}" for i in range(9)]).html()
    assert "text no. 8" in html
    assert "<title>Mine</title>" in html


def test_comparison_is_described_pair_by_pair():
    pytest.importorskip("matplotlib")
    from vendiscore_page.answers.set_pictures import draw_comparison

    X = np.random.default_rng(0).normal(size=(30, 3))
    sets = {"one": X[:10], "two": X[10:20], "three": X[20:] * [1, 0, 0]}
    result = compare(sets, k="cosine", permutations=99)
    assert "95 % interval" in draw_comparison(result).text
    assert len(result.verdicts) == 3
    assert "No difference shown between one and two" in result.verdicts[0]


def test_names_before_version_0_5_still_work():
    public = importlib.import_module("vendiscore.report")
    old = importlib.import_module("vendiscore.analysis.sentences")
    assert (old.how, old.short) == (report_text.describe_kernel, report_text.format_short)
    assert public.sentences.copies is report_text.describe_duplicates
    assert public.Findings is public.ReportData
    result = public.find(TEXTS, None, OPTIONS)
    assert result.places is result.indices
    assert result.looked is result.subsample
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = result.other


def test_kernel_of_measures_that_compare_no_samples_is_not_described():
    pytest.importorskip("matplotlib")
    for samples, measure in ((TEXTS, "CompressionRatio"), (np.eye(8)[:6], "GMStds")):
        result = compute_report_data(samples, None, {"measures": measure})
        assert report_text.describe_kernel(result) == ""
        assert measure in report(samples, measures=measure).html()
