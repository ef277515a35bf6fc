"""Every option of every command changes what is printed, or is refused.

`ROWS` has a row for each option of each command: arguments that print something else than the same
command without them, and arguments that are refused. A test fails for an option without a row.
`PAIRS` are options of which one once had no effect because of another one.
"""

import csv
import json
from dataclasses import dataclass

import numpy as np
import pytest

from vendiscore.tools.cli.parser import COMMANDS, build_parser

TEXTS = ["a b c", "a b d", "a x y", "u v w", "u v x", "b c d", "q r s", "m n o"]
OTHERS = ["x y", "z w", "k l", "x y z", "p q r", "s t", "n o p", "e f"]
# What every command has, and FILE.
FREE = {"help", "version", "files"}


@dataclass(frozen=True)
class Row:
    """Arguments that an option `adds`, with an effect, and some that are `refused`.

    They follow the usual arguments of the command, or `usual`. An option that `notes` nothing on
    stdout changes what is printed on stderr.
    """

    adds: str = ""
    refused: str = ""
    usual: str | None = None
    refused_of: str | None = None
    notes: bool = False


TABLE = "t.csv --column answer --pool"
EIGHT = "eight.csv --column answer -k labels"  # prompts
SETS = "t.csv --column answer --by model --permutations 99"
USUAL = {
    "score": TABLE,
    "report": TABLE,
    "select": f"{TABLE} -n 3",
    "dedup": "repeats.txt",
    "explain": TABLE,
    "growth": TABLE,
    "compare": SETS,
    "table": SETS,
    "sources": "t.csv --column answer --by model",
    "kernels": "",
    "measures": "",
    "model": "download",
    "page": "",
    "completion": "bash",
}
# How the file of one set is read.
READING = {
    "column": Row("--column other", "--column nonsense", "t.csv --pool --column answer"),
    "pool": Row("--pool", usual="t.csv --column answer"),
    "counts": Row("--counts", "--counts", "birds.csv --pool", "a.txt"),
    "skip_rows": Row("--skip-rows 1", "--skip-rows 1", "x.csv", "a.txt"),
    "split": Row("--split blank", "--split blank", "blocks.txt", TABLE),
    "encoding": Row("--encoding cp437", "--encoding nonsense", "latin.txt --encoding latin-1"),
    "header": Row("--header", "--header", "x.csv --no-header", "a.txt"),
    "index": Row("--index", "--index", "x.csv --no-index", "a.txt"),
    "type": Row("--type txt", "--type nonsense", "x.csv --type csv"),
    "on_error": Row("--on-error skip", "--on-error ignore", "holes.csv --column answer --pool"),
    "matrix": Row("--matrix", "--matrix", "K.csv", "a.txt"),
    "subfolders": Row("--no-subfolders", "--no-subfolders", "folder --subfolders", "a.txt"),
}
# How samples are compared, and what is printed.
COMPARING = {
    "kernel": Row("-k word_overlap", "-k nonsense"),
    "option": Row("-o ns=1", "-o nonsense=1"),
    "order": Row("-q 2", "-q much"),
    "prompts": Row("--prompt topic", "--prompt nonsense"),
    "given_prompt": Row("--given-prompt", "--given-prompt", f"{TABLE} --prompt topic"),
    "quiet": Row("--quiet", "--quiet --verbose", notes=True),
    "verbose": Row(refused="--verbose --quiet"),
    "format": Row("-f json", "-f nonsense"),
}
SIGNED = {"signature": Row("--signature", "--signature -f nonsense")}
ONE_SET = READING | COMPARING
SEVERAL = (
    COMPARING
    | SIGNED
    | {
        "column": Row("--column other", "--column nonsense", "t.csv --by model --column answer"),
        "pool": Row("--pool", usual="asked.csv --column answer --by model"),
        "subfolders": Row(
            "--no-subfolders", "--no-subfolders", "folder other --subfolders", "a.txt b.txt"
        ),
        "counts": Row(refused="--counts", refused_of="a.txt b.txt"),
        "skip_rows": Row("--skip-rows 1", "--skip-rows 1", "x.csv y.csv", "a.txt b.txt"),
        "split": Row("--split blank", "--split blank", "blocks.txt pages.txt", SETS),
        "encoding": Row(
            "--encoding cp437", "--encoding nonsense", "latin.txt accents.txt --encoding latin-1"
        ),
        "header": Row("--header", "--header", "x.csv y.csv --no-header", "a.txt b.txt"),
        "index": Row("--index", "--index", "x.csv y.csv --no-index", "a.txt b.txt"),
        "type": Row("--type txt", "--type nonsense", "x.csv y.csv --type csv"),
        "on_error": Row(
            "--on-error skip", "--on-error ignore", "holes.csv --column answer --by model"
        ),
        "matrix": Row(refused="--matrix", refused_of="K.csv x.csv"),
        "given_prompt": Row(
            "--given-prompt", "--given-prompt", f"{SETS} --prompt topic", "a.txt b.txt"
        ),
        "by": Row("--by site", "--by nonsense", "t.csv --column answer --by model"),
        "level": Row("--level 0.8", "--level 95"),
    }
)
COMPARED = SEVERAL | {
    "group_by": Row("--group-by topic", "--group-by nonsense"),
    "permutations": Row("--permutations 19 --level 0.9", "--permutations 3"),
    "size": Row("--size 5", "--size 1"),
    "seed": Row("--seed 7", "--seed -1", f"{SETS} --size 5"),
    "no_repeats": Row("--no-repeats", "--no-repeats -f nonsense", "x.csv y.csv"),
}
ROWS = {
    "score": ONE_SET
    | SIGNED
    | {
        "measures": Row("-m IntDiv", "-m nonsense"),
        "references": Row("--references b.txt", "--references b.txt", "a.txt -m MMD", "a.txt"),
        "group_by": Row("--group-by topic", "--group-by nonsense", "t.csv --column answer"),
        "ci": Row("--ci", "--ci -q 0"),
        "no_repeats": Row("--no-repeats", "--no-repeats", "x.csv --ci"),
        "no_pool_repeats": Row(
            "--no-pool-repeats", "--no-pool-repeats", f"{EIGHT} --pool --group-by prompt --ci"
        ),
        "brief": Row("-b", "-b -f csv"),
        "by": Row("--by model", "--by nonsense", "t.csv --column answer"),
        "worst": Row("--worst 1", "--worst 1", "t.csv --column answer --group-by topic", "a.txt"),
        "verbose": Row("--verbose", "--verbose --quiet", "birds.csv --counts", notes=True),
    },
    "report": {name: Row(refused=row.refused) for name, row in ONE_SET.items() if row.refused}
    | {name: READING[name] for name in ("column", "pool", "header", "on_error")}
    | {name: COMPARING[name] for name in ("order", "quiet", "kernel")}
    | {
        "counts": Row(refused="--counts", refused_of="a.txt"),
        "skip_rows": Row(refused="--skip-rows 1", refused_of="a.txt"),
        "index": Row(refused="--index", refused_of="a.txt"),
        "matrix": Row(refused="--matrix", refused_of="a.txt"),
        "measures": Row("-m IntDiv", "-m nonsense"),
        "references": Row(refused="--references b.txt"),
        "group_by": Row(refused="--group-by nonsense", refused_of="t.csv --column answer"),
        "ci": Row(refused="--ci -q 0"),
        "no_repeats": Row("--no-repeats", usual="x.csv"),
        "no_pool_repeats": Row(
            "--no-pool-repeats", "--no-pool-repeats", f"{EIGHT} --pool --group-by prompt"
        ),
    },
    "select": {
        name: Row(row.adds, row.refused, row.usual and f"{row.usual} -n 3", row.refused_of)
        for name, row in ONE_SET.items()
    }
    | {
        "order": Row("-q 0.1", "-q 5", "many.csv -n 6"),
        "skip_rows": Row("--skip-rows 9", "--skip-rows 1", "x.csv -n 3", "a.txt"),
        "kernel": Row("-k labels", "-k nonsense", "near.txt -n 2"),
        "option": Row("-o initial=[5]", "-o nonsense=1"),
        "quiet": COMPARING["quiet"],
        "prompts": Row(refused="--prompt topic"),
        "size": Row("-n 4", "-n 100", TABLE),
        "objective": Row("--objective represent", "--objective nonsense"),
        "quality": Row("--quality weight", "--quality nonsense"),
        "rows": Row("--rows", "--rows -f json"),
        "indices": Row("--indices", "--indices --rows"),
        "output": Row("--output chosen.csv", "--output t.csv"),
    },
    "dedup": ONE_SET
    | {
        "column": Row("--column other", "--column nonsense", "t.csv --pool --column answer"),
        "kernel": Row("-k word_overlap", "-k nonsense", "near.txt --threshold 0.7"),
        "option": Row("-o ns=1", "-o nonsense=1", "near.txt --threshold 0.7"),
        "order": Row(refused="-q 2"),
        "counts": Row("--counts", "--counts", "birds.csv --pool", "a.txt"),
        "prompts": Row("--prompt topic", "--prompt nonsense", "same.csv --column answer --pool"),
        "given_prompt": Row(
            "--given-prompt",
            "--given-prompt",
            "echo.csv --column answer --pool --prompt topic --threshold 0.3",
        ),
        "indices": Row("--indices", "--indices --rows"),
        "output": Row("--output kept.txt", "--output repeats.txt"),
        "threshold": Row("--threshold 0.2", "--threshold 2"),
        "rows": Row("--rows", "--rows -f json"),
    },
    "explain": ONE_SET
    | SIGNED
    | {
        "threshold": Row("--threshold 0.2", "--threshold 2"),
        "size": Row("-n 2", "-n 2 -f csv"),
    },
    "growth": ONE_SET
    | SIGNED
    | {
        "level": Row("--level 0.8", "--level 95"),
        "sizes": Row("--sizes 2,4", "--sizes 100"),
        "no_repeats": Row("--no-repeats", "--no-repeats -f nonsense", "x.csv"),
    },
    "compare": COMPARED
    | {
        "no_pool_repeats": Row(
            "--no-pool-repeats",
            "--no-pool-repeats",
            f"{EIGHT} --by model -f json",
            SETS + " --pool",
        ),
    },
    "table": COMPARED
    | {
        "format": Row("-f csv", "-f json"),
        "plot": Row(refused="--plot /no/such/folder/a.png"),
    },
    "sources": SEVERAL
    | {
        "prompts": Row("--prompt topic", "--prompt nonsense"),
        "given_prompt": Row(
            "--given-prompt",
            "--given-prompt",
            "t.csv --column answer --by model --prompt topic",
            "a.txt b.txt",
        ),
    },
    "kernels": {"name": Row("rbf", "nonsense")},
    "measures": {"name": Row("IntDiv", "nonsense")},
    "model": {"action": Row(refused="upload", refused_of=""), "name": Row(refused="a/b/c")},
    "page": {"port": Row(refused="--port much")},
    "completion": {"shell": Row("fish", "powershell", usual="bash")},
}
PAIRS = [
    "score birds.csv --counts --matrix",
    "score a.txt -b -f json",
    "score a.txt -b --ci",
    "score a.txt -b --signature",
    "score asked.csv --by model --worst 1 -f json",
    "score asked.csv --pool --prompt prompt --worst 1 -b",
    "score asked.csv --pool --prompt prompt --worst 1 -f html",
    "score asked.csv --by model --worst 0",
    "score a.txt -f html --signature",
    "score a.txt --header",
    "score a.txt --no-index",
    "score a.txt --skip-rows 2",
    "score a.txt --counts",
    "score a.txt --column answer",
    "score t.jsonl --column answer --pool --header",
    "score t.jsonl --column answer --pool --skip-rows 1",
    "score x.npy --encoding latin-1",
    "score x.npy --counts",
    "score x.npy --header",
    "score a.txt --references b.txt",
    "score a.txt --no-repeats",
    "select a.txt -n 3 -f json --rows",
    "explain a.txt -n 3 -f csv",
    "dedup a.txt -q 2",
    f"table {SETS} -f csv --signature",
    "sources t.csv --column answer --by model -f html --signature",
    "compare a.txt b.txt --by model",
    f"explain {TABLE} -o metric=euclidean",
    f"growth {TABLE} -o fit=pool",
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write the files of all rows into the current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)

    def table(name, answers, others=OTHERS, topics=("a b", "u v")):
        with open(name, "w", newline="") as file:
            write = csv.writer(file).writerow
            write(["answer", "other", "model", "site", "topic", "weight"])
            for i, answer in enumerate(answers):
                cells = ["new", "old"][i % 2], "NS"[i // 2 % 2], topics[i // 2 % 2], i + 1
                write([answer, others[i % len(others)], *cells])

    twice = TEXTS + [f"{text} z" for text in OTHERS]
    table("t.csv", twice)
    table("holes.csv", [*twice, ""])
    table("same.csv", ["a b c", "d e f", "x y z", "u v w", "a b c", "d e f", "x y z", "a b c"])
    table("echo.csv", ["a b c", "a b d", "u v w", "u v x", "a b c e", "a b d e", "u v z", "u v y"])
    table("asked.csv", twice)
    header, *rows = (tmp_path / "asked.csv").read_text().splitlines()
    prompts = [f"Question {i // 4}?" for i in range(len(rows))]
    asked = [f"{row},{prompt}" for row, prompt in zip(rows, prompts, strict=True)]
    (tmp_path / "asked.csv").write_text("\n".join([f"{header},prompt", *asked]) + "\n")
    of_eight = np.random.default_rng(8).integers(30, size=64)
    eight = [f"{answer},{i % 2},Prompt {i // 8}?" for i, answer in enumerate(of_eight)]
    (tmp_path / "eight.csv").write_text("\n".join(["answer,model,prompt", *eight]) + "\n")
    for folder, some in {"folder": TEXTS, "other": OTHERS}.items():
        for i, text in enumerate(some):
            path = tmp_path / folder / ("inner" if i > 4 else "") / f"{i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    lines = {
        "a.txt": TEXTS,
        "b.txt": OTHERS,
        "repeats.txt": ["A cat sat.", "a cat sat", *TEXTS],
        "near.txt": ["a b c d", "a b d c", "x y z", "x y w", "b a"],
        "blocks.txt": ["a b", "c d", "", "e f", "g h", "", "a c", "", "i j", "", "k l", ""],
        "pages.txt": ["a", "b d", "", "e", "g h", "", "a", "", "i", "", "k l", "m", ""],
    }
    for name, texts in lines.items():
        (tmp_path / name).write_text("\n".join(texts) + "\n")
    letters = "x\xa0y m\nx\xa0z n\nu\xa0v o\nu\xa0w p\nx\xa0w q\nu\xa0y r\n"  # spaces, or letters
    for name in ("latin.txt", "accents.txt"):
        (tmp_path / name).write_bytes((letters + name).encode("latin-1"))
    numbers = {"x.csv": (12, 3), "y.csv": (12, 3), "many.csv": (40, 3)}
    for name, shape in numbers.items():
        np.savetxt(name, rng.normal(size=shape).round(3) + 1, "%g", delimiter=",")
    X = rng.normal(size=(8, 3))
    np.save("x.npy", X)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.savetxt("K.csv", U @ U.T, delimiter=",")
    (tmp_path / "birds.csv").write_text("site,robin,wren,crow\nA,5,3,0\nB,0,2,6\nC,1,1,1\n")
    records = [{"answer": text, "topic": i // 4} for i, text in enumerate(TEXTS)]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return tmp_path


CASES = [(command, name) for command, rows in ROWS.items() for name in rows]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_test_case(command):
    options = {action.dest for action in build_parser(command)._actions} - FREE
    assert options <= ROWS[command].keys()


@pytest.mark.whole
@pytest.mark.parametrize(("command", "name"), CASES)
def test_option_changes_output_or_is_rejected(run, files, command, name):
    row = ROWS[command][name]
    usual = (USUAL[command] if row.usual is None else row.usual).split()
    if command == "completion":
        assert run(command, "bash")[1] != run(command, "fish")[1]
        assert run(command, row.refused)[0]
        return
    if row.adds:
        before = run(command, *usual)
        code, out, err = run(command, *usual, *row.adds.split())
        assert code == 0, err
        assert (err != before[2]) if row.notes else (out != before[1])
    if row.refused:
        refused_of = USUAL[command] if row.refused_of is None else row.refused_of
        code, out, err = run(command, *refused_of.split(), *row.refused.split())
        assert code, out
        assert err


@pytest.mark.parametrize("typed", PAIRS)
def test_option_without_effect_is_rejected(run, files, typed):
    code, out, err = run(*typed.split())
    assert (bool(code), out) == (True, "")
    assert "error: " in err
