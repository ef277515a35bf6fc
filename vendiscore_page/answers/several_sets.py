"""Sets of samples compared under one kernel, step by step: what the page and its API say."""

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
from ..inputs.parts import part
from ..inputs.visitor_samples import Samples, series
from ..quotas import MAX_SAMPLES, RefusedError, check_sets
from . import kernel_menu, offered_encoders
from .comparison_code import Compared, comparison_code
from .different_sources import asked_of, different, shown
from .group_lists import check_grouped, check_kinds, sets_of
from .jobs import Job, Settings, job_of
from .kernel_menu import DEFAULT_ORDER, check_order
from .prompt_lists import pooled_prompts
from .prompt_matrix import columns_of, coordinates, prompt_matrix, sampled
from .result_fields import comparison_fields, quality_fields
from .sample_readout import UnusableError, left_out, sifted
from .sample_views import cells_in_order, molecule_names
from .set_pictures import captioned, compared

MOST_PAIRED = 3_000  # samples of all sets of which all pairs are compared
LARGEST = 100  # samples that are decomposed at once: two cores serve all visitors


def compare(sets: Mapping[str, Samples], settings: Settings) -> Steps[Record]:
    """Compare sets of one kind, or the groups of one: what the page shows, as plain values."""
    given = list(sets.values())
    check_kinds(sets)
    notes: list[str] = []
    by, grouped = None, False
    if len(given) == 1:
        (whole,) = given
        by, labels = whole.sets_by or whole.by, whole.sets or whole.groups
        sets = sets_of(whole)
        lost = {i: what for i, what in whole.problems.items() if labels[i] == ""}
        if lost and not settings.leave_out:
            raise UnusableError({"": (whole, whole.problems)}, whole.kind)
        grouped = bool(whole.sets and whole.groups)
        notes = [*whole.told, *left_out(replace(whole, groups=(), sets=()), lost)]
    check_sets(len(sets))
    kind = given[0].kind
    chosen = settings.choice_of(*given)
    if chosen.is_matrix:
        raise RefusedError("Similarity matrices cannot be compared; use vectors instead.")
    most = min(MAX_SAMPLES, MOST_PAIRED // len(sets)) if chosen.takes_pairs else MAX_SAMPLES
    sets = {name: part(each, most) for name, each in sets.items()}
    has_correct = grouped and all(each.correct for each in sets.values())
    if any(each.correct for each in sets.values()) and not has_correct:
        notes.append(
            "Correct answers are not compared, because this requires a table with a set column and "
            "a group column, such as models and prompts."
        )

    def run(kept: dict[str, list[int]]) -> Steps[tuple[dict[str, Job], Compared]]:
        how = chosen.kernel, settings.options, settings.prompts
        plain_sets = {name: replace(each, groups=()) for name, each in sets.items()}
        jobs = {name: job_of(each, kept[name], *how) for name, each in plain_sets.items()}
        own = [[each.groups[i] for i in kept[name]] for name, each in sets.items() if grouped]
        correct = []
        if has_correct:
            correct = [[each.correct[i] for i in kept[name]] for name, each in sets.items()]
        steps = compare_steps(jobs, settings.q, own, settings.allow_repeats, correct)
        return jobs, (yield from steps)

    bad, (jobs, found) = yield from sifted(sets, kind, run, settings.leave_out)
    rest = []
    for name, samples in sets.items():
        notes += [f"{name}: {note}" for note in (*samples.told, *left_out(samples, bad[name]))]
        rest.append(samples.subset([i for i in range(len(samples)) if i not in bad[name]]))
    result = found.comparison
    within = [group for samples in rest for group in samples.groups if grouped]
    notes += found.notes
    if 0 < result.groups < MIN_VALUES:
        count = result.groups
        notes.append(describe_missing_interval(count, math.nan, math.nan, "its ends", "prompts"))
    asked = asked_of(jobs, [samples.asked for samples in rest])
    counted = different(found.together, list(jobs), asked, result.q, kind)
    columns = columns_of(jobs) | {"group": list(map(str, within))}
    columns["place"] = [place for samples in rest for place in samples.ids]
    sample_names = [molecule_names(samples) or [""] * len(samples) for samples in rest]
    if any(map(any, sample_names)):
        columns["name"] = list(chain(*sample_names))
    looked, shown_columns = sampled(found.together, columns)
    names = [name for name in rest[0].cells if all(name in samples.cells for samples in rest)]
    cells = {name: [x for each in rest for x in each.cells[name]] for name in names}
    cells = {name: [column[i] for i in looked] for name, column in cells.items()}
    matrix, pictures = None, []
    if within:
        matrix = prompt_matrix(found.together, columns["set"], within, result.names, result.q)
    else:
        with suppress(MissingPackageError):
            pictures = [captioned(compared(result))]
    read_again = rest
    if len(given) == 1:
        complete = given[0].total == found.together.n or kind == "vectors"
        read_again = given if complete else []
    lists: Record = {"groups": columns["group"], "prompts": list(chain(*asked))}
    if result.quality_parts:
        lists["correct"] = [is_correct for samples in rest for is_correct in samples.correct]
    what = next(iter(jobs.values())).what
    return answer(found, what) | {
        "kind": kind,
        "what": what,
        "kernel": chosen.kernel,
        "comparison": kernel_menu.describe(chosen, found.arguments, result.q),
        "matrix": matrix,
        "map": coordinates(found.together, looked)
        | shown_columns
        | {"cells": to_plain(cells_in_order(cells, rest[0].columns))},
        "pictures": pictures,
        "notes": notes,
        "sources": counted and shown(counted, result.names, by),
        "quality": _quality(found, given[0]) if has_correct else None,
        **comparison_code(found, jobs, read_again, lists, counted is not None),
    }


def compare_steps(
    jobs: Mapping[str, Job],
    q: object = DEFAULT_ORDER,
    groups: Sequence[Sequence[Hashable]] = (),
    allow_repeats: Any = True,
    correct: Sequence[Sequence[bool]] = (),
) -> Steps[Compared]:
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
    widths = [each.shape[1] for each in samples if isinstance(each, np.ndarray)]
    if len(set(widths)) > 1:
        raise RefusedError(f"All sets must have the same number of columns, got {widths}.")
    yield "Comparing."
    prompts = pooled_prompts({name: (job.prompts, len(job.samples)) for name, job in jobs.items()})
    arguments = dict(next(iter(jobs.values())).arguments)
    if prompts:
        arguments["prompts"] = prompts
    every = np.concatenate(samples) if widths else list(chain(*samples))
    together = yield from offered_encoders.similarity(every, arguments)
    matched = None if groups else min(*sizes, LARGEST)
    options = CompareOptions(order, size=matched, allow_repeats=allow_repeats).checked()
    if groups and not options.allow_repeats:
        raise RefusedError(
            "allow_repeats=false has no effect on intervals of means over prompts; remove it."
        )
    names = list(jobs)
    pool, codes, matched_groups = together, np.repeat(np.arange(len(jobs)), sizes), None
    labels, notes, is_correct = None, list[str](), None
    if groups:
        places, all_labels = check_grouped(groups), list(chain(*groups))
        pool, codes, labels = together.take(places), codes[places], [all_labels[i] for i in places]
        matched_groups = match_groups(
            labels, codes, names, "groups", allow_missing=True, report=notes.append
        )
        is_correct = np.array([*chain(*correct)], dtype=bool)[places] if correct else None
    steps = comparison_steps(pool, codes, names, options, matched_groups, labels)
    total = options.permutations * math.comb(len(jobs), 2)
    found = yield from map_steps(steps, lambda done: f"Comparing: {100 * done // total} % done.")
    found = _ranked(found)
    quality_problem = ""
    if is_correct is not None and matched_groups is not None:
        yield "Comparing correct answers."
        try:
            parts = estimate_quality_parts(
                pool,
                matched_groups,
                names,
                [(names.index(row.a), names.index(row.b)) for row in found.pairs],
                is_correct,
                None,
                q=options.q,
                level=difference_level(options.level, len(found.pairs)),
                psd=options.psd,
                seed=options.seed,
            )
        except ValueError as error:
            quality_problem = str(error)
        else:
            found = replace(found, quality_parts=tuple(parts))
    said = {"q": format_number(order), "sizes": sizes, "level": options.level}
    said |= {"groups": found.groups} if groups else {"size": matched}
    said |= {"permutations": options.permutations, "seed": options.seed}
    if found.allow_repeats is not None:
        said["allow_repeats"] = found.allow_repeats
    arguments |= together.fitted
    told = [f"{note[0].upper()}{note[1:]}." for note in notes]
    return Compared(found, arguments, together, said, told, quality_problem)


def _quality(found: Compared, samples: Samples) -> Record:
    """Return the comparison of correct answers; if it failed, `problem` is the reason."""
    return {
        "column": samples.correct_by,
        "min_quality": samples.min_quality,
        "problem": found.quality_problem,
        "parts": quality_fields(found.comparison),
    }


def standing(comparison: Comparison) -> str:
    """Rank several sets by their diversity in words, without numbers."""
    names = comparison.names
    told: dict[tuple[str, ...], list[str]] = {}
    for a in names:
        others = tuple(b for b in names if b != a and comparison.verdict(a, b) == MORE_DIVERSE)
        if others:
            told.setdefault(others, []).append(a)
    parts = [
        f"{series(more)} {'is' if len(more) == 1 else 'are'} {MORE_DIVERSE} than {series(less)}"
        for less, more in told.items()
    ]
    unclear: dict[str, list[str]] = {}
    for row in comparison.pairs:
        if comparison.verdict(row.a, row.b) == DIRECTION_UNKNOWN:
            unclear.setdefault(row.a, []).append(row.b)
    parts += [
        f"{a} and {series(others)} differ, but the data do not show which is more diverse"
        if len(others) == 1
        else f"{a} differs from {series(others)}, but the data do not show which is more diverse"
        for a, others in unclear.items()
    ]
    if not parts:
        return f"No difference shown between {series(names)}."
    return f"{'; '.join(parts)}."


def answer(found: Compared, what: str) -> Record:
    result = found.comparison
    return comparison_fields(result) | {
        "finding": sentences.describe_comparison(result, what),
        "sentence": standing(result),
        "verdicts": result.verdicts,
        "signature": format_signature(["compare"], {**found.together.settings, **found.settings}),
    }


def _ranked(found: Comparison) -> Comparison:
    """Return the same with the most diverse set first in all rows, and in each pair."""
    rows = sorted(found.sets, key=lambda row: -row.matched)
    rank = {row.name: place for place, row in enumerate(rows)}
    pairs = [row if rank[row.a] < rank[row.b] else _turned(row) for row in found.pairs]
    pairs.sort(key=lambda row: (rank[row.a], rank[row.b]))
    return replace(found, sets=tuple(rows), pairs=tuple(pairs))


def _turned(row: PairRow) -> PairRow:
    """Return the difference of the same two sets the other way round."""
    low, high = 0.0 - row.high, 0.0 - row.low
    return replace(row, a=row.b, b=row.a, difference=0.0 - row.difference, low=low, high=high)
