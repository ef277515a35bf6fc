"""Samples that were checked, with how they are compared: a `Job` of each kind."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vendiscore import SampleError
from vendiscore.report import ReportData, compute_report_data, sentences
from vendiscore.resolve.sample_labels import GroupLabels, parse_group_labels

from ..aliases import Options, Record, Steps
from ..inputs.file_code import IMPORTS, FileCode
from ..inputs.matrices import check_matrix
from ..inputs.pictures import Picture
from ..inputs.visitor_samples import Samples
from ..quotas import MAX_SMILES, MAX_TEXT, RefusedError, check_texts
from . import kernel_menu, offered_encoders
from .group_lists import place, pooled, taken_apart
from .kernel_menu import (
    DEFAULT_ORDER,
    DEFAULT_THRESHOLD,
    Choice,
    check_order,
    check_threshold,
)
from .page_code import INLINE, called, imported
from .prompt_lists import given_prompts, read_prompts, written

# The lowest threshold that needs no second comparison of samples.
FLOOR = 0.3
_OF_LETTERS = {"unit": "char"}  # sequences of letters are compared by n-grams of these
# Reads the file that the page saves.
READ_DOWNLOAD = 'json.loads(pathlib.Path("vendiscore.json").read_text())'


class Source(NamedTuple):
    """Python that has the samples of a job: after "import vendiscore", and as expressions.

    Groups are empty where the samples are lists of them, prompts where they are written out.
    """

    head: str
    samples: str
    groups: str = ""
    prompts: str = ""


# Rows of numbers that came without a file.
_ROWS = Source("pandas as pd", "pd.read_csv('samples.csv', header=None).to_numpy()")
_DOWNLOAD = Source(
    "json, pathlib",
    f'(saved := {READ_DOWNLOAD})["samples"]["text"]  # “Everything (JSON)”, saved from the page',
    'saved["samples"]["group"]',
    '[saved["prompts"][i] for i in saved["prompt"]]',
)


@dataclass(frozen=True)
class Job:
    """Checked samples, with the way to compare and to show them."""

    kind: str
    samples: Any
    choice: Choice
    arguments: Record
    source: Source
    groups: GroupLabels | None = None
    texts: Callable[[int], str] | None = None  # sample i, where there is something to read
    pictures: Sequence[Picture] = ()
    letters: bool = False  # whether texts are sequences of letters, which have no words

    @property
    def what(self) -> str:
        return "samples" if self.choice.is_matrix else self.kind

    def findings(
        self, q: object, threshold: object = DEFAULT_THRESHOLD, allow_repeats: object = True
    ) -> Steps[ReportData]:
        """Find the results at order q; a SampleError names samples by their places."""
        given = self.arguments | {"q": check_order(q)}
        if allow_repeats is not True:
            given["allow_repeats"] = allow_repeats
        alike_from = check_threshold(threshold)
        if self.groups is not None:
            given["groups"] = self.labels
        try:
            similarity = None
            if self.choice.is_encoder:
                similarity = yield from offered_encoders.similarity(self.samples, self.arguments)
            found = compute_report_data(self.samples, None, given, similarity=similarity)
            return replace(found, threshold=alike_from, floor=FLOOR)
        except SampleError as error:
            if self.groups is None:
                raise
            raise self.groups.locate_error(error) from error.__cause__

    def sentence(self, found: ReportData) -> str:
        """Return the meaning of the number, after the way in which samples were compared."""
        said = sentences.describe_score(found, self.what)
        given = ", conditioned on the prompt" if self.prompts else ""
        return f"{self.choice.by}{given}, {said[0].lower()}{said[1:]}" if found.n > 1 else said

    @property
    def prompts(self) -> list[Any]:
        """The prompt of all samples, or a prompt for each; empty without conditioning."""
        return list(self.arguments.get("prompts", ()))

    @property
    def labels(self) -> list[Hashable] | None:
        groups = self.groups
        return None if groups is None else groups.sample_labels

    def compared_by(self, choice: Choice) -> Job:
        """Return the same samples and prompts, compared in another way with its usual options."""
        options = _OF_LETTERS if self.letters else {}
        arguments = kernel_menu.arguments(choice, options) | given_prompts(self.prompts)
        return replace(self, choice=choice, arguments=arguments)

    def code(self, found: ReportData, *others: tuple[Job, ReportData]) -> str:
        """Write Python that prints this number, and the numbers of other jobs on these samples."""
        calls = [f"print({job._call(each)})" for job, each in [(self, found), *others]]
        head = [imported(self.source.head), f"samples = {self.source.samples}"]
        return "\n".join([*head, *calls])

    def phrases_code(self, q: float) -> str:
        """Write Python that prints the repeated phrases, which the kernel "ngram_overlap" finds."""
        modules = f"vendiscore, {self.source.head}" if self.source.head else "vendiscore"
        arguments = {name: x for name, x in self.arguments.items() if name != "k"}
        call = f"vendiscore.phrases(samples, {self._grouped_keywords(arguments, q)})"
        head = [f"import {modules}", f"samples = {self.source.samples}"]
        return "\n".join([*head, f"print({call}.to_frame())"])

    def _grouped_keywords(self, arguments: Options, q: float) -> str:
        options = keywords(arguments, q)
        if self.groups is not None and self.source.groups:
            options += f", groups={self.source.groups}"
        return options

    def _call(self, found: ReportData) -> str:
        apart = ("groups", "q", "prompts")
        arguments = {name: x for name, x in found.arguments.items() if name not in apart}
        options = self._grouped_keywords(arguments, found.order)
        if self.prompts:
            each = len(self.prompts) > 1 and self.source.prompts
            options += f", prompts={each or written(self.prompts, self.groups)}"
        return called("samples", options)


@dataclass(frozen=True)
class Settings:
    """Unchecked settings of a score, as the page sends them."""

    kernel: str = ""  # one of `kernel_menu.choices`, "" for the usual one
    options: Options = field(default_factory=dict)
    q: object = DEFAULT_ORDER
    leave_out: bool = False  # samples that cannot be used
    threshold: object = DEFAULT_THRESHOLD
    prompts: object = None  # one for all samples, unless they have their own
    allow_repeats: object = True  # False: samples are continuous measurements

    def choice_of(self, *sets: Samples) -> Choice:
        """Return the way to compare sets of one kind, the usual one for them if none is named."""
        kind = sets[0].kind
        if self.kernel:
            return kernel_menu.choice(kind, self.kernel)
        return kernel_menu.default_choice(kind, sets)[0]


def text_job(
    texts: object,
    kernel: str = "ngram_overlap",
    options: Options | None = None,
    labels: Sequence[Hashable] = (),
    kind: str = "texts",
    prompts: object = None,
    source: Source = _DOWNLOAD,
) -> Job:
    """Return the job of texts, or of molecules as SMILES; in groups if each has a label.

    `source` has those that are too long to be written out.
    """
    called, longest = ("texts", MAX_TEXT) if kind == "texts" else ("SMILES", MAX_SMILES)
    values, groups = pooled(texts, called)
    groups = parse_group_labels(labels) if labels else groups
    values = check_texts(values, longest, kind.removesuffix("s"), place(groups))
    taken = read_prompts(prompts, len(values), groups, longest)
    compared = _compared(kind, kernel, options, taken)
    said = repr(taken_apart(values, groups))
    if len(said) + len(written(taken, groups)) <= INLINE:
        source = Source("", said)
    return Job(kind, values, *compared, source, groups, texts=values.__getitem__)


def image_job(
    pictures: Sequence[Picture],
    kernel: str = "pixels",
    left: Sequence[str] = (),
    groups: GroupLabels | None = None,
) -> Job:
    """Return the job of images, pixel by pixel or encoded; `left` are files left out."""
    chosen, arguments = _compared("images", kernel)
    files = 'glob.glob("images/*")'
    if left:
        files = f"set({files}) - {set(map('images/{}'.format, left))!r}"
    expression = f"sorted({files})  # the folder of the images"
    if groups is not None:
        each = 'sorted(glob.glob(folder + "/*"))'
        expression = f"[{each} for folder in sorted({files})]  # a folder for each group"
    samples = [picture.data if chosen.is_encoder else picture.small for picture in pictures]
    source = Source("glob", expression)
    return Job("images", samples, chosen, arguments, source, groups, pictures=pictures)


def vector_job(
    X: object,
    kernel: str = "cosine",
    options: Options | None = None,
    labels: Sequence[Hashable] = (),
    prompts: object = None,
    source: Source = _ROWS,
) -> Job:
    """Return the job of features X or a similarity matrix K; `source` has many rows."""
    X, groups = pooled(X, "rows", rows=True) if isinstance(X, list) else (X, None)
    groups = parse_group_labels(labels) if labels else groups
    X = check_matrix(X, place(groups, "Row"))
    taken = read_prompts(prompts, len(X), groups)
    chosen, arguments = _compared("vectors", kernel, options, taken)
    if chosen.is_matrix and (groups is not None or X.shape[0] != X.shape[1]):
        got = f"{X.shape[0]} × {X.shape[1]}" if groups is None else f"{len(groups)} groups"
        raise RefusedError(
            f"A similarity matrix K must be square and contain all samples, got {got}; for vectors "
            f"select another kernel."
        )
    texts = None if chosen.is_matrix else partial(_format_row, X)
    source = _source_of_rows(X, source, groups)
    return Job("vectors", X, chosen, arguments, source, groups, texts)


def job_of(
    samples: Samples,
    kept: list[int],
    kernel: str,
    options: Options | None = None,
    prompts: object = None,
) -> Job:
    """Return some samples as they were read, compared by one of the kernels of their kind."""
    places = samples.places
    samples = samples.subset(kept) if len(kept) < len(samples) else samples
    prompts = list(samples.prompts) or prompts
    values, labels, python = samples.values, samples.groups, samples.python
    if samples.letters:
        options = {**(options or {}), **_OF_LETTERS}
    if samples.kind in ("texts", "molecules"):
        source = _of_file(python) if python else _DOWNLOAD
        job = text_job(values, kernel, options, labels, samples.kind, prompts, source)
        return replace(job, letters=samples.letters)
    if samples.kind == "images":
        if prompts:
            raise RefusedError("Prompts are not supported for images; remove the prompt.")
        groups = parse_group_labels(labels) if labels else None
        left = [str(place) for place in places if place not in samples.places]
        return image_job(values, kernel, left, groups)
    source = _of_file(python) if python else _ROWS
    is_matrix = kernel_menu.choice("vectors", kernel).is_matrix
    if is_matrix and len(kept) < len(places) == values.shape[1]:
        values = values[:, kept]
        left = sorted({*range(len(places))} - {*kept})
        source = source._replace(samples=f"np.delete({source.samples}, {left}, axis=1)")
    return vector_job(values, kernel, options, labels, prompts, source)


def _format_row(X: np.ndarray, i: int) -> str:
    return sentences.format_row(X[i])


def _of_file(python: FileCode) -> Source:
    head = f"{IMPORTS}\ndata = {python.read()}"
    return Source(head, python.values(), python.groups, "data.prompts")


def _compared(
    kind: str,
    kernel: object,
    options: Options | None = None,
    prompts: Sequence[object] = (),
) -> tuple[Choice, Record]:
    chosen = kernel_menu.choice(kind, kernel)
    return chosen, kernel_menu.arguments(chosen, options or {}) | given_prompts(prompts)


def _source_of_rows(X: np.ndarray, source: Source, groups: GroupLabels | None) -> Source:
    """Return Python code for the rows: their values if they are few, else a call to read them."""
    nested = groups if groups is not None and groups.nested else None
    labels = "" if groups is None or nested else repr(groups.sample_labels)
    if X.size <= INLINE and len(said := repr(taken_apart(X.tolist(), nested))) <= INLINE:
        return Source("", said, labels)
    if nested is None:
        return source._replace(groups=source.groups or labels)
    ends = np.cumsum(np.bincount(nested.codes))[:-1].tolist()
    rows = f"[rows.tolist() for rows in np.split({source.samples}, {ends})]"
    return Source(f"numpy as np, {source.head}", rows)


def keywords(arguments: Options, q: float) -> str:
    """Write the arguments of `compute` as Python keywords."""
    given = {**arguments, "q": "inf" if q == float("inf") else int(q) if q == int(q) else q}
    return ", ".join(f"{name}={value!r}" for name, value in given.items())
