"""Registered measures: their ranges, options and errors."""

import copy
import inspect
import math
import pickle

import numpy as np
import pytest

from vendiscore import compute, list_measures, register_measure
from vendiscore.measures import measure as module
from vendiscore.measures.measure import (
    BETWEEN,
    MEASURES_BY_MODULE,
    get_measure,
    measures_with_option,
)


@pytest.fixture
def register_temporarily():
    """Return a decorator that registers a measure until the end of the test."""
    registered_names = []

    def register(name, **arguments):
        registered_names.append(name)
        options = {"needs": "similarity", "range": "[0, n]", "source": "a test", **arguments}
        return register_measure(name, **options)

    yield register
    for name in registered_names:
        module._measures.registrations.pop(name, None)


def test_listed_measures_are_registered_by_their_modules():
    for module_name, names in MEASURES_BY_MODULE.items():
        for name in names.split():
            result = get_measure(name)
            assert result.name == name
            assert inspect.unwrap(result.compute).__module__ == f"vendiscore.measures.{module_name}"
    assert {measure.name for measure in list_measures()} >= set(
        " ".join(MEASURES_BY_MODULE.values()).split()
    )
    assert get_measure(BETWEEN).groups


def test_list_measures_is_sorted_by_name():
    names = [measure.name for measure in list_measures()]
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("range", "limits"),
    [
        ("[1, n]", (1, 7)),
        ("[0, ∞)", (0, math.inf)),
        ("(−∞, ∞)", (-math.inf, math.inf)),
        ("[0.5, 1)", (0.5, 1)),
        ("(n, ∞)", (7, math.inf)),
    ],
)
def test_register_measure_parses_ranges(range, limits, register_temporarily):
    register_temporarily("TestRange", range=range)(lambda sample_set: 0.0)
    assert get_measure("TestRange").limits(7) == limits


@pytest.mark.parametrize("range", ["1 to n", "[0; 1]", "[0, 1", "", "[a, b]"])
def test_register_measure_rejects_invalid_ranges(range, register_temporarily):
    with pytest.raises(ValueError, match="`range` of measure 'TestBad' must be an interval"):
        register_temporarily("TestBad", range=range)(lambda sample_set: 0.0)


def test_check_clips_values_out_of_range_by_rounding_only():
    vs = get_measure("VS")  # in [1, n]
    assert vs.check(3.5, 5) == 3.5
    assert vs.check(1 - 1e-10, 5) == 1.0
    assert vs.check(5 + 1e-9, 5) == 5.0
    assert vs.check(5.01, 5, rounding=1e-3) == 5.0
    assert type(vs.check(np.float64(2), 5)) is float
    for value in (5.001, 0.9, math.nan, math.inf):
        with pytest.raises(
            ValueError, match=r"VS must be in its range \[1, n\] for n=5 samples, got "
        ):
            vs.check(value, 5)


def test_check_returns_tensors_in_range_unchanged():
    torch = pytest.importorskip("torch")
    value = torch.tensor(2.0, requires_grad=True)
    assert get_measure("VS").check(value, 5) is value


def test_registered_measure_has_options_readers_and_summary(register_temporarily):
    @register_temporarily("TestPower", readers={"power": float})
    def power_of_size(sample_set, power=1):
        """The number of samples to a power.

        More text.
        """
        return sample_set.n**power / sample_set.n**2

    result = get_measure("TestPower")
    assert result.options == {"power": 1}
    assert result.summary == "The number of samples to a power."
    assert measures_with_option("power") == ["TestPower"]
    assert power_of_size.__name__ == "power_of_size"  # the decorator returns the function
    measures = {"TestPower": {"power": "2"}}
    assert compute(["a", "b"], k="labels", measures=measures) == {"TestPower": 1.0}


def test_pooled_measure_requires_references(register_temporarily):
    register_temporarily("TestPairs", pooled=True)(lambda sample_set: 0.0)
    assert get_measure("TestPairs").references
    register_temporarily("TestAlone")(lambda sample_set: 0.0)
    assert not get_measure("TestAlone").references
    assert get_measure("TestAlone").readers == {}


def test_register_measure_rejects_a_registered_name(register_temporarily):
    def return_one(sample_set):
        return 1.0

    register_temporarily("TestTwice")(return_one)
    register_temporarily("TestTwice")(return_one)  # the same function again
    with pytest.raises(ValueError, match="measure 'TestTwice' is already registered by"):
        register_temporarily("TestTwice")(test_register_measure_parses_ranges)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vs", "Did you mean.*'VS'"),
        ("IntDivv", "Did you mean.*'IntDiv'"),
        ("zzz", r"`vendiscore.list_measures\(\)` lists all"),
    ],
)
def test_unknown_measure_raises_with_suggestion(name, message):
    with pytest.raises(ValueError, match=rf"unknown measure '{name}'.*{message}"):
        get_measure(name)


def test_measure_copies_are_identical_and_to_dict_describes_measure():
    vs = get_measure("VS")
    assert pickle.loads(pickle.dumps(vs)) is vs
    assert copy.deepcopy(vs) is vs
    assert vs.sentence == "VS is in [1, n]; higher values mean more diversity."
    result = get_measure("MagArea").to_dict()
    assert result["name"] == "MagArea"
    assert result["options"]["n_scales"] == 30
    assert result["summary"] == get_measure("MagArea").summary
    assert {"needs", "range", "direction", "aspect", "source", "weighted", "stacks"} <= {*result}


def test_unused_kernel_keywords_depend_on_needs_and_declared_options(register_temporarily):
    options = {"needs": "samples", "range": "[0, 1]", "source": "this test"}
    declared = {"kernel_options": {"rbf": ["sigma"]}}
    reader = register_temporarily("Reader", **options, **declared)(lambda sample_set: 0.0)
    other = register_temporarily("Other", **options)(lambda sample_set: 0.0)
    assert reader is not other
    measures = {name: get_measure(name) for name in ("Reader", "Other", "VS")}
    names = ["sigma", "other"]

    def unused(kernel, *requested):
        return module.unused_kernel_keywords(kernel, names, [measures[name] for name in requested])

    assert unused("rbf", "Reader") == unused("rbf", "Other", "Reader") == ["other"]
    assert unused("cosine", "Reader") == unused("rbf", "Other") == ["k", "sigma", "other"]
    assert unused(None, "Reader") == ["k", "sigma", "other"]
    assert unused("ngram_overlap", "Reader") == ["sigma", "other"]
    assert unused("cosine", "Reader", "VS") == []
