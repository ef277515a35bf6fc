"""Hints in error messages are valid options of the command, and correct the error."""

import re
import shlex

import numpy as np
import pytest
from PIL import Image

from vendiscore.cli import main
from vendiscore.tools.cli.parser import build_parser

# Options that a message suggests: `-o psd=clip`, `--given-prompt`, `-q inf`.
HINT_PATTERN = re.compile(
    r"(?:pass|with|or|and|by|add|use|try|take) (-o \w+=\S*\w|--?[\w-]+(?: (?!to )[\w.]+)?)"
)
INDEFINITE = "1,1,0\n1,1,1\n0,1,1\n"


def write_files(folder) -> None:
    (folder / "K.csv").write_text(INDEFINITE)
    (folder / "texts.txt").write_text("a cat\na dog\na cow\nthe sun\nthe moon\n")
    (folder / "X.csv").write_text("1.5,2\n3,4.5\n0,1\n")
    rows = "".join(f"m{i % 2},p{i % 3},a cat {i}\n" for i in range(12))
    (folder / "answers.csv").write_text(f"model,prompt,answer\n{rows}")
    (folder / "bad.jsonl").write_text('{"text": "a cat"}\n{"text": 3}\n{"text": "a dog"}\n')
    photos = folder / "photos"
    photos.mkdir()
    for i in range(3):
        alpha = np.full((6, 6, 4), 60 * (i + 1), np.uint8)
        Image.fromarray(alpha).save(photos / f"{i}.png")


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("K.csv --matrix", "-o psd=clip"),
        ("photos", "-o background=white -k pixels"),
        ("explain photos", "-o background=white -k pixels"),
        ("X.csv -k linear", "-o normalize=True"),
        ("bad.jsonl --column text", "--on-error skip"),
        ("select answers.csv -n 2", "--pool"),
        ("texts.txt -o clusters=1", None),
    ],
)
def test_hint_in_error_message_fixes_command(command, hint, tmp_path, monkeypatch, capsys):
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) != 0
    message = capsys.readouterr().err
    assert not re.search(r"\b(pass|add|use|try) \w+=", message), message
    if hint is None:
        return
    assert {*re.split(" (?=-)", hint)} <= {*HINT_PATTERN.findall(message)}, message
    if "--on-error skip" in message:
        assert "--on-error skip" in hint or "transparent" in message
    main([*shlex.split(command), *shlex.split(hint)])
    second_message = capsys.readouterr().err
    assert "error" not in second_message, second_message


@pytest.mark.parametrize(
    ("command", "message", "expected"),
    [
        ("score", "pass ci=0.95 with it", "pass --ci with it"),
        ("score", "pass k='cosine'.", "pass -k cosine."),
        ("score", "or given_prompt=True", "or --given-prompt"),
        ("score", "use q=2 or q=float('inf'), which", "use -q 2 or -q inf, which"),
        ("score", "pass measures=['VS'] or leave `measures` out", "pass -m VS or leave -m out"),
        ("sources", "`by` names it", "--by names it"),
        ("explain", "pass `size` to resize all", "pass `size` to resize all"),
        ("score", "type --by a=b", "type --by a=b"),
        ("score", "a matrix is passed with score_K=True.", "a matrix is passed with --matrix."),
        ("score", "unknown kernel `k='rb f'`.", "unknown kernel -k 'rb f'."),
        ("score", "`compute` or `compare` it", "`vendiscore score` or `vendiscore compare` it"),
        ("score", "`vendiscore.list_kernels()` lists", "`vendiscore kernels` lists"),
    ],
)
def test_keywords_in_messages_are_replaced_by_flags(command, message, expected):
    assert build_parser(command).replace_keywords_by_flags(message) == expected
