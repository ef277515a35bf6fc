"""Apply a patch to the project for which it was written, and run its tests in a new environment.

    python examples/upstream/check.py torchmetrics --source https://github.com/Lightning-AI/torchmetrics
    python examples/upstream/check.py monai    # a patch of a release on PyPI

The source is a clone or a URL that git can clone, at the commit named below, or the wheel of a
release. The tests compare the results of the patch with those of vendiscore, which is installed in
the same environment.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
# The tests need no GPU, and the wheels of torch with CUDA take 5 GB.
CPU_WHEELS = "https://download.pytorch.org/whl/cpu"


class Change(NamedTuple):
    """The commit of a change, the packages that its tests need, and their folder."""

    commit: str  # or a release, as in pip install
    needs: tuple[str, ...]
    tests: tuple[str, ...]
    folder: str = "."  # of the tests, or of the packages in a release


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
    "inspect_evals": Change(
        "inspect-evals==0.26.0",
        ("inspect-evals==0.26.0", "pytest"),
        ("tests/novelty_bench/test_effective_distinct.py",),
        folder="src",
    ),
    "sentence-transformers": Change(
        "sentence-transformers==6.2.0",
        ("sentence-transformers==6.2.0", "pytest"),
        ("tests/evaluation/test_embedding_diversity_evaluator.py",),
    ),
    "trl": Change(
        "trl==1.16.0",
        ("trl==1.16.0", "pytest"),
        ("tests/test_completion_diversity_callback.py",),
    ),
    "monai": Change(
        "monai-weekly==1.7.dev2643",
        ("monai-weekly==1.7.dev2643", "pytest", "parameterized"),
        ("tests/metrics/test_effective_rank_score.py",),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("project", choices=CHANGES)
    parser.add_argument("--source", help="a clone or a URL; not for a release")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    change = CHANGES[options.project]
    released = "==" in change.commit
    if released == bool(options.source):
        parser.error("--source is required for a commit, and not allowed for a release")
    with tempfile.TemporaryDirectory() as folder_name:
        source, environment = Path(folder_name, "source"), Path(folder_name, "environment")

        def run(*command: object, at: Path = source, **variables: object) -> None:
            environ = {**os.environ, **{name: str(value) for name, value in variables.items()}}
            subprocess.run(list(map(str, command)), cwd=at, check=True, env=environ)

        run(options.python, "-m", "venv", environment, at=HERE)
        python = environment / "bin" / "python"
        pip = (python, "-m", "pip")
        if released:
            run(*pip, "download", "-q", "--no-deps", "-d", folder_name, change.commit, at=HERE)
            with zipfile.ZipFile(next(Path(folder_name).glob("*.whl"))) as wheel:
                wheel.extractall(source / change.folder)
        else:
            run("git", "clone", "-q", options.source, source, at=HERE)
            run("git", "checkout", "-q", change.commit)
        run("git", "apply", HERE / options.project / "change.patch")
        run(*pip, "install", "-q", "--extra-index-url", CPU_WHEELS, *change.needs, HERE.parents[1])
        tests = [python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *change.tests]
        if released:  # use the patched source, not the installed package
            run(*tests, PYTHONPATH=source / change.folder)
        else:
            run(*tests, at=source / change.folder)


if __name__ == "__main__":
    main()
