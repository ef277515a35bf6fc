"""Every command that a question suggests has been tried, and gives a result or a question."""

import json
import shlex
from pathlib import Path

import pytest

READING = Path(__file__).parents[1] / "reading"
ROWS = json.loads((READING / "readings.json").read_text(encoding="utf-8"))
AMBIGUOUS = [row["file"] for row in ROWS if "ask" in row and not row["file"].startswith("shared/")]
COMMANDS = {
    "score": [],
    "compare": ["compare"],
    "explain": ["explain"],
    "phrases": ["phrases"],
    "select": ["select", "-n", "2"],
}
SEPARATOR = "Type one of:\n"
RECORDS = [{"id": i, "prompt": f"q {i // 4}", "model": "ab"[i % 2]} for i in range(16)]


def to_json_lines(rows) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def list_suggestions(message: str) -> list[list[str]]:
    """Return the suggested commands of an error message, each as a list of arguments."""
    lines = message.partition(SEPARATOR)[2].splitlines()
    return [shlex.split(line)[1:] for line in lines]


@pytest.mark.whole
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", AMBIGUOUS)
def test_every_suggested_command_works(run, name, command):
    question = run(*COMMANDS[command], READING / "files" / name)[2]
    suggestions = list_suggestions(question)
    assert suggestions or command != "score"
    for arguments in suggestions:
        code, _, error = run(*arguments)
        assert code == 0 or list_suggestions(error), (arguments, error)
        assert question.splitlines()[0] not in error


def test_unknown_type_suggests_only_types_that_can_be_read(run, save):
    path = save("settings.conf", "name: nightly\nmodels: two of them\n")
    suggestions = list_suggestions(run(path)[2])
    assert [path, "--type", "txt"] in suggestions
    assert not [words for words in suggestions if words[-1] in ("npy", "parquet", "json", "smi")]


def test_suggestion_skips_unusable_samples(run, save):
    rows = [
        {"first": f"a cat sat {i}", "second": "" if i == 2 else f"a dog ran {i}", "third": ""}
        for i in range(6)
    ]
    suggestions = list_suggestions(run(path := save("x.jsonl", to_json_lines(rows)))[2])
    assert suggestions == [
        [path, "--column", "first"],
        [path, "--column", "second", "--on-error", "skip"],
    ]


def test_suggestions_for_a_single_set_keep_prompts(run, save):
    rows = [row | {"one": f"a cat {i}", "two": f"a dog {i}"} for i, row in enumerate(RECORDS)]
    path = save("x.jsonl", to_json_lines(rows))
    column = ["--column", "one"]
    for command, flags in {
        "explain": ["--prompt", "prompt", "--pool"],
        "select": ["--pool"],
        "compare": [],
        "report": ["--prompt", "prompt", "--pool"],
        "score": [],
    }.items():
        start = [] if command == "score" else COMMANDS.get(command, [command])
        suggestions = list_suggestions(run(*start, path)[2])
        assert suggestions[0] == [*start, path, *column, *flags], command
        assert run(*suggestions[0])[0] == 0


def test_suggestions_for_several_sets_name_a_column_of_sets(run, save):
    rows = [
        {"one": f"a cat {i}", "two": f"a dog {i}", "town": "old" if i % 2 else "new"}
        for i in range(12)
    ]
    suggestions = list_suggestions(run("compare", path := save("x.jsonl", to_json_lines(rows)))[2])
    assert suggestions[0] == ["compare", path, "--column", "one", "--by", "town"]
    assert run(*suggestions[0])[0] == 0


def test_suggestions_work_for_all_files(run, save):
    first = save("a.jsonl", to_json_lines({"one": "a cat", "two": "a dog"} for _ in range(3)))
    second = save("b.jsonl", to_json_lines({"one": "a cat", "three": "a dog"} for _ in range(3)))
    assert list_suggestions(run(first, second)[2]) == [[first, second, "--column", "one"]]


def test_question_without_usable_answer_is_an_error(run, save):
    first = save(
        "a.jsonl", to_json_lines({"one": f"a cat {i}", "two": f"a dog {i}"} for i in range(3))
    )
    second = save("b.jsonl", to_json_lines({"three": f"a dog {i}"} for i in range(3)))
    code, _, error = run(first, second)
    assert code == 1
    assert "Columns one, two could be meant. No answer can be used: " in error
