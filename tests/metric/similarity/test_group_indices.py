"""Indices of the members of groups, in ascending order."""

import numpy as np
import pytest

from vendiscore.similarity.group_indices import factorize, group_indices, iter_groups_by_size


def test_factorize_numbers_values_in_order_of_first_occurrence():
    values = ["b", "a", "b", ("a",), "a"]
    distinct, codes = factorize(values)
    assert distinct == ["b", "a", ("a",)]
    assert codes.tolist() == [0, 1, 0, 2, 1]
    assert [distinct[code] for code in codes] == values


@pytest.mark.parametrize("seed", range(3))
def test_iter_groups_by_size_yields_the_members_of_all_groups(seed):
    codes = np.random.default_rng(seed).integers(-1, 6, 20)
    expected = {
        code: np.flatnonzero(codes == code).tolist() for code in np.unique(codes) if code >= 0
    }
    members_by_code, sizes = {}, []
    for groups, members in iter_groups_by_size(codes):
        sizes.append(members.shape[1])
        members_by_code |= dict(zip(groups.tolist(), members.tolist(), strict=True))
    assert members_by_code == expected
    assert sizes == sorted(set(sizes))


def test_group_indices_of_an_unused_code_are_empty():
    index_arrays = group_indices(np.array([2, 0, 2]), 4)
    assert [indices.tolist() for indices in index_arrays] == [[1], [], [0, 2], []]


def test_iter_groups_by_size_yields_nothing_without_samples():
    assert list(iter_groups_by_size(np.array([], dtype=int))) == []
