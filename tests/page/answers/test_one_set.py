"""Answers for one set match compute and explain, and are plain JSON values."""

import gzip
import json

import numpy as np
import pytest
from page_answers import json_round_trip, make_clusters, make_samples, score_as_json, score_samples

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore import compute, explain
from vendiscore.result import key_at
from vendiscore.tools.analysis.report_data import MAX_COMPARED
from vendiscore_page.answers.sample_readout import UnusableError
from vendiscore_page.inputs import examples
from vendiscore_page.quotas import MAX_SAMPLES, RefusedError
from vendiscore_page.serving.store import measure_size

RUT = examples.find_example("A model in a rut").text.splitlines()
NS = {"ns": [1, 2, 3, 4]}
X = make_clusters(60)


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, "inf"])
@pytest.mark.parametrize(
    ("values", "kind", "kernel", "options"),
    [
        (RUT, "texts", "ngram_overlap", {"k": "ngram_overlap", **NS}),
        (examples.find_example("Scents").text.splitlines(), "molecules", "maccs", {"k": "maccs"}),
        (X, "vectors", "cosine", {"k": "cosine"}),
        (X, "vectors", "rbf", {"k": "rbf"}),
    ],
    ids=["texts", "molecules", "cosine", "rbf"],
)
def test_answer_equals_compute_exactly(values, kind, kernel, options, q):
    interval_options = {} if q == 0 else {"ci": 0.95}
    expected = compute(values, **options, q=q, **interval_options, details=True)
    result = score_as_json(values, kind, kernel, q=q)
    key = key_at(q)
    assert result[key] == expected[key]
    assert [result[name] for name in ("se", "low", "high")] == [
        expected.get(f"{key}_{name}") for name in ("se", "low", "high")
    ]
    assert key in result["without"]
    assert result["signature"] == expected["details"]["signature"]
    assert result["q"] == q
    columns = len(values[0]) if kernel == "cosine" else len(values)
    assert result["most"] == min(len(values), columns)


@pytest.mark.filterwarnings("ignore:.*script without spaces")
def test_note_on_text_without_spaces_names_page_settings():
    words = [f"we have {i} red apples" for i in range(8)]
    clauses = ["今天天气很好。", "我喜欢吃苹果。"]
    notes_on_few, notes_on_many = (
        score_as_json([*words, *clauses])["notes"],
        score_as_json([*words[:1], *clauses])["notes"],
    )
    assert any(
        "2 of 10 distinct texts have no spaces between words" in note for note in notes_on_few
    )
    hint = "under “More options”, select n-grams made of characters"
    assert any(hint in note for note in notes_on_few)
    assert sum("no spaces between words" in note for note in notes_on_many) == 1
    for note in (*notes_on_few, *notes_on_many):
        assert not any(word in note for word in ("=", "tokenizer", "`", "jieba")), note


def test_sample_table_matches_explain():
    result = score_as_json(X, "vectors", "rbf", options={"sigma": 1.0}, threshold=0.9)
    expected = explain(X, k="rbf", sigma=1.0, threshold=0.9)
    table = result["samples"]
    assert table["nearest"] == expected.nearest.tolist()
    assert table["similarity"] == np.round(expected.nearest_similarity, 4).tolist()
    leave_one_out_scores = [
        compute(np.delete(X, i, 0), k="rbf", sigma=1.0)["VS"] for i in range(60)
    ]
    drops = 100 * (1 - np.array(leave_one_out_scores) / result["VS"])
    assert table["adds"] == pytest.approx(drops, abs=0.005001)
    assert table["place"] == list(range(1, 61))
    groups = [(group["keep"], group["rest"]) for group in result["groups"]]
    assert groups == expected.groups
    assert groups
    expected_scores = {"left": len(expected.kept), "VS": expected.score_without_duplicates}
    expected_scores |= {"of": 60, "all": expected.score}
    assert result["without"] == expected_scores


def test_sentence_describes_comparison_and_copies():
    result = score_as_json([*RUT, RUT[0]])
    assert result["sentence"].startswith("By the words they share, this set of 13 texts is as ")
    assert result["copies"].startswith(
        "According to this kernel, 1 of the 13 texts is an exact duplicate of"
    )
    assert result["comparison"] == "n-grams of 1–4 words · q 1"
    assert result["interval"].startswith("95 % interval: ")
    assert score_as_json(RUT)["copies"] == ""
    other_result = score_as_json(RUT, options={"ns": [1, 3], "unit": "char"}, q="inf")
    assert other_result["comparison"] == "n-grams of 1 and 3 characters · q ∞"
    with pytest.warns(UserWarning, match="characters"):
        unspaced = score_as_json(["猫が座った", "犬が走った", "鳥が飛んだ"])
    assert unspaced["comparison"] == "n-grams of 1–4 characters · q 1"


def test_vectors_are_shown_without_negative_zeros():
    rows = score_as_json(np.array([[-0.0, 1], [-1, 0]]), "vectors", "cosine")["samples"]["text"]
    assert rows == ["0, 1", "-1, 0"]


@pytest.mark.parametrize("identical", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 300])
def test_sets_of_any_size_are_scored(n, identical):
    texts = ["a b"] * n if identical else [f"x{i} y{i}" for i in range(n)]
    result = score_samples(texts)
    answer = json_round_trip(result.answer)
    assert answer["VS"] == pytest.approx(1 if identical else n)
    assert (answer["n"], answer["total"]) == (n, n)
    assert all(len(column) == n for column in answer["samples"].values() if column)
    assert answer["themes"]["count"] == (1 if identical else n)
    assert len(answer["themes"]["merges"]) == n - 1
    assert all(0 <= x <= 1000 for x in answer["map"]["x"] + answer["map"]["y"])
    assert len(answer["map"]["x"]) == n
    assert len(answer["groups"]) == (identical and n > 1)
    assert answer["without"]["left"] == (1 if identical else n)
    assert (answer["low"] is None) == (n < 4)
    if n == 1:
        assert answer["samples"]["nearest"] == [-1]
        assert answer["sentence"].startswith("The score of a single sample is always 1")
    json_round_trip(result.papers())
    assert "<!DOCTYPE html>" in result.report("Mine")


def test_map_places_identical_samples_together():
    sample_map = score_as_json(np.eye(3)[[0, 0, 1, 1, 2]], "vectors")["map"]
    XY = np.array([sample_map["x"], sample_map["y"]]).T
    assert (XY[0] == XY[1]).all()
    assert (XY[2] == XY[3]).all()
    assert np.linalg.norm(XY[0] - XY[2]) > 300
    assert np.ptp(XY, axis=0).max() == 1000


def test_large_vector_set_is_scored_whole_and_pairs_are_sampled():
    vectors = make_clusters(MAX_COMPARED + 300, 5)
    result = score_as_json(vectors, "vectors", "cosine")
    assert result["VS"] == compute(vectors, k="cosine", ci=0.95)["VS"]
    assert (result["n"], len(result["samples"]["place"])) == (MAX_COMPARED + 300, MAX_COMPARED)
    assert (
        f"Pairs were compared in a random subset of {MAX_COMPARED:,} of the "
        f"{MAX_COMPARED + 300:,} samples." in result["notes"]
    )
    assert len(result["samples"]["place"]) == MAX_COMPARED == len(set(result["samples"]["place"]))
    assert max(result["samples"]["nearest"]) < MAX_COMPARED
    subset = vectors[np.array(result["samples"]["place"]) - 1]
    assert result["without"]["of"] == MAX_COMPARED
    assert result["without"]["all"] == pytest.approx(compute(subset, k="cosine")["VS"])


def test_too_many_rows_for_kernel_are_subsampled():
    vectors = make_clusters(MAX_SAMPLES + 200, 3)
    results = [
        score_as_json(make_samples(vectors, "vectors", draw=draw), kernel="rbf")
        for draw in (0, 0, 1)
    ]
    assert results[0] == results[1]
    assert results[0]["VS"] != results[2]["VS"]
    rows = np.array(results[2]["samples"]["place"]) - 1
    assert results[2]["VS"] == compute(vectors[rows], k="rbf", ci=0.95)["VS"]
    assert (results[2]["n"], results[2]["total"]) == (MAX_SAMPLES, MAX_SAMPLES + 200)
    assert any("A random subset of 1,000 of 1,200 vectors" in note for note in results[0]["notes"])
    with pytest.raises(RefusedError, match="up to 1,000 rows, got 1,200"):
        score_as_json(vectors, "vectors", "K")


def test_grouped_answer_matches_compute():
    texts = [*RUT, "a b", "c d"]
    labels = ["x", "y"] * 7
    expected = compute(texts, k="ngram_overlap", **NS, groups=labels, details=True)
    result = score_as_json(make_samples(texts, groups=labels))
    assert (result["low"], result["high"]) == (None, None)  # no interval for a mean over two groups
    assert result["VS"] == expected["VS"]
    assert result["se"] == expected["VS_se"]
    assert [(row["group"], row["n"], row["VS"]) for row in result["by_group"]] == [
        (row["group"], row["n"], row["VS"]) for row in expected["details"]["groups"]
    ]
    assert (result["of"], result["n"]) == (7, 14)
    assert result["most"] == 7
    assert result["samples"]["group"] == labels
    assert "in a group" in result["sentence"]


def test_unusable_samples_are_rejected_or_dropped():
    samples = make_samples(["CCO", "XX", "CCC", "", "CCCC"], "molecules", problems={3: "is empty"})
    with pytest.raises(UnusableError) as caught:
        score_as_json(samples, kernel="morgan")
    assert "2 of 5 molecules" in str(caught.value)
    result = score_as_json(samples, kernel="morgan", leave_out=True)
    assert result["VS"] == pytest.approx(compute(["CCO", "CCC", "CCCC"], k="morgan")["VS"])
    assert result["left_out"] == [2, 4]
    assert result["samples"]["place"] == [1, 3, 5]
    assert result["samples"]["text"] == ["CCO", "CCC", "CCCC"]
    assert [note[:15] for note in result["notes"]] == ["Not used: 2 of "]


def test_matrix_can_be_clipped_and_drops_rows_with_columns():
    K = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    with pytest.raises(
        RefusedError, match=r"sum to -0\.267 of a trace of 1\. Select “K, clipped” to"
    ):
        score_as_json(K, "vectors", "K")
    result = score_as_json(K, "vectors", "K, clipped")
    assert result["VS"] == pytest.approx(compute(K, score_K=True, psd="clip")["VS"])
    assert result["samples"]["text"] is None
    subset_result = score_as_json(
        make_samples(K, "vectors", problems={2: "has nan"}), kernel="K, clipped", leave_out=True
    )
    assert subset_result["VS"] == pytest.approx(compute(K[:2, :2], score_K=True)["VS"])


def test_answer_for_thousand_texts_has_bounded_size():
    words = [f"{chr(97 + i % 26)}{i:03}x" for i in range(900)]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 40)) for _ in range(1000)]
    result = score_samples(texts)
    response_body = json.dumps(result.answer, separators=(",", ":")).encode()
    assert len(gzip.compress(response_body, 6)) < 400_000
    assert measure_size(result) < 60_000_000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "os.system"}, "Unknown kernel 'os.system'; pick one of"),
        ({"options": {"ns": []}}, "ns must be between 1 and 10, got"),
        ({"options": {"unit": "line"}}, "Unknown unit"),
        ({"q": -1}, "q must be at least 0"),
        ({"q": None}, "q must be a number"),
        ({"threshold": 2}, "must be between -1 and 1, got 2"),
    ],
)
def test_invalid_settings_are_rejected(settings, message):
    with pytest.raises(RefusedError) as caught:
        score_as_json(RUT, **settings)
    assert message in str(caught.value)


@pytest.mark.parametrize("n", [50, MAX_COMPARED + 50])
def test_dropped_matrices_are_recomputed(n):
    from vendiscore.report import compute_report_data, report_of

    X = np.random.default_rng(0).normal(size=(n, 4))
    result = compute_report_data(X, None, {"k": "cosine", "q": 1})
    assert result.explanation.n == len(result.K) == min(n, MAX_COMPARED)
    small = result.without_matrices()
    assert measure_size(small) < measure_size(result) - 0.9 * result.K.nbytes
    np.testing.assert_array_equal(small.spectrum.values, result.spectrum.values)
    assert report_of(small).html() == report_of(result).html()
