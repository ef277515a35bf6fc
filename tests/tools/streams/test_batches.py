"""Scores of a stream of record batches equal scores of all rows, for any batch boundaries."""

import pickle
import re
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import GroupState, SampleError, State, compute, score_batches
from vendiscore.tools.streams import batches as module

pa = pytest.importorskip("pyarrow")

RNG = np.random.default_rng(0)
WORDS = ["a", "b", "a b", "b c", "c d e", "d"]
SIZES = [3, 1, 4, 2, 5, 2, 2]  # rows of each prompt
PROMPTS = np.repeat([f"prompt {i}" for i in range(len(SIZES))], SIZES).tolist()
MODELS = np.repeat(["one", "two"], [8, 11]).tolist()
ROWS = len(PROMPTS)
X = RNG.standard_normal((ROWS, 3))
TEXTS = [WORDS[i] for i in RNG.integers(0, 6, ROWS)]
TABLE = pa.table(
    {
        "x": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3),
        "text": TEXTS,
        "prompt": PROMPTS,
        "model": MODELS,
    }
)
# Column of samples, kernel options, and columns of labels.
CASES = {
    "vectors": ("x", {"k": "cosine"}, {"prompts": "prompt"}),
    "groups": ("x", {"k": "rbf", "sigma": 1.0}, {"groups": "prompt"}),
    "texts": ("text", {}, {"prompts": "prompt"}),
    "models": ("text", {"k": "labels"}, {"groups": "model", "prompts": "prompt"}),
    "given prompt": ("text", {"ns": [1]}, {"prompts": "prompt", "given_prompt": True}),
}
SAMPLES = {"x": X, "text": TEXTS}
COLUMNS = {"prompt": PROMPTS, "model": MODELS}


def compute_case(case, **options):
    column, kernel_options, labels = CASES[case]
    label_options = {name: COLUMNS.get(value, value) for name, value in labels.items()}
    if "prompts" in label_options:
        label_options.setdefault("given_prompt", False)
    return compute(SAMPLES[column], **kernel_options, **label_options, **options)


def split_table(ends):
    """Split the table at these rows; parts may be empty."""
    ends = [0, *sorted(ends), ROWS]
    return [TABLE[a:b] for a, b in pairwise(ends)]


BOUNDARIES = st.lists(st.integers(0, ROWS), max_size=6)


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
@pytest.mark.parametrize("case", CASES)
@given(ends=BOUNDARIES)
@settings(max_examples=15)
def test_batches_give_the_score_of_all_rows(case, ends):
    column, options, labels = CASES[case]
    result = score_batches(split_table(ends), column, **labels, **options, q=[0.5, 1, 2], ci=0.9)
    expected = compute_case(case, q=[0.5, 1, 2], ci=0.9)
    assert result == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("case", CASES)
@given(ends=BOUNDARIES, boundaries=st.lists(st.integers(0, 6), max_size=3))
@settings(max_examples=15)
def test_merged_states_give_the_score_of_all_rows(case, ends, boundaries):
    column, options, labels = CASES[case]
    batches = split_table(ends)
    edges = [0, *sorted(boundaries), len(batches)]
    states = []
    for a, b in pairwise(edges):
        state = GroupState(column, **labels, **options)
        for batch in batches[a:b]:
            state.update(batch)
        states.append(pickle.loads(pickle.dumps(state)))
    first, *other_states = states
    merged = first.merge(*other_states)
    assert merged.n == ROWS
    assert merged.compute() == pytest.approx(compute_case(case), rel=1e-12)
    # Merging is associative and does not modify the states.
    pairwise_merged = first
    for other in other_states:
        pairwise_merged = pairwise_merged.merge(other)
    assert pairwise_merged.compute(details=True) == merged.compute(details=True)


def test_details_have_one_row_per_group_in_order():
    column, options, labels = CASES["models"]
    result = score_batches(split_table([5, 9]), column, **labels, **options, details=True)[
        "details"
    ]
    expected = compute_case("models", details=True)["details"]["groups"]
    assert result["n"] == ROWS
    for row, expected_row in zip(result["groups"], expected, strict=True):
        assert row == pytest.approx(expected_row)


@given(ends=BOUNDARIES)
@settings(max_examples=20)
def test_large_groups_are_accumulated_in_states(ends):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_TABLE_ROWS", 1)
        result = score_batches(split_table(ends), "x", prompts="prompt", k="cosine")
        # A State does not support n-grams.
        ngram_result = score_batches(split_table(ends), "text", prompts="prompt")
    assert result == pytest.approx(compute_case("vectors"), rel=1e-12)
    assert ngram_result == pytest.approx(compute_case("texts"), rel=1e-12)


@given(ends=BOUNDARIES)
@settings(max_examples=10)
def test_rows_without_groups_are_accumulated(ends):
    result = score_batches(split_table(ends), "x", k="cosine", q=[1, 2])
    assert result == pytest.approx(compute(X, k="cosine", q=[1, 2]), rel=1e-12)


def test_any_stream_type_is_accepted(tmp_path):
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    pq.write_table(TABLE, tmp_path / "rows.parquet", row_group_size=4)
    streams = [
        TABLE,
        TABLE.to_reader(3),
        TABLE.to_batches(5),
        ds.dataset(tmp_path),
        [TABLE[:4].to_pandas(), TABLE[4:].to_pandas()],
        [TABLE[:6].to_pydict(), TABLE[6:].to_pydict()],
    ]
    for stream in streams:
        result = score_batches(stream, "text", prompts="prompt")
        assert result == pytest.approx(compute_case("texts"), rel=1e-12)


def test_messages_can_be_prompts():
    prompts = [[{"role": "user", "content": prompt}] for prompt in PROMPTS]
    table = pa.table({"text": TEXTS, "prompt": prompts})
    assert score_batches([table[:7], table[7:]], "text", prompts="prompt") == pytest.approx(
        compute_case("texts"), rel=1e-12
    )


def test_group_that_recurs_raises_and_keeps_the_state():
    state = GroupState("x", prompts="prompt", k="cosine").update(TABLE[:6])
    before = state.compute()
    for batch in (TABLE[:3], pa.concat_tables([TABLE[6:10], TABLE[6:7]])):
        with pytest.raises(ValueError, match=r"'prompt \d' occurs again .* ORDER BY prompt"):
            state.update(batch)
        assert state.compute() == before
    with pytest.raises(ValueError, match=r"'prompt \d' occurs again"):
        state.merge(state)
    assert state.merge(GroupState("x", prompts="prompt", k="cosine")).compute() == before


def test_invalid_arguments_raise():
    with pytest.raises(ValueError, match="no column 'y'"):
        score_batches(TABLE, "y", prompts="prompt", k="cosine")
    with pytest.raises(TypeError, match="is required; pass the name of a column"):
        GroupState("x", k="cosine")
    with pytest.raises(TypeError, match="`ci` and `given_prompt` require `groups` or `prompts`"):
        score_batches(TABLE, "x", k="cosine", ci=0.9)
    with pytest.raises(ValueError, match="has no features of fixed"):
        score_batches(TABLE, "text", k="ngram_overlap")
    with pytest.raises(ValueError, match="sample 1 has no label in `group`"):
        GroupState("x", groups="group", k="labels").update({"x": [1, 2], "group": ["a", None]})
    with pytest.raises(ValueError, match="requires rows, but none were added"):
        GroupState("x", groups="group", k="labels").compute()
    state_1, state_2 = (GroupState("x", groups="group", k="labels", q=q) for q in (1, 2))
    with pytest.raises(ValueError, match="can be merged only if they have the same settings"):
        state_1.merge(state_2)


def test_unusable_samples_are_named_in_the_error():
    rows = [[1.0, 0.0], None, [0.0, 1.0]]
    state = GroupState("x", groups="group", k="cosine")
    with pytest.raises(SampleError, match=r"\(sample 0 of group 2\) of `samples` must be a row"):
        state.update({"x": rows, "group": [1, 2, 3]})
    state.update({"x": rows[:1], "group": [1]})
    assert state.n == 1


def test_groups_of_one_sample_warn_once():
    batches = [{"x": ["a"], "group": [i]} for i in range(4)]
    with pytest.warns(UserWarning, match="Every group contains a single sample") as caught:
        score_batches(batches, "x", groups="group", k="labels")
    assert len(caught) == 1


def test_state_accepts_arrow_columns():
    column = TABLE["x"]
    assert State(k="cosine").update(column).compute() == State(k="cosine").update(X).compute()


def score_one_group(*columns, **options):
    """Return the score of a single group that consists of several batches."""
    batches = [{"x": column, "group": [0] * len(column)} for column in columns]
    return score_batches(batches, "x", groups="group", **{"k": "labels", **options})["VS"]


@pytest.mark.parametrize(
    "columns",
    [
        ([1, 2], [1.5, 1.0], [2, 3]),
        (pa.array(["a", "b"]), pa.array(["b", "c"], pa.large_string())),
        (pa.array(["a", "b"]), pa.array(["b", "c"], pa.string_view())),
        (pa.array(["a", "b"]), pa.array(["b", "c"]).dictionary_encode()),
        (pa.array(["a", "b"]).dictionary_encode(), pa.array(["b"], pa.large_string())),
        (pa.array([1, 2], pa.int8()), pa.array([300, 2], pa.uint16())),
    ],
    ids=["fractions", "large strings", "views", "dictionary", "two dictionaries", "widths"],
)
def test_batches_with_different_schemas_are_combined(columns):
    values = [*chain.from_iterable(pa.array(column).to_pylist() for column in columns)]
    assert score_one_group(*columns) == pytest.approx(compute(values, k="labels")["VS"])


def test_vectors_with_different_schemas_are_combined():
    X = np.random.default_rng(0).normal(size=(6, 2))
    single_type, double_type = pa.list_(pa.float32()), pa.list_(pa.float64(), 2)
    result = score_one_group(
        pa.array([*X[:3]], single_type), pa.array([*X[3:]], double_type), k="cosine"
    )
    X[:3] = X[:3].astype(np.float32)
    assert result == pytest.approx(compute(X, k="cosine")["VS"], rel=1e-12)


@pytest.mark.parametrize(
    ("columns", "types"),
    [
        (([1], [True], [1.5]), "int64 and bool and double"),
        (([1], ["1"]), "int64 and string"),
        (([2**60 + 1], [1.5]), "int64 and double"),
        (([0.5], [2**60 + 1]), "double and int64"),
        (([[1.0]], [1.0]), "list<item: double> and double"),
    ],
)
def test_incompatible_column_types_raise(columns, types):
    with pytest.raises(
        TypeError, match=re.escape(f"column 'x' has the types {types} in different")
    ):
        score_one_group(*columns)


@pytest.mark.parametrize("values", [[1, True, 1.5], ["a", 1], [1, "a"], [2**70], [object()]])
def test_column_of_mixed_types_raises(values):
    with pytest.raises(TypeError, match="cannot convert a batch to an Arrow table"):
        score_batches([{"x": values, "group": [0] * len(values)}], "x", groups="group", k="labels")


def test_group_labels_may_change_type_between_batches():
    def group_names(*labels):
        batches = [{"x": ["a", "b"], "group": [label] * 2} for label in labels]
        result = score_batches(batches, "x", groups="group", k="labels", details=True)
        return [row["group"] for row in result["details"]["groups"]]

    assert group_names(1, 1.5, 2) == [1, 1.5, 2]
    assert group_names(1, "1", 2) == [1, "1", 2]
    assert group_names(1, 1.0) == [1]  # one group
    for mixed_labels in ((1, True), (True, 1.5), (1, 2, True), (False, "a", 0)):
        with pytest.raises(TypeError, match="Booleans in one batch and numbers in another"):
            group_names(*mixed_labels)


def test_states_with_boolean_and_numeric_labels_do_not_merge():
    states = [GroupState("x", groups="group", k="labels") for _ in range(2)]
    for state, label in zip(states, (1, True), strict=True):
        state.update({"x": ["a", "b"], "group": [label] * 2})
    with pytest.raises(TypeError, match="True and 1 would be the same label"):
        states[0].merge(states[1])
    assert states[0].compute()["VS"] == pytest.approx(2)


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
@pytest.mark.parametrize("q", [1, 2, 0.5, "inf", [1], [1, 2]])
@pytest.mark.parametrize("case", CASES)
def test_keys_match_compute(case, q):
    column, options, labels = CASES[case]
    expected = compute_case(case, q=q, ci=0.9)
    assert list(score_batches([TABLE], column, **labels, **options, q=q, ci=0.9)) == list(expected)
    state = GroupState(column, **labels, **options, q=q).update(TABLE)
    assert list(state.compute(ci=0.9)) == list(expected)


def test_keys_without_groups_contain_the_order():
    assert list(score_batches([TABLE], "x", k="cosine", q=2)) == ["VS_q2"]
    with pytest.raises(KeyError, match="no key 'VS' for q=2; available keys: 'VS_q2', 'VS_q2_se'"):
        score_batches([TABLE], "x", k="cosine", q=2, groups="model")["VS"]


@pytest.mark.parametrize("groups", [None, "g"])
def test_dropped_samples_of_a_stream_warn_once(groups):
    batches = [
        {"x": [[1.0, float(i)], [0.0, 0.0], [1.0, 1.0]], "g": [i, i, i]} for i in range(1, 6)
    ]
    with pytest.warns(UserWarning, match="dropped") as caught:
        score_batches(batches, "x", groups=groups, k="cosine", on_error="skip")
    assert len(caught) == 1
    assert "similar warnings for other batches" in str(caught[0].message)
