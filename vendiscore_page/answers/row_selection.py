"""Rows to keep: the most different samples of a result, chosen as `select` chooses them."""

from vendiscore import select
from vendiscore.report import ReportData, key_at
from vendiscore.support.errors import short_repr

from ..aliases import Record
from ..quotas import MAX_SELECTED, RefusedError


def select_rows(report_data: ReportData, size: object) -> Record:
    """Return the places of `size` samples in the page's table, and the score of them and of all."""
    similarity, order = report_data.subsample.similarity, report_data.order
    max_size = min(similarity.n, MAX_SELECTED)
    if type(size) is not int or not 1 <= size <= max_size:
        raise RefusedError(
            f"The number of samples to keep must be from 1 to {max_size:,}, got {short_repr(size)}."
        )
    q = order if 0 < order <= 2 else 1.0
    selection = select(similarity, size, q=q)
    return {
        "rows": selection.places.tolist(),
        key_at(q): float(selection.scores[-1]),
        "q": q,
        "of": similarity.n,
    }
