"""Estimated time of a call of `compute`, to reject a call that would take too long."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from vendiscore.resolve.kernel import Kernel
from vendiscore.scoring.score_request import ScoreRequest

from ..quotas import MAX_SECONDS, RefusedError

# Seconds on one core of a Space, measured with 1,000 samples and rounded up.
_EIGENVALUES = 2e-10  # per n³; also of products of features, per n d min(n, d)
_INTERVAL = 1e-9  # per n³
_MAGNITUDE = 5e-11  # per n³ and scale
_PERMUTATION = 2e-9  # per n³ of each group
_PAIR = 1e-6  # per pair of samples
_BLEU = 4e-7  # per pair of texts and word
_CHARACTERS_PER_WORD = 5
# Scales at which the convergence scale and the areas of a magnitude function are computed, beyond
# those of `n_scales`.
_SEARCHED_SCALES = 20


def check_cost(
    request: ScoreRequest, sizes: Sequence[int], n_features: int, n_characters: int
) -> None:
    """Raise a RefusedError if a call would take longer than MAX_SECONDS.

    `sizes` are the numbers of samples that are scored together, such as those of groups,
    `n_features` is the number of columns if samples are compared by the products of these, else 0,
    and `n_characters` is the length of all texts.
    """
    seconds = estimate_seconds(request, sizes, n_features, n_characters)
    total = sum(seconds.values())
    if total > MAX_SECONDS:
        largest = max(seconds, key=lambda name: seconds[name])
        raise RefusedError(
            f"This call would take about {total:,.0f} seconds, mostly for {largest}; the limit is "
            f"{MAX_SECONDS} seconds. Reduce them, or use the Python package."
        )


def estimate_seconds(
    request: ScoreRequest, sizes: Sequence[int], n_features: int, n_characters: int
) -> dict[str, float]:
    """Estimate the seconds of parts of a call, by the cause that a caller can change."""
    n = sum(sizes)
    cubes = sum(size**3 for size in sizes)
    names = [configured.measure.name for configured in request.measures]
    seconds = {"samples": n**2 * _PAIR + (cubes + n**3 * ("BetweenVS" in names)) * _EIGENVALUES}
    if n_features:
        seconds["samples"] = n * n_features * min(n, n_features) * _EIGENVALUES
    if request.ci is not None:
        seconds["intervals (`ci`)"] = cubes * _INTERVAL * len(request.orders)
        if n_features:
            seconds["intervals (`ci`)"] = seconds["samples"] * 10 * len(request.orders)
    if scales := sum(map(_count_scales, request.measures)):
        seconds["scales of magnitude"] = cubes * scales * _MAGNITUDE
    if request.uses_permutation_null:
        permutations = 20 if request.permutations is None else request.permutations
        seconds["permutations"] = permutations * (cubes * _PERMUTATION + 1e-4 * len(sizes))
    bleu = ("SelfBLEU" in names) + sum(
        name == "bleu" for name in _list_kernel_names(request.spec.k)
    )
    if bleu:
        words = n_characters / _CHARACTERS_PER_WORD / max(n, 1)
        seconds["pairs of texts (BLEU)"] = bleu * n**2 * (words + 10) * _BLEU
    return seconds


def _count_scales(configured: Any) -> int:
    if configured.measure.needs != "distances":
        return 0
    settings = configured.settings
    scales = settings.get("t", ())
    listed = len(scales) if isinstance(scales, list | tuple) else 1
    return listed + settings.get("n_scales", 0) + _SEARCHED_SCALES


def _list_kernel_names(k: object) -> list[str]:
    components = k if isinstance(k, tuple) else [k]
    kernels = [getattr(component, "kernel", component) for component in components]
    return [kernel.name for kernel in kernels if isinstance(kernel, Kernel)]


def count_group_sizes(n: int, *labels: Sequence[Hashable] | None) -> list[int]:
    """Return the numbers of samples with the same labels: all n samples without any labels."""
    present = [sample_labels for sample_labels in labels if sample_labels is not None]
    return list(Counter(zip(*present, strict=False)).values()) if present else [n]
