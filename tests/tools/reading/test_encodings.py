"""Bytes are decoded to text, or an error contains line and column."""

import codecs

import pytest

from vendiscore.tools.reading.encodings import NotTextError, clean_text, decode


@pytest.mark.parametrize(
    ("data", "encoding", "expected"),
    [
        ("né\n".encode(), None, ("né\n", "utf-8")),
        (codecs.BOM_UTF8 + "né".encode(), None, ("né", "utf-8-sig")),
        ("né".encode("utf-16"), None, ("né", "utf-16")),
        (codecs.BOM_UTF16_BE + "né".encode("utf-16-be"), None, ("né", "utf-16")),
        ("né".encode("latin-1"), "latin-1", ("né", "latin-1")),
        (codecs.BOM_UTF8 + b"a", "utf-8", ("a", "utf-8")),
        (b"", None, ("", "utf-8")),
    ],
)
def test_decode_removes_byte_order_mark(data, encoding, expected):
    assert decode(data, encoding) == expected


@pytest.mark.parametrize(
    ("data", "encoding", "location", "message"),
    [
        ("a\nné".encode("latin-1"), None, "line 2, column 2", "byte 0xe9 is not utf-8; save it"),
        (codecs.BOM_UTF8 + b"ab\xff", None, "line 1, column 3", "byte 0xff is not utf-8; save"),
        (b"a\r\nb\rcd\xff", None, "line 3, column 3", "byte 0xff is not utf-8"),
        (b"ab\x80", "ascii", "line 1, column 3", "byte 0x80 is not ascii"),
        (b"ab\x00c", None, "line 1, column 3", "there is a NUL"),
    ],
)
def test_decode_error_contains_line_and_column(data, encoding, location, message):
    with pytest.raises(NotTextError) as caught:
        decode(data, encoding)
    assert caught.value.place == location
    assert caught.value.message.startswith(message)
    if encoding:
        assert "save it" not in caught.value.message


def test_plain_removes_leading_byte_order_mark():
    assert clean_text("\ufeffa") == "a"
    assert clean_text("a\ufeff") == "a\ufeff"
    with pytest.raises(NotTextError, match=r"Line 2, column 1: there is a NUL"):
        clean_text("a\n\0")
