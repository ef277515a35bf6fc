"""`compute` and the score functions: published values, containers and keywords."""

import math

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from circulant_matrices import (
    HALF_SPECTRA,
    ORDERS,
    circulant_eigenvalues,
    circulant_features,
    circulant_matrix,
    circulant_score,
)

import vendiscore
from vendiscore import NotPSDError, compute, score, score_dual, score_K, score_X
from vendiscore.result import key_at
from vendiscore.support.signature import compute_digest

TEXTS = ["Look, Jane.", "See Spot.", "See Spot run.", "Run, Spot, run.", "Jane sees Spot run."]
K3 = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
ROWS = np.array([[100.0, 0.0], [99.0, 1.0], [1.0, 99.0], [0.0, 100.0]])


def compute_exponential_kernel(a, b):
    return math.exp(-abs(a - b))


def test_scores_match_published_examples():
    assert score([0, 0, 10, 10, 20, 20], compute_exponential_kernel) == pytest.approx(
        2.99999999588, abs=5e-12
    )
    assert score_K(K3) == pytest.approx(2.1573, abs=5e-5)
    # The published card prints 1.9989…, which is a misprint: two directions 0.58° off the axes have
    # eigenvalues (1 ± 0.0101)/2, and the reference implementation also returns 1.9998979….
    assert score_dual(ROWS) == pytest.approx(1.99989799, abs=5e-9)
    assert compute(TEXTS, ns=[1, 2])["VS"] == pytest.approx(3.90657, abs=5e-6)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # vendi_score uses scipy.sparse.csr
def test_scores_match_vendi_score_package():
    vendi = pytest.importorskip("vendi_score.vendi")
    X = np.random.default_rng(0).standard_normal((30, 6))
    p = np.random.default_rng(1).dirichlet(np.ones(30))
    K = np.exp(-np.abs(X[:, None] - X[None]).sum(-1))
    for q in (1, 2, 5):
        assert score_K(K, q=q, p=p) == pytest.approx(vendi.score_K(K, q=q, p=p), rel=1e-10)
        assert score_dual(X, q=q) == pytest.approx(vendi.score_dual(X, q=q), rel=1e-10)
    samples = [0.0, 0.5, 3.0]
    assert score(samples, compute_exponential_kernel, 2) == pytest.approx(
        vendi.score(samples, compute_exponential_kernel, 2)
    )
    assert score_X(X) == pytest.approx(vendi.score_X(X), rel=1e-10)
    assert score_X(X, q=2) != pytest.approx(vendi.score_X(X, q=2))  # vendi.score_X ignores q


TEXT_CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "generator": lambda xs: (x for x in xs),
    "map": lambda xs: map(str, xs),
    "numpy": np.array,
    "numpy objects": lambda xs: np.array(xs, dtype=object),
    "pandas": pd.Series,
    "arrow": pa.array,
    "arrow chunked": lambda xs: pa.chunked_array([xs[:2], xs[2:]]),
    "dataset column": lambda xs: datasets.Dataset.from_dict({"text": xs})["text"],
}


@pytest.mark.parametrize("container", TEXT_CONTAINERS)
def test_compute_accepts_texts_in_any_container(container):
    assert compute(TEXT_CONTAINERS[container](TEXTS), ns=[1, 2])["VS"] == pytest.approx(3.906574466)


def make_tensor(rows):
    return pytest.importorskip("torch").tensor(rows)


VECTOR_CONTAINERS = {
    "lists": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
    "generator of arrays": lambda X: (row for row in X),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "integers": lambda X: X.astype(int),
    "fortran order": np.asfortranarray,
    "not contiguous": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sp.csr_array,
    "csc matrix": sp.csc_matrix,
    "torch": lambda X: make_tensor(X),
    "torch rows": lambda X: list(make_tensor(X)),
    "torch half": lambda X: make_tensor(X).half(),
    "frame": pd.DataFrame,
    "dataset column": lambda X: datasets.Dataset.from_dict({"x": X.tolist()})["x"],
    "numpy dataset column": lambda X: datasets.Dataset.from_dict({"x": X.tolist()}).with_format(
        "numpy"
    )["x"],
    "arrow": lambda X: pa.array(X.tolist()),
}


@pytest.mark.parametrize("container", VECTOR_CONTAINERS)
@pytest.mark.parametrize("keyword", [{"score_X": True}, {"score_dual": True}, {"k": "linear"}])
def test_compute_accepts_vectors_in_any_container(container, keyword):
    X = VECTOR_CONTAINERS[container](ROWS)
    value = compute(X, normalize=True, **keyword)["VS"]
    assert float(value) == pytest.approx(1.99989799, rel=1e-6)


def test_score_of_float32_rows_matches_float64():
    X = np.random.default_rng(0).standard_normal((300, 40)).astype(np.float32)
    assert score_X(X) == pytest.approx(score_X(X.astype(float)), rel=1e-12)


def test_input_arrays_are_not_modified():
    X, K, p = ROWS.copy(), K3.copy(), np.full(3, 1 / 3)
    for q in (0.5, 1, 2, math.inf):
        score_X(X, q=q)
        score_K(K, q=q, p=p)
        compute(X, k="rbf", q=q)
    np.testing.assert_array_equal(X, ROWS)
    np.testing.assert_array_equal(K, K3)
    np.testing.assert_array_equal(p, np.full(3, 1 / 3))


def test_score_of_sparse_identity_equals_n():
    assert score_K(sp.identity(30, format="csr")) == pytest.approx(30)


@pytest.mark.parametrize("score_function", [score_X, score_dual])
def test_score_x_rejects_several_matrices(score_function):
    for X in (np.ones((4, 6, 3)), np.ones((2, 1, 3)).tolist(), [np.eye(2), np.eye(3)]):
        with pytest.raises(ValueError, match=r"`X` must be .* pass (np|one)"):
            score_function(X)
    assert score_function(ROWS.tolist()) == score_function(iter(ROWS)) == score_function(ROWS)


@pytest.mark.parametrize(
    ("matrix", "problem"),
    [
        ([], "`{}` is empty"),
        ("abc", "`{}` must be a collection"),
        ([1.0, 2.0], "`{}` must be two-dimensional"),
        ([[1.0, 0.0], [0.0]], "sample 1 of `{}` has shape"),
        ([[1.0, math.nan], [math.nan, 1.0]], "sample 0 of `{}` must be finite"),
    ],
)
def test_errors_contain_the_argument_name_of_the_function(matrix, problem):
    for score_function, name in ((score_K, "K"), (score_X, "X"), (score_dual, "X")):
        with pytest.raises((TypeError, ValueError), match=problem.format(name)):
            score_function(matrix)
    with pytest.raises((TypeError, ValueError), match=problem.format("samples")):
        compute(matrix, score_K=True)


def test_invalid_similarity_matrices_raise_with_argument_name():
    for K, problem in (
        (np.ones((2, 3)), "`K` must be a square"),
        (np.triu(np.ones((2, 2))), "`K` must be a symmetric"),
        (1 - np.eye(2), "`K` must be similarities .* probably contains distances"),
        (np.ones((2, 3, 3)), "`K` must be .* got 2 matrices; pass one matrix, and to `compute`"),
    ):
        with pytest.raises(ValueError, match=problem):
            score_K(K)
    with pytest.raises(ValueError, match="`references` must be a square"):
        compute(np.eye(3), np.ones((2, 3)), score_K=True, measures="MagDiff")


def test_result_keys_contain_orders():
    scores = compute(ROWS, score_X=True, normalize=True, q=[0, 1, 2.5, "inf", float("inf")])
    assert list(scores) == ["VS_q0", "VS_q1", "VS_q2.5", "VS_qinf"]
    assert compute(ROWS, score_X=True, normalize=True, q="inf")["VS_qinf"] == scores["VS_qinf"]
    order_two = compute(ROWS, score_X=True, normalize=True, q=np.array([2]))
    assert order_two == {"VS_q2": pytest.approx(score_X(ROWS, 2), rel=1e-14)}


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("q", [0, 0.5, 1, 2, "inf"])
def test_scores_of_one_and_two_samples(n, q):
    assert compute(["the same"] * n, q=q)[key_at(q)] == 1.0
    assert compute(np.ones((n, 3)), k="rbf", q=q)[key_at(q)] == 1.0
    assert compute(np.eye(n), score_K=True, q=q)[key_at(q)] == pytest.approx(n)


def test_weights_match_duplicates():
    p = [0.5, 0.25, 0.25]
    expected = score(["a b", "a b", "a c", "d"], "ngram_overlap")
    assert compute(["a b", "a c", "d"], p=p)["VS"] == pytest.approx(expected)
    assert compute(["a b", "a c", "d"], p=[0, 0, 1])["VS"] == 1.0
    repeated = compute(["a b", "d", "a b", "a c"], p=[0.2, 0.25, 0.3, 0.25])["VS"]
    assert repeated == pytest.approx(expected)


KEYWORD_CASES = [
    ({"k": "ngram_overlap"}, {"ns": [3]}),
    ({"k": "ngram_overlap"}, {"tokenizer": lambda text: text[:3].split()}),
    ({"k": "ngram_overlap"}, {"analyzer": "char"}),
    ({"k": "ngram_overlap"}, {"q": 2}),
    ({"k": "ngram_overlap"}, {"p": [0.6, 0.1, 0.1, 0.1, 0.1]}),
    ({"k": lambda a, b: float(min(len(a), len(b)))}, {"normalize": True}),
    ({"k": lambda a, b: 1.0 - 0.9 * (a != b and "Spot" in a + b), "psd": "clip"}, {"q": 3}),
]


@pytest.mark.parametrize(("base", "keyword"), KEYWORD_CASES)
def test_every_keyword_changes_the_score(base, keyword):
    try:
        baseline = compute(TEXTS, **base)
    except ValueError:
        baseline = None  # valid only with the keyword
    assert compute(TEXTS, **base, **keyword) != baseline


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_default_bandwidth_is_the_reported_median_distance(kernel):
    X = np.random.default_rng(0).standard_normal((25, 3))
    gaps = X[:, None] - X[None]
    D = np.sqrt((gaps**2).sum(-1)) if kernel == "rbf" else np.abs(gaps).sum(-1)
    median = np.median(D[np.triu_indices(25, 1)])
    result = compute(X, k=kernel, details=True)
    assert result["details"]["options"]["sigma"] == pytest.approx(median)
    assert compute(X, k=kernel, sigma=median)["VS"] == pytest.approx(result["VS"])
    doubled = compute(np.vstack([X, X]), k=kernel, details=True)
    assert doubled["details"]["options"]["sigma"] == pytest.approx(median)
    assert doubled["VS"] == pytest.approx(result["VS"])


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine", "linear"])
def test_vector_kernels_match_formulas(kernel):
    X = np.random.default_rng(0).standard_normal((12, 3)) + 100.0
    X = X / np.linalg.norm(X, axis=1)[:, None] if kernel == "linear" else X
    formula = {
        "rbf": lambda a, b: math.exp(-((a - b) ** 2).sum() / (2 * 1.5**2)),
        "laplacian": lambda a, b: math.exp(-np.abs(a - b).sum() / 1.5),
        "cosine": lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b),
        "linear": lambda a, b: a @ b,
    }[kernel]
    options = {"sigma": 1.5} if kernel in ("rbf", "laplacian") else {}
    dense = vendiscore.as_similarity(X, k=kernel, **options).dense()
    np.testing.assert_allclose(dense, [[formula(a, b) for b in X] for a in X], atol=1e-10)


def test_plain_numbers_match_vectors_of_length_one():
    assert compute([0, 1, 5], k="rbf", sigma=1)["VS"] == pytest.approx(
        compute([[0.0], [1.0], [5.0]], k="rbf", sigma=1)["VS"]
    )


def test_callable_kernel_is_called_once_per_distinct_pair():
    called_pairs = []

    def k(a, b):
        called_pairs.append((a, b))
        return compute_exponential_kernel(a, b)

    samples = list(range(40)) * 3
    value = score(samples, k)
    pairs = 40 * 41 // 2
    assert len(set(called_pairs[:pairs])) == pairs
    assert len(called_pairs) == pairs + 40 * 39 // 2  # the symmetry check
    assert value == pytest.approx(score(list(range(40)), compute_exponential_kernel))


def test_callable_kernel_returning_float32_gives_float32_matrix():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1)[:, None]
    similarity = vendiscore.as_similarity(list(X), k=lambda a, b: a @ b)
    assert similarity.K.dtype == np.float32
    assert score(list(X), lambda a, b: a @ b) == pytest.approx(score_X(X), rel=1e-5)


def test_details_contain_settings_method_and_signature():
    p = np.array([0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125])
    result = compute(
        [*TEXTS, TEXTS[0]],
        ns=(1, 2),
        q=[1, 2],
        tokenizer=str.split,
        p=p,
        details=True,
    )
    details = result["details"]
    assert details["n"] == 6
    assert details["distinct"] == 5
    assert details["kernel"] == "ngram_overlap"
    assert details["options"] == {
        "ns": [1, 2],
        "tokenizer": "str.split",
        "analyzer": "word",
    }
    assert details["method"] == {"1": "eigenvalues", "2": "eigenvalues"}
    assert "with 5 distinct samples" in details["why"]["1"]
    assert details["versions"]["vendiscore"] == vendiscore.__version__
    assert details["signature"] == (
        "VS|kernel=ngram_overlap|ns=1,2|tokenizer=str.split|analyzer=word|"
        f"p={compute_digest(p)}|q=1,2|n=6|vendiscore={vendiscore.__version__}"
    )


def test_compute_accepts_a_similarity_object():
    similarity = vendiscore.MatrixSimilarity(K3)
    assert compute(similarity)["VS"] == pytest.approx(score_K(K3), rel=1e-14)


def test_score_of_questions_matches_naive_ngrams(questions):
    assert len(questions) == 5444
    first = questions[:500]
    from nltk.tokenize import NLTKWordTokenizer

    tokens = [NLTKWordTokenizer().tokenize(question) for question in first]
    K = np.zeros((500, 500))
    for n in (1, 2):
        bags = []
        for words in tokens:
            bag: dict = {}
            for i in range(len(words) - n + 1):
                gram = tuple(words[i : i + n])
                bag[gram] = bag.get(gram, 0) + 1
            bags.append(bag)
        norms = [math.sqrt(sum(c * c for c in bag.values())) for bag in bags]
        for i in range(500):
            for j in range(500):
                dot = sum(c * bags[j].get(gram, 0) for gram, c in bags[i].items())
                K[i, j] += dot / (norms[i] * norms[j] or 1) / 2
    root = np.sqrt(np.diag(K))
    lam = np.linalg.eigvalsh(K / np.outer(root, root) / 500)
    lam = lam[lam > 1e-14]
    assert compute(first, ns=[1, 2])["VS"] == pytest.approx(
        math.exp(-(lam * np.log(lam)).sum()), rel=1e-8
    )


@pytest.mark.parametrize("measures", ["IntDiv", ["SelfBLEU", "IntDiv"], {"NgramDiversity": {}}])
@pytest.mark.parametrize("q", [2, [1], "inf"])
def test_q_without_effect_raises(measures, q):
    texts = ["a cat sat", "a cat ran", "the dog"]
    with pytest.raises(TypeError, match=r"`q=.*` has no effect on .*; remove `q`, or add .*VS, "):
        compute(texts, measures=measures, q=q)
    assert compute(texts, measures=measures, q=1) == compute(texts, measures=measures)
    result = compute(texts, measures=["IntDiv", "VS"], q=q)
    assert len(result) == 2


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("name", HALF_SPECTRA)
def test_scores_match_known_eigenvalues(name, q):
    expected = pytest.approx(circulant_score(name, q), rel=1e-7)
    K, X = circulant_matrix(name), circulant_features(name)
    assert compute(K, score_K=True, q=q)[key_at(q)] == expected
    assert next(iter(compute(K, score_K=True, q=[q, 0.8]).values())) == expected
    assert compute(X, score_X=True, q=q)[key_at(q)] == expected
    assert score_K(K, q) == expected
    assert score_X(X, q) == expected
    float32_K = K.astype(np.float32)
    if name != "of a small tail":  # its tail is smaller than the rounding of float32 entries
        expected = pytest.approx(circulant_score(name, q), rel=3e-6)
        assert compute(float32_K, score_K=True, q=q)[key_at(q)] == expected


@pytest.mark.parametrize("q", ORDERS)
def test_negative_eigenvalues_raise_or_are_clipped(q):
    slightly_indefinite, indefinite = (
        circulant_matrix("slightly negative"),
        circulant_matrix("negative"),
    )
    if q != 2:  # the norm includes negative eigenvalues
        result = compute(slightly_indefinite, score_K=True, q=q)[key_at(q)]
        assert result == pytest.approx(circulant_score("slightly negative", q), rel=1e-9)
        with pytest.raises(NotPSDError) as error:
            compute(indefinite, score_K=True, q=q)
        assert error.value.negative_mass == pytest.approx(0.02)
        assert error.value.smallest == pytest.approx(-0.01)
    for K, name in ((slightly_indefinite, "slightly negative"), (indefinite, "negative")):
        result = compute(K, score_K=True, q=q, psd="clip")[key_at(q)]
        assert result == pytest.approx(circulant_score(name, q), rel=1e-9)


@pytest.mark.parametrize("q", [0.0, 0.5, 1.0, 2.0, math.inf])
def test_score_of_identity_equals_effective_number_of_weights(q):
    for p in (np.array([0.0, 0.5, 0.5 - 1e-30, 1e-30]), np.array([0.5, 0.5 - 1e-30, 1e-30])):
        expected = pytest.approx(vendiscore.effective_number(p, q), rel=1e-12)
        assert compute(np.eye(len(p)), score_K=True, q=q, p=p)[key_at(q)] == expected


def test_truncated_eigenvalues_warn_below_order_one():
    X = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 60)))[0]
    X = X * 10.0 ** -np.arange(60)
    K = X @ X.T
    with pytest.warns(UserWarning, match="may be rounding errors and are set to zero"):
        compute(K, score_K=True, normalize=True, q=0)


@pytest.mark.parametrize("q", [1.0, 1.5, 1.9])
def test_small_eigenvalues_of_float32_matrix_count_from_order_one(q):
    """Each small eigenvalue may be a rounding error of the entries, but their sum is not."""
    labels = np.arange(300) % 2
    K = ((1 - 3e-6) * (labels[:, None] == labels)).astype(np.float32)
    np.fill_diagonal(K, 1)
    exact = compute(K.astype(np.float64), score_K=True, q=q)[key_at(q)]
    assert exact > 2 + 1e-6
    assert compute(K, score_K=True, q=q)[key_at(q)] == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("name", HALF_SPECTRA)
def test_spectrum_is_descending(name):
    values = vendiscore.spectrum(vendiscore.as_similarity(circulant_matrix(name), score_K=True))
    expected = np.sort(circulant_eigenvalues(name))[::-1]
    assert values == pytest.approx(
        expected[: len(values)], abs=1e-12
    )  # eigenvalues of distinct samples
    p = np.array([0.2, 0.5, 0.3])
    diagonal = vendiscore.spectrum(vendiscore.as_similarity(np.eye(3), score_K=True), p)
    assert diagonal == pytest.approx([0.5, 0.3, 0.2], rel=1e-15)


@pytest.mark.parametrize("q", ORDERS)
def test_score_of_groups_is_mean_of_known_scores(q):
    n = 7 * len(HALF_SPECTRA)
    K = np.eye(n)
    for i, name in enumerate(HALF_SPECTRA):
        K[7 * i : 7 * i + 7, 7 * i : 7 * i + 7] = circulant_matrix(name)
    result = compute(K, score_K=True, q=q, groups=np.repeat(np.arange(n // 7), 7), details=True)
    scores = [row[key_at(q)] for row in result["details"]["groups"]]
    assert scores == pytest.approx([circulant_score(name, q) for name in HALF_SPECTRA], rel=1e-7)
    assert result[key_at(q)] == pytest.approx(np.mean(scores))


def test_negative_eigenvalues_from_float16_rounding_warn():
    """Their sum may be up to a quarter of the float16 precision times √n."""
    generator = np.random.default_rng(3)
    X = generator.standard_normal((60, 2))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    K = X @ X.T
    np.fill_diagonal(K, 1)
    K = K.astype(np.float16)
    values = np.linalg.eigvalsh(K.astype(float) / 60)
    limit = 0.25 * 2.0**-10 * math.sqrt(60)
    assert limit / 60 < -values[values < 0].sum() < limit
    with pytest.warns(UserWarning, match="treated as rounding errors of the input precision"):
        result = compute(K, score_K=True, q=1.5)["VS_q1.5"]
    assert result == pytest.approx(compute(X, score_X=True, q=1.5)["VS_q1.5"], rel=5e-3)
