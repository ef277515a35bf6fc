"""All kernels with two sets of samples, several containers, weights and duplicates."""

import importlib.util
import sys
from typing import Any

import numpy as np
import pytest
from kernel_contract import CASES, TEXTS

import vendiscore
from vendiscore import MissingPackageError, compute, list_kernels, mag_area, mag_areas, mag_diff
from vendiscore.magnitude.metric_space_builder import as_space

KERNELS = {kernel.name: kernel for kernel in list_kernels()}
every_kernel = pytest.mark.parametrize("name", sorted(KERNELS))
MIXTURES: dict[str, tuple[Any, dict[str, Any]]] = {
    "sum": (TEXTS, {"k": {"ngram_overlap": 0.5, "word_overlap": 0.5}}),
    "product": (TEXTS, {"k": ["ngram_overlap", "word_overlap"], "combine": "product"}),
    "fitted": (CASES["rbf"].samples, {"k": {"rbf": 0.25, "laplacian": 0.75}}),
    "columns": (
        [
            {"text": text, "place": row}
            for text, row in zip(TEXTS, CASES["rbf"].samples, strict=True)
        ],
        {"k": {"ngram_overlap:text": 0.5, "rbf:place": 0.5}},
    ),
}
SETUPS = {
    name: (case.samples, {"k": name, **case.required}) for name, case in CASES.items()
} | MIXTURES
every_setup = pytest.mark.parametrize("name", sorted(SETUPS))


def call_or_skip(name: str, call: Any) -> Any:
    """Return the result of `call`, or skip the test if the extra of the kernel is not installed."""
    try:
        return call()
    except MissingPackageError as error:
        needs = getattr(KERNELS.get(name), "needs", error.extra)
        if needs != error.extra or importlib.util.find_spec(error.package):
            raise
        pytest.skip(str(error))


def select_samples(samples: Any, index: list[int]) -> Any:
    return [samples[i] for i in index] if isinstance(samples, list) else samples[index]


@every_setup
def test_mag_diff_and_mag_areas_accept_all_kernels(name: str) -> None:
    samples, options = SETUPS[name]
    first, second = select_samples(samples, [0, 1, 3]), select_samples(samples, [2, 3, 4, 5])
    expected = call_or_skip(name, lambda: mag_diff(first, second, **options))
    metric = vendiscore.load("magnitude")
    scores = metric.compute(samples=first, references=second, **options)
    assert scores["MagDiff"] == pytest.approx(expected, rel=1e-9)
    assert mag_diff(second, second, **options) == pytest.approx(0, abs=1e-9)
    areas = mag_areas([first, second], **options, t_cut=2.0)
    assert areas == pytest.approx(mag_areas([second, first], **options, t_cut=2.0)[::-1], rel=1e-9)


@pytest.mark.parametrize(
    ("name", "option"), [("rbf", "sigma"), ("laplacian", "sigma"), ("ngram_overlap", "analyzer")]
)
def test_fitted_options_are_shared_between_sets_and_reported(name: str, option: str) -> None:
    samples = CASES[name].samples
    first, second = select_samples(samples, [0, 1, 3]), select_samples(samples, [2, 3, 4, 5])
    fitted_values = {
        "references": vendiscore.as_similarity(second, k=name).settings[option],
        "samples": vendiscore.as_similarity(first, k=name).settings[option],
        "pool": vendiscore.as_similarity(
            select_samples(samples, [0, 1, 3, 2, 3, 4, 5]), k=name
        ).settings[option],
    }
    for fit, value in fitted_values.items():
        expected = mag_diff(first, second, k=name, **{option: value})
        assert mag_diff(first, second, k=name, fit=fit) == pytest.approx(expected, rel=1e-9)
        assert mag_diff(first, second, k={name: 1}, fit=fit) == pytest.approx(expected, rel=1e-9)
        details = compute(first, second, k=name, fit=fit, measures="MagDiff", details=True)[
            "details"
        ]
        assert (
            details["options"][option] == pytest.approx(value)
            or details["options"][option] == value
        )
        assert f"fit={fit}" in details["signature"]
    assert mag_diff(first, second, k=name) == mag_diff(first, second, k=name, fit="references")
    expected_areas = [
        mag_area(rows, k=name, **{option: fitted_values["pool"]}, t_cut=1.0)
        for rows in (first, second)
    ]
    assert mag_areas([first, second], k=name, t_cut=1.0) == pytest.approx(expected_areas, rel=1e-9)


def convert_container(samples: Any, container_type: str) -> Any:
    if container_type == "torch":
        return sys.modules["torch"].as_tensor(np.asarray(samples))
    return [*samples] if container_type == "list" else samples


@pytest.mark.parametrize("container_type", ["original", "list", "torch"])
@every_kernel
def test_containers_weights_and_merged_duplicates_agree(name: str, container_type: str) -> None:
    samples, options = CASES[name].samples, CASES[name].required
    if container_type == "torch":
        if not isinstance(samples, np.ndarray):
            return  # these samples cannot be stored in a tensor
        pytest.importorskip("torch")
    all_options = options if KERNELS[name].psd else {**options, "psd": "clip"}
    p = np.array([0.3, 0.1, 0.2, 0.1, 0.1, 0.2])
    measures = ["VS", "IntDiv", "LC"]
    if name in ("cosine", "linear"):  # LC does not support negative similarities
        measures.remove("LC")

    def compute_values(held: Any, weights: Any) -> dict[str, float]:
        result = compute(held, k=name, p=weights, q=[0.5, 2], measures=measures, **all_options)
        return {key: float(score) for key, score in result.items()}

    expected = call_or_skip(name, lambda: compute_values(samples, p))
    converted = convert_container(samples, container_type)
    weights = [p, p.tolist()]
    if "torch" in sys.modules:
        weights.append(sys.modules["torch"].as_tensor(p))
    for weights_in_container in weights:
        assert compute_values(converted, weights_in_container) == pytest.approx(expected, rel=1e-6)
    # Samples 0 and 3 are identical, so they can be merged.
    distinct_indices = [0, 1, 2, 4, 5]
    merged_weights = np.array([p[0] + p[3], *p[[1, 2, 4, 5]]])
    assert compute_values(
        convert_container(select_samples(samples, distinct_indices), container_type), merged_weights
    ) == pytest.approx(expected, rel=1e-6)
    assert compute_values(converted, None) == pytest.approx(
        compute_values(samples, np.full(6, 1 / 6)), rel=1e-6
    )


def test_precomputed_similarity_requires_same_options() -> None:
    X = CASES["rbf"].samples
    similarity = vendiscore.as_similarity(X, k="rbf", sigma=2.0)
    assert mag_diff(similarity, X[:3], k="rbf", sigma=2.0) == mag_diff(X, X[:3], k="rbf", sigma=2.0)
    with pytest.raises(
        ValueError, match="`references` cannot be compared with a precomputed Similarity"
    ):
        mag_diff(similarity, X[:3], k="rbf")
    space = as_space(X, k="rbf", sigma=2.0)
    with pytest.raises(
        ValueError, match="`references` cannot be compared with a precomputed MetricSpace"
    ):
        mag_diff(space, X[:3], k="rbf")


def test_error_names_set_of_invalid_sample() -> None:
    for options in ({}, {"k": "word_overlap"}):  # pooled samples, and separate sets
        with pytest.raises(vendiscore.SampleError, match=r"sample 1 (must|has)"):
            mag_diff(["a b", ""], ["c d"], **options)
        with pytest.raises(vendiscore.SampleError, match="sample 1 of `references` "):
            mag_diff(["a b"], ["c d", ""], **options)
        with pytest.raises(vendiscore.SampleError, match=r"sample 0 of `sets\[1\]` "):
            mag_areas([["a b"], [3]], **options)
