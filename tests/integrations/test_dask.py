"""Collections of Dask have the score of their samples, whoever computes it."""

import sys

import numpy as np
import pytest

from vendiscore import (
    MissingPackageError,
    SampleError,
    State,
    as_similarity,
    compare,
    compute,
    explain,
    mag_area,
    score_X,
)
from vendiscore.integrations.dask import score, state

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

X = np.random.default_rng(0).standard_normal((60, 5))
WHOLE = compute(X, k="cosine")
EXACT = 1e-12
TEXTS = ["a", "bb", "banana", "bb", "a cat", "a cat sat"] * 4
FRAME = pd.DataFrame(X, columns=list("abcde"))


def lengths(texts):
    return np.array([[len(text), text.count("a"), 1.0] for text in texts])


COLLECTIONS = {
    "rows": lambda: da.from_array(X, chunks=(7, 5)),
    "rows and columns cut": lambda: da.from_array(X, chunks=(25, 2)),
    "one chunk": lambda: da.from_array(X, chunks=60),
    "unknown sizes": lambda: da.from_array(np.vstack([X, -9 + 0 * X[:3]]), chunks=(9, 5))[
        da.from_array(np.r_[np.ones(60, bool), np.zeros(3, bool)], chunks=9)
    ],
    "dataframe": lambda: dd.from_pandas(FRAME, npartitions=4),
    "some columns": lambda: dd.from_pandas(FRAME.assign(t="x"), npartitions=3)[list("abcde")],
    "empty partitions": lambda: dd.from_pandas(
        pd.concat([FRAME, -FRAME - 9]).reset_index(drop=True), npartitions=6
    ).loc[:59],
    "nobody left in a partition": lambda: dd.from_pandas(
        FRAME.assign(i=range(60)), npartitions=4
    ).query("i < 60")[list("abcde")],
    "bag": lambda: db.from_sequence(X.tolist(), npartitions=7),
    "bag of arrays": lambda: db.from_sequence(list(X), partition_size=8),
    "empty bags": lambda: db.concat(
        [db.from_sequence(list(X)), db.from_sequence([None]).filter(bool)]
    ),
    "delayed": lambda: [dask.delayed(X[:20]), dask.delayed(X[20:].tolist())],
}


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_a_collection_has_the_score_of_its_samples(kind):
    collection = COLLECTIONS[kind]()
    found = state(collection, k="cosine", split_every=2)
    assert type(found).__name__ in ("Delayed", "DelayedLeaf")
    found = found.compute()
    assert (found.n, found.d) == (60, 5)
    assert found.compute() == pytest.approx(WHOLE, rel=EXACT)
    assert score(collection, [0.5, 2], k="cosine") == pytest.approx(
        compute(X, k="cosine", q=[0.5, 2]), rel=EXACT
    )


@pytest.mark.parametrize("scheduler", ["threads", "sync"])
def test_whichever_scheduler_is_set_computes_it(scheduler):
    with dask.config.set(scheduler=scheduler):
        found = score(da.from_array(X, chunks=(7, 5)), k="cosine", details=True)
    assert found["VS"] == pytest.approx(WHOLE["VS"], rel=EXACT)
    assert found["details"]["n"] == 60


@pytest.mark.parametrize("split_every", [2, 3, 100])
def test_sums_are_merged_as_a_tree(split_every):
    graph = state(da.from_array(X, chunks=(1, 5)), k="cosine", split_every=split_every)
    merges = [key for key in dict(graph.__dask_graph__()) if "_merged" in str(key)]
    expected, left = 0, 60
    while left > 1:
        left = -(-left // split_every)
        expected += left
    assert len(merges) == expected
    assert graph.compute().compute() == pytest.approx(WHOLE, rel=EXACT)


def test_one_column_of_text_goes_to_its_model():
    how = {"k": "text_embeddings", "model": lengths}
    whole = compute(TEXTS, **how)
    frame = dd.from_pandas(pd.DataFrame({"t": TEXTS, "x": 1.0}), npartitions=3)
    for collection in (frame["t"], frame[["t"]], db.from_sequence(TEXTS, npartitions=3)):
        assert score(collection, **how) == pytest.approx(whole, rel=EXACT)
    with pytest.raises(TypeError, match=r"numeric columns only, or one column, got 't' among 2"):
        state(frame, **how)
    numbers = score(frame["x"], k="cosine")
    assert numbers == {"VS": pytest.approx(1)}


def test_images_of_an_array_go_to_their_kernel():
    pytest.importorskip("PIL")
    images = np.random.default_rng(0).integers(1, 255, (9, 4, 4, 3), dtype=np.uint8)
    found = score(da.from_array(images, chunks=(2, 2, 4, 1)), k="pixels", size=2)
    assert found == pytest.approx(compute(images, k="pixels", size=2), rel=EXACT)


def test_what_is_wrong_is_said_at_once_or_by_partition():
    collection = da.from_array(X, chunks=(7, 5))
    with pytest.raises(ValueError, match="`k` is missing: a state needs a kernel"):
        state(collection)
    with pytest.raises(ValueError, match="`split_every` must be an integer of at least 2, got 1"):
        state(collection, k="cosine", split_every=1)
    with pytest.raises(
        TypeError, match=r"of Dask, or a list of Delayed, got ndarray; pass samples"
    ):
        state(X, k="cosine")
    broken = X.copy()
    broken[33] = np.nan
    with pytest.raises(SampleError, match="sample 3 of `samples` must be finite") as caught:
        score(da.from_array(broken, chunks=(10, 5)), k="cosine")
    assert caught.value.__notes__[-1] == "in partition 3"
    nothing = dd.from_pandas(FRAME, npartitions=2).query("a > 1e9")
    with pytest.raises(ValueError, match="needs samples, and none were added"):
        score(nothing, k="cosine")
    assert state([], k="cosine").compute().n == 0


def test_dask_is_asked_for_only_here(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingPackageError, match=r"needs the package 'dask', .*pip install dask"):
        state([], k="cosine")


@pytest.mark.filterwarnings("ignore")  # of a cluster that starts and stops
def test_two_workers_of_a_cluster_find_the_same_number():
    distributed = pytest.importorskip("distributed")
    dask.config.set({"distributed.comm.timeouts.connect": "60s"})
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(**options, processes=True) as cluster,
        distributed.Client(cluster),
    ):
        found = state(da.from_array(X, chunks=(7, 5)), k="cosine").compute()
        workers = set(distributed.default_client().run(lambda: __import__("os").getpid()).values())
    assert isinstance(found, State)
    assert len(workers) == 2
    assert found.compute() == pytest.approx(WHOLE, rel=EXACT)


DOORS = {
    "compute": lambda samples: compute(samples, k="cosine"),
    "as_similarity": lambda samples: as_similarity(samples, k="cosine"),
    "explain": lambda samples: explain(samples, k="cosine"),
    "compare": lambda samples: compare({"one": X, "samples": samples}, k="cosine"),
    "mag_area": mag_area,
    "score_X": score_X,
    "State": lambda samples: State.empty(k="cosine").update(samples),
    "references": lambda samples: compute(X, references=samples, k="cosine", measures="MMD"),
    "groups": lambda samples: compute(X, k="cosine", groups=samples),
    "p": lambda samples: compute(X, k="cosine", p=samples),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", ["rows", "dataframe", "bag"])
def test_no_call_gathers_a_collection_in_memory(door, kind):
    collection = COLLECTIONS[kind]()
    refusal = r"must be in memory, got dask.*\.compute\(\).*dask\.score"
    with dask.config.set(scheduler=nobody_computes), pytest.raises(TypeError, match=refusal):
        DOORS[door](collection)


def nobody_computes(*_, **__):
    raise AssertionError("gathered")


def test_labelled_arrays_are_read_if_they_are_in_memory():
    xarray = pytest.importorskip("xarray")
    assert compute(xarray.DataArray(X), k="cosine") == pytest.approx(WHOLE, rel=EXACT)
    with pytest.raises(TypeError, match=r"must be in memory, got xarray.*\.compute\(\)"):
        compute(xarray.DataArray(X).chunk(10), k="cosine")


@pytest.mark.parametrize("batches", [[], [[]], [X]])
def test_a_state_that_is_updated_leaves_its_graph_alone(batches):
    pieces = [dask.delayed(each) for each in batches]
    delayed = state(pieces, k="cosine")
    n = delayed.compute(scheduler="sync").n
    assert delayed.compute(scheduler="sync").update(X).n == n + len(X)
    assert delayed.compute(scheduler="sync").n == n
