"""Who may import whom: the rooms of the package, from the top to the bottom."""

import ast
import re
import sys
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain, pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "vendiscore"
# A room imports from itself and from those below it.
ROOMS = """
    __main__
    cli
    scripts compat
    integrations report
    reading
    analysis selection
    scoring
    plots measures
    magnitude
    kernels
    encoders
    resolve
    spectral
    similarity
    result
    core
    support
"""
LEVEL = {room: i for i, line in enumerate(ROOMS.strip().splitlines()) for room in line.split()}
MODULES = {path.relative_to(PACKAGE): path for path in sorted(PACKAGE.rglob("*.py"))}
DOOR = Path("__init__.py")  # gathers the public names, so that it may import all


# The same of the page.
PAGE = """
    serving
    answers
    inputs
    quotas
"""
PAGE_LEVEL = {room: i for i, room in enumerate(PAGE.split())}
PAGE_MODULES = {
    path.relative_to(ROOT / "vendiscore_page"): path
    for path in sorted((ROOT / "vendiscore_page").rglob("*.py"))
}
TREES = {"vendiscore": MODULES, "vendiscore_page": PAGE_MODULES}


@cache
def imported(path: Path, package: str = "vendiscore") -> set[Path]:
    """Return the modules of its package that a module imports, in functions too."""
    tree = ast.parse(TREES[package][path].read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                found |= files(home / alias.name, package) or files(home, package)
    return found - {DOOR, path}


def files(module: Path, package: str) -> set[Path]:
    return {Path(f"{module}.py"), module / "__init__.py"} & set(TREES[package])


def packages(path: Path) -> set[str]:
    """Return the packages that a file imports by their own names."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).partition(".")[0])
    return names


def test_a_room_imports_from_the_rooms_below_it():
    def level(module):
        return LEVEL[module.parts[0].removesuffix(".py")]

    rooms = sorted(set(MODULES) - {DOOR})
    assert [(a, b) for a in rooms for b in imported(a) if level(b) < level(a)] == []


def test_a_room_of_the_page_imports_from_the_rooms_below_it():
    def level(module):
        return PAGE_LEVEL.get(module.parts[0].removesuffix(".py"), -1)

    pairs = [(a, b) for a in PAGE_MODULES for b in imported(a, "vendiscore_page")]
    assert [(a, b) for a, b in pairs if 0 <= level(b) < level(a)] == []


def test_of_the_package_one_command_alone_imports_the_page():
    importers = {path for path, file in MODULES.items() if "vendiscore_page" in packages(file)}
    assert importers == {Path("cli/command_page.py")}


def test_the_page_imports_itself_by_relative_names_which_the_order_is_read_from():
    assert [
        path for path, file in PAGE_MODULES.items() if "vendiscore_page" in packages(file)
    ] == []


@pytest.mark.parametrize("package", TREES)
def test_no_imports_go_round_in_a_circle(package):
    graph = {path: imported(path, package) for path in TREES[package] if path != DOOR}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(graph)


PAGE = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
FLOORS = [
    re.findall(r"\b([a-z]+)/ ", line)
    for line in PAGE.partition("\nvendiscore/\n")[2].partition("\ntests/")[0].splitlines()
]


def test_the_page_about_the_architecture_names_files_that_exist():
    paths = re.findall(r"`((?:vendiscore|vendiscore_page|tests|docs|kernels)/[\w./]*)`", PAGE)
    assert paths
    assert [path for path in paths if not (PACKAGE.parent / path).exists()] == []


def test_the_architecture_draws_every_folder_above_those_that_it_imports():
    drawn = [[name for name in floor if (PACKAGE / name).is_dir()] for floor in FLOORS]
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert sorted(chain(*drawn)) == sorted(folders)
    levels = [[LEVEL[name] for name in floor] for floor in drawn if floor]
    assert all(max(above) <= min(below) for above, below in pairwise(levels))


@pytest.mark.parametrize("folder", ["core", "support"])
def test_core_and_support_import_numpy_and_the_standard_library_alone(folder):
    allowed = {"numpy", "scipy", *sys.stdlib_module_names}
    for path in sorted((PACKAGE / folder).glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                assert {alias.name.partition(".")[0] for alias in node.names} <= allowed, path
            elif isinstance(node, ast.ImportFrom):
                module = (node.module or "").partition(".")[0]
                own = node.level == 1 or (node.level == 2 and module in ("", "support"))
                assert own or module in allowed, path
