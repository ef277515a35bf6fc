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
from ..support.errors import NotPSDError, SampleError, merge_warnings
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
    prompts: object = None,
    given_prompt: bool = False,
    q: float | str | Iterable[float | str] = DEFAULT_ORDER,
    p: Weights | None = None,
    psd: PSD = "check",
    groups: Iterable[Hashable] | None = None,
    counts: Samples | None = None,
    ci: float | None = None,
    clusters: Iterable[Hashable] | None = None,
    allow_repeats: bool = True,
    pool_repeats: bool = True,
    measures: str | Iterable[str] | Mapping[str, Options] | None = None,
    metric: Metric | None = None,
    details: bool = False,
    fit: FitTo | None = None,
    method: Method = "auto",
    rtol: float | None = None,
    seed: int | None = None,
    permutations: int | None = None,
    **options: object,
) -> Record:
    """Compute the Vendi Score of a set of samples, and other diversity measures.

    The Vendi Score is the effective number of different samples. It is 1 if all samples are
    identical and n if no two of the n samples have anything in common. "Different" is defined by
    a kernel `k`, a similarity with k(x, x) = 1.

    Parameters
    ----------
    samples : list, array-like, path or Similarity
        The n samples: strings, images, molecules, labels, vectors as an array of shape (n, d), or
        any objects that the kernel accepts. A path is read as a folder of images. A list of lists
        of samples means groups (see `groups`). Required unless `counts` is given. Not modified.
    references : list, array-like or Similarity, optional
        Second set, for two-sample measures such as "Recall". A TypeError is raised if no requested
        measure uses it; the `evaluate` metric ignores it, as suites pass it to every metric.

    k : str, callable, dict or list, optional
        The kernel. A name from `list_kernels()`; "semantic" or "static" for text embeddings; the
        Hub id or folder of an embedding model; a symmetric function of two samples; or a mixture
        of kernels such as {"morgan:smiles": 0.5, "tags:odors": 0.5}. Strings are compared by
        "ngram_overlap" if `k` is omitted; other samples need a kernel, `score_K` or `score_X`.
    score_K : bool, default False
        Treat `samples` as a similarity matrix of shape (n, n).
    score_X : bool, default False
        Treat `samples` as features of shape (n, d) whose dot products are the similarities.
    score_dual : bool, default False
        Same as `score_X`, for compatibility with `vendi_score`.
    normalize : bool, default False
        Divide k(x, y) by sqrt(k(x, x) k(y, y)). The diagonal becomes 1.
    prompts : sequence of length n, dict or single prompt, optional
        The prompt that each sample answers. Each prompt is scored separately, as with `groups`.
        With `groups`, the result is the mean over groups of the means over their prompts, and a
        dict maps group labels to prompts. A single prompt, shared by all samples, requires
        ``given_prompt=True``.
    given_prompt : bool, default False
        Whether to condition similarities on the prompts, that is, to remove the part of each
        sample that its prompt explains. Not supported for similarity matrices, labels and kernels
        that are not positive semidefinite.

    q : float, "inf" or sequence of these, default 1
        Order of the score, 0 <= q <= infinity. Small orders emphasize rare samples, large orders
        common ones. The key of a scalar order 1 is "VS"; any other scalar order is part of the
        key ("VS_q2"). For a sequence, every key includes the order ("VS_q1").
    p : array-like of shape (n,), optional
        Non-negative weights that sum to 1; uniform by default. With groups they are normalized
        within each group. Not supported by all measures, and not together with `ci`.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.

    groups : sequence of length n of hashable labels, optional
        Score each group separately and return the mean over groups, with its standard error under
        "VS_se". All groups count equally.
    counts : array-like of shape (n_species,) or (n_sites, n_species), optional
        Counts of individuals per species, instead of `samples`. In a table, each row (site) is a
        group, or belongs to the group whose label is in `groups`, one per site.

    ci : float, optional
        Confidence level, 0.5 <= ci < 1, typically 0.95. Adds the standard error "VS_se" and the
        interval "VS_low" to "VS_high". Requires at least 4 samples, or 3 groups (with 2 groups the
        limits of the interval are NaN), uniform weights and q > 0.
    clusters : sequence of length n of hashable labels, optional
        Labels of samples that are not independent, for the interval. Requires `ci`.
    allow_repeats : bool, default True
        Whether the interval allows for samples that recur in the population even if none recurs
        in this set. False states that samples are continuous measurements, which never recur.
    pool_repeats : bool, default True
        Whether the intervals of single groups in "details" estimate from all groups, if there are
        at least six, how often samples repeat. False computes each interval from its own group.

    measures : str, list of str or dict of str to dict, default "VS"
        Measures or presets to compute; see `list_measures()`. A dict maps each measure to its
        options, for example ``{"Magnitude": {"t": 2.0}}``.
    metric : str or callable, optional
        Distance for distance-based measures such as "MagArea": "euclidean", "cosine" and other
        SciPy names, "kernel" for sqrt(2 - 2 k), "1-k", "precomputed" for a distance matrix, or a
        function. By default "euclidean" for vectors without a kernel, else "kernel".

    details : bool, default False
        Add a dict under the key "details": settings, fitted options, dropped samples, notes,
        package versions, and a one-line signature to quote with the result.

    Returns
    -------
    dict
        Maps names to values: "VS" for the default call, with 1 <= VS <= n. Other measures, orders
        and intervals have keys of the form ``NAME[_q2][_t0.5][_se|_low|_high]``. Values are
        floats, or 0-d tensors for torch input.

    Other Parameters
    ----------------
    fit : {"samples", "references", "pool"}, optional
        Which set determines fitted options, such as the bandwidth of "rbf", if there are two sets.
        By default "references".
    method : {"auto", "estimate"}, default "auto"
        "auto" is exact. "estimate" approximates the Vendi Score of one large set without computing
        all eigenvalues, and adds its standard error under "VS_se". It does not support groups,
        `ci`, q=0, or ``psd="clip"`` with kernels that are not known to be positive semidefinite.
    rtol : float, default 2e-3
        Target for twice the standard error, relative to the score. Requires ``method="estimate"``.
    seed : int, default 0
        Seed of the estimate. Requires ``method="estimate"`` or a kernel with this option.
    permutations : int, optional
        Number of random permutations of the group labels for "BetweenVS". By default a few (2 to
        20), for "BetweenVS_null" and "BetweenVS_excess"; a positive number also adds the p-value
        "BetweenVS_p"; 0 omits all three.
    **options
        Options of the kernel, the metric and the measures, for example `ns` (lengths of n-grams),
        `sigma` (bandwidth of "rbf") or `neighbours` (of "Recall"). ``on_error="skip"`` drops
        unusable samples with a warning instead of raising a SampleError.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    NotPSDError
        If the similarities have negative eigenvalues and ``psd="check"``.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    MissingPackageError
        If a package is missing; the message shows the command that installs it.
    TypeError, ValueError
        If an argument is invalid, unknown or has no effect.

    Warns
    -----
    UserWarning
        If samples were dropped or represented only in part (such as truncated texts), or if
        rounding may have changed the result.

    See Also
    --------
    score : The Vendi Score as a single number.
    compare : Test whether one set is more diverse than another.
    explain : Contribution of each sample, and near-duplicates.
    State : Score data that does not fit in memory, batch by batch.

    Notes
    -----
    With K_ij = k(x_i, x_j) and the eigenvalues lambda_i of diag(sqrt(p)) K diag(sqrt(p)),

        VS_q = (sum_i lambda_i^q)^(1 / (1 - q)).

    The limit q = 1 is the exponential of the Shannon entropy of the eigenvalues, q = 0 the
    numerical rank, q = inf the inverse of the largest eigenvalue. VS_q does not increase with q.

    Kernels with d < n features take O(n d^2 + d^3) time, others O(n^3). The eigenvalue problem
    has size min(n, d). If only orders 2 and inf are requested, not all eigenvalues are computed,
    and negative ones may remain undetected.

    Scores tend to grow with n. Compare only sets of equal size and with the same kernel.

    References
    ----------
    1. D. Friedman and A. B. Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine
       Learning", Transactions on Machine Learning Research, 2023. arXiv:2210.02410.
    2. A. P. Pasarkar and A. B. Dieng, "Cousins of the Vendi Score", 2023. arXiv:2310.12952.

    Examples
    --------
    >>> from vendiscore import compute
    >>> compute(["a cat", "a cat", "the dog"])
    {'VS': 1.889...}

    Several orders, for vectors:

    >>> compute([[1.0, 0.0], [0.0, 1.0]], k="cosine", q=[0, "inf"])
    {'VS_q0': 2.0, 'VS_qinf': 2.0}

    The mean over groups of answers, with its standard error:

    >>> compute(["yes", "yes", "red", "blue"], groups=["q1", "q1", "q2", "q2"])
    {'VS': 1.5, 'VS_se': 0.5}

    A precomputed similarity matrix:

    >>> compute([[1.0, 0.5], [0.5, 1.0]], score_K=True)
    {'VS': 1.754...}
    """
    arguments = dict(locals())  # all keywords by name
    for name in ("samples", "references", "options"):
        del arguments[name]
    request = parse_request(arguments | options, caller=compute)
    if references is None:
        check_no_fit(request.spec)
    else:
        check_references(references, request)
    return evaluate_request(samples, references, request)


def check_references(references: object, request: ScoreRequest) -> None:
    """Raise a TypeError if references are passed but no requested measure uses them.

    Metrics of `evaluate` do not call this, because suites pass references to every metric.
    """
    if references is None or request.two_sample_measures or request.needs_distance_scale:
        return
    if isinstance(references, str) and references.lower().endswith((".html", ".htm")):
        raise TypeError(
            f"`references` must be samples, got {references!r}; to write a report to this file, "
            f"use report(samples).write_html({references!r})"
        )
    raise TypeError(
        f"`references` have no effect on {', '.join(request.names)}; to compare two sets, use "
        "compare(samples, references) or a two-sample measure such as measures='Recall'; to use a "
        "kernel, pass it as `k`; to score groups, pass one label per sample as `groups`"
    )


def evaluate_request(
    samples: Samples | None, references: Samples | None, request: ScoreRequest
) -> Record:
    """Return the results of a request for samples and references, as `compute` does."""
    sample_set = build_sample_set(samples, references, request)
    return evaluate_sample_set(sample_set, request)


def build_sample_set(
    samples: Samples | None,
    references: Samples | None,
    request: ScoreRequest,
    name: str = "samples",
) -> SampleSet:
    """Build a SampleSet from samples; `name` is the argument with the samples, for messages.

    Samples with different prompts become different groups. References are omitted if no measure of
    the request uses them.
    """
    if request.two_sample_measures and references is None:
        raise ValueError(
            f"{', '.join(request.two_sample_measures)} requires a second set; pass `references`, "
            f"or remove the measure"
        )
    # Kernel options that have no effect on a precomputed set are accepted if there is another set.
    has_other_sets = references is not None and not is_precomputed(references)
    samples, groups, spec = _flatten_samples(samples, request, name, has_other_sets)
    if references is not None:
        # Keep references only if a measure uses them, as a second set or for the distance scale.
        from ..magnitude.metric_space_builder import has_maximum_distance

        if request.two_sample_measures or (
            request.needs_distance_scale and not has_maximum_distance(samples, spec)
        ):
            has_other_sets = not is_precomputed(samples)
            references = check_samples(
                references, spec, "references", has_other_sets=has_other_sets
            )
        else:
            references = None
    if spec.grouping_prompts is not None:
        from ..resolve.sample_labels import cross_groups, group_by_prompt

        sets = [samples]
        if references is not None and spec.conditioning_prompts is not None:
            sets.append(references)  # both sets are conditioned on the prompts
        spec, prompt_groups = group_by_prompt(spec, sets, [groups, None], first_set_only=True)
        if groups is None:
            groups = prompt_groups
        elif prompt_groups is not None:
            groups = cross_groups(groups, prompt_groups)
    if groups is not None or request.group_measures or request.ci is not None:
        _check_groups(samples, groups, request)
    # With groups, the views in `group_needs` are computed for each group, and only those in
    # `joint_needs` for all samples together.
    group_needs, joint_needs = request.needs
    return SampleSet(
        samples,
        spec,
        name=name,
        references=references,
        orders=request.orders,
        weights=request.p,
        psd=request.psd,
        groups=groups,
        needs=group_needs if groups is None else joint_needs,
        group_needs=group_needs,
        pooled_needs=request.pooled_needs,
        estimate_options=request.estimate_options,
        solver=request.solver,
    )


def _flatten_samples(
    samples: Samples | None, request: ScoreRequest, name: str, has_other_sets: bool
) -> tuple[Any, GroupLabels | None, SimilaritySpec]:
    """Return samples as a flat collection, their groups, and their SimilaritySpec.

    The groups are the `groups` of the request, the inner lists of a list of lists, or the sites of
    `counts`; None if there are none. `has_other_sets` is True if references were passed that are
    not a Similarity or a MetricSpace. Then options of the kernel affect the references, and are
    accepted even if `samples` is a Similarity, which they do not affect.
    """
    spec = request.spec
    groups = None
    if request.counts is not None:
        from .counts import expand_counts

        samples, groups = expand_counts(samples, request.counts, request.groups)
        spec = replace(spec, k=None)  # similarities are already computed
    flat = check_samples(samples, spec, name, has_other_sets=has_other_sets)
    if request.solver != "auto" and not has_other_sets:
        from ..magnitude.metric_space_builder import check_solver

        check_solver(flat, request.solver, name)
    # A matrix K or X, or a list of strings, cannot contain several sets.
    if spec.input_form:
        is_one_set = getattr(flat, "ndim", 0) == 2
    else:
        is_one_set = isinstance(flat, list) and isinstance(flat[0], str)
    if request.counts is not None or (request.groups is None and is_one_set):
        return flat, groups, spec
    from ..resolve.sample_labels import flatten_groups

    # A two-dimensional array or table that became a list of rows, which are samples, not groups.
    is_table = isinstance(flat, list) and getattr(samples, "ndim", 1) == 2
    flat, groups = flatten_groups(flat, spec, request.groups, table=is_table, name=name)
    return flat, groups, spec


def _check_groups(samples: Any, groups: GroupLabels | None, request: ScoreRequest) -> None:
    """Raise a TypeError or ValueError if a request does not support these groups, or requires some.

    `groups` is None if the samples have no groups.
    """
    names = ", ".join(request.group_measures)
    has_prompts_in_groups = groups is not None and groups.sets is not None
    argument = "ci" if groups is None else "groups"
    # For each problem: whether it applies, and the error.
    problems = [
        (
            names and groups is None,
            ValueError,
            f"{names} requires groups; pass `groups` with one label per sample, or pass the "
            f"samples as a list of lists",
        ),
        (
            names and has_prompts_in_groups,
            ValueError,
            f"{names} is not supported for groups with several prompts; remove `prompts`, or "
            f"remove `groups`",
        ),
        (
            groups is not None and request.estimate_options,
            ValueError,
            "`method='estimate'` is not supported with groups; remove `method`",
        ),
        (
            is_metric_space(samples) and (groups is not None or request.ci is not None),
            TypeError,
            f"`{argument}` is not supported for a MetricSpace, which cannot be split; pass the "
            f"samples themselves, or their distances with metric='precomputed'",
        ),
    ]
    for applies, error, message in problems:
        if applies:
            raise error(message)


def evaluate_sample_set(sample_set: SampleSet, request: ScoreRequest) -> Record:
    """Return the results of a request for a sample set, with "details" if requested."""
    uncertainty: Uncertainty | None = None
    # Several measures may use the tokens of the same texts.
    token_cache = cache_tokens() if len(request.measures) > 1 else nullcontext()
    # NumPy's warnings are not needed: the result is checked for infinity and NaN.
    with token_cache, np.errstate(all="ignore"), merge_warnings("groups"):
        try:
            if sample_set.groups is not None or request.ci is not None or request.estimate_options:
                values, uncertainty = _evaluate_with_errors(sample_set, request)
            else:
                scores = evaluate_measures(sample_set, request.measures, request.suffixes)
                values = {
                    key: value for values_by_key in scores for key, value in values_by_key.items()
                }
            result = Result(values)
            if request.details:
                from .details import build_details

                result["details"] = build_details(sample_set, request, uncertainty, result)
            return result
        except NotPSDError as error:
            kernel = request.spec.k
            if isinstance(kernel, Kernel) and not kernel.psd:
                # A kernel of the registry, which is documented not to be positive semidefinite.
                psd_kernels = format_psd_kernels(kernel.samples)
                hint = f"; positive semidefinite kernels for {kernel.samples}: {psd_kernels}"
                error.add_note(
                    f"no single sample causes this: k={kernel.name!r} has negative eigenvalues "
                    f"for many sets, more often for larger sets{hint if psd_kernels else ''}"
                )
            raise
        except SampleError as error:
            if sample_set.groups is None:
                raise
            raise sample_set.groups.locate_error(error) from error.__cause__


def _evaluate_with_errors(
    sample_set: SampleSet, request: ScoreRequest
) -> tuple[Record, Uncertainty]:
    """Return scores with their standard errors and intervals, and how these were computed.

    It is called only if there are groups, an interval was requested with `ci`, or the request has
    method="estimate". In all other cases, scores have no standard errors.
    """
    from .group_scores import evaluate_groups
    from .intervals import Uncertainty, check_sample_count, estimate_uncertainty
    from .permutation_null import add_null_values

    if not request.pool_repeats:
        # pool_repeats=False affects only intervals of single groups in details["groups"]: it
        # estimates separately for each group how often samples recur. This raises an error if there
        # are no such intervals. `rows` describes the rows of details["groups"] in the message.
        rows = "groups" if sample_set.groups is not None else ""
        if sample_set.groups is not None and sample_set.groups.sets is not None:
            rows = "means over the prompts of each group"
        measures = [configured.measure for configured in request.measures]
        check_pool_repeats(request.ci, request.details, measures, rows)
    if sample_set.groups is not None:
        scores, uncertainty = evaluate_groups(sample_set, request)
        if request.uses_permutation_null:
            add_null_values(sample_set, request, scores, uncertainty)
    elif request.ci is not None:
        check_sample_count(sample_set.n_input)
        if "VS" in request.names:
            sample_set.decompose()  # intervals also require eigenvectors
        scores = evaluate_measures(sample_set, request.measures, request.suffixes)
        check_sample_count(sample_set.n)  # samples may have been dropped
        uncertainty = estimate_uncertainty(sample_set, request, scores)
    else:  # an estimate, which exists only for the Vendi Score
        scores = evaluate_measures(sample_set, request.measures, request.suffixes)
        estimates = zip(scores[0], sample_set.spectral.estimates, strict=True)
        uncertainty = Uncertainty({key: {"se": estimate.error} for key, estimate in estimates})
    return uncertainty.with_scores(scores), uncertainty
