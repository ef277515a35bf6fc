"""`compare` and `sources` assign equal names to sets."""

import numpy as np
import pytest
from PIL import Image

from vendiscore import compare, sources

X, Y = np.random.default_rng(0).normal(size=(2, 8, 2))


def names_of_compare(first, second, **options):
    return compare(first, second, permutations=19, **{"k": "cosine", **options}).names


def names_of_sources(first, second, **options):
    result = sources([first, second], level=None, aligned=False, **{"k": "cosine", **options})
    return [source.name for source in result.sources]


@pytest.mark.parametrize("call", [names_of_compare, names_of_sources])
def test_set_names_are_letters_given_names_or_folders(call, tmp_path):
    assert call(X, Y) == ["A", "B"]
    assert call(X, Y, names=("new", "old")) == ["new", "old"]
    assert call(X, Y, names=[1, 2]) == ["1", "2"]
    for name in ("cats", "dogs"):
        (tmp_path / name).mkdir()
        for i in range(4):
            pixels = np.random.default_rng(i).integers(0, 255, (4, 4), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / f"{i}.png")
    assert call(tmp_path / "cats", tmp_path / "dogs", k="pixels") == ["cats", "dogs"]


@pytest.mark.parametrize("call", [names_of_compare, names_of_sources])
@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a"], ValueError, "`names` must contain 2 distinct strings"),
        (["a", "a"], ValueError, "`names` must contain 2 distinct strings"),
        ("ab", TypeError, "`names` must be a list of strings, one per"),
    ],
)
def test_invalid_names_raise(call, names, error, message):
    with pytest.raises(error, match=message):
        call(X, Y, names=names)


@pytest.mark.parametrize("call", [compare, sources])
def test_duplicate_names_and_names_with_a_dict_raise(call):
    with pytest.raises(ValueError, match=r"names of (sets|sources) must be distinct as strings"):
        call({1: X, "1": Y}, k="cosine")
    with pytest.raises(ValueError, match="cannot be combined with a dict of s"):
        call({"a": X, "b": Y}, names=["a", "b"], k="cosine")
    with pytest.raises(ValueError, match="`by` contains two different labels with the string '1'"):
        call(np.concatenate([X, Y]), by=[1, "1"] * 8, k="cosine")
