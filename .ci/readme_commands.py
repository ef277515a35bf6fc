"""Run the test command of README: each line of the block after `<!-- test -->`, without a shell.

python3.13 .ci/readme_commands.py

`python3` stands for the interpreter that runs this script. After each command, its minutes are
printed, with the size of the files of the environment at the end.

A line is a program with its arguments. Quotes group an argument; operators, variables and patterns
of a shell are refused, and so is any program except Python or one in `.venv/bin`.
"""

import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

BLOCK = re.compile(r"^<!-- test -->\n```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = set("&|;<>$`\\(){}*?!#~=\r\0")
PROGRAM = re.compile(r"python3|\.venv/bin/[\w.-]+")


def parse_commands(readme: str) -> list[list[str]]:
    """Return the argument lists of the block, or raise ValueError for a line that needs a shell."""
    blocks = BLOCK.findall(readme)
    if len(blocks) != 1 or not blocks[0].strip():
        raise ValueError(f"expected one block of commands after <!-- test -->, got {len(blocks)}")
    commands = []
    for line in blocks[0].splitlines():
        if found := sorted(SHELL & set(line)):
            raise ValueError(f"a command must not need a shell, got {' '.join(found)} in: {line}")
        arguments = shlex.split(line)
        if not arguments or not PROGRAM.fullmatch(arguments[0]):
            raise ValueError(f"expected python3 or a program in .venv/bin, got: {line}")
        commands.append(arguments)
    return commands


def measure_megabytes(folder: Path) -> float:
    """Return the size of the files of a folder, without files that its links point to."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


def main() -> None:
    root = Path(__file__).resolve().parents[1]
    for arguments in parse_commands((root / "README.md").read_text(encoding="utf-8")):
        print("$", shlex.join(arguments), flush=True)
        program = sys.executable if arguments[0] == "python3" else arguments[0]
        start = time.perf_counter()
        subprocess.run([program, *arguments[1:]], cwd=root, check=True)
        print(f"{(time.perf_counter() - start) / 60:.1f} minutes", flush=True)
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}: {measure_megabytes(root / '.venv'):,.0f} MB in .venv")


if __name__ == "__main__":
    main()
