"""An empty batch, as of an empty partition, and weights of 0 add nothing to a state."""

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


def _lengths(texts):
    return np.array([[1.0, len(text)] for text in texts])


@pytest.mark.parametrize("kind", EMPTY)
def test_an_empty_batch_adds_nothing(kind):
    state = State.empty(k="cosine")
    whole = State.empty(k="cosine").update(X).compute()
    batch = list(EMPTY[kind]) if kind == "generator" else EMPTY[kind]
    assert state.update(batch).n == 0
    assert state.update(batch).update(X).update(batch).compute() == whole
    assert state.update(batch, p=[]).compute() == whole
    with pytest.raises(ValueError, match="one number for each of 0 samples"):
        state.update(batch, p=[1.0])


def test_other_samples_and_what_is_no_batch():
    pa, torch = pytest.importorskip("pyarrow"), pytest.importorskip("torch")
    state = State.empty(score_X=True, normalize=True).update(X)
    for batch in (pa.table({"a": pa.array([], pa.float64())}), torch.empty(0, 4)):
        assert state.update(batch) is state
    texts = State.empty(k="text_embeddings", model=_lengths).update(["a cat", "a dog"])
    assert texts.update([]).update(pd.Series([], dtype=str)).compute() == texts.compute()
    for refused in (None, "", "text", {}):
        with pytest.raises(TypeError, match=r"`samples` (is missing|must be a)"):
            state.update(refused)


def test_weights_of_zero_change_nothing():
    state = State.empty(k="cosine").update(X, p=[1.0] * 5 + [0.0] * 4)
    alone = State.empty(k="cosine").update(X[:5])
    assert state.compute() == pytest.approx(alone.compute(), rel=1e-12)
