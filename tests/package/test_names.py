"""Sizes and names that keep the package findable: few tokens, nouns, each stem once."""

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, PAGE, TESTS = ROOT / "vendiscore", ROOT / "vendiscore_page", ROOT / "tests"
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
# Tests of the page stand in the folder `page`.
PAGE_MODULES = sorted("page" / path.relative_to(PAGE) for path in PAGE.rglob("*.py"))
# Words that name no thing, so that nobody searches for them.
UNCLEAR = {"alike", "asked", "beside", "drawn", "given", "held", "kept", "looked", "said", "told"}
# Tests of the whole rather than of a folder of the package.
WHOLE = {"browser", "fuzz", "package", "page"}


# A reader pays for tokens; lines, comments and docstrings are free.
MOST_TOKENS = 232_662
MOST_OF_PAGE = 38_021
FREE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines that docstrings occupy."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = [node.body[0] for node in ast.walk(tree) if isinstance(node, owners) and node.body]
    return {
        line
        for node in first
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }


def tokens(text: str) -> int:
    """Count the tokens of Python code, without comments and docstrings."""
    left_out = docstring_lines(ast.parse(text))
    every = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(each.type not in FREE and each.start[0] not in left_out for each in every)


def test_tokens_are_counted_without_comments_and_docstrings():
    assert tokens('"""Words."""\n\nx = [1, 2]  # why\n') == 7


@pytest.mark.parametrize(("package", "most"), [(PACKAGE, MOST_TOKENS), (PAGE, MOST_OF_PAGE)])
def test_the_package_and_the_page_are_small(package, most):
    files = package.rglob("*.py")
    assert sum(tokens(path.read_text(encoding="utf-8")) for path in files) <= most


def test_the_top_floor_has_few_modules():
    assert len([path for path in MODULES if path.parent == Path()]) <= 9


def test_no_name_of_a_module_stands_twice():
    stems = Counter(path.stem for path in MODULES + PAGE_MODULES if path.name != "__init__.py")
    assert [stem for stem, times in stems.items() if times > 1] == []


def test_modules_are_named_by_nouns():
    def unclear(stem: str) -> bool:
        return stem.endswith("ed") or bool(UNCLEAR & set(stem.split("_")))

    names = {part for path in MODULES + PAGE_MODULES for part in path.with_suffix("").parts}
    assert [name for name in sorted(names) if unclear(name)] == []


def test_tests_stand_where_the_package_has_what_they_test():
    lost = []
    for path in sorted(TESTS.rglob("test_*.py")):
        folder = path.relative_to(TESTS).parent
        if str(folder) in WHOLE:
            continue
        stems = {module.stem for module in MODULES + PAGE_MODULES if module.parent == folder}
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
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            names |= defined(file.parent / f"{node.module}.py")
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


# Inner names may move without a test's notice; the fewer of them tests import, the better.
INNER_NAMES, LONG_NAMES = 400, 428
PUBLIC_FOLDERS = {"nothing", "report", "plots", "cli"}


def inner_names(file: Path) -> Iterator[str]:
    """Yield what a file imports from within the package: each name, each time."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            package, _, inside = str(node.module).partition(".")
            if package == PACKAGE.name and inside and inside.split(".")[0] not in PUBLIC_FOLDERS:
                yield from (f"{node.module}.{each.name}" for each in node.names)


def test_tests_import_few_inner_names():
    files = [path for path in TESTS.rglob("*.py") if TESTS / "core" not in path.parents]
    assert sum(len([*inner_names(path)]) for path in files) <= INNER_NAMES


def test_few_names_of_tests_are_long():
    nodes = (
        node
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )
    names = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
    assert sum(len(name) > 60 for name in names if name.startswith("test_")) <= LONG_NAMES
