"""From samples to the dict of scores: `resolve` finds the similarity, `measures` the numbers.

`compute` is what the evaluate metric calls; `score`, `score_K`, `score_X` and `score_dual` have
the argument names of `vendi_score.vendi`, so that changing one import line migrates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import checks
from .arguments import flag, is_several, one_of
from .arrays.inputs import as_samples
from .arrays.weights import check_weights
from .checks import PSD_REMEDY, check_orders
from .measures.registry import Subject, check_measures, measure_all
from .mixture import is_mixture
from .optional import versions
from .registry import get_kernel
from .resolve import KernelArgument, as_similarity
from .signature import digest, digits, line, plain
from .similarity.base import Similarity
from .spectral.spectrum import PSD
from .spectral.vendi import Spectral


def compute(
    samples: Any,
    *,
    k: KernelArgument | None = None,
    score_K: bool = False,
    score_X: bool = False,
    score_dual: bool = False,
    normalize: bool = False,
    q: float | str | Iterable[float | str] = 1,
    p: Any = None,
    psd: PSD = "check",
    measures: str | Iterable[str] | None = None,
    details: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """The Vendi Score of samples: how many effectively different ones there are.

    VS_q = (Σ λ_i^q)^{1/(1−q)} with λ the eigenvalues of diag(√p) K diag(√p), K_ij = k(x_i, x_j).

    Parameters
    ----------
    samples : list or array
        n samples of the kind that `k` compares; with `score_K` a similarity matrix (n, n), with
        `score_X` or `score_dual` rows of features (n, d). A Similarity is taken as it is. Not
        changed.
    k : str, callable, dict or list, optional
        A registered kernel (`list_kernels()`), a symmetric function of two samples with
        k(x, x) = 1, or a mixture of registered kernels such as {"morgan": 0.5, "tags": 0.5}
        (see `mixture`). Without it, strings are compared by "ngram_overlap", with a warning if
        they look like SMILES or names of images.
    score_K, score_X, score_dual : bool
        What the samples are; `score_X` and `score_dual` mean the same, the cheaper of XXᵀ and
        XᵀX is chosen.
    normalize : bool
        Divide k(x, y) by √(k(x, x) k(y, y)): cosine similarities from features.
    q : float in [0, ∞], "inf", or several
        Order. Small q counts rare samples, large q looks at the commonest only; q = 0 is the
        numerical rank, so that features with d columns have a score of at most d at every order.
    p : array (n,), optional
        Weights that sum to 1; uniform by default.
    psd : {"check", "clip"}
        Raise for a similarity with negative eigenvalues, or set them to zero. Order 2 alone needs
        no eigenvalues and order ∞ alone only some, so that "check" may not meet a negative one.
    measures : str or list of str, optional
        Other measures to give, "VS" among them if wanted; `measures.list_measures()` describes
        them. All read the one similarity.
    details : bool
        Add how the number came about, under the key `details`.
    **options
        Options of the kernel, such as `ns` or `sigma`; `options` and `combine` of a mixture.

    Returns
    -------
    dict
        {"VS": value} with 1 ≤ value ≤ n; for several orders {"VS_q0": …, "VS_q1": …}. With
        `measures` a number for each, {"IntDiv": …, "MagArea": …}. Every number is finite and in
        its range, or there is an error instead.

    Raises
    ------
    TypeError, ValueError
        For input that cannot be scored; the message names the argument and the remedy.
    NotPSDError
        See `psd`.
    TooLargeError
        If the exact score would not fit in memory.

    References
    ----------
    Friedman & Dieng, TMLR 2023, arXiv 2210.02410; orders q: Pasarkar & Dieng, arXiv 2310.12952.

    Examples
    --------
    >>> compute(["a cat", "a cat", "the dog"])
    {'VS': 1.889...}
    >>> compute([[1.0, 0.0], [0.0, 1.0]], score_X=True, q=[0, "inf"])
    {'VS_q0': 2.0, 'VS_qinf': 2.0}
    """
    several = is_several(q)
    orders = list(dict.fromkeys(check_orders(q)))
    psd = one_of("psd", psd, ("check", "clip"), PSD_REMEDY)
    flags = {"score_K": score_K, "score_X": score_X, "score_dual": score_dual}
    for name, value in (flags | {"normalize": normalize, "details": details}).items():
        flag(name, value)
    chosen = check_measures("VS" if measures is None else measures, weighted=p is not None)
    if not isinstance(samples, Similarity) and not is_mixture(k):
        samples = as_samples(samples)  # once, so that a generator serves similarity and measures
    # What overflows or is undefined on the way shows in the result, which is checked.
    with np.errstate(all="ignore"):
        similarity = as_similarity(samples, k=k, normalize=normalize, **flags, **options)
        weights = check_weights(p, similarity.n, similarity.dropped, similarity.diagonal())
        rows = None if score_K or is_mixture(k) else _rows_of_numbers(samples, k, similarity)
        subject = Subject(similarity, orders, weights, psd, rows)
        keys = [f"_q{digits(order)}" for order in orders] if several else [""]
        scores = measure_all(subject, chosen, keys)
    if details:
        names = [measure.name for measure in chosen]
        scores["details"] = _details(subject, names, samples)
    return scores


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise a TypeError or ValueError for keywords that `compute` would not accept."""
    checks.check_arguments(arguments)
    if (measures := arguments.get("measures")) is not None:
        check_measures(measures, weighted=arguments.get("p") is not None)


def score(
    samples: Any,
    k: KernelArgument,
    q: float | str = 1,
    p: Any = None,
    normalize: bool = False,
    **options: Any,
) -> Any:
    """The Vendi Score of samples under a kernel. Arguments, errors and source: see `compute`.

    >>> import math
    >>> score([0, 0, 10, 10, 20, 20], lambda a, b: math.exp(-abs(a - b)))
    2.99999999...
    """
    return _one(samples, q=q, k=k, p=p, normalize=normalize, **options)


def score_K(K: Any, q: float | str = 1, p: Any = None, normalize: bool = False) -> Any:
    """The Vendi Score of a similarity matrix (n, n). See `compute`.

    A torch tensor is scored where it is, and the score can be differentiated.

    >>> score_K([[1.0, 0.0], [0.0, 1.0]])
    2.0
    """
    return _one(K, q=q, p=p, normalize=normalize, score_K=True)


def score_X(X: Any, q: float | str = 1, p: Any = None, normalize: bool = True) -> Any:
    """The Vendi Score of rows of features (n, d) under their dot products. See `compute`.

    A torch tensor is scored where it is, and the score can be differentiated.

    >>> score_X([[1.0, 1.0], [2.0, 2.0], [3.0, -3.0]], q=0)
    2.0
    """
    return _one(X, q=q, p=p, normalize=normalize, score_X=True)


def score_dual(X: Any, q: float | str = 1, normalize: bool = True, p: Any = None) -> Any:
    """The same as `score_X`, which chooses the cheaper of XXᵀ and XᵀX by itself.

    Its arguments are in the order that `vendi_score.vendi.score_dual` has them in.
    """
    return score_X(X, q=q, p=p, normalize=normalize)


def _one(samples: Any, q: float | str, **arguments: Any) -> Any:
    if is_several(q):
        raise TypeError(f"`q` must be one order, got {q!r}; use compute(…) for several at once")
    return compute(samples, q=q, **arguments)["VS"]


def _rows_of_numbers(samples: Any, k: Any, similarity: Similarity) -> Any:
    """The samples themselves where they are compared as vectors or numbers, else None."""
    if samples is similarity or similarity.dropped:
        return None
    if isinstance(k, str) and get_kernel(k).samples != "vectors":
        return None  # numbers may name classes, and arrays be images
    first = samples[0] if isinstance(samples, list) else samples
    numbers = isinstance(first, (int, float, list, tuple)) or hasattr(first, "dtype")
    return samples if numbers else None


def _details(subject: Subject, measures: list[str], samples: Any) -> dict[str, Any]:
    similarity = subject.similarity
    result = subject.spectral if "VS" in measures else None
    groups = similarity.groups()
    found = result.spectrum if result else None
    estimates = result.estimates if result else []
    kernel, *options = [(key, plain(value)) for key, value in similarity.settings.items()] or [
        ("kernel", type(similarity).__name__)
    ]
    names = [digits(order) for order in subject.orders]
    dtype = str(getattr(samples, "dtype", ""))
    settings = {
        **dict([kernel, *options]),
        **({"dtype": dtype} if dtype else {}),
        "p": "uniform" if subject.p is None else digest(subject.p),
        "q": names,
        **({"psd": subject.psd} if subject.psd != "check" else {}),
        "n": similarity.n,
        **({"dropped": len(similarity.dropped)} if similarity.dropped else {}),
    }
    return {
        "n": similarity.n,
        "distinct": similarity.n if groups is None else len(np.unique(groups)),
        "dropped": dict(similarity.dropped),
        "kernel": kernel[1],
        "options": dict(options),
        "method": {q: each.route for q, each in zip(names, estimates, strict=False)},
        "why": {q: each.why for q, each in zip(names, estimates, strict=False)},
        "negative_mass": found.negative_mass if found else None,
        "cut": (found.cut if found else 0.0) if result else None,
        "notes": _notes(similarity, result),
        "versions": versions(),
        "signature": line(measures, settings),
    }


def _notes(similarity: Similarity, result: Spectral | None) -> list[str]:
    """What to know before the number is used, sentence by sentence."""
    notes = [*similarity.notes]
    if similarity.fitted:
        fitted = ", ".join(f"{name}={plain(value)}" for name, value in similarity.fitted.items())
        notes.append(
            f"The kernel was fitted to these samples: {fitted}. Scores of other samples can be "
            f"compared with this one if they are given the same."
        )
    found = result.spectrum if result else None
    if found and found.cut:
        notes.append(
            f"Eigenvalues below {found.cut:.2g} of the trace count as rounding and so as zero: "
            f"order 0 is the numerical rank, and orders near 0 leave out shares that small."
        )
    if result and found is None:
        notes.append("No eigenvalues were needed, so that negative ones were not looked for.")
    return notes
