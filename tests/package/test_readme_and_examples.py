"""Imports are light, examples run, generated tables and version numbers are current."""

import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import clean_install
import datasets
import numpy as np
import pytest

import vendiscore
from vendiscore import compute
from vendiscore.spectral import eigendecomposition
from vendiscore.support import progress

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "torch",
    "transformers",
    "torchvision",
    "rdkit",
    "sacrebleu",
    "sklearn",
    "matplotlib",
    "gradio",
    "nltk",
    "evaluate",
    "datasets",
    "pandas",
)


@pytest.mark.parametrize("call", ["pass", "vendiscore.score_K([[1.0, 0.5], [0.5, 1.0]])"])
def test_import_and_first_score_load_no_heavy_packages(call):
    code = f"import sys, vendiscore; {call}; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@cache
def run_example(example: str, *arguments: str) -> tuple[str, Path]:
    """Run an example in a new folder, with the base packages; return its output and the folder."""
    folder = Path(tempfile.mkdtemp())
    done = subprocess.run(
        [sys.executable, "-S", str(ROOT / "examples" / example), *arguments],
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, clean_install.link_base_packages())))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, folder


@pytest.mark.parametrize("example", sorted(path.name for path in ROOT.glob("examples/*.py")))
def test_examples_run(example):
    assert run_example(example)[0]


EXPECTED_OUTPUT = {
    "compare_models.py": "people is more diverse than gpt-4o: +3.60 effective samples in a group",
    "fix_repeats.py": '"dog runs along the" occurs in 16 texts',
    "choose_for_annotation.py": "{'people': 10, 'gpt-4o': 10, 'gemini-1.5-pro': 10}",
    "paper_table.py": r"people & 304 & 6.10 [5.58, 6.53] & 5.35 [4.82, 5.84] \\",
    "score_groups.py": "varied",
    "report.py": "report.html",
}


@pytest.mark.parametrize("example", EXPECTED_OUTPUT)
def test_examples_print_their_result(example):
    assert EXPECTED_OUTPUT[example] in run_example(example)[0]


def test_examples_write_files_that_improve_the_set():
    _, folder = run_example("fix_repeats.py")
    distinct = (folder / "distinct.txt").read_text(encoding="utf-8").splitlines()
    captions = ROOT / "examples" / "captions" / "repetitive.txt"
    texts = captions.read_text(encoding="utf-8").splitlines()
    assert {*distinct} < {*texts}
    shares = [compute(set_of_texts)["VS"] / len(set_of_texts) for set_of_texts in (texts, distinct)]
    assert shares[1] > 2 * shares[0]
    _, folder = run_example("choose_for_annotation.py")
    assert len((folder / "chosen.csv").read_text(encoding="utf-8").splitlines()) >= 31


@pytest.mark.parametrize(
    "example", ["compare_models.py", "choose_for_annotation.py", "paper_table.py"]
)
def test_examples_accept_other_files(example, tmp_path):
    rows = ["prompt,model,answer"]
    for prompt, models in (("one", "ab"), ("two", "ab"), ("three", "a")):  # b lacks a prompt
        rows += [f"{prompt},{model}_1,answer {i} of {prompt}" for model in models for i in range(5)]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    arguments = ["7"] if example == "choose_for_annotation.py" else []
    assert "_1" in run_example(example, str(path), *arguments)[0]


def test_texts_with_blank_lines_are_fixed(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("a cat sat\n\na cat sat\nthe dog ran\n", encoding="utf-8")
    assert "2 texts remain" in run_example("fix_repeats.py", str(path))[0]


def test_training_tutorial_shows_and_avoids_mode_collapse():
    code = """
import json, runpy, sys
found = runpy.run_path(sys.argv[1])
for weight, (encoder, written) in found["runs"].items():
    print(json.dumps([weight, written[0][2], written[-1][2], *found["judged"](encoder)]))
"""
    tutorial = ROOT / "docs" / "tutorials" / "collapse.py"
    out = subprocess.run(
        [sys.executable, "-c", code, str(tutorial)],
        cwd=tempfile.gettempdir(),
        env=os.environ | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [json.loads(line) for line in out.splitlines() if line.startswith("[")]
    for weight, untrained, vs, apart, accuracy, agreement in rows:
        assert untrained > 6
        if weight == 0:
            assert vs < 1.2
            assert apart <= 4
            assert accuracy < 0.5
            assert agreement > 0.98
        else:
            assert vs > 6
            assert apart == 10
            assert accuracy > 0.85
            assert 0.7 < agreement < 0.95  # the cost of diversity
    assert len(rows) == 3


def test_generated_tables_in_documents_are_current(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location("readme", ROOT / "benchmarks" / "readme.py")
    readme = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(readme)
    for path in readme.PAGES:
        text = path.read_text(encoding="utf-8")
        assert readme.render_blocks(text) == text, "run python benchmarks/readme.py"


def test_scripts_citation_and_changelog_have_package_version():
    for script in ("vendiscore.py", "magnitude.py"):
        text = (ROOT / script).read_text(encoding="utf-8")
        assert f'__version__ = "{vendiscore.__version__}"' in text
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {vendiscore.__version__}\n" in citation
    unreleased = vendiscore.__version__.endswith(".dev0")
    heading = "## Unreleased\n" if unreleased else f"## {vendiscore.__version__} ("
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changelog.index("\n## ") == changelog.index(f"\n{heading}")


def test_kernels_folder_is_not_importable_package():
    """transformers imports a package `kernels` if it is installed."""
    folder = ROOT / "kernels"
    assert folder.is_dir()
    assert not folder.is_symlink()  # a file of 18 bytes on Windows and in a zip
    assert not (folder / "__init__.py").exists()


@pytest.mark.parametrize(
    "terminal", ["sys.stderr.close()", "sys.stderr = None", "os.close(2)", "os.dup2(full, 2)"]
)
@pytest.mark.parametrize("during", [False, True])
def test_progress_bar_works_without_usable_stderr(terminal, during):
    code = f"""
import os, sys, time
import vendiscore.support.progress as progress
progress._DELAY = 0
full = os.open("/dev/full", os.O_WRONLY) if os.path.exists("/dev/full") else 1
def work():
    for i in progress.track(range(3), 3, "work"):
        time.sleep(0.15)  # long enough for the bar to be drawn
        if i == 1:
            {terminal if during else "pass"}
        yield i
{"" if during else terminal}
print(list(work()))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert out.stdout.strip() == "[0, 1, 2]"


def test_long_eigendecomposition_prints_expected_duration(monkeypatch, capsys):
    X = np.random.default_rng(0).standard_normal((50, 60))
    monkeypatch.setattr(eigendecomposition, "NUMPY_SIZE", 20)
    compute(X, k="cosine")
    assert not capsys.readouterr().err
    monkeypatch.setattr(progress, "_MIN_ANNOUNCED_SECONDS", 0.0)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 0)
    compute(X, k="cosine")
    message = capsys.readouterr().err
    pattern = r"Computing the spectrum of 50 samples: about .* seconds; orders 2 and inf .*\n"
    assert re.fullmatch(pattern, message)
    datasets.disable_progress_bars()
    try:
        compute(X, k="cosine")
    finally:
        datasets.enable_progress_bars()
    assert not capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:Kernel .ngram_overlap. ")  # answers of a single word
def test_readme_table_matches_means_of_figure(monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    result = importlib.import_module("prompt_matrix").compute_scores()
    means = {name: float(np.mean(list(scores.values()))) for name, scores in result.items()}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^(people|g\S+) +304 +(\S+)", text, re.MULTILINE))
    assert {name: float(mean) for name, mean in table.items()} == pytest.approx(means, abs=0.006)
