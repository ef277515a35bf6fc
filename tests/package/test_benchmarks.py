"""`python benchmarks/all.py`: every pair is in it, and one that fails stops none of the others."""

import argparse
import importlib
import json
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks"
# Two versions of the package, which somebody has to choose.
BY_HAND = {"versions", "pairs", "readme", "tables", "gpu"}  # a GPU is not everywhere


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("all", "pairs"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    found = importlib.import_module("all")
    for name in ("all", "pairs"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return found


def given(everything: types.ModuleType, folder: Path) -> argparse.Namespace:
    return argparse.Namespace(data=folder, results=folder, repeats=1, threads=1)


def test_every_script_that_times_pairs_is_run(everything: types.ModuleType) -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
    pairs = {
        name
        for name, text in texts.items()
        if "theirs_s" in text or re.search(r"from pairs import .*\bcompare\b", text)
    }
    known = {each.name for each in everything.BENCHMARKS}
    assert pairs - BY_HAND <= known


def test_the_list_says_what_each_needs() -> None:
    command = [sys.executable, str(FOLDER / "all.py"), "--list", "--only", "magnitude", "explain"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert "MagArea with magnipy" in done.stdout
    assert "magnipy==1.0.0" in done.stdout
    assert "needs nothing else" in done.stdout
    assert "spectral" not in done.stdout


def test_each_ends_in_a_word_and_the_next_one_runs(
    everything: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(everything, "HERE", tmp_path)
    (tmp_path / "good.py").write_text("import sys; open(sys.argv[2], 'w').write('{}')")
    (tmp_path / "bad.py").write_text("raise SystemExit(3)")
    run, kind = everything.run, everything.Benchmark
    how = given(everything, tmp_path)
    assert run(kind("bad", ""), tmp_path, how) == "failed: exit status 3"
    assert run(kind("good", ""), tmp_path, how) == "ran"
    assert (tmp_path / "good.json").exists()
    assert run(kind("none", ""), tmp_path, how) == "skipped: there is no benchmarks/none.py here"
    assert run(kind("good", "", files=("far.csv",)), tmp_path, how).startswith("skipped: far.csv")
    old = kind("good", "", peer=("nothing",), pythons=("2.4",))
    assert run(old, tmp_path, how) == "skipped: the peer needs Python 2.4, and none was found"


def test_an_environment_is_made_once(everything: types.ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "peer"
    (folder / "bin").mkdir(parents=True)
    (folder / "complete").write_text("magnipy==1.0.0\n")
    assert Path(everything.made(folder, ("magnipy==1.0.0",), ())).is_relative_to(folder)


def test_what_is_installed_has_the_version_asked_for(everything: types.ModuleType) -> None:
    assert everything.installed("numpy")
    assert everything.installed("numpy>=1.0")
    assert not everything.installed("numpy==1.0")
    assert not everything.installed("no-such-package")


def test_results_say_which_commit_and_machine_they_are_from(
    everything: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = importlib.import_module("pairs")
    monkeypatch.delitem(sys.modules, "pairs")
    found = pairs.environment("no-such-package")
    assert found["no-such-package"] == "not installed"
    assert found["commit"] == "unknown" or len(found["commit"]) == 40
    assert set(found["machine"]) == {"processor", "cores", "memory_gb", "system", "blas"}
    assert str(Path.home()) not in json.dumps(found)


def test_pieces_that_mutants_replace_are_in_their_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    changes = importlib.import_module("mutants").MUTANTS
    texts = {name: (ROOT / "vendiscore" / f"{name}.py").read_text("utf-8") for name in changes}
    pieces = [(name, old) for name, pairs in changes.items() for old, _ in pairs]
    assert [(name, old) for name, old in pieces if old not in texts[name]] == []
