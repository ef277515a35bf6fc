"""Jobs: validated samples of each type, with the kernel that compares them."""

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
from .group_lists import flatten_lists, make_position_formatter, split_by_group
from .kernel_menu import (
    DEFAULT_ORDER,
    DEFAULT_THRESHOLD,
    KernelChoice,
    check_order,
    check_threshold,
)
from .page_code import INLINE, format_import, format_score_call
from .prompt_lists import conditioning_keywords, format_prompts, read_prompts

# The lowest threshold that needs no second comparison of samples.
MIN_THRESHOLD = 0.3
_LETTER_OPTIONS = {"unit": "char"}  # sequences of letters are compared by n-grams of these
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
    choice: KernelChoice
    arguments: Record
    source: Source
    groups: GroupLabels | None = None
    texts: Callable[[int], str] | None = None  # sample i, where there is something to read
    pictures: Sequence[Picture] = ()
    letters: bool = False  # whether texts are sequences of letters, which have no words

    @property
    def sample_name(self) -> str:
        return "samples" if self.choice.is_matrix else self.kind

    def compute_steps(
        self, q: object, threshold: object = DEFAULT_THRESHOLD, allow_repeats: object = True
    ) -> Steps[ReportData]:
        """Find the results at order q; a SampleError names samples by their places."""
        keywords = self.arguments | {"q": check_order(q)}
        if allow_repeats is not True:
            keywords["allow_repeats"] = allow_repeats
        similarity_threshold = check_threshold(threshold)
        if self.groups is not None:
            keywords["groups"] = self.labels
        try:
            similarity = None
            if self.choice.is_encoder:
                similarity = yield from offered_encoders.compute_similarity(
                    self.samples, self.arguments
                )
            report_data = compute_report_data(self.samples, None, keywords, similarity=similarity)
            return replace(report_data, threshold=similarity_threshold, floor=MIN_THRESHOLD)
        except SampleError as error:
            if self.groups is None:
                raise
            raise self.groups.locate_error(error) from error.__cause__

    def sentence(self, report_data: ReportData) -> str:
        """Return the meaning of the number, after the way in which samples were compared."""
        description = sentences.describe_score(report_data, self.sample_name)
        prompt_note = ", conditioned on the prompt" if self.prompts else ""
        return (
            f"{self.choice.by}{prompt_note}, {description[0].lower()}{description[1:]}"
            if report_data.n > 1
            else description
        )

    @property
    def prompts(self) -> list[Any]:
        """The prompt of all samples, or a prompt for each; empty without conditioning."""
        return list(self.arguments.get("prompts", ()))

    @property
    def labels(self) -> list[Hashable] | None:
        groups = self.groups
        return None if groups is None else groups.sample_labels

    def with_kernel(self, choice: KernelChoice) -> Job:
        """Return the same samples and prompts, compared in another way with its usual options."""
        options = _LETTER_OPTIONS if self.letters else {}
        arguments = kernel_menu.parse_options(choice, options) | conditioning_keywords(self.prompts)
        return replace(self, choice=choice, arguments=arguments)

    def code(self, report_data: ReportData, *other_results: tuple[Job, ReportData]) -> str:
        """Write Python that prints this number, and the numbers of other jobs on these samples."""
        calls = [
            f"print({job._format_call(result)})"
            for job, result in [(self, report_data), *other_results]
        ]
        head = [format_import(self.source.head), f"samples = {self.source.samples}"]
        return "\n".join([*head, *calls])

    def format_phrases_code(self, q: float) -> str:
        """Write Python that prints the repeated phrases, which the kernel "ngram_overlap" finds."""
        modules = f"vendiscore, {self.source.head}" if self.source.head else "vendiscore"
        arguments = {name: x for name, x in self.arguments.items() if name != "k"}
        call = f"vendiscore.phrases(samples, {self._grouped_keywords(arguments, q)})"
        head = [f"import {modules}", f"samples = {self.source.samples}"]
        return "\n".join([*head, f"print({call}.to_frame())"])

    def _grouped_keywords(self, arguments: Options, q: float) -> str:
        options = format_keywords(arguments, q)
        if self.groups is not None and self.source.groups:
            options += f", groups={self.source.groups}"
        return options

    def _format_call(self, report_data: ReportData) -> str:
        separate_names = ("groups", "q", "prompts")
        arguments = {
            name: x for name, x in report_data.arguments.items() if name not in separate_names
        }
        options = self._grouped_keywords(arguments, report_data.order)
        if self.prompts:
            prompt_list = len(self.prompts) > 1 and self.source.prompts
            options += f", prompts={prompt_list or format_prompts(self.prompts, self.groups)}"
        return format_score_call("samples", options)


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

    def select_kernel(self, *sets: Samples) -> KernelChoice:
        """Return the way to compare sets of one kind, the usual one for them if none is named."""
        kind = sets[0].kind
        if self.kernel:
            return kernel_menu.find_choice(kind, self.kernel)
        return kernel_menu.default_choice(kind, sets)[0]


def build_text_job(
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
    item_name, max_length = ("texts", MAX_TEXT) if kind == "texts" else ("SMILES", MAX_SMILES)
    values, groups = flatten_lists(texts, item_name)
    groups = parse_group_labels(labels) if labels else groups
    values = check_texts(
        values, max_length, kind.removesuffix("s"), make_position_formatter(groups)
    )
    prompt_list = read_prompts(prompts, len(values), groups, max_length)
    kernel_arguments = _select_kernel(kind, kernel, options, prompt_list)
    literal = repr(split_by_group(values, groups))
    if len(literal) + len(format_prompts(prompt_list, groups)) <= INLINE:
        source = Source("", literal)
    return Job(kind, values, *kernel_arguments, source, groups, texts=values.__getitem__)


def build_image_job(
    pictures: Sequence[Picture],
    kernel: str = "pixels",
    dropped_files: Sequence[str] = (),
    groups: GroupLabels | None = None,
) -> Job:
    """Return the job of images, pixel by pixel or encoded; `dropped_files` are files left out."""
    choice, arguments = _select_kernel("images", kernel)
    files = 'glob.glob("images/*")'
    if dropped_files:
        files = f"set({files}) - {set(map('images/{}'.format, dropped_files))!r}"
    expression = f"sorted({files})  # the folder of the images"
    if groups is not None:
        files_of_folder = 'sorted(glob.glob(folder + "/*"))'
        expression = f"[{files_of_folder} for folder in sorted({files})]  # a folder for each group"
    samples = [picture.data if choice.is_encoder else picture.small for picture in pictures]
    source = Source("glob", expression)
    return Job("images", samples, choice, arguments, source, groups, pictures=pictures)


def build_vector_job(
    X: object,
    kernel: str = "cosine",
    options: Options | None = None,
    labels: Sequence[Hashable] = (),
    prompts: object = None,
    source: Source = _ROWS,
) -> Job:
    """Return the job of features X or a similarity matrix K; `source` has many rows."""
    X, groups = flatten_lists(X, "rows", rows=True) if isinstance(X, list) else (X, None)
    groups = parse_group_labels(labels) if labels else groups
    X = check_matrix(X, make_position_formatter(groups, "Row"))
    prompt_list = read_prompts(prompts, len(X), groups)
    choice, arguments = _select_kernel("vectors", kernel, options, prompt_list)
    if choice.is_matrix and (groups is not None or X.shape[0] != X.shape[1]):
        got = f"{X.shape[0]} × {X.shape[1]}" if groups is None else f"{len(groups)} groups"
        raise RefusedError(
            f"A similarity matrix K must be square and contain all samples, got {got}; for vectors "
            f"select another kernel."
        )
    texts = None if choice.is_matrix else partial(_format_row, X)
    source = _source_of_rows(X, source, groups)
    return Job("vectors", X, choice, arguments, source, groups, texts)


def build_job(
    samples: Samples,
    indices: list[int],
    kernel: str,
    options: Options | None = None,
    prompts: object = None,
) -> Job:
    """Return some samples as they were read, compared by one of the kernels of their kind."""
    locations = samples.places
    samples = samples.subset(indices) if len(indices) < len(samples) else samples
    prompts = list(samples.prompts) or prompts
    values, labels, python = samples.values, samples.groups, samples.python
    if samples.letters:
        options = {**(options or {}), **_LETTER_OPTIONS}
    if samples.kind in ("texts", "molecules"):
        source = _source_of_file(python) if python else _DOWNLOAD
        job = build_text_job(values, kernel, options, labels, samples.kind, prompts, source)
        return replace(job, letters=samples.letters)
    if samples.kind == "images":
        if prompts:
            raise RefusedError("Prompts are not supported for images; remove the prompt.")
        groups = parse_group_labels(labels) if labels else None
        dropped = [str(location) for location in locations if location not in samples.places]
        return build_image_job(values, kernel, dropped, groups)
    source = _source_of_file(python) if python else _ROWS
    is_matrix = kernel_menu.find_choice("vectors", kernel).is_matrix
    if is_matrix and len(indices) < len(locations) == values.shape[1]:
        values = values[:, indices]
        dropped = sorted({*range(len(locations))} - {*indices})
        source = source._replace(samples=f"np.delete({source.samples}, {dropped}, axis=1)")
    return build_vector_job(values, kernel, options, labels, prompts, source)


def _format_row(X: np.ndarray, i: int) -> str:
    return sentences.format_row(X[i])


def _source_of_file(python: FileCode) -> Source:
    head = f"{IMPORTS}\ndata = {python.read()}"
    return Source(head, python.values(), python.groups, "data.prompts")


def _select_kernel(
    kind: str,
    kernel: object,
    options: Options | None = None,
    prompts: Sequence[object] = (),
) -> tuple[KernelChoice, Record]:
    choice = kernel_menu.find_choice(kind, kernel)
    return choice, kernel_menu.parse_options(choice, options or {}) | conditioning_keywords(prompts)


def _source_of_rows(X: np.ndarray, source: Source, groups: GroupLabels | None) -> Source:
    """Return Python code for the rows: their values if they are few, else a call to read them."""
    nested = groups if groups is not None and groups.nested else None
    labels = "" if groups is None or nested else repr(groups.sample_labels)
    if X.size <= INLINE and len(literal := repr(split_by_group(X.tolist(), nested))) <= INLINE:
        return Source("", literal, labels)
    if nested is None:
        return source._replace(groups=source.groups or labels)
    ends = np.cumsum(np.bincount(nested.codes))[:-1].tolist()
    rows = f"[rows.tolist() for rows in np.split({source.samples}, {ends})]"
    return Source(f"numpy as np, {source.head}", rows)


def format_keywords(arguments: Options, q: float) -> str:
    """Write the arguments of `compute` as Python keywords."""
    keywords = {**arguments, "q": "inf" if q == float("inf") else int(q) if q == int(q) else q}
    return ", ".join(f"{name}={value!r}" for name, value in keywords.items())
