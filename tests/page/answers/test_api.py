"""Results of the API and of the MCP tools match the library and are plain JSON values."""

import base64
import inspect
import json

import numpy as np
import pytest
from decompositions import record_decompositions
from image_samples import encode_png

from vendiscore import compute, explain

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore.result import key_at
from vendiscore.support.progress import run_steps
from vendiscore_page.answers import api, jobs, kernel_menu
from vendiscore_page.inputs import examples
from vendiscore_page.quotas import RefusedError

TOOLS = [
    api.vendi_score_texts,
    api.vendi_score_images,
    api.vendi_score_molecules,
    api.vendi_score_vectors,
    api.vendi_compare,
    api.compute,
]
texts, vectors = api.vendi_score_texts, api.vendi_score_vectors
RUT = examples.find_example("A model in a rut").text.splitlines()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
def test_tool_docstrings_describe_each_argument_in_one_line(tool):
    assert "Vendi Score" in inspect.getdoc(tool).splitlines()[0]
    argument_lines = inspect.getdoc(tool).partition("Args:")[2].partition("Returns:")[0]
    lines = [line.strip() for line in argument_lines.splitlines() if line.strip()]
    names = list(inspect.signature(tool).parameters)
    assert [line.partition(":")[0] for line in lines] == names


@pytest.mark.parametrize("name", [each.name for each in examples.MENU["texts"]])
@pytest.mark.parametrize("q", [0, 0.5, 1, 2, "inf"])
def test_text_score_matches_compute(name, q):
    samples = examples.find_example(name).text.splitlines()
    result = texts(samples, ns=[1, 2], q=q)
    interval_options = {} if q == 0 else {"ci": 0.95}
    expected = compute(samples, k="ngram_overlap", ns=[1, 2], q=q, **interval_options)
    assert {key: result[key] for key in expected} == expected
    assert result["n"] == len(samples)
    assert sum(result["shares"]) == pytest.approx(1, abs=1e-6)
    assert json.loads(json.dumps(result, allow_nan=False)) == result


@pytest.mark.parametrize(
    "kernel", [choice.kernel for choice in kernel_menu.list_choices("molecules")]
)
def test_molecule_score_matches_compute(kernel):
    smiles = examples.find_example("Scents").text.splitlines()
    score = api.vendi_score_molecules(smiles, kernel)["VS"]
    assert score == compute(smiles, k=kernel, ci=0.95)["VS"]


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        ("cosine", {"k": "cosine"}),
        ("rbf", {"k": "rbf"}),
        ("laplacian", {"k": "laplacian"}),
    ],
)
def test_vector_score_matches_compute(kernel, arguments):
    X = np.random.default_rng(0).normal(size=(20, 3))
    score = vectors(X.tolist(), kernel)["VS"]
    assert score == pytest.approx(compute(X, **arguments)["VS"], rel=1e-12)


@pytest.mark.parametrize("kind", ["texts", "molecules", "vectors"])
def test_default_kernel_of_comparisons_fits_each_kind(kind):
    samples = {
        "texts": ["a cat", "a dog", "the dog", "the cat"],
        "molecules": ["CCO", "CCN", "CCC", "CCCl"],
        "vectors": [[1.0, 2.0], [2.0, 1.0], [3.0, 1.0], [1.0, 1.0]],
    }[kind]
    rows = api.vendi_compare([samples, samples[::-1]], kind)["rows"]
    usual = kernel_menu.USUAL_KERNELS[kind]
    expected = compute(samples, k=usual)["VS"]
    assert [row["VS"] for row in rows] == pytest.approx([expected, expected], rel=1e-12)
    with pytest.raises(RefusedError, match="Unknown kind 'songs'; pick one of texts"):
        api.vendi_compare([samples, samples], "songs")


def test_similarity_matrix_is_scored_and_can_be_clipped():
    K = [[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]
    assert vectors(K, "K")["VS"] == pytest.approx(2.1573, abs=1e-4)
    indefinite = [[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]
    with pytest.raises(ValueError, match="positive semidefinite"):
        vectors(indefinite, "K")
    assert 1 <= vectors(indefinite, "K, clipped")["VS"] <= 3
    for kernel in ("K", "K, clipped"):
        with pytest.raises(RefusedError, match="must be square"):
            vectors([[1, 0]], kernel)
        with pytest.raises(ValueError, match=r"between -1 and 1, .* got K\[0, 1\] = 2; correct"):
            vectors([[1, 2], [2, 1]], kernel)


def test_bandwidth_changes_rbf_score():
    X = [[0.0], [1.0], [3.0]]
    scores = [vectors(X, "rbf", sigma)["VS"] for sigma in (0, 0.1, 10)]
    assert scores[1] == pytest.approx(3, abs=1e-6)
    assert scores[1] > scores[0] > scores[2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: texts("one string"), "Expected a list of texts, got str"),
        (lambda: texts([]), "no texts yet"),
        (lambda: texts(["a"] * 1001), "More than 1,000 texts"),
        (lambda: texts(["a"], kernel="os.system"), "Unknown kernel 'os.system'"),
        (lambda: texts(["a"], kernel=["ngram_overlap"]), "Unknown kernel"),
        (lambda: texts(["a"], ns=[]), "ns must be between 1 and 10, got"),
        (lambda: texts(["a"], ns=[10**9]), "ns must be between 1 and 10, got"),
        (lambda: texts(["a"], ns=None), "must be integers"),
        (lambda: texts(["a"], ns={"a": 1}), "must be integers"),
        (lambda: texts(["a"], unit="line"), "Unknown unit"),
        (lambda: texts(["a"], q=-1), "at least 0"),
        (lambda: texts(["a"], q=float("nan")), "at least 0"),
        (lambda: texts(["a"], q="x"), "must be a number"),
        (lambda: texts(["a"], q=[1]), "must be a number"),
        (lambda: texts(["a"], threshold=1.5), "must be between -1 and 1, got 1.5"),
        (lambda: texts(["a"], threshold="x"), "threshold must be a number"),
        (lambda: api.vendi_score_molecules(["C" * 301]), "301 characters"),
        (lambda: api.vendi_score_molecules(["C"], kernel="bleu"), "Unknown kernel"),
        (lambda: vectors([[1.0]], "rbf", -1), "finite number above 0"),
        (lambda: vectors([[1.0]], "rbf", "x"), "must be a number"),
    ],
)
def test_api_calls_reject_invalid_or_too_large_arguments(call, message):
    with pytest.raises(RefusedError) as caught:
        call()
    assert message in str(caught.value)


def test_error_names_invalid_smiles_among_500():
    smiles = ["C" * (1 + i % 20) for i in range(500)]
    smiles[317] = "C1CC(not a molecule"
    with pytest.raises(ValueError, match=r"sample 317 .*not a molecule"):
        api.vendi_score_molecules(smiles)


@pytest.mark.parametrize("q", [1e-300, 1e300, 0.9999999999, 1e9])
def test_extreme_orders_return_scores_within_bounds(q):
    assert 1 <= texts(["a b", "c d", "a d"], q=q)[key_at(q)] <= 3


def test_near_duplicates_match_explain_at_each_threshold():
    samples = [*RUT, RUT[3]]
    for options in ({}, {"threshold": 0.6}):
        result, expected = (
            texts(samples, **options)["alike"],
            explain(samples, k="ngram_overlap", **options),
        )
        assert result["threshold"] == expected.threshold == options.get("threshold", 0.95)
        assert result["repeats"] == expected.to_dict()["repeats"]
        for side, pairs in zip(("above", "below"), expected.boundary(), strict=True):
            sample_pairs = [
                (pair["a"]["sample"], pair["b"]["sample"]) for pair in result["boundary"][side]
            ]
            assert sample_pairs == [(samples[i], samples[j]) for i, j, _ in pairs]


def test_sample_names_match_sample_indices():
    result = texts([*RUT, RUT[3]], threshold=0.6)
    entries = list(result["stand_alone"])
    for pair in (*result["alike"]["boundary"]["above"], *result["alike"]["boundary"]["below"]):
        entries += [pair["a"], pair["b"]]
    for group in result["alike"]["groups"]:
        entries += [group["keep"], *group["rest"]]
    assert len(entries) > 12
    assert all(entry["sample"] == [*RUT, RUT[3]][entry["place"]] for entry in entries)
    assert result["alike"]["boundary"]["above"][-1]["similarity"] >= 0.6


def test_images_are_identified_by_index():
    images = examples.find_example("One picture, again and again").open_images()
    data = [base64.b64encode(encode_png(image)).decode() for image in images]
    result = api.vendi_score_images(data)
    assert result["stand_alone"][0]["place"] == 11
    assert "sample" not in result["stand_alone"][0]


@pytest.mark.parametrize("q", [0, 1, "inf"])
def test_sentence_describes_completely_different_samples(q):
    different = [f"x{i} y{i}" for i in range(60)]
    answer = texts(different, ns=[1], q=q)
    assert answer["sentence"].endswith(
        "as 60.0 texts that have nothing in common; its largest eigenvalue makes up 2 % of the "
        "total."
    )
    assert "verdict" not in answer


@pytest.mark.parametrize(
    ("kernel", "size"),
    [("cosine", 3), ("rbf", 30), ("K", 30)],
)
@pytest.mark.parametrize("q", [0.5, 1, 2, "inf"])
def test_answer_decomposes_one_matrix_once(kernel, size, q):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X = X if kernel != "K" else np.exp(-np.abs(X[:, :1] - X[:, :1].T))
    with record_decompositions() as calls:
        result = run_steps(
            jobs.build_vector_job(X, kernel).compute_steps(q, 1.0, allow_repeats=False)
        )
        assert result.explanation.adds.shape == (30,)
        assert result.profile.shape == (41,)
    assert [shape for _, shape in calls] == [(size, size)]


@pytest.mark.parametrize("q", [0.5, 2, "inf"])
def test_result_keys_contain_order_other_than_one(q):
    key = key_at(q)
    result = texts(["a b", "c d", "a d", "a b"], q=q)
    assert [name for name in result if name.startswith("VS")] == [
        key + ending for ending in ("", "_se", "_low", "_high")
    ]
    assert f"{key}_without" in result["alike"]
    grouped_result = texts([["a b", "c d"], ["a d", "a b"]], q=q)
    assert [row[key] for row in grouped_result["by_group"]] == pytest.approx([2, 1.5], abs=1)
    sets = {name: [f"{name} {i}" for i in range(5)] for name in ("one", "two")}
    assert all(key in row and "VS" not in row for row in api.vendi_compare(sets, q=q)["rows"])
