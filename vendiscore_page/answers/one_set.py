"""From samples that were read and settings to plain values: what the page shows of one set."""

import base64
import math
import re
from collections.abc import Hashable, Mapping, Sized
from dataclasses import replace

import numpy as np

from vendiscore import MissingPackageError, NotPSDError
from vendiscore.encoders.kernel_scope import find_unsupported
from vendiscore.report import Figure, ReportData, pictures, report_of, sentences, thumbnails
from vendiscore.scoring.typical import describe_wording_limits
from vendiscore.support.signature import to_plain

from .. import quotas
from ..aliases import Record, Steps
from ..inputs import examples
from ..inputs.parts import part
from ..inputs.submission import KINDS
from ..inputs.visitor_samples import Samples
from ..quotas import (
    MAX_SAMPLES,
    MAX_SMILES,
    TINY_CHARACTERS,
    TINY_SAMPLES,
    TINY_VALUES,
    RefusedError,
    check_texts,
)
from . import kernel_menu, phrase_table, sample_views
from .group_lists import in_sets
from .jobs import Job, Settings, job_of
from .kernel_menu import DEFAULT_ORDER, Choice, check_order, check_threshold
from .page_code import links
from .result_fields import page_fields
from .row_selection import rows_to_keep
from .sample_readout import left_out, sifted
from .set_pictures import captioned

MAX_DRAWN = 60  # molecules at once
_GROWN = 200  # samples whose growth takes no time to speak of
_AT_ONCE = 2e9  # multiplications, of which there are more in about a second
# Up to so many samples an error above order 2 takes so much more.
_ROOTS, _EACH = 200, 500
_FRACTION = re.compile(r"\d+\.\d{5,}")  # of which four digits tell a reader enough
# Where no encoder is at hand.
_MEANING = 'To compare meaning, use the Python package: vendiscore.compute(texts, k="semantic").'


class Result:
    """A score: the `answer` that the page shows at first, and what else can be asked about it."""

    def __init__(self, found: ReportData, job: Job, answer: Record) -> None:
        self._found, self._job = found.without_matrices(), job
        self.answer = answer
        # Set when they have been computed, by `second` and `phrases`.
        self.second_answer: Record = {}
        self.phrases_answer: Record = {}

    @property
    def is_tiny(self) -> bool:
        """True if lists of its samples take no time to speak of."""
        return self._found.n <= TINY_SAMPLES

    @property
    def second_is_long(self) -> bool:
        """True if the second number takes more than about a second."""
        choice, _ = _second_choice(self._job)
        if self.second_answer or choice is None:
            return False
        return _takes_long(choice, self._job.samples, self._found.order)

    def second(self) -> Steps[Record]:
        """Score the texts by meaning where the answer is by wording, or the reverse."""
        first, found = self._job, self._found
        choice, reason = _second_choice(first)
        if choice is None:
            raise RefusedError(f"{reason or 'Only one kernel is available for these samples'}.")
        if not self.second_answer:
            job = first.compared_by(choice)
            allow_repeats = found.request.allow_repeats
            other = yield from job.findings(found.order, allow_repeats=allow_repeats)
            self.second_answer = _second(first, found, job, other)
        return self.second_answer

    @property
    def phrases_take_long(self) -> bool:
        """True if the repeated phrases take more than about a second."""
        return not self.phrases_answer and phrase_table.takes_long(self._job)

    def phrases(self) -> Steps[Record]:
        """Return the repeated phrases and their costs."""
        yield "Computing the costs of phrases."
        if not self.phrases_answer:
            self.phrases_answer = phrase_table.phrase_table(self._job, self._found.order)
        return self.phrases_answer

    def groups(self, threshold: object) -> Record:
        read = check_threshold(threshold, self._found.explanation.floor)
        with np.errstate(all="ignore"):
            return sample_views.alike(self._found, read)

    def subset(self, size: object) -> Record:
        """Return the rows of so many samples that differ most, in the order they were chosen."""
        return rows_to_keep(self._found, size)

    def papers(self) -> Record:
        """Return pictures, sentences, and code with the download that it reads, if it needs one."""
        found, why = self._found, ""
        drawn: list[Figure] = []
        with np.errstate(all="ignore"):
            try:
                drawn = list(pictures(found))
            except MissingPackageError as error:
                why = f"No figures: {error}"
            said = [sentences.describe_kernel(found), found.growth_text, why]
            return {
                "pictures": [captioned(figure) for figure in drawn],
                "sentences": [sentence for sentence in said if sentence],
                "code": self.second_answer.get("code", self._job.code(found)),
                "signature": found.details["signature"],
                "details": to_plain(dict(found.details)),
            }

    def report(self, title: str | None = None) -> str:
        """Return the report as HTML; images have their names and their original size."""
        files = [{"path": each.name, "bytes": each.data} for each in self._job.pictures]
        return report_of(self._found, title or None, files or None).html()


def _second_choice(job: Job) -> tuple[Choice | None, str]:
    """Return the way to compute the second number and "", or None and why there is none."""
    choice = kernel_menu.second(job.kind, job.choice)
    mismatch = choice and choice.find_mismatch(job.samples, job.letters)
    if choice is None or not mismatch:
        return choice, ""
    because = f"because {mismatch.reason}; the model ({choice.term}) is for English text"
    return None, f"Score by meaning: not computed, {because}"


def _second(first: Job, found: ReportData, job: Job, other: ReportData) -> Record:
    given = ", conditioned on the prompt" if job.prompts else ""
    details, sees = other.details, job.choice.sees
    notes = [
        details["typical"],
        f"By {sees}: {sentences.describe_interval(other, job.what)}",
        describe_wording_limits(details, ""),
        "Scores of different kernels cannot be compared with each other.",
    ]
    return {
        "own": first.choice.sees,
        "by": sees,
        "sentence": f"{found.value:,.1f} by {first.choice.sees}, {other.value:,.1f} by "
        f"{sees}{given}",
        other.key: other.value,
        **other.interval,
        "notes": [note for note in notes if note],
        "code": first.code(found, (job, other)),
    }


def score(samples: Samples, settings: Settings) -> Steps[Result]:
    """Score samples step by step; an UnusableError names those that cannot be used."""
    chosen = settings.choice_of(samples)
    if chosen.is_matrix and len(samples) > MAX_SAMPLES:
        raise RefusedError(
            f"A similarity matrix can have up to {MAX_SAMPLES:,} rows, got {len(samples):,}; for "
            f"vectors select another kernel."
        )
    if chosen.takes_pairs:
        samples = part(samples, MAX_SAMPLES)

    each_set = samples
    if samples.sets:
        labels = "[*zip(data.sets, data.groups)]" if samples.groups else "data.sets"
        python = samples.python and replace(samples.python, groups=labels)
        samples = replace(samples, groups=in_sets(samples), sets=(), python=python)

    def run(kept: dict[str, list[int]]) -> Steps[tuple[ReportData, Job, list[int], list[Record]]]:
        job = job_of(samples, kept[""], chosen.kernel, settings.options, settings.prompts)
        try:
            found = yield from job.findings(settings.q, settings.threshold, settings.allow_repeats)
        except NotPSDError as error:
            if not chosen.is_matrix:
                raise
            raise RefusedError(
                f"A similarity matrix must not have negative eigenvalues; in this matrix, they sum "
                f"to {-error.negative_mass:.3g} of a trace of 1. Select “K, clipped” to set them "
                f"to zero."
            ) from None
        return found, job, kept[""], (yield from _by_set(each_set, kept[""], chosen, settings))

    bad, (found, job, kept, by_set) = yield from sifted(
        {"": samples}, samples.kind, run, settings.leave_out
    )
    with np.errstate(all="ignore"):
        answer = _answer(found, job, samples, kept, bad[""])
        return Result(found, job, answer | {"by_set": by_set or None})


def _by_set(
    samples: Samples, kept: list[int], chosen: Choice, settings: Settings
) -> Steps[list[Record]]:
    """Score each set by itself, such as each model: the mean over its groups, if it has some."""
    places: dict[Hashable, list[int]] = {}
    for i in kept if samples.sets else ():
        places.setdefault(samples.sets[i], []).append(i)
    rows = []
    for label, some in places.items():
        job = job_of(samples, some, chosen.kernel, settings.options, settings.prompts)
        found = yield from job.findings(settings.q, allow_repeats=settings.allow_repeats)
        row = {"group": str(label), "n": found.n, found.key: found.value, **found.interval}
        rows.append(row | ({"of": found.to_dict()["group_size"]} if found.grouped else {}))
    return rows


def _answer(
    found: ReportData, job: Job, samples: Samples, kept: list[int], bad: Mapping[int, str]
) -> Record:
    n, details = found.n, found.details
    groups = details["groups"] if found.grouped else None
    prompts = {prompt: place for place, prompt in enumerate(dict.fromkeys(job.prompts))}
    other, no_second = _second_choice(job) if n > 1 else (None, "")
    second = None
    if other:
        second = {"own": job.choice.sees, "by": other.sees}
    elif no_second:
        second = {"own": job.choice.sees, "by": "", "sentence": no_second}
    return {
        "kind": job.kind,
        "what": job.what,
        "name": samples.name,
        **page_fields(found),
        "total": max(samples.total, len(samples)),
        "kernel": job.choice.kernel,
        "comparison": kernel_menu.describe(job.choice, _unit(found) | job.arguments, found.order),
        "finding": sentences.describe_finding(found, job.what),
        "sentence": job.sentence(found),
        "copies": sentences.describe_duplicates(found, job.what) if found.distinct < n else "",
        "wording": describe_wording_limits(
            details, "" if second or _lacks_meaning(job) else _MEANING
        ),
        "second": second,
        "interval": sentences.describe_interval(found, job.what),
        "notes": _notes(found, job, samples, bad),
        "code": job.code(found),
        "id_column": samples.roles.get("id", ("",))[0],
        "column": samples.column,
        "left_out": [samples.places[i] for i in sorted(bad)],
        "unused": " ".join(left_out(samples, bad)),
        "samples": sample_views.columns(found, job, samples, kept),
        "prompts": list(prompts),
        "prompt": [prompts[each] for each in job.prompts],
        "floor": found.explanation.floor,
        **sample_views.alike(found),
        "map": sample_views.map_(found),
        "themes": sample_views.themes(found),
        "by_group": groups
        and [
            {"group": str(row["group"]), "n": row["n"], found.key: row[found.key]} for row in groups
        ],
        "growth": found.growth_text if n <= _GROWN and found.growth else "",
    }


def _lacks_meaning(job: Job) -> bool:
    """Return whether the model of k="semantic" is unsuitable for the texts."""
    content = "sequences" if job.letters else job.kind
    return find_unsupported("semantic", job.samples, content) is not None


def _notes(found: ReportData, job: Job, samples: Samples, bad: Mapping[int, str]) -> list[str]:
    notes = [
        *samples.told,
        *left_out(samples, bad),
        sentences.describe_subsample(len(found.subsample_rows), found.n),
    ]
    letters = _unit(found) == {"analyzer": "char"} and "analyzer" not in job.arguments
    if letters:
        notes.append(
            "These texts have no spaces between words, so n-grams of characters were compared."
        )
    for note in map(str, found.details["notes"]):
        # Remove hints about keywords that the form does not have.
        note = note.partition(" If samples are continuous measurements")[0]
        note, has_hint, _ = note.partition("; for such texts, use analyzer=")
        note += "." * bool(has_hint)
        texts, unspaced, _ = note.partition(" are in a script without spaces between words")
        if not unspaced:
            unreliable = "The score is unreliable for them"
            message, unsuited, _ = note.partition(f"{unreliable}; use ")
            note = f"{message}{unreliable}." if unsuited else note
            notes.append(_FRACTION.sub(lambda x: f"{float(x[0]):.4g}", note))
        elif not letters:  # with the remedy that the page has
            notes.append(
                f"{texts} have no spaces between words, so a whole clause counts as one word: "
                f"under “More options”, select n-grams made of characters (char)."
            )
    return [note for note in notes if note]


def _unit(found: ReportData) -> Record:
    """Return whether n-grams are of words or characters, which may follow from the texts."""
    settings = {} if found.similarity is None else found.similarity.settings
    return {name: value for name, value in settings.items() if name == "analyzer"}


def drawings(smiles: object) -> dict[str, list[str]]:
    """Draw molecules as data URIs; empty where one cannot be."""
    if not isinstance(smiles, list):
        raise RefusedError(f"Expected a list of SMILES, got {type(smiles).__name__}.")
    if len(smiles) > MAX_DRAWN:
        raise RefusedError(f"At most {MAX_DRAWN} molecules are drawn at once, got {len(smiles)}.")
    return {"uris": [_drawing(each) for each in check_texts(smiles, MAX_SMILES, "molecule")]}


def _drawing(smiles: str) -> str:
    """Draw a molecule as a data URI of SVG; empty if it cannot be read or is too large."""
    svg = thumbnails.depicted(smiles)
    return svg and "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def menu() -> Record:
    """Return comparisons and examples by kind, and limits in words."""
    offered = {kind: [each.entry() for each in examples.MENU[kind]] for kind in KINDS}
    return {
        "kinds": {kind: kernel_menu.menu(kind) | {"examples": offered[kind]} for kind in KINDS},
        "compare": {"examples": examples.PAIRINGS},
        "links": links(),
        "limits": {"sentence": quotas.LIMITS_SENTENCE, "q": DEFAULT_ORDER},
    }


def is_tiny(samples: Samples, settings: Settings) -> bool:
    """Return whether a score takes so little time that the server itself can compute it."""
    if samples.kind not in ("texts", "vectors") or settings.choice_of(samples).is_encoder:
        return False
    if len(samples) > TINY_SAMPLES:
        return False
    if isinstance(samples.values, np.ndarray):
        return samples.values.size <= TINY_VALUES
    return sum(len(text) for text in samples.values if isinstance(text, str)) <= TINY_CHARACTERS


def is_long(samples: Samples, settings: Settings) -> bool:
    """Return whether a score takes more than about a second."""
    return _takes_long(settings.choice_of(samples), samples.values, settings.q)


def _takes_long(chosen: Choice, values: Sized, q: object) -> bool:
    if chosen.is_encoder:
        return True
    n = d = min(len(values), MAX_SAMPLES)
    if isinstance(values, np.ndarray) and not chosen.takes_pairs:
        n, d = values.shape
    roots = 2 < check_order(q) < math.inf and n <= _ROOTS
    return n * d * min(n, d) * (_EACH if roots else 1) > _AT_ONCE
