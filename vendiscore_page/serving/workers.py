"""Worker processes, in which samples of visitors are read and scored within limits.

Each of two workers runs one job at a time. The server watches the processor time and the memory of
a job. If a job exceeds a limit, its worker is replaced by a spare that has already started.
"""

import gc
import importlib
import logging
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import psutil
import tqdm

from vendiscore.support.progress import run_steps

from ..aliases import Steps
from ..answers import offered_encoders, one_set
from ..answers.jobs import Settings
from ..inputs import uploads
from ..inputs.submission import UserInput
from ..quotas import JOB_LIMITS, STORE_SECONDS, JobLimits, RefusedError
from .heap import release_memory
from .lanes import LONG, WORKER_LANES
from .logs import hide_input
from .wire import EXPECTED, get_message

_CHECK_SECONDS = 0.05  # between two measurements of the running jobs
_SPARE_SECONDS = 1.0  # after which the server checks whether it has a spare or a process ended
_POLL_SECONDS = 0.2  # after which a caller can stop a job that sends no message
_STOP_SECONDS = 5.0  # that an unneeded job may take to end, before its process is ended
_MAX_GROWTH = 10_000_000  # bytes that a process keeps after its jobs, before it is replaced
_NICE = 10  # priority of a worker, from -20 to 19, the lowest: about a tenth of the usual share
_MAX_ATTEMPTS = 2  # a job whose worker was lost without exceeding a limit runs again once
# Messages of a worker start with one of these bytes. The last four end a job.
_READY, _STEP, _RESULT, _ERROR, _REFUSAL, _STOPPED = b"0", b"1", b"2", b"3", b"4", b"5"
_STOP = b"stop"  # sent to a worker whose job is no longer needed
_PROTOCOL = 5
_context = multiprocessing.get_context("spawn")
_log = logging.getLogger(__name__)

Run = Callable[..., Steps[Any]]


class JobLimitError(RefusedError):
    """A job exceeded its limit of processor time or memory."""


class _LostWorkerError(Exception):
    """A worker ended without exceeding a limit, for example because the system lacked memory."""


def run_here(lane: str, function: Callable[..., Any], *arguments: object) -> Steps[Any]:
    """Run a job in this process. If the function is a generator function, yield its messages."""
    yield from ()
    result = function(*arguments)
    return (yield from result) if isinstance(result, Generator) else result


class Workers:
    """Two worker processes and a spare, which start with the first job or by `start`."""

    def __init__(
        self, limits: dict[str, JobLimits] = JOB_LIMITS, idle_seconds: float = STORE_SECONDS
    ) -> None:
        """Set the limits by lane, and the time until an idle process that grew is replaced."""
        self._limits = limits
        self._idle_seconds = idle_seconds
        self._condition = threading.Condition()
        self._workers: list[_Worker] = []  # the second one has the encoders
        self._spare: _Worker | None = None

    def start(self) -> None:
        with self._condition:
            if not self._workers:
                self._workers = [_Worker(), _Worker(has_encoders=True)]
                threading.Thread(target=self._watch, daemon=True, name="watch").start()

    def run(self, lane: str, function: Callable[..., Any], *arguments: object) -> Steps[Any]:
        """Run a job in a worker if its lane has workers, and in this process otherwise.

        The function, its arguments and its result are pickled. Yields the messages of the function
        if it is a generator function, and empty ones meanwhile, so that a job that nobody needs
        any more can be stopped by closing the generator.
        """
        if lane not in WORKER_LANES:
            return (yield from run_here(lane, function, *arguments))
        self.start()
        data = pickle.dumps((function, arguments), _PROTOCOL)
        for _ in range(_MAX_ATTEMPTS):
            while (worker := self._acquire(lane)) is None:
                yield ""
            try:
                return (yield from worker.run(data, self._limits[lane], self._notify))
            except _LostWorkerError:
                continue
            finally:
                self._release(worker)
        raise RuntimeError("the workers of a job were lost")

    def process_ids(self) -> list[int]:
        """Return the ids of the processes that run jobs."""
        with self._condition:
            return [worker.process.pid or 0 for worker in self._workers]

    def _notify(self) -> None:
        with self._condition:
            self._condition.notify_all()

    def _acquire(self, lane: str) -> "_Worker | None":
        with self._condition:
            if (worker := self._find_free(lane)) is None:
                self._condition.wait(_CHECK_SECONDS)
                worker = self._find_free(lane)
            if worker is not None:
                worker.is_in_use = True
            return worker

    def _find_free(self, lane: str) -> "_Worker | None":
        first, second = self._workers
        if lane != LONG and not first.is_in_use:
            return first
        # Only long jobs wait until the encoders are loaded.
        if not second.is_in_use and (lane == LONG or second.is_idle()):
            return second
        return None

    def _release(self, worker: "_Worker") -> None:
        with self._condition:
            worker.is_in_use, worker.last_use = False, time.monotonic()
            self._replace_ended()
            self._condition.notify_all()

    def _replace_ended(self) -> None:
        for i, worker in enumerate(self._workers):
            if worker.has_ended and not worker.is_in_use:
                self._workers[i] = self._spare or _Worker()
                self._spare = None

    def _replace_grown(self) -> None:
        """Replace idle processes that imported much, or whose memory is fragmented."""
        for i, worker in enumerate(self._workers):
            is_unused = time.monotonic() - worker.last_use > self._idle_seconds
            if is_unused and not worker.is_in_use and worker.has_grown():
                worker.end()
                self._workers[i] = _Worker(worker.has_encoders)

    def _watch(self) -> None:
        """Measure the running jobs, and start a spare whenever there is none."""
        while True:
            with self._condition:
                if not self._running():
                    self._condition.wait(_SPARE_SECONDS)
                self._replace_ended()
                self._replace_grown()
                if self._needs_spare():
                    self._spare = _Worker()
                running = self._running()
            for worker in running:
                worker.check_limits()
            time.sleep(_CHECK_SECONDS)

    def _running(self) -> "list[_Worker]":
        return [worker for worker in self._workers if worker.is_running]

    def _needs_spare(self) -> bool:
        first = self._workers[0]
        return self._spare is None and not first.is_in_use and first.is_idle()


class _Worker:
    """A process that runs one job at a time, and the limits of this job."""

    def __init__(self, has_encoders: bool = False) -> None:
        self._connection, child = _context.Pipe()
        self.process = _context.Process(target=_serve, args=(child, has_encoders), daemon=True)
        self.process.start()
        child.close()  # the connection ends with the process
        self._usage = psutil.Process(self.process.pid)
        self._lock = threading.Lock()
        self._limits: JobLimits | None = None  # None without a job
        self._start = (0.0, 0.0, 0)  # time, processor time and memory when the job began
        self._limit_message = ""
        self._memory = 0  # when the process was ready
        self.has_encoders = has_encoders
        self.last_use = time.monotonic()
        self.is_in_use = False
        self.is_ready = False
        self.has_ended = False

    @property
    def is_running(self) -> bool:
        return self._limits is not None

    def is_idle(self) -> bool:
        """Return whether a job would begin at once."""
        return not self.is_running and (self.is_ready or self._connection.poll())

    def has_grown(self) -> bool:
        """Return whether the process has more memory than before its jobs."""
        with suppress(psutil.Error):
            return self.is_ready and self._measure()[1] > self._memory + _MAX_GROWTH
        return False

    def run(self, data: bytes, limits: JobLimits, notify: Callable[[], None]) -> Steps[Any]:
        """Run a job, yielding its messages; raise its error, JobLimitError or _LostWorkerError."""
        try:
            while not self.is_ready:
                if self._connection.poll(_POLL_SECONDS):
                    self._finish_start()
                else:
                    yield ""
            with self._lock:
                self._start = time.monotonic(), *self._measure()
                self._limits = limits
            notify()
            self._connection.send_bytes(data)
            while True:
                if not self._connection.poll(_POLL_SECONDS):
                    yield ""
                    continue
                kind, content = self._receive()
                if kind != _STEP:
                    break
                yield pickle.loads(content)
        except GeneratorExit:  # the result is no longer needed
            if self.is_running:
                self._stop()
            raise
        except (EOFError, OSError, psutil.Error):
            self.end()
            if self._limit_message:
                raise JobLimitError(self._limit_message) from None
            raise _LostWorkerError from None
        if kind == _RESULT:
            return pickle.loads(content)
        if kind == _REFUSAL:
            raise _rebuild_error(*pickle.loads(content))
        raise RuntimeError("a job failed in a worker, whose log shows where")

    def check_limits(self) -> None:
        """End the process if its job exceeds a limit."""
        with self._lock, suppress(psutil.Error):
            if self._limits is None:
                return
            time_start, processor_start, memory_start = self._start
            processor_time, memory = self._measure()
            message = self._limits.describe_excess(
                processor_time - processor_start,
                time.monotonic() - time_start,
                memory - memory_start,
            )
            if message:
                self._limit_message, self.has_ended = message, True
                self.process.kill()

    def _finish_start(self) -> None:
        """Receive the message that the process is ready."""
        self._receive()
        self.is_ready, self._memory = True, self._measure()[1]

    def _stop(self) -> None:
        """Ask the process to stop its job, and end the process if it does not stop soon."""
        deadline = time.monotonic() + _STOP_SECONDS
        try:
            self._connection.send_bytes(_STOP)
            while self.is_running:
                if not self._connection.poll(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                self._receive()
        except (EOFError, OSError):  # the process has ended, or takes too long
            self.end()

    def _receive(self) -> tuple[bytes, memoryview]:
        message = self._connection.recv_bytes()
        kind = message[:1]
        if kind not in (_READY, _STEP):
            with self._lock:
                self._limits = None
        return kind, memoryview(message)[1:]

    def _measure(self) -> tuple[float, int]:
        with self._usage.oneshot():
            times = self._usage.cpu_times()
            return times.user + times.system, self._usage.memory_info().rss

    def end(self) -> None:
        with self._lock:
            self._limits, self.has_ended = None, True
        self.process.kill()
        self._connection.close()
        self.process.join(_SPARE_SECONDS)  # until its memory is free


def _serve(connection: Connection, has_encoders: bool) -> None:
    """Run jobs of the server until it ends; the main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends its workers
    _lower_priority()
    hide_input(shows_prints=False)
    tqdm.tqdm.set_lock(threading.RLock())  # its own lock would outlive a process that is killed
    threading.Thread(target=_exit_with_server, daemon=True).start()
    _import_modules()
    if has_encoders:
        with suppress(Exception):  # which the first job reports
            offered_encoders.prepare()
    gc.collect()
    gc.freeze()  # makes later collections faster
    with suppress(EOFError, OSError):  # the server has ended
        connection.send_bytes(_READY)
        while True:
            if (data := connection.recv_bytes()) != _STOP:
                connection.send_bytes(_run_job(connection, data))
                del data
                release_memory()


def _run_job(connection: Connection, data: bytes) -> bytes:
    """Run a job, sending its messages; return the message with its result or its error."""
    offered_encoders.list_offered.cache_clear()  # one may have been downloaded
    try:
        function, arguments = pickle.loads(data)
        steps = run_here("", function, *arguments)
        while True:
            try:
                words = next(steps)
            except StopIteration as end:
                return _RESULT + pickle.dumps(end.value, _PROTOCOL)
            connection.send_bytes(_STEP + pickle.dumps(words))
            if connection.poll():
                steps.close()
                return _STOPPED
    except EXPECTED as error:
        return _REFUSAL + pickle.dumps(_describe_error(error))
    except Exception as error:
        _log.error("a job failed", exc_info=error)
        return _ERROR


def _import_modules() -> None:
    """Import what most jobs need, by scoring two texts."""
    for name in ("api", "several_sets", "sample_readout"):
        importlib.import_module(f"vendiscore_page.answers.{name}")
    samples = uploads.read(UserInput(text="one two\nthree four"))
    run_steps(one_set.score(samples, Settings("ngram_overlap")))


def _lower_priority() -> None:
    """Let the server, which answers all users, run first if there are fewer cores than work."""
    with suppress(psutil.Error):
        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS if psutil.WINDOWS else _NICE)


def _exit_with_server() -> None:
    if server := multiprocessing.parent_process():
        server.join()
    os._exit(0)


def _describe_error(error: Exception) -> tuple[type[Exception], tuple[Any, ...], dict[str, Any]]:
    """Return what `_rebuild_error` needs, which can be pickled."""
    if isinstance(error, UnicodeError):  # its message is lost without `__init__`
        return RefusedError, (get_message(error)[0],), {}
    description = type(error), error.args, vars(error)
    try:
        pickle.dumps(description)
    except Exception:
        return RefusedError, (str(error),), {}
    return description


def _rebuild_error(
    error_class: type[Exception], arguments: tuple[Any, ...], attributes: dict[str, Any]
) -> Exception:
    """Return an error without calling its `__init__`, whose parameters are unknown here."""
    error = error_class.__new__(error_class, *arguments)
    error.args = arguments
    vars(error).update(attributes)
    return error
