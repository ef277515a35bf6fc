"""The magnitude of a metric space as a Hugging Face metric: `evaluate.load("magnitude.py")`.

How many effectively different samples are here, at every scale of difference? This script is what
`evaluate` loads: it finds the library (package `vendiscore`), describes the metric, and leaves
the work to the library.
"""

import importlib

import evaluate

from .library import check, library

__version__ = "0.1.0"

_library = library(__name__, __file__, __version__)
_scoring = importlib.import_module(f"{_library.__name__}.magnitude_scoring")
_distances = importlib.import_module(f"{_library.__name__}.distances")

_DESCRIPTION = """\
The magnitude of a metric space is the effective number of points in it at a scale t of
distances: 1 for scales so small that all points look alike, their number for scales so large that
all are far apart. MagArea, the area under this function up to the scale where it has all but
converged, sums up the diversity at all scales. Samples can be vectors under any metric, a matrix
of distances, or texts and anything else that a kernel compares.
"""

_CITATION = """\
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

_INPUTS = """
Args:
    samples: n samples: rows of numbers, strings, a matrix of distances, or whatever `k` compares. A
        list, array, tensor, pandas or `datasets` column. `predictions` and `data` mean the same.
    metric: for vectors "euclidean" (the default), "manhattan", "cosine" or any metric of
        scipy.spatial.distance; "precomputed" for distances (n, n); for kernels "kernel" (the
        default), the distance √(2 − 2k), or "1-k".
    k: a kernel name ("ngram_overlap", "rbf", …) or a function of two samples with k(x, x) = 1.
        Strings are compared by "ngram_overlap" without it. score_K, score_X, score_dual and
        normalize as in the Vendi Score.
    n_scales: how many evenly spaced scales the area is taken over; 30 by default.
    epsilon: the area ends where the magnitude is (1 − epsilon) n; 0.05 by default, 1e-6 or more.
    t_cut: the scale where it ends, instead. Areas of two sets can only be compared with one t_cut
        for both (or by `references`): without it a collapsed set gets the largest.
    average: divide the area by the scale where it ends.
    quadrature: "trapezoid", or "adaptive" for the exact area.
    t: a scale, or several: give the magnitude there instead of the area; `references` are then
        not looked at.
    references: another set of samples; adds MagDiff, the area between the two functions up to the
        convergence scale of the references, negative if the samples are less diverse.
    relative, absolute: divide MagDiff by the area of the references; ignore its sign.
    method: "auto", "cg" or "cholesky", how the equations are solved.
    details: add how the numbers came about (scales, values, methods, a signature to quote), and
        notes on what they may not be used for.
    **options: options of the kernel or metric; for kernels on_error="skip" leaves out samples that
        cannot be used, with a warning.
    All but the samples can also be given to `evaluate.load`, as defaults. Samples and references
    that were added are kept until they are scored: after an error, compute again.
    MagArea ends at the convergence scale of each set, which is larger the closer its samples are.
    Areas of two sets can be compared only with one t_cut= for both, or by references=.
Returns:
    MagArea: the area under the magnitude function, to t_conv or t_cut.
    t_conv: the convergence scale.
    MagDiff: with references.
    Magnitude: with `t`, instead of these; with several Magnitude_t0.5, Magnitude_t1, …, in all
        their digits.
Examples:
    >>> magnitude = evaluate.load("magnitude.py")
    >>> magnitude.compute(samples=[[0.0], [1.0]], t=1)
    {'Magnitude': 1.462...}
"""


class Magnitude(_library.metric.SampleMetric):
    """The metric; `vendiscore.metric.SampleMetric` is how it meets `evaluate`."""

    settings = _scoring.SETTINGS.union(_distances.METRIC_OPTIONS)

    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=_library.metric.PAIRS,
            reference_urls=["https://arxiv.org/abs/2311.16054", "https://arxiv.org/abs/1012.5857"],
        )

    def _check(self, options):
        _scoring.check_arguments(options)

    def _score(self, samples, references, **options):
        return _scoring.compute(samples, references, **options)

    def _download_and_prepare(self, dl_manager):
        check(_library)  # `evaluate` runs this file once for all clones that have it
