"""Checks of the available memory before large allocations."""

from functools import cache
from pathlib import Path

_CGROUP_ROOT = Path("/sys/fs/cgroup")
_PROCESS_CGROUP = Path("/proc/self/cgroup")
# Memory that the system reclaims before it kills a process: file cache and kernel caches.
_RECLAIMABLE = ("active_file", "inactive_file", "slab_reclaimable")
_NO_LIMIT = 1 << 60
# Allocations of at most this size are not checked, because a check takes 0.1 ms.
UNCHECKED_BYTES = 1 << 26
# Maximum fraction of the available memory for caches of values that can be recomputed.
MAX_CACHE_FRACTION = 0.25


class TooLargeError(MemoryError):
    """A computation that would not fit in memory; raised before anything is allocated.

    The message gives the size of the array and an alternative that needs less memory, such as
    ``method="estimate"``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from vendiscore import FeatureSimilarity
    >>> FeatureSimilarity(sp.eye_array(10**6, format="csr")).dense()  # 8 TB
    Traceback (most recent call last):
    ...
    vendiscore.support.memory.TooLargeError: ...
    """


def available_bytes() -> int:
    """Return how many bytes can be allocated, given the machine, cgroups and `ulimit -v`."""
    import psutil

    # Each limit is independent, so the smallest applies.
    machine = int(psutil.virtual_memory().available)
    cgroups = _find_limiting_cgroups(_CGROUP_ROOT, _PROCESS_CGROUP)
    available = min([machine, _available_address_space(), *map(_available_in_cgroup, cgroups)])
    return max(0, available)


def has_room(size: int) -> bool:
    """Return whether there is enough memory to cache `size` bytes that can be recomputed."""
    return size <= MAX_CACHE_FRACTION * available_bytes()


@cache
def _find_limiting_cgroups(root: Path, process_file: Path) -> tuple[Path, ...]:
    """Return the folders of the Linux cgroups (version 2) that limit the memory of this process.

    The limits of the cgroup of the process and of all its parents apply. `root` is the folder in
    which cgroups are mounted, and `process_file` the file that lists those of the process.
    """
    # If cgroups of version 1 are mounted at `root`, those of version 2 are in the second folder.
    mounts = (root, root / "unified")
    folders = [*mounts]
    process_cgroups = process_file.read_text() if process_file.exists() else ""
    path = process_cgroups.partition("0::")[2]  # the cgroup of version 2, listed last
    for mount in mounts:
        cgroup_folder = mount / path.strip("/\n")
        folders_and_parents = (cgroup_folder, *cgroup_folder.parents)
        folders += [folder for folder in folders_and_parents if mount in folder.parents]
    return tuple(folder for folder in dict.fromkeys(folders) if _cgroup_limit(folder) < _NO_LIMIT)


def _cgroup_limit(folder: Path) -> int:
    """Return the memory limit of a cgroup in bytes, or _NO_LIMIT (2⁶⁰)."""
    # Above "high" the system does not kill a process, but slows it down drastically.
    return min(_read_bytes(folder / "memory.max"), _read_bytes(folder / "memory.high"))


def _available_in_cgroup(folder: Path) -> int:
    """Return how many bytes can still be allocated in a cgroup, or _NO_LIMIT (2⁶⁰)."""
    limit = _cgroup_limit(folder)
    used = _read_bytes(folder / "memory.current")
    if max(limit, used) < _NO_LIMIT:  # both are known
        return limit - max(0, used - _reclaimable_bytes(folder))
    return _NO_LIMIT


def _read_bytes(file: Path) -> int:
    """Read a number of bytes from a file; _NO_LIMIT if it contains "max" or does not exist."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return _NO_LIMIT


def _reclaimable_bytes(folder: Path) -> int:
    """Return the number of bytes that a cgroup uses but the system can reclaim, such as caches."""
    file = folder / "memory.stat"
    if not file.exists():
        return 0
    total = 0
    for line in file.read_text().splitlines():
        name, number = line.split()
        if name in _RECLAIMABLE:
            total += int(number)
    return total


def _available_address_space() -> int:
    """Return how many bytes can still be allocated within `ulimit -v`, or _NO_LIMIT (2⁶⁰)."""
    import psutil

    try:
        import resource
    except ImportError:  # not on Windows
        return _NO_LIMIT
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return _NO_LIMIT
    return limit - int(psutil.Process().memory_info().vms)


def require(needed: int, description: str, hint: str) -> None:
    """Raise a TooLargeError if `needed` bytes exceed the available memory.

    Small allocations, of up to UNCHECKED_BYTES, are not checked, because a check takes time. The
    message contains `description`, what needs the memory, and ends with `hint`.

    >>> require(1000, "a small array", "nothing to do")
    """
    if needed <= UNCHECKED_BYTES:
        return
    available = available_bytes()
    if needed > available:
        raise TooLargeError(
            f"{description} needs {needed / 1e9:,.1f} GB ({needed:,} bytes) of memory, but "
            f"{available / 1e9:,.1f} GB are available; {hint}"
        )
