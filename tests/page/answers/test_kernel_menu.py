"""The kernel menu lists registered kernels with a label, and their options."""

import math

import numpy as np
import pytest
from page_answers import compare_as_json, json_round_trip, score_as_json

from vendiscore import MatrixSimilarity, register_kernel
from vendiscore.resolve import kernel as registry
from vendiscore.resolve.kernel import Control
from vendiscore_page.answers import api, kernel_menu, one_set
from vendiscore_page.quotas import RefusedError

TEXTS = ["cat", "dog", "mouse", "horse", "elephant"]
MENU_KERNELS = {
    "texts": ["ngram_overlap"],
    "images": ["pixels"],
    "molecules": ["morgan", "atom_pair", "maccs", "rdkit", "topological_torsion"],
    "vectors": ["cosine", "laplacian", "rbf", "K", "K, clipped"],
}


@pytest.fixture
def registered_kernels(monkeypatch):
    """A text kernel with an option, and a vector kernel with only a label."""
    registry.list_kernels()
    monkeypatch.setattr(registry._kernels, "registrations", dict(registry._kernels.registrations))
    tolerance = Control("within", "give or take", info="characters", keyword="most", phrase="± {}")

    @register_kernel(
        "equally_long",
        samples="text",
        source="this test",
        label="are equally long",
        by="By their lengths",
        controls=[tolerance],
    )
    def equally_long(texts, most=0):
        """1 if two texts are equally long, give or take `most` characters."""
        lengths = np.array([len(text) for text in texts])
        return MatrixSimilarity((abs(lengths[:, None] - lengths) <= most).astype(float))

    @register_kernel("signs", samples="vectors", source="this test", label="have equal signs")
    def signs(vectors):
        """Return the proportion of columns in which two rows have the same sign."""
        return MatrixSimilarity((np.sign(vectors)[:, None] == np.sign(vectors)).mean(axis=2))


def menu_entry(kind: str, name: str) -> dict:
    (result,) = (
        kernel
        for kernel in json_round_trip(one_set.build_menu())["kinds"][kind]["kernels"]
        if kernel["kernel"] == name
    )
    return result


@pytest.mark.parametrize("kind", MENU_KERNELS)
def test_menu_lists_default_kernel_first(kind):
    encoders = kernel_menu.offered_encoders.list_offered(kind)
    assert [choice.kernel for choice in kernel_menu.list_choices(kind)] == [
        *encoders,
        *MENU_KERNELS[kind],
    ]


def test_menu_lists_registered_kernel_with_its_options(registered_kernels):
    result = menu_entry("texts", "equally_long")
    assert (result["label"], result["small"], result["compares"]) == (
        "are equally long",
        "equally_long",
        True,
    )
    (option,) = result["options"]
    assert option == {
        "name": "within",
        "label": "give or take",
        "type": "number",
        "choices": None,
        "keyword": "most",
        "value": 0,
        "info": "characters",
    }
    assert menu_entry("vectors", "signs")["options"] == []


def test_options_of_registered_kernel_are_applied_and_described(registered_kernels):
    result = score_as_json(TEXTS, kernel="equally_long")
    wider_result = score_as_json(TEXTS, kernel="equally_long", options={"within": 5})
    assert result["VS"] == pytest.approx(2.87, abs=0.01)  # lengths 3, 3, 5, 5 and 8
    assert wider_result["VS"] == pytest.approx(1.0)
    assert result["comparison"] == "equally_long · q 1"
    assert wider_result["comparison"] == "equally_long ± 5 · q 1"
    assert result["sentence"].startswith("By their lengths, this set of 5 texts")
    assert "k='equally_long', most=5.0" in wider_result["code"]
    with pytest.raises(RefusedError, match="within must be a number, got 'wide'"):
        score_as_json(TEXTS, kernel="equally_long", options={"within": "wide"})


def test_api_scores_and_compares_with_registered_kernel(registered_kernels):
    X = np.random.default_rng(0).normal(size=(12, 4))
    result = api.vendi_score_vectors(X.tolist(), "signs")
    assert result["sentence"].startswith("By signs, ")
    assert kernel_menu.find_choice("vectors", "signs").takes_pairs
    sets = compare_as_json({"A": X[:6], "B": X[6:]}, "vectors", "signs")
    assert sets["comparison"] == "signs · q 1"


def test_options_of_other_kernels_are_checked_and_ignored():
    chosen = kernel_menu.find_choice("vectors", "cosine")
    assert kernel_menu.parse_options(chosen, {"sigma": 2, "ns": [1]}) == {"k": "cosine"}
    with pytest.raises(RefusedError, match="ns must be integers, got 'x'"):
        kernel_menu.parse_options(chosen, {"ns": "x"})


@pytest.mark.parametrize("kind", ["images", "molecules", "vectors"])
def test_default_kernel_is_first_in_any_registration_order(kind, monkeypatch):
    default = {"images": "pixels", "molecules": "morgan", "vectors": "cosine"}[kind]
    monkeypatch.setattr(kernel_menu, "list_kernels", lambda: registry.list_kernels()[::-1])
    first = next(choice for choice in kernel_menu.list_choices(kind) if not choice.is_encoder)
    assert first.kernel == default


@pytest.mark.parametrize("kind", MENU_KERNELS)
def test_call_of_each_choice_is_expressed_by_its_controls(kind):
    for choice in kernel_menu.list_choices(kind):
        call = kernel_menu.parse_options(choice, {})
        controls = kernel_menu.find_controls(kind, call | {"q": 2})
        assert (controls["kernel"], controls["q"]) == (choice.kernel, 2)
        assert kernel_menu.parse_options(choice, controls["options"]) == call


def test_keyword_of_call_sets_the_option_of_its_control(registered_kernels):
    controls = kernel_menu.find_controls("texts", {"k": "equally_long", "most": 3})
    assert controls == {"kernel": "equally_long", "options": {"within": 3}, "q": None}


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("texts", {"k": "unknown"}),
        ("texts", {"k": "pixels"}),  # of images
        ("texts", {"k": "ngram_overlap", "ci": 0.95}),  # has no control
        ("texts", {"k": "ngram_overlap", "ns": [50]}),  # exceeds the values of its control
        ("texts", {"k": "ngram_overlap", "q": [1, 2]}),
        ("texts", {"k": "ngram_overlap", "q": True}),
        ("vectors", {"q": 2}),
    ],
)
def test_calls_that_controls_cannot_express_have_none(kind, call):
    assert kernel_menu.find_controls(kind, call) is None


@pytest.mark.parametrize("kind", MENU_KERNELS)
def test_second_choice_differs_in_meaning_or_wording(kind):
    choices = kernel_menu.list_choices(kind)
    for choice in choices:
        second = kernel_menu.find_second_choice(kind, choice)
        has_alternatives = kind == "texts" and len({c.is_encoder for c in choices}) == 2
        assert (second is not None) == has_alternatives
        if second is not None:
            assert second.is_encoder != choice.is_encoder
            assert kernel_menu.find_second_choice(kind, second) is not None


@pytest.mark.parametrize(
    ("options", "q", "expected"),
    [
        ({}, 1.0, "n-grams of 1–4 words · q 1"),
        ({"ns": [2]}, math.inf, "n-grams of 2 words · q ∞"),
        ({"ns": [1, 3]}, 0.5, "n-grams of 1 and 3 words · q 0.5"),
        ({"ns": [2, 3], "prompts": "a"}, 2.0, "n-grams of 2–3 words · conditioned on the prompt"),
    ],
)
def test_comparison_is_described_with_options_prompt_and_order(options, q, expected):
    (choice,) = (c for c in kernel_menu.list_choices("texts") if c.kernel == "ngram_overlap")
    assert kernel_menu.describe_comparison(choice, options, q).startswith(expected)


@pytest.mark.parametrize(
    ("check", "allowed", "rejected"),
    [
        (kernel_menu.check_order, [0, 0.5, "inf", "2"], [-0.1, "nan", "two", None, [1]]),
        (kernel_menu.check_threshold, [-1, 0, "0.9", 1], [-1.1, 1.1, "nan", "high", None]),
        (lambda x: kernel_menu.check_threshold(x, 0.5), [0.5, 1], [0.49]),
    ],
)
def test_orders_and_thresholds_must_be_in_their_range(check, allowed, rejected):
    assert [check(value) for value in allowed] == [float(value) for value in allowed]
    for value in rejected:
        with pytest.raises(RefusedError, match="must be"):
            check(value)
