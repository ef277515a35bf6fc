"""A call of `compute` that a visitor has edited as text, for samples that were read."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from vendiscore.support.errors import short_repr

from ..aliases import Options, Record
from ..inputs.pictures import Picture
from ..inputs.visitor_samples import Samples
from ..quotas import MAX_SAMPLES, RefusedError
from .call_arguments import COLUMN_ARGUMENTS, find_kernels, format_arguments, parse_arguments
from .compute_call import compute_call
from .group_lists import check_kinds, split_sets
from .kernel_menu import find_controls
from .sample_readout import describe_dropped


def read_call(kind: Any, text: object) -> Record:
    """Return the arguments as text, and the controls that express them; None if none do."""
    call = parse_arguments(text)
    return {"arguments": format_arguments(call), "controls": find_controls(kind, call)}


def compute_samples(samples: Samples, text: object) -> Record:
    """Return all values of a call for samples that were read, with its magnitude functions.

    Groups and prompts that were read with the samples are used unless the call sets them. If
    `references` is the label of a set or a group, its samples are the references of the others.
    """
    call = parse_arguments(text)
    samples, notes = _take_usable(samples)
    references = call.get("references")
    if isinstance(references, str):
        labels = samples.sets or samples.groups
        indices = _find_indices(references, labels)
        other_indices = [i for i in range(len(samples)) if i not in set(indices)]
        call["references"] = _convert_samples(samples.subset(indices), call)
        samples = samples.subset(other_indices)
    else:
        call = _collect_groupings(samples, call) | call
    return _answer(samples, call, text, notes)


def compute_sets(sets: Mapping[str, Samples], text: object) -> Record:
    """Return all values of a call for two sets, or for the two sets of a table.

    The second set is the references of the first. Magnitude is computed for both.
    """
    call = parse_arguments(text)
    if fixed := sorted({"references", "groups", "prompts", "counts"} & call.keys()):
        raise RefusedError(
            f"`{fixed[0]}` cannot be set here, because the arguments compare the first set with "
            f"the second; remove it."
        )
    check_kinds(sets)
    if len(sets) == 1:
        (table,) = sets.values()
        sets = split_sets(table)
    if len(sets) != 2:
        raise RefusedError(
            f"The arguments compare two sets, got {len(sets)}; remove the other sets, or press "
            f"“Reset” under “Arguments” to compare all of them."
        )
    (first, samples), (second, references) = sets.items()
    samples, notes = _take_usable(samples)
    references, other_notes = _take_usable(references)
    notes = [f"{first}: {note}" for note in notes] + [f"{second}: {note}" for note in other_notes]
    if samples.groups or references.groups:
        notes.append("All samples of a set are compared; groups, such as prompts, have no effect.")
    call["references"] = _convert_samples(references, call)
    answer = _answer(samples, call, text, notes)
    if "MagArea" in answer["reference_values"] and len(samples) != len(references):
        answer["notes"].append(
            f"Areas of sets of different sizes cannot be compared: {first} has {len(samples):,} "
            f"samples, and {second} has {len(references):,}."
        )
    if answer["reference_values"] and not call.keys() & set(COLUMN_ARGUMENTS):
        _, _, same_call = answer["code"].partition("compute(samples, ")
        answer["code"] += f"\nprint(vendiscore.compute(references, {same_call}"
    for curve, name in zip(answer["curves"], sets, strict=False):
        curve["name"] = name
    return answer | {"name": f"{first} and {second}", "sets": list(sets)}


def _take_usable(samples: Samples) -> tuple[Samples, list[str]]:
    """Return the samples that a kernel can use, and notes on those that it cannot."""
    if not samples.problems:
        return samples, []
    usable_indices = [i for i in range(len(samples)) if i not in samples.problems]
    return samples.subset(usable_indices), list(describe_dropped(samples, samples.problems))


def _answer(samples: Samples, call: Record, text: object, notes: Sequence[str]) -> Record:
    """Return the values of a call, which contains the references, with what the page shows."""
    values = _convert_samples(samples, call)
    if len(samples) > MAX_SAMPLES and not isinstance(values, np.ndarray):
        raise RefusedError(f"Up to {MAX_SAMPLES:,} samples can be scored, got {len(samples):,}.")
    columns = {name: _to_plain_list(cells) for name, cells in samples.cells.items()}
    for name, cells in ((samples.by, samples.groups), (samples.sets_by, samples.sets)):
        if name and cells:
            columns[name] = _to_plain_list(cells)
    answer = compute_call(values, call, columns, with_curves=True)
    written = parse_arguments(text)
    n = f"{len(samples):,}"
    if "references" in call:
        n += f" and {len(call['references']):,}"
    return {
        **answer,
        "notes": [*notes, *answer["notes"]],
        "comparison": f"n {n} · {format_arguments(written)}",
        "n": len(samples),
        "name": samples.name,
        "kind": samples.kind,
        "arguments": format_arguments(written),
        "code": _format_code(written, call, columns),
    }


def _format_code(written: Options, call: Options, columns: Options) -> str:
    """Write Python for a call; values that the page has added or looked up are variables."""
    parts = ["samples"]
    for name in dict.fromkeys([*written, *call]):
        value = written.get(name)
        if name not in written and name != "given_prompt":
            parts.append(f"{name}={name}")
        elif name in COLUMN_ARGUMENTS and isinstance(value, str) and value in columns:
            parts.append(f"{name}=table[{value!r}]")
        elif name == "references" and isinstance(value, str):
            parts.append("references=references")
        else:
            parts.append(format_arguments({name: call[name]}))
    return f"import vendiscore\nprint(vendiscore.compute({', '.join(parts)}))"


def _collect_groupings(samples: Samples, call: Options) -> Record:
    """Return the groups and prompts of samples as arguments, unless the call has some."""
    if {"groups", "prompts", "counts", "references"} & call.keys():
        return {}
    result: Record = {}
    if samples.groups:
        result["groups"] = _to_plain_list(samples.groups)
    if samples.prompts:
        result |= {"prompts": list(samples.prompts), "given_prompt": True}
    return result


def _find_indices(label: str, labels: Sequence[Hashable]) -> list[int]:
    indices = [i for i, other in enumerate(labels) if str(other) == label]
    if not indices:
        label_list = ", ".join(dict.fromkeys(map(str, labels))) if labels else "there are none"
        raise RefusedError(
            f"`references` must be a list of samples, or the name of one of their sets "
            f"({label_list}), got {short_repr(label)}."
        )
    return indices


def _convert_samples(samples: Samples, call: Options) -> Any:
    """Return the samples in the form that the API takes; records if kernels name columns."""
    if any(":" in name for name in find_kernels(call)):
        cells = {name: _to_plain_list(values) for name, values in samples.cells.items()}
        return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    if samples.kind == "images":
        return [picture.data for picture in samples.values if isinstance(picture, Picture)]
    return samples.values if isinstance(samples.values, np.ndarray) else list(samples.values)


def _to_plain_list(values: Sequence[Any]) -> list[Any]:
    return [value.item() if isinstance(value, np.generic) else value for value in values]
