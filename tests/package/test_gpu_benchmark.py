"""The GPU benchmark runs on CPU tensors; no GPU is required."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu.py"


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs the script in this process and returns its output."""
    monkeypatch.syspath_prepend(str(SCRIPT.parent))

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
        runpy.run_path(str(SCRIPT), run_name="__main__")
        return capsys.readouterr().out

    return call


def test_script_without_gpu_prints_message():
    process = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[1]), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout == (
        "There is no GPU that torch can use here (torch.cuda.is_available() is False): nothing "
        "was run\n"
    )


def test_all_cases_run_with_few_samples_on_cpu(tmp_path, run):
    path = tmp_path / "gpu.json"
    printed = run("--cpu-small", "--repeats", "1", "--json", str(path))
    rows = json.loads(path.read_text())["rows"]
    assert f"{len(rows)} cases agree on small sets" in printed
    assert {row["device"] for row in rows} == {"cpu"}
    assert {row["n"] for row in rows} == {500}
    names = [row["name"].partition(", n =")[0] for row in rows]
    assert names == [
        "covariance",
        "eigenvalues of K",
        "norm of K, q = 2",
        "rbf",
        "covariance, gradient",
        "covariance",
        "rbf, estimated",
    ]
    for row in rows:
        rel = 0.03 if "estimated" in row["name"] else 1e-6
        assert row["ours"] == pytest.approx(row["theirs"], rel=rel)


def test_only_and_no_cpu_flags_restrict_cases(run):
    printed = run("--cpu-small", "--only", "norm", "--repeats", "1", "--no-cpu")
    assert "1 cases agree" in printed
    assert printed.count(" × (") == 1


def test_short_run_times_every_case_and_counts_host_reads(tmp_path, run):
    path = tmp_path / "gpu.json"
    run("--short", "--cpu-small", "--json", str(path))
    rows = json.loads(path.read_text())["rows"]
    kinds = {row["name"].partition(",")[0] for row in rows}
    assert kinds == {"score_X", "groups", "loss and gradient", "eigvalsh", "explain"}
    assert all(row["seconds"] > 0 for row in rows)
    for row in rows:
        if row["name"].startswith(("score_X", "loss")):
            assert row["host_reads"] > 0
        if row["name"].startswith("score_X"):
            assert row["foretold_gb"] > 0
