"""Module names are unique, test files mirror modules, and tests import existing names."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, PAGE, TESTS = ROOT / "vendiscore", ROOT / "vendiscore_page", ROOT / "tests"
# Modules, except those that only forward names of other modules.
MODULES = sorted(
    path.relative_to(PACKAGE)
    for path in PACKAGE.rglob("*.py")
    if not path.read_text(encoding="utf-8").startswith('"""The documented import path')
)
# Tests of the web app are in the folder `page`.
PAGE_MODULES = sorted("page" / path.relative_to(PAGE) for path in PAGE.rglob("*.py"))
# Folders of tests that do not mirror a folder of the package.
NOT_MIRRORED = {"browser", "fuzz", "package", "page"}


def test_module_names_are_unique():
    stems = Counter(path.stem for path in MODULES + PAGE_MODULES if path.name != "__init__.py")
    assert [stem for stem, times in stems.items() if times > 1] == []


def test_test_files_mirror_package_modules():
    unmatched = []
    for path in sorted(TESTS.rglob("test_*.py")):
        folder = path.relative_to(TESTS).parent
        if str(folder) in NOT_MIRRORED:
            continue
        folder = Path(*folder.parts[folder.parts[0] == "metric" :])
        stems = {module.stem for module in MODULES + PAGE_MODULES if module.parent == folder}
        stems |= {folder.name} if folder.parts else {"numbers"}  # the file next to it
        name = path.stem.removeprefix("test_")
        if not any(name == stem or name.startswith(f"{stem}_") for stem in stems):
            unmatched.append(str(path.relative_to(TESTS)))
    assert unmatched == []


# Modules with functions or classes whose tests are elsewhere, and why.
TESTED_ELSEWHERE = {
    "__init__.py": "tests/package/test_public_api.py: the names of the package",
    "encoders/__init__.py": "tests/metric/encoders/test_sample_encoder.py: `encoder`",
    "integrations/__init__.py": "tests/metric/integrations/test_huggingface.py: `load`",
    "spectral/estimate.py": "tests/metric/spectral/test_stochastic_estimate.py: attributes",
    "support/types.py": "mypy: it has only types",
    "tools/plots/axes.py": "tests/tools/plots/test_plots.py: all pictures together",
    "tools/plots/curves.py": "tests/tools/plots/test_plots.py: all pictures together",
    "tools/plots/labelled_map.py": "tests/tools/plots/test_plots.py: all pictures together",
    "tools/plots/phrase_bars.py": "tests/tools/plots/test_plots.py: all pictures together",
    "tools/plots/set_structure.py": "tests/tools/plots/test_plots.py: all pictures together",
    "tools/reading/count_columns.py": "tests/tools/reading/test_count_tables.py: with tables",
    "tools/reading/individuals.py": "tests/tools/reading/test_count_tables.py: with tables",
    "tools/reports/__init__.py": "tests/tools/reports/test_document.py: `report`",
    "tools/reports/app_exports.py": "tests/page/test_public_names.py: names for the web app",
}


def has_logic(module: Path) -> bool:
    """Return whether a module defines a function or a class."""
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
    return any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in ast.walk(tree))


def module_name(module: Path) -> str:
    return module.parent.name if module.name == "__init__.py" else module.stem


def has_tests(module: Path) -> bool:
    """Return whether the mirrored folder has a test file for this module.

    `test_text_embeddings_files.py` is of the module `text_embeddings`, not of `text`.
    """
    names = [
        module_name(other_module)
        for other_module in MODULES
        if other_module.parent == module.parent
    ]
    folder = module.parent if module.parts[0] == "tools" else Path("metric", module.parent)
    for path in (TESTS / folder).glob("test_*.py"):
        file = path.stem.removeprefix("test_")
        matching_names = [name for name in names if file == name or file.startswith(f"{name}_")]
        if matching_names and max(matching_names, key=len) == module_name(module):
            return True
    return False


def test_every_module_with_code_has_test_file():
    missing = {
        module.as_posix() for module in MODULES if has_logic(module) and not has_tests(module)
    }
    assert missing == {*TESTED_ELSEWHERE}
    for reason in TESTED_ELSEWHERE.values():
        file = reason.partition(":")[0]
        assert file == "mypy" or (ROOT / file).exists()


@cache
def defined_names(file: Path) -> set[str]:
    """Return the names that a module defines or imports, without importing it."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            home = file.parents[max(node.level, 1) - 1].joinpath(*str(node.module).split("."))
            names |= defined_names(
                home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
            )
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def test_tests_import_existing_names():
    """pytest skips test modules that cannot be imported, because of the doctest options."""

    def is_defined(module: str, name: str) -> bool:
        home = ROOT.joinpath(*module.split("."))
        file = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
        if (home / name).is_dir() or (home / f"{name}.py").exists():
            return True
        return file.exists() and name in defined_names(file)

    missing = [
        f"{path.name}: {node.module}.{alias.name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(PACKAGE.name)
        for alias in node.names
        if not is_defined(str(node.module), alias.name)
    ]
    assert missing == []
