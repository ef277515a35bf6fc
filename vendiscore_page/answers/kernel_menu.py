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
from ..inputs.visitor_samples import Samples, series
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
class Choice:
    """One way to compare samples, described as `Kernel` does; `arguments` go to `compute`."""

    kernel: str
    label: str
    term: str
    by: str
    arguments: Record
    controls: Sequence[Control] = ()
    is_encoder: bool = False  # a network makes vectors of the samples, which takes long
    takes_pairs: bool = False  # all pairs are compared, where others multiply a few features

    @property
    def sees(self) -> str:
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
    Choice("K", "are similar in the given matrix", "K", "By the given matrix", {"score_K": True}),
    Choice(
        "K, clipped",
        "are similar in the given matrix, with negative eigenvalues set to 0",
        "K, clipped",
        "By the given matrix without its negative eigenvalues",
        {"score_K": True, "psd": "clip"},
    ),
)


def choices(kind: str) -> list[Choice]:
    """Return the ways to compare samples of a kind, the usual one first."""
    one_of(kind, KINDS, "kind")
    compared = "text" if kind == "texts" else kind
    every = (kernel for kernel in list_kernels() if kernel.samples == compared)
    kernels = {kernel.name: kernel for kernel in every if kernel.label}
    found = []
    for name, how in offered_encoders.offered(kind).items():
        each = kernels[how["k"]]
        by = f"{each.by} ({name})"
        found.append(Choice(name, each.label, name, by, how, is_encoder=True))
    by_network = {how["k"] for how in offered_encoders.ALLOWED.get(kind, {}).values()}
    others = [name for name in kernels if name not in by_network]
    for name in sorted(others, key=lambda name: name != USUAL_KERNELS[kind]):
        each = kernels[name]
        pairs = each.samples == "vectors" and not each.rows
        words = (name, each.label, each.term, each.by)
        how = {"k": name, **_FIXED.get(name, {})}
        found.append(Choice(*words, how, each.controls, takes_pairs=pairs))
    return [*found, *(_MATRICES if kind == "vectors" else ())]


def choice(kind: str, kernel: Any) -> Choice:
    known = {each.kernel: each for each in choices(kind)}
    one_of(kernel, tuple(known), "kernel")
    return known[kernel]


def default_choice(kind: str, sets: Sequence[Samples]) -> tuple[Choice, str]:
    """Return the usual way to compare samples and ""; without an encoder that does not suit a set.

    In that case the second value is the reason, a clause.
    """
    usual, *others = choices(kind)
    for samples in sets:
        mismatch = usual.find_mismatch(samples.values, samples.letters)
        if mismatch:
            return next(each for each in others if not each.is_encoder), mismatch.reason
    return usual, ""


def second(kind: str, chosen: Choice) -> Choice | None:
    """Return the way to see meaning where wording was chosen, and the reverse; None without one."""
    if kind != "texts" or not (chosen.is_encoder or chosen.kernel == USUAL_KERNELS[kind]):
        return None
    both = (each for each in choices(kind) if each.is_encoder or each.kernel == USUAL_KERNELS[kind])
    return next((each for each in both if each.is_encoder != chosen.is_encoder), None)


def menu(kind: str) -> Record:
    """Return the choices of a kind as plain values, with the choices of their options."""
    known = choices(kind)
    kernels = [
        {
            "kernel": each.kernel,
            "label": each.label,
            "small": each.term,
            "compares": not each.is_matrix,
            "prompts": kind == "texts" and each.takes_prompt,
            "options": [_option(control) for control in each.controls],
            "arguments": each.arguments,
        }
        for each in known
    ]
    absent = offered_encoders.absent(kind)
    note = offered_encoders.describe_missing(kind)
    return {"kernels": kernels, "default": known[0].kernel, "absent": absent, "note": note}


def arguments(chosen: Choice, options: Options) -> Record:
    """Return keywords of `compute` for the options of a visitor; other kernels' are only read."""
    controls = {each.name: each for kind in KINDS for at in choices(kind) for each in at.controls}
    controls |= {each.name: each for each in chosen.controls}
    read = {}
    for name, value in options.items():
        one_of(name, tuple(controls), "option")
        read[name] = _read(controls[name], value)
    found = dict(chosen.arguments)
    for each in chosen.controls:
        value = read.get(each.name, each.value)
        if value != each.value or each.type == "checks":
            found[each.keyword or each.name] = value
    return found


def describe(chosen: Choice, arguments: Options, q: float) -> str:
    """Return in few words how samples were compared: "n-grams of 1–4 words · q 1"."""
    options = (
        each.phrase.format(_in_words(each, value))
        for each in chosen.controls
        if (value := arguments.get(each.keyword or each.name, each.value))
    )
    given = " · conditioned on the prompt" if arguments.get("prompts") else ""
    return f"{' '.join([chosen.term, *options])}{given} · q {'∞' if math.isinf(q) else f'{q:g}'}"


def one_of(value: object, known: Sequence[str], name: str) -> None:
    if not isinstance(value, str) or value not in known:
        raise RefusedError(f"Unknown {name} {short_repr(value)}; pick one of {', '.join(known)}.")


def check_order(q: object) -> float:
    order = _number(q, "q", "a number of at least 0 or 'inf'")
    if not order >= 0:
        raise RefusedError(f"q must be at least 0, got {order:g}; the default is 1.")
    return order


def check_threshold(value: object, floor: float = -1.0) -> float:
    """Return a similarity from `floor` to 1, from which on samples are called alike."""
    name = "The similarity threshold"
    threshold = _number(value, name)
    if not floor <= threshold <= 1:
        raise RefusedError(f"{name} must be between {floor:.3g} and 1, got {threshold:g}.")
    return threshold


def _number(value: Any, name: str, expected: str = "a number") -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise RefusedError(f"{name} must be {expected}, got {short_repr(value)}.") from None


def _option(control: Control) -> Record:
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
    for each in choices(kind):
        given = {name: call.get(name) for name in each.arguments}
        controls = {control.keyword or control.name: control for control in each.controls}
        others = {name: x for name, x in call.items() if name not in (*each.arguments, "q")}
        if given == each.arguments and others.keys() <= controls.keys():
            options = {controls[name].name: value for name, value in others.items()}
            try:
                arguments(each, options)
            except RefusedError:
                return None  # a value that the control lacks
            return {"kernel": each.kernel, "options": options, "q": q}
    return None


def _read(control: Control, value: Any) -> object:
    """Return the value of an option that a visitor has set; a RefusedError if it is none."""
    name = control.name
    if control.type == "choice":
        one_of(value, tuple(map(str, control.choices)), name)
        return value
    if control.type == "checks":
        try:
            numbers = sorted({int(n) for n in value})
        except (TypeError, ValueError):
            raise RefusedError(f"{name} must be integers, got {short_repr(value)}.") from None
        most = control.most or max(map(int, control.choices))
        if not numbers or not all(1 <= n <= most for n in numbers):
            raise RefusedError(f"{name} must be between 1 and {most}, got {short_repr(numbers)}.")
        return numbers
    number = _number(value or 0, name)
    if not 0 <= number < math.inf:
        raise RefusedError(f"{name} must be a finite number above 0, got {number:g}.")
    return number


def _in_words(control: Control, value: Any) -> str:
    if isinstance(control.choices, Mapping):
        return control.choices.get(value, control.choices[control.value])
    if not isinstance(value, list):
        return f"{value:g}"
    first, last = value[0], value[-1]
    if len(value) > 1 and value == list(range(first, last + 1)):
        return f"{first}–{last}"
    return series([*map(str, value)])
