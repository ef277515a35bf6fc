"""Attributes, sentence and conversions of a `Selection`."""

import numpy as np
import pytest

from vendiscore import MatrixSimilarity, score_K, select

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 6))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
K = UNIT @ UNIT.T
QUALITY = RNG.random(30) + 0.5


def prefix_scores(indices, q=1):
    return [score_K(K[np.ix_(indices[:m], indices[:m])], q) for m in range(1, len(indices) + 1)]


@pytest.fixture(scope="module")
def selection():
    return select(X, 8, k="cosine")


def test_sequence_returns_copies_of_indices(selection):
    indices = selection.places.tolist()
    assert list(selection) == indices
    assert len(selection) == 8
    assert (selection[0], selection[-1]) == (indices[0], indices[-1])
    assert type(selection[0]) is int
    assert selection[2:4].tolist() == indices[2:4]
    np.testing.assert_array_equal(X[selection], X[indices])
    assert np.asarray(selection, float).dtype == float
    copy = np.array(selection)
    copy[0] = -1
    assert selection[0] == indices[0]


@pytest.mark.parametrize("q", [0.5, 1, 2])
def test_scores_match_prefix_scores(q):
    result = select(X, 8, k="cosine", q=q)
    np.testing.assert_allclose(result.scores, prefix_scores(result.places, q), rtol=1e-6)


def test_gains_are_differences_of_log_scores(selection):
    np.testing.assert_allclose(np.cumsum(selection.gains), np.log(selection.scores), atol=1e-12)


def test_gains_with_quality_sum_to_the_objective():
    result = select(X, 6, k="cosine", quality=QUALITY)
    means = np.cumsum(QUALITY[result.places]) / np.arange(1, 7)
    expected = np.log(result.scores) + np.log(means)
    np.testing.assert_allclose(np.cumsum(result.gains), expected, atol=1e-9)


def test_gains_of_represent_sum_to_the_mean_nearest_similarity():
    result = select(X, 5, k="cosine", objective="represent")
    nearest = [K[result.places[:m]].max(axis=0).mean() for m in range(1, 6)]
    np.testing.assert_allclose(np.cumsum(result.gains), nearest, atol=1e-9)


def test_bound_exceeds_random_selections_and_is_computed_once(selection, monkeypatch):
    bound = selection.bound
    for _ in range(50):
        indices = RNG.choice(30, 8, replace=False)
        assert prefix_scores(indices)[-1] <= bound * (1 + 1e-9)
    assert selection.certified == pytest.approx(selection.scores[-1] / bound)
    assert 0 < selection.certified <= 1
    monkeypatch.setattr("vendiscore.tools.selection.selection.compute_upper_bound", None)
    assert selection.bound == bound


def test_sentence_includes_the_bound_after_its_computation():
    result = select(X, 4, k="cosine")
    assert result.sentence.startswith("4 of 30 samples (objective='vendi'): VS (q=1) = ")
    assert "of the maximum" not in result.sentence
    result.bound  # noqa: B018
    assert f"at least {result.certified:.1%} of the maximum" in result.sentence
    assert f"places={result.places.tolist()!r}" in repr(result)


def test_bound_is_none_for_negative_eigenvalues():
    indefinite = np.eye(6)
    indefinite[:3, :3] = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    result = select(MatrixSimilarity(indefinite), 4, psd="clip")
    record = result.to_dict()
    assert record["bound"] is record["certified"] is None
    assert record["places"] == result.places.tolist()


def test_to_dict_and_to_frame_contain_scores(selection):
    record = selection.to_dict()
    assert record["scores"] == pytest.approx(selection.scores.tolist())
    assert (record["objective"], record["q"], record["interrupted"]) == ("vendi", 1.0, False)
    assert record["bound"] == pytest.approx(selection.bound)
    frame = selection.to_frame()
    assert [*frame.columns] == ["index", "score", "gain"]
    assert frame["index"].tolist() == selection.places.tolist()


def test_html_table_shows_ten_first_rows_and_the_last(selection):
    result = select(X, 20, k="cosine")
    markup = result._repr_html_()
    assert markup.count("<tr") == 1 + 11  # header, ten rows and the last row
    assert f"{result.places[-1]}" in markup


def test_bound_is_at_least_the_score_despite_rounding(monkeypatch):
    result = select(X, 4, k="cosine")
    monkeypatch.setattr(
        "vendiscore.tools.selection.selection.compute_upper_bound", lambda *args: 1.0
    )
    assert result.bound == result.scores[-1]
    assert result.certified == 1.0
