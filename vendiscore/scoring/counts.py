"""Counts of species at one or several sites, treated as individuals with species labels."""

from numbers import Real

import numpy as np

from ..resolve.sample_labels import GroupLabels
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
_INCOMPATIBLE_KEYWORDS = ("score_K", "score_X", "score_dual", "prompts", "p", "groups", "clusters")


def check_counts_keywords(arguments: Options, remaining: Options) -> Record:
    """Return the remaining keywords with k="labels"; raise for those incompatible with `counts`."""
    k = remaining.get("k")
    if hasattr(k, "shape") or (isinstance(k, (list, tuple)) and k and is_collection(k[0])):
        raise TypeError(
            "`k` with `counts` is a matrix of similarities of species: pass it as the samples, "
            "with the share of each species: compute(K, score_K=True, p=counts / counts.sum())"
        )
    if k is not None and not (isinstance(k, str) and k == "labels"):
        raise TypeError(
            f"`counts` are compared as k='labels', got k={short_repr(k)}; leave `k` "
            "out, or pass "
            f"the samples themselves"
        )
    for name in _INCOMPATIBLE_KEYWORDS:
        value = arguments.get(name)
        if value is not None and value is not False:
            raise TypeError(
                f"`{name}` cannot be used with `counts`, which name no single sample; leave it "
                f"out, or pass the labels of all individuals with k='labels'"
            )
    return {**remaining, "k": "labels"}


def expand_counts(
    samples: object, counts: Samples
) -> tuple[RepeatedSimilarity, GroupLabels | None]:
    """Return the similarity of all individuals of all sites, with the sites as groups."""
    if samples is not None:
        raise TypeError(
            "`counts` stand for the samples, but `samples` were passed too: pass "
            "compute(counts=…) alone"
        )
    table = _check_counts(counts)
    sites = np.atleast_2d(table)
    of_sites = sites.sum(axis=1)
    if empty := np.flatnonzero(of_sites == 0).tolist():
        where = f"site {empty[0]} of `counts`" if table.ndim == 2 else "`counts`"
        raise ValueError(
            f"{where} must have an individual, got 0 of every species; leave that site out"
        )
    n = int(of_sites.sum())
    require(16 * n, f"`counts` of {n:,} individuals", "draw some of them")
    present = sites.any(axis=0)
    species = np.arange(present.sum())
    distinct = as_similarity(species.tolist(), k="labels")
    inverse = np.repeat(np.tile(species, len(sites)), sites[:, present].ravel())
    similarity = RepeatedSimilarity(distinct, inverse)
    if table.ndim == 1:
        return similarity, None
    codes = np.repeat(np.arange(len(sites)), of_sites)
    if hasattr(counts, "columns") and hasattr(counts, "index") and counts.index.is_unique:
        return similarity, GroupLabels(tuple(counts.index.tolist()), codes)  # a pandas DataFrame
    return similarity, GroupLabels(tuple(range(len(sites))), codes, nested=True)


def _check_counts(counts: Samples) -> np.ndarray:
    """Return counts as integers, shape (species,) or (sites, species)."""
    read = as_samples(counts, "counts")
    if sp.issparse(read):
        read = read.toarray()
    numbers = _as_array(read) if isinstance(read, list) else to_host(read)
    shape = numbers.shape
    if numbers.ndim > 2:
        raise ValueError(
            f"`counts` must be (species,) or (sites, species), got shape {shape}; pass one table"
        )
    if numbers.ndim == 2 and shape[1] == 1 < shape[0]:
        raise ValueError(
            f"`counts` must have a column for each species, got shape {shape}; pass "
            f"counts.squeeze(1) for the counts of one site"
        )
    if numbers.dtype.kind not in "fiub":
        raise TypeError(f"`counts` must be whole numbers, got dtype {numbers.dtype}; convert them")
    with np.errstate(invalid="ignore"):
        wrong = ~(numbers >= 0) | (numbers % 1 != 0)
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise _invalid_count_error(place, numbers[place].item())
    return numbers.astype(np.int64)


def _as_array(rows: list[object]) -> np.ndarray:
    """Return lists of numbers as an array; raise if they contain anything else."""
    lengths = {len(row) for row in rows if hasattr(row, "__len__") and not isinstance(row, str)}
    if len(lengths) > 1:
        raise ValueError(
            f"`counts` must have as many species at every site, got rows of {min(lengths)} to "
            f"{max(lengths)}; pass 0 for a species that is absent"
        )
    entries = np.array([to_host(row) if hasattr(row, "shape") else row for row in rows], object)
    for place, entry in np.ndenumerate(entries):
        if not isinstance(entry, (Real, np.bool_)):
            raise _invalid_count_error(place, entry)
    return entries.astype(float)


def _invalid_count_error(index: tuple[int, ...], value: object) -> ValueError:
    """Return an error about the first entry that is not a count."""
    site = f" at site {index[0]}" if len(index) > 1 else ""
    return ValueError(
        f"`counts` must be whole numbers of at least 0, got {short_repr(value)} for species "
        f"{index[-1]}{site}; pass 0 for an absent species, no columns of names, and shares to "
        f"effective_number"
    )
