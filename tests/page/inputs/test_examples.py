"""The page opens on a result that the server gives today, too."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from page_answers import check_comparison, compare_as_json

from vendiscore import compare
from vendiscore_page.inputs.examples import THREE_MODELS
from vendiscore_page.inputs.submission import Asked, Given
from vendiscore_page.inputs.uploads import read
from vendiscore_page.serving.static_files import STATIC

SHOWN = json.loads((STATIC / "example.json").read_text("utf-8"))
SAMPLES = read(Given(), Asked(kind="texts", example=THREE_MODELS))


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float | None]]:
    """Yield the path of each value in an answer, with its number, or None of words."""
    if isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(each, f"{path}/{key}")
    else:
        yield path, None if isinstance(value, (str, bool, type(None))) else value


def test_cached_example_equals_new_answer():
    answer = compare_as_json({"Answers": SAMPLES})
    assert dict(numbers(SHOWN)) == pytest.approx(dict(numbers(answer)), abs=1e-9)
    words = ("sentence", "verdicts", "notes", "comparison", "signature")
    assert [SHOWN[name] for name in words] == [answer[name] for name in words]


def test_cached_example_matches_compare():
    how = {"by": SAMPLES.sets, "groups": SAMPLES.groups, "k": "ngram_overlap"}
    check_comparison(SHOWN, compare(SAMPLES.values, **how))
