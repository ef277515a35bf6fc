"""Notes of a command: a few lines for typical_files input, and each in full with --verbose."""

import numpy as np
import pytest

from vendiscore.tools.cli.notes import Notes

ANSWERS = "docs/tutorials/data/answers.csv"


@pytest.fixture
def answers(request):
    return request.config.rootpath / ANSWERS


def test_typical_input_prints_three_lines_of_notes(run, answers):
    err = run(answers, "--ci")[2]
    lines = err.splitlines()
    assert len(lines) == 3
    assert "in 38 groups by column 'prompt', in 3 sets by column 'source'" in lines[0]
    assert lines[1].endswith("(similarly for gemini-1.5-pro, gpt-4o)")
    assert lines[2] == "vendiscore: 2 further notes: pass --verbose to print them"


def test_verbose_prints_all_notes_of_all_sets(run, answers):
    err = run(answers, "--ci", "--verbose")[2]
    for name in ("people", "gemini-1.5-pro", "gpt-4o"):
        assert f"› {name}: VS is the mean over 38 groups, equally weighted.\n" in err
        assert f"› {name}: Kernel 'ngram_overlap' represents " in err
    assert len(err.splitlines()) >= 8
    assert run(answers, "--ci", "--verbose")[1] == run(answers, "--ci")[1]


def test_quiet_prints_warnings_without_notes(run, answers):
    err = run(answers, "--ci", "--quiet")[2]
    assert [line.split(":")[1] for line in err.splitlines()] == [" warning"]


def test_quiet_and_verbose_are_mutually_exclusive(run, answers):
    code, _, err = run(answers, "--quiet", "--verbose")
    assert code == 2
    assert "--quiet and --verbose are mutually exclusive" in err


def test_kernel_note_is_printed_once_for_several_sets(run, save):
    rows = [f"{i},{i % 5},{'ab'[i % 2]}" for i in range(1, 13)]
    path = save("v.csv", "\n".join(["x,y,model", *rows]))
    assert run(path, "--by", "model")[2].count("compared by cosine similarity") == 1


def test_table_of_two_kernels_reports_samples_once(run, answers):
    kernels = ("-k", "ngram_overlap", "-k", "word_overlap", "--permutations", "99")
    assert run("table", answers, *kernels)[2].count("912 texts") == 1


COMMANDS = {
    "texts": ["t.txt"],
    "two files": ["t.txt", "u.txt"],
    "four files": ["t.txt", "u.txt", "v.txt", "w.txt", "--ci"],
    "prompts and models": ["answers.csv", "--ci"],
    "labels": ["answers.csv", "--group-by", "model", "--column", "answer", "--ci"],
    "vectors": ["x.npy", "--ci"],
    "files of vectors": ["x.npy", "y.npy", "--ci"],
    "compare": ["compare", "answers.csv"],
    "table": ["table", "answers.csv", "-k", "ngram_overlap", "-k", "word_overlap"],
    "sources": ["sources", "answers.csv"],
    "growth": ["growth", "x.npy"],
    "explain": ["explain", "x.npy"],
    "phrases": ["phrases", "t.txt", "u.txt", "--permutations", "19"],
    "select": ["select", "x.npy", "-n", "3", "--indices"],
    "dedup": ["dedup", "t.txt"],
    "report": ["report", "t.txt"],
}


@pytest.fixture
def typical_files(save, tmp_path, monkeypatch):
    """A folder with typical files."""
    monkeypatch.chdir(tmp_path)
    for name in "tuvw":
        save(f"{name}.txt", "".join(f"the {name} word{i} of {i % 7}\n" for i in range(30)))
    rows = [f"m{i % 2},p{i // 10},word{i % 4} of {i % 5} {i % 3}\n" for i in range(120)]
    save("answers.csv", "".join(["model,prompt,answer\n", *rows]))
    for i, name in enumerate(("x.npy", "y.npy")):
        np.save(name, np.random.default_rng(i).normal(size=(30, 4)))


@pytest.mark.usefixtures("typical_files")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.filterwarnings("ignore")
def test_typical_commands_print_at_most_three_lines_on_stderr(run, name):
    code, out, err = run(*COMMANDS[name])
    assert code == 0, err
    assert out
    assert 1 <= len(err.splitlines()) <= 3, err
    verbose = run(*COMMANDS[name], "--verbose")
    assert verbose[:2] == (code, out)
    assert "pass --verbose" not in verbose[2]
    quiet = run(*COMMANDS[name], "--quiet")
    assert quiet[1] == out
    assert all(line.startswith("vendiscore: warning: ") for line in quiet[2].splitlines())


def test_number_of_hidden_notes_is_printed(capsys):
    notes = Notes(str)
    notes.print_line("a: 3 texts")
    for word in ("one", "two", "three"):
        notes.add_note(f"note {word}", "a")
    notes.print_all()
    assert [line.removeprefix("vendiscore: ") for line in capsys.readouterr().err.splitlines()] == [
        "a: 3 texts",
        "a: note one",
        "2 further notes: pass --verbose to print them",
    ]


@pytest.mark.usefixtures("typical_files")
def test_several_files_are_summarized_on_single_line(run):
    err = run("t.txt", "u.txt", "v.txt")[2]
    assert err.splitlines()[0] == "vendiscore: t.txt: 30 texts; 2 further files: 60 texts"
    assert "vendiscore: w.txt: 30 texts\n" in run("t.txt", "u.txt", "w.txt", "--verbose")[2]
