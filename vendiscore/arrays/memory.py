"""How much memory there is, asked before a large allocation instead of after it fails."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import psutil

from ..errors import TooLargeError

_CGROUP = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
# What a control group is given and uses, in version 2 and version 1, and what of the use is files
# that nobody reads at the moment, which the system gives back before it ends a process.
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
_NO_LIMIT = 1 << 60
# Bytes that are allocated unasked: to ask takes a tenth of a millisecond.
FEW_BYTES = 1 << 22


def available_bytes() -> int:
    """Bytes that can be allocated now.

    What the machine has left, or less where a container, a control group or the process's own
    limit on addresses (`ulimit -v`) leaves less.
    """
    left = [int(psutil.virtual_memory().available), *_address_space()]
    for folder in _groups(_CGROUP, _OWN):
        left += _group_left(folder)
    return max(0, min(left))


@cache
def _groups(root: Path, own: Path) -> tuple[Path, ...]:
    """The folders of the control groups that limit this process."""
    folders = [root, root / "memory"]
    lines = own.read_text().splitlines() if own.exists() else []
    for line in lines:  # 0::/path in version 2, number:controllers:/path in version 1
        _, controllers, path = line.split(":", 2)
        top = root / "memory" if controllers else root
        if controllers and "memory" not in controllers.split(","):
            continue
        inner = top / path.strip("/")
        folders += [group for group in (inner, *inner.parents) if top in group.parents]
    return tuple(folder for folder in folders if any((folder / f[0]).exists() for f in _FILES))


def _group_left(folder: Path) -> list[int]:
    for limit, used, idle in _FILES:
        try:
            bound = (folder / limit).read_text().strip()
            if bound == "max" or int(bound) >= _NO_LIMIT:
                continue
            left = int(bound) - int((folder / used).read_text())
            stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            return [left + int(stat.get(idle, 0))]
        except (OSError, ValueError):  # another version, or a group that is gone
            continue
    return []


def _address_space() -> list[int]:
    try:
        import resource
    except ImportError:  # not on Windows
        return []
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return []
    return [limit - int(psutil.Process().memory_info().vms)]


def require(needed: int, what: str, remedy: str) -> None:
    """Raise `TooLargeError` if `needed` bytes are more than are available.

    >>> require(1000, "a small array", "nothing to do")
    """
    available = available_bytes()
    if needed > available:
        raise TooLargeError(
            f"{what} needs {needed / 1e9:,.1f} GB ({needed:,} bytes) and {available / 1e9:,.1f} GB "
            f"are available; {remedy}"
        )


def require_large(needed: int, what: str, remedy: str) -> None:
    """`require`, where it is worth asking; for what small samples go through many times."""
    if needed > FEW_BYTES:
        require(needed, what, remedy)
