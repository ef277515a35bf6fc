"""Calls of `compute` with samples and arguments of a visitor, checked before the work starts."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from vendiscore import compute
from vendiscore.magnitude.curve import magnitude_curve
from vendiscore.magnitude.space import MetricSpace
from vendiscore.resolve.kernel import parse_kernel_name
from vendiscore.resolve.sample_labels import GroupLabels
from vendiscore.scoring.compute import build_sample_set, check_references
from vendiscore.scoring.score_request import ScoreRequest, parse_request
from vendiscore.support.errors import short_repr
from vendiscore.support.signature import to_plain
from vendiscore.support.summary import to_json_record

from ..aliases import Options, Record
from ..inputs.matrices import check_matrix
from ..inputs.pictures import decode_images
from ..quotas import (
    MAX_CHARACTERS,
    MAX_IMAGES,
    MAX_SAMPLES,
    MAX_SMILES,
    MAX_TEXT,
    RefusedError,
    check_count,
    check_texts,
)
from .call_arguments import (
    COLUMN_ARGUMENTS,
    describe_error,
    find_kernels,
    needs_encoder,
)
from .call_cost import check_cost, count_group_sizes
from .group_lists import flatten_lists, make_position_formatter, split_by_group

_TEXT_KERNEL = "ngram_overlap"
_ROWS = ("vectors", "rows of bits", "class probabilities")
_MATRIX_ARGUMENTS = ("score_K", "score_X", "score_dual")
_EXPECTED = (TypeError, ValueError, ArithmeticError, MemoryError, OSError, ImportError)
_MAGNITUDE_MEASURES = ("Magnitude", "MagArea", "MagDiff", "Spread", "t_conv")
_BATCH = 16  # images that an encoder processes at once, as a batch of 64 takes much memory


def compute_call(
    samples: object,
    arguments: Options,
    columns: Mapping[str, Sequence[Any]] | None = None,
    with_curves: bool = False,
) -> Record:
    """Return the values of `compute`, with the notes and the signature of the result.

    `arguments` were checked by `arguments.check_arguments`. Values that are names of columns are
    replaced by these `columns`, by default those of the samples if they are records. With
    `with_curves`, the result also contains the magnitude function of each set if a measure uses
    distances, and the values of the references.
    """
    if columns is None:
        columns = _collect_columns(samples)
    keywords = _fill_columns(arguments, columns)
    try:
        request = parse_request(
            {name: value for name, value in keywords.items() if name != "references"},
            references=keywords.get("references"),
        )
        keywords = _convert(samples, keywords, request)
        with np.errstate(all="ignore"):
            result = compute(**{**keywords, "details": True})
            spaces = _build_magnitude_spaces(keywords, request) if with_curves else []
            curves = _compute_magnitude_curves(spaces)
            reference_values = (
                _compute_reference_values(spaces[1], request) if len(curves) > 1 else {}
            )
    except RefusedError:
        raise
    except _EXPECTED as error:
        raise RefusedError(describe_error(error)) from error
    details = result.pop("details")
    answer: Record = {
        "values": to_json_record(result),
        "notes": [str(note) for note in details["notes"]],
        "signature": details["signature"],
    }
    if with_curves:
        answer |= {"curves": curves, "reference_values": to_json_record(reference_values)}
    if request.details:
        answer["details"] = to_json_record(to_plain(dict(details)))
    return answer


def _build_magnitude_spaces(keywords: Record, request: ScoreRequest) -> list[MetricSpace]:
    """Return the distances of the samples and of the references; [] if no measure uses them.

    None are returned for groups, which have distances each.
    """
    if not set(request.names) & set(_MAGNITUDE_MEASURES):
        return []
    if request.groups is not None or request.spec.grouping_prompts is not None:
        return []
    sample_set = build_sample_set(keywords["samples"], keywords.get("references"), request)
    return sample_set.build_spaces("auto")


def _compute_magnitude_curves(spaces: Sequence[MetricSpace]) -> list[Record]:
    """Return the magnitude functions of the samples and the references; [] if one is undefined."""
    curves = []
    for name, space in zip(("samples", "references"), spaces, strict=False):
        try:
            curve = magnitude_curve(space)
        except (TypeError, ValueError, ArithmeticError):
            return []
        curves.append({"name": name, **curve.to_dict(), "sentence": curve.sentence})
    return curves


def _compute_reference_values(space: MetricSpace, request: ScoreRequest) -> Record:
    """Return the magnitude measures of the references, which determine the same cut-off of areas.

    Measures that require two sets are omitted.
    """
    measures = {
        configured.measure.name: dict(configured.options)
        for configured in request.measures
        if configured.measure.name in _MAGNITUDE_MEASURES and not configured.measure.references
    }
    if not measures:
        return {}
    has_cutoff = parse_request({"measures": measures}).needs_distance_scale
    return compute(space, references=space if has_cutoff else None, measures=measures)


def _collect_columns(samples: object) -> dict[str, list[Any]]:
    """Return the columns of samples that are records; {} for other samples."""
    if not isinstance(samples, list) or not _are_records(samples):
        return {}
    names = dict.fromkeys(chain(*samples))
    return {name: [record.get(name) for record in samples] for name in names}


def _fill_columns(arguments: Options, columns: Mapping[str, Sequence[Any]]) -> Record:
    """Replace names of columns by the values of these columns, also in options of measures."""

    def fill(name: str, value: object) -> object:
        if name == "measures" and isinstance(value, Mapping):
            return {
                measure: {
                    option: fill(option, option_value) for option, option_value in options.items()
                }
                if isinstance(options, Mapping)
                else options
                for measure, options in value.items()
            }
        if name not in COLUMN_ARGUMENTS or not isinstance(value, str):
            return value
        if value in columns:
            return list(columns[value])
        if name == "prompts" and arguments.get("given_prompt"):
            return value  # a prompt of all samples
        column_hint = (
            f"the columns are {', '.join(map(str, columns))}" if columns else "there are none"
        )
        raise RefusedError(
            f"`{name}` must contain one value per sample, or be the name of a column of the "
            f"samples, got {short_repr(value)}; {column_hint}."
        )

    return {name: fill(name, value) for name, value in arguments.items()}


def _are_records(samples: Sequence[object]) -> bool:
    return bool(samples) and all(isinstance(sample, dict) for sample in samples)


def _convert(samples: object, keywords: Record, request: ScoreRequest) -> Record:
    """Return the keywords of `compute` with samples in the form that the kernel needs.

    Raises a RefusedError for samples or arguments beyond the limits. Strings never become paths:
    images are decoded here.
    """
    if keywords.get("counts") is not None:
        if samples:
            raise RefusedError("`counts` replaces the samples; send an empty list of samples.")
        counts = check_matrix(keywords["counts"])
        check_count(counts.shape[0], MAX_SAMPLES, "counts")
        return keywords
    if not isinstance(samples, list | np.ndarray):
        raise RefusedError(f"The samples must be a list, got {type(samples).__name__}.")
    read = _make_reader(keywords)
    values, sizes, width, length = read(samples)
    keywords = {"samples": values, **keywords}
    n_other = 0
    if (references := keywords.get("references")) is not None:
        check_references(references, request)
        keywords["references"], other_sizes, *_ = read(references)
        n_other = sum(other_sizes)
    prompts = keywords.get("prompts")
    if keywords.get("given_prompt") and isinstance(prompts, list | str):
        keywords["prompts"] = _read_prompts(prompts, read)
        prompts = None
    if len(sizes) == 1:
        labels = [keywords.get("groups"), prompts]
        same_length = [x for x in labels if isinstance(x, list) and len(x) == sizes[0]]
        sizes = count_group_sizes(sizes[0], *(list(map(repr, x)) for x in same_length))
    sizes = [size + n_other for size in sizes]
    features = width if _uses_only_features(keywords, request) else 0
    if not features:
        check_count(sum(sizes), MAX_SAMPLES + n_other, "samples")
    check_cost(request, sizes, features, length)
    if needs_encoder(keywords) and "image" in _detect_sample_type(keywords):
        keywords["batch_size"] = _BATCH
    return keywords


def _uses_only_features(keywords: Options, request: ScoreRequest) -> bool:
    """Return whether only products of features are needed, and never all pairs of samples."""
    needs = frozenset().union(*request.needs) | request.pooled_needs
    if not needs <= {"scores", "features"}:
        return False
    if keywords.get("score_X") or keywords.get("score_dual"):
        return True
    k = keywords.get("k")
    kernel = parse_kernel_name(k)[0] if isinstance(k, str) else None
    return kernel is not None and kernel.samples == "vectors" and kernel.rows


def _detect_sample_type(keywords: Options) -> str:
    """Return what the kernel compares: a type of samples, "records" or "vectors"."""
    k = keywords.get("k")
    if isinstance(k, str):
        return parse_kernel_name(k)[0].samples
    names = find_kernels(keywords)
    if any(":" in name for name in names):
        return "records"
    if names:
        return parse_kernel_name(names[0])[0].samples
    if keywords.get("metric") or any(keywords.get(name) for name in _MATRIX_ARGUMENTS):
        return "vectors"
    return ""


# Returns the samples, the sizes of their groups, the number of columns and of characters.
_Read = tuple[Any, list[int], int, int]


def _make_reader(keywords: Options) -> Callable[[Any], _Read]:
    """Return a function that checks samples of a call and returns them as the kernel needs them."""
    sample_type = _detect_sample_type(keywords)

    def read(samples: object) -> _Read:
        if sample_type == "records":
            return _read_records(samples, find_kernels(keywords))
        content_type = sample_type or _guess_type(samples)
        has_rows = content_type in (*_ROWS, "sets of labels")
        if isinstance(samples, np.ndarray):
            rows = check_matrix(samples)
            return rows, [len(rows)], rows.shape[1], 0
        flat, groups = flatten_lists(samples, content_type or "samples", rows=has_rows)
        checked = _check_samples(flat, content_type, groups)
        sizes = [len(flat)] if groups is None else np.bincount(groups.codes).tolist()
        width = checked.shape[1] if isinstance(checked, np.ndarray) else 0
        length = sum(len(text) for text in flat if isinstance(text, str))
        values = checked if groups is None else split_by_group(checked, groups)
        return values, sizes, width, length

    return read


def _guess_type(samples: object) -> str:
    """Return "text", or "vectors" for numbers; "" for other samples, which need a kernel."""
    if isinstance(samples, np.ndarray):
        return "vectors"
    while isinstance(samples, list) and samples:
        samples = samples[0]
    if isinstance(samples, str | dict):
        return "text"
    return "vectors" if isinstance(samples, int | float) else ""


def _check_samples(samples: list[Any], sample_type: str, groups: GroupLabels | None = None) -> Any:
    """Return samples of a type within the limits of this page: images decoded, rows as an array."""
    if sample_type in _ROWS:
        return check_matrix(samples, make_position_formatter(groups, "Row"))
    if sample_type == "images" and all(isinstance(sample, bytes) for sample in samples):
        check_count(len(samples), MAX_IMAGES, "images")
        return samples
    if sample_type == "images":
        return [
            picture.data
            for picture in decode_images(samples, make_position_formatter(groups, "Image"))
        ]
    if sample_type in ("text", "molecules"):
        if samples and _are_records(samples):
            raise RefusedError(
                f"The samples have columns; select one by k={{'{_TEXT_KERNEL}:COLUMN': 1}}, with "
                f"one of {', '.join(map(str, samples[0]))} instead of COLUMN."
            )
        item_name, max_length = (
            ("text", MAX_TEXT) if sample_type == "text" else ("molecule", MAX_SMILES)
        )
        return check_texts(samples, max_length, item_name, make_position_formatter(groups))
    check_count(len(samples), MAX_SAMPLES, "samples")
    if sum(len(repr(sample)) for sample in samples) > 2 * MAX_CHARACTERS:
        raise RefusedError("The samples are too long; send fewer samples.")
    return samples


def _read_records(samples: object, names: Sequence[str]) -> _Read:
    """Return records within the limits, with images of their columns decoded."""
    if not isinstance(samples, list) or not _are_records(samples):
        raise RefusedError(
            f"`k` has kernels of columns, such as {names[0]!r}, so each sample must be an object "
            f'with these columns, such as {{"{names[0].partition(":")[2]}": …}}.'
        )
    check_count(len(samples), MAX_SAMPLES, "samples")
    records = [dict(record) for record in samples]
    length = 0
    for name in names:
        kernel, _, column = name.partition(":")
        rows = [i for i, record in enumerate(records) if column in record]
        if not column or not rows:
            continue  # which `compute` refuses
        values = [records[i][column] for i in rows]
        try:
            checked = _check_samples(values, parse_kernel_name(kernel)[0].samples)
        except RefusedError as error:
            raise RefusedError(f"Column {column!r}: {error}") from None
        length += sum(len(value) for value in values if isinstance(value, str))
        if isinstance(checked, np.ndarray):
            checked = [row.tolist() for row in checked]
        for i, value in zip(rows, checked, strict=True):
            records[i][column] = value
    return records, [len(records)], 0, length


def _read_prompts(prompts: list[Any] | str, read: Callable[[Any], _Read]) -> object:
    """Return prompts that similarities are conditioned on, in the form of samples."""
    if isinstance(prompts, str):
        return read([prompts])[0][0]
    return read(prompts)[0]
