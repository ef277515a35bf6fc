"""Collections of samples are concatenated in order, as an array where possible."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore.similarity.concatenation import concatenate_samples, infer_shape, num_samples


@pytest.mark.parametrize(
    ("samples", "count"),
    [([1, 2], 2), ("ab", 2), (np.ones((3, 2)), 3), (scipy.sparse.csr_array((4, 2)), 4)],
)
def test_num_samples_counts_samples_of_any_container(samples, count):
    assert num_samples(samples) == count
    assert type(num_samples(samples)) is int


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (1.5, ()),
        (np.float32(1), ()),
        ([1, 2], (2,)),
        ([[1, 2], [3, 4], [5]], (3, 2)),
        (np.ones((2, 5)), (2, 5)),
        ([np.ones(4)], (1, 4)),
        ((), None),
        ([], None),
        ([[]], None),
        ("ab", None),
        ([b"a"], None),
        ({1}, None),
    ],
)
def test_infer_shape_uses_the_first_item_of_nested_lists(value, shape):
    assert infer_shape(value) == shape


def test_concatenate_returns_a_single_set_unchanged():
    samples = ["a", object()]
    assert concatenate_samples([samples]) is samples


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([np.zeros(2), np.ones(1)], np.array([0.0, 0, 1])),
        ([np.zeros((1, 2), "u1"), np.ones((1, 2), "u1")], np.array([[0, 0], [1, 1]], "u1")),
    ],
)
def test_concatenate_returns_an_array_for_equal_dtypes_and_shapes(sets, expected):
    result = concatenate_samples(sets)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == expected.dtype


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([["a"], ["b", "c"]], ["a", "b", "c"]),
        ([np.array([1, 2]), [3.5]], [1, 2, 3.5]),
        ([np.zeros(1), np.ones(1, np.float32)], [0.0, 1.0]),
    ],
)
def test_concatenate_returns_a_list_for_other_sets(sets, expected):
    result = concatenate_samples(sets)
    assert (type(result), result) == (list, expected)


def test_concatenate_keeps_rows_of_unequal_length():
    result = concatenate_samples([np.zeros((1, 2)), np.ones((1, 3))])
    assert [row.tolist() for row in result] == [[0, 0], [1, 1, 1]]


def test_concatenate_keeps_sparse_rows_if_all_sets_are_sparse():
    A, B = scipy.sparse.csr_array(np.eye(2)), scipy.sparse.csr_array(np.ones((1, 2)))
    stacked = concatenate_samples([A, B])
    assert stacked.format == "csr"
    assert stacked.toarray().tolist() == [[1, 0], [0, 1], [1, 1]]
    mixed = concatenate_samples([A, [[5.0, 6.0]]])
    assert [list(row) for row in mixed] == [[1, 0], [0, 1], [5, 6]]


class TestTensors:
    torch = pytest.importorskip("torch")

    def test_concatenate_returns_a_tensor_for_tensors_and_arrays(self):
        torch = self.torch
        result = concatenate_samples([np.zeros((1, 2)), torch.ones(1, 2, dtype=torch.float64)])
        assert isinstance(result, torch.Tensor)
        assert result.tolist() == [[0, 0], [1, 1]]

    def test_lists_of_tensors_keep_their_gradient(self):
        torch = self.torch
        rows = [torch.ones(2, requires_grad=True), torch.zeros(2)]
        result = concatenate_samples([rows, [[2.0, 3.0]]])
        assert result.tolist() == [[1, 1], [0, 0], [2, 3]]
        assert result.requires_grad

    def test_image_tensors_of_unequal_size_become_a_list(self):
        torch = self.torch
        result = concatenate_samples([torch.zeros(2, 3, 3), torch.zeros(1, 4, 4)])
        assert [tuple(image.shape) for image in result] == [(3, 3), (3, 3), (4, 4)]
        assert all(isinstance(image, torch.Tensor) for image in result)

    def test_texts_and_tensors_become_a_list(self):
        torch = self.torch
        assert concatenate_samples([torch.tensor([1.0, 2.0]), ["a"]]) == [1.0, 2.0, "a"]
        ragged = concatenate_samples([torch.ones(1, 2), [[1.0], [2.0, 3.0]]])
        assert isinstance(ragged, list)
        assert len(ragged) == 3
