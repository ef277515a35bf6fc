"""Layouts of JSON documents: rows from arrays, objects of records, of columns and of groups."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .limits import AskError, RefusedError
from .names import is_column_name, is_sentence, join_names, role_of
from .records import HOLDERS, is_conversation

Document = Mapping[str, Any]
EXPECTED = "Expected an array of texts, of records or of rows of numbers"
_KEY, _GROUP, _TEXT = "key", "group", "text"
_SEPARATOR = re.compile(r"[\W\d_]+")  # of the words of a key
_NON_SAMPLE_ROLES = ("prompt", "reference", "label", "id")  # roles of lists of texts
_CHOICES = {
    "records": "Each key names a record",
    "columns": "Each key names a column",
    "groups": "Each key names a group of samples",
}


@dataclass(frozen=True)
class Rows:
    """The rows of a document, and the column that the layout of the document makes their group."""

    values: list[Any]
    group: str = ""


def extract_rows(document: object, layout: str = "") -> Rows:
    """Return the rows of a document: of an array, its elements; of an object, by its layout.

    The keys of an object can name records, columns or groups (`layout`). Without a layout:

    - In an object of objects, the keys name columns if the inner keys number the rows (0, 1, 2, …,
      in every column), as pandas writes them. They name records if they are numbers themselves, or
      if the records do not have all keys in common. Otherwise, a column holds values of one type
      and can have the name of a column; if this does not decide, it is a question.
    - In an object of lists, the keys name columns if the lists have the same length, and their
      types differ or a key is the name of a column. They name groups if the lengths differ, or if a
      key is a sentence. Otherwise, it is a question.
    - In an object of texts, the keys name records, unless one is the name of a column. An object
      with a conversation, or with a text that is named as an answer, is a single record.

    Objects in an array, each with one object under a key of its own, are read as a single object.
    A column `key` holds the names of records, and a column `group` the names of groups.
    """
    if isinstance(document, list):
        if merged := _merge_objects(document):
            return extract_rows(merged, layout)
        return Rows(_with_header(document))
    if not isinstance(document, dict) or not document:
        raise RefusedError(f"{EXPECTED}, got {type(document).__name__}.")
    rows = _extract_object_rows(document, layout)
    if rows is None:
        raise RefusedError(
            f"{EXPECTED}, got an object with {join_names(document)}; save the list of samples "
            "itself."
        )
    return rows


def _merge_objects(values: list[Any]) -> Document:
    """Return one object if each value is an object with a single object under a key of its own."""
    if len(values) < 2 or not all(isinstance(value, dict) and len(value) == 1 for value in values):
        return {}
    merged = {key: inner for value in values for key, inner in value.items()}
    is_nested = all(isinstance(inner, dict) and len(inner) > 1 for inner in merged.values())
    return merged if is_nested and len(merged) == len(values) else {}


def _with_header(values: list[Any]) -> list[Any]:
    """Return rows of cells below a row of column names as records; other values as they are."""
    first = values[0] if values else None
    if not isinstance(first, list) or len(first) < 2 or len(values) < 2:
        return values
    if not all(isinstance(row, list) and len(row) == len(first) for row in values):
        return values
    if not all(isinstance(cell, str) for cell in first) or not any(map(is_column_name, first)):
        return values
    return _build_records(first, values[1:])


def _build_records(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Any]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _extract_object_rows(document: Document, layout: str) -> Rows | None:
    values = document.values()
    if rows := _split_frame(document):
        return rows
    if all(isinstance(value, dict) for value in values):
        return _extract_rows_of_objects(document, layout)
    if any(map(is_conversation, values)):  # a single record
        return Rows([document])
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    if record_list := _find_record_list(lists):
        return Rows(list(map(_unwrap_row, record_list)))
    if nested_list := _find_nested_record_list(document):
        return Rows(list(map(_unwrap_row, nested_list)))
    if len(lists) == len(document) > 1 and (rows := _extract_rows_of_lists(document, layout)):
        return rows
    filled = {name: value for name, value in lists.items() if value}
    if len(filled) > 1 and len({*map(len, filled.values())}) == 1 and _are_columns(filled):
        return Rows(_transpose_columns(filled))
    list_names = [name for name in HOLDERS if name in filled] or list(filled)
    if len(list_names) == 1 or (list_names and list_names[0] in HOLDERS):
        (name, *_) = list_names
        if role_of(name) in _NON_SAMPLE_ROLES and _get_common_type(filled[name]) == "text":
            return Rows([{name: text} for text in filled[name]])
        return Rows(list(map(_unwrap_row, filled[name])))
    inner_objects = [value for value in values if isinstance(value, dict) and value]
    if len(inner_objects) == 1 and not filled and not all(map(_is_text, inner_objects[0].values())):
        return _extract_object_rows(inner_objects[0], layout)
    are_texts = len(document) > 1 and all(map(_is_text, values))
    if are_texts and layout in ("", "records") and (layout or not _is_column_named(document)):
        return Rows([{_KEY: key, _TEXT: value} for key, value in document.items()])
    if (
        not lists
        and not inner_objects
        and not layout
        and any(role_of(name) == "text" for name in document)
    ):
        return Rows([document])
    # Lists of as many texts, or of records, next to other values are cells of a single record; one
    # of them is chosen.
    lengths = [len(value) for value in filled.values() if _get_common_type(value) == "text"]
    n_records = sum(_get_common_type(value) == "object" for value in filled.values())
    if not layout and (n_records > 1 or len(lengths) > len({*lengths}) == 1):
        return Rows([document])
    return None


def _split_frame(document: Document) -> Rows | None:
    """Return the rows of a table that pandas wrote with orient="split"."""
    names, rows = document.get("columns"), document.get("data")
    if not isinstance(names, list) or not isinstance(rows, list) or not all(map(_is_text, names)):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return None
    return Rows(_build_records(names, rows))


def _find_nested_record_list(document: Document) -> list[Any]:
    """Return the list of records with the name of such a list in an object with such a name."""
    for name in HOLDERS:
        inner = document.get(name)
        if isinstance(inner, dict):
            lists = {key: value for key, value in inner.items() if isinstance(value, list)}
            return _find_record_list(lists)
    return []


def _find_record_list(lists: Document) -> list[Any]:
    """Return the only list of records that has the name of such a list."""
    record_lists = [
        lists[name]
        for name in HOLDERS
        if name in lists and _get_common_type(lists[name]) == "object"
    ]
    return record_lists[0] if len(record_lists) == 1 else []


def _unwrap_row(value: object) -> object:
    """Return the row of a dataset viewer, which stands under its number."""
    return value["row"] if isinstance(value, dict) and "row_idx" in value else value


def _extract_rows_of_objects(document: Document, layout: str) -> Rows | None:
    """Return the rows of an object of objects."""
    objects = [*document.values()]
    all_keys = dict.fromkeys(key for inner in objects for key in inner)
    shared = [key for key in all_keys if all(key in inner for inner in objects)]
    if len(document) == 1 and not layout and all_keys:
        inner = objects[0]
        nested = all(isinstance(value, (dict, list)) for value in inner.values())
        if nested and not _are_numbers(inner):
            return _extract_object_rows(inner, layout)
    layouts = ["records"] if shared else []
    if shared and len(shared) == len(all_keys):
        layouts.append("columns")
        if not layout:
            layouts = _detect_layouts(document, shared)
    leaves = [value for inner in objects for value in inner.values()]
    types = {
        _get_common_type(leaf) if isinstance(leaf, list) else _get_type(leaf) for leaf in leaves
    }
    if types == {"text"} and not _is_column_named(all_keys) and (layout or len(layouts) != 1):
        layouts.insert(0, "groups")
    selected = _select_layout(layouts, document, layout)
    if selected == "records":
        name = next(name for name in (_KEY, f"({_KEY})") if name not in all_keys)
        return Rows([{name: key, **inner} for key, inner in document.items()])
    if selected == "columns":
        return Rows([{name: document[name][key] for name in document} for key in shared])
    if selected == "groups":
        return Rows(list(_iter_nested_group_rows(document)), _GROUP)
    return None


def _detect_layouts(document: Document, shared: Sequence[str]) -> list[str]:
    """Return what the keys of objects with equal keys can name, by the first evidence there is."""
    outer, inner = _are_numbers(document), _are_numbers(shared)
    if outer != inner:
        return ["columns" if inner else "records"]
    columns = [[value[key] for value in document.values()] for key in shared]
    of_records = all(len(_get_types(column)) < 2 for column in columns)
    of_columns = all(len(_get_types(value.values())) < 2 for value in document.values())
    if of_records != of_columns:
        return ["records" if of_records else "columns"]
    outer, inner = _is_column_named(document), _is_column_named(shared)
    if outer != inner:
        return ["records" if inner else "columns"]
    return ["records", "columns"]


def _iter_nested_group_rows(document: Document) -> Iterable[Document]:
    """Yield the texts of an object of objects: each object is a group, or each list in it."""
    for key, inner in document.items():
        for name, value in inner.items():
            if not isinstance(value, list):
                yield {_GROUP: key, _KEY: name, _TEXT: value}
                continue
            group = f"{key:.100}, {name:.100}"
            for text in value:
                yield {_KEY: key, _GROUP: group, _TEXT: text}


def _extract_rows_of_lists(document: Document, layout: str) -> Rows | None:
    """Return the rows of an object of lists."""
    filled = {name: value for name, value in document.items() if value}
    if len(filled) < 2 and not layout:
        return None
    have_equal_lengths = len({*map(len, document.values())}) == 1
    types = {_get_common_type(value) for value in filled.values()}
    has_column_name = _is_column_named(document)
    is_of_groups = len(types) == 1 and types <= {"text", "object", "list"}
    layouts = []
    if layout:
        layouts = ["groups"] * is_of_groups + ["columns"] * have_equal_lengths
        layouts += ["records"] * (types == {"number"})
    elif have_equal_lengths and (has_column_name or len(types) > 1):
        layouts = ["columns"]
    elif types == {"number"}:
        layouts = ["columns", "records"] if have_equal_lengths else []
    elif (
        is_of_groups
        and not has_column_name
        and not {*HOLDERS} & filled.keys()
        and (types != {"object"} or _have_common_fields(filled))
    ):
        # A sentence names no column, and the records of a group are no cells.
        is_table = (
            have_equal_lengths and "object" not in types and not any(map(is_sentence, document))
        )
        layouts = ["groups", *["columns"] * is_table]
    selected = _select_layout(layouts, document, layout)
    if selected == "columns":
        return Rows(_transpose_columns(document))
    if selected == "records":
        return Rows([{_KEY: key, "row": value} for key, value in document.items()])
    if selected == "groups":
        return Rows(list(_iter_group_rows(document)), _GROUP)
    return None


def _have_common_fields(lists: Document) -> bool:
    """Return whether the first records of all lists share a field other than ids."""
    first_records = [value[0] for value in lists.values()]
    shared = {*first_records[0]}.intersection(*first_records[1:])
    return any(role_of(field) != "id" for field in shared)


def _iter_group_rows(document: Document) -> Iterable[Document]:
    for key, values in document.items():
        for value in values:
            yield {_GROUP: key, **(value if isinstance(value, dict) else {_TEXT: value})}


def _select_layout(layouts: Sequence[str], document: Document, layout: str) -> str:
    """Return the requested or the only possible layout; raise an AskError if there are several."""
    if layout:
        if layout not in layouts:
            raise RefusedError(
                f"the keys of its object, {join_names(document)}, cannot name {layout}; remove "
                f"--type json-{layout}"
            )
        return layout
    if len(layouts) > 1:
        raise AskError(
            f"What do the keys {join_names(document)} of the object name?",
            [(_CHOICES[name], {"type": f"json-{name}"}) for name in layouts],
        )
    return "".join(layouts)


def _are_columns(lists: Document) -> bool:
    return _is_column_named(lists) or len({_get_common_type(value) for value in lists.values()}) > 1


def _transpose_columns(columns: Document) -> list[Any]:
    return _build_records([*columns], zip(*columns.values(), strict=True))


def _is_column_named(keys: Collection[str]) -> bool:
    """Return whether a key is the name of a column.

    A name of models alone shows nothing, as "model a" is a model; nor do keys that begin with the
    same word, such as "prompt a" and "prompt b".
    """
    if len(keys) > 1 and len({(role_of(key), _SEPARATOR.split(key)[0]) for key in keys}) == 1:
        return False
    return any(is_column_name(key) and role_of(key) != "model" for key in keys)


def _are_numbers(keys: Iterable[str]) -> bool:
    return all(re.fullmatch(r"\d+", key) for key in keys)


def _get_types(values: Iterable[object]) -> set[str]:
    """Return the types of values that are not null."""
    return {_get_type(value) for value in values} - {""}


def _get_common_type(values: Sequence[object]) -> str:
    """Return the type of the values of a list, "" for several."""
    types = _get_types(values)
    return types.pop() if len(types) == 1 else ""


def _get_type(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "Boolean"
    if isinstance(value, Mapping):
        return "object"
    names = {str: "text", int: "number", float: "number", list: "list"}
    return names.get(type(value), "other")


def _is_text(value: object) -> bool:
    return isinstance(value, str)
