"""Data of engines with workers, on local clusters of two workers.

Starting the clusters takes minutes, so these tests run only if VENDISCORE_CLUSTERS is set.
"""

import contextlib
import itertools
import os
import shutil
import signal
import sys

import numpy as np
import pytest

from vendiscore import SampleError, compute, score_batches, select, select_batches

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import engine_tables  # noqa: E402

N = 4800
X, TEXTS, PROMPTS, TABLE = engine_tables.build_engine_table(N)
TABLE = TABLE.drop_columns("row")
# Rows at which the table is split. Most ends split a prompt, and some parts are empty.
PARTITIONINGS = {
    "one part": [0, N],
    "split prompts": [0, 1001, 2003, 3098, N],
    "empty parts": [0, 0, 5, 5, 6, 2500, 2500, 2501, N, N],
}
MANY_PARTS = [*range(0, N, 93), N]  # more than Spark merges at once
Q = [0.5, 1, 2]
SCORES = compute(X, k="cosine", q=Q)
GROUPED_SCORES = compute(X, k="cosine", q=Q, prompts=PROMPTS, ci=0.9)
TEXT_SCORES = compute(TEXTS, prompts=PROMPTS, q=Q)

pytestmark = [
    pytest.mark.skipif(
        "VENDISCORE_CLUSTERS" not in os.environ, reason="VENDISCORE_CLUSTERS is not set"
    ),
    pytest.mark.filterwarnings("default"),  # engines warn about versions of other packages
    pytest.mark.slow,
    pytest.mark.whole,
]


def split_table(ends, mixed=True):
    return engine_tables.split_table(TABLE, ends, mixed)


class Dask:
    """Partitions of pandas with different schemas, on a cluster with two processes."""

    def __init__(self):
        self.dask = pytest.importorskip("dask")
        self.frames = pytest.importorskip("dask.dataframe")
        distributed = pytest.importorskip("distributed")
        self.client = distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None)

    def read(self, ends):
        parts = [part.to_pandas() for part in split_table(ends)]
        # Otherwise Dask converts vectors to strings.
        with self.dask.config.set({"dataframe.convert-string": False}):
            return self.frames.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])

    def close(self):
        self.client.close()


class Ray:
    """Blocks of Arrow with different schemas."""

    def __init__(self):
        pytest.importorskip("ray.data", exc_type=ImportError)
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no telemetry
        self.ray = pytest.importorskip("ray")
        self.ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

    def read(self, ends):
        return self.ray.data.from_arrow(split_table(ends))

    def close(self):
        self.ray.shutdown()


class Spark:
    """A union of data frames with different orders of columns; Spark casts their types."""

    def __init__(self):
        sql = pytest.importorskip("pyspark.sql")
        if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            pytest.skip("Spark needs a Java runtime")
        os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        builder = sql.SparkSession.builder.master("local[2,4]")  # a task may fail three times
        # By default, a shuffle has 200 tasks.
        builder = builder.config("spark.sql.shuffle.partitions", "4")
        self.session = builder.config("spark.ui.enabled", "false").getOrCreate()

    def read(self, ends):
        bounds = [*itertools.pairwise(ends)]

        def make_rows(index, _):
            for i in range(*bounds[index]):
                yield X[i].tolist(), TEXTS[i], PROMPTS[i]

        context = self.session.sparkContext
        rows = context.parallelize(range(len(bounds)), len(bounds)).mapPartitionsWithIndex(
            make_rows
        )
        return self.session.createDataFrame(rows, "x array<double>, text string, prompt string")

    def close(self):
        self.session.stop()


ENGINES = {"dask": Dask, "ray": Ray, "spark": Spark}


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    """One cluster at a time."""
    engine = ENGINES[request.param]()
    yield engine
    engine.close()


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_score_equals_that_of_all_rows_in_memory(engine, partitioning):
    data = engine.read(PARTITIONINGS[partitioning])
    result = score_batches(data, "x", k="cosine", q=Q, details=True)
    assert result.pop("details")["n"] == N
    assert result == pytest.approx(SCORES, rel=1e-12)
    result = score_batches(data, "x", prompts="prompt", k="cosine", q=Q, ci=0.9)
    assert result == pytest.approx(GROUPED_SCORES, rel=1e-12)
    result = score_batches(data, "text", prompts="prompt", q=Q)
    assert result == pytest.approx(TEXT_SCORES, rel=1e-12)


def test_many_partitions_are_merged_in_order(engine):
    details = score_batches(
        engine.read(MANY_PARTS), "x", prompts="prompt", k="cosine", details=True
    )["details"]
    assert details["n"] == N
    assert [row["group"] for row in details["groups"]] == list(dict.fromkeys(PROMPTS))


def test_static_model_embeds_on_workers(engine):
    pytest.importorskip("wordllama")
    data = engine.read(PARTITIONINGS["split prompts"])
    expected = compute(TEXTS, k="static")
    assert score_batches(data, "text", k="static") == pytest.approx(expected, rel=1e-12)
    expected = compute(TEXTS, k="static", prompts=PROMPTS)
    result = score_batches(data, "text", prompts="prompt", k="static")
    assert result == pytest.approx(expected, rel=1e-12)


def make_model(log, fail=None):
    """Return a model that writes the number of its process to the folder `log`.

    With `fail`, it first calls this function once.
    """

    def embed(texts):
        with contextlib.suppress(FileExistsError):
            open(log / str(os.getpid()), "x").close()
        if fail is not None:
            with contextlib.suppress(FileExistsError), open(log / "failed", "x"):
                fail()
        return [[1.0, *(text.count(letter) for letter in "aeostn0123")] for text in texts]

    return embed


def test_models_embed_in_processes_of_workers(engine, tmp_path):
    model = make_model(tmp_path)
    result = score_batches(engine.read(MANY_PARTS), "text", k="text_embeddings", model=model)
    processes = {path.name for path in tmp_path.iterdir()}
    assert len(processes) >= 2
    assert str(os.getpid()) not in processes
    expected = compute(TEXTS, k="text_embeddings", model=model)
    assert result == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("prompts", [None, "prompt"])
def test_killed_worker_loses_no_rows(engine, tmp_path, prompts):
    def kill():
        os.kill(os.getpid(), signal.SIGKILL)

    options = {"k": "text_embeddings", "model": make_model(tmp_path, kill), "q": Q}
    data = engine.read(PARTITIONINGS["split prompts"])
    result = score_batches(data, "text", prompts=prompts, details=True, **options)
    assert (tmp_path / "failed").exists()
    assert result.pop("details")["n"] == N
    expected = compute(TEXTS, prompts=prompts and PROMPTS, **options)
    assert result == pytest.approx(expected, rel=1e-12)


def test_selection_from_partitions_is_nearly_as_good_as_in_memory(engine):
    data = engine.read(PARTITIONINGS["split prompts"])
    result = select_batches(data, "x", 5, keep=["prompt"], k="cosine")
    assert np.array_equal(result.rows["x"].to_pylist(), X[result.places])
    assert result.rows["prompt"].to_pylist() == [PROMPTS[i] for i in result]
    expected = select(X, 5, k="cosine").scores[-1]
    assert 0.95 * expected < result.scores[-1] <= result.bound
    assert expected <= result.bound


def test_errors_of_workers_are_raised_here(engine):
    data = engine.read(PARTITIONINGS["split prompts"])
    expected = SampleError
    if isinstance(engine, Spark):
        expected = pytest.importorskip("pyspark.errors").PythonException
    with pytest.raises(expected, match="of `samples` must be a row of numbers"):
        score_batches(data, "text", k="cosine")
    with pytest.raises(ValueError, match="no column 'y'"):
        score_batches(data, "y", k="cosine")


def test_functions_that_need_samples_in_memory_show_the_call(engine):
    data = engine.read(PARTITIONINGS["one part"])
    with pytest.raises(TypeError, match=r'vendiscore\.score_batches\(frame, "x", k="cosine"\)'):
        compute(data, k="cosine")
