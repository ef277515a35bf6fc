"""Leave-one-out similarities of sources equal similarities of the remaining prompts or blocks."""

import numpy as np
import pytest

from vendiscore import sources
from vendiscore.tools.analysis.source_scores import draw_blocks, sum_prompts, sums_without_blocks


def draw_mean_similarities(seed, prompts=7, n=4):
    """Return mean similarities (prompts, n, n) of n sources with some missing answers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(prompts, n, 3)) + 1
    answered = np.ones((prompts, n), dtype=bool)
    answered[0, 1] = answered[3, 2] = False
    X[~answered] = 0
    means = X @ X.swapaxes(1, 2)
    return means, means.diagonal(axis1=1, axis2=2), answered


@pytest.mark.parametrize("seed", range(3))
def test_leave_prompt_out_similarities_equal_those_of_remaining_prompts(seed):
    columns = draw_mean_similarities(seed)
    result = sum_prompts(*columns)
    leave_one_out = np.concatenate(list(result.leaving_one_out))
    assert len(leave_one_out) == result.units == 7
    for i, S in enumerate(leave_one_out):
        expected = sum_prompts(*(np.delete(column, i, axis=0) for column in columns))
        np.testing.assert_allclose(S, expected.similarity, rtol=1e-12)


def test_leaving_out_the_only_shared_prompt_keeps_the_similarity():
    means, _, answered = draw_mean_similarities(0)
    means, answered = means[1:3].copy(), answered[1:3].copy()  # prompts without missing answers
    answered[1, 0] = False
    means[1, 0] = means[1, :, 0] = 0
    result = sum_prompts(means, means.diagonal(axis1=1, axis2=2), answered)
    leave_one_out = np.concatenate(list(result.leaving_one_out))
    np.testing.assert_array_equal(leave_one_out[0, 0], result.similarity[0])
    assert np.abs(leave_one_out[0, 1:, 1:] - result.similarity[1:, 1:]).max() > 1e-3


def test_leave_block_out_sums_equal_sums_of_remaining_blocks():
    sums = np.random.default_rng(1).normal(size=(3, 5, 3, 5))
    sums = sums + sums.transpose(2, 3, 0, 1)
    for block, result in enumerate(sums_without_blocks(sums)):
        remaining = np.delete(np.delete(sums, block, axis=1), block, axis=3)
        np.testing.assert_allclose(result, remaining.sum(axis=(1, 3)), atol=1e-12)


def test_block_sizes_of_a_set_differ_by_at_most_one():
    codes = np.repeat([0, 1, 2], [7, 20, 33])
    blocks = draw_blocks(codes, 7)
    for code in range(3):
        sizes = np.bincount(blocks[codes == code], minlength=7)
        assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(blocks, draw_blocks(codes, 7))


def test_kernel_options_are_fitted_once_to_all_answers():
    X = np.random.default_rng(2).normal(size=(4, 300, 3))
    result = sources(X, k="rbf")
    assert result.settings["sigma"] > 0
    explicit = sources(X, k="rbf", sigma=result.settings["sigma"])
    assert result.score == pytest.approx(explicit.score, rel=1e-12)
    np.testing.assert_allclose(result.similarity, explicit.similarity, rtol=1e-12)
