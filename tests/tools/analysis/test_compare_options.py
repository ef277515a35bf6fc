"""Validation of the options of `compare`."""

import numpy as np
import pytest

from vendiscore.scoring.subsampling import MIN_SAMPLES
from vendiscore.tools.analysis.compare_options import CompareOptions


def test_default_options_are_valid_and_canonical():
    result = CompareOptions().checked()
    assert result == CompareOptions(q=1.0)
    assert (result.level, result.permutations, result.seed, result.effects) == (
        0.95,
        999,
        0,
        "random",
    )
    assert result.checked() == result


def test_numpy_values_become_python_numbers():
    result = CompareOptions(
        q="inf", size=np.int64(MIN_SAMPLES), within=np.float32(0.5), seed=np.uint8(3)
    ).checked()
    assert (result.q, result.size, result.within, result.seed) == (np.inf, MIN_SAMPLES, 0.5, 3)
    assert type(result.size) is type(result.seed) is int
    assert type(result.within) is float


@pytest.mark.parametrize(
    ("level", "min_permutations"), [(0.9, 19), (0.95, 19), (0.99, 99), (0.999, 999)]
)
def test_permutations_must_suffice_for_the_level(level, min_permutations):
    assert (
        CompareOptions(level=level, permutations=min_permutations).checked().permutations
        == min_permutations
    )
    with pytest.raises(
        ValueError, match=f"`permutations` must be an integer of at least {min_permutations}"
    ):
        CompareOptions(level=level, permutations=min_permutations - 1).checked()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": MIN_SAMPLES - 1}, ValueError, "`size` must be an integer of at least"),
        ({"level": 0.05}, ValueError, "`level` must be a confidence level from 0.5"),
        ({"within": 0}, ValueError, "`within` must be a fraction above 0"),
        ({"within": np.inf}, ValueError, "`within` must be a fraction above 0"),
        ({"q": -1}, ValueError, "`q`"),
        ({"seed": -1}, ValueError, "`seed`"),
        ({"effects": "mixed"}, ValueError, "`effects` must be 'random' or 'fixed'"),
        ({"allow_repeats": 1}, TypeError, "`allow_repeats` must be True or False"),
        ({"pool_repeats": None}, TypeError, "`pool_repeats` must be True or False"),
        ({"psd": "x"}, ValueError, "`psd`"),
        ({"q": 0, "allow_repeats": False}, TypeError, "`allow_repeats=False` has no effect at q=0"),
        ({"q": 0, "pool_repeats": False}, TypeError, "`pool_repeats=False` has no effect at q=0"),
    ],
)
def test_invalid_options_raise(options, error, message):
    with pytest.raises(error, match=message):
        CompareOptions(**options).checked()


def test_false_repeat_options_are_accepted_at_q_2():
    result = CompareOptions(q=2, allow_repeats=False, pool_repeats=False).checked()
    assert not result.allow_repeats
    assert not result.pool_repeats
