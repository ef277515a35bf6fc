"""Word overlap of texts; also a template for new kernels: copy this file and change it."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from vendiscore import FeatureSimilarity, MatrixSimilarity, SampleError, register_kernel
from vendiscore.support import memory


@register_kernel(
    "word_overlap",
    samples="text",
    source="Jaccard, New Phytologist 1912; positive semidefinite: Gower, Biometrics 1971",
)
def word_overlap(texts: Sequence[str], lowercase: bool = True) -> MatrixSimilarity:
    """|A ∩ B| / |A ∪ B|: the proportion of the words of two texts that both contain (Jaccard).

    Parameters
    ----------
    texts : sequence of str
        The n texts. Words are separated by white space. A repeated word counts once.
    lowercase : bool, default True
        Whether "The" and "the" are the same word.

    Returns
    -------
    MatrixSimilarity
        Similarities from 0 to 1, as a dense matrix of shape (n, n).

    Raises
    ------
    SampleError
        If texts are not strings or have no words; the message lists their indices.
    TooLargeError
        If the matrix does not fit in memory.

    Examples
    --------
    >>> word_overlap(["a cat sat", "A dog sat", "run"]).dense()
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    SampleError.check(
        {
            i: f"must be a text with words, got {text!r:.40}; remove it"
            for i, text in enumerate(texts)
            if not (isinstance(text, str) and text.strip())  # type: ignore[redundant-expr]
        }
    )
    n = len(texts)
    memory.require(25 * n * n, f"the word overlap of {n} texts", "compare fewer texts")
    words = [set((text.lower() if lowercase else text).split()) for text in texts]
    columns: dict[str, int] = {}
    indices = [columns.setdefault(word, len(columns)) for row in words for word in row]
    starts = np.cumsum([0, *map(len, words)])
    # Entry (i, j) is 1 if text i contains word j, so products of rows count common words.
    contains = sp.csr_array((np.ones(len(indices)), indices, starts), (n, len(columns)))
    common = FeatureSimilarity(contains).dense()
    sizes = common.diagonal()
    return MatrixSimilarity(common / (sizes[:, None] + sizes - common), psd=True)
