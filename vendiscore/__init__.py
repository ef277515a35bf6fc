"""Diversity of sets of samples: the Vendi Score, magnitude and other measures.

The Vendi Score is the effective number of different samples. `compute` returns scores as a dict;
`score`, `score_K`, `score_X` and `score_dual` return a single number. `read` reads the samples of a
file. `State` scores data that arrives in batches. `compare`, `explain`, `phrases`, `growth`,
`select` and `report` analyse sets. `register_kernel` and `register_measure` add kernels and
measures, and `encoder` loads an embedding model. `load` returns a metric for Hugging Face
`evaluate`.
"""

import inspect
import sys
from importlib import import_module
from importlib.util import find_spec
from types import FunctionType
from typing import TYPE_CHECKING

__version__ = "0.5.0.dev0"

from .support import optional  # noqa: F401  imported first, to report missing packages
from .support.call_hints import with_call_hints
from .support.suggestions import first_sentence, suggest_name

if TYPE_CHECKING:
    from . import plots
    from .core.hill import effective_number
    from .encoders import encoder
    from .integrations import load
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
    from .magnitude.solver import IndefiniteError
    from .measures.measure import list_measures, register_measure
    from .report import report
    from .resolve.kernel import get_kernel, list_kernels, register_kernel
    from .resolve.similarity_builder import as_similarity
    from .scoring.compute import compute
    from .scoring.scores import conditional_score, score, score_dual, score_K, score_X
    from .similarity.base import Similarity
    from .similarity.composite import ProductSimilarity, SumSimilarity
    from .similarity.features import FeatureSimilarity
    from .similarity.matrix import MatrixSimilarity
    from .similarity.rows import RowsSimilarity
    from .spectral.vendi_scores import spectrum
    from .support.errors import NotPSDError, SampleError
    from .support.memory import TooLargeError
    from .support.optional import MissingPackageError
    from .tools.analysis.compare_sets import compare
    from .tools.analysis.explain import explain
    from .tools.analysis.growth import growth
    from .tools.analysis.novelty import novelty
    from .tools.analysis.phrases import phrases
    from .tools.analysis.sources import sources
    from .tools.reading.limits import AmbiguousInputError
    from .tools.reading.source_reader import ReadResult, read
    from .tools.rewards import group_rewards
    from .tools.selection import BatchSelection, Selection, select, select_batches
    from .tools.streams.batches import GroupState, score_batches
    from .tools.streams.monitor import Monitor
    from .tools.streams.state import State

__all__ = ["AmbiguousInputError", "BatchSelection"]
__all__ += ["FeatureSimilarity", "GroupState", "IndefiniteError", "MatrixSimilarity"]
__all__ += ["MissingPackageError", "Monitor", "NotPSDError", "ProductSimilarity", "ReadResult"]
__all__ += ["RowsSimilarity"]
__all__ += ["SampleError", "Selection", "Similarity", "State", "SumSimilarity", "TooLargeError"]
__all__ += ["as_similarity", "compare", "compute", "conditional_score", "convergence_scale"]
__all__ += ["effective_number", "encoder", "explain", "get_kernel", "group_rewards", "growth"]
__all__ += ["list_kernels", "list_measures", "load", "mag_area", "mag_areas", "mag_diff"]
__all__ += ["magnitude_dimension", "magnitude_function", "magnitude_weights", "novelty", "phrases"]
__all__ += [
    "plots",
    "read",
    "register_kernel",
    "register_measure",
    "report",
    "score",
    "score_K",
    "score_X",
]
__all__ += ["score_batches", "score_dual", "select", "select_batches", "sources", "spectrum"]
__all__ += ["spread"]

# The module that defines each public name. tests/package/test_public_api.py checks that this agrees
# with the imports above.
_MODULES = {
    "encoders": "encoder",
    "support.errors": "NotPSDError SampleError",
    "support.memory": "TooLargeError",
    "support.optional": "MissingPackageError",
    "magnitude.solver": "IndefiniteError",
    "tools.analysis.explain": "explain",
    "integrations": "load",
    "magnitude": "convergence_scale mag_area mag_areas mag_diff magnitude_dimension "
    "magnitude_function magnitude_weights spread",
    "measures.measure": "list_measures register_measure",
    "resolve.kernel": "get_kernel list_kernels register_kernel",
    "report": "report",
    "resolve.similarity_builder": "as_similarity",
    "tools.streams.batches": "GroupState score_batches",
    "scoring.compute": "compute",
    "tools.reading.limits": "AmbiguousInputError",
    "tools.reading.source_reader": "ReadResult read",
    "tools.rewards": "group_rewards",
    "tools.selection": "BatchSelection Selection select select_batches",
    "similarity.base": "Similarity",
    "similarity.composite": "ProductSimilarity SumSimilarity",
    "similarity.features": "FeatureSimilarity",
    "similarity.matrix": "MatrixSimilarity",
    "similarity.rows": "RowsSimilarity",
    "tools.analysis.sources": "sources",
    "scoring.scores": "conditional_score score score_K score_X score_dual",
    "core.hill": "effective_number",
    "spectral.vendi_scores": "spectrum",
    "tools.streams.state": "State",
    "tools.streams.monitor": "Monitor",
    "tools.analysis.compare_sets": "compare",
    "tools.analysis.growth": "growth",
    "tools.analysis.novelty": "novelty",
    "tools.analysis.phrases": "phrases",
}
# The module by name; None for a public name that is a module itself.
_MODULE_BY_NAME: dict[str, str | None] = {"plots": None}
_MODULE_BY_NAME |= {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    # Import the module of a public name when the name is first used.
    if name not in _MODULE_BY_NAME:
        raise _unknown_name_error(name, sys._getframe(1).f_code.co_name == "_handle_fromlist")
    module = import_module(f".{_MODULE_BY_NAME[name] or name}", __name__)
    value = getattr(module, name) if _MODULE_BY_NAME[name] else module
    if isinstance(value, FunctionType):
        value = with_call_hints(value)
    globals()[name] = value
    return value


def _unknown_name_error(name: str, is_import: bool) -> AttributeError | ImportError:
    """Return the error for an unknown attribute `name` of the package, with a hint.

    The hint suggests a similar public name. `is_import` is True for
    ``from vendiscore import name``, and False for ``vendiscore.name``.
    """
    message = f"module {__name__!r} has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(message)
    descriptions = {public: _describe(public) for public in __all__}
    fallback = f"dir({__name__}) lists all names."
    hint = suggest_name(name, descriptions, kind="function", quote="`", fallback=fallback)
    # Python replaces an AttributeError by its own ImportError for `from vendiscore import name`,
    # except if `name` is a submodule.
    if is_import and find_spec(f"{__name__}.{name}") is None:
        return ImportError(f"cannot import name {name!r} from {__name__!r}. {hint}", name=__name__)
    return AttributeError(f"{message}. {hint}")


def _describe(name: str) -> str:
    """Return the first sentence of the docstring of a public name."""
    return first_sentence(inspect.getdoc(globals().get(name) or __getattr__(name)) or "")


def __dir__() -> list[str]:
    return __all__


# The function `report` has the same name as its subpackage. Importing the subpackage later would
# replace the function by the module, so it is imported here. This imports no other modules.
__getattr__("report")
