"""Keywords that define how samples are compared, parsed before any sample is read."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ..similarity.metrics import check_metric, check_metric_options
from ..similarity.sample_arrays import as_samples
from ..similarity.shapes import is_list
from ..support.arguments import check_bool, check_choice
from ..support.errors import short_repr
from ..support.optional import is_network
from ..support.suggestions import closest_name, replacement_hint, suggest_name
from ..support.types import Options, PairFunction, Record, Samples
from .kernel import (
    NAMED_MODELS,
    Combine,
    Kernel,
    Mixture,
    add_model_option,
    check_kernel_options,
    format_psd_kernels,
    get_kernel,
    kernels_with_option,
    list_kernels,
    parse_kernel_name,
)
from .kernel_builder import TEXT_KERNEL, check_on_error

if TYPE_CHECKING:
    from .mixture import MixtureComponent

KernelArgument: TypeAlias = str | PairFunction | Mixture
Metric: TypeAlias = str | PairFunction
FitTo = Literal["samples", "references", "pool"]

INPUT_FORM_KEYWORDS = ("score_K", "score_X", "score_dual")
SIMILARITY_KEYWORDS = frozenset(
    ("k", *INPUT_FORM_KEYWORDS, "normalize", "metric", "fit", "prompts", "given_prompt")
)
MIXTURE_OPTIONS = ("options", "combine", "on_error")
KERNEL_METRICS = ("kernel", "1-k")


@dataclass(frozen=True, eq=False)
class PromptSpec:
    """Prompts as passed, or distinct prompts with the `index` of the prompt of each sample.

    Prompts to condition on (`condition`) must have the same type as the samples.
    """

    values: Any
    condition: bool = True
    index: np.ndarray | None = None


@dataclass(frozen=True)
class SimilaritySpec:
    """How samples are compared, and how their distances are computed."""

    k: Kernel | PairFunction | tuple[MixtureComponent, ...] | None = None
    input_form: Literal["", "K", "X"] = ""  # "K": samples are similarities; "X": features
    normalize: bool = False
    options: Options = field(default_factory=dict)
    combine: Combine = "sum"
    drop_unusable: bool = False
    metric: Metric | None = None
    metric_options: Options = field(default_factory=dict)
    fit: FitTo | None = None  # which of several sets options are fitted to
    grouping_prompts: PromptSpec | None = None  # the prompt of each sample
    in_context: bool = False  # also compare answers with their prompts prepended

    @property
    def conditioning_prompts(self) -> PromptSpec | None:
        """The prompts to condition similarities on, or None."""
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
        """True if `metric` is a metric of vectors, not derived from a kernel."""
        return self.metric is not None and self.metric not in KERNEL_METRICS

    def with_prompts(
        self,
        prompts: object,
        given_prompt: object,
        metric: object = None,
        allow_grouping: bool = True,
    ) -> SimilaritySpec:
        """Return a copy with prompts, conditioned on if `given_prompt` is True.

        Without `allow_grouping`, `given_prompt` must be True.
        """
        taken = given_prompt is not None and check_bool("given_prompt", given_prompt)
        if prompts is None:
            if taken:
                raise TypeError(
                    "`given_prompt` takes out `prompts`, which are missing: pass them, too"
                )
            return replace(self, grouping_prompts=None)
        if not (taken or allow_grouping):
            raise TypeError(
                "`prompts` say which samples answer one prompt, and this call looks at one set: "
                "pass given_prompt=True to take them out, or to `select` them as `groups`, with "
                "`quota`"
            )
        asked = parse_prompts(prompts, taken)
        if taken and (obstacle := describe_conditioning_error(self, metric)):
            raise TypeError(f"`prompts` cannot be taken out of {obstacle}")
        return replace(self, grouping_prompts=asked)

    def get_sample_type(self, samples: Samples) -> str:
        """Return the sample type, in the terms used by `Kernel.samples`."""
        if self.metric == "precomputed":
            return "distances"
        if self.input_form:
            return "vectors" if self.input_form == "X" else "similarities"
        if isinstance(self.k, Kernel):
            return self.k.samples
        if isinstance(self.k, tuple):
            columns = any(part.column for part in self.k)
            return "records" if columns else self.k[0].kernel.samples
        if self.k is not None:
            return "function"
        texts = isinstance(samples, (list, tuple)) and any(
            is_list(member) and any(isinstance(one, str) for one in member) for member in samples
        )
        return "text" if texts else "vectors"


def parse_prompts(prompts: object, condition: bool) -> PromptSpec:
    """Return `prompts` as passed; whether they are a single prompt may depend on the samples."""
    single = isinstance(prompts, (str, bytes, os.PathLike, set, frozenset))
    if not (hasattr(prompts, "__iter__") or hasattr(prompts, "__array__")):
        single = True
    if single and not condition:
        raise TypeError(
            f"`prompts` must be a prompt for each sample, got {short_repr(prompts)} alone: pass "
            f"given_prompt=True to take it out of the similarities of all"
        )
    if single or isinstance(prompts, Mapping):
        return PromptSpec(prompts, condition)
    return PromptSpec(as_samples(prompts, "prompts", empty=True), condition)


def describe_conditioning_error(spec: SimilaritySpec, metric: object) -> str:
    """Describe why similarities cannot be conditioned on prompts; "" if they can."""
    if spec.input_form == "K":
        return "a similarity matrix, which has no row of the prompt: pass the samples, and `k`"
    if metric is not None and metric not in KERNEL_METRICS:
        return f"distances by metric={metric!r}, which have no prompt: leave `metric` out"
    for kernel in [part.kernel for part in spec.k] if isinstance(spec.k, tuple) else [spec.k]:
        if not isinstance(kernel, Kernel):
            continue
        if kernel.samples == "labels" or kernel.name == "equivalence":
            return (
                f"k={kernel.name!r}, by which a prompt explains a sample wholly or not at all: "
                "pass a kernel with values between 0 and 1"
            )
        if not kernel.psd:
            return (
                f"k={kernel.name!r}, which is not positive semidefinite, so that samples have no "
                f"part that a prompt explains: take {format_psd_kernels(kernel.samples)}"
            )
    return ""


def parse_similarity_spec(arguments: Record, allow_grouping: bool = True) -> SimilaritySpec:
    """Parse and remove the keywords of a SimilaritySpec from `arguments`.

    Without `allow_grouping`, prompts require `given_prompt=True`.
    """
    k = arguments.pop("k", None)
    ways = [name for name in INPUT_FORM_KEYWORDS if check_bool(name, arguments.pop(name, False))]
    if len(ways) + (k is not None) > 1:
        raise ValueError(f"pass one of {', '.join(['k', *ways])}: each says what the samples are")
    spec = SimilaritySpec(
        input_form="K" if "score_K" in ways else "X" if ways else "",
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
    given = {} if exponent is None else {"exponent": exponent}
    if metric in KERNEL_METRICS or (metric is None and spec.defines_similarity):
        check_no_metric_options(given)
    if metric is None and not given:
        return spec
    options = check_metric_options("euclidean" if metric is None else metric, given)
    return replace(spec, metric=metric, metric_options=options)


def check_no_metric_options(options: Iterable[str]) -> None:
    """Raise a TypeError for metric options if a kernel determines the distances."""
    for name in options:
        raise TypeError(
            f"`{name}` is an option of metrics of vectors, not of kernels: leave it out"
        )


def similarity_spec_from_keywords(
    arguments: Options,
    extra_names: Iterable[str] = (),
    allow_grouping: bool = False,
    *,
    allow_metric: bool = False,
    allow_fit: bool = False,
) -> SimilaritySpec:
    """Parse keywords that must all belong to a SimilaritySpec; see `parse_similarity_spec`.

    `metric` is accepted only with `allow_metric`, `fit` only with `allow_fit`.
    """
    rest = dict(arguments)
    spec = apply_text_kernel_options(
        parse_similarity_spec(rest, allow_grouping), rest, extra_names, {}
    )
    if spec.metric is not None and not allow_metric:
        raise TypeError(
            "`metric` says how far apart samples are, and this call looks at their similarities: "
            "leave it out, or pass a kernel as `k`"
        )
    if not allow_fit:
        check_no_fit(spec)
    return spec


def check_no_fit(spec: SimilaritySpec) -> None:
    """Raise a TypeError if `fit` is passed but there is only one set."""
    if spec.fit is not None:
        raise TypeError(
            "`fit` says which of several sets options are fitted to, and there is one: leave it out"
        )


def check_kernel_or_metric(spec: SimilaritySpec, caller: str) -> None:
    """Raise a ValueError if `caller` got both a kernel and a metric of vectors."""
    if spec.defines_similarity and spec.uses_vector_metric:
        raise ValueError(
            f"`metric={spec.metric!r}` and a kernel both say how to compare samples, but {caller} "
            "needs one: leave the other out, or pass metric='kernel' or '1-k', which are distances "
            "from a kernel"
        )


def apply_text_kernel_options(
    spec: SimilaritySpec,
    remaining: Options,
    extra_names: Iterable[str],
    measures_by_option: Mapping[str, Sequence[str]],
) -> SimilaritySpec:
    """Return `spec` with the remaining keywords as options of the text kernel."""
    if not remaining:
        return spec
    name = next(iter(remaining))
    known = {*SIMILARITY_KEYWORDS, "samples", *extra_names}
    if "p" in remaining:
        raise TypeError(
            "`p` would be weights, which magnitude, `compare` and `growth` do not take: leave it "
            "out; the exponent of metric='minkowski' is `exponent`"
        )
    if name in measures_by_option:
        raise TypeError(f"`{name}` is {_describe_measures_with_option(measures_by_option[name])}")
    if isinstance(spec.k, Kernel):
        check_kernel_options(spec.k, remaining, known)
    if isinstance(spec.k, tuple):
        raise TypeError(
            f"`{name}` is not an option of a mixture of kernels; give one kernel its option by "
            f"options={{{spec.k[0].name!r}: {{{name!r}: …}}}}"
        )
    kernel = get_kernel(TEXT_KERNEL)
    if spec.defines_similarity or not remaining.keys() <= kernel.options.keys():
        name = next((n for n in remaining if n not in kernel.options), name)
        if not spec.defines_similarity:
            known |= kernel.options.keys()
        raise TypeError(_describe_misplaced_option(name, known, measures_by_option))
    return replace(spec, **_split_kernel_options(kernel, remaining) | {"k": None})


def _parse_kernel(k: object, arguments: Record) -> Record:
    """Parse `k` into fields of SimilaritySpec, and remove its options from `arguments`."""
    if isinstance(k, str):
        kernel, model = parse_kernel_name(k)
        own = {name: arguments.pop(name) for name in kernel.options if name in arguments}
        own = add_model_option(k, model, own)
        in_context = own.get("in_context")
        if in_context is None:
            in_context = NAMED_MODELS["semantic"] in (model, own.get("model_path"))
        return _split_kernel_options(kernel, own) | {
            "in_context": check_bool("in_context", in_context)
        }
    if isinstance(k, (Mapping, list, tuple)):
        from .mixture import parse_mixture

        own = {name: arguments.pop(name) for name in MIXTURE_OPTIONS if name in arguments}
        return {"k": tuple(parse_mixture(k, **own)), "combine": own.get("combine", "sum")}
    what = type(k).__name__
    instead = (
        "a similarity matrix is passed as the samples, with score_K=True, and a second set as "
        "`references` of compute"
    )
    if is_network(k) or callable(getattr(k, "encode", None)):
        what = f"a model, {what}"
        instead = "pass it as model=… with k='text_embeddings' or 'image_embeddings'"
    elif isinstance(k, Kernel):
        instead = f"pass k={k.name!r}"
    elif callable(k):
        return {"k": k}
    raise TypeError(f"`k` must be a kernel name or a function k(a, b), got {what}; {instead}")


def _split_kernel_options(kernel: Kernel, options: Options) -> Record:
    own = dict(options)
    drop_unusable = check_on_error(own.pop("on_error", "raise"))
    return {"k": kernel, "options": own, "drop_unusable": drop_unusable}


def _describe_misplaced_option(
    name: str, supported: Collection[str], measures_by_option: Mapping[str, Sequence[str]]
) -> str:
    """Explain why a keyword is invalid without a kernel, and suggest the intended one."""
    options = {option for kernel in list_kernels() for option in kernel.options}
    accepted = {*supported, "exponent"}
    if name in options and not replacement_hint(name, "keyword"):
        return f"`{name}` is {_describe_kernels_with_option(name)}"
    found = closest_name(name, {*accepted, *options, *measures_by_option} - {name})
    if not replacement_hint(name, "keyword") and found and found not in accepted:
        where = (
            _describe_kernels_with_option(found)
            if found in options
            else _describe_measures_with_option(measures_by_option[found])
        )
        return f"unknown keyword `{name}`. Did you mean `{found}`? It is {where}"
    look = (
        f"Keywords are {', '.join(sorted(supported))}, and options of the kernel: "
        "help(vendiscore.get_kernel('rbf')) shows the options of one."
    )
    hint = suggest_name(name, accepted, quote="`", fallback=look, kind="keyword")
    return f"unknown keyword `{name}`. {hint}"


def _describe_kernels_with_option(option: str) -> str:
    every = option == "on_error"
    kernels = "every named kernel" if every else ", ".join(map(repr, kernels_with_option(option)))
    return f"an option of {kernels}: pass the kernel's name as `k`"


def _describe_measures_with_option(names: Sequence[str]) -> str:
    return f"an option of {', '.join(names)}: name one of them in `measures`"
