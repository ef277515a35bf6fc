"""Allowed imports: the metric does not import tools, and layers import only lower layers."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain, pairwise
from pathlib import Path

import pytest
from documented_paths import import_name

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "vendiscore"
# A layer imports only from itself and from the layers below it.
METRIC = """
    scripts compat
    integrations
    scoring
    measures
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
TOOLS = """
    cli
    integrations reports
    reading
    analysis selection
    rewards streams
    plots
"""
WEB_APP = """
    serving
    answers
    inputs
    quotas
"""
# Documented import paths (docs/stability.md, docs/reference) that forward names of other modules.
FORWARDED = {
    "plots": "tools.plots",
    "cli": "tools.cli",
    "core.errors": "support.errors",
    "similarity.memory": "support.memory",
    "analysis": "tools.analysis.layout",
    "report": "tools.reports",
    "measures.subject": "measures.sample_set",
    "measures.stack": "measures.stacked_groups",
    "magnitude.spaces_of_samples": "magnitude.metric_space_builder",
    "encoders.models": "encoders.sample_encoder",
}
for module in ("document", "sections", "thumbnails"):
    FORWARDED[f"report.{module}"] = f"tools.reports.{module}"
for module in ("inspect", "lm_eval", "loss", "torchmetrics", "transformers", "trl"):
    FORWARDED[f"integrations.{module}"] = f"tools.integrations.{module}"
for module in ("comparison", "growth", "near_pairs", "novelty", "phrase_costs", "spectral_modes"):
    FORWARDED[f"analysis.{module}"] = f"tools.analysis.{module}"
FORWARDED["analysis.between_sources"] = "tools.analysis.sources_result"
FORWARDED["analysis.sample_table"] = "tools.analysis.explanation"
FORWARDED["analysis.sentences"] = "tools.analysis.report_text"
MAX_LINES = 5  # of a forwarding module, without its docstring and blank lines


def parse_levels(layers: str) -> dict[str, int]:
    return {name: i for i, line in enumerate(layers.strip().splitlines()) for name in line.split()}


METRIC_LEVELS, TOOL_LEVELS = parse_levels(METRIC), parse_levels(TOOLS)
WEB_APP_LEVELS = parse_levels(WEB_APP)
MODULES = {path.relative_to(PACKAGE): path for path in sorted(PACKAGE.rglob("*.py"))}
INIT, MAIN = Path("__init__.py"), Path("__main__.py")
WEB_APP_MODULES = {
    path.relative_to(ROOT / "vendiscore_page"): path
    for path in sorted((ROOT / "vendiscore_page").rglob("*.py"))
}
TREES = {"vendiscore": MODULES, "vendiscore_page": WEB_APP_MODULES}


def module_path(name: str) -> Path:
    """Return the path of a module relative to the package."""
    path = Path(*name.split("."))
    return path / "__init__.py" if (PACKAGE / path).is_dir() else path.with_suffix(".py")


FORWARDING = {module_path(name) for name in FORWARDED}
TOOL_MODULES = {path for path in MODULES if path.parts[0] == "tools"}
METRIC_MODULES = set(MODULES) - TOOL_MODULES - FORWARDING - {INIT, MAIN}


@cache
def imported_modules(path: Path, package: str = "vendiscore") -> set[Path]:
    """Return the modules of its package that a module imports, also inside functions."""
    tree = ast.parse(TREES[package][path].read_text(encoding="utf-8"))
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            home = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                modules |= files(home / alias.name, package) or files(home, package)
    return modules - {INIT, path}


def files(module: Path, package: str) -> set[Path]:
    return {Path(f"{module}.py"), module / "__init__.py"} & set(TREES[package])


def imported_packages(path: Path) -> set[str]:
    """Return the packages that a file imports by absolute names."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).partition(".")[0])
    return names


def test_metric_does_not_import_tools():
    assert METRIC_MODULES
    crossing = {(a, b) for a in METRIC_MODULES for b in imported_modules(a)}
    assert {(str(a), str(b)) for a, b in crossing if b in TOOL_MODULES | FORWARDING} == set()


@pytest.mark.parametrize("package", TREES)
def test_packages_use_relative_imports(package):
    # The other tests of this file read only relative imports.
    paths = [path for path, file in TREES[package].items() if package in imported_packages(file)]
    assert [str(path) for path in paths if path.parts[0] != "scripts"] == []


def test_package_init_imports_only_support_at_runtime():
    tree = ast.parse((PACKAGE / INIT).read_text(encoding="utf-8"))
    checked = {
        id(node) for block in tree.body if isinstance(block, ast.If) for node in ast.walk(block)
    }
    imports = [
        node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in checked
    ]
    assert {name.partition(".")[0] for name in imports} == {"support"}


@pytest.mark.parametrize("name", FORWARDED)
def test_forwarding_module_exports_names_of_target(name):
    docstring, *lines = MODULES[module_path(name)].read_text(encoding="utf-8").splitlines()
    assert docstring.startswith('"""The documented import path of ')
    assert len(list(filter(str.strip, lines))) <= MAX_LINES
    forwarded = import_name(f"vendiscore.{name}", "__all__")
    target = importlib.import_module(f"vendiscore.{FORWARDED[name]}")
    for exported_name in forwarded:
        value = import_name(f"vendiscore.{name}", exported_name)
        # A module, such as `report.thumbnails`, is forwarded by another module.
        assert value is getattr(target, exported_name) or inspect.ismodule(value)


def test_tool_functions_do_not_share_names_with_packages():
    # Python would replace the package by the function, or the function by the package.
    clashes = []
    for path in sorted(TOOL_MODULES):
        tree = ast.parse(MODULES[path].read_text(encoding="utf-8"))
        defined = {
            node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
        if path.name == "__init__.py":
            defined |= {
                alias.asname or alias.name
                for node in tree.body
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            module_names = {file.stem for file in (PACKAGE / path.parent).iterdir()}
            clashes += [f"{path}: {name}" for name in defined & module_names]
        clashes += [f"{path}: {name}" for name in defined & {path.parent.name}]
    assert clashes == []


def test_package_import_loads_only_reports_of_tools():
    code = "import sys, vendiscore; print(*(m for m in sys.modules if '.tools' in m))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [name for name in run.stdout.split() if name.startswith("vendiscore.")]
    assert loaded == ["vendiscore.tools", "vendiscore.tools.reports"]


def top_level_name(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def test_metric_layers_import_only_lower_layers():
    def level(path):
        return METRIC_LEVELS[top_level_name(path)]

    pairs = [(a, b) for a in METRIC_MODULES for b in imported_modules(a)]
    assert [(str(a), str(b)) for a, b in pairs if level(b) < level(a)] == []


def test_tool_layers_import_only_lower_layers():
    def level(path):
        return TOOL_LEVELS[top_level_name(path.relative_to("tools"))]

    modules = TOOL_MODULES - {Path("tools/__init__.py")}
    pairs = [(a, b) for a in modules for b in imported_modules(a) if b in modules]
    assert [(str(a), str(b)) for a, b in pairs if level(b) < level(a)] == []


def test_tools_do_not_import_forwarding_modules():
    pairs = [(a, b) for a in TOOL_MODULES for b in imported_modules(a)]
    assert [(str(a), str(b)) for a, b in pairs if b in FORWARDING] == []


def test_web_app_layers_import_only_lower_layers():
    def level(path):
        return WEB_APP_LEVELS.get(top_level_name(path), -1)

    pairs = [(a, b) for a in WEB_APP_MODULES for b in imported_modules(a, "vendiscore_page")]
    assert [(str(a), str(b)) for a, b in pairs if 0 <= level(b) < level(a)] == []


def test_only_page_command_imports_web_app():
    importers = {
        path for path, file in MODULES.items() if "vendiscore_page" in imported_packages(file)
    }
    assert importers == {Path("tools/cli/command_page.py")}


@pytest.mark.parametrize("package", TREES)
def test_imports_have_no_cycles(package):
    graph = {path: imported_modules(path, package) for path in TREES[package] if path != INIT}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(graph)


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_architecture_document_mentions_existing_files():
    paths = re.findall(
        r"`((?:vendiscore|vendiscore_page|tests|docs|kernels)/[\w./]*)`", ARCHITECTURE
    )
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("folder", ["", "tools"])
def test_architecture_document_lists_folders_in_layer_order(folder):
    levels = TOOL_LEVELS if folder else METRIC_LEVELS
    begin = "\nvendiscore/tools/" if folder else "\nvendiscore/ "
    block = ARCHITECTURE.partition(begin)[2].partition("\nvendiscore")[0]
    lines = [re.findall(r"\b([a-z]+)(?:/|\.py) ", line) for line in block.splitlines()[1:]]
    listed_folders = [[name for name in names if name in levels] for names in lines]
    assert sorted(chain(*listed_folders)) == sorted(levels)
    line_levels = [[levels[name] for name in names] for names in listed_folders if names]
    assert all(max(upper) <= min(lower) for upper, lower in pairwise(line_levels))


@pytest.mark.parametrize("folder", ["core", "support"])
def test_core_and_support_import_only_numpy_scipy_and_standard_library(folder):
    allowed = {"numpy", "scipy", *sys.stdlib_module_names}
    for path in sorted((PACKAGE / folder).glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                assert {alias.name.partition(".")[0] for alias in node.names} <= allowed, path
            elif isinstance(node, ast.ImportFrom):
                module = (node.module or "").partition(".")[0]
                is_own_package = node.level == 1 or (node.level == 2 and module in ("", "support"))
                assert is_own_package or module in allowed, path
