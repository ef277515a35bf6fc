"""Data of reports and of the web app; each matrix is decomposed once."""

import json
from unittest import mock

import numpy as np
import pytest
from decompositions import record_decompositions

from vendiscore import report
from vendiscore.report import ReportData, compute_report_data

RNG = np.random.default_rng(0)
# Intervals of the score and of growth each decompose a matrix with a recurring text.
INTERVALS = ["eigvalsh", "eigvalsh"]
TEXTS = [" ".join(RNG.choice([f"w{i}" for i in range(30)], 8)) for _ in range(20)]


@pytest.fixture
def score_in_page():
    """Return the scoring function of the web app, which requires Pillow."""
    pytest.importorskip("PIL")
    from page_answers import score_samples

    return score_samples


def list_decompositions(build_report) -> list[str]:
    """Return the names of functions that decomposed the matrix of all samples, or its factor.

    Costs of phrases are omitted, which decompose the matrices of rewritten texts.
    """
    without_phrases = mock.patch.object(ReportData, "phrases", None)
    with without_phrases, record_decompositions("cholesky") as decompositions:
        build_report()
    return [name for name, shape in decompositions if shape == (20, 20)]


@pytest.mark.parametrize("q", [0, 1, 2, 3, "inf"])
def test_report_decomposes_the_matrix_once(q):
    assert list_decompositions(lambda: report(TEXTS, q=q).html()) == [
        "eigh",
        *INTERVALS[: 1 + bool(q)],
    ]


def test_duplicates_keep_indices_despite_skipped_samples():
    texts = ["", "the cow", "a dog ran", "The  cow!"]
    with pytest.warns(UserWarning, match="dropped"):
        result = compute_report_data(texts, None, {"k": "ngram_overlap", "on_error": "skip"})
    assert result.explanation.groups == [(1, [3])]


def test_weighted_report_decomposes_the_matrix_once():
    p = np.arange(1, 21) / 210
    assert list_decompositions(lambda: report(TEXTS, p=p).html()) == ["eigh"]


@pytest.mark.parametrize("q", [0, 1, 2])
def test_page_decomposes_the_matrix_once(q, score_in_page):
    result = None

    def score():
        nonlocal result
        result = score_in_page(TEXTS, q=q)

    # The map decomposes another matrix, diag(λ) − m mᵀ.
    intervals = INTERVALS[: 1 + bool(q)]
    assert sorted(list_decompositions(score)) == ["eigh", "eigh", *intervals]
    assert list_decompositions(result.report) == []


def test_report_of_several_measures_decomposes_the_matrix_once():
    result = list_decompositions(lambda: report(TEXTS, measures=["VS", "SampleCoverage"]).html())
    assert result == ["eigh", *INTERVALS[:1]]


@pytest.mark.filterwarnings("ignore:.*two groups")
@pytest.mark.parametrize(
    ("samples", "options"),
    [
        (TEXTS, {}),
        (TEXTS, {"q": "inf", "measures": ["IntDiv", "VS"]}),
        (TEXTS, {"groups": [0, 1] * 10}),
        (np.eye(5), {"metric": "euclidean", "measures": "MagArea"}),
    ],
    ids=["texts", "infinite order", "two groups", "distances"],
)
def test_to_dict_equals_compute_and_is_json(samples, options):
    report_data = compute_report_data(samples, None, options)
    result = report_data.to_dict()
    json.dumps(result, allow_nan=False)
    key = result["key"]
    assert result["value"] == report_data.numbers[key]
    for name in ("se", "low", "high"):
        expected = report_data.numbers.get(f"{key}_{name}", np.nan)
        assert result[name] == (None if np.isnan(expected) else expected)
    assert result["n"] == len(samples)
    assert result["q"] == ("inf" if "q" in options else 1)
    assert (result["by_group"] is None) == ("groups" not in options)
    assert result["max_score"] <= result["group_size"] == result["n"] / (1 + ("groups" in options))
    whole_set = result["by_group"] is None and report_data.similarity is not None
    assert (result["shares"] is not None) == (result["profile"] is not None) == whole_set
    if whole_set and key == "VS":
        assert result["profile"]["1"] == pytest.approx(result["value"])
        assert sum(result["shares"]) == pytest.approx(1)


def test_dropped_matrices_are_recomputed():
    from vendiscore.tools.analysis.report_data import MAX_COMPARED

    X = np.random.default_rng(0).normal(size=(MAX_COMPARED + 50, 4))
    result = compute_report_data(X, None, {"k": "cosine"})
    K, explanation = result.K, result.explanation
    reduced = result.without_matrices()
    assert reduced.spectrum.vectors is None
    assert reduced.explanation is explanation
    assert reduced.to_dict() == result.to_dict()
    np.testing.assert_array_equal(reduced.K, K)
