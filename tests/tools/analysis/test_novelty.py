"""Novelty: what each new sample adds to the score of references, one decomposition for all."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import NotPSDError, State, as_similarity, novelty, score

RNG = np.random.default_rng(0)
NEW, OLD = RNG.normal(size=(5, 4)), RNG.normal(size=(9, 4))
TEXTS = ["a b", "c d q", "a c z", "a b"]
KNOWN = ["a b", "a d", "e f", "g a", "a b"]
BITS = RNG.integers(0, 2, size=(12, 30)).astype(bool)
BITS[:, 0] = True
CASES = {
    "more references than features": (NEW, OLD, {"k": "cosine"}),
    "fewer references than features": (NEW, OLD[:3], {"k": "cosine"}),
    "a kernel without features": (NEW, OLD, {"k": "rbf", "sigma": 2.0}),
    "sparse features": (TEXTS, KNOWN, {"k": "ngram_overlap", "ns": [1, 2]}),
    "classes": (TEXTS, KNOWN, {"k": "labels"}),
    "bits": (BITS[:4], BITS[4:], {"k": "tanimoto"}),
    "a mixture": (TEXTS, KNOWN, {"k": {"ngram_overlap": 0.5, "labels": 0.5}}),
    "a function": (TEXTS, KNOWN, {"k": lambda a, b: float(a[0] == b[0])}),
}


def log_score(samples, **how) -> float:
    return float(np.log(score(samples, **how)))


def together(references, sample):
    if isinstance(references, list):
        return [*references, sample]
    return np.vstack([references, [sample]])


def naive(samples, references, **how) -> list[float]:
    """Score the references with each sample and without, a decomposition for each."""
    before = log_score(references, **how)
    return [log_score(together(references, x), **how) - before for x in samples]


@pytest.mark.parametrize(("samples", "references", "how"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("q", [0.5, 1, 2])
def test_it_is_a_difference(samples, references, how, q):
    result = novelty(samples, references, q=q, **how)
    np.testing.assert_allclose(result.values, naive(samples, references, q=q, **how), atol=1e-10)
    assert (result.values <= result.most + 1e-10).all()
    assert result.table.shape == (len(samples), 1)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), m=st.integers(1, 9), q=st.floats(0.3, 2))
def test_any_rows_have_the_difference(seed, n, m, q):
    rng = np.random.default_rng(seed)
    references = rng.integers(-2, 3, size=(m, 3)) + np.eye(3)[rng.integers(3, size=m)] / 3
    samples = np.vstack([rng.normal(size=(n, 3)), references[:1]])
    result = novelty(samples, references, k="cosine", q=q).values
    np.testing.assert_allclose(result, naive(samples, references, k="cosine", q=q), atol=1e-9)


@pytest.mark.parametrize("k", [None, {"ngram_overlap": 0.5, "labels": 0.5}])
def test_references_are_read_as_samples_are(k):
    expected = novelty(TEXTS, KNOWN, k=k).values
    for references in (tuple(KNOWN), iter(KNOWN), pd.Series(KNOWN)):
        assert np.array_equal(novelty(TEXTS, references, k=k).values, expected)
    with pytest.raises(ValueError, match="`references` is empty"):
        novelty(TEXTS, [], k=k)


def test_it_depends_on_no_other_sample():
    alone = [novelty(x[None], OLD, k="rbf").values[0] for x in NEW]
    np.testing.assert_allclose(novelty(NEW, OLD, k="rbf").values, alone, rtol=1e-12)
    many = np.repeat(NEW, 700, axis=0)  # in several blocks
    np.testing.assert_allclose(novelty(many, OLD, k="rbf").values[::700], alone, rtol=1e-12)


def test_labels_take_the_least():
    labels = ["b", "a", "b", "a", "a", "b", "c", "c", "c"]
    result = novelty(NEW, OLD, labels, k="cosine")
    assert result.classes == ("b", "a", "c")
    for column, label in enumerate(result.classes):
        own = OLD[[each == label for each in labels]]
        expected = naive(NEW, own, k="cosine")
        np.testing.assert_allclose(result.table[:, column], expected, atol=1e-10)
    np.testing.assert_allclose(result.values, result.table.min(axis=1))


def test_a_common_copy_takes_away():
    result = novelty(["z", "a"], ["a", "a", "b"], k="labels")
    assert result.values[0] == pytest.approx(result.most[0], abs=1e-12)
    assert result.values[1] < 0 < result.values[0]


def test_references_alone_fit_options():
    far = np.vstack([NEW, 100 * NEW])
    assert novelty(far, OLD, k="rbf").values[:5] == pytest.approx(novelty(NEW, OLD, k="rbf").values)


def test_samples_left_out_have_none():
    with pytest.warns(UserWarning, match="dropped 2 of"):
        result = novelty(["a b", None], ["a b", None, "c"], ["x", "x", "y"], on_error="skip")
    expected = novelty(["a b"], ["a b", "c"], ["x", "y"])
    np.testing.assert_allclose(result.table[0], expected.table[0])
    assert np.isnan(result.table[1]).all()
    with (
        pytest.warns(UserWarning, match="dropped"),
        pytest.raises(ValueError, match="class 'y' has no usable references"),
    ):
        novelty(["a b"], ["a b", None], ["x", "y"], on_error="skip")


def test_a_state_has_the_novelty_too():
    for references in (OLD, OLD[:1]):  # a covariance, and rows
        state = State(k="cosine").update(references[:4]).update(references[4:])
        expected = novelty(NEW, references, k="cosine").values
        np.testing.assert_allclose(state.novelty(NEW), expected, atol=1e-10)
        expected = novelty(NEW, references, k="cosine", q=0.5).values
        np.testing.assert_allclose(state.novelty(NEW, 0.5), expected, atol=1e-10)
        assert state.n == len(references)
    weighted = State(k="cosine").update(OLD, p=[2.0] * 9)
    np.testing.assert_allclose(
        weighted.novelty(NEW), novelty(NEW, np.vstack([OLD, OLD]), k="cosine").values, atol=1e-10
    )


def test_a_state_refuses_what_cannot_be_added():
    with pytest.raises(ValueError, match="`novelty` requires samples, but none were added"):
        State(k="cosine").novelty(NEW)
    with pytest.raises(
        ValueError, match="must have 4 features like the samples that were added, got 3"
    ):
        State(k="cosine").update(OLD).novelty(NEW[:, :3])
    given = State(k="cosine").update(OLD, prompts=NEW[0], given_prompt=True)
    with pytest.raises(
        ValueError, match="not supported for a State that is conditioned on prompts"
    ):
        given.novelty(NEW)


def test_what_cannot_be_found_is_refused():
    with pytest.raises(
        ValueError, match="`q` must be a number above 0 and at most 2, because samples are added"
    ):
        novelty(NEW, OLD, k="cosine", q=3)
    with pytest.raises(ValueError, match="`labels` must contain one label per sample"):
        novelty(NEW, OLD, ["a"], k="cosine")
    with pytest.raises(TypeError, match="does not depend on others; k='equiv"):
        novelty(TEXTS, KNOWN, k="equivalence", same=lambda a, b: a == b)
    with pytest.raises(TypeError, match="`samples` contains similarities only within one set"):
        novelty(as_similarity(TEXTS), KNOWN)
    with pytest.raises(ValueError, match="must have the same sample type as `samples`"):
        novelty(NEW, OLD[:, :2], k="cosine")


def test_negative_eigenvalues_of_references_are_refused_unless_they_are_clipped():
    K = {("a", "b"): 1.0, ("b", "c"): 1.0, ("a", "c"): 0.0}

    def k(x, y):
        return 1.0 if x == y else K.get((x, y), K.get((y, x), 0.5))

    with pytest.raises(NotPSDError):
        novelty(["d"], ["a", "b", "c"], k=k)
    result = novelty(["d"], ["a", "b", "c"], k=k, psd="clip")
    assert np.isfinite(result.values).all()
