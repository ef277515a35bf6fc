"""Warnings about strings that are molecules or image paths, in all formats and calls."""

import warnings

import magnitude_measures
import numpy as np
import pytest

import vendiscore
from vendiscore import MatrixSimilarity, RowsSimilarity, compute
from vendiscore.resolve.kernel_builder import (
    SYMMETRY_ROWS,
    SYMMETRY_TOLERANCE,
    _check_kernel_result,
    find_distinct_samples,
)
from vendiscore.support.text_detection import count_unspaced, looks_like

TEXTS = ["a b", "a c", "d e"]
SMILES = ["CCO", "CC(=O)O", "c1ccccc1", "C[C@H](N)C(=O)O", "[Na+].[Cl-]"]
PATHS = ["cats/1.png", "my cats/2.JPG", "C:\\my pictures\\3.webp", "../4.tif"]
OTHER_FORMATS = {
    "SMILES with names": (["CCO ethanol", "CC(=O)O\tacetic acid", "c1ccccc1 benzene"], "morgan"),
    "lines of a file": (["CC=O\n", "C#N\n", " CCO"], "morgan"),
    "salts": (["[Na+].[Cl-]", "[K+].[Br-]"], "morgan"),
    "paths": (PATHS, "pixels"),
    "addresses": (["file:///photos/1.png", "s3://bucket/a.JPG"], "pixels"),
}


@pytest.mark.parametrize("case", OTHER_FORMATS)
def test_molecules_and_paths_in_other_formats_warn(case):
    samples, kernel = OTHER_FORMATS[case]
    description, result = looks_like(samples)
    assert result == kernel
    with pytest.warns(UserWarning, match=f"look like {description}, but were compared as text"):
        compute(samples, analyzer="char", ns=1, q=2)


def test_morgan_accepts_names_whitespace_and_inchi():
    pytest.importorskip("rdkit")
    expected = compute(["CO", "O", "CC(=O)O"], k="morgan")
    smiles_with_names = ["CO methanol", "O\twater", " CC(=O)O"]
    inchi = ["InChI=1S/CH4O/c1-2/h2H,1H3", "InChI=1S/H2O/h1H2 water", "CC(=O)O"]
    assert compute(smiles_with_names, k="morgan") == compute(inchi, k="morgan") == expected
    with pytest.raises(vendiscore.SampleError, match="sample 1 is not an InChI that RDKit can par"):
        compute(["CO", "InChI=1S/what"], k="morgan")


def make_container(samples, container):
    if container == "array":
        return np.array(samples)
    if container == "objects":
        return np.array(samples, dtype=object)
    if container == "tuple":
        return tuple(samples)
    if container == "iterator":
        return iter(samples)
    if container == "arrow":
        return pytest.importorskip("pyarrow").array(samples)
    if container == "datasets":
        return pytest.importorskip("datasets").Dataset.from_dict({"x": samples})["x"]
    return pytest.importorskip("pandas").Series(samples, dtype=container)


@pytest.mark.parametrize(
    "container",
    ["array", "objects", "tuple", "iterator", "arrow", "datasets", "object", "string", "category"],
)
@pytest.mark.parametrize(("samples", "kernel"), [(SMILES, "morgan"), (PATHS, "pixels")])
def test_molecules_and_paths_warn_in_any_container(samples, kernel, container):
    with pytest.warns(UserWarning, match=f"k='{kernel}' to compare their content"):
        compute(make_container(samples, container), q=2)


@pytest.mark.parametrize(("samples", "kernel"), [(SMILES, "morgan"), (PATHS, "pixels")])
def test_molecules_and_paths_warn_in_any_call(samples, kernel):
    metric = vendiscore.load("vendiscore")
    metric_with_batch = vendiscore.load("vendiscore")
    metric_with_batch.add_batch(predictions=samples)
    for call in (
        lambda: metric.compute(predictions=samples),
        lambda: metric.compute(samples=samples, q=[1, 2]),
        metric_with_batch.compute,
        lambda: compute([samples, samples[:2]]),
        lambda: compute(samples, groups=[0, 0, *[1] * len(samples[2:])]),
        lambda: compute(
            TEXTS * 40, samples, measures="MagDiff"
        ),  # only the references are molecules or paths
        lambda: compute(samples, TEXTS * 40, measures="MagDiff"),
        lambda: magnitude_measures.compute_magnitude(samples),
        lambda: vendiscore.as_similarity(samples),
        lambda: vendiscore.compare({"a": samples * 2, "b": [*TEXTS, *TEXTS]}, permutations=39),
        lambda: vendiscore.mag_areas([TEXTS * 40, samples]),
    ):
        with pytest.warns(UserWarning, match=f"k='{kernel}' to compare their content"):
            call()


def test_explicit_text_kernel_does_not_warn():
    records = [
        {"smiles": smiles, "path": path} for smiles, path in zip(SMILES, PATHS, strict=False)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for samples in (SMILES, PATHS):
            compute(samples, k="ngram_overlap")
            compute([samples, samples], k="ngram_overlap")
            vendiscore.load("vendiscore").compute(samples=samples, k="ngram_overlap")
        compute(records, k={"ngram_overlap:smiles": 0.5, "ngram_overlap:path": 0.5})


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' ")
def test_warning_about_smiles_and_paths_is_repeated_in_notes(odors):
    molecules = [smiles for smiles, _ in odors]
    for samples, kernel in [
        (SMILES, "morgan"),
        (molecules, "morgan"),
        ([*molecules[:18], "a remark", "another"], "morgan"),  # nearly all are molecules
        (["a/1.png", "b 2.JPG", "http://x/y.webp"], "pixels"),
    ]:
        with pytest.warns(UserWarning, match=f"look like .*k='{kernel}' to compare their content"):
            result = compute(samples, q=2, details=True)
        assert any(f"k='{kernel}'" in note for note in result["details"]["notes"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compute(samples, k="ngram_overlap", analyzer="char", q=2)  # explicit kernel


def test_looks_like_returns_none_for_text(questions):
    words = [word for question in questions for word in question.split()]
    for samples in (
        questions,
        words,
        ["C", "CC", "NO", "I"],  # letters that are also atoms
        ["GATTACA", "CCCGGG"],
        ["B1", "C2", "N3"],  # rings that do not close
        ["1.", "=)", ":-)"],
        ["No. 5", "Co. Inc.", "So. what?"],
        ["I am", "On-off", "no (so)"],
        ["[Music]", "[Applause]", "[laughs]"],
        ["[MASK] [SEP]", "[CLS][PAD]"],
        ["InChI is a name", "see photo.png there", "/9j/ begins a JPEG", "data: 1, 2"],
        ["https://x.org/", "https://x.org/a.html?from=b.png"],
        [""],
    ):
        assert looks_like(samples) is None
        assert count_unspaced(samples) == 0


def test_looks_like_handles_long_strings():
    for text in (
        "C" + "1" * 9000 + "!",
        "[C]" * 9000 + "!",
        "a.png " * 9000,
        "[" * 9000,
        " " * 9000,
    ):
        assert looks_like([text] * 200) in (None, looks_like(["a.png"]))


SMALL_MOLECULES = ["CCO", "CCN", "CCCl", "c1ccccc1O"]


@pytest.mark.parametrize(
    "strings",
    [
        SMALL_MOLECULES,
        SMALL_MOLECULES[:3],
        ["CO", "C=C", "CCO"],
        ["ClCCl", "CO", "CN"],
        ["BrCC", "CC"],
    ],
)
def test_looks_like_detects_small_molecules(strings):
    assert looks_like(strings) == ("SMILES of molecules", "morgan")


@pytest.mark.parametrize(
    "strings",
    [
        ["CNN", "BBC", "NBC", "SOS"],
        ["no", "so", "on", "soon", "cocoon"],
        ["NO", "YES"],
        ["CO2", "NO2", "SO2"],
        ["Cl", "Br", "I"],
        ["C", "C++", "C#"],
        ["a=b", "c=d"],
        ["B12", "C12"],
        ["2024-01-02", "2024-01-03"],
        ["1", "22", "333"],
        ["CS101", "CS202"],
        ["Bronx", "Brooklyn", "Cloud"],
        ["What is CO2 ?", "Who owns CNN ?"],
    ],
)
def test_looks_like_returns_none_for_words_codes_and_numbers(strings):
    assert looks_like(strings) is None
    assert looks_like(strings * 50) is None


def compute_with_metric(samples):
    pytest.importorskip("evaluate")
    return vendiscore.load("vendiscore").compute(samples=samples)


@pytest.mark.parametrize(
    "call",
    [
        vendiscore.compute,
        vendiscore.explain,
        vendiscore.growth,
        lambda samples: vendiscore.select(samples, 2),
        lambda samples: vendiscore.compare(samples, samples),
        compute_with_metric,
    ],
    ids=["compute", "explain", "growth", "select", "compare", "metric"],
)
def test_entry_points_warn_about_molecules(call):
    with pytest.warns(UserWarning, match=r"look like SMILES of molecules.*k='morgan' to compare"):
        call([*SMALL_MOLECULES, "CCCN", "CC(C)O", "CCBr", "CCC"])


@pytest.mark.parametrize(
    "values",
    [
        [3, 1, 3, 2, 1, 3],
        [True, False, True],
        [0.0, 1.5, -0.0, 1.5, 0.0, 2.5],
        ["b", "a", "b", "c", "a", "b"],
        [b"b", b"a", b"b", b"c", b"a", b"b"],
    ],
)
def test_distinct_values_of_arrays_are_those_of_lists(values):
    listed, first, inverse = find_distinct_samples(values)
    array, array_first, array_inverse = find_distinct_samples(np.array(values))
    assert isinstance(array, np.ndarray)
    assert array.tolist() == listed
    assert array_first.tolist() == first.tolist()
    assert array_inverse.tolist() == inverse.tolist()
    assert len(listed) < len(values)
    kept, *indices = find_distinct_samples(np.array(values), keep_repeats=True)
    assert kept.tolist() == values
    assert [index.tolist() for index in indices] == [[*range(len(values))]] * 2


def test_rows_and_values_without_simple_types_are_treated_as_distinct():
    for samples in (np.ones((3, 2)), np.array(["a", None, "a"], dtype=object), np.array([1j, 1j])):
        distinct, first, _ = find_distinct_samples(samples)
        assert distinct is samples
        assert first.tolist() == [*range(len(samples))]


def test_function_is_called_once_for_each_pair_of_distinct_numbers_of_an_array():
    calls = []

    def compare(a, b):
        calls.append((int(a), int(b)))
        return float(a == b)

    samples = np.array([1, 2, 1, 1, 2, 5])
    vs = compute(samples, k=compare)["VS"]
    assert vs == pytest.approx(compute(samples, k="labels")["VS"], rel=1e-12)
    assert set(calls) <= {(a, b) for a in (1, 2, 5) for b in (1, 2, 5)}
    assert len(calls) <= 9


def test_missing_label_of_an_array_is_reported_at_its_first_index():
    with pytest.raises(vendiscore.SampleError, match="sample 2 has a missing label: nan"):
        compute(np.array([1.0, 0.0, np.nan, 1.0, np.nan]), k="labels")


def test_equal_values_of_different_types_are_kept_apart():
    distinct, first, inverse = find_distinct_samples([True, 1, 1.0, True, 0, False])
    assert [(type(value), value) for value in distinct] == [
        (bool, True), (int, 1), (float, 1.0), (int, 0), (bool, False)
    ]  # fmt: skip
    assert first.tolist() == [0, 1, 2, 4, 5]
    assert inverse.tolist() == [0, 1, 2, 0, 3, 4]


def similarity_of_matrix(K):
    """Return similarities whose symmetry is not checked when they are built."""
    codes = np.arange(len(K))[:, None]
    return RowsSimilarity.of_rows(codes, lambda A, B: K[A, B.T])


@pytest.mark.parametrize("n", [1, 2, SYMMETRY_ROWS, SYMMETRY_ROWS + 1, 10 * SYMMETRY_ROWS])
def test_symmetric_result_of_kernel_is_accepted_for_any_number_of_samples(n):
    K = np.eye(n) / 2 + 0.5
    K[0, -1] += SYMMETRY_TOLERANCE / 2  # a rounding error
    _check_kernel_result("name", similarity_of_matrix(K), np.arange(n))


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 2), (2, 0)])
def test_asymmetric_result_of_kernel_is_rejected_for_any_pair(pair):
    K = np.eye(3)
    K[pair] = 10 * SYMMETRY_TOLERANCE
    indices = np.array([4, 5, 9])  # of the distinct samples among all samples
    first, second = indices[sorted(pair)]
    with pytest.raises(ValueError, match=f"for samples {first} and {second}$"):
        _check_kernel_result("name", similarity_of_matrix(K), indices)


@pytest.mark.parametrize("value", [0.75, np.nan, np.inf])
def test_some_pairs_of_many_samples_are_checked_for_symmetry(value):
    n = 10 * SYMMETRY_ROWS
    K = np.where(np.triu(np.ones((n, n)), 1) > 0, value, 0.25)
    with pytest.raises(ValueError, match="must return a symmetric Similarity of finite numbers"):
        _check_kernel_result("name", similarity_of_matrix(K), np.arange(n))


@pytest.mark.parametrize(
    ("similarity", "error", "message"),
    [
        (np.eye(3), TypeError, "kernel 'name' must return a Similarity, got ndarray"),
        (MatrixSimilarity(np.eye(2)), ValueError, "all 3 samples .* Similarity of 2 samples"),
        (MatrixSimilarity(np.eye(4)), ValueError, "all 3 samples .* Similarity of 4 samples"),
    ],
)
def test_result_of_kernel_must_be_a_similarity_of_all_samples(similarity, error, message):
    with pytest.raises(error, match=message):
        _check_kernel_result("name", similarity, np.arange(3))
