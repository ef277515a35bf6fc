"""Notes of a command: a few lines for everyday input, and each in full with --verbose."""

import pytest

ANSWERS = "docs/tutorials/data/answers.csv"


@pytest.fixture
def answers(request):
    return request.config.rootpath / ANSWERS


def test_everyday_input_has_a_few_lines_of_notes(run, answers):
    err = run(answers, "--ci")[2]
    lines = err.splitlines()
    assert len(lines) == 3
    assert "in 38 groups by column 'prompt', in 3 sets by column 'source'" in lines[0]
    assert lines[1].endswith("(similarly for gemini-1.5-pro, gpt-4o)")
    assert lines[2].startswith("vendiscore: notes: Means over 38 groups")
    assert lines[2].endswith("(--verbose prints them in full)")


def test_verbose_prints_each_note_of_each_set(run, answers):
    err = run(answers, "--ci", "--verbose")[2]
    for name in ("people", "gemini-1.5-pro", "gpt-4o"):
        assert f"› {name}: Means over 38 groups, which all count alike: VS.\n" in err
        assert f"› {name}: Kernel 'ngram_overlap' saw " in err
    assert len(err.splitlines()) >= 8
    assert run(answers, "--ci", "--verbose")[1] == run(answers, "--ci")[1]


def test_quiet_prints_warnings_without_notes(run, answers):
    err = run(answers, "--ci", "--quiet")[2]
    assert [line.split(":")[1] for line in err.splitlines()] == [" warning"]


def test_quiet_and_verbose_contradict_each_other(run, answers):
    code, _, err = run(answers, "--quiet", "--verbose")
    assert code == 2
    assert "--quiet and --verbose contradict each other" in err


def test_each_set_of_vectors_has_its_kernel_noted_once(run, save):
    rows = [f"{i},{i % 5},{'ab'[i % 2]}" for i in range(1, 13)]
    path = save("v.csv", "\n".join(["x,y,model", *rows]))
    assert run(path, "--by", "model")[2].count("compared by their cosine") == 1


def test_a_table_of_two_kernels_reports_its_samples_once(run, answers):
    kernels = ("-k", "ngram_overlap", "-k", "word_overlap", "--permutations", "99")
    assert run("table", answers, *kernels)[2].count("912 texts") == 1
