"""Who may import whom: the rooms of the package, from the top to the bottom."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "vendiscore"
# A room imports from itself and from those below it.
ROOMS = """
    __main__
    app cli
    scripts
    integrations
    report
    explanation selection streaming
    single
    catalogue scoring
    result
    uncertainty
    plots
    request
    measures
    magnitude
    resolve
    kernels
    encoders
    registry
    plugins
    spectral
    similarity
    signature
    arrays
    reading
    arguments errors hints optional progress
    synonyms
"""
LEVEL = {room: i for i, line in enumerate(ROOMS.strip().splitlines()) for room in line.split()}
MODULES = {path.relative_to(PACKAGE): path for path in sorted(PACKAGE.rglob("*.py"))}
DOOR = Path("__init__.py")  # gathers the public names, so that it may import all


# The same of the page.
PAGE = """
    serving
    answering
    given
    limits
"""
PAGE_LEVEL = {room: i for i, room in enumerate(PAGE.split())}


def imported(path: Path, lazily: bool = True) -> set[Path]:
    """The modules of the package that a module imports, in functions too if `lazily`."""
    tree = ast.parse(MODULES[path].read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree) if lazily else tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1]
            target = folder.joinpath(*(node.module or "").split("."))
            for name in (target, *(target / alias.name for alias in node.names)):
                found |= {Path(f"{name}.py"), name / "__init__.py"} & set(MODULES)
    return found - {DOOR, path}


@pytest.mark.parametrize("path", sorted(set(MODULES) - {DOOR}), ids=str)
def test_a_room_imports_from_those_below_it(path):
    own = LEVEL[path.parts[0].removesuffix(".py")]
    above = [other for other in imported(path) if LEVEL[other.parts[0].removesuffix(".py")] < own]
    assert not above


@pytest.mark.parametrize("path", [p for p in MODULES if p.parts[0] == "app"], ids=str)
def test_a_room_of_the_page_imports_from_those_below_it(path):
    def level(module):
        return PAGE_LEVEL.get(module.parts[1].removesuffix(".py"), -1)

    others = [other for other in imported(path) if other.parts[0] == "app"]
    assert not [other for other in others if 0 <= level(other) < level(path)]


def test_no_imports_go_round_in_a_circle():
    graph = {path: imported(path, lazily=False) for path in MODULES if path.name != "__init__.py"}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(graph)
