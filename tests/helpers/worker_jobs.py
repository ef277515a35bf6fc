"""Jobs that worker processes run in tests; the processes import them from this module."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from vendiscore_page.answers.sample_readout import UnusableError
from vendiscore_page.inputs.visitor_samples import Samples
from vendiscore_page.quotas import RefusedError

_blocks: list[bytearray] = []


def return_process_id(*arguments: object) -> int:
    return os.getpid()


def spend_processor_time() -> None:
    while True:
        pass


def sleep() -> None:
    time.sleep(600)


def fill_memory() -> None:
    blocks = []
    while True:
        blocks.append(bytearray(20_000_000))


def keep_memory() -> int:
    """Allocate memory that the process keeps; return the id of the process."""
    _blocks.append(bytearray(40_000_000))
    return os.getpid()


def report_steps(folder: str, count: int) -> Iterator[str]:
    """Yield numbers and write each to a file; return the number of steps."""
    for i in range(count):
        Path(folder, str(i)).touch()
        yield str(i)
        time.sleep(0.02)
    return count


def end_process(folder: str, times: int) -> int:
    """End the process as many times as stated, then return the number of attempts."""
    attempts = len(list(Path(folder).iterdir()))
    if attempts < times:
        Path(folder, str(attempts)).touch()
        os._exit(3)
    return attempts + 1


def fail(text: str) -> None:
    raise KeyError(text)


def encode(text: str) -> bytes:
    return text.encode()


def refuse() -> None:
    raise RefusedError("Send fewer samples.")


def reject_samples() -> None:
    samples = Samples(["a", "b"], [1, 2])
    raise UnusableError({"": (samples, {1: "is blank"})}, "texts")
