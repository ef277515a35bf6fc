"""Ways to compare samples that the page offers: registered kernels with a label, and matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...analysis.sentences import listed
from ...registry.kernel import Control, Kernel, labelled_kernels
from ..inputs.submission import KINDS
from ..quotas import RefusedError
from . import offered_encoders

# What the kernels of each kind of the page compare.
_SAMPLES: dict[str, str] = {kind: "text" if kind == "texts" else kind for kind in KINDS}
# The usual kernel of each, which the menu has first.
_USUAL = {
    "texts": "ngram_overlap",
    "images": "pixels",
    "molecules": "morgan",
    "vectors": "cosine",
}
# Pictures of one set have the same channels.
_FIXED = {"pixels": {"mode": "RGB"}}


@dataclass(frozen=True)
class Choice:
    """One way to compare samples, as `Kernel` has it; `arguments` are those of `compute`."""

    kernel: str
    label: str
    term: str
    by: str
    arguments: Mapping[str, Any]
    controls: Sequence[Control] = ()
    is_encoder: bool = False  # a network makes vectors of the samples, which takes long
    takes_pairs: bool = False  # all pairs are compared, where others multiply a few features

    @property
    def is_matrix(self) -> bool:
        """Whether the samples are the similarities themselves."""
        return "score_K" in self.arguments


_MATRICES = (
    Choice(
        *("K", "are a similarity matrix", "K", "By the matrix given"),
        {"score_K": True},
        takes_pairs=True,
    ),
    Choice(
        *("K, clipped", "are a matrix with negative eigenvalues", "K, clipped"),
        "By the matrix given, without its negative eigenvalues",
        {"score_K": True, "psd": "clip"},
        takes_pairs=True,
    ),
)
# Other words of the API for "cosine".
_SYNONYMS = {"X": "score_X", "dual": "score_dual"}


def choices(kind: str) -> list[Choice]:
    """Return the ways to compare samples of a kind, the usual one first."""
    one_of(kind, KINDS, "kind")
    kernels = sorted(labelled_kernels(_SAMPLES[kind]), key=lambda each: each.name != _USUAL[kind])
    by_network = {each["k"] for each in offered_encoders.ALLOWED.get(kind, {}).values()}
    encoders = {kernel.name: kernel for kernel in kernels if kernel.name in by_network}
    return [
        *(
            _encoder(encoders[arguments["k"]], name, arguments)
            for name, arguments in offered_encoders.offered(kind).items()
        ),
        *(_plain(kernel) for kernel in kernels if kernel.name not in by_network),
        *(_MATRICES if kind == "vectors" else ()),
    ]


def choice(kind: str, kernel: Any) -> Choice:
    """Return the one of that name."""
    known = {each.kernel: each for each in choices(kind)}
    if kind == "vectors":
        for name, key in _SYNONYMS.items():
            known[name] = replace(
                known["cosine"], kernel=name, term=name, arguments={key: True, "normalize": True}
            )
    one_of(kernel, tuple(known), "kernel")
    return known[kernel]


def menu(kind: str) -> dict[str, Any]:
    """Return the choices of a kind as plain values, with those of their options."""
    known = choices(kind)
    return {
        "kernels": [
            {
                "kernel": each.kernel,
                "label": each.label,
                "small": each.term,
                "compares": not each.is_matrix,
                "options": [_option(control) for control in each.controls],
            }
            for each in known
        ],
        "default": known[0].kernel,
    }


def arguments(chosen: Choice, options: Mapping[str, Any]) -> dict[str, Any]:
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


def describe(chosen: Choice, arguments: Mapping[str, Any], q: float) -> str:
    """Return in few words how samples were compared: "n-grams of 1–4 words · q 1"."""
    options = (
        each.phrase.format(_in_words(each, value))
        for each in chosen.controls
        if (value := arguments.get(each.keyword or each.name, each.value))
    )
    return f"{' '.join([chosen.term, *options])} · q {'∞' if math.isinf(q) else f'{q:g}'}"


def one_of(value: Any, known: Sequence[str], name: str) -> None:
    """Raise a RefusedError for a value that is none of those known."""
    if not isinstance(value, str) or value not in known:
        raise RefusedError(f"Unknown {name} {value!r:.60}; pick one of {', '.join(known)}.")


def check_order(q: Any) -> float:
    """Return an order in [0, ∞], from a number or "inf"."""
    try:
        order = float(q)
    except (TypeError, ValueError):
        raise RefusedError(f"q must be a number of at least 0 or 'inf', got {q!r:.40}.") from None
    if not order >= 0:
        raise RefusedError(f"q must be at least 0, got {order:g}; 1 is the usual Vendi Score.")
    return order


def check_threshold(value: Any, floor: float = -1.0) -> float:
    """Return a similarity from `floor` to 1, from which on samples are called alike."""
    try:
        threshold = float(value)
    except (TypeError, ValueError):
        raise RefusedError(
            f"The similarity from which samples are alike must be a number, got {value!r:.40}."
        ) from None
    if not floor <= threshold <= 1:
        raise RefusedError(
            f"The similarity from which samples are alike must be from {floor:.3g} to 1 here, got "
            f"{threshold:g}."
        )
    return threshold


def _plain(kernel: Kernel) -> Choice:
    arguments = {"k": kernel.name, **_FIXED.get(kernel.name, {})}
    pairs = kernel.samples == "vectors" and not kernel.has_rows({})
    words = (kernel.name, kernel.label, kernel.term, kernel.by)
    return Choice(*words, arguments, kernel.controls, takes_pairs=pairs)


def _encoder(kernel: Kernel, name: str, arguments: Mapping[str, Any]) -> Choice:
    return Choice(name, kernel.label, name, f"{kernel.by} ({name})", arguments, is_encoder=True)


def _option(control: Control) -> dict[str, Any]:
    return {
        "name": control.name,
        "label": control.label,
        "type": control.type,
        "choices": list(control.choices) or None,
        "value": control.value,
        "info": control.info,
    }


def _read(control: Control, value: Any) -> Any:
    """Return the value of an option that a visitor has set; a RefusedError if it is none."""
    name = control.name
    if control.type == "choice":
        one_of(value, tuple(map(str, control.choices)), name)
        return value
    if control.type == "checks":
        try:
            numbers = sorted({int(n) for n in value})
        except (TypeError, ValueError):
            raise RefusedError(f"{name} must be whole numbers, got {value!r:.60}.") from None
        most = control.most or max(map(int, control.choices))
        if not numbers or not all(1 <= n <= most for n in numbers):
            raise RefusedError(f"{name} must be from 1 to {most}, got {numbers!r:.60}.")
        return numbers
    try:
        number = float(value or 0)
    except (TypeError, ValueError):
        raise RefusedError(f"{name} must be a number, got {value!r:.40}.") from None
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
    return listed([*map(str, value)])
