"""`.ci/run` runs the test command of README without a shell."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("readme_commands", ROOT / ".ci/readme_commands.py")
readme_commands = importlib.util.module_from_spec(spec)
spec.loader.exec_module(readme_commands)


def block(*lines: str) -> str:
    return "\n".join(["before", "<!-- test -->", "```bash", *lines, "```", "after", ""])


def test_readme_commands_create_environment_install_and_test():
    make, install, test = readme_commands.parse_commands(
        (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert make == ["python3", "-m", "venv", ".venv"]
    assert install[:2] == [".venv/bin/pip", "install"]
    assert ".[dev]" in install
    assert test[:3] == [".venv/bin/python", "-m", "pytest"]


def test_quoted_arguments_are_kept_together():
    text = block('.venv/bin/python -m pytest -m "not page"', "python3 -V")
    expected = [[".venv/bin/python", "-m", "pytest", "-m", "not page"], ["python3", "-V"]]
    assert readme_commands.parse_commands(text) == expected


@pytest.mark.parametrize(
    "line",
    [
        "python3 -V && rm x",
        "python3 -V; rm x",
        "python3 -V | sh",
        "python3 -V > x",
        "python3 $(whoami)",
        'python3 "`whoami`"',
        "python3 -V # comment",
        "X=1 python3 -V",
        "python3 *.py",
        "bash -c true",
        "/bin/python3 -V",
        ".venv/bin/../../x",
        "",
    ],
)
def test_shell_syntax_and_other_programs_are_rejected(line):
    with pytest.raises(ValueError, match=r"must not need a shell|expected python3 or"):
        readme_commands.parse_commands(block("python3 -V", line))


def test_size_of_folder_is_the_sum_of_its_files(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.py").write_bytes(b"0" * 1_500_000)
    (tmp_path / "b").write_bytes(b"0" * 500_000)
    (tmp_path / "link").symlink_to(tmp_path / "b")
    assert readme_commands.measure_megabytes(tmp_path) == 2.0


def test_readme_without_test_block_is_rejected():
    with pytest.raises(ValueError, match="expected one block"):
        readme_commands.parse_commands("# no commands\n")
    with pytest.raises(ValueError, match="expected one block"):
        readme_commands.parse_commands(block())
