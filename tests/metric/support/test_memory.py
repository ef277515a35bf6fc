"""The amount of memory is found, and memory is asked for before a matrix is made."""

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


def write(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """A folder of control groups, and a machine that has more than any of them."""
    monkeypatch.setattr(memory, "_CGROUP_ROOT", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "_PROCESS_CGROUP", tmp_path / "own")
    machine = type("", (), {"available": 64 * GB})()
    monkeypatch.setattr(psutil, "virtual_memory", lambda: machine)
    return tmp_path


def test_files_are_not_counted_as_used_whether_read_lately_or_not(groups):
    write(
        groups / "cgroup",
        memory__max=8 * GB,
        memory__current=7 * GB,
        memory__stat=f"anon {GB}\nfile {5 * GB}\nshmem {GB}\ninactive_file {2 * GB}\n"
        f"active_file {3 * GB}\nslab_reclaimable {GB // 2}\nslab_unreclaimable {GB // 2}",
    )
    assert memory.available_bytes() == 8 * GB - (7 - 5.5) * GB


@pytest.mark.parametrize("high", [3 * GB, "max"])
def test_a_group_that_is_slowed_down_has_no_more_than_that(groups, high):
    files = {"memory__max": 8 * GB, "memory__high": high, "memory__current": GB}
    write(groups / "cgroup", **files, memory__stat="inactive_file 0")
    assert memory.available_bytes() == (2 * GB if high != "max" else 7 * GB)


def test_counts_that_change_between_two_looks_are_no_more_than_the_limit(groups):
    write(
        groups / "cgroup",
        memory__max=4 * GB,
        memory__current=GB,
        memory__stat=f"active_file {3 * GB}",
    )
    assert memory.available_bytes() == 4 * GB


def test_a_group_that_does_not_say_what_it_uses_memory_for_is_a_limit_all_the_same(groups):
    write(groups / "cgroup", memory__max=4 * GB, memory__current=GB)
    assert memory.available_bytes() == 3 * GB


def test_next_to_the_first_version_the_second_is_read(groups):
    root, job = groups / "cgroup" / "unified", "system.slice/job.service"
    files = {"memory__max": 5 * GB, "memory__current": 2 * GB}
    write(root / job, **files, memory__stat=f"active_file {GB}")
    lines = [f"12:memory:/{job}", "4:cpu,cpuacct:/", f"1:name=systemd:/{job}", f"0::/{job}"]
    (groups / "own").write_text("\n".join(lines))
    assert memory.available_bytes() == 4 * GB


def test_a_container_that_sees_the_path_of_its_host_reads_its_own_root(groups):
    write(
        groups / "cgroup",
        memory__max=4 * GB,
        memory__current=2 * GB,
        memory__stat=f"active_file {GB}",
    )
    (groups / "own").write_text("0::/docker/0123456789abcdef\n")
    assert memory.available_bytes() == 3 * GB


def test_the_tightest_of_the_groups_above_a_process_counts(groups):
    root = groups / "cgroup"
    for folder, limit in ((root, 50), (root / "slice", 5), (root / "slice" / "job", 9)):
        files = {"memory__max": limit * GB, "memory__current": 2 * GB}
        write(folder, **files, memory__stat="inactive_file 0")
    (groups / "own").write_text("1:name=systemd:/elsewhere\n0::/slice/job\n")
    assert memory.available_bytes() == 3 * GB


@pytest.mark.parametrize("limit", ["max", 9223372036854771712, "nonsense"])
def test_no_limit_is_the_machine(groups, limit):
    write(groups / "cgroup", memory__max=limit, memory__current=3 * GB)
    assert memory.available_bytes() == 64 * GB


@pytest.mark.skipif(sys.platform != "linux", reason="limits on addresses are a matter of Linux")
def test_a_limit_on_addresses_is_seen_before_anything_is_allocated():
    code = (
        # Modules that are imported at first use take addresses, too.
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
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert "the exact spectrum of a 4000 × 4000 matrix needs 0.1 GB" in ran.stdout, ran.stderr


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
    "a function": lambda: callable_similarity(range(200), lambda a, b: float(a == b)).K,
    "a function in single precision": lambda: (
        callable_similarity(range(200), lambda a, b: np.float32(a == b)).K
    ),
}


@pytest.mark.parametrize("name", MATRICES)
def test_who_wants_a_matrix_asks_for_the_memory_that_it_takes(name, monkeypatch):
    if name == "bleu":
        pytest.importorskip("sacrebleu")
    MATRICES[name]()  # imports and caches do not depend on the samples
    asked = []
    monkeypatch.setattr(memory, "require", lambda needed, what, remedy: asked.append(needed))
    tracemalloc.start()
    MATRICES[name]()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.7 * peak < max(asked) < 2 * peak


@pytest.mark.parametrize("name", MATRICES)
def test_too_large_is_said_before_anything_is_allocated(name, monkeypatch):
    if name == "bleu":
        pytest.importorskip("sacrebleu")
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 100_000)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 0)
    with pytest.raises(TooLargeError, match=r"the (similarity matrix of|median)"):
        MATRICES[name]()
