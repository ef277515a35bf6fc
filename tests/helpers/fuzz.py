"""Settings, strategies and checks that all fuzz tests share.

By default, the tests draw the same examples for a third of a minute. VENDISCORE_FUZZ_MINUTES=60
draws new examples for sixty minutes; a failure prints how to reproduce it.
"""

import linecache
import math
import os
import warnings
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import vendiscore

MINUTES = float(os.environ.get("VENDISCORE_FUZZ_MINUTES", "0"))
PACKAGE = Path(vendiscore.__file__).parent
OWN_ERRORS = tuple(getattr(vendiscore, name) for name in dir(vendiscore) if name.endswith("Error"))


def fuzz_settings(n_examples):
    """Return settings of a test that draws `n_examples` examples per minute of all fuzz tests."""
    return settings(
        max_examples=math.ceil(n_examples * max(1 / 3, MINUTES)),
        derandomize=not MINUTES,
        database=None,
        print_blob=True,
        phases=[Phase.generate],  # examples depend on seeds, which do not shrink
        suppress_health_check=list(HealthCheck),
    )


# outcomes


def get_intended_error(call):
    """Return the error that the library raises deliberately, or None if the call returns.

    Deliberate errors have a documented type, come from a `raise` of the library and contain a
    sentence. Errors of NumPy, SciPy or torch and warnings fail the test.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*may be rounding")
        warnings.filterwarnings("ignore", "LC requires similarities of at least 0")
        try:
            call()
        except Exception as error:
            check_intended_error(error)
            return error
    return None


def check_intended_error(error):
    """Check that the library itself raised the error, of a documented type and with a sentence."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    file, line = (
        trace.tb_frame.f_code.co_filename,
        linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno),
    )
    where = f"{type(error).__name__} at {file}:{trace.tb_lineno}: {error}"
    assert type(error) in (TypeError, ValueError, *OWN_ERRORS), f"not a documented type: {where}"
    assert Path(file).is_relative_to(PACKAGE), f"not raised by the library: {where}"
    assert line.strip().startswith("raise"), f"passed through the library: {where}"
    assert len(str(error).split()) >= 6, f"no sentence: {where}"


def result_values(result):
    """Return the values of a dict of results as floats, in their order."""
    return [float(value) for key, value in result.items() if key != "details"]


def check_value(value, low, high, rel):
    """Check that a number is finite and in [low, high] with a relative tolerance."""
    assert math.isfinite(value), value
    assert low * (1 - rel) <= value <= high * (1 + rel), f"got {value!r}, right is {low!r}" + (
        f" to {high!r}" if high > low else ""
    )


# drawing

seeds = st.integers(0, 2**31 - 1)
ORDERS = (0, 0.1, 0.5, 0.9, 1 - 1e-9, 1, 1 + 1e-9, 1.5, 2, 3, 20, 1e4, 1e308, math.inf)
orders = st.one_of(st.sampled_from(ORDERS), st.floats(0, 4))
SCALES = (1.0, 1.0, 1.0, 1e-3, 1e3, 1e-8, 1e8, 1e-40, 1e40, 1e-150, 1e150)
ROW_KINDS = ("grid", "normal", "clusters", "twins", "masked", "outlier")


def draw_rows(rng, n, d, kind):
    """Return n random rows with d columns; `kind` is one of `ROW_KINDS`."""
    X = rng.standard_normal((n, d))
    if kind == "grid":
        return rng.integers(-4, 5, (n, d)) / 2.0
    if kind == "clusters":
        return X + rng.integers(0, 2, (n, 1)) * 10.0 ** rng.integers(1, 9)
    if kind == "twins" and n > 1:
        for i in rng.integers(0, n, 1 + n // 4):
            X[i] = X[rng.integers(n)] + 10.0 ** -rng.integers(1, 13) * rng.standard_normal(d)
    if kind == "masked":
        return (rng.random((n, d)) < 0.4) * X
    if kind == "outlier":
        X[rng.integers(n)] *= 10.0 ** rng.integers(1, 9)
    return X


@st.composite
def row_sets(draw, max_n=10, kinds=ROW_KINDS, scales=SCALES, nonzero=False):
    """Return rows with duplicates among them, of any scale."""
    n = draw(st.integers(1, max_n))
    d = draw(st.sampled_from((1, 2, 3, 5, 8, 20)))
    rng = np.random.default_rng(draw(seeds))
    X = draw_rows(rng, n, d, draw(st.sampled_from(kinds)))
    if nonzero:
        X[~X.any(axis=1)] = 1.0
    if draw(st.booleans()):
        X = X[rng.integers(0, n, n)]
    return X * draw(st.sampled_from(scales))


@st.composite
def weights(draw, n):
    """Return None, or n weights that sum to 1: uneven, with zeros or with tiny weights."""
    kind = draw(st.sampled_from(("none", "none", "uneven", "zeros", "tiny")))
    if kind == "none":
        return None
    rng = np.random.default_rng(draw(seeds))
    p = rng.random(n) + 0.01
    if kind == "zeros":
        p[rng.random(n) < 0.3] = 0.0
        p[rng.integers(n)] = 1.0
    if kind == "tiny":
        p[rng.random(n) < 0.3] *= 1e-12
        p[rng.integers(n)] = 1.0
    return p / p.sum()
