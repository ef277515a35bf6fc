"""Check and change the version, the date and the changelog of a release (CONTRIBUTING.md).

python .ci/release.py check                 # consistent, between releases and at a release
python .ci/release.py check --tag v0.5.0    # ready to publish as this tag
python .ci/release.py prepare 0.5.0         # set the version and today's date
python .ci/release.py develop 0.6.0         # after the release: the version 0.6.0.dev0
python .ci/release.py files dist            # the wheel and the sdist contain this commit
"""

import argparse
import datetime
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Files with the version, and the pattern around it.
VERSION_FILES = {
    "vendiscore/__init__.py": r'(?m)^(__version__ = ")([^"]*)(")',
    "vendiscore.py": r'(?m)^(__version__ = ")([^"]*)(")',
    "magnitude.py": r'(?m)^(__version__ = ")([^"]*)(")',
    "CITATION.cff": r"(?m)^(version: )(\S+)()",
    "vendiscore_page/static/example.json": r'(vendiscore=)([^"|]*)()',
}
RELEASE_DATE = re.compile(r"(?m)^date-released: (\S+)\n")
HEADING = re.compile(r"(?m)^## (.+)\n")
RELEASE_HEADING = re.compile(r"(\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)")
# Files with fields that only an owner can fill in; each is marked.
OWNER_FILES = ("CITATION.cff", "SECURITY.md", "pyproject.toml", "vendiscore/integrations/metric.py")
OWNER_MARK = "TODO(owner)"


def read(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def read_versions(root: Path) -> dict[str, set[str]]:
    """Return the versions that each file contains."""
    return {
        name: {match[2] for match in re.finditer(pattern, read(root, name))}
        for name, pattern in VERSION_FILES.items()
    }


def find_problems(root: Path, tag: str = "") -> list[str]:
    """Describe what is inconsistent; with a tag, also what is missing for its release."""
    versions = read_versions(root)
    (version,) = versions["vendiscore/__init__.py"]
    problems = [
        f"{name}: expected the version {version}, got {', '.join(sorted(others)) or 'none'}"
        for name, others in versions.items()
        if others != {version}
    ]
    problems += find_changelog_problems(root, version)
    problems += find_address_problems(root)
    if tag and tag != f"v{version}":
        problems.append(f"the tag must be v{version}, got {tag}")
    if tag:
        problems += [
            f"{name}: fill in the fields that are marked {OWNER_MARK}"
            for name in OWNER_FILES
            if OWNER_MARK in read(root, name)
        ]
    return problems


def find_changelog_problems(root: Path, version: str) -> list[str]:
    """Compare the headings of the changelog with the version, and its dates with CITATION.cff."""
    changelog = read(root, "CHANGELOG.md")
    headings = HEADING.findall(changelog)
    date = "".join(RELEASE_DATE.findall(read(root, "CITATION.cff")))
    problems = []
    if version.endswith(".dev0"):
        if headings[0] != "Unreleased":
            problems.append("CHANGELOG.md: the first heading must be `## Unreleased`")
        if date:
            problems.append("CITATION.cff: remove `date-released`, which is for released versions")
        releases = headings[1:]
    else:
        if "Unreleased" in headings:
            problems.append(f"CHANGELOG.md: move the section `Unreleased` to the version {version}")
        if headings[0] != f"{version} ({date})":
            problems.append(
                f"CHANGELOG.md: the first heading must be `## {version} (DATE)` with the "
                f"`date-released` of CITATION.cff, {date or 'which is missing'}"
            )
        if changelog.split("\n## ")[1].partition("\n")[2].lstrip().startswith(("#", "-")):
            problems.append("CHANGELOG.md: the first section must begin with a summary for users")
        releases = headings
    matches = [RELEASE_HEADING.fullmatch(heading) for heading in releases]
    if not all(matches):
        return [*problems, "CHANGELOG.md: headings must have the form `## 0.5.0 (2026-01-31)`"]
    numbers = [parse_version(match[1]) for match in matches if match]
    dates = [match[2] for match in matches if match]
    if numbers != sorted({*numbers}, reverse=True) or dates != sorted(dates, reverse=True):
        problems.append("CHANGELOG.md: versions and dates must decrease from top to bottom")
    if version.endswith(".dev0") and parse_version(version[:-5]) <= max(numbers):
        problems.append(f"the version must be newer than {releases[0]}, got {version}")
    return problems


def find_address_problems(root: Path) -> list[str]:
    """Compare the addresses of pyproject.toml with those of the metric and of CITATION.cff."""
    urls = tomllib.loads(read(root, "pyproject.toml"))["project"].get("urls", {})
    metric = re.search(r'(?m)^HOMEPAGE = "(.*)"', read(root, "vendiscore/integrations/metric.py"))
    code = re.search(r'(?m)^repository-code: "(.*)"', read(root, "CITATION.cff"))
    addresses = {
        "vendiscore/integrations/metric.py: HOMEPAGE": ("Homepage", metric),
        "CITATION.cff: repository-code": ("Repository", code),
    }
    return [
        f"{place} must be {name!r} of pyproject.toml, {urls.get(name, '')!r}"
        for place, (name, match) in addresses.items()
        if (match[1] if match else "") != urls.get(name, "")
    ]


def parse_version(version: str) -> tuple[int, ...]:
    """Return the numbers of a version such as 0.5.0, or raise a ValueError."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ValueError(f"the version must have three numbers, such as 0.5.0, got {version!r}")
    return tuple(map(int, version.split(".")))


def set_version(root: Path, version: str) -> None:
    for name, pattern in VERSION_FILES.items():
        text = re.sub(pattern, rf"\g<1>{version}\g<3>", read(root, name))
        (root / name).write_text(text, encoding="utf-8")


def prepare(root: Path, version: str, date: str) -> None:
    """Set the version and the date of a release, also in the heading `Unreleased`."""
    parse_version(version)
    datetime.date.fromisoformat(date)
    changelog = read(root, "CHANGELOG.md")
    if "\n## Unreleased\n" not in changelog:
        raise ValueError("CHANGELOG.md has no section `## Unreleased`")
    set_version(root, version)
    changelog = changelog.replace("\n## Unreleased\n", f"\n## {version} ({date})\n", 1)
    (root / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    citation = RELEASE_DATE.sub("", read(root, "CITATION.cff"))
    line = f"version: {version}\n"
    citation = citation.replace(line, f"{line}date-released: {date}\n")
    (root / "CITATION.cff").write_text(citation, encoding="utf-8")


def develop(root: Path, version: str) -> None:
    """Set the version after a release, and add the section `Unreleased` to the changelog."""
    parse_version(version)
    set_version(root, f"{version}.dev0")
    citation = RELEASE_DATE.sub("", read(root, "CITATION.cff"))
    (root / "CITATION.cff").write_text(citation, encoding="utf-8")
    before, heading, after = read(root, "CHANGELOG.md").partition("\n## ")
    text = f"{before}\n## Unreleased\n{heading}{after}"
    (root / "CHANGELOG.md").write_text(text, encoding="utf-8")


def find_file_problems(root: Path, folder: Path) -> list[str]:
    """Compare the wheel and the sdist in a folder with the files of the commit."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    (version,) = read_versions(root)["vendiscore/__init__.py"]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True
    )
    tracked = {name: (root / name).read_bytes() for name in listed.stdout.splitlines()}
    package = {
        name: data
        for name, data in tracked.items()
        if name.startswith(("vendiscore/", "vendiscore_page/"))
    }
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(sdist) as archive:
        in_sdist = {
            member.name.partition("/")[2]: archive.extractfile(member).read()
            for member in archive.getmembers()
            if member.isfile()
        }
    metadata = {
        wheel.name: in_wheel.pop(f"vendiscore-{version}.dist-info/METADATA", b""),
        sdist.name: in_sdist.pop("PKG-INFO", b""),
    }
    problems = [
        f"{name}: its metadata lack the version {version}"
        for name, text in metadata.items()
        if f"\nVersion: {version}\n".encode() not in text
    ]
    in_wheel = {name: data for name, data in in_wheel.items() if ".dist-info/" not in name}
    for path, content, expected in ((wheel, in_wheel, package), (sdist, in_sdist, tracked)):
        differing = sorted(
            name
            for name in content.keys() | expected.keys()
            if content.get(name) != expected.get(name)
        )
        if differing:
            problems.append(f"{path.name} differs from the commit: {', '.join(differing[:10])}")
    return problems


def main(arguments: list[str], root: Path = ROOT) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("check", help="refuse inconsistent versions, dates and headings")
    command.add_argument("--tag", default="", help="also check that this tag can be published")
    command = commands.add_parser("prepare", help="set the version and the date of a release")
    command.add_argument("version")
    command.add_argument("date", nargs="?", default=datetime.date.today().isoformat())
    command = commands.add_parser("develop", help="set the version after a release")
    command.add_argument("version")
    command = commands.add_parser("files", help="compare the wheel and the sdist with the commit")
    command.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    try:
        if options.command == "prepare":
            prepare(root, options.version, options.date)
        elif options.command == "develop":
            develop(root, options.version)
        if options.command == "files":
            problems = find_file_problems(root, options.folder)
        else:
            problems = find_problems(root, getattr(options, "tag", ""))
    except ValueError as error:
        parser.error(str(error))
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main(sys.argv[1:])
