"""How many effectively different samples are here?

The Vendi Score (spectrum of a similarity matrix) for text, vectors or any similarity of your own.
`compute` gives the scores as a dict, `score`, `score_K`, `score_X` and `score_dual` one number,
`register_kernel` adds a kernel, `encoder` loads a model once for many sets. `load` gives the
Hugging Face metric, as does `evaluate.load("vendiscore.py")`.
"""

__version__ = "0.1.0"

from . import optional as optional  # first: it tells of all packages that are not there
from .encoders import encoder
from .errors import IndefiniteError, MissingPackageError, NotPSDError, SampleError, TooLargeError
from .integrations import load
from .kernels.labels import mode_diversity
from .magnitude import (
    convergence_scale,
    mag_area,
    mag_areas,
    mag_diff,
    magnitude_dimension,
    magnitude_function,
    magnitude_weights,
    spread,
)
from .measures.registry import list_measures, register_measure
from .registry import get_kernel, list_kernels, register_kernel
from .resolve import as_similarity
from .scoring import compute, score, score_dual, score_K, score_X
from .similarity.base import Similarity
from .similarity.composite import ProductSimilarity, SumSimilarity
from .similarity.features import FeatureSimilarity
from .similarity.matrix import MatrixSimilarity
from .spectral.hill import effective_number
from .spectral.spectrum import spectrum

__all__ = [
    "FeatureSimilarity",
    "IndefiniteError",
    "MatrixSimilarity",
    "MissingPackageError",
    "NotPSDError",
    "ProductSimilarity",
    "SampleError",
    "Similarity",
    "SumSimilarity",
    "TooLargeError",
    "as_similarity",
    "compute",
    "convergence_scale",
    "effective_number",
    "encoder",
    "get_kernel",
    "list_kernels",
    "list_measures",
    "load",
    "mag_area",
    "mag_areas",
    "mag_diff",
    "magnitude_dimension",
    "magnitude_function",
    "magnitude_weights",
    "mode_diversity",
    "register_kernel",
    "register_measure",
    "score",
    "score_K",
    "score_X",
    "score_dual",
    "spectrum",
    "spread",
]
