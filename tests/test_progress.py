"""The line that says how long work takes, before it begins."""

import re

import pytest

from vendiscore import progress

LINE = re.compile(r"Scoring: about \d+(\.\d)? (seconds|minutes|hours)( and (.+) of memory)?\.\n")
MUCH = 1e17


def test_long_work_is_foretold_with_its_memory(capsys):
    progress.foretell("Scoring", MUCH, 3.2e9)
    line = capsys.readouterr().err
    assert LINE.fullmatch(line)[4] == "3.2 GB"
    progress.foretell("Scoring", MUCH, 1000)
    assert LINE.fullmatch(capsys.readouterr().err)[3] is None


def test_short_work_is_not_foretold(capsys):
    progress.foretell("Scoring", 1e9, 1e9)
    assert capsys.readouterr().err == ""


def test_a_tip_ends_the_line(capsys):
    progress.foretell("Scoring", MUCH, tip="order 2 needs less")
    assert capsys.readouterr().err.endswith("hours; order 2 needs less.\n")


def test_parts_of_foretold_work_are_not_foretold(capsys):
    with progress.foretell("Scoring", 1.0):
        progress.foretell("Scoring", MUCH)
        with progress.foretell("Scoring", MUCH):
            pass
        progress.foretell("Scoring", MUCH)
    assert capsys.readouterr().err == ""
    progress.foretell("Scoring", MUCH)
    assert capsys.readouterr().err.count("\n") == 1


def test_the_line_is_silenced_as_bars_are(capsys):
    with progress.quiet():
        progress.foretell("Scoring", MUCH)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(9.6, "10 seconds"), (99, "99 seconds"), (130, "2.2 minutes"), (6100, "1.7 hours")],
)
def test_times_have_two_digits(seconds, words):
    assert progress._duration(seconds) == words
