"""Who may import whom: the rooms of the package, from the top to the bottom."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "vendiscore"
# A room imports from itself and from those below it.
ROOMS = """
    __main__
    app cli
    scripts
    integrations
    report
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
    summary progress optional arguments
    errors hints
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
    graph = {path: imported(path, lazily=False) for path in MODULES if path.name != "__init__.py"}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(graph)
