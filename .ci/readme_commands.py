"""Run the test command of README: each line of the block after `<!-- test -->`, without a shell.

python .ci/readme_commands.py

A line is a program with its arguments. Quotes group an argument; operators, variables and patterns
of a shell are refused, and so is any program except Python or one in `.venv/bin`.
"""

import re
import shlex
import subprocess
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


def main() -> None:
    root = Path(__file__).resolve().parents[1]
    for arguments in parse_commands((root / "README.md").read_text(encoding="utf-8")):
        print("$", shlex.join(arguments), flush=True)
        subprocess.run(arguments, cwd=root, check=True)


if __name__ == "__main__":
    main()
