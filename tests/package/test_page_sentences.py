"""Every sentence of the page is plain English, as far as a pattern can tell."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Subjects without a noun; a question may begin with two of them.
FORBIDDEN = re.compile(
    r"(?i:\bthose of\b|(?<!there) is no (?!longer))"
    r"|(^|[.:;] )(What|Which|That|Those|Of) (?![^.]*\?)(?!(was|is) (more|too|read|there)\b)"
)


@pytest.fixture(scope="module")
def listed() -> dict[str, list[str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        return dict(importlib.import_module("page_sentences").sentences())


def test_the_list_has_sentences_of_page_and_server(listed):
    assert "Skip to the result" in listed["vendiscore_page/static/index.html"]
    assert "… by …; by …: …" in listed["vendiscore_page/static/showing/second.js"]
    notes = "Each kernel has a scale of its own: compare numbers of one kernel with each other."
    assert notes in listed["vendiscore_page/answers/one_set.py"]
    assert any(
        "have nothing in common" in line for line in listed["vendiscore/analysis/sentences.py"]
    )
    assert not any("=> " in line for lines in listed.values() for line in lines)


def test_no_sentence_of_the_page_has_a_subject_without_a_noun(listed):
    wrong = [
        f"{name}: {line}"
        for name, lines in listed.items()
        for line in lines
        if FORBIDDEN.search(line)
    ]
    assert wrong == []
