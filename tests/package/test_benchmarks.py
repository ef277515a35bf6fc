"""`python benchmarks/all.py` runs every benchmark, and continues if one fails."""

import argparse
import ast
import importlib
import json
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks"
# Helper modules, two versions of the package to compare, and a GPU.
NOT_IN_ALL = {"two_trees", "pairs", "readme", "tables", "short_tables", "gpu", "gpu_short"}


@pytest.fixture
def all_module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("all", "pairs"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    result = importlib.import_module("all")
    for name in ("all", "pairs"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return result


def make_arguments(all_module: types.ModuleType, folder: Path) -> argparse.Namespace:
    return argparse.Namespace(data=folder, results=folder, repeats=1, threads=1)


@pytest.fixture
def grid(monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    monkeypatch.syspath_prepend(str(FOLDER))
    before = {*sys.modules}
    yield importlib.import_module("grid")
    for name in ("grid", "minimal_code", "pairs"):
        if name not in before:
            sys.modules.pop(name, None)


def test_benchmarks_readme_lists_every_script_and_result_file() -> None:
    text = (FOLDER / "README.md").read_text("utf-8").partition("## Versions of the")[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    scripts = {name for row in rows for name in re.findall(r"`([\w/]+\.py)`", row.split(" | ")[0])}
    assert scripts == {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py")}
    cells = [row.removesuffix(" |").split(" | ")[-1] for row in rows]
    listed_results = {name for cell in cells for name in re.findall(r"`([\w/]+)`", cell)}
    results = (FOLDER / "results").rglob("*.json")
    assert listed_results == {
        path.relative_to(FOLDER / "results").with_suffix("").as_posix() for path in results
    }


def test_every_timing_script_is_registered(all_module: types.ModuleType) -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
    pairs = {
        name
        for name, text in texts.items()
        if "theirs_s" in text or re.search(r"from pairs import .*\btime_pair\b", text)
    }
    registered = {benchmark.name for benchmark in all_module.BENCHMARKS}
    assert pairs - NOT_IN_ALL <= registered


def test_list_prints_requirements_of_benchmarks() -> None:
    command = [sys.executable, str(FOLDER / "all.py"), "--list", "--only", "selection", "streaming"]
    process = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert "chosen subsets with submodlib" in process.stdout
    assert "dppy==0.3.3" in process.stdout
    assert "needs nothing else" in process.stdout
    assert "scaling" not in process.stdout


def test_run_returns_status_of_benchmark(
    all_module: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_module, "HERE", tmp_path)
    (tmp_path / "good.py").write_text("import sys; open(sys.argv[2], 'w').write('{}')")
    (tmp_path / "bad.py").write_text("raise SystemExit(3)")
    run, make_benchmark = all_module.run_benchmark, all_module.Benchmark
    arguments = make_arguments(all_module, tmp_path)
    assert run(make_benchmark("bad", ""), tmp_path, arguments) == "failed: exit status 3"
    assert run(make_benchmark("good", ""), tmp_path, arguments) == "ran"
    assert (tmp_path / "good.json").exists()
    assert (
        run(make_benchmark("none", ""), tmp_path, arguments)
        == "skipped: there is no benchmarks/none.py here"
    )
    assert run(make_benchmark("good", "", data_files=("far.csv",)), tmp_path, arguments).startswith(
        "skipped: far.csv"
    )


def test_existing_environment_is_reused(all_module: types.ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "peer"
    (folder / "bin").mkdir(parents=True)
    (folder / "complete").write_text("magnipy==1.0.0\n")
    assert Path(all_module.make_environment(folder, ("magnipy==1.0.0",))).is_relative_to(folder)


def test_is_installed_checks_version(all_module: types.ModuleType) -> None:
    assert all_module.is_installed("numpy")
    assert all_module.is_installed("numpy>=1.0")
    assert not all_module.is_installed("numpy==1.0")
    assert not all_module.is_installed("no-such-package")


def test_environment_records_commit_and_machine(
    all_module: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = importlib.import_module("pairs")
    monkeypatch.delitem(sys.modules, "pairs")
    result = pairs.collect_environment("no-such-package")
    assert result["no-such-package"] == "not installed"
    assert result["commit"] == "unknown" or len(result["commit"]) == 40
    assert set(result["machine"]) == {"processor", "cores", "memory_gb", "system", "blas"}
    assert str(Path.home()) not in json.dumps(result)


def run_check(results: Path) -> tuple[int, str]:
    command = [sys.executable, str(FOLDER / "all.py"), "--check", "--results", str(results)]
    process = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    assert not process.stderr, process.stderr
    return process.returncode, process.stdout


def test_check_lists_missing_and_outdated_result_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    current = importlib.import_module("provenance").collect_provenance() | {"dirty": False}
    if current["commit"] == "unknown":
        pytest.skip("not a git checkout")

    def write(name: str, **changes: object) -> None:
        path = tmp_path / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"environment": current | changes}))

    status, text = run_check(tmp_path)
    assert status == 1
    assert "Outdated, printed in README:\n  grid: missing\n  people/human_scores: missing\n" in text
    for name in ("grid", "people/human_scores", "typical_few"):
        write(name)
    write("growth", vendiscore="0.3.0", commit="0" * 40)
    write("gpu", vendiscore="0.3.0", commit="1" * 40)
    status, text = run_check(tmp_path)
    assert status == 0
    assert text.startswith("3 of 5 result files are current\n")
    assert "Outdated:\n  growth: measured with 0.3.0 (00000000)\n" in text
    assert "Measured elsewhere:\n  gpu: measured with 0.3.0 (11111111); needs a GPU" in text
    for changes, problem in (
        ({"vendiscore": "0.4.0", "commit": "2" * 40}, "measured with 0.4.0 (22222222)"),
        ({"dirty": True}, "measured with uncommitted changes"),
        ({"commit": "3" * 40}, "its commit 33333333 is not in the history"),
        ({"commit": "unknown"}, "at an unknown commit"),
    ):
        write("grid", **changes)
        status, text = run_check(tmp_path)
        assert status == 1
        assert re.search(rf"Outdated, printed in README:\n  grid: .*{re.escape(problem)}\n", text)


def test_code_replaced_by_mutants_exists_in_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    changes = importlib.import_module("mutants").MUTANTS
    texts = {name: (ROOT / "vendiscore" / f"{name}.py").read_text("utf-8") for name in changes}
    replaced_code = [(name, old) for name, pairs in changes.items() for old, _ in pairs]
    assert [(name, old) for name, old in replaced_code if old not in texts[name]] == []


@pytest.mark.parametrize(
    ("part", "package", "modules"),
    [
        ("metric", "vendiscore/", ["core/hill", "core/score", "scoring/compute"]),
        ("tools", "vendiscore/", ["tools/analysis/growth", "tools/rewards"]),
        ("page", "", ["vendiscore_page/answers/api", "vendiscore_page/parquet_footers"]),
    ],
)
def test_mutants_of_part_compile_and_differ(
    part: str, package: str, modules: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    mutants = importlib.import_module("mutants")
    assert {*modules} <= {*mutants.list_modules(part)}
    for module in modules:
        source = (ROOT / f"{package}{module}.py").read_text("utf-8")
        module_mutants = mutants.list_mutants(module)
        assert len(module_mutants) > 10
        for mutant in module_mutants:
            assert ast.dump(ast.parse(mutant.text)) != ast.dump(ast.parse(source)), mutant.change
            compile(mutant.probe, module, "exec")
        folder = module.removeprefix("tools/").removeprefix("vendiscore_page/").rpartition("/")[0]
        path = Path("tests", part, folder, f"test_{module.rpartition('/')[2]}.py")
        assert path.as_posix() in mutants.test_files(module)


def test_each_module_belongs_to_one_part_of_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    mutants = importlib.import_module("mutants")
    modules = [name for part in mutants.PARTS for name in mutants.list_modules(part)]
    paths = [mutants.source_path(module) for module in modules]
    packages = (ROOT / "vendiscore", ROOT / "vendiscore_page")
    assert sorted(paths) == sorted(path for folder in packages for path in folder.rglob("*.py"))


def test_test_files_of_mutants_belong_to_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    mutants = importlib.import_module("mutants")
    names = [Path(path).name for path in mutants.test_files("resolve/kernel")]
    assert "test_kernel.py" in names
    assert "test_kernel_builder.py" not in names  # of the module `kernel_builder`
    # The tests of `vendiscore_page/serving/tools` have the same name as this folder.
    assert mutants.test_files("tools/__init__") == []
    assert mutants.folder_tests("vendiscore_page/inputs/cells") == ["tests/page/inputs"]
    assert mutants.folder_tests("tools/plots/curves") == ["tests/tools/plots"]
    assert mutants.folder_tests("vendiscore_page/quotas") == ["tests/page"]


def test_functions_of_minimal_code_have_at_most_fifteen_lines() -> None:
    tree = ast.parse((FOLDER / "minimal_code.py").read_text("utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    lines = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    assert {name: count for name, count in lines.items() if count > 15} == {}
    assert [node for node in tree.body if isinstance(node, ast.ClassDef)] == []


def test_grid_contains_every_question_of_readme(grid: types.ModuleType) -> None:
    text = (ROOT / "README.md").read_text("utf-8").split("## Questions and calls")[1]
    calls = re.findall(r"`(\w+)\(", text.split("## ")[0])
    questions = {cell.question.partition(",")[0] for cell in grid.build_cells()}
    assert {*calls} <= questions
    names = [(cell.name, cell.peer) for cell in grid.build_cells()]
    assert len(names) == len({*names})


def test_grid_continues_after_failing_cell(
    grid: types.ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def calls(ours: float, theirs: float) -> types.FunctionType:
        return lambda: (lambda: ours, lambda: theirs)

    cells = [
        grid.Cell("compute", "same", 10, 2, calls(1.0, 1.0 + 1e-12), "peer"),
        grid.Cell("compute", "different", 10, 2, calls(1.0, 1.1)),
        grid.Cell("compute", "alone", 10, None, lambda: (lambda: 1.0, None)),
    ]
    monkeypatch.setattr(grid, "build_cells", lambda: cells)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    rows = [*grid.iter_results(argparse.Namespace(only=[""], peers=False, repeats=2))]
    assert [row.get("kind", "error") for row in rows] == ["peer", "error", "alone"]
    assert rows[0]["times_faster"] > 0
    assert rows[1]["name"] == "compute: different, 10 × 2"
    grid.print_summary(rows)
    assert "failed: 1\n  compute: different, 10 × 2, threads: 1" in capsys.readouterr().out


def test_grid_writes_rows_for_every_number_of_threads(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    command = [sys.executable, str(FOLDER / "grid.py"), "--repeats", "2", "--json", str(path)]
    subprocess.run([*command, "--only", "compute: labels, 1,000"], check=True)
    rows = json.loads(path.read_text("utf-8"))["rows"]
    assert [(row["n"], row["kind"], row["threads"]) for row in rows] == [
        (1000, "floor", 1),
        (1000, "floor", 2),
    ]


def test_by_threads_keeps_rows_of_failed_process(
    all_module: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = importlib.import_module("pairs")
    monkeypatch.delitem(sys.modules, "pairs")
    script = tmp_path / "early.py"
    script.write_text(
        'import os, sys\nopen(sys.argv[3], \'w\').write(\'{"rows": [{"name": "first"}]}\')\n'
        "sys.exit(int(os.environ['OMP_NUM_THREADS']) - 1)"
    )
    rows = pairs.run_with_threads(str(script), [1, 2], [], {})
    assert [row["name"] for row in rows] == ["first", "first", "early.py"]
    assert rows[2]["error"] == "the process ended with exit status 1"
