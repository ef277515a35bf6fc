"""The front door: keywords make a `Request`, samples a `Subject`, and measures number it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from ..core.arguments import DEFAULT_ORDER
from ..core.errors import NotPSDError, SampleError
from ..core.shares import PSD
from ..core.types import Options, Record, Samples, Weights
from ..encoders.tokenizers import tokens_remembered
from ..measures.evaluation import measure_each
from ..measures.subject import Subject
from ..resolve.kernel import Kernel, list_kernels, psd_kernels
from ..resolve.kernel_request import FitTo, KernelArgument, Metric
from ..resolve.sets import is_space, read_samples
from .request import Method, Request, read_request

if TYPE_CHECKING:
    from .intervals import Uncertainty


def compute(
    samples: Samples | None = None,
    references: Samples | None = None,
    *,
    k: KernelArgument | None = None,
    score_K: bool = False,
    score_X: bool = False,
    score_dual: bool = False,
    normalize: bool = False,
    q: float | str | Iterable[float | str] = DEFAULT_ORDER,
    p: Weights | None = None,
    prompts: object = None,
    given_prompt: bool | None = None,
    psd: PSD = "check",
    groups: Iterable[Hashable] | None = None,
    counts: Samples | None = None,
    ci: float | None = None,
    clusters: Iterable[Hashable] | None = None,
    measures: str | Iterable[str] | Mapping[str, Options] | None = None,
    metric: Metric | None = None,
    fit: FitTo | None = None,
    method: Method = "auto",
    rtol: float | None = None,
    seed: int | None = None,
    permutations: int | None = None,
    details: bool = False,
    **options: object,
) -> Record:
    """Return the Vendi Score of samples: how many effectively different ones there are.

    VS_q = (Σ λ_i^q)^{1/(1−q)} with λ the eigenvalues of diag(√p) K diag(√p), K_ij = k(x_i, x_j).

    Parameters
    ----------
    samples : list or array
        n samples of the kind that `k` compares, the path of a folder of images, or a Similarity;
        with `score_K` a similarity matrix (n, n), with `score_X` or `score_dual` rows of features
        (n, d). A list of lists of samples means groups. Not changed.
    references : the same, optional
        A second set, for measures that compare two, and the scale at which "MagArea" ends.
    k : str, callable, dict or list, optional
        A registered kernel (`list_kernels()`), "semantic" (all-MiniLM-L6-v2), "static" (word
        vectors that need no network), another model's Hub id or folder, a symmetric function of
        two samples with k(x, x) = 1, or a mixture of registered kernels such as
        {"morgan": 0.5, "tags": 0.5}. Strings are compared by "ngram_overlap" without it, with a
        warning if they look like molecules or images.
    score_K, score_X, score_dual : bool; `samples` are a similarity matrix, or rows of features
    normalize : bool, whether to divide k(x, y) by √(k(x, x) k(y, y)): cosines from features
    q : float in [0, ∞], "inf", or several
        Order: small q counts rare samples (0 is the numerical rank), large q only the commonest.
    p : array (n,) of weights that sum to 1, optional (default: uniform)
    prompts : list of hashable or of samples, optional
        The prompt that each sample answers, or one for each group (a dict by label): samples are
        scored within each prompt, and the score is the mean over prompts, as over `groups`. With
        `groups` too, it is the mean over them, each of which is the mean over its prompts.
    given_prompt : bool, optional
        True: similarities are of what the prompt, of the kind that `k` compares, leaves of each
        sample ("semantic": alone and after its prompt); one prompt for all will do.
    psd : {"check", "clip"}
        Raise for negative eigenvalues, which orders 2 and ∞ alone may miss, or set them to zero.
    groups : iterable of hashable, optional
        One label for each sample: groups are scored one by one, with `p` within each, and the score
        is their mean, with its standard error.
    counts : array (species,) or (sites, species) of whole numbers, optional
        In place of samples: how many individuals there are of each species, compared as k="labels";
        each row of two dimensions is a group.
    ci : float in [0.5, 1), optional
        Level of confidence intervals of the score of n samples, or of the mean over groups
        (Student's t), 0.95 say: adds VS_se, VS_low and VS_high. Not with `p`, nor at order 0. It
        takes 4 samples or more that are independent, or `clusters` of them. Errors of "VS",
        "IntDiv" and "AvgSim" are from the delete-one jackknife, others from random halves.
    clusters : iterable of hashable, optional
        One label for each sample, for `ci`: samples that came together, such as near-copies, turns
        of one conversation or crops of one photo. The error is found by leaving out whole clusters.
    measures : str, list of str, or dict of str to dict, optional
        Measures (`list_measures()`) other than "VS", such as ["VS", "IntDiv"] or
        {"VS": {}, "MagArea": {"n_scales": 20}}.
    metric : str or callable, optional
        For measures of distances: "kernel", √(2 − 2k), the default with a kernel, or "1-k"; of
        vectors "euclidean", the default, and others, see `magnitude`.
    fit : {"samples", "references", "pool"}, optional
        Which data fit options such as a bandwidth ("references" if there are some); "pool" is both.
    method : {"auto", "estimate"}
        Exact scores, or estimates where they cost less, with VS_se, the standard error of the
        computation (`ci` is about other samples).
    rtol : float, optional (default: 2e-3); two standard errors of an estimate over the score
    seed : int, optional (default: 0); for random draws of an estimate, and of a kernel that draws
    permutations : int, optional
        Shuffles of samples among groups behind BetweenVS_null (their mean), BetweenVS_excess (what
        is above it) and BetweenVS_p; by default 2 to 20 and no p.
    details : bool, whether to add how the number came about, under the key `details`
    **options
        Options of the kernel (`sigma`), of a mixture (`options`, `combine`), of the metric, and of
        measures (`t`, `solver`), which all that have them get.

    Returns
    -------
    dict
        {"VS": value} with 1 ≤ value ≤ n; {"VS_q0": …, "VS_q1": …} for several orders; a finite
        number for each of `measures`. Errors and intervals follow their number: VS_q2_se.

    Raises
    ------
    TypeError, ValueError, NotPSDError, SampleError, TooLargeError
        For arguments that cannot be used, negative eigenvalues, samples that cannot be compared,
        and sets too large for memory; the message names the argument and the remedy.

    Notes
    -----
    Time after the kernel's own: O(n d² + d³) from d < n features, O(n³) from a dense matrix, O(n²)
    at orders 2 and ∞ alone. Memory: min(n, d)² numbers; n² for measures of distances.

    References
    ----------
    Friedman & Dieng, TMLR 2023, arXiv 2210.02410; orders q: Pasarkar & Dieng, arXiv 2310.12952.

    Examples
    --------
    >>> compute(["a cat", "a cat", "the dog"])
    {'VS': 1.889...}
    >>> compute([[1.0, 0.0], [0.0, 1.0]], score_X=True, q=[0, "inf"])
    {'VS_q0': 2.0, 'VS_qinf': 2.0}
    >>> compute([["a cat", "a dog"], ["the dog", "the dog"]])
    {'VS': 1.46..., 'VS_se': 0.46...}
    """
    arguments = dict(locals())  # every keyword by its name
    for name in ("samples", "references", "options"):
        del arguments[name]
    request = read_request(arguments | options)
    if (
        isinstance(references, str)
        and k is None
        and references in [kernel.name for kernel in list_kernels()]
    ):
        raise TypeError(
            f"`references` must be a second set, got the name of a kernel; pass k={references!r}"
        )
    return measure(samples, references, request)


def measure(samples: Samples | None, references: Samples | None, request: Request) -> Record:
    """Return the numbers that a request asks for."""
    subject = subject_of(samples, references, request)
    return measured(subject, request)


def subject_of(
    samples: Samples | None, references: Samples | None, request: Request, name: str = "samples"
) -> Subject:
    """Read samples, which errors call `name`, and references into what measures look at."""
    if request.pairs and references is None:
        raise ValueError(
            f"{', '.join(request.pairs)} compares with a second set: pass `references`, or leave "
            "it out"
        )
    how = request.how
    groups = None
    if request.counts is not None:
        from .counts import individuals

        samples, groups = individuals(samples, request.counts)
    flat = read_samples(samples, how, name)
    if how.given:
        plain = getattr(flat, "ndim", 0) == 2
    else:
        plain = isinstance(flat, list) and isinstance(flat[0], str)
    if request.groups is not None or not (plain or groups):  # what is plainly one set has no groups
        from ..resolve.group_labels import grouped

        table = isinstance(flat, list) and getattr(samples, "ndim", 1) == 2
        flat, groups = grouped(flat, how, request.groups, table=table, name=name)
    if references is not None:
        from ..magnitude.spaces_of_samples import have_unit

        needed = request.pairs or (request.needs_unit and not have_unit(flat, how))
        references = read_samples(references, how, "references") if needed else None
    if how.asked is not None:
        from ..resolve.prompt_groups import answered, crossed

        sets = [flat]
        if references is not None and how.prompts is not None:  # prompts are taken out of both
            sets.append(references)
        how, by_prompt = answered(how, sets, [groups], first=True)
        if groups is None:
            groups = by_prompt
        elif by_prompt is not None:
            groups = crossed(groups, by_prompt)
    if groups is None and (names := request.of_groups):
        raise ValueError(
            f"{', '.join(names)} needs groups of samples: pass `groups`, a label for each sample, "
            "or the samples as a list of lists"
        )
    if groups is not None and groups.sets is not None and request.of_groups:
        raise ValueError(
            f"{', '.join(request.of_groups)} looks at all groups together, each of which answers "
            f"several prompts: leave `prompts` or `groups` out"
        )
    if groups is not None and request.estimating is not None:
        raise ValueError(
            "`method='estimate'` is for one large set, and groups are scored one by one, with the "
            "standard error of their mean; leave `method` out"
        )
    if (groups is not None or request.ci is not None) and is_space(flat):
        asked = "ci" if groups is None else "groups"
        raise TypeError(
            f"`{asked}` takes samples apart, and a MetricSpace is solved as a whole: pass the "
            f"samples themselves, or their distances with metric='precomputed'"
        )
    return Subject(
        flat,
        how,
        name=name,
        references=references,
        orders=request.orders,
        p=request.p,
        psd=request.psd,
        groups=groups,
        needs=request.needs[groups is not None],
        needs_of_parts=request.needs[0] if groups is not None else (),
        pooled=request.pooled,
        in_parts=groups is not None
        and request.p is None
        and not (request.of_groups or request.pooled),
        estimating=request.estimating,
        solver=request.solver,
    )


def measured(subject: Subject, request: Request) -> Record:
    """Return the numbers that a request asks for of its subject, and "details" if asked."""
    uncertainty: Uncertainty | None = None
    several = tokens_remembered() if len(request.measures) > 1 else nullcontext()
    # An overflow or an undefined number on the way shows in the result, which is checked.
    with several, np.errstate(all="ignore"):
        try:
            if subject.groups is not None or request.ci is not None or request.estimating:
                numbers, uncertainty = _with_errors(subject, request)
            else:
                scores = measure_each(subject, request.measures, request.suffixes)
                numbers = {key: value for own in scores for key, value in own.items()}
            if request.details:
                from .details import details as details_of

                numbers["details"] = details_of(subject, request, uncertainty, numbers)
            return numbers
        except NotPSDError as error:
            kernel = request.how.k
            if isinstance(kernel, Kernel) and not kernel.psd:
                others = psd_kernels(kernel.samples)
                without = f"; kernels of {kernel.samples} without: {others}"
                error.add_note(
                    f"no sample is at fault: k={kernel.name!r} has negative eigenvalues for many "
                    f"sets, the larger the likelier{without if others else ''}"
                )
            raise
        except SampleError as error:
            if subject.groups is None:
                raise
            raise subject.groups.located(error) from error.__cause__


def _with_errors(subject: Subject, request: Request) -> tuple[Record, Uncertainty]:
    """Return numbers with their standard errors and intervals."""
    from .group_scores import measure_groups
    from .intervals import Uncertainty, check_asked, uncertainty_of
    from .null_values import add_nulls

    if subject.groups is not None:
        scores, uncertainty = measure_groups(subject, request)
        if request.shuffled:
            add_nulls(subject, request, scores, uncertainty)
    elif request.ci is not None:
        check_asked(subject.n_passed)
        if "VS" in request.names:
            subject.decompose()
        scores = measure_each(subject, request.measures, request.suffixes)
        check_asked(subject.n)  # some may have been left out
        uncertainty = uncertainty_of(subject, request, scores)
    else:  # an estimate of the Vendi Score alone
        scores = measure_each(subject, request.measures, request.suffixes)
        estimates = zip(scores[0], subject.spectral.estimates, strict=True)
        uncertainty = Uncertainty({key: {"se": estimate.error} for key, estimate in estimates})
    return uncertainty.with_scores(scores), uncertainty
