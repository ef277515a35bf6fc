"""Arguments of `compute` are parsed into a ScoreRequest, or raise."""

import pickle

import numpy as np
import pytest

from vendiscore.measures.measure import get_measure
from vendiscore.scoring.score_request import (
    check_allow_repeats,
    check_confidence_level,
    check_orders,
    check_pool_repeats,
    default_magnitude_measures,
    parse_generation_request,
    parse_request,
)


def get_measures(*names):
    return [get_measure(name) for name in names]


def test_parse_request_without_arguments_returns_defaults():
    request = parse_request({})
    assert request.names == request.keys == ["VS"]
    assert request.orders == (1.0,)
    assert (request.psd, request.details, request.ci) == ("check", False, None)
    assert (request.allow_repeats, request.pool_repeats) == (True, True)
    assert request.estimate_options is None
    assert not request.several_orders


@pytest.mark.parametrize(
    ("q", "keys"),
    [
        (1, ["VS"]),
        (2, ["VS_q2"]),
        ("inf", ["VS_qinf"]),
        ([1], ["VS_q1"]),
        ([1, 2, 2.0, 1], ["VS_q1", "VS_q2"]),
        ((0.5, "inf"), ["VS_q0.5", "VS_qinf"]),
    ],
)
def test_result_keys_contain_q_only_for_measures_with_an_order(q, keys):
    request = parse_request({"q": q, "measures": ["VS", "IntDiv"]})
    assert request.keys == [*keys, "IntDiv"]


@pytest.mark.parametrize(
    ("q", "order", "key"), [([2, 1], 1.0, "VS_q1"), ([2, 3], 2.0, "VS_q2"), (2, 2.0, "VS_q2")]
)
def test_main_order_is_one_if_passed_else_the_first(q, order, key):
    request = parse_request({"q": q})
    assert (request.main_order, request.vendi_key) == (order, key)


def test_check_orders_returns_distinct_floats_in_order():
    assert check_orders([2, 1, 2.0, "inf", np.float64(1)]) == [2.0, 1.0, np.inf]
    with pytest.raises(ValueError, match="`q` must be an order or a sequence of orders"):
        check_orders([])
    with pytest.raises(ValueError, match="got -1"):
        check_orders([1, -1])


@pytest.mark.parametrize(
    ("names", "group_measures", "two_sample_measures"),
    [
        (["VS"], [], []),
        (["VS", "BetweenVS", "WithinVS"], ["BetweenVS", "WithinVS"], []),
        (["VS", "MMD", "MagDiff"], [], ["MMD", "MagDiff"]),
    ],
)
def test_request_lists_group_and_two_sample_measures(names, group_measures, two_sample_measures):
    request = parse_request({"measures": names})
    assert (request.group_measures, request.two_sample_measures) == (
        group_measures,
        two_sample_measures,
    )


def test_needs_are_separate_for_sets_and_for_all_groups():
    set_needs, group_needs = parse_request(
        {"measures": ["VS", "Magnitude", "BetweenVS"], "t": 1}
    ).needs
    assert set_needs == {"scores", "distances"}
    assert group_needs == {get_measure("BetweenVS").needs}
    assert parse_request({"measures": ["VS", "MMD"]}).pooled_needs == {get_measure("MMD").needs}


def test_only_between_vs_uses_permutations():
    assert parse_request({"measures": ["BetweenVS"]}).uses_permutation_null
    assert not parse_request({"measures": ["BetweenVS"], "permutations": 0}).uses_permutation_null
    assert not parse_request({"measures": ["WithinVS"]}).uses_permutation_null
    with pytest.raises(TypeError, match="`permutations` has no effect on"):
        parse_request({"measures": ["VS"], "permutations": 9})


@pytest.mark.parametrize(
    ("arguments", "references", "expected"),
    [
        ({}, None, {"MagArea": {"t_cut": "t_conv"}, "t_conv": {}}),
        ({"t_cut": 2}, None, {"MagArea": {}, "t_conv": {}}),
        ({}, True, {"MagArea": {}, "t_conv": {}, "MagDiff": {}}),
        ({"t": 1}, None, {"Magnitude": {}}),
        ({"t": 1}, True, {"Magnitude": {}}),
    ],
)
def test_default_magnitude_measures_depend_on_scale_and_references(arguments, references, expected):
    assert default_magnitude_measures(arguments, references) == expected


def test_measure_options_are_separated_from_kernel_options():
    request = parse_request({"measures": ["MagArea"], "n_scales": 7, "k": "rbf", "sigma": 2.0})
    assert request.measures[0].options == {"n_scales": 7}
    assert request.spec.options == {"sigma": 2.0}
    assert request.solver == "auto"
    assert parse_request({"measures": ["MagArea"], "solver": "cg"}).solver == "cg"


def test_requests_with_equal_plain_arguments_are_cached():
    assert parse_request({"q": 2}) is parse_request({"q": 2})
    assert parse_request({"q": 2}) is not parse_request({"q": 2.0})  # the type may matter
    weights = {"p": np.ones(2) / 2}
    assert parse_request(weights) is not parse_request(weights)


def test_ignored_names_are_ignored():
    request = parse_request({"q": 2, "n_scales": 5, "foreign": 1}, ignored_names={"foreign"})
    assert request.keys == ["VS_q2"]
    with pytest.raises(TypeError, match="'foreign'"):
        parse_request({"foreign": 1})


@pytest.mark.parametrize("option", ["details", "groups", "p", "prompts", "given_prompt"])
def test_generation_request_rejects_arguments_per_sample(option):
    with pytest.raises(ValueError, match=f"`{option}` is not supported in an evaluation harness"):
        parse_generation_request({option: None})
    assert parse_generation_request({"q": 2}).keys == ["VS_q2"]


INVALID_ARGUMENTS = {
    "rtol": ({"rtol": 0.1}, TypeError, "`rtol`.*method='estimate'"),
    "rtol of 1": ({"method": "estimate", "rtol": 1.0}, ValueError, "`rtol`"),
    "estimate of IntDiv": (
        {"method": "estimate", "measures": ["VS", "IntDiv"]},
        ValueError,
        "supports only the measure 'VS', got IntDiv",
    ),
    "estimate, ci": (
        {"method": "estimate", "ci": 0.95},
        ValueError,
        "`ci` is not supported with `method",
    ),
    "estimate, q=0": (
        {"method": "estimate", "q": [1, 0]},
        ValueError,
        "q=0 .* is not supported with",
    ),
    "method": ({"method": "exact"}, ValueError, "`method` must be 'auto' or 'estimate'"),
    "ci, q=0": ({"ci": 0.95, "q": 0}, ValueError, "`ci` requires orders above 0"),
    "ci, p": ({"ci": 0.95, "p": [0.5, 0.5]}, ValueError, "`ci` .* not supported with weights `p`"),
    "clusters": ({"clusters": ["a", "b"]}, TypeError, "`clusters` .* pass ci=0.95"),
    "metric": ({"metric": "euclidean"}, TypeError, "`metric` .* VS.* pass k='rbf' instead"),
    "metric of a matrix": ({"metric": "precomputed"}, TypeError, "score_K=True"),
    "q of IntDiv": (
        {"measures": ["IntDiv"], "q": 2},
        TypeError,
        "`q=2` has no effect on IntDiv; remove `q`, or add .*VS",
    ),
    "p of MagArea": (
        {"measures": ["MagArea"], "p": [1.0]},
        ValueError,
        "weights `p` are not supported by MagArea",
    ),
    "details": ({"details": "yes"}, TypeError, "`details` must be True or False"),
    "psd": ({"psd": "ignore"}, ValueError, "`psd`"),
    "allow_repeats": ({"allow_repeats": False}, TypeError, "pass ci=0.95"),
    "pool_repeats": ({"pool_repeats": False}, TypeError, "pass ci=0.95"),
    "seed alone": ({"seed": 1}, TypeError, "`seed`"),
    "kernel and metric": (
        {"k": "rbf", "metric": "euclidean", "measures": ["MagArea"]},
        ValueError,
        "MagArea accepts `metric='euclidean'` or a kernel",
    ),
}


@pytest.mark.parametrize("case", INVALID_ARGUMENTS)
def test_parse_request_rejects_invalid_arguments(case):
    arguments, error, message = INVALID_ARGUMENTS[case]
    with pytest.raises(error, match=message):
        parse_request(arguments)


def test_unused_order_is_accepted_if_allowed():
    arguments = {"measures": ["IntDiv"], "q": 2}
    assert parse_request(arguments, allow_unused=frozenset({"q"})).keys == ["IntDiv"]
    with pytest.raises(TypeError, match=r"`q=2` has no effect on IntDiv"):
        parse_request(arguments, allow_unused=frozenset({"k"}))
    assert parse_request({"measures": ["IntDiv"], "q": 1}).keys == ["IntDiv"]


def test_estimates_keep_their_tolerance_and_seed():
    options = parse_request({"method": "estimate", "rtol": 0.01, "seed": 3}).estimate_options
    assert (options.rtol, options.seed) == (0.01, 3)
    defaults = parse_request({"method": "estimate"}).estimate_options
    assert (defaults.rtol, defaults.seed) == (2e-3, 0)


@pytest.mark.parametrize("level", [0.5, np.float32(0.75), 0.95, 0.999])
def test_check_confidence_level_accepts_half_to_below_one(level):
    assert check_confidence_level("ci", level) == level


@pytest.mark.parametrize("level", [0.05, 0.4999, 1, 1.0, 0, 95, -0.5, np.nan])
def test_check_confidence_level_rejects_other_levels(level):
    with pytest.raises(
        ValueError, match=r"`ci` must be a confidence level from 0\.5 to below 1.* as 0\.95"
    ):
        check_confidence_level("ci", level)


@pytest.mark.parametrize(
    ("ci", "has_clusters", "has_groups", "names", "message"),
    [
        (None, False, False, ["VS"], "pass ci=0.95"),
        (0.9, True, False, ["VS"], "has no effect with `clusters`"),
        (0.9, False, True, ["VS"], "a mean over groups"),
        (0.9, False, False, ["MagArea"], "intervals of VS, IntDiv, AvgSim"),
    ],
)
def test_check_allow_repeats_raises_without_effect(ci, has_clusters, has_groups, names, message):
    with pytest.raises(TypeError, match=message):
        check_allow_repeats(ci, has_clusters, has_groups, get_measures(*names))
    check_allow_repeats(0.9, False, False, get_measures("MagArea", "AvgSim"))


@pytest.mark.parametrize(
    ("ci", "details", "names", "rows", "message"),
    [
        (None, True, ["VS"], "groups", "pass ci=0.95"),
        (0.9, False, ["VS"], "groups", "pass details=True"),
        (0.9, True, ["IntDiv"], "groups", "affects only intervals of VS"),
        (0.9, True, ["VS"], "", "requires groups"),
        (0.9, True, ["VS"], "prompts", "has no effect on prompts"),
    ],
)
def test_check_pool_repeats_raises_without_effect(ci, details, names, rows, message):
    with pytest.raises(TypeError, match=message):
        check_pool_repeats(ci, details, get_measures(*names), rows)
    check_pool_repeats(0.9, True, get_measures("VS", "IntDiv"), "groups")


def test_with_prompts_returns_a_conditioned_request():
    request = parse_request({"k": "cosine"})
    changed = request.with_prompts([[1.0, 0.0]])
    assert request.spec.conditioning_prompts is None
    assert changed.spec.conditioning_prompts.condition
    assert changed.keys == request.keys


def test_request_can_be_pickled():
    request = parse_request({"q": [1, 2], "ci": 0.9, "k": "cosine"})
    assert pickle.loads(pickle.dumps(request)).keys == request.keys


TEXT_MEASURES = ["NgramDiversity", "SelfBLEU", "CompressionRatio"]


@pytest.mark.parametrize("measures", [*TEXT_MEASURES, TEXT_MEASURES[1:]])
@pytest.mark.parametrize(
    ("keyword", "arguments"),
    [
        ("k", {"k": "labels"}),
        ("k", {"k": "static"}),
        ("k", {"k": lambda a, b: float(a == b)}),
        ("k", {"k": ["word_overlap", "labels"]}),
        ("ns", {"ns": [2]}),
        ("ns", {"k": "ngram_overlap", "ns": [2]}),
        ("normalize", {"normalize": True}),
    ],
)
def test_kernel_keywords_without_effect_raise(measures, keyword, arguments):
    with pytest.raises(TypeError, match=rf"^`{keyword}` has no effect on .*, which uses no simil"):
        parse_request({"measures": measures, **arguments})
    assert parse_request({"measures": [*np.atleast_1d(measures), "IntDiv"], **arguments})
    assert parse_request({"measures": measures, **arguments}, allow_unused=frozenset(arguments))
    if keyword != "normalize" and not callable(arguments.get("k")):
        # The kernel determines which samples are dropped.
        assert parse_request({"measures": measures, "on_error": "skip", **arguments})


def test_kernel_options_that_text_measures_use_are_accepted():
    token_options = {"analyzer": "char"}
    bleu = {"k": "bleu", "max_order": 2}
    for arguments in (token_options, {"k": "ngram_overlap", **token_options}):
        assert parse_request({"measures": "NgramDiversity", **arguments})
        with pytest.raises(TypeError, match=r"^`analyzer` has no effect on SelfBLEU, which uses"):
            parse_request({"measures": "SelfBLEU", **arguments})
    assert parse_request({"measures": "SelfBLEU", **bleu})
    with pytest.raises(TypeError, match=r"^`k` has no effect on NgramDiversity, which"):
        parse_request({"measures": "NgramDiversity", **bleu})
    for measure in TEXT_MEASURES:  # the default kernel is accepted, as is the default order
        assert parse_request({"measures": measure, "k": "ngram_overlap", "q": 1})


def test_ns_and_n_of_ngram_diversity_suggest_sizes():
    with pytest.raises(TypeError, match=r"; pass `sizes` instead, or add a measure of simil"):
        parse_request({"measures": "NgramDiversity", "ns": [2]})
    with pytest.raises(TypeError, match=r"; remove it, or add a measure of similarities"):
        parse_request({"measures": "SelfBLEU", "ns": [2]})
    for name in ("n", "ngrams"):
        with pytest.raises(TypeError, match=r"Did you mean `sizes`\?$"):
            parse_request({"measures": "NgramDiversity", name: 2})
        with pytest.raises(TypeError, match=r"(?s)`sizes`.*`ns`"):
            parse_request({"measures": ["VS", "NgramDiversity"], name: 2})
