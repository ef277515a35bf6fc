"""What a visitor sent, checked, with how to score and how to show it: a `Job` of each kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..explanation.analysis import Analysis, analyse
from ..progress import Steps
from ..report.code import READ_DOWNLOAD, code
from ..report.markup import escape
from ..report.thumbnails import drawing
from ..resolve.nested import Groups, read_labels
from . import encoders
from .comparing import MIN_PERMUTATIONS, Compared, compare_steps
from .grouping import ByGroup, by_group, place, pooled, taken_apart
from .limits import MAX_SMILES, RefusedError, check_texts
from .matrices import check_matrix
from .pictures import Picture

MOLECULE_KERNELS = ("morgan", "rdkit", "maccs", "atom_pair", "topological_torsion")
# How each name of the API is said to `compute`.
VECTOR_KERNELS: dict[str, dict[str, Any]] = {
    "cosine": {"k": "cosine"},
    "rbf": {"k": "rbf"},
    "laplacian": {"k": "laplacian"},
    "X": {"score_X": True, "normalize": True},
    "dual": {"score_dual": True, "normalize": True},
    "K": {"score_K": True},
    "K, clipped": {"score_K": True, "psd": "clip"},
}
# Of which "X" and "dual" are other words for "cosine".
VECTOR_CHOICES = ("cosine", "rbf", "laplacian", "K", "K, clipped")
# What can be compared, and by what beside the encoders.
KERNELS: dict[str, tuple[str, ...]] = {
    "texts": ("ngram_overlap",),
    "images": ("pixels",),
    "molecules": MOLECULE_KERNELS,
    "vectors": ("cosine", "rbf", "laplacian"),
}
MAX_N = 10  # n of the longest n-grams
_INLINE = 1_500  # characters of samples that are written into the lines of Python


@dataclass(frozen=True)
class Job:
    """Samples that have been checked, and how to score and to show them.

    Attributes
    ----------
    what : str
        The samples in the plural.
    samples : list or array
    arguments : dict
        For `compute`.
    labels : list of str
        One for each sample, for the table.
    cell : callable
        HTML of sample i.
    modules, expression : str
        Python that has the same samples, and what it has to import.
    groups : Groups or None
        Which samples belong together; then `by_group` is its score.
    """

    what: str
    samples: Any
    arguments: dict[str, Any]
    labels: list[str]
    cell: Callable[[int], str]
    modules: str
    expression: str
    groups: Groups | None = None

    def score(self, q: float) -> Steps[Analysis]:
        """The analysis of order q."""
        order = check_order(q)
        similarity = yield from encoders.similarity(self.samples, self.arguments)
        return analyse(similarity, order, psd=self.arguments.get("psd", "check"))

    def by_group(self, q: float) -> Steps[ByGroup]:
        """The scores of order q of all groups."""
        assert self.groups is not None
        order = check_order(q)
        similarity = yield from encoders.similarity(self.samples, self.arguments)
        return by_group(similarity, self.groups, order, self.arguments.get("psd", "check"))

    def code(self, q: float) -> str:
        """Three lines of Python that give the same number."""
        return code(self.modules, self.expression, self.arguments, check_order(q))


def check_order(q: Any) -> float:
    """An order in [0, ∞], from a number or "inf"."""
    try:
        order = float(q)
    except (TypeError, ValueError):
        raise RefusedError(f"q must be a number of at least 0 or 'inf', got {q!r:.40}.") from None
    if not order >= 0:
        raise RefusedError(f"q must be at least 0, got {order:g}; 1 is the usual Vendi Score.")
    return order


def text_job(
    texts: Any,
    kernel: str = "ngram_overlap",
    ns: Sequence[int] = (1, 2, 3, 4),
    unit: str = "word",
    labels: Sequence[Hashable] = (),
) -> Job:
    """Texts, compared by n-grams or a sentence encoder; in groups if each has a label."""
    texts, groups = pooled(texts, "texts")
    groups = read_labels(labels) if labels else groups
    texts = check_texts(texts, place=place(groups))
    return Job(
        what="texts",
        samples=texts,
        arguments=_text_arguments(kernel, ns, unit),
        labels=texts,
        cell=lambda i: f'<p class="vs-text">{escape(texts[i])}</p>',
        groups=groups,
        **_inline(taken_apart(texts, groups)),
    )


def image_job(
    pictures: Sequence[Picture],
    kernel: str = "pixels",
    left: Sequence[str] = (),
    groups: Groups | None = None,
) -> Job:
    """Images, compared pixel by pixel or by an encoder; `left` are names of files left out."""
    encoder = _encoder("images", kernel)
    files = 'glob.glob("images/*")'
    if left:
        files = f"set({files}) - {set(map('images/{}'.format, left))!r}"
    expression = f"sorted({files})  # the folder that the images are in"
    if groups is not None:
        each = 'sorted(glob.glob(folder + "/*"))'
        expression = f"[{each} for folder in sorted({files})]  # a folder for each group"
    return Job(
        what="images",
        samples=[picture.data if encoder else picture.small for picture in pictures],
        arguments=encoder or {"k": kernel, "mode": "RGB"},
        labels=[picture.name for picture in pictures],
        cell=lambda i: f'<img src="{pictures[i].thumbnail}" alt="{escape(pictures[i].name, 60)}">',
        modules="glob",
        expression=expression,
        groups=groups,
    )


def molecule_job(smiles: Any, kernel: str = "morgan") -> Job:
    """Molecules as SMILES, compared by fingerprints."""
    smiles, groups = pooled(smiles, "SMILES")
    smiles = check_texts(smiles, MAX_SMILES, "molecule", place(groups))
    _one_of(kernel, MOLECULE_KERNELS, "kernel")

    def cell(i: int) -> str:
        name = escape(smiles[i], 80)
        image = drawing(smiles[i])
        if not image:
            return f'<p class="vs-text">{name}</p>'
        return f'<img src="{image}" alt="{name}" title="{name}" class="vs-molecule">'

    return Job(
        what="molecules",
        samples=smiles,
        arguments={"k": kernel},
        labels=smiles,
        cell=cell,
        groups=groups,
        **_inline(taken_apart(smiles, groups)),
    )


def vector_job(
    X: Any, kernel: str = "cosine", sigma: float = 0.0, source: tuple[str, str] | None = None
) -> Job:
    """Rows of numbers, features X or a similarity matrix K; `source` is Python that reads many."""
    X, groups = pooled(X, "rows", rows=True) if isinstance(X, list) else (X, None)
    X = check_matrix(X, place(groups, "Row"))
    arguments = _vector_arguments(kernel, sigma)
    if kernel.startswith("K") and groups is not None:
        raise RefusedError(
            f"A similarity matrix K is one matrix of all samples, got {len(groups)} groups; for "
            f"rows of features pick another kernel."
        )
    if kernel.startswith("K") and X.shape[0] != X.shape[1]:
        raise RefusedError(
            f"A similarity matrix K must be square, got {X.shape[0]} × {X.shape[1]}; "
            f"for rows of features pick another kernel."
        )
    rows = [", ".join(f"{value:.4g}" for value in row[:8]) for row in X]
    rows = [f"{row}, …" if X.shape[1] > 8 else row for row in rows]
    if kernel.startswith("K"):
        rows = [f"row {i}" for i in range(len(X))]
    return Job(
        what="vectors" if not kernel.startswith("K") else "samples",
        samples=X,
        arguments=arguments,
        labels=rows,
        cell=lambda i: f'<p class="vs-text">{i}: {escape(rows[i], 60)}</p>',
        groups=groups,
        **_matrix_source(X, source, groups),
    )


def comparison(
    jobs: Sequence[Job], q: float, permutations: int = MIN_PERMUTATIONS
) -> Steps[Compared]:
    """Sets of one kind, compared step by step; see `comparing.compare_steps`."""
    arguments = jobs[0].arguments if jobs else {}
    return compare_steps([job.samples for job in jobs], check_order(q), permutations, **arguments)


def comparable(samples: Any, kind: str, kernel: str) -> Job:
    """One of the sets of a comparison: what its job takes."""
    _one_of(kind, tuple(KERNELS), "kind")
    job = _comparable(samples, kind, kernel)
    if job.groups is not None:
        raise RefusedError(
            f"A set of a comparison is one list of {kind}, not a list of lists; put all of its "
            f"{kind} in one."
        )
    return job


def _comparable(samples: Any, kind: str, kernel: str) -> Job:
    if kind == "texts":
        return text_job(samples, kernel)
    if kind == "images":
        return image_job(_listed(samples, "images"), kernel)
    if kind == "molecules":
        return molecule_job(samples, kernel)
    _one_of(kernel, KERNELS["vectors"], "kernel of a comparison")
    return vector_job(samples, kernel)


def menu(kind: str) -> list[str]:
    """The kernels of a kind of sample, with the encoders that can be had, the usual one first."""
    return [*KERNELS[kind], *encoders.offered(kind)]


def _encoder(kind: str, kernel: Any) -> dict[str, Any] | None:
    """The options of the encoder of that name, or None if it is one of the other kernels."""
    _one_of(kernel, menu(kind), "kernel")
    return encoders.offered(kind).get(kernel)


def _text_arguments(kernel: Any, ns: Any, unit: Any) -> dict[str, Any]:
    if encoder := _encoder("texts", kernel):
        return encoder
    _one_of(unit, ("word", "char"), "unit")
    try:
        orders = sorted({int(n) for n in ns})
    except (TypeError, ValueError):
        raise RefusedError(f"n-gram lengths must be whole numbers, got {ns!r:.60}.") from None
    if not orders or not all(1 <= n <= MAX_N for n in orders):
        raise RefusedError(f"Pick n-gram lengths from 1 to {MAX_N}, got {orders!r:.60}.")
    return {"k": kernel, "ns": orders} | ({} if unit == "word" else {"analyzer": unit})


def _vector_arguments(kernel: Any, sigma: Any) -> dict[str, Any]:
    _one_of(kernel, tuple(VECTOR_KERNELS), "kernel")
    try:
        bandwidth = float(sigma or 0)
    except (TypeError, ValueError):
        raise RefusedError(f"sigma must be a number, got {sigma!r:.40}.") from None
    if not 0 <= bandwidth < math.inf:
        raise RefusedError(f"sigma must be a finite number above 0, got {bandwidth:g}.")
    given = kernel in ("rbf", "laplacian") and bandwidth > 0
    return VECTOR_KERNELS[kernel] | ({"sigma": bandwidth} if given else {})


def _one_of(value: Any, known: Sequence[str], name: str) -> None:
    if not isinstance(value, str) or value not in known:
        raise RefusedError(f"Unknown {name} {value!r:.60}; pick one of {', '.join(known)}.")


def _listed(values: Any, name: str) -> list[Any]:
    if not isinstance(values, list):
        raise RefusedError(f"Expected a list of {name}, got {type(values).__name__}.")
    return values


def _inline(samples: list[Any]) -> dict[str, Any]:
    written = repr(samples)
    if len(written) <= _INLINE:
        return {"modules": "", "expression": written}
    modules, download = READ_DOWNLOAD
    return {"modules": modules, "expression": f'{download}["samples"]  # the download'}


def _matrix_source(
    X: np.ndarray, source: tuple[str, str] | None, groups: Groups | None = None
) -> dict[str, Any]:
    written = repr(taken_apart(X.tolist(), groups))
    if len(written) <= _INLINE:
        return {"modules": "", "expression": written}
    modules, expression = source or (
        "pandas as pd",
        "pd.read_csv('samples.csv', header=None).to_numpy()",
    )
    if groups is not None:
        ends = np.cumsum(np.bincount(groups.codes))[:-1].tolist()
        modules, expression = f"numpy as np, {modules}", f"np.split({expression}, {ends})"
    return {"modules": modules, "expression": expression}
