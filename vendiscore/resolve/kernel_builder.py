"""Compute the similarity of samples under a kernel; identical samples are compared only once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Number
from pathlib import Path

import numpy as np

from ..similarity.base import Similarity
from ..similarity.concatenation import num_samples
from ..similarity.features import FeatureSimilarity
from ..similarity.sample_arrays import ROWS_CACHE, take_samples
from ..support.arguments import check_choice, check_no_gradient, has_gradient
from ..support.errors import SampleError, warn
from ..support.namespace import to_float, to_host
from ..support.text_detection import INVISIBLE_CHARACTERS, looks_like
from ..support.types import Options, Record, SampleContainer, Samples
from .kernel import Kernel, get_kernel

# Number of rows of a kernel matrix whose symmetry is checked, and the tolerance (for single
# precision) relative to the largest entry.
SYMMETRY_ROWS = 64
SYMMETRY_TOLERANCE = 1e-5
TEXT_KERNEL = "ngram_overlap"  # the default kernel for strings
# Sample types whose features are classes, tags, words or fragments.
_VOCABULARY_SAMPLE_TYPES = ("text", "labels", "sets of labels", "molecules", "rows of bits")


def apply_kernel(
    kernel: Kernel,
    samples: Samples,
    options: Options,
    skip: bool,
    fit_to: np.ndarray | None,
) -> Similarity:
    """Return the similarity under a kernel fitted to `fit_to`; `skip` drops unusable samples."""
    samples = materialize_iterators(samples) if skip else samples
    build = partial(build_kernel_similarity, kernel, options=options)
    who = f"kernel {kernel.name!r}"
    try:
        (similarity,), dropped = build_similarities([build], [samples], [skip], who, fit_to)
    except SampleError as error:
        error.add_note("pass on_error='skip' to leave out samples that cannot be used")
        raise
    return similarity.noted(dropped=dropped) if dropped else similarity


def build_similarities(
    builders: Sequence[Callable[..., Similarity]],
    columns: Sequence[SampleContainer],
    skip_flags: Sequence[bool],
    caller: str,
    fit_to: np.ndarray | None,
) -> tuple[list[Similarity], dict[int, str]]:
    """Build a similarity per column from samples that are usable in all; also return dropped ones.

    Each builder takes values and, as `fit_to`, positions of the values that options are fitted to.
    Samples that a builder cannot use are dropped with a warning if its skip flag is True.
    """
    n = num_samples(columns[0])
    kept = np.arange(n)
    dropped: dict[int, str] = {}
    while True:
        built: list[Similarity] = []
        problems: dict[int, str] = {}
        refused: dict[int, str] = {}
        places = None if fit_to is None else np.flatnonzero(np.isin(kept, fit_to))
        if places is not None and not len(places):
            places = None  # fit to all
        for build, column, skip in zip(builders, columns, skip_flags, strict=True):
            try:
                values = take_samples(column, kept) if dropped else column
                built.append(build(values, fit_to=places))
            except SampleError as error:
                own = error.reindexed(kept).problems
                problems = own | problems
                refused |= {} if skip else own
                cause = error.__cause__
        if refused:
            raise SampleError.from_problems(refused) from cause
        if not problems:
            break
        dropped |= problems
        kept = np.setdiff1d(np.arange(n), list(dropped))
        place, why = min(dropped.items())
        if not len(kept):
            raise ValueError(f"{caller} can use none of the {n} samples: sample {place} {why}")
    if dropped:
        warn(
            f"{caller} left out {len(dropped)} of {n} samples, as asked, first of all: "
            f"sample {place} {why}"
        )
    return built, dict(sorted(dropped.items()))


def check_on_error(on_error: object) -> bool:
    """Validate `on_error`; return True for "skip"."""
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
    """Return the similarity of samples; the kernel receives each distinct sample once."""
    distinct, first, inverse = find_distinct_samples(samples, kernel.repeats)
    before = ROWS_CACHE.set({})  # lets `fit` and `build` share the parsed rows
    try:
        # NumPy's defaults, whatever the caller has set, because kernels rely on silent underflow.
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            fitted: Options = {}
            if kernel.fit is not None and fit_to is not None:
                some = np.unique(inverse[fit_to])
                try:
                    fitted = kernel.fit(take_samples(distinct, some), **options)
                except SampleError as error:
                    raise error.reindexed(some) from error.__cause__
            elif kernel.fit is not None:
                fitted = kernel.fit(distinct, **options)
            similarity = kernel.build(distinct, **{**options, **fitted})
        _check_kernel_result(kernel.name, similarity, first)
        notes = [*getattr(fitted, "notes", ())]
        texts = distinct if kernel.samples == "text" and isinstance(distinct, list) else ()
        seen = all(str(text).strip(INVISIBLE_CHARACTERS) for text in texts)
        omits = similarity.missed or similarity.partial or similarity.merges
        if not seen or omits or similarity.scripts:
            from ..similarity.representation_notes import representation_notes

            notes += representation_notes(kernel.name, similarity, texts, first, inverse)
    except SampleError as error:
        strange = [i for i in error.problems if not 0 <= i < len(first)]
        if strange:
            raise ValueError(
                f"kernel {kernel.name!r} names a sample {strange[0]} of the {len(first)} passed to "
                f"it ({error}); name places from 0 to {len(first) - 1}"
            ) from error
        from ..similarity.group_indices import group_indices

        raise error.reindexed(group_indices(inverse)) from error.__cause__
    finally:
        ROWS_CACHE.reset(before)
    if has_gradient(samples) and not has_gradient(similarity):
        check_no_gradient(f"kernel {kernel.name!r}", samples=samples)
    settings: Record = {"kernel": kernel.name, **kernel.options}
    del settings["on_error"]
    settings |= {**options, **fitted, **similarity.settings}
    similarity = similarity.noted(
        settings=settings,
        fitted=fitted,
        notes=notes,
        vocabulary_columns=kernel.samples in _VOCABULARY_SAMPLE_TYPES,
    )
    if len(inverse) == similarity.n:
        return similarity
    from ..similarity.composite import RepeatedSimilarity

    return RepeatedSimilarity(similarity, inverse)


def _check_kernel_result(name: str, similarity: object, indices: np.ndarray) -> None:
    n = len(indices)
    if not isinstance(similarity, Similarity):
        raise TypeError(
            f"kernel {name!r} must return a Similarity, got {type(similarity).__name__}; wrap a "
            f"matrix (n, n) in MatrixSimilarity, rows of features in FeatureSimilarity"
        )
    if similarity.n != n:
        raise ValueError(
            f"kernel {name!r} must return a Similarity of its {n} samples, got one of "
            f"{similarity.n}; give each sample its row, in order"
        )
    symmetric = isinstance(similarity, FeatureSimilarity) or hasattr(similarity, "is_symmetric")
    if symmetric or is_divisible(similarity):
        return  # symmetric by construction
    index = np.unique(np.linspace(0, similarity.n - 1, SYMMETRY_ROWS).astype(int))
    K = similarity.rows(index)[:, index]
    gap = abs(K - K.T)  # on the device; only scalars are copied to the host
    if not to_float(gap.max()) <= SYMMETRY_TOLERANCE * to_float(abs(K).max()):  # also True for NaN
        K = to_host(K)
        worst = int(np.argmax(to_host(gap)))  # the first NaN, if any
        i, j = divmod(worst, len(index))
        a, b = index[[i, j]]
        raise ValueError(
            f"kernel {name!r} must return a symmetric Similarity of finite numbers, but gives "
            f"{K[i, j]:.6g} and {K[j, i]:.6g} for samples {indices[a]} and {indices[b]} in the two "
            f"directions"
        )


def is_divisible(similarity: Similarity) -> bool:
    """Return whether subsets can be compared without the remaining samples."""
    inner = getattr(similarity, "distinct", similarity)
    return getattr(inner, "divisible", False)


def find_distinct_samples(
    samples: SampleContainer, repeats: bool = False
) -> tuple[SampleContainer, np.ndarray, np.ndarray]:
    """Return distinct strings or numbers, indices of their first occurrences, and the codes of all.

    With `repeats`, all samples are treated as distinct.

    >>> find_distinct_samples(["a", "b", "a"])
    (['a', 'b'], array([0, 1]), array([0, 1, 0]))
    """
    plain = {str, bytes, int, float}
    if repeats or not isinstance(samples, list) or not plain.issuperset(map(type, samples)):
        index = np.arange(num_samples(samples))
        return samples, index, index
    # A kernel may distinguish 1 from 1.0, and 0.0 from −0.0.
    keys = [(type(sample), sample or repr(sample)) for sample in samples]
    place: dict[object, int] = {}
    inverse = np.array([place.setdefault(key, len(place)) for key in keys], dtype=int)
    first = np.unique(inverse, return_index=True)[1]
    return [samples[i] for i in first], first, inverse


def build_text_similarity(
    samples: SampleContainer, options: Options, skip: bool, fit_to: np.ndarray | None
) -> Similarity:
    """Return the n-gram similarity of strings, the default without `k`."""
    if not isinstance(samples, list) or not any(isinstance(s, str) for s in samples):
        first = samples
        if isinstance(samples, list):
            first = next((s for s in samples if s is not None), None)
        if first is None:
            raise ValueError("all samples are None; check where they come from")
        raise ValueError(
            f"`k` is missing, and samples of type {type(first).__name__} do not say how to compare "
            f"them; pass {_suggest_kernels(first)}"
        )
    return apply_kernel(get_kernel(TEXT_KERNEL), samples, options, skip, fit_to)


def warn_about_non_text(sets: Sequence[Samples]) -> str:
    """Return a note, and emit a warning, if samples compared as text do not look like text."""
    texts = ([s for s in each if isinstance(s, str)] for each in sets if isinstance(each, list))
    looks = next(filter(None, map(looks_like, texts)), None)
    if looks is None:
        return ""
    what, kernel = looks
    note = (
        f"The samples look like {what}, but were compared as text, by n-grams: k={kernel!r} "
        f"compares what they stand for, k={TEXT_KERNEL!r} says that text is meant."
    )
    warn(note)
    return note


def _suggest_kernels(sample: object) -> str:
    """Suggest a kernel or another input for samples that are not strings."""
    if isinstance(sample, Mapping):
        return (
            "one column of them, or a mixture such as "
            "k={'ngram_overlap:text': 0.5, 'labels:class': 0.5}"
        )
    if isinstance(sample, (list, tuple, set, frozenset)) and any(
        isinstance(x, str) for x in sample
    ):
        return (
            "a list of strings, of a table one column such as df['text'], of groups a list of "
            "lists (which `compute` and the metrics read); or k='tags' for sets of labels"
        )
    if isinstance(sample, (Number, list, tuple)) or hasattr(sample, "dtype"):
        return (
            "k='cosine', 'rbf' or another kernel on vectors, score_X=True (features, compared by "
            "dot products), score_K=True (a similarity matrix), or k='labels' (classes)"
        )
    root = type(sample).__module__.partition(".")[0]
    if root == "PIL" or isinstance(sample, (bytes, Path)):
        return "k='pixels' or k='image_embeddings'"
    if root == "rdkit":
        molecule = hasattr(sample, "GetNumAtoms")
        return "k='morgan', or another fingerprint" if molecule else "k='tanimoto'"
    return "k= your function of two samples, or the name of a kernel: vendiscore.list_kernels()"
