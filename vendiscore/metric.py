"""How a measure of samples meets `evaluate`: one base class for every entry script.

`compute` hands the caller's own samples to the library: no Arrow file, no lock, no copy, no state
shared between threads. Only `add`, `add_batch` and several processes go through `evaluate`'s
Arrow cache, and everything is checked before that is touched, so that a bad call leaves nothing
behind and loses nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import datasets
import evaluate
import numpy as np

from .arrays import as_matrix, as_samples, is_torch, scalar
from .scoring import check_arguments

# What Arrow holds for `add` and `add_batch`; the first that fits the first sample is used.
_KINDS = ("text", "number", "vector")
FEATURES = [
    datasets.Features({"predictions": datasets.Value("string")}),
    datasets.Features({"predictions": datasets.Value("float64")}),
    datasets.Features({"predictions": datasets.List(datasets.Value("float64"))}),
]


class SampleMetric(evaluate.Metric):  # type: ignore[misc]
    """A metric of a set of samples. A subclass gives `_info` (with FEATURES) and `_score`.

    Parameters
    ----------
    config_name … timeout
        As for `evaluate.Metric`. Any `config_name` is accepted and changes nothing: what the
        samples are is said by `k`, `score_K`, `score_X` and `score_dual`.
    **defaults
        Default options of `compute`, since `evaluate.combine` and `evaluate.evaluator` cannot
        pass options to one metric among several.
    """

    def __init__(
        self,
        config_name: str | None = None,
        keep_in_memory: bool = False,
        cache_dir: str | None = None,
        num_process: int = 1,
        process_id: int = 0,
        seed: int | None = None,
        experiment_id: str | None = None,
        hash: str | None = None,
        max_concurrent_cache_files: int = 10000,
        timeout: float = 100,
        **defaults: Any,
    ) -> None:
        self._check(defaults)
        self.defaults = defaults
        super().__init__(
            config_name=config_name,
            keep_in_memory=keep_in_memory,
            cache_dir=cache_dir,
            num_process=num_process,
            process_id=process_id,
            seed=seed,
            experiment_id=experiment_id,
            hash=hash,
            max_concurrent_cache_files=max_concurrent_cache_files,
            timeout=timeout,
        )

    def _check(self, options: dict[str, Any]) -> None:
        """Raise for options that `_score` would not accept; no samples are looked at."""
        check_arguments(options)

    @abstractmethod
    def _score(self, samples: Any, references: Any, **options: Any) -> dict[str, Any]:
        """The result for all samples."""

    # `evaluate` rebuilds the next three from their code objects and appends to their docstrings:
    # no decorators here, and the docstrings stay literal.

    def compute(
        self,
        *args: Any,
        samples: Any = None,
        predictions: Any = None,
        data: Any = None,
        references: Any = None,
        **options: Any,
    ) -> dict[str, Any] | None:
        """Score the samples given here, or those of earlier `add` and `add_batch` calls.

        In a distributed setting process 0 scores the samples of all processes, the others get
        None.
        """
        _no_positional("compute(samples=…)", args)
        options = {**self.defaults, **options}
        self._check(options)
        samples = _one_of(samples=samples, predictions=predictions, data=data)
        if samples is not None and self.num_process == 1 and self.writer is None:
            return self._result(samples, references, options)
        if samples is not None:
            self.add_batch(samples=samples)
        elif self.writer is None:
            raise TypeError("`samples` is missing: pass samples=…, or add samples before compute()")
        gathered = evaluate.Metric.compute(self)
        return None if gathered is None else self._result(gathered["samples"], references, options)

    def _result(self, samples: Any, references: Any, options: dict[str, Any]) -> dict[str, Any]:
        result = self._score(samples, references, **options)
        # Of a tensor the library returns a tensor; suites of metrics expect numbers.
        return {key: scalar(v) if is_torch(v) else v for key, v in result.items()}

    def add_batch(
        self,
        *args: Any,
        samples: Any = None,
        predictions: Any = None,
        data: Any = None,
        references: Any = None,
    ) -> None:
        """Keep a batch of samples (strings, numbers or vectors) for a later `compute()`."""
        _no_positional("add_batch(samples=…)", args)
        samples = _one_of(samples=samples, predictions=predictions, data=data)
        batch = as_samples(samples)
        kinds = {_kind(sample, i) for i, sample in enumerate(batch)}
        if self.selected_feature_format is not None:
            kinds.add(_KINDS[FEATURES.index(self.selected_feature_format)])
        if len(kinds) > 1:
            raise TypeError(
                f"samples must all be text, all numbers or all vectors, got "
                f"{' and '.join(sorted(kinds))}"
            )
        batch = list(as_matrix(batch)) if kinds == {"vector"} else list(batch)
        super().add_batch(predictions=batch)

    def add(
        self,
        *args: Any,
        sample: Any = None,
        prediction: Any = None,
        reference: Any = None,
        samples: Any = None,
        predictions: Any = None,
        references: Any = None,
    ) -> None:
        """Keep one sample (a string, number or vector) for a later `compute()`."""
        _no_positional("add(prediction=…)", args)
        one = _one_of(
            sample=sample, prediction=prediction, samples=samples, predictions=predictions
        )
        self.add_batch(samples=[one])

    def _compute(self, predictions: Any) -> dict[str, Any]:
        # Only gathers: an exception here would leave locks and files behind.
        return {"samples": predictions}


def _no_positional(call: str, args: tuple[Any, ...]) -> None:
    if args:
        raise TypeError(f"samples must be passed by name, got {len(args)} positional; use {call}")


def _one_of(**given: Any) -> Any:
    """The one argument that is not None, or None."""
    named = {name: value for name, value in given.items() if value is not None}
    if len(named) > 1:
        names = ", ".join(f"`{name}`" for name in named)
        raise TypeError(f"pass one of {names}: they all mean the samples")
    return next(iter(named.values()), None)


def _kind(sample: Any, i: int) -> str:
    if isinstance(sample, str):
        return "text"
    rank = np.ndim(sample) if not isinstance(sample, dict) else -1
    if rank in (0, 1) and np.asarray(sample).dtype.kind in "fiub":
        return "number" if rank == 0 else "vector"
    raise TypeError(
        f"add() keeps text, numbers and vectors, got {type(sample).__name__} at index {i}; "
        f"pass other samples at once to compute(samples=…)"
    )
