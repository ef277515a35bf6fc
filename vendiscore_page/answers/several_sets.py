"""Sets of samples compared under one kernel, step by step: what the page and its API say."""

from collections.abc import Generator, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from vendiscore import MissingPackageError, Similarity
from vendiscore.analysis.compare_sets import comparing
from vendiscore.analysis.comparison import Comparison, Plan
from vendiscore.analysis.partition import partition
from vendiscore.analysis.permutation import needed
from vendiscore.core.errors import quoted
from vendiscore.progress import finish, told
from vendiscore.reading.csv_cells import csv_row, text_cell
from vendiscore.scoring.subsampling import MIN_SAMPLES
from vendiscore.signature import digits, line

from ..aliases import Options, Record, Steps
from ..inputs.parts import part
from ..inputs.visitor_samples import Samples
from ..quotas import MAX_SAMPLES, RefusedError, check_sets
from . import kernel_menu, offered_encoders
from .different_sources import asked_of, code, different, drawn, shown
from .distinctive_samples import only
from .group_lists import paired, sets_of
from .jobs import READ_DOWNLOAD, SAVED, Job, Settings, job_of, keywords
from .kernel_menu import DEFAULT_ORDER, check_order, order_in_json, series
from .page_code import INLINE, called, source
from .prompt_lists import distinct, pooled_prompts, written
from .sample_readout import UnusableError, left_out, sifted
from .set_pictures import captioned, compared

# The least p of three pairs is 3/300, as small as LEVEL requires.
MIN_PERMUTATIONS, MAX_PERMUTATIONS = 299, 999
LEVEL = 0.99  # sets of one source are found to differ once in a hundred times
FEW = 3  # sets; for more sets so small a p would take too many permutations
LEVEL_OF_MANY = 0.95
MOST_PAIRED = 3_000  # samples of all sets of which all pairs are compared
LARGEST = 100  # samples that are decomposed at once: two cores serve all visitors
# Names in answers of the columns of a set and of a pair; names of a set's columns in a CSV.
_ROW = {"name": "name", "n": "n", "VS": "score", "se": "se", "matched": "matched"}
_ROW |= {"matched_se": "matched_se", "low": "matched_low", "high": "matched_high"}
_PAIR = {name: name for name in ("a", "b", "difference", "low", "high", "level", "p", "p_floor")}
_PAIR |= {"p": "p_adjusted"}
_ENDS = ("se", "low", "high")
_COLUMNS = {"set": "name", "n": "n", "VS": "score", **{f"VS_{end}": end for end in _ENDS}}
_COLUMNS |= {"matched_size": "size", "VS_matched": "matched"}
_COLUMNS |= {f"VS_matched_{end}": f"matched_{end}" for end in _ENDS}
_MORE = "more diverse"  # a verdict of the comparison
_SLOW = 50  # samples whose permutations take so long that progress is reported


class Compared(NamedTuple):
    comparison: Comparison
    arguments: Options  # of `compute`, for the same whole scores
    together: Similarity  # of all samples, one set after the other
    settings: Options  # for the signature


def compare(
    sets: Mapping[str, Samples], settings: Settings, permutations: int = 0
) -> Steps[Record]:
    """Compare sets of one kind, or the groups of one: what the page shows, as plain values."""
    kinds = {samples.kind for samples in sets.values()}
    if len(kinds) > 1:
        raise RefusedError(f"Sets of one kind can be compared, got {' and '.join(sorted(kinds))}.")
    notes: list[str] = []
    by, grouped = None, False
    if len(sets) == 1:
        (whole,) = sets.values()
        by, labels = whole.sets_by or whole.by, whole.sets or whole.groups
        sets = sets_of(whole)
        lost = {i: what for i, what in whole.problems.items() if labels[i] == ""}
        if lost and not settings.leave_out:
            raise UnusableError({"": (whole, whole.problems)}, whole.kind)
        grouped = bool(whole.sets and whole.groups)
        notes = [*whole.told, *left_out(replace(whole, groups=(), sets=()), lost)]
    check_sets(len(sets))
    kind = next(iter(sets.values())).kind
    chosen = settings.choice_of(kind)
    if chosen.is_matrix:
        raise RefusedError("Similarity matrices cannot be compared: pick rows of features.")
    most = min(MAX_SAMPLES, MOST_PAIRED // len(sets)) if chosen.takes_pairs else MAX_SAMPLES
    sets = {name: part(each, most) for name, each in sets.items()}
    groups = {name: each.groups for name, each in sets.items()} if grouped else {}
    sets = {name: replace(each, groups=()) for name, each in sets.items()}

    def run(kept: dict[str, list[int]]) -> Steps[tuple[dict[str, Job], Compared]]:
        how = chosen.kernel, settings.options, settings.prompts
        jobs = {name: job_of(samples, kept[name], *how) for name, samples in sets.items()}
        own = [[labels[i] for i in kept[name]] for name, labels in groups.items()]
        return jobs, (yield from compare_steps(jobs, settings.q, permutations, own))

    bad, (jobs, found) = yield from sifted(sets, kind, run, settings.leave_out)
    places = {}
    for name, samples in sets.items():
        told_of = (*samples.told, *left_out(samples, bad[name]))
        notes += [f"{name}: {note}" for note in told_of]
        places[name] = _kept(samples.ids, bad[name])
    if found.together.n > _SLOW:
        yield "Looking for samples that only one set has."
    first, result = next(iter(jobs.values())), found.comparison
    within = [_kept(labels, bad[name]) for name, labels in groups.items()]
    if result.groups < len(every := {*chain(*within)} - {""}):
        least = f"the {result.groups:,} of {len(every):,} groups that have two or more of each"
        notes.append(f"Sets are compared within {least} set.")
    asked = asked_of(jobs, {name: _kept(each.asked, bad[name]) for name, each in sets.items()})
    counted = different(found.together, list(jobs), asked, result.q, kind)
    try:
        pictures = [captioned(compared(result))]
    except MissingPackageError:
        pictures = []
    page = answer(found) | {
        "kind": kind,
        "what": first.what,
        "kernel": chosen.kernel,
        "comparison": kernel_menu.describe(chosen, found.arguments, result.q),
        "pictures": pictures,
        "csv": _csv(result),
        "notes": notes,
        "only": only(found.together, jobs, places),
        "sources": counted and shown(counted, by) | {"pictures": drawn(counted)},
    }
    return page | _code(found, jobs, asked, page["sources"], within)


def compare_steps(
    jobs: Mapping[str, Job],
    q: object = DEFAULT_ORDER,
    permutations: int = 0,
    groups: Sequence[Sequence[Hashable]] = (),
) -> Steps[Compared]:
    """Compare sets at the size of the smallest or 100, pausing where it takes long.

    With the group of each sample of each set they are compared within groups.
    """
    order = check_order(q)
    pairs = len(jobs) * (len(jobs) - 1) // 2
    level = LEVEL if len(jobs) <= FEW else LEVEL_OF_MANY
    count = max(_permutations(permutations), needed(level, pairs))
    samples = [job.samples for job in jobs.values()]
    sizes = list(map(len, samples))
    for name, size in zip(jobs, sizes, strict=True):
        if size < MIN_SAMPLES:
            raise RefusedError(
                f"Set {name:.60} has too few samples to be compared: {size}, where a comparison "
                f"needs at least {MIN_SAMPLES} in every set."
            )
    widths = [each.shape[1] for each in samples if isinstance(each, np.ndarray)]
    if len(set(widths)) > 1:
        raise RefusedError(f"All sets must have the same number of columns, got {widths}.")
    slow = max(sizes) > _SLOW
    if slow:
        yield _note(0)
    prompts = pooled_prompts({name: (job.prompts, len(job.samples)) for name, job in jobs.items()})
    arguments = dict(next(iter(jobs.values())).arguments)
    if prompts:
        arguments["prompts"] = prompts
    every = np.concatenate(samples) if widths else list(chain(*samples))
    together = yield from offered_encoders.similarity(every, arguments)
    most = None if groups else min(*sizes, LARGEST)
    plan = Plan(order, level, count, size=most).checked()
    pool, codes, within = together, np.repeat(np.arange(len(jobs)), sizes), None
    if groups:
        places, labels = paired(groups), list(chain(*groups))
        pool, codes, within = together.take(places), codes[places], [labels[i] for i in places]
    pool, starts, within_groups = partition(pool, codes, list(jobs), within, "groups")
    steps = comparing(pool, starts, list(jobs), plan, within_groups)
    found = (yield from _by_percent(steps, pairs * count)) if slow else finish(steps)
    said = {"q": digits(order), "sizes": sizes, "level": level}
    said |= {"groups": found.groups} if groups else {"size": most}
    said |= {"permutations": count, "seed": plan.seed}
    return Compared(found, {**arguments, **together.fitted}, together, said)


def standing(comparison: Comparison) -> str:
    """Rank several sets by their diversity in words, without numbers."""
    names = comparison.names
    told: dict[tuple[str, ...], list[str]] = {}
    for a in names:
        others = tuple(b for b in names if b != a and comparison.verdict(a, b) == _MORE)
        if others:
            told.setdefault(others, []).append(a)
    if not told:
        return f"No difference shown between {series(names)}."
    parts = [
        f"{series(more)} {'is' if len(more) == 1 else 'are'} {_MORE} than {series(less)}"
        for less, more in told.items()
    ]
    return f"{'; '.join(parts)}."


def answer(found: Compared) -> Record:
    result = found.comparison
    return {
        "q": order_in_json(result.q),
        "sentence": standing(result),
        "verdicts": result.verdicts,
        "matched_size": result.sets[0].size,
        "within": result.groups,
        "level": result.level,
        "rows": [_renamed(row, _ROW) for row in result.sets],
        "pairs": [
            _renamed(row, _PAIR) | {"verdict": result.verdict(row.a, row.b)} for row in result.pairs
        ],
        "signature": line(["compare"], {**found.together.settings, **found.settings}),
    }


def _renamed(row: object, names: Mapping[str, str]) -> Record:
    return {name: getattr(row, of) for name, of in names.items()}


def _kept(values: Sequence[object], bad: Mapping[int, str]) -> list[Any]:
    return [value for i, value in enumerate(values) if i not in bad]


def _code(
    found: Compared,
    jobs: Mapping[str, Job],
    asked: Sequence[Sequence[str]],
    counted: Record | None,
    groups: Sequence[Sequence[Hashable]],
) -> Record:
    """Write Python that gives the whole scores, and counts the sets that it reads from the page."""
    arguments = {name: x for name, x in found.arguments.items() if name != "prompts"}
    options, loop = keywords(arguments, found.comparison.q), "samples in sets"
    prompts = [written(job.prompts) for job in jobs.values() if job.prompts]
    names, first = list(jobs), next(iter(jobs.values()))
    modules, saved = "", None
    if first.pictures:
        modules = "glob"
        sets = f"[sorted(glob.glob(folder + '/*')) for folder in {names}]  # of images"
    else:
        lists = [job.samples for job in jobs.values()]
        few = [samples[: INLINE + 1] for samples in lists]
        sets = repr([x if isinstance(x, list) else x.tolist() for x in few])
        long = len(sets) + len("".join(map(str, prompts or asked))) > INLINE
        if long and first.kind == "vectors":
            modules = "pandas as pd"
            sets = f"[pd.read_csv(name + '.csv', header=None).to_numpy() for name in {names}]"
        elif long:
            modules, saved = READ_DOWNLOAD[0], lists
            sets = f'{READ_DOWNLOAD[1]}["sets"]  # “Everything (JSON)”, saved from the page'
    told = prompts or [repr(own) for own in asked if any(own)]
    labels = repr(groups)
    head, listed = f"sets = {sets}", f"[{', '.join(map(repr, asked))}]" if told else ""
    if (told or groups) and saved:
        head, labels = head.replace(READ_DOWNLOAD[1], SAVED), 'saved["group"]'
    if told and saved:
        listed = '[[saved["prompts"][i] for i in own] for own in saved["prompt"]]'
    each, order = "samples", _order(found)
    if len(set(prompts)) == 1 and len(prompts[0]) <= INLINE:
        each, options = _given("samples", found, prompts[0]), order
    elif prompts and saved:
        sets = head.removeprefix("sets = ")
        each, options = _given("samples", found, '[saved["prompts"][i] for i in prompt]'), order
        loop = 'samples, prompt in zip(sets, saved["prompt"])'
    elif prompts:
        each, options = _given("samples", found, "prompts"), order
        loop = f"samples, prompts in zip(sets, [{', '.join(prompts)}])"
    scores = called(each, options)
    imports = source(modules)
    if prompts and not imports.startswith("import vendiscore"):
        imports += ", vendiscore"
    lines = [imports, f"sets = {sets}", f"print([{scores} for {loop}])"]
    if groups:
        taken = f"prompts = {listed}" if prompts else ""
        lines = [imports, head, f"groups = {labels}", taken, _both(arguments, found)]
    if counted:
        head = f"import {', '.join(filter(None, ['vendiscore', modules]))}\n{head}"
        counted["code"] = code(head, names, listed, found.arguments, found.comparison.q)
    own, every = distinct(asked if any(map(any, asked)) else [job.prompts for job in jobs.values()])
    read = {"sets": saved, "prompts": every, "prompt": own, "group": groups if saved else []}
    return {"code": "\n".join(filter(None, lines)), **read}


def _order(found: Compared) -> str:
    """Write the order, and whether negative eigenvalues are set to zero."""
    psd = {name: x for name, x in found.arguments.items() if name == "psd"}
    return keywords(psd, found.comparison.q)


def _given(samples: str, found: Compared, prompts: str) -> str:
    """Write Python that takes prompts, written in Python, out of the similarities of samples."""
    apart = ("prompts", "psd")
    options = "".join(f"{name}={x!r}, " for name, x in found.arguments.items() if name not in apart)
    return f"vendiscore.as_similarity({samples}, {options}prompts={prompts})"


def _both(arguments: Options, found: Compared) -> str:
    """Write Python that scores `sets` in the `groups` that have two samples or more of each."""
    options, own = keywords(arguments, found.comparison.q), "samples, own in zip(sets, groups)"
    some = "[x for x, g in zip(samples, own) if g in both]"
    if "prompts" in found.arguments:
        some = _given(some, found, "[p for p, g in zip(asked, own) if g in both]")
        options, own = _order(found), "samples, own, asked in zip(sets, groups, prompts)"
    call = called(some, f"groups=named, {options}")
    return (
        "both = set.intersection(*({g for g in own if own.count(g) > 1} for own in groups))\n"
        f"for {own}:\n    named = [g for g in own if g in both]\n    print({call})"
    )


def _csv(result: Comparison) -> str:
    lines = [csv_row(_COLUMNS)]
    for row in result.sets:
        cells = _renamed(row, _COLUMNS).values()
        lines.append(
            csv_row(f"{x:.6f}" if isinstance(x, float) else text_cell(str(x)) for x in cells)
        )
    return "".join(lines)


def _permutations(asked: Any) -> int:
    if asked == 0:
        return MIN_PERMUTATIONS
    whole = isinstance(asked, (int, float)) and float(asked).is_integer()
    if not whole or not MIN_PERMUTATIONS <= asked <= MAX_PERMUTATIONS:
        raise RefusedError(
            f"The number of permutations must be from {MIN_PERMUTATIONS} to {MAX_PERMUTATIONS}, "
            f"got {quoted(asked)}."
        )
    return int(asked)


def _by_percent(steps: Generator[int, None, Comparison], total: int) -> Steps[Comparison]:
    """Return the steps in words, one for each percent."""
    last = 0

    def note(done: int) -> str | None:
        nonlocal last
        before, last = last, 100 * done // total
        return _note(done / total) if last > before else None

    return told(steps, note)


def _note(share: float) -> str:
    return f"Comparing: {100 * share:.0f} % done."
