"""Count the sources that effectively differ: models, annotators, seeds, generators."""

from collections.abc import Hashable, Sequence

from ...resolve.similarity_spec import similarity_spec_from_keywords
from ...support.arguments import DEFAULT_ORDER, check_bool
from ...support.types import PairFunction, Samples
from .answer_table import tabulate_answers, tabulate_samples, tabulate_sets
from .between_sources import Sources
from .source_scores import check_sources_options, compare_sources


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
    """Find how many sources of answers are effectively different, and which are alike.

    Parameters
    ----------
    answers : dict, list or array
        The answers of each source by name: a list or array with a place for each prompt, or a dict
        of prompt to answer. Several answers are a list; None marks a missing answer. Sources in a
        list are called A, B, … or by `names`, and folders by their names. Or samples, with `by`: of
        a table, ``sources(df["answer"], df["prompt"], by=df["model"])``, or a Similarity.
    prompts : sequence of labels, optional
        The prompts, in the order of the lists; with `by` the prompt of each sample.
    by, names : sequence of labels, sequence of str, optional
        The source of each sample, if all are one list; the names of sources passed as a list.
    aligned : bool
        False for sets of samples that answer no prompts, such as molecules of several generators,
        each a list, an array or a folder of images: they are compared as wholes.
    given_prompt : bool
        Take the prompts out of similarities; see `prompts` of `as_similarity`.
    q : float in (0, ∞] or "inf"
        Order of the score (default: 1); larger orders give less weight to what few sources do.
    level : float in [0.5, 1), or None for no interval
        Confidence level of the interval (default: 0.95).
    psd : {"check", "clip"}
        Raise for negative eigenvalues, or set them to zero.
    k : str, callable, dict or list, optional
        A registered kernel, a function of two samples, or a mixture; strings: "ngram_overlap".
    **how
        `score_X`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    Sources
        With `.score`, `.sentence`, `.sources`, `.similarity`, `.pairs()`, `.groups(threshold)`,
        `.per_prompt`, `.to_frame()`, `.plot()`, `.to_dict()`.

    Raises
    ------
    TypeError, ValueError, SampleError, TooLargeError
        For one source alone, sources without a common prompt or of unequal lengths, answers that
        cannot be compared (they are named; `on_error="skip"` leaves them out), or wrong keywords.

    Notes
    -----
    Sources a and b have the similarity Σ_p K_p(a, b)/√(Σ_p K_p(a, a) Σ_p K_p(b, b)), K_p(a, b) the
    mean over their answers to prompt p, of prompts that both answered; the score is its Vendi
    Score. It is the mean of K where each answers once, and the cosine of mean features. Where a
    source answers several times, `.corrected` has Σ_p K_p(a, a) over different answers only: two
    sets of answers of one source are then one source but for chance, where the plain score counts
    their differences too. Intervals are Student's, of a jackknife that leaves out one prompt at a
    time (without prompts, one of 20 random blocks of each set); for the plain score v of G sources
    on the scale of logit((v − 1)/(G − 1)). Where no prompt changes the score, the interval allows
    for a proportion of prompts in which all sources agree, or none do: Jeffreys' for none of the
    prompts seen. Prompts are compared one by one, in threads.

    References
    ----------
    The question: Jiang et al., NeurIPS 2025, arXiv 2510.22954. Mean features: Muandet et al. 2017.
    Jackknife: Efron & Stein 1981.

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
    keywords = ("by", "names", "aligned", "given_prompt", "level", "q")
    spec = similarity_spec_from_keywords({"k": k, **how}, keywords)
    options = check_sources_options(q, level, psd, given_prompt)
    aligned = check_bool("aligned", aligned)
    if names is not None and by is not None:
        raise TypeError("the labels already name the sources: leave `names` out")
    if not aligned and prompts is not None:
        raise ValueError(
            "aligned=False is of samples that answer no prompts: leave one of them out"
        )
    if by is not None:
        table = tabulate_samples(answers, by, prompts, spec)
    elif aligned:
        table = tabulate_answers(answers, prompts, names, spec)
    else:
        table = tabulate_sets(answers, names, spec)
    return compare_sources(table, spec, options)
