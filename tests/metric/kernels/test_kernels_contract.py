"""The promises of every registered kernel, whatever it compares.

A new kernel needs an entry in `CASES` of `tests/helpers/kernel_contract.py`.
"""

import importlib.util
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_contract import CASES, SENSITIVE_SAMPLES

import vendiscore
from vendiscore import MissingPackageError, SampleError, as_similarity, compute, list_kernels

KERNELS = {kernel.name: kernel for kernel in list_kernels()}
every_kernel = pytest.mark.parametrize("name", sorted(KERNELS))


@pytest.fixture
def build(name: str) -> Callable[..., Any]:
    """Applies the kernel `name`; skips the test where the kernel's extra is not installed."""

    def build(samples: Any, **options: Any) -> Any:
        try:
            return as_similarity(samples, k=name, **{**CASES[name].required, **options})
        except MissingPackageError as error:
            if KERNELS[name].needs != error.extra or importlib.util.find_spec(error.package):
                raise
            pytest.skip(str(error))

    assert name in CASES, f"add kernel {name!r} to CASES in tests/helpers/kernel_contract.py"
    return build


def _pick(samples: Any, index: list[int]) -> Any:
    return [samples[i] for i in index] if isinstance(samples, list) else samples[index]


@every_kernel
def test_similarity_is_symmetric_with_unit_diagonal(name, build):
    K = build(CASES[name].samples).dense()
    assert K.shape == (6, 6)
    assert K.dtype == np.float64
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.diag(K), 1, rtol=0, atol=1e-12)
    assert np.abs(K).max() <= 1 + 1e-12


@every_kernel
def test_declared_psd_is_psd(name, build):
    similarity = build(CASES[name].samples)
    assert similarity.psd == KERNELS[name].psd
    if similarity.psd:
        assert np.linalg.eigvalsh(similarity.dense())[0] > -1e-12


@every_kernel
def test_rows_products_features_and_dense_agree(name, build):
    similarity = build(CASES[name].samples)
    K = similarity.dense()
    V = np.random.default_rng(0).standard_normal((6, 2))
    index = np.array([5, 0, 2, 2])
    np.testing.assert_allclose(similarity.rows(slice(1, 4)), K[1:4], rtol=0, atol=1e-8)
    np.testing.assert_allclose(similarity.rows(index), K[index], rtol=0, atol=1e-8)
    np.testing.assert_allclose(similarity.matmul(V), K @ V, rtol=0, atol=1e-8)
    np.testing.assert_allclose(similarity.matmul(V[:, 0]), K @ V[:, 0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(similarity.diagonal(), np.diag(K), rtol=0, atol=1e-8)
    np.testing.assert_allclose(similarity.squared_norm(), (K * K).sum(), rtol=1e-8)
    np.testing.assert_allclose(similarity.take(index).dense(), K[np.ix_(index, index)], atol=1e-8)
    if similarity.dim is not None:
        F = similarity.features()
        F = F.toarray() if hasattr(F, "toarray") else F
        assert F.shape == (6, similarity.dim)
        np.testing.assert_allclose(F @ F.T, K, rtol=0, atol=1e-8)


@every_kernel
def test_identical_samples_are_alike_and_others_are_not(name, build):
    K = build(CASES[name].samples).dense()
    assert K[0, 3] == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(K[0], K[3], rtol=0, atol=1e-12)
    assert K.min() < 1 - 1e-3


@every_kernel
def test_order_of_samples_only_orders_the_similarity(name, build):
    samples = CASES[name].samples
    order = [4, 2, 0, 5, 1, 3]
    K = build(samples).dense()
    np.testing.assert_allclose(
        build(_pick(samples, order)).dense(), K[np.ix_(order, order)], rtol=0, atol=1e-12
    )


@every_kernel
def test_samples_are_not_changed(name, build):
    samples = CASES[name].samples
    before = samples.copy() if isinstance(samples, np.ndarray) else [*samples]
    build(samples).dense()
    assert np.array_equal(before, samples) if isinstance(samples, np.ndarray) else before == samples


@every_kernel
def test_one_sample_is_one(name, build):
    one = _pick(CASES[name].samples, [1])
    assert build(one).dense() == pytest.approx(np.ones((1, 1)))
    assert compute(one, k=name, **CASES[name].required)["VS"] == pytest.approx(1)


@every_kernel
def test_the_same_sample_again_and_again_is_one(name, build):
    build(CASES[name].samples)
    same = _pick(CASES[name].samples, [1] * 5)
    assert compute(same, k=name, **CASES[name].required)["VS"] == pytest.approx(1, abs=1e-6)


@every_kernel
def test_score_is_between_1_and_n_and_repeats_are_weights(name, build):
    build(CASES[name].samples)
    samples, options = CASES[name].samples, CASES[name].required
    options = {**options, "psd": "clip"}
    scores = compute(samples, k=name, q=[0, 1, 2, "inf"], **options)
    values = list(scores.values())
    assert all(1 <= value <= 6 + 1e-9 for value in values)
    assert values == sorted(values, reverse=True)
    distinct = _pick(samples, [0, 1, 2, 4, 5])
    weighted = compute(distinct, k=name, p=[2 / 6, *[1 / 6] * 4], **options)
    assert weighted["VS"] == pytest.approx(scores["VS_q1"], rel=1e-6)


@every_kernel
def test_every_option_changes_something_or_is_checked(name, build):
    options = {o: d for o, d in KERNELS[name].options.items() if o not in CASES[name].required}
    known = {"on_error": (None, "ignore"), **CASES[name].options}
    assert set(options) == set(known), f"list the options of {name!r} in CASES"
    for option, (other, refused) in known.items():
        samples = SENSITIVE_SAMPLES.get(option, CASES[name].samples)
        if other is not None:
            assert not np.allclose(
                build(samples).dense(), build(samples, **{option: other}).dense()
            ), f"{name}({option}={other!r}) changes nothing"
        if refused is not None:
            with pytest.raises((TypeError, ValueError), match=f"`{option}`"):
                build(samples, **{option: refused})


@every_kernel
def test_unknown_option_is_refused_by_name(name, build):
    build(CASES[name].samples)
    with pytest.raises(TypeError, match="'flavour' is not an option"):
        compute(CASES[name].samples, k=name, flavour="sour")


@every_kernel
def test_settings_can_be_quoted(name, build):
    build(CASES[name].samples)
    samples, options = CASES[name].samples, CASES[name].required
    details = compute(samples, k=name, details=True, psd="clip", **options)["details"]
    assert details["kernel"] == name
    # The samples that are left out are listed in `dropped`; `on_error` changes no kernel.
    assert set(details["options"]) >= set(KERNELS[name].options) - {"on_error"}
    assert "on_error" not in details["signature"]
    assert f"kernel={name}|" in details["signature"]
    json.dumps(details)


@every_kernel
def test_description_is_complete(name):
    kernel = KERNELS[name]
    assert kernel.summary
    assert kernel.source
    assert kernel.samples


@pytest.mark.parametrize("name", [n for n, kernel in KERNELS.items() if kernel.samples == "text"])
def test_texts_of_any_script_are_read(name, build):
    texts = ["naïve café", "naïve café", "今日は 世界", "👩‍🚀 🚀", "שלום עולם", "a\u0301 b"]
    K = build(texts, **({"ns": 1} if name == "ngram_overlap" else {})).dense()
    np.testing.assert_allclose(np.diag(K), 1)
    assert K[0, 1] == pytest.approx(1)
    assert K[0, 2] < 0.9


# The package whose absence a kernel reports; embeddings and their packages are tested elsewhere.
PACKAGES = {"molecules": "rdkit", "text": "sacrebleu"}


@pytest.mark.parametrize(
    "name", sorted(n for n, k in KERNELS.items() if k.needs == "molecules" or n == "bleu")
)
def test_missing_package_is_named_with_what_installs_it(name, monkeypatch):
    package = PACKAGES[KERNELS[name].needs]
    for module in [m for m in sys.modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"'{package}'.*pip install {package}$"):
        compute(CASES[name].samples, k=name)


def test_library_needs_no_heavy_package_to_be_imported():
    heavy = ("torch", "transformers", "torchvision", "rdkit", "sacrebleu", "gradio", "matplotlib")
    code = (
        "import sys, vendiscore; vendiscore.list_kernels(); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    folder = Path(vendiscore.__path__[0]).parent
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert ran.stdout == "[]\n", ran.stdout + ran.stderr


# Samples that no kernel of their kind can use, for several reasons each.
BAD: dict[str, list[Any]] = {
    "text": ["", None, "  ", 3.5],
    "vectors": [[math.nan, 0, 1], [1.0, 2.0], None, ["a", 1, 2], [math.inf, 0, 0]],
    "labels": [None, math.nan, ["a"]],
    "sets of labels": [[], None, "oak", [math.nan], [["oak"]]],
    "class probabilities": [[0.5, 0.5, 0.5], [2, -1, 0], None, [math.nan, 0, 1]],
    "rows of bits": [
        [0, 1, 2, 0, 1],
        [0, 1],
        None,
        ["a", 1, 0, 0, 1],
        [math.nan, 0, 1, 1, 0],
        "CCO",
    ],
    "molecules": ["C1CC", "", None, 7],
    "images": [None, np.full((9, 7, 3), 2.5), b"no file"],
}
# By their type, these are neither text nor image; the model refuses others, after a long time.
BAD_FOR = {
    "equivalence": [None, 3.5, b"x"],
    "text_embeddings": [None, 3.5, b"x"],
    "image_embeddings": [None, 3.5, {"path": None}],
}


def _spoilt(name: str) -> tuple[list[Any], list[Any], list[int]]:
    """Return good samples with bad ones among them, twice; the good ones alone; where the bad ones
    are."""
    good = list(CASES[name].samples)
    bad = BAD_FOR.get(name, BAD[KERNELS[name].samples])
    mixed = [*bad, *good[:3], *bad, *good[3:]]
    where = [*range(len(bad)), *range(len(bad) + 3, 2 * len(bad) + 3)]
    return mixed, good, where


@every_kernel
def test_all_samples_that_cannot_be_used_are_named_at_once(name, build):
    mixed, good, where = _spoilt(name)
    build(good)
    with pytest.raises(SampleError) as caught:
        build(mixed)
    assert list(caught.value.problems) == where
    assert f"({len(where)} samples cannot be used: 0, 1, " in str(caught.value)


@every_kernel
def test_samples_that_cannot_be_used_are_left_out_on_request(name, build):
    mixed, good, where = _spoilt(name)
    expected = build(good)
    message = f"dropped {len(where)} of {len(mixed)} samples that kernel .{name}. cannot use"
    with pytest.warns(UserWarning, match=message) as caught:
        similarity = build(mixed, on_error="skip")
    assert sum("dropped" in str(warning.message) for warning in caught) == 1
    assert list(similarity.dropped) == where
    np.testing.assert_array_equal(similarity.dense(), expected.dense())


@every_kernel
def test_no_sample_that_can_be_used_is_an_error(name, build):
    build(CASES[name].samples)
    bad = BAD_FOR.get(name, BAD[KERNELS[name].samples])
    with pytest.raises(ValueError, match=f"{name!r} can use none of the {len(bad)} samples"):
        build(bad, on_error="skip")


@every_kernel
def test_nothing_left_out_is_nothing_said(name, build):
    expected = build(CASES[name].samples)
    similarity = build(CASES[name].samples, on_error="skip")  # warnings are errors
    assert similarity.dropped == {}
    np.testing.assert_array_equal(similarity.dense(), expected.dense())
    assert similarity.settings == expected.settings


def _notes(name: str, samples: Any, options: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the notes on samples that a kernel does not represent or distinguish, and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        notes = as_similarity(samples, k=name, **options).notes
    warned = [str(warning.message) for warning in caught]
    return [note for note in notes if any(phrase in note for phrase in PHRASES)], warned


# At these shares of samples that are not seen, or not wholly, there is a note and a warning.
SHARES = {201: (False, False), 100: (True, False), 21: (True, False), 20: (True, True)}
WORDS = {"nothing": "cannot represent {} samples", "part": "represents {} samples only in part"}
PHRASES = ("cannot represent", "only in part", "does not distinguish")


def _missing(*kinds: str) -> Any:
    """Return a mark that runs a test for each kernel that can miss samples."""
    pairs = [(name, kind) for name in CASES for kind in kinds if kind in _missed(name)]
    return pytest.mark.parametrize(("name", "kind"), pairs)


def _missed(name: str) -> dict[str, Any]:
    missed = CASES[name].omissions
    return {} if isinstance(missed, str) else missed


def _setting(name: str) -> tuple[list[Any], dict[str, Any]]:
    """Return samples that a kernel sees, and its options."""
    more = _missed(name).get("options", {})
    options = {**CASES[name].required, **(more() if callable(more) else more)}
    return list(_missed(name).get("good", CASES[name].samples)), options


@_missing("nothing", "part")
def test_unseen_samples_are_noted_and_warned_of_by_their_share(name, kind, build):
    good, options = _setting(name)
    build(good, **options)
    for bad in _missed(name)[kind]:
        # Truncated texts, and texts without a token that the model knows, always give a warning.
        always = name == "text_embeddings" and bool(bad.strip(" \u200b"))
        for n, shares in {**SHARES, 6: (True, False)}.items():
            noted, warned = (True, True) if always else shares
            samples = [*(good * n)[: n - 1], bad]
            sentence = f"Kernel {name!r} {WORDS[kind].format(f'1 of {n}')}; sample {n - 1} "
            notes, warnings_ = _notes(name, samples, options)
            assert any(note.startswith(sentence) for note in notes) == noted, (n, notes)
            assert any(each.startswith(sentence) for each in warnings_) == warned, (n, warnings_)


@_missing("nothing")
def test_nothing_seen_of_all_samples_is_an_error(name, kind, build):
    good, options = _setting(name)
    build(good, **options)
    for bad in _missed(name)[kind]:
        with pytest.raises(SampleError, match=r"\(3 samples cannot be used: 0, 1, 2\)"):
            build([bad] * 3, **options)


@_missing("part")
def test_not_all_seen_of_all_samples_is_a_warning(name, kind, build):
    good, options = _setting(name)
    build(good, **options)
    for bad in _missed(name)[kind]:
        notes, warned = _notes(name, [bad] * 20, options)
        assert notes == warned
        start = f"Kernel {name!r} represents 20 of 20 samples only in part; sample 0 "
        assert notes[0].startswith(start)
        few, warned = _notes(name, [bad] * 3, options)
        assert len(few) == len(notes)
        assert warned == (few if name == "text_embeddings" else [])


@_missing("equal")
def test_differences_that_are_not_seen_are_warned_of(name, kind, build):
    good, options = _setting(name)
    build(good, **options)
    first, second = _missed(name)[kind]
    samples = [*good, first, *good * 30, first.upper(), second, first]
    i, n = samples.index(second), len(samples)
    sentence = (
        f"Kernel {name!r} does not distinguish 1 of {n} samples from others; sample {i} differs "
        f"from sample {len(good)}, but has the same features."
    )
    notes, warned = _notes(name, samples, options)
    assert sentence in notes
    assert sentence not in warned
    _, warned = _notes(name, [first, second] * 20, options)
    assert any("does not distinguish 20 of 40 samples from others" in each for each in warned)
    notes, warned = _notes(name, [*good, first, first], options)
    assert not [each for each in [*notes, *warned] if "does not distinguish" in each]


@every_kernel
def test_samples_that_are_seen_are_not_remarked_on(name, build):
    good, options = _setting(name)
    build(good, **options)
    assert _notes(name, good, options) == ([], [])


def test_a_warning_about_a_sample_left_out_is_the_only_one():
    pytest.importorskip("rdkit")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compute(["CCO", "nonsense"], k="morgan", on_error="skip")
    assert [str(w.message)[:38] for w in caught] == ["dropped 1 of 2 samples that kernel 'mo"]
