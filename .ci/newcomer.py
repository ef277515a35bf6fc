"""Run the first steps of README, docs/start.md and docs/tasks/compare_models.md as printed.

    python .ci/newcomer.py FOLDER    # an empty folder, into which the repository is cloned

The first sections of README run in one shell, in the order printed. The commands of the other pages
run in the clone, with the environment that README's first block makes: only the extra `evaluate`.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

PAGES = ("docs/start.md", "docs/tasks/compare_models.md")
FIRST = re.compile(r"^## Install$.*?(?=^## How to read the score$)", re.MULTILINE | re.DOTALL)
DOCTEST = "python -m doctest -o ELLIPSIS -o NORMALIZE_WHITESPACE"
BLOCK = re.compile(r"^```(bash|console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def main() -> None:
    root, folder = Path(__file__).resolve().parents[1], Path(sys.argv[1]).resolve()
    subprocess.run(["git", "clone", "-q", str(root), "vendiscore"], cwd=folder, check=True)
    clone = folder / "vendiscore"
    environment = {
        **{k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")},
        "HF_HOME": str(folder / "hf"),
        "HF_HUB_OFFLINE": "1",
    }
    readme = (clone / "README.md").read_text(encoding="utf-8")
    (first,) = FIRST.findall(readme)
    in_one_shell(BLOCK.findall(first), clone, environment)
    environment["PATH"] = os.pathsep.join([str(clone / ".venv" / "bin"), os.environ["PATH"]])

    def run(*command: str) -> str:
        print("$", command[-1].strip(), flush=True)
        done = subprocess.run(
            command, cwd=clone, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        print(done.stdout, flush=True)
        return done.stdout

    for page in PAGES:
        text = (clone / page).read_text(encoding="utf-8")
        blocks = BLOCK.findall(text)
        for language, block in blocks:
            if language == "bash":
                run("bash", "-ec", block)
            elif language == "console":
                for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                    command, _, expected = part.partition("\n")
                    found = run("bash", "-ec", f"exec 2>&1\n{command}")  # as a terminal shows it
                    same = doctest.OutputChecker().check_output(expected, found, FLAGS)
                    assert same, f"{expected!r} is not {found!r}"
        assert any(language == "python" for language, _ in blocks), page
        run("bash", "-ec", f"{DOCTEST} {page}")


def in_one_shell(blocks: list[tuple[str, str]], clone: Path, environment: dict[str, str]) -> None:
    """Run blocks of commands and of Python in one shell, which stops at the first failure."""
    lines = []
    for i, (language, block) in enumerate(blocks):
        if language == "python":
            page = clone.parent / f"block_{i}.md"
            page.write_text(block, encoding="utf-8")
            block = f"{DOCTEST} '{page}'\n"
        lines.append(block)
    languages = {language for language, _ in blocks}
    assert languages == {"bash", "python"}, "expected blocks of bash and of Python in README"
    subprocess.run(["bash", "-exc", "".join(lines)], cwd=clone, env=environment, check=True)


if __name__ == "__main__":
    main()
