"""Kernels against `vendi_score` 0.0.3 (molecules, n-grams) and sacrebleu (BLEU), in pairs.

python benchmarks/kernels.py --json benchmarks/results/kernels.json

`ngram_vendi_score` itself does not run on SciPy ≥ 1.14, so `their_ngrams` is its algorithm, and
`their_tanimoto` the algorithm of `molecule_utils.get_tanimoto_K`. Peaks of memory are above what
imports and samples take, each in a process of its own (Linux only).
"""

import csv
from collections.abc import Callable
from typing import Any

import numpy as np
from pairs import DATA, agree, arguments, compare, environment, peak, write
from rdkit import DataStructs, rdBase
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.AllChem import GetMorganFingerprintAsBitVect
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from vendi_score import vendi

import vendiscore

NS = (1, 2, 3, 4)


def molecules() -> list[Any]:
    with (DATA / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        return [MolFromSmiles(row["smiles"]) for row in csv.DictReader(file)][:2500]


def questions() -> list[str]:
    with (DATA / "trec_questions.tsv").open(encoding="utf-8") as file:
        return [row["question"] for row in csv.DictReader(file, delimiter="\t")]


def our_tanimoto(samples: list[Any]) -> np.ndarray:
    return vendiscore.as_similarity(samples, k="morgan", n_bits=1024).dense()


def their_tanimoto(samples: list[Any]) -> np.ndarray:
    with rdBase.BlockLogs():  # the call is deprecated, and says so for every molecule
        fingerprints = [GetMorganFingerprintAsBitVect(m, 2, nBits=1024) for m in samples]
    n = len(samples)
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            K[i, j] = K[j, i] = DataStructs.FingerprintSimilarity(fingerprints[i], fingerprints[j])
    return K


def our_ngrams(texts: list[str]) -> np.ndarray:
    return vendiscore.as_similarity(texts, k="ngram_overlap", ns=NS).dense()


def their_ngrams(texts: list[str]) -> np.ndarray:
    from nltk.tokenize import NLTKWordTokenizer

    matrices = []
    for n in NS:
        vectorizer = CountVectorizer(
            tokenizer=NLTKWordTokenizer().tokenize,
            token_pattern=None,
            ngram_range=(n, n),
            lowercase=False,
        )
        X = normalize(vectorizer.fit_transform(texts))
        matrices.append((X @ X.T).toarray())
    return np.stack(matrices).mean(axis=0)


def our_score(texts: list[str], q: float = 1) -> float:
    return vendiscore.score(texts, "ngram_overlap", q=q, ns=NS)


def their_score(texts: list[str], q: float = 1) -> float:
    return vendi.score_K(their_ngrams(texts), q=q)


def tanimoto(repeats: int) -> list[dict[str, Any]]:
    samples = molecules()
    np.testing.assert_array_equal(our_tanimoto(samples), their_tanimoto(samples))
    facts = {"n": len(samples), "d": 1024, "dtype": "float64"}
    print(f"n = {len(samples)} molecules, 1,024 bits, float64: equal to the last bit")
    return [
        compare(
            "Tanimoto of all pairs",
            lambda: our_tanimoto(samples),
            lambda: their_tanimoto(samples),
            repeats,
            **facts,
        ),
        compare(
            "Vendi Score of molecules, q = 1",
            lambda: vendiscore.score(samples, "morgan", n_bits=1024),
            lambda: vendi.score_K(their_tanimoto(samples)),
            repeats,
            **facts,
        ),
    ]


def ngrams(repeats: int) -> list[dict[str, Any]]:
    texts = questions()
    K = their_ngrams(texts)
    # Theirs leaves the diagonal of a text shorter than some n below 1.
    short = int((np.diag(K) < 1 - 1e-9).sum())
    ours, theirs, as_it_is = our_score(texts), vendi.score_K(K, normalize=True), vendi.score_K(K)
    agree(ours, theirs, rtol=1e-9)
    agree(our_score(texts, q=2), vendi.score_K(K, q=2, normalize=True), rtol=1e-9)
    del K
    facts = {"n": len(texts), "ns": NS, "dtype": "float64"}
    print(
        f"n = {len(texts)} questions, ns = {NS}, float64: ours {ours:.6f}, theirs {theirs:.6f} "
        f"with a diagonal of 1, {as_it_is:.6f} without ({short} texts have fewer than 4 tokens)"
    )
    rows = [
        compare(name, lambda f=f: f(texts), lambda g=g: g(texts), repeats, **facts)
        for name, f, g in (
            ("n-gram similarity of all pairs", our_ngrams, their_ngrams),
            ("Vendi Score of n-grams, q = 1", our_score, their_score),
        )
    ]
    rows.append(
        compare(
            "Vendi Score of n-grams, q = 2",
            lambda: our_score(texts, q=2),
            lambda: their_score(texts, q=2),
            repeats,
            **facts,
        )
    )
    for q in (1, 2):
        ours_mb, theirs_mb = (peak_above_samples(f, q) for f in (our_score, their_score))
        name = f"peak of memory, q = {q}"
        print(
            f"{name:<44} ours {ours_mb:6.0f} MB    theirs {theirs_mb:6.0f} MB   "
            f"{theirs_mb / ours_mb:7.2f} × (one float64 matrix: {8e-6 * len(texts) ** 2:.0f} MB)"
        )
        rows.append({"name": name, **facts, "ours_mb": ours_mb, "theirs_mb": theirs_mb})
    return rows


def bleu(repeats: int) -> list[dict[str, Any]]:
    from sacrebleu.metrics.bleu import BLEU

    texts = questions()[:300]
    metric = BLEU(effective_order=True)

    def ours() -> np.ndarray:
        return vendiscore.as_similarity(texts, k="bleu").dense()

    def theirs() -> np.ndarray:
        K = np.array([[metric.sentence_score(a, [b]).score / 100 for b in texts] for a in texts])
        return (K + K.T) / 2

    gap = np.abs(ours() - theirs()).max()
    assert gap < 1e-15, gap
    print(f"n = {len(texts)} questions, float64: BLEU differs by at most {gap:.1g}")
    facts = {"n": len(texts), "dtype": "float64"}
    return [compare("symmetrised sentence BLEU of all pairs", ours, theirs, repeats, **facts)]


def peak_above_samples(score: Callable[[list[str], float], float], q: float) -> float:
    """Return MB that scoring the questions takes at most, in a fresh process."""
    return peak(_scored, score, q)


def _scored(score: Callable[[list[str], float], float], q: float) -> tuple[Callable[[], Any], ...]:
    texts = questions()
    return lambda: score(texts[:50], q), lambda: score(texts, q)


if __name__ == "__main__":
    options = arguments(__doc__)
    results = [row for bench in (tanimoto, bleu, ngrams) for row in bench(options.repeats)]
    packages = ("vendi-score", "rdkit", "sacrebleu", "nltk", "scikit-learn")
    write(options.json, results, environment(*packages))
