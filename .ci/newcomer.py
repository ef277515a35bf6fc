"""A newcomer's path, word for word: README, docs/start.md, docs/tasks/compare_models.md.

    python .ci/newcomer.py FOLDER    # an empty folder, where the repository is cloned to

What the three pages say to type is typed, in their order: commands in the clone, Python in the
environment that README's first block makes, with the extra `evaluate` and nothing else.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

PAGES = ("README.md", "docs/start.md", "docs/tasks/compare_models.md")
BLOCK = re.compile(r"^```(bash|console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def main() -> None:
    root, folder = Path(__file__).resolve().parents[1], Path(sys.argv[1]).resolve()
    subprocess.run(["git", "clone", "-q", str(root), "vendiscore"], cwd=folder, check=True)
    clone = folder / "vendiscore"
    environment = {
        **{k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")},
        "PATH": os.pathsep.join([str(clone / ".venv" / "bin"), os.environ["PATH"]]),
        "HF_HOME": str(folder / "hf"),
        "HF_HUB_OFFLINE": "1",
    }

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
        if page == "README.md":
            blocks = [block for block in blocks if "examples/score_text.py" in block[1]]
            assert len(blocks) == 1, "README says how to begin"
        for language, block in blocks:
            if language == "bash":
                run("bash", "-ec", block)
            elif language == "console":
                for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                    command, _, expected = part.partition("\n")
                    found = run("bash", "-ec", command)
                    same = doctest.OutputChecker().check_output(expected, found, FLAGS)
                    assert same, f"{expected!r} is not {found!r}"
        if page != "README.md":
            assert any(language == "python" for language, _ in blocks), page
            options = ("-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE")
            run(".venv/bin/python", "-m", "doctest", *options, page)


if __name__ == "__main__":
    main()
