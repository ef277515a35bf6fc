"""The recipes for other engines, run where these are installed, in two processes if they can."""

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
# Functions of no module, which engines take to their workers as they are.
RECIPES = runpy.run_path(str(ROOT / "examples" / "recipes" / "engines.py"))
GREEDI = runpy.run_path(str(ROOT / "examples" / "recipes" / "greedi.py"))
ALL_ROWS, WITHIN = RECIPES["all_rows"], RECIPES["within_prompts"]

N, D, EACH = 4800, 6, 8
X = np.random.default_rng(0).standard_normal((N, D))
PROMPTS = [f"{i // EACH:04d}" for i in range(N)]
TABLE = pa.table(
    {"x": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), D), "prompt": PROMPTS}
)
CUTS = [0, 1001, 2003, 3098, N]  # none is a multiple of 8: each border cuts a prompt
PARTS = [TABLE[a:b] for a, b in itertools.pairwise(CUTS)]
WHOLE = compute(X, k="cosine")
MEAN = compute(X, k="cosine", prompts=PROMPTS, given_prompt=False)

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of engines, about each other's versions
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
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing leaves the machine
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


def of_dask(dask, folder):
    frame = pytest.importorskip("dask.dataframe")
    return frame.read_parquet([folder / f"{i}.parquet" for i in range(len(PARTS))])


def of_ray(ray, folder):
    return ray.data.from_arrow(PARTS)


def of_spark(spark, folder):
    rows = [(row.tolist(), prompt) for row, prompt in zip(X, PROMPTS, strict=True)]
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, 3), COLUMNS)


COLUMNS = "x array<double>, prompt string"
WORKERS = {"dask": of_dask, "ray": of_ray, "spark": of_spark}


def bits(state):
    return state.compute([0.5, 1, 2])


@pytest.mark.parametrize("engine", WORKERS)
def test_workers_find_the_score_of_all_rows(engine, folder, request):
    rows = WORKERS[engine](request.getfixturevalue(engine), folder)
    state = RECIPES[f"{engine}_state"](rows, ALL_ROWS)
    assert state.n == N
    # Products have other last bits in a worker of another number of threads.
    here = State(k="cosine").merge(*(ALL_ROWS([part]) for part in PARTS))
    assert bits(state) == pytest.approx(bits(here), rel=1e-12)
    assert state.compute() == pytest.approx(WHOLE, rel=1e-12)


@pytest.mark.parametrize("engine", WORKERS)
def test_workers_find_the_mean_within_prompts(engine, folder, request):
    rows = WORKERS[engine](request.getfixturevalue(engine), folder)
    state = RECIPES[f"{engine}_state"](rows, WITHIN)
    assert state.n == N
    assert state.compute() == pytest.approx(MEAN, rel=1e-12)


@pytest.mark.parametrize("engine", WORKERS)
def test_a_killed_worker_loses_no_rows(engine, folder, request, tmp_path):
    rows = WORKERS[engine](request.getfixturevalue(engine), folder)
    mark = str(tmp_path / "killed")
    add = ALL_ROWS

    def killed_once(batches):
        batches = list(batches)
        if batches:
            with contextlib.suppress(FileExistsError), open(mark, "x"):
                os.kill(os.getpid(), signal.SIGKILL)
        return add(batches)

    state = RECIPES[f"{engine}_state"](rows, killed_once)
    assert os.path.exists(mark)
    assert state.n == N
    assert state.compute() == pytest.approx(WHOLE, rel=1e-12)


def test_rows_that_kill_each_worker_are_an_error(dask, folder):
    def killed(batches):
        for batch in batches:
            if len(batch) == CUTS[1]:  # the first partition, whoever takes it
                os.kill(os.getpid(), signal.SIGKILL)
        return ALL_ROWS(batches)

    died = pytest.importorskip("distributed").KilledWorker
    with pytest.raises(died, match="on 4 different workers"):
        RECIPES["dask_state"](of_dask(dask, folder), killed)


def of_duckdb(folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql(f"SELECT x, prompt FROM '{folder}/*.parquet' ORDER BY prompt")


def of_polars(folder):
    return pytest.importorskip("polars").scan_parquet(folder / "*.parquet").sort("prompt")


def of_pyarrow(folder):
    return pytest.importorskip("pyarrow.dataset").dataset(folder)


def of_datasets(folder):
    datasets = pytest.importorskip("datasets")
    files = str(folder / "*.parquet")
    return datasets.load_dataset("parquet", data_files=files, split="train", streaming=True)


def of_daft(folder):
    return pytest.importorskip("daft").read_parquet(f"{folder}/*.parquet").sort("prompt")


ALONE = {
    "duckdb": of_duckdb,
    "polars": of_polars,
    "pyarrow": of_pyarrow,
    "datasets": of_datasets,
    "daft": of_daft,
}


@pytest.mark.parametrize("engine", ALONE)
def test_a_stream_scores_as_all_rows(engine, folder):
    state_of = RECIPES[f"{engine}_state"]
    state = state_of(ALONE[engine](folder), ALL_ROWS)
    assert (state.n, state.compute()) == (N, pytest.approx(WHOLE, rel=1e-12))
    within = state_of(ALONE[engine](folder), WITHIN)
    assert (within.n, within.compute()) == (N, pytest.approx(MEAN, rel=1e-12))


@pytest.mark.parametrize("engine", ["polars", "daft", "spark", "ray"])
def test_whole_objects_are_refused_by_the_name_of_their_recipe(engine, folder, request):
    if engine in ALONE:
        rows = ALONE[engine](folder)
    else:
        rows = WORKERS[engine](request.getfixturevalue(engine), folder)
    doors = [
        lambda: compute(rows, k="cosine"),
        lambda: compute(X, groups=rows, k="cosine"),
        lambda: select(rows, 2, k="cosine"),
        lambda: State(k="cosine").update(rows),
    ]
    for door in doors:
        with pytest.raises(TypeError, match=f"in memory, .* {engine}_state in docs/tasks/large.md"):
            door()


def test_relations_and_eager_frames_are_read(folder):
    numbers = pa.table({f"{j}": X[:, j] for j in range(D)})
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    frames = {
        "relation": duckdb.sql("SELECT * FROM numbers"),
        "frame": polars.DataFrame(numbers),
        "series": polars.DataFrame(TABLE)["x"],
    }
    for name, frame in frames.items():
        assert compute(frame, k="cosine") == pytest.approx(WHOLE, rel=1e-12), name


def clusters(n, d, count, seed=0):
    rng = np.random.default_rng(seed)
    sizes = 1 / np.arange(1, count + 1) ** 1.5
    centres = rng.standard_normal((count, d))
    noise = 0.2 * rng.standard_normal((n, d))
    return centres[rng.choice(count, n, p=sizes / sizes.sum())] + noise


def alone(parts):
    return lambda f, *more: [f(part, *more) for part in parts]


@pytest.mark.parametrize("engine", ["alone", "dask", "ray"])
def test_a_subset_of_partitions_is_nearly_that_of_all_rows(engine, request):
    rows = clusters(3000, 12, 40)
    parts = np.array_split(rows, 4)
    if engine == "alone":
        over = alone(parts)
    if engine == "dask":
        request.getfixturevalue("dask")
        over = GREEDI["over_dask"](parts)
    if engine == "ray":
        ray = request.getfixturevalue("ray")
        over = GREEDI["over_ray"]([ray.put(part) for part in parts])
    result = GREEDI["greedi"](over, 10)
    best = select(rows, 10, k="cosine")
    assert len(result["rows"]) == 10
    assert result["VS"] == pytest.approx(compute(result["rows"], k="cosine")["VS"])
    assert result["VS"] > 0.97 * best.scores[-1]
    assert result["bound"] >= max(result["VS"], best.scores[-1])


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_holds_for_every_choice(seed):
    rows = clusters(9, 4, 5, seed)
    result = GREEDI["greedi"](alone(np.array_split(rows, 2)), 3)
    most = max(
        compute(rows[[*some]], k="cosine")["VS"] for some in itertools.combinations(range(9), 3)
    )
    assert most <= result["bound"] * (1 + 1e-12)


def test_an_index_finds_near_duplicates(capsys):
    pytest.importorskip("faiss")
    runpy.run_path(str(ROOT / "examples" / "recipes" / "near_duplicates.py"))
    assert capsys.readouterr().out == "18000\n"
