"""What "alike" can mean on the page: comparisons by kind of sample, in words, and their options."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..quotas import RefusedError
from . import offered_encoders

MAX_N = 10  # n of the longest n-grams
NS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Choice:
    """One way to compare samples.

    Attributes
    ----------
    kernel : str
        Its name on the page and in the API.
    label : str
        What two samples do that are alike: "mean the same".
    small : str
        What experts call it.
    by : str
        How a sentence begins that says by what samples were compared.
    arguments : mapping
        For `compute`.
    options : tuple of str
        Names of those that a visitor can set.
    """

    kernel: str
    label: str
    small: str
    by: str
    arguments: Mapping[str, Any]
    options: tuple[str, ...] = ()

    @property
    def is_encoder(self) -> bool:
        """Whether a network makes vectors of the samples, which takes long."""
        return any(self.kernel in allowed for allowed in offered_encoders.ALLOWED.values())

    @property
    def takes_pairs(self) -> bool:
        """Whether all pairs are compared, where others multiply a few features."""
        return self.kernel in ("rbf", "laplacian") or self.is_matrix

    @property
    def is_matrix(self) -> bool:
        """Whether the samples are the similarities themselves."""
        return self.kernel in ("K", "K, clipped")


def _molecular(kernel: str, label: str, small: str) -> Choice:
    return Choice(kernel, label, small, f"By {small}", {"k": kernel})


# The usual one first, beside the encoders.
CHOICES: dict[str, tuple[Choice, ...]] = {
    "texts": (
        Choice(
            *("ngram_overlap", "share words", "n-grams", "By the words they share"),
            {"k": "ngram_overlap"},
            ("ns", "unit"),
        ),
    ),
    "images": (
        Choice(
            *("pixels", "look the same", "32 × 32 pixels", "By their pixels"),
            {"k": "pixels", "mode": "RGB"},
        ),
    ),
    "molecules": (
        _molecular("morgan", "share substructures", "Morgan fingerprints"),
        _molecular("rdkit", "share paths of bonds", "RDKit fingerprints"),
        _molecular("maccs", "share well-known groups", "MACCS keys"),
        _molecular("atom_pair", "share pairs of atoms", "atom pairs"),
        _molecular("topological_torsion", "share chains of four atoms", "topological torsions"),
    ),
    "vectors": (
        Choice("cosine", "point the same way", "cosine", "By their directions", {"k": "cosine"}),
        Choice("rbf", "lie close", "rbf", "By their distances", {"k": "rbf"}, ("sigma",)),
        Choice(
            *("laplacian", "lie close, or not too far", "laplacian", "By their distances"),
            {"k": "laplacian"},
            ("sigma",),
        ),
        Choice("K", "are a similarity matrix", "K", "By the matrix given", {"score_K": True}),
        Choice(
            *("K, clipped", "are a matrix with negative eigenvalues", "K, clipped"),
            "By the matrix given, without its negative eigenvalues",
            {"score_K": True, "psd": "clip"},
        ),
    ),
}
# Other words of the API for "cosine".
_ALSO = tuple(
    Choice(name, "point the same way", name, "By their directions", {key: True, "normalize": True})
    for name, key in (("X", "score_X"), ("dual", "score_dual"))
)
_ENCODERS = {
    "texts": ("mean the same", "By what they mean"),
    "images": ("show the same", "By what they show"),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "ns": {
        "label": "n-grams of",
        "type": "checks",
        "choices": [1, 2, 3, 4, 5],
        "value": list(NS),
        "info": "how many in a row",
    },
    "unit": {
        "label": "made of",
        "type": "choice",
        "choices": ["word", "char"],
        "value": "word",
        "info": "words, or characters, for writing without spaces",
    },
    "sigma": {
        "label": "scale σ",
        "type": "number",
        "choices": None,
        "value": 0,
        "info": "how far apart is not alike any more; 0 for the median distance",
    },
}


def choices(kind: str) -> list[Choice]:
    """The ways to compare samples of a kind, the usual one first."""
    one_of(kind, tuple(CHOICES), "kind")
    label, by = _ENCODERS.get(kind, ("", ""))
    return [
        *(
            Choice(name, label, name, f"{by} ({name})", arguments)
            for name, arguments in offered_encoders.offered(kind).items()
        ),
        *CHOICES[kind],
    ]


def choice(kind: str, kernel: Any) -> Choice:
    """The one of that name."""
    known = choices(kind)
    every = [*known, *(_ALSO if kind == "vectors" else ())]
    one_of(kernel, tuple(each.kernel for each in every), "kernel")
    return next(each for each in every if each.kernel == kernel)


def menu(kind: str) -> dict[str, Any]:
    """The choices of a kind as plain values, with those of their options."""
    known = choices(kind)
    return {
        "kernels": [
            {
                "kernel": each.kernel,
                "label": each.label,
                "small": each.small,
                "compares": not each.is_matrix,
                "options": [{"name": name, **OPTIONS[name]} for name in each.options],
            }
            for each in known
        ],
        "default": known[0].kernel,
    }


def arguments(chosen: Choice, options: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of `compute`, with the options of a visitor; those of other choices are ignored."""
    for name in options:
        one_of(name, tuple(OPTIONS), "option")
    found = dict(chosen.arguments)
    if "ns" in chosen.options:
        found["ns"] = _orders(options.get("ns", NS))
        unit = options.get("unit", "word")
        one_of(unit, ("word", "char"), "unit")
        if unit != "word":
            found["analyzer"] = unit
    sigma = _bandwidth(options.get("sigma", 0))
    if "sigma" in chosen.options and sigma > 0:
        found["sigma"] = sigma
    return found


def said(chosen: Choice, arguments: Mapping[str, Any], q: float) -> str:
    """How samples were compared, in few words: "n-grams of 1–4 words · q 1"."""
    name = chosen.small
    if "ns" in arguments:
        ns = arguments["ns"]
        lengths = f"{ns[0]}–{ns[-1]}" if ns == list(range(ns[0], ns[-1] + 1)) else _listed(ns)
        lengths = f"{ns[0]}" if len(ns) == 1 else lengths
        name += f" of {lengths} {'characters' if arguments.get('analyzer') == 'char' else 'words'}"
    if "sigma" in arguments:
        name += f" σ {arguments['sigma']:g}"
    return f"{name} · q {'∞' if math.isinf(q) else f'{q:g}'}"


def one_of(value: Any, known: Sequence[str], name: str) -> None:
    """Raise a RefusedError for a value that is none of those known."""
    if not isinstance(value, str) or value not in known:
        raise RefusedError(f"Unknown {name} {value!r:.60}; pick one of {', '.join(known)}.")


def check_order(q: Any) -> float:
    """An order in [0, ∞], from a number or "inf"."""
    try:
        order = float(q)
    except (TypeError, ValueError):
        raise RefusedError(f"q must be a number of at least 0 or 'inf', got {q!r:.40}.") from None
    if not order >= 0:
        raise RefusedError(f"q must be at least 0, got {order:g}; 1 is the usual Vendi Score.")
    return order


def check_threshold(value: Any, floor: float = -1.0) -> float:
    """A similarity from `floor` to 1, from which on samples are called alike."""
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


def _orders(ns: Any) -> list[int]:
    try:
        orders = sorted({int(n) for n in ns})
    except (TypeError, ValueError):
        raise RefusedError(f"n-gram lengths must be whole numbers, got {ns!r:.60}.") from None
    if not orders or not all(1 <= n <= MAX_N for n in orders):
        raise RefusedError(f"Pick n-gram lengths from 1 to {MAX_N}, got {orders!r:.60}.")
    return orders


def _bandwidth(sigma: Any) -> float:
    try:
        bandwidth = float(sigma or 0)
    except (TypeError, ValueError):
        raise RefusedError(f"sigma must be a number, got {sigma!r:.40}.") from None
    if not 0 <= bandwidth < math.inf:
        raise RefusedError(f"sigma must be a finite number above 0, got {bandwidth:g}.")
    return bandwidth


def _listed(numbers: Sequence[int]) -> str:
    return f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
