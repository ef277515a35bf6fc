"""The function `sources`: the effective number of models, annotators or generators."""

from collections.abc import Hashable, Sequence

from ...resolve.similarity_spec import similarity_spec_from_keywords
from ...support.arguments import DEFAULT_ORDER, check_bool
from ...support.types import PairFunction, Samples
from .answer_table import tabulate_answers, tabulate_samples, tabulate_sets
from .source_scores import check_sources_options, compare_sources
from .sources_result import Sources


def sources(
    answers: Samples,
    prompts: Sequence[Hashable] | None = None,
    *,
    by: Sequence[Hashable] | None = None,
    names: Sequence[str] | None = None,
    aligned: bool = True,
    given_prompt: bool = False,
    q: float | str = DEFAULT_ORDER,
    level: float | None = 0.95,
    psd: str = "check",
    k: str | PairFunction | dict[str, float] | list[str] | None = None,
    **how: object,
) -> Sources:
    """Estimate the effective number of sources, such as models or annotators, from their answers.

    Sources are similar if their answers to the same prompts are similar.

    Parameters
    ----------
    answers : dict, list or array-like
        The answers of each source, by name: a list or array with one item per prompt, or a dict
        from prompts to answers. An item may be a list of several answers, or None for a missing
        answer. Sources in a list are called A, B, and so on, or have the `names`; folders have
        their own names. With `by`, one list of all samples, or a Similarity; for a table,
        ``sources(df["answer"], df["prompt"], by=df["model"])``.
    prompts : sequence of labels, optional
        The prompts, in the order of the lists; with `by`, the prompt of each sample.
    by : sequence of labels, optional
        The source of each sample, if all samples are in one list.
    names : sequence of str, optional
        Names of sources that are passed as a list.
    aligned : bool, default True
        Whether sources answer the same prompts. Pass False to compare sets without prompts, such
        as molecules from several generators: each is a list, an array or a folder of images.
    given_prompt : bool, default False
        Whether to condition similarities on the prompts; see `as_similarity`.
    q : float or "inf", default 1
        Order of the score, 0 < q <= infinity. Large orders give less weight to rare behaviour.
    level : float or None, default 0.95
        Confidence level of the interval, 0.5 <= level < 1; None computes no interval.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    k : str, callable, dict or list, optional
        The kernel, as for `compute`. Strings are compared by "ngram_overlap" if omitted.
    **how
        `score_X`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    Sources
        The score and its interval, with `.sentence`, `.sources`, `.similarity`, `.pairs()`,
        `.groups(threshold)`, `.per_prompt`, `.to_frame()`, `.plot()` and `.to_dict()`.

    Raises
    ------
    SampleError
        If answers are unusable; ``on_error="skip"`` drops them instead.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If there is only one source, sources share no prompt or have different lengths, or an
        argument is invalid.

    See Also
    --------
    compare : Test which source is more diverse.
    compute : Score of one set.

    Notes
    -----
    Let K_p(a, b) be the mean similarity between the answers of sources a and b to prompt p. Their
    similarity is sum_p K_p(a, b) / sqrt(sum_p K_p(a, a) sum_p K_p(b, b)), over prompts that both
    answered; the score is the Vendi Score of this matrix. If each source answers once, the
    similarity is the mean over prompts; in general it is the cosine of mean features.

    If sources answer several times, two samples from one source differ by chance. `.corrected`
    removes this effect: K_p(a, a) is then the mean over pairs of different answers, so two sets of
    answers from one source count as one source, up to chance.

    Intervals use Student's t and a jackknife over prompts, or without prompts over 20 random blocks
    of each set. For the uncorrected score v of G sources the scale is logit((v - 1) / (G - 1)). If
    no prompt changes the score, the interval allows for a proportion of unseen prompts in which all
    sources agree, or none do (Jeffreys interval for none of the observed prompts).

    References
    ----------
    1. L. Jiang et al., "Artificial Hivemind", NeurIPS, 2025. arXiv:2510.22954.
    2. K. Muandet et al., "Kernel Mean Embedding of Distributions", Foundations and Trends in
       Machine Learning, 2017.
    3. B. Efron and C. Stein, "The Jackknife Estimate of Variance", Annals of Statistics, 1981.

    Examples
    --------
    >>> import vendiscore
    >>> answers = {"small": ["Paris", "a cat sat"], "large": ["Paris", "a cat sat down"],
    ...            "other": ["London", "the dog ran"]}
    >>> result = vendiscore.sources(answers, ns=[1])
    >>> round(result.score, 2)
    2.08
    >>> result.pairs(1)[0][:2]
    ('small', 'large')
    """
    spec = similarity_spec_from_keywords({"k": k, **how}, sources)
    options = check_sources_options(q, level, psd, given_prompt)
    aligned = check_bool("aligned", aligned)
    if names is not None and by is not None:
        raise TypeError(
            "`names` cannot be combined with `by`, whose labels are the names; remove `names`"
        )
    if not aligned and prompts is not None:
        raise ValueError("`prompts` is not supported with aligned=False; remove one of them")
    if by is not None:
        table = tabulate_samples(answers, by, prompts, spec)
    elif aligned:
        table = tabulate_answers(answers, prompts, names, spec)
    else:
        table = tabulate_sets(answers, names, spec)
    return compare_sources(table, spec, options)
