"""Jobs in worker processes: results, messages, errors, limits, and lost processes."""

import os
import threading
import time

import psutil
import pytest
import worker_jobs

pytest.importorskip("uvicorn")

from vendiscore.support.progress import run_steps
from vendiscore_page.answers.sample_readout import UnusableError
from vendiscore_page.quotas import JobLimits, RefusedError
from vendiscore_page.serving.lanes import AWAY, LONG, MIDDLE, SHORT, TINY
from vendiscore_page.serving.workers import JobLimitError, Workers

TIMEOUT = 120  # seconds
LIMITS = {
    SHORT: JobLimits(2.0, 200_000_000),
    MIDDLE: JobLimits(60.0),
    LONG: JobLimits(60.0),
}


@pytest.fixture(scope="module")
def workers():
    return Workers(LIMITS)


def run(workers, lane, function, *arguments):
    return run_steps(workers.run(lane, function, *arguments))


def test_tiny_jobs_run_in_server_process(workers):
    for lane in (TINY, AWAY):
        assert run(workers, lane, worker_jobs.return_process_id) == os.getpid()


def test_at_most_two_processes_run_jobs(workers):
    process_ids = set()
    threads = [
        threading.Thread(
            target=lambda lane=lane: process_ids.add(
                run(workers, lane, worker_jobs.return_process_id)
            )
        )
        for lane in (SHORT, SHORT, SHORT, MIDDLE, LONG, LONG)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert 1 <= len(process_ids) <= 2
    assert process_ids <= set(workers.process_ids())
    assert os.getpid() not in process_ids


def test_messages_and_result_of_a_job(workers, tmp_path):
    steps = workers.run(LONG, worker_jobs.report_steps, str(tmp_path), 3)
    messages = list(iter(lambda: next(steps, None), None))
    assert [message for message in messages if message] == ["0", "1", "2"]
    assert run(workers, LONG, worker_jobs.report_steps, str(tmp_path), 3) == 3


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (worker_jobs.spend_processor_time, "more than 2 seconds of computing time"),
        (worker_jobs.sleep, "more than 2 seconds of computing time"),
        (worker_jobs.fill_memory, "more than 200 MB of memory"),
    ],
)
def test_job_beyond_its_limit_ends_with_a_message(workers, job, message):
    process_id = run(workers, SHORT, worker_jobs.return_process_id)
    start = time.monotonic()
    with pytest.raises(JobLimitError, match=message):
        run(workers, SHORT, job)
    assert time.monotonic() - start < 4 * 2.0 + 1.0
    assert not psutil.pid_exists(process_id) or (
        psutil.Process(process_id).status() == psutil.STATUS_ZOMBIE
    )
    assert run(workers, SHORT, worker_jobs.return_process_id) != process_id


def test_job_whose_process_was_lost_runs_again_once(workers, tmp_path):
    assert run(workers, SHORT, worker_jobs.end_process, str(tmp_path), 1) == 2
    with pytest.raises(RuntimeError, match="were lost"):
        run(workers, SHORT, worker_jobs.end_process, str(tmp_path), 9)
    assert len(list(tmp_path.iterdir())) == 3


def test_job_of_a_killed_process_gives_its_result(workers, tmp_path):
    steps = workers.run(LONG, worker_jobs.report_steps, str(tmp_path), 50)
    while not next(steps):
        pass
    psutil.Process(workers.process_ids()[1]).kill()
    assert run_steps(steps) == 50


def test_errors_keep_their_class_and_attributes(workers):
    with pytest.raises(RefusedError, match=r"^Send fewer samples\.$"):
        run(workers, SHORT, worker_jobs.refuse)
    with pytest.raises(UnusableError) as caught:
        run(workers, SHORT, worker_jobs.reject_samples)
    assert caught.value.summary == "1 of 2 texts cannot be used"
    assert caught.value.n_usable == 1


def test_error_of_half_surrogate_names_it(workers):
    with pytest.raises(RefusedError, match=r"contains '\\ud800', which is not valid Unicode"):
        run(workers, SHORT, worker_jobs.encode, "a \ud800")


def test_unexpected_error_does_not_repeat_user_input(workers):
    with pytest.raises(RuntimeError) as caught:
        run(workers, SHORT, worker_jobs.fail, "secret")
    assert "secret" not in str(caught.value)


def test_unneeded_job_stops_and_its_process_is_used_again(workers, tmp_path):
    process_id = run(workers, LONG, worker_jobs.return_process_id)
    steps = workers.run(LONG, worker_jobs.report_steps, str(tmp_path), 3_000)
    while not next(steps):
        pass
    steps.close()
    count = len(list(tmp_path.iterdir()))
    assert run(workers, LONG, worker_jobs.return_process_id) == process_id
    assert len(list(tmp_path.iterdir())) == count < 3_000


def test_unneeded_job_without_messages_is_ended_soon(workers):
    process_id = run(workers, MIDDLE, worker_jobs.return_process_id)
    steps = workers.run(MIDDLE, worker_jobs.sleep)
    assert next(steps) == ""  # while the job runs
    start = time.monotonic()
    steps.close()
    assert time.monotonic() - start < 15  # the job sleeps for longer
    assert process_id not in workers.process_ids()
    assert run(workers, MIDDLE, worker_jobs.return_process_id) in workers.process_ids()


def test_idle_process_that_grew_is_replaced():
    workers = Workers(LIMITS, idle_seconds=0.5)
    grown = run(workers, LONG, worker_jobs.keep_memory)
    deadline = time.monotonic() + TIMEOUT
    while grown in workers.process_ids() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert grown not in workers.process_ids()
    process_id = run(workers, LONG, worker_jobs.return_process_id)
    time.sleep(2.0)
    assert process_id in workers.process_ids()  # as it did not grow


def test_short_jobs_do_not_wait_for_a_long_job(workers, tmp_path):
    steps = workers.run(LONG, worker_jobs.report_steps, str(tmp_path), 3_000)
    next(steps)
    long_id = workers.process_ids()[1]
    for _ in range(5):
        assert run(workers, SHORT, worker_jobs.return_process_id) != long_id
    steps.close()
