"""Integrations: metrics of Hugging Face `evaluate`, evaluation harnesses, rewards and losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..support.errors import short_repr

if TYPE_CHECKING:
    from .metric import SampleMetric


def load(name: str, config_name: str | None = None, **options: object) -> SampleMetric:
    """Load a metric of Hugging Face `evaluate` without network access.

    The result is the same metric that ``evaluate.load("vendiscore.py")`` loads from the script in
    the root folder of the repository. This function is thread-safe.

    Parameters
    ----------
    name : {"vendiscore", "magnitude"}
        The metric: `VendiScore` or `Magnitude` of `vendiscore.integrations.huggingface`.
    config_name : str, optional
        A configuration name of the published metric card. It has no effect on the result.
    **options
        Default arguments of the metric's `compute`, or arguments of `evaluate.Metric`.

    Returns
    -------
    SampleMetric
        The metric, with `compute(samples=...)`, `add` and `add_batch`.

    Raises
    ------
    MissingPackageError
        If the extra `evaluate` is not installed.
    TypeError, ValueError
        If the name is unknown or `compute` does not accept the options.

    See Also
    --------
    compute : The function that computes the scores.

    Examples
    --------
    >>> load("vendiscore", q=2).compute(samples=["a cat sat", "a cat ran", "the dog"])
    {'VS_q2': 2.72...}
    """
    # imports `evaluate`, which requires the extra of the same name
    from .huggingface import METRICS

    if str(name) not in METRICS:
        raise ValueError(
            f"`name` must be {' or '.join(map(repr, METRICS))}, got {short_repr(name)}"
        )
    return METRICS[name](config_name, **options)
