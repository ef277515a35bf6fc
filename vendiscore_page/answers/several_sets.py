"""Comparisons of sets, as the JSON values that the web app and its API return."""

import math
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from vendiscore import MissingPackageError
from vendiscore.report import sentences
from vendiscore.scoring.subsampling import MIN_SAMPLES, MIN_VALUES, describe_missing_interval
from vendiscore.support.progress import map_steps
from vendiscore.support.signature import format_number, format_signature, to_plain
from vendiscore.tools.analysis.compare_options import CompareOptions
from vendiscore.tools.analysis.compare_sets import comparison_steps
from vendiscore.tools.analysis.comparison import (
    DIRECTION_UNKNOWN,
    MORE_DIVERSE,
    Comparison,
    PairRow,
)
from vendiscore.tools.analysis.equal_quality import estimate_quality_parts
from vendiscore.tools.analysis.pair_inference import difference_level
from vendiscore.tools.analysis.paired_comparison import match_groups

from ..aliases import Record, Steps
from ..inputs.parts import draw_subset
from ..inputs.visitor_samples import Samples, format_series
from ..quotas import MAX_SAMPLES, RefusedError, check_sets
from . import kernel_menu, offered_encoders
from .comparison_code import ComparedSets, build_comparison_code
from .different_sources import collect_prompts, compute_different_sources, describe_sources
from .group_lists import check_grouped, check_kinds, split_sets
from .jobs import Job, Settings, build_job
from .kernel_menu import DEFAULT_ORDER, check_order
from .prompt_lists import merge_prompts
from .prompt_matrix import collect_columns, compute_coordinates, compute_prompt_matrix, draw_samples
from .result_fields import get_comparison_fields, get_quality_fields
from .sample_readout import UnusableError, describe_dropped, run_on_usable
from .sample_views import get_molecule_names, order_cells
from .set_pictures import add_caption, draw_comparison

MAX_PAIRED = 3_000  # samples of all sets of which all pairs are compared
MAX_COMPARED = 100  # samples that are decomposed at once: two cores serve all visitors


def compare(sets: Mapping[str, Samples], settings: Settings) -> Steps[Record]:
    """Compare sets of one kind, or the groups of one: what the page shows, as plain values."""
    samples_as_read = list(sets.values())
    check_kinds(sets)
    notes: list[str] = []
    by, is_grouped = None, False
    if len(samples_as_read) == 1:
        (table,) = samples_as_read
        by, labels = table.sets_by or table.by, table.sets or table.groups
        sets = split_sets(table)
        ungrouped = {i: item_name for i, item_name in table.problems.items() if labels[i] == ""}
        if ungrouped and not settings.leave_out:
            raise UnusableError({"": (table, table.problems)}, table.kind)
        is_grouped = bool(table.sets and table.groups)
        notes = [
            *table.result_notes,
            *describe_dropped(replace(table, groups=(), sets=()), ungrouped),
        ]
    check_sets(len(sets))
    kind = samples_as_read[0].kind
    choice = settings.select_kernel(*samples_as_read)
    if choice.is_matrix:
        raise RefusedError("Similarity matrices cannot be compared; use vectors instead.")
    max_n = min(MAX_SAMPLES, MAX_PAIRED // len(sets)) if choice.takes_pairs else MAX_SAMPLES
    sets = {name: draw_subset(set_samples, max_n) for name, set_samples in sets.items()}
    has_correct = is_grouped and all(set_samples.correct for set_samples in sets.values())
    if any(set_samples.correct for set_samples in sets.values()) and not has_correct:
        notes.append(
            "Correct answers are not compared, because this requires a table with a set column and "
            "a group column, such as models and prompts."
        )

    def run(usable: dict[str, list[int]]) -> Steps[tuple[dict[str, Job], ComparedSets]]:
        kernel_arguments = choice.kernel, settings.options, settings.prompts
        plain_sets = {name: replace(set_samples, groups=()) for name, set_samples in sets.items()}
        jobs = {
            name: build_job(set_samples, usable[name], *kernel_arguments)
            for name, set_samples in plain_sets.items()
        }
        group_labels = [
            [set_samples.groups[i] for i in usable[name]]
            for name, set_samples in sets.items()
            if is_grouped
        ]
        correct = []
        if has_correct:
            correct = [
                [set_samples.correct[i] for i in usable[name]] for name, set_samples in sets.items()
            ]
        steps = compare_steps(jobs, settings.q, group_labels, settings.allow_repeats, correct)
        return jobs, (yield from steps)

    problems, (jobs, compared) = yield from run_on_usable(sets, kind, run, settings.leave_out)
    used_samples = []
    for name, samples in sets.items():
        notes += [
            f"{name}: {note}"
            for note in (*samples.result_notes, *describe_dropped(samples, problems[name]))
        ]
        used_samples.append(
            samples.subset([i for i in range(len(samples)) if i not in problems[name]])
        )
    result = compared.comparison
    used_groups = [group for samples in used_samples for group in samples.groups if is_grouped]
    notes += compared.notes
    if 0 < result.groups < MIN_VALUES:
        count = result.groups
        notes.append(describe_missing_interval(count, math.nan, math.nan, "its ends", "prompts"))
    prompt_lists = collect_prompts(jobs, [samples.asked for samples in used_samples])
    source_result = compute_different_sources(
        compared.together, list(jobs), prompt_lists, result.q, kind
    )
    columns = collect_columns(jobs) | {"group": list(map(str, used_groups))}
    columns["place"] = [place for samples in used_samples for place in samples.ids]
    sample_names = [get_molecule_names(samples) or [""] * len(samples) for samples in used_samples]
    if any(map(any, sample_names)):
        columns["name"] = list(chain(*sample_names))
    map_indices, shown_columns = draw_samples(compared.together, columns)
    names = [
        name
        for name in used_samples[0].cells
        if all(name in samples.cells for samples in used_samples)
    ]
    cells = {
        name: [x for set_samples in used_samples for x in set_samples.cells[name]] for name in names
    }
    cells = {name: [column[i] for i in map_indices] for name, column in cells.items()}
    matrix, pictures = None, []
    if used_groups:
        matrix = compute_prompt_matrix(
            compared.together, columns["set"], used_groups, result.names, result.q
        )
    else:
        with suppress(MissingPackageError):
            pictures = [add_caption(draw_comparison(result))]
    read_again = used_samples
    if len(samples_as_read) == 1:
        complete = samples_as_read[0].total == compared.together.n or kind == "vectors"
        read_again = samples_as_read if complete else []
    lists: Record = {"groups": columns["group"], "prompts": list(chain(*prompt_lists))}
    if result.quality_parts:
        lists["correct"] = [
            is_correct for samples in used_samples for is_correct in samples.correct
        ]
    item_name = next(iter(jobs.values())).sample_name
    return build_answer(compared, item_name) | {
        "kind": kind,
        "what": item_name,
        "kernel": choice.kernel,
        "comparison": kernel_menu.describe_comparison(choice, compared.arguments, result.q),
        "matrix": matrix,
        "map": compute_coordinates(compared.together, map_indices)
        | shown_columns
        | {"cells": to_plain(order_cells(cells, used_samples[0].columns))},
        "pictures": pictures,
        "notes": notes,
        "sources": source_result and describe_sources(source_result, result.names, by),
        "quality": _describe_quality(compared, samples_as_read[0]) if has_correct else None,
        **build_comparison_code(compared, jobs, read_again, lists, source_result is not None),
    }


def compare_steps(
    jobs: Mapping[str, Job],
    q: object = DEFAULT_ORDER,
    groups: Sequence[Sequence[Hashable]] = (),
    allow_repeats: Any = True,
    correct: Sequence[Sequence[bool]] = (),
) -> Steps[ComparedSets]:
    """Compare sets at the size of the smallest or 100, pausing where it takes long.

    With the group of each sample of each set they are compared within groups, as in
    `vendiscore.compare`. `correct` states whether each of these samples is correct.
    """
    order = check_order(q)
    samples = [job.samples for job in jobs.values()]
    sizes = list(map(len, samples))
    for name, size in zip(jobs, sizes, strict=True):
        if size < MIN_SAMPLES:
            raise RefusedError(
                f"Set {name:.60} has too few samples for a comparison: {size}; every set must have "
                f"at least {MIN_SAMPLES}."
            )
    widths = [set_values.shape[1] for set_values in samples if isinstance(set_values, np.ndarray)]
    if len(set(widths)) > 1:
        raise RefusedError(f"All sets must have the same number of columns, got {widths}.")
    yield "Comparing."
    prompts = merge_prompts({name: (job.prompts, len(job.samples)) for name, job in jobs.items()})
    arguments = dict(next(iter(jobs.values())).arguments)
    if prompts:
        arguments["prompts"] = prompts
    all_samples = np.concatenate(samples) if widths else list(chain(*samples))
    pooled = yield from offered_encoders.compute_similarity(all_samples, arguments)
    common_size = None if groups else min(*sizes, MAX_COMPARED)
    options = CompareOptions(order, size=common_size, allow_repeats=allow_repeats).checked()
    if groups and not options.allow_repeats:
        raise RefusedError(
            "allow_repeats=false has no effect on intervals of means over prompts; remove it."
        )
    names = list(jobs)
    compared_samples, codes, matched_groups = pooled, np.repeat(np.arange(len(jobs)), sizes), None
    labels, notes, is_correct = None, list[str](), None
    if groups:
        grouped_indices, all_labels = check_grouped(groups), list(chain(*groups))
        compared_samples, codes, labels = (
            pooled.take(grouped_indices),
            codes[grouped_indices],
            [all_labels[i] for i in grouped_indices],
        )
        matched_groups = match_groups(
            labels, codes, names, "groups", allow_missing=True, report=notes.append
        )
        is_correct = np.array([*chain(*correct)], dtype=bool)[grouped_indices] if correct else None
    steps = comparison_steps(compared_samples, codes, names, options, matched_groups, labels)
    total = options.permutations * math.comb(len(jobs), 2)
    comparison = yield from map_steps(
        steps, lambda done: f"Comparing: {100 * done // total} % done."
    )
    comparison = _rank_sets(comparison)
    quality_problem = ""
    if is_correct is not None and matched_groups is not None:
        yield "Comparing correct answers."
        try:
            parts = estimate_quality_parts(
                compared_samples,
                matched_groups,
                names,
                [(names.index(row.a), names.index(row.b)) for row in comparison.pairs],
                is_correct,
                None,
                q=options.q,
                level=difference_level(options.level, len(comparison.pairs)),
                psd=options.psd,
                seed=options.seed,
            )
        except ValueError as error:
            quality_problem = str(error)
        else:
            comparison = replace(comparison, quality_parts=tuple(parts))
    signature_settings = {"q": format_number(order), "sizes": sizes, "level": options.level}
    signature_settings |= {"groups": comparison.groups} if groups else {"size": common_size}
    signature_settings |= {"permutations": options.permutations, "seed": options.seed}
    if comparison.allow_repeats is not None:
        signature_settings["allow_repeats"] = comparison.allow_repeats
    arguments |= pooled.fitted
    note_sentences = [f"{note[0].upper()}{note[1:]}." for note in notes]
    return ComparedSets(
        comparison, arguments, pooled, signature_settings, note_sentences, quality_problem
    )


def _describe_quality(compared: ComparedSets, samples: Samples) -> Record:
    """Return the comparison of correct answers; if it failed, `problem` is the reason."""
    return {
        "column": samples.correct_by,
        "min_quality": samples.min_quality,
        "problem": compared.quality_problem,
        "parts": get_quality_fields(compared.comparison),
    }


def describe_ranking(comparison: Comparison) -> str:
    """Describe which sets are more diverse than which, without numbers."""
    names = comparison.names
    rankings: dict[tuple[str, ...], list[str]] = {}
    for a in names:
        others = tuple(b for b in names if b != a and comparison.verdict(a, b) == MORE_DIVERSE)
        if others:
            rankings.setdefault(others, []).append(a)
    parts = [
        f"{format_series(more)} {'is' if len(more) == 1 else 'are'} {MORE_DIVERSE} than "
        f"{format_series(less)}"
        for less, more in rankings.items()
    ]
    unclear: dict[str, list[str]] = {}
    for row in comparison.pairs:
        if comparison.verdict(row.a, row.b) == DIRECTION_UNKNOWN:
            unclear.setdefault(row.a, []).append(row.b)
    parts += [
        f"{a} and {format_series(others)} differ, but the data do not show which is more diverse"
        if len(others) == 1
        else f"{a} differs from {format_series(others)}, but the data do not show which is more "
        "diverse"
        for a, others in unclear.items()
    ]
    if not parts:
        return f"No difference shown between {format_series(names)}."
    return f"{'; '.join(parts)}."


def build_answer(compared: ComparedSets, item_name: str) -> Record:
    result = compared.comparison
    return get_comparison_fields(result) | {
        "finding": sentences.describe_comparison(result, item_name),
        "sentence": describe_ranking(result),
        "verdicts": result.verdicts,
        "signature": format_signature(
            ["compare"], {**compared.together.settings, **compared.settings}
        ),
    }


def _rank_sets(comparison: Comparison) -> Comparison:
    """Return the same with the most diverse set first in all rows, and in each pair."""
    rows = sorted(comparison.sets, key=lambda row: -row.matched)
    rank = {row.name: position for position, row in enumerate(rows)}
    pairs = [row if rank[row.a] < rank[row.b] else _reverse_pair(row) for row in comparison.pairs]
    pairs.sort(key=lambda row: (rank[row.a], rank[row.b]))
    return replace(comparison, sets=tuple(rows), pairs=tuple(pairs))


def _reverse_pair(row: PairRow) -> PairRow:
    """Return the difference of the same two sets the other way round."""
    low, high = 0.0 - row.high, 0.0 - row.low
    return replace(row, a=row.b, b=row.a, difference=0.0 - row.difference, low=low, high=high)
