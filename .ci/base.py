"""Check the size of the base install, and run tests that need no other package.

python .ci/base.py size     # in an environment with only the wheel
python .ci/base.py tests    # with pytest, pytest-xdist, hypothesis and mpmath added
python .ci/base.py quick    # the same, but only tests of the score itself
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_path

MOST, MEGABYTES = 12, 230
# Tests that call each kernel, each measure and each function once find missing packages and
# differences between versions of Python. The examples of docstrings run, too. Option `--base` skips
# tests that need further packages.
TESTS = (
    *("metric/core/", "metric/kernels/test_kernels_", "metric/kernels/test_labels"),
    *("metric/kernels/test_text", "metric/magnitude/test_curve"),
    *("metric/magnitude/test_magnitude_functions_errors", "metric/measures/test_measures_contract"),
    *("metric/measures/test_text_", "metric/resolve/test_kernel", "metric/resolve/test_mixture"),
    *("metric/scoring/test_intervals", "metric/scoring/test_permutation_null"),
    *("metric/scoring/test_scores", "metric/similarity/test_sample_arrays"),
    *("metric/spectral/test_routes", "metric/spectral/test_spectrum", "metric/support/"),
    *("tools/analysis/test_comparison.py", "tools/analysis/test_growth"),
    *("tools/analysis/test_explanation", "tools/analysis/test_sources"),
    *("tools/cli/test_command", "tools/cli/test_output", "tools/reports/test_sections"),
    *("tools/reports/test_source_report", "tools/selection/test_select_samples"),
    *("tools/streams/test_state", "tools/test_rewards"),
)
# Minimum numbers of files and passed tests, because a missing package must not hide a failure.
FILES, PASSED = 48, 1700
# The definition of the score, recorded values, `compute`, and each measure.
QUICK = (
    *("metric/core/", "metric/measures/test_measures_contract", "metric/scoring/test_scores"),
    "metric/test_numbers",
)
QUICK_FILES, QUICK_PASSED = 8, 380
HELPERS = Path("tests/helpers")


def size() -> None:
    names = {dist.name for dist in distributions()} - {"pip", "setuptools"}
    files = [path for path in Path(get_path("purelib")).rglob("*") if path.is_file()]
    own = [path for path in files if "pip" not in path.parts and "setuptools" not in path.parts]
    megabytes = sum(path.stat().st_size for path in own) / 1e6
    print(f"{len(names)} distributions, {megabytes:.0f} MB: {', '.join(sorted(names))}")
    assert len(names) <= MOST
    assert megabytes <= MEGABYTES


def absent(path: Path) -> Iterator[str]:
    """Yield missing packages that a test file, or a helper that it imports, needs at import."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in (name.partition(".")[0] for name in names):
            if (HELPERS / f"{name}.py").exists():
                yield from absent(HELPERS / f"{name}.py")
            elif find_spec(name) is None:
                yield name


def tests() -> None:
    run_tests(TESTS, FILES, PASSED, ["vendiscore"])


def quick() -> None:
    run_tests(QUICK, QUICK_FILES, QUICK_PASSED, [])


def run_tests(names: tuple[str, ...], min_files: int, min_passed: int, doctests: list[str]) -> None:
    """Run the test files whose paths begin with a name, unless they need more packages."""
    beginnings = tuple(f"tests/{name}" for name in names)
    paths = [path for path in Path("tests").rglob("test_*.py") if str(path).startswith(beginnings)]
    left_out = {path: names for path in sorted(paths) if (names := {*absent(path)})}
    for path, names in left_out.items():
        print(f"left out: {path}, which needs {', '.join(sorted(names))}")
    files = [str(path) for path in sorted(paths) if path not in left_out]
    command = [sys.executable, "-m", "pytest", "-q", "--base", "-m", "not slow"]
    command += ["-n", "2", "--dist", "loadfile", *files, *doctests]
    # Modules that cannot be imported here would stay partly loaded.
    command += ["--ignore=vendiscore/integrations", "--ignore=vendiscore/scripts"]
    command += ["--ignore=vendiscore/tools/integrations"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(run.stdout)
    assert run.returncode == 0
    passed = re.findall(r"(\d+) passed", run.stdout)
    print(f"{len(files)} files, {passed[-1]} tests passed")
    assert len(files) >= min_files
    assert int(passed[-1]) >= min_passed


if __name__ == "__main__":
    {"size": size, "tests": tests, "quick": quick}[sys.argv[1]]()
