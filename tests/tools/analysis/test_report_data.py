"""The findings of a report and of the page: each matrix is decomposed once for all of it."""

import json

import numpy as np
import pytest
from decompositions import record_decompositions

from vendiscore import report
from vendiscore.report import compute_report_data

RNG = np.random.default_rng(0)
# Intervals of the score and of growth look at sets in which one text recurs more often.
INTERVALS = ["eigvalsh", "eigvalsh"]
TEXTS = [" ".join(RNG.choice([f"w{i}" for i in range(30)], 8)) for _ in range(20)]


@pytest.fixture
def scored():
    """Score samples as the page does, which needs Pillow."""
    return pytest.importorskip("answered").scored


def decomposed(make) -> list[str]:
    """Return the functions that decomposed a matrix of all samples, or a factor of it."""
    with record_decompositions("cholesky") as seen:
        make()
    return [name for name, shape in seen if shape == (20, 20)]


@pytest.mark.parametrize("q", [0, 1, 2, 3, "inf"])
def test_report_decomposes_the_matrix_of_all_samples_once(q):
    assert decomposed(lambda: report(TEXTS, q=q).html()) == ["eigh", *INTERVALS[: 1 + bool(q)]]


def test_repeats_next_to_samples_left_out():
    texts = ["", "the cow", "a dog ran", "The  cow!"]
    with pytest.warns(UserWarning, match="dropped"):
        result = compute_report_data(texts, None, {"k": "ngram_overlap", "on_error": "skip"})
    assert result.explanation.groups == [(1, [3])]


def test_report_of_weighted_samples_decomposes_their_matrix_once():
    p = np.arange(1, 21) / 210
    assert decomposed(lambda: report(TEXTS, p=p).html()) == ["eigh"]


@pytest.mark.parametrize("q", [0, 1, 2])
def test_page_decomposes_the_matrix_of_all_samples_once(q, scored):
    result = None

    def score():
        nonlocal result
        result = scored(TEXTS, q=q)

    # The map has the eigenvectors of another matrix, diag(λ) − m mᵀ.
    intervals = INTERVALS[: 1 + bool(q)]
    assert sorted(decomposed(score)) == ["eigh", "eigh", *intervals]
    assert decomposed(result.report) == []


def test_report_of_several_measures_decomposes_their_matrix_once():
    result = decomposed(lambda: report(TEXTS, measures=["VS", "SampleCoverage"]).html())
    assert result == ["eigh", *INTERVALS[:1]]


@pytest.mark.filterwarnings("ignore:.*two groups")
@pytest.mark.parametrize(
    ("samples", "how"),
    [
        (TEXTS, {}),
        (TEXTS, {"q": "inf", "measures": ["IntDiv", "VS"]}),
        (TEXTS, {"groups": [0, 1] * 10}),
        (np.eye(5), {"metric": "euclidean", "measures": "MagArea"}),
    ],
    ids=["texts", "infinite order", "two groups", "distances"],
)
def test_to_dict_has_the_numbers_of_compute_as_json(samples, how):
    found = compute_report_data(samples, None, how)
    result = found.to_dict()
    json.dumps(result, allow_nan=False)
    key = result["key"]
    assert result["value"] == found.numbers[key]
    for name in ("se", "low", "high"):
        right = found.numbers.get(f"{key}_{name}", np.nan)
        assert result[name] == (None if np.isnan(right) else right)
    assert result["n"] == len(samples)
    assert result["q"] == ("inf" if "q" in how else 1)
    assert (result["by_group"] is None) == ("groups" not in how)
    assert result["max_score"] <= result["group_size"] == result["n"] / (1 + ("groups" in how))
    whole_set = result["by_group"] is None and found.similarity is not None
    assert (result["shares"] is not None) == (result["profile"] is not None) == whole_set
    if whole_set and key == "VS":
        assert result["profile"]["1"] == pytest.approx(result["value"])
        assert sum(result["shares"]) == pytest.approx(1)


def test_matrices_that_were_dropped_are_computed_again():
    from vendiscore.tools.analysis.report_data import MAX_COMPARED

    X = np.random.default_rng(0).normal(size=(MAX_COMPARED + 50, 4))
    result = compute_report_data(X, None, {"k": "cosine"})
    K, explanation = result.K, result.explanation
    small = result.without_matrices()
    assert small.spectrum.vectors is None
    assert small.explanation is explanation
    assert small.to_dict() == result.to_dict()
    np.testing.assert_array_equal(small.K, K)
