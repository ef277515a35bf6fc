"""Compute Vendi Scores (arXiv 2210.02410) of several orders (arXiv 2310.12952)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.eigenvalues import PSD, check_psd
from ..similarity.base import Similarity
from ..support.arguments import DEFAULT_ORDER
from ..support.memory import TooLargeError
from ..support.namespace import Array
from .estimate import Estimate, EstimateOptions
from .routes import (
    LARGEST_EIGENVALUE,
    ConvergenceError,
    compute_scores_in_single_precision,
    score_one_order,
    select_one_order_route,
    select_spectrum_route,
)
from .spectrum import ScoresByOrder, Spectrum
from .weighted_similarity import weight_similarity


def compute_vendi_scores(
    similarity: Similarity,
    orders: Sequence[float] = (DEFAULT_ORDER,),
    p: Array | None = None,
    psd: PSD = "check",
    *,
    spectrum: Spectrum | None = None,
    estimate_options: EstimateOptions | None = None,
    allow_single: bool = True,
) -> ScoresByOrder:
    """Compute the Vendi Scores of several orders by the cheapest route.

    Parameters
    ----------
    similarity : Similarity
        The similarity of n samples, with unit diagonal.
    orders : sequence of float
        Orders in [0, ∞].
    p : array (n,), optional
        Weights that sum to 1; uniform by default.
    psd : {"check", "clip"}, default "check"
        Raise an error for negative eigenvalues beyond rounding, or set them to zero.
    spectrum : Spectrum, optional
        The spectrum of these samples, if it has already been computed.
    estimate_options : EstimateOptions, optional
        Options of stochastic estimates. If given, scores that need all eigenvalues are estimated if
        this is faster. By default, all scores are exact.
    allow_single : bool, default True
        Whether float32 features may be multiplied in single precision, if this is accurate enough.
        Pass False for scores that are combined with others in double precision.

    Returns
    -------
    ScoresByOrder
        The scores, and the spectrum if it was passed or computed.
    """
    if spectrum is not None:
        if spectrum.n != similarity.n:
            raise ValueError(
                f"`spectrum` must be computed from the {similarity.n} samples, got the spectrum of "
                f"{spectrum.n} samples; omit `spectrum`"
            )
        # Orders below 1 need a spectrum in double precision.
        if not spectrum.single_precision or min(orders, default=1.0) >= 1:
            return ScoresByOrder(spectrum.estimates(orders), spectrum)
    similarity = similarity.compact()
    estimates: dict[float, Estimate] = {}
    failures: dict[float, str] = {}  # why the cheapest route of an order failed
    routes = {q: select_one_order_route(similarity, q, psd) for q in orders}
    needs_spectrum = None in routes.values()
    # Lanczos iteration is faster than all eigenvalues in single precision.
    uses_lanczos = LARGEST_EIGENVALUE in routes.values() and not needs_spectrum
    if allow_single and p is None and estimate_options is None and not uses_lanczos:
        scores = compute_scores_in_single_precision(similarity, orders)
        if scores is not None:
            return scores
    # If an order needs the exact spectrum, all scores are computed from it.
    if estimate_options or not needs_spectrum:
        weighted = weight_similarity(similarity, p)
        for q, route in routes.items():
            if route is not None:
                try:
                    estimates[q] = score_one_order(route, weighted, q, psd)
                except (ConvergenceError, TooLargeError) as error:
                    failures[q] = str(error)
    remaining_orders = [q for q in orders if q not in estimates]
    if remaining_orders:
        spectrum_route = select_spectrum_route(similarity)
        remaining_estimates = None
        if estimate_options:
            from .stochastic_estimate import estimate_scores

            remaining_estimates = estimate_scores(
                similarity, remaining_orders, p, psd, estimate_options, spectrum_route
            )
        if remaining_estimates is None:  # exact scores were requested or take no longer
            remaining_estimates, spectrum = spectrum_route.run(
                similarity, p, psd, orders=remaining_orders
            )
        estimates |= zip(remaining_orders, remaining_estimates, strict=True)
    for q, reason in failures.items():  # users are told why all eigenvalues were computed
        estimates[q] = replace(estimates[q], reason=reason)
    return ScoresByOrder([estimates[q] for q in orders], spectrum)


def compute_spectrum(
    similarity: Similarity, p: Array | None = None, psd: PSD = "check", *, vectors: bool = False
) -> Spectrum:
    """Compute the spectrum of a similarity by the cheapest route, in double precision.

    The route is the method: the eigenvalues of the similarity matrix, or of the covariance matrix
    of features if that is smaller. `p` are the weights of the samples; uniform by default. If `psd`
    is "check", negative eigenvalues beyond rounding errors raise a NotPSDError; if "clip", they are
    set to 0. If `vectors`, the spectrum contains eigenvectors.
    """
    similarity = similarity.compact()
    spectrum = select_spectrum_route(similarity).run(similarity, p, psd, vectors=vectors).spectrum
    assert spectrum is not None
    return spectrum


def spectrum(similarity: Similarity, p: Array | None = None, psd: PSD = "check") -> Array:
    """Compute the eigenvalues that determine the Vendi Score of every order.

    They are the eigenvalues of diag(sqrt(p)) K diag(sqrt(p)) for similarities K and weights p.

    Parameters
    ----------
    similarity : Similarity
        Similarities of n samples with ones on the diagonal, from `as_similarity`. Not modified.
    p : array-like of shape (n,), optional
        Non-negative weights that sum to 1; uniform by default.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.

    Returns
    -------
    array of shape (m,)
        Non-negative eigenvalues in descending order that sum to 1; m is at most n and at most the
        number of features. A tensor for torch input.

    Raises
    ------
    NotPSDError
        If the similarities have negative eigenvalues and ``psd="check"``.
    TooLargeError
        If the matrix does not fit in memory; raised before allocation.
    TypeError
        If `similarity` is not a Similarity, for example a list of samples.

    See Also
    --------
    as_similarity : Build a similarity from samples.
    effective_number : Compute a score from these eigenvalues.

    Notes
    -----
    Eigenvalues below n times machine epsilon times the largest are set to zero, so the number of
    positive ones is the numerical rank. For a float32 matrix, the scores of orders below 1 that
    `compute` returns also ignore eigenvalues that rounding of its entries may have caused.

    Time is O(n d^2 + d^3) for d < n features, else O(n^3). Memory is one square matrix with
    min(n, d) rows.

    References
    ----------
    1. D. Friedman and A. B. Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine
       Learning", Transactions on Machine Learning Research, 2023. arXiv:2210.02410, section 3.

    Examples
    --------
    >>> from vendiscore import as_similarity, effective_number
    >>> shares = spectrum(as_similarity(["a cat", "a cat", "a cat", "one dog"]))
    >>> shares.round(6)
    array([0.75, 0.25])
    >>> round(effective_number(shares, q=2), 6)  # 1 / (9/16 + 1/16)
    1.6
    """
    if not isinstance(similarity, Similarity):
        raise TypeError(
            f"`similarity` must be a Similarity, got {type(similarity).__name__}; pass "
            f"as_similarity(samples, k=…), or as_similarity(K, score_K=True)"
        )
    return compute_spectrum(similarity, p, check_psd(psd)).values
