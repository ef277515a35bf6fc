"""Groups as labels and as lists of lists, compared with loops over the groups."""

import math
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from measure_cases import ROW_MEASURES

from vendiscore import as_similarity, compute, mag_area, score_K
from vendiscore.resolve.sample_labels import group_equal_prompts, parse_group_labels
from vendiscore.support.namespace import to_float

TEXTS = [
    ["a cat sat", "a dog sat", "the cat ran off"],
    ["red", "red", "green and red", "blue"],
    ["a cat sat", "no"],
]
CLOUD = np.random.default_rng(0).standard_normal((12, 3))
SIZES = [5, 4, 3]
LABELS = np.repeat(["x", "y", "z"], SIZES)


def flatten(groups):
    return [sample for group in groups for sample in group]


def make_labels(groups):
    return [f"prompt {i}" for i, group in enumerate(groups) for _ in group]


def evaluate_separately(groups, **options):
    """Return means and standard errors of scores that are computed per group."""
    group_scores = [compute(group, **options) for group in groups]
    result = {}
    for key in group_scores[0]:
        values = [scores[key] for scores in group_scores]
        result[key] = sum(values) / len(values)
        result[f"{key}_se"] = np.std(values, ddof=1) / math.sqrt(len(values))
    return result


def split_rows(X=CLOUD):
    return np.split(X, np.cumsum(SIZES)[:-1])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"k": "ngram_overlap", "ns": [1, 2], "q": [0, 0.5, 1, 2, "inf"]},
        # If all texts are shorter than n, a column is empty and GMStds is 0.
        {
            "k": "ngram_overlap",
            "measures": [name for name in ROW_MEASURES if name not in ("VS", "GMStds")],
        },
        {"k": {"ngram_overlap": 0.5, "bleu": 0.5}, "psd": "clip"},
        {"k": "bleu", "psd": "clip", "q": [1, 2]},
        {"k": "labels", "q": [0, 1]},
        {"k": lambda a, b: 1.0 if a == b else 0.3, "measures": ["VS", "LC", "MagArea"], "q": 2},
    ],
    ids=["plain", "orders", "measures", "mixture", "bleu", "labels", "function"],
)
def test_nested_lists_and_labels_match_separate_evaluation(options):
    if "bleu" in str(options.get("k")):
        pytest.importorskip("sacrebleu")
    expected = pytest.approx(evaluate_separately(TEXTS, **options), rel=1e-10, abs=1e-10)
    if not callable(options.get("k")):  # a list may be a single sample of a callable kernel
        assert compute(TEXTS, **options) == expected
    labels = make_labels(TEXTS)
    assert compute(flatten(TEXTS), groups=labels, **options) == expected
    order = np.random.default_rng(2).permutation(len(labels))
    shuffled = [flatten(TEXTS)[i] for i in order], [labels[i] for i in order]
    assert compute(shuffled[0], groups=shuffled[1], **options) == expected


@pytest.mark.parametrize(
    "measures", [["VS", "IntDiv", "AvgSim"], ROW_MEASURES], ids=["three", "all"]
)
@pytest.mark.parametrize("use_float32", [False, True])
def test_vector_groups_share_a_bandwidth_fitted_to_all_samples(measures, use_float32):
    X = CLOUD.astype(np.float32) if use_float32 else CLOUD
    sigma = as_similarity(X, k="rbf").fitted["sigma"]
    expected = pytest.approx(
        evaluate_separately(split_rows(X), k="rbf", sigma=sigma, measures=measures),
        rel=1e-6 if use_float32 else 1e-10,
    )
    nested = [list(rows) for rows in split_rows(X)]
    for samples in (
        (nested, [rows.tolist() for rows in split_rows(X)]) if not use_float32 else (nested,)
    ):
        assert compute(samples, k="rbf", measures=measures) == expected
    assert compute(X, k="rbf", groups=LABELS, measures=measures) == expected


def test_concatenated_arrays_with_labels_match_separate_evaluation():
    X = CLOUD.reshape(3, 4, 3)
    labels = np.repeat(np.arange(3), 4)
    expected = pytest.approx(evaluate_separately(list(X), k="cosine"), rel=1e-12)
    assert compute(np.concatenate(X), k="cosine", groups=labels) == expected
    unit_rows = X / np.linalg.norm(X, axis=2, keepdims=True)
    sparse = sp.vstack([sp.csr_array(rows) for rows in unit_rows])
    for samples in (np.concatenate(unit_rows), sparse):
        assert compute(samples, score_X=True, groups=labels) == pytest.approx(
            evaluate_separately(list(unit_rows), score_X=True), rel=1e-10
        )


def test_labels_group_features_similarities_and_distances():
    X = CLOUD / np.linalg.norm(CLOUD, axis=1, keepdims=True)
    expected = pytest.approx(evaluate_separately(split_rows(X), score_X=True, q=[1, 2]), rel=1e-10)
    options = {"groups": LABELS, "q": [1, 2]}
    assert compute(X, score_X=True, **options) == expected
    assert compute(X @ X.T, score_K=True, **options) == expected
    assert compute(as_similarity(X, score_X=True), **options) == expected
    D = np.sqrt(np.maximum(2 - 2 * X @ X.T, 0))
    np.fill_diagonal(D, 0)
    groups = [np.flatnonzero(x == LABELS) for x in "xyz"]
    areas = [mag_area(D[np.ix_(group, group)], metric="precomputed") for group in groups]
    result = compute(D, metric="precomputed", measures="MagArea", t_cut="t_conv", groups=LABELS)
    assert result["MagArea"] == pytest.approx(np.mean(areas), rel=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_magnitude_of_vector_groups_matches_separate_evaluation(metric):
    options = {"metric": metric, "measures": ["MagArea", "Magnitude"], "t_cut": "t_conv"}
    expected = pytest.approx(evaluate_separately(split_rows(CLOUD), **options), rel=1e-8)
    assert compute(CLOUD, groups=LABELS, **options) == expected
    assert compute([rows.tolist() for rows in split_rows()], **options) == expected


def test_groups_are_compared_with_all_references():
    Y = CLOUD[::2] + 0.5
    for options in ({"metric": "euclidean"}, {"k": "rbf", "sigma": 1.0}):
        separate_values = [
            compute(rows, Y, measures="MagDiff", **options)["MagDiff"] for rows in split_rows()
        ]
        result = compute(CLOUD, Y, groups=LABELS, measures="MagDiff", **options)
        assert result["MagDiff"] == pytest.approx(np.mean(separate_values), rel=1e-9)


def test_weights_are_normalized_within_groups():
    p = np.random.default_rng(3).dirichlet(np.ones(12))
    group_weights = np.split(p, np.cumsum(SIZES)[:-1])
    separate_values = [
        compute(rows, k="rbf", sigma=1, p=weights / weights.sum(), q=2, measures=["VS", "LC"])
        for rows, weights in zip(split_rows(), group_weights, strict=True)
    ]
    result = compute(CLOUD, k="rbf", sigma=1, p=p, q=2, measures=["VS", "LC"], groups=LABELS)
    for name in ("VS_q2", "LC_q2"):
        assert result[name] == pytest.approx(
            np.mean([scores[name] for scores in separate_values]), rel=1e-12
        )
    p[:5] = 0
    with pytest.raises(ValueError, match="`p` must have a positive sum in group 'x', got 0"):
        compute(CLOUD, k="rbf", p=p / p.sum(), groups=LABELS)


def test_nested_samples_are_distinguished_from_groups():
    sets = [[["a", "b"], {"b"}], [["c"], ["c", "d"], {"a"}]]
    assert compute(sets, k="tags") == pytest.approx(evaluate_separately(sets, k="tags"))
    assert list(compute([["a", "b"], ["b"]], k="tags")) == ["VS"]  # two sets
    assert list(compute([[("a", 1)], [("a", 2)]], k="tags")) == ["VS"]
    records = [[{"t": "a b", "l": 1}, {"t": "a c", "l": 2}], [{"t": "a", "l": 1}] * 2]
    mixture = {"k": {"ngram_overlap:t": 0.5, "labels:l": 0.5}}
    assert compute(records, **mixture) == pytest.approx(evaluate_separately(records, **mixture))
    table = {"t": [r["t"] for r in flatten(records)], "l": [r["l"] for r in flatten(records)]}
    labels = make_labels(records)
    assert compute(table, groups=labels, **mixture) == pytest.approx(
        evaluate_separately(records, **mixture)
    )
    images = np.random.default_rng(4).integers(0, 255, (6, 8, 8), dtype=np.uint8)
    groups = [list(images[:4]), list(images[4:])]
    assert compute(groups, k="pixels") == pytest.approx(evaluate_separately(groups, k="pixels"))
    assert list(compute(images, k="pixels")) == list(compute(list(images), k="pixels")) == ["VS"]
    classes = [[[0.5, 0.5], [0.9, 0.1]], [[1.0, 0.0], [0.0, 1.0]]]
    expected = evaluate_separately(classes, k="probability_product")
    assert compute(classes, k="probability_product") == pytest.approx(expected)


def test_nested_molecules_match_separate_evaluation():
    pytest.importorskip("rdkit")
    smiles = [["CCO", "CCN", "CCO"], ["c1ccccc1", "c1ccccc1O", "CC(=O)O", "C"]]
    for k in ("morgan", "maccs"):
        assert compute(smiles, k=k) == pytest.approx(evaluate_separately(smiles, k=k))


def test_single_group_has_no_standard_error():
    assert compute([TEXTS[0]]) == {"VS": pytest.approx(compute(TEXTS[0])["VS"])}
    assert list(compute(TEXTS[0], groups=[7, 7, 7], q=[1, 2])) == ["VS_q1", "VS_q2"]


def test_single_sample_groups_warn_and_score_one():
    with pytest.warns(UserWarning, match="contains a single sample, so all groups"):
        result = compute([["a cat"], ["a dog"]], details=True)
    assert result["VS"] == 1
    assert "take_first_k" in result["details"]["notes"][0]
    assert "VS is the mean over 2 groups, equally weighted." in result["details"]["notes"]
    assert compute([["a cat"], ["a dog", "no"]])["VS"] == pytest.approx((1 + 2) / 2, abs=0.3)


def test_details_contain_scores_of_groups():
    result = compute(
        flatten(TEXTS), groups=make_labels(TEXTS), details=True, measures=["VS", "IntDiv"]
    )
    table = result["details"]["groups"]
    assert [row["group"] for row in table] == ["prompt 0", "prompt 1", "prompt 2"]
    assert [row["n"] for row in table] == [3, 4, 2]
    for row, group in zip(table, TEXTS, strict=True):
        expected = compute(group, measures=["VS", "IntDiv"])
        assert {key: row[key] for key in expected} == pytest.approx(expected)
    assert result["details"]["distinct"] == 3 + 3 + 2
    # Equal partitions have equal signatures; different partitions do not.
    nested = compute(TEXTS, details=True, measures=["VS", "IntDiv"])["details"]
    assert nested["signature"] == result["details"]["signature"]
    assert [row["group"] for row in nested["groups"]] == [0, 1, 2]
    other = compute(flatten(TEXTS), groups=[1] * 8 + [2], details=True, measures=["VS", "IntDiv"])
    assert other["details"]["signature"] != nested["signature"]
    assert "groups" not in compute(TEXTS[0], details=True)["details"]["signature"]


def test_notes_describe_means_sizes_and_missing_intervals():
    options = {"k": "rbf", "details": True, "ci": 0.9, "measures": ["VS", "TotalVS", "IntDiv"]}
    notes = compute(CLOUD, groups=[1] * 6 + [2] * 3 + [3] * 3, **options)["details"]["notes"]
    assert notes[:3] == [
        "VS, IntDiv are means over 3 groups, equally weighted.",
        "Groups have 3 to 6 samples. Most scores increase with the number of samples, so compare "
        "only groups of equal size.",
        "Measures computed from all groups together have no interval: TotalVS.",
    ]
    assert "Groups have" not in str(compute(CLOUD, groups=LABELS, **options)["details"]["notes"])


def test_details_contain_metric_of_grouped_distances():
    options = {"measures": "MagArea", "metric": "manhattan", "t_cut": 2.0}
    result = compute(CLOUD, groups=LABELS, details=True, **options)["details"]
    assert result["distance"] == "manhattan"
    assert "|metric=manhattan|solver=auto|groups=3@" in result["signature"]
    assert result["n"] == result["distinct"] == 12


@pytest.mark.parametrize(
    ("labels", "groups"),
    [
        ([1, 1.0, True, "1", (1,), b"1"], 4),
        (np.array([3, 3, 4, 4, 5, 5]), 3),
        (list(np.array(list("xxyyzz"))), 3),
        (iter("aabbcc"), 3),
        ([0.0, -0.0, 1, 1, frozenset("a"), frozenset("a")], 3),
    ],
)
def test_labels_are_grouped_by_python_equality(labels, groups):
    result = compute(CLOUD[:6], k="rbf", groups=labels, details=True)
    assert len(result["details"]["groups"]) == groups
    assert not any(isinstance(row["group"], np.generic) for row in result["details"]["groups"])


def test_labels_accept_table_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": flatten(TEXTS), "prompt": make_labels(TEXTS)})
    expected = pytest.approx(evaluate_separately(TEXTS))
    assert compute(frame["text"], groups=frame["prompt"]) == expected
    assert compute(frame["text"], groups=frame["prompt"].astype("category")) == expected
    with pytest.raises(ValueError, match="sample 1 has no label in `groups`, got <NA>; set its"):
        compute(["a", "b"], groups=["x", pd.NA])
    lists = frame.groupby("prompt")["text"].apply(list)
    assert compute(lists) == expected


def test_dropped_samples_are_removed_from_their_groups():
    groups = [["a cat", "", "a dog"], ["no", "yes", "", "no"]]
    with pytest.warns(UserWarning, match="dropped 2 of 7"):
        result = compute(groups, k="ngram_overlap", on_error="skip", details=True)
    retained = [["a cat", "a dog"], ["no", "yes", "no"]]
    assert {key: result[key] for key in ("VS", "VS_se")} == pytest.approx(
        evaluate_separately(retained)
    )
    assert sorted(result["details"]["dropped"]) == [1, 5]
    with (
        pytest.warns(UserWarning, match="dropped"),
        pytest.raises(ValueError, match="group 1 must contain a usable sample, got none"),
    ):
        compute([["a", "b"], ["", ""]], k="ngram_overlap", on_error="skip")


def test_callable_kernel_is_called_only_within_groups():
    called_pairs = []

    def k(a, b):
        called_pairs.append((a[0], b[0]))
        return float(a == b)

    texts, labels = ["a1", "a2", "b1", "b2", "b3", "c1"], list("aabbbc")
    assert compute(texts, k=k, groups=labels)["VS"] == pytest.approx(2)
    assert {a == b for a, b in called_pairs} == {True}
    called_pairs.clear()
    compute(texts, k=k, groups=labels, measures=["VS", "TotalVS"])
    assert {a == b for a, b in called_pairs} == {True, False}
    with pytest.raises(ValueError, match=r"sample . must have similarity 1 with itself, got 2"):
        compute([1.0, 2.0], k=lambda a, b: 2.0, groups=[1, 1])


def test_groups_of_tensors_match_arrays_and_are_differentiable():
    torch = pytest.importorskip("torch")
    X = torch.tensor(CLOUD, requires_grad=True)
    unit_rows = X / torch.linalg.vector_norm(X, dim=1, keepdim=True)
    options = {"score_X": True, "groups": LABELS, "measures": ["VS", "WithinVS", "BetweenVS"]}
    result = compute(unit_rows, **options)
    expected = compute(unit_rows.detach().numpy(), **options)
    assert {key: to_float(value) for key, value in result.items()} == pytest.approx(expected)
    (gradient,) = torch.autograd.grad(result["VS"], X)
    moved_rows = CLOUD.copy()
    moved_rows[0, 0] += 1e-6
    moved_rows /= np.linalg.norm(moved_rows, axis=1, keepdims=True)
    difference = compute(moved_rows, score_X=True, groups=LABELS)["VS"] - expected["VS"]
    assert float(gradient[0, 0]) == pytest.approx(difference / 1e-6, rel=1e-3)
    nested = [list(unit_rows[np.flatnonzero(x == LABELS)]) for x in "xyz"]
    assert to_float(compute(nested, score_X=True)["VS"]) == pytest.approx(expected["VS"])


def test_threads_return_equal_results():
    result = [None] * 6

    def work(i):
        result[i] = compute(CLOUD, k="rbf", groups=LABELS, ci=0.9, measures=["VS", "MagArea"])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(thread_result == result[0] for thread_result in result)


def test_many_small_groups_need_no_full_matrix(monkeypatch):
    from vendiscore.support import memory

    words = np.random.default_rng(5).integers(0, 300, (3000, 12))
    groups = [[" ".join(map(str, row)) for row in group] for group in words.reshape(600, 5, 12)]
    # A matrix of 1,000 samples would exceed the available memory.
    monkeypatch.setattr(memory, "available_bytes", lambda: 8 * 1000**2)
    result = compute(groups, details=True)
    assert result["details"]["n"] == 3000
    assert result["details"]["groups"][17]["VS"] == pytest.approx(compute(groups[17])["VS"])


def test_scores_of_question_classes_match_separate_evaluation(questions, question_classes):
    result = compute(questions, groups=question_classes, details=True)
    table = result["details"]["groups"]
    assert sum(row["n"] for row in table) == len(questions)
    abbreviation_row = next(row for row in table if row["group"] == "ABBR")
    abbreviations = [
        q for q, label in zip(questions, question_classes, strict=True) if label == "ABBR"
    ]
    assert abbreviation_row["VS"] == pytest.approx(compute(abbreviations)["VS"], rel=1e-10)


def test_score_of_a_single_group_equals_score_k():
    K = np.eye(2)
    assert compute(K, score_K=True, groups=[0, 0])["VS"] == score_K(K) == 2


@given(st.lists(st.sampled_from("abc"), min_size=1), st.data())
def test_select_keeps_labels_in_order_of_appearance(labels, data):
    index = data.draw(st.lists(st.integers(0, len(labels) - 1)))
    groups = parse_group_labels(labels, "groups", len(labels))
    selected = groups.select(np.array(index, dtype=int))
    assert groups.sample_labels == labels
    assert selected.sample_labels == [labels[i] for i in index]
    assert list(selected.labels) == list(dict.fromkeys(selected.sample_labels))


def test_group_equal_prompts_accepts_all_containers():
    class UnhashablePrompt:
        """A prompt that is neither hashable nor iterable."""

        __hash__ = None

        def __init__(self, text):
            self.text = text

        def __eq__(self, other):
            return self.text == other.text

    for make_prompt in (
        str,
        lambda c: [c],
        lambda c: [{"role": "user", "content": c}],
        UnhashablePrompt,
    ):
        assert group_equal_prompts(list(map(make_prompt, "abacb"))).codes.tolist() == [
            0,
            1,
            0,
            2,
            1,
        ]
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    for prompts in (rows, sp.csr_array(rows), list(rows)):
        assert group_equal_prompts(prompts).codes.tolist() == [0, 1, 0]
