"""Samples and prompts of each kernel that can condition on prompts, and a naive reference."""

import importlib.util
from typing import Any

import numpy as np
import pytest
from kernel_contract import BITS, CASES, PROBABILITIES

from vendiscore import MissingPackageError, as_similarity, list_kernels

ORDERS = (0.5, 1, 2, "inf")
UNSUPPORTED = {k.name: "not positive semidefinite" for k in list_kernels() if not k.psd}
UNSUPPORTED |= dict.fromkeys(["equivalence", "labels"], "has only the values 0 and 1")
CONDITIONING_KERNELS = {
    kernel.name: kernel for kernel in list_kernels() if kernel.name not in UNSUPPORTED
}
parametrize_kernels = pytest.mark.parametrize("name", sorted(CONDITIONING_KERNELS))
# Samples instead of those of `kernel_contract`, in which the prompt equals another sample.
SAMPLES_WITH_PROMPT = {
    "probability_product": np.vstack([PROBABILITIES[:4], [[0.1, 0.5, 0.4], [0.3, 0.3, 0.4]]]),
    "tanimoto": np.vstack([BITS[:4], [[1, 0, 0, 1, 1]], BITS[5:]]),
}


def condition_by_definition(K: np.ndarray, prompt: list[int]) -> np.ndarray:
    """Condition similarities on prompts, one pair of samples at a time."""
    n = len(prompt)
    residual = np.empty((n, n))
    for i, u in enumerate(prompt):
        for j, v in enumerate(prompt):
            a, b = K[i, u] / K[u, u], K[j, v] / K[v, v]
            residual[i, j] = K[i, j] - a * K[u, j] - b * K[i, v] + a * b * K[u, v]
    d = np.sqrt(np.diag(residual))
    return residual / np.outer(d, d)


def take_samples(samples: Any, index: list[int]) -> Any:
    return [samples[i] for i in index] if isinstance(samples, list) else samples[index]


@pytest.fixture
def case(name: str) -> tuple[Any, dict[str, Any], np.ndarray]:
    """Samples of a kernel, its options, and the similarity matrix."""
    samples, options = SAMPLES_WITH_PROMPT.get(name, CASES[name].samples), CASES[name].required
    try:
        similarity = as_similarity(samples, k=name, **options)
    except MissingPackageError as error:
        if CONDITIONING_KERNELS[name].needs != error.extra or importlib.util.find_spec(
            error.package
        ):
            raise
        pytest.skip(str(error))
    options = {"k": name, **options, **similarity.fitted}
    return samples, options, similarity.dense()
