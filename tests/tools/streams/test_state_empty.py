"""Empty batches and zero weights add nothing to a state."""

import numpy as np
import pandas as pd
import pytest

from vendiscore import State

X = np.random.default_rng(0).standard_normal((9, 4))
EMPTY = {
    "list": [],
    "tuple": (),
    "generator": (x for x in ()),
    "rows": np.empty((0, 4)),
    "float32": np.empty((0, 4), np.float32),
    "frame": pd.DataFrame(X)[:0],
    "series": pd.Series([], dtype=object),
}


def text_lengths(texts):
    return np.array([[1.0, len(text)] for text in texts])


@pytest.mark.parametrize("batch_type", EMPTY)
def test_empty_batch_adds_nothing(batch_type):
    state = State.empty(k="cosine")
    expected = State.empty(k="cosine").update(X).compute()
    batch = list(EMPTY[batch_type]) if batch_type == "generator" else EMPTY[batch_type]
    assert state.update(batch).n == 0
    assert state.update(batch).update(X).update(batch).compute() == expected
    assert state.update(batch, p=[]).compute() == expected
    with pytest.raises(ValueError, match="one number for each of 0 samples"):
        state.update(batch, p=[1.0])


def test_empty_tables_and_tensors_are_accepted_but_not_other_objects():
    pa, torch = pytest.importorskip("pyarrow"), pytest.importorskip("torch")
    state = State.empty(score_X=True, normalize=True).update(X)
    for batch in (pa.table({"a": pa.array([], pa.float64())}), torch.empty(0, 4)):
        assert state.update(batch) is state
    texts = State.empty(k="text_embeddings", model=text_lengths).update(["a cat", "a dog"])
    assert texts.update([]).update(pd.Series([], dtype=str)).compute() == texts.compute()
    for samples in (None, "", "text", {}):
        with pytest.raises(TypeError, match=r"`samples` (is missing|must be a)"):
            state.update(samples)


def test_zero_weight_samples_change_nothing():
    state = State.empty(k="cosine").update(X, p=[1.0] * 5 + [0.0] * 4)
    expected = State.empty(k="cosine").update(X[:5])
    assert state.compute() == pytest.approx(expected.compute(), rel=1e-12)
