"""Hypothesis strategies for samples of each kernel, with the similarity matrix by definition."""

from dataclasses import dataclass, field
from typing import Any

import fuzz
import numpy as np
import reference
import scipy.sparse as sp
from hypothesis import strategies as st

WORDS = ("cat", "dog", "sat", "mat", "ran", "red", "old", "the", "a", "on")
SMILES = ("CCO", "CCN", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O", "C[C@H](N)C(=O)O", "OCC", "C", "CC")
LABELS = ("oak", "elm", "été", "", 1, 1.0, True, 2, -0.0, 0, ("a", 1), b"oak")


@dataclass
class KernelExample:
    """Samples, options of `compute`, and the similarity matrix K by definition.

    `noise` is the allowed difference of two correct computations of an entry of K.
    """

    samples: Any
    options: dict[str, Any]
    K: np.ndarray = field(repr=False)
    noise: float = 0.0


@st.composite
def vector_kernels(draw):
    """Return examples of kernels of vectors, as arrays or lists."""
    name = draw(st.sampled_from(("cosine", "linear", "score_X", "score_dual", "rbf", "laplacian")))
    angular = name in ("cosine", "linear", "score_X", "score_dual")
    # "linear" computes x·y before normalization, so the squares must not overflow.
    scales = (1.0, 1e-40, 1e40) if name == "linear" else fuzz.SCALES
    X = draw(fuzz.row_sets(nonzero=angular, scales=scales))
    rows = X.tolist()
    if angular:
        options = {name: True} if name.startswith("score") else {"k": name}
        options |= {} if name == "cosine" else {"normalize": True}
        case = KernelExample(X, options, reference.similarity_matrix(rows, reference.cosine))
    else:
        spread = float(np.ptp(X)) or 1.0
        factor = draw(st.sampled_from((None, None, 1.0, 0.05, 20.0)))
        sigma = None if factor is None else factor * spread
        k = {"rbf": reference.rbf, "laplacian": reference.laplacian}[name](rows, sigma)
        options = {"k": name} | ({} if sigma is None else {"sigma": sigma})
        # Squared distances of more than 16 columns come from a product where they are large.
        noise = 1e-11 if name == "rbf" and X.shape[1] > 16 else 1e-14
        case = KernelExample(X, options, reference.similarity_matrix(rows, k), noise)
    if draw(st.booleans()):
        case.samples = rows
    return case


@st.composite
def text_kernels(draw):
    """Return examples of texts with n-gram or word overlap, and their reference matrices."""
    words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
    samples = draw(st.lists(words, min_size=1, max_size=9))
    char = draw(st.booleans())
    tokenize = list if char else str.split
    shortest = min(len(tokenize(text)) for text in samples)
    ns = draw(st.sets(st.integers(1, 5), min_size=1, max_size=4).map(sorted))
    ns = ns if min(ns) <= shortest else [1, *ns]
    if not char and draw(st.booleans()):
        K = reference.similarity_matrix([set(text.split()) for text in samples], reference.tanimoto)
        return KernelExample(samples, {"k": "word_overlap"}, K)
    options = {"ns": draw(st.sampled_from((list, tuple, np.array)))(ns)}
    options |= {"analyzer": "char"} if char else {"tokenizer": str.split}
    options |= draw(st.sampled_from(({}, {"k": "ngram_overlap"})))
    return KernelExample(
        samples,
        options,
        reference.similarity_matrix(samples, reference.ngram_overlap(ns, tokenize)),
    )


@st.composite
def object_kernels(draw):
    """Return examples of labels, tags, class probabilities, or numbers with a custom function."""
    name = draw(st.sampled_from(("labels", "tags", "probability_product", "function")))
    n = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(fuzz.seeds))
    if name == "labels":
        samples = [LABELS[i] for i in rng.integers(0, len(LABELS), n)]
        return KernelExample(
            samples, {"k": name}, reference.similarity_matrix(samples, reference.same_label)
        )
    if name == "tags":
        samples = [[LABELS[i] for i in rng.integers(0, 6, rng.integers(1, 5))] for _ in range(n)]
        return KernelExample(
            samples, {"k": name}, reference.similarity_matrix(samples, reference.tags)
        )
    if name == "probability_product":
        P = rng.dirichlet(np.full(4, 0.3), n)
        P[rng.random(n) < 0.3] = np.eye(4)[rng.integers(4)]
        return KernelExample(
            P, {"k": name}, reference.similarity_matrix(P.tolist(), reference.probability_product)
        )
    samples = draw(st.lists(st.sampled_from((0, 1, 2.5, -3, 7, 0.0, -0.0)), min_size=1, max_size=9))
    kind = draw(st.sampled_from((float, np.float32, np.float64)))

    def k(a, b):  # dyadic, so that it is the same in single precision; tridiagonal, hence PSD
        return kind(1.0) if a == b else kind(0.25 if abs(a - b) <= 2 else 0.0)

    return KernelExample(
        samples, {"k": k, "psd": "clip"}, reference.similarity_matrix(samples, k), 1e-7
    )


@st.composite
def molecule_kernels(draw):
    """Return examples of molecules with Morgan fingerprints, and their reference matrices."""

    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    samples = draw(st.lists(st.sampled_from(SMILES), min_size=1, max_size=8))
    bits, radius = draw(st.sampled_from((16, 512))), draw(st.integers(0, 3))
    measure = draw(st.sampled_from(("tanimoto", "dice")))
    make = rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=bits)
    prints = [set(make.GetFingerprint(Chem.MolFromSmiles(s)).GetOnBits()) for s in samples]
    K = reference.similarity_matrix(prints, getattr(reference, measure))
    options = {"k": "morgan", "radius": radius, "n_bits": bits, "coefficient": measure}
    return KernelExample(samples, options, K)


@st.composite
def bit_kernels(draw):
    """Return examples of binary rows, many of them equal or empty, in any container."""
    n, d = draw(st.integers(1, 9)), draw(st.sampled_from((1, 3, 40)))
    rng = np.random.default_rng(draw(fuzz.seeds))
    X = rng.random((n, d)) < draw(st.sampled_from((0.02, 0.3, 0.9)))
    X = X[rng.integers(0, n, n)]
    measure = draw(st.sampled_from(("tanimoto", "dice")))
    hold = draw(st.sampled_from((np.array, np.float32, np.int64, np.ndarray.tolist, sp.csr_array)))
    sets = [set(np.flatnonzero(row).tolist()) for row in X]
    K = reference.similarity_matrix(sets, getattr(reference, measure))
    return KernelExample(hold(X), {"k": "tanimoto", "coefficient": measure}, K)


@st.composite
def kernel_mixtures(draw):
    """Return examples of sums and products of kernels on columns."""
    n = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(fuzz.seeds))
    labels = [LABELS[i] for i in rng.integers(0, 4, n)]
    rows = draw(st.just(fuzz.draw_rows(rng, n, 3, "grid") + 0.25)).tolist()
    columns = {"kind": labels, "place": rows}
    A = reference.similarity_matrix(labels, reference.same_label)
    B = reference.similarity_matrix(rows, reference.rbf(rows, 2.0))
    names = ["labels:kind", "rbf:place"]
    options = {"options": {"rbf:place": {"sigma": 2.0}}}
    if draw(st.booleans()):
        return KernelExample(columns, {"k": names, "combine": "product", **options}, A * B, 1e-14)
    w = draw(st.floats(0, 1))
    k = dict(zip(names, (w, 1 - w), strict=True))
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return KernelExample(records, {"k": k, **options}, w * A + (1 - w) * B, 1e-14)


all_kernels = st.one_of(
    vector_kernels(),
    vector_kernels(),
    text_kernels(),
    object_kernels(),
    bit_kernels(),
    kernel_mixtures(),
)
