"""Hostile images and zips: unusable images are listed, and the others are read."""

import base64
import io
import struct
import zipfile

import hostile_files
import pytest
import user_files as files
from hostile_files import encode_grey_png
from rejections import get_rejection_message, make_upload
from user_files import encode_zip

from vendiscore_page.inputs import zips
from vendiscore_page.inputs.uploads import InputSettings, UserInput, read

pytest.importorskip("PIL.Image")
pytest.importorskip("pillow_heif")
from vendiscore_page.inputs import pictures


def test_zip_reader_ignores_system_files():
    hidden = ("__MACOSX/._a.png", ".ipynb_checkpoints/a.png", "trip/Thumbs.db", "desktop.ini")
    data = encode_zip({"trip/a.png": b"", "b.txt": b"b", **dict.fromkeys(hidden, b"x")})
    assert zips.read_sizes(data) == {"trip/a.png": 0, "b.txt": 1}
    assert list(zips.iter_contents(data, lambda name: True)) == [("a.png", b""), ("b.txt", b"b")]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.svg", lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", "as PNG or JPEG"),
        ("a.zip", lambda: b"PK\x03\x04 and no more", "cannot be read"),
        ("a.zip", lambda: encode_zip({f"{i}.png": b"x" for i in range(30_000)}), "30,000 entries"),
        ("a.zip", lambda: encode_zip({"a.png": b"\0" * 10**8}), "unpacks to more than"),
        (
            "a.zip",
            lambda: encode_zip({f"{i}.png": b"\0" * 6 * 10**7 for i in range(4)}),
            "unpacks to more than 192 MB",
        ),
        ("a.zip", lambda: encode_zip({"a.doc": b"hello"}), "must contain images, .txt files"),
        ("a.zip", lambda: encode_zip({}), "got nothing"),
        ("a.zip", lambda: encode_zip({"b.zip": encode_zip({"a.png": b""})}), "got b.zip"),
    ],
    ids=range(8),
)
def test_hostile_zips_are_rejected(name, data, message):
    assert message in get_rejection_message(read, make_upload(name, data()))


def test_zip_with_huge_directory_is_rejected():
    data = bytearray(encode_zip({"a.png": b"x"}))
    end = data.rfind(b"PK\x05\x06")
    data[end + 12 : end + 16] = struct.pack("<I", 60_000_000)
    assert "more files than are read" in get_rejection_message(zips.read_sizes, bytes(data))


def test_paths_in_zip_names_are_removed():
    entries = {
        "../../etc/a.png": encode_grey_png(8, 8, 50),
        "C:\\b\\c.png": encode_grey_png(8, 8, 90),
        "__MACOSX/._a.png": b"junk",
        "readme.txt": b"hello",
    }
    result = read(
        UserInput(files=[("x.zip", encode_zip(entries)), ("../d.png", encode_grey_png(40, 20))])
    )
    assert result.places == [picture.name for picture in result.values]
    assert result.places == ["a.png", "c.png", "d.png"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            lambda: encode_grey_png(20_000, 20_000),
            "has over 80 megapixels, more than the limit",
        ),
        (
            lambda: encode_grey_png(9_001, 7_000),
            "has 63 megapixels, more than the limit of 55",
        ),
        (
            lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            "is not an image in a supported format",
        ),
        (lambda: b"hello", "is not an image in a supported format (PNG, JPEG"),
        (lambda: encode_grey_png(300, 300)[:-30], "cannot be read"),
        (hostile_files.truncated_jpeg, "cannot be read"),
        (lambda: files.encode_photo("HEIF")[:-200], "cannot be read"),
    ],
    ids=range(7),
)
def test_unusable_image_is_listed_and_other_images_are_read(data, message):
    invalid_image = data()
    result = read(
        UserInput(
            files=[
                ("a.png", encode_grey_png(9, 9)),
                ("b.png", invalid_image),
                ("c.zip", encode_zip({"d.png": invalid_image})),
            ]
        )
    )
    assert result.places == ["a.png", "b.png", "d.png"]
    assert list(result.problems) == [1, 2]
    assert all(problem.startswith(message) for problem in result.problems.values())
    assert message in get_rejection_message(
        pictures.decode_images, [base64.b64encode(invalid_image).decode()]
    )


def test_too_many_megapixels_in_total_are_rejected(monkeypatch):
    monkeypatch.setattr(pictures, "MAX_ALL_PIXELS", 1_000_000)
    submission = UserInput(files=[(f"{i}.png", encode_grey_png(700, 700)) for i in range(3)])
    assert "more than 1 megapixels together" in get_rejection_message(read, submission)


def test_total_pixels_are_checked_from_headers():
    image = hostile_files.encode_webp(3_800)
    assert len(image) < 100
    message = "more than 1,200 megapixels together"
    assert message in get_rejection_message(
        read, make_upload("a.zip", encode_zip({f"{i}.webp": image for i in range(84)}))
    )
    assert message in get_rejection_message(
        pictures.decode_images, [base64.b64encode(image).decode()] * 84
    )


def test_too_many_images_are_subsampled():
    entries = {f"{i}.png": encode_grey_png(5, 5, i % 250) for i in range(300)}
    result = read(make_upload("a.zip", encode_zip(entries)))
    assert (len(result), result.total) == (200, 300)
    assert "A random subset of 200 of 300 images" in result.notes[-1]
    other = read(make_upload("a.zip", encode_zip(entries)), InputSettings(draw=1))
    assert result.places != other.places


def test_decode_images_accepts_base64_with_or_without_prefix():
    data = base64.b64encode(encode_grey_png(9, 9)).decode()
    result = pictures.decode_images([data, f"data:image/png;base64,{data}"])
    assert result[0].small.tobytes() == result[1].small.tobytes()
    assert "Image 0 is not valid base64" in get_rejection_message(pictures.decode_images, ["*"])
    assert "Expected a list" in get_rejection_message(pictures.decode_images, "abc")
    assert "not an image" in get_rejection_message(
        pictures.decode_images, [base64.b64encode(b"hello").decode()]
    )


def test_encrypted_zip_is_rejected():
    buffer = io.BytesIO(encode_zip({"a.png": encode_grey_png(9, 9)}))
    data = bytearray(buffer.getvalue())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(signature) + offset] |= 1
    assert zipfile.ZipFile(io.BytesIO(bytes(data))).infolist()[0].flag_bits & 1
    assert "it is encrypted" in get_rejection_message(read, make_upload("a.zip", bytes(data)))
