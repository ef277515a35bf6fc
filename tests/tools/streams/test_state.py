"""`State` is a commutative monoid whose score equals the score of all samples together."""

import copy
import itertools
import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import circulant_matrices as known
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vendiscore import SampleError, State, TooLargeError, compute, effective_number
from vendiscore.encoders.sample_encoder import CallableModel, Encoder
from vendiscore.encoders.text_encoders import TEXTS
from vendiscore.result import key_at
from vendiscore.tools.streams.second_moment import is_smaller_as_rows

ORDERS = [0.5, 1, 2, "inf"]
EXACT = 1e-12
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) * np.exp(RNG.standard_normal((60, 1)))


def naive_score(X: np.ndarray, q: float, weights: np.ndarray | None = None) -> float:
    """Compute the score from the eigenvalues of the weighted similarity matrix."""
    X = np.asarray(X, dtype=float)
    U = X / np.linalg.norm(X, axis=1)[:, None]
    weights = np.ones(len(X)) if weights is None else weights
    K = U @ U.T * np.sqrt(np.outer(weights, weights)) / weights.sum()
    eigenvalues = np.linalg.eigvalsh(K)
    eigenvalues = eigenvalues[eigenvalues > 1e-13]
    if q == 1:
        return math.exp(-float(eigenvalues @ np.log(eigenvalues)))
    return float(
        1 / eigenvalues.max() if q == math.inf else np.sum(eigenvalues**q) ** (1 / (1 - q))
    )


def all_scores(state: State) -> np.ndarray:
    return np.array(list(state.compute(q=ORDERS).values()))


def assert_equal_states(a: State, b: State) -> None:
    assert (a.n, a.d, a.settings) == (b.n, b.d, b.settings)
    assert a.weight == pytest.approx(b.weight, rel=EXACT)
    if a.n:
        np.testing.assert_allclose(all_scores(a), all_scores(b), rtol=EXACT)


def split_rows(X, boundaries: list[int]) -> list:
    edges = [0, *sorted(min(boundary, len(X)) for boundary in boundaries), len(X)]
    return [X[a:b] for a, b in itertools.pairwise(edges) if b > a]


def build_state(batches, **options) -> State:
    state = State.empty(**(options or {"k": "cosine"}))
    for batch in batches:
        state.update(batch)
    return state


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, 3.7, math.inf])
@pytest.mark.parametrize("n", [1, 2, 3, 60])
def test_state_score_matches_naive_score_and_compute(n, q):
    state = build_state(split_rows(X[:n], [1, 2, 30]))
    assert state.compute(q=q)[key_at(q)] == pytest.approx(
        naive_score(X[:n], q) if q else min(n, 5), rel=1e-10
    )
    assert state.compute(q=q) == pytest.approx(compute(X[:n], k="cosine", q=q), rel=EXACT)
    assert 1 <= state.compute(q=q)[key_at(q)] <= n
    assert len(state) == state.n == state.weight == n


# Rows of small positive integers, so that repeated and linearly dependent rows are frequent.
ROW_ARRAYS = st.integers(1, 4).flatmap(
    lambda d: arrays(np.int8, st.tuples(st.integers(1, 12), st.just(d)), elements=st.integers(1, 4))
)
DTYPES = st.sampled_from([np.float64, np.float32, np.float16, np.int64])
BOUNDARIES = st.lists(st.integers(0, 12), max_size=4)


@settings(max_examples=60)
@given(
    rows=ROW_ARRAYS, dtype=DTYPES, boundaries=BOUNDARIES, order=st.randoms(use_true_random=False)
)
def test_states_form_a_commutative_monoid(rows, dtype, boundaries, order):
    samples = rows.astype(dtype)
    empty = State.empty(k="cosine")
    full = build_state([samples])
    states = [build_state([piece]) for piece in split_rows(samples, boundaries)]
    order.shuffle(states)
    assert_equal_states(empty.merge(*states), full)
    assert_equal_states(build_state(split_rows(samples, boundaries)), full)
    a, b, c = states[0], states[-1], states[len(states) // 2]
    assert_equal_states((a + b) + c, a + (b + c))
    assert_equal_states(a + b, b + a)
    assert_equal_states(a + empty, a)
    assert_equal_states(empty + a, a)
    assert_equal_states(State.from_bytes(a.to_bytes()) + b, a + b)
    assert empty.n == 0
    weighted = empty.update(samples, p=np.full(len(samples), 0.25))
    np.testing.assert_allclose(all_scores(weighted), all_scores(full), rtol=EXACT)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), boundaries=st.lists(st.integers(0, 400), max_size=6))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_merged_weighted_states_give_the_score_of_all_samples(dtype, seed, boundaries):
    rng = np.random.default_rng(seed)
    samples = (rng.standard_normal((400, 16)) @ np.diag(2.0 ** -np.arange(16))).astype(dtype)
    weights = rng.exponential(size=400) * (rng.random(400) < 0.9)
    empty = State.empty(k="cosine")
    states = [
        State.empty(k="cosine").update(piece, p=piece_weights)
        for piece, piece_weights in zip(
            split_rows(samples, boundaries), split_rows(weights, boundaries), strict=True
        )
    ]
    merged = empty.merge(*states)
    assert_equal_states(merged, empty.update(samples, p=weights))
    expected = compute(samples.astype(float), k="cosine", q=2, p=weights / weights.sum())
    assert merged.compute(q=2) == pytest.approx(expected, rel=EXACT)
    assert expected["VS_q2"] == pytest.approx(naive_score(samples, 2, weights), rel=1e-10)


def test_update_modifies_the_state_but_not_the_batch():
    state, rows = State.empty(k="cosine"), X[:2].copy()
    assert state.update(X[:20]) is state
    state.update(rows)
    rows[:] = 7
    assert state.compute() == build_state([X[:20], X[:2]]).compute()
    before = state.to_bytes()
    merged, doubled = state.merge(), state + state
    assert (merged.update(X).n, doubled.update(X).n, copy.copy(state).update(X).n) == (82, 104, 82)
    for batch in ([[1.0]], X[:, :3], [["a"]], np.zeros((2, 5)), np.full((2, 5), np.nan)):
        with pytest.raises((TypeError, ValueError)):
            state.update(batch)
    assert state.to_bytes() == before
    with pytest.raises(AttributeError, match="attribute `n` of a State cannot be set; add"):
        state.n = 3
    assert X.flags.writeable


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_interrupted_update_adds_nothing(error):
    def model(texts):
        if "stop" in texts:
            raise error
        return np.array([[len(text), 1.0] for text in texts])

    state = State(k="text_embeddings", model=model).update(["a", "bb"])
    before = state.to_bytes()
    with pytest.raises(error):
        state.update(["ccc", "stop"])
    assert state.to_bytes() == before


def test_concurrent_updates_are_all_added():
    state = State(k="cosine")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(state.update, [X[i : i + 1] for i in range(60)] * 5))
    assert state.n == 300
    assert state.compute() == pytest.approx(build_state([X]).compute(), rel=EXACT)


def test_state_without_kernel_raises_and_lists_supported_kernels():
    with pytest.raises(ValueError, match=r"`k` is required: a State .*'cosine'"):
        State()
    assert State("cosine").settings == State.empty("cosine").settings


INPUTS = {
    "dot products": ({"score_X": True, "normalize": True}, X),
    "dual": ({"score_dual": True, "normalize": True}, X),
    "unit rows": ({"score_X": True}, X / np.linalg.norm(X, axis=1)[:, None]),
    "linear": ({"k": "linear", "normalize": True}, X),
    "lists": ({"k": "cosine"}, X.tolist()),
    "numbers": ({"k": "cosine"}, [1.0, -2.0, 3.0, -0.0 - 1e-9]),
    "sparse": ({"k": "cosine"}, sp.csr_array(np.hstack([X * (X > 0), np.ones((60, 1))]))),
    "single precision": ({"k": "cosine"}, X.astype(np.float32)),
    "half precision": ({"k": "cosine"}, X.astype(np.float16)),
    "integers": ({"k": "cosine"}, np.arange(1, 61).reshape(20, 3)),
    "far rows": ({"k": "cosine"}, X * np.geomspace(1e-200, 1e200, 60)[:, None]),
    "repeats": ({"k": "cosine"}, np.repeat(X[:3], 20, axis=0)),
    "negative zeros": ({"k": "cosine"}, np.where(np.eye(60, 70) > 0, 1.0, -0.0)),
    "columns first": ({"k": "cosine"}, np.asfortranarray(X)),
    "every other row": ({"k": "cosine"}, X[::2, ::-1]),
    "a function as model": (
        {"k": "text_embeddings", "model": lambda texts: [[len(t), t.count("a"), 1] for t in texts]},
        ["a", "bb", "banana", "bb", "a cat", "a cat sat"] * 3,
    ),
}


@pytest.mark.parametrize("case", INPUTS)
@pytest.mark.parametrize("size", [1, 7, 60])
def test_state_score_equals_compute_for_all_input_formats(case, size):
    options, samples = INPUTS[case]
    n = samples.shape[0] if hasattr(samples, "shape") else len(samples)
    state = build_state([samples[i : i + size] for i in range(0, n, size)], **options)
    assert state.n == n
    # `compute` multiplies many float32 rows in float32.
    rel = 1e-6 if case == "single precision" else 1e-11
    assert state.compute(q=[0.5, 1]) == pytest.approx(
        compute(samples, q=[0.5, 1], **options), rel=rel
    )


def test_state_accepts_images():
    pytest.importorskip("PIL")
    images = RNG.integers(1, 255, (9, 6, 4, 3), dtype=np.uint8)
    state = build_state([images[:2], images[2:]], k="pixels", size=2)
    assert state.d == 12
    assert state.compute() == pytest.approx(compute(images, k="pixels", size=2), rel=EXACT)


def test_state_accepts_tensors_without_gradient():
    torch = pytest.importorskip("torch")
    T = torch.tensor(X, dtype=torch.float32)
    batches = [T[:20], T[20:].double().numpy()]
    state = build_state(batches)
    assert state.compute() == pytest.approx(compute(T.double().numpy(), k="cosine"), rel=EXACT)
    weighted = State.empty(k="cosine").update(T, p=torch.arange(60))
    expected = compute(T.double().numpy(), k="cosine", p=np.arange(60) / np.arange(60).sum())
    assert weighted.compute() == pytest.approx(expected, rel=EXACT)
    with pytest.raises(TypeError, match=r"a State cannot be differentiated; pass samples.detach"):
        State.empty(k="cosine").update(T.requires_grad_())


def test_dropped_samples_are_counted_without_their_weight():
    texts = ["a", "", "b", "a b"]
    options = {"k": "text_embeddings", "model": letter_counts, "on_error": "skip"}
    with pytest.warns(UserWarning, match="dropped 1 of 4"):
        state = State.empty(**options).update(["a", None, "b", "a b"], p=[1, 9, 1, 2])
    assert (state.n, state.dropped, state.weight) == (3, 1, 4)
    expected = State.empty(**options).update([texts[0], *texts[2:]], p=[1, 1, 2])
    assert state.compute() == expected.compute()
    assert "dropped=1" in state.compute(details=True)["details"]["signature"]


def letter_counts(texts):
    return np.array([[1.0, t.count("a"), t.count("b")] for t in texts])


@pytest.mark.parametrize("k", ["bleu", "laplacian", "ngram_overlap", "rbf", "tanimoto"])
def test_kernel_without_fixed_features_raises_and_lists_alternatives(k):
    with pytest.raises(ValueError, match=f"'{k}', which has no features of fixed") as caught:
        State.empty(k=k)
    for name in ("'cosine'", "'linear'", "'text_embeddings'", "score_X=True", "method='estimate'"):
        assert name in str(caught.value)
    assert repr(k) not in str(caught.value).partition("pass one of")[2]


def test_details_contain_method_and_signature():
    state = State.empty(k="text_embeddings", model=letter_counts).update(["a", "b", "ab"])
    result = state.compute(q=[1, 2], details=True)["details"]
    assert (result["n"], result["kernel"], result["method"]["2"]) == (
        3,
        "text_embeddings",
        "covariance",
    )
    assert "3 features" in result["why"]["1"]
    for text in ("VS|kernel=text_embeddings", "model=", "|p=uniform|q=1,2|n=3|", "letter_counts@"):
        assert text in result["signature"]
    weighted = State.empty(k="cosine").update(X, p=np.ones(60) / 2).compute(details=True)
    assert "p='given, sum 30'" in weighted["details"]["signature"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "`k` is required: a State supports only kernels"),
        (
            {"k": "ngram_overlap", "analyzer": "char"},
            ValueError,
            "'ngram_overlap', which has no features",
        ),
        ({"k": "rbf", "sigma": 1.0}, ValueError, "kernel 'rbf', which has no features of fixed"),
        ({"k": min}, ValueError, "does not support a function of two samples"),
        ({"k": {"cosine": 1.0}}, ValueError, "does not support a mixture of kernels"),
        ({"score_K": True}, ValueError, "`score_K` is not supported by a State"),
        ({"k": "cosine", "metric": "kernel"}, ValueError, "`metric` is not supported by a State"),
        ({"k": "cosine", "fit": "pool"}, ValueError, "`fit` is not supported by a State"),
        ({"k": "cosine", "precision": "single"}, TypeError, "computed in double precision"),
        (
            {"score_X": True, "precision": "single"},
            TypeError,
            "computed in double precision",
        ),
        ({"k": "cosine", "sigma": 1}, TypeError, "'sigma' is not an option of kernel 'cosine'"),
        ({"k": "cosine", "score_X": True}, ValueError, "`k` and `score_X` are mutually exclusive"),
        ({"k": "cosin"}, ValueError, "unknown kernel `k='cosin'`. Did you mean 'cosine'"),
    ],
)
def test_unsupported_options_raise_before_any_update(options, error, message):
    with pytest.raises(error, match=message):
        State.empty(**options)


@pytest.mark.parametrize(
    ("batch", "p", "error", "message"),
    [
        (X, [1.0], ValueError, "`p` must have one number for each of 60 samples"),
        (X[:2], [1, -1], ValueError, "sample 1 of `p` must be finite and at least 0, got -1"),
        (X[:2], [1, np.nan], ValueError, "sample 1 of `p` must be finite and at least 0, got nan"),
        (X[:2], ["a", "b"], SampleError, "sample 0 of `p` must be a number, got 'a'"),
        (X[:2], [True, False], SampleError, "sample 0 of `p` must be a number, got True"),
        (X[:2], 1.0, TypeError, "`p` must be numbers, one for each sample, got 1.0"),
        (None, None, TypeError, "`samples` is missing"),
        ("text", None, TypeError, "must be a collection of samples"),
        (np.zeros((3, 2)), None, SampleError, "sample 0 is a zero vector"),
        ([[1, 2], [1]], None, SampleError, "sample 1 of `samples` has shape"),
        (np.array([[1, np.inf]]), None, SampleError, "must be finite, got inf"),
        (np.ones((2, 0)), None, ValueError, "must have at least one column"),
    ],
)
def test_invalid_batch_raises(batch, p, error, message):
    with pytest.raises(error, match=message):
        State.empty(k="cosine").update(batch, p)


def test_rows_without_unit_norm_raise_unless_normalized():
    with pytest.raises(ValueError, match=r"similarity 1 with itself, got 4.*normalize=True"):
        State.empty(score_X=True).update(np.full((3, 4), 1.0))


def test_compute_requires_samples_with_positive_weight():
    with pytest.raises(ValueError, match="`compute` requires samples, but none were added; call"):
        State.empty(k="cosine").compute()
    with pytest.raises(ValueError, match=r"all weights must be between .*, got 0; rescale"):
        State.empty(k="cosine").update(X, p=np.zeros(60)).compute()
    with pytest.raises(ValueError, match=r"got 1e-250"):
        State.empty(k="cosine").update(X[:1], p=[1e-250]).compute()
    with pytest.raises(ValueError, match=r"`q` must be a number in \[0, inf\]"):
        build_state([X]).compute(q=-1)
    with pytest.raises(ValueError, match="`psd` must be 'check' or 'clip'"):
        build_state([X]).compute(psd="no")
    assert build_state([X]).compute(psd="clip") == build_state([X]).compute()


def test_merge_of_different_settings_raises_and_names_them():
    def empty_state(**options):
        return State.empty(**options)

    pairs = [
        (
            empty_state(k="cosine"),
            empty_state(k="linear", normalize=True),
            "`kernel` is 'cosine' and 'linear'",
        ),
        (
            empty_state(score_X=True),
            empty_state(score_X=True, normalize=True),
            "`normalize` is 'nothing' and True",
        ),
        (empty_state(k="pixels"), empty_state(k="pixels", size=8), "`size` is 32 and 8"),
        (build_state([X]), build_state([X[:, :3]]), "`d` is 5 and 3"),
        (
            empty_state(k="text_embeddings", model=letter_counts),
            empty_state(k="text_embeddings", model=naive_score),
            "`model` is 'tests.*letter_counts@.*' and 'tests.*naive_score@",
        ),
    ]
    for a, b, message in pairs:
        with pytest.raises(ValueError, match=f"the same settings, but {message}"):
            a.merge(b)
    assert empty_state(k="pixels").merge(empty_state(k="pixels", size=32)).n == 0  # the default
    with pytest.raises(TypeError, match="`merge` requires State objects, got bytes; convert"):
        empty_state(k="cosine").merge(b"")
    with pytest.raises(TypeError):
        empty_state(k="cosine") + 1


def test_encoders_are_compared_by_their_settings():
    def encoder(name):
        model = CallableModel(letter_counts, letter_counts)
        model.settings = {"model": name, "revision": "main"}
        return Encoder(TEXTS, model, 8)

    state_1, state_2 = (
        State.empty(k="text_embeddings", model=encoder(name)).update(["a", "b"])
        for name in ("one", "two")
    )
    assert state_1.merge(State.empty(k="text_embeddings", model=encoder("one"))).n == 2
    with pytest.raises(ValueError, match=r"`model` is .*one.* and .*two"):
        state_1.merge(state_2)


def test_rows_are_stored_while_smaller_than_their_product():
    wide = RNG.standard_normal((40, 50))
    state = State.empty(k="cosine")
    for i, row in enumerate(wide):
        state.update(row[None])
        stored_numbers = len(state.to_bytes()) / 8
        assert stored_numbers < min((i + 1) * 50, 50 * 51 / 2) + 60
        assert is_smaller_as_rows(i + 1, 50) == (i + 1 <= 25)
    assert state.compute() == pytest.approx(compute(wide, k="cosine"), rel=EXACT)


def test_too_many_features_raise_before_memory_is_used(monkeypatch):
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 10**6)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    small_state = State.empty(k="cosine").update(RNG.standard_normal((20, 1500)))
    assert small_state.compute()["VS"] <= 20
    with pytest.raises(TooLargeError, match="a state of 1500 features needs"):
        State.empty(k="cosine").update(RNG.standard_normal((1600, 1500)))


def test_state_has_repr_and_is_picklable():
    state = build_state([X])
    assert repr(state) == "<State of 60 samples, 5 features: kernel='cosine'>"
    assert repr(State.empty(k="cosine")) == "<State of 0 samples: kernel='cosine'>"
    copied = pickle.loads(pickle.dumps(state))
    assert copied.update(X).compute() == build_state([X, X]).compute()
    assert (copied.n, state.n) == (120, 60)
    assert State.empty(k="cosine")  # an empty state is truthy


@pytest.mark.parametrize(
    ("q", "keys"),
    [
        (1, ["VS"]),
        (2, ["VS_q2"]),
        ("inf", ["VS_qinf"]),
        ([1], ["VS_q1"]),
        ([0, 2], ["VS_q0", "VS_q2"]),
    ],
)
def test_keys_match_compute(q, keys):
    result = build_state([X]).compute(q=q)
    assert list(result) == list(compute(X, k="cosine", q=q)) == keys
    with pytest.raises(KeyError, match="no key 'LC'; available keys: 'VS"):
        result["LC"]


@pytest.mark.parametrize("q", known.ORDERS)
@pytest.mark.parametrize("name", known.HALF_SPECTRA)
@pytest.mark.parametrize("repeats", [1, 3])
def test_scores_match_known_eigenvalues(name, q, repeats):
    """Few rows are stored as rows, more rows as a triangle."""
    state = State(score_X=True)
    for _ in range(repeats):
        state.update(known.circulant_features(name))
    expected = pytest.approx(known.circulant_score(name, q), rel=1e-7)
    assert state.compute(q)[key_at(q)] == expected
    assert next(iter(state.compute([q, 0.8]).values())) == expected


@pytest.mark.parametrize("q", known.ORDERS)
def test_tiny_weights_of_orthogonal_rows_count(q):
    for p in (np.array([0.0, 0.5, 0.5 - 1e-30, 1e-30]), np.array([0.5, 0.5 - 1e-30, 1e-30])):
        state = State(score_X=True).update(np.eye(len(p)), p)
        assert state.compute(q)[key_at(q)] == pytest.approx(effective_number(p, q), rel=1e-12)
