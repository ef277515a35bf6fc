"""Scores of one set, as the JSON values that the web app shows."""

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
from ..inputs.parts import draw_subset
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
from .group_lists import label_groups_in_sets
from .jobs import Job, Settings, build_job
from .kernel_menu import DEFAULT_ORDER, KernelChoice, check_order, check_threshold
from .page_code import list_links
from .result_fields import get_page_fields
from .row_selection import select_rows
from .sample_readout import describe_dropped, run_on_usable
from .set_pictures import add_caption

MAX_DRAWN = 60  # molecules at once
_MAX_GROWTH_SAMPLES = 200  # samples whose growth takes no time to speak of
_MAX_SHORT_WORK = 2e9  # multiplications, of which there are more in about a second
# Up to so many samples an error above order 2 takes so much more.
_MAX_ROOT_SAMPLES, _ROOT_COST = 200, 500
_FRACTION = re.compile(r"\d+\.\d{5,}")  # of which four digits tell a reader enough
# Where no encoder is at hand.
_MEANING_HINT = (
    'To compare meaning, use the Python package: vendiscore.compute(texts, k="semantic").'
)


class Result:
    """A score: the `answer` that the page shows at first, and what else can be asked about it."""

    def __init__(self, report_data: ReportData, job: Job, answer: Record) -> None:
        self._report_data, self._job = report_data.without_matrices(), job
        self.answer = answer
        # Set when they have been computed, by `second` and `phrases`.
        self.second_answer: Record = {}
        self.phrases_answer: Record = {}

    @property
    def is_tiny(self) -> bool:
        """True if lists of its samples take no time to speak of."""
        return self._report_data.n <= TINY_SAMPLES

    @property
    def second_is_long(self) -> bool:
        """True if the second number takes more than about a second."""
        choice, _ = _select_second_kernel(self._job)
        if self.second_answer or choice is None:
            return False
        return _takes_long(choice, self._job.samples, self._report_data.order)

    def second(self) -> Steps[Record]:
        """Score the texts by meaning where the answer is by wording, or the reverse."""
        first_job, report_data = self._job, self._report_data
        choice, reason = _select_second_kernel(first_job)
        if choice is None:
            raise RefusedError(f"{reason or 'Only one kernel is available for these samples'}.")
        if not self.second_answer:
            job = first_job.with_kernel(choice)
            allow_repeats = report_data.request.allow_repeats
            other = yield from job.compute_steps(report_data.order, allow_repeats=allow_repeats)
            self.second_answer = _describe_second(first_job, report_data, job, other)
        return self.second_answer

    @property
    def phrases_take_long(self) -> bool:
        """True if the repeated phrases take more than about a second."""
        return not self.phrases_answer and phrase_table.takes_long(self._job)

    def phrases(self) -> Steps[Record]:
        """Return the repeated phrases and their costs."""
        yield "Computing the costs of phrases."
        if not self.phrases_answer:
            self.phrases_answer = phrase_table.build_phrase_table(
                self._job, self._report_data.order
            )
        return self.phrases_answer

    def groups(self, threshold: object) -> Record:
        similarity_threshold = check_threshold(threshold, self._report_data.explanation.floor)
        with np.errstate(all="ignore"):
            return sample_views.describe_duplicates(self._report_data, similarity_threshold)

    def subset(self, size: object) -> Record:
        """Return the rows of so many samples that differ most, in the order they were chosen."""
        return select_rows(self._report_data, size)

    def papers(self) -> Record:
        """Return pictures, sentences, and code with the download that it reads, if it needs one."""
        report_data, reason = self._report_data, ""
        figures: list[Figure] = []
        with np.errstate(all="ignore"):
            try:
                figures = list(pictures(report_data))
            except MissingPackageError as error:
                reason = f"No figures: {error}"
            sentence_list = [
                sentences.describe_kernel(report_data),
                report_data.growth_text,
                reason,
            ]
            return {
                "pictures": [add_caption(figure) for figure in figures],
                "sentences": [sentence for sentence in sentence_list if sentence],
                "code": self.second_answer.get("code", self._job.code(report_data)),
                "signature": report_data.details["signature"],
                "details": to_plain(dict(report_data.details)),
            }

    def report(self, title: str | None = None) -> str:
        """Return the report as HTML; images have their names and their original size."""
        files = [{"path": picture.name, "bytes": picture.data} for picture in self._job.pictures]
        return report_of(self._report_data, title or None, files or None).html()


def _select_second_kernel(job: Job) -> tuple[KernelChoice | None, str]:
    """Return the way to compute the second number and "", or None and why there is none."""
    choice = kernel_menu.find_second_choice(job.kind, job.choice)
    mismatch = choice and choice.find_mismatch(job.samples, job.letters)
    if choice is None or not mismatch:
        return choice, ""
    explanation = f"because {mismatch.reason}; the model ({choice.term}) is for English text"
    return None, f"Score by meaning: not computed, {explanation}"


def _describe_second(
    first: Job, report_data: ReportData, job: Job, second_data: ReportData
) -> Record:
    prompt_note = ", conditioned on the prompt" if job.prompts else ""
    details, content = second_data.details, job.choice.compared_content
    notes = [
        details["typical"],
        f"By {content}: {sentences.describe_interval(second_data, job.sample_name)}",
        describe_wording_limits(details, ""),
        "Scores of different kernels cannot be compared with each other.",
    ]
    return {
        "own": first.choice.compared_content,
        "by": content,
        "sentence": f"{report_data.value:,.1f} by {first.choice.compared_content}, "
        f"{second_data.value:,.1f} by {content}{prompt_note}",
        second_data.key: second_data.value,
        **second_data.interval,
        "notes": [note for note in notes if note],
        "code": first.code(report_data, (job, second_data)),
    }


def score(samples: Samples, settings: Settings) -> Steps[Result]:
    """Score samples step by step; an UnusableError names those that cannot be used."""
    choice = settings.select_kernel(samples)
    if choice.is_matrix and len(samples) > MAX_SAMPLES:
        raise RefusedError(
            f"A similarity matrix can have up to {MAX_SAMPLES:,} rows, got {len(samples):,}; for "
            f"vectors select another kernel."
        )
    if choice.takes_pairs:
        samples = draw_subset(samples, MAX_SAMPLES)

    samples_by_set = samples
    if samples.sets:
        labels = "[*zip(data.sets, data.groups)]" if samples.groups else "data.sets"
        python = samples.python and replace(samples.python, groups=labels)
        samples = replace(samples, groups=label_groups_in_sets(samples), sets=(), python=python)

    def run(usable: dict[str, list[int]]) -> Steps[tuple[ReportData, Job, list[int], list[Record]]]:
        job = build_job(samples, usable[""], choice.kernel, settings.options, settings.prompts)
        try:
            report_data = yield from job.compute_steps(
                settings.q, settings.threshold, settings.allow_repeats
            )
        except NotPSDError as error:
            if not choice.is_matrix:
                raise
            raise RefusedError(
                f"A similarity matrix must not have negative eigenvalues; in this matrix, they sum "
                f"to {-error.negative_mass:.3g} of a trace of 1. Select “K, clipped” to set them "
                f"to zero."
            ) from None
        return (
            report_data,
            job,
            usable[""],
            (yield from _score_by_set(samples_by_set, usable[""], choice, settings)),
        )

    problems, (report_data, job, usable, by_set) = yield from run_on_usable(
        {"": samples}, samples.kind, run, settings.leave_out
    )
    with np.errstate(all="ignore"):
        answer = _build_answer(report_data, job, samples, usable, problems[""])
        return Result(report_data, job, answer | {"by_set": by_set or None})


def _score_by_set(
    samples: Samples, usable: list[int], choice: KernelChoice, settings: Settings
) -> Steps[list[Record]]:
    """Score each set by itself, such as each model: the mean over its groups, if it has some."""
    indices_by_set: dict[Hashable, list[int]] = {}
    for i in usable if samples.sets else ():
        indices_by_set.setdefault(samples.sets[i], []).append(i)
    rows = []
    for label, set_indices in indices_by_set.items():
        job = build_job(samples, set_indices, choice.kernel, settings.options, settings.prompts)
        report_data = yield from job.compute_steps(settings.q, allow_repeats=settings.allow_repeats)
        row = {
            "group": str(label),
            "n": report_data.n,
            report_data.key: report_data.value,
            **report_data.interval,
        }
        rows.append(
            row | ({"of": report_data.to_dict()["group_size"]} if report_data.grouped else {})
        )
    return rows


def _build_answer(
    report_data: ReportData,
    job: Job,
    samples: Samples,
    usable: list[int],
    problems: Mapping[int, str],
) -> Record:
    n, details = report_data.n, report_data.details
    groups = details["groups"] if report_data.grouped else None
    prompts = {prompt: index for index, prompt in enumerate(dict.fromkeys(job.prompts))}
    second_choice, no_second = _select_second_kernel(job) if n > 1 else (None, "")
    second_summary = None
    if second_choice:
        second_summary = {"own": job.choice.compared_content, "by": second_choice.compared_content}
    elif no_second:
        second_summary = {"own": job.choice.compared_content, "by": "", "sentence": no_second}
    return {
        "kind": job.kind,
        "what": job.sample_name,
        "name": samples.name,
        **get_page_fields(report_data),
        "total": max(samples.total, len(samples)),
        "kernel": job.choice.kernel,
        "comparison": kernel_menu.describe_comparison(
            job.choice, _get_analyzer(report_data) | job.arguments, report_data.order
        ),
        "finding": sentences.describe_finding(report_data, job.sample_name),
        "sentence": job.sentence(report_data),
        "copies": sentences.describe_duplicates(report_data, job.sample_name)
        if report_data.distinct < n
        else "",
        "wording": describe_wording_limits(
            details, "" if second_summary or _lacks_semantic_kernel(job) else _MEANING_HINT
        ),
        "second": second_summary,
        "interval": sentences.describe_interval(report_data, job.sample_name),
        "notes": _collect_notes(report_data, job, samples, problems),
        "code": job.code(report_data),
        "id_column": samples.roles.get("id", ("",))[0],
        "column": samples.column,
        "left_out": [samples.places[i] for i in sorted(problems)],
        "unused": " ".join(describe_dropped(samples, problems)),
        "samples": sample_views.build_columns(report_data, job, samples, usable),
        "prompts": list(prompts),
        "prompt": [prompts[prompt] for prompt in job.prompts],
        "floor": report_data.explanation.floor,
        **sample_views.describe_duplicates(report_data),
        "map": sample_views.build_map(report_data),
        "themes": sample_views.build_themes(report_data),
        "by_group": groups
        and [
            {"group": str(row["group"]), "n": row["n"], report_data.key: row[report_data.key]}
            for row in groups
        ],
        "growth": report_data.growth_text
        if n <= _MAX_GROWTH_SAMPLES and report_data.growth
        else "",
    }


def _lacks_semantic_kernel(job: Job) -> bool:
    """Return whether the model of k="semantic" is unsuitable for the texts."""
    content = "sequences" if job.letters else job.kind
    return find_unsupported("semantic", job.samples, content) is not None


def _collect_notes(
    report_data: ReportData, job: Job, samples: Samples, problems: Mapping[int, str]
) -> list[str]:
    notes = [
        *samples.result_notes,
        *describe_dropped(samples, problems),
        sentences.describe_subsample(len(report_data.subsample_rows), report_data.n),
    ]
    letters = _get_analyzer(report_data) == {"analyzer": "char"} and "analyzer" not in job.arguments
    if letters:
        notes.append(
            "These texts have no spaces between words, so n-grams of characters were compared."
        )
    for note in map(str, report_data.details["notes"]):
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


def _get_analyzer(report_data: ReportData) -> Record:
    """Return whether n-grams are of words or characters, which may follow from the texts."""
    settings = {} if report_data.similarity is None else report_data.similarity.settings
    return {name: value for name, value in settings.items() if name == "analyzer"}


def draw_molecules(smiles: object) -> dict[str, list[str]]:
    """Draw molecules as data URIs; empty where one cannot be."""
    if not isinstance(smiles, list):
        raise RefusedError(f"Expected a list of SMILES, got {type(smiles).__name__}.")
    if len(smiles) > MAX_DRAWN:
        raise RefusedError(f"At most {MAX_DRAWN} molecules are drawn at once, got {len(smiles)}.")
    return {
        "uris": [
            _draw_molecule(molecule) for molecule in check_texts(smiles, MAX_SMILES, "molecule")
        ]
    }


def _draw_molecule(smiles: str) -> str:
    """Draw a molecule as a data URI of SVG; empty if it cannot be read or is too large."""
    svg = thumbnails.depicted(smiles)
    return svg and "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def build_menu() -> Record:
    """Return the kernels and examples of each sample type, and a description of the limits."""
    examples_by_kind = {
        kind: [example.to_menu_entry() for example in examples.MENU[kind]] for kind in KINDS
    }
    return {
        "kinds": {
            kind: kernel_menu.build_menu(kind) | {"examples": examples_by_kind[kind]}
            for kind in KINDS
        },
        "compare": {"examples": examples.PAIRINGS},
        "links": list_links(),
        "limits": {"sentence": quotas.LIMITS_SENTENCE, "q": DEFAULT_ORDER},
    }


def is_tiny(samples: Samples, settings: Settings) -> bool:
    """Return whether a score takes so little time that the server itself can compute it."""
    if samples.kind not in ("texts", "vectors") or settings.select_kernel(samples).is_encoder:
        return False
    if len(samples) > TINY_SAMPLES:
        return False
    if isinstance(samples.values, np.ndarray):
        return samples.values.size <= TINY_VALUES
    return sum(len(text) for text in samples.values if isinstance(text, str)) <= TINY_CHARACTERS


def is_long(samples: Samples, settings: Settings) -> bool:
    """Return whether a score takes more than about a second."""
    return _takes_long(settings.select_kernel(samples), samples.values, settings.q)


def _takes_long(choice: KernelChoice, values: Sized, q: object) -> bool:
    if choice.is_encoder:
        return True
    n = d = min(len(values), MAX_SAMPLES)
    if isinstance(values, np.ndarray) and not choice.takes_pairs:
        n, d = values.shape
    needs_roots = 2 < check_order(q) < math.inf and n <= _MAX_ROOT_SAMPLES
    return n * d * min(n, d) * (_ROOT_COST if needs_roots else 1) > _MAX_SHORT_WORK
