"""The kernel menu lists registered kernels with a label, and their options."""

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
