"""Every public call can be interrupted, and scores many rows without an n × n matrix."""

import contextlib
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import vendiscore
from vendiscore.support.parallel import blas_controller

# Calls are repeated until the interrupt comes, so larger sets are not necessary.
rng = np.random.default_rng(0)
X = rng.standard_normal((1200, 40))
K = np.exp(-0.5 * ((X[:300, None, :8] - X[None, :300, :8]) ** 2).sum(-1))
WORDS = [f"word{i % 7} of a text{i % 31} number{i}" for i in range(600)]
RBF = {"k": "rbf", "sigma": 6.0}
GROUPS = {"groups": np.arange(1200) // 6}

TABLE = {"x": X.tolist(), "of": GROUPS["groups"].tolist()}

CALLS = {
    "as_similarity": lambda: vendiscore.as_similarity(WORDS).dense().sum(),
    "compare": lambda: vendiscore.compare(X[:40], X[40:90], permutations=19, **RBF).pairs,
    "compute": lambda: vendiscore.compute(X[:600], q=[0.5, 1], **RBF),
    "compute, estimate": lambda: vendiscore.compute(X, method="estimate", rtol=0.05, **RBF),
    "compute, float32": lambda: vendiscore.compute(X.astype(np.float32).repeat(9, 0), k="cosine"),
    "compute, interval": lambda: vendiscore.compute(X[:400], ci=0.95, **RBF),
    "compute, groups": lambda: vendiscore.compute(X, ci=0.95, **RBF, **GROUPS),
    "compute, permutations": lambda: vendiscore.compute(
        X[:300], measures="BetweenVS", permutations=19, groups=np.arange(300) // 6, **RBF
    ),
    "conditional_score": lambda: vendiscore.conditional_score(
        X[:500], X[:500, :2], given_k="rbf", **RBF
    ),
    "convergence_scale": lambda: vendiscore.convergence_scale(X[:400]),
    "explain": lambda: vendiscore.explain(X[:300], **RBF).adds.tolist(),
    "group_rewards": lambda: vendiscore.group_rewards(X, np.ones(1200), **RBF, **GROUPS),
    "growth": lambda: vendiscore.growth(X[:80], [20, 50], **RBF).scores,
    "mag_area": lambda: vendiscore.mag_area(X[:400], n_scales=8),
    "mag_areas": lambda: vendiscore.mag_areas([X[:200], X[200:400]], n_scales=8),
    "mag_diff": lambda: vendiscore.mag_diff(X[:200], X[200:400], n_scales=8),
    "magnitude_dimension": lambda: vendiscore.magnitude_dimension(X[:300, :2]),
    "magnitude_function": lambda: vendiscore.magnitude_function(X[:400], n_scales=8).values,
    "magnitude_weights": lambda: vendiscore.magnitude_weights(X[:600], t=0.3),
    "read": lambda: vendiscore.read("\n".join(WORDS * 10).encode(), type="txt").positions,
    "report": lambda: len(str(vendiscore.report(WORDS[:200]))),
    "score": lambda: vendiscore.score(WORDS[:90], lambda a, b: float(a[:5] == b[:5])),
    "score_K": lambda: vendiscore.score_K(K),
    "score_X": lambda: vendiscore.score_X(X),
    "score_dual": lambda: vendiscore.score_dual(X),
    "select": lambda: raise_if_interrupted(lambda: vendiscore.select(X, 20, **RBF)).places,
    "sources": lambda: vendiscore.sources([WORDS[:40], WORDS[40:80], WORDS[80:120]]).score,
    "spectrum": lambda: vendiscore.spectrum(vendiscore.as_similarity(X[:600], **RBF)),
    "spread": lambda: vendiscore.spread(X[:600]),
    "State": lambda: build_state().compute(),
    "GroupState": lambda: vendiscore.GroupState("x", groups="of", **RBF).update(TABLE).compute(),
    "score_batches": lambda: vendiscore.score_batches([TABLE], "x", groups="of", **RBF),
    "select_batches": lambda: vendiscore.select_batches(
        [TABLE], "x", 20, k="cosine"
    ).places.tolist(),
    "novelty": lambda: vendiscore.novelty(X[:150], X[150:350], **RBF),
    "phrases": lambda: vendiscore.phrases(WORDS[:90], min_texts=2).rows,
}
# Names that compute little or nothing.
NOT_INTERRUPTED = (
    "AmbiguousInputError BatchSelection FeatureSimilarity IndefiniteError MatrixSimilarity "
    "MissingPackageError Monitor NotPSDError ProductSimilarity ReadResult RowsSimilarity "
    "SampleError Selection Similarity SumSimilarity TooLargeError effective_number encoder "
    "get_kernel list_kernels list_measures load plots register_kernel register_measure"
)
MAX_SECONDS = 10.0  # seconds, on a busy machine


def build_state():
    state = vendiscore.State.empty(k="cosine")
    for rows in np.split(X, 60):
        state.update(rows)
    return state


def test_interrupt_cases_cover_public_names():
    assert {name.partition(",")[0] for name in CALLS} | set(NOT_INTERRUPTED.split()) == set(
        vendiscore.__all__
    )


def running_threads():
    # tqdm keeps a monitor thread.
    return {thread for thread in threading.enumerate() if type(thread).__name__ != "TMonitor"}


def comparable(value):
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def raise_if_interrupted(call):
    """Raise KeyboardInterrupt if the call returned a partial result with a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    if any("interrupted" in str(warning.message) for warning in caught):
        raise KeyboardInterrupt
    return result


def call_until_interrupted(call, alarm, seconds):
    """Call again and again until an interrupt ends a call.

    Python loses an interrupt in the callback of a weak reference, and the C++ of matplotlib
    turns one in a conversion into a TypeError: then another interrupt is sent.
    """
    try:
        while True:
            alarm(seconds)
            due = time.perf_counter() + seconds
            while time.perf_counter() < due + 0.1:
                with contextlib.suppress(TypeError):
                    call()
    finally:
        alarm(0)


@pytest.fixture
def alarm():
    previous_handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous_handler)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer of signals here")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_interrupt_stops_call_promptly_and_restores_state(name, alarm):
    call, data = CALLS[name], X.copy()
    with blas_controller().limit(limits=2):
        expected = comparable(call())
        initial_threads, initial_blas = running_threads(), blas_controller().info()
        for seconds in (0.02, 0.2):
            start = time.perf_counter()
            with pytest.raises(KeyboardInterrupt):
                call_until_interrupted(call, alarm, seconds)
            assert time.perf_counter() - start < MAX_SECONDS
            while running_threads() - initial_threads and time.perf_counter() - start < MAX_SECONDS:
                time.sleep(0.01)  # a thread that was about to start ends at once
            assert running_threads() <= initial_threads
            assert blas_controller().info() == initial_blas
        np.testing.assert_array_equal(X, data)
        assert comparable(call()) == expected


CALLS_WITH_MANY_ROWS = {
    "compare": "v.compare(X[:9_000], X[9_000:], k='cosine', permutations=99)",
    "compute": "v.compute(X, k='cosine', q=[0, 1, 2, 'inf'], measures=['VS', 'IntDiv'])",
    "compute, estimate": "v.compute(X, k='cosine', method='estimate')",
    "compute, interval": "v.compute(X, k='cosine', ci=0.95)",
    "compute, groups": "v.compute(X, k='cosine', groups=np.arange(18_000) // 10)",
    "explain": "v.explain(X, k='cosine')",
    "group_rewards": "v.group_rewards(X, np.ones(18_000), groups=np.arange(18_000) // 10, "
    "k='cosine')",
    "growth": "v.growth(X, [100, 1000], k='cosine')",
    "report": "v.report(X, k='cosine')",
    "score_X": "v.score_X(X)",
    "score_dual": "v.score_dual(X)",
    "select": "v.select(X, 5, k='cosine')",
    "spectrum": "v.spectrum(v.as_similarity(X, k='cosine'))",
    "State": "v.State.empty(k='cosine').update(X)",
    "GroupState": "v.GroupState('x', groups='of', k='cosine').update(TABLE).compute()",
    "score_batches": "v.score_batches([TABLE], 'x', k='cosine')",
    "select_batches": "v.select_batches([TABLE], 'x', 5, k='cosine')",
    "novelty": "v.novelty(X[:9_000], X[9_000:], k='cosine')",
}
# Functions of matrices, texts, several sets and distances, which use all pairs.
NEEDS_ALL_PAIRS = (
    "as_similarity conditional_score convergence_scale mag_area mag_areas mag_diff "
    "magnitude_dimension magnitude_function magnitude_weights phrases read score score_K sources "
    "spread"
)
CODE = """
import resource, warnings
warnings.simplefilter("ignore")
import numpy as np, vendiscore as v
X = np.random.default_rng(0).standard_normal((18_000, 3)).astype(np.float32)
TABLE = {{"x": X.tolist(), "of": (np.arange(18_000) // 10).tolist()}}
# In single precision K has 1.3 GB.
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 30),) * 2)
{}
"""


def test_memory_cases_cover_public_names():
    covered = {name.partition(",")[0] for name in CALLS_WITH_MANY_ROWS}
    covered |= set(f"{NEEDS_ALL_PAIRS} {NOT_INTERRUPTED}".split())
    assert covered == set(vendiscore.__all__)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are of Linux")
@pytest.mark.parametrize("name", CALLS_WITH_MANY_ROWS)
def test_many_rows_are_scored_without_full_similarity_matrix(name):
    pytest.importorskip("matplotlib")
    process = subprocess.run(
        [sys.executable, "-c", CODE.format(CALLS_WITH_MANY_ROWS[name])],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr[-2000:]
