"""Counts of species at one or several sites, as a similarity of individuals with species labels."""

from numbers import Real

import numpy as np

from ..resolve.sample_labels import GroupLabels, parse_group_labels
from ..resolve.similarity_builder import as_similarity
from ..similarity import sparse as sp
from ..similarity.composite import RepeatedSimilarity
from ..similarity.sample_arrays import as_samples
from ..support.arguments import is_collection
from ..support.errors import short_repr
from ..support.memory import require
from ..support.namespace import to_host
from ..support.types import Options, Record, Samples

# Keywords that refer to single samples or to another way of comparing them.
_INCOMPATIBLE_KEYWORDS = ("score_K", "score_X", "score_dual", "prompts", "p", "clusters")


def check_counts_keywords(arguments: Options, remaining: Options) -> Record:
    """Check the keywords of a call of `compute` with `counts`, and add the kernel k="labels".

    Raise a TypeError if a keyword in `arguments`, all keywords of the call, cannot be combined with
    `counts`. The result is a copy of `remaining`, the keywords that are not parsed yet, with the
    kernel.
    """
    k = remaining.get("k")
    # A matrix is passed as an array or as a list of rows.
    if hasattr(k, "shape") or (isinstance(k, (list, tuple)) and k and is_collection(k[0])):
        raise TypeError(
            "`counts` cannot be combined with a matrix `k` of similarities between species; pass "
            "the matrix as the samples and the relative abundances as weights: "
            "compute(K, score_K=True, p=counts / counts.sum())"
        )
    if k is not None and not (isinstance(k, str) and k == "labels"):
        raise TypeError(
            f"`counts` supports only k='labels', got k={short_repr(k)}; remove `k`, or pass the "
            f"samples themselves instead of `counts`"
        )
    for name in _INCOMPATIBLE_KEYWORDS:
        value = arguments.get(name)
        if value is not None and value is not False:
            raise TypeError(
                f"`{name}` cannot be combined with `counts`, which contains no single samples; "
                f"remove `{name}`, or pass the labels of all individuals with k='labels'"
            )
    return {**remaining, "k": "labels"}


def expand_counts(
    samples: object, counts: Samples, groups: object = None
) -> tuple[RepeatedSimilarity, GroupLabels | None]:
    """Return the similarity of all individuals of all sites, and the sites as groups.

    `counts` has shape (species,) for one site, without groups, or (sites, species). `samples` must
    be None. `groups` contains one label per site; the individuals of sites with the same label are
    one group. Individuals are similar (1) if they have the same species, otherwise not (0).
    """
    if samples is not None:
        raise TypeError(
            "`counts` and `samples` are mutually exclusive; use compute(counts=…) without samples"
        )
    table = _check_counts(counts)
    labels: GroupLabels | None = None
    if groups is not None:
        if table.ndim == 1:
            raise TypeError(
                "`groups` requires `counts` of shape (n_sites, n_species), got one site; remove "
                "`groups`"
            )
        labels = parse_group_labels(groups, "groups", len(table))
        pooled = np.zeros((len(labels), table.shape[1]), dtype=np.int64)
        np.add.at(pooled, labels.codes, table)
        table = pooled
    sites = np.atleast_2d(table)
    site_sizes = sites.sum(axis=1)
    if empty := np.flatnonzero(site_sizes == 0).tolist():
        where = f"site {empty[0]} of `counts`" if table.ndim == 2 else "`counts`"
        if labels is not None:
            where = f"group {short_repr(labels.labels[empty[0]])} of `counts`"
        raise ValueError(
            f"{where} must contain at least one individual, got 0 for every species; remove the "
            f"site"
        )
    n = int(site_sizes.sum())
    require(16 * n, f"`counts` of {n:,} individuals", "use a random subset of the individuals")
    # Species without individuals at all sites are omitted, and the others are numbered from 0.
    is_present = sites.any(axis=0)
    species = np.arange(is_present.sum())
    similarity_of_species = as_similarity(species.tolist(), k="labels")
    species_of_individual = np.repeat(np.tile(species, len(sites)), sites[:, is_present].ravel())
    similarity = RepeatedSimilarity(similarity_of_species, species_of_individual)
    if table.ndim == 1:
        return similarity, None
    codes = np.repeat(np.arange(len(sites)), site_sizes)  # the site of each individual
    if labels is not None:
        return similarity, GroupLabels(labels.labels, codes)
    if hasattr(counts, "columns") and hasattr(counts, "index") and counts.index.is_unique:
        return similarity, GroupLabels(tuple(counts.index.tolist()), codes)  # a pandas DataFrame
    return similarity, GroupLabels(tuple(range(len(sites))), codes, nested=True)


def _check_counts(counts: Samples) -> np.ndarray:
    """Return `counts` as integers; raise a TypeError or ValueError if it is invalid.

    The shape is (species,) for one site, or (sites, species).
    """
    values = as_samples(counts, "counts")
    if sp.issparse(values):
        values = values.toarray()
    array = _as_array(values) if isinstance(values, list) else to_host(values)
    shape = array.shape
    if array.ndim > 2:
        raise ValueError(
            f"`counts` must have shape (n_species,) or (n_sites, n_species), got {shape}; pass a "
            f"single table"
        )
    if array.ndim == 2 and shape[1] == 1 < shape[0]:
        raise ValueError(
            f"`counts` must have one column per species, got shape {shape}; for the counts of one "
            f"site, pass counts.squeeze(1)"
        )
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"`counts` must contain integers, got dtype {array.dtype}; convert the counts to "
            f"integers"
        )
    with np.errstate(invalid="ignore"):
        is_invalid = ~(array >= 0) | (array % 1 != 0)  # NaN is also invalid
    if is_invalid.any():
        index = tuple(np.argwhere(is_invalid)[0].tolist())
        raise _invalid_count_error(index, array[index].item())
    return array.astype(np.int64)


def _as_array(rows: list[object]) -> np.ndarray:
    """Return `counts`, a list of numbers or of lists of numbers, as a float array.

    Raise a ValueError if the inner lists differ in length, or if an entry is not a number. In the
    second case, the message shows the first such entry.
    """
    lengths = {len(row) for row in rows if hasattr(row, "__len__") and not isinstance(row, str)}
    if len(lengths) > 1:
        raise ValueError(
            f"all sites of `counts` must have the same number of species, got {min(lengths)} to "
            f"{max(lengths)}; pass 0 for absent species"
        )
    entries = np.array([to_host(row) if hasattr(row, "shape") else row for row in rows], object)
    for index, entry in np.ndenumerate(entries):
        if not isinstance(entry, (Real, np.bool_)):
            raise _invalid_count_error(index, entry)
    return entries.astype(float)


def _invalid_count_error(index: tuple[int, ...], value: object) -> ValueError:
    """Return the error for an entry `value` of `counts` that is not a non-negative integer.

    `index` is the position of the entry in `counts`: (species,) or (site, species).
    """
    site = f" at site {index[0]}" if len(index) > 1 else ""
    return ValueError(
        f"`counts` must contain non-negative integers, got {short_repr(value)} for species "
        f"{index[-1]}{site}; pass 0 for absent species, and remove columns with names; for "
        f"relative abundances, use effective_number"
    )
