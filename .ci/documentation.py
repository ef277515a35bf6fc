"""Build the documentation of this commit and of released versions, as folders of one site.

python .ci/documentation.py FOLDER

FOLDER/dev is built from the commit that is checked out, and FOLDER/0.5.0 from the tag v0.5.0. The
latest patch releases of the three latest minor versions are built, each in an environment of its
own. FOLDER/versions.json lists the versions for the menu of the pages (docs/static/versions.js),
and FOLDER/index.html opens the latest release, or "dev" if there is none.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_RELEASES = 3
INDEX = """\
<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <title>vendiscore</title>
  <meta http-equiv="refresh" content="0; url={version}/">
  <a href="{version}/">Documentation of vendiscore</a>
</html>
"""


def select_releases(tags: Iterable[str]) -> list[str]:
    """Return the latest patch release of each of the latest minor versions, newest first."""
    matches = (re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)", tag) for tag in tags)
    latest: dict[tuple[int, ...], tuple[int, ...]] = {}
    for numbers in sorted(tuple(map(int, match.groups())) for match in matches if match):
        latest[numbers[:2]] = numbers
    newest = sorted(latest.values(), reverse=True)[:MAX_RELEASES]
    return [".".join(map(str, numbers)) for numbers in newest]


def build_release(version: str, folder: Path) -> None:
    """Build the documentation of a tag in an environment with the packages that it requires."""
    with tempfile.TemporaryDirectory() as work:
        clone, environment = Path(work, "clone"), Path(work, "environment")
        run("git", "clone", "-q", "--branch", f"v{version}", str(ROOT), str(clone))
        run(sys.executable, "-m", "venv", str(environment))
        python = str(environment / "bin" / "python")
        run(python, "-m", "pip", "install", "-q", "-e", f"{clone}[docs]")
        build_documentation(python, clone, folder)


def build_documentation(python: str, clone: Path, folder: Path) -> None:
    """Build the documentation of a clone; warnings are errors."""
    run(python, "-m", "sphinx", "-q", "-W", "-j", "auto", "docs", str(folder), cwd=clone)


def run(*command: str, cwd: Path = ROOT) -> None:
    print("$", *command, flush=True)
    subprocess.run(command, cwd=cwd, check=True)


def build_site(
    folder: Path, releases: list[str], build: Callable[[str, Path], None] = build_release
) -> None:
    """Build all versions below `folder`, and write the list of versions and the first page."""
    folder.mkdir(parents=True, exist_ok=True)
    build_documentation(sys.executable, ROOT, folder / "dev")
    for version in releases:
        build(version, folder / version)
    versions = [*releases, "dev"]
    (folder / "versions.json").write_text(json.dumps(versions) + "\n", encoding="utf-8")
    (folder / "index.html").write_text(INDEX.format(version=versions[0]), encoding="utf-8")


if __name__ == "__main__":
    tags = subprocess.run(["git", "tag"], cwd=ROOT, capture_output=True, text=True, check=True)
    build_site(Path(sys.argv[1]).resolve(), select_releases(tags.stdout.split()))
