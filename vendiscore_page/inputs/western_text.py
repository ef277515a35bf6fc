"""Western text that Excel saved in Windows-1252, recognised by its few letters with accents."""

from __future__ import annotations

import codecs

from vendiscore.report import RefusedError, decode

_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def detect_encoding(data: bytes) -> str | None:
    """Return "cp1252" if bytes are text in Windows-1252 only; None if other encodings fit."""
    try:
        decode(data)
    except RefusedError:
        n_non_ascii = len(data) - len(data.translate(None, bytes(range(128, 256))))
        if data[:2] in _MARKS or b"\0" in data or n_non_ascii >= 0.2 * len(data):
            return None
        try:
            data.decode("cp1252")
        except UnicodeDecodeError:
            return None
        return "cp1252"
    return None
