"""`compare(samples, by=labels)` splits one list of samples into sets."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from two_model_answers import TABLE

from vendiscore import as_similarity, compare

TEXTS, MODELS, PROMPTS = (TABLE[name].tolist() for name in TABLE)
SETS = {model: TABLE.answer[TABLE.model == model].tolist() for model in dict.fromkeys(MODELS)}


def compare_to_dict(*sets, **options):
    return compare(*sets, **{"permutations": 99, **options}).to_dict()


LABELS = {
    "Series": TABLE["model"],
    "Categorical": pd.Categorical(MODELS),
    "string dtype": TABLE["model"].astype("string"),
    "array": np.array(MODELS),
    "objects": np.array(MODELS, dtype=object),
    "Arrow": pa.array(MODELS),
    "chunks": pa.chunked_array([MODELS[:3], MODELS[3:]]),
    "tuple": tuple(MODELS),
    "generator": (model for model in MODELS),
}


@pytest.mark.parametrize("by", LABELS.values(), ids=LABELS)
def test_by_accepts_any_column_of_labels(by):
    assert compare_to_dict(TABLE["answer"], by=by) == compare_to_dict(SETS)


def test_by_accepts_numeric_labels():
    codes = [int(model == "old") for model in MODELS]
    assert (
        compare_to_dict(TEXTS, by=codes)
        == compare_to_dict(TEXTS, by=np.array(codes))
        == compare_to_dict(TEXTS, by=list(map(str, codes)))
    )


def test_by_can_be_combined_with_groups():
    prompts = {model: TABLE.prompt[TABLE.model == model].tolist() for model in SETS}
    result = compare_to_dict(TABLE["answer"], by=TABLE["model"], groups=TABLE["prompt"])
    np.testing.assert_equal(result, compare_to_dict(SETS, groups=prompts))
    assert result["groups"] == 3


def test_by_works_for_any_sample_type():
    X = np.random.default_rng(1).normal(size=(16, 3))
    by = [model == "old" for model in MODELS]
    sets = {str(label): X[[value == label for value in by]] for label in dict.fromkeys(by)}
    expected = compare_to_dict(sets, k="rbf")
    assert (
        compare_to_dict(X, by=by, k="rbf")
        == compare_to_dict(X.tolist(), by=by, k="rbf")
        == expected
    )
    K = as_similarity(X, k="rbf", sigma=expected["settings"]["sigma"])
    for result in (compare_to_dict(K, by=by), compare_to_dict(K.dense(), by=by, score_K=True)):
        assert result["pairs"] == [pytest.approx(pair) for pair in expected["pairs"]]
    k = {"ngram_overlap:answer": 0.5, "labels:prompt": 0.5}
    records = TABLE.to_dict("records")
    result = compare_to_dict(TABLE, by=MODELS, k=k)
    assert (
        result
        == compare_to_dict(records, by=MODELS, k=k)
        == compare_to_dict(TABLE.to_dict("list"), by=MODELS, k=k)
    )
    sets = {model: [row for row in records if row["model"] == model] for model in SETS}
    assert result["pairs"] == [pytest.approx(pair) for pair in compare_to_dict(sets, k=k)["pairs"]]


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_skipped_samples_drop_their_label_and_group():
    texts = [*TEXTS[:3], "", *TEXTS[3:]]
    by, groups = ([*values[:3], "gone", *values[3:]] for values in (MODELS, PROMPTS))
    by[3] = MODELS[0]
    with pytest.warns(UserWarning, match="dropped 1 of 17"):
        result = compare_to_dict(texts, by=by, groups=groups, on_error="skip")
    np.testing.assert_equal(
        result["pairs"], compare_to_dict(TEXTS, by=MODELS, groups=PROMPTS)["pairs"]
    )


@pytest.mark.parametrize(
    ("sets", "options", "message"),
    [
        ([TEXTS], {"by": "model"}, "for a column of a table, pass df['model']"),
        ([TEXTS], {"by": ["a"] * 16}, "at least two distinct labels, got only 'a'"),
        ([TEXTS], {"by": MODELS[:-1]}, "one label per sample, got 15 labels for 16 samples"),
        ([TEXTS], {"by": [None, *MODELS[1:]]}, "sample 0 has no label in `by`"),
        ([TEXTS], {"by": [float("nan"), *MODELS[1:]]}, "sample 0 has no label in `by`"),
        ([TEXTS], {"by": pd.array([pd.NA, *MODELS[1:]])}, "sample 0 has no label in `by`"),
        (
            [TEXTS],
            {"by": [" ", "", *MODELS[2:]]},
            "remove the sample (2 samples cannot be used: 0, 1)",
        ),
        ([TEXTS], {"by": []}, "`by` is empty"),
        ([TEXTS], {"by": [1, "1"] * 8}, "with the string '1'; pass labels of one type"),
        (
            [TEXTS],
            {"by": [*MODELS[:-1], "one"]},
            "each label of `by` must have at least 4 samples, but 1 of 3 labels have fewer, for "
            "example 'one' with 1; add samples, or remove these labels",
        ),
        ([TEXTS], {"by": [["a"]] * 16}, "`by` must be a flat list with one label per sample"),
        ([TEXTS], {"by": np.ones((16, 2))}, "`by` must be one-dimensional"),
        ([TEXTS], {"by": MODELS, "names": ["a", "b"]}, "`names` cannot be combined with `by`"),
        ([TEXTS], {"by": MODELS, "groups": PROMPTS[:4]}, "contain one label per sample"),
        ([TEXTS], {"by": MODELS, "groups": PROMPTS, "size": 4}, "`size` is not supported"),
        ([TEXTS], {"by": MODELS, "groups": MODELS}, "samples of each set, got 0; omit"),
        (
            [TEXTS, TEXTS],
            {"by": MODELS},
            "one list of all samples, got 2 sets; pass all samples as one",
        ),
        ([SETS], {"by": MODELS}, "one list of all samples, got 2 sets"),
        ([], {"by": MODELS}, "one list of all samples, got 0 sets"),
        ([[TEXTS, TEXTS]], {"by": MODELS}, "got a list of lists; pass all samples as"),
        ([TEXTS], {}, "or one list of all samples with the set of each sample"),
        ([TEXTS], {"groups": MODELS}, "or one list of all samples with the set of each sample"),
    ],
)
def test_invalid_by_raises_with_a_hint(sets, options, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        compare_to_dict(*sets, **options)
    assert message in str(caught.value)


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_group_iterators_can_be_combined_with_prompts():
    sets = (["a red cat", "a cat", "rain", "snow"], ["a dog", "one dog", "wind", "hail"])
    groups = ["x", "x", "y", "y"]
    options = {
        "prompts": {"x": "a pet?", "y": "weather?"},
        "given_prompt": True,
        "permutations": 99,
    }
    result = compare(*sets, groups=[iter(groups), iter(groups)], **options)
    expected = compare(*sets, groups=[groups, groups], **options)
    np.testing.assert_equal(result.to_dict(), expected.to_dict())
