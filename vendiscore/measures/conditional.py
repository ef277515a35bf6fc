"""The Conditional Vendi Score."""

from collections.abc import Iterator

import numpy as np

from ..resolve.similarity_builder import as_similarity
from ..resolve.similarity_spec import KernelArgument
from ..similarity.base import Similarity
from ..similarity.composite import ProductSimilarity
from ..spectral.vendi_scores import compute_vendi_scores
from ..support.namespace import asarray_like
from ..support.signature import compute_digest, to_plain
from ..support.types import Number, Samples
from .measure import register_measure
from .sample_set import SampleSet, UnsupportedInputError


class Conditions:
    """The conditions of ConditionalVS: one condition per sample, such as its prompt.

    The similarity of the conditions to each other is computed on first use and cached.
    """

    def __init__(self, samples: Samples) -> None:
        self.samples: Samples = list(samples) if isinstance(samples, Iterator) else samples
        self._similarity: Similarity | None = None

    def similarity(self, k: KernelArgument | None, n: int) -> Similarity:
        """Return the similarity of the conditions to each other under kernel `k`.

        Raises a ValueError unless there are `n` conditions, one per sample.
        """
        try:
            self._similarity = self._similarity or as_similarity(self.samples, k=k)
        except Exception as error:
            error.add_note("raised for the argument `given`")
            raise
        if self._similarity.n != n:
            raise ValueError(
                f"`given` must contain one value for each of the {n} samples, got "
                f"{self._similarity.n} values; repeat a value that several samples share, such as "
                "their prompt"
            )
        return self._similarity

    def __getstate__(self) -> str:
        """Return a string that identifies the conditions in the signature of a result.

        The signature describes an object by its pickled state, which this method defines.
        """
        if isinstance(self.samples, Similarity):
            # A product with a fixed random vector identifies K without computing all its entries.
            K = self.samples
            vector = np.random.default_rng(0).standard_normal(K.n)
            return compute_digest(K.matmul(asarray_like(vector, K.diagonal())))
        return repr(to_plain(self.samples))


@register_measure(
    "ConditionalVS",
    needs="similarity",
    range="[1, n]",
    source="Jalali, Ospanov, Gohari & Farnia, arXiv 2411.02817 (order 1)",
    weighted=True,
    ordered=True,
    readers={"given": Conditions},
)
def conditional_vendi_score(
    sample_set: SampleSet, given: Conditions | None = None, given_k: KernelArgument | None = None
) -> list[Number]:
    """The Conditional Vendi Score VS_q(K ∘ T) / VS_q(T): diversity at a fixed condition.

    ∘ is the elementwise product of matrices. K are the similarities of the samples. `given`
    contains one condition per sample, such as its prompt, and T are the similarities of the
    conditions under the kernel `given_k` (default for strings: "ngram_overlap"). Differences
    between samples that are due to differences between their conditions do not count as diversity.
    See `conditional_score`.
    """
    if given is None:
        raise UnsupportedInputError(
            "requires `given`, with one value per sample such as its prompt, but got none"
        )
    T = given.similarity(given_k, sample_set.parent.n_input)
    # Conditions are given for all samples; select those of this subset, without dropped samples.
    if len(sample_set.retained_indices) < T.n:
        T = T.take(sample_set.retained_indices)
    arguments = (sample_set.orders, sample_set.p, sample_set.psd)
    joint_scores = compute_vendi_scores(
        ProductSimilarity([sample_set.similarity, T]), *arguments
    ).values
    # Double precision, as in the scores of the product K ∘ T.
    condition_scores = compute_vendi_scores(T, *arguments, allow_single=False).values
    return [joint / score for joint, score in zip(joint_scores, condition_scores, strict=True)]
