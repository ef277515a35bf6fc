"""One table with a column of models is compared as the sets that its labels name."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from two_model_answers import TABLE

from vendiscore import as_similarity, compare

TEXTS, MODELS, PROMPTS = (TABLE[name].tolist() for name in TABLE)
APART = {model: TABLE.answer[TABLE.model == model].tolist() for model in dict.fromkeys(MODELS)}


def compared(*sets, **options):
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
def test_a_column_of_labels_names_the_sets(by):
    assert compared(TABLE["answer"], by=by) == compared(APART)


def test_numbers_name_sets_too():
    codes = [int(model == "old") for model in MODELS]
    assert (
        compared(TEXTS, by=codes)
        == compared(TEXTS, by=np.array(codes))
        == compared(TEXTS, by=list(map(str, codes)))
    )


def test_groups_are_a_second_column():
    prompts = {model: TABLE.prompt[TABLE.model == model].tolist() for model in APART}
    result = compared(TABLE["answer"], by=TABLE["model"], groups=TABLE["prompt"])
    np.testing.assert_equal(result, compared(APART, groups=prompts))
    assert result["groups"] == 3


def test_any_samples_are_sorted_by_label():
    X = np.random.default_rng(1).normal(size=(16, 3))
    by = [model == "old" for model in MODELS]
    sets = {str(label): X[[each == label for each in by]] for label in dict.fromkeys(by)}
    right = compared(sets, k="rbf")
    assert compared(X, by=by, k="rbf") == compared(X.tolist(), by=by, k="rbf") == right
    K = as_similarity(X, k="rbf", sigma=right["settings"]["sigma"])
    for result in (compared(K, by=by), compared(K.dense(), by=by, score_K=True)):
        assert result["pairs"] == [pytest.approx(pair) for pair in right["pairs"]]
    k = {"ngram_overlap:answer": 0.5, "labels:prompt": 0.5}
    records = TABLE.to_dict("records")
    result = compared(TABLE, by=MODELS, k=k)
    assert (
        result
        == compared(records, by=MODELS, k=k)
        == compared(TABLE.to_dict("list"), by=MODELS, k=k)
    )
    sets = {model: [row for row in records if row["model"] == model] for model in APART}
    assert result["pairs"] == [pytest.approx(pair) for pair in compared(sets, k=k)["pairs"]]


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_samples_that_are_left_out_leave_their_label_and_group():
    texts = [*TEXTS[:3], "", *TEXTS[3:]]
    by, groups = ([*each[:3], "gone", *each[3:]] for each in (MODELS, PROMPTS))
    by[3] = MODELS[0]
    with pytest.warns(UserWarning, match="dropped 1 of 17"):
        result = compared(texts, by=by, groups=groups, on_error="skip")
    np.testing.assert_equal(result["pairs"], compared(TEXTS, by=MODELS, groups=PROMPTS)["pairs"])


@pytest.mark.parametrize(
    ("sets", "options", "said"),
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
        ([TEXTS], {"by": MODELS, "groups": MODELS}, "got 0 of `"),
        (
            [TEXTS, TEXTS],
            {"by": MODELS},
            "one list of all samples, got 2 sets; pass all samples as one",
        ),
        ([APART], {"by": MODELS}, "one list of all samples, got 2 sets"),
        ([], {"by": MODELS}, "one list of all samples, got 0 sets"),
        ([[TEXTS, TEXTS]], {"by": MODELS}, "got a list of lists; pass all samples as"),
        ([TEXTS], {}, "or one list of all samples with the set of each sample"),
        ([TEXTS], {"groups": MODELS}, "or one list of all samples with the set of each sample"),
    ],
)
def test_labels_that_name_no_sets_are_refused_with_the_remedy(sets, options, said):
    with pytest.raises((TypeError, ValueError)) as caught:
        compared(*sets, **options)
    assert said in str(caught.value)


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_groups_that_can_be_read_once_are_read_once_beside_prompts():
    sets = (["a red cat", "a cat", "rain", "snow"], ["a dog", "one dog", "wind", "hail"])
    groups = ["x", "x", "y", "y"]
    how = {"prompts": {"x": "a pet?", "y": "weather?"}, "given_prompt": True, "permutations": 99}
    result = compare(*sets, groups=[iter(groups), iter(groups)], **how)
    right = compare(*sets, groups=[groups, groups], **how)
    np.testing.assert_equal(result.to_dict(), right.to_dict())
