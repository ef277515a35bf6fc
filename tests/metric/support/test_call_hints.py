"""Errors for unknown attributes and for unknown keywords of methods."""

import copy
import pickle

import numpy as np
import pytest

import vendiscore
from vendiscore.support.call_hints import UnknownAttributeError

TEXTS = ["a b", "a b c", "d", "e f"]
X = np.eye(4)


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        (lambda: vendiscore.compute(TEXTS).score, "Did you mean `VS`? It is a key of this dict"),
        (lambda: vendiscore.compute(TEXTS).VS, "result['VS']"),
        (lambda: vendiscore.Similarity.from_matrix, "as_similarity(K, score_K=True)"),
        (lambda: vendiscore.as_similarity(TEXTS).eigvals, "spectrum(as_similarity("),
        (lambda: vendiscore.explain(TEXTS).duplicates.zyx, "Available attributes: boundary"),
        (lambda: vendiscore.State.fit_transform, "type object 'State' has no attribute"),
        (lambda: vendiscore.select(X, 2, k="cosine").get_support(), "Did you mean `places`?"),
    ],
)
def test_unknown_attribute_raises_with_a_suggestion(access, expected):
    with pytest.raises(AttributeError) as error:
        access()
    assert expected in str(error.value)
    assert "The most similar names are" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: vendiscore.State("cosine").update(samples=X), "Did you mean `batch`?"),
        (lambda: vendiscore.State("cosine").update(X, weights=np.ones(4)), "Did you mean `p`?"),
        (lambda: vendiscore.State("cosine").update(), "`batch` is missing"),
        (lambda: vendiscore.explain(TEXTS).to_frame(index=False), "unknown keyword 'index'"),
    ],
)
def test_unknown_method_keyword_raises_with_a_suggestion(call, expected):
    with pytest.raises(TypeError) as error:
        call()
    assert expected in str(error.value)


def test_objects_with_hints_can_be_copied_and_pickled():
    result = vendiscore.compute(TEXTS)
    for value in (result, vendiscore.explain(TEXTS), vendiscore.State("cosine")):
        assert type(copy.deepcopy(value)) is type(value)
        assert type(pickle.loads(pickle.dumps(value))) is type(value)
    assert pickle.loads(pickle.dumps(result)) == result
    assert not hasattr(result, "__array_interface__")
    error = UnknownAttributeError(name="score", obj=result)
    assert "result['VS']" in str(pickle.loads(pickle.dumps(error)))


def test_duplicates_have_a_short_repr():
    duplicates = vendiscore.explain(TEXTS, threshold=0.5).duplicates
    assert repr(duplicates).startswith("Duplicates(n=4, threshold=0.5, groups=")
