"""Similarities without each prompt or block are those of the other prompts or blocks alone."""

import numpy as np
import pytest

from vendiscore import sources
from vendiscore.tools.analysis.source_scores import draw_blocks, sum_prompts, sums_without_blocks


def drawn_means(seed, prompts=7, n=4):
    """Return mean similarities of sources (prompts, n, n), of which some lack answers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(prompts, n, 3)) + 1
    answered = np.ones((prompts, n), dtype=bool)
    answered[0, 1] = answered[3, 2] = False
    X[~answered] = 0
    means = X @ X.swapaxes(1, 2)
    return means, means.diagonal(axis1=1, axis2=2), answered


@pytest.mark.parametrize("seed", range(3))
def test_without_each_prompt_similarities_are_those_over_the_others(seed):
    columns = drawn_means(seed)
    result = sum_prompts(*columns)
    without = np.concatenate(list(result.without_each))
    assert len(without) == result.units == 7
    for i, S in enumerate(without):
        rest = sum_prompts(*(np.delete(column, i, axis=0) for column in columns))
        np.testing.assert_allclose(S, rest.similarity, rtol=1e-12)


def test_two_sources_keep_the_only_prompt_that_they_share():
    means, _, answered = drawn_means(0)
    means, answered = means[1:3].copy(), answered[1:3].copy()  # of which none lacks an answer
    answered[1, 0] = False
    means[1, 0] = means[1, :, 0] = 0
    result = sum_prompts(means, means.diagonal(axis1=1, axis2=2), answered)
    without = np.concatenate(list(result.without_each))
    np.testing.assert_array_equal(without[0, 0], result.similarity[0])
    assert np.abs(without[0, 1:, 1:] - result.similarity[1:, 1:]).max() > 1e-3


def test_sums_without_each_block_are_those_between_the_others():
    sums = np.random.default_rng(1).normal(size=(3, 5, 3, 5))
    sums = sums + sums.transpose(2, 3, 0, 1)
    for block, rest in enumerate(sums_without_blocks(sums)):
        others = np.delete(np.delete(sums, block, axis=1), block, axis=3)
        np.testing.assert_allclose(rest, others.sum(axis=(1, 3)), atol=1e-12)


def test_blocks_of_each_set_differ_by_one_sample_at_most():
    codes = np.repeat([0, 1, 2], [7, 20, 33])
    blocks = draw_blocks(codes, 7)
    for code in range(3):
        sizes = np.bincount(blocks[codes == code], minlength=7)
        assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(blocks, draw_blocks(codes, 7))


def test_options_are_fitted_once_for_more_answers_than_are_compared_at_once():
    X = np.random.default_rng(2).normal(size=(4, 300, 3))
    result = sources(X, k="rbf")
    assert result.settings["sigma"] > 0
    again = sources(X, k="rbf", sigma=result.settings["sigma"])
    assert result.score == pytest.approx(again.score, rel=1e-12)
    np.testing.assert_allclose(result.similarity, again.similarity, rtol=1e-12)
