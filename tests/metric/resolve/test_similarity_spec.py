"""Keywords that specify similarities are parsed into a SimilaritySpec, or raise."""

import numpy as np
import pytest

from vendiscore import get_kernel
from vendiscore.resolve.similarity_spec import (
    PromptSpec,
    SimilaritySpec,
    check_kernel_or_metric,
    check_no_fit,
    check_no_metric_options,
    describe_conditioning_error,
    parse_prompts,
    parse_similarity_spec,
    similarity_spec_from_keywords,
)


def first_letter_kernel(a, b):
    return float(a[0] == b[0])


def test_parse_takes_kernel_options_and_keeps_other_arguments():
    arguments = {"k": "rbf", "sigma": 2.0, "n_scales": 5, "metric": "kernel"}
    spec = parse_similarity_spec(arguments)
    assert (spec.k, spec.options, spec.metric) == (
        get_kernel("rbf"),
        {"sigma": 2.0},
        "kernel",
    )
    assert arguments == {"n_scales": 5}
    assert spec.defines_similarity
    assert not spec.has_callable_kernel
    assert not spec.uses_vector_metric


@pytest.mark.parametrize(
    ("arguments", "input_form"),
    [
        ({"score_K": True}, "K"),
        ({"score_X": True}, "X"),
        ({"score_dual": True}, "X"),
        ({"score_K": False}, ""),
    ],
)
def test_score_flags_set_the_input_form(arguments, input_form):
    spec = similarity_spec_from_keywords(arguments)
    assert spec.input_form == input_form
    assert spec.defines_similarity == bool(input_form)


@pytest.mark.parametrize(
    "arguments",
    [{"k": "rbf", "score_K": True}, {"score_X": True, "score_K": True}],
)
def test_kernel_and_score_flags_are_mutually_exclusive(arguments):
    with pytest.raises(ValueError, match="are mutually exclusive"):
        similarity_spec_from_keywords(arguments)


def test_options_without_a_kernel_apply_to_the_text_kernel():
    spec = similarity_spec_from_keywords({"ns": [1, 2]})
    assert spec.k is None
    assert spec.get_sample_type([["a"]]) == "text"
    assert spec.options == {"ns": [1, 2]}
    skipping = similarity_spec_from_keywords({"on_error": "skip"})
    assert skipping.drop_unusable
    assert not spec.drop_unusable


def test_kernel_may_be_a_function():
    spec = similarity_spec_from_keywords({"k": first_letter_kernel})
    assert spec.has_callable_kernel
    assert spec.k is first_letter_kernel


def test_list_of_kernels_is_a_mixture():
    spec = similarity_spec_from_keywords(
        {"k": ["cosine", "rbf"], "options": {"rbf": {"sigma": 1}}, "combine": "product"}
    )
    assert [component.kernel.name for component in spec.k] == ["cosine", "rbf"]
    assert spec.combine == "product"
    assert not spec.has_callable_kernel


def test_model_names_select_text_embeddings():
    spec = similarity_spec_from_keywords({"k": "semantic"})
    assert spec.k.name == "text_embeddings"
    assert spec.in_context
    assert not similarity_spec_from_keywords({"k": "semantic", "in_context": False}).in_context
    assert not similarity_spec_from_keywords({"k": "static"}).in_context


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({"metric": "manhattan"}, {}),
        ({"metric": "minkowski", "exponent": 3}, {"exponent": 3.0}),
    ],
)
def test_metric_options_are_parsed(arguments, options):
    spec = similarity_spec_from_keywords(arguments, allow_metric=True)
    assert spec.metric == arguments["metric"]
    assert spec.metric_options == options
    assert spec.uses_vector_metric


INVALID_KEYWORDS = {
    "model as k": (
        {"k": type("M", (), {"encode": print})()},
        TypeError,
        "a model of type M; .*model=",
    ),
    "kernel as k": ({"k": get_kernel("rbf")}, TypeError, "pass k='rbf'"),
    "matrix as k": ({"k": np.eye(2)}, TypeError, "`k` must be a kernel name .* score_K=True"),
    "metric": ({"metric": "euclidean"}, TypeError, "`metric` is not supported by this function"),
    "fit": ({"fit": "pool"}, TypeError, "`fit` .* only one set"),
    "weights": ({"p": [1]}, TypeError, "is not supported by magnitude"),
    "option of a kernel": ({"sigma": 2}, TypeError, "It is an option of .*'rbf'"),
    "option of another kernel": (
        {"k": "cosine", "sigma": 2},
        TypeError,
        "'sigma' is not an option of kernel 'cosine'",
    ),
    "option of a mixture": (
        {"k": ["cosine", "rbf"], "sigma": 2},
        TypeError,
        r"options=\{'rbf': \{'sigma': …\}\}",
    ),
    "misspelt option": ({"sgima": 2}, TypeError, "unknown keyword 'sgima'. Did you mean `sigma`"),
    "misspelt keyword": ({"normalise": True}, TypeError, "'normalise'.*`normalize`"),
    "flag": ({"normalize": "yes"}, TypeError, "`normalize` must be True or False"),
    "fit of a word": ({"fit": "x"}, ValueError, "`fit` must be"),
    "unknown kernel": ({"k": "rbg"}, ValueError, "unknown kernel `k='rbg'`.*'rbf'"),
    "exponent of a kernel": (
        {"k": "rbf", "exponent": 2},
        TypeError,
        "`exponent` is an option of vector metrics",
    ),
}


@pytest.mark.parametrize("case", INVALID_KEYWORDS)
def test_invalid_keywords_raise(case):
    arguments, error, message = INVALID_KEYWORDS[case]
    with pytest.raises(error, match=message):
        similarity_spec_from_keywords(arguments)


def test_fit_is_rejected_for_a_single_set():
    assert similarity_spec_from_keywords({"fit": "pool", "k": "rbf"}, allow_fit=True).fit == "pool"
    check_no_fit(SimilaritySpec())
    with pytest.raises(TypeError, match="`fit`"):
        check_no_fit(SimilaritySpec(fit="samples"))


def test_kernel_and_vector_metric_are_mutually_exclusive():
    check_kernel_or_metric(
        similarity_spec_from_keywords({"k": "rbf", "metric": "kernel"}, allow_metric=True), "x"
    )
    check_kernel_or_metric(
        similarity_spec_from_keywords({"metric": "cosine"}, allow_metric=True), "x"
    )
    with pytest.raises(ValueError, match=r"x accepts `metric='cosine'` or a kernel, not both"):
        check_kernel_or_metric(
            similarity_spec_from_keywords({"k": "rbf", "metric": "cosine"}, allow_metric=True), "x"
        )
    check_no_metric_options({})
    with pytest.raises(TypeError, match="`exponent`"):
        check_no_metric_options({"exponent": 2})


@pytest.mark.parametrize(
    ("keywords", "samples", "sample_type"),
    [
        ({"metric": "precomputed"}, [], "distances"),
        ({"score_K": True}, [], "similarities"),
        ({"score_X": True}, [], "vectors"),
        ({"k": "morgan"}, [], get_kernel("morgan").samples),
        ({"k": ["cosine", "rbf"]}, [], "vectors"),
        ({"k": ["cosine:x", "labels:y"]}, [], "records"),
        ({"k": first_letter_kernel}, [], "function"),
        ({}, [["a text"]], "text"),
        ({}, [[1.0]], "vectors"),
        ({}, np.eye(2), "vectors"),
    ],
)
def test_sample_type_follows_from_keywords(keywords, samples, sample_type):
    assert (
        similarity_spec_from_keywords(keywords, allow_metric=True).get_sample_type(samples)
        == sample_type
    )


@pytest.mark.parametrize("prompts", ["a prompt", b"x", 3, {"a"}])
def test_single_prompt_requires_given_prompt(prompts):
    assert parse_prompts(prompts, True).values == prompts
    with pytest.raises(TypeError, match="`prompts` must contain one prompt per sample"):
        parse_prompts(prompts, False)


def test_parse_prompts_returns_lists_and_keeps_dicts():
    result = parse_prompts(("a", "b"), False)
    assert ([*result.values], result.condition) == (["a", "b"], False)
    by_group = {"x": "a"}
    assert parse_prompts(by_group, False).values is by_group


def test_conditioning_prompts_are_set_only_with_given_prompt():
    conditioned = similarity_spec_from_keywords(
        {"k": "cosine", "prompts": [[1.0]], "given_prompt": True}
    )
    assert conditioned.conditioning_prompts is conditioned.grouping_prompts
    assert isinstance(conditioned.conditioning_prompts, PromptSpec)
    grouped = similarity_spec_from_keywords({"k": "cosine", "prompts": ["a"]}, allow_grouping=True)
    assert grouped.conditioning_prompts is None
    assert [*grouped.grouping_prompts.values] == ["a"]
    with pytest.raises(TypeError, match="this function expects one set"):
        similarity_spec_from_keywords({"k": "cosine", "prompts": ["a"]})
    with pytest.raises(TypeError, match="`given_prompt` requires `prompts`"):
        similarity_spec_from_keywords({"k": "cosine", "given_prompt": True})


@pytest.mark.parametrize(
    ("keywords", "metric", "obstacle"),
    [
        ({"k": "cosine"}, None, ""),
        ({"k": first_letter_kernel}, None, ""),
        ({"k": "cosine"}, "kernel", ""),
        ({"score_K": True}, None, "a similarity matrix"),
        ({}, "manhattan", "metric='manhattan'"),
        ({"k": "labels"}, None, "k='labels'"),
        ({"k": "equivalence", "same": max}, None, "k='equivalence'"),
        ({"k": "bleu"}, None, "k='bleu' is not positive semidefinite"),
        ({"k": ["ngram_overlap", "labels"]}, None, "k='labels'"),
    ],
)
def test_error_names_kernel_or_metric_that_cannot_condition_on_prompts(keywords, metric, obstacle):
    result = describe_conditioning_error(similarity_spec_from_keywords(keywords), metric)
    assert result.startswith(obstacle)
    assert bool(result) == bool(obstacle)
    if obstacle and metric is None:
        with pytest.raises(TypeError, match="cannot condition on `prompts`"):
            similarity_spec_from_keywords({**keywords, "prompts": ["a"], "given_prompt": True})
