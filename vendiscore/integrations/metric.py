"""The base class of the metrics of this package for Hugging Face `evaluate`.

Unlike other metrics of `evaluate`, such a metric stores the samples that are passed to `add` and
`add_batch` in memory, and writes no files. Batches of samples are copied when they are added,
because training loops often reuse arrays.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..resolve.kernel import Kernel
from ..resolve.sample_labels import parse_group_labels
from ..resolve.similarity_spec import SimilaritySpec
from ..result import Result
from ..scoring.compute import evaluate_request
from ..scoring.score_request import DefaultMeasures, ScoreRequest, default_measures, parse_request
from ..similarity.concatenation import concatenate_samples, infer_shape, num_samples
from ..similarity.sample_arrays import as_matrix, as_samples
from ..similarity.shapes import IS_GROUP
from ..support.arguments import check_bool
from ..support.call_hints import AttributeHintMixin
from ..support.errors import short_repr, warn
from ..support.namespace import is_torch, to_float
from ..support.optional import require
from ..support.types import Options, Record, SampleContainer, Samples

evaluate = require("evaluate", "evaluate", "a metric of evaluate")
datasets = require("datasets", "evaluate", "a metric of evaluate")

# Alternative types of samples, which `evaluate` requires as features. Samples are not converted.
_SAMPLE_FEATURES = (
    datasets.Value("string"),
    datasets.Value("float64"),
    datasets.Sequence(datasets.Value("float64")),
)
_METRIC_ARGUMENTS = inspect.signature(evaluate.Metric.__init__).parameters.keys() - {
    "self",
    "kwargs",
}

# TODO(owner): the address of the project, the same as "Homepage" in pyproject.toml.
HOMEPAGE = ""
LICENSE = "Apache-2.0"

Labels: TypeAlias = list[Hashable]
# Types of immutable values, which need no copy.
_IMMUTABLE_TYPES = frozenset((str, int, float, bool, bytes, type(None)))


@dataclass
class BatchBuffer:
    """Batches of samples and references that were added to a metric, in their order.

    `labels` contains, for each batch of samples, one group label per sample, or None if the batch
    was added without labels.
    """

    samples: list[SampleContainer] = field(default_factory=list)
    references: list[SampleContainer] = field(default_factory=list)
    labels: list[Labels | None] = field(default_factory=list)

    def __iadd__(self, other: BatchBuffer) -> BatchBuffer:
        self.samples += other.samples
        self.references += other.references
        self.labels += other.labels
        return self

    def __len__(self) -> int:
        return sum(map(num_samples, self.samples))


def copy_batch(
    samples: Samples, added: Sequence[SampleContainer], spec: SimilaritySpec, name: str = "samples"
) -> SampleContainer:
    """Copy a batch of samples in a form that can be concatenated with other batches.

    Raises a TypeError or ValueError if its samples are rows of numbers and those of previous
    batches are not, or vice versa, or if the rows have different lengths. `added` are the previous
    batches, `spec` describes how samples are compared, and `name` is the argument of `add_batch`,
    for messages.
    """
    batch = as_samples(samples, name)
    if isinstance(batch, list) and getattr(samples, "ndim", 1) == 2:
        batch = [tuple(row) for row in batch]  # rows of a table, not lists of samples
    if not _allows_any_length(spec):
        _check_same_sample_type(batch, added, name)
    has_numpy_scalars = isinstance(batch, list) and isinstance(batch[0], np.number)
    if has_numpy_scalars and len(set(map(type, batch))) == 1:
        return np.array(batch)  # one array instead of many small objects
    return _copy_mutable(batch)


def _allows_any_length(spec: SimilaritySpec) -> bool:
    """Return whether samples may be lists or tuples of numbers with different lengths.

    `spec` describes how samples are compared. This is the case if the kernel compares other types
    than vectors of equal length, such as labels, or if it is a function of the user.
    """
    if isinstance(spec.k, Kernel):
        # Lists of numbers are not vectors for kernels on labels, and for users' own sample types.
        return spec.k.samples in ("labels", "sets of labels") or spec.k.samples not in IS_GROUP
    return spec.has_callable_kernel


def _check_same_sample_type(
    batch: SampleContainer, added: Sequence[SampleContainer], name: str
) -> None:
    """Raise an error if samples of a batch differ in type from those in earlier batches, `added`.

    It is a TypeError if only one of them consists of rows of numbers, and a ValueError if the rows
    have different lengths. `name` is the argument with the batch, for messages.
    """
    length = _check_row_length(batch, name)
    added_length = _check_row_length(added[0], name) if added else length
    if length == added_length:
        return
    error_class = TypeError if None in (added_length, length) else ValueError
    added_type, batch_type = (
        "samples that are not rows of numbers" if d is None else f"rows of {d} numbers"
        for d in (added_length, length)
    )
    raise error_class(
        f"`{name}` must have the same sample type in all batches: earlier batches contain "
        f"{added_type}, got {batch_type}; this batch was not added"
    )


def _check_row_length(batch: SampleContainer, name: str) -> int | None:
    """Return the length of the numeric rows of a batch, or None if samples are not numeric rows.

    Raises an error if rows are invalid, for example of different lengths. `name` is the argument
    with the batch, for messages.
    """
    shapes = [batch.shape[1:]] if hasattr(batch, "shape") else map(infer_shape, batch)
    lengths = [int(shape[0]) for shape in shapes if shape is not None and len(shape) == 1]
    if not lengths:
        return None
    as_matrix(batch, name)  # raises an error if rows are invalid
    return lengths[0]


def _copy_mutable(value: Any) -> Any:
    """Return a copy of a batch or of a sample, so that later changes by the user have no effect.

    Lists, tuples, sets and dicts are copied with their items. Objects without a method `copy` are
    returned unchanged.
    """
    container = type(value)
    if container in (list, tuple, set):
        if _IMMUTABLE_TYPES.issuperset(map(type, value)):
            return container(value)
        return container(map(_copy_mutable, value))
    if container is dict:
        return {key: _copy_mutable(item) for key, item in value.items()}
    if is_torch(value):
        return value.detach().clone()
    # Copying an image reads its file. If this fails, the kernel later raises an error that names
    # the file.
    with suppress(OSError, SyntaxError, TypeError, ValueError):
        return value.copy() if hasattr(value, "copy") else value
    return value


def parse_batch_labels(groups: object, n: int) -> Labels:
    """Validate `groups`, the group labels of a batch of n samples; return one label per sample."""
    return parse_group_labels(groups, n=n).sample_labels


def add_missing_labels(buffer: BatchBuffer, groups: object) -> BatchBuffer:
    """Assign the group labels `groups`, passed to `compute`, to the batches without labels.

    `groups` contains one label for each sample of these batches, in their order. If it is None, the
    buffer is returned unchanged. A ValueError is raised if all batches already have labels.
    """
    if groups is None:
        return buffer
    pairs = zip(buffer.samples, buffer.labels, strict=True)
    unlabelled_counts = [
        num_samples(batch) if batch_labels is None else 0 for batch, batch_labels in pairs
    ]
    if unlabelled_counts and not any(unlabelled_counts):
        raise ValueError(
            "`groups` was already passed when the samples were added; remove it from compute()"
        )
    remaining_labels = iter(parse_batch_labels(groups, sum(unlabelled_counts)))
    labels = [
        list(islice(remaining_labels, n)) if n else batch_labels
        for n, batch_labels in zip(unlabelled_counts, buffer.labels, strict=True)
    ]
    return replace(buffer, labels=labels)


def merge_labels(labels: Sequence[Labels | None], suffix: str = "") -> Labels | None:
    """Concatenate the group labels of several batches; return None if no batch has labels.

    Raises a ValueError if only some batches have labels; `suffix` is added to its message.
    """
    passed_labels = [batch_labels for batch_labels in labels if batch_labels is not None]
    if passed_labels and len(passed_labels) < len(labels):
        raise ValueError(
            "`groups` must be passed for all batches or for none, but some batches have labels and "
            f"others have none{suffix}"
        )
    if not passed_labels:
        return None
    return [label for batch_labels in passed_labels for label in batch_labels]


class SampleMetric(AttributeHintMixin, evaluate.Metric):  # type: ignore[misc, name-defined]
    """Base class of the `evaluate` metrics, which score one set of samples.

    Subclasses define the description of the metric, and the measures that are computed by default.
    Several threads may use the same metric: each added batch is scored by exactly one call of
    `compute`.

    Parameters
    ----------
    config_name : str, optional
        "text", "image" or "int", as on the published metric card; they have no effect on the
        result. Other names raise a ValueError.
    **options
        Default arguments of `compute`, for example for one of several metrics in
        `evaluate.combine`, and arguments of `evaluate.Metric`, such as `cache_dir`, which have no
        effect. `num_process` above 1 raises a ValueError.

    See Also
    --------
    load : Create a metric.

    Examples
    --------
    >>> from vendiscore import load
    >>> load("vendiscore", k="labels").compute(samples=["red", "red", "blue"], q=0)
    {'VS_q0': 2.0}
    """

    _has_method_hints = False  # `evaluate` changes the docstring of `compute`

    # fields of `evaluate.MetricInfo`, except features, homepage and license
    about: ClassVar[Options]
    # measures to compute if none are requested
    get_default_measures: DefaultMeasures = staticmethod(default_measures)
    config_names: ClassVar[tuple[str, ...]] = ("default",)
    keeps_references: bool = False  # whether added references are kept even if no measure uses them

    def __init__(self, config_name: str | None = None, **options: object) -> None:
        if config_name is not None and config_name not in self.config_names:
            raise ValueError(
                f"`config_name` must be one of {self.config_names}, got "
                f"{short_repr(config_name)}; remove it; pass options of the metric by name, such "
                f"as k='cosine'"
            )
        metric_arguments = {name: options.pop(name) for name in _METRIC_ARGUMENTS & options.keys()}
        if metric_arguments.get("num_process", 1) != 1:
            raise ValueError(
                f"`num_process` must be 1, got {short_repr(metric_arguments['num_process'])}; "
                "gather all samples in one process, or add the samples of each process to a State, "
                "as in State(k='cosine').update(samples), and merge the states"
            )
        defaults = _materialize_iterators(options)
        # Validates the defaults, and shows how added samples will be compared.
        request = parse_request(
            _select_effective_defaults(defaults),
            self.get_default_measures,
            allow_unused=frozenset(defaults),
        )
        self._spec = request.spec
        self.defaults = defaults
        self.keeps_references = (
            self.keeps_references
            or bool(request.two_sample_measures)
            or request.needs_distance_scale  # references determine the scale of MagArea
        )
        self._buffer = BatchBuffer()
        self._last_compute_failed = False  # whether the last compute without new samples failed
        self._lock = threading.RLock()
        super().__init__(config_name, **metric_arguments)

    def _info(self) -> object:
        """Return the MetricInfo that `evaluate.Metric` requires.

        It contains the description, the citation, the license and the types of the samples.
        """
        names = ("predictions", "references") if self.keeps_references else ("predictions",)
        features = [datasets.Features(dict.fromkeys(names, kind)) for kind in _SAMPLE_FEATURES]
        return evaluate.MetricInfo(
            **self.about, features=features, homepage=HOMEPAGE, license=LICENSE
        )

    # `evaluate` recreates the next three methods from their code objects and appends to their
    # docstrings, so they cannot have decorators, and their docstrings must be literals.

    def compute(
        self,
        samples: Samples | None = None,
        *,
        predictions: Samples | None = None,
        data: Samples | None = None,
        references: Samples | None = None,
        **options: object,
    ) -> Record:
        """Score the samples passed here and in earlier `add` and `add_batch` calls.

        Added samples are kept until they are scored. If `compute` raises an exception, call it
        again with other options.

        Parameters
        ----------
        samples : list, array-like or Similarity, optional
            The samples, as for `vendiscore.compute`.
        predictions : list or array-like, optional
            Alias of `samples`, as other metrics call them.
        data : list or array-like, optional
            Alias of `samples`.
        references : list or array-like, optional
            Second set, for two-sample measures; otherwise ignored.
        **options
            Other arguments of `vendiscore.compute`.

        Returns
        -------
        dict
            The result of `vendiscore.compute`.
        """
        # Defaults of the metric, such as `q` and `k`, may be unused; if they are passed to this
        # call, a measure must use them.
        allow_unused = frozenset(self.defaults) - frozenset(options)
        options = {
            **_select_effective_defaults(self.defaults, options),
            **_materialize_iterators(options),
        }
        samples = _select_argument(samples=samples, predictions=predictions, data=data)
        ignored_names = None
        caller = sys._getframe(1).f_locals.get("self")  # None unless a method calls `compute`
        # `evaluate.combine` passes the keywords of all combined metrics to each of them. Those of
        # the other metrics are ignored.
        if isinstance(caller, evaluate.CombinedEvaluations):
            other_metrics = (metric for metric in caller.evaluation_modules if metric is not self)
            signatures = (inspect.signature(metric._compute) for metric in other_metrics)
            ignored_names = frozenset(
                name for signature in signatures for name in signature.parameters
            )
        try:
            all_references = references
            if references is None:
                all_references = self._buffer.references or None
            request = parse_request(
                options,
                self.get_default_measures,
                all_references,
                ignored_names=ignored_names,
                allow_unused=allow_unused,
            )
            has_samples = samples is not None or request.counts is not None
            if has_samples and not self._buffer.samples:
                return self._evaluate(samples, references, request)
            with self._lock:  # samples added by other threads meanwhile belong to the next score
                return self._compute_with_buffer(samples, references, request)
        except BaseException:
            # Added samples are kept. If the next call passes further samples, it warns about them.
            self._last_compute_failed = samples is None
            raise

    def _compute_with_buffer(
        self, samples: Samples | None, references: Samples | None, request: ScoreRequest
    ) -> Record:
        """Score the samples in the buffer together with `samples`, and clear the buffer.

        The buffer contains the samples, references and group labels that were added before.
        `request` contains the validated arguments of `compute`.
        """
        passed = self._copy_batches(samples, references, spec=request.spec)
        if passed.samples and len(self) and self._last_compute_failed:
            warn(
                f"{len(self)} samples that were added before a failed compute() are scored "
                "together with the samples passed now; to score them separately, call compute() "
                "without samples first; to discard them, load the metric again"
            )
        pooled = BatchBuffer()
        pooled += self._buffer
        pooled += passed
        pooled = add_missing_labels(pooled, request.groups)
        if not pooled.samples:
            raise TypeError(
                "`samples` is required; pass samples=…, or add samples before compute()"
            )
        all_references = concatenate_samples(pooled.references) if pooled.references else None
        request = replace(request, groups=merge_labels(pooled.labels))
        result = self._evaluate(concatenate_samples(pooled.samples), all_references, request)
        self._buffer = BatchBuffer()
        self._last_compute_failed = False
        return result

    def _evaluate(
        self, samples: Samples | None, references: Samples | None, request: ScoreRequest
    ) -> Record:
        """Compute the scores of samples, as floats for tensors too.

        `request` contains the validated arguments of `compute`.
        """
        result = evaluate_request(samples, references, request)
        # The library returns a tensor for a tensor, but suites of metrics expect numbers.
        return Result(
            {key: to_float(value) if is_torch(value) else value for key, value in result.items()}
        )

    def _copy_batches(
        self,
        samples: Samples | None,
        references: Samples | None,
        groups: object = None,
        *,
        spec: SimilaritySpec,
    ) -> BatchBuffer:
        """Copy a batch of samples, references and group labels (`groups`) into a new buffer.

        Samples and references must have the same types as those added before, otherwise an error is
        raised. `spec` describes how they are compared. References are ignored unless the metric
        keeps them, because a measure uses them.
        """
        batch = BatchBuffer()
        if samples is not None:
            batch.samples = [copy_batch(samples, self._buffer.samples, spec)]
            batch.labels = [None if groups is None else parse_batch_labels(groups, len(batch))]
        if references is not None and "references" in self._feature_names():
            batch.references = [copy_batch(references, self._buffer.references, spec, "references")]
        return batch

    def add_batch(
        self,
        samples: Samples | None = None,
        *,
        predictions: Samples | None = None,
        data: Samples | None = None,
        references: Samples | None = None,
        groups: object = None,
    ) -> None:
        """Store a copy of a batch of samples of any type, for a later `compute()`.

        Parameters
        ----------
        samples : list or array-like, optional
            The samples. Each list in a list of lists is a group.
        predictions : list or array-like, optional
            Alias of `samples`, as other metrics call them.
        data : list or array-like, optional
            Alias of `samples`.
        references : list or array-like, optional
            Second set, for two-sample measures.
        groups : sequence of labels, optional
            Group label of each sample.
        """
        samples = _select_argument(samples=samples, predictions=predictions, data=data)
        if samples is None:
            raise TypeError("`samples` is required; pass a batch of samples")
        with self._lock:
            batch = self._copy_batches(samples, references, groups, spec=self._spec)
            # Raises if only one of this batch and the previous one has labels.
            merge_labels(self._buffer.labels[-1:] + batch.labels, "; this batch was not added")
            self._buffer += batch

    def add(
        self,
        sample: object = None,
        *,
        prediction: object = None,
        reference: object = None,
        predictions: object = None,
        references: object = None,
        group: object = None,
    ) -> None:
        """Store a copy of one sample of any type, for a later `compute()`.

        Parameters
        ----------
        sample : object
            The sample. A list of samples is a group.
        prediction : object, optional
            Alias of `sample`, as other metrics call it.
        reference : object, optional
            A sample of the second set, for two-sample measures.
        predictions : object, optional
            Alias of `sample`.
        references : object, optional
            Alias of `reference`.
        group : label, optional
            Group label of the sample.
        """
        # `evaluate.combine` uses the plural for a single sample.
        sample = _select_argument(sample=sample, prediction=prediction, predictions=predictions)
        if sample is None:
            raise TypeError("`prediction` is required; pass one sample that is not None")
        reference = _select_argument(reference=reference, references=references)
        self.add_batch(
            [sample],
            references=None if reference is None else [reference],
            groups=None if group is None else [group],
        )

    def __len__(self) -> int:
        """Return the number of samples that were added but not scored yet."""
        return len(self._buffer)

    # Locks cannot be pickled; a copy gets a new one.

    def __getstate__(self) -> Record:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: Record) -> None:
        for name, value in (state | {"_lock": threading.RLock()}).items():
            setattr(self, name, value)


def _materialize_iterators(options: Record) -> Record:
    """Return a copy of keyword arguments, in which iterators such as generators are lists.

    Unlike iterators, lists can be read several times.
    """
    return {
        name: list(value) if isinstance(value, Iterator) else value
        for name, value in options.items()
    }


def _select_effective_defaults(
    defaults: Options, options: Options = MappingProxyType({})
) -> Record:
    """Return the default arguments of a metric without those that `compute` would refuse.

    `options` are the arguments that are passed to `compute` in addition to the `defaults`.
    `allow_repeats=False` is allowed only together with `ci`, and `pool_repeats=False` only together
    with `ci` and `details`.
    """
    effective = dict(defaults)
    all_options = {**defaults, **options}
    allow_repeats = check_bool("allow_repeats", effective.pop("allow_repeats", True))
    pool_repeats = check_bool("pool_repeats", effective.pop("pool_repeats", True))
    if all_options.get("ci") is not None:
        if not allow_repeats:
            effective["allow_repeats"] = False
        if not pool_repeats and all_options.get("details"):
            effective["pool_repeats"] = False
    return effective


def _select_argument(**arguments: object) -> Any:
    """Return the one of several aliases of a parameter that is not None; None if all are None.

    Raises a TypeError if several of them are passed.
    """
    passed = {name: value for name, value in arguments.items() if value is not None}
    if len(passed) > 1:
        names = " and ".join(f"`{name}`" for name in passed)
        raise TypeError(f"{names} are aliases; pass only one of them")
    return next(iter(passed.values()), None)
