"""Parsing of the keywords that define how samples are compared, such as `k` and `metric`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ..similarity.metrics import check_metric, check_metric_options
from ..similarity.sample_arrays import as_samples
from ..similarity.shapes import is_list
from ..support.arguments import check_bool, check_choice
from ..support.errors import short_repr
from ..support.optional import is_network
from ..support.suggestions import describe_parameters, suggest_name, suggestion
from ..support.types import Options, PairFunction, Record, Samples
from .kernel import (
    NAMED_MODELS,
    Combine,
    Kernel,
    Mixture,
    add_model_option,
    check_kernel_options,
    describe_kernel_options,
    format_psd_kernels,
    get_kernel,
    parse_kernel_name,
)
from .kernel_builder import TEXT_KERNEL, check_on_error

if TYPE_CHECKING:
    from .mixture import MixtureComponent

KernelArgument: TypeAlias = str | PairFunction | Mixture
Metric: TypeAlias = str | PairFunction
FitTo = Literal["samples", "references", "pool"]

INPUT_FORM_KEYWORDS = ("score_K", "score_X", "score_dual")
# Keywords of a SimilaritySpec, with descriptions for suggestions.
SIMILARITY_KEYWORDS = {
    "k": "The kernel: a name from `list_kernels()` or a function of two samples.",
    "score_K": "Whether the samples are a similarity matrix.",
    "score_X": "Whether the samples are features, whose dot products are the similarities.",
    "score_dual": "Same as `score_X`.",
    "normalize": "Whether to divide k(x, y) by sqrt(k(x, x) k(y, y)).",
    "metric": "Distance for distance-based measures.",
    "fit": "Which of several sets determines fitted kernel options.",
    "prompts": "The prompt that each sample answers.",
    "given_prompt": "Whether to condition similarities on the prompts.",
}
MIXTURE_OPTIONS = ("options", "combine", "on_error")
KERNEL_METRICS = ("kernel", "1-k")


@dataclass(frozen=True, eq=False)
class PromptSpec:
    """The prompts of the samples, and whether similarities are conditioned on them.

    If `condition` is True, the kernel compares prompts with samples, so they must have the same
    type. Otherwise prompts only group the samples, and may be any labels. Without `index`, `values`
    are the prompts as passed by the user. With `index`, `values` are the distinct prompts, and
    `values[index[i]]` is the prompt of sample i.
    """

    values: Any
    condition: bool = True
    index: np.ndarray | None = None


@dataclass(frozen=True)
class SimilaritySpec:
    """How samples are compared, and how their distances are computed: the parsed keywords.

    `k` is a kernel, a function of two samples, or a tuple of the components of a mixture, whose
    similarities are combined by `combine` as a sum or product. It is None if no kernel was passed.
    `input_form` is "K" if the samples are a similarity matrix, "X" if they are features, and
    otherwise "". `options` are the options of the kernel. If `drop_unusable`, samples that the
    kernel cannot use are dropped instead of raising an error.
    """

    k: Kernel | PairFunction | tuple[MixtureComponent, ...] | None = None
    input_form: Literal["", "K", "X"] = ""
    normalize: bool = False
    options: Options = field(default_factory=dict)
    combine: Combine = "sum"
    drop_unusable: bool = False
    metric: Metric | None = None
    metric_options: Options = field(default_factory=dict)
    fit: FitTo | None = None  # the set to which kernel options are fitted, if there are several
    grouping_prompts: PromptSpec | None = None  # the prompt of each sample
    in_context: bool = False  # also compare answers with their prompts prepended

    @property
    def conditioning_prompts(self) -> PromptSpec | None:
        """The prompts if similarities are conditioned on them, otherwise None."""
        return (
            self.grouping_prompts
            if self.grouping_prompts is not None and self.grouping_prompts.condition
            else None
        )

    @property
    def defines_similarity(self) -> bool:
        """True if a kernel, `score_K`, `score_X` or `score_dual` was passed."""
        return self.k is not None or bool(self.input_form)

    @property
    def has_callable_kernel(self) -> bool:
        """True if `k` is a function of two samples."""
        return callable(self.k) and not isinstance(self.k, Kernel)

    @property
    def uses_vector_metric(self) -> bool:
        """True if `metric` was passed and does not derive distances from a kernel."""
        return self.metric is not None and self.metric not in KERNEL_METRICS

    def with_prompts(
        self,
        prompts: object,
        given_prompt: object,
        metric: object = None,
        allow_grouping: bool = True,
    ) -> SimilaritySpec:
        """Return a copy with prompts; similarities are conditioned on them if `given_prompt`.

        `prompts`, `given_prompt` and `metric` are keywords as passed by the user. Without
        `allow_grouping`, prompts raise a TypeError unless `given_prompt` is True.
        """
        # None counts as False.
        condition = given_prompt is not None and check_bool("given_prompt", given_prompt)
        if prompts is None:
            if condition:
                raise TypeError("`given_prompt` requires `prompts`, one prompt per sample")
            return replace(self, grouping_prompts=None)
        if not (condition or allow_grouping):
            raise TypeError(
                "`prompts` would split the samples into several sets, and this function expects "
                "one set; pass given_prompt=True to condition similarities on the prompts, or pass "
                "the prompts to `select` as `groups` with `quota`"
            )
        parsed = parse_prompts(prompts, condition)
        if condition and (reason := describe_conditioning_error(self, metric)):
            raise TypeError(f"cannot condition on `prompts`: {reason}")
        return replace(self, grouping_prompts=parsed)

    def get_sample_type(self, samples: Samples) -> str:
        """Return the type of samples that the kernel or metric compares.

        It is one of the types that kernels declare, such as "text" or "vectors"; "records" for a
        mixture of kernels that compare columns; "similarities" or "distances" for a matrix; or
        "function" for any objects, which a function of two samples compares. `samples` are only
        used if neither a kernel nor the form of the samples (`input_form`: similarity matrix or
        features) was passed. The type is then "text" for lists that contain lists of strings, and
        otherwise "vectors", unless metric="precomputed".
        """
        if self.metric == "precomputed":
            return "distances"
        if self.input_form:
            return "vectors" if self.input_form == "X" else "similarities"
        if isinstance(self.k, Kernel):
            return self.k.samples
        if isinstance(self.k, tuple):
            uses_columns = any(component.column for component in self.k)
            return "records" if uses_columns else self.k[0].kernel.samples
        if self.k is not None:
            return "function"
        # Without a kernel, lists of strings are groups of texts; other lists may be vectors.
        has_lists_of_strings = isinstance(samples, (list, tuple)) and any(
            is_list(sample) and any(isinstance(entry, str) for entry in sample)
            for sample in samples
        )
        return "text" if has_lists_of_strings else "vectors"


def parse_prompts(prompts: object, condition: bool) -> PromptSpec:
    """Return a PromptSpec of `prompts`, as passed by the user.

    `condition` says whether similarities are conditioned on them. Otherwise prompts only group the
    samples, and a single prompt raises a TypeError. A list may be a single prompt or contain one
    prompt per sample, and a mapping may be a single prompt or map groups to prompts. This depends
    on the samples, so it is not decided here, and a mapping is not converted.
    """
    # A set is one sample (of labels), and has no order, so it is not a list of prompts.
    is_single = isinstance(prompts, (str, bytes, os.PathLike, set, frozenset))
    if not (hasattr(prompts, "__iter__") or hasattr(prompts, "__array__")):
        is_single = True
    if is_single and not condition:
        raise TypeError(
            f"`prompts` must contain one prompt per sample, got the single prompt "
            f"{short_repr(prompts)}; pass given_prompt=True to condition all similarities on it"
        )
    if is_single or isinstance(prompts, Mapping):
        return PromptSpec(prompts, condition)
    return PromptSpec(as_samples(prompts, "prompts", empty=True), condition)


def describe_conditioning_error(spec: SimilaritySpec, metric: object) -> str:
    """Describe why similarities cannot be conditioned on prompts; "" if they can.

    `metric` is the keyword of this name, or None.
    """
    if spec.input_form == "K":
        return (
            "a similarity matrix contains no similarities to prompts; pass the samples, and a "
            "kernel as `k`"
        )
    if metric is not None and metric not in KERNEL_METRICS:
        return f"metric={metric!r} is not derived from a kernel; remove `metric`"
    kernels = [component.kernel for component in spec.k] if isinstance(spec.k, tuple) else [spec.k]
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            continue
        # With values 0 and 1, conditioning on a prompt would remove either nothing from a sample or
        # all of it.
        if kernel.samples == "labels" or kernel.name == "equivalence":
            return (
                f"k={kernel.name!r} has only the values 0 and 1; pass a kernel that also has "
                "values between 0 and 1"
            )
        # Conditioning subtracts features, which only positive semidefinite kernels have.
        if not kernel.psd:
            psd_kernels = format_psd_kernels(kernel.samples)
            return (
                f"k={kernel.name!r} is not positive semidefinite; pass one of the kernels "
                f"{psd_kernels} as `k`"
            )
    return ""


def parse_similarity_spec(arguments: Record, allow_grouping: bool = True) -> SimilaritySpec:
    """Parse the keywords that belong to a SimilaritySpec, and remove them from `arguments`.

    Among them are the options of the kernel that is passed as `k`. Without `allow_grouping`,
    prompts raise a TypeError unless `given_prompt` is True.
    """
    k = arguments.pop("k", None)
    # Those of score_K, score_X and score_dual that are True.
    form_keywords = [
        name for name in INPUT_FORM_KEYWORDS if check_bool(name, arguments.pop(name, False))
    ]
    exclusive = [] if k is None else ["`k`"]
    exclusive += [f"`{name}`" for name in form_keywords]
    if len(exclusive) > 1:
        raise ValueError(f"{' and '.join(exclusive)} are mutually exclusive; pass one of them")
    spec = SimilaritySpec(
        input_form="K" if "score_K" in form_keywords else "X" if form_keywords else "",
        normalize=check_bool("normalize", arguments.pop("normalize", False)),
        fit=check_choice("fit", arguments.pop("fit", None), (None, *get_args(FitTo))),
        **({} if k is None else _parse_kernel(k, arguments)),
    )
    prompts = arguments.pop("prompts", None)
    given_prompt = arguments.pop("given_prompt", False)
    metric = arguments.pop("metric", None)
    if metric is not None:
        check_metric(metric, ("precomputed", *KERNEL_METRICS))
    if prompts is not None or given_prompt is not False:
        spec = spec.with_prompts(prompts, given_prompt, metric, allow_grouping)
    exponent = arguments.pop("exponent", None)
    metric_options = {} if exponent is None else {"exponent": exponent}
    # A kernel determines the distances, so a metric option would have no effect.
    if metric in KERNEL_METRICS or (metric is None and spec.defines_similarity):
        check_no_metric_options(metric_options)
    if metric is None and not metric_options:
        return spec
    # The default metric is Euclidean. It has no options, so an option without `metric` raises an
    # error.
    metric_options = check_metric_options("euclidean" if metric is None else metric, metric_options)
    return replace(spec, metric=metric, metric_options=metric_options)


def check_no_metric_options(options: Iterable[str]) -> None:
    """Raise a TypeError if `options`, the names of metric options, are not empty.

    It is called if a kernel determines the distances, so these options have no effect.
    """
    for name in options:
        raise TypeError(
            f"`{name}` is an option of vector metrics such as 'minkowski' and has no effect with a "
            f"kernel; remove it"
        )


def similarity_spec_from_keywords(
    arguments: Options,
    caller: Callable[..., object] | None = None,
    allow_grouping: bool = False,
    *,
    extra_names: Iterable[str] = (),
    allow_metric: bool = False,
    allow_fit: bool = False,
) -> SimilaritySpec:
    """Parse `arguments`, keywords of a SimilaritySpec; raise a TypeError for other keywords.

    `prompts` without `given_prompt=True` is accepted only with `allow_grouping`, `metric` only with
    `allow_metric`, and `fit` only with `allow_fit`. Errors about unknown keywords also suggest the
    parameters of `caller`, the function that the user called, and `extra_names`.
    """
    remaining = dict(arguments)
    spec = parse_similarity_spec(remaining, allow_grouping)
    if remaining:
        accepted = dict.fromkeys(extra_names, "")
        if caller is not None:
            accepted |= describe_parameters(caller)
        accepted |= SIMILARITY_KEYWORDS
        for name, allowed in (("metric", allow_metric), ("fit", allow_fit)):
            if not allowed:
                del accepted[name]
        # Raises an error unless all remaining keywords are options of the default text kernel.
        # `accepted` are the keywords that the error may suggest.
        spec = apply_text_kernel_options(spec, remaining, accepted, {})
    if spec.metric is not None and not allow_metric:
        raise TypeError(
            "`metric` is not supported by this function, which uses similarities; remove it, or "
            "pass a kernel as `k`"
        )
    if not allow_fit:
        check_no_fit(spec)
    return spec


def check_no_fit(spec: SimilaritySpec) -> None:
    """Raise a TypeError if `fit` is passed but there is only one set."""
    if spec.fit is not None:
        raise TypeError(
            "`fit` selects one of several sets, and only one set was passed; remove `fit`"
        )


def check_kernel_or_metric(spec: SimilaritySpec, caller: str) -> None:
    """Raise a ValueError if both a kernel and a metric of vectors were passed to `caller`."""
    if spec.defines_similarity and spec.uses_vector_metric:
        raise ValueError(
            f"{caller} accepts `metric={spec.metric!r}` or a kernel, not both; remove one of them, "
            "or pass metric='kernel' or metric='1-k' to derive distances from the kernel"
        )


def apply_text_kernel_options(
    spec: SimilaritySpec,
    remaining: Options,
    accepted: Mapping[str, str],
    measures_by_option: Mapping[str, Sequence[str]],
    unused_options: Collection[str] = (),
) -> SimilaritySpec:
    """Return a copy of `spec` with the keywords in `remaining` as options of the text kernel.

    `remaining` are the keywords that no other parser has removed, so they are unknown unless the
    user passed no kernel and the default text kernel has options of these names. Unknown keywords
    raise a TypeError. Its message suggests keywords from `accepted`, which maps the names of all
    keywords of the caller to descriptions. `measures_by_option` maps names of options of measures
    to the measures that have them. `unused_options` are options of the text kernel that would have
    no effect, which are not suggested.
    """
    if not remaining:
        return spec
    name = next(iter(remaining))  # the keyword that the error is about
    # `p` are weights in `compute`, and the exponent of a Minkowski distance in other libraries.
    if "p" in remaining:
        raise TypeError(
            "`p` (weights) is not supported by magnitude, `compare` and `growth`; remove it. The "
            "exponent of metric='minkowski' is `exponent`"
        )
    if name in measures_by_option:
        raise TypeError(f"`{name}` is {_describe_measures_with_option(measures_by_option[name])}")
    if isinstance(spec.k, Kernel):
        check_kernel_options(spec.k, remaining, accepted)
    if isinstance(spec.k, tuple):
        # Options of a mixture are passed by kernel.
        hint = suggestion(name, accepted, "keyword", remaining[name], quote="`")
        names = [part.name for part in spec.k if name in part.kernel.options]
        if not hint and not names:
            hint = "None of its kernels has this option"
        elif not hint:
            hint = f"Pass it as options={{{names[0]!r}: {{{name!r}: …}}}}"
        raise TypeError(f"{name!r} is not an option of a mixture of kernels. {hint}")
    kernel = get_kernel(TEXT_KERNEL)
    if spec.defines_similarity or not remaining.keys() <= kernel.options.keys():
        # Report the first keyword that is not an option of the text kernel, if there is one.
        name = next((n for n in remaining if n not in kernel.options), name)
        if not spec.defines_similarity:
            described = kernel.option_descriptions.items()
            options = {name: text for name, text in described if name not in unused_options}
            accepted = {**accepted, **options}
        value = remaining[name]
        raise TypeError(_describe_unknown_keyword(name, value, accepted, measures_by_option))
    # `k` stays None, so that samples that are not text raise an error that suggests kernels, and
    # file names compared as text cause a warning.
    return replace(spec, **_split_kernel_options(kernel, remaining) | {"k": None})


def _parse_kernel(k: object, arguments: Record) -> Record:
    """Parse the argument `k` into fields of SimilaritySpec, as a dict.

    The options of the kernel are removed from `arguments`, the keywords that the user passed.
    """
    if isinstance(k, str):
        kernel, model = parse_kernel_name(k)
        options = {name: arguments.pop(name) for name in kernel.options if name in arguments}
        options = add_model_option(k, model, options)
        # With `in_context` and given_prompt=True, the kernel also embeds each answer together with
        # its prompt, as one text. By default, this is on only for the model of k="semantic".
        in_context = options.get("in_context")
        if in_context is None:
            in_context = NAMED_MODELS["semantic"] in (model, options.get("model_path"))
        return _split_kernel_options(kernel, options) | {
            "in_context": check_bool("in_context", in_context)
        }
    if isinstance(k, (Mapping, list, tuple)):
        from .mixture import parse_mixture

        options = {name: arguments.pop(name) for name in MIXTURE_OPTIONS if name in arguments}
        return {"k": tuple(parse_mixture(k, **options)), "combine": options.get("combine", "sum")}
    # Everything that follows is an error, except for a function of two samples.
    type_name = type(k).__name__
    hint = (
        "pass a similarity matrix as the samples with score_K=True, and a second set as "
        "`references` of compute"
    )
    if is_network(k) or callable(getattr(k, "encode", None)):
        type_name = f"a model of type {type_name}"
        hint = "pass the model as model=… with k='text_embeddings' or k='image_embeddings'"
    elif isinstance(k, Kernel):
        hint = f"pass k={k.name!r}"
    elif callable(k):
        return {"k": k}
    raise TypeError(f"`k` must be a kernel name or a function k(a, b), got {type_name}; {hint}")


def _split_kernel_options(kernel: Kernel, options: Options) -> Record:
    """Return fields of SimilaritySpec for a kernel and its options, as a dict.

    The option on_error="skip" becomes drop_unusable=True, and "raise" becomes False.
    """
    kernel_options = dict(options)
    drop_unusable = check_on_error(kernel_options.pop("on_error", "raise"))
    return {"k": kernel, "options": kernel_options, "drop_unusable": drop_unusable}


def _describe_unknown_keyword(
    name: str,
    value: object,
    accepted: Mapping[str, str],
    measures_by_option: Mapping[str, Sequence[str]],
) -> str:
    """Describe why the keyword `name` is invalid, and suggest a keyword or a kernel.

    `accepted` maps valid keywords to descriptions, and `measures_by_option` maps options of
    measures to the measures that have them.
    """
    other_scopes = {
        option: _describe_measures_with_option(names)
        for option, names in measures_by_option.items()
    } | describe_kernel_options()
    # `exponent` is an option of metrics. It is suggested for similar names, but not listed.
    hint = suggest_name(
        name,
        accepted,
        ["exponent"],
        kind="keyword",
        value=value,
        other_scopes={n: where for n, where in other_scopes.items() if n not in accepted},
        quote="`",
        fallback=f"Supported keywords are {', '.join(sorted(accepted))}, and kernel options.",
    )
    return f"unknown keyword {name!r}. {hint}"


def _describe_measures_with_option(names: Sequence[str]) -> str:
    """Say to which measures an option belongs, as in "an option of MagArea; add …"."""
    request = "this measure" if len(names) == 1 else "one of these measures"
    return f"an option of {', '.join(names)}; add {request} to `measures`"
