"""The cached example of the start page equals a new answer."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from page_answers import check_comparison, compare_as_json

from vendiscore import compare
from vendiscore_page.inputs.examples import THREE_MODELS
from vendiscore_page.inputs.submission import InputSettings, UserInput
from vendiscore_page.inputs.uploads import read
from vendiscore_page.serving.static_files import STATIC

CACHED_EXAMPLE = json.loads((STATIC / "example.json").read_text("utf-8"))
SAMPLES = read(UserInput(), InputSettings(kind="texts", example=THREE_MODELS))


def iter_numbers(value: Any, path: str = "") -> Iterator[tuple[str, float | None]]:
    """Yield the path and the number of each value of an answer; None if it is not a number."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from iter_numbers(item, f"{path}/{key}")
    else:
        yield path, None if isinstance(value, (str, bool, type(None))) else value


def test_cached_example_equals_new_answer():
    answer = compare_as_json({"Answers": SAMPLES})
    assert dict(iter_numbers(CACHED_EXAMPLE)) == pytest.approx(dict(iter_numbers(answer)), abs=1e-9)
    words = ("sentence", "verdicts", "notes", "comparison", "signature")
    assert [CACHED_EXAMPLE[name] for name in words] == [answer[name] for name in words]


def test_cached_example_matches_compare():
    options = {"by": SAMPLES.sets, "groups": SAMPLES.groups, "k": "ngram_overlap"}
    check_comparison(CACHED_EXAMPLE, compare(SAMPLES.values, **options))
