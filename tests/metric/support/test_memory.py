"""Available memory is detected, and required memory is checked before allocation."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import psutil
import pytest

import vendiscore
from vendiscore import TooLargeError, as_similarity
from vendiscore.similarity.callable_kernel import callable_similarity
from vendiscore.support import memory

GB = 1 << 30


def write_files(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


@pytest.fixture
def cgroups(tmp_path, monkeypatch):
    """Folder of cgroup files, on a machine with more memory than any group."""
    monkeypatch.setattr(memory, "_CGROUP_ROOT", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "_PROCESS_CGROUP", tmp_path / "process_cgroup")
    machine = type("", (), {"available": 64 * GB})()
    monkeypatch.setattr(psutil, "virtual_memory", lambda: machine)
    return tmp_path


def test_available_bytes_counts_file_caches_as_available(cgroups):
    write_files(
        cgroups / "cgroup",
        memory__max=8 * GB,
        memory__current=7 * GB,
        memory__stat=f"anon {GB}\nfile {5 * GB}\nshmem {GB}\ninactive_file {2 * GB}\n"
        f"active_file {3 * GB}\nslab_reclaimable {GB // 2}\nslab_unreclaimable {GB // 2}",
    )
    assert memory.available_bytes() == 8 * GB - (7 - 5.5) * GB


@pytest.mark.parametrize("high", [3 * GB, "max"])
def test_available_bytes_respects_the_memory_high_limit(cgroups, high):
    files = {"memory__max": 8 * GB, "memory__high": high, "memory__current": GB}
    write_files(cgroups / "cgroup", **files, memory__stat="inactive_file 0")
    assert memory.available_bytes() == (2 * GB if high != "max" else 7 * GB)


def test_available_bytes_never_exceeds_the_limit(cgroups):
    write_files(
        cgroups / "cgroup",
        memory__max=4 * GB,
        memory__current=GB,
        memory__stat=f"active_file {3 * GB}",
    )
    assert memory.available_bytes() == 4 * GB


def test_available_bytes_works_without_memory_stat(cgroups):
    write_files(cgroups / "cgroup", memory__max=4 * GB, memory__current=GB)
    assert memory.available_bytes() == 3 * GB


def test_available_bytes_reads_cgroup_v2_in_hybrid_mode(cgroups):
    root, job = cgroups / "cgroup" / "unified", "system.slice/job.service"
    files = {"memory__max": 5 * GB, "memory__current": 2 * GB}
    write_files(root / job, **files, memory__stat=f"active_file {GB}")
    lines = [f"12:memory:/{job}", "4:cpu,cpuacct:/", f"1:name=systemd:/{job}", f"0::/{job}"]
    (cgroups / "process_cgroup").write_text("\n".join(lines))
    assert memory.available_bytes() == 4 * GB


def test_available_bytes_uses_the_root_if_the_cgroup_path_is_missing(cgroups):
    write_files(
        cgroups / "cgroup",
        memory__max=4 * GB,
        memory__current=2 * GB,
        memory__stat=f"active_file {GB}",
    )
    (cgroups / "process_cgroup").write_text("0::/docker/0123456789abcdef\n")
    assert memory.available_bytes() == 3 * GB


def test_available_bytes_uses_the_tightest_limit_of_parent_groups(cgroups):
    root = cgroups / "cgroup"
    for folder, limit in ((root, 50), (root / "slice", 5), (root / "slice" / "job", 9)):
        files = {"memory__max": limit * GB, "memory__current": 2 * GB}
        write_files(folder, **files, memory__stat="inactive_file 0")
    (cgroups / "process_cgroup").write_text("1:name=systemd:/elsewhere\n0::/slice/job\n")
    assert memory.available_bytes() == 3 * GB


@pytest.mark.parametrize("limit", ["max", 9223372036854771712, "nonsense"])
def test_available_bytes_without_limit_equal_memory_of_the_machine(cgroups, limit):
    write_files(cgroups / "cgroup", memory__max=limit, memory__current=3 * GB)
    assert memory.available_bytes() == 64 * GB


@pytest.mark.skipif(sys.platform != "linux", reason="requires limits on address space")
def test_address_space_limit_raises_before_allocation():
    code = (
        # Lazily imported modules use address space, too.
        "import resource, numpy as np, psutil, scipy.linalg, scipy.spatial.distance;"
        "from vendiscore import compute, TooLargeError;"
        "X = np.ones((4000, 2)); X[:, 0] = range(4000);"
        "used = psutil.Process().memory_info().vms;"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 26), resource.RLIM_INFINITY))\n"
        "try: compute(X, k='rbf')\n"
        "except TooLargeError as error: print(error)"
    )
    folder = Path(vendiscore.__path__[0]).parent
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert "the exact spectrum of a 4000 × 4000 matrix needs 0.1 GB" in process.stdout, (
        process.stderr
    )


N = 1500
X = np.random.default_rng(0).standard_normal((N, 40))
WORDS = np.random.default_rng(0).choice(list("abcdefghijk"), (700, 8))
MATRICES = {
    **{
        f"{kernel} {name}": lambda kernel=kernel, x=x, o=o: as_similarity(x, k=kernel, **o).dense()
        for kernel in ("rbf", "laplacian")
        for name, x, o in (
            ("median", X, {}),
            ("sigma", X, {"sigma": 5.0}),
            ("few columns", X[:, :3], {}),
            ("single", X.astype(np.float32), {}),
            ("repeats", np.vstack([X, X[:50]]), {}),
        )
    },
    "bleu": lambda: as_similarity([" ".join(words) for words in WORDS], k="bleu").K,
    "callable": lambda: callable_similarity(range(200), lambda a, b: float(a == b)).K,
    "callable in single precision": lambda: (
        callable_similarity(range(200), lambda a, b: np.float32(a == b)).K
    ),
}


@pytest.mark.parametrize("name", MATRICES)
def test_required_memory_matches_the_peak_memory(name, monkeypatch):
    if name == "bleu":
        pytest.importorskip("sacrebleu")
    MATRICES[name]()  # imports and caches do not depend on the samples
    required_bytes = []
    monkeypatch.setattr(memory, "require", lambda needed, *_: required_bytes.append(needed))
    tracemalloc.start()
    MATRICES[name]()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.7 * peak < max(required_bytes) < 2 * peak


@pytest.mark.parametrize("name", MATRICES)
def test_too_large_matrices_raise_before_allocation(name, monkeypatch):
    if name == "bleu":
        pytest.importorskip("sacrebleu")
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 100_000)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 0)
    with pytest.raises(TooLargeError, match=r"the (similarity matrix of|median)"):
        MATRICES[name]()
