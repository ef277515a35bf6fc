"""A limit of BLAS threads ends with its need, wherever an interrupt arrives."""

import contextlib
import sys

import pytest

from vendiscore.support import parallel
from vendiscore.support.parallel import blas_controller, limit_blas_threads, run_parallel


def blas_threads():
    return [library.num_threads for library in blas_controller().lib_controllers]


@pytest.fixture(autouse=True)
def three():
    with blas_controller().limit(limits=3):
        yield


def interrupt_at(event):
    """Raise where Python looks for signals: as a function begins, and as one of C has returned.

    Python's own pools of threads are left out: some of their locks do not bear an interrupt.
    """
    left = event

    def profile(frame, kind, argument):
        nonlocal left
        ours = frame.f_code.co_filename in (parallel.__file__, contextlib.__file__)
        left -= ours and kind in ("call", "c_return")
        if left == 0:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(profile)


def limit_alone():
    with limit_blas_threads(1):
        assert blas_threads() == [1] * len(blas_threads())


def limit_within_a_limit():
    with limit_blas_threads(2), limit_blas_threads(1):
        pass


def work_in_threads():
    run_parallel(str, range(5))


@pytest.mark.parametrize("work", [limit_alone, limit_within_a_limit, work_in_threads])
def test_an_interrupt_at_any_call_lifts_the_limit(work):
    for event in range(1, 10_000):
        try:
            interrupt_at(event)
            work()
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
        assert blas_threads() == [3] * len(blas_threads()), event
    assert event > 15


def test_the_lowest_of_several_limits_holds_until_its_own_end():
    libraries = len(blas_threads())
    low, high = limit_blas_threads(1), limit_blas_threads(2)
    assert high.__enter__() == 3
    low.__enter__()
    high.__exit__(None, None, None)
    assert blas_threads() == [1] * libraries
    low.__exit__(None, None, None)
    assert blas_threads() == [3] * libraries


def test_a_limit_above_what_blas_has_changes_nothing():
    with limit_blas_threads(64) as had:
        assert had == 3
        assert set(blas_threads()) == {3}
