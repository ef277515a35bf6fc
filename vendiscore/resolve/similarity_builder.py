"""Similarities of one or several sets of samples, optionally conditioned on prompts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..similarity import sparse as sp
from ..similarity.base import Similarity, check_diagonal
from ..similarity.concatenation import concatenate_samples, infer_shape
from ..similarity.features import FeatureSimilarity
from ..similarity.sample_arrays import as_matrix, as_samples, machine_epsilon
from ..support.arguments import check_no_gradient
from ..support.errors import SampleError
from ..support.signature import to_plain
from ..support.types import Options, Samples
from .kernel import Kernel, get_kernel
from .kernel_builder import (
    TEXT_KERNEL,
    apply_kernel,
    build_text_similarity,
    can_compute_subsets_separately,
    find_distinct_samples,
    warn_about_non_text,
)
from .sample_labels import count_samples_by_set, flatten_prompts
from .similarity_spec import (
    FitTo,
    KernelArgument,
    PromptSpec,
    SimilaritySpec,
    similarity_spec_from_keywords,
)

# Input precision above which deviations of the diagonal from 1 are tolerated; float32 is finer.
COARSE_PRECISION = 1e-5


def as_similarity(
    samples: Samples,
    *,
    k: KernelArgument | None = None,
    score_K: bool = False,
    score_X: bool = False,
    score_dual: bool = False,
    normalize: bool = False,
    prompts: object = None,
    given_prompt: bool = False,
    **options: object,
) -> Similarity:
    """Build the similarity of samples once, to use it in several calls.

    ``compute(as_similarity(samples, k=k))`` equals ``compute(samples, k=k)``; the same holds for
    `explain`, `compare`, `growth` and `select`. This call computes features. Most kernels compute
    pairwise similarities later, in blocks, and store all n^2 of them only if they fit in memory.

    Parameters
    ----------
    samples : list or array-like
        The n samples; a similarity matrix of shape (n, n) with `score_K`; or features of shape
        (n, d) with `score_X` or `score_dual`. Not modified.
    k : str, callable, dict or list, optional
        The kernel: a name from `list_kernels()`, a symmetric function of two samples with
        k(x, x) = 1, or a mixture of registered kernels. Strings are compared by "ngram_overlap"
        if omitted.
    score_K : bool, default False
        Treat `samples` as a similarity matrix.
    score_X : bool, default False
        Treat `samples` as features whose dot products are the similarities.
    score_dual : bool, default False
        Same as `score_X`, for compatibility with `vendi_score`.
    normalize : bool, default False
        Divide k(x, y) by sqrt(k(x, x) k(y, y)). The diagonal becomes 1.
    prompts : list of samples or single sample, optional
        The prompt of each sample, or the prompt of all samples. Requires ``given_prompt=True``.
    given_prompt : bool, default False
        Whether to condition similarities on the prompts. They become cosines of
        phi(x) - phi(u) k(x, u) / k(u, u) for the prompt u of x. Samples that repeat their prompt
        verbatim count as identical.
    **options
        Options of the kernel, such as `ns` or `sigma`.

    Returns
    -------
    Similarity
        The similarities: symmetric, with ones on the diagonal.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    TypeError, ValueError
        If an argument is invalid or unknown.

    See Also
    --------
    compute : Compute scores.
    spectrum : Eigenvalues of a similarity.
    Similarity : Methods of the result.

    Examples
    --------
    >>> K = as_similarity([[3.0, 4.0], [3.0, 4.0], [-4.0, 3.0]], k="cosine")
    >>> K.n, K.dim
    (3, 2)
    >>> K.rows(slice(0, 1)).round(6)
    array([[1., 1., 0.]])
    """
    arguments = dict(locals())  # all keywords by name
    for name in ("samples", "options"):
        del arguments[name]
    return similarity_from_keywords(samples, arguments | options)


def similarity_from_keywords(
    samples: Samples, arguments: Options, caller: Callable[..., object] | None = None
) -> Similarity:
    """Build the similarity of samples from the keywords of `as_similarity`, passed as a dict.

    Errors about unknown keywords suggest parameters of `caller`, the function that the user called,
    by default `as_similarity`.
    """
    spec = similarity_spec_from_keywords(arguments, caller or as_similarity)
    return build_set_similarities([check_collection(samples, spec)], spec, ["samples"])[0]


def check_samples(
    samples: Any, spec: SimilaritySpec, name: str = "samples", *, has_other_sets: bool = False
) -> Samples:
    """Return samples in a form that can be read more than once, so iterators become lists.

    A Similarity or a MetricSpace is returned unchanged. If `spec` contains keywords that have no
    effect on it, such as a kernel, a TypeError is raised, unless there are other sets that need
    these keywords (`has_other_sets`). `name` is the argument with the samples, for messages.
    """
    if is_precomputed(samples):
        if spec.conditioning_prompts is not None:
            raise TypeError(
                f"`{name}` is a {type(samples).__name__}, which cannot be conditioned on "
                f"`prompts`; pass `prompts` when creating the {type(samples).__name__}, or pass "
                f"the samples themselves"
            )
        if not has_other_sets:
            check_unused_keywords(samples, spec, name)
        return samples
    if isinstance(spec.k, tuple):  # a mixture
        return _as_records(samples, name)
    return as_samples(samples, name)


def check_collection(
    samples: Any, spec: SimilaritySpec, name: str = "samples", *, has_other_sets: bool = False
) -> Samples:
    """Return samples in a form that can be read more than once; raise for a MetricSpace.

    A MetricSpace has distances, but no similarities. A Similarity is returned unchanged. If `spec`
    contains keywords that have no effect on it, a TypeError is raised, unless there are other sets
    (`has_other_sets`). `name` is the argument with the samples, for messages.
    """
    # With prompts, `check_samples` raises an error that mentions them.
    if is_metric_space(samples) and spec.conditioning_prompts is None:
        return as_samples(samples, name)  # raises a TypeError
    return check_samples(samples, spec, name, has_other_sets=has_other_sets)


def check_unused_keywords(samples: object, spec: SimilaritySpec, name: str) -> None:
    """Raise a TypeError if `spec` contains keywords that have no effect on `samples`.

    `samples` is a Similarity or a MetricSpace, for which a kernel, for example, has no effect.
    `name` is the argument with the samples, for messages.
    """
    is_space = is_metric_space(samples)
    type_name = "MetricSpace" if is_space else "Similarity"
    # Whether each keyword was passed but has no effect. The first one is reported.
    is_unused = {
        "k": spec.k is not None,
        # The first kernel option. Without `k`, it is an option of the text kernel.
        next(iter(spec.options), ""): bool(spec.options),
        "on_error": spec.drop_unusable,
        f"score_{spec.input_form}": bool(spec.input_form),
        # metric="kernel" and "1-k" derive distances from a Similarity.
        "metric": spec.metric is not None if is_space else spec.uses_vector_metric,
        "exponent": bool(spec.metric_options),
        "normalize": spec.normalize and is_space,
        "fit": spec.fit is not None,
    }
    for keyword, unused in is_unused.items():
        if unused:
            raise TypeError(
                f"`{keyword}` has no effect, because `{name}` is already a {type_name}; remove "
                f"`{keyword}`, or pass the samples themselves"
            )


def is_precomputed(samples: object) -> bool:
    """Return whether samples are a Similarity or a MetricSpace."""
    return isinstance(samples, Similarity) or is_metric_space(samples)


def is_metric_space(samples: object) -> bool:
    """Return whether samples are a MetricSpace."""
    # This layer cannot import the class, so it is recognized by its method `magnitude`.
    return hasattr(type(samples), "magnitude")


def build_set_similarities(
    sets: Sequence[Samples], spec: SimilaritySpec, names: Sequence[str], *, per_group: bool = False
) -> list[Similarity]:
    """Return the similarity of each set under the same kernel.

    `names` are the arguments with the sets, for messages. Pass `per_group` if the caller uses only
    similarities within groups. The diagonal of a similarity that can be computed for each group
    separately is then not checked, because this would compute pairs of samples from different
    groups; `similarity_subset` checks it for each group.
    """
    has_precomputed = any(isinstance(samples, Similarity) for samples in sets)
    # Fitted options must be the same for all sets, and `prompts` contains the prompts of all sets,
    # so the sets are then compared as one set and split afterwards.
    needs_pooling = has_fitted_options(spec) or spec.conditioning_prompts is not None
    if len(sets) > 1 and not has_precomputed and needs_pooling:
        return split_pooled(_build_similarity(sets, spec, names), count_samples_by_set(sets, spec))
    similarities = [
        _build_similarity([samples], spec, [name], per_group)
        for samples, name in zip(sets, names, strict=True)
    ]
    # Options of a precomputed Similarity are already fitted, and those of other sets separately.
    if has_precomputed:
        check_no_separate_fit(sets, similarities, names, Similarity)
    return similarities


def build_pooled_similarity(
    sets: Sequence[Samples], spec: SimilaritySpec, names: Sequence[str]
) -> Similarity:
    """Return the similarity of the samples of all sets as one set.

    Raise an error if samples of different sets cannot be compared. `names` are the arguments with
    the sets, for messages.
    """
    _check_same_sample_type(sets, spec, names)
    return _build_similarity(sets, spec, names)


def _build_similarity(
    sets: Sequence[Samples], spec: SimilaritySpec, names: Sequence[str], per_group: bool = False
) -> Similarity:
    """Return the similarity of the samples of all sets as one set, with a diagonal of 1.

    `sets` contains a single Similarity, a single similarity matrix, or one or more sets of samples.
    `names` are the arguments with the sets, for messages. With `per_group`, the caller uses only
    similarities within groups; if these can be computed without other pairs, the diagonal is not
    checked.
    """
    has_several_sets = len(sets) > 1
    name = "samples" if has_several_sets else names[0]
    fit_to = _indices_to_fit(sets, spec, names) if has_several_sets else None
    try:
        # With several sets, none of them is a Similarity or a matrix.
        if isinstance(sets[0], Similarity):
            from ..similarity.similarity_checks import check_similarity

            return check_similarity(_finish_similarity(sets[0], spec))
        if spec.input_form == "K":
            from ..similarity.similarity_checks import check_matrix

            K: Similarity = check_matrix(sets[0], spec.normalize, name)
            return _record_normalization(K) if spec.normalize else K
        if spec.conditioning_prompts is not None:
            K = _condition_on_prompts(
                spec.conditioning_prompts, sets, spec, name, fit_to, per_group
            )
        else:
            K = _compare_sets(_concatenate(sets, spec), sets, spec, name, fit_to, per_group)
    except SampleError as error:
        # A single set contains all indices of the error, so its size need not be counted.
        sizes = count_samples_by_set(sets, spec) if has_several_sets else [max(error.problems) + 1]
        raise _locate_error(error, sizes, names) from error.__cause__
    if has_several_sets and K.fitted:  # results name the set that options were fitted to
        K = K.noted(settings={**K.settings, "fit": fit_source(spec, names)})
    return K


def _concatenate(sets: Sequence[Samples], spec: SimilaritySpec) -> Any:
    """Concatenate the samples of all sets; for a mixture of kernels, separately for each kernel.

    For a mixture, the result is a list with the values that each kernel compares.
    """
    if not isinstance(spec.k, tuple):
        return concatenate_samples(sets)
    from .mixture import select_column

    return [
        concatenate_samples([select_column(samples, component) for samples in sets])
        for component in spec.k
    ]


def _compare_sets(
    samples: Any,
    sets: Sequence[Samples],
    spec: SimilaritySpec,
    name: str,
    fit_to: np.ndarray | None,
    per_group: bool,
) -> Similarity:
    """Return the similarity of `samples`, the concatenated samples of `sets`.

    It is normalized if `spec` requests it, and its diagonal is checked. With `per_group`, the
    caller uses only similarities within groups; if these can be computed without other pairs and
    are not normalized, the diagonal is not checked here. Kernel options are fitted to the samples
    with the indices `fit_to`, or to all samples if it is None. `name` is used in messages.
    """
    K = _add_notes(_apply_kernel_spec(samples, spec, name, fit_to), sets, spec)
    if per_group and not spec.normalize and can_compute_subsets_separately(K):
        return K  # a check would compute pairs of different groups
    return _finish_similarity(K, spec, input_precision=max(map(machine_epsilon, sets)))


def _apply_kernel_spec(
    samples: Any, spec: SimilaritySpec, name: str, fit_to: np.ndarray | None
) -> Similarity:
    """Return the similarity under the kernel of `spec`, not yet normalized or checked.

    Kernel options are fitted to the samples with the indices `fit_to`, or to all samples if it is
    None.
    """
    if spec.input_form == "X":
        X = as_matrix(samples, name)
        return FeatureSimilarity(X, settings={"kernel": "dot products of X"})
    if spec.k is None:
        return build_text_similarity(samples, spec.options, spec.drop_unusable, fit_to)
    if isinstance(spec.k, Kernel):
        return apply_kernel(spec.k, samples, spec.options, spec.drop_unusable, fit_to)
    if isinstance(spec.k, tuple):
        from .mixture import build_mixture_similarity

        return build_mixture_similarity(spec.k, samples, spec.combine, fit_to)
    from ..similarity.callable_kernel import callable_similarity
    from ..similarity.composite import RepeatedSimilarity

    check_no_gradient("a function of two samples", samples=samples)
    if sp.issparse(samples):
        raise TypeError(
            f"a function of two samples takes rows of arrays, but `{name}` is a sparse matrix; "
            f"pass {name}.toarray(), or name a kernel for sparse vectors, such as k='cosine'"
        )
    distinct, first_indices, inverse = find_distinct_samples(samples)
    similarity = callable_similarity(distinct, spec.k, first_indices.tolist())
    if len(distinct) == len(inverse):  # no sample occurs twice
        return similarity
    return RepeatedSimilarity(similarity, inverse)


def _condition_on_prompts(
    prompts: PromptSpec,
    sets: Sequence[Samples],
    spec: SimilaritySpec,
    name: str,
    fit_to: np.ndarray | None,
    per_group: bool,
) -> Similarity:
    """Return the similarity of the samples of all sets, conditioned on their prompts.

    The kernel compares one set that consists of the n samples of all sets, followed by the distinct
    prompts. With `spec.in_context`, it also contains n texts that consist of a prompt and its
    answer. Kernel options are fitted to the samples with the indices `fit_to`, or to all n samples
    if it is None. With `per_group`, the caller uses only similarities within groups, so the
    diagonal is not checked if this would compute pairs of samples from different groups.
    """
    sizes = count_samples_by_set(sets, spec)
    prompt_values, prompt_indices = flatten_prompts(prompts, sets, sizes)
    _check_same_sample_type([*sets, prompt_values], spec, [name] * len(sets) + ["prompts"])
    n = sum(sizes)
    samples = _concatenate([*sets, prompt_values], spec)
    if spec.in_context:
        # Each answer after its prompt, as one text.
        in_context = [f"{prompt_values[j]} {samples[i]}" for i, j in enumerate(prompt_indices)]
        samples = [*samples, *in_context]
        # This option is applied here; the kernel itself would reject it.
        spec = replace(spec, options={**spec.options, "in_context": None})
    if fit_to is None:
        fit_to = np.arange(n)  # options are not fitted to prompts
    try:
        K = _compare_sets(samples, sets, spec, name, fit_to, per_group)
    except SampleError as error:
        _check_prompt_problems(error.problems, prompt_indices, n)
        raise
    _check_prompt_problems(K.dropped, prompt_indices, n)
    from ..similarity.prompt_residuals import condition_on_prompts

    precision = max(map(machine_epsilon, [*sets, prompt_values]))
    return condition_on_prompts(K, n, prompt_indices, precision, spec.in_context)


def _check_prompt_problems(problems: Mapping[int, str], prompt_indices: np.ndarray, n: int) -> None:
    """Raise a ValueError for an unusable prompt; unusable samples are reported by the caller.

    `problems` has keys from 0 to n − 1 for samples, and n + j for prompt j. `prompt_indices[i]` is
    the prompt of sample i.
    """
    # Prompts follow the samples, so the largest index is a prompt if any prompt is unusable.
    last = max(problems, default=-1)
    if last >= n:
        sample = int(np.argmax(prompt_indices == last - n))  # the first sample with this prompt
        # Problems of prompts were described like those of samples.
        problem = problems[last].removeprefix("of `samples` ")
        raise ValueError(f"the prompt of sample {sample} in `prompts` {problem}")


def _as_records(samples: Samples, name: str) -> Samples:
    """Return samples in a form from which each kernel of a mixture can read its column repeatedly.

    A folder becomes the list of its image files, and an iterator a list. Tables are returned
    unchanged.
    """
    from ..support.folders import is_folder, list_image_files

    if is_folder(samples):
        return list_image_files(samples, name)
    return as_samples(samples, name) if isinstance(samples, (list, Iterator)) else samples


def _check_same_sample_type(
    sets: Sequence[Samples], spec: SimilaritySpec, names: Sequence[str]
) -> None:
    """Raise an error if the samples of different sets cannot be compared with each other."""
    for samples, name in zip(sets, names, strict=True):
        if isinstance(samples, Similarity) or spec.input_form == "K":
            raise TypeError(
                f"`{name}` contains similarities only within one set, not to samples of other "
                "sets; pass the samples, and the kernel as `k`"
            )
    if isinstance(spec.k, tuple):
        return  # the kernels of a mixture check their columns
    first_type, *other_types = [_describe_sample_type(samples) for samples in sets]
    for sample_type, name in zip(other_types, names[1:], strict=True):
        if sample_type != first_type:
            raise ValueError(
                f"`{name}` must have the same sample type as `{names[0]}` ({first_type}), got "
                f"{sample_type}"
            )


def _describe_sample_type(samples: Any) -> str:
    """Describe the type of samples; sets of different types cannot be compared."""
    shape = infer_shape(samples)
    if shape is not None and len(shape) == 2:
        return f"rows of {shape[1]} numbers"
    if shape is not None and len(shape) == 1:
        return "numbers"
    is_text = isinstance(samples, list) and isinstance(samples[0], str)
    return "strings" if is_text else "other samples"


def has_fitted_options(spec: SimilaritySpec) -> bool:
    """Return whether the kernel, or one of a mixture, may fit options to the samples.

    Fitted options, such as a bandwidth, must be the same for all sets that are compared.
    """
    kernels = [component.kernel for component in spec.k] if isinstance(spec.k, tuple) else [spec.k]
    if spec.k is None and not spec.input_form:
        kernels = [get_kernel(TEXT_KERNEL)]
    return any(isinstance(kernel, Kernel) and kernel.fit is not None for kernel in kernels)


def similarity_subset(similarity: Similarity, index: np.ndarray) -> Similarity:
    """Return the similarity of the samples at `index`, computing only pairs within this subset.

    If the kernel compares pairs on first use, it has not been checked that the diagonal of
    `similarity` is 1, because this would compute pairs outside the subset. The diagonal of the
    subset is checked instead.
    """
    subset = similarity.part(index)
    if not can_compute_subsets_separately(similarity):
        return subset
    try:
        return check_diagonal(subset)
    except SampleError as error:
        raise error.reindexed(index) from None


def check_no_separate_fit(
    sets: Sequence[Samples], results: Sequence[object], names: Sequence[str], result_type: type
) -> None:
    """Raise a ValueError if fitted options differ between a precomputed set and another set.

    A precomputed set is a Similarity or MetricSpace that the user passed; `result_type` is its
    class. `results` contains an object of this class for each of `sets`: the precomputed set
    itself, or what was computed from the samples.
    """
    type_name = result_type.__name__
    # Options as text, such as "sigma=0.5"; "" if none were fitted.
    precomputed_options = next(
        format_fitted_options(samples) for samples in sets if isinstance(samples, result_type)
    )
    for samples, result, name in zip(sets, results, names, strict=True):
        # Only sets of samples are checked, against the first precomputed set.
        fitted = "" if isinstance(samples, result_type) else format_fitted_options(result)
        if fitted not in ("", precomputed_options):
            raise ValueError(
                f"`{name}` cannot be compared with a precomputed {type_name}, because {fitted} was "
                f"fitted only to `{name}`; pass the value that the {type_name} uses, or pass all "
                f"sets as samples"
            )


def format_fitted_options(result: Any) -> str:
    """Format the numeric options fitted to samples as keywords, such as "sigma=0.5"."""
    fitted = result.fitted.items()
    return ", ".join(f"{name}={to_plain(x)}" for name, x in fitted if not isinstance(x, str))


def fit_source(spec: SimilaritySpec, names: Sequence[str]) -> FitTo:
    """Return the set that kernel options are fitted to; "pool" means the samples of all sets.

    This is the argument `fit` if the user passed it; otherwise "references" if the last of `names`,
    the names of the sets, is "references"; otherwise "pool".
    """
    return spec.fit or ("references" if names[-1] == "references" else "pool")


def _indices_to_fit(
    sets: Sequence[Samples], spec: SimilaritySpec, names: Sequence[str]
) -> np.ndarray | None:
    """Return the indices of the samples that options are fitted to, or None for all samples.

    They are indices into the concatenated sets. `names` are the names of the sets; if the last one
    is "references", options are by default fitted only to this set.
    """
    source = fit_source(spec, names)
    if source == "pool":
        return None
    starts = np.cumsum([0, *count_samples_by_set(sets, spec)])
    i = 0 if source == "samples" else len(sets) - 1  # references are the last set
    return np.arange(starts[i], starts[i + 1])


def _add_notes(similarity: Similarity, sets: Sequence[Samples], spec: SimilaritySpec) -> Similarity:
    """Return the similarity with notes for users about `sets`, the samples that it compares.

    A set that was passed as a folder has a note with its number of image files. Without a kernel,
    a note is added if strings look like file names or molecules, but are compared as text.
    """
    notes = [warn_about_non_text(sets)] if spec.k is None and not spec.input_form else []
    notes += [getattr(samples, "note", "") for samples in sets if isinstance(samples, list)]
    return similarity.noted(notes=list(filter(None, notes))) if any(notes) else similarity


def _finish_similarity(
    similarity: Similarity, spec: SimilaritySpec, input_precision: float = 0.0
) -> Similarity:
    """Normalize the similarity if `spec` requests it, and check that its diagonal is 1.

    `input_precision` is the largest machine epsilon of the dtypes of the samples. If it exceeds
    that of float32, it is stored with the similarity, which allows for larger rounding errors.
    """
    if input_precision > COARSE_PRECISION:
        similarity = similarity.noted(roundoff=input_precision)
    if spec.normalize:
        similarity = _record_normalization(similarity.normalized())
    return check_diagonal(similarity)


def _record_normalization(similarity: Similarity) -> Similarity:
    return similarity.noted(settings={**similarity.settings, "normalize": True})


def _locate_error(error: SampleError, sizes: Sequence[int], names: Sequence[str]) -> SampleError:
    """Convert an error about concatenated sets to one about the first set with unusable samples.

    Indices of the new error refer to this set. Each problem begins with the name of the set, unless
    it is "samples". `sizes` and `names` are the numbers of samples and the names of the sets.
    """
    if list(names) == ["samples"]:
        return error
    starts = np.cumsum([0, *sizes])
    # `starts` are the indices of the first sample of each set; `error.index` is the first unusable
    # sample.
    first_set = int(np.searchsorted(starts, error.index, side="right")) - 1
    start, stop = starts[first_set], starts[first_set + 1]
    name = names[first_set]
    prefix = f"of `{name}` "
    problems = {
        int(i - start): problem for i, problem in error.problems.items() if start <= i < stop
    }
    if name != "samples":
        for i, problem in problems.items():
            # The problem may already begin with the name of an argument.
            problems[i] = prefix + problem.removeprefix("of `samples` ").removeprefix(prefix)
    return SampleError.from_problems(problems)


def split_pooled(pooled: Similarity, sizes: Sequence[int]) -> list[Similarity]:
    """Split the similarity of the samples of several sets into the similarities within each set.

    `sizes` are the numbers of samples that were passed for each set, including dropped ones.
    """
    starts = np.cumsum([0, *sizes])
    retained = np.setdiff1d(np.arange(starts[-1]), list(pooled.dropped))
    bounds = np.searchsorted(retained, starts)  # of the sets, as positions among retained samples
    similarities = []
    for i, (start, stop) in enumerate(itertools.pairwise(starts)):
        dropped = {
            int(j - start): problem for j, problem in pooled.dropped.items() if start <= j < stop
        }
        positions = np.arange(bounds[i], bounds[i + 1])
        if not len(positions):
            index, problem = next(iter(dropped.items()))
            raise ValueError(
                f"set {i + 1} of {len(sizes)} has no usable samples: sample {index} {problem}; "
                f"remove this set, or correct its samples"
            )
        similarities.append(pooled.take(positions).noted(dropped=dropped))
    return similarities
