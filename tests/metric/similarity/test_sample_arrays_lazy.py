"""Dask and lazy xarray collections are rejected without loading them into memory."""

import re

import numpy as np
import pytest

from vendiscore import State, as_similarity, compare, compute, explain, mag_area, score_X, select

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

X = np.random.default_rng(0).standard_normal((60, 5))
COLLECTIONS = {
    "rows": lambda: da.from_array(X, chunks=(7, 5)),
    "dataframe": lambda: dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=4),
    "bag": lambda: db.from_sequence(X.tolist(), npartitions=7),
}
CALLS = {
    "compute": lambda samples: compute(samples, k="cosine"),
    "as_similarity": lambda samples: as_similarity(samples, k="cosine"),
    "explain": lambda samples: explain(samples, k="cosine"),
    "select": lambda samples: select(samples, 2, k="cosine"),
    "compare": lambda samples: compare({"one": X, "samples": samples}, k="cosine"),
    "mag_area": mag_area,
    "score_X": score_X,
    "State": lambda samples: State.empty(k="cosine").update(samples),
    "references": lambda samples: compute(X, references=samples, k="cosine", measures="MMD"),
    "groups": lambda samples: compute(X, k="cosine", groups=samples),
    "p": lambda samples: compute(X, k="cosine", p=samples),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", COLLECTIONS)
def test_calls_reject_dask_collections_without_computing(call, kind):
    collection = COLLECTIONS[kind]()
    alternative = "add its partitions to a State"
    if kind == "dataframe":
        labels = ', groups="label"' if call == "groups" else ""
        alternative = re.escape(f'vendiscore.score_batches(frame, "x"{labels}, k="cosine")')
    refusal = rf"must be in memory, got dask.*\.compute\(\).*{alternative}.* \(docs/tasks/large\.md"
    with dask.config.set(scheduler=fail_if_computed), pytest.raises(TypeError, match=refusal):
        CALLS[call](collection)


def fail_if_computed(*_, **__):
    raise AssertionError("gathered")


def test_xarray_arrays_are_accepted_only_in_memory():
    xarray = pytest.importorskip("xarray")
    expected = compute(X, k="cosine")
    assert compute(xarray.DataArray(X), k="cosine") == pytest.approx(expected, rel=1e-12)
    with pytest.raises(TypeError, match=r"must be in memory, got xarray.*\.compute\(\)"):
        compute(xarray.DataArray(X).chunk(10), k="cosine")
