"""`novelty` is the change of log VS if a sample is added to the references."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import NotPSDError, State, as_similarity, novelty, score

RNG = np.random.default_rng(0)
SAMPLES, REFERENCES = RNG.normal(size=(5, 4)), RNG.normal(size=(9, 4))
TEXTS = ["a b", "c d q", "a c z", "a b"]
REFERENCE_TEXTS = ["a b", "a d", "e f", "g a", "a b"]
BITS = RNG.integers(0, 2, size=(12, 30)).astype(bool)
BITS[:, 0] = True
CASES = {
    "more references than features": (SAMPLES, REFERENCES, {"k": "cosine"}),
    "fewer references than features": (SAMPLES, REFERENCES[:3], {"k": "cosine"}),
    "a kernel without features": (SAMPLES, REFERENCES, {"k": "rbf", "sigma": 2.0}),
    "sparse features": (TEXTS, REFERENCE_TEXTS, {"k": "ngram_overlap", "ns": [1, 2]}),
    "classes": (TEXTS, REFERENCE_TEXTS, {"k": "labels"}),
    "bits": (BITS[:4], BITS[4:], {"k": "tanimoto"}),
    "a mixture": (TEXTS, REFERENCE_TEXTS, {"k": {"ngram_overlap": 0.5, "labels": 0.5}}),
    "a function": (TEXTS, REFERENCE_TEXTS, {"k": lambda a, b: float(a[0] == b[0])}),
}


def log_score(samples, **options) -> float:
    return float(np.log(score(samples, **options)))


def append_sample(references, sample):
    if isinstance(references, list):
        return [*references, sample]
    return np.vstack([references, [sample]])


def naive_novelty(samples, references, **options) -> list[float]:
    """Score the references with and without each sample."""
    reference_score = log_score(references, **options)
    return [log_score(append_sample(references, x), **options) - reference_score for x in samples]


@pytest.mark.parametrize(("samples", "references", "options"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("q", [0.5, 1, 2])
def test_novelty_equals_difference_of_log_scores(samples, references, options, q):
    result = novelty(samples, references, q=q, **options)
    np.testing.assert_allclose(
        result.values, naive_novelty(samples, references, q=q, **options), atol=1e-10
    )
    assert (result.values <= result.most + 1e-10).all()
    assert result.table.shape == (len(samples), 1)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), m=st.integers(1, 9), q=st.floats(0.3, 2))
def test_novelty_of_random_rows_equals_difference_of_log_scores(seed, n, m, q):
    rng = np.random.default_rng(seed)
    references = rng.integers(-2, 3, size=(m, 3)) + np.eye(3)[rng.integers(3, size=m)] / 3
    samples = np.vstack([rng.normal(size=(n, 3)), references[:1]])
    result = novelty(samples, references, k="cosine", q=q).values
    np.testing.assert_allclose(
        result, naive_novelty(samples, references, k="cosine", q=q), atol=1e-9
    )


@pytest.mark.parametrize("k", [None, {"ngram_overlap": 0.5, "labels": 0.5}])
def test_references_accept_any_sequence_or_iterator(k):
    expected = novelty(TEXTS, REFERENCE_TEXTS, k=k).values
    for references in (tuple(REFERENCE_TEXTS), iter(REFERENCE_TEXTS), pd.Series(REFERENCE_TEXTS)):
        assert np.array_equal(novelty(TEXTS, references, k=k).values, expected)
    with pytest.raises(ValueError, match="`references` is empty"):
        novelty(TEXTS, [], k=k)


def test_novelty_does_not_depend_on_other_samples():
    expected = [novelty(x[None], REFERENCES, k="rbf").values[0] for x in SAMPLES]
    np.testing.assert_allclose(novelty(SAMPLES, REFERENCES, k="rbf").values, expected, rtol=1e-12)
    repeated = np.repeat(SAMPLES, 700, axis=0)  # several blocks
    np.testing.assert_allclose(
        novelty(repeated, REFERENCES, k="rbf").values[::700], expected, rtol=1e-12
    )


def test_labels_give_the_minimum_over_classes():
    labels = ["b", "a", "b", "a", "a", "b", "c", "c", "c"]
    result = novelty(SAMPLES, REFERENCES, labels, k="cosine")
    assert result.classes == ("b", "a", "c")
    for column, label in enumerate(result.classes):
        class_references = REFERENCES[[other == label for other in labels]]
        expected = naive_novelty(SAMPLES, class_references, k="cosine")
        np.testing.assert_allclose(result.table[:, column], expected, atol=1e-10)
    np.testing.assert_allclose(result.values, result.table.min(axis=1))


def test_copy_of_a_common_reference_has_negative_novelty():
    result = novelty(["z", "a"], ["a", "a", "b"], k="labels")
    assert result.values[0] == pytest.approx(result.most[0], abs=1e-12)
    assert result.values[1] < 0 < result.values[0]


def test_kernel_options_are_fitted_only_to_references():
    with_outliers = np.vstack([SAMPLES, 100 * SAMPLES])
    assert novelty(with_outliers, REFERENCES, k="rbf").values[:5] == pytest.approx(
        novelty(SAMPLES, REFERENCES, k="rbf").values
    )


def test_skipped_samples_have_nan_novelty():
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


def test_novelty_method_of_state_equals_novelty_against_the_same_references():
    for references in (REFERENCES, REFERENCES[:1]):  # state stored as covariance, and as rows
        state = State(k="cosine").update(references[:4]).update(references[4:])
        expected = novelty(SAMPLES, references, k="cosine").values
        np.testing.assert_allclose(state.novelty(SAMPLES), expected, atol=1e-10)
        expected = novelty(SAMPLES, references, k="cosine", q=0.5).values
        np.testing.assert_allclose(state.novelty(SAMPLES, 0.5), expected, atol=1e-10)
        assert state.n == len(references)
    weighted = State(k="cosine").update(REFERENCES, p=[2.0] * 9)
    np.testing.assert_allclose(
        weighted.novelty(SAMPLES),
        novelty(SAMPLES, np.vstack([REFERENCES, REFERENCES]), k="cosine").values,
        atol=1e-10,
    )


def test_novelty_method_of_state_rejects_incompatible_samples():
    with pytest.raises(ValueError, match="`novelty` requires samples, but none were added"):
        State(k="cosine").novelty(SAMPLES)
    with pytest.raises(
        ValueError, match="must have 4 features like the samples that were added, got 3"
    ):
        State(k="cosine").update(REFERENCES).novelty(SAMPLES[:, :3])
    conditioned = State(k="cosine").update(REFERENCES, prompts=SAMPLES[0], given_prompt=True)
    with pytest.raises(
        ValueError, match="not supported for a State that is conditioned on prompts"
    ):
        conditioned.novelty(SAMPLES)


def test_invalid_arguments_raise():
    with pytest.raises(
        ValueError, match="`q` must be a number above 0 and at most 2, because samples are added"
    ):
        novelty(SAMPLES, REFERENCES, k="cosine", q=3)
    with pytest.raises(ValueError, match="`labels` must contain one label per sample"):
        novelty(SAMPLES, REFERENCES, ["a"], k="cosine")
    with pytest.raises(TypeError, match="does not depend on others; k='equiv"):
        novelty(TEXTS, REFERENCE_TEXTS, k="equivalence", same=lambda a, b: a == b)
    with pytest.raises(TypeError, match="`samples` contains similarities only within one set"):
        novelty(as_similarity(TEXTS), REFERENCE_TEXTS)
    with pytest.raises(ValueError, match="must have the same sample type as `samples`"):
        novelty(SAMPLES, REFERENCES[:, :2], k="cosine")


def test_negative_eigenvalues_of_references_raise_unless_clipped():
    K = {("a", "b"): 1.0, ("b", "c"): 1.0, ("a", "c"): 0.0}

    def k(x, y):
        return 1.0 if x == y else K.get((x, y), K.get((y, x), 0.5))

    with pytest.raises(NotPSDError):
        novelty(["d"], ["a", "b", "c"], k=k)
    result = novelty(["d"], ["a", "b", "c"], k=k, psd="clip")
    assert np.isfinite(result.values).all()
