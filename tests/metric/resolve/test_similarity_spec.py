"""Keywords that choose how samples are compared are read once, or refused."""

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


def kernel_of_letters(a, b):
    return float(a[0] == b[0])


def test_parse_takes_kernel_options_and_keeps_other_arguments():
    arguments = {"k": "rbf", "sigma": 2.0, "n_scales": 5, "metric": "kernel"}
    how = parse_similarity_spec(arguments)
    assert (how.k, how.options, how.metric) == (get_kernel("rbf"), {"sigma": 2.0}, "kernel")
    assert arguments == {"n_scales": 5}
    assert how.defines_similarity
    assert not how.has_callable_kernel
    assert not how.uses_vector_metric


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ({"score_K": True}, "K"),
        ({"score_X": True}, "X"),
        ({"score_dual": True}, "X"),
        ({"score_K": False}, ""),
    ],
)
def test_score_flags_set_the_input_form(arguments, given):
    how = similarity_spec_from_keywords(arguments)
    assert how.input_form == given
    assert how.defines_similarity == bool(given)


@pytest.mark.parametrize(
    "arguments",
    [{"k": "rbf", "score_K": True}, {"score_X": True, "score_K": True}],
)
def test_kernel_and_score_flags_are_mutually_exclusive(arguments):
    with pytest.raises(ValueError, match="are mutually exclusive"):
        similarity_spec_from_keywords(arguments)


def test_options_without_a_kernel_apply_to_the_text_kernel():
    how = similarity_spec_from_keywords({"ns": [1, 2]})
    assert how.k is None
    assert how.get_sample_type([["a"]]) == "text"
    assert how.options == {"ns": [1, 2]}
    skipping = similarity_spec_from_keywords({"on_error": "skip"})
    assert skipping.drop_unusable
    assert not how.drop_unusable


def test_kernel_may_be_a_function():
    how = similarity_spec_from_keywords({"k": kernel_of_letters})
    assert how.has_callable_kernel
    assert how.k is kernel_of_letters


def test_list_of_kernels_is_a_mixture():
    how = similarity_spec_from_keywords(
        {"k": ["cosine", "rbf"], "options": {"rbf": {"sigma": 1}}, "combine": "product"}
    )
    assert [part.kernel.name for part in how.k] == ["cosine", "rbf"]
    assert how.combine == "product"
    assert not how.has_callable_kernel


def test_model_names_select_text_embeddings():
    how = similarity_spec_from_keywords({"k": "semantic"})
    assert how.k.name == "text_embeddings"
    assert how.in_context
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
    how = similarity_spec_from_keywords(arguments, allow_metric=True)
    assert how.metric == arguments["metric"]
    assert how.metric_options == options
    assert how.uses_vector_metric


REFUSED = {
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
        r"options=\{'cosine': \{'sigma': …\}\}",
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


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_keywords_raise(case):
    arguments, error, message = REFUSED[case]
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
    ("how", "samples", "kind"),
    [
        ({"metric": "precomputed"}, [], "distances"),
        ({"score_K": True}, [], "similarities"),
        ({"score_X": True}, [], "vectors"),
        ({"k": "morgan"}, [], get_kernel("morgan").samples),
        ({"k": ["cosine", "rbf"]}, [], "vectors"),
        ({"k": ["cosine:x", "labels:y"]}, [], "records"),
        ({"k": kernel_of_letters}, [], "function"),
        ({}, [["a text"]], "text"),
        ({}, [[1.0]], "vectors"),
        ({}, np.eye(2), "vectors"),
    ],
)
def test_sample_type_follows_from_keywords(how, samples, kind):
    assert similarity_spec_from_keywords(how, allow_metric=True).get_sample_type(samples) == kind


@pytest.mark.parametrize("prompts", ["a prompt", b"x", 3, {"a"}])
def test_single_prompt_requires_conditioning(prompts):
    assert parse_prompts(prompts, True).values == prompts
    with pytest.raises(TypeError, match="`prompts` must contain one prompt per sample"):
        parse_prompts(prompts, False)


def test_parse_prompts_returns_lists_and_keeps_dicts():
    result = parse_prompts(("a", "b"), False)
    assert ([*result.values], result.condition) == (["a", "b"], False)
    by_group = {"x": "a"}
    assert parse_prompts(by_group, False).values is by_group


def test_conditioning_prompts_are_set_only_with_given_prompt():
    taken = similarity_spec_from_keywords({"k": "cosine", "prompts": [[1.0]], "given_prompt": True})
    assert taken.conditioning_prompts is taken.grouping_prompts
    assert isinstance(taken.conditioning_prompts, PromptSpec)
    grouped = similarity_spec_from_keywords({"k": "cosine", "prompts": ["a"]}, allow_grouping=True)
    assert grouped.conditioning_prompts is None
    assert [*grouped.grouping_prompts.values] == ["a"]
    with pytest.raises(TypeError, match="this function expects one set"):
        similarity_spec_from_keywords({"k": "cosine", "prompts": ["a"]})
    with pytest.raises(TypeError, match="`given_prompt` requires `prompts`"):
        similarity_spec_from_keywords({"k": "cosine", "given_prompt": True})


@pytest.mark.parametrize(
    ("how", "metric", "obstacle"),
    [
        ({"k": "cosine"}, None, ""),
        ({"k": kernel_of_letters}, None, ""),
        ({"k": "cosine"}, "kernel", ""),
        ({"score_K": True}, None, "a similarity matrix"),
        ({}, "manhattan", "metric='manhattan'"),
        ({"k": "labels"}, None, "k='labels'"),
        ({"k": "equivalence", "same": max}, None, "k='equivalence'"),
        ({"k": "bleu"}, None, "k='bleu' is not positive semidefinite"),
        ({"k": ["ngram_overlap", "labels"]}, None, "k='labels'"),
    ],
)
def test_unsupported_kernels_and_metrics_for_conditioning_are_described(how, metric, obstacle):
    result = describe_conditioning_error(similarity_spec_from_keywords(how), metric)
    assert result.startswith(obstacle)
    assert bool(result) == bool(obstacle)
    if obstacle and metric is None:
        with pytest.raises(TypeError, match="cannot condition on `prompts`"):
            similarity_spec_from_keywords({**how, "prompts": ["a"], "given_prompt": True})
