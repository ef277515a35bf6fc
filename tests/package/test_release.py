"""`.ci/release.py` refuses releases whose version, date, changelog or files are inconsistent."""

import importlib.util
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)
FILES = {*release.VERSION_FILES, *release.OWNER_FILES, "CHANGELOG.md"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the files that a release changes, at version 0.5.0.dev0, without owner fields."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    release.set_version(tmp_path, "0.5.0.dev0")
    for name in release.OWNER_FILES:
        change(tmp_path, name, re.escape(release.OWNER_MARK), "")
    changelog = "# Changelog\n\n## Unreleased\n\nText.\n\n## 0.4.0 (2026-11-28)\n\nText.\n"
    (tmp_path / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    change(tmp_path, "CITATION.cff", release.RELEASE_DATE.pattern, "")
    return tmp_path


def change(root: Path, name: str, pattern: str, replacement: str) -> None:
    text = (root / name).read_text(encoding="utf-8")
    (root / name).write_text(re.sub(pattern, replacement, text), encoding="utf-8")


def test_repository_is_consistent() -> None:
    assert release.find_problems(ROOT) == []


def test_release_and_next_version_are_consistent(clone: Path) -> None:
    release.main(["check"], clone)
    release.main(["prepare", "0.5.0", "2026-12-24"], clone)
    assert release.find_problems(clone, "v0.5.0") == []
    assert {version for (version,) in release.read_versions(clone).values()} == {"0.5.0"}
    changelog = (clone / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n## 0.5.0 (2026-12-24)\n" in changelog
    assert "Unreleased" not in changelog
    citation = (clone / "CITATION.cff").read_text(encoding="utf-8")
    assert "\nversion: 0.5.0\ndate-released: 2026-12-24\n" in citation
    release.main(["develop", "0.6.0"], clone)
    assert {version for (version,) in release.read_versions(clone).values()} == {"0.6.0.dev0"}
    changelog = (clone / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n## Unreleased\n\n## 0.5.0 (2026-12-24)\n" in changelog
    assert "date-released: " not in (clone / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", release.VERSION_FILES)
def test_different_version_in_one_file_is_reported(clone: Path, name: str) -> None:
    change(clone, name, re.escape("0.5.0.dev0"), "0.4.9.dev0")
    assert any("0.4.9.dev0" in problem for problem in release.find_problems(clone))


@pytest.mark.parametrize(
    ("name", "pattern", "replacement", "problem"),
    [
        ("CHANGELOG.md", "## Unreleased", "## 0.5.0 (2026-12-24)", "the first heading must be"),
        ("CHANGELOG.md", r"0\.4\.0 \(", "0.5.0 (", "must be newer than 0.5.0"),
        ("CHANGELOG.md", r"\(2026-11-28\)", "", "headings must have the form"),
        ("CITATION.cff", "(version: 0.5.0.dev0)", r"\1\ndate-released: 2026-11-28", "remove `date"),
        ("pyproject.toml", "# Homepage", "Homepage", "HOMEPAGE must be 'Homepage' of pyproject"),
        ("pyproject.toml", "# Repository", "Repository", "repository-code must be 'Repository'"),
    ],
)
def test_inconsistent_version_between_releases_is_reported(
    clone: Path, name: str, pattern: str, replacement: str, problem: str
) -> None:
    change(clone, name, pattern, replacement)
    with pytest.raises(SystemExit, match=problem):
        release.main(["check"], clone)


@pytest.mark.parametrize(
    ("name", "pattern", "replacement", "problem"),
    [
        ("CHANGELOG.md", r"0\.5\.0 \(", "0.5.1 (", "the first heading must be `## 0.5.0"),
        ("CHANGELOG.md", "2026-12-24", "2026-12-25", "CITATION.cff, 2026-12-24"),
        ("CHANGELOG.md", "# Changelog", "# Changelog\n\n## Unreleased", "move the section"),
        ("CHANGELOG.md", "2026-11-28", "2027-01-01", "dates must decrease"),
        ("CHANGELOG.md", r"0\.4\.0 ", "0.6.0 ", "versions and dates must decrease"),
        ("CHANGELOG.md", "Text", "### Added", "must begin with a summary for users"),
        ("CITATION.cff", "date-released: .*\n", "", "which is missing"),
        ("SECURITY.md", r"\Z", "TODO(owner)", "SECURITY.md: fill in the fields"),
    ],
)
def test_inconsistent_release_is_reported(
    clone: Path, name: str, pattern: str, replacement: str, problem: str
) -> None:
    release.prepare(clone, "0.5.0", "2026-12-24")
    change(clone, name, pattern, replacement)
    assert any(problem in text for text in release.find_problems(clone, "v0.5.0"))


def test_tag_of_other_version_is_reported(clone: Path) -> None:
    release.prepare(clone, "0.5.0", "2026-12-24")
    assert release.find_problems(clone, "v0.5.1") == ["the tag must be v0.5.0, got v0.5.1"]


@pytest.mark.parametrize("version", ["0.5", "v0.5.0", "0.5.0rc1"])
def test_invalid_version_changes_nothing(clone: Path, version: str, capsys) -> None:
    before = {name: (clone / name).read_bytes() for name in FILES}
    for command in ("prepare", "develop"):
        with pytest.raises(SystemExit):
            release.main([command, version], clone)
        assert "the version must have three numbers" in capsys.readouterr().err
    assert {name: (clone / name).read_bytes() for name in FILES} == before


def test_fields_of_owner_are_listed_in_release_check() -> None:
    """Every mark in a tracked file belongs to a file that the check reads."""
    process = subprocess.run(
        ["git", "grep", "-l", "-F", release.OWNER_MARK], cwd=ROOT, capture_output=True, text=True
    )
    if process.returncode > 1:
        pytest.skip("not a clone")
    described = {"CONTRIBUTING.md", "docs/decisions.md", ".ci/release.py"}
    described |= {"tests/package/test_release.py"}
    assert set(process.stdout.split()) - described <= set(release.OWNER_FILES)


@pytest.fixture
def built(clone: Path) -> Path:
    """A folder with a wheel and an sdist of the commit."""
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=clone, check=True)
    folder = clone.parent / f"{clone.name}-dist"
    folder.mkdir()
    metadata = b"Metadata-Version: 2.4\nName: vendiscore\nVersion: 0.5.0.dev0\n"
    source = clone.parent / "PKG-INFO"
    source.write_bytes(metadata)
    with tarfile.open(folder / "vendiscore-0.5.0.dev0.tar.gz", "w:gz") as sdist:
        sdist.add(source, "vendiscore-0.5.0.dev0/PKG-INFO")
        for name in FILES:
            sdist.add(clone / name, f"vendiscore-0.5.0.dev0/{name}")
    with zipfile.ZipFile(folder / "vendiscore-0.5.0.dev0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("vendiscore-0.5.0.dev0.dist-info/METADATA", metadata)
        for name in FILES:
            if name.startswith(("vendiscore/", "vendiscore_page/")):
                wheel.write(clone / name, name)
    return folder


def test_files_of_the_commit_are_accepted(clone: Path, built: Path) -> None:
    release.main(["files", str(built)], clone)


def test_files_that_differ_from_the_commit_are_reported(clone: Path, built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl")), "a") as wheel:
        wheel.writestr("vendiscore/added.py", "")
    change(clone, "SECURITY.md", r"\Z", "changed")
    with pytest.raises(SystemExit) as caught:
        release.main(["files", str(built)], clone)
    wheel_problem, sdist_problem = str(caught.value).splitlines()
    assert wheel_problem.endswith(".whl differs from the commit: vendiscore/added.py")
    assert sdist_problem.endswith(".tar.gz differs from the commit: SECURITY.md")
    release.set_version(clone, "0.5.1.dev0")
    with pytest.raises(SystemExit, match=r"its metadata lack the version 0\.5\.1\.dev0"):
        release.main(["files", str(built)], clone)
