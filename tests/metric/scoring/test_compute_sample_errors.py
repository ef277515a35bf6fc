"""Errors about samples list all unusable samples, for every argument."""

import numpy as np
import pytest

import vendiscore
from vendiscore import SampleError, as_similarity, compute

N, BAD = 7, [2, 5]
EYE = np.eye(N)
ROWS = np.random.default_rng(0).standard_normal((N, 3))
UNIT = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)


def replace_bad_samples(values, value):
    values = values.copy() if isinstance(values, np.ndarray) else list(values)
    for i in BAD:
        values[i] = value
    return values


def make_matrix_with_bad_diagonal():
    K = EYE.copy()
    K[BAD, BAD] = 0.5
    return K


def bad_kernel(a, b):
    return 1.0 if a == b and a not in BAD else 0.5


WEIGHTS, QUALITY = replace_bad_samples(np.full(N, 0.2), -0.1), replace_bad_samples([1.0] * N, -1.0)
LABELS = ["a", "b"] * (N // 2) + ["a"]
CASES = {
    "diagonal of K": lambda: compute(make_matrix_with_bad_diagonal(), score_K=True),
    "diagonal of K to explain": lambda: vendiscore.explain(
        make_matrix_with_bad_diagonal(), score_K=True
    ),
    "diagonal of a function": lambda: compute(range(N), k=bad_kernel),
    "K to normalize": lambda: compute(replace_bad_samples(EYE, 0.0), score_K=True, normalize=True),
    "rows not of unit length": lambda: compute(replace_bad_samples(UNIT, 2.0), k="linear"),
    "features not of unit length": lambda: compute(replace_bad_samples(UNIT, 2.0), score_X=True),
    "rows of one set": lambda: vendiscore.compare(UNIT, replace_bad_samples(UNIT, 2.0), k="linear"),
    "rows of references": lambda: compute(
        UNIT, replace_bad_samples(UNIT, 2.0), measures="MMD", k="linear"
    ),
    "rows in a state": lambda: vendiscore.State.empty(k="linear").update(
        replace_bad_samples(UNIT, 2.0)
    ),
    "p": lambda: compute(EYE, score_K=True, p=WEIGHTS),
    "p that is NaN": lambda: compute(EYE, score_K=True, p=replace_bad_samples([1.0] * N, np.nan)),
    "p of a state": lambda: vendiscore.State.empty(k="cosine").update(ROWS, p=WEIGHTS),
    "p of conditional": lambda: vendiscore.conditional_score(LABELS, LABELS, p=WEIGHTS, k="labels"),
    "groups": lambda: compute(EYE, score_K=True, groups=replace_bad_samples(LABELS, None)),
    "groups that are NaN": lambda: compute(
        EYE, score_K=True, groups=replace_bad_samples(LABELS, np.nan)
    ),
    "groups of a selection": lambda: vendiscore.select(
        EYE, 3, score_K=True, groups=replace_bad_samples(LABELS, None), quota=2
    ),
    "quality of a selection": lambda: vendiscore.select(EYE, 3, score_K=True, quality=QUALITY),
    "quality of qVS": lambda: compute(EYE, score_K=True, measures="qVS", quality=QUALITY),
    "distances to itself": lambda: vendiscore.mag_area(
        1 - make_matrix_with_bad_diagonal(), metric="precomputed"
    ),
    "similarities below 0": lambda: compute(
        [*([[1.0, 0.1]] * 2), [-1.0, 0.0], *([[1.0, 0.2]] * 2), [-1.0, 0.1], [1.0, 0.3]],
        k="cosine",
        measures="LC",
    ),
    "rows that are not finite": lambda: compute(replace_bad_samples(ROWS, np.nan), k="cosine"),
    "rows of zeros": lambda: compute(replace_bad_samples(ROWS, 0.0), k="cosine"),
    "rows to normalize": lambda: compute(
        replace_bad_samples(ROWS, 0.0), score_X=True, normalize=True
    ),
    "texts that are none": lambda: compute(replace_bad_samples(["a b"] * N, None)),
    "fingerprints": lambda: compute(replace_bad_samples(EYE, 3.0), k="tanimoto"),
    "probabilities": lambda: compute(replace_bad_samples(EYE, 0.5), k="probability_product"),
    "weights of NumPy integers": lambda: compute(
        EYE, score_K=True, p=replace_bad_samples(EYE[0], -1)
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_error_lists_all_unusable_samples(case):
    with pytest.raises(SampleError) as result:
        CASES[case]()
    assert list(result.value.problems) == BAD
    assert str(result.value).endswith("(2 samples cannot be used: 2, 5)")


def test_error_indices_refer_to_input_samples():
    X = replace_bad_samples(UNIT, 2.0)
    X[0] = np.nan
    with pytest.warns(UserWarning, match="dropped 1 of 7"), pytest.raises(SampleError) as result:
        compute(X, k="linear", on_error="skip")
    assert list(result.value.problems) == BAD
    texts = ["", *"abcdef"]
    with pytest.warns(UserWarning, match="dropped 1"), pytest.raises(SampleError) as result:
        vendiscore.select(texts, 2, k="ngram_overlap", on_error="skip", quality=QUALITY)
    assert list(result.value.problems) == BAD
    with pytest.raises(SampleError, match=r"sample 2 of `B` must have similarity 1 with itself"):
        vendiscore.compare(UNIT, replace_bad_samples(UNIT, 2.0), k="linear")
    with pytest.raises(SampleError, match=r"sample 5 must have similarity 1 with itself, got 0.5"):
        compute([0, 1, 3, 4, 6, 5], k=bad_kernel, groups=["a"] * 3 + ["b"] * 3)
    assert as_similarity(UNIT, k="linear").n == N
