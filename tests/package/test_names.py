"""Sizes and names that keep the package findable: few lines, nouns, each stem once."""

import ast
import statistics
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, TESTS = ROOT / "vendiscore", ROOT / "tests"
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
# Words that name no thing, so that nobody searches for them.
UNCLEAR = {"alike", "asked", "beside", "drawn", "given", "held", "kept", "looked", "said", "told"}
# Tests of the whole rather than of a folder of the package.
WHOLE = {"browser", "fuzz", "package"}


def lines(path: Path) -> int:
    return len((PACKAGE / path).read_text(encoding="utf-8").splitlines())


def test_the_package_is_small():
    sizes = [lines(path) for path in MODULES]
    assert sum(sizes) <= 41_200  # 43,250 once; 38,880 before large sets, 40,235 before one table
    assert statistics.median(sizes) < 150
    assert max(sizes) <= 400


def test_the_top_floor_has_few_modules():
    assert len([path for path in MODULES if path.parent == Path()]) <= 9


def test_no_name_of_a_module_stands_twice():
    stems = Counter(path.stem for path in MODULES if path.name != "__init__.py")
    assert [stem for stem, times in stems.items() if times > 1] == []


def test_modules_are_named_by_nouns():
    def unclear(stem: str) -> bool:
        return stem.endswith("ed") or bool(UNCLEAR & set(stem.split("_")))

    names = {part for path in MODULES for part in path.with_suffix("").parts}
    assert [name for name in sorted(names) if unclear(name)] == []


def test_tests_stand_where_the_package_has_what_they_test():
    lost = []
    for path in sorted(TESTS.rglob("test_*.py")):
        folder = path.relative_to(TESTS).parent
        if folder.parts and folder.parts[0] in WHOLE:
            continue
        stems = {module.stem for module in MODULES if module.parent == folder}
        stems |= {folder.name} if folder.parts else {"numbers"}  # the file next to it
        name = path.stem.removeprefix("test_")
        if not any(name == stem or name.startswith(f"{stem}_") for stem in stems):
            lost.append(str(path.relative_to(TESTS)))
    assert lost == []


@cache
def defined(file: Path) -> set[str]:
    """Return what a module defines or imports, without importing it: it may want a package."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def test_tests_import_what_is_there():
    """pytest skips a module of tests that cannot be imported, for the sake of doctests."""

    def is_there(module: str, name: str) -> bool:
        home = ROOT.joinpath(*module.split("."))
        file = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
        if (home / name).is_dir() or (home / f"{name}.py").exists():
            return True
        return file.exists() and name in defined(file)

    lost = [
        f"{path.name}: {node.module}.{each.name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(PACKAGE.name)
        for each in node.names
        if not is_there(str(node.module), each.name)
    ]
    assert lost == []
