"""The kernel "equivalence": samples are similar if a judge considers them equivalent."""

import inspect
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..encoders.embeddings import check_no_conflict
from ..encoders.networks import describe_network, resolve_model_files
from ..encoders.sample_encoder import BATCH_SIZE
from ..encoders.text_encoders import (
    check_texts,
    compute_cross_encoder_scores,
    load_pair_classifier,
    score_in_batches,
)
from ..resolve.kernel import register_kernel
from ..resolve.kernel_builder import find_distinct_samples
from ..similarity.base import Similarity
from ..similarity.concatenation import num_samples
from ..similarity.judgements import EquivalenceSimilarity, GradedSimilarity, Judgements, Pair
from ..similarity.sample_arrays import as_matrix
from ..support.arguments import check_bool, check_float, check_int
from ..support.errors import short_repr
from ..support.progress import track
from ..support.signature import to_plain
from ..support.text_detection import normalize_text
from ..support.types import Device
from .labels import labels

AnswerFunction = Callable[[Any], object]  # extracts the answer of a sample
SAME_ABOVE = 0.5
# Default of `audit` for each kind of `same`; a judgement of a model takes the longest.
_MAX_AUDITED_BY_MODEL = 0
_MAX_AUDITED_BY_FUNCTION = 20
_MAX_AUDITED_BY_MATRIX = 200
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_MAX_PATH_LENGTH = 255


@register_kernel(
    "equivalence",
    samples="text",
    source="NoveltyBench: Zhang et al., arXiv 2504.05228, §3; Kuhn et al., arXiv 2302.09664",
    repeats=True,
)
def equivalence(
    samples: Sequence[object],
    same: Any = "exact",
    same_above: float | None = None,
    audit: int | None = None,
    batch_size: int = BATCH_SIZE,
    max_length: int | None = None,
    device: Device = None,
    half: bool | None = None,
    revision: str | None = None,
    graded: bool = False,
) -> Similarity:
    """1 for two samples of the same equivalence class, 0 otherwise.

    `same` decides which samples are equivalent. A sample joins the first class whose first member
    it is equivalent to; otherwise it starts a new class. Groups are processed separately. Each pair
    is judged at most once, and exact duplicates need no judgement.

    Parameters
    ----------
    samples : sequence of str
        The samples. They can have any type if `same` is a function or a matrix.
    same : str, pattern, callable, array of shape (n, n), path or CrossEncoder, default "exact"
        The criterion of equivalence. One of:

        - "exact": texts are equal except for case, white space, punctuation and Unicode form.
        - A pattern, compiled or as a str with a group, that extracts the final answer. The group of
          the last match is compared as with "exact".
        - A function of one sample that returns its answer; answers are compared with ``==``.
          Samples without an answer (None) are compared as a whole and reported in `notes`.
        - A function of two samples, the earlier one first, that returns whether they are
          equivalent, or the probability of that.
        - A matrix whose entry (i, j) is the judgement of samples i and j.
        - The folder or Hub id of a sequence classifier: an NLI model, in which case each text must
          entail the other, or a model with one or two classes such as that of NoveltyBench
          (`same_above=0.102`, `max_length=259`), which gets the earlier text first.
    same_above : float, default 0.5
        Samples are equivalent if their judgement is larger than this.
    audit : int, optional
        In sets of at most this number of distinct samples, all pairs are judged, to count the
        triples in which a is equivalent to b and b to c, but not a to c. By default 20 if `same` is
        a function, 200 if it is a matrix and 0 if it is a model.
    batch_size : int, default 64
        Number of pairs that a model evaluates at once.
    max_length : int, optional
        Maximum number of tokens of a pair.
    device, half, revision : optional
        Options of a model; see `vendiscore.encoder`.
    graded : bool, default False
        Whether similarities are scores from 0 to 1 instead of classes: the mean score over both
        orders of a pair. `same` must be a function of two samples; a matrix (for duplicates, the
        scores of the first one are used); a model path (the sigmoid of a single logit, or the
        probability of entailment of an NLI model); a `sentence_transformers.CrossEncoder`; or a
        function that maps a list of up to `batch_size` pairs to their scores. All m(m − 1) ordered
        pairs of the m distinct samples of a group are judged. If the matrix K of mean scores of
        these m samples is not positive semidefinite, it is replaced by (K + δI)/(1 + δ) with the
        smallest possible δ > 0; this takes O(m³) time and is reported in `notes`.

    Raises
    ------
    SampleError
        If samples are not strings but are compared as texts.
    TypeError, ValueError
        If judgements are not finite, scores are not between 0 and 1, a matrix has the wrong shape,
        or a model has no suitable classes.
    MissingPackageError
        If torch or transformers (extra `text`) is missing and `same` is a model.
    """
    # Validate the options. `model_options` and `judging_options` contain those that are an error if
    # `same` is of a type for which they have no effect.
    passed_batch_size = None if batch_size == BATCH_SIZE else batch_size
    model_options = {"max_length": max_length, "device": device, "half": half, "revision": revision}
    judging_options = {"same_above": same_above, "audit": audit}
    batch_size = check_int("batch_size", batch_size)
    threshold = SAME_ABOVE
    max_audited = _MAX_AUDITED_BY_MODEL
    if same_above is not None:
        # Judgements may have any scale, so any threshold is valid.
        threshold = check_float("same_above", same_above, "a finite number", math.isfinite)
    settings = {"same": to_plain(same.pattern if isinstance(same, re.Pattern) else same)}
    path = _as_path(same)

    # Determine how pairs are judged. `score_pairs` scores many at once, if `same` is a model or
    # a function of a list of pairs.
    score_pairs: Callable[..., ArrayLike] | None = None
    if check_bool("graded", graded):
        check_no_conflict(judging_options, "graded=True, which uses scores unchanged")
        judging_options["graded"] = graded
        if hasattr(same, "predict") and hasattr(same, "config"):  # a CrossEncoder
            check_texts(samples)
            settings |= {**describe_network(same), "max_length": same.max_seq_length}
            score_pairs = partial(compute_cross_encoder_scores, same)
        elif callable(same) and _takes_one_argument(same):  # the argument is a list of pairs
            score_pairs = same
        if score_pairs:
            score_pairs = partial(score_in_batches, score=score_pairs)
    if path is not None:
        check_texts(samples)
        files = resolve_model_files(path, revision, "text", device, half)
        length = None if max_length is None else check_int("max_length", max_length)
        classifier = load_pair_classifier(files, length)
        classifier.both_directions &= not graded  # scores are computed in both directions anyway
        settings |= classifier.network.settings
        score_pairs = classifier.probabilities
    else:
        if score_pairs is None:  # `batch_size` has an effect only with `score_pairs`
            model_options["batch_size"] = passed_batch_size
        check_no_conflict(model_options, "a `same` that is not the path of a model")
        if score_pairs is None and (get_answer := _get_answer_function(same)):
            check_no_conflict(
                judging_options, "a `same` that extracts answers instead of judging pairs"
            )
            if get_answer is not same:  # "exact" and patterns
                check_texts(samples)
            return _compare_answers(samples, get_answer).noted(settings=settings)

    # Define `score`, a function from pairs of positions in `distinct_samples` to their scores.
    # `first` is the index of each distinct sample, and `ids` its position for each sample.
    distinct_samples, first, ids = find_distinct_samples(samples)
    score: Callable[[list[Pair]], ArrayLike]
    if score_pairs is not None:

        def score(pairs: list[Pair]) -> ArrayLike:
            values = [(distinct_samples[i], distinct_samples[j]) for i, j in pairs]
            return score_pairs(values, batch_size=batch_size)

    elif callable(same):
        max_audited = _MAX_AUDITED_BY_FUNCTION
        score = partial(_score_by_function, same, distinct_samples, first)
    else:
        max_audited = _MAX_AUDITED_BY_MATRIX
        matrix = _check_judgement_matrix(same, num_samples(samples), graded)
        if not graded:
            # The matrix may judge duplicates differently, so all samples are treated as distinct.
            first = ids = np.arange(num_samples(samples))

        def score(pairs: list[Pair]) -> ArrayLike:
            # Convert ids to indices of samples, which are the rows and columns of the matrix.
            return matrix[tuple(first[np.array(pairs)].T)]

    def judge(pairs: list[Pair]) -> np.ndarray:
        """Return the score of each pair if `graded`, otherwise whether its samples are equivalent.

        `pairs` are pairs of ids of samples, as in `ids`.
        """
        scores = np.asarray(score(pairs))
        if not graded:
            return scores > threshold
        for k in np.flatnonzero(~(abs(scores - 0.5) <= 0.5)):  # also catches NaN
            i, j = pairs[k]
            raise ValueError(
                f"`same` must return scores from 0 to 1, got {scores[k]:.6g} for samples "
                f"{first[i]} and {first[j]}; rescale them, for example with "
                "activation_fn=torch.nn.Sigmoid() of a CrossEncoder"
            )
        return scores

    # Build the similarity, which judges pairs when they are needed.
    if not graded:
        settings["same_above"] = threshold
    # Up to this number of distinct samples, all pairs are judged, to detect judgements that are not
    # transitive.
    max_audited = max_audited if audit is None else check_int("audit", audit, 0)
    similarity_class = GradedSimilarity if graded else EquivalenceSimilarity
    return similarity_class(Judgements(judge, max_audited), ids).noted(settings=settings)


def _score_by_function(
    same: Callable[[Any, Any], object],
    distinct_samples: Any,
    first: np.ndarray,
    pairs: list[Pair],
) -> list[float]:
    """Judge pairs of positions in `distinct_samples` by calling `same` for each pair.

    `first` is the index of each distinct sample in the input, for messages.
    """
    scores = []
    for i, j in track(pairs, None, "judging pairs"):
        try:
            judgement: Any = same(distinct_samples[i], distinct_samples[j])
        except Exception as error:
            error.add_note(f"raised by `same` for samples {first[i]} and {first[j]}")
            raise
        # NumPy numbers and tensors with one entry have the method `item`.
        is_number = isinstance(judgement, (int, float)) or hasattr(judgement, "item")
        if not is_number or not math.isfinite(judgement):
            raise TypeError(
                f"`same` must return True, False or a probability, got "
                f"{short_repr(judgement)} for samples {first[i]} and {first[j]}"
            )
        scores.append(float(judgement))
    return scores


def _check_judgement_matrix(same: Any, n: int, graded: bool) -> np.ndarray:
    """Return `same`, a matrix of judgements of all pairs of n samples, as a float matrix.

    Raises a TypeError or ValueError unless the shape is (n, n) and the entries are finite. If
    `graded`, entries are not checked here, because the caller checks that they are between 0 and 1.
    """
    message = "`same` must be 'exact', a pattern, a function, a path, or a matrix of judgements"
    if np.ndim(same) != 2:
        raise TypeError(f"{message}, got {type(same).__name__}")
    matrix = np.asarray(same, dtype=float)
    if not graded:
        as_matrix(matrix, "same")  # checks that values are finite
    if matrix.shape != (n, n):
        raise ValueError(f"{message} {(n, n)} of {n} samples, got shape {matrix.shape}")
    return matrix


def _as_path(same: object) -> str | Path | None:
    """Return the argument `same` if it is the path or Hub id of a model, else None."""
    if not isinstance(same, str) or same == "exact":
        return same if isinstance(same, Path) else None
    # `is_dir` raises an OSError for a pattern that is longer than file names may be.
    is_folder = len(same) <= _MAX_PATH_LENGTH and Path(same).is_dir()
    return same if is_folder or _HUB_ID.fullmatch(same) else None


def _get_answer_function(same: object) -> AnswerFunction | None:
    """Return the function that extracts the answer of a sample, or None if `same` judges pairs.

    `same` is the argument of the kernel "equivalence". For "exact", the answer of a text is the
    normalized text. For a regular expression, it is the last match in the text. Samples with equal
    answers are equivalent.
    """
    if callable(same):
        return same if _takes_one_argument(same) else None
    if not isinstance(same, (str, re.Pattern)):
        return None
    if same == "exact":
        return normalize_text
    try:
        pattern = re.compile(same)
    except re.error as error:
        raise ValueError(
            f"`same` must be a valid regular expression, got {short_repr(same)}: {error}"
        ) from None
    # A text without a group may be a mistyped name of a model.
    if isinstance(same, str) and not pattern.groups:
        raise ValueError(
            f"`same` must be 'exact', a pattern with a group such as r'answer: (.*)', the folder "
            f"or Hub id of a classifier, a function or a matrix, got {short_repr(same)}"
        )
    return partial(_extract_last_match, pattern)


def _takes_one_argument(function: Callable[..., object]) -> bool:
    """Return whether a function has one parameter, or only one parameter without a default.

    Passed as `same`, such a function extracts the answer of a sample, or scores a list of pairs;
    other functions judge two samples.
    """
    if isinstance(function, type):  # such as float, which converts a sample
        return True
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # built-in functions without a signature, such as max
        return True
    # Parameters that can be passed by position have a lower `kind` than `*args`.
    positional = [param for param in parameters if param.kind < param.VAR_POSITIONAL]
    n_required = sum(param.default is param.empty for param in positional)
    return len(positional) == 1 or n_required == 1


def _extract_last_match(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the last match of a pattern in a text as normalized text, or None without a match.

    If the pattern has groups, only the first group that takes part in the match is returned.
    """
    matches = [*pattern.finditer(text)]
    if not matches:
        return None
    groups = [group for group in matches[-1].groups() if group is not None]
    return normalize_text(groups[0] if groups else matches[-1].group())


def _compare_answers(samples: Sequence[object], get_answer: AnswerFunction) -> Similarity:
    """Return the similarity that is 1 for samples with equal answers, else 0.

    `get_answer` extracts the answer of a sample. Samples for which it returns None are compared as
    a whole, and reported in the attribute `partial`.
    """
    answers = []
    for i, sample in enumerate(samples):
        try:
            answers.append(get_answer(sample))
        except Exception as error:
            error.add_note(
                f"raised by `same` for sample {i}, {short_repr(sample)}; return None for a sample "
                "without an answer"
            )
            raise
    problems = {}
    # Answers are put in tuples, so that none is equal to a sample that is compared as a whole.
    keys: list[object] = [(answer,) for answer in answers]
    for i, sample in enumerate(samples):
        if answers[i] is None:
            keys[i] = normalize_text(sample) if isinstance(sample, str) else sample
            problems[i] = "has no answer according to `same`, and is compared as a whole"
    return labels(keys).noted(partial=problems)
