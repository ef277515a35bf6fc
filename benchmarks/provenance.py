"""Version, commit and Python that result files record, and whether a result file is outdated."""

import json
import platform
import subprocess
from pathlib import Path
from typing import Any

import vendiscore

ROOT = Path(__file__).resolve().parents[1]
# Results that need hardware, weights, data or services that a clone lacks. They keep the version
# that they were measured with.
EXTERNAL = {
    "engines": "Chromium, Firefox and WebKitGTK with their drivers",
    "gpu": "a GPU",
    "partitions": "Dask, Ray, Spark, DuckDB, polars, Daft and datasets",
    "people/mpnet": "the weights of all-mpnet-base-v2",
    "sources": "model outputs of AlpacaEval",
    "typical_values": "AlpacaEval, fortunes, hmmer-examples and a genome",
}


def git(*arguments: str) -> str | None:
    """Return the output of a git command in the repository; None if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def collect_provenance() -> dict[str, Any]:
    """Return the version, Python, commit and uncommitted changes that every result file records."""
    # Results, pictures and the pages that `readme.py` writes do not change what is measured.
    status = git(
        "status", "--porcelain", "--", ".", ":!benchmarks/results", ":!docs/images", ":!*.md"
    )
    return {
        "python": platform.python_version(),
        "vendiscore": vendiscore.__version__,
        "commit": git("rev-parse", "HEAD") or "unknown",
        "dirty": None if status is None else bool(status),
    }


def read_provenance(path: Path) -> dict[str, Any]:
    """Return the `environment` of a result file."""
    environment: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")).get(
        "environment", {}
    )
    return environment


def describe_provenance(path: Path) -> str:
    """Format the version and commit of a result file, such as "0.4.0 (6a87b0d5)"."""
    environment = read_provenance(path)
    version, commit = (environment.get(key, "unknown") for key in ("vendiscore", "commit"))
    version = "unknown version" if version in ("unknown", "not installed") else version
    changes = ", uncommitted changes" if environment.get("dirty") else ""
    return version + (f" ({commit[:8]}{changes})" if commit != "unknown" else "")


def describe_problem(path: Path) -> str:
    """Describe why a result file is outdated; '' if it is current."""
    if not path.exists():
        return "missing"
    environment = read_provenance(path)
    if environment.get("vendiscore") != vendiscore.__version__:
        return f"measured with {describe_provenance(path)}"
    commit = environment.get("commit", "unknown")
    if commit == "unknown":
        return f"measured with {describe_provenance(path)} at an unknown commit"
    if environment.get("dirty") is not False:
        return "measured with uncommitted changes"
    if git("merge-base", "--is-ancestor", commit, "HEAD") is None:
        return f"its commit {commit[:8]} is not in the history"
    return ""
