"""Data of query engines are scored like data in memory; Dask runs in threads of this process."""

import pickle
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from vendiscore import GroupState, SampleError, State, compute, encoder, score_batches, select
from vendiscore.encoders import sample_encoder
from vendiscore.tools.streams import engines as module
from vendiscore.tools.streams.batches import StateReduction

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).resolve().parents[3]
RECIPES = runpy.run_path(str(ROOT / "examples" / "recipes" / "engines.py"))["READERS"]

import engine_tables  # noqa: E402

N = 480
X, TEXTS, PROMPTS, TABLE = engine_tables.build_engine_table(N)
# Rows at which the table is split. Most ends split a prompt, and some parts are empty.
PARTITIONINGS = {
    "one part": [0, N],
    "split prompts": [0, 101, 203, 309, N],
    "empty parts": [0, 0, 5, 5, 6, 250, 250, 251, N, N],
}
Q = [0.5, 1, 2]
SCORES = compute(X, k="cosine", q=Q)
GROUPED_SCORES = compute(X, k="cosine", q=Q, prompts=PROMPTS, ci=0.9)
TEXT_SCORES = compute(TEXTS, prompts=PROMPTS, q=Q)


def split_table(ends, mixed=False):
    return engine_tables.split_table(TABLE, ends, mixed)


@pytest.fixture(params=PARTITIONINGS)
def folder(request, tmp_path):
    """A folder of Parquet files, one per part."""
    for i, part in enumerate(split_table(PARTITIONINGS[request.param])):
        pq.write_table(part, tmp_path / f"{i}.parquet")
    return tmp_path


def read_duckdb(folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql(f"SELECT * FROM '{folder}/*.parquet' ORDER BY prompt, row")


def read_polars(folder):
    return pytest.importorskip("polars").scan_parquet(folder / "*.parquet").sort("prompt", "row")


def read_pyarrow(folder):
    return pytest.importorskip("pyarrow.dataset").dataset(folder)


def read_datasets(folder):
    datasets = pytest.importorskip("datasets")
    # datasets cannot read a Parquet file without rows.
    paths = sorted(folder.glob("*.parquet"))
    files = [str(path) for path in paths if pq.read_metadata(path).num_rows]
    return datasets.load_dataset(
        "parquet", data_files=files, split="train", streaming=True, cache_dir=folder / "cache"
    )


def read_datasets_in_memory(folder):
    return pytest.importorskip("datasets").Dataset(pq.read_table(folder))


def read_daft(folder):
    return pytest.importorskip("daft").read_parquet(f"{folder}/*.parquet").sort(["prompt", "row"])


def read_dask(folder):
    dask_frame = pytest.importorskip("dask.dataframe")
    return dask_frame.read_parquet(sorted(folder.glob("*.parquet")))


READERS = {
    "duckdb": read_duckdb,
    "polars": read_polars,
    "pyarrow": read_pyarrow,
    "datasets": read_datasets,
    "datasets in memory": read_datasets_in_memory,
    "daft": read_daft,
    "dask": read_dask,
}
EACH_ENGINE = pytest.mark.parametrize("engine", READERS)
# Engines warn about versions of other packages.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.whole]


@EACH_ENGINE
def test_score_equals_that_of_all_rows_in_memory(engine, folder):
    read = READERS[engine]
    result = score_batches(read(folder), "x", k="cosine", q=Q)
    assert result == pytest.approx(SCORES, rel=1e-12)
    result = score_batches(read(folder), "x", prompts="prompt", k="cosine", q=Q, ci=0.9)
    assert result == pytest.approx(GROUPED_SCORES, rel=1e-12)
    assert score_batches(read(folder), "text", prompts="prompt", q=Q) == pytest.approx(
        TEXT_SCORES, rel=1e-12
    )


@pytest.mark.parametrize("name", sorted({*RECIPES} - {"ray", "spark"}))
def test_recipes_read_folders(name, folder):
    pytest.importorskip(name)
    if name == "datasets":
        for path in folder.glob("*.parquet"):
            if not pq.read_metadata(path).num_rows:
                path.unlink()
    data = RECIPES[name](folder, "prompt")
    result = score_batches(data, "x", prompts="prompt", k="cosine", q=Q, ci=0.9)
    assert result == pytest.approx(GROUPED_SCORES, rel=1e-12)


@EACH_ENGINE
def test_missing_column_is_named(engine, folder):
    data = READERS[engine](folder)
    with pytest.raises(ValueError, match=r"no column 'txt'. Did you mean 'text'"):
        score_batches(data, "txt", prompts="prompt")


def test_engines_are_recognized_by_the_class_without_being_imported():
    calls = []
    adapters = {("engine", "Frame"): calls.append}
    frame_class = type("Frame", (), {"__module__": "engine.frames"})
    subclass = type("UserFrame", (frame_class,), {"__module__": "user"})
    for data in (frame_class(), subclass()):
        assert module._find_adapter(data, adapters) == calls.append
    for name, package in (("Frame", "user"), ("Series", "engine.frames"), ("Frame", "engines")):
        assert module._find_adapter(type(name, (), {"__module__": package})(), adapters) is None
    script = """if True:
        import sys
        from vendiscore import score_batches
        print(score_batches([{"x": [[1.0, 0.0], [0.0, 1.0]]}], "x", k="cosine"))
        engines = {"dask", "ray", "pyspark", "duckdb", "polars", "datasets", "daft"}
        print(engines & {*sys.modules})
    """
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["{'VS': 2.0}", "set()"]


def dask_frame_of(parts):
    dask_frame = pytest.importorskip("dask.dataframe")
    frames = [part.to_pandas() for part in parts]
    meta = frames[0].iloc[:0]
    # Otherwise Dask converts vectors to strings.
    with pytest.importorskip("dask").config.set({"dataframe.convert-string": False}):
        return dask_frame.from_map(lambda frame: frame, frames, meta=meta)


@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_partitions_may_have_different_schemas(partitioning):
    frame = dask_frame_of(split_table(PARTITIONINGS[partitioning], mixed=True))
    assert score_batches(frame, "x", k="cosine", q=Q) == pytest.approx(SCORES, rel=1e-12)
    result = score_batches(frame, "text", prompts="prompt", q=Q)
    assert result == pytest.approx(TEXT_SCORES, rel=1e-12)


def test_many_partitions_are_merged_in_order():
    frame = dask_frame_of(split_table(range(0, N + 1, 5)))  # three levels
    details = score_batches(frame, "x", prompts="prompt", k="cosine", details=True)["details"]
    assert details["n"] == N
    assert [row["group"] for row in details["groups"]] == list(dict.fromkeys(PROMPTS))


def test_no_task_receives_more_than_eight_states():
    pytest.importorskip("dask")
    sizes = []

    class CountingReduction(StateReduction):
        def merge(self, results):
            sizes.append(len(results))
            return super().merge(results)

    reduction = CountingReduction(State(k="cosine"), "x", ["x"], {})
    state = module.reduce_data(dask_frame_of(split_table(range(0, N + 1, 5))), ["x"], reduction)
    assert state.n == N
    assert len(sizes) == 12 + 2 + 1
    assert max(sizes) == 8


def count_letters(texts):
    return [[1.0, *(text.count(letter) for letter in "aeost")] for text in texts]


@pytest.mark.parametrize("prompts", [None, "prompt"])
def test_model_is_not_part_of_the_results_of_partitions(prompts):
    embed = encoder(model=count_letters)
    embed.weights = np.zeros(10**6)
    columns = ["text"] if prompts is None else ["text", prompts]
    options = {"k": "text_embeddings", "model": embed}
    empty = State(**options)
    if prompts is not None:
        empty = GroupState("text", prompts=prompts, **options)
    reduction = StateReduction(empty, "text", columns, {"model": embed})
    parts = [module._compute(reduction, [part]) for part in split_table([0, 101, 203, N])]
    assert max(map(len, parts)) < 50_000
    state, _ = module._load(reduction, module._merge(reduction, parts))
    expected = compute(TEXTS, **options, prompts=prompts and PROMPTS)
    assert state.compute() == pytest.approx(expected, rel=1e-12)
    assert len(pickle.dumps(reduction)) > 8e6  # each worker receives the model


@EACH_ENGINE
def test_models_embed_texts(engine, folder):
    options = {"k": "text_embeddings", "model": count_letters}
    result = score_batches(READERS[engine](folder), "text", **options)
    assert result == pytest.approx(compute(TEXTS, **options), rel=1e-12)


def test_static_model_is_loaded_once_per_partition(monkeypatch):
    pytest.importorskip("tokenizers")
    if find_spec("wordllama") is None:
        pytest.skip("wordllama is not installed")

    loaded = []

    class CountedModel(sample_encoder.StaticModel):
        def __init__(self, *arguments):
            loaded.append(arguments)
            super().__init__(*arguments)

    options = {"k": "static"}
    expected = compute(TEXTS, **options)
    monkeypatch.setattr(sample_encoder, "StaticModel", CountedModel)
    monkeypatch.setattr(module, "BATCH_ROWS", 50)
    result = score_batches(TABLE.to_batches(50), "text", **options)
    assert result == pytest.approx(expected, rel=1e-12)
    assert len(loaded) == 1
    frame = dask_frame_of(split_table([0, 101, 203, N]))
    assert score_batches(frame, "text", **options) == pytest.approx(expected, rel=1e-12)
    assert 1 < len(loaded) <= 1 + 3
    loaded.clear()
    for _ in range(2):  # not kept after the call
        compute(TEXTS[:5], **options)
    assert len(loaded) == 2


def test_warnings_of_workers_are_emitted_here():
    table = pa.table({"x": [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0]] * 5})
    frame = dask_frame_of([table[:7], table[7:]])
    with pytest.warns(UserWarning, match="dropped 3 of 7 samples") as caught:
        result = score_batches(frame, "x", k="cosine", on_error="skip")
    dropped = [w for w in caught if "dropped" in str(w.message)]
    assert len(dropped) == 1
    assert "dropped 7 of 13 samples" in str(dropped[0].message)
    expected = compute(np.array(table["x"].to_pylist())[::2], k="cosine")
    assert result == pytest.approx(expected, rel=1e-12)


def test_errors_of_workers_are_raised_here():
    table = pa.table({"x": [[1.0, 0.0], None, [1.0, 1.0]]})
    with pytest.raises(SampleError, match="sample 1 of `samples` must be a row of numbers"):
        score_batches(dask_frame_of([table[:0], table]), "x", k="cosine")
    with pytest.raises(ValueError, match=r"'000[01]' occurs again after another group"):
        score_batches(dask_frame_of([TABLE[:16], TABLE[:16]]), "x", prompts="prompt", k="cosine")


def test_dask_frame_with_vectors_as_strings_raises_with_a_hint():
    dask_frame = pytest.importorskip("dask.dataframe")
    frame = dask_frame.from_pandas(TABLE.to_pandas(), npartitions=2)
    with pytest.raises(SampleError, match="got str") as caught:
        score_batches(frame, "x", k="cosine")
    assert any("'dataframe.convert-string': False" in note for note in caught.value.__notes__)


def test_data_without_rows_raise():
    with pytest.raises(ValueError, match="requires samples, but none were added"):
        score_batches(dask_frame_of([TABLE[:0], TABLE[:0]]), "x", k="cosine")


@pytest.mark.parametrize("engine", ["polars", "daft", "dask"])
@pytest.mark.parametrize("call", ["compute", "groups", "select", "State"])
def test_functions_that_need_samples_in_memory_show_the_call(engine, call, tmp_path):
    pq.write_table(TABLE, tmp_path / "0.parquet")
    rows = READERS[engine](tmp_path)
    calls = {
        "compute": lambda: compute(rows, k="cosine"),
        "groups": lambda: compute(X, groups=rows, k="cosine"),
        "select": lambda: select(rows, 2, k="cosine"),
        "State": lambda: State(k="cosine").update(rows),
    }
    labels = ', groups="label"' if call == "groups" else ""
    with pytest.raises(TypeError) as caught:
        calls[call]()
    assert f'vendiscore.score_batches(frame, "x"{labels}, k="cosine")' in str(caught.value)


def test_eager_frames_and_relations_are_accepted_by_compute():
    arrow_table = pa.table({f"{j}": X[:, j] for j in range(X.shape[1])})
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    frames = {
        "relation": duckdb.sql("SELECT * FROM arrow_table"),
        "frame": polars.DataFrame(arrow_table),
        "series": polars.DataFrame(TABLE)["x"],
    }
    for name, frame in frames.items():
        assert compute(frame, k="cosine", q=Q) == pytest.approx(SCORES, rel=1e-12), name
