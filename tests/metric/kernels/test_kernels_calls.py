"""Every kernel by every call: two sets of samples, containers of them, weights, duplicates."""

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
WAYS = {
    name: (case.samples, {"k": name, **case.required}) for name, case in CASES.items()
} | MIXTURES
every_way = pytest.mark.parametrize("name", sorted(WAYS))


def called(name: str, call: Any) -> Any:
    """Return the result, or a skipped test where the kernel's extra is not installed."""
    try:
        return call()
    except MissingPackageError as error:
        needs = getattr(KERNELS.get(name), "needs", error.extra)
        if needs != error.extra or importlib.util.find_spec(error.package):
            raise
        pytest.skip(str(error))


def pick(samples: Any, index: list[int]) -> Any:
    return [samples[i] for i in index] if isinstance(samples, list) else samples[index]


@every_way
def test_two_sets_are_compared_under_one_kernel(name: str) -> None:
    samples, how = WAYS[name]
    first, second = pick(samples, [0, 1, 3]), pick(samples, [2, 3, 4, 5])
    gap = called(name, lambda: mag_diff(first, second, **how))
    metric = vendiscore.load("magnitude")
    scores = metric.compute(samples=first, references=second, **how)
    assert scores["MagDiff"] == pytest.approx(gap, rel=1e-9)
    assert mag_diff(second, second, **how) == pytest.approx(0, abs=1e-9)
    areas = mag_areas([first, second], **how, t_cut=2.0)
    assert areas == pytest.approx(mag_areas([second, first], **how, t_cut=2.0)[::-1], rel=1e-9)


@pytest.mark.parametrize(
    ("name", "option"), [("rbf", "sigma"), ("laplacian", "sigma"), ("ngram_overlap", "analyzer")]
)
def test_what_is_fitted_is_shared_and_said(name: str, option: str) -> None:
    samples = CASES[name].samples
    first, second = pick(samples, [0, 1, 3]), pick(samples, [2, 3, 4, 5])
    of = {
        "references": vendiscore.as_similarity(second, k=name).settings[option],
        "samples": vendiscore.as_similarity(first, k=name).settings[option],
        "pool": vendiscore.as_similarity(pick(samples, [0, 1, 3, 2, 3, 4, 5]), k=name).settings[
            option
        ],
    }
    for fit, value in of.items():
        given = mag_diff(first, second, k=name, **{option: value})
        assert mag_diff(first, second, k=name, fit=fit) == pytest.approx(given, rel=1e-9)
        assert mag_diff(first, second, k={name: 1}, fit=fit) == pytest.approx(given, rel=1e-9)
        details = compute(first, second, k=name, fit=fit, measures="MagDiff", details=True)[
            "details"
        ]
        assert (
            details["options"][option] == pytest.approx(value)
            or details["options"][option] == value
        )
        assert f"fit={fit}" in details["signature"]
    assert mag_diff(first, second, k=name) == mag_diff(first, second, k=name, fit="references")
    pooled = [mag_area(s, k=name, **{option: of["pool"]}, t_cut=1.0) for s in (first, second)]
    assert mag_areas([first, second], k=name, t_cut=1.0) == pytest.approx(pooled, rel=1e-9)


def container(samples: Any, kind: str) -> Any:
    if kind == "torch":
        return sys.modules["torch"].as_tensor(np.asarray(samples))
    return [*samples] if kind == "list" else samples


@pytest.mark.parametrize("kind", ["given", "list", "torch"])
@every_kernel
def test_containers_weights_and_duplicates_are_one_number(name: str, kind: str) -> None:
    samples, options = CASES[name].samples, CASES[name].required
    if kind == "torch":
        if not isinstance(samples, np.ndarray):
            return  # no tensor holds such samples
        pytest.importorskip("torch")
    more = options if KERNELS[name].psd else {**options, "psd": "clip"}
    p = np.array([0.3, 0.1, 0.2, 0.1, 0.1, 0.2])
    measures = ["VS", "IntDiv", "LC"]
    if name in ("cosine", "linear"):  # LC wants no negative similarities
        measures.remove("LC")

    def value(held: Any, weights: Any) -> dict[str, float]:
        result = compute(held, k=name, p=weights, q=[0.5, 2], measures=measures, **more)
        return {key: float(number) for key, number in result.items()}

    expected = called(name, lambda: value(samples, p))
    held = container(samples, kind)
    weights = [p, p.tolist()]
    if "torch" in sys.modules:
        weights.append(sys.modules["torch"].as_tensor(p))
    for given in weights:
        assert value(held, given) == pytest.approx(expected, rel=1e-6)
    # Samples 0 and 3 are the same: one of both weights is as good.
    once = [0, 1, 2, 4, 5]
    merged = np.array([p[0] + p[3], *p[[1, 2, 4, 5]]])
    assert value(container(pick(samples, once), kind), merged) == pytest.approx(expected, rel=1e-6)
    assert value(held, None) == pytest.approx(value(samples, np.full(6, 1 / 6)), rel=1e-6)


def test_a_similarity_that_was_made_apart_is_compared_only_under_the_same_options() -> None:
    X = CASES["rbf"].samples
    made = vendiscore.as_similarity(X, k="rbf", sigma=2.0)
    assert mag_diff(made, X[:3], k="rbf", sigma=2.0) == mag_diff(X, X[:3], k="rbf", sigma=2.0)
    with pytest.raises(
        ValueError, match="`references` cannot be compared with a precomputed Similarity"
    ):
        mag_diff(made, X[:3], k="rbf")
    space = as_space(X, k="rbf", sigma=2.0)
    with pytest.raises(
        ValueError, match="`references` cannot be compared with a precomputed MetricSpace"
    ):
        mag_diff(space, X[:3], k="rbf")


def test_an_error_about_one_of_several_sets_names_it() -> None:
    for how in ({}, {"k": "word_overlap"}):  # pooled, and each by itself
        with pytest.raises(vendiscore.SampleError, match=r"sample 1 (must|has)"):
            mag_diff(["a b", ""], ["c d"], **how)
        with pytest.raises(vendiscore.SampleError, match="sample 1 of `references` "):
            mag_diff(["a b"], ["c d", ""], **how)
        with pytest.raises(vendiscore.SampleError, match=r"sample 0 of `sets\[1\]` "):
            mag_areas([["a b"], [3]], **how)
