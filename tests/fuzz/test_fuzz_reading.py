"""Files with bytes changed at random are read or refused in words, and nothing else happens."""

import random

import pytest
import user_files as files

from vendiscore_page.inputs.uploads import Asked, Given, RefusedError, read
from vendiscore_page.inputs.visitor_samples import Samples

for package in ("rdkit", "pyarrow", "pillow_heif"):
    pytest.importorskip(package)

_SIGNS = b',;\t"\n\r\0{}[]0-9.e|=#\xff'


def known() -> list[tuple[str, bytes]]:
    formats = ("PNG", "JPEG", "HEIF", "WEBP", "GIF", "BMP")
    photos = [(f"a.{form.lower()}", files.encode_photo(form)) for form in formats]
    every = [
        *files.text_files(),
        *files.molecule_files(),
        *files.vector_files(),
        *files.ambiguous_files(),
    ]
    named = [(file.name, file.data) for file in [*every, *files.rejected_files()]]
    return [*named, *photos, ("a.zip", files.encode_zip(dict(photos)))]


def changed(data: bytes, rng: random.Random) -> bytes:
    result = bytearray(data)
    for _ in range(rng.choice([1, 2, 5, 20])):
        at = rng.randrange(len(result) + 1)
        match rng.randrange(4):
            case 0:
                result[at : at + 1] = rng.randbytes(1)
            case 1:
                del result[at : at + rng.randrange(1, 30)]
            case 2:
                result[at:at] = bytes(rng.choices(_SIGNS, k=rng.randrange(1, 9)))
            case 3:
                result[at:at] = result[at : at + 50]
    return bytes(result)


def asked(rng: random.Random) -> Asked:
    return Asked(
        kind=rng.choice([None, None, "texts", "images", "molecules", "vectors"]),
        column=rng.choice([None] * 6 + ["a", "text", "answer", "X"]),
        by=rng.choice([None] * 9 + ["id", "a"]),
        separator=rng.choice([None] * 6 + ["line", "blank", "file", "---", "x"]),
        header=rng.choice([None, True, False]),
        index=rng.choice([None, True, False]),
    )


def outcome(given: Given, how: Asked) -> Samples | str:
    try:
        return read(given, how)
    except RefusedError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(10))
def test_whatever_is_sent_is_read_or_refused(seed):
    rng = random.Random(seed)
    every = known()
    read_at_all = 0
    for _ in range(300):
        name, data = rng.choice(every)
        name = rng.choice(every)[0] if rng.random() < 0.2 else name
        data = changed(data, rng)
        given = Given(files=[(name, data)] * rng.choice([1, 1, 1, 2]))
        if rng.random() < 0.2:
            given = Given(text=data.decode("utf-8", "replace"))
        result = outcome(given, asked(rng))
        if isinstance(result, str):
            assert 10 < len(result) < 600
            continue
        read_at_all += 1
        assert 0 < len(result) == len(result.values) == len(result.places) <= result.total
        assert len(result.groups) in (0, len(result))
        assert set(result.problems) <= set(range(len(result)))
    assert read_at_all > 60
