"""Tables of counts: individuals of each species at each site, one column or row per species."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from ...similarity.group_indices import factorize
from ...support.errors import short_repr
from .count_columns import LongTable, has_no_name
from .individuals import CountTable, RepeatedLabels
from .limits import ReadOptions, RefusedError
from .names import SITE_NAMES, SPECIES_NAMES, is_named, join_names
from .number_tables import take_numbers
from .samples import INDIVIDUAL, Samples
from .tables import Table, are_numbers, is_blank


def take_individuals(
    table: Table, record: str, long: LongTable | None, read_options: ReadOptions
) -> Samples:
    """Return the species of each individual that a table counts, in groups by their sites.

    `long` are the columns of a table with one row per site and species. A column of
    sets defines the set of the individuals of each row.
    """
    if long:
        return _take_long_individuals(table, long, read_options)
    first = table.names[0]
    columns = {"sets": read_options.by or "", "groups": read_options.group_by or ""}
    named = (
        has_no_name(table, first) or is_named(first, SPECIES_NAMES) or is_named(first, SITE_NAMES)
    )
    table = _with_zeros(table, {*columns.values(), *[first] * named})
    # Counts are no matrix of similarities, even if rows and columns have the same names.
    options = replace(read_options, matrix=False)
    counted = take_numbers(table, replace(options, prompts=first) if named else options)
    if counted.problems:
        return counted
    counts = _check_counts(counted, read_options)
    sites: Sequence[str] = [f"{table.unit} {row_number}" for row_number in table.places]
    if first not in counted.features:
        sites = table.labels(first)
    species: Sequence[str] = counted.features
    groups: Sequence[str] = []
    sets = table.labels(columns["sets"]) if columns["sets"] else []
    has_species_in_rows = bool(record) is not read_options.transpose
    _check_several_species(sites, species, has_species_in_rows, read_options)
    if has_species_in_rows:
        if read_options.by or read_options.group_by:
            raise RefusedError(
                "it has a row for each species, so no column can group its sites; remove "
                "--by and --group-by"
            )
        species, sites, counts = sites, species, counts.T
        groups = [] if read_options.pool else sites
    elif read_options.group_by:
        groups = table.labels(read_options.group_by)
    elif not (read_options.pool or read_options.by == first):
        groups = sites
        columns["groups"] = "" if first in counted.features else first
    return _build_individuals(
        counted,
        CountTable(counts, species, groups, sets),
        columns,
        len(sites),
        [*counted.features, first] if has_species_in_rows else counted.features,
    )


def _check_several_species(
    row_names: Sequence[str],
    column_names: Sequence[str],
    has_species_in_rows: bool,
    read_options: ReadOptions,
) -> None:
    """Refuse counts of one species at several sites, each of which would have a score of 1."""
    species, sites = column_names, row_names
    if has_species_in_rows:
        species, sites = sites, species
    if len(species) == 1 < len(sites):
        direction = "columns" if has_species_in_rows else "rows"
        hint = "remove" if read_options.transpose else "pass"
        raise RefusedError(
            f"it has counts of one species, {short_repr(species[0])}, at {len(sites):,} sites; if "
            f"its {direction} are species, {hint} `transpose`"
        )


def without_columns(table: Table, dropped_names: Collection[str], description: str) -> Table:
    """Return a table without some columns; the first line of output names them by `description`."""
    if not dropped_names:
        return table
    column_indices = [j for j, name in enumerate(table.names) if name not in dropped_names]
    return replace(
        table,
        names=[table.names[j] for j in column_indices],
        header=[table.header[j] for j in column_indices] if table.header else table.header,
        rows=[[row[j] for j in column_indices] for row in table.rows],
        above=[*table.above, f"{description} are left out: {join_names(dropped_names)}"],
    )


def _with_zeros(table: Table, uncounted_names: Collection[str]) -> Table:
    """Return a table with 0 for blank cells in columns of numbers: species that were not found.

    `uncounted_names` are columns that are not counted, such as the names of the sites.
    """
    filled = [
        name not in uncounted_names and not all(map(is_blank, cells)) and are_numbers(cells)
        for name, cells in zip(table.names, map(table.column, table.names), strict=True)
    ]
    n_blank = 0
    rows = []
    for row in table.rows:
        are_absent = [
            is_number and is_blank(cell) for cell, is_number in zip(row, filled, strict=True)
        ]
        n_blank += sum(are_absent)
        zero: object = 0 if table.typed else "0"
        rows.append(
            [zero if absent else cell for cell, absent in zip(row, are_absent, strict=True)]
        )
    if not n_blank:
        return table
    cells = "1 empty cell is" if n_blank == 1 else f"{n_blank:,} empty cells are"
    return replace(table, rows=rows, above=[*table.above, f"{cells} read as 0"])


def _take_long_individuals(table: Table, long: LongTable, read_options: ReadOptions) -> Samples:
    """Return the individuals of a table with a row per species and site."""
    counted = take_numbers(table, replace(read_options, column=long.counts, matrix=False))
    if counted.problems:
        return counted
    numbers = _check_counts(counted, read_options)[:, 0]
    columns = {"sets": read_options.by or "", "groups": read_options.group_by or ""}
    if not (columns["groups"] or read_options.pool or read_options.by == long.site):
        columns["groups"] = long.site
    labels = {role: table.labels(name) if name else [] for role, name in columns.items()}
    keys = [*zip(*filter(None, labels.values()), strict=True)] or [()] * len(table.rows)
    rows, row_codes = factorize(keys)
    species, species_codes = factorize(table.labels(long.species))
    counts = np.zeros((len(rows), len(species)), dtype=np.int64)
    np.add.at(counts, (row_codes, species_codes), numbers)
    roles = [role for role, values in labels.items() if values]
    by_role = {role: [key[i] for key in rows] for i, role in enumerate(roles)}
    count_table = CountTable(counts, species, by_role.get("groups", []), by_role.get("sets", []))
    n_sites = len({*table.labels(long.site)})
    return _build_individuals(counted, count_table, columns, n_sites, [long.counts, long.species])


def _check_counts(counted: Samples, read_options: ReadOptions) -> np.ndarray:
    """Return numbers as integers, if they are whole, at least 0 and not too many."""
    bad = np.argwhere((counted.values < 0) | (counted.values % 1 != 0))
    if len(bad):
        i, j = bad[0]
        location = f"{counted.unit} {counted.places[i]}, column {counted.features[j]!r}"
        problem = f"must be a whole number of at least 0, got {counted.values[i, j]:g}"
        raise RefusedError(problem, location)
    if (total := counted.values.sum()) > read_options.limits.samples:
        limit = f"{read_options.limits.samples:,}"
        raise RefusedError(f"{total:,.0f} individuals are too many: the limit is {limit}.")
    return counted.values.astype(np.int64)


def _build_individuals(
    counted: Samples,
    count_table: CountTable,
    columns: dict[str, str],
    n_sites: int,
    features: Sequence[str],
) -> Samples:
    sizes = count_table.counts.sum(axis=1)
    individuals = count_table.individuals
    return replace(
        counted,
        values=individuals,
        places=range(1, len(individuals) + 1),
        unit=INDIVIDUAL,
        groups=count_table.group_labels,
        sets=RepeatedLabels(count_table.sets, sizes) if count_table.sets else [],
        kind="labels",
        features=features,
        column=None,
        grouping=columns,
        record=f"{len(count_table.species):,} species at {n_sites:,} site{'s' * (n_sites != 1)}",
        counts=count_table,
    )
