"""Invalid input to the metric of `evaluate` raises, and later calls still work."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import compute

VALID_FEATURES = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
TEXTS = ["a b", "a c", "d"]
# Texts 0 and 1 share one of two unigrams and no bigrams, so k = 1/4.
EIGENVALUES = np.array([1.25, 0.75, 1.0]) / 3
VS = float(np.exp(-(EIGENVALUES * np.log(EIGENVALUES)).sum()))


def features_with_bad_value(value):
    X = VALID_FEATURES.copy()
    X[1, 0] = value
    return X


def asymmetric_kernel(a, b):
    return 1.0 if a == b else (0.5 if a < b else 0.4)


INDEFINITE = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]]
AS_FEATURES = {"score_X": True}
AS_SIMILARITIES = {"score_K": True}
CASES = [
    # samples, keywords, exception, pattern of the message
    ([], {}, ValueError, "`samples` is empty; pass at least one sample"),
    (None, {}, TypeError, "`samples` is required; pass samples="),
    ("one text", {}, TypeError, r"`samples` must be a collection of samples, got one str; pass \["),
    ({"a": 1}, {}, TypeError, "must be an ordered collection of samples, got a dict"),
    (5, {}, TypeError, "`samples` must be a collection of samples, got int"),
    (np.float64(5), {}, TypeError, "must be a collection of samples, got"),
    (
        [1, 2],
        {},
        ValueError,
        "`k` is required .*type int; .*k='cosine'.*score_X=True.*score_K=True",
    ),
    (VALID_FEATURES, {}, ValueError, "`k` is required for samples of type ndarray"),
    (
        [None, VALID_FEATURES[0]],
        {},
        ValueError,
        "`k` is required for samples of type ndarray; .*'cosine'",
    ),
    ([None, None], {}, ValueError, "all samples are None; pass at least one"),
    ([Path("a.png")], {}, ValueError, "pass k='pixels' or k='image_embeddings'"),
    ([{"text": "a b"}], {}, ValueError, r"one column of the records, .*, or a mixture"),
    (
        [("a b",), ("c",)],
        {},
        ValueError,
        r"a list of strings \(one column of a table, such as df\['te",
    ),
    ([object()], {}, ValueError, "`k` is required .* a function of two samples"),
    ([None, "a b"], {}, ValueError, "sample 0 must be a str, got NoneType"),
    (
        features_with_bad_value(np.nan),
        AS_FEATURES,
        ValueError,
        "sample 1 of `samples` must be finite, got nan; remove",
    ),
    (
        features_with_bad_value(np.inf),
        AS_FEATURES,
        ValueError,
        "sample 1 of `samples` must be finite, got inf",
    ),
    (
        features_with_bad_value(-np.inf).tolist(),
        {"k": "cosine"},
        ValueError,
        "sample 1 .* be finite, got -inf",
    ),
    (
        sp.csr_array(features_with_bad_value(np.nan)),
        AS_FEATURES,
        ValueError,
        "sample 1 .* must be finite, got nan",
    ),
    (
        [[1.0, 2.0], [3.0]],
        AS_FEATURES,
        ValueError,
        r"sample 1 .* has shape \(1,\), but other rows have \(2,\)",
    ),
    (
        [[1.0], "abc"],
        AS_FEATURES,
        ValueError,
        "sample 1 .* must be a row of numbers, got str: 'abc'; rem",
    ),
    (
        [["a"], ["b"]],
        AS_FEATURES,
        ValueError,
        "must be a row of numbers, got str 'a' in it.*2 samples",
    ),
    (np.ones(3), AS_FEATURES, ValueError, r"must be two-dimensional.*got shape \(3,\); reshape"),
    (np.ones((3, 0)), AS_FEATURES, ValueError, r"at least one column, got shape \(3, 0\)"),
    (VALID_FEATURES + 1j, AS_FEATURES, TypeError, "must be real numbers, got dtype complex128"),
    (
        VALID_FEATURES,
        AS_SIMILARITIES,
        ValueError,
        r"square similarity matrix, got shape \(3, 2\); use `score_X`",
    ),
    (
        [[1.0, 0.5], [0.4, 1.0]],
        AS_SIMILARITIES,
        ValueError,
        r"symmetric.*K\[0, 1\] = 0.5 and K\[1, 0\] = 0.4",
    ),
    (INDEFINITE, AS_SIMILARITIES, ValueError, r"smallest eigenvalue is -0\.0909.*psd='clip'"),
    (
        [[1.0, 2.0], [2.0, 1.0]],
        {**AS_SIMILARITIES, "q": 2},
        ValueError,
        r"between -1 and 1, as its diagonal is 1, got K\[0, 1\] = 2",
    ),
    (
        [[0.9, 0.0], [0.0, 1.0]],
        AS_SIMILARITIES,
        ValueError,
        "sample 0 must .* got 0.9; pass normalize=True",
    ),
    (
        [[0.0, 0.5], [0.5, 0.0]],
        AS_SIMILARITIES,
        ValueError,
        r"contains distances D; pass np.exp\(-D\), or 1 - D",
    ),
    (
        [[0.0, 9.0], [9.0, 1e-9]],
        {**AS_SIMILARITIES, "normalize": True},
        ValueError,
        "probably contains distances",
    ),
    ([1, 2], {"k": lambda a, b: abs(a - b)}, ValueError, r"got 0; if the values are distances"),
    (
        [[1.0, np.nan], [np.nan, 1.0]],
        AS_SIMILARITIES,
        ValueError,
        "sample 0 .* must be finite, got nan",
    ),
    (
        2 * VALID_FEATURES,
        AS_FEATURES,
        ValueError,
        "sample 0 must have similarity 1 with itself, got 4; pass normalize=True",
    ),
    (
        VALID_FEATURES * [[1], [0], [1]],
        {**AS_FEATURES, "normalize": True},
        ValueError,
        "sample 1 cannot be .*zero vec",
    ),
    (
        VALID_FEATURES * [[1], [0], [1]],
        {"k": "cosine"},
        ValueError,
        "sample 1 is a zero vector, which",
    ),
    (TEXTS, {"p": [0.5, 0.5]}, ValueError, "one number for each of 3 samples, got 2"),
    (
        TEXTS,
        {"p": [1.5, -0.5, 0]},
        ValueError,
        "sample 1 of `p` must be finite and at least 0, got -0.5",
    ),
    (
        TEXTS,
        {"p": [0.5, 0.2, 0.2]},
        ValueError,
        r"must sum to 1, got 0.9; pass np.divide\(p, sum\(p\)\)",
    ),
    (
        TEXTS,
        {"p": [np.nan, 0.5, 0.5]},
        ValueError,
        "sample 0 of `p` must be finite and at least 0, got nan",
    ),
    (TEXTS, {"p": "uniform"}, TypeError, "`p` must be numbers, one for each sample"),
    (
        TEXTS,
        {"q": -1},
        ValueError,
        r"`q` must be a number in \[0, inf\] or 'inf', got -1; the default is q=1",
    ),
    (
        TEXTS,
        {"q": float("nan")},
        ValueError,
        r"`q` must be a number in \[0, inf\] or 'inf', got nan",
    ),
    (TEXTS, {"q": "two"}, TypeError, r"`q` must be a number in \[0, inf\] or 'inf', got 'two'"),
    (TEXTS, {"q": []}, ValueError, "`q` must be an order or a sequence of orders"),
    (TEXTS, {"psd": "ignore"}, ValueError, "`psd` must be 'check' or 'clip', got 'ignore'"),
    (TEXTS, {"k": "ngrm_overlap"}, ValueError, "unknown kernel.*Did you mean 'ngram_overlap'"),
    (TEXTS, {"k": 3}, TypeError, "`k` must be a kernel name or a function k.a, b., got int"),
    (
        TEXTS,
        {"normalise": True},
        TypeError,
        "unknown keyword 'normalise'. Did you mean `normalize`",
    ),
    (
        VALID_FEATURES,
        {"k": "rbf", "sgma": 1},
        TypeError,
        "'sgma' is not an option of kernel 'rbf'.*`sigma`",
    ),
    (
        VALID_FEATURES,
        {"k": "cosine", "sigma": 1},
        TypeError,
        "'sigma' is not an option of kernel 'cosine'",
    ),
    (
        VALID_FEATURES,
        {"k": "rbf", "sigma": 0},
        ValueError,
        "`sigma` must be a finite number above 0, got 0",
    ),
    (
        VALID_FEATURES,
        {**AS_FEATURES, "sigma": 1},
        TypeError,
        "It is an option of 'laplacian', 'rbf'; pass the",
    ),
    (
        VALID_FEATURES,
        {**AS_FEATURES, **AS_SIMILARITIES},
        ValueError,
        "`score_K` and `score_X` are mutually exclusive",
    ),
    (
        TEXTS,
        {**AS_SIMILARITIES, "k": "ngram_overlap"},
        ValueError,
        "`k` and `score_K` are mutually exclusive",
    ),
    (TEXTS, {"predictions": TEXTS}, TypeError, "`samples` and `predictions` are aliases"),
    (
        [1, 2, 3],
        {"k": asymmetric_kernel},
        ValueError,
        r"`k` must be symmetric, but k\(samples\[0\], sam",
    ),
    ([1, 1, 2], {"k": asymmetric_kernel}, ValueError, r"but k\(samples\[0\], samples\[2\]\) = 0.5"),
    ([1, 2], {"k": lambda a, b: "x"}, TypeError, "`k` must return a number, got str for samples 0"),
    (
        [1, 2],
        {"k": lambda a, b: float(a == b) or np.nan},
        ValueError,
        "finite.*nan for samples 0 an",
    ),
    (
        [1, 2],
        {"k": lambda a, b: 0.5},
        ValueError,
        "sample 0 must have similarity 1 with itself, got 0.5",
    ),
    (["a b", "", "c"], {}, ValueError, "sample 1 has no tokens: ''; remove empty texts"),
    (["a", "a", " \t"], {}, ValueError, "sample 2 has no tokens"),
    (["a b", None], {}, ValueError, "sample 1 must be a str, got NoneType"),
    (["a b", 3.5], {}, ValueError, "sample 1 must be a str, got float: 3.5"),
    (["a b c", "a b"], {"ns": [3]}, ValueError, r"sample 1 has 2 tokens, fewer than.*ns=\(3,\)"),
    (TEXTS, {"ns": [0, 1]}, ValueError, "`ns` must be an integer of at least 1, got 0; pass ns=1"),
    (TEXTS, {"ns": []}, ValueError, "`ns` must be one or more integers of at least 1"),
    (TEXTS, {"analyzer": "byte"}, ValueError, "`analyzer` must be 'auto', 'word' or 'char', got"),
    (TEXTS, {"tokenizer": 3}, TypeError, "`tokenizer` must be a function"),
    (TEXTS, {"tokenizer": str.split, "analyzer": "char"}, ValueError, "`tokenizer` has no effect"),
]


def list_files(folder):
    return sorted(os.path.join(root, name) for root, _, names in os.walk(folder) for name in names)


@pytest.mark.parametrize(("samples", "keywords", "exception", "message"), CASES)
def test_invalid_input_raises_and_metric_remains_usable(
    metric, samples, keywords, exception, message
):
    files_before = list_files(metric.data_dir)
    with pytest.raises(exception, match=message):
        metric.compute(samples=samples, **keywords)
    assert list_files(metric.data_dir) == files_before
    start = time.monotonic()
    assert metric.compute(samples=TEXTS)["VS"] == pytest.approx(VS)
    assert time.monotonic() - start < 30  # waiting for a lock of evaluate would take 100 s


def test_samples_can_be_positional(metric):
    assert metric.compute(TEXTS) == metric.compute(samples=TEXTS)
    metric.add_batch(TEXTS[:2])
    metric.add(TEXTS[2])
    assert metric.compute() == metric.compute(TEXTS)
    with pytest.raises(TypeError, match="positional"):
        metric.compute(TEXTS, TEXTS)


@pytest.mark.parametrize(
    ("k", "package", "command"),
    [
        ("morgan", "rdkit", "pip install rdkit"),
        ("bleu", "sacrebleu", "pip install sacrebleu"),
        ("pixels", "PIL", "pip install pillow"),
    ],
)
def test_missing_package_error_gives_install_command(monkeypatch, k, package, command):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)  # Python's value for a missing module
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"'{package}', which is not installed: .*{command}"):
        compute([np.zeros((2, 2), np.uint8)] if k == "pixels" else ["CCO", "CCN"], k=k)


def test_added_samples_are_kept_after_wrong_keyword(metric):
    metric.add_batch(samples=TEXTS)
    with pytest.raises(TypeError, match="unknown keyword 'order'"):
        metric.compute(order=2)
    with pytest.raises(TypeError, match=r"type in all batches: .* not rows .* rows of 2"):
        metric.add(prediction=[1.0, 2.0])
    assert metric.compute()["VS"] == pytest.approx(VS)


def test_failed_compute_writes_no_file_and_keeps_samples(metric):
    files_before = list_files(metric.data_dir)
    metric.add_batch(samples=["a b", ""])
    with pytest.raises(ValueError, match="sample 1 has no tokens"):
        metric.compute()
    assert list_files(metric.data_dir) == files_before
    assert metric.compute(k="labels")["VS"] == pytest.approx(2)  # uses the samples that were kept
    assert metric.compute(samples=TEXTS)["VS"] == pytest.approx(VS)
