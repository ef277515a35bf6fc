"""The page shows what compute, explain and report find, in plain values."""

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
from vendiscore_page.serving.store import size_of

RUT = examples.find_example("A model in a rut").text.splitlines()
NS = {"ns": [1, 2, 3, 4]}
X = make_clusters(60)
# Near-copies in fives.


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, "inf"])
@pytest.mark.parametrize(
    ("values", "kind", "kernel", "how"),
    [
        (RUT, "texts", "ngram_overlap", {"k": "ngram_overlap", **NS}),
        (examples.find_example("Scents").text.splitlines(), "molecules", "maccs", {"k": "maccs"}),
        (X, "vectors", "cosine", {"k": "cosine"}),
        (X, "vectors", "rbf", {"k": "rbf"}),
    ],
    ids=["texts", "molecules", "cosine", "rbf"],
)
def test_answer_equals_compute_exactly(values, kind, kernel, how, q):
    sure = {} if q == 0 else {"ci": 0.95}
    right = compute(values, **how, q=q, **sure, details=True)
    ours = score_as_json(values, kind, kernel, q=q)
    key = key_at(q)
    assert ours[key] == right[key]
    assert [ours[name] for name in ("se", "low", "high")] == [
        right.get(f"{key}_{name}") for name in ("se", "low", "high")
    ]
    assert key in ours["without"]
    assert ours["signature"] == right["details"]["signature"]
    assert ours["q"] == q
    columns = len(values[0]) if kernel == "cosine" else len(values)
    assert ours["most"] == min(len(values), columns)


@pytest.mark.filterwarnings("ignore:.*script without spaces")
def test_note_on_text_without_spaces_names_page_settings():
    words = [f"we have {i} red apples" for i in range(8)]
    clauses = ["今天天气很好。", "我喜欢吃苹果。"]
    few, many = (
        score_as_json([*words, *clauses])["notes"],
        score_as_json([*words[:1], *clauses])["notes"],
    )
    assert any("2 of 10 distinct texts have no spaces between words" in note for note in few)
    assert any("under “More”, pick n-grams made of characters" in note for note in few)
    assert sum("no spaces between words" in note for note in many) == 1
    for note in (*few, *many):
        assert not any(word in note for word in ("=", "tokenizer", "`", "jieba")), note


def test_sample_table_matches_explain():
    ours = score_as_json(X, "vectors", "rbf", options={"sigma": 1.0}, threshold=0.9)
    right = explain(X, k="rbf", sigma=1.0, threshold=0.9)
    table = ours["samples"]
    assert table["nearest"] == right.nearest.tolist()
    assert table["similarity"] == np.round(right.nearest_similarity, 4).tolist()
    without = [compute(np.delete(X, i, 0), k="rbf", sigma=1.0)["VS"] for i in range(60)]
    lost = 100 * (1 - np.array(without) / ours["VS"])
    assert table["adds"] == pytest.approx(lost, abs=0.005001)
    assert table["place"] == list(range(1, 61))
    groups = [(group["keep"], group["rest"]) for group in ours["groups"]]
    assert groups == right.groups
    assert groups
    left = {"left": len(right.kept), "VS": right.score_without_duplicates}
    left |= {"of": 60, "all": right.score}
    assert ours["without"] == left


def test_sentence_describes_comparison_and_copies():
    ours = score_as_json([*RUT, RUT[0]])
    assert ours["sentence"].startswith("By the words they share, this set of 13 texts is as ")
    assert ours["copies"].startswith(
        "According to this kernel, 1 of the 13 texts is an exact repeat of"
    )
    assert ours["comparison"] == "n-grams of 1–4 words · q 1"
    assert ours["interval"].startswith("95 % interval: ")
    assert score_as_json(RUT)["copies"] == ""
    odd = score_as_json(RUT, options={"ns": [1, 3], "unit": "char"}, q="inf")
    assert odd["comparison"] == "n-grams of 1 and 3 characters · q ∞"
    with pytest.warns(UserWarning, match="characters"):
        unspaced = score_as_json(["猫が座った", "犬が走った", "鳥が飛んだ"])
    assert unspaced["comparison"] == "n-grams of 1–4 characters · q 1"


def test_vectors_are_shown_without_negative_zeros():
    rows = score_as_json(np.array([[-0.0, 1], [-1, 0]]), "vectors", "cosine")["samples"]["text"]
    assert rows == ["0, 1", "-1, 0"]


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 300])
def test_sets_of_any_size_are_scored(n, same):
    texts = ["a b"] * n if same else [f"x{i} y{i}" for i in range(n)]
    result = score_samples(texts)
    ours = json_round_trip(result.answer)
    assert ours["VS"] == pytest.approx(1 if same else n)
    assert (ours["n"], ours["total"]) == (n, n)
    assert all(len(column) == n for column in ours["samples"].values() if column)
    assert ours["themes"]["count"] == (1 if same else n)
    assert len(ours["themes"]["merges"]) == n - 1
    assert all(0 <= x <= 1000 for x in ours["map"]["x"] + ours["map"]["y"])
    assert len(ours["map"]["x"]) == n
    assert len(ours["groups"]) == (same and n > 1)
    assert ours["without"]["left"] == (1 if same else n)
    assert (ours["low"] is None) == (n < 4)
    if n == 1:
        assert ours["samples"]["nearest"] == [-1]
        assert ours["sentence"].startswith("The score of a single sample is always 1")
    json_round_trip(result.papers())
    assert "<!DOCTYPE html>" in result.report("Mine")


def test_map_places_identical_samples_together():
    where = score_as_json(np.eye(3)[[0, 0, 1, 1, 2]], "vectors")["map"]
    XY = np.array([where["x"], where["y"]]).T
    assert (XY[0] == XY[1]).all()
    assert (XY[2] == XY[3]).all()
    assert np.linalg.norm(XY[0] - XY[2]) > 300
    assert np.ptp(XY, axis=0).max() == 1000


def test_large_vector_set_is_scored_whole_and_pairs_are_sampled():
    many = make_clusters(MAX_COMPARED + 300, 5)
    ours = score_as_json(many, "vectors", "cosine")
    assert ours["VS"] == compute(many, k="cosine", ci=0.95)["VS"]
    assert (ours["n"], len(ours["samples"]["place"])) == (MAX_COMPARED + 300, MAX_COMPARED)
    assert (
        f"Pairs were compared among {MAX_COMPARED:,} of the {MAX_COMPARED + 300:,} samples, "
        "drawn at random." in ours["notes"]
    )
    assert len(ours["samples"]["place"]) == MAX_COMPARED == len(set(ours["samples"]["place"]))
    assert max(ours["samples"]["nearest"]) < MAX_COMPARED
    some = many[np.array(ours["samples"]["place"]) - 1]
    assert ours["without"]["of"] == MAX_COMPARED
    assert ours["without"]["all"] == pytest.approx(compute(some, k="cosine")["VS"])


def test_too_many_rows_for_kernel_are_subsampled():
    many = make_clusters(MAX_SAMPLES + 200, 3)
    parts = [
        score_as_json(make_samples(many, "vectors", draw=draw), kernel="rbf") for draw in (0, 0, 1)
    ]
    assert parts[0] == parts[1]
    assert parts[0]["VS"] != parts[2]["VS"]
    rows = np.array(parts[2]["samples"]["place"]) - 1
    assert parts[2]["VS"] == compute(many[rows], k="rbf", ci=0.95)["VS"]
    assert (parts[2]["n"], parts[2]["total"]) == (MAX_SAMPLES, MAX_SAMPLES + 200)
    assert any("These are 1,000 of 1,200 vectors" in note for note in parts[0]["notes"])
    with pytest.raises(RefusedError, match="up to 1,000 rows here, got 1,200"):
        score_as_json(many, "vectors", "K")


def test_grouped_answer_matches_compute():
    texts = [*RUT, "a b", "c d"]
    labels = ["x", "y"] * 7
    right = compute(texts, k="ngram_overlap", **NS, groups=labels, details=True)
    ours = score_as_json(make_samples(texts, groups=labels))
    assert (ours["low"], ours["high"]) == (None, None)  # a mean over two groups has no interval
    assert ours["VS"] == right["VS"]
    assert ours["se"] == right["VS_se"]
    assert [(row["group"], row["n"], row["VS"]) for row in ours["by_group"]] == [
        (row["group"], row["n"], row["VS"]) for row in right["details"]["groups"]
    ]
    assert (ours["of"], ours["n"]) == (7, 14)
    assert ours["most"] == 7
    assert ours["samples"]["group"] == labels
    assert "in a group" in ours["sentence"]


def test_unusable_samples_are_rejected_or_dropped():
    samples = make_samples(["CCO", "XX", "CCC", "", "CCCC"], "molecules", problems={3: "is empty"})
    with pytest.raises(UnusableError) as caught:
        score_as_json(samples, kernel="morgan")
    assert "2 of 5 molecules" in str(caught.value)
    ours = score_as_json(samples, kernel="morgan", leave_out=True)
    assert ours["VS"] == pytest.approx(compute(["CCO", "CCC", "CCCC"], k="morgan")["VS"])
    assert ours["left_out"] == [2, 4]
    assert ours["samples"]["place"] == [1, 3, 5]
    assert ours["samples"]["text"] == ["CCO", "CCC", "CCCC"]
    assert [note[:15] for note in ours["notes"]] == ["Left out 2 of 5"]


def test_matrix_can_be_clipped_and_drops_rows_with_columns():
    K = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    with pytest.raises(
        RefusedError, match=r"sum to -0\.267 of a trace of 1\. Pick “K, clipped” to"
    ):
        score_as_json(K, "vectors", "K")
    ours = score_as_json(K, "vectors", "K, clipped")
    assert ours["VS"] == pytest.approx(compute(K, score_K=True, psd="clip")["VS"])
    assert ours["samples"]["text"] is None
    kept = score_as_json(
        make_samples(K, "vectors", problems={2: "has nan"}), kernel="K, clipped", leave_out=True
    )
    assert kept["VS"] == pytest.approx(compute(K[:2, :2], score_K=True)["VS"])


def test_answer_for_thousand_texts_has_bounded_size():
    words = [f"{chr(97 + i % 26)}{i:03}x" for i in range(900)]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 40)) for _ in range(1000)]
    result = score_samples(texts)
    sent = json.dumps(result.answer, separators=(",", ":")).encode()
    assert len(gzip.compress(sent, 6)) < 400_000
    assert size_of(result) < 60_000_000


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kernel": "os.system"}, "Unknown kernel 'os.system'; pick one of"),
        ({"options": {"ns": []}}, "ns must be from 1 to 10, got"),
        ({"options": {"unit": "line"}}, "Unknown unit"),
        ({"q": -1}, "q must be at least 0"),
        ({"q": None}, "q must be a number"),
        ({"threshold": 2}, "must be from -1 to 1 here, got 2"),
    ],
)
def test_invalid_settings_are_rejected(settings, said):
    with pytest.raises(RefusedError) as caught:
        score_as_json(RUT, **settings)
    assert said in str(caught.value)


@pytest.mark.parametrize("n", [50, MAX_COMPARED + 50])
def test_dropped_matrices_are_recomputed(n):
    from vendiscore.report import compute_report_data, report_of

    X = np.random.default_rng(0).normal(size=(n, 4))
    result = compute_report_data(X, None, {"k": "cosine", "q": 1})
    assert result.explanation.n == len(result.K) == min(n, MAX_COMPARED)
    small = result.without_matrices()
    assert size_of(small) < size_of(result) - 0.9 * result.K.nbytes
    np.testing.assert_array_equal(small.spectrum.values, result.spectrum.values)
    assert report_of(small).html() == report_of(result).html()
