"""Mixtures of kernels: sums and products of kernels on columns."""

import re

import numpy as np
import pandas as pd
import pytest

from vendiscore import NotPSDError, SampleError, as_similarity, compute, register_kernel
from vendiscore.support.namespace import to_float

RECORDS = [
    {"shape": "square", "colour": "red", "text": "a red square", "tags": ["a", "b"]},
    {"shape": "square", "colour": "blue", "text": "a blue square", "tags": ["a"]},
    {"shape": "disc", "colour": "red", "text": "a red disc", "tags": ["b"]},
]
COLUMNS = {name: [record[name] for record in RECORDS] for name in RECORDS[0]}
MIXTURE = {"labels:shape": 0.5, "tags:tags": 0.3, "ngram_overlap:text": 0.2}


@pytest.mark.parametrize("make", [list, iter])
def test_mixture_accepts_lists_iterators_and_nested_groups(make):
    with pytest.raises(ValueError, match="`samples` is empty; pass at least one sample"):
        compute(make([]), k=MIXTURE)
    groups = [RECORDS, RECORDS[:2]]
    assert compute(make(groups), k=MIXTURE) == compute(
        RECORDS + RECORDS[:2], k=MIXTURE, groups=list("aaabb")
    )


def compute_grid_score(shapes, colours, k=("labels:shape", "labels:colour")) -> float:
    samples = [{"shape": shape, "colour": colour} for shape in shapes for colour in colours]
    return compute(samples, k=list(k))["VS"]


def test_score_of_shape_colour_grid_matches_closed_form():
    """k = ½ [same shape] + ½ [same colour] on a grid of s shapes and c colours (2210.02410).

    K = ½ (I_s ⊗ J_c + J_s ⊗ I_c), so K/n has the eigenvalues ½(1/s + 1/c) once, 1/(2s) s − 1
    times and 1/(2c) c − 1 times.
    """
    for s, c in [(1, 1), (3, 1), (1, 4), (3, 4)]:
        eigenvalues = np.array(
            [(1 / s + 1 / c) / 2, *[1 / (2 * s)] * (s - 1), *[1 / (2 * c)] * (c - 1)]
        )
        expected = np.exp(-np.sum(eigenvalues * np.log(eigenvalues)))
        assert compute_grid_score(range(s), range(c)) == pytest.approx(expected)
    # Diversity grows with the number of shapes and the number of colours.
    assert compute_grid_score(range(1), range(1)) == pytest.approx(1)
    assert (
        compute_grid_score(range(3), range(1))
        < compute_grid_score(range(3), range(2))
        < compute_grid_score(range(3), range(3))
    )


def test_correlated_columns_are_less_diverse_than_independent_columns():
    k = {"labels:shape": 0.5, "labels:colour": 0.5}
    grid = [{"shape": s, "colour": c} for s in range(3) for c in range(3)]
    diagonal = [{"shape": s, "colour": s} for s in range(3)] * 3
    assert compute(diagonal, k=k)["VS"] == pytest.approx(3)
    assert compute(grid, k=k)["VS"] > 4


def compute_kernel_matrices() -> list[np.ndarray]:
    return [
        as_similarity(COLUMNS[name.partition(":")[2]], k=name.partition(":")[0]).dense()
        for name in MIXTURE
    ]


def test_sum_mixture_equals_weighted_sum_of_kernels():
    expected = sum(w * K for w, K in zip(MIXTURE.values(), compute_kernel_matrices(), strict=True))
    similarity = as_similarity(RECORDS, k=MIXTURE)
    np.testing.assert_allclose(similarity.dense(), expected, atol=1e-12)
    assert similarity.psd
    F = similarity.features()
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-12)


def test_product_mixture_equals_product_of_kernels():
    similarity = as_similarity(RECORDS, k=list(MIXTURE), combine="product")
    np.testing.assert_allclose(
        similarity.dense(), np.prod(compute_kernel_matrices(), axis=0), atol=1e-12
    )


def test_list_of_kernels_has_equal_weights():
    weights = dict.fromkeys(MIXTURE, 1 / 3)
    np.testing.assert_allclose(
        as_similarity(RECORDS, k=list(MIXTURE)).dense(), as_similarity(RECORDS, k=weights).dense()
    )


def test_mixture_accepts_all_table_types():
    datasets = pytest.importorskip("datasets")
    expected = compute(RECORDS, k=MIXTURE)["VS"]
    table = datasets.Dataset.from_list(RECORDS)
    for samples in (COLUMNS, pd.DataFrame(RECORDS), table, table.data.table, iter(RECORDS)):
        assert compute(samples, k=MIXTURE)["VS"] == pytest.approx(expected), type(samples)


def test_kernels_without_columns_use_the_samples():
    texts = ["a cat", "a dog", "the dog"]
    result = compute(
        texts, k={"ngram_overlap": 0.25, "labels": 0.75}, options={"ngram_overlap": {"ns": 1}}
    )
    K = 0.25 * as_similarity(texts, k="ngram_overlap", ns=1).dense() + 0.75 * np.eye(3)
    assert result["VS"] == pytest.approx(compute(K, score_K=True)["VS"])
    assert compute(iter(texts), k=["ngram_overlap", "labels"], options={"ngram_overlap": {"ns": 1}})


def test_details_contain_kernels_and_options_of_a_mixture():
    options = {"ngram_overlap:text": {"ns": 2}}
    details = compute(RECORDS, k=MIXTURE, options=options, details=True)["details"]
    assert details["kernel"] == "0.5*labels:shape+0.3*tags:tags+0.2*ngram_overlap:text"
    assert details["options"]["ngram_overlap:text.ns"] == [2]
    product = compute(RECORDS, k=list(MIXTURE), combine="product", details=True)["details"]
    assert product["kernel"] == "labels:shape*tags:tags*ngram_overlap:text"


def test_options_apply_to_the_named_kernel():
    default_result = compute(RECORDS, k=MIXTURE)
    assert compute(RECORDS, k=MIXTURE, options={"ngram_overlap:text": {"ns": 1}}) != default_result


def test_duplicate_records_do_not_change_score():
    duplicated = as_similarity(RECORDS * 2, k=MIXTURE)
    assert len(np.unique(duplicated.groups())) == 3
    assert compute(RECORDS * 2, k=MIXTURE)["VS"] == pytest.approx(compute(RECORDS, k=MIXTURE)["VS"])


def test_product_score_is_larger_than_sum_score():
    assert (
        compute(RECORDS, k=list(MIXTURE), combine="product")["VS"]
        > compute(RECORDS, k=list(MIXTURE))["VS"]
    )


def test_mixture_with_an_indefinite_kernel_is_not_psd():
    pytest.importorskip("sacrebleu")
    assert not as_similarity(["a b c", "b c d"], k=["bleu", "labels"]).psd
    assert as_similarity(["a b c", "b c d"], k=["labels"]).psd


@pytest.mark.parametrize(
    ("k", "keywords", "error", "message"),
    [
        ({"labels:shape": 0.5}, {}, ValueError, "must sum to 1, got 0.5"),
        (
            {"labels:shape": -1, "tags:tags": 2},
            {},
            ValueError,
            "finite weight of at least 0, got -1",
        ),
        (
            {"labels:shape": "1"},
            {},
            TypeError,
            "finite weight of at least 0, got '1'",
        ),
        ({}, {}, ValueError, "at least one kernel"),
        ([], {}, ValueError, "at least one kernel"),
        (["labels:shape"] * 2, {}, ValueError, "once"),
        ({"label:shape": 1}, {}, ValueError, "unknown kernel `k='label'`. Did you mean 'labels'?"),
        ({"labels:shap": 1}, {}, ValueError, "no column 'shap'. Did you mean 'shape'?"),
        ({"labels": 1}, {}, ValueError, "pass, for example, 'labels:shape' in `k`"),
        ({len: 1}, {}, TypeError, "got an object of type builtin_function_or_method"),
        ({"labels:shape": 1}, {"combine": "max"}, ValueError, "'sum' or 'product', got 'max'"),
        (
            {"labels:shape": 1},
            {"combine": "product"},
            ValueError,
            "not supported with combine='product'; pass the list k=['labels:",
        ),
        (
            {"labels:shape": 1},
            {"options": {"labels": {}}},
            ValueError,
            "contains 'labels', which is not in `k`",
        ),
        (
            {"labels:shape": 1},
            {"options": {"labels:shape": 2}},
            TypeError,
            "must map each kernel name to a dict",
        ),
        ({"labels:shape": 1}, {"radius": 2}, TypeError, "None of its kernels has this option"),
        (
            {"labels:shape": 0.5, "ngram_overlap:text": 0.5},
            {"ns": [1]},
            TypeError,
            "options={'ngram_overlap:text': {'ns': …}}",
        ),
        (
            {"ngram_overlap:text": 1},
            {"options": {"ngram_overlap:text": {"n": 1}}},
            TypeError,
            "'n' is",
        ),
    ],
)
def test_invalid_mixtures_raise(k, keywords, error, message):
    with pytest.raises(error, match=re.escape(message)):
        compute(COLUMNS, k=k, **keywords)


def test_invalid_samples_of_a_mixture_raise():
    with pytest.raises(SampleError, match="sample 1 has no value in the column 'shape'"):
        compute([RECORDS[0], {"colour": "red"}], k={"labels:shape": 1})
    with pytest.raises(SampleError, match="sample 1 of column 'tags' is an empty set"):
        compute({"tags": [["a"], []]}, k={"tags:tags": 1})
    with pytest.raises(ValueError, match="equal lengths, got labels:a: 2, labels:b: 1"):
        compute({"a": [1, 2], "b": [1]}, k=["labels:a", "labels:b"])
    with pytest.raises(TypeError, match="requires samples with a column 'a', got list"):
        compute(["x", "y"], k=["labels:a"])


def test_mixture_without_usable_samples_raises():
    pytest.importorskip("rdkit")
    options = {name: {"on_error": "skip"} for name in ("morgan:a", "maccs:b")}
    with pytest.raises(ValueError, match=r"the mixture can use none.*sample 0 of column 'b' "):
        compute({"a": ["CCO", "bad"], "b": ["bad", "CCO"]}, k=list(options), options=options)


def test_samples_dropped_by_one_kernel_are_dropped_by_the_mixture():
    pytest.importorskip("rdkit")
    table = {"a": ["CCO", "bad", "CCO", "CCN", "CCCl"], "b": ["CCO", "CCO", "bad", "CCC", "CCO"]}
    options = {name: {"on_error": "skip"} for name in ("morgan:a", "maccs:b")}
    with pytest.warns(UserWarning, match="dropped 2 of 5 samples.*sample 1 of column"):
        similarity = as_similarity(table, k=list(options), options=options)
    assert list(similarity.dropped) == [1, 2]
    retained = {name: [column[i] for i in (0, 3, 4)] for name, column in table.items()}
    np.testing.assert_array_equal(
        similarity.dense(), as_similarity(retained, k=list(options)).dense()
    )


def test_negative_eigenvalues_of_a_mixture_raise_or_are_clipped(monkeypatch):
    from vendiscore import MatrixSimilarity
    from vendiscore.resolve import kernel

    kernel.list_kernels()
    monkeypatch.setattr(kernel._kernels, "registrations", dict(kernel._kernels.registrations))
    indefinite = np.array([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]])
    kernel.register_kernel("indefinite", samples="any", source="this test", psd=False)(
        lambda samples: MatrixSimilarity(indefinite)
    )
    with pytest.raises(NotPSDError):
        compute(["a", "b", "c"], k={"indefinite": 0.9, "labels": 0.1})
    clipped = compute(
        ["a", "b", "c"], k={"indefinite": 0.9, "labels": 0.1}, psd="clip", details=True
    )
    eigenvalues = np.linalg.eigvalsh(0.9 * indefinite + 0.1 * np.eye(3)) / 3
    expected = -eigenvalues[eigenvalues < 0].sum()
    assert clipped["details"]["negative_mass"] == pytest.approx(expected)


TABLE = {"x": np.random.default_rng(0).standard_normal((9, 3)), "label": list("abcabcabd")}


@pytest.mark.parametrize("combine", ["sum", "product"])
@pytest.mark.parametrize("kernels", [["cosine:x", "labels:label"], ["rbf:x", "cosine:x"]])
def test_mixtures_of_tensors_match_arrays(combine, kernels):
    torch = pytest.importorskip("torch")
    X = torch.tensor(TABLE["x"], requires_grad=True)
    table = {**TABLE, "x": X}
    options = {"k": kernels, "combine": combine, "q": [0, 0.5, 1, 2, "inf"]}
    expected = compute(TABLE, **options)
    result = compute(table, **options)
    for name, value in expected.items():
        assert to_float(result[name]) == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(
        as_similarity(table, k=kernels, combine=combine).dense().detach(),
        as_similarity(TABLE, k=kernels, combine=combine).dense(),
        atol=1e-14,
    )
    result["VS_q1"].backward()
    assert bool(torch.isfinite(X.grad).all())
    assert X.grad.abs().max() > 0


def test_mixture_of_two_tensors_matches_arrays():
    torch = pytest.importorskip("torch")
    A, B = (torch.randn(20, 3, dtype=torch.float64) for _ in range(2))
    result = compute({"a": A, "b": B}, k={"cosine:a": 0.3, "cosine:b": 0.7})["VS"]
    arrays = {"a": A.numpy(), "b": B.numpy()}
    expected = compute(arrays, k={"cosine:a": 0.3, "cosine:b": 0.7})["VS"]
    assert result.item() == pytest.approx(expected)


def test_fitted_bandwidths_of_a_mixture_can_be_passed_as_options():
    k = {"rbf:x": 0.5, "laplacian:x": 0.25, "labels:label": 0.25}
    other_table = {**TABLE, "x": TABLE["x"] * 3}
    for options in ({}, {"options": {"labels:label": {"on_error": "skip"}}}):
        similarity = as_similarity(TABLE, k=k, **options)
        fitted = similarity.fitted
        assert set(fitted) == {"options"}
        assert fitted["options"]["rbf:x"].keys() == {"sigma"}
        with_fitted_options = as_similarity(TABLE, k=k, **{**options, **fitted})
        np.testing.assert_allclose(with_fitted_options.dense(), similarity.dense(), atol=1e-14)
        shared = as_similarity(other_table, k=k, **fitted).dense()
        matrices = [
            weight
            * as_similarity(
                other_table[name.partition(":")[2]], k=name.partition(":")[0], **kernel_options
            ).dense()
            for (name, weight), kernel_options in zip(
                k.items(),
                ({"sigma": fitted["options"][n].get("sigma")} for n in ("rbf:x", "laplacian:x")),
                strict=False,
            )
        ]
        labels = as_similarity(other_table["label"], k="labels").dense()
        np.testing.assert_allclose(shared, sum(matrices) + 0.25 * labels, atol=1e-14)
    assert as_similarity(TABLE, k=["labels:label", "cosine:x"]).fitted == {}


@pytest.mark.parametrize("combine", ["sum", "product"])
def test_mixture_drops_unusable_samples_before_fitting_bandwidths(combine):
    table = {
        "x": [[0.0, 1.0], [1.0, 1.0], None, [9.0, 9.0], [2.0, 0.0], [5.0, 1.0]],
        "text": ["a b", "", "c", "a", " ", "b c"],
    }
    usable = {name: [column[i] for i in (0, 3, 5)] for name, column in table.items()}
    k = ["rbf:x", "ngram_overlap:text"]
    options = {"options": {"ngram_overlap:text": {"ns": 1}}, "combine": combine}
    message = "the mixture cannot use .*, at indices 1, 2, 4: sample 1 of column"
    with pytest.warns(UserWarning, match=message) as caught:
        similarity = as_similarity(table, k=k, on_error="skip", **options)
    assert len(caught) == 1
    assert list(similarity.dropped) == [1, 2, 4]
    expected = as_similarity(usable, k=k, **options)
    # Bandwidths are also fitted to the retained samples.
    np.testing.assert_array_equal(similarity.dense(), expected.dense())
    assert similarity.settings == expected.settings
    with pytest.raises(SampleError, match="sample 1 of column 'text'") as error_info:
        as_similarity(table, k=k, **options)
    assert list(error_info.value.problems) == [1, 2, 4]


def test_on_error_of_one_kernel_does_not_apply_to_others():
    table = {"a": ["x", None, "y"], "b": ["x", "y", None]}
    options = {"labels:a": {"on_error": "skip"}}
    with pytest.raises(SampleError, match="sample 2 of column 'b' has a missing label") as caught:
        compute(table, k=["labels:a", "labels:b"], options=options)
    assert list(caught.value.problems) == [2]


@pytest.mark.usefixtures("restored_registries")
@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize("k", [["parsed:a", "labels:b"], ["labels:b", "parsed:a"]])
def test_cause_of_mixture_error_belongs_to_the_reported_problem(k, on_error):
    @register_kernel("parsed", samples="text", source="this test")
    def parsed(texts):
        for i, text in enumerate(texts):
            try:
                int(text)
            except ValueError as error:
                raise SampleError(i, "is not an integer; correct it") from error

    options = {"labels:b": {"on_error": on_error}}
    table = {"a": ["1", "one", "2"], "b": ["x", "y", None]}
    with pytest.raises(SampleError, match="sample 1 of column 'a' is not an integer") as caught:
        compute(table, k=k, options=options)
    assert isinstance(caught.value.__cause__, ValueError)


def test_records_without_the_column_raise_or_are_dropped():
    records = [{"a": "x"}, {"b": 1}, None, {"a": "y"}]
    with pytest.raises(SampleError, match="sample 1 has no value in the column 'a'") as caught:
        compute(records, k=["labels:a"])
    assert list(caught.value.problems) == [1, 2]
    with pytest.warns(UserWarning, match="dropped 2 of 4"):
        assert compute(records, k=["labels:a"], on_error="skip")["VS"] == pytest.approx(2)


@pytest.mark.parametrize("half", [0.5, np.float16(0.5), np.float32(0.5), np.array(0.5)])
def test_weights_of_any_float_type_give_equal_results(half):
    expected = compute(COLUMNS, k={"labels:shape": 0.5, "tags:tags": 0.5}, details=True)
    result = compute(COLUMNS, k={"labels:shape": half, "tags:tags": half}, details=True)
    assert result == expected


def test_signature_distinguishes_close_weights():
    details = [
        compute(COLUMNS, k={"labels:shape": weight, "tags:tags": 1 - weight}, details=True)[
            "details"
        ]
        for weight in (0.5, 0.50000001)
    ]
    assert details[0]["signature"] != details[1]["signature"]
