"""Scorers of sets of answers: text kernels with and without the prompt, measures, lengths."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from answers import AnswerSet
from sentence_vectors import Vectors

from vendiscore import as_similarity, compute, encoder

ORDERS = (0.5, 1.0, 2.0, math.inf)
DEFAULT = "n-grams of 1 to 4 words (the default)"
OURS, PEER, NULL = "ours", "peer", "null"
Scores = dict[str, float]
Kernel = Callable[[tuple[str, ...]], np.ndarray]


@dataclass(frozen=True)
class Scorer:
    """A function that scores a set, with the name of its row; larger scores mean more diverse."""

    name: str
    kind: str
    score: Callable[[AnswerSet], Scores]  # by measure
    prompt: bool = False  # whether it conditions on the prompt

    @property
    def row(self) -> tuple[str, bool]:
        """The name of its row, and whether it conditions on the prompt."""
        return self.name, self.prompt


def condition_on_prompt(K: np.ndarray) -> np.ndarray:
    """Condition similarities on the first sample, which is the prompt. K′ = K − k_u k_uᵀ / k_uu
    with unit diagonal; for unit vectors, these are the cosines of x − (x·u) u. Samples that the
    prompt explains completely are dropped.
    """
    u, residuals = K[0, 1:], K[1:, 1:] - np.outer(K[0, 1:], K[0, 1:]) / K[0, 0]
    retained = (
        np.flatnonzero(np.diag(residuals) > 1e-9 * np.diag(K)[1:]) if u.any() else np.arange(len(u))
    )
    residuals = residuals[np.ix_(retained, retained)]
    scale = np.sqrt(np.diag(residuals))
    residuals = residuals / np.outer(scale, scale)
    np.fill_diagonal(residuals, 1.0)
    return residuals


def order_name(q: float) -> str:
    """Return the name of the Vendi Score of order q."""
    return f"VS, q = {'∞' if math.isinf(q) else format(q, 'g')}"


def score_matrix(K: np.ndarray) -> Scores:
    """Return scores of a similarity matrix by measure and order. LC, the diversity of Leinster and
    Cobbold, does not allow negative similarities, so it uses max(K, 0).
    """
    if len(K) < 2:  # the prompt explains all answers, or all except one
        return {**{order_name(q): float(len(K)) for q in ORDERS}, "IntDiv": 0.0, "LC": len(K)}
    result = compute(K, q=list(ORDERS), measures=["VS", "IntDiv"], score_K=True, psd="clip")
    scores = {order_name(q): result[f"VS_q{q:g}"] for q in ORDERS}
    leinster = compute(np.maximum(K, 0), measures="LC", score_K=True)["LC"]
    return {**scores, "IntDiv": result["IntDiv"], "LC": leinster}


def score_magnitude(kernel: Kernel, answer_set: AnswerSet) -> Scores:
    """Return the magnitude area of the answers, without conditioning on the prompt."""
    K = kernel((answer_set.prompt, *answer_set.texts))[1:, 1:]
    return {"MagArea": compute(K, measures="MagArea", score_K=True)["MagArea"]}


def make_text_kernel(**kernel_options: Any) -> Kernel:
    """Return a function that computes the similarity matrix of texts with these options."""
    return lambda texts: np.array(as_similarity(list(texts), **kernel_options).dense(), dtype=float)


def make_wording_kernels() -> dict[str, Kernel]:
    """Return kernels that compare wording, by name."""
    return {
        DEFAULT: make_text_kernel(k="ngram_overlap"),
        "words (n-grams of 1)": make_text_kernel(k="ngram_overlap", ns=1),
        "letters (n-grams of 1 to 4)": make_text_kernel(k="ngram_overlap", analyzer="char"),
        "share of common words": make_text_kernel(k="word_overlap"),
        "BLEU": make_text_kernel(k="bleu"),
    }


def make_vector_kernel(vectors: Vectors) -> Kernel:
    """Return a function that computes the cosines of the embeddings of texts."""

    def similarities(texts: tuple[str, ...]) -> np.ndarray:
        X = vectors.encode(texts)
        return np.clip(X @ X.T, -1, 1)

    return similarities


def score_by_kernel(kernel: Kernel, prompt: bool, answer_set: AnswerSet) -> Scores:
    """Score the answers with a kernel, conditioned on the prompt if `prompt`."""
    K = kernel((answer_set.prompt, *answer_set.texts))
    return score_matrix(condition_on_prompt(K) if prompt else K[1:, 1:])


def score_in_context(encoders: Sequence[Any], answer_set: AnswerSet) -> Scores:
    """Score answers with kernels that compare them both alone and as continuations of the prompt.

    The similarity matrices of the encoders are averaged before the score is computed.
    """
    prompt = {"prompts": answer_set.prompt, "given_prompt": True}
    K = [
        as_similarity(list(answer_set.texts), k="semantic", model=text_encoder, **prompt).dense()
        for text_encoder in encoders
    ]
    return score_matrix(np.mean(K, axis=0))


def score_repetition(answer_set: AnswerSet) -> Scores:
    """Return the measures of this package that count repeated words and bytes."""
    names = {"NgramDiversity": 1, "SelfBLEU": -1, "CompressionRatio": -1}
    texts = list(answer_set.texts)
    result = compute(texts, measures=list(names), k="ngram_overlap")
    scores = {name if sign > 0 else f"−{name}": sign * result[name] for name, sign in names.items()}
    for n in (1, 2):  # Li et al., NAACL 2016
        name, longest = f"distinct-{n}", max(len(text.split()) for text in texts)
        if longest < n:
            scores[name] = math.nan
            continue
        of_size = compute(texts, measures={"NgramDiversity": {"sizes": n}}, k="ngram_overlap")
        scores[name] = of_size["NgramDiversity"]
    return scores


def score_lengths(answer_set: AnswerSet) -> Scores:
    """Return the mean and the spread of text lengths, which are no measures of diversity."""
    words = np.array([len(text.split()) for text in answer_set.texts])
    return {"mean length": float(words.mean()), "spread of lengths": float(words.std())}


def make_package_scorers(
    vectors: Mapping[str, Vectors], with_magnitudes: bool = True
) -> list[Scorer]:
    """Return scorers of vendiscore: each kernel with and without conditioning on the prompt,
    embeddings in context, magnitudes, and baselines.
    """
    kernels = make_wording_kernels() | {
        name: make_vector_kernel(text_vectors) for name, text_vectors in vectors.items()
    }
    kernels = {name: cache(kernel) for name, kernel in kernels.items()}
    rows = [
        Scorer(name, OURS, partial(score_by_kernel, kernel, prompt), prompt)
        for name, kernel in kernels.items()
        for prompt in (False, True)
    ]
    rows += [
        Scorer(
            f"{name} in context",
            OURS,
            partial(score_in_context, [encoder(model=text_vectors.encode)]),
            prompt=True,
        )
        for name, text_vectors in vectors.items()
        if text_vectors.has_contexts
    ]
    areas = [
        Scorer(f"{name}, magnitude", OURS, partial(score_magnitude, kernels[name]))
        for name in ((DEFAULT, *vectors) if with_magnitudes else ())
    ]
    return [
        *rows,
        *areas,
        Scorer("repeated words and bytes", OURS, score_repetition),
        Scorer("lengths alone", NULL, score_lengths),
    ]
