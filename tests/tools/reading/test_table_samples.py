"""Tables become samples with labels, locations and original text of their rows."""

import io

import numpy as np
import pytest

from vendiscore.report import AskError, Limits, ReadOptions, RefusedError, read_data

ROWS = b"prompt,model,answer,score\nwhy,m,a cat,1\nwhy,n,a dog,x\nhow,m,a cow,3\nhow,n,a pig,4\n"


def test_model_column_defines_sets_unless_pooled():
    result = read_data("a.csv", ROWS, ReadOptions())
    assert result.sets == ["m", "n", "m", "n"]
    pooled = read_data("a.csv", ROWS, ReadOptions(pool=True))
    assert (pooled.sets, pooled.groups) == ([], [])
    assert pooled.values == result.values


def test_invalid_quality_is_reported_with_row_and_column():
    result = read_data("a.csv", ROWS, ReadOptions(quality="score"))
    assert result.problems == {1: "is 'x', not a number"}
    assert result.place(1) == "row 3, column 'score'"
    assert result.quality == [1.0, 0.0, 3.0, 4.0]


def test_column_of_option_correct_is_read_as_booleans():
    cells = ["yes", "NO", "True", "false", "1", "0.0", "maybe", ""]
    rows = "".join(f"an answer {i},{cell}\n" for i, cell in enumerate(cells))
    result = read_data("a.csv", f"answer,passed\n{rows}".encode(), ReadOptions(correct="passed"))
    assert result.correct == [True, False, True, False, True, False, False, False]
    assert result.problems == {6: "is 'maybe', not true or false", 7: "is '', not true or false"}
    assert result.place(6) == "row 8, column 'passed'"


@pytest.mark.parametrize("name", ["model", "no such column"])
def test_missing_set_or_sample_columns_are_rejected(name):
    with pytest.raises(RefusedError, match="column"):
        read_data("a.csv", b"model\nm\nn\n", ReadOptions(by=name))


@pytest.mark.parametrize(
    "table", [b"species,here\ncat,-1\ndog,2\n", b"species,here\ncat,.5\ndog,2\n"]
)
def test_counts_must_be_non_negative_integers(table):
    with pytest.raises(RefusedError, match="must be a whole number"):
        read_data("a.csv", table, ReadOptions(kind="counts"))


def test_counts_from_parquet_match_csv():
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    pq.write_table(pa.table({"species": ["cat", "dog"], "north": [1, 2], "south": [3, 0]}), file)
    csv = read_data("a.csv", b"species,north,south\ncat,1,2\ndog,3,0\n", ReadOptions(kind="counts"))
    parquet = read_data("a.parquet", file.getvalue(), ReadOptions(kind="counts"))
    assert csv.record == parquet.record
    assert parquet.values == ["cat", "dog", "dog", "cat", "cat", "cat"]
    assert parquet.groups == ["north"] * 3 + ["south"] * 3


def test_parquet_ids_are_not_features():
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    pq.write_table(pa.table({"id": [7, 3], "x": [1.0, 2.0], "y": [3.0, 4.0]}), file)
    result = read_data("a.parquet", file.getvalue(), ReadOptions())
    assert result.features == ["x", "y"]
    assert result.lost == {"id": "it numbers the rows"}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"id,answer\n1,a cat\n2,a dog\n"),
        ("a.jsonl", b'{"answer": "a cat"}\n{"answer": "a dog"}\n'),
        ("a.json", b'["a cat", "a dog"]'),
        ("a.vec", b"cat 1 2\ndog 3 4\n"),
    ],
)
def test_written_samples_can_be_read_again(name, data):
    result = read_data(name, data, ReadOptions())
    text = result.written([1, 0])
    second_result = read_data(
        name.replace("vec", "csv"), text.encode(), ReadOptions(column=result.column)
    )
    assert list(map(str, second_result.values)) == list(
        map(str, [result.values[1], result.values[0]])
    )


def test_skipping_all_rows_returns_no_samples():
    assert len(read_data("a.csv", ROWS, ReadOptions(skip_rows=9))) == 0


@pytest.mark.parametrize(
    ("prompts", "groups"), [("aabb", 2), ("abbcc", 3), ("abcde", 0), ("abcdd", 0), ("aaaaa", 0)]
)
def test_prompts_group_answers_if_most_have_several(prompts, groups):
    rows = "".join(f"{prompt},a cat {i}\n" for i, prompt in enumerate(prompts))
    result = read_data("a.csv", f"prompt,answer\n{rows}".encode(), ReadOptions())
    assert len({*result.groups}) == groups


@pytest.mark.parametrize("name", ["task_id", "problem_id"])
def test_task_ids_group_answers_like_prompts(name):
    table = f"{name},completion\np1,a cat\np1,a dog\np2,a cow\np2,a pig\n"
    assert read_data("a.csv", table.encode(), ReadOptions()).groups == ["p1", "p1", "p2", "p2"]


@pytest.mark.parametrize("name", ["sample", "SampleID", "plot"])
@pytest.mark.parametrize("label", ["", "S"])
def test_counts_per_sample_are_ambiguous(name, label):
    table = f"{name},Agrostol,Poaprat\n{label}1,0,4\n{label}2,3,0\n{label}3,1,1\n".encode()
    with pytest.raises(AskError, match="count the individuals of a species at each"):
        read_data("dune.csv", table, ReadOptions())
    counts = read_data("dune.csv", table, ReadOptions(kind="counts"))
    assert counts.groups == [f"{label}{i}" for i in (1, 1, 1, 1, 2, 2, 2, 3, 3)]
    assert counts.values[:2] == ["Poaprat", "Poaprat"]
    features = read_data("dune.csv", table, ReadOptions(kind="vectors"))
    assert features.features == ["Agrostol", "Poaprat"]


def test_samples_with_scores_are_not_counts():
    result = read_data("a.csv", b"sample,score\na cat sat,1\na dog ran,2\n", ReadOptions())
    assert result.values == ["a cat sat", "a dog ran"]


def test_task_labels_are_not_prompts():
    result = read_data("a.csv", b"smiles,task1\nCCO,0\nCCN,0\nCCC,1\nCC=O,1\n", ReadOptions())
    assert (result.kind, len(result), result.groups) == ("molecules", 4, [])


def test_numbers_among_sample_metadata_are_not_counts():
    table = b"SampleID,site,year,subject\nS1,gut,2008,one\nS2,gut,2009,two\nS3,skin,2008,one\n"
    with pytest.raises(AskError) as caught:
        read_data("map.csv", table, ReadOptions())
    assert "count" not in caught.value.question


def test_samples_keep_source_table():
    result = read_data("a.csv", ROWS, ReadOptions())
    assert result.table.rows == []
    assert result.source.column("score") == ["1", "x", "3", "4"]


def test_too_many_individuals_are_rejected_before_expansion():
    with pytest.raises(RefusedError, match=r"1,000,000,000,003 individuals are too many"):
        read_data(
            "a.csv", b"species,s1\nA,1000000000000\nB,3\n", ReadOptions(limits=Limits(samples=100))
        )


def write_array(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize("shape", [(2, 1, 3), (2, 3, 1), (1, 2, 1, 3), (2, 3)])
def test_vectors_of_array_have_two_dimensions(shape, tmp_path):
    X = np.arange(6.0).reshape(2, 3)
    samples = read_data("a.npy", write_array(X.reshape(shape)), ReadOptions(kind="vectors"))
    np.testing.assert_array_equal(samples.values, X)
    assert list(samples.places) == [1, 2]
    assert samples.above == ([] if len(shape) == 2 else [f"shape {shape} is read as (2, 3)"])
    samples.saved([1], tmp_path / "x.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), X[1:])


def test_array_of_strings_has_one_text_per_row():
    samples = read_data("a.npy", write_array(np.array(["a cat", "a dog"])), ReadOptions())
    assert (samples.kind, samples.values) == ("texts", ["a cat", "a dog"])


@pytest.mark.parametrize("options", [{"column": "x"}, {"by": "model"}, {"quality": "score"}])
def test_options_that_name_columns_are_rejected_for_an_array(options):
    with pytest.raises(RefusedError, match=r"not columns|has no columns"):
        read_data("a.npy", write_array(np.eye(3)), ReadOptions(**options))
