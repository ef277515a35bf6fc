"""Keywords that choose how samples are compared, read once, before any sample is read."""

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
    get_kernel,
    having,
    list_kernels,
    named_kernel,
    psd_kernels,
    with_model,
)
from .kernel import check_options as check_kernel_options
from .kernel_build import TEXT_KERNEL, skips

if TYPE_CHECKING:
    from .mixture import Part

KernelArgument: TypeAlias = str | PairFunction | Mixture
Metric: TypeAlias = str | PairFunction
FitTo = Literal["samples", "references", "pool"]

KINDS = ("score_K", "score_X", "score_dual")
SETTINGS = frozenset(("k", *KINDS, "normalize", "metric", "fit", "prompts", "given_prompt"))
MIXTURE_OPTIONS = ("options", "combine", "on_error")
KERNEL_METRICS = ("kernel", "1-k")


@dataclass(frozen=True, eq=False)
class Prompts:
    """Prompts as passed, or distinct ones with the `index` of the prompt of each sample.

    Only prompts that are `taken` out of similarities are of the kind of the samples.
    """

    values: Any
    taken: bool = True
    index: np.ndarray | None = None


@dataclass(frozen=True)
class How:
    """A choice of how to compare samples, and how to find their distances."""

    k: Kernel | PairFunction | tuple[Part, ...] | None = None
    given: Literal["", "K", "X"] = ""  # samples are similarities, or rows of features
    normalize: bool = False
    options: Options = field(default_factory=dict)
    combine: Combine = "sum"
    skip: bool = False
    metric: Metric | None = None
    metric_options: Options = field(default_factory=dict)
    fit: FitTo | None = None  # which of several sets options are fitted to
    asked: Prompts | None = None  # prompts that samples answer
    in_context: bool = False  # then answers are compared after these prompts, too

    @property
    def prompts(self) -> Prompts | None:
        """The prompts whose part is taken out of similarities, if any."""
        return self.asked if self.asked is not None and self.asked.taken else None

    @property
    def says_similarity(self) -> bool:
        """True if a kernel or a keyword for matrices or features was passed."""
        return self.k is not None or bool(self.given)

    @property
    def is_function(self) -> bool:
        """True if `k` is a function of two samples."""
        return callable(self.k) and not isinstance(self.k, Kernel)

    @property
    def is_of_vectors(self) -> bool:
        """True if it names a metric of vectors: one that does not come from a kernel."""
        return self.metric is not None and self.metric not in KERNEL_METRICS

    def with_prompts(
        self, prompts: object, given_prompt: object, metric: object = None, within: bool = True
    ) -> How:
        """Return this with the prompts that samples answer, taken out if `given_prompt` is True.

        Without `within`, they must be taken out.
        """
        taken = given_prompt is not None and check_bool("given_prompt", given_prompt)
        if prompts is None:
            if taken:
                raise TypeError(
                    "`given_prompt` takes out `prompts`, which are missing: pass them, too"
                )
            return replace(self, asked=None)
        if not (taken or within):
            raise TypeError(
                "`prompts` say which samples answer one prompt, and this call looks at one set: "
                "pass given_prompt=True to take them out, or to `select` them as `groups`, with "
                "`quota`"
            )
        asked = parse_prompts(prompts, taken)
        if taken and (obstacle := describe_obstacle(self, metric)):
            raise TypeError(f"`prompts` cannot be taken out of {obstacle}")
        return replace(self, asked=asked)

    def sample_kind(self, samples: Samples) -> str:
        """Return the kind of the samples, in the words that kernels use."""
        if self.metric == "precomputed":
            return "distances"
        if self.given:
            return "vectors" if self.given == "X" else "similarities"
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


def parse_prompts(prompts: object, taken: bool) -> Prompts:
    """Return `prompts` as passed; only the samples tell one prompt from a list of them."""
    single = isinstance(prompts, (str, bytes, os.PathLike, set, frozenset))
    if not (hasattr(prompts, "__iter__") or hasattr(prompts, "__array__")):
        single = True
    if single and not taken:
        raise TypeError(
            f"`prompts` must be a prompt for each sample, got {short_repr(prompts)} alone: pass "
            f"given_prompt=True to take it out of the similarities of all"
        )
    if single or isinstance(prompts, Mapping):
        return Prompts(prompts, taken)
    return Prompts(as_samples(prompts, "prompts", empty=True), taken)


def describe_obstacle(how: How, metric: object) -> str:
    """Describe why prompts cannot be taken out of these similarities; "" if they can."""
    if how.given == "K":
        return "a similarity matrix, which has no row of the prompt: pass the samples, and `k`"
    if metric is not None and metric not in KERNEL_METRICS:
        return f"distances by metric={metric!r}, which have no prompt: leave `metric` out"
    for kernel in [part.kernel for part in how.k] if isinstance(how.k, tuple) else [how.k]:
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
                f"part that a prompt explains: take {psd_kernels(kernel.samples)}"
            )
    return ""


def read_how(arguments: Record, within: bool = True) -> How:
    """Read the How of `arguments`, and remove its keywords from them.

    Without `within`, prompts must be taken out of similarities.
    """
    k = arguments.pop("k", None)
    ways = [name for name in KINDS if check_bool(name, arguments.pop(name, False))]
    if len(ways) + (k is not None) > 1:
        raise ValueError(f"pass one of {', '.join(['k', *ways])}: each says what the samples are")
    how = How(
        given="K" if "score_K" in ways else "X" if ways else "",
        normalize=check_bool("normalize", arguments.pop("normalize", False)),
        fit=check_choice("fit", arguments.pop("fit", None), (None, *get_args(FitTo))),
        **({} if k is None else _kernel(k, arguments)),
    )
    prompts = arguments.pop("prompts", None)
    given_prompt = arguments.pop("given_prompt", False)
    metric = arguments.pop("metric", None)
    if metric is not None:
        check_metric(metric, ("precomputed", *KERNEL_METRICS))
    if prompts is not None or given_prompt is not False:
        how = how.with_prompts(prompts, given_prompt, metric, within)
    exponent = arguments.pop("exponent", None)
    given = {} if exponent is None else {"exponent": exponent}
    if metric in KERNEL_METRICS or (metric is None and how.says_similarity):
        refuse_metric_options(given)
    if metric is None and not given:
        return how
    options = check_metric_options("euclidean" if metric is None else metric, given)
    return replace(how, metric=metric, metric_options=options)


def refuse_metric_options(given: Iterable[str]) -> None:
    """Raise a TypeError for options of metrics where a kernel determines the distances."""
    for name in given:
        raise TypeError(
            f"`{name}` is an option of metrics of vectors, not of kernels: leave it out"
        )


def how_of(
    arguments: Options,
    also: Iterable[str] = (),
    within: bool = False,
    *,
    distances: bool = False,
    several: bool = False,
) -> How:
    """Read keywords, all of which must be about how samples are compared; see `read_how`.

    `metric` is for calls that look at `distances`, `fit` for calls with `several` sets.
    """
    rest = dict(arguments)
    how = with_the_rest(read_how(rest, within), rest, also, {})
    if how.metric is not None and not distances:
        raise TypeError(
            "`metric` says how far apart samples are, and this call looks at their similarities: "
            "leave it out, or pass a kernel as `k`"
        )
    if not several:
        check_fit(how)
    return how


def check_fit(how: How) -> None:
    """Raise a TypeError for `fit` where there is one set, to which all options are fitted."""
    if how.fit is not None:
        raise TypeError(
            "`fit` says which of several sets options are fitted to, and there is one: leave it out"
        )


def check_one_way(how: How, who: str) -> None:
    """Raise a ValueError if `who` got both a kernel and a metric of vectors."""
    if how.says_similarity and how.is_of_vectors:
        raise ValueError(
            f"`metric={how.metric!r}` and a kernel both say how to compare samples, but {who} "
            "needs one: leave the other out, or pass metric='kernel' or '1-k', which are distances "
            "from a kernel"
        )


def with_the_rest(
    how: How,
    rest: Options,
    also: Iterable[str],
    measures: Mapping[str, Sequence[str]],
) -> How:
    """Return `how` with the remaining keywords, which are options of the text kernel."""
    if not rest:
        return how
    name = next(iter(rest))
    known = {*SETTINGS, "samples", *also}
    if "p" in rest:
        raise TypeError(
            "`p` would be weights, which magnitude, `compare` and `growth` do not take: leave it "
            "out; the exponent of metric='minkowski' is `exponent`"
        )
    if name in measures:
        raise TypeError(f"`{name}` is {_of_measures(measures[name])}")
    if isinstance(how.k, Kernel):
        check_kernel_options(how.k, rest, known)
    if isinstance(how.k, tuple):
        raise TypeError(
            f"`{name}` is not an option of a mixture of kernels; give one kernel its option by "
            f"options={{{how.k[0].name!r}: {{{name!r}: …}}}}"
        )
    kernel = get_kernel(TEXT_KERNEL)
    if how.says_similarity or not rest.keys() <= kernel.options.keys():
        name = next((n for n in rest if n not in kernel.options), name)
        if not how.says_similarity:
            known |= kernel.options.keys()
        raise TypeError(_misplaced(name, known, measures))
    return replace(how, **_with_options(kernel, rest) | {"k": None})


def _kernel(k: object, arguments: Record) -> Record:
    """Return the fields of How that follow from `k`, and remove its options from `arguments`."""
    if isinstance(k, str):
        kernel, model = named_kernel(k)
        own = {name: arguments.pop(name) for name in kernel.options if name in arguments}
        own = with_model(k, model, own)
        in_context = own.get("in_context")
        if in_context is None:
            in_context = NAMED_MODELS["semantic"] in (model, own.get("model_path"))
        return _with_options(kernel, own) | {"in_context": check_bool("in_context", in_context)}
    if isinstance(k, (Mapping, list, tuple)):
        from .mixture import read_mixture

        own = {name: arguments.pop(name) for name in MIXTURE_OPTIONS if name in arguments}
        return {"k": tuple(read_mixture(k, **own)), "combine": own.get("combine", "sum")}
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


def _with_options(kernel: Kernel, options: Options) -> Record:
    own = dict(options)
    skip = skips(own.pop("on_error", "raise"))
    return {"k": kernel, "options": own, "skip": skip}


def _misplaced(name: str, known: Collection[str], measures: Mapping[str, Sequence[str]]) -> str:
    """Say why a keyword is refused without a kernel, and which one the caller may mean."""
    options = {option for kernel in list_kernels() for option in kernel.options}
    accepted = {*known, "exponent"}
    if name in options and not replacement_hint(name, "keyword"):
        return f"`{name}` is {_of_kernels(name)}"
    found = closest_name(name, {*accepted, *options, *measures} - {name})
    if not replacement_hint(name, "keyword") and found and found not in accepted:
        where = _of_kernels(found) if found in options else _of_measures(measures[found])
        return f"unknown keyword `{name}`. Did you mean `{found}`? It is {where}"
    look = (
        f"Keywords are {', '.join(sorted(known))}, and options of the kernel: "
        "help(vendiscore.get_kernel('rbf')) shows the options of one."
    )
    hint = suggest_name(name, accepted, quote="`", fallback=look, kind="keyword")
    return f"unknown keyword `{name}`. {hint}"


def _of_kernels(option: str) -> str:
    every = option == "on_error"
    kernels = "every named kernel" if every else ", ".join(map(repr, having(option)))
    return f"an option of {kernels}: pass the kernel's name as `k`"


def _of_measures(names: Sequence[str]) -> str:
    return f"an option of {', '.join(names)}: name one of them in `measures`"
