"""The Vendi Score as a Hugging Face metric: `evaluate.load("vendiscore.py")`.

How many effectively different samples are here? This script is what `evaluate` loads: it finds
the library (package `vendiscore`), describes the metric, and leaves the work to the library.
"""

import evaluate

from .library import check, library

__version__ = "0.1.0"

_library = library(__name__, __file__, __version__)

_DESCRIPTION = """\
The Vendi Score is the effective number of different samples in a set: the exponential of the
Shannon entropy of the eigenvalues of a similarity matrix. It is 1 when all samples are the same
and n when all n are completely different. Any similarity will do: of texts, vectors, a matrix you
have, or a function of your own.
"""

_CITATION = """\
@article{friedman2023vendi,
  title={The Vendi Score: A Diversity Evaluation Metric for Machine Learning},
  author={Friedman, Dan and Dieng, Adji Bousso},
  journal={Transactions on Machine Learning Research},
  year={2023}
}
"""

_INPUTS = """
Args:
    samples: n samples: strings, rows of numbers, or whatever `k` compares. A list, array, tensor,
        pandas or `datasets` column. `predictions` and `data` mean the same.
    k: a kernel name ("ngram_overlap", "cosine", "pixels", "morgan", …), a symmetric function of two
        samples with k(x, x) = 1, or a mixture of kernels of columns of a record such as
        {"morgan:smiles": 0.5, "tags:odors": 0.5}. Without it, strings are compared by
        "ngram_overlap": words, case counts; characters where a script has no spaces.
    score_K: samples is a similarity matrix (n, n).
    score_X, score_dual: samples is a matrix of features (n, d); similarities are dot products.
    normalize: divide k(x, y) by sqrt(k(x, x) k(y, y)).
    q: order in [0, inf], or several; 1 by default. Small q counts rare samples, large q only the
        commonest; 0 is the numerical rank.
    p: weights of the samples, summing to 1.
    psd: "check" raises for a similarity with negative eigenvalues, "clip" sets them to zero.
    measures: other measures to give, by name: "VS", "IntDiv", "LC", "MagArea", "AvgSim", "GMStds".
    details: add how the number came about (method, options, versions, a signature to quote).
    references: ignored.
    **options: options of the kernel, such as ns, tokenizer and analyzer for "ngram_overlap", radius
        and n_bits for "morgan", sigma for "rbf", model for "text_embeddings" (an object with
        .encode, loaded once for many sets); help(vendiscore.get_kernel(…)) lists those of each. All
        have on_error="skip" to leave out samples that cannot be used, with a warning.
    All but the samples can also be given to `evaluate.load`, as defaults. Samples that were added
    are kept until they are scored: after an error, compute again with other options.
    Without `sigma`, "rbf" and "laplacian" fit the median distance within each set, so that a narrow
    and a wide set score alike. To compare sets, pass one sigma= for all, such as
    details["options"]["sigma"] of one of them.
Returns:
    VS: the Vendi Score, between 1 and n. With several orders: VS_q0, VS_q1, VS_qinf, …
Examples:
    >>> metric = evaluate.load("vendiscore.py")
    >>> metric.compute(samples=["a cat", "a cat", "the dog"])
    {'VS': 1.889...}
"""


class VendiScore(_library.metric.SampleMetric):
    """The metric; `vendiscore.metric.SampleMetric` is how it meets `evaluate`."""

    def _info(self):
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=_library.metric.FEATURES,
            reference_urls=["https://arxiv.org/abs/2210.02410", "https://arxiv.org/abs/2310.12952"],
        )

    def _score(self, samples, references, **options):
        return _library.scoring.compute(samples, **options)

    def _download_and_prepare(self, dl_manager):
        check(_library)  # `evaluate` runs this file once for all clones that have it
