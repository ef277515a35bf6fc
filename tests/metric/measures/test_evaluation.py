"""Measures are parsed with their options and evaluated to values by key."""

import math

import numpy as np
import pytest

from vendiscore import as_similarity, register_measure
from vendiscore.measures import measure as registry
from vendiscore.measures.evaluation import (
    evaluate_measures,
    evaluate_measures_stacked,
    parse_measures,
)
from vendiscore.measures.sample_set import SampleSet
from vendiscore.resolve.sample_labels import parse_group_labels

X = np.random.default_rng(0).standard_normal((8, 3))
K = as_similarity(X, k="rbf", sigma=1.0)


@pytest.fixture
def register_temporarily():
    registered_names = []

    def register(name, compute, **arguments):
        registered_names.append(name)
        options = {"needs": "similarity", "range": "[0, ∞)", "source": "a test", **arguments}
        register_measure(name, **options)(compute)

    yield register
    for name in registered_names:
        registry._measures.registrations.pop(name, None)


@pytest.mark.parametrize(
    ("measures", "names"),
    [
        ("VS", ["VS"]),
        (["VS", "IntDiv"], ["VS", "IntDiv"]),
        ({"IntDiv": {}, "VS": {}}, ["IntDiv", "VS"]),
        ((name for name in ["VS"]), ["VS"]),
        ("molecules", ["VS", "IntDiv"]),
        (["IntDiv", "molecules"], ["IntDiv", "VS"]),
    ],
)
def test_parse_measures_keeps_order_and_expands_presets(measures, names):
    assert [configured.measure.name for configured in parse_measures(measures, {})] == names


def test_options_of_a_measure_override_shared_options():
    shared_options = {"n_scales": 5, "t_cut": 2.0, "k": "rbf"}
    area, difference = parse_measures({"MagArea": {"n_scales": 7}, "MagDiff": {}}, shared_options)
    assert area.options == {"n_scales": 7, "t_cut": 2.0}
    assert difference.options == {"n_scales": 5, "t_cut": 2.0}
    assert shared_options == {"k": "rbf"}
    assert area.settings["n_scales"] == 7
    assert area.settings["epsilon"] == area.measure.options["epsilon"]
    assert None not in area.settings.values()


@pytest.mark.parametrize(
    ("measures", "error", "message"),
    [
        ([], ValueError, "`measures` must contain at least one"),
        (3, TypeError, "`measures` must be a name or a list of names, got 3"),
        (["VS", 2], TypeError, "must be a name or a list of names"),
        ({"VS": 3}, TypeError, "must map 'VS' to a dict"),
        ({"MagArea": {"scales": 3}}, TypeError, "'scales' is not an option of measure 'MagArea'"),
        ({"MagArea": {"n_scales": 1}}, ValueError, "`n_scales`"),
        ({"text": {"n": 3}}, TypeError, "is a preset of several"),
        ("VSS", ValueError, "unknown measure 'VSS'"),
    ],
)
def test_parse_measures_rejects_invalid_measures(measures, error, message):
    with pytest.raises(error, match=message):
        parse_measures(measures, {})


def test_value_keys_have_order_suffixes():
    sample_set = SampleSet(K, orders=[1.0, 2.0])
    vs, intdiv = evaluate_measures(sample_set, parse_measures(["VS", "IntDiv"], {}), ["_q1", "_q2"])
    values = np.linalg.eigvalsh(K.dense() / 8)
    values = values[values > 0]
    assert vs == pytest.approx(
        {"VS_q1": math.exp(-(values * np.log(values)).sum()), "VS_q2": 1 / (values**2).sum()}
    )
    assert intdiv == pytest.approx({"IntDiv": 1 - K.dense().mean()})


def test_measure_may_return_a_dict_of_key_suffixes(register_temporarily):
    register_temporarily("Named", lambda sample_set: {"_a": 1, "_b": 2.5, "": 3})
    (result,) = evaluate_measures(SampleSet(K), parse_measures("Named", {}), [""])
    assert result == {"Named_a": 1.0, "Named_b": 2.5, "Named": 3.0}


def test_evaluate_measures_rejects_duplicate_keys(register_temporarily):
    register_temporarily("Twin", lambda sample_set: {"_x": 1.0})
    register_temporarily("Twin_x", lambda sample_set: 1.0)
    with pytest.raises(ValueError, match="two measures return a value with the key 'Twin_x'"):
        evaluate_measures(SampleSet(K), parse_measures(["Twin", "Twin_x"], {}), [""])


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, 8.5])
def test_evaluate_measures_raises_for_values_out_of_range(value, register_temporarily):
    register_temporarily("Wrong", lambda sample_set: value, range="[0, n]")
    with pytest.raises(ValueError, match=r"Wrong must be in its range \[0, n\] for n=.* got "):
        evaluate_measures(SampleSet(K), parse_measures("Wrong", {}), [""])


def test_values_out_of_range_by_rounding_are_clipped(register_temporarily):
    register_temporarily("Rounded", lambda sample_set: np.float64(8 + 1e-9), range="[0, n]")
    (result,) = evaluate_measures(SampleSet(K), parse_measures("Rounded", {}), [""])
    assert result == {"Rounded": 8.0}
    assert type(result["Rounded"]) is float


def test_unsupported_samples_raise_error_that_names_the_measure():
    configured = parse_measures("NgramDiversity", {})
    with pytest.raises(
        TypeError, match=r"NgramDiversity requires .*; remove 'NgramDiversity' from `m"
    ):
        evaluate_measures(SampleSet(K), configured, [""])


def test_stacked_groups_have_the_values_of_separate_evaluation():
    labels = list("aaabbbcc")
    sample_set = SampleSet(
        K, groups=parse_group_labels(labels, "groups"), group_needs=frozenset({"scores"})
    )
    configured = parse_measures(["VS", "IntDiv"], {})
    columns, is_unstacked = evaluate_measures_stacked(sample_set, configured, [""])
    assert not is_unstacked.any()
    for i, label in enumerate("abc"):
        indices = np.flatnonzero(np.array(labels) == label)
        separate_values = evaluate_measures(SampleSet(K.take(indices)), configured, [""])
        for column, expected in zip(columns, separate_values, strict=True):
            assert {key: values[i] for key, values in column.items()} == pytest.approx(expected)


def test_stacked_groups_with_values_out_of_range_are_marked(register_temporarily):
    def odd(sample_set):
        return np.full(len(sample_set.K), 9.0 if sample_set.n == 3 else 0.5)

    register_temporarily("Odd", odd, range="[0, 1]", stacks=True)
    sample_set = SampleSet(K, groups=parse_group_labels(list("aaabbbcc"), "groups"))
    _, is_unstacked = evaluate_measures_stacked(sample_set, parse_measures("Odd", {}), [""])
    assert is_unstacked.tolist() == [True, True, False]


def test_measure_that_drops_gradients_raises(register_temporarily):
    torch = pytest.importorskip("torch")
    register_temporarily("Lossy", lambda sample_set: 1.0)
    similarity = as_similarity(torch.tensor(X, requires_grad=True), k="cosine")
    sample_set = SampleSet(similarity)
    with pytest.raises(TypeError, match="Lossy cannot be differentiated"):
        evaluate_measures(sample_set, parse_measures("Lossy", {}), [""])
    with torch.no_grad():
        assert evaluate_measures(sample_set, parse_measures("Lossy", {}), [""]) == [{"Lossy": 1.0}]
