"""What went wrong, in words for whoever sent it."""

from __future__ import annotations

import logging
from typing import Any

from ...errors import MissingPackageError
from ..answers.unusable import UnusableError
from .lanes import BusyError

# What is raised about the input, by this page and by the library: its message is for the visitor.
EXPECTED = (ValueError, TypeError, MemoryError, MissingPackageError)
OURS = "Something went wrong on our side, not with your input; please try again later."
_log = logging.getLogger(__name__)


def status(error: Exception) -> int:
    """That of HTTP."""
    if isinstance(error, BusyError):
        return error.status
    return 422 if isinstance(error, EXPECTED) else 500


def problem(error: Exception) -> dict[str, Any]:
    """The words; what nobody expected goes to the log instead.

    Of samples that cannot be used: `lines`, one for each of the first, how many `others` there are,
    and the `rows` that they stand in.
    """
    if isinstance(error, UnusableError):
        return {
            "text": error.what,
            "lines": error.each,
            "others": error.others,
            "rows": error.rows,
        }
    if isinstance(error, (BusyError, *EXPECTED)):
        return {"text": str(error)}
    _log.error("the page failed", exc_info=error)
    return {"text": OURS}
