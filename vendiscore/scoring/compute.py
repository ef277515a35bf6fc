"""The function `compute`: validate arguments, build a `SampleSet`, evaluate its measures."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.eigenvalues import PSD
from ..encoders.tokenizers import cache_tokens
from ..measures.evaluation import evaluate_measures
from ..measures.sample_set import SampleSet
from ..resolve.kernel import Kernel, format_psd_kernels
from ..resolve.similarity_builder import check_samples, is_metric_space, is_precomputed
from ..resolve.similarity_spec import FitTo, KernelArgument, Metric, SimilaritySpec, check_no_fit
from ..result import Result
from ..support.arguments import DEFAULT_ORDER
from ..support.errors import NotPSDError, SampleError
from ..support.types import Options, Record, Samples, Weights
from .score_request import Method, ScoreRequest, check_pool_repeats, parse_request

if TYPE_CHECKING:
    from ..resolve.sample_labels import GroupLabels
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
    given_prompt: bool = False,
    psd: PSD = "check",
    groups: Iterable[Hashable] | None = None,
    counts: Samples | None = None,
    ci: float | None = None,
    clusters: Iterable[Hashable] | None = None,
    allow_repeats: bool = True,
    pool_repeats: bool = True,
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
    Time: O(n d² + d³) from d < n features, else O(n³). Memory: min(n, d)² numbers.

    Parameters
    ----------
    samples, references : list or array; a second set is for measures that compare two
        n texts, images, molecules, rows of numbers (n, d) or whatever `k` compares, the path of a
        folder of images, or a Similarity. A list of lists of samples means groups. Not changed.
    k : str, callable, dict or list, optional
        How samples are compared: by a kernel of `list_kernels()` (of strings "ngram_overlap" unless
        given), "semantic" or "static" (models), another model's Hub id or folder, a symmetric
        function with k(x, x) = 1, or a mixture such as {"morgan": 0.5, "tags": 0.5}.
    **options
        Options of the kernel: `ns` (lengths of n-grams), `sigma` (width of "rbf"), `model` (an
        encoder of your own), on_error="skip" (leave out samples that it cannot read), …; of a
        mixture (`options`, `combine`), of the metric, and of measures (`t`, `solver`).
    score_K, score_X, score_dual, normalize : bool
        Samples are similarities (n, n) or features (n, d), divided by √(k(x, x) k(y, y)) or not.
    q : float in [0, ∞], "inf", or several; small orders count rare samples, large ones do not
    p : array (n,) of weights that sum to 1, optional (default: uniform)
    groups, prompts : iterable of hashable, optional; the prompts also a dict by group
        The group of each sample, or the prompt that it answers: VS is the mean, VS_se its error.
    given_prompt : bool, whether to take out of similarities what the prompts explain
    counts : array (species,) or (sites, species) of individuals, in place of samples
    ci, clusters : level in [0.5, 1) of VS_low to VS_high; labels of samples that belong together
    allow_repeats : bool, whether the interval allows for samples that recur in the source although
        these do not show it; False states that samples are continuous measurements
    pool_repeats : bool, whether the interval of each group in `details`, from six groups on, takes
        from all of them how often samples repeat; False: each group has an interval by itself
    measures : str, list of str, or dict of str to options; `list_measures()` has all
    metric : str or callable; distances for measures: "kernel", "1-k", "euclidean", …
    fit : {"samples", "references", "pool"}; which of two sets options are fitted to
    method, rtol, seed : {"auto", "estimate"}, float, int; an estimate has its error, VS_se
    psd : {"check", "clip"}, to raise for negative eigenvalues, or to set them to zero
    permutations : int, how often samples are shuffled among groups, for BetweenVS_null
    details : bool, whether to add how the number was computed, under the key `details`

    Returns
    -------
    dict
        {"VS": value} with 1 ≤ value ≤ n. Any other single order is part of the keys of measures
        with an order, {"VS_q2": …, "VS_q2_se": …}, as is each of several, {"VS_q0": …, "VS_q1": …}.

    Raises
    ------
    TypeError, ValueError, NotPSDError, SampleError, TooLargeError
        For what cannot be used, compared or stored; the message names argument and remedy.

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
    arguments = dict(locals())  # every keyword by its name
    for name in ("samples", "references", "options"):
        del arguments[name]
    request = parse_request(arguments | options)
    if references is None:
        check_no_fit(request.spec)
    else:
        check_references(references, request)
    return evaluate_request(samples, references, request)


def check_references(references: object, request: ScoreRequest) -> None:
    """Raise a TypeError for references that no requested measure uses.

    Metrics of `evaluate` do not call it: suites pass references to every metric.
    """
    if references is None or request.two_sample_measures or request.needs_distance_scale:
        return
    if isinstance(references, str) and references.lower().endswith((".html", ".htm")):
        raise TypeError(
            f"`references` must be samples, got {references!r}; write the file of a report by "
            f"report(samples).write_html({references!r})"
        )
    raise TypeError(
        f"`references` have no effect on {', '.join(request.names)}; pass a kernel as `k`, two "
        "sets to compare(samples, references), or a measure of two sets as measures='Recall'"
    )


def evaluate_request(
    samples: Samples | None, references: Samples | None, request: ScoreRequest
) -> Record:
    """Return the numbers that a request asks for."""
    sample_set = build_sample_set(samples, references, request)
    return evaluate_sample_set(sample_set, request)


def build_sample_set(
    samples: Samples | None,
    references: Samples | None,
    request: ScoreRequest,
    name: str = "samples",
) -> SampleSet:
    """Return samples, which errors call `name`, with one group label each, as a SampleSet."""
    if request.two_sample_measures and references is None:
        raise ValueError(
            f"{', '.join(request.two_sample_measures)} compares with a second set: pass "
            "`references`, or leave "
            "it out"
        )
    mixed = references is not None and not is_precomputed(references)
    samples, groups, spec = _flatten_samples(samples, request, name, mixed)
    if references is not None:
        from ..magnitude.metric_space_builder import has_distance_scale

        if request.two_sample_measures or (
            request.needs_distance_scale and not has_distance_scale(samples, spec)
        ):
            mixed = not is_precomputed(samples)
            references = check_samples(references, spec, "references", has_other_sets=mixed)
        else:
            references = None
    if spec.grouping_prompts is not None:
        from ..resolve.sample_labels import cross_groups, group_by_prompt

        sets = [samples]
        if references is not None and spec.conditioning_prompts is not None:
            sets.append(references)  # both sets are conditioned on the prompts
        spec, by_prompt = group_by_prompt(spec, sets, [groups, None], first_set_only=True)
        if groups is None:
            groups = by_prompt
        elif by_prompt is not None:
            groups = cross_groups(groups, by_prompt)
    if groups is not None or request.group_measures or request.ci is not None:
        _check_groups(samples, groups, request)
    each, together = request.needs
    return SampleSet(
        samples,
        spec,
        name=name,
        references=references,
        orders=request.orders,
        weights=request.p,
        psd=request.psd,
        groups=groups,
        needs=each if groups is None else together,
        group_needs=each,
        pooled_needs=request.pooled_needs,
        estimate_options=request.estimate_options,
        solver=request.solver,
    )


def _flatten_samples(
    samples: Samples | None, request: ScoreRequest, name: str, has_other_sets: bool
) -> tuple[Any, GroupLabels | None, SimilaritySpec]:
    """Return samples one after another, their groups if they have any, and how they compare."""
    spec = request.spec
    groups = None
    if request.counts is not None:
        from .counts import expand_counts

        samples, groups = expand_counts(samples, request.counts)
        spec = replace(spec, k=None)  # they are compared
    flat = check_samples(samples, spec, name, has_other_sets=has_other_sets)
    if request.solver != "auto" and not has_other_sets:
        from ..magnitude.metric_space_builder import check_solver

        check_solver(flat, request.solver, name)
    if spec.input_form:
        is_one_set = getattr(flat, "ndim", 0) == 2
    else:
        is_one_set = isinstance(flat, list) and isinstance(flat[0], str)
    if request.groups is None and (is_one_set or groups is not None):
        return flat, groups, spec
    from ..resolve.sample_labels import flatten_groups

    table = isinstance(flat, list) and getattr(samples, "ndim", 1) == 2
    return *flatten_groups(flat, spec, request.groups, table=table, name=name), spec


def _check_groups(samples: Any, groups: GroupLabels | None, request: ScoreRequest) -> None:
    """Raise for measures and options that do not suit samples in groups, or in one set."""
    together = request.group_measures
    names = ", ".join(together)
    crossed = groups is not None and groups.sets is not None
    argument = "ci" if groups is None else "groups"
    problems = [
        (
            together and groups is None,
            ValueError,
            f"{names} needs groups of samples: pass `groups`, a label for each sample, or the "
            f"samples as a list of lists",
        ),
        (
            together and crossed,
            ValueError,
            f"{names} looks at all groups together, each of which answers several prompts: leave "
            f"`prompts` or `groups` out",
        ),
        (
            groups is not None and request.estimate_options,
            ValueError,
            "`method='estimate'` is for one large set, and groups are scored one by one, with the "
            "standard error of their mean; leave `method` out",
        ),
        (
            is_metric_space(samples) and (groups is not None or request.ci is not None),
            TypeError,
            f"`{argument}` takes samples apart, and a MetricSpace is solved as a whole: pass the "
            f"samples themselves, or their distances with metric='precomputed'",
        ),
    ]
    for applies, error, message in problems:
        if applies:
            raise error(message)


def evaluate_sample_set(sample_set: SampleSet, request: ScoreRequest) -> Record:
    """Return the numbers that a request asks for of its subject, and "details" if asked."""
    uncertainty: Uncertainty | None = None
    several = cache_tokens() if len(request.measures) > 1 else nullcontext()
    # An overflow or an undefined number on the way shows in the result, which is checked.
    with several, np.errstate(all="ignore"):
        try:
            if sample_set.groups is not None or request.ci is not None or request.estimate_options:
                numbers, uncertainty = _evaluate_with_errors(sample_set, request)
            else:
                scores = evaluate_measures(sample_set, request.measures, request.suffixes)
                numbers = {key: value for own in scores for key, value in own.items()}
            numbers = Result(numbers)
            if request.details:
                from .details import build_details as details_of

                numbers["details"] = details_of(sample_set, request, uncertainty, numbers)
            return numbers
        except NotPSDError as error:
            kernel = request.spec.k
            if isinstance(kernel, Kernel) and not kernel.psd:
                others = format_psd_kernels(kernel.samples)
                without = f"; kernels of {kernel.samples} without: {others}"
                error.add_note(
                    f"no sample is at fault: k={kernel.name!r} has negative eigenvalues for many "
                    f"sets, the larger the likelier{without if others else ''}"
                )
            raise
        except SampleError as error:
            if sample_set.groups is None:
                raise
            raise sample_set.groups.locate_error(error) from error.__cause__


def _evaluate_with_errors(
    sample_set: SampleSet, request: ScoreRequest
) -> tuple[Record, Uncertainty]:
    """Return numbers with their standard errors and intervals."""
    from .group_scores import evaluate_groups
    from .intervals import Uncertainty, check_sample_count, estimate_uncertainty
    from .permutation_null import add_null_values

    if not request.pool_repeats:
        rows = "groups" if sample_set.groups is not None else ""
        if sample_set.groups is not None and sample_set.groups.sets is not None:
            rows = "means over the prompts of each group"
        measures = [chosen.measure for chosen in request.measures]
        check_pool_repeats(request.ci, request.details, measures, rows)
    if sample_set.groups is not None:
        scores, uncertainty = evaluate_groups(sample_set, request)
        if request.uses_permutation_null:
            add_null_values(sample_set, request, scores, uncertainty)
    elif request.ci is not None:
        check_sample_count(sample_set.n_input)
        if "VS" in request.names:
            sample_set.decompose()
        scores = evaluate_measures(sample_set, request.measures, request.suffixes)
        check_sample_count(sample_set.n)  # some may have been left out
        uncertainty = estimate_uncertainty(sample_set, request, scores)
    else:  # an estimate of the Vendi Score alone
        scores = evaluate_measures(sample_set, request.measures, request.suffixes)
        estimates = zip(scores[0], sample_set.spectral.estimates, strict=True)
        uncertainty = Uncertainty({key: {"se": estimate.error} for key, estimate in estimates})
    return uncertainty.with_scores(scores), uncertainty
