"""The library, the command and the web app read every file alike; every suggested command works."""

import json
import shlex

import numpy as np
import pytest
from reading_cases import Asked, ReadingCase, Refused, Scored, reading_cases

import vendiscore
from vendiscore.cli import main
from vendiscore.report import AskError, ReadOptions, RefusedError, read_data

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")
CASES = reading_cases()
QUESTIONS = [case for case in CASES if isinstance(case.expected, Asked)]


def case_name(case: ReadingCase) -> str:
    return case.name


@pytest.fixture
def save(tmp_path, monkeypatch):
    """Return a function that writes a case into the current folder and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(case):
        (tmp_path / case.name).write_bytes(case.data)
        return case.name

    return write


def expected_score(expected: Scored) -> dict[object, float]:
    """Return the score of each set, or of all samples under the key None."""
    scores = {}
    for name in dict.fromkeys(expected.sets) or [None]:
        kept = [
            i for i in range(len(expected.samples)) if name in (None, *expected.sets[i : i + 1])
        ]
        samples = [expected.samples[i] for i in kept]
        groups = [expected.groups[i] for i in kept] if len(expected.groups) else None
        data = np.array(samples) if expected.kernel == "cosine" else samples
        scores[name] = vendiscore.compute(data, k=expected.kernel, groups=groups)["VS"]
    return scores


def test_there_are_at_least_160_cases():
    assert len(CASES) >= 160
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_reader_matches_case(case):
    expected = case.expected
    if isinstance(expected, Scored):
        samples = read_data(case.name, case.data, ReadOptions())
        assert not samples.problems
        assert np.array_equal(samples.values, expected.samples)
        assert list(samples.groups) == list(expected.groups)
        assert list(samples.sets) == list(expected.sets)
    elif isinstance(expected, Asked):
        with pytest.raises(AskError, match=expected.question) as caught:
            read_data(case.name, case.data, ReadOptions())
        offered = [options for _, options in caught.value.choices]
        assert offered[: len(expected.options)] == list(expected.options)
    else:
        with pytest.raises(RefusedError, match=expected.message):
            read_data(case.name, case.data, ReadOptions())


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_command_prints_right_score_or_question(case, save, capsys):
    path = save(case)
    code = main([path, "-f", "json", "--quiet"])
    printed = capsys.readouterr()
    if isinstance(case.expected, Scored):
        assert code == 0, printed.err
        results = json.loads(printed.out)
        rows = results if isinstance(results, list) else [results]
        scores = [row["VS"] for row in rows]
        assert scores == pytest.approx(list(expected_score(case.expected).values()), rel=1e-12)
    else:
        assert code == (2 if isinstance(case.expected, Asked) else 1)
        assert printed.out == ""


@pytest.mark.parametrize("case", QUESTIONS, ids=case_name)
def test_every_suggested_command_reaches_number_or_narrower_question(case, save, capsys):
    pending = [(path := save(case), 0)]
    executed = 0
    while pending:
        command, depth = pending.pop()
        words = shlex.split(command, comments=True)
        code = main([*words, "--quiet"])
        printed = capsys.readouterr()
        assert code in (0, 2), f"{command}: {printed.err}"
        if code == 0:
            assert printed.out
            continue
        assert depth < 3, f"{command}: too many questions in a row"
        suggested = [
            line.strip().removeprefix("vendiscore ").replace(" --quiet", "")
            for line in printed.err.splitlines()
            if line.startswith("  vendiscore ")
        ]
        assert suggested, f"{command}: {printed.err}"
        executed += len(suggested)
        pending += [(line, depth + 1) for line in suggested]
    assert executed >= 1, path


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_web_app_reads_file_as_library_does(case):
    uploads = pytest.importorskip("vendiscore_page.inputs.uploads")
    given = uploads.UserInput(files=[(case.name, case.data)])
    if isinstance(case.expected, Scored):
        samples = uploads.read(given)
        assert np.array_equal(samples.values, case.expected.samples)
    elif isinstance(case.expected, Asked):
        with pytest.raises(AskError):
            uploads.read(given)
    elif isinstance(case.expected, Refused):
        with pytest.raises(RefusedError):
            uploads.read(given)
