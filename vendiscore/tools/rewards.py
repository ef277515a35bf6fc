"""Rewards for the contribution of each sample to the diversity of its group."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from ..core.eigenvalues import PSD, check_psd
from ..measures.group_spectra import compute_by_group
from ..measures.sample_set import SampleSet, SampleSubset
from ..resolve.sample_labels import (
    GroupLabels,
    check_size,
    flatten_groups,
    flatten_prompts,
    group_equal_prompts,
)
from ..resolve.similarity_builder import check_samples
from ..resolve.similarity_spec import (
    KernelArgument,
    PromptSpec,
    SimilaritySpec,
    similarity_spec_from_keywords,
)
from ..similarity.sample_arrays import take_samples
from ..similarity.weights import check_per_sample
from ..spectral.leave_one_out import compute_log_score, compute_surprise, leave_one_out
from ..spectral.stacked_spectra import StackedSpectra
from ..spectral.vendi_scores import compute_spectrum
from ..support.arguments import (
    DEFAULT_ORDER,
    check_bool,
    check_choice,
    check_float,
    check_no_gradient,
    check_order,
)
from ..support.errors import SampleError
from ..support.namespace import to_host
from ..support.text_detection import count_unspaced
from ..support.types import SampleContainer, Samples

Credit = Literal["surprise", "leave_one_out"]
Fuse = Literal["x", "+"]
_WORD = re.compile(r"\w+")


def group_rewards(
    samples: Samples,
    quality: object = None,
    *,
    groups: object = None,
    prompts: Sequence[object] | None = None,
    given_prompt: bool = False,
    fuse: Fuse = "x",
    weight: float = 1.0,
    credit: Credit = "surprise",
    match_length: bool = False,
    q: float = DEFAULT_ORDER,
    k: KernelArgument | None = None,
    psd: PSD = "check",
    **options: object,
) -> np.ndarray:
    """Compute a reward for each sample from its quality and its contribution to its group.

    For reinforcement learning: the completions for one prompt form a group. Diversity by itself
    also rewards noise, so pass `quality`. The reward of a sample that is the only one in its group
    depends only on its quality, and is 0 without it. Blank texts have credit 0 and do not affect
    other samples.

    Parameters
    ----------
    samples : list or array-like
        The n samples, as for `compute`. A list of lists means groups.
    quality : array-like of shape (n,), optional
        Quality of each sample, such as its reward for correctness; non-negative with ``fuse="x"``.
        If omitted, the reward is `weight` times the credit for diversity.
    groups : sequence of length n of labels, optional
        Group of each sample. By default samples with equal prompts; without prompts, all samples.
    prompts : sequence of length n, optional
        Prompt of each sample, of any type that supports ``==``.
    given_prompt : bool, default False
        Whether to condition similarities on the prompts, as in `compute`. A dict from group labels
        to prompts is then also accepted. A sample that repeats its prompt verbatim has credit 0.
    fuse : {"x", "+"}, default "x"
        How quality and credit are combined. "x" is quality * (1 - weight + weight * max(credit, 0))
        with a weight of at most 1. It rewards only good samples, like DARLING. "+" is
        quality + weight * credit.
    weight : float, default 1.0
        Weight of the credit, at least 0.
    credit : {"surprise", "leave_one_out"}, default "surprise"
        Credit for diversity. "surprise" is -x^T log(A) x / log n, where A is the mean of x x^T over
        the group. It lies in [0, 1], and at order 1 its mean over the group is log VS / log n.
        "leave_one_out" is VS of the group minus VS without the sample. It is at most 1, for a
        sample that has nothing in common with others that also have nothing in common, whatever n
        is; 0 if all samples are identical; and negative for some repeated samples, which
        ``fuse="x"`` multiplies by 0. It has the policy gradient of the expected VS.
    match_length : bool, default False
        Compare texts by their distinct words, in order, without case and punctuation, truncated to
        the median number of words in the group (of characters, in scripts without spaces).
        Repetition and length then do not make a text different.
    q : float, default 1
        Order of the score, 0 < q <= infinity; finite for "surprise".
    k : str, callable, dict or list, optional
        The kernel, as for `compute`. Strings are compared by "ngram_overlap" if omitted.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    **options
        Options of the kernel, as for `compute`.

    Returns
    -------
    array of shape (n,)
        The rewards, in float64.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    TypeError, ValueError
        If an argument is invalid.

    See Also
    --------
    explain : Contribution of each sample to the score of a set.
    novelty : What new samples would add to a reference set.

    Notes
    -----
    Time is O(n^3) for a group of n samples.

    References
    ----------
    1. D. Friedman and A. B. Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine
       Learning", Transactions on Machine Learning Research, 2023. arXiv:2210.02410.
    2. T. Li et al., "Jointly Reinforcing Diversity and Quality in Language Model Generations"
       (DARLING), 2025. arXiv:2509.02534.

    Examples
    --------
    >>> answers = ["a cat sat", "a cat sat", "the dog ran", "it rained"]
    >>> group_rewards(answers, [1.0, 1.0, 1.0, 0.0], prompts=["?"] * 4).round(3)
    array([0.5, 0.5, 1. , 0. ])
    """
    fuse, weight = check_fusion(fuse, weight)
    conditioning_prompts = prompts if check_bool("given_prompt", given_prompt) else None
    spec = similarity_spec_from_keywords(
        {"k": k, "prompts": conditioning_prompts, "given_prompt": given_prompt, **options},
        group_rewards,
    )
    flat = check_samples(samples, spec)
    check_no_gradient("`group_rewards`", **spec.options, samples=flat, quality=quality)
    flat, group_labels = flatten_groups(flat, spec, groups, stacks=True)
    n = SampleSet(flat, spec).n_input
    if group_labels is not None:
        if prompts is not None and group_labels.nested and conditioning_prompts is None:
            raise ValueError(
                "`prompts` cannot be combined with `samples` as a list of lists, which already "
                "defines groups; remove `prompts`"
            )
    elif prompts is not None:
        group_labels = group_equal_prompts(prompts)
    else:
        group_labels = GroupLabels((0,), np.zeros(n, dtype=int))
    check_size(group_labels, n, "prompts" if groups is None else "groups")
    credits, _ = compute_credits(
        flat, group_labels, spec, credit=credit, q=q, psd=psd, match_length=match_length
    )
    if quality is not None:
        quality = check_per_sample(quality, "quality").for_samples(len(credits), group_labels)
    return combine_with_quality(credits, quality, fuse, weight)


def compute_credits(
    samples: SampleContainer,
    groups: GroupLabels,
    spec: SimilaritySpec,
    *,
    credit: Credit = "surprise",
    q: float = DEFAULT_ORDER,
    psd: PSD = "check",
    match_length: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the credits of n samples, shape (n,), and the scores of g groups, shape (g,).

    Both are NaN for groups of one sample. Similarities are conditioned on the conditioning prompts
    of `spec`; a sample that repeats its prompt verbatim has credit 0.
    """
    check_choice("credit", credit, get_args(Credit))
    q = check_order(q, allow_zero=False)
    psd = check_psd(psd)
    if credit == "surprise" and math.isinf(q):
        raise ValueError(
            "credit='surprise' requires a finite `q`, got inf; pass a finite `q`, or pass "
            "credit='leave_one_out'"
        )
    if spec.drop_unusable:
        raise ValueError(
            "`on_error='skip'` is not supported, because every sample needs a reward; remove "
            "`on_error`; blank texts have a credit of 0"
        )
    codes = groups.codes
    sizes = np.bincount(codes, minlength=len(groups))
    # Indices of the samples whose credits are computed. Other samples, such as blank texts, only
    # count for the sizes of groups.
    indices = np.flatnonzero(sizes[codes] > 1)
    are_texts = isinstance(samples, list) and all(isinstance(sample, str) for sample in samples)
    if check_bool("match_length", match_length):
        if not (isinstance(samples, list) and are_texts):
            raise TypeError("`match_length` is supported only for texts; remove `match_length`")
        samples = match_lengths(samples, codes)
    if are_texts:
        indices = indices[[bool(samples[i].strip()) for i in indices]]
    credits = np.where(sizes[codes] > 1, 0.0, np.nan)
    scores = np.where(sizes > 1, 1.0, np.nan)
    prompts = None
    prompt_codes = codes
    if spec.conditioning_prompts is not None and len(codes):
        prompts, prompt_codes = flatten_prompts(
            spec.conditioning_prompts, [samples], [len(codes)], [groups]
        )
        if match_length:  # only removes repeated words, because each prompt is a group of its own
            shortened = match_lengths(prompts, range(len(prompts)))
            prompts = [text or prompt for text, prompt in zip(shortened, prompts, strict=True)]
    while len(indices):
        if prompts is not None:
            prompt_spec = PromptSpec(take_samples(prompts, prompt_codes[indices]))
            spec = replace(spec, grouping_prompts=prompt_spec)
        subset = samples
        if len(indices) < len(codes):
            subset = SampleSubset(SampleSet(samples, spec), indices).samples
        group_indices, subset_codes = np.unique(codes[indices], return_inverse=True)
        labels = tuple(groups.labels[i] for i in group_indices)
        sample_set = SampleSet(
            subset,
            spec,
            orders=[q],
            psd=psd,
            groups=GroupLabels(labels, subset_codes),
            needs=frozenset(),
            group_needs=frozenset(("similarity",)),
        )
        try:
            repeats_prompt = sample_set.similarity.echoes
            if repeats_prompt is None:
                results = _compute_group_credits(sample_set, credit)
                credits[indices], scores[group_indices] = results
                break
            indices = indices[~to_host(repeats_prompt)]
        except SampleError as error:
            raise groups.locate_error(error.reindexed(indices)) from error.__cause__
    return credits, scores


def _compute_group_credits(sample_set: SampleSet, credit: Credit) -> tuple[np.ndarray, np.ndarray]:
    """Compute the credits of samples and the scores of groups; the set has no blank texts."""
    assert sample_set.groups is not None
    codes = sample_set.groups.codes
    (q,) = sample_set.orders

    def compute_stacked(spectra: StackedSpectra) -> np.ndarray:
        if credit == "surprise":
            return spectra.compute_surprise(q)
        scores = to_host(spectra.values[0])
        return scores[:, None] - np.exp(spectra.log_scores_leaving_each_out(q))

    def compute_single(group: SampleSubset) -> tuple[np.ndarray, float]:
        spectrum = compute_spectrum(group.similarity, psd=sample_set.psd, vectors=True)
        score = math.exp(compute_log_score(spectrum, q))
        if group.n == 1:
            credits = np.zeros(1)
        elif credit == "surprise":
            credits = compute_surprise(spectrum, q)
        else:
            credits = score - np.exp(leave_one_out(spectrum, q))
        del group.similarities  # large, and not needed any more
        return credits, score

    credits, scores = compute_by_group(sample_set, q, compute_stacked, compute_single)
    if credit == "surprise":
        sizes = np.bincount(codes)
        credits /= np.log(np.maximum(sizes, 2))[codes]
    return credits, scores


def combine_with_quality(
    credits: np.ndarray, quality: np.ndarray | None, fuse: Fuse, weight: float
) -> np.ndarray:
    """Compute rewards from the credit and quality of each sample.

    Credits and rewards are NaN in groups of one sample.
    """
    is_single = np.isnan(credits)
    weighted = weight * np.where(is_single, 0.0, credits)
    if quality is None:
        return weighted
    if fuse == "+":
        return quality + weighted
    if (quality < 0).any():
        i = int(np.argmax(quality < 0))
        raise ValueError(
            f"`quality` must be non-negative with fuse='x', got {quality[i]:.3g} for sample {i}; "
            f"pass fuse='+', or add a constant to `quality`"
        )
    return quality * (1 - weight + weight * np.where(is_single, 1.0, np.maximum(credits, 0.0)))


def check_fusion(fuse: object, weight: object) -> tuple[Fuse, float]:
    """Validate `fuse` and `weight`, as documented in `group_rewards`."""
    checked_fuse: Fuse = check_choice("fuse", fuse, get_args(Fuse))
    if checked_fuse == "x":
        expected = "a number from 0 to 1 with fuse='x'"
        return checked_fuse, check_float("weight", weight, expected, lambda w: 0 <= w <= 1)
    return checked_fuse, check_float(
        "weight", weight, "a number of at least 0", lambda w: 0 <= w < math.inf
    )


def match_lengths(texts: Sequence[str], codes: Iterable[int]) -> list[str]:
    """Return the distinct words of each text, truncated to the median number in its group.

    Words are characters in scripts without spaces. `codes` are the groups of the texts.
    """
    texts_as_words = []
    counts: dict[int, list[int]] = {}
    for text, code in zip(texts, codes, strict=True):
        words: Iterable[str] = _WORD.findall(text.casefold())
        separator = " "
        if count_unspaced([text]):
            separator = ""
            words = "".join(words)
        distinct = list(dict.fromkeys(words))
        texts_as_words.append((separator, distinct, code))
        if distinct:
            counts.setdefault(code, []).append(len(distinct))
    medians = {code: sorted(sizes)[(len(sizes) - 1) // 2] for code, sizes in counts.items()}
    return [
        separator.join(distinct[: medians.get(code)])
        for separator, distinct, code in texts_as_words
    ]
