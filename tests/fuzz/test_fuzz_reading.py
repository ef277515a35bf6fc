"""Files with random changes are read or rejected with a message, without other exceptions."""

import random

import pytest
import user_files as files

from vendiscore_page.inputs.uploads import InputSettings, RefusedError, UserInput, read
from vendiscore_page.inputs.visitor_samples import Samples

for package in ("rdkit", "pyarrow", "pillow_heif"):
    pytest.importorskip(package)

_SPECIAL_BYTES = b',;\t"\n\r\0{}[]0-9.e|=#\xff'


def make_sample_files() -> list[tuple[str, bytes]]:
    formats = ("PNG", "JPEG", "HEIF", "WEBP", "GIF", "BMP")
    photos = [(f"a.{form.lower()}", files.encode_photo(form)) for form in formats]
    text_based_files = [
        *files.text_files(),
        *files.molecule_files(),
        *files.vector_files(),
        *files.ambiguous_files(),
    ]
    named_files = [(file.name, file.data) for file in [*text_based_files, *files.rejected_files()]]
    return [*named_files, *photos, ("a.zip", files.encode_zip(dict(photos)))]


def corrupt_bytes(data: bytes, rng: random.Random) -> bytes:
    result = bytearray(data)
    for _ in range(rng.choice([1, 2, 5, 20])):
        position = rng.randrange(len(result) + 1)
        match rng.randrange(4):
            case 0:
                result[position : position + 1] = rng.randbytes(1)
            case 1:
                del result[position : position + rng.randrange(1, 30)]
            case 2:
                result[position:position] = bytes(
                    rng.choices(_SPECIAL_BYTES, k=rng.randrange(1, 9))
                )
            case 3:
                result[position:position] = result[position : position + 50]
    return bytes(result)


def draw_options(rng: random.Random) -> InputSettings:
    return InputSettings(
        kind=rng.choice([None, None, "texts", "images", "molecules", "vectors"]),
        column=rng.choice([None] * 6 + ["a", "text", "answer", "X"]),
        by=rng.choice([None] * 9 + ["id", "a"]),
        separator=rng.choice([None] * 6 + ["line", "blank", "file", "---", "x"]),
        header=rng.choice([None, True, False]),
        index=rng.choice([None, True, False]),
    )


def read_or_message(upload: UserInput, options: InputSettings) -> Samples | str:
    try:
        return read(upload, options)
    except RefusedError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(10))
def test_corrupted_files_are_read_or_rejected(seed):
    rng = random.Random(seed)
    sample_files = make_sample_files()
    n_read = 0
    for _ in range(300):
        name, data = rng.choice(sample_files)
        name = rng.choice(sample_files)[0] if rng.random() < 0.2 else name
        data = corrupt_bytes(data, rng)
        upload = UserInput(files=[(name, data)] * rng.choice([1, 1, 1, 2]))
        if rng.random() < 0.2:
            upload = UserInput(text=data.decode("utf-8", "replace"))
        result = read_or_message(upload, draw_options(rng))
        if isinstance(result, str):
            assert 10 < len(result) < 600
            continue
        n_read += 1
        assert 0 < len(result) == len(result.values) == len(result.places) <= result.total
        assert len(result.groups) in (0, len(result))
        assert set(result.problems) <= set(range(len(result)))
    assert n_read > 60
