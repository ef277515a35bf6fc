"""Metrics of `evaluate` and of harnesses, rewards and losses, and sums of samples in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..support.errors import short_repr

if TYPE_CHECKING:
    from .metric import SampleMetric


def load(name: str, config_name: str | None = None, **options: object) -> SampleMetric:
    """Load a metric of `evaluate`, as `evaluate.load` does from an entry script.

    It needs no network, and threads may call it. Paths of scripts are in `vendiscore/scripts`.

    Parameters
    ----------
    name : {"vendiscore", "magnitude"}
        `VendiScore` or `Magnitude` of `vendiscore.integrations.huggingface`.
    config_name : str, optional; a name of the published card, which changes nothing
    **options : defaults of the metric's `compute`, or arguments of `evaluate.Metric`

    Returns
    -------
    SampleMetric
        With `compute(samples=…)`, `add` and `add_batch`, as every metric of `evaluate`.

    Raises
    ------
    ValueError, TypeError, MissingPackageError
        For another name, options that `compute` refuses, or without the extra `evaluate`.

    Examples
    --------
    >>> load("vendiscore", q=2).compute(samples=["a cat sat", "a cat ran", "the dog"])
    {'VS_q2': 2.72...}
    """
    from .huggingface import METRICS  # imports `evaluate`, of the extra of that name

    if str(name) not in METRICS:
        raise ValueError(
            f"unknown metric {short_repr(name)}; load {' or '.join(map(repr, METRICS))}"
        )
    return METRICS[name](config_name, **options)
