"""Every option of every command changes the output, or is rejected.

`CASES` has an entry for each option of each command: arguments that change the output, and
arguments that are rejected. A test fails for an option without an entry. `CONFLICTING_COMMANDS` are
commands in which one option once had no effect because of another one.
"""

import csv
import json
from dataclasses import dataclass

import numpy as np
import pytest

from vendiscore.tools.cli.parser import COMMANDS, build_parser

TEXTS = ["a b c", "a b d", "a x y", "u v w", "u v x", "b c d", "q r s", "m n o"]
OTHER_TEXTS = ["x y", "z w", "k l", "x y z", "p q r", "s t", "n o p", "e f"]
# Options of all commands, and FILE.
COMMON_OPTIONS = {"help", "version", "files"}


@dataclass(frozen=True)
class OptionCase:
    """Arguments of an option that are `effective`, and some that are `rejected`.

    They follow the default arguments of the command, or `base` and `rejected_base`. An option that
    is `on_stderr` changes only the output on stderr.
    """

    effective: str = ""
    rejected: str = ""
    base: str | None = None
    rejected_base: str | None = None
    on_stderr: bool = False


TABLE = "t.csv --column answer --pool"
EIGHT_PROMPTS = "eight.csv --column answer -k labels"  # prompts
GRADED = "graded.csv --column answer -k labels --by model"
SETS_BY_MODEL = "t.csv --column answer --by model --permutations 99"
CHECKED_TABLE = f"{TABLE} --prompt topic --baseline 3"
DEFAULT_ARGUMENTS = {
    "check": f"{CHECKED_TABLE} -f json",
    "score": TABLE,
    "report": TABLE,
    "select": f"{TABLE} -n 3",
    "dedup": "repeats.txt",
    "explain": TABLE,
    "phrases": TABLE,
    "growth": TABLE,
    "compare": SETS_BY_MODEL,
    "table": SETS_BY_MODEL,
    "sources": "t.csv --column answer --by model",
    "kernels": "",
    "measures": "",
    "model": "download",
    "page": "",
    "completion": "bash",
}
# How the file of one set is read.
READING_CASES = {
    "column": OptionCase("--column other", "--column nonsense", "t.csv --pool --column answer"),
    "pool": OptionCase("--pool", base="t.csv --column answer"),
    "counts": OptionCase("--counts", "--counts", "birds.csv --pool", "a.txt"),
    "transpose": OptionCase("--transpose", "--transpose", "birds.csv --counts --pool", "a.txt"),
    "skip_rows": OptionCase("--skip-rows 1", "--skip-rows 1", "x.csv", "a.txt"),
    "split": OptionCase("--split blank", "--split blank", "blocks.txt", TABLE),
    "encoding": OptionCase(
        "--encoding cp437", "--encoding nonsense", "latin.txt --encoding latin-1"
    ),
    "header": OptionCase("--header", "--header", "x.csv --no-header", "a.txt"),
    "index": OptionCase("--index", "--index", "x.csv --no-index", "a.txt"),
    "comments": OptionCase("--no-comments", "--comments", "notes.txt --comments", TABLE),
    "type": OptionCase("--type txt", "--type nonsense", "x.csv --type csv"),
    "on_error": OptionCase(
        "--on-error skip", "--on-error ignore", "holes.csv --column answer --pool"
    ),
    "matrix": OptionCase("--matrix", "--matrix", "K.csv", "a.txt"),
    "distances": OptionCase("--distances", "--distances", "D.csv", "K.csv"),
    "subfolders": OptionCase("--no-subfolders", "--no-subfolders", "folder --subfolders", "a.txt"),
}
# How samples are compared, and what is printed.
SCORING_CASES = {
    "kernel": OptionCase("-k word_overlap", "-k nonsense"),
    "option": OptionCase("-o ns=1", "-o nonsense=1"),
    "order": OptionCase("-q 2", "-q much"),
    "prompts": OptionCase("--prompt topic", "--prompt nonsense"),
    "given_prompt": OptionCase("--given-prompt", "--given-prompt", f"{TABLE} --prompt topic"),
    "quiet": OptionCase("--quiet", "--quiet --verbose", on_stderr=True),
    "verbose": OptionCase(rejected="--verbose --quiet"),
    "format": OptionCase("-f json", "-f nonsense"),
}
SIGNATURE_CASES = {"signature": OptionCase("--signature", "--signature -f nonsense")}
ONE_SET_CASES = READING_CASES | SCORING_CASES
SEVERAL_SETS_CASES = (
    SCORING_CASES
    | SIGNATURE_CASES
    | {
        "column": OptionCase(
            "--column other", "--column nonsense", "t.csv --by model --column answer"
        ),
        "pool": OptionCase("--pool", base="asked.csv --column answer --by model"),
        "subfolders": OptionCase(
            "--no-subfolders", "--no-subfolders", "folder other --subfolders", "a.txt b.txt"
        ),
        "counts": OptionCase(rejected="--counts", rejected_base="a.txt b.txt"),
        "transpose": OptionCase(rejected="--transpose"),
        "skip_rows": OptionCase("--skip-rows 1", "--skip-rows 1", "x.csv y.csv", "a.txt b.txt"),
        "split": OptionCase(
            "--split blank", "--split blank", "blocks.txt pages.txt", SETS_BY_MODEL
        ),
        "encoding": OptionCase(
            "--encoding cp437", "--encoding nonsense", "latin.txt accents.txt --encoding latin-1"
        ),
        "header": OptionCase("--header", "--header", "x.csv y.csv --no-header", "a.txt b.txt"),
        "index": OptionCase("--index", "--index", "x.csv y.csv --no-index", "a.txt b.txt"),
        "comments": OptionCase(
            "--no-comments", "--comments", "notes.txt a.txt --comments", SETS_BY_MODEL
        ),
        "type": OptionCase("--type txt", "--type nonsense", "x.csv y.csv --type csv"),
        "on_error": OptionCase(
            "--on-error skip", "--on-error ignore", "holes.csv --column answer --by model"
        ),
        "matrix": OptionCase(rejected="--matrix", rejected_base="K.csv x.csv"),
        "distances": OptionCase(rejected="--distances", rejected_base="K.csv x.csv"),
        "given_prompt": OptionCase(
            "--given-prompt", "--given-prompt", f"{SETS_BY_MODEL} --prompt topic", "a.txt b.txt"
        ),
        "by": OptionCase("--by site", "--by nonsense", "t.csv --column answer --by model"),
        "level": OptionCase("--level 0.8", "--level 95"),
    }
)
COMPARE_CASES = SEVERAL_SETS_CASES | {
    "group_by": OptionCase("--group-by topic", "--group-by nonsense"),
    "permutations": OptionCase("--permutations 19 --level 0.9", "--permutations 3"),
    "size": OptionCase("--size 5", "--size 1"),
    "seed": OptionCase("--seed 7", "--seed -1", f"{SETS_BY_MODEL} --size 5"),
    "no_repeats": OptionCase("--no-repeats", "--no-repeats -f nonsense", "x.csv y.csv"),
}
CASES = {
    "score": ONE_SET_CASES
    | SIGNATURE_CASES
    | {
        "measures": OptionCase("-m IntDiv", "-m nonsense"),
        "references": OptionCase(
            "--references b.txt", "--references b.txt", "a.txt -m MMD", "a.txt"
        ),
        "group_by": OptionCase("--group-by topic", "--group-by nonsense", "t.csv --column answer"),
        "ci": OptionCase("--ci", "--ci -q 0"),
        "no_repeats": OptionCase("--no-repeats", "--no-repeats", "x.csv --ci"),
        "no_pool_repeats": OptionCase(
            "--no-pool-repeats",
            "--no-pool-repeats",
            f"{EIGHT_PROMPTS} --pool --group-by prompt --ci",
        ),
        "brief": OptionCase("-b", "-b -f csv"),
        "by": OptionCase("--by site", "--by nonsense", "t.csv --column answer"),
        "weights": OptionCase("--weights weight", "--weights answer"),
        "worst": OptionCase(
            "--worst 1", "--worst 1", "t.csv --column answer --group-by topic", "a.txt"
        ),
        "verbose": OptionCase(
            "--verbose", "--verbose --quiet", "birds.csv --counts", on_stderr=True
        ),
    },
    "report": {
        name: OptionCase(rejected=case.rejected)
        for name, case in ONE_SET_CASES.items()
        if case.rejected
    }
    | {name: READING_CASES[name] for name in ("column", "pool", "header", "on_error")}
    | {name: SCORING_CASES[name] for name in ("order", "quiet", "kernel")}
    | {
        "counts": OptionCase(rejected="--counts", rejected_base="a.txt"),
        "transpose": OptionCase(rejected="--transpose"),
        "skip_rows": OptionCase(rejected="--skip-rows 1", rejected_base="a.txt"),
        "index": OptionCase(rejected="--index", rejected_base="a.txt"),
        "comments": OptionCase(rejected="--comments", rejected_base=TABLE),
        "matrix": OptionCase(rejected="--matrix", rejected_base="a.txt"),
        "distances": OptionCase(rejected="--distances", rejected_base="a.txt"),
        "measures": OptionCase("-m IntDiv", "-m nonsense"),
        "references": OptionCase(rejected="--references b.txt"),
        "group_by": OptionCase(
            rejected="--group-by nonsense", rejected_base="t.csv --column answer"
        ),
        "ci": OptionCase(rejected="--ci -q 0"),
        "no_repeats": OptionCase("--no-repeats", base="x.csv"),
        "no_pool_repeats": OptionCase(
            "--no-pool-repeats", "--no-pool-repeats", f"{EIGHT_PROMPTS} --pool --group-by prompt"
        ),
    },
    "select": {
        name: OptionCase(
            case.effective, case.rejected, case.base and f"{case.base} -n 3", case.rejected_base
        )
        for name, case in ONE_SET_CASES.items()
    }
    | {
        "order": OptionCase("-q 0.1", "-q 5", "many.csv -n 6"),
        "skip_rows": OptionCase("--skip-rows 9", "--skip-rows 1", "x.csv -n 3", "a.txt"),
        "kernel": OptionCase("-k labels", "-k nonsense", "near.txt -n 2"),
        "option": OptionCase("-o initial=[5]", "-o nonsense=1"),
        "quiet": SCORING_CASES["quiet"],
        "prompts": OptionCase(rejected="--prompt topic"),
        "size": OptionCase("-n 4", "-n 100", TABLE),
        "objective": OptionCase("--objective represent", "--objective nonsense"),
        "quality": OptionCase("--quality weight", "--quality nonsense"),
        "rows": OptionCase("--rows", "--rows -f json"),
        "indices": OptionCase("--indices", "--indices --rows"),
        "output": OptionCase("--output chosen.csv", "--output t.csv"),
    },
    "dedup": ONE_SET_CASES
    | {
        "column": OptionCase("--column other", "--column nonsense", "t.csv --pool --column answer"),
        "kernel": OptionCase("-k word_overlap", "-k nonsense", "near.txt --threshold 0.7"),
        "option": OptionCase("-o ns=1", "-o nonsense=1", "near.txt --threshold 0.7"),
        "order": OptionCase(rejected="-q 2"),
        "counts": OptionCase("--counts", "--counts", "birds.csv --pool", "a.txt"),
        "transpose": OptionCase("--transpose", "--transpose", "birds.csv --counts --pool", "a.txt"),
        "prompts": OptionCase(
            "--prompt topic", "--prompt nonsense", "same.csv --column answer --pool"
        ),
        "given_prompt": OptionCase(
            "--given-prompt",
            "--given-prompt",
            "echo.csv --column answer --pool --prompt topic --threshold 0.3",
        ),
        "indices": OptionCase("--indices", "--indices --rows"),
        "output": OptionCase("--output kept.txt", "--output repeats.txt"),
        "threshold": OptionCase("--threshold 0.2", "--threshold 2"),
        "rows": OptionCase("--rows", "--rows -f json"),
    },
    "explain": ONE_SET_CASES
    | SIGNATURE_CASES
    | {
        "threshold": OptionCase("--threshold 0.2", "--threshold 2"),
        "size": OptionCase("-n 2", "-n 2 -f csv"),
    },
    "phrases": ONE_SET_CASES
    | SIGNATURE_CASES
    | {
        "by": OptionCase("--by model", "--by nonsense"),
        "counts": OptionCase(rejected="--counts", rejected_base="birds.csv --pool"),
        "transpose": OptionCase(rejected="--transpose"),
        "given_prompt": OptionCase(rejected="--given-prompt"),
        "encoding": OptionCase(rejected="--encoding nonsense"),
        "header": OptionCase(rejected="--header", rejected_base="a.txt"),
        "index": OptionCase(rejected="--index", rejected_base="a.txt"),
        "comments": OptionCase(rejected="--comments", rejected_base=TABLE),
        "kernel": OptionCase("-k ngram_overlap:ns=1", "-k word_overlap"),
        "matrix": OptionCase(rejected="--matrix"),
        "distances": OptionCase(rejected="--distances"),
        "permutations": OptionCase("--permutations 19", "--permutations 99", SETS_BY_MODEL, TABLE),
        "seed": OptionCase("--seed 7", "--seed 7", "a.txt b.txt", TABLE),
        "size": OptionCase("-n 1", "-n 0"),
        "skip_rows": OptionCase(rejected="--skip-rows 1", rejected_base="a.txt"),
        "type": OptionCase(rejected="--type nonsense"),
    },
    "growth": ONE_SET_CASES
    | SIGNATURE_CASES
    | {
        "level": OptionCase("--level 0.8", "--level 95"),
        "sizes": OptionCase("--sizes 2,4", "--sizes 100"),
        "no_repeats": OptionCase("--no-repeats", "--no-repeats -f nonsense", "x.csv"),
    },
    "compare": COMPARE_CASES
    | {
        "correct": OptionCase("--correct passed", "--correct answer", GRADED, GRADED),
        "min_quality": OptionCase(
            "--min-quality grade=0.3", "--min-quality grade=much", GRADED, GRADED
        ),
        "no_pool_repeats": OptionCase(
            "--no-pool-repeats",
            "--no-pool-repeats",
            f"{EIGHT_PROMPTS} --by model -f json",
            SETS_BY_MODEL + " --pool",
        ),
    },
    "table": COMPARE_CASES
    | {
        "format": OptionCase("-f csv", "-f json"),
        "plot": OptionCase(rejected="--plot /no/such/folder/a.png"),
    },
    "sources": SEVERAL_SETS_CASES
    | {
        "prompts": OptionCase("--prompt topic", "--prompt nonsense"),
        "given_prompt": OptionCase(
            "--given-prompt",
            "--given-prompt",
            "t.csv --column answer --by model --prompt topic",
            "a.txt b.txt",
        ),
    },
    "check": {
        name: OptionCase(rejected=case.rejected, rejected_base=case.rejected_base)
        for name, case in READING_CASES.items()
    }
    | SCORING_CASES
    | {
        "counts": OptionCase(rejected="--counts", rejected_base=CHECKED_TABLE),
        "transpose": OptionCase(rejected="--transpose"),
        "pool": OptionCase("--pool", base="t.csv --column answer --prompt topic --baseline 3"),
        "prompts": OptionCase("--prompt model", "--prompt nonsense"),
        "given_prompt": OptionCase(
            "--given-prompt", "--given-prompt", CHECKED_TABLE, f"{TABLE} --baseline 3"
        ),
        "format": OptionCase("-f json", "-f csv", CHECKED_TABLE),
        "baseline": OptionCase("--baseline 2", "--baseline 99"),
        "alpha": OptionCase("--alpha 0.1", "--alpha 2"),
        "size": OptionCase("--size 5", "--size 1"),
        "seed": OptionCase("--seed 7", "--seed -1", f"{CHECKED_TABLE} --size 5"),
    },
    "kernels": {"name": OptionCase("rbf", "nonsense")},
    "measures": {"name": OptionCase("IntDiv", "nonsense")},
    "model": {
        "action": OptionCase(rejected="upload", rejected_base=""),
        "name": OptionCase(rejected="a/b/c"),
    },
    "page": {
        "port": OptionCase(rejected="--port much"),
        "gradio": OptionCase(rejected="--gradio=yes"),
    },
    "completion": {"shell": OptionCase("fish", "powershell", base="bash")},
}
CONFLICTING_COMMANDS = [
    "score birds.csv --counts --matrix",
    "score birds.csv --transpose",
    "score t.csv --column answer --pool --weights weight --ci",
    "score K.csv --matrix --distances",
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
    f"table {SETS_BY_MODEL} -f csv --signature",
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

    def table(name, answers, other_texts=OTHER_TEXTS, topics=("a b", "u v")):
        with open(name, "w", newline="") as file:
            write = csv.writer(file).writerow
            write(["answer", "other", "model", "site", "topic", "weight"])
            for i, answer in enumerate(answers):
                cells = ["new", "old"][i % 2], "NS"[i // 2 % 2], topics[i // 2 % 2], i + 1
                write([answer, other_texts[i % len(other_texts)], *cells])

    sixteen_texts = TEXTS + [f"{text} z" for text in OTHER_TEXTS]
    table("t.csv", sixteen_texts)
    table("holes.csv", [*sixteen_texts, ""])
    table("same.csv", ["a b c", "d e f", "x y z", "u v w", "a b c", "d e f", "x y z", "a b c"])
    table("echo.csv", ["a b c", "a b d", "u v w", "u v x", "a b c e", "a b d e", "u v z", "u v y"])
    table("asked.csv", sixteen_texts)
    header, *rows = (tmp_path / "asked.csv").read_text().splitlines()
    prompts = [f"Question {i // 4}?" for i in range(len(rows))]
    rows_with_prompts = [f"{row},{prompt}" for row, prompt in zip(rows, prompts, strict=True)]
    (tmp_path / "asked.csv").write_text("\n".join([f"{header},prompt", *rows_with_prompts]) + "\n")
    answers_of_eight = np.random.default_rng(8).integers(30, size=64)
    eight_rows = [f"{answer},{i % 2},Prompt {i // 8}?" for i, answer in enumerate(answers_of_eight)]
    (tmp_path / "eight.csv").write_text("\n".join(["answer,model,prompt", *eight_rows]) + "\n")
    graded_rows = [
        f"{row},{'yes' if i % 5 else 'no'},{i % 7 / 10}" for i, row in enumerate(eight_rows)
    ]
    (tmp_path / "graded.csv").write_text(
        "\n".join(["answer,model,prompt,passed,grade", *graded_rows]) + "\n"
    )
    for folder, folder_texts in {"folder": TEXTS, "other": OTHER_TEXTS}.items():
        for i, text in enumerate(folder_texts):
            path = tmp_path / folder / ("inner" if i > 4 else "") / f"{i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    lines = {
        "a.txt": TEXTS,
        "b.txt": OTHER_TEXTS,
        "repeats.txt": ["A cat sat.", "a cat sat", *TEXTS],
        "notes.txt": ["a cat sat", "# of run 1", "a dog ran off", "# of run 2", "it rains"],
        "near.txt": ["a b c d", "a b d c", "x y z", "x y w", "b a"],
        "blocks.txt": ["a b", "c d", "", "e f", "g h", "", "a c", "", "i j", "", "k l", ""],
        "pages.txt": ["a", "b d", "", "e", "g h", "", "a", "", "i", "", "k l", "m", ""],
    }
    for name, texts in lines.items():
        (tmp_path / name).write_text("\n".join(texts) + "\n")
    letters = "x\xa0y m\nx\xa0z n\nu\xa0v o\nu\xa0w p\nx\xa0w q\nu\xa0y r\n"  # spaces, or letters
    for name in ("latin.txt", "accents.txt"):
        (tmp_path / name).write_bytes((letters + name).encode("latin-1"))
    array_shapes = {"x.csv": (12, 3), "y.csv": (12, 3), "many.csv": (40, 3)}
    for name, shape in array_shapes.items():
        np.savetxt(name, rng.normal(size=shape).round(3) + 1, "%g", delimiter=",")
    X = rng.normal(size=(8, 3))
    np.save("x.npy", X)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.savetxt("K.csv", U @ U.T, delimiter=",")
    np.savetxt("D.csv", np.maximum(1 - U @ U.T, 0), delimiter=",")
    (tmp_path / "birds.csv").write_text("site,robin,wren,crow\nA,5,3,0\nB,0,2,6\nC,1,1,1\n")
    records = [{"answer": text, "topic": i // 4} for i, text in enumerate(TEXTS)]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return tmp_path


COMMANDS_AND_OPTIONS = [(command, name) for command, rows in CASES.items() for name in rows]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_test_case(command):
    options = {action.dest for action in build_parser(command)._actions} - COMMON_OPTIONS
    assert options <= CASES[command].keys()


@pytest.mark.whole
@pytest.mark.parametrize(("command", "name"), COMMANDS_AND_OPTIONS)
def test_option_changes_output_or_is_rejected(run, files, command, name):
    case = CASES[command][name]
    default_arguments = (DEFAULT_ARGUMENTS[command] if case.base is None else case.base).split()
    if command == "completion":
        assert run(command, "bash")[1] != run(command, "fish")[1]
        assert run(command, case.rejected)[0]
        return
    if case.effective:
        default_output = run(command, *default_arguments)
        code, out, err = run(command, *default_arguments, *case.effective.split())
        assert code == 0, err
        assert (err != default_output[2]) if case.on_stderr else (out != default_output[1])
    if case.rejected:
        rejected_base = (
            DEFAULT_ARGUMENTS[command] if case.rejected_base is None else case.rejected_base
        )
        code, out, err = run(command, *rejected_base.split(), *case.rejected.split())
        assert code, out
        assert err


@pytest.mark.parametrize("command_line", CONFLICTING_COMMANDS)
def test_option_without_effect_is_rejected(run, files, command_line):
    code, out, err = run(*command_line.split())
    assert (bool(code), out) == (True, "")
    assert "error: " in err
