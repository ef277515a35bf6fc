"""Selections from partitions (GreeDi), and the upper bound on all selections."""

import itertools

import numpy as np
import pytest

from vendiscore import State, compute, encoder, select, select_batches
from vendiscore.tools.selection import partitioned_selection as module

pa = pytest.importorskip("pyarrow")


def draw_clusters(n, d, count, seed=0):
    rng = np.random.default_rng(seed)
    sizes = 1 / np.arange(1, count + 1) ** 1.5
    centres = rng.standard_normal((count, d))
    noise = 0.2 * rng.standard_normal((n, d))
    return centres[rng.choice(count, n, p=sizes / sizes.sum())] + noise


def split_rows(X, ends):
    ends = [0, *ends, len(X)]
    indices = np.arange(len(X))
    return [
        {"id": indices[a:b].tolist(), "x": X[a:b].tolist()} for a, b in itertools.pairwise(ends)
    ]


@pytest.mark.parametrize("q", [0.5, 1, 2])
@pytest.mark.parametrize("ends", [[], [750, 1500, 2250], [0, 5, 5, 8, 2999]])
def test_selection_is_nearly_as_good_as_that_in_memory(ends, q, monkeypatch):
    X = draw_clusters(3000, 12, 40)
    # Each batch is a partition of its own.
    monkeypatch.setattr(module, "MAX_PARTITION_ROWS", 1)
    result = select_batches(split_rows(X, ends), "x", 10, keep=["id"], q=q, k="cosine")
    expected = select(X, 10, k="cosine", q=q)
    assert len(result) == len(set(result)) == 10
    assert result.n == 3000
    assert result.rows["id"].to_pylist() == result.places.tolist()
    np.testing.assert_array_equal(result.rows["x"].to_pylist(), X[result.places])
    score = next(iter(compute(X[result.places], k="cosine", q=q).values()))
    assert result.scores[-1] == pytest.approx(score)
    assert result.scores[-1] > 0.95 * expected.scores[-1]
    assert result.bound >= max(result.scores[-1], expected.scores[-1])
    assert result.certified == result.scores[-1] / result.bound


@pytest.mark.parametrize("q", [0.5, 1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_bound_exceeds_all_selections(seed, q):
    X = draw_clusters(9, 4, 5, seed)
    result = select_batches(split_rows(X, [4]), "x", 3, q=q, k="cosine")
    key = "VS" if q == 1 else f"VS_q{q}"
    maximum = max(
        compute(X[[*indices]], k="cosine", q=q)[key]
        for indices in itertools.combinations(range(9), 3)
    )
    assert result.scores[-1] <= maximum * (1 + 1e-12) <= result.bound * (1 + 2e-12)


def test_bound_is_that_of_the_tangent_at_all_rows_and_the_selection():
    X = draw_clusters(300, 12, 40) + 3
    result = select_batches(split_rows(X, []), "x", 5, k="cosine")
    F = X / np.linalg.norm(X, axis=1, keepdims=True)
    S = F[result.places]
    values, V = np.linalg.eigh((F.T @ F / 300 + S.T @ S / 5) / 2)
    values, V = values[::-1].copy(), V[:, ::-1]
    # The smaller eigenvalues become equal, with the same sum in 5 dimensions.
    level, j = next(
        (values[j:].sum() / (5 - j), j) for j in range(5) if values[j:].sum() / (5 - j) >= values[j]
    )
    values[j:] = level
    gradients = np.sort((F @ V) ** 2 @ (-np.log(values) - 1))[::-1][:5]
    expected = np.exp(values[:5].sum() + gradients.mean())
    assert result.scores[-1] < expected < 5
    assert result.bound == pytest.approx(expected)


def test_scores_are_those_of_the_first_rows():
    X = draw_clusters(200, 6, 10)
    result = select_batches(split_rows(X, [50, 120]), "x", 5, k="cosine")
    expected = [compute(X[result.places[:m]], k="cosine")["VS"] for m in range(1, 6)]
    assert result.scores == pytest.approx(expected)


def test_many_candidates_are_reduced(monkeypatch):
    X = draw_clusters(1200, 8, 20)
    monkeypatch.setattr(module, "MAX_PARTITION_ROWS", 1)
    monkeypatch.setattr(module, "MAX_CANDIDATES", 100)
    result = select_batches(split_rows(X, range(100, 1200, 100)), "x", 8, k="cosine", keep=["id"])
    first_pass = module.FirstPass(State(k="cosine"), ["x"], 8, 1.0, {})
    assert len(first_pass.compute(split_rows(X, range(100, 1200, 100))).candidates) == 2 * 8
    assert result.rows["id"].to_pylist() == result.places.tolist()
    assert result.scores[-1] > 0.95 * select(X, 8, k="cosine").scores[-1]


def test_large_partitions_are_divided(monkeypatch):
    sizes = []
    monkeypatch.setattr(module, "MAX_PARTITION_ROWS", 100)
    monkeypatch.setattr(
        module, "select_features", lambda F, *args: sizes.append(len(F)) or original(F, *args)
    )
    X = draw_clusters(500, 6, 10)
    select_batches(split_rows(X, range(30, 500, 30)), "x", 4, k="cosine")
    assert max(sizes) <= 130


original = module.select_features


def test_dask_partitions_give_the_same_selection(monkeypatch):
    dask_frame = pytest.importorskip("dask.dataframe")
    dask = pytest.importorskip("dask")
    X = draw_clusters(600, 6, 20)
    parts = split_rows(X, [200, 333, 333])
    frames = [pa.table(part).to_pandas() for part in parts]
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dask_frame.from_map(lambda part: part, frames, meta=frames[0].iloc[:0])
    result = select_batches(frame, "x", 6, keep=["id"], k="cosine")
    monkeypatch.setattr(module, "MAX_PARTITION_ROWS", 1)
    expected = select_batches(parts, "x", 6, keep=["id"], k="cosine")
    assert result.places.tolist() == expected.places.tolist()
    assert result.bound == pytest.approx(expected.bound)
    assert result.rows["id"].to_pylist() == result.places.tolist()


def test_models_and_unusable_samples():
    texts = ["aaa", "aba", "bbb", "", "ccc", "cca", "ddd", "dad"]
    embed = encoder(model=lambda batch: [[float(t.count(c)) for c in "abcd"] for t in batch])
    batches = [{"text": texts[:4]}, {"text": texts[4:]}]
    options = {"k": "text_embeddings", "model": embed, "on_error": "skip"}
    with pytest.warns(UserWarning, match=r"dropped 1 of . samples") as caught:
        result = select_batches(batches, "text", 4, **options)
    assert len([w for w in caught if "dropped" in str(w.message)]) == 1
    assert sorted(result) == [0, 2, 4, 6]
    assert result.rows["text"].to_pylist() == [texts[i] for i in result]
    assert result.certified == pytest.approx(1)


def test_invalid_arguments_raise():
    batches = split_rows(np.eye(3), [2])
    with pytest.raises(TypeError, match="`batches` is read twice, but a generator can be read"):
        select_batches((batch for batch in batches), "x", 2, k="cosine")
    with pytest.raises(TypeError, match="`batches` is read twice, but a RecordBatchReader"):
        select_batches(pa.table(batches[0]).to_reader(), "x", 2, k="cosine")
    with pytest.raises(ValueError, match="got size=4 for 3 rows"):
        select_batches(batches, "x", 4, k="cosine")
    with pytest.raises(ValueError, match="got size=1 for 0 rows"):
        select_batches([], "x", 1, k="cosine")
    with pytest.raises(ValueError, match="no column 'y'"):
        select_batches(batches, "x", 2, keep=["y"], k="cosine")
    with pytest.raises(ValueError, match="`q` must be"):
        select_batches(batches, "x", 2, q=0, k="cosine")
    with pytest.raises(ValueError, match="does not support kernel 'rbf'"):
        select_batches(batches, "x", 2, k="rbf")


def test_result_is_summarized():
    result = select_batches(split_rows(np.eye(4), [2]), "x", 2, keep=["id"], k="cosine")
    assert str(result) == "2 of 4 rows: VS (q=1) = 2, at least 100.0% of the maximum."
    assert result.to_dict()["places"] == result.places.tolist()
    assert result.to_dict()["rows"] == result.rows.to_pylist()
    assert result.to_frame()["id"].tolist() == result.places.tolist()
