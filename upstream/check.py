"""Apply a change to the source it was written for, and run its tests in an environment of its own.

    python upstream/check.py torchmetrics --source https://github.com/Lightning-AI/torchmetrics

The source is a clone or an address that git can clone; it is taken at the commit named below. The
tests of each change compare its number with that of this package, which is installed beside it.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Change(NamedTuple):
    """Where a change belongs, what its tests need, and where they run."""

    commit: str
    needs: tuple[str, ...]
    tests: tuple[str, ...]
    folder: str = "."


CHANGES = {
    "uqlm": Change(
        "7bd5ed47da8160fbd96e8e74939a3a5beccb491f",
        (".", "pytest", "pytest-asyncio", "pytest-rerunfailures", "langchain-openai"),
        ("tests/test_kernel_language_entropy.py", "tests/test_functional_entropy.py"),
    ),
    "torchmetrics": Change(
        "dab033394560ab3ce05e3d14c13f32e4cde6b351",
        (
            ".",
            "pytest",
            "pytest-rerunfailures",
            "pytest-timeout",
            "pytest-doctestplus",
            "cachier",
            "cloudpickle",
            "scikit-learn",
        ),
        ("unittests/image/test_vendi.py",),
        folder="tests",
    ),
    "lm-evaluation-harness": Change(
        "4e7e0d47f33bc71070c1d38394bafbb52b117163",
        (".", "pytest"),
        ("tests/test_repeats_aggregation.py", "tests/test_metrics.py", "tests/test_filters.py"),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("project", choices=CHANGES)
    parser.add_argument("--source", required=True, help="a clone, or an address")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    change = CHANGES[options.project]
    with tempfile.TemporaryDirectory() as made:
        clone, environment = Path(made, "source"), Path(made, "environment")

        def run(*command: object, at: Path = clone) -> None:
            subprocess.run(list(map(str, command)), cwd=at, check=True)

        run("git", "clone", "-q", options.source, clone, at=HERE)
        run("git", "checkout", "-q", change.commit)
        run("git", "apply", HERE / options.project / "change.patch")
        run(options.python, "-m", "venv", environment)
        its = environment / "bin" / "python"
        run(its, "-m", "pip", "install", "-q", *change.needs, HERE.parent)
        tests = [its, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *change.tests]
        run(*tests, at=clone / change.folder)


if __name__ == "__main__":
    main()
