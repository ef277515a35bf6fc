"""Collections of Dask and xarray are not gathered in memory by any call."""

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
DOORS = {
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


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", COLLECTIONS)
def test_no_call_gathers_a_collection_in_memory(door, kind):
    collection = COLLECTIONS[kind]()
    refusal = r"must be in memory, got dask.*\.compute\(\).*dask_state in docs/tasks/large\.md"
    with dask.config.set(scheduler=nobody_computes), pytest.raises(TypeError, match=refusal):
        DOORS[door](collection)


def nobody_computes(*_, **__):
    raise AssertionError("gathered")


def test_labelled_arrays_are_read_if_they_are_in_memory():
    xarray = pytest.importorskip("xarray")
    whole = compute(X, k="cosine")
    assert compute(xarray.DataArray(X), k="cosine") == pytest.approx(whole, rel=1e-12)
    with pytest.raises(TypeError, match=r"must be in memory, got xarray.*\.compute\(\)"):
        compute(xarray.DataArray(X).chunk(10), k="cosine")
