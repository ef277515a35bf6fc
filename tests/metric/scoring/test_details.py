"""The details of a result: counts, settings, notes and the signature."""

import numpy as np
import pytest

from vendiscore import MatrixSimilarity, compute
from vendiscore.magnitude.metric_space_builder import as_space

X = np.random.default_rng(0).standard_normal((8, 3))
TEXTS = ["a cat sat", "a cat sat", "the dog ran", "it rained", "", "snow fell"]


def compute_details(samples, **arguments):
    return compute(samples, details=True, **arguments)["details"]


def parse_signature(details):
    """Return the settings of a signature by name."""
    measures, *settings = details["signature"].split("|")
    return {"": measures} | dict(setting.partition("=")[::2] for setting in settings)


def test_details_have_keys_of_the_computation():
    result = compute_details(X, k="cosine")
    assert {"n", "distinct", "dropped", "options", "kernel", "method", "why"} <= {*result}
    assert {"negative_mass", "cut", "notes", "versions", "signature"} <= {*result}
    assert {"distance", "scales", "solver", "interval", "groups"}.isdisjoint(result)
    assert {"distance", "scales", "solver", "residual", "error"} <= {
        *compute_details(X, measures=["MagArea"])
    }


def test_distinct_counts_samples_within_groups():
    rows = X[[0, 0, 1, 1, 0]]
    assert compute_details(rows, k="rbf", sigma=1)["distinct"] == 2
    grouped = compute_details(rows, k="rbf", sigma=1, groups=[0, 0, 0, 1, 1])
    assert (grouped["n"], grouped["distinct"]) == (5, 4)
    spaces = compute_details(rows, measures=["MagArea"], groups=[0, 0, 0, 1, 1])
    assert spaces["distinct"] == 4
    assert compute_details(["a", "b", "a"], measures=["CompressionRatio"])["distinct"] == 3
    with_function = compute_details([3, 3, 4, 4], k=lambda a, b: float(a == b), groups=[0, 1, 1, 1])
    assert with_function["distinct"] == 3


def test_dropped_samples_are_listed_and_counted_in_the_signature():
    with pytest.warns(UserWarning, match="1 of 6"):
        result = compute_details(TEXTS, on_error="skip")
    assert (result["n"], [*result["dropped"]]) == (5, [4])
    assert parse_signature(result)["dropped"] == "1"
    assert parse_signature(result)["n"] == "5"
    assert "dropped" not in parse_signature(compute_details(TEXTS[:4]))


def test_fitted_options_are_reported_with_a_note():
    result = compute_details(X, k="rbf")
    sigma = result["options"]["sigma"]
    assert any(f"fitted to these samples: sigma={sigma}" in note for note in result["notes"])
    fixed = compute_details(X, k="rbf", sigma=sigma)
    assert not any("fitted" in note for note in fixed["notes"])
    assert compute(X, k="rbf") == pytest.approx(compute(X, k="rbf", sigma=sigma))
    pooled = compute_details(X, references=X + 1, k="rbf", measures=["VS", "MMD"])
    assert any("fitted to the references" in note for note in pooled["notes"])


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"q": 2}, "q"),
        ({"k": "rbf", "sigma": 2.0}, "kernel"),
        ({"p": [0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]}, "p"),
        ({"ci": 0.9}, "ci"),
        ({"groups": [0, 0, 0, 0, 1, 1, 1, 1]}, "groups"),
        ({"psd": "clip"}, "psd"),
        ({"method": "estimate"}, "method"),
        ({"measures": ["IntDiv"]}, ""),
    ],
)
def test_signature_changes_with_settings(changes, name):
    default = parse_signature(compute_details(X, k="cosine"))
    changed = parse_signature(compute_details(X, **{"k": "cosine", **changes}))
    assert changed.get(name) != default.get(name)


def test_signature_lists_measures_settings_and_version():
    result = compute_details(X, k="cosine", q=[1, 2], measures=["VS", "IntDiv"])
    signature = result["signature"]
    assert signature.startswith("VS+IntDiv|kernel=cosine|dtype=float64|")
    assert "|p=uniform|q=1,2|" in signature
    assert signature.endswith(f"|vendiscore={result['versions']['vendiscore']}")
    assert parse_signature(result)["n"] == "8"


def test_signature_prefixes_options_that_differ_between_measures():
    measures = {"MagArea": {"n_scales": 5}, "MagDiff": {"n_scales": 6}}
    result = parse_signature(compute_details(X, references=X + 1, measures=measures))
    assert result["n_scales"] == "5"
    assert result["MagDiff.n_scales"] == "6"


def test_signature_depends_on_references():
    first, second = (
        parse_signature(compute_details(X, k="cosine", references=other, measures=["MMD"]))
        for other in (X + 1, X + 2)
    )
    assert first["references"] != second["references"]
    first_distances, second_distances = (
        parse_signature(compute_details(X, references=other, measures=["MagDiff"]))
        for other in (X + 1, X * 2)
    )
    assert first_distances["references"] != second_distances["references"]


def test_details_describe_the_interval():
    result = compute_details(X, k="cosine", ci=0.9)
    assert result["interval"]["level"] == 0.9
    assert result["interval"]["method"].keys() == {"VS"}
    assert parse_signature(result)["ci"] == "0.9"
    assert parse_signature(result)["allow_repeats"] == "True"
    assert "interval" not in compute_details(X, k="cosine")


def test_negative_mass_is_reported_with_psd_clip():
    K = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], float)
    result = compute_details(K, score_K=True, psd="clip")
    assert result["negative_mass"] == pytest.approx((2**0.5 - 1) / 3)
    assert compute_details(np.eye(3), score_K=True)["negative_mass"] == pytest.approx(0)


def test_order_two_notes_that_negative_eigenvalues_are_not_detected():
    rows = np.random.default_rng(1).standard_normal((300, 400))
    K = rows @ rows.T
    K /= np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    result = compute_details(K, score_K=True, q=2)
    assert result["negative_mass"] is None
    assert result["cut"] == 0.0
    assert any("negative eigenvalues are not detected" in note for note in result["notes"])
    checked = compute_details(K, score_K=True)
    assert not any("not checked" in note for note in checked["notes"])


def test_magnitude_details_contain_scales_values_and_errors():
    result = compute_details(X, measures=["Magnitude"], t=[0.5, 2.0])
    values = compute(X, measures=["Magnitude"], t=[0.5, 2.0])
    assert result["scales"] == [0.5, 2.0]
    assert result["values"] == pytest.approx([values["Magnitude_t0.5"], values["Magnitude_t2"]])
    assert sum(result["solver"].values()) == 2
    assert 0 <= result["residual"] < 1e-8
    assert 0 <= result["error"] < 1e-8
    assert (result["distance"], result["options"]["solver"]) == ("euclidean", "auto")


def test_kernel_of_a_similarity_without_settings_is_its_class():
    result = compute_details(MatrixSimilarity(np.eye(3)))
    assert result["kernel"] == "MatrixSimilarity"


def test_kernel_function_without_source_code_is_noted():
    k = eval("lambda a, b: float(a == b)")
    result = compute_details([1, 2], k=k)
    assert any("source code or a value" in note for note in result["notes"])
    assert "source=unknown" in result["signature"]


def test_details_have_one_row_per_group():
    result = compute_details(X, k="cosine", groups=list("aaabbbbb"))
    assert [(row["group"], row["n"]) for row in result["groups"]] == [("a", 3), ("b", 5)]
    assert result["groups"][0]["VS"] == pytest.approx(compute(X[:3], k="cosine")["VS"])
    assert result["method"] == {}
    assert result["negative_mass"] is None


def test_details_contain_largest_residual_and_error_of_all_scales():
    scales = [0.01, 0.5, 20.0]
    result = compute_details(X, measures=["Magnitude"], t=scales)
    solutions = [as_space(X).solve(t) for t in scales]
    assert len({solution.error for solution in solutions}) > 1
    assert result["residual"] == max(solution.residual for solution in solutions)
    assert result["error"] == max(solution.error for solution in solutions)
    assert result["distinct"] == 8


def test_signature_contains_psd_only_if_not_default():
    assert "psd" not in parse_signature(compute_details(X, k="cosine"))
    assert parse_signature(compute_details(X, k="cosine", psd="clip"))["psd"] == "clip"
    assert "psd" not in parse_signature(compute_details(X, measures=["MagArea"], psd="clip"))


@pytest.mark.parametrize(("k", "noted"), [("ngram_overlap", True), ("labels", False)])
def test_note_describes_threshold_of_distinct_k(k, noted):
    notes = compute_details(["a b", "a b", "c"], k=k, measures="DistinctK")["notes"]
    assert any("same_above=0.5" in note for note in notes) == noted
