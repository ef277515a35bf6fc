"""Text of files: in which encoding it is, where nobody says."""

from __future__ import annotations

import codecs


def encoding_of(data: bytes, named: str | None) -> str:
    """The encoding that is named, else UTF-16 with a byte order mark, else UTF-8."""
    marked = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return named or ("utf-16" if marked else "utf-8-sig")


def undecodable(error: UnicodeDecodeError, named: str | None) -> str:
    """What is wrong with a byte that is not in the encoding, and what to do."""
    remedy = "" if named else "; save it as UTF-8, or name its encoding: --encoding latin-1"
    used = (named or error.encoding).removesuffix("-sig")
    return f"byte 0x{error.object[error.start]:02x} is not {used}{remedy}"
