"""The public function `read`: samples of a file, a folder, records or a data frame."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from ...support.arguments import check_bool, check_choice, check_int
from ...support.errors import SampleError, short_repr
from ...support.summary import SummaryMixin
from ...support.types import Options, Record
from .alternatives import expand_answer, find_alternatives
from .default_kernels import default_keywords, detect_sample_type
from .limits import AmbiguousInputError, ReadOptions, RefusedError
from .names import format_dropped_count
from .samples import INDIVIDUAL, Samples

Kind = Literal["texts", "molecules", "sequences", "images", "vectors", "labels", "counts"]
_KINDS = ("texts", "molecules", "sequences", "images", "vectors", "labels", "counts")
# Names of keywords of `read` that differ from those of `ReadOptions`.
_OPTION_NAMES = {"groups": "group_by"}
_KEYWORD_NAMES = {option: keyword for keyword, option in _OPTION_NAMES.items()}
# Keywords that apply only to the content of files.
_FILE_KEYWORDS = (
    "type",
    "split",
    "encoding",
    "header",
    "index",
    "comments",
    "skip_rows",
    "subfolders",
    "file",
)
# Keywords that are False by default.
_FLAGS = ("pool", "distances", "normalize", "transpose")
_COLUMN_KEYWORDS = ("column", "prompts", "groups", "by", "weights", "quality", "correct")

Load = Callable[[ReadOptions], Samples]


@dataclass(frozen=True, repr=False)
class ReadResult(SummaryMixin):
    """Samples that `read` took from a file, a folder, records or a data frame.

    ``compute(**result.arguments)`` scores them, each prompt or group separately.

    Attributes
    ----------
    samples : list or array of shape (n, …)
        The samples.
    prompts : list of str or None
        The prompt of each sample; None without a column of prompts.
    groups : list or None
        The group of each sample; None without groups.
    sets : list or None
        The set of each sample, for example the model; None if there is a single set.
    weights : list of float or None
        The weight of each sample; None if all weights are equal.
    quality : list of float or None
        The quality of each sample; None without a column of quality.
    correct : list of bool or None
        Whether each sample is correct; None without such a column.
    kind : str
        The type of the samples: "texts", "molecules", "sequences", "images", "vectors" or "labels".
    description : str
        A sentence on the samples that were taken, and on what was left out.
    positions : list of int or str
        Where each sample is: its line or row (from 1) in a file, its file in a folder, or its index
        (from 0) among records.
    keywords : dict
        Keywords of `compute` that say how samples of this type are compared.

    See Also
    --------
    vendiscore.read : Read samples.

    Examples
    --------
    >>> import vendiscore
    >>> result = vendiscore.read(b"id,answer\\n1,a cat\\n2,a dog\\n", type="csv")
    >>> result.description
    "2 texts of column 'answer'; left out: id"
    >>> result.arguments
    {'samples': ['a cat', 'a dog']}
    """

    _repr_attributes = ("description",)

    samples: Any
    prompts: list[str] | None
    groups: list[Any] | None
    sets: list[Any] | None
    weights: list[float] | None
    quality: list[float] | None
    correct: list[bool] | None
    kind: str
    description: str
    positions: list[int | str]
    keywords: Record

    @property
    def sentence(self) -> str:
        """The description of the samples that were taken, as a sentence."""
        return f"{self.description}."

    @property
    def arguments(self) -> Record:
        """The keyword arguments to score the samples: ``compute(**result.arguments)``.

        If there are several sets, such as models, a ValueError is raised: use `by_set` to score
        each set, or ``compare(result.samples, by=result.sets, prompts=result.prompts)``.
        """
        if self.sets:
            names = ", ".join(map(short_repr, dict.fromkeys(self.sets)))
            raise ValueError(
                f"the samples are in several sets ({names}); score each of `by_set()`, compare "
                "them with compare(result.samples, by=result.sets, prompts=result.prompts), or "
                "read them as one set with pool=True"
            )
        arguments: Record = {"samples": self.samples, **self.keywords}
        # Samples of the same prompt are a group, unless groups are named.
        labels = {"groups": self.groups} if self.groups else {"prompts": self.prompts}
        weights = self.weights
        if weights is not None and sum(weights) > 0:
            weights = (np.array(weights) / sum(weights)).tolist()
        arguments |= {**labels, "p": weights}
        return {name: value for name, value in arguments.items() if value is not None}

    def by_set(self) -> dict[Any, ReadResult]:
        """Return the samples of each set by its name.

        Returns
        -------
        dict
            A ReadResult for each set. If there is a single set, its name is None.
        """
        if not self.sets:
            return {None: self}
        indices: dict[Any, list[int]] = {}
        for i, label in enumerate(self.sets):
            indices.setdefault(label, []).append(i)
        return {label: self._take(selected) for label, selected in indices.items()}

    def _take(self, selected: list[int]) -> ReadResult:
        """Return the samples at some indices, as a single set."""
        changes: Record = {"sets": None}
        for name in ("samples", "prompts", "groups", "weights", "quality", "correct", "positions"):
            values = getattr(self, name)
            if isinstance(values, np.ndarray):
                changes[name] = values[selected]
            elif values is not None:
                changes[name] = [values[i] for i in selected]
        return replace(self, **changes)


def read(
    source: object,
    *,
    column: str | None = None,
    prompts: str | None = None,
    groups: str | None = None,
    by: str | None = None,
    weights: str | None = None,
    quality: str | None = None,
    correct: str | None = None,
    kind: Kind | None = None,
    pool: bool = False,
    matrix: bool | None = None,
    distances: bool = False,
    normalize: bool = False,
    transpose: bool = False,
    on_error: Literal["raise", "skip"] = "raise",
    type: str | None = None,
    split: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    index: bool | None = None,
    comments: bool | None = None,
    skip_rows: int = 0,
    subfolders: bool | None = None,
    file: str | None = None,
) -> ReadResult:
    """Read the samples of a file, a folder, records or a data frame.

    The columns of samples, prompts and models are detected. If the source can be read in several
    ways, an AmbiguousInputError lists the calls that read it.

    Parameters
    ----------
    source : path, bytes, list or data frame
        A file of text, CSV, JSON, JSON Lines, parquet, FASTA, SMILES or NumPy, possibly compressed
        (.gz); a folder of images or .txt files; the content of a file as bytes; a list of records
        (dicts), of conversations (lists of messages), or of texts; or a data frame of pandas,
        polars, pyarrow or datasets.
    column : str, optional
        Column with the samples, or a path into nested values such as "response.text". Of features,
        several columns, separated by commas.
    prompts : str, optional
        Column with the prompt of each sample; samples of the same prompt are compared.
    groups : str, optional
        Column with the group of each sample; groups are scored separately. "folder" is the folder
        of each file.
    by : str, optional
        Column with the set of each sample, for example the model. "folder" is the folder of each
        file.
    weights : str, optional
        Column with the weight of each sample, for example how often it occurred.
    quality : str, optional
        Column with the quality of each sample.
    correct : str, optional
        Column that says whether each sample is correct.
    kind : str, optional
        Type of the samples: "texts", "molecules", "sequences", "images", "vectors", "labels" or
        "counts" (a table with a row per site and a column per species, or the reverse). By default,
        it is detected.
    pool : bool, default False
        Whether to ignore columns of prompts and models that are detected, and read all rows as one
        set.
    matrix : bool, optional
        Whether a symmetric table contains similarities, rather than features. By default, such a
        table is ambiguous.
    distances : bool, default False
        Whether a square table contains distances; the similarities are exp(−distance).
    normalize : bool, default False
        Whether to divide the similarities of a matrix by its constant diagonal; requires `matrix`.
    transpose : bool, default False
        Whether the rows of a table of counts are species, and its columns sites; requires `kind`
        "counts".
    on_error : {"raise", "skip"}, default "raise"
        Whether to raise an error for unusable samples, such as missing cells, or to drop them.

    Returns
    -------
    ReadResult
        The samples with their prompts, groups and sets; `description` says what was taken, and
        ``compute(**result.arguments)`` scores them.

    Other Parameters
    ----------------
    type : str, optional
        Format of the file, for example "txt" or "csv", if its name does not tell.
    split : str, optional
        What separates texts in a file of type txt: "row", "blank" for blank lines, or a line.
    encoding : str, optional
        Text encoding. By default, it is detected.
    header : bool, optional
        Whether the first row contains column names. By default, it is detected.
    index : bool, optional
        Whether the first column numbers the rows. By default, it is detected.
    comments : bool, optional
        Whether lines that begin with "# " are comments in a file of type txt. By default, a file
        with such lines is ambiguous.
    skip_rows : int, default 0
        Number of rows above the header.
    subfolders : bool, optional
        Whether to read files in the subfolders of a folder.
    file : str, optional
        Table to read in the folder `source`.

    Raises
    ------
    AmbiguousInputError
        If the source can be read in several ways. Its `choices` are keyword arguments of `read`.
    ValueError
        If the source cannot be read, or a column does not exist.
    SampleError
        If some samples are unusable.
    OSError
        If the file does not exist or cannot be opened.

    See Also
    --------
    compute : Compute scores.
    compare : Compare sets, for example models.

    Examples
    --------
    >>> import vendiscore
    >>> records = [{"prompt": "a color?", "answer": text} for text in ("red", "blue", "red")]
    >>> result = vendiscore.read(records)
    >>> result.samples
    ['red', 'blue', 'red']
    >>> vendiscore.compute(**result.arguments)
    {'VS': 1.88...}
    """
    passed: Record = {
        name: value
        for name, value in locals().items()
        if name not in ("source", *_FLAGS, "skip_rows", "on_error") and value is not None
    }
    for name in (*_COLUMN_KEYWORDS, "type", "split", "encoding", "file"):
        if name in passed and not isinstance(passed[name], str):
            raise TypeError(f"`{name}` must be a string, got {short_repr(passed[name])}")
    for name in ("matrix", "header", "index", "comments", "subfolders"):
        if name in passed:
            passed[name] = check_bool(name, passed[name])
    if encoding is not None:
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise ValueError(f"`encoding` is unknown: {short_repr(encoding)}") from None
    if kind is not None:
        check_choice("kind", kind, _KINDS)
    check_choice("on_error", on_error, ("raise", "skip"))
    flags = {
        "pool": pool,
        "distances": distances,
        "normalize": normalize,
        "transpose": transpose,
    }
    passed |= {name: True for name, value in flags.items() if check_bool(name, value)}
    if normalize and not matrix:
        raise ValueError("`normalize` requires `matrix`=True")
    if transpose and kind != "counts":
        raise ValueError("`transpose` requires `kind`='counts'")
    if distances and matrix is not None:
        raise ValueError("`matrix` and `distances` are mutually exclusive")
    if check_int("skip_rows", skip_rows, 0):
        passed["skip_rows"] = skip_rows
    name, load = _open(source, passed)
    try:
        samples = load(_build_options(passed))
    except AmbiguousInputError as question:
        if on_error == "skip":
            passed["on_error"] = on_error
        raise _build_error(question, name, passed, source) from None
    except RefusedError as error:
        place = f", {error.place}" if error.place else ""
        raise RefusedError(f"{name}{place}: {error.message}") from None
    n_dropped = len(samples.problems)
    if n_dropped:
        problems = {i: f"({samples.place(i)}) {samples.problems[i]}" for i in samples.problems}
        if on_error == "raise":
            raise SampleError.from_problems(problems)
        samples = samples.subset([i for i in range(len(samples)) if i not in problems])
    if not len(samples):
        raise RefusedError(f"{name}: no samples found")
    return _build_result(samples, passed, on_error, n_dropped)


def _build_options(keywords: Options) -> ReadOptions:
    """Return the options of reading for keywords of `read`."""
    options: Record = {_OPTION_NAMES.get(name, name): keywords[name] for name in keywords}
    for name in ("file", "on_error", "normalize"):
        options.pop(name, None)
    if options.get("kind") == "labels":
        options["kind"] = "values"
    return ReadOptions(**options)


def _open(source: object, keywords: Options) -> tuple[str, Load]:
    """Return the name of a source for messages, and a function that reads its samples."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        from .paths import read_bytes, read_content

        if file := keywords.get("file"):
            if not os.path.isdir(path):
                raise ValueError(f"`file` requires a folder, got {path!r}; remove it")
            path = os.path.join(path, str(file))
        data = read_bytes(path)
        return path, lambda read_options: read_content(path, data, read_options)
    if isinstance(source, (bytes, bytearray, memoryview)):
        if "file" in keywords or "subfolders" in keywords:
            raise ValueError("`file` and `subfolders` require a folder, got bytes; remove them")
        from .reader import read_data

        content = bytes(source)
        return "the content", lambda read_options: read_data("", content, read_options, strict=True)
    for name in _FILE_KEYWORDS:
        if name in keywords:
            raise ValueError(f"`{name}` requires a file or folder; remove it for data in memory")
    values = _list_records(source)
    return "the data", lambda read_options: _read_records(values, read_options)


def _list_records(source: object) -> list[Any]:
    """Return the rows of a data frame, or the items of a collection, as a list."""
    for method, arguments in (
        ("to_dicts", ()),  # polars
        ("to_pylist", ()),  # pyarrow
        ("to_list", ()),  # datasets, and columns of pandas and polars
        ("to_dict", ("records",)),  # pandas
    ):
        convert = getattr(source, method, None)
        if callable(convert) and not isinstance(source, type):
            return _without_nan(convert(*arguments))
    if isinstance(source, np.ndarray):
        raise TypeError("`source` is an array; pass it to compute, which needs no column")
    if isinstance(source, Mapping):
        if not all(isinstance(column, (list, tuple)) for column in source.values()):
            raise TypeError(
                "`source` must be a file, records or a data frame, got one dict; pass a list of "
                "dicts, or a dict of columns"
            )
        if len({*map(len, source.values())}) > 1:
            raise ValueError("the columns of `source` must have the same length")
        rows = zip(*source.values(), strict=True)
        return [dict(zip(source, row, strict=True)) for row in rows]
    if not isinstance(source, Iterable):
        raise TypeError(
            f"`source` must be a file, a folder, records or a data frame, got "
            f"{type(source).__name__}"
        )
    return list(source)


def _without_nan(records: list[Any]) -> list[Any]:
    """Replace NaN, the missing value of pandas, by None in columns that contain other types."""
    if not records or not isinstance(records[0], dict):
        return records
    names = {
        name
        for record in records
        for name, value in record.items()
        if not isinstance(value, (float, int, type(None)))
    }
    return [
        {
            name: None if name in names and isinstance(value, float) and value != value else value
            for name, value in record.items()
        }
        for record in records
    ]


def _read_records(values: list[Any], read_options: ReadOptions) -> Samples:
    """Read samples from values in memory, as those of a JSON array; positions are indices."""
    from .json_documents import table_from_value
    from .records import is_conversation
    from .table_samples import samples_of

    if not values:
        raise RefusedError("no samples found")
    if is_conversation(values):
        raise RefusedError("expected several conversations, got the messages of a single one")
    if all(map(is_conversation, values)):
        values = [{"messages": value} for value in values]
    table = table_from_value(values, read_options)
    samples = samples_of(table, read_options)
    if not read_options.kind:
        from .number_tables import check_no_whole_columns

        check_no_whole_columns(samples, read_options)
    return samples


def _build_error(
    question: AmbiguousInputError, name: str, passed: Record, source: object
) -> RefusedError:
    """Return the error for an ambiguous source, with calls of `read` that have been tried."""
    keywords = {*(field.name for field in fields(ReadOptions)), "file", "normalize"}

    def to_keywords(options: Options) -> Record:
        """Return options of `ReadOptions` as keywords of `read`."""
        result = {_KEYWORD_NAMES.get(name, name): value for name, value in options.items()}
        if result.get("kind") == "values":
            result["kind"] = "labels"
        if file := result.pop("file", None):
            folder = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
            result |= {"file": os.path.relpath(str(file), os.fsdecode(folder))}
            result = {key: value for key, value in result.items() if key != "subfolders"}
        return {**passed, **result}

    def try_options(options: Options) -> tuple[Samples, Options]:
        merged = to_keywords(options)
        _, load = _open(source, merged)
        return load(_build_options(merged)), {}

    def expand(question: AmbiguousInputError, answer: Options) -> Sequence[Record]:
        if not {*answer} <= {*keywords, "separator"}:
            return []
        return expand_answer(answer, question.known, supported=keywords)

    alternatives, problem = find_alternatives(question, expand, try_options)
    if not alternatives:
        return RefusedError(f"{name}: {question.question} No answer can be used: {problem}")
    choices = []
    calls = []
    is_path = isinstance(source, (str, os.PathLike))
    first = repr(os.fsdecode(source)) if isinstance(source, (str, os.PathLike)) else "source"
    for alternative in alternatives:
        arguments = to_keywords(alternative.options)
        if alternative.skips:
            arguments["on_error"] = "skip"
        choices.append((alternative.label, arguments))
        formatted = ", ".join([first, *(f"{key}={value!r}" for key, value in arguments.items())])
        is_clear = alternative.label in map(str, arguments.values())
        comment = "" if is_clear else f"  # {alternative.label}"
        calls.append(f"vendiscore.read({formatted}){comment}")
    prefix = f"{name}: " if is_path else ""
    return AmbiguousInputError(f"{prefix}{question.question}", choices, calls=calls)


def _build_result(samples: Samples, keywords: Options, on_error: str, n_dropped: int) -> ReadResult:
    """Return the public result for samples that were read with keywords of `read`."""
    kind = detect_sample_type(samples.kind, samples.values)
    comparison: Record = default_keywords(kind)
    if keywords.get("matrix") or keywords.get("distances"):
        comparison = {"score_K": True}
        if keywords.get("normalize"):
            comparison["normalize"] = True
    elif on_error == "skip":
        comparison = {**comparison, "on_error": "skip"}
    prompts = list(samples.prompts)
    groups = list(samples.groups)
    # Detected prompts are the groups of samples, unless other groups are named.
    is_prompt_column = bool(samples.grouping.get("groups")) and samples.unit != INDIVIDUAL
    if groups and not prompts and is_prompt_column and "groups" not in keywords:
        prompts, groups = [str(label) for label in groups], []
    description = samples.taken
    if n_dropped:
        description += f"; {format_dropped_count(n_dropped, 'unusable sample')}"
    return ReadResult(
        samples=samples.values if samples.counts is None else list(samples.values),
        prompts=prompts or None,
        groups=groups or None,
        sets=list(samples.sets) or None,
        weights=list(samples.weights) or None,
        quality=list(samples.quality) or None,
        correct=list(samples.correct) or None,
        kind="labels" if kind == "values" else kind,
        description=description,
        positions=list(samples.places),
        keywords=comparison,
    )
