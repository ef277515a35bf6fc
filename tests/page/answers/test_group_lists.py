"""Grouped samples in the web app and its API match the package."""

import base64
import json

import numpy as np
import pytest
from image_samples import encode_png
from page_answers import json_round_trip, score_as_json, score_samples

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore import SampleError, compute
from vendiscore.result import key_at
from vendiscore_page.answers import api
from vendiscore_page.answers.group_lists import can_compare_within, check_grouped
from vendiscore_page.answers.sample_readout import UnusableError
from vendiscore_page.inputs import examples, uploads
from vendiscore_page.inputs.submission import InputSettings, UserInput
from vendiscore_page.quotas import MAX_SAMPLES, RefusedError

TEXTS = [
    ["a cat sat", "a dog sat", "the cat ran off"],
    ["red", "red", "green and red", "blue"],
    ["a cat sat", "no"],
]
BOX = json.dumps(TEXTS)
ROWS = np.random.default_rng(0).normal(size=(12, 3))
NESTED_ROWS = [rows.tolist() for rows in np.split(ROWS, [5, 9])]
SMILES = [["CCO", "CCC", "CCCC"], ["c1ccccc1", "CCO"]]
IMAGES = examples.find_example("Shapes in three colours").open_images()
NS = {"ns": [1, 2]}
texts, vectors = api.vendi_score_texts, api.vendi_score_vectors
EXPECTED = compute(TEXTS, k="ngram_overlap", **NS, ci=0.95, details=True)


def score_submission(name: str = "", data: str = "", text: str = "", **options):
    """Return the answer for submitted texts and their groups."""
    submission = UserInput([(name, data.encode())] if name else (), text)
    leave_out = options.pop("leave_out", False)
    samples = uploads.read(submission, InputSettings(kind="texts", **options))
    return score_as_json(samples, options=NS, leave_out=leave_out)


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, "inf"])
def test_nested_texts_match_compute(q):
    result = texts(TEXTS, **NS, q=q)
    interval_options = {} if q == 0 else {"ci": 0.95}
    expected = compute(TEXTS, k="ngram_overlap", **NS, q=q, **interval_options, details=True)
    key = key_at(q)
    error_key = f"{key}_se"
    assert (result[key], result[error_key]) == (expected[key], expected[error_key])
    assert [(row["n"], row[key]) for row in result["by_group"]] == [
        (row["n"], row[key]) for row in expected["details"]["groups"]
    ]
    assert result["details"]["signature"] == expected["details"]["signature"]
    assert [row["group"] for row in result["by_group"]] == [0, 1, 2]
    assert (result["n"], result["q"]) == (9, q)
    assert json.loads(json.dumps(result)) == result


@pytest.mark.parametrize(
    ("score", "nested", "options"),
    [
        (lambda: api.vendi_score_molecules(SMILES), SMILES, {"k": "morgan"}),
        (lambda: vectors(NESTED_ROWS), NESTED_ROWS, {"k": "cosine"}),
        (lambda: vectors(NESTED_ROWS, "rbf"), NESTED_ROWS, {"k": "rbf"}),
        (
            lambda: vectors(NESTED_ROWS, "laplacian", 0.7, q=2),
            NESTED_ROWS,
            {"k": "laplacian", "sigma": 0.7, "q": 2},
        ),
        (
            lambda: api.vendi_score_images(
                [
                    [base64.b64encode(encode_png(i)).decode() for i in part]
                    for part in image_halves()
                ]
            ),
            [IMAGES[:5], IMAGES[5:]],
            {"k": "pixels", "mode": "RGB"},
        ),
    ],
    ids=["molecules", "cosine", "rbf", "laplacian", "images"],
)
def test_nested_samples_of_each_type_match_compute(score, nested, options):
    result, expected = score(), compute(nested, **options)
    key = key_at(options.get("q", 1))
    assert result[key] == pytest.approx(expected[key], rel=1e-12)
    assert result[f"{key}_se"] == pytest.approx(expected[f"{key}_se"], rel=1e-9)
    assert [row["n"] for row in result["by_group"]] == list(map(len, nested))


def image_halves():
    return IMAGES[:5], IMAGES[5:]


def test_single_group_has_no_standard_error():
    result = texts([TEXTS[0]], **NS)
    assert result["VS"] == compute(TEXTS[0], k="ngram_overlap", **NS)["VS"]
    assert "VS_se" not in result
    assert "there is only one group, with 3 texts; this is its score" in result["sentence"]


def test_groups_of_single_samples_warn():
    with pytest.warns(UserWarning, match="Every group contains a single sample"):
        result = texts([["a b"], ["c d"]])
    assert (result["VS"], result["VS_se"]) == (1, 0)
    assert any(
        "Every group contains a single sample" in note for note in result["details"]["notes"]
    )


LONG = "x" * 20_001


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: texts([["a"], "b"]), "item 0 is a list, but item 1 is not: 'b'"),
        (lambda: texts(["b", ["a"]]), "item 1 is a list, but item 0 is not: 'b'"),
        (lambda: texts([["a"], []]), "Group 1 is empty; remove this group"),
        (lambda: texts([[]]), "Group 0 is empty; remove this group"),
        (lambda: texts([["a"], ["b", 3]]), "but number 1 of group 1 is int"),
        (lambda: texts([["a"], [["b"]]]), "but number 0 of group 1 is list"),
        (lambda: texts([["a"], ["b", LONG]]), "number 1 of group 1 has 20,001 char"),
        (lambda: texts([["a"] * 501] * 2), f"More than {MAX_SAMPLES:,} texts"),
        (lambda: texts([["a"]] * 1001), f"More than {MAX_SAMPLES:,} texts"),
        (lambda: texts([["x" * 19_999] * 13] * 2), "characters are too many"),
        (
            lambda: api.vendi_score_molecules([["CCO"], ["C" * 301]]),
            "number 0 of group 1 has 301 char",
        ),
        (lambda: vectors([[[1.0], [2.0]], [1.0]]), "but item 1 is not: [1.0]"),
        (lambda: vectors([[[1.0], [2.0]], []]), "Group 1 is empty"),
        (lambda: vectors([[[1.0]], [[2.0, 1.0]]]), "same number of values"),
        (lambda: vectors([[[1.0]], [[2.0], [float("nan")]]]), "Row 1 of group 1 has nan"),
        (lambda: vectors([[[1.0]], [[1.0]]], "K"), "contain all samples, got 2 groups"),
        (
            lambda: api.vendi_score_images([["QQ=="], ["QQ=="]]),
            "Image 0 of group 0 is not an image",
        ),
        (lambda: api.vendi_score_images([["QQ=="] * 101] * 2), "More than 200 images"),
        (
            lambda: api.vendi_compare([[["a"]] * 4] * 2),
            "one list of texts, not a list of lists",
        ),
    ],
)
def test_api_calls_reject_invalid_or_too_large_groups(call, message):
    with pytest.raises(RefusedError) as caught:
        call()
    assert message in str(caught.value)


def test_empty_vector_is_rejected():
    with pytest.raises(RefusedError, match="same number of values"):
        vectors([[1.0, 2.0], []])


def test_error_names_group_and_position_of_invalid_sample():
    with pytest.raises(SampleError, match=r"\(sample 1 of group 1\)"):
        api.vendi_score_molecules([["CCO", "CCC"], ["CCO", "C1CC("]])


def test_pasted_nested_list_is_scored_by_group():
    result = score_submission(text=BOX)
    assert (result["VS"], result["se"]) == (EXPECTED["VS"], EXPECTED["VS_se"])
    assert (result["low"], result["high"]) == (EXPECTED["VS_low"], EXPECTED["VS_high"])
    expected_words = "± is one standard error over 3 groups"
    assert expected_words in result["sentence"]
    assert [(row["n"], row["VS"]) for row in result["by_group"]] == [
        (row["n"], row["VS"]) for row in EXPECTED["details"]["groups"]
    ]
    expected_copies = (
        "According to this kernel, 1 of the 9 texts is an exact duplicate of others within their "
        "groups."
    )
    assert result["copies"] == expected_copies
    assert result["code"].splitlines()[1] == f"samples = {TEXTS!r}"
    assert (
        "Groups have 2 to 4 samples. Most scores increase with the number of samples"
        in " ".join(result["notes"])
    )


@pytest.mark.filterwarnings("ignore:The interval of the mean over 60 groups has width 0")
def test_answer_lists_one_or_many_groups():
    result = score_submission(text='[["a b", "c d"]]')
    assert (len(result["by_group"]), result["se"], result["of"]) == (1, None, 2)
    many_groups = json.dumps([["a b", f"c d {i}"] for i in range(60)])
    assert len(score_submission(text=many_groups)["by_group"]) == 60


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_table_column_groups_rows_in_any_order(kind):
    pairs = [(text, f"prompt {g}") for g, group in enumerate(TEXTS) for text in group]
    shuffled_pairs = [pairs[i] for i in np.random.default_rng(1).permutation(len(pairs))]
    if kind == "csv":
        data = "answer,prompt\n" + "\n".join(map(",".join, shuffled_pairs))
    else:
        data = "\n".join(json.dumps({"answer": text, "prompt": by}) for text, by in shuffled_pairs)
    result = score_submission(f"mine.{kind}", data, column="answer", by="prompt")
    assert result["VS"] == pytest.approx(EXPECTED["VS"], rel=1e-12)
    assert result["se"] == pytest.approx(EXPECTED["VS_se"], rel=1e-9)
    names = [row["group"] for row in result["by_group"]]
    assert names == list(dict.fromkeys(prompt for _, prompt in shuffled_pairs))
    assert result["samples"]["group"] == [prompt for _, prompt in shuffled_pairs]
    nested = eval(result["code"].splitlines()[1].removeprefix("samples = "))
    assert nested == [[text for text, prompt in shuffled_pairs if prompt == name] for name in names]


def test_rows_without_group_are_rejected_or_dropped():
    data = "answer,prompt\na b,x\nc d,\n,y\na c,x\n,y\nc d,z\nc e,z\n"
    table = "mine.csv", data
    with pytest.raises(UnusableError, match=r"row 3, 'c d', has no group; row 4"):
        score_submission(*table, column="answer", by="prompt")
    result = score_submission(*table, column="answer", by="prompt", leave_out=True)
    expected = compute([["a b", "a c"], ["c d", "c e"]], k="ngram_overlap", **NS)
    assert result["VS"] == pytest.approx(expected["VS"], rel=1e-12)
    assert result["left_out"] == [3, 4, 6]
    notes = " ".join(result["notes"])
    assert "Not used: 3 of 7" in notes
    assert "These groups have no usable samples and are not scored: y." in notes


def test_papers_and_report_describe_all_groups():
    samples = uploads.read(UserInput((), BOX), InputSettings(kind="texts"))
    result = score_samples(samples, options=NS)
    assert result.answer["without"]["left"] < 9
    assert json_round_trip(result.groups(1.0))["without"]["left"] == 7
    papers = json_round_trip(result.papers())
    assert [picture["name"] for picture in papers["pictures"]] == ["heat", "spectrum", "profile"]
    assert "it requires one set, but the samples are in groups" in " ".join(papers["sentences"])
    assert "effective samples per group" in result.report()


def test_mean_over_two_groups_has_no_interval():
    rows = [*(f"a,number {i} alone{i}" for i in range(12)), *["b,the same"] * 12]
    answer = score_submission(
        "a.csv", "\n".join(["model,answer", *rows]), by="model", column="answer"
    )
    assert answer["interval"] == (
        "There is no interval, because a mean over groups requires at least three groups. If the "
        "groups are models, compare them instead of averaging their scores."
    )
    assert "Student's t on the logit scale" in score_submission(text=BOX)["interval"]


@pytest.mark.parametrize(
    ("answered", "expected"),
    [
        ({"a": "xxyy", "b": "xxyy"}, True),
        ({"a": "xxyy", "b": "xxy"}, False),  # one prompt
        ({"a": "xxyyz", "b": "xxyy", "c": "xxyyzz"}, True),
        ({"a": "xxyyzz", "b": "xxyyzz", "c": "yyzz"}, True),  # missing cell
        ({"a": "xxyyzz", "b": "xxyyzz", "c": "zz"}, False),
        ({"a": "xxyy", "b": "xxyyvvww", "c": "vvww"}, True),  # a and c are connected by b
        ({"a": "xxyy", "b": "xxyy", "c": "vvww", "d": "vvww"}, False),
        ({"a": "xxyy"}, False),
        ({}, False),
    ],
)
def test_sets_with_shared_groups_can_be_compared_within_groups(answered, expected):
    sets = [name for name, groups in answered.items() for _ in groups]
    groups = [group for groups in answered.values() for group in groups]
    assert can_compare_within([*sets, "", "a"], [*groups, "x", ""]) == expected


def test_groups_that_cannot_be_compared_are_rejected():
    with pytest.raises(RefusedError, match="two samples of each set, but only 1 of 2 groups"):
        check_grouped([["x", "x", "y"], ["x", "x", "y", ""]])
    with pytest.raises(RefusedError, match="two samples of two sets, but only 0 of 1 groups"):
        check_grouped([["x", "x"], ["x"], [""]])
    indices = check_grouped([["x", "x", "", "y", "y"], ["x", "x", "y", "y"]])
    assert indices.tolist() == [0, 1, 3, 4, 5, 6, 7, 8]
