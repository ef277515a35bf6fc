"""The names by which the page and its API show the fields of a result."""

from vendiscore.report import ReportData, key_at
from vendiscore.tools.analysis.comparison import Comparison

from ..aliases import Record

# Of `ReportData.to_dict`, the page and the API, where {key} is the key of the main number; "" for a
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
# Of `Comparison.to_dict`, where {key} is the key of the score: what both show of a set, and of a
# pair of sets.
_SET_NAMES = ("name", "n", "n_per_group", "se", "matched", "matched_se")
_SET_FIELDS = {
    **dict(zip(_SET_NAMES, _SET_NAMES, strict=True)),
    "score": "{key}",
    "matched_low": "low",
    "matched_high": "high",
}
_PAIR_NAMES = (
    "a",
    "b",
    "difference",
    "low",
    "high",
    "level",
    "p_floor",
    "detectable_difference",
    "verdict",
)
_PAIR_FIELDS = {**dict(zip(_PAIR_NAMES, _PAIR_NAMES, strict=True)), "p_adjusted": "p"}


def get_page_fields(report_data: ReportData) -> Record:
    """Return the fields that the page shows, under its names; None for a missing value."""
    result = report_data.to_dict()
    return {page.format(**result): result[name] for name, page, _ in _FIELDS if page}


def get_api_fields(report_data: ReportData) -> Record:
    """Return the fields that the API returns, under its names, without missing values."""
    result = report_data.to_dict()
    return {
        api.format(**result): result[name]
        for name, _, api in _FIELDS
        if api and result[name] is not None
    }


def get_quality_fields(comparison: Comparison) -> list[Record]:
    """Return the fields of `Comparison.quality_parts`, with a sentence for each pair."""
    rows = zip(comparison.to_dict()["quality_parts"], comparison.quality_parts, strict=True)
    return [row | {"sentence": parts.sentence} for row, parts in rows]


def get_comparison_fields(comparison: Comparison) -> Record:
    """Return the fields that the page and the API show of a comparison, under their names."""
    result = comparison.to_dict()
    key = key_at(comparison.q)
    return {
        "q": result["q"],
        "matched_size": result["sets"][0]["size"],
        "within": result["groups"],
        "level": result["level"],
        "missing_cells": result["missing_cells"],
        "rows": [
            {shown.format(key=key): row[name] for name, shown in _SET_FIELDS.items()}
            for row in result["sets"]
        ],
        "pairs": [
            {shown: row[name] for name, shown in _PAIR_FIELDS.items()} for row in result["pairs"]
        ],
    }
