"""Embedding of samples in batches, and validation of the rows."""

import numpy as np
import pytest

from vendiscore import SampleError
from vendiscore.encoders.embeddings import check_no_conflict, embed
from vendiscore.support.progress import run_steps


def embed_lengths(batch):
    return [[len(text), 1.0] for text in batch]


def embed_all(samples, encode=embed_lengths, report=None, **options):
    report = {} if report is None else report
    return run_steps(embed(samples, encode, report, **{"batch_size": 2, **options}))


TEXTS = ["a", "bbb", "cc", "dddd", ""]
EXPECTED = [[1, 1], [3, 1], [2, 1], [4, 1], [0, 1]]


@pytest.mark.parametrize("batch_size", [1, 2, 5, 100])
@pytest.mark.parametrize("with_lengths", [False, True])
def test_rows_keep_order_of_samples(batch_size, with_lengths):
    options = {"lengths": [len(text) for text in TEXTS]} if with_lengths else {}
    batches = []

    def encode(batch):
        batches.append(batch)
        return embed_lengths(batch)

    result = embed_all(TEXTS, encode, batch_size=batch_size, **options)
    assert result.tolist() == EXPECTED
    assert max(map(len, batches)) == min(batch_size, 5)
    batch_lengths = [len(text) for batch in batches for text in batch]
    assert batch_lengths == (
        sorted(batch_lengths, reverse=True) if with_lengths else [1, 3, 2, 4, 0]
    )


def test_progress_counts_samples_and_report_has_batch_indices():
    report, reported_indices = {}, []

    def encode(batch):
        reported_indices.append(report["places"])
        return embed_lengths(batch)

    steps = embed(TEXTS, encode, report, batch_size=2)
    assert list(steps) == [0, 2, 4]
    assert reported_indices == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.float16, np.float32),
        (np.int8, np.float32),
    ],
)
def test_rows_are_float64_only_if_model_output_is(dtype, expected):
    assert embed_all(TEXTS, lambda batch: np.array(embed_lengths(batch), dtype)).dtype == expected


def test_encoder_errors_name_samples_by_index():
    def encode(batch):
        problems = {i: "is refused" for i, text in enumerate(batch) if "b" in text or not text}
        SampleError.check(problems)
        return embed_lengths(batch)

    with pytest.raises(SampleError) as caught:
        embed_all(["a", "bbb", "cc", "dddd", ""], encode)
    assert caught.value.problems == {1: "is refused", 4: "is refused"}


def test_errors_name_zero_and_non_finite_rows_and_rejected_samples():
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
def test_invalid_model_outputs_are_rejected(encode, error, message):
    with pytest.raises(error, match=f"`model` must .*{message}"):
        embed_all(["aa", "bbb", "c"], encode)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_tensors_are_detached_and_converted(dtype):
    torch = pytest.importorskip("torch")

    def encode(batch):
        return torch.tensor(embed_lengths(batch), dtype=getattr(torch, dtype), requires_grad=True)

    for encoder in (encode, lambda batch: list(encode(batch))):
        assert embed_all(TEXTS, encoder).tolist() == EXPECTED


def test_check_no_conflict_rejects_only_passed_options():
    check_no_conflict({"pooling": None, "half": None}, "a function")
    with pytest.raises(ValueError, match="`half` has no effect with a function"):
        check_no_conflict({"pooling": None, "half": False}, "a function")
