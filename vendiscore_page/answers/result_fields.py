"""The names by which the page and its API show the fields of a result."""

from vendiscore.report import Findings

from ..aliases import Record

# Of `Findings.to_dict`, the page and the API, where {key} is the key of the main number; "" for a
# field that is not shown as it is.
_FIELDS = (
    ("value", "{key}", "{key}"),
    ("se", "se", "{key}_se"),
    ("low", "low", "{key}_low"),
    ("high", "high", "{key}_high"),
    ("n", "n", "n"),
    ("q", "q", "q"),
    ("level", "level", ""),
    ("group_size", "of", ""),
    ("max_score", "most", ""),
    ("typical", "typical", ""),
    ("scale", "scale", ""),
    ("signature", "signature", ""),
    ("shares", "", "shares"),
    ("profile", "", "profile"),
    ("by_group", "", "by_group"),
    ("details", "", "details"),
)


def page_fields(found: Findings) -> Record:
    """Return the fields that the page shows, under its names; None for a missing value."""
    result = found.to_dict()
    return {page.format(**result): result[name] for name, page, _ in _FIELDS if page}


def api_fields(found: Findings) -> Record:
    """Return the fields that the API returns, under its names, without missing values."""
    result = found.to_dict()
    return {
        api.format(**result): result[name]
        for name, _, api in _FIELDS
        if api and result[name] is not None
    }
