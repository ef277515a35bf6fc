"""The names of `vendiscore.report` for the web app and other programs that present results."""

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...result import key_at
    from ...support.text_detection import looks_like
    from ..analysis import report_text as sentences
    from ..analysis.report_data import ReportData, compute_report_data
    from ..reading.columnar_files import Columns
    from ..reading.columns import column_kind, few_values, is_prose
    from ..reading.encodings import decode
    from ..reading.formats import FORMATS, format_of, named_format
    from ..reading.limits import AskError, Limits, ReadOptions, RefusedError, Wanted
    from ..reading.names import MOLECULE_NAMES, is_named, join_names, role_of
    from ..reading.number_tables import not_finite
    from ..reading.reader import read_data
    from ..reading.samples import Samples
    from ..reading.table_samples import samples_of
    from ..reading.tables import Table, share_of_numbers
    from . import thumbnails
    from .document import report_of
    from .figures import Figure, pictures
    from .source_report import source_pictures

__all__ = [
    "FORMATS",
    "MOLECULE_NAMES",
    "AskError",
    "Columns",
    "Figure",
    "Limits",
    "ReadOptions",
    "RefusedError",
    "ReportData",
    "Samples",
    "Table",
    "Wanted",
    "column_kind",
    "compute_report_data",
    "decode",
    "few_values",
    "format_of",
    "is_named",
    "is_prose",
    "join_names",
    "key_at",
    "looks_like",
    "named_format",
    "not_finite",
    "pictures",
    "read_data",
    "report_of",
    "role_of",
    "samples_of",
    "sentences",
    "share_of_numbers",
    "source_pictures",
    "thumbnails",
]
# The modules of these names; a module is imported when one of its names is first used.
_MODULES = {
    "analysis": "sentences",
    "tools.analysis.report_data": "Findings ReportData compute_report_data find",
    "tools.reading.columnar_files": "Columns",
    "tools.reading.columns": "column_kind few_values is_prose",
    "tools.reading.encodings": "decode",
    "tools.reading.reader": "read_data",
    "tools.reading.formats": "FORMATS format_of named_format",
    "tools.reading.limits": "AskError Limits ReadOptions RefusedError Wanted",
    "tools.reading.number_tables": "not_finite",
    "tools.reading.samples": "Samples",
    "support.text_detection": "looks_like",
    "tools.reading.table_samples": "samples_of",
    "tools.reading.names": "MOLECULE_NAMES is_named join_names role_of",
    "tools.reading.tables": "Table share_of_numbers",
    "tools.reports": "thumbnails",
    "tools.reports.document": "report_of",
    "tools.reports.figures": "Figure pictures",
    "tools.reports.source_report": "source_pictures",
    "result": "key_at",
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names.split():
            return resolve_name(f"vendiscore.{module}.{name}")
    raise AttributeError(f"module {__package__!r} has no attribute {name!r}")
