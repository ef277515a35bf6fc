"""Measure the processor time and memory that reading an input takes, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

# Reads a length of bytes, the name of a file ("" for pasted text) and its contents from the
# standard input. Modules that the server imports once are imported before the measurement.
_READ_SCRIPT = """
import io, json, resource, sys, time
from vendiscore.report import RefusedError
from vendiscore_page.inputs.declared_sizes import read_declared_size
from vendiscore_page.inputs.uploads import UserInput, read

def peak():
    try:  # of this process alone; `ru_maxrss` begins with the peak of the process that started it
        with open("/proc/self/status") as status:
            lines = dict(line.split(":", 1) for line in status)
        return int(lines["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError):
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return size if sys.platform == "darwin" else size * 1024

def processor_time():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

name = sys.stdin.buffer.readline().decode().strip()
data = sys.stdin.buffer.read()
user_input = UserInput(files=[(name, data)]) if name else UserInput(text=data.decode())
read(UserInput(text="a b\\nc d"))
read(UserInput(files=[("a.csv", b"id,answer\\n1,a b c\\n2,c d e\\n")]))
if name.endswith(".parquet"):
    import pyarrow, pyarrow.compute, pyarrow.parquet
    first = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"answer": ["a b", "c d"]}), first)
    read(UserInput(files=[("a.parquet", first.getvalue())]))
if name.endswith((".webp", ".png", ".jpg", ".gif", ".avif")):
    from PIL import Image
    first = io.BytesIO()
    Image.new("RGB", (20, 20)).save(first, "PNG")
    read(UserInput(files=[("a.png", first.getvalue())]))
memory, start = peak(), processor_time()
try:
    read_declared_size(user_input)
    message = f"{len(read(user_input))} samples"
except RefusedError as error:
    message = str(error)
print(json.dumps([processor_time() - start, peak() - memory, message]))
"""


class ReadCost(NamedTuple):
    """Seconds of processor time, bytes of memory, and the result or error message."""

    seconds: float
    memory: int
    message: str


def measure_read_cost(name: str, data: bytes) -> ReadCost:
    """Return the cost of reading a file, or pasted text if `name` is empty."""
    done = subprocess.run(
        [sys.executable, "-c", _READ_SCRIPT],
        input=f"{name}\n".encode() + data,
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return ReadCost(*json.loads(done.stdout))
