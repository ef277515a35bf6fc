"""Limits of BLAS threads are removed after use, also after interrupts."""

import contextlib
import sys
from glob import glob
from pathlib import Path

import numpy
import pytest
import scipy

from vendiscore.support import parallel
from vendiscore.support.parallel import blas_controller, limit_blas_threads, run_parallel


def blas_threads():
    return [library.num_threads for library in blas_controller().lib_controllers]


@pytest.fixture(autouse=True)
def three_blas_threads():
    with blas_controller().limit(limits=3):
        yield


@pytest.mark.versions
def test_blas_libraries_of_numpy_and_scipy_are_found():
    bundled = {
        Path(path).name
        for package in (numpy, scipy)
        for path in glob(f"{package.__path__[0]}.libs/*openblas*")
    }
    if not bundled:
        pytest.skip("NumPy and SciPy do not bundle OpenBLAS here")
    assert bundled <= {Path(library["filepath"]).name for library in blas_controller().info()}


def interrupt_at(event):
    """Raise KeyboardInterrupt at a call of a function or at the return of a C function.

    Python checks for signals there. Thread pools of Python are excluded: some of their locks do
    not support interrupts.
    """
    remaining = event

    def profile(frame, kind, argument):
        nonlocal remaining
        is_counted = frame.f_code.co_filename in (parallel.__file__, contextlib.__file__)
        remaining -= is_counted and kind in ("call", "c_return")
        if remaining == 0:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(profile)


def set_single_limit():
    with limit_blas_threads(1):
        assert blas_threads() == [1] * len(blas_threads())


def set_nested_limits():
    with limit_blas_threads(2), limit_blas_threads(1):
        pass


def run_in_threads():
    run_parallel(str, range(5))


@pytest.mark.parametrize("function", [set_single_limit, set_nested_limits, run_in_threads])
def test_blas_limit_is_removed_after_an_interrupt_at_any_call(function):
    for event in range(1, 10_000):
        try:
            interrupt_at(event)
            function()
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
        assert blas_threads() == [3] * len(blas_threads()), event
    assert event > 15


def test_lowest_nested_limit_applies_until_its_exit():
    libraries = len(blas_threads())
    low, high = limit_blas_threads(1), limit_blas_threads(2)
    assert high.__enter__() == 3
    low.__enter__()
    high.__exit__(None, None, None)
    assert blas_threads() == [1] * libraries
    low.__exit__(None, None, None)
    assert blas_threads() == [3] * libraries


def test_limit_above_the_number_of_threads_changes_nothing():
    with limit_blas_threads(64) as n_threads:
        assert n_threads == 3
        assert set(blas_threads()) == {3}
