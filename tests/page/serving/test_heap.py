"""Free memory of the process is returned to the system."""

import sys

import psutil
import pytest

from vendiscore_page.serving import heap


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc returns memory on request")
def test_released_memory_is_returned_to_the_system():
    heap.use_one_heap()
    process = psutil.Process()
    blocks = [bytearray(50_000) for _ in range(2_000)]
    separators = [bytearray(50_000) for _ in range(10)]
    full = process.memory_info().rss
    del blocks
    heap.release_memory()
    assert full - process.memory_info().rss > 50_000_000
    assert len(separators) == 10


def test_other_c_libraries_are_ignored(monkeypatch):
    def fail(name):
        raise OSError(name)

    monkeypatch.setattr(heap.ctypes, "CDLL", fail)
    heap.use_one_heap()
    heap.release_memory()
