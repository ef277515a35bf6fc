"""Choice of the columns of samples, prompts and models from their names and cells, or a question.

The samples are the only column that is named as generated output and holds matching content or, if
no name says so, the only column whose cells can be samples (prose, SMILES, sequences, images,
vectors). Everything else is a question. Ids and numbers never cause a question.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from statistics import median
from typing import NamedTuple

from ...support.errors import short_repr
from ...support.text_detection import are_sequences, count_unspaced, looks_like
from .count_columns import describe_counts, find_counts_answer, has_no_name, is_count_name
from .limits import AskError, ReadOptions, RefusedError
from .names import (
    LINE_NAMES,
    LONG_NAME,
    MOLECULE_NAMES,
    OUTPUT_NAMES,
    PREDICTION_NAMES,
    PROMPT_NAMES,
    RESULT_NAMES,
    SEQUENCE_NAMES,
    SITE_NAMES,
    TASK_NAMES,
    TITLE_NAMES,
    format_dropped_count,
    is_generic,
    is_named,
    join_names,
    role_of,
)
from .records import (
    detect_record_format,
    detect_speaker,
    extract_answers,
    extract_label,
    get_value_at,
    has_speakers,
    is_image,
    is_nested,
    iter_paths,
)
from .tables import Table, are_numbers, is_row
from .text_lines import is_transcript

_PREVIEW_ROWS = 200  # from which the content of columns is detected
_MAX_COLUMNS = 100  # columns examined
_MAX_CELL_LENGTH = 1_000  # characters of a cell that show what it is
_MIN_PROSE_FRACTION = 0.3  # of the cells have several words, in columns of prose and of phrases
_MAX_PHRASE_WORDS = 3  # words of a phrase at most, such as the names of people, places and products
_TOO_FEW_TEXTS = 2  # number of texts from which repetition cannot be judged
# Columns of numbers next to texts without a name for generated output.
_MAX_NUMBERS_NEXT_TO_TEXTS = 4
_MIN_FEATURES = 2  # columns of numbers that are features next to a column of words
_MAX_SETS = 20  # maximum number of sets that a column can define
_EXAMPLE_LENGTH = 40  # characters of a cell that a question shows
_MAX_SETTINGS = 4  # columns that a question about settings names
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(\D|$)")  # at the start of a time, too
_WHOLE_NUMBER = re.compile(r"\s*[-+]?\d*\s*")
_BOOLEAN = re.compile("true|false|yes|no", re.IGNORECASE)

# Contents that are sample types.
_SAMPLE_TYPES = ("molecules", "sequences", "vectors", "images")
# Contents of columns that hold samples of a kind.
_CONTENT_TYPES = {
    "texts": ("texts", "lists", "molecules", "sequences"),
    "sequences": ("texts", "molecules", "sequences"),
    "molecules": ("molecules",),
    "images": ("images",),
    "vectors": ("vectors",),
}
# Contents of texts that the name of their column can state, too.
_CONTENT_NAMES = {"molecules": MOLECULE_NAMES, "sequences": SEQUENCE_NAMES}
_SENTENCE_FORMS = ("prose", "transcripts")  # forms of texts that are more than names
# Roles of columns whose texts are never samples, unless the user selects the column.
_NON_SAMPLE_ROLES = ("prompt", "reference", "label", "model", "setting", "id")


class ColumnRoles(NamedTuple):
    """The columns that contain the samples, prompts and models, and the kind of the samples.

    `column` is None if the samples are the rows of all columns of numbers.
    """

    column: str | None
    kind: str
    prompt: str = ""
    model: str = ""
    record: str = ""  # the tool that writes such records
    first_value_column: str = ""  # only rows with the first value of this column are read


class Column(NamedTuple):
    """Evidence about a column: what its name states, and what its first cells contain.

    `role` is that of `role_of`, and `content_type` that of `column_kind`. Texts, also those in
    lists, have a `form`: "transcripts", in which speakers alternate; "prose"; "phrases" of up to
    three words, such as names; "words"; or "options", which are single letters. `is_repeated`
    states that at most half of them differ, as those of categories and disclaimers, and `is_rare`
    that most cells are empty. `length` is the median number of characters of the texts.
    """

    name: str
    role: str
    content_type: str
    form: str = ""
    is_repeated: bool = False
    is_rare: bool = False
    length: float = 0

    @property
    def is_named_samples(self) -> bool:
        """True if the name states that the column has samples, and its content can be samples."""
        if self.content_type in _CONTENT_NAMES:
            return is_named(self.name, _CONTENT_NAMES[self.content_type])
        can_be_answers = self.content_type == "lists" or (
            self.content_type == "texts" and not self.has_labels
        )
        return can_be_answers and self.role == "text"

    @property
    def has_labels(self) -> bool:
        """Whether the texts are class labels: single letters, or predicted words that repeat."""
        is_class = self.form == "words" and self.is_repeated
        return self.form == "options" or (is_class and is_named(self.name, PREDICTION_NAMES))

    @property
    def can_be_samples(self) -> bool:
        """True if the cells can be samples, and the name does not state another role."""
        if self.is_rare:
            return False
        if self.role in (*_NON_SAMPLE_ROLES, "other"):
            # "row" is no id of vectors, and "variants" are no setting if they are a list.
            exceptions = [("id", "vectors"), ("setting", "lists"), ("model", "lists")]
            return (self.role, self.content_type) in exceptions
        if self.content_type == "lists":  # single words are tags or ids
            return self.form not in ("words", "options")
        return self.content_type in _SAMPLE_TYPES or self.form in ("phrases", *_SENTENCE_FORMS)


def detect_columns(preview: Table, read_options: ReadOptions) -> ColumnRoles:
    """Detect the columns of samples, prompts and models from the first rows of a table.

    Parameters
    ----------
    head : Table, not empty
    read_options : ReadOptions, with the columns and the sample type that the user selected

    Returns
    -------
    tuple
        The `column`, None for all columns of numbers, its `kind`, and the columns `prompt` and
        `model`, "" without one.

    Raises
    ------
    AskError, RefusedError
        If the table can be read in several ways; if it has no column of samples.
    """
    all_columns = [_analyze_column(preview, name) for name in preview.names[:_MAX_COLUMNS]]
    columns = [
        column for column in all_columns if column.name not in (*read_options.others, preview.group)
    ]
    name = read_options.column
    if name and name not in preview.names and read_options.kind == "vectors" and "," in name:
        return _take_all_numbers(all_columns, read_options, name)
    record_columns = _detect_record_columns(preview, read_options)
    if record_columns and name in (None, record_columns.column):
        return record_columns
    if not name:
        record = describe_counts(preview, columns, read_options)
        if record or read_options.kind == "counts":
            return ColumnRoles(None, "counts", record=record)
        candidates = _find_candidates(columns, read_options)
        has_mismatch = not read_options.kind and _has_mismatch(columns)
        if has_mismatch:
            candidates = [column for column in candidates if column.is_named_samples]
        elif not any(column.is_named_samples for column in candidates):
            candidates = _find_named_paths(preview, columns, read_options) or candidates
            if _has_lists_of_records(preview) or _are_lists_of_ids(preview, columns, candidates):
                candidates = []
        if not (candidates or has_mismatch) and _are_features(preview, columns, read_options):
            return _take_all_numbers(all_columns, read_options)
        if len(candidates) != 1 or _may_name_rows(candidates[0], columns, read_options):
            raise _build_question(preview, columns, candidates, read_options)
        name = candidates[0].name
    content_type = column_kind(preview, name)
    if content_type == "numbers":
        content_type = "vectors"
    kind = read_options.kind or (content_type if content_type in _SAMPLE_TYPES else "texts")
    if record_columns:
        prompt = "" if record_columns.prompt == name else record_columns.prompt
        return ColumnRoles(name, kind, prompt, record_columns.model)
    return ColumnRoles(name, kind, *_detect_grouping(preview, all_columns, name, read_options))


def _find_candidates(columns: Sequence[Column], read_options: ReadOptions) -> list[Column]:
    """Return the columns that are likely samples: one if the columns leave no doubt."""
    if read_options.kind and len(columns) == 1:
        return list(columns)
    if read_options.kind == "values":
        named = [column for column in columns if column.role == "text"]
        return named if len(named) == 1 else list(columns)
    content_types = _CONTENT_TYPES.get(read_options.kind, ("texts", "lists", *_SAMPLE_TYPES))
    numbers = [] if read_options.kind else _select_features(columns)
    has_nested = not read_options.kind and any(
        column.content_type == "nested" for column in columns
    )
    n_features = sum(not is_count_name(column.name) for column in numbers)
    columns = [column for column in columns if column.content_type in content_types]
    if read_options.kind == "texts" and any(column.content_type == "texts" for column in columns):
        columns = [column for column in columns if column.content_type != "molecules"]
    named = [column for column in columns if column.is_named_samples]
    unnamed = [column for column in columns if column.can_be_samples and column not in named]
    if named:
        return named + _find_rivals(named, unnamed)
    if unnamed:
        return _select_unnamed(columns, unnamed, n_features)
    are_sentences = (
        column.form in _SENTENCE_FORMS for column in columns if column.role in _NON_SAMPLE_ROLES
    )
    # Names and single words may be about prompts or nested values.
    if has_nested or any(are_sentences):
        return []
    return _select_names_or_words(columns, n_features)


def _find_rivals(named: Sequence[Column], unnamed: Sequence[Column]) -> list[Column]:
    """Return the columns that can be samples as well as those that are named as generated output.

    A name for any texts, such as "text", can also name texts that lists, vectors or images are
    about, or that other texts rewrite.
    """
    is_generic_name = all(is_generic(column.name) for column in named)
    contents = ("vectors", "images", *["lists"] * is_generic_name)
    forms = ("transcripts", *["prose"] * is_generic_name)
    return [column for column in unnamed if column.content_type in contents or column.form in forms]


def _select_unnamed(
    columns: Sequence[Column], possible: list[Column], n_features: int
) -> list[Column]:
    """Return the likely samples among possible columns without a name for generated output.

    There are none if they may be about `n_features` columns of numbers, or only repeat few texts.
    Titles can be texts of their own, which others describe, or which names are about.
    """
    possible = sorted(possible, key=lambda column: column.content_type == "lists")  # stable
    are_about_numbers = (
        possible[0].content_type == "texts" and n_features > _MAX_NUMBERS_NEXT_TO_TEXTS
    )
    if are_about_numbers or all(column.is_repeated for column in possible):
        return []
    titles = [column for column in columns if _is_prose_title(column)]
    if titles and all(column.form == "phrases" for column in possible):
        return titles
    return possible + titles if possible[0].form == "prose" else possible


def _select_names_or_words(columns: Sequence[Column], n_features: int) -> list[Column]:
    """Return columns of texts that are samples only if the table has hardly any numbers.

    Their names do not state that they are samples. Sentences and phrases may occur beside one
    column of features, single words beside none; `n_features` is the number of such columns.
    """
    texts = [column for column in columns if column.role in ("", "other")]
    texts = [column for column in texts if column.content_type == "texts"]
    texts = [column for column in texts if not (column.form == "prose" and column.is_repeated)]
    prose, phrases, words = (
        [column for column in texts if column.form == form]
        for form in ("prose", "phrases", "words")
    )
    unnamed_words = [column for column in words if not column.role]
    candidates, max_features = unnamed_words or words, 0
    if prose:
        candidates, max_features = [column for column in prose if not column.role] or prose, 1
    elif phrases:  # names, or words that they name
        candidates, max_features = phrases + unnamed_words, 1
    return candidates if n_features <= max_features else []


def _is_prose_title(column: Column) -> bool:
    return column.form == "prose" and is_named(column.name, TITLE_NAMES)


def _has_mismatch(columns: Sequence[Column]) -> bool:
    """Return whether a column is named as generated output, but has letters, numbers or nothing."""
    return any(
        column.role == "text" and (column.has_labels or column.content_type in ("numbers", ""))
        for column in columns
    )


def _find_named_paths(
    preview: Table, columns: Sequence[Column], read_options: ReadOptions
) -> list[Column]:
    """Return the paths in nested values whose last key is named as generated output.

    Texts of several speakers are not meant without doubt.
    """
    if read_options.kind not in ("", "texts"):
        return []
    # "paraphrase_groups" is no setting if its values are nested.
    possible_roles = ("", "text", "other", "setting", "model")
    first = preview.record(0)
    possible = [
        column
        for column in columns
        if column.role in possible_roles and not has_speakers(first[column.name])
    ]
    return [
        Column(path, "text", "texts")
        for path in _find_nested_paths(preview, possible)
        if role_of(_get_last_key(path)) == "text"
    ]


def _has_lists_of_records(preview: Table) -> bool:
    """Return whether the only row has several lists of records, likelier samples than its texts."""
    if len(preview.rows) != 1:
        return False
    lists = [value for value in preview.record(0).values() if isinstance(value, list) and value]
    return sum(all(map(is_nested, value)) for value in lists) > 1


def _are_lists_of_ids(
    preview: Table, columns: Sequence[Column], candidates: Sequence[Column]
) -> bool:
    """Return whether the only likely samples are lists of integers next to nested values.

    They may be the ids of records in these values.
    """
    if [column.content_type for column in candidates] != ["vectors"]:
        return False
    if not any(column.content_type == "nested" for column in columns):
        return False
    cells = preview.column(candidates[0].name, _PREVIEW_ROWS)
    lists = [cell for cell in cells if isinstance(cell, list)]
    return all(type(number) is int for number in chain.from_iterable(lists))


def _find_nested_paths(preview: Table, columns: Sequence[Column]) -> list[str]:
    """Return the paths to the texts in the nested values of the first row."""
    first = preview.record(0)
    return [
        path
        for column in columns
        if column.content_type == "nested"
        for path in iter_paths(first[column.name], column.name)
    ]


def _are_features(preview: Table, columns: Sequence[Column], read_options: ReadOptions) -> bool:
    """Return whether the columns of numbers are the samples, where no other column can be.

    A single column of numbers next to words, numbers next to phrases, and numbers next to several
    columns of words may be about them. So may whole numbers next to words, if no column has a name.
    """
    features = _select_features(columns)
    if read_options.kind == "vectors":
        return True
    if read_options.kind or not features:
        return False
    if _are_results(features):
        return False
    if any(column.content_type == "nested" for column in columns):
        return False
    texts = [column for column in columns if column.form and column.role not in ("id", "label")]
    about = [column for column in texts if column.role != "other"]  # more than names of rows
    if texts and not (preview.header or preview.typed) and _are_whole(preview, features):
        return False
    if len(about) > 1 or any(column.form not in ("words", "options") for column in about):
        return False
    return len(features) >= (_MIN_FEATURES if texts else 1)


def _are_whole(preview: Table, columns: Sequence[Column]) -> bool:
    """Return whether all numbers of some columns are whole."""
    cells = chain.from_iterable(preview.column(column.name, _PREVIEW_ROWS) for column in columns)
    return all(map(_WHOLE_NUMBER.fullmatch, map(str, cells)))


def _are_results(columns: Sequence[Column]) -> bool:
    """Return whether at least half of some columns of numbers are about their rows."""
    return 0 < len(columns) <= 2 * sum(map(_is_result, columns))


def _is_result(column: Column) -> bool:
    """Return whether the name of a column of numbers states that they are about their row."""
    return column.role in ("text", "reference", "other") or is_named(column.name, RESULT_NAMES)


def _may_name_rows(column: Column, columns: Sequence[Column], read_options: ReadOptions) -> bool:
    """Return whether phrases may be names of rows of numbers, such as products with their sizes."""
    is_requested = column.is_named_samples or read_options.kind
    return (
        column.form == "phrases"
        and not is_requested
        and len(_select_features(columns)) >= _MIN_FEATURES
    )


def _select_features(columns: Sequence[Column]) -> list[Column]:
    """Return the columns of numbers that may be meant: of several, no ids and labels."""
    numbers = [column for column in columns if column.content_type == "numbers"]
    excluded_roles = ("id", "label") if len(columns) > 1 else ()
    return [column for column in numbers if column.role not in excluded_roles]


def _take_all_numbers(
    columns: Sequence[Column], read_options: ReadOptions, names: str | None = None
) -> ColumnRoles:
    """Return the roles if all columns of numbers are features, grouped by columns of texts."""
    texts = [column for column in columns if column.content_type == "texts"]
    return ColumnRoles(names, "vectors", *_detect_grouping(None, texts, "", read_options))


def analyze_columns(preview: Table, read_options: ReadOptions) -> list[Column]:
    """Return the evidence about the columns that can hold samples."""
    names = preview.names[:_MAX_COLUMNS]
    return [
        _analyze_column(preview, name)
        for name in names
        if name not in (*read_options.others, preview.group)
    ]


def _analyze_column(preview: Table, name: str) -> Column:
    holds = column_kind(preview, name)
    strings = _collect_strings(preview, name) if holds in ("texts", "lists") else []
    form = _detect_text_form([text[:_MAX_CELL_LENGTH] for text in strings]) if strings else ""
    is_repeated = holds == "texts" and 2 * len({*strings}) <= len(strings) > _TOO_FEW_TEXTS
    cells = preview.column(name, _PREVIEW_ROWS)
    n_empty = sum(cell is None or (isinstance(cell, str) and not cell) for cell in cells)
    is_rare = 2 * n_empty > len(cells)
    length = median(map(len, strings)) if strings else 0
    return Column(name, _detect_role(preview, name), holds, form, is_repeated, is_rare, length)


def _detect_role(preview: Table, name: str) -> str:
    """Return the role of a column; one without a name next to named ones has names of rows."""
    if len(preview.names) > 1 and has_no_name(preview, name):
        return "id"
    return role_of(name)


def _detect_text_form(strings: Sequence[str]) -> str:
    """Return the form of the texts of a column, as `Column` describes it."""
    if 2 * sum(map(is_transcript, strings)) > len(strings):
        return "transcripts"
    if sum(map(is_prose, strings)) > _MIN_PROSE_FRACTION * len(strings):
        if count_unspaced(strings):
            return "prose"
        # Phrases are repeated: only different ones count.
        lengths = [len(text.split()) for text in {*strings}]
        return "phrases" if median(lengths) <= _MAX_PHRASE_WORDS else "prose"
    return "words" if any(len(text.strip("(). ")) > 1 for text in strings) else "options"


def column_kind(head: Table, name: str) -> str:
    """Detect the type of a column from its first cells and its name.

    Parameters
    ----------
    head : Table
        The first rows.
    name : str
        Column name; it distinguishes molecules and sequences from other text.

    Returns
    -------
    str
        "texts", "lists" (of texts), "molecules", "sequences", "images", "numbers", "vectors",
        "nested" or "".

    See Also
    --------
    role_of : Detect the role of a column from its name.

    Examples
    --------
    >>> from vendiscore.report import Table, column_kind
    >>> column_kind(Table(["x"], [[1], [2.5]], [2, 3]), "x")
    'numbers'
    """
    kind = _detect_cell_type(head.column(name, _PREVIEW_ROWS))
    if kind == "texts" and is_named(name, MOLECULE_NAMES):
        return "molecules"
    if kind not in ("texts", "molecules") or not is_named(name, SEQUENCE_NAMES):
        return kind
    strings = _collect_strings(head, name)
    # A few chains of a molecule may be separated by spaces.
    return kind if sum(map(is_prose, strings)) > _MIN_PROSE_FRACTION * len(strings) else "sequences"


def _collect_strings(preview: Table, name: str) -> list[str]:
    """Return the texts in the first cells of a column, also those in lists."""
    cells = preview.column(name, _PREVIEW_ROWS)
    values = chain.from_iterable(cell if isinstance(cell, list) else [cell] for cell in cells)
    return [cell for cell in values if isinstance(cell, str) and cell.strip()]


def _detect_record_columns(preview: Table, read_options: ReadOptions) -> ColumnRoles | None:
    """Return the answers of records that a tool is known to write."""
    if not preview.typed or read_options.kind not in ("", "texts"):
        return None
    first = preview.record(0)
    record_format = detect_record_format(first)
    if not record_format:
        return None
    model = record_format.model if get_value_at(first, record_format.model) is not None else ""
    prompt, model = read_options.unnamed_groups(record_format.prompt, model)
    return ColumnRoles(
        record_format.answers,
        "texts",
        prompt,
        model,
        record_format.name,
        record_format.first_value_column,
    )


def is_numeric(table: Table, read_options: ReadOptions) -> bool:
    """Return whether the column that is named, or each one, has numbers that may be features."""
    columns = analyze_columns(table, read_options)
    is_open = bool(columns) and not read_options.column
    if is_open and (
        _are_results(_select_features(columns))
        or is_named(columns[0].name, SITE_NAMES)
        or describe_counts(table, columns, read_options)
    ):
        return False
    named = [column for column in columns if column.name == read_options.column]
    return {column.content_type for column in named or columns} - {""} == {"numbers"}


def merge_numbered(table: Table, read_options: ReadOptions) -> Table:
    """Merge columns of texts whose names differ only in a number, such as answer_1, into lists.

    In a column of lists that is named as the lines of texts, these are joined.
    """
    table = _join_lines(table, read_options)
    stems: dict[str, list[str]] = {}
    columns = analyze_columns(table, read_options)
    for column in columns:
        if column.role == "text" and column.content_type == "texts":
            stem = re.sub(r"[\W_]*\d+$", "", column.name)
            stems.setdefault(stem, []).append(column.name)
    repeated_stems = [stem for stem, numbered in stems.items() if len(numbered) > 1]
    has_several_models = (
        sum(column.role == "model" for column in columns) > 1
    )  # one for each column
    if (
        has_several_models
        or read_options.column
        or read_options.kind == "vectors"
        or len(repeated_stems) != 1
    ):
        return table
    stem = repeated_stems[0]
    numbered = stems[stem]
    merging = {*numbered}
    rows = []
    n_blank = 0
    for i in range(len(table.rows)):
        record = table.record(i)
        answers = [record.pop(name) for name in numbered]
        filled = list(filter(None, answers))
        n_blank += len(answers) - len(filled)
        rows.append([*record.values(), filled])
    names = [*(name for name in table.names if name not in merging), stem]
    merged = f"{short_repr(stem)} are the {len(numbered)} columns {join_names(numbered)}"
    if n_blank:  # rows may have fewer answers than others
        merged += f", in which {format_dropped_count(n_blank, 'blank cell')}"
    return replace(table, names=names, header=names, rows=rows, above=[*table.above, merged])


def _join_lines(table: Table, read_options: ReadOptions) -> Table:
    """Return a table with texts instead of lists in columns that are named as lines of texts."""
    if not table.typed:  # cells of delimited text are no lists
        return table
    names = [
        column.name
        for column in analyze_columns(table, read_options)
        if column.content_type == "lists" and is_named(column.name, LINE_NAMES)
    ]
    if not names:
        return table
    joined = {table.indices[name] for name in names}
    rows = [
        [
            "\n".join(map(str, cell)) if j in joined and isinstance(cell, list) else cell
            for j, cell in enumerate(row)
        ]
        for row in table.rows
    ]
    what = f"the lists of {join_names(names)} are the lines of one text each"
    return replace(table, rows=rows, above=[*table.above, what])


def _build_question(
    preview: Table,
    columns: Sequence[Column],
    candidates: Sequence[Column],
    read_options: ReadOptions,
) -> RefusedError:
    """Ask for the column: the likely ones first, then paths in nested ones, then others."""
    sample_type = read_options.kind if read_options.kind in ("molecules", "vectors") else "samples"
    texts = [
        column for column in columns if column.content_type in ("texts", "lists", *_SAMPLE_TYPES)
    ]
    first = preview.record(0)
    nested = sorted(
        _find_nested_paths(preview, columns),
        key=lambda path: _rank_path(path, get_value_at(first, path)),
    )  # stable
    ranked = sorted((column for column in texts if column not in candidates), key=_rank_column)
    candidates = sorted(candidates, key=_rank_candidate)
    names = [column.name for column in candidates] + nested + [column.name for column in ranked]
    names = list(dict.fromkeys(names))[:_MAX_COLUMNS]
    has_numbers = not read_options.kind and bool(_select_features(columns))
    for column in columns:
        if column.role == "text" and not column.content_type and not candidates and preview.header:
            return RefusedError(
                f"Column {short_repr(column.name)}, whose name states that it has the samples, has "
                "no texts; fill it, or name another column."
            )
    if not (names or has_numbers):
        return RefusedError(
            f"There is no column of {sample_type}; it has {join_names(preview.names)}."
        )
    if not names:
        results = join_names(column.name for column in _select_features(columns))
        return AskError(
            f"The only numbers, {results}, are named as results about the rows. Are they features?",
            [("They are features", {"kind": "vectors"})],
        )
    reason = "No column is clearly meant"
    if len(candidates) > 1:
        in_order = (column.name for column in columns if column in candidates)
        more = (column.name for column in candidates if column not in columns)  # paths
        reason = f"Columns {join_names(chain(in_order, more))} could be meant"
    elif not candidates and not has_numbers and {column.role for column in texts} == {"prompt"}:
        reason = "It has prompts only, without answers"
    roles = {column.name: column.role for column in columns}
    choices: list[tuple[str, dict[str, object]]] = []
    for name in names:
        label = f"score the prompts in {name}" if roles.get(name) == "prompt" else name
        example = _format_example(preview, name) if len(names) > 1 else ""
        choices.append((f"{label} ({example})" if example else label, {"column": name}))
    if has_numbers:
        # Names of rows, and categories, are less likely than several columns of numbers.
        has_named = any(column.role == "text" and column.form for column in columns)
        prose = [
            column for column in columns if column.form in _SENTENCE_FORMS and column.can_be_samples
        ]
        has_long = any(column.length > LONG_NAME for column in prose)
        # Several columns of different words next to results, such as scores of pairs of words.
        n_words = sum(column.form == "words" and not column.is_repeated for column in texts)
        are_words = n_words > 1 and _are_results(_select_features(columns))
        has_texts = has_named or has_long or are_words or len(prose) > 1
        are_first = (
            not (candidates or has_texts) and len(_select_features(columns)) >= _MIN_FEATURES
        )
        position = 0 if are_first else len(choices)
        choices.insert(position, ("all columns of numbers", {"kind": "vectors"}))
        if counts_answer := find_counts_answer(preview, columns):
            position = len(choices) if counts_answer.get("transpose") else 0
            choices.insert(position, ("the numbers are counts of individuals", {**counts_answer}))
    return AskError(f"Which column holds the {sample_type}? {reason}.", choices)


def _rank_path(path: str, value: object) -> int:
    """Return the position of a path to texts in nested values among those that a question offers.

    Of paths whose last key does not state a role, those to prose come first.
    """
    key = _get_last_key(path)
    speaker = detect_speaker(key)
    if speaker == "assistant" or any(is_named(key, pattern) for pattern in _CONTENT_NAMES.values()):
        return 0
    if speaker == "user":
        return 4
    if not role_of(key):
        texts = list(_iter_texts(value))
        return 1 if 2 * sum(map(is_prose, texts)) > len(texts) else 2
    return {"text": 0, "other": 3, "prompt": 4}.get(role_of(key), 5)


def _iter_texts(value: object) -> Iterator[str]:
    """Yield the texts of nested lists."""
    if isinstance(value, str):
        yield value[:_MAX_CELL_LENGTH]
    elif isinstance(value, list):
        for item in value:
            yield from _iter_texts(item)


def _get_last_key(path: str) -> str:
    return re.split(r"[.\]]", path)[-1]


def _rank_candidate(column: Column) -> tuple[bool, bool, bool, int]:
    """Return the position of likely samples: named as output, as texts, then prose by length."""
    is_output = is_named(column.name, OUTPUT_NAMES)
    is_short = column.form in ("phrases", "words", "options")
    return not is_output, not column.is_named_samples, is_short, _rank_length(column)


def _rank_length(column: Column) -> int:
    """Return a lower number for longer texts: by one for twice as many characters as a name.

    Transcripts also have the texts of those who ask.
    """
    names_long = round(column.length) // LONG_NAME
    return 0 if column.form == "transcripts" else -names_long.bit_length()


def _rank_column(column: Column) -> tuple[int, int]:
    """Return the position of a column of texts among those that a question offers."""
    if column.role == "text":
        return 1, _rank_length(column)
    if column.role in _NON_SAMPLE_ROLES:
        return 3 if column.role == "prompt" and column.form == "prose" else 9, 0
    forms = {"transcripts": 0, "prose": 0, "": 0, "phrases": 2, "words": 4}
    return forms.get(column.form, 6) + (column.role == "other"), _rank_length(column)


def _format_example(preview: Table, name: str) -> str:
    """Return the start of the first text of a column, in quotes."""
    cells = map(extract_answers, preview.column(name, _PREVIEW_ROWS))
    texts = (cell[0] if isinstance(cell, list) and cell else cell for cell in cells)
    text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    words = " ".join(text.split())
    return f"“{words[:_EXAMPLE_LENGTH]}{'…' * (len(words) > _EXAMPLE_LENGTH)}”" if words else ""


def _detect_grouping(
    preview: Table | None, columns: Sequence[Column], name: str, read_options: ReadOptions
) -> tuple[str, str]:
    """Return the columns that are named as prompts and as models, "" without one.

    If the user selected a column for one of these roles, it replaces the detected column. Of
    several columns of prompts (an instruction, its input), the one with the most different cells
    in the first rows is taken.
    """
    others = [
        column
        for column in columns
        if column.name != name and column.content_type not in ("vectors", "")
    ]
    prompts = [column.name for column in others if column.role == "prompt"]
    if preview and len(prompts) > 1:
        n_different = {
            prompt: len({*map(extract_label, preview.column(prompt, _PREVIEW_ROWS))})
            for prompt in prompts
        }
        prompts.sort(key=lambda prompt: -n_different[prompt])  # stable: the first of equal ones
    ids = [column.name for column in others if column.role == "id"]
    for pattern in (PROMPT_NAMES, TASK_NAMES):
        prompts += [name for name in ids if is_named(name, pattern)]
    models = [
        column.name
        for column in others
        if column.role == "model" and column.content_type == "texts" and column.form != "prose"
    ]
    return read_options.unnamed_groups([*prompts, ""][0], [*models, ""][0])


def _detect_cell_type(cells: Sequence[object]) -> str:
    """Return what most cells hold: "numbers", "vectors", "lists" of texts, "texts", "nested", …"""
    filled = [cell for cell in cells if cell is not None and cell != "" and cell == cell]
    strings = [cell for cell in filled if isinstance(cell, str)]
    if strings and 2 * len(strings) >= len(filled):
        return _detect_string_type(strings)
    tests = _CELL_TYPE_TESTS.items()
    return next((kind for kind, test in tests if any(map(test, filled))), "")


_CELL_TYPE_TESTS: dict[str, Callable[[object], bool]] = {
    "images": is_image,
    "vectors": is_row,
    "nested": is_nested,
    "lists": lambda cell: isinstance(cell, list),
    "numbers": lambda cell: isinstance(cell, (int, float)),
}


def _detect_string_type(strings: Sequence[str]) -> str:
    texts = [text[:_MAX_CELL_LENGTH].strip() for text in strings]
    if are_numbers(texts):
        return "numbers"
    if is_row(parse_row(strings[0])):
        return "vectors"
    if not re.search(r"[^\W\d_]", "".join(texts)) or all(map(_DATE.match, texts)):
        return ""
    detected = looks_like(texts)
    if detected and detected[1] == "morgan":
        return "molecules"
    return "sequences" if are_sequences(texts) else "texts"


def parse_row(cell: object) -> object:
    """Return the numbers of a text that lists them as JSON or NumPy does; other cells as they are.

    >>> parse_row("[1, 2.5]"), parse_row("[1.  2.5]"), parse_row("[1. ... 2.5]")
    ([1, 2.5], [1.0, 2.5], '[1. ... 2.5]')
    """
    if not isinstance(cell, str) or not cell.startswith("["):
        return cell
    for parse in (json.loads, _parse_printed_array):
        try:
            return parse(cell)
        except ValueError:
            pass
    return cell


def _parse_printed_array(text: str) -> list[float]:
    """Return the numbers between the brackets of an array of one dimension as NumPy prints it."""
    return list(map(float, text.strip().removeprefix("[").removesuffix("]").split()))


def is_prose(cell: str) -> bool:
    """Return whether a cell contains several words.

    Parameters
    ----------
    cell : str
        The cell.

    Returns
    -------
    bool
        Whether it contains several words.

    See Also
    --------
    column_kind : Detect the type of a column.

    Examples
    --------
    >>> is_prose("a cat sat"), is_prose("cat")
    (True, False)
    """
    return (" " in cell and any(map(str.isalpha, cell))) or count_unspaced([cell]) > 0


def few_values(labels: Iterable[str]) -> bool:
    """Return whether labels repeat enough to define groups.

    Parameters
    ----------
    labels : iterable of str
        The labels.

    Returns
    -------
    bool
        Whether there are 2 to 20 distinct labels, each used at least twice on average.

    See Also
    --------
    column_kind : Detect the type of a column.

    Examples
    --------
    >>> few_values(["a", "b", "a", "b"]), few_values(["a", "b", "c", "d"])
    (True, False)
    """
    filled = [label for label in labels if label]
    return 2 <= len({*filled}) <= min(_MAX_SETS, len(filled) // 2)


def find_set_columns(table: Table) -> list[str]:
    """Return the columns that may tell sets apart: those named as models before any of few values.

    >>> find_set_columns(Table(["text", "LLM"], [["a b", "x"], ["c d", "y"]] * 2, [1, 2, 3, 4]))
    ['LLM']
    """
    columns = [_analyze_column(table, name) for name in table.names[:_MAX_COLUMNS]]
    texts = [
        column for column in columns if column.content_type == "texts" and column.form != "prose"
    ]
    models = [column.name for column in texts if column.role == "model"]
    other_names = [column.name for column in texts if column.role in ("", "label", "setting")]
    return models + [name for name in other_names if few_values(table.labels(name))]


def find_setting_columns(
    table: Table, roles: ColumnRoles, read_options: ReadOptions
) -> list[Column]:
    """Return the columns that may say how answers were generated, by their names and content."""
    if read_options.groups_named or roles.record or roles.kind not in ("texts", "molecules"):
        return []
    columns = [
        column for column in analyze_columns(table, read_options) if column.name not in roles
    ]
    return [column for column in columns if _can_be_setting(column)]


def _can_be_setting(column: Column) -> bool:
    if column.role in ("setting", "model"):
        return column.content_type in ("texts", "numbers") and column.form != "prose"
    is_few_words = column.content_type == "texts" and column.form != "prose"
    return is_few_words and column.role in ("", "label")


def check_one_set(table: Table, roles: ColumnRoles, read_options: ReadOptions) -> None:
    """Ask whether columns of few values that differ among the answers to a prompt define sets.

    All such columns are in one question. If the user selected the column of samples, it only
    contains columns that are named as settings or models.
    """
    candidates = find_setting_columns(table, roles, read_options)
    units = _label_answer_units(table, roles)
    # Without prompts that have several answers, only a name states that answers are comparable.
    needs_name = bool(read_options.column) or len({*units}) == 1
    settings = {}
    for column in candidates:
        labels = table.labels(column.name)
        values = [*dict.fromkeys(filter(None, labels))]
        is_named_setting = column.role in ("setting", "model")
        is_chat = len(values) > 1 and "assistant" in map(detect_speaker, values[:_MAX_SETS])
        if needs_name and not is_named_setting and (read_options.column or not is_chat):
            continue
        is_judgement = all(map(_BOOLEAN.fullmatch, values)) and column.role != "setting"
        # Values of a setting that is named so can be as rare as they are in a small sample.
        are_few = few_values(labels) or (
            column.role == "setting" and 2 <= len(values) <= min(_MAX_SETS, len(labels) - 1)
        )
        if are_few and _varies_within(labels, units) and not is_judgement:
            settings[column.name] = values
    if not settings:
        return
    names = list(settings)[:_MAX_SETTINGS]
    value_lists = [join_names(settings[name]) for name in names]
    question = (
        f"Is each value of column {short_repr(names[0])} a set of its own ({value_lists[0]})?"
    )
    if len(names) > 1:
        listed = [
            f"{short_repr(name)} ({value_list})"
            for name, value_list in zip(names, value_lists, strict=True)
        ]
        question = (
            f"Columns {', '.join(listed)} differ among the answers to one prompt. Which of them "
            "defines sets?"
        )
    raise AskError(
        question,
        [
            *((f"Each {name} by itself", {"group_by": name}) for name in names),
            ("All rows are one set", {"pool": True}),
        ],
        {"prompts": roles.prompt, "by": roles.model},
    )


def _label_answer_units(table: Table, roles: ColumnRoles) -> Sequence[object]:
    """Return for each row what it answers: a prompt, and by which model."""
    n = len(table.rows)
    if column_kind(table, str(roles.column)) == "lists":  # the answers of a row are one unit
        return range(n)
    prompts: Sequence[object] = table.labels(roles.prompt) if roles.prompt else [""] * n
    models = table.labels(roles.model) if roles.model else [""] * n
    units = list(zip(prompts, models, strict=True))
    # If no prompt has several answers, all answers are compared with each other.
    return [""] * n if len({*units}) == n else units


def _varies_within(labels: Sequence[str], units: Sequence[object]) -> bool:
    """Return whether rows of the same unit have different labels."""
    return len({*zip(units, labels, strict=True)}) > len({*units})
