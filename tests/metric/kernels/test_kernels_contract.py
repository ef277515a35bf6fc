"""Requirements that all registered kernels meet.

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
    """Function that applies kernel `name`, or skips the test if its extra is not installed."""

    def build(samples: Any, **options: Any) -> Any:
        try:
            return as_similarity(samples, k=name, **{**CASES[name].required, **options})
        except MissingPackageError as error:
            if KERNELS[name].needs != error.extra or importlib.util.find_spec(error.package):
                raise
            pytest.skip(str(error))

    assert name in CASES, f"add kernel {name!r} to CASES in tests/helpers/kernel_contract.py"
    return build


def select_samples(samples: Any, index: list[int]) -> Any:
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
def test_similarity_is_psd_if_declared(name, build):
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
def test_identical_samples_have_similarity_1_and_others_less(name, build):
    K = build(CASES[name].samples).dense()
    assert K[0, 3] == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(K[0], K[3], rtol=0, atol=1e-12)
    assert K.min() < 1 - 1e-3


@every_kernel
def test_reordered_samples_have_reordered_similarities(name, build):
    samples = CASES[name].samples
    order = [4, 2, 0, 5, 1, 3]
    K = build(samples).dense()
    np.testing.assert_allclose(
        build(select_samples(samples, order)).dense(), K[np.ix_(order, order)], rtol=0, atol=1e-12
    )


@every_kernel
def test_samples_are_not_changed(name, build):
    samples = CASES[name].samples
    expected = samples.copy() if isinstance(samples, np.ndarray) else [*samples]
    build(samples).dense()
    assert (
        np.array_equal(expected, samples)
        if isinstance(samples, np.ndarray)
        else expected == samples
    )


@every_kernel
def test_single_sample_scores_1(name, build):
    sample = select_samples(CASES[name].samples, [1])
    assert build(sample).dense() == pytest.approx(np.ones((1, 1)))
    assert compute(sample, k=name, **CASES[name].required)["VS"] == pytest.approx(1)


@every_kernel
def test_repeated_sample_scores_1(name, build):
    build(CASES[name].samples)
    samples = select_samples(CASES[name].samples, [1] * 5)
    assert compute(samples, k=name, **CASES[name].required)["VS"] == pytest.approx(1, abs=1e-6)


@every_kernel
def test_score_is_between_1_and_n_and_duplicates_act_as_weights(name, build):
    build(CASES[name].samples)
    samples, options = CASES[name].samples, CASES[name].required
    options = {**options, "psd": "clip"}
    scores = compute(samples, k=name, q=[0, 1, 2, "inf"], **options)
    values = list(scores.values())
    assert all(1 <= value <= 6 + 1e-9 for value in values)
    assert values == sorted(values, reverse=True)
    distinct = select_samples(samples, [0, 1, 2, 4, 5])
    weighted = compute(distinct, k=name, p=[2 / 6, *[1 / 6] * 4], **options)
    assert weighted["VS"] == pytest.approx(scores["VS_q1"], rel=1e-6)


@every_kernel
def test_options_change_similarity_or_are_validated(name, build):
    options = {o: d for o, d in KERNELS[name].options.items() if o not in CASES[name].required}
    documented_options = {"on_error": (None, "ignore"), **CASES[name].options}
    assert set(options) == set(documented_options), f"list the options of {name!r} in CASES"
    for option, (other_value, invalid_value) in documented_options.items():
        samples = SENSITIVE_SAMPLES.get(option, CASES[name].samples)
        if other_value is not None:
            assert not np.allclose(
                build(samples).dense(), build(samples, **{option: other_value}).dense()
            ), f"{name}({option}={other_value!r}) changes nothing"
        if invalid_value is not None:
            with pytest.raises((TypeError, ValueError), match=f"`{option}`"):
                build(samples, **{option: invalid_value})


@every_kernel
def test_unknown_option_is_rejected(name, build):
    build(CASES[name].samples)
    with pytest.raises(TypeError, match="'flavour' is not an option"):
        compute(CASES[name].samples, k=name, flavour="sour")


@every_kernel
def test_details_contain_all_options(name, build):
    build(CASES[name].samples)
    samples, options = CASES[name].samples, CASES[name].required
    details = compute(samples, k=name, details=True, psd="clip", **options)["details"]
    assert details["kernel"] == name
    # Dropped samples are listed in `dropped`; `on_error` does not change the kernel.
    assert set(details["options"]) >= set(KERNELS[name].options) - {"on_error"}
    assert "on_error" not in details["signature"]
    assert f"kernel={name}|" in details["signature"]
    json.dumps(details)


@every_kernel
def test_kernel_has_summary_source_and_sample_type(name):
    kernel = KERNELS[name]
    assert kernel.summary
    assert kernel.source
    assert kernel.samples


@pytest.mark.parametrize("name", [n for n, kernel in KERNELS.items() if kernel.samples == "text"])
def test_texts_in_any_script_are_accepted(name, build):
    texts = ["naïve café", "naïve café", "今日は 世界", "👩‍🚀 🚀", "שלום עולם", "a\u0301 b"]
    K = build(texts, **({"ns": 1} if name == "ngram_overlap" else {})).dense()
    np.testing.assert_allclose(np.diag(K), 1)
    assert K[0, 1] == pytest.approx(1)
    assert K[0, 2] < 0.9


# Required package of each extra; packages of embeddings are tested elsewhere.
PACKAGES = {"molecules": "rdkit", "text": "sacrebleu"}


@pytest.mark.parametrize(
    "name", sorted(n for n, k in KERNELS.items() if k.needs == "molecules" or n == "bleu")
)
def test_missing_package_error_gives_install_command(name, monkeypatch):
    package = PACKAGES[KERNELS[name].needs]
    for module in [m for m in sys.modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"'{package}'.*pip install {package}$"):
        compute(CASES[name].samples, k=name)


def test_import_loads_no_heavy_package():
    heavy = ("torch", "transformers", "torchvision", "rdkit", "sacrebleu", "gradio", "matplotlib")
    code = (
        "import sys, vendiscore; vendiscore.list_kernels(); "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    folder = Path(vendiscore.__path__[0]).parent
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True
    )
    assert process.stdout == "[]\n", process.stdout + process.stderr


# Samples that no kernel for this sample type can use, for various reasons.
UNUSABLE: dict[str, list[Any]] = {
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
# Kernels with models: only samples of a wrong type, which are rejected before the model runs.
UNUSABLE_BY_KERNEL = {
    "equivalence": [None, 3.5, b"x"],
    "text_embeddings": [None, 3.5, b"x"],
    "image_embeddings": [None, 3.5, {"path": None}],
}


def mix_with_unusable_samples(name: str) -> tuple[list[Any], list[Any], list[int]]:
    """Return samples with unusable samples inserted twice, the usable samples, and the indices
    of the unusable samples."""
    good = list(CASES[name].samples)
    unusable = UNUSABLE_BY_KERNEL.get(name, UNUSABLE[KERNELS[name].samples])
    mixed = [*unusable, *good[:3], *unusable, *good[3:]]
    unusable_indices = [*range(len(unusable)), *range(len(unusable) + 3, 2 * len(unusable) + 3)]
    return mixed, good, unusable_indices


@every_kernel
def test_all_unusable_samples_are_named(name, build):
    mixed, good, unusable_indices = mix_with_unusable_samples(name)
    build(good)
    with pytest.raises(SampleError) as caught:
        build(mixed)
    assert list(caught.value.problems) == unusable_indices
    assert f"({len(unusable_indices)} samples cannot be used: 0, 1, " in str(caught.value)


@every_kernel
def test_unusable_samples_are_dropped_with_skip(name, build):
    mixed, good, unusable_indices = mix_with_unusable_samples(name)
    expected = build(good)
    message = (
        f"dropped {len(unusable_indices)} of {len(mixed)} samples that kernel .{name}. cannot use"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        similarity = build(mixed, on_error="skip")
    assert sum("dropped" in str(warning.message) for warning in caught) == 1
    assert list(similarity.dropped) == unusable_indices
    np.testing.assert_array_equal(similarity.dense(), expected.dense())


@every_kernel
def test_skip_raises_if_no_sample_is_usable(name, build):
    build(CASES[name].samples)
    unusable = UNUSABLE_BY_KERNEL.get(name, UNUSABLE[KERNELS[name].samples])
    with pytest.raises(ValueError, match=f"{name!r} can use none of the {len(unusable)} samples"):
        build(unusable, on_error="skip")


@every_kernel
def test_skip_without_unusable_samples_changes_nothing(name, build):
    expected = build(CASES[name].samples)
    similarity = build(CASES[name].samples, on_error="skip")  # warnings are errors
    assert similarity.dropped == {}
    np.testing.assert_array_equal(similarity.dense(), expected.dense())
    assert similarity.settings == expected.settings


def collect_notes_and_warnings(
    name: str, samples: Any, options: dict[str, Any]
) -> tuple[list[str], list[str]]:
    """Return notes about samples that a kernel does not represent or distinguish, and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        notes = as_similarity(samples, k=name, **options).notes
    messages = [str(warning.message) for warning in caught]
    return [note for note in notes if any(phrase in note for phrase in PHRASES)], messages


# n samples, of which one is not represented (or only in part): (has a note, has a warning).
EXPECTED_REPORTS = {201: (False, False), 100: (True, False), 21: (True, False), 20: (True, True)}
PHRASES_BY_OMISSION = {
    "nothing": "cannot represent {} samples",
    "part": "represents {} samples only in part",
}
PHRASES = ("cannot represent", "only in part", "does not distinguish")


def parametrize_omissions(*omission_types: str) -> Any:
    """Parametrize a test over kernels with unrepresented samples of the given types."""
    pairs = [
        (name, omission_type)
        for name in CASES
        for omission_type in omission_types
        if omission_type in get_omission_cases(name)
    ]
    return pytest.mark.parametrize(("name", "omission_type"), pairs)


def get_omission_cases(name: str) -> dict[str, Any]:
    cases = CASES[name].omissions
    return {} if isinstance(cases, str) else cases


def get_usable_samples_and_options(name: str) -> tuple[list[Any], dict[str, Any]]:
    """Return samples that a kernel represents completely, and the kernel's options."""
    case_options = get_omission_cases(name).get("options", {})
    options = {
        **CASES[name].required,
        **(case_options() if callable(case_options) else case_options),
    }
    return list(get_omission_cases(name).get("good", CASES[name].samples)), options


@parametrize_omissions("nothing", "part")
def test_unrepresented_samples_cause_note_and_warning_by_fraction(name, omission_type, build):
    good, options = get_usable_samples_and_options(name)
    build(good, **options)
    for unusable in get_omission_cases(name)[omission_type]:
        # Truncated texts, and texts without known tokens, always cause a warning.
        always_warns = name == "text_embeddings" and bool(unusable.strip(" \u200b"))
        for n, expected in {**EXPECTED_REPORTS, 6: (True, False)}.items():
            has_note, has_warning = (True, True) if always_warns else expected
            samples = [*(good * n)[: n - 1], unusable]
            phrase = PHRASES_BY_OMISSION[omission_type].format(f"1 of {n}")
            sentence = f"Kernel {name!r} {phrase}; sample {n - 1} "
            notes, messages = collect_notes_and_warnings(name, samples, options)
            assert any(note.startswith(sentence) for note in notes) == has_note, (n, notes)
            assert any(message.startswith(sentence) for message in messages) == has_warning, (
                n,
                messages,
            )


@parametrize_omissions("nothing")
def test_only_unrepresented_samples_raise(name, omission_type, build):
    good, options = get_usable_samples_and_options(name)
    build(good, **options)
    for unusable in get_omission_cases(name)[omission_type]:
        with pytest.raises(SampleError, match=r"\(3 samples cannot be used: 0, 1, 2\)"):
            build([unusable] * 3, **options)


@parametrize_omissions("part")
def test_only_partly_represented_samples_warn(name, omission_type, build):
    good, options = get_usable_samples_and_options(name)
    build(good, **options)
    for unusable in get_omission_cases(name)[omission_type]:
        notes, messages = collect_notes_and_warnings(name, [unusable] * 20, options)
        assert notes == messages
        expected_start = f"Kernel {name!r} represents 20 of 20 samples only in part; sample 0 "
        assert notes[0].startswith(expected_start)
        notes_of_3, messages = collect_notes_and_warnings(name, [unusable] * 3, options)
        assert len(notes_of_3) == len(notes)
        assert messages == (notes_of_3 if name == "text_embeddings" else [])


@parametrize_omissions("equal")
def test_undistinguished_samples_cause_note_and_warning(name, omission_type, build):
    good, options = get_usable_samples_and_options(name)
    build(good, **options)
    first, second = get_omission_cases(name)[omission_type]
    samples = [*good, first, *good * 30, first.upper(), second, first]
    index, n = samples.index(second), len(samples)
    sentence = (
        f"Kernel {name!r} does not distinguish 1 of {n} samples from others; sample {index} "
        f"differs from sample {len(good)}, but has the same features."
    )
    notes, messages = collect_notes_and_warnings(name, samples, options)
    assert sentence in notes
    assert sentence not in messages
    _, messages = collect_notes_and_warnings(name, [first, second] * 20, options)
    assert any(
        "does not distinguish 20 of 40 samples from others" in message for message in messages
    )
    notes, messages = collect_notes_and_warnings(name, [*good, first, first], options)
    assert not [message for message in [*notes, *messages] if "does not distinguish" in message]


@every_kernel
def test_represented_samples_cause_no_notes(name, build):
    good, options = get_usable_samples_and_options(name)
    build(good, **options)
    assert collect_notes_and_warnings(name, good, options) == ([], [])


def test_dropped_sample_causes_single_warning():
    pytest.importorskip("rdkit")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compute(["CCO", "nonsense"], k="morgan", on_error="skip")
    assert [str(w.message)[:38] for w in caught] == ["dropped 1 of 2 samples that kernel 'mo"]
