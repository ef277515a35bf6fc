"""Who may import whom: the rooms of the package, from the top to the bottom."""

import ast
import re
import sys
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain, pairwise
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "vendiscore"
# A room imports from itself and from those below it.
ROOMS = """
    __main__
    app cli
    scripts
    integrations
    report
    sources
    analysis
    selection streaming
    comparison
    scoring
    plots uncertainty
    measures
    magnitude
    kernels
    encoders
    resolve
    spectral
    registry
    similarity
    distances
    signature
    arrays
    reading
    summary progress optional
    hints
    core
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


@cache
def imported(path: Path) -> set[Path]:
    """Return the modules of the package that a module imports, in functions too."""
    tree = ast.parse(MODULES[path].read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                found |= files(home / alias.name) or files(home)
    return found - {DOOR, path}


def files(module: Path) -> set[Path]:
    return {Path(f"{module}.py"), module / "__init__.py"} & set(MODULES)


def test_a_room_imports_from_the_rooms_below_it():
    def level(module):
        return LEVEL[module.parts[0].removesuffix(".py")]

    rooms = sorted(set(MODULES) - {DOOR})
    assert [(a, b) for a in rooms for b in imported(a) if level(b) < level(a)] == []


def test_a_room_of_the_page_imports_from_the_rooms_below_it():
    def level(module):
        return PAGE_LEVEL.get(module.parts[1].removesuffix(".py"), -1)

    page = {path for path in MODULES if path.parts[0] == "app"}
    pairs = [(a, b) for a in page for b in imported(a) & page]
    assert [(a, b) for a, b in pairs if 0 <= level(b) < level(a)] == []


def test_no_imports_go_round_in_a_circle():
    graph = {path: imported(path) for path in MODULES if path != DOOR}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(graph)


PAGE = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
FLOORS = [
    re.findall(r"\b([a-z]+)/ ", line)
    for line in PAGE.partition("\nvendiscore/\n")[2].partition("\ntests/")[0].splitlines()
]


def test_the_page_about_the_architecture_names_files_that_exist():
    paths = re.findall(r"`((?:vendiscore|tests|docs|kernels)/[\w./]*)`", PAGE)
    assert paths
    assert [path for path in paths if not (PACKAGE.parent / path).exists()] == []


def test_the_architecture_draws_every_folder_above_those_that_it_imports():
    drawn = [[name for name in floor if (PACKAGE / name).is_dir()] for floor in FLOORS]
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert sorted(chain(*drawn)) == sorted(folders)
    levels = [[LEVEL[name] for name in floor] for floor in drawn if floor]
    assert all(max(above) <= min(below) for above, below in pairwise(levels))


def test_the_core_imports_numpy_and_the_standard_library_alone():
    allowed = {"numpy", "scipy", *sys.stdlib_module_names}
    for path in sorted((PACKAGE / "core").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                assert {alias.name.partition(".")[0] for alias in node.names} <= allowed, path
            elif isinstance(node, ast.ImportFrom):
                own = node.level == 1
                assert own or (node.module or "").partition(".")[0] in allowed, path


def test_the_core_is_read_in_an_hour():
    lines = {
        path.stem: path.read_text("utf-8").count("\n") for path in (PACKAGE / "core").glob("*.py")
    }
    assert lines["hill"] + lines["score"] <= 340  # the definition
    assert sum(lines.values()) <= 1200
