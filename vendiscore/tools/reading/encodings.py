"""Decoding of text: the encoding, or the location of the first invalid byte."""

import codecs
import re

from .limits import RefusedError

LINE_BREAK = re.compile(r"\r\n|\r|\n")


class NotTextError(RefusedError):
    """Bytes that are not text in the encoding that an option names or a byte order mark shows."""


def decode(data: bytes, encoding: str | None = None) -> tuple[str, str]:
    """Decode the text of a file.

    Parameters
    ----------
    data : bytes
        Content of the file.
    encoding : str, optional
        Name of a Python codec. By default that of the byte order mark, otherwise UTF-8.

    Returns
    -------
    tuple of str
        The text without a byte order mark, and the encoding.

    Raises
    ------
    RefusedError
        If bytes cannot be decoded; the message gives the line and column of the first one.

    See Also
    --------
    vendiscore.report.read_data : Read the samples of a file.

    Examples
    --------
    >>> from vendiscore.report import decode
    >>> decode("né".encode())
    ('né', 'utf-8')
    """
    is_utf16 = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    codec = encoding or (
        "utf-16" if is_utf16 else "utf-8-sig" if data[:3] == b"\xef\xbb\xbf" else ""
    )
    try:
        return clean_text(data.decode(codec or "utf-8")), codec or "utf-8"
    except UnicodeDecodeError as error:
        start = error.start + len(data) - len(error.object)  # utf-8-sig does not count its mark
        before = data[:start].decode(codec or "utf-8", errors="replace")
        byte = error.object[error.start]
        codec_name = codec.removesuffix("-sig") or "utf-8"
    hint = "" if encoding else "; save it as UTF-8 (in Excel: “CSV UTF-8”)"
    raise NotTextError(f"byte 0x{byte:02x} is not {codec_name}{hint}", _describe_location(before))


def clean_text(text: str) -> str:
    """Return the text without a byte order mark; raise a NotTextError if it contains a NUL.

    Carriage returns that end all lines, as on old Macs, are replaced by line feeds.
    """
    text = text.removeprefix("\ufeff")
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    if "\0" in text:
        before = text[: text.index("\0")]
        raise NotTextError(
            "there is a NUL, so it is not text; save it as UTF-8", _describe_location(before)
        )
    return text


def _describe_location(before: str) -> str:
    """Return the line and the column, both counted from 1, of the character after a text."""
    lines = LINE_BREAK.split(before)
    return f"line {len(lines):,}, column {len(lines[-1]) + 1:,}"
