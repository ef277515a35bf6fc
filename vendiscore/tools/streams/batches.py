"""Scores of data in batches or partitions: of all rows, or of groups of adjacent rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from ...core.eigenvalues import PSD
from ...encoders.sample_encoder import keep_encoders
from ...resolve.sample_labels import GroupLabels, check_labels, encode_labels, is_hashable
from ...resolve.similarity_spec import KernelArgument, similarity_spec_from_keywords
from ...result import Result
from ...scoring.compute import build_sample_set
from ...scoring.group_scores import SINGLE_SAMPLES_NOTE, average_over_groups, evaluate_groups
from ...scoring.intervals import Uncertainty
from ...scoring.score_request import check_confidence_level, parse_request
from ...similarity.arrow import from_arrow
from ...support.arguments import DEFAULT_ORDER, check_bool
from ...support.call_hints import AttributeHintMixin, HelpfulCallMeta
from ...support.errors import SampleError, merge_warnings, short_repr, warn
from ...support.signature import to_plain
from ...support.types import Record
from .arrow_tables import concatenate_tables, select_columns
from .engines import Batches, reduce_data
from .state import State
from .state_settings import describe_unsupported, is_plain

if TYPE_CHECKING:
    import pyarrow

# A group with more rows is scored by a State, if the State supports the kernel.
MAX_TABLE_ROWS = 1 << 16

Key = tuple[Hashable, ...]  # the labels of a group, in the order of its columns


class _Block(NamedTuple):
    """Adjacent groups of a stream, whose rows are stored in tables, or one large group in a State.

    `keys` identify the groups, `sizes` are their numbers of rows, and `parts` contain their rows.
    """

    keys: list[Key]
    sizes: list[int]
    parts: tuple[pyarrow.Table | State, ...]


class GroupState(AttributeHintMixin, metaclass=HelpfulCallMeta):
    """Scores of groups whose rows are adjacent in a stream, which may be split into parts.

    The first and last group of a part may continue in another part, so their rows are kept (or, if
    there are many, a `State`). `merge` joins parts in order. The result does not depend on where
    the stream was split.

    Parameters
    ----------
    column : str
        Column with the samples.
    groups : str, optional
        Column with group labels, as `groups` of `compute`. This or `prompts` is required.
    prompts : str, optional
        Column with prompts, as `prompts` of `compute`.
    given_prompt : bool, default False
        Whether to condition similarities on the prompts.
    q : float, "inf" or sequence of these, default 1
        Order of the score, 0 <= q <= infinity.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    k : str, callable, dict or list, optional
        The kernel, as for `compute`. Strings are compared by "ngram_overlap" if omitted.
    **options
        `score_X`, `normalize` and options of the kernel, as for `compute`.

    Attributes
    ----------
    n : int
        Number of rows that were added.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid.

    See Also
    --------
    score_batches : Score a stream in one call.
    State : The same without groups.

    Examples
    --------
    >>> from vendiscore import GroupState
    >>> one, other = (GroupState("x", prompts="of", k="labels") for _ in range(2))
    >>> one = one.update({"x": ["a", "b"], "of": [1, 2]})
    >>> other = other.update({"x": ["c"], "of": [2]})  # second answer to prompt 2
    >>> one.merge(other).compute()
    {'VS': 1.5, 'VS_se': 0.5}
    """

    def __init__(
        self,
        column: str,
        *,
        groups: str | None = None,
        prompts: str | None = None,
        given_prompt: bool = False,
        q: float | str | Iterable[float | str] = DEFAULT_ORDER,
        psd: PSD = "check",
        k: KernelArgument | None = None,
        **options: object,
    ) -> None:
        self.column = column
        self.keys: list[str] = [name for name in (groups, prompts) if name is not None]
        if not self.keys:
            raise TypeError(
                "`groups` or `prompts` is required; pass the name of a column, or use a State for "
                "data without groups"
            )
        condition_on_prompts = check_bool("given_prompt", given_prompt)
        if condition_on_prompts and prompts is None:
            raise TypeError(
                "`given_prompt` requires `prompts`; pass the name of the column with prompts"
            )
        self.prompt_column: str | None = prompts if condition_on_prompts else None
        self.kernel_keywords: Record = {"k": k, **options}
        self.score_keywords: Record = {"q": q, "psd": psd}
        self._request = parse_request({**self.kernel_keywords, **self.score_keywords})
        names = {"column": column, "groups": groups, "prompts": prompts}
        self._settings = to_plain(
            {**names, **self.kernel_keywords, **self.score_keywords, "given": given_prompt}
        )
        self.can_sum: bool = self.prompt_column is None and not describe_unsupported(
            similarity_spec_from_keywords(self.kernel_keywords)
        )
        self.n: int = 0
        # The scores of complete groups, in the order of the stream.
        self._group_results: list[Record] = []
        # The first and the last group, which may be incomplete.
        self._open_blocks: list[_Block] = []
        self._seen_keys: set[Key] = set()
        self._label_types: dict[str, set[type]] = {name: set() for name in self.keys}

    def update(self, batch: object) -> Self:
        """Append rows in place and return this state.

        Parameters
        ----------
        batch : record batch, table, data frame or dict
            Rows in Arrow format, a data frame of any library that exports Arrow, or a dict of
            columns.

        Returns
        -------
        GroupState
            This state.

        Raises
        ------
        SampleError
            If samples are unusable; the message lists their indices.
        TypeError, ValueError
            If rows are not sorted by group or lack a label. The state is then unchanged.
        """
        table = select_columns(batch, [self.column, *self.keys])
        columns = [_extract_labels(table[name], name) for name in self.keys]
        labels = list(zip(*columns, strict=True))
        groups = encode_labels(labels)
        repeated = np.flatnonzero(np.diff(groups.codes) < 0)
        if len(repeated):
            raise _non_adjacent_error(labels[repeated[0] + 1], self.keys)
        sizes = np.bincount(groups.codes).tolist()
        ends = np.cumsum([0, *sizes]).tolist()
        keys = list(dict.fromkeys(labels))
        m = len(keys)
        later = copy(self)  # a state of only the new rows
        later.n = len(labels)
        later._group_results = []
        later._seen_keys = set(keys)
        later._label_types = dict(zip(self.keys, map(_number_types, columns), strict=True))
        later._open_blocks = [
            _Block(keys[i:j], sizes[i:j], (table[ends[i] : ends[j]],))
            for i, j in pairwise(sorted({0, min(1, m), max(0, m - 1), m}))
        ]
        self._add(later)
        return self

    def merge(self, *later: GroupState) -> Self:
        """Join the rows of this state and of later ones into a new state.

        Parameters
        ----------
        *later : GroupState
            States of the following parts of the stream, in order.

        Returns
        -------
        GroupState
            The state of all rows.

        Raises
        ------
        TypeError, ValueError
            If columns or settings differ, or a group occurs again after another one.
        """
        merged = copy(self)
        merged._group_results = [*self._group_results]
        merged._seen_keys = {*self._seen_keys}
        for state in later:
            merged._add(state)
        return merged

    def _add(self, later: GroupState) -> None:
        """Append the rows of `later`, the state of the next part of the stream, in place.

        If this raises an error, the state is unchanged.
        """
        if self._settings != later._settings:
            raise ValueError(
                f"states can be merged only if they have the same settings, got {self._settings} "
                f"and {later._settings}"
            )
        repeated = self._seen_keys & later._seen_keys
        types = {name: self._label_types[name] | later._label_types[name] for name in self.keys}
        for name, label_types in types.items():
            if len(label_types) > 1:
                raise TypeError(
                    f"labels in column {short_repr(name)} are Booleans in one batch and numbers in "
                    f"another, so True and 1 would be the same label; cast the column to one type"
                )
        blocks = [*self._open_blocks]
        later_blocks = [*later._open_blocks]
        if blocks and later_blocks and blocks[-1].keys == later_blocks[0].keys:
            repeated -= {*later_blocks[0].keys}
            later_blocks[0] = self._join_blocks(blocks.pop(), later_blocks[0])
        if repeated:
            raise _non_adjacent_error(next(iter(repeated)), self.keys)
        blocks += later_blocks
        rows = self._score_blocks(blocks[1:-1])
        self.n += later.n
        self._group_results += [*rows, *later._group_results]
        self._open_blocks = blocks[:1] + blocks[1:][-1:]
        self._seen_keys |= later._seen_keys
        self._label_types = types

    def _join_blocks(self, first: _Block, second: _Block) -> _Block:
        """Return two parts of the same group as a single block."""
        size = first.sizes[0] + second.sizes[0]
        parts = first.parts + second.parts
        if self.can_sum and size > MAX_TABLE_ROWS:
            state = State(**self.kernel_keywords)
            for table_or_state in parts:
                if isinstance(table_or_state, State):
                    state = state.merge(table_or_state)
                else:
                    state.update(table_or_state[self.column])
            parts = (state,)
        return _Block(first.keys, [size], parts)

    def _score_blocks(self, blocks: Sequence[_Block]) -> list[Record]:
        """Score the groups of blocks; groups in tables are scored together.

        Return one dict per group, with its key, its size and its scores.
        """
        results_by_key: dict[Key, Record] = {}
        keys: list[Key] = []
        sizes: list[int] = []
        tables = []
        for block in blocks:
            for table_or_state in block.parts:
                if isinstance(table_or_state, State):
                    results_by_key[block.keys[0]] = {
                        "n": table_or_state.n,
                        **table_or_state.compute(**self.score_keywords),
                    }
                else:
                    tables.append(table_or_state)
            if block.keys[0] not in results_by_key:
                keys += block.keys
                sizes += block.sizes
        if tables:
            table = concatenate_tables(
                tables, [name for name in (self.column, self.prompt_column) if name]
            )
            codes = np.repeat(np.arange(len(keys)), sizes)
            try:
                results_by_key |= zip(keys, self._score_table(table, codes), strict=True)
            except SampleError as error:
                labels = tuple(key if len(self.keys) > 1 else key[0] for key in keys)
                raise GroupLabels(labels, codes, nested=True).locate_error(
                    error
                ) from error.__cause__
        return [{"key": key, **results_by_key[key]} for block in blocks for key in block.keys]

    def _score_table(self, table: pyarrow.Table, codes: np.ndarray) -> list[Record]:
        """Score groups of rows; return one dict per group, with its size and its scores.

        `codes` are the group codes of the rows of the table.
        """
        keywords: Record = {"groups": codes}
        if self.prompt_column is not None:
            keywords |= {"prompts": table[self.prompt_column].to_pylist(), "given_prompt": True}
        request = parse_request({**self.kernel_keywords, **self.score_keywords, **keywords})
        # Other parts of the stream may contain larger groups, so the warning is left to `compute`.
        with np.errstate(all="ignore"):
            sample_set = build_sample_set(from_arrow(table[self.column]), None, request)
            uncertainty = evaluate_groups(sample_set, request, warn_about_single_samples=False)[1]
        return uncertainty.table

    def compute(self, *, ci: float | None = None, details: bool = False) -> Record:
        """Compute the mean score over all groups with its standard error.

        Parameters
        ----------
        ci : float, optional
            Confidence level of an interval of the mean, 0.5 <= ci < 1.
        details : bool, default False
            Add a dict under the key "details" with settings, the number of rows and one row per
            group.

        Returns
        -------
        dict
            {"VS": mean, "VS_se": standard error}, with "VS_low" and "VS_high" if `ci` is passed.
            Keys include the order as in `compute`.
        """
        level = None if ci is None else check_confidence_level("ci", ci)
        ends = self._score_blocks(self._open_blocks)
        rows = [*ends[:1], *self._group_results, *ends[1:]]
        if not rows:
            raise ValueError("`compute` requires rows, but none were added; call `update` first")
        sizes = [row["n"] for row in rows]
        if max(sizes) == 1:
            warn(SINGLE_SAMPLES_NOTE)
        names = self._request.keys
        columns = {"VS": {name: np.array([row[name] for row in rows]) for name in names}}
        sets = encode_labels([row["key"][0] for row in rows])
        groups = replace(sets, sets=sets) if len(self.keys) > 1 else sets
        uncertainty = Uncertainty()
        means = average_over_groups(
            columns, groups, sizes, replace(self._request, ci=level), uncertainty
        )
        result = Result(uncertainty.with_scores(means.values()))
        if check_bool("details", details):
            result["details"] = {"n": self.n, "groups": uncertainty.table}
        return result


@dataclass(frozen=True)
class StateReduction:
    """Computes the states of the partitions of data, and merges them.

    Attributes
    ----------
    empty : State or GroupState
        The state of no rows.
    column : str
        Column with the samples.
    columns : list of str
        This column, and those with labels.
    shared : dict
        Options of the kernel that are objects, such as a model, by name.
    """

    empty: State | GroupState
    column: str
    columns: list[str]
    shared: Record

    def compute(self, batches: Batches) -> State | GroupState:
        """Return the state of the rows of batches."""
        state = self.empty.merge()
        with keep_encoders():
            for batch in batches:
                table = select_columns(batch, self.columns)
                state.update(table[self.column] if isinstance(state, State) else table)
        return state

    def merge(self, results: Sequence[State | GroupState]) -> State | GroupState:
        """Return the state of all rows of consecutive partitions."""
        with keep_encoders():
            return self.empty.merge(*results)  # type: ignore[arg-type]


def score_batches(
    batches: Iterable[object],
    column: str,
    *,
    groups: str | None = None,
    prompts: str | None = None,
    given_prompt: bool = False,
    q: float | str | Iterable[float | str] = DEFAULT_ORDER,
    psd: PSD = "check",
    ci: float | None = None,
    details: bool = False,
    k: KernelArgument | None = None,
    **options: object,
) -> Record:
    """Compute the score of a column of data that do not fit in memory, such as a Dask DataFrame.

    Engines with workers compute the states of their partitions on the workers, and merge them
    there. Other data are processed in this process, with one batch in memory at a time.

    Parameters
    ----------
    batches : data frame, dataset, reader or iterable
        A Dask DataFrame, Ray Dataset or Spark DataFrame, whose workers must have vendiscore
        installed; a DuckDB relation, polars LazyFrame, pyarrow dataset, Hugging Face dataset (also
        streaming), Daft DataFrame or other Arrow stream; or an iterable of record batches, tables
        or data frames.
    column : str
        Column with the samples.
    groups : str, optional
        Column with group labels, as `groups` of `compute`. Rows with the same label must be
        adjacent, as after sorting by this column, but partitions and batches may split them.
    prompts : str, optional
        Column with prompts, as `prompts` of `compute`. Rows with the same prompt must be adjacent.
    given_prompt : bool, default False
        Whether to condition similarities on the prompts.
    q : float, "inf" or sequence of these, default 1
        Order of the score, 0 <= q <= infinity.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    ci : float, optional
        Confidence level of an interval of the mean over groups, 0.5 <= ci < 1.
    details : bool, default False
        Add a dict under the key "details" with settings and one row per group.
    k : str, callable, dict or list, optional
        The kernel, as for `compute`; without groups, one that `State` accepts. Strings are compared
        by "ngram_overlap" if omitted.
    **options
        `score_X`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    dict
        The same values as `compute` returns for all rows: {"VS": value}, with groups also "VS_se".

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices in their batch.
    TypeError, ValueError
        If a column is missing, rows are not sorted by group, `State` does not accept the kernel, or
        another argument is invalid. Errors on executors of Spark are a PythonException, whose
        message contains the error.

    See Also
    --------
    compute : Score samples that fit in memory.
    State : Add batches yourself.
    GroupState : Add batches of sorted groups yourself.

    Notes
    -----
    Time is that of `State.update`, with groups that of `compute`. Memory is one batch, and one
    score per group; on workers of Dask and Ray, it is one partition or block instead of one batch.

    The result does not depend on how rows are divided into partitions and batches, up to rounding
    errors of about 1e-12. Embedding models are sent to the workers if they are passed as `model`;
    otherwise each worker loads the model. `DataFrame.orderBy` in Spark and `DataFrame.sort` in Daft
    define an order of rows; without it, these engines may change the order.

    References
    ----------
    1. D. Friedman and A. B. Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine
       Learning", Transactions on Machine Learning Research, 2023. arXiv:2210.02410.

    Examples
    --------
    >>> batches = [{"answer": ["a b", "a b"], "of": [1, 1]}, {"answer": ["c d"], "of": [1]}]
    >>> score_batches(batches, "answer", prompts="of")
    {'VS': 1.889...}
    """
    kernel_keywords: Record = {"k": k, **options}
    has_groups = groups is not None or prompts is not None
    if not has_groups and (given_prompt or ci is not None):
        raise TypeError(
            "`ci` and `given_prompt` require `groups` or `prompts`; pass the name of a column"
        )
    empty: State | GroupState
    columns = [column]
    if has_groups:
        empty = GroupState(
            column,
            groups=groups,
            prompts=prompts,
            given_prompt=given_prompt,
            q=q,
            psd=psd,
            **kernel_keywords,
        )
        columns += empty.keys
    else:
        empty = State(**kernel_keywords)
    shared = {name: value for name, value in kernel_keywords.items() if not is_plain(value)}
    reduction = StateReduction(empty, column, columns, shared)
    with merge_warnings("batches"), keep_encoders():
        state = reduce_data(batches, columns, reduction)
        if isinstance(state, State):
            return state.compute(q, psd=psd, details=details)
        return state.compute(ci=ci, details=details)


def _number_types(labels: Iterable[object]) -> set[type]:
    """Return the types of numeric labels: `bool`, `float` (also for integers), or both."""
    types = {type(label) for label in labels}
    result = {float} if types & {int, float} else set()
    return result | (types & {bool})


def _extract_labels(column: pyarrow.ChunkedArray, name: str) -> list[Hashable]:
    """Return the labels of rows; labels that are not hashable are replaced by their `repr`."""
    labels = [label if is_hashable(label) else repr(label) for label in column.to_pylist()]
    check_labels(labels, name)
    return labels


def _non_adjacent_error(key: Key, columns: Sequence[str]) -> ValueError:
    """Return the error for a group whose rows are not adjacent."""
    order = ", ".join(columns)
    labels = ", ".join(map(short_repr, key))
    return ValueError(
        f"group {labels} occurs again after another group, but the rows of a group must be "
        f"adjacent; sort the rows, for example with ORDER BY {order}"
    )
