"""Members of groups are all samples with the group's code, in their order."""

import numpy as np
import pytest

from vendiscore.similarity.group_indices import group_indices, iter_groups_by_size


@pytest.mark.parametrize("seed", range(3))
def test_every_member_is_in_the_group_of_its_code(seed):
    codes = np.random.default_rng(seed).integers(-1, 6, 20)
    expected = {
        code: np.flatnonzero(codes == code).tolist() for code in np.unique(codes) if code >= 0
    }
    by_size, sizes = {}, []
    for groups, members in iter_groups_by_size(codes):
        sizes.append(members.shape[1])
        by_size |= dict(zip(groups.tolist(), members.tolist(), strict=True))
    assert by_size == expected
    assert sizes == sorted(set(sizes))


def test_a_group_without_members_is_empty():
    members = group_indices(np.array([2, 0, 2]), 4)
    assert [places.tolist() for places in members] == [[1], [], [0, 2], []]


def test_without_samples_there_are_no_sizes():
    assert list(iter_groups_by_size(np.array([], dtype=int))) == []
