"""Tables of counts: individuals of each species at each site, or rows that stand for several."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from ...similarity.group_indices import factorize
from .count_columns import LongTable, has_no_name
from .individuals import CountTable, RepeatedLabels
from .limits import ReadOptions, RefusedError
from .names import SITE_NAMES, SPECIES_NAMES, is_named, join_names
from .number_tables import numbers_of
from .samples import INDIVIDUAL, Samples
from .tables import Table, are_numbers, is_blank


def counts_of(
    read: Table, record: str, long: LongTable | None, read_options: ReadOptions
) -> Samples:
    """Return the species of each individual that a table counts, in groups by their sites.

    `long` are the columns of a table with one row per site and species. A column that tells sets
    apart does so for the individuals of each row.
    """
    if long:
        return _long_counts(read, long, read_options)
    first = read.names[0]
    columns = {"sets": read_options.by or "", "groups": read_options.group_by or ""}
    named = (
        has_no_name(read, first) or is_named(first, SPECIES_NAMES) or is_named(first, SITE_NAMES)
    )
    read = _with_zeros(read, {*columns.values(), *[first] * named})
    # Counts are no matrix of similarities, even if rows and columns have the same names.
    options = replace(read_options, matrix=False)
    counted = numbers_of(read, replace(options, prompts=first) if named else options)
    if counted.problems:
        return counted
    counts = _check_counts(counted, read_options)
    sites: Sequence[str] = [f"{read.unit} {place}" for place in read.places]
    if first not in counted.features:
        sites = read.labels(first)
    species: Sequence[str] = counted.features
    groups: Sequence[str] = []
    sets = read.labels(columns["sets"]) if columns["sets"] else []
    has_species_in_rows = bool(record) is not read_options.transpose
    if has_species_in_rows:
        if read_options.by or read_options.group_by:
            raise RefusedError(
                "it has a row for each species, so that no column groups its sites; leave out "
                "--by and --group-by"
            )
        species, sites, counts = sites, species, counts.T
        groups = [] if read_options.pool else sites
    elif read_options.group_by:
        groups = read.labels(read_options.group_by)
    elif not (read_options.pool or read_options.by == first):
        groups = sites
        columns["groups"] = "" if first in counted.features else first
    return _samples_of_counts(
        counted,
        CountTable(counts, species, groups, sets),
        columns,
        len(sites),
        [*counted.features, first] if has_species_in_rows else counted.features,
    )


def without_columns(read: Table, lost: Collection[str], what: str) -> Table:
    """Return a table without some columns, which `what` describes in the first line of output."""
    if not lost:
        return read
    kept = [j for j, name in enumerate(read.names) if name not in lost]
    return replace(
        read,
        names=[read.names[j] for j in kept],
        header=[read.header[j] for j in kept] if read.header else read.header,
        rows=[[row[j] for j in kept] for row in read.rows],
        above=[*read.above, f"{what} are left out: {join_names(lost)}"],
    )


def _with_zeros(read: Table, others: Collection[str]) -> Table:
    """Return a table with 0 for blank cells in columns of numbers: species that were not found.

    `others` are columns that are not counted, such as the names of the sites.
    """
    filled = [
        name not in others and not all(map(is_blank, cells)) and are_numbers(cells)
        for name, cells in zip(read.names, map(read.column, read.names), strict=True)
    ]
    n_blank = 0
    rows = []
    for row in read.rows:
        are_absent = [
            is_number and is_blank(cell) for cell, is_number in zip(row, filled, strict=True)
        ]
        n_blank += sum(are_absent)
        zero: object = 0 if read.typed else "0"
        rows.append(
            [zero if absent else cell for cell, absent in zip(row, are_absent, strict=True)]
        )
    if not n_blank:
        return read
    cells = "1 empty cell is" if n_blank == 1 else f"{n_blank:,} empty cells are"
    return replace(read, rows=rows, above=[*read.above, f"{cells} read as 0"])


def _long_counts(read: Table, long: LongTable, read_options: ReadOptions) -> Samples:
    """Return the individuals of a table with a row per species and site."""
    counted = numbers_of(read, replace(read_options, column=long.counts, matrix=False))
    if counted.problems:
        return counted
    numbers = _check_counts(counted, read_options)[:, 0]
    columns = {"sets": read_options.by or "", "groups": read_options.group_by or ""}
    if not (columns["groups"] or read_options.pool or read_options.by == long.site):
        columns["groups"] = long.site
    labels = {role: read.labels(name) if name else [] for role, name in columns.items()}
    keys = [*zip(*filter(None, labels.values()), strict=True)] or [()] * len(read.rows)
    rows, row_codes = factorize(keys)
    species, species_codes = factorize(read.labels(long.species))
    counts = np.zeros((len(rows), len(species)), dtype=np.int64)
    np.add.at(counts, (row_codes, species_codes), numbers)
    roles = [role for role, values in labels.items() if values]
    by_role = {role: [key[i] for key in rows] for i, role in enumerate(roles)}
    table = CountTable(counts, species, by_role.get("groups", []), by_role.get("sets", []))
    n_sites = len({*read.labels(long.site)})
    return _samples_of_counts(counted, table, columns, n_sites, [long.counts, long.species])


def _check_counts(counted: Samples, read_options: ReadOptions) -> np.ndarray:
    """Return numbers as integers, if they are whole, at least 0 and not too many."""
    bad = np.argwhere((counted.values < 0) | (counted.values % 1 != 0))
    if len(bad):
        i, j = bad[0]
        place = f"{counted.unit} {counted.places[i]}, column {counted.features[j]!r}"
        said = f"is {counted.values[i, j]:g}, where a count is a whole number of at least 0"
        raise RefusedError(said, place)
    if (total := counted.values.sum()) > read_options.limits.samples:
        most = f"{read_options.limits.samples:,}"
        raise RefusedError(f"{total:,.0f} individuals are too many: the limit is {most}.")
    return counted.values.astype(np.int64)


def _samples_of_counts(
    counted: Samples,
    table: CountTable,
    columns: dict[str, str],
    n_sites: int,
    features: Sequence[str],
) -> Samples:
    sizes = table.counts.sum(axis=1)
    individuals = table.individuals
    return replace(
        counted,
        values=individuals,
        places=range(1, len(individuals) + 1),
        unit=INDIVIDUAL,
        groups=table.group_labels,
        sets=RepeatedLabels(table.sets, sizes) if table.sets else [],
        kind="labels",
        features=features,
        column=None,
        grouping=columns,
        record=f"{len(table.species):,} species at {n_sites:,} sites",
        counts=table,
    )
