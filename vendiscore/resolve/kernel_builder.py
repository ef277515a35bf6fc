"""Similarities of samples under a registered kernel; identical samples are compared only once."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from numbers import Integral, Number
from pathlib import Path
from typing import Any

import numpy as np

from ..similarity.base import Similarity
from ..similarity.concatenation import num_samples
from ..similarity.features import FeatureSimilarity
from ..similarity.group_indices import factorize
from ..similarity.sample_arrays import ROWS_CACHE, take_samples
from ..support.arguments import check_choice, check_no_gradient, has_gradient
from ..support.errors import SampleError, warn
from ..support.namespace import to_float, to_host
from ..support.text_detection import INVISIBLE_CHARACTERS, looks_like
from ..support.types import Options, Record, SampleContainer, Samples
from .kernel import Kernel, get_kernel

# Number of rows of a similarity matrix whose symmetry is checked, and the largest accepted
# asymmetry relative to the largest entry, which allows for single precision.
SYMMETRY_ROWS = 64
SYMMETRY_TOLERANCE = 1e-5
TEXT_KERNEL = "ngram_overlap"  # the default kernel for strings
MAX_LISTED_DROPPED = 3  # maximum number of indices that a warning about dropped samples lists
# Sample types whose features are items of a vocabulary: classes, tags, words or fragments.
_VOCABULARY_SAMPLE_TYPES = ("text", "labels", "sets of labels", "molecules", "rows of bits")


def apply_kernel(
    kernel: Kernel,
    samples: Samples,
    options: Options,
    drop_unusable: bool,
    fit_to: np.ndarray | None,
) -> Similarity:
    """Return the similarity of samples under a kernel.

    Kernel options are fitted to the samples with the indices `fit_to`, or to all samples if it is
    None. Unusable samples are dropped with a warning if `drop_unusable`; otherwise they raise a
    SampleError.
    """
    if drop_unusable:
        samples = materialize_iterators(samples)  # they are read again without unusable samples
    build = partial(build_kernel_similarity, kernel, options=options)
    caller = f"kernel {kernel.name!r}"
    try:
        (similarity,), dropped = build_similarities(
            [build], [samples], [drop_unusable], caller, fit_to
        )
    except SampleError as error:
        error.add_note("pass on_error='skip' to drop unusable samples")
        raise
    return similarity.noted(dropped=dropped) if dropped else similarity


def build_similarities(
    builders: Sequence[Callable[..., Similarity]],
    columns: Sequence[SampleContainer],
    drop_flags: Sequence[bool],
    caller: str,
    fit_to: np.ndarray | None,
) -> tuple[list[Similarity], dict[int, str]]:
    """Build one similarity per column, from the samples that are usable in all columns.

    Parameters
    ----------
    builders : sequence of callable
        ``builder(values, fit_to=positions)`` builds the similarity of the values of a column. It
        fits kernel options to the values at these positions, or to all values if ``positions`` is
        None. It raises a SampleError if values are unusable.
    columns : sequence of list or array
        The values of each column, in the order of `builders`.
    drop_flags : sequence of bool
        For each builder, whether samples that it cannot use are dropped with a warning. Otherwise
        they raise a SampleError.
    caller : str
        What cannot use the dropped samples, for messages: a kernel or "the mixture".
    fit_to : array of int or None
        Indices of the samples to which options are fitted; None for all samples.

    Returns
    -------
    tuple of list of Similarity and dict of int to str
        The similarities, and the problem of each dropped sample by index.
    """
    n = num_samples(columns[0])
    retained = np.arange(n)
    dropped: dict[int, str] = {}
    while True:  # until each builder can use all retained samples
        similarities: list[Similarity] = []
        problems: dict[int, str] = {}
        fatal_problems: dict[int, str] = {}
        fatal_causes: dict[int, BaseException | None] = {}  # of the errors with these problems
        # `fit_to` as positions among the retained samples, without dropped ones.
        positions = None if fit_to is None else np.flatnonzero(np.isin(retained, fit_to))
        if positions is not None and not len(positions):
            positions = None  # fit to all retained samples
        for build, column, drop_unusable in zip(builders, columns, drop_flags, strict=True):
            try:
                values = take_samples(column, retained) if dropped else column
                similarities.append(build(values, fit_to=positions))
            except SampleError as error:
                column_problems = error.reindexed(retained).problems
                problems = column_problems | problems  # reports the first problem of a sample
                if not drop_unusable:
                    fatal_problems |= column_problems
                    fatal_causes |= dict.fromkeys(column_problems, error.__cause__)
        if fatal_problems:
            # The message describes the problem of the first unusable sample.
            cause = fatal_causes[min(fatal_problems)]
            raise SampleError.from_problems(fatal_problems) from cause
        if not problems:
            break
        dropped |= problems
        retained = np.setdiff1d(np.arange(n), list(dropped))
        if not len(retained):
            index, problem = min(dropped.items())
            raise ValueError(f"{caller} can use none of the {n} samples: sample {index} {problem}")
    if dropped:
        warn(_describe_dropped(dropped, n, caller))
    return similarities, dict(sorted(dropped.items()))


def _describe_dropped(dropped: Mapping[int, str], n: int, caller: str) -> str:
    """Describe the dropped samples: their number, their first indices, and the first problem.

    `dropped` maps the index of each dropped sample to its problem. `n` is the number of all
    samples, and `caller` is what cannot use the dropped ones, such as a kernel.
    """
    indices = sorted(dropped)
    listed = ", ".join(map(str, indices[:MAX_LISTED_DROPPED]))
    more = ", …" if len(indices) > MAX_LISTED_DROPPED else ""
    return (
        f"dropped {len(indices)} of {n} samples that {caller} cannot use (on_error='skip'), at "
        f"{'index' if len(indices) == 1 else 'indices'} {listed}{more}: sample {indices[0]} "
        f"{dropped[indices[0]]}"
    )


def check_on_error(on_error: object) -> bool:
    """Return True if `on_error` is "skip" and False if it is "raise"; raise for other values."""
    return check_choice("on_error", on_error, ("raise", "skip")) == "skip"


def materialize_iterators(samples: Samples) -> Samples:
    """Replace iterators among the samples by lists, because they can be read only once."""
    if not isinstance(samples, list):
        return samples
    return [list(s) if isinstance(s, Iterator) else s for s in samples]


def build_kernel_similarity(
    kernel: Kernel,
    samples: Samples,
    options: Options,
    fit_to: np.ndarray | None = None,
) -> Similarity:
    """Return the similarity of samples; the kernel receives each distinct sample once.

    Kernel options are fitted to the samples at the positions `fit_to`, or to all if it is None.
    """
    distinct, first_indices, inverse = find_distinct_samples(samples, kernel.repeats)
    n_distinct = len(first_indices)
    # The distinct samples that occur among those at `fit_to`.
    fit_positions = None if fit_to is None else np.unique(inverse[fit_to])
    cache_token = ROWS_CACHE.set({})  # lets `fit` and `build` share the parsed rows
    try:
        similarity, fitted = _fit_and_build(kernel, distinct, options, fit_positions)
        _check_kernel_result(kernel.name, similarity, first_indices)
        notes = [*getattr(fitted, "notes", ())]
        # Users get notes about blank texts, about samples that the kernel cannot represent
        # (`missed`) or represents in part (`partial`), about different texts with identical
        # features (`merges`), and about texts in scripts for which the model was not trained
        # (`scripts`). The module that writes them is imported only if needed.
        texts = distinct if kernel.samples == "text" and isinstance(distinct, list) else ()
        has_blank_texts = not all(str(text).strip(INVISIBLE_CHARACTERS) for text in texts)
        is_incomplete = similarity.missed or similarity.partial or similarity.merges
        if has_blank_texts or is_incomplete or similarity.scripts:
            from ..similarity.representation_notes import representation_notes

            notes += representation_notes(kernel.name, similarity, texts, first_indices, inverse)
    except SampleError as error:
        # A kernel of a user may count from 1, or use indices of other samples.
        invalid = [i for i in error.problems if not 0 <= i < n_distinct]
        if invalid:
            raise ValueError(
                f"kernel {kernel.name!r} raised a SampleError with the index {invalid[0]}, but it "
                f"received {n_distinct} samples ({error}); use indices from 0 to {n_distinct - 1}"
            ) from error
        from ..similarity.group_indices import group_indices

        # Report all samples that are equal to an unusable distinct sample.
        raise error.reindexed(group_indices(inverse)) from error.__cause__
    finally:
        ROWS_CACHE.reset(cache_token)
    # The kernel lost the gradient, for example because it uses NumPy: raise, instead of returning a
    # score without gradient.
    if has_gradient(samples) and not has_gradient(similarity):
        check_no_gradient(f"kernel {kernel.name!r}", samples=samples)
    # The settings are shown in the signature of a result.
    settings: Record = {"kernel": kernel.name, **kernel.options}
    del settings["on_error"]  # it does not change similarities
    settings |= {**options, **fitted, **similarity.settings}
    similarity = similarity.noted(
        settings=settings,
        fitted=fitted,
        notes=notes,
        vocabulary_columns=kernel.samples in _VOCABULARY_SAMPLE_TYPES,
    )
    if len(inverse) == similarity.n:  # no sample occurs twice
        return similarity
    from ..similarity.composite import RepeatedSimilarity

    return RepeatedSimilarity(similarity, inverse)


def _fit_and_build(
    kernel: Kernel, samples: SampleContainer, options: Options, fit_to: np.ndarray | None
) -> tuple[Similarity, Options]:
    """Fit kernel options and build the similarity; return the similarity and the fitted options.

    `kernel.fit` computes the options, such as a bandwidth, from the samples with the indices
    `fit_to`, or from all samples if it is None. Without `kernel.fit`, the dict of fitted options is
    empty.
    """
    # NumPy's defaults, whatever the caller has set, because kernels rely on silent underflow.
    with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        fitted: Options = {}
        if kernel.fit is not None and fit_to is not None:
            try:
                fitted = kernel.fit(take_samples(samples, fit_to), **options)
            except SampleError as error:
                raise error.reindexed(fit_to) from error.__cause__
        elif kernel.fit is not None:
            fitted = kernel.fit(samples, **options)
        return kernel.build(samples, **{**options, **fitted}), fitted


def _check_kernel_result(name: str, similarity: object, indices: np.ndarray) -> None:
    """Raise unless `similarity`, the result of the kernel `name`, is a symmetric Similarity.

    The kernel received distinct samples. `indices` are their indices among all samples, which
    determine the number of samples in the result, and are shown in messages.
    """
    n = len(indices)
    if not isinstance(similarity, Similarity):
        raise TypeError(
            f"kernel {name!r} must return a Similarity, got {type(similarity).__name__}; wrap a "
            f"similarity matrix in MatrixSimilarity, or features in FeatureSimilarity"
        )
    if similarity.n != n:
        raise ValueError(
            f"kernel {name!r} must return a Similarity of all {n} samples in their order, got a "
            f"Similarity of {similarity.n} samples"
        )
    # Not checked: dot products are symmetric, classes of this package set `is_symmetric` if they
    # are, and similarities that are computed per subset compare each pair only once.
    if (
        isinstance(similarity, FeatureSimilarity)
        or getattr(similarity, "is_symmetric", False)
        or can_compute_subsets_separately(similarity)
    ):
        return
    # A few rows at equal distances suffice to detect an asymmetric function, and are fast to
    # compute.
    checked = np.unique(np.linspace(0, similarity.n - 1, SYMMETRY_ROWS).astype(int))
    K = similarity.rows(checked)[:, checked]
    asymmetry = abs(K - K.T)  # on the device; only scalars are copied to the host
    tolerance = SYMMETRY_TOLERANCE * to_float(abs(K).max())
    if not to_float(asymmetry.max()) <= tolerance < math.inf:  # also True for NaN
        K = to_host(K)
        worst = int(np.argmax(to_host(asymmetry)))  # the first NaN, if any
        i, j = divmod(worst, len(checked))
        a, b = indices[checked[[i, j]]]
        raise ValueError(
            f"kernel {name!r} must return a symmetric Similarity of finite numbers, got k(x, y) = "
            f"{K[i, j]:.6g} and k(y, x) = {K[j, i]:.6g} for samples {a} and {b}"
        )


def can_compute_subsets_separately(similarity: Similarity) -> bool:
    """Return whether the similarities of a subset can be computed without those of other samples.

    This is the case for kernels that compare pairs of samples on first use, such as "equivalence",
    as long as the matrix of all pairs has not been computed.
    """
    distinct = getattr(similarity, "distinct", similarity)  # the attribute of RepeatedSimilarity
    return getattr(distinct, "divisible", False)


def find_distinct_samples(
    samples: SampleContainer, keep_repeats: bool = False
) -> tuple[SampleContainer, np.ndarray, np.ndarray]:
    """Find distinct strings or numbers in a list or a one-dimensional array.

    Return the distinct samples, the index of the first occurrence of each, and for each sample the
    position of its value among the distinct samples. Samples of other types, and all samples with
    `keep_repeats`, are treated as distinct.

    >>> find_distinct_samples(["a", "b", "a"])
    (['a', 'b'], array([0, 1]), array([0, 1, 0]))
    """
    simple_types = {str, bytes, bool, int, float}
    values: Any = samples
    if isinstance(samples, np.ndarray) and samples.ndim == 1 and samples.dtype.kind in "biufUS":
        values = samples.tolist()
    types = {*map(type, values)} if isinstance(values, list) else {object}
    if keep_repeats or not isinstance(values, list) or not types <= simple_types:
        # Each sample is distinct: the result is the identity.
        index = np.arange(num_samples(samples))
        return samples, index, index
    keys: list[Any] = values
    if types not in ({str}, {bytes}, {bool}, {int}):
        # Keys contain the type, because a kernel may distinguish 1 from 1.0, which are equal. It
        # may also distinguish 0.0 from −0.0, which are equal and have the same type, so keys of
        # falsy samples contain their `repr`, in a tuple that differs from all samples, which are no
        # tuples.
        keys = [(type(sample), sample or (repr(sample),)) for sample in values]
    distinct_keys, inverse = factorize(keys)
    first_indices = np.empty(len(distinct_keys), int)
    # Of several values for the same index, the last one is assigned: that of the first sample.
    first_indices[inverse[::-1]] = np.arange(len(keys))[::-1]
    if isinstance(samples, np.ndarray):
        return samples[first_indices], first_indices, inverse
    return [samples[i] for i in first_indices], first_indices, inverse


def build_text_similarity(
    samples: SampleContainer, options: Options, drop_unusable: bool, fit_to: np.ndarray | None
) -> Similarity:
    """Return the n-gram similarity of strings, which is used if the user passes no kernel `k`.

    Kernel options are fitted to the samples with the indices `fit_to`, or to all samples if it is
    None. If `drop_unusable`, samples that are not strings are dropped with a warning; otherwise
    they raise a SampleError. If no sample is a string, raise a ValueError that suggests kernels.
    """
    if not isinstance(samples, list) or not any(isinstance(s, str) for s in samples):
        example = samples
        if isinstance(samples, list):
            # None is a missing value, so the first other sample shows the type of the samples.
            example = next((s for s in samples if s is not None), None)
        if example is None:
            raise ValueError("all samples are None; pass at least one sample that is not None")
        raise ValueError(
            f"`k` is required for samples of type {type(example).__name__}; pass "
            f"{_suggest_kernels(example, samples)}"
        )
    return apply_kernel(get_kernel(TEXT_KERNEL), samples, options, drop_unusable, fit_to)


def warn_about_non_text(sets: Sequence[Samples]) -> str:
    """Warn if samples that are compared as text look like file names or SMILES (molecules).

    Return the warning as a note for the result, or "".
    """
    texts_by_set = (
        [sample for sample in samples if isinstance(sample, str)]
        for samples in sets
        if isinstance(samples, list)
    )
    # `looks_like` returns a description and the name of a kernel, or None for text; the first set
    # that does not look like text determines the warning.
    detected = next(filter(None, map(looks_like, texts_by_set)), None)
    if detected is None:
        return ""
    description, kernel = detected
    note = (
        f"The samples look like {description}, but were compared as text by n-grams. Pass "
        f"k={kernel!r} to compare their content, or k={TEXT_KERNEL!r} to compare the text without "
        f"this warning."
    )
    warn(note)
    return note


# Attributes of objects that contain a text: outputs of language models, messages and documents.
_TEXT_ATTRIBUTES = ("text", "content", "page_content", "output_text", "generated_text")


def _suggest_kernels(sample: object, samples: SampleContainer) -> str:
    """Return what to pass for samples that are not strings, to follow "pass" in a message.

    `sample` shows the type of the `samples`: one of them, or `samples` itself if it is an array.
    """
    if isinstance(sample, Mapping):
        if {"role", "content"} <= sample.keys():
            roles = {each.get("role") for each in samples if isinstance(each, Mapping)}
            condition = " if m['role'] == 'assistant'" if len(roles) > 1 else ""
            return f"the texts of the messages: [m['content'] for m in messages{condition}]"
        return (
            "one column of the records, for example vendiscore.read(records).samples, or a mixture "
            "such as k={'ngram_overlap:text': 0.5, 'labels:class': 0.5}"
        )
    # The samples are several lists of strings, or sets of tags.
    if isinstance(sample, (list, tuple, set, frozenset)) and any(
        isinstance(x, str) for x in sample
    ):
        return (
            "a list of strings (one column of a table, such as df['text'] or "
            "vendiscore.read(df).samples), or k='tags' for sets of labels; a list of lists as "
            "groups is supported only by `compute` and the metrics"
        )
    if isinstance(sample, (list, tuple)) and any(isinstance(item, Mapping) for item in sample):
        first = next(item for item in sample if isinstance(item, Mapping))
        for name in _TEXT_ATTRIBUTES:  # as in the output of pipelines of transformers
            if name in first and "role" not in first:
                return f"the texts: [[item[{name!r}] for item in group] for group in samples]"
        return "the answers in the conversations: vendiscore.read(conversations).samples"
    if isinstance(sample, (Number, list, tuple)) or hasattr(sample, "dtype"):
        if _are_ragged(samples):
            return (
                "k='tags' to compare lists of different lengths, such as token ids, as sets, or "
                "decode the token ids and pass a list of strings"
            )
        counts_hint = ""
        if _are_counts(samples):
            counts_hint = (
                "a table of counts (one row per site, one column per species) as in "
                "compute(counts=df); for other samples, pass "
            )
        return (
            f"{counts_hint}k='cosine', k='rbf' or another vector kernel, score_X=True for features "
            "compared by dot products, score_K=True for a similarity matrix, or k='labels' for "
            "class labels"
        )
    root = type(sample).__module__.partition(".")[0]
    if root == "PIL" or isinstance(sample, (bytes, Path)):
        return "k='pixels' or k='image_embeddings'"
    if root == "rdkit":
        is_molecule = hasattr(sample, "GetNumAtoms")  # otherwise it is a fingerprint
        return "k='morgan' or another fingerprint kernel" if is_molecule else "k='tanimoto'"
    for name in _TEXT_ATTRIBUTES:
        if isinstance(getattr(sample, name, None), str):
            return f"the texts: [sample.{name} for sample in samples]"
    return (
        "a function of two samples, or the name of a kernel, as `k`; vendiscore.list_kernels() "
        "lists all kernels"
    )


def _are_ragged(samples: SampleContainer) -> bool:
    """Return whether samples are lists of integers that differ in length, such as token ids."""
    if not isinstance(samples, list) or not all(isinstance(row, (list, tuple)) for row in samples):
        return False
    has_integers = all(isinstance(entry, Integral) for row in samples for entry in row)
    return has_integers and len({len(row) for row in samples}) > 1


def _are_counts(samples: SampleContainer) -> bool:
    """Return whether samples can be counts: integers of at least 0, and not only 0 and 1."""
    with suppress(TypeError, ValueError, OverflowError):
        array = to_host(samples) if hasattr(samples, "dtype") else np.array(samples)
        return bool(array.dtype.kind in "iu" and array.size and array.min() >= 0 < array.max() - 1)
    return False
