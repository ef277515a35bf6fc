"""Checks of available memory before a large allocation, rather than after it fails."""

from functools import cache
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
# Memory that the system reclaims before it ends a process: cached files and its own caches.
_GIVEN_BACK = ("active_file", "inactive_file", "slab_reclaimable")
_NO_LIMIT = 1 << 60
# Bytes that are allocated without a check, which takes a tenth of a millisecond.
FEW_BYTES = 1 << 26
# Largest share of the free memory for numbers that could be computed again.
KEPT_SHARE = 0.25


class TooLargeError(MemoryError):
    """The exact computation would not fit in memory; raised before anything is allocated.

    The message says what was to be allocated, and what needs less, such as `method="estimate"`.

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
    """Return bytes that the machine, its control groups and `ulimit -v` leave to allocate."""
    import psutil

    machine = int(psutil.virtual_memory().available)
    groups = map(_group_left, _groups(_CGROUP, _OWN))
    least = min([machine, _address_space(), *groups])
    return max(0, least)


def has_room(size: int) -> bool:
    """Return whether so many bytes may be kept of what could be computed again."""
    return size <= KEPT_SHARE * available_bytes()


@cache
def _groups(root: Path, own: Path) -> tuple[Path, ...]:
    """Return the folders of the control groups that limit this process, as they are at first."""
    tops = (root, root / "unified")  # the second where version 1 has the first
    folders = [*tops]
    mine = own.read_text() if own.exists() else ""
    path = mine.partition("0::")[2]  # of version 2, which is listed last
    for top in tops:
        inner = top / path.strip("/\n")
        folders += [group for group in (inner, *inner.parents) if top in group.parents]
    return tuple(folder for folder in dict.fromkeys(folders) if _bound(folder) < _NO_LIMIT)


def _bound(folder: Path) -> int:
    # Above "high" the system does not end a process but slows it down to a crawl.
    return min(_bytes(folder / "memory.max"), _bytes(folder / "memory.high"))


def _group_left(folder: Path) -> int:
    bound = _bound(folder)
    taken = _bytes(folder / "memory.current")
    if max(bound, taken) < _NO_LIMIT:
        return bound - max(0, taken - _given_back(folder))
    return _NO_LIMIT


def _bytes(file: Path) -> int:
    """Return the bytes in a file; no limit where it says "max" or is gone."""
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return _NO_LIMIT


def _given_back(folder: Path) -> int:
    """Return the bytes in use that the system can reclaim."""
    file = folder / "memory.stat"
    if not file.exists():
        return 0
    total = 0
    for line in file.read_text().splitlines():
        name, number = line.split()
        if name in _GIVEN_BACK:
            total += int(number)
    return total


def _address_space() -> int:
    import psutil

    try:
        import resource
    except ImportError:  # not on Windows
        return _NO_LIMIT
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return _NO_LIMIT
    return limit - int(psutil.Process().memory_info().vms)


def require(needed: int, what: str, remedy: str) -> None:
    """Raise `TooLargeError` if `needed` bytes are more than are available; few are not checked.

    >>> require(1000, "a small array", "nothing to do")
    """
    if needed <= FEW_BYTES:
        return
    available = available_bytes()
    if needed > available:
        raise TooLargeError(
            f"{what} needs {needed / 1e9:,.1f} GB ({needed:,} bytes) and {available / 1e9:,.1f} GB "
            f"are available; {remedy}"
        )
