"""A stream of record batches scores as all of its rows at once, wherever borders cut."""

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
# The column of samples with its kernel, and the columns of labels; what `compute` is passed.
CASES = {
    "vectors": ("x", {"k": "cosine"}, {"prompts": "prompt"}),
    "groups": ("x", {"k": "rbf", "sigma": 1.0}, {"groups": "prompt"}),
    "texts": ("text", {}, {"prompts": "prompt"}),
    "models": ("text", {"k": "labels"}, {"groups": "model", "prompts": "prompt"}),
    "prompts taken out": ("text", {"ns": [1]}, {"prompts": "prompt", "given_prompt": True}),
}
SAMPLES = {"x": X, "text": TEXTS}
COLUMNS = {"prompt": PROMPTS, "model": MODELS}


def at_once(case, **more):
    column, how, labels = CASES[case]
    passed = {name: COLUMNS.get(value, value) for name, value in labels.items()}
    if "prompts" in passed:
        passed.setdefault("given_prompt", False)
    return compute(SAMPLES[column], **how, **passed, **more)


def cut(ends):
    """Return the table in parts that end at these rows; some may be empty."""
    ends = [0, *sorted(ends), ROWS]
    return [TABLE[a:b] for a, b in pairwise(ends)]


borders = st.lists(st.integers(0, ROWS), max_size=6)


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
@pytest.mark.parametrize("case", CASES)
@given(ends=borders)
@settings(max_examples=15)
def test_batches_score_as_all_rows_at_once(case, ends):
    column, how, labels = CASES[case]
    result = score_batches(cut(ends), column, **labels, **how, q=[0.5, 1, 2], ci=0.9)
    right = at_once(case, q=[0.5, 1, 2], ci=0.9)
    assert result == pytest.approx(right, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("case", CASES)
@given(ends=borders, parts=st.lists(st.integers(0, 6), max_size=3))
@settings(max_examples=15)
def test_parts_of_a_stream_merge_in_their_order(case, ends, parts):
    column, how, labels = CASES[case]
    batches = cut(ends)
    marks = [0, *sorted(parts), len(batches)]
    states = []
    for a, b in pairwise(marks):
        state = GroupState(column, **labels, **how)
        for batch in batches[a:b]:
            state.update(batch)
        states.append(pickle.loads(pickle.dumps(state)))
    first, *others = states
    merged = first.merge(*others)
    assert merged.n == ROWS
    assert merged.compute() == pytest.approx(at_once(case), rel=1e-12)
    # Merging is associative, and leaves the parts as they are.
    again = first
    for other in others:
        again = again.merge(other)
    assert again.compute(details=True) == merged.compute(details=True)


def test_table_has_a_row_for_each_group_in_order():
    column, how, labels = CASES["models"]
    result = score_batches(cut([5, 9]), column, **labels, **how, details=True)["details"]
    expected = at_once("models", details=True)["details"]["groups"]
    assert result["n"] == ROWS
    for row, other in zip(result["groups"], expected, strict=True):
        assert row == pytest.approx(other)


@given(ends=borders)
@settings(max_examples=20)
def test_large_groups_are_added_up_in_states(ends):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_TABLE_ROWS", 1)
        result = score_batches(cut(ends), "x", prompts="prompt", k="cosine")
        none = score_batches(cut(ends), "text", prompts="prompt")  # n-grams have no state
    assert result == pytest.approx(at_once("vectors"), rel=1e-12)
    assert none == pytest.approx(at_once("texts"), rel=1e-12)


@given(ends=borders)
@settings(max_examples=10)
def test_rows_without_groups_are_added_up(ends):
    result = score_batches(cut(ends), "x", k="cosine", q=[1, 2])
    assert result == pytest.approx(compute(X, k="cosine", q=[1, 2]), rel=1e-12)


def test_streams_of_any_kind_are_read(tmp_path):
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
        assert result == pytest.approx(at_once("texts"), rel=1e-12)


def test_messages_are_prompts_too():
    prompts = [[{"role": "user", "content": prompt}] for prompt in PROMPTS]
    table = pa.table({"text": TEXTS, "prompt": prompts})
    assert score_batches([table[:7], table[7:]], "text", prompts="prompt") == pytest.approx(
        at_once("texts"), rel=1e-12
    )


def test_groups_that_come_again_are_refused_and_nothing_is_lost():
    state = GroupState("x", prompts="prompt", k="cosine").update(TABLE[:6])
    before = state.compute()
    for batch in (TABLE[:3], pa.concat_tables([TABLE[6:10], TABLE[6:7]])):
        with pytest.raises(ValueError, match=r"'prompt \d' occurs again .* ORDER BY prompt"):
            state.update(batch)
        assert state.compute() == before
    with pytest.raises(ValueError, match=r"'prompt \d' occurs again"):
        state.merge(state)
    assert state.merge(GroupState("x", prompts="prompt", k="cosine")).compute() == before


def test_faults_are_named():
    with pytest.raises(ValueError, match="no column 'y'"):
        score_batches(TABLE, "y", prompts="prompt", k="cosine")
    with pytest.raises(TypeError, match="is required; pass the name of a column"):
        GroupState("x", k="cosine")
    with pytest.raises(TypeError, match="`ci` and `given_prompt` require `groups` or `prompts`"):
        score_batches(TABLE, "x", k="cosine", ci=0.9)
    with pytest.raises(ValueError, match="has no features of fixed"):
        score_batches(TABLE, "text", k="ngram_overlap")
    with pytest.raises(ValueError, match="sample 1 has no label in `of`"):
        GroupState("x", groups="of", k="labels").update({"x": [1, 2], "of": ["a", None]})
    with pytest.raises(ValueError, match="requires rows, but none were added"):
        GroupState("x", groups="of", k="labels").compute()
    one, other = (GroupState("x", groups="of", k="labels", q=q) for q in (1, 2))
    with pytest.raises(ValueError, match="can be merged only if they have the same settings"):
        one.merge(other)


def test_bad_samples_are_named():
    rows = [[1.0, 0.0], None, [0.0, 1.0]]
    state = GroupState("x", groups="of", k="cosine")
    with pytest.raises(SampleError, match=r"\(sample 0 of group 2\) of `samples` must be a row"):
        state.update({"x": rows, "of": [1, 2, 3]})
    state.update({"x": rows[:1], "of": [1]})
    assert state.n == 1


def test_groups_of_one_sample_are_told_once():
    alone = [{"x": ["a"], "of": [i]} for i in range(4)]
    with pytest.warns(UserWarning, match="Every group contains a single sample") as told:
        score_batches(alone, "x", groups="of", k="labels")
    assert len(told) == 1


def test_states_take_columns_of_arrow():
    column = TABLE["x"]
    assert State(k="cosine").update(column).compute() == State(k="cosine").update(X).compute()


def of_one_group(*columns, **how):
    """Return the score of columns that follow one another in one group."""
    batches = [{"x": column, "of": [0] * len(column)} for column in columns]
    return score_batches(batches, "x", groups="of", **{"k": "labels", **how})["VS"]


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
def test_batches_of_different_schemas_score_as_their_values(columns):
    values = [*chain.from_iterable(pa.array(column).to_pylist() for column in columns)]
    assert of_one_group(*columns) == pytest.approx(compute(values, k="labels")["VS"])


def test_vectors_of_different_schemas_score_as_their_values():
    X = np.random.default_rng(0).normal(size=(6, 2))
    single, double = pa.list_(pa.float32()), pa.list_(pa.float64(), 2)
    result = of_one_group(pa.array([*X[:3]], single), pa.array([*X[3:]], double), k="cosine")
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
def test_types_without_one_in_common_are_named(columns, types):
    with pytest.raises(
        TypeError, match=re.escape(f"column 'x' has the types {types} in different")
    ):
        of_one_group(*columns)


@pytest.mark.parametrize("values", [[1, True, 1.5], ["a", 1], [1, "a"], [2**70], [object()]])
def test_a_column_of_several_types_is_named(values):
    with pytest.raises(TypeError, match="cannot convert a batch to an Arrow table"):
        score_batches([{"x": values, "of": [0] * len(values)}], "x", groups="of", k="labels")


def test_labels_of_groups_may_have_another_type_in_each_batch():
    def names(*labels):
        batches = [{"x": ["a", "b"], "of": [label] * 2} for label in labels]
        result = score_batches(batches, "x", groups="of", k="labels", details=True)
        return [row["group"] for row in result["details"]["groups"]]

    assert names(1, 1.5, 2) == [1, 1.5, 2]
    assert names(1, "1", 2) == [1, "1", 2]
    assert names(1, 1.0) == [1]  # one group
    for mixed in ((1, True), (True, 1.5), (1, 2, True), (False, "a", 0)):
        with pytest.raises(TypeError, match="Booleans in one batch and numbers in another"):
            names(*mixed)


def test_states_of_booleans_and_numbers_do_not_merge():
    states = [GroupState("x", groups="of", k="labels") for _ in range(2)]
    for state, label in zip(states, (1, True), strict=True):
        state.update({"x": ["a", "b"], "of": [label] * 2})
    with pytest.raises(TypeError, match="True and 1 would be the same label"):
        states[0].merge(states[1])
    assert states[0].compute()["VS"] == pytest.approx(2)


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
@pytest.mark.parametrize("q", [1, 2, 0.5, "inf", [1], [1, 2]])
@pytest.mark.parametrize("case", CASES)
def test_keys_name_the_order_as_those_of_compute_do(case, q):
    column, how, labels = CASES[case]
    expected = at_once(case, q=q, ci=0.9)
    assert list(score_batches([TABLE], column, **labels, **how, q=q, ci=0.9)) == list(expected)
    state = GroupState(column, **labels, **how, q=q).update(TABLE)
    assert list(state.compute(ci=0.9)) == list(expected)


def test_keys_name_the_order_without_groups_too():
    assert list(score_batches([TABLE], "x", k="cosine", q=2)) == ["VS_q2"]
    with pytest.raises(KeyError, match="no key 'VS' for q=2; available keys: 'VS_q2', 'VS_q2_se'"):
        score_batches([TABLE], "x", k="cosine", q=2, groups="model")["VS"]


@pytest.mark.parametrize("groups", [None, "g"])
def test_a_stream_emits_one_warning_about_dropped_samples(groups):
    batches = [
        {"x": [[1.0, float(i)], [0.0, 0.0], [1.0, 1.0]], "g": [i, i, i]} for i in range(1, 6)
    ]
    with pytest.warns(UserWarning, match="dropped") as caught:
        score_batches(batches, "x", groups=groups, k="cosine", on_error="skip")
    assert len(caught) == 1
    assert "similar warnings for other batches" in str(caught[0].message)
