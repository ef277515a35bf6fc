"""Settings identify the configuration of a state and can be parsed again."""

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


def text_lengths(texts):
    return [[float(len(text)), 1.0] for text in texts]


@pytest.mark.parametrize(
    ("arguments", "expected"),
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
def test_unit_norm_is_required_only_for_unnormalized_features(arguments, expected):
    assert requires_unit_rows(similarity_spec_from_keywords(arguments)) is expected


@pytest.mark.parametrize(
    "arguments", [{"k": "cosine"}, {"k": "pixels"}, {"score_X": True}, {"k": "text_embeddings"}]
)
def test_kernels_with_fixed_features_are_supported(arguments):
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
def test_error_names_unsupported_kernel_and_alternatives(arguments, message):
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
def test_settings_are_json_and_round_trip(arguments, settings):
    spec = similarity_spec_from_keywords(arguments)
    assert plain_settings(spec) == settings
    assert json.loads(json.dumps(settings)) == settings
    assert plain_settings(spec_from_settings(settings)) == settings


def test_functions_are_identified_by_their_code():
    settings = plain_settings(
        similarity_spec_from_keywords({"k": "text_embeddings", "model": text_lengths})
    )
    other_settings = plain_settings(
        similarity_spec_from_keywords(
            {"k": "text_embeddings", "model": lambda texts: np.eye(len(texts))}
        )
    )
    assert settings["model"].startswith("text_lengths@") or ".text_lengths@" in settings["model"]
    assert settings["model"] != other_settings["model"]
    assert "batch_size" not in settings  # does not change scores


def test_loaded_encoder_is_identified_by_its_settings():
    settings = plain_settings(
        similarity_spec_from_keywords(
            {"k": "text_embeddings", "model": encoder(model=text_lengths)}
        )
    )
    assert isinstance(settings["model"], dict)
    assert is_plain([*settings["model"].values()])


def test_prompts_are_not_stored():
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
def test_spec_from_settings_returns_none_for_unknown_kernels_and_options(settings):
    result = spec_from_settings(settings)
    assert result is None or settings["kernel"] == "pixels"
    if "colour" in settings or settings["kernel"] == "mine":
        assert result is None


def test_encoder_settings_keeps_only_additional_reported_settings():
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
    ("value", "expected"),
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
def test_is_plain_accepts_only_lists_and_scalars(value, expected):
    assert is_plain(value) == expected
