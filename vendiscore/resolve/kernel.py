"""Kernels by name: functions from a list of samples (and options) to a Similarity."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NoReturn, TypeVar

from ..similarity.base import Similarity
from ..support.arguments import check_bool
from ..support.errors import short_repr
from ..support.signature import to_plain
from ..support.suggestions import model_modality, suggest_name
from ..support.summary import SummaryMixin
from ..support.types import Options, Record
from .registry import Registry, get_docstring_summary, get_option_defaults

Build = TypeVar("Build", bound=Callable[..., Similarity])
Fit = Callable[..., Options]
# Several kernels as `k`, with weights or without, and how they are combined.
Mixture = Mapping[str, float] | Sequence[str]
Combine = Literal["sum", "product"]
# Models by names of `k`: a small one, trained on pairs of sentences with the same meaning, and word
# vectors, which come with a package and need no network.
NAMED_MODELS = {"semantic": "sentence-transformers/all-MiniLM-L6-v2", "static": "wordllama"}


class FittedOptions(Record):
    """Options that `fit` of a kernel finds, with notes for readers of a score."""

    def __init__(self, options: Options, notes: Sequence[str] = ()) -> None:
        super().__init__(options)
        self.notes: tuple[str, ...] = tuple(notes)


@dataclass(frozen=True)
class Control:
    """An option of a kernel that visitors of the page can set.

    Attributes
    ----------
    name, label : str
        Its name in the page and its API, and the label before it.
    type, value : {"number", "choice", "checks"}; number, str or list of int
        A number of at least 0, one of `choices`, or some of them, whole numbers; its default (the
        kernel gets a number or choice only if it differs).
    choices, most : sequence or mapping of str to str, int
        Choices, with their names in results if these differ; the largest number the API takes.
    info, phrase, keyword : str
        An explanation, the words for a value ("of {}"), and the kernel's option (`name` if empty).

    Examples
    --------
    >>> sigma, = get_kernel("rbf").controls
    >>> sigma.name, sigma.label, sigma.value
    ('sigma', 'scale σ', 0)
    """

    name: str
    label: str
    type: Literal["number", "choice", "checks"] = "number"
    value: Any = 0
    choices: Sequence[int] | Mapping[str, str] = ()
    most: int = 0
    info: str = ""
    keyword: str = ""
    phrase: str = ""


@dataclass(frozen=True, repr=False)
class Kernel(SummaryMixin):
    """A registered kernel, not called directly: pass its name as `k=` of any call.

    `help(get_kernel("morgan"))` shows its options; other attributes are as for `register_kernel`.

    Attributes
    ----------
    build : callable
        `build(samples, **options)` returns a Similarity.

    Examples
    --------
    >>> kernel = get_kernel("rbf")
    >>> kernel.samples, kernel.options["sigma"]
    ('vectors', None)
    """

    _repr_attributes = ("name", "samples", "psd", "needs")

    name: str
    build: Callable[..., Similarity]
    samples: str
    source: str
    psd: bool = True
    needs: str = ""
    fit: Fit | None = None
    rows: bool = False
    label: str = ""
    term: str = ""
    by: str = ""
    controls: Sequence[Control] = ()
    repeats: bool = False

    def __post_init__(self) -> None:
        text = f"{self.sentence}\n\n{inspect.getdoc(self.build) or ''}"
        object.__setattr__(self, "__doc__", text)  # what help() of a kernel shows

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return get_kernel, (self.name,)

    def to_dict(self) -> Record:
        """Return what is known of the kernel as plain values, for JSON, with its options."""
        names = ("name", "samples", "source", "psd", "needs", "rows", "repeats", "summary")
        return {name: getattr(self, name) for name in names} | {"options": to_plain(self.options)}

    def __call__(self, *samples: object, **options: object) -> NoReturn:
        """Raise a TypeError that says how samples are compared."""
        raise TypeError(
            f"a kernel compares all samples of a set; pass as_similarity([a, b], "
            f"k={self.name!r}).dense(), which has the similarity of a and b at [0, 1]"
        )

    @property
    def sentence(self) -> str:
        """Its samples and its options, in words."""
        return f"k={self.name!r} compares {self.samples}. Options: {', '.join(self.signature)}."

    @cached_property
    def options(self) -> Record:
        """Its keyword options with their defaults, and `on_error`, which every kernel has."""
        return get_option_defaults(self.build) | {"on_error": "raise"}

    @property
    def signature(self) -> list[str]:
        """Its options as they would be passed, such as "sigma=None"."""
        options = self.options.items()
        return [f"{name}={getattr(value, '__name__', repr(value))}" for name, value in options]

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return get_docstring_summary(self.build)


# The kernels of each module of `vendiscore/kernels/`.
NAMES = {
    "bits": "tanimoto",
    "text": "ngram_overlap",
    "bleu": "bleu",
    "labels": "labels tags probability_product",
    "equivalence": "equivalence",
    "image_embeddings": "image_embeddings",
    "molecules": "morgan rdkit maccs atom_pair topological_torsion",
    "pixels": "pixels",
    "text_embeddings": "text_embeddings",
    "vectors": "cosine linear rbf laplacian",
}
_kernels: Registry[Kernel] = Registry("kernel", "kernels", NAMES)


def register_kernel(
    name: str,
    *,
    samples: str,
    source: str,
    psd: bool = True,
    needs: str = "",
    fit: Fit | None = None,
    rows: bool = False,
    label: str = "",
    term: str = "",
    by: str = "",
    controls: Sequence[Control] = (),
    repeats: bool = False,
) -> Callable[[Build], Build]:
    """Make a function available as `k=name` in every call, as a decorator.

    The function takes a list of samples, and options as keywords with defaults, and returns a
    Similarity. Tables of kernels show the first line of its docstring.

    Parameters
    ----------
    name, source, samples : str
        Its name for `k=`, where it is defined (a paper, or this docstring), and the kind of sample
        it compares: "text", "vectors", … or a word of your own.
    psd : bool
        Whether its matrix is always positive semidefinite.
    needs : str
        The extra to install, empty if none.
    fit : callable, optional
        `fit(samples, **options)` returns the options that follow from samples unless they are
        passed, such as a bandwidth: sets that are compared share them.
    rows : bool
        Whether all samples have equally many features, each from that sample alone (for `State`).
    label, term, by : str
        A predicate of similar samples ("share words": the page offers kernels with a label), the
        experts' name (default: `name`), and the beginning of a sentence on it ("By" and the term).
    controls : sequence of Control
        The options that visitors of the page can set.
    repeats : bool
        Whether the function gets equal strings or numbers each time, for an option with a value
        for each sample; otherwise it gets each distinct one once.

    Returns
    -------
    callable
        The decorator, which returns the function as it is. It raises a ValueError if a function
        defined elsewhere has the name (defining it again replaces it).

    Examples
    --------
    >>> import numpy as np
    >>> from vendiscore import MatrixSimilarity, compute
    >>> @register_kernel("first_letter", samples="text", source="this docstring")
    ... def first_letter(texts):
    ...     '''1 for texts with the same first letter, else 0.'''
    ...     letters = np.array([text[0] for text in texts])
    ...     return MatrixSimilarity((letters[:, None] == letters).astype(float), psd=True)
    >>> compute(["apple", "avocado", "beet", "bean"], k="first_letter")
    {'VS': 2.0}
    """

    fields = {**locals(), "term": term or name, "by": by or f"By {term or name}"}
    fields |= {"controls": tuple(controls), "rows": check_bool("rows", rows)}

    def register(build: Build) -> Build:
        _kernels.add(name, Kernel(build=build, **fields), build)
        return build

    return register


def list_kernels() -> list[Kernel]:
    """Return all registered kernels in the order of their names.

    The names "semantic" and "static" and Hub ids, which `k=` takes too, are `text_embeddings` or
    `image_embeddings` with another model.

    Examples
    --------
    >>> [kernel.name for kernel in list_kernels() if kernel.samples == "vectors"]
    ['cosine', 'laplacian', 'linear', 'rbf']
    """
    _kernels.load()
    return list(_kernels.entries.values())


def get_kernel(name: str) -> Kernel:
    """Return the kernel of that name.

    Parameters
    ----------
    name : str
        The name that `k=` takes.

    Returns
    -------
    Kernel
        `help` shows its options. An unknown name raises a ValueError that suggests one.

    Examples
    --------
    >>> get_kernel("morgan").needs  # the extra that brings RDKit
    'molecules'
    """
    if not isinstance(name, str):
        raise TypeError(
            f"`name` must be the name of a kernel, got {type(name).__name__}; "
            f"compute(samples, k=name) compares samples"
        )
    kernel = _kernels.find(name)
    if kernel is None:
        gone = _kernels.import_errors.items()
        missing = [f" Kernels of {where} are left out: {why}." for where, why in gone]
        look = "`vendiscore.list_kernels()` lists all."
        hint = suggest_name(name, _kernels.entries, NAMED_MODELS, fallback=look, kind="kernel")
        raise ValueError(f"unknown kernel `k={short_repr(name)}`. {hint}{''.join(missing)}")
    return kernel


def parse_kernel_name(name: str) -> tuple[Kernel, str | None]:
    """Return the kernel that `k=` means, and the model if it names one: a Hub id or folder.

    "semantic" and "static" are `NAMED_MODELS`.
    """
    kind = "text" if name in NAMED_MODELS else model_modality(name)
    if kind is None or _kernels.find(name) is not None:
        return get_kernel(name), None
    return get_kernel(f"{kind}_embeddings"), NAMED_MODELS.get(name, name)


def describe_kernel(name: str) -> str:
    """Return the description of the kernel that `k=` means, with the model if it names one.

    >>> print(describe_kernel("semantic").partition(", model=")[0])
    k='semantic' is k='text_embeddings' with the model sentence-transformers/all-MiniLM-L6-v2.
    <BLANKLINE>
    It compares text. Options: model_path='sentence-transformers/all-MiniLM-L6-v2'
    """
    kernel, model = parse_kernel_name(name)
    if model is None:
        return (kernel.__doc__ or "").strip()
    options = kernel.options | {"model_path": model}
    shown = ", ".join(f"{option}={value!r}" for option, value in options.items())
    return (
        f"k={name!r} is k={kernel.name!r} with the model {model}.\n\nIt compares "
        f"{kernel.samples}. Options: {shown}.\n\n{inspect.getdoc(kernel.build) or ''}"
    ).strip()


def add_model_option(name: str, model: str | None, options: Options) -> Record:
    """Return options of a kernel, and the model that its name stands for, if any."""
    own = {key: options[key] for key in ("model", "model_path") if options.get(key) is not None}
    if model is None or (own and name in NAMED_MODELS):
        return dict(options)
    for key in own:
        raise TypeError(
            f"`k={name!r}` names a model, and so does `{key}`: leave one out, or pass "
            f"k='text_embeddings' or 'image_embeddings'"
        )
    return {**options, "model_path": model}


def format_psd_kernels(samples: str) -> str:
    """Return the names of the kernels of such samples that are positive semidefinite."""
    return ", ".join(k.name for k in list_kernels() if k.psd and k.samples == samples)


def check_kernel_options(kernel: Kernel, options: Options, extra_names: Iterable[str] = ()) -> None:
    """Raise a TypeError for an option that the kernel lacks; suggest one or an extra name."""
    for option in options:
        if option not in kernel.options:
            raise TypeError(
                f"`{option}` is not an option of kernel {kernel.name!r}. "
                f"{suggest_name(option, kernel.options, extra_names, quote='`', kind='keyword')}"
            )


def kernels_with_option(option: str) -> list[str]:
    """Return the names of the kernels that have this option."""
    return [kernel.name for kernel in list_kernels() if option in kernel.options]
