"""Metrics for Hugging Face `evaluate`, loaded by the entry scripts."""

import inspect
from collections.abc import Mapping
from typing import ClassVar

from ..magnitude.area import mag_diff
from ..scoring.compute import compute
from ..scoring.score_request import default_magnitude_measures
from ..scoring.typical import WORDING_NOTE
from .metric import SampleMetric

_VENDI_DESCRIPTION = f"""\
The Vendi Score is the effective number of different samples in a set: the exponential of the
Shannon entropy of the eigenvalues of a similarity matrix. It is 1 when all samples are the same
and n when all n are completely different. Any similarity will do: of texts, vectors, a matrix you
have, or a function of your own. Of texts, {WORDING_NOTE}
"""

_VENDI_CITATION = """\
@article{friedman2023vendi,
  title={The Vendi Score: A Diversity Evaluation Metric for Machine Learning},
  author={Friedman, Dan and Dieng, Adji Bousso},
  journal={Transactions on Machine Learning Research},
  year={2023}
}
"""

_VENDI_INPUTS = f"""
All keywords of `vendiscore.compute`, below, by name; `predictions` and `data` mean `samples`. All
but the samples can also be given to `evaluate.load`, as defaults. Samples that were added, with
`groups=` or `group=` if they have labels, are kept until they are scored: after an error, compute
again with other options. Without `sigma`, "rbf" and "laplacian" fit the median distance within
each set, so that a narrow and a wide set score alike. To compare sets, pass one sigma= for all,
such as details["options"]["sigma"] of one of them. Kernels have on_error="skip" to leave out
samples that cannot be used, with a warning.

    >>> metric = evaluate.load("vendiscore.py")
    >>> metric.compute(samples=["a cat", "a cat", "the dog"])
    {{'VS': 1.889...}}

{inspect.getdoc(compute)}
"""


class VendiScore(SampleMetric):
    """The `evaluate` metric for the Vendi Score of a set of samples.

    ``help(metric.compute)`` describes its arguments.

    Parameters
    ----------
    config_name : str, optional
        "text", "image" or "int", as on the published metric card; they have no effect on the
        result.
    **options
        Default arguments of `compute`, and arguments of `evaluate.Metric`.

    See Also
    --------
    vendiscore.load : Create a metric.

    Examples
    --------
    >>> VendiScore(q=2).compute(samples=["a cat sat", "a cat ran", "the dog"])
    {'VS_q2': 2.72...}
    """

    # those of the published metric card
    config_names: ClassVar = ("default", "text", "image", "int")
    about: ClassVar = {
        "description": _VENDI_DESCRIPTION,
        "citation": _VENDI_CITATION,
        "inputs_description": _VENDI_INPUTS,
        "reference_urls": ["https://arxiv.org/abs/2210.02410", "https://arxiv.org/abs/2310.12952"],
    }


_MAGNITUDE_DESCRIPTION = """\
The magnitude of a metric space is the effective number of points in it at a scale t of
distances: 1 for scales so small that all points look alike, their number for scales so large that
all are far apart. MagArea, the area under this function up to the scale where it has all but
converged, sums up the diversity at all scales. Samples can be vectors under any metric, a matrix
of distances, or texts and anything else that a kernel compares.
"""

_MAGNITUDE_CITATION = """\
@inproceedings{limbeck2024metric,
  title={Metric Space Magnitude for Evaluating the Diversity of Latent Representations},
  author={Limbeck, Katharina and Andreeva, Rayna and Sarkar, Rik and Rieck, Bastian},
  booktitle={Advances in Neural Information Processing Systems},
  year={2024}
}
@article{leinster2013magnitude,
  title={The Magnitude of Metric Spaces},
  author={Leinster, Tom},
  journal={Documenta Mathematica},
  volume={18},
  pages={857--905},
  year={2013}
}
"""

_MAGNITUDE_INPUTS = f"""
All keywords by name; `predictions` and `data` mean `samples`: rows of numbers, strings, a matrix of
distances, or whatever `k` compares. All but the samples can also be given to `evaluate.load`, as
defaults. Samples and references that were added are kept until they are scored: after an error,
compute again. `metric` is "euclidean" of vectors unless given, "manhattan", "cosine" or any metric
of scipy.spatial.distance, with exponent; "precomputed" of distances (n, n); "kernel",
the distance √(2 − 2k), of kernels unless given, or "1-k". Strings have k="ngram_overlap" unless
given. Kernels have on_error="skip" to leave out samples that cannot be used, with a warning.

MagArea and t_conv are the area under the magnitude function and the convergence scale, where the
area of one set ends: it is larger the closer its samples are. Areas of two sets can be compared
only with one t_cut= for both, or by references= that both have: these add MagDiff, and MagArea of
vectors or given distances ends where it does; of kernels where n samples with nothing in common
would converge. `t`, a scale or several, gives Magnitude there instead, without references:
Magnitude_t0.5, Magnitude_t1, …, in all their digits.

measures, q, p, score_K, score_X, score_dual, normalize, groups, ci, interval and details are those
of `vendiscore.compute`, all others those of `vendiscore.mag_diff`, below.

    >>> magnitude = evaluate.load("magnitude.py")
    >>> magnitude.compute(samples=[[0.0], [1.0]], t=1)
    {{'Magnitude': 1.462...}}

{inspect.getdoc(mag_diff)}
"""


class Magnitude(SampleMetric):
    """The `evaluate` metric for the magnitude of a set of samples.

    ``help(metric.compute)`` describes its arguments.

    Parameters
    ----------
    config_name : str, optional
        "text", "image" or "int", as on the published metric card; they have no effect on the
        result.
    **options
        Default arguments of `compute`, and arguments of `evaluate.Metric`.

    See Also
    --------
    vendiscore.load : Create a metric.

    Examples
    --------
    >>> Magnitude(t=1).compute(samples=[[0.0], [1.0]])
    {'Magnitude': 1.462...}
    """

    get_default_measures = staticmethod(default_magnitude_measures)
    keeps_references = True
    about: ClassVar = {
        "description": _MAGNITUDE_DESCRIPTION,
        "citation": _MAGNITUDE_CITATION,
        "inputs_description": _MAGNITUDE_INPUTS,
        "reference_urls": ["https://arxiv.org/abs/2311.16054", "https://arxiv.org/abs/1012.5857"],
    }


METRICS: Mapping[str, type[SampleMetric]] = {"vendiscore": VendiScore, "magnitude": Magnitude}
