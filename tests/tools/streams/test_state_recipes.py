"""Recipes for other engines, run with two workers if the engine is installed."""

import contextlib
import itertools
import os
import runpy
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from vendiscore import State, compute, select

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).resolve().parents[3]
# `run_path` defines functions without a module, so engines pickle them by value.
RECIPES = runpy.run_path(str(ROOT / "examples" / "recipes" / "engines.py"))
GREEDI = runpy.run_path(str(ROOT / "examples" / "recipes" / "greedi.py"))
ALL_ROWS, WITHIN_PROMPTS = RECIPES["all_rows"], RECIPES["within_prompts"]

N, D, GROUP_SIZE = 4800, 6, 8
X = np.random.default_rng(0).standard_normal((N, D))
PROMPTS = [f"{i // GROUP_SIZE:04d}" for i in range(N)]
TABLE = pa.table(
    {"x": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), D), "prompt": PROMPTS}
)
CUTS = [0, 1001, 2003, 3098, N]  # none is a multiple of 8: each boundary splits a prompt
PARTS = [TABLE[a:b] for a, b in itertools.pairwise(CUTS)]
SCORES = compute(X, k="cosine")
GROUPED_SCORES = compute(X, k="cosine", prompts=PROMPTS, given_prompt=False)

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # engines warn about versions of other packages
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for i, part in enumerate(PARTS):
        pq.write_table(part, folder / f"{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def dask():
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        yield dask


@pytest.fixture(scope="module")
def ray():
    pytest.importorskip("ray.data", exc_type=ImportError)
    ray = pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no telemetry
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs a Java runtime")
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = sql.SparkSession.builder.master("local[2,4]")  # a task may fail three times
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


def read_dask(dask, folder):
    frame = pytest.importorskip("dask.dataframe")
    return frame.read_parquet([folder / f"{i}.parquet" for i in range(len(PARTS))])


def read_ray(ray, folder):
    return ray.data.from_arrow(PARTS)


def read_spark(spark, folder):
    rows = [(row.tolist(), prompt) for row, prompt in zip(X, PROMPTS, strict=True)]
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, 3), COLUMNS)


COLUMNS = "x array<double>, prompt string"
DISTRIBUTED_READERS = {"dask": read_dask, "ray": read_ray, "spark": read_spark}


def scores_by_order(state):
    return state.compute([0.5, 1, 2])


@pytest.mark.parametrize("engine", DISTRIBUTED_READERS)
def test_distributed_state_gives_the_score_of_all_rows(engine, folder, request):
    rows = DISTRIBUTED_READERS[engine](request.getfixturevalue(engine), folder)
    state = RECIPES[f"{engine}_state"](rows, ALL_ROWS)
    assert state.n == N
    # Matrix products differ in the last bits if workers use another number of threads.
    local = State(k="cosine").merge(*(ALL_ROWS([part]) for part in PARTS))
    assert scores_by_order(state) == pytest.approx(scores_by_order(local), rel=1e-12)
    assert state.compute() == pytest.approx(SCORES, rel=1e-12)


@pytest.mark.parametrize("engine", DISTRIBUTED_READERS)
def test_distributed_state_gives_the_mean_within_prompts(engine, folder, request):
    rows = DISTRIBUTED_READERS[engine](request.getfixturevalue(engine), folder)
    state = RECIPES[f"{engine}_state"](rows, WITHIN_PROMPTS)
    assert state.n == N
    assert state.compute() == pytest.approx(GROUPED_SCORES, rel=1e-12)


@pytest.mark.parametrize("engine", DISTRIBUTED_READERS)
def test_killed_worker_loses_no_rows(engine, folder, request, tmp_path):
    rows = DISTRIBUTED_READERS[engine](request.getfixturevalue(engine), folder)
    marker_file = str(tmp_path / "killed")
    add = ALL_ROWS

    def kill_once(batches):
        batches = list(batches)
        if batches:
            with contextlib.suppress(FileExistsError), open(marker_file, "x"):
                os.kill(os.getpid(), signal.SIGKILL)
        return add(batches)

    state = RECIPES[f"{engine}_state"](rows, kill_once)
    assert os.path.exists(marker_file)
    assert state.n == N
    assert state.compute() == pytest.approx(SCORES, rel=1e-12)


def test_rows_that_kill_every_worker_raise(dask, folder):
    def kill_always(batches):
        for batch in batches:
            if len(batch) == CUTS[1]:  # the first partition, in any worker
                os.kill(os.getpid(), signal.SIGKILL)
        return ALL_ROWS(batches)

    killed_worker_error = pytest.importorskip("distributed").KilledWorker
    with pytest.raises(killed_worker_error, match="on 4 different workers"):
        RECIPES["dask_state"](read_dask(dask, folder), kill_always)


def read_duckdb(folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql(f"SELECT x, prompt FROM '{folder}/*.parquet' ORDER BY prompt")


def read_polars(folder):
    return pytest.importorskip("polars").scan_parquet(folder / "*.parquet").sort("prompt")


def read_pyarrow(folder):
    return pytest.importorskip("pyarrow.dataset").dataset(folder)


def read_datasets(folder):
    datasets = pytest.importorskip("datasets")
    files = str(folder / "*.parquet")
    return datasets.load_dataset("parquet", data_files=files, split="train", streaming=True)


def read_daft(folder):
    return pytest.importorskip("daft").read_parquet(f"{folder}/*.parquet").sort("prompt")


LOCAL_READERS = {
    "duckdb": read_duckdb,
    "polars": read_polars,
    "pyarrow": read_pyarrow,
    "datasets": read_datasets,
    "daft": read_daft,
}


@pytest.mark.parametrize("engine", LOCAL_READERS)
def test_stream_gives_the_score_of_all_rows(engine, folder):
    build_state = RECIPES[f"{engine}_state"]
    state = build_state(LOCAL_READERS[engine](folder), ALL_ROWS)
    assert (state.n, state.compute()) == (N, pytest.approx(SCORES, rel=1e-12))
    grouped = build_state(LOCAL_READERS[engine](folder), WITHIN_PROMPTS)
    assert (grouped.n, grouped.compute()) == (N, pytest.approx(GROUPED_SCORES, rel=1e-12))


@pytest.mark.parametrize("engine", ["polars", "daft", "spark", "ray"])
def test_lazy_tables_raise_and_name_their_recipe(engine, folder, request):
    if engine in LOCAL_READERS:
        rows = LOCAL_READERS[engine](folder)
    else:
        rows = DISTRIBUTED_READERS[engine](request.getfixturevalue(engine), folder)
    calls = [
        lambda: compute(rows, k="cosine"),
        lambda: compute(X, groups=rows, k="cosine"),
        lambda: select(rows, 2, k="cosine"),
        lambda: State(k="cosine").update(rows),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=f"in memory, .* {engine}_state in docs/tasks/large.md"):
            call()


def test_relations_and_eager_frames_are_accepted(folder):
    arrow_table = pa.table({f"{j}": X[:, j] for j in range(D)})
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    frames = {
        "relation": duckdb.sql("SELECT * FROM arrow_table"),
        "frame": polars.DataFrame(arrow_table),
        "series": polars.DataFrame(TABLE)["x"],
    }
    for name, frame in frames.items():
        assert compute(frame, k="cosine") == pytest.approx(SCORES, rel=1e-12), name


def draw_clusters(n, d, count, seed=0):
    rng = np.random.default_rng(seed)
    sizes = 1 / np.arange(1, count + 1) ** 1.5
    centres = rng.standard_normal((count, d))
    noise = 0.2 * rng.standard_normal((n, d))
    return centres[rng.choice(count, n, p=sizes / sizes.sum())] + noise


def apply_to_parts(parts):
    return lambda f, *more: [f(part, *more) for part in parts]


@pytest.mark.parametrize("engine", ["local", "dask", "ray"])
def test_greedi_selection_is_nearly_as_good_as_select(engine, request):
    rows = draw_clusters(3000, 12, 40)
    parts = np.array_split(rows, 4)
    if engine == "local":
        apply = apply_to_parts(parts)
    if engine == "dask":
        request.getfixturevalue("dask")
        apply = GREEDI["over_dask"](parts)
    if engine == "ray":
        ray = request.getfixturevalue("ray")
        apply = GREEDI["over_ray"]([ray.put(part) for part in parts])
    result = GREEDI["greedi"](apply, 10)
    centralized = select(rows, 10, k="cosine")
    assert len(result["rows"]) == 10
    assert result["VS"] == pytest.approx(compute(result["rows"], k="cosine")["VS"])
    assert result["VS"] > 0.97 * centralized.scores[-1]
    assert result["bound"] >= max(result["VS"], centralized.scores[-1])


@pytest.mark.parametrize("seed", range(5))
def test_greedi_bound_exceeds_all_selections(seed):
    rows = draw_clusters(9, 4, 5, seed)
    result = GREEDI["greedi"](apply_to_parts(np.array_split(rows, 2)), 3)
    maximum = max(
        compute(rows[[*indices]], k="cosine")["VS"]
        for indices in itertools.combinations(range(9), 3)
    )
    assert maximum <= result["bound"] * (1 + 1e-12)


def test_near_duplicate_recipe_counts_duplicates(capsys):
    pytest.importorskip("faiss")
    runpy.run_path(str(ROOT / "examples" / "recipes" / "near_duplicates.py"))
    assert capsys.readouterr().out == "18000\n"
