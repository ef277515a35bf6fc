"""Settings of a state are values that tell states apart, and can be read again."""

import json

import numpy as np
import pytest

from vendiscore import encoder
from vendiscore.resolve.similarity_spec import similarity_spec_from_keywords
from vendiscore.tools.streams.state_settings import (
    describe_unsupported,
    encoder_settings,
    is_plain,
    plain_settings,
    requires_unit_rows,
    spec_from_settings,
)


def lengths(texts):
    return [[float(len(text)), 1.0] for text in texts]


@pytest.mark.parametrize(
    ("arguments", "unit"),
    [
        ({"k": "cosine"}, False),
        ({"k": "linear"}, True),
        ({"k": "linear", "normalize": True}, False),
        ({"score_X": True}, True),
        ({"score_X": True, "normalize": True}, False),
        ({"k": "pixels"}, None),
        ({"k": "cosine", "prompts": [[1.0]], "given_prompt": True}, None),
    ],
)
def test_rows_that_are_features_may_have_to_be_of_length_1(arguments, unit):
    assert requires_unit_rows(similarity_spec_from_keywords(arguments)) is unit


@pytest.mark.parametrize(
    "arguments", [{"k": "cosine"}, {"k": "pixels"}, {"score_X": True}, {"k": "text_embeddings"}]
)
def test_kernels_with_features_of_fixed_width_can_be_added_up(arguments):
    assert describe_unsupported(similarity_spec_from_keywords(arguments)) == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "`k` is required"),
        ({"score_K": True}, "`score_K` is not supported by a State"),
        ({"k": "rbf"}, "a State does not support kernel 'rbf', which has"),
        ({"k": "ngram_overlap"}, "a State does not support kernel 'ngram_overlap'"),
        ({"k": max}, "a State does not support a function of two samples"),
        ({"k": ["cosine", "linear"]}, "a State does not support a mixture of kernels"),
        ({"k": "cosine", "metric": "kernel"}, "`metric` is not supported by a State"),
        ({"k": "cosine", "fit": "pool"}, "`fit` is not supported by a State"),
    ],
)
def test_other_kernels_are_refused_with_those_that_can(arguments, message):
    result = describe_unsupported(
        similarity_spec_from_keywords(arguments, allow_metric=True, allow_fit=True)
    )
    assert result.startswith(message)
    if not message.endswith("is not supported by a State") or "score_K" in message:
        assert "'cosine'" in result


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ({"k": "cosine"}, {"kernel": "cosine"}),
        ({"k": "cosine", "on_error": "skip"}, {"kernel": "cosine", "on_error": "skip"}),
        ({"score_X": True}, {"kernel": "dot products of X"}),
        ({"score_X": True, "normalize": True}, {"kernel": "dot products of X", "normalize": True}),
        (
            {"k": "pixels", "size": 8},
            {"kernel": "pixels", "size": 8, "mode": None, "background": None},
        ),
    ],
)
def test_settings_are_plain_and_read_again(arguments, settings):
    spec = similarity_spec_from_keywords(arguments)
    assert plain_settings(spec) == settings
    assert json.loads(json.dumps(settings)) == settings
    assert plain_settings(spec_from_settings(settings)) == settings


def test_functions_are_told_apart_by_what_they_do():
    one = plain_settings(similarity_spec_from_keywords({"k": "text_embeddings", "model": lengths}))
    other = plain_settings(
        similarity_spec_from_keywords(
            {"k": "text_embeddings", "model": lambda texts: np.eye(len(texts))}
        )
    )
    assert one["model"].startswith("lengths@") or ".lengths@" in one["model"]
    assert one["model"] != other["model"]
    assert "batch_size" not in one  # changes no number


def test_a_loaded_encoder_is_told_by_its_settings():
    settings = plain_settings(
        similarity_spec_from_keywords({"k": "text_embeddings", "model": encoder(model=lengths)})
    )
    assert isinstance(settings["model"], dict)
    assert is_plain([*settings["model"].values()])


def test_prompts_are_not_kept():
    spec = similarity_spec_from_keywords(
        {"k": "cosine", "prompts": [[1.0, 0]], "given_prompt": True}
    )
    settings = plain_settings(spec)
    assert settings["prompts"] == "given"
    assert spec_from_settings(settings) is None


@pytest.mark.parametrize(
    "settings",
    [{"kernel": "mine"}, {"kernel": "pixels", "colour": 1}, {"kernel": "pixels", "size": "x"}],
)
def test_settings_of_another_version_are_not_read(settings):
    result = spec_from_settings(settings)
    assert result is None or settings["kernel"] == "pixels"
    if "colour" in settings or settings["kernel"] == "mine":
        assert result is None


def test_what_an_encoder_reports_beyond_the_request_is_kept():
    requested = {"kernel": "text_embeddings", "model": "lengths@1", "pooling": None, "size": 3}
    reported = {
        "model": "lengths",
        "pooling": "mean",
        "size": 3,
        "device": "cpu",
        "dims": 5,
        "new": 1,
    }
    assert encoder_settings(reported, requested) == {"pooling": "mean", "new": 1}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, True),
        (1, True),
        ("a", True),
        ([1, ("b", 2.5)], True),
        ({}, False),
        ([{}], False),
        (np.ones(1), False),
    ],
)
def test_plain_values(value, plain):
    assert is_plain(value) == plain
