"""Samples are embedded in batches, and every row is checked."""

import numpy as np
import pytest

from vendiscore import SampleError
from vendiscore.encoders.embeddings import check_no_conflict, embed
from vendiscore.support.progress import run_steps


def lengths(batch):
    return [[len(text), 1.0] for text in batch]


def embed_all(samples, encode=lengths, report=None, **options):
    report = {} if report is None else report
    return run_steps(embed(samples, encode, report, **{"batch_size": 2, **options}))


TEXTS = ["a", "bbb", "cc", "dddd", ""]
EXPECTED = [[1, 1], [3, 1], [2, 1], [4, 1], [0, 1]]


@pytest.mark.parametrize("batch_size", [1, 2, 5, 100])
@pytest.mark.parametrize("with_lengths", [False, True])
def test_rows_are_in_the_order_of_the_samples(batch_size, with_lengths):
    how = {"lengths": [len(text) for text in TEXTS]} if with_lengths else {}
    batches = []

    def encode(batch):
        batches.append(batch)
        return lengths(batch)

    result = embed_all(TEXTS, encode, batch_size=batch_size, **how)
    assert result.tolist() == EXPECTED
    assert max(map(len, batches)) == min(batch_size, 5)
    order = [len(text) for batch in batches for text in batch]
    assert order == (sorted(order, reverse=True) if with_lengths else [1, 3, 2, 4, 0])


def test_progress_counts_samples_and_the_report_has_the_indices_of_the_batch():
    report, seen = {}, []

    def encode(batch):
        seen.append(report["places"])
        return lengths(batch)

    steps = embed(TEXTS, encode, report, batch_size=2)
    assert list(steps) == [0, 2, 4]
    assert seen == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.float16, np.float32),
        (np.int8, np.float32),
    ],
)
def test_rows_are_in_double_precision_if_the_model_is(dtype, expected):
    assert embed_all(TEXTS, lambda batch: np.array(lengths(batch), dtype)).dtype == expected


def test_samples_that_the_encoder_refuses_are_named_by_their_index_in_all():
    def encode(batch):
        bad = {i: "is refused" for i, text in enumerate(batch) if "b" in text or not text}
        SampleError.check(bad)
        return lengths(batch)

    with pytest.raises(SampleError) as caught:
        embed_all(["a", "bbb", "cc", "dddd", ""], encode)
    assert caught.value.problems == {1: "is refused", 4: "is refused"}


def test_rows_without_a_direction_are_named_with_those_that_were_refused():
    values = {"a": [1, 2], "b": [0, 0], "c": [np.nan, 1], "d": [3, np.inf]}

    def encode(batch):
        SampleError.check({i: "is refused" for i, text in enumerate(batch) if text == "e"})
        return [values[text] for text in batch]

    with pytest.raises(SampleError) as caught:
        embed_all(["a", "b", "c", "e", "d"], encode)
    problems = caught.value.problems
    assert [*problems] == [1, 2, 3, 4]
    assert "zeros" in problems[1]
    assert "nan" in problems[2]
    assert "inf" in problems[4]


@pytest.mark.parametrize(
    ("encode", "error", "message"),
    [
        (lambda batch: [[1.0] * len(text) for text in batch], ValueError, "different lengths"),
        (lambda batch: [[1.0] * len(batch)] * len(batch), ValueError, "got lengths 2 and 1"),
        (lambda batch: [["a"]] * len(batch), TypeError, "array of real numbers"),
        (lambda batch: [[1j]] * len(batch), TypeError, "of dtype complex128"),
        (lambda batch: np.ones(len(batch)), ValueError, r"\(2,\)"),
        (lambda batch: np.ones((1, 3)), ValueError, r"\(1, 3\)"),
        (lambda batch: np.ones((len(batch), 2, 2)), ValueError, r"\(2, 2, 2\)"),
    ],
)
def test_other_outputs_of_a_model_are_refused(encode, error, message):
    with pytest.raises(error, match=f"`model` must .*{message}"):
        embed_all(["aa", "bbb", "c"], encode)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_tensors_are_detached_and_widened(dtype):
    torch = pytest.importorskip("torch")

    def encode(batch):
        return torch.tensor(lengths(batch), dtype=getattr(torch, dtype), requires_grad=True)

    for encoder in (encode, lambda batch: list(encode(batch))):
        assert embed_all(TEXTS, encoder).tolist() == EXPECTED


def test_options_without_effect_are_refused_only_if_they_are_passed():
    check_no_conflict({"pooling": None, "half": None}, "a function")
    with pytest.raises(ValueError, match="`half` has no effect with a function"):
        check_no_conflict({"pooling": None, "half": False}, "a function")
