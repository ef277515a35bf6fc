"""Calls of `compute` by visitors: values of the library, limits, and suggestions that are valid."""

import base64
import re

import numpy as np
import pytest
from compute_calls import random_calls
from image_samples import encode_png

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
pytest.importorskip("sacrebleu")
from vendiscore import compute
from vendiscore_page.answers import api
from vendiscore_page.answers.call_arguments import list_allowed_names, parse_arguments
from vendiscore_page.answers.compute_call import compute_call
from vendiscore_page.inputs import examples
from vendiscore_page.quotas import RefusedError

IMAGES = examples.find_example("Shapes in three colours").open_images()
ENCODED = [base64.b64encode(encode_png(image)).decode() for image in IMAGES]
ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0], [2.0, 2.5]]
RECORDS = [
    {"text": "a cat sat", "model": "A", "weight": 0.5, "x": [1, 2]},
    {"text": "a cat ran", "model": "A", "weight": 0.25, "x": [2, 2]},
    {"text": "the dog", "model": "B", "weight": 0.25, "x": [1, 5]},
]
TEXTS = [record["text"] for record in RECORDS]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", random_calls(), ids=lambda call: call.text[:60])
def test_random_calls_return_the_values_of_the_library(call):
    expected = compute(call.samples, **call.keywords)
    assert api.compute(call.samples, call.text)["values"] == pytest.approx(
        expected, rel=1e-12, abs=1e-12
    )


@pytest.mark.parametrize(
    ("samples", "text", "expected"),
    [
        ([], "counts=[3, 1, 2]", ((), {"counts": [3, 1, 2]})),
        ([TEXTS, TEXTS[:2]], "q=2", (([TEXTS, TEXTS[:2]],), {"q": 2})),
        ([ROWS, ROWS[:3]], "k='rbf'", (([ROWS, ROWS[:3]],), {"k": "rbf"})),
        ([["a", "b"], ["b"]], "k='tags'", (([["a", "b"], ["b"]],), {"k": "tags"})),
        ([1, 2, 2], "k='labels'", (([1, 2, 2],), {"k": "labels"})),
        ([[0.5, 0.5], [0.1, 0.9]], "k='probability_product'", None),
        ([[1, 0, 1], [1, 1, 0]], "k='tanimoto'", None),
        (TEXTS, "prompts='a cat', given_prompt=True", None),
        (ROWS, "k='cosine', method='estimate', rtol=0.01, seed=1", None),
        (
            RECORDS,
            "k={'ngram_overlap:text': 0.5, 'rbf:x': 0.5}, options={'rbf:x': {'sigma': 1.5}}",
            None,
        ),
        (
            RECORDS,
            "k={'ngram_overlap:text': 1}, groups='model'",
            ((TEXTS,), {"groups": ["A", "A", "B"]}),
        ),
        (
            RECORDS,
            "k={'ngram_overlap:text': 1}, p='weight'",
            ((TEXTS,), {"p": [0.5, 0.25, 0.25]}),
        ),
        (
            RECORDS,
            "k=['ngram_overlap:text'], measures={'qVS': {'quality': 'weight'}}",
            ((TEXTS,), {"measures": "qVS", "quality": [0.5, 0.25, 0.25]}),
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_all_types_of_samples_are_scored(samples, text, expected):
    args, keywords = expected or ((samples,), parse_arguments(text))
    values = api.compute(samples, text)["values"]
    assert values == pytest.approx(compute(*args, **keywords), rel=1e-12)


@pytest.mark.parametrize("text", ["k='pixels'", "k='pixels', size=16, mode='L'"])
def test_images_are_decoded_from_base64(text):
    expected = compute(IMAGES, **parse_arguments(text))["VS"]
    assert api.compute(ENCODED, text)["values"]["VS"] == pytest.approx(expected, rel=1e-12)
    records = [{"image": image} for image in ENCODED]
    mixture = text.replace("'pixels'", "{'pixels:image': 1}", 1)
    options = {name: x for name, x in parse_arguments(text).items() if name != "k"}
    mixture = f"k={{'pixels:image': 1}}, options={{'pixels:image': {options!r}}}"
    assert api.compute(records, mixture)["values"]["VS"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        (["/etc/hostname"], "k='pixels'"),
        ([["/etc/hostname"], ["/etc/passwd"]], "k='pixels'"),
        ([{"a": "/etc/hostname"}], "k={'pixels:a': 1}"),
        (ENCODED[:2], "k='pixels', references=['/etc/hostname'], measures='Recall'"),
        (ENCODED[:2], "k='pixels', prompts='/etc/hostname', given_prompt=True"),
        (ENCODED[:2], "k='pixels', prompts=['/etc/hostname'] , given_prompt=True"),
    ],
)
def test_strings_are_not_read_as_paths(samples, text):
    with pytest.raises(RefusedError, match="is not valid base64"):
        api.compute(samples, text)


def test_notes_signature_and_details_are_returned():
    answer = api.compute(ROWS, "k='rbf', details=True")
    expected = compute(np.array(ROWS), k="rbf", details=True)["details"]
    assert answer["signature"] == expected["signature"]
    assert answer["details"]["n"] == 4
    assert any("sigma" in note for note in answer["notes"])
    assert "details" not in api.compute(ROWS, "k='rbf'")


@pytest.mark.filterwarnings("ignore")
def test_missing_values_are_null():
    assert api.compute([TEXTS, TEXTS[:2]], "ci=0.95")["values"]["VS_low"] is None


@pytest.mark.parametrize(
    ("samples", "text", "message"),
    [
        ("a text", "", "must be a list"),
        ([[0.0] * 8] * 1001, "k='rbf'", "More than 1,000 samples"),
        ([[0.0, 1.0]] * 1001, "measures='MagArea'", "More than 1,000 samples"),
        (["a"] * 1001, "", "More than 1,000 texts"),
        (
            np.eye(900).tolist(),
            "score_K=True, groups='x'",
            "one value per sample, or be the name of a column",
        ),
        (
            [[float(i)] for i in range(1000)],
            f"k='rbf', groups={[i % 2 for i in range(1000)]}, measures='BetweenVS', "
            "permutations=9999",
            "mostly for permutations",
        ),
        (
            [[float(i)] for i in range(1000)],
            f"measures={{'Magnitude': {{'t': {[i / 10 for i in range(500)]}}}}}",
            "mostly for scales of magnitude",
        ),
        (["word " * 100 + str(i) for i in range(900)], "k='bleu'", "mostly for pairs of texts"),
        (RECORDS, "groups='other'", "the columns are text, model, weight, x"),
        (RECORDS, "k='ngram_overlap'", "select one by k="),
        (TEXTS, "k={'ngram_overlap:text': 1}", "must be an object with these columns"),
        (["a"], "counts=[1, 2]", "send an empty list"),
    ],
)
def test_calls_beyond_the_limits_are_rejected_before_the_work_starts(samples, text, message):
    with pytest.raises(RefusedError, match=re.escape(message)):
        api.compute(samples, text)


@pytest.mark.parametrize("shape", [(30, 5), (5, 30), (30, 1), (30,)])
def test_arrays_are_scored_like_lists(shape):
    X = np.random.default_rng(0).normal(size=shape)
    call = {"k": "rbf", "sigma": 1.0}
    answer = compute_call(X, call)
    assert answer == compute_call(X.tolist(), call)
    rows = X if X.ndim == 2 else X[:, None]
    assert answer["values"] == pytest.approx(compute(rows, **call), rel=1e-12)


def test_cost_of_features_depends_on_number_of_columns():
    # n samples with d columns cost n d min(n, d): 5,000 values in one column are affordable.
    column = np.linspace(1, 2, 5_000)
    assert compute_call(column, {"k": "cosine"})["values"]["VS"] == pytest.approx(1)
    assert compute_call(column.tolist(), {"k": "cosine"})["values"]["VS"] == pytest.approx(1)
    with pytest.raises(RefusedError, match="seconds, mostly for intervals"):
        compute_call(np.ones((3_000, 1_500)), {"k": "cosine", "ci": 0.95, "q": [1.0, 2.0]})


# Calls with an error by the library, most of whose messages suggest another argument.
WRONG_CALLS = [
    (ROWS, ""),
    (ROWS, "measures='IntDiv'"),
    (ROWS, "k='rbf', sigma=-1"),
    (ROWS, "k='rbf', metric='euclidean'"),
    (ROWS, "measures='MagArea', metric='euclid'"),
    (ROWS, "measures='MagArea', exponent=2"),
    (ROWS, "k='rbf', score_K=True"),
    (ROWS, "k='rbf', clusters=[0, 0, 1, 1]"),
    (ROWS, "k='rbf', ci=2"),
    (ROWS, "k='rbf', ci=0.95, q=0"),
    (ROWS, "k='rbf', ci=0.95, p=[0.25, 0.25, 0.25, 0.25]"),
    (ROWS, "k='rbf', p=[1, 1, 1, 1]"),
    (ROWS, "k='rbf', p=[0.25, 0.75]"),
    (ROWS, "k='rbf', measures='IntDiv', q=2"),
    (ROWS, "k='rbf', references=[[1, 2]]"),
    (ROWS, "k='rbf', measures='Recall'"),
    (ROWS, "measures='Recall', references=[[1, 2]], neighbours=5"),
    (ROWS, "k='rbf', rtol=0.01"),
    (ROWS, "k='rbf', method='estimate', q=0"),
    (ROWS, "k='rbf', method='estimate', measures='IntDiv'"),
    (ROWS, "k='rbf', permutations=9"),
    (ROWS, "k='rbf', fit='pool'"),
    (ROWS, "k='rbf', allow_repeats=False"),
    (ROWS, "k='rbf', pool_repeats=False"),
    (ROWS, "k='rbf', prompts='x'"),
    (ROWS, "k='rbf', given_prompt=True"),
    (ROWS, "k='rbf', ns=[1]"),
    (ROWS, "k='linear'"),
    (ROWS, "k='rbf', seed=1"),
    (ROWS, "k='rbf', psd='clipped'"),
    (ROWS, "k='rbf', q=-1"),
    (ROWS, "k='rbf', q=[]"),
    (ROWS, "k='rbf', measures=[]"),
    (ROWS, "k='rbf', measures={'VS': {'t': 1}}"),
    (ROWS, "k='rbf', measures={'MagArea': {'n_scale': 1}}"),
    (ROWS, "k='rbf', measures='qVS'"),
    (ROWS, "k='rbf', measures='BetweenVS'"),
    (ROWS, "k='rbf', groups=[1, 2]"),
    (ROWS, "k='morgan'"),
    (ROWS, "k={'rbf': 0.3}"),
    (ROWS, "k={'rbf': 0.5, 'cosine': 0.5}, combine='product'"),
    (ROWS, "k={'rbf': 1}, options={'cosine': {}}"),
    (ROWS, "k={'rbf': 1}, options=3"),
    (ROWS, "k='rbf', on_error='ignore'"),
    (ROWS, "score_K=True"),
    (ROWS, "score_X=True"),
    ([[2, 1], [1, 2]], "score_K=True"),
    ([[1, 2], [2, 1]], "score_K=True, psd='clip'"),
    ([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]], "score_K=True"),
    ([[1, 0.5], [0.4, 1]], "score_K=True"),
    ([[0, 1], [1, 0]], "score_K=True"),
    ([[0, 0], [1, 1]], "k='cosine'"),
    ([["a"], [1]], "k='rbf'"),
    ([[1, float("nan")]], "k='rbf'"),
    (TEXTS, "k='rbf'"),
    (TEXTS, "k='morgan'"),
    (TEXTS, "ns=[0]"),
    (TEXTS, "analyzer='chars'"),
    (TEXTS, "sigma=1"),
    (TEXTS, "k='bleu', given_prompt=True, prompts='a'"),
    (TEXTS, "k='labels', given_prompt=True, prompts='a'"),
    (TEXTS, "measures='NgramDiversity', sizes=[0]"),
    (["", "a"], ""),
    ([1, 2, 3], "k='ngram_overlap'"),
    ([], "k='rbf'"),
    ([], ""),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("samples", "text"), WRONG_CALLS)
def test_suggestions_in_errors_are_valid_arguments(samples, text):
    with pytest.raises(RefusedError) as caught:
        api.compute(samples, text)
    message = str(caught.value)
    hint = message.partition("; ")[2] or message.partition(". ")[2]
    for name, value in re.findall(r"\b(\w+)=('[\w-]*'|\[[\w', .-]*\]|[\w.]+)", hint):
        if value in {"labels", "weights"}:
            continue
        assert parse_arguments(f"{name}={value}"), message
    assert set(re.findall(r"`(\w+)`", hint)) <= list_allowed_names(), message
    assert "vendiscore" not in hint
    assert "function" not in hint
    assert "pip" not in hint
