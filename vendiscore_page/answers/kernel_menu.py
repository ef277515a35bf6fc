"""Ways to compare samples that the page offers: registered kernels with a label, and matrices."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from vendiscore import compute, explain, get_kernel, list_kernels
from vendiscore.encoders.sample_encoder import MODEL_SCRIPTS
from vendiscore.resolve.kernel import Control
from vendiscore.similarity.encoder_scope import Mismatch, find_mismatch
from vendiscore.support.errors import short_repr

from ..aliases import Options, Record
from ..inputs.submission import KINDS
from ..inputs.visitor_samples import Samples, format_series
from ..quotas import RefusedError
from . import offered_encoders

# The usual order of a score, and the usual similarity of near-duplicates.
DEFAULT_ORDER: float = signature(compute).parameters["q"].default
DEFAULT_THRESHOLD: float = signature(explain).parameters["threshold"].default
# The kernel of a kind of samples that needs no model.
USUAL_KERNELS = {
    "texts": "ngram_overlap",
    "images": "pixels",
    "molecules": "morgan",
    "vectors": "cosine",
}
# Pictures of one set have the same channels.
_FIXED = {"pixels": {"mode": "RGB"}}


@dataclass(frozen=True)
class KernelChoice:
    """One way to compare samples, described as `Kernel` does; `parse_options` go to `compute`."""

    kernel: str
    label: str
    term: str
    by: str
    arguments: Record
    controls: Sequence[Control] = ()
    is_encoder: bool = False  # a network makes vectors of the samples, which takes long
    takes_pairs: bool = False  # all pairs are compared, where others multiply a few features

    @property
    def compared_content(self) -> str:
        """Return what a comparison of texts sees, with the name of its kernel."""
        return f"{'meaning' if self.is_encoder else 'wording'} ({self.term})"

    @property
    def is_matrix(self) -> bool:
        """True if the samples are the similarities themselves."""
        return "score_K" in self.arguments

    def find_mismatch(self, texts: Sequence[str], letters: bool) -> Mismatch | None:
        """Return why its encoder does not suit texts, or sequences of letters; None if it may."""
        scripts = MODEL_SCRIPTS.get(self.arguments.get("model_path", ""), ())
        return find_mismatch(texts, scripts, sequences=letters)

    @property
    def takes_prompt(self) -> bool:
        """True if similarities can be conditioned on a prompt."""
        return "k" in self.arguments and get_kernel(self.arguments["k"]).psd


_MATRICES = (
    KernelChoice(
        "K", "are similar in the given matrix", "K", "By the given matrix", {"score_K": True}
    ),
    KernelChoice(
        "K, clipped",
        "are similar in the given matrix, with negative eigenvalues set to 0",
        "K, clipped",
        "By the given matrix without its negative eigenvalues",
        {"score_K": True, "psd": "clip"},
    ),
)


def list_choices(kind: str) -> list[KernelChoice]:
    """Return the ways to compare samples of a kind, the usual one first."""
    check_choice(kind, KINDS, "kind")
    sample_type = "text" if kind == "texts" else kind
    kernels_of_type = (kernel for kernel in list_kernels() if kernel.samples == sample_type)
    kernels = {kernel.name: kernel for kernel in kernels_of_type if kernel.label}
    result = []
    for name, kernel_arguments in offered_encoders.list_offered(kind).items():
        kernel = kernels[kernel_arguments["k"]]
        by = f"{kernel.by} ({name})"
        result.append(KernelChoice(name, kernel.label, name, by, kernel_arguments, is_encoder=True))
    by_network = {
        kernel_arguments["k"]
        for kernel_arguments in offered_encoders.ALLOWED.get(kind, {}).values()
    }
    remaining_names = [name for name in kernels if name not in by_network]
    for name in sorted(remaining_names, key=lambda name: name != USUAL_KERNELS[kind]):
        kernel = kernels[name]
        pairs = kernel.samples == "vectors" and not kernel.rows
        texts = (name, kernel.label, kernel.term, kernel.by)
        kernel_arguments = {"k": name, **_FIXED.get(name, {})}
        result.append(KernelChoice(*texts, kernel_arguments, kernel.controls, takes_pairs=pairs))
    return [*result, *(_MATRICES if kind == "vectors" else ())]


def find_choice(kind: str, kernel: Any) -> KernelChoice:
    by_name = {choice.kernel: choice for choice in list_choices(kind)}
    check_choice(kernel, tuple(by_name), "kernel")
    return by_name[kernel]


def default_choice(kind: str, sets: Sequence[Samples]) -> tuple[KernelChoice, str]:
    """Return the usual way to compare samples and ""; without an encoder that does not suit a set.

    In that case the second value is the reason, a clause.
    """
    default, *others = list_choices(kind)
    for samples in sets:
        mismatch = default.find_mismatch(samples.values, samples.letters)
        if mismatch:
            return next(choice for choice in others if not choice.is_encoder), mismatch.reason
    return default, ""


def find_second_choice(kind: str, chosen: KernelChoice) -> KernelChoice | None:
    """Return the way to see meaning where wording was chosen, and the reverse; None without one."""
    if kind != "texts" or not (chosen.is_encoder or chosen.kernel == USUAL_KERNELS[kind]):
        return None
    candidates = (
        choice
        for choice in list_choices(kind)
        if choice.is_encoder or choice.kernel == USUAL_KERNELS[kind]
    )
    return next((choice for choice in candidates if choice.is_encoder != chosen.is_encoder), None)


def build_menu(kind: str) -> Record:
    """Return the choices of a kind as plain values, with the choices of their options."""
    choices = list_choices(kind)
    kernels = [
        {
            "kernel": choice.kernel,
            "label": choice.label,
            "small": choice.term,
            "compares": not choice.is_matrix,
            "prompts": kind == "texts" and choice.takes_prompt,
            "options": [_describe_control(control) for control in choice.controls],
            "arguments": choice.arguments,
        }
        for choice in choices
    ]
    absent = offered_encoders.list_absent(kind)
    note = offered_encoders.describe_missing(kind)
    return {"kernels": kernels, "default": choices[0].kernel, "absent": absent, "note": note}


def parse_options(chosen: KernelChoice, options: Options) -> Record:
    """Return keywords of `compute` for the options of a visitor; other kernels' are only read."""
    controls = {
        control.name: control
        for kind in KINDS
        for choice in list_choices(kind)
        for control in choice.controls
    }
    controls |= {control.name: control for control in chosen.controls}
    parsed = {}
    for name, value in options.items():
        check_choice(name, tuple(controls), "option")
        parsed[name] = _parse_option(controls[name], value)
    result = dict(chosen.arguments)
    for control in chosen.controls:
        value = parsed.get(control.name, control.value)
        if value != control.value or control.type == "checks":
            result[control.keyword or control.name] = value
    return result


def describe_comparison(chosen: KernelChoice, arguments: Options, q: float) -> str:
    """Return in few words how samples were compared: "n-grams of 1–4 words · q 1"."""
    options = (
        control.phrase.format(_format_option(control, value))
        for control in chosen.controls
        if (value := arguments.get(control.keyword or control.name, control.value))
    )
    prompt_note = " · conditioned on the prompt" if arguments.get("prompts") else ""
    return (
        f"{' '.join([chosen.term, *options])}{prompt_note} · q {'∞' if math.isinf(q) else f'{q:g}'}"
    )


def check_choice(value: object, allowed: Sequence[str], name: str) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise RefusedError(f"Unknown {name} {short_repr(value)}; pick one of {', '.join(allowed)}.")


def check_order(q: object) -> float:
    order = _parse_number(q, "q", "a number of at least 0 or 'inf'")
    if not order >= 0:
        raise RefusedError(f"q must be at least 0, got {order:g}; the default is 1.")
    return order


def check_threshold(value: object, floor: float = -1.0) -> float:
    """Return a similarity from `floor` to 1, from which on samples are called alike."""
    name = "The similarity threshold"
    threshold = _parse_number(value, name)
    if not floor <= threshold <= 1:
        raise RefusedError(f"{name} must be between {floor:.3g} and 1, got {threshold:g}.")
    return threshold


def _parse_number(value: Any, name: str, expected: str = "a number") -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise RefusedError(f"{name} must be {expected}, got {short_repr(value)}.") from None


def _describe_control(control: Control) -> Record:
    shown = {name: getattr(control, name) for name in ("name", "label", "type", "value", "info")}
    keyword = control.keyword or control.name
    return shown | {"choices": list(control.choices) or None, "keyword": keyword}


def find_controls(kind: str, call: Options) -> Record | None:
    """Return the kernel, options and order by which the controls of a kind express a call.

    The result is None if the call has arguments without a control.
    """
    q = call.get("q")
    if isinstance(q, bool | list):
        return None
    for choice in list_choices(kind):
        fixed = {name: call.get(name) for name in choice.arguments}
        controls = {control.keyword or control.name: control for control in choice.controls}
        other_arguments = {
            name: x for name, x in call.items() if name not in (*choice.arguments, "q")
        }
        if fixed == choice.arguments and other_arguments.keys() <= controls.keys():
            options = {controls[name].name: value for name, value in other_arguments.items()}
            try:
                parse_options(choice, options)
            except RefusedError:
                return None  # a value that the control lacks
            return {"kernel": choice.kernel, "options": options, "q": q}
    return None


def _parse_option(control: Control, value: Any) -> object:
    """Return the value of an option that a visitor has set; a RefusedError if it is none."""
    name = control.name
    if control.type == "choice":
        check_choice(value, tuple(map(str, control.choices)), name)
        return value
    if control.type == "checks":
        try:
            numbers = sorted({int(n) for n in value})
        except (TypeError, ValueError, OverflowError):
            raise RefusedError(f"{name} must be integers, got {short_repr(value)}.") from None
        max_value = control.most or max(map(int, control.choices))
        if not numbers or not all(1 <= n <= max_value for n in numbers):
            raise RefusedError(
                f"{name} must be between 1 and {max_value}, got {short_repr(numbers)}."
            )
        return numbers
    number = _parse_number(value or 0, name)
    if not 0 <= number < math.inf:
        raise RefusedError(f"{name} must be a finite number above 0, got {number:g}.")
    return number


def _format_option(control: Control, value: Any) -> str:
    if isinstance(control.choices, Mapping):
        return control.choices.get(value, control.choices[control.value])
    if not isinstance(value, list):
        return f"{value:g}"
    first, last = value[0], value[-1]
    if len(value) > 1 and value == list(range(first, last + 1)):
        return f"{first}–{last}"
    return format_series([*map(str, value)])
