"""Metrics for Hugging Face `evaluate`, which the scripts vendiscore.py and magnitude.py load."""

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
Shannon entropy of the eigenvalues of a similarity matrix. It is 1 if all samples are identical and
n if no two of the n samples have anything in common. The similarity can be a kernel for texts,
vectors, images or molecules, a precomputed matrix, or a function of two samples. By default, texts
are compared by n-grams: {WORDING_NOTE}
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
The arguments are those of `vendiscore.compute`, described below, passed by name. `predictions` and
`data` are aliases of `samples`. All arguments except the samples can also be passed to
`evaluate.load` as defaults. Added samples, with group labels passed as `groups=` to `add_batch` or
`group=` to `add`, are kept until they are scored: after an error, call `compute` again with other
arguments.

Without `sigma`, "rbf" and "laplacian" use the median distance within each set as bandwidth, so a
narrow and a wide set get similar scores. To compare sets, pass the same `sigma` for all sets, such
as details["options"]["sigma"] of one of them. on_error="skip" drops unusable samples with a
warning.

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

    # the configuration names of the published metric card
    config_names: ClassVar = ("default", "text", "image", "int")
    about: ClassVar = {
        "description": _VENDI_DESCRIPTION,
        "citation": _VENDI_CITATION,
        "inputs_description": _VENDI_INPUTS,
        "reference_urls": ["https://arxiv.org/abs/2210.02410", "https://arxiv.org/abs/2310.12952"],
    }


_MAGNITUDE_DESCRIPTION = """\
The magnitude of a metric space is the effective number of its points if all distances are
multiplied by a scale t. For small t it is close to 1, and for large t it approaches the number of
points. MagArea is the area under magnitude as a function of t, up to the scale at which magnitude
has nearly converged. It combines the diversity at all scales. Samples can be vectors under any
metric, a matrix of distances, or texts and other samples that a kernel compares.
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
Arguments are passed by name. `predictions` and `data` are aliases of `samples`: rows of numbers,
strings, a distance matrix, or other samples that `k` compares. All arguments except the samples can
also be passed to `evaluate.load` as defaults. Added samples and references are kept until they are
scored: after an error, call `compute` again.

`metric` is "euclidean" by default for vectors. It can also be "manhattan", "cosine" or another
metric of scipy.spatial.distance, with `exponent` for "minkowski"; "precomputed" for a distance
matrix of shape (n, n); "kernel" for the distance √(2 − 2k), the default with a kernel; or "1-k".
Strings are compared by k="ngram_overlap" by default. on_error="skip" drops unusable samples with a
warning.

The result contains MagArea, the area under the magnitude function, and t_conv, the convergence
scale, at which the area of a single set ends. t_conv is larger the closer the samples are. Areas of
two sets can therefore be compared only with the same `t_cut` for both sets, or with the same
`references`. With references, the result also contains MagDiff. MagArea of vectors or precomputed
distances then ends at the same scale as MagDiff, and MagArea of kernels at the scale at which n
samples with nothing in common would converge. If `t` is passed, a scale or several, the result
contains only the magnitude at these scales, with keys such as Magnitude_t0.5.

`measures`, `q`, `p`, `score_K`, `score_X`, `score_dual`, `normalize`, `groups`, `ci` and `details`
are arguments of `vendiscore.compute`, all others are those of `vendiscore.mag_diff`, described
below.

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
