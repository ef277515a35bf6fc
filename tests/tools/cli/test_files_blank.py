"""Blank samples are reported with their rows; valid and unique molecules are counted."""

import json

import pytest

import vendiscore

SMILES = "id,smiles\n1,CCO\n2,\n3,OCC\n4,c1ccccc1\n5, \n"


@pytest.mark.parametrize(
    ("name", "data", "options", "rows"),
    [
        ("m.csv", SMILES, (), ("row 3, column 'smiles' is empty", "(and 1 more: row 6)")),
        ("t.csv", 'text\na b\n""\nc d\n', (), ("row 3, column 'text' has no tokens",)),
        ("l.csv", 'label,n\nx,1\n"",2\nx,3\n', ("-k", "labels", "--column", "label"), ("row 3",)),
        (
            "a.jsonl",
            '{"answers": ["a b", "c d"]}\n{"answers": []}\n{"answers": ["e f"]}\n',
            ("--column", "answers"),
            ("line 2, answer 1, column 'answers' has no answers",),
        ),
    ],
)
def test_blank_samples_raise_error_with_row_numbers(run, save, name, data, options, rows):
    if name == "m.csv":
        pytest.importorskip("rdkit")
    path = save(name, data)
    code, out, err = run(path, *options)
    assert (code, out) == (1, "")
    for row in rows:
        assert row in err
    assert "--on-error skip" in err
    code, _, err = run(path, *options, "--on-error", "skip")
    assert code == 0
    assert "left out: " in err


def test_score_ignores_skipped_blank_molecules(run, save):
    pytest.importorskip("rdkit")
    expected = vendiscore.compute(["CCO", "OCC", "c1ccccc1"], k="morgan")["VS"]
    path = save("m.csv", SMILES)
    assert run(path, "--on-error", "skip", "-b")[1] == f"{expected!r}\n"
    assert "\nn = 3\n3 of 5 valid, 2 unique\n" in run(path, "--on-error", "skip")[1]


def test_valid_and_unique_molecules_are_counted(run, save):
    pytest.importorskip("rdkit")
    invalid_file = save("m.smi", "CCO\nC1CC\nOCC\nCC\n")
    assert "\n3 of 4 valid, 2 unique\n" in run(invalid_file, "--on-error", "skip")[1]
    valid_file = save("n.smi", "CCO\nCC\n")
    assert "\n2 of 2 valid, 2 unique\n" in run(valid_file)[1]
    out = run(invalid_file, valid_file, "--on-error", "skip")[1]
    assert "m.smi: 3 of 4 valid, 2 unique\n" in out
    assert "n.smi: 2 of 2 valid, 2 unique\n" in out
    err = run(invalid_file, valid_file, "--on-error", "skip", "-f", "csv", "--verbose")[2]
    assert "m.smi: 3 of 4 valid, 2 unique\n" in err
    assert " unique\n" not in "".join(run(valid_file, "-b")[1:])
    assert "molecules" not in json.loads(run(valid_file, "-f", "json")[1])


def test_blank_cells_of_numbered_columns_are_counted(run, save):
    path = save("a.csv", "prompt,answer_1,answer_2\np,a b,c d\nq,e f,\n")
    code, _, err = run(path)
    assert code == 0
    assert "in which 1 blank cell is left out" in err
