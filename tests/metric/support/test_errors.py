"""Attributes and messages of errors, also if pickled or reindexed; merged warnings."""

import copy
import pickle
import sys
import types
import warnings

import numpy as np
import pytest

from vendiscore import NotPSDError, SampleError
from vendiscore.support.errors import (
    MAX_LISTED_SAMPLES,
    MAX_WARNING_EXAMPLES,
    merge_warnings,
    short_repr,
    warn,
)


@pytest.mark.parametrize("length", [58, 59, 500])
def test_short_repr_shortens_text_to_60_characters(length):
    text = "".join(chr(97 + i % 26) for i in range(length))
    result = short_repr(text)
    if length + 2 <= 60:
        assert result == repr(text)
    else:
        assert len(result) == 60
        assert result == f"{repr(text)[:39]}…{repr(text)[-20:]}"


def test_sample_error_sorts_problems_and_names_the_first():
    error = SampleError(5, "is empty", {9: "is long", 2: "is blank"})
    assert error.problems == {2: "is blank", 5: "is empty", 9: "is long"}
    assert (error.index, error.problem) == (2, "is blank")
    assert str(error) == "sample 2 is blank (3 samples cannot be used: 2, 5, 9)"
    assert str(SampleError(3, "is empty")) == "sample 3 is empty"


@pytest.mark.parametrize("count", [MAX_LISTED_SAMPLES, MAX_LISTED_SAMPLES + 1])
def test_sample_error_lists_a_limited_number_of_samples(count):
    message = str(SampleError.from_problems(dict.fromkeys(range(count), "is empty")))
    assert f"{count} samples cannot be used: 0, 1, " in message
    assert message.endswith("…)") == (count > MAX_LISTED_SAMPLES)
    assert f", {MAX_LISTED_SAMPLES - 1}" in message
    assert f", {MAX_LISTED_SAMPLES})" not in message


def test_check_raises_only_if_there_are_problems():
    SampleError.check({})
    with pytest.raises(SampleError, match="sample 4 is empty"):
        SampleError.check({4: "is empty"})


def test_reindexed_maps_problems_to_one_or_several_indices():
    error = SampleError.from_problems({0: "is empty", 2: "is long"})
    assert error.reindexed([7, 8, 3]).problems == {3: "is long", 7: "is empty"}
    multiple = error.reindexed([np.array([4, 6]), np.array([1]), np.array([5])])
    assert multiple.problems == {4: "is empty", 5: "is long", 6: "is empty"}
    assert all(type(index) is int for index in multiple.problems)


@pytest.mark.parametrize("negative_mass", [0.5, 0.001])
def test_not_psd_error_mentions_rounding_for_small_negative_mass(negative_mass):
    error = NotPSDError(-negative_mass / 2, negative_mass)
    assert ("may be rounding" in str(error)) == (negative_mass < 0.01)
    assert f"smallest eigenvalue is {-negative_mass / 2:.3g}" in str(error)
    assert f"sum to {-negative_mass:.3g}" in str(error)


@pytest.mark.parametrize(
    "error", [SampleError(1, "is empty", {3: "is long"}), NotPSDError(-0.25, 0.5)], ids=str
)
@pytest.mark.parametrize("copy_error", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_copied_and_pickled_errors_keep_their_attributes(error, copy_error):
    copied = copy_error(error)
    assert type(copied) is type(error)
    assert (str(copied), vars(copied)) == (str(error), vars(error))
    assert isinstance(copied, ValueError)


def test_warn_points_to_the_first_line_outside_the_package(monkeypatch):
    module = types.ModuleType("vendiscore.made_up")
    exec("def call(function):\n    return function()\n", vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module.call(lambda: module.call(lambda: warn("here", RuntimeWarning)))
        line = sys._getframe().f_lineno - 1
    assert [(w.filename, w.lineno, w.category) for w in caught] == [
        (__file__, line, RuntimeWarning)
    ]


def _warn_about_groups() -> None:
    with merge_warnings("groups"):
        with merge_warnings("batches"):  # has no effect within another context
            for i in range(5):
                warn(f"dropped {i} of 9 samples: sample {i} is blank")
        warn("all rows are equal")


def test_merge_warnings_merges_similar_warnings_with_a_count():
    with pytest.warns(UserWarning, match="dropped|equal") as caught:
        _warn_about_groups()
    dropped, equal = (str(warning.message) for warning in caught)
    assert dropped.count("dropped") == MAX_WARNING_EXAMPLES
    assert dropped.endswith("(2 more similar warnings for other groups)")
    assert equal == "all rows are equal"


@merge_warnings("groups")
def _warn_and_fail() -> None:
    warn("first")
    raise ValueError("second")


def test_merge_warnings_emits_warnings_before_an_error():
    with pytest.warns(UserWarning, match="first"), pytest.raises(ValueError, match="second"):
        _warn_and_fail()
