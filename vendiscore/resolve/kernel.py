"""The registry of kernels: functions from a list of samples and options to a Similarity."""

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
# A mixture of kernels passed as `k`: weights by name, or a list of names.
Mixture = Mapping[str, float] | Sequence[str]
Combine = Literal["sum", "product"]
# Models that can be passed as `k`: a small sentence encoder, and word vectors that come with a
# package and need no network.
NAMED_MODELS = {"semantic": "sentence-transformers/all-MiniLM-L6-v2", "static": "wordllama"}


class FittedOptions(Record):
    """Kernel options inferred from the samples by `fit`, with notes for users."""

    def __init__(self, options: Options, notes: Sequence[str] = ()) -> None:
        super().__init__(options)
        self.notes: tuple[str, ...] = tuple(notes)


@dataclass(frozen=True)
class Control:
    """An option of a kernel that users of the web app can set.

    Attributes
    ----------
    name : str
        Name in the web app and its API.
    label : str
        Label of the input.
    type : {"number", "choice", "checks"}
        A non-negative number, one of `choices`, or several of them (integers).
    value : float, str or list of int
        Default. A number or choice is passed to the kernel only if it differs from the default.
    choices : sequence of int or mapping of str to str
        The choices; a mapping gives their names in results.
    most : int
        The largest number that the API accepts.
    info : str
        Explanation of the option.
    keyword : str
        The option of the kernel; `name` if empty.
    phrase : str
        Wording for a value, with a placeholder: "of {}".

    See Also
    --------
    register_kernel : Register a kernel with controls.

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
    """A registered kernel; to use it, pass its name as `k`.

    ``help(get_kernel("morgan"))`` shows the options of a kernel. The attributes that are not listed
    here are the arguments of `register_kernel`.

    Attributes
    ----------
    build : callable
        ``build(samples, **options)`` returns a Similarity.

    See Also
    --------
    get_kernel : Get a kernel by name.
    register_kernel : Add a kernel.

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
        object.__setattr__(self, "__doc__", text)  # shown by help()

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return get_kernel, (self.name,)

    def to_dict(self) -> Record:
        """Return the properties and options of the kernel as built-in types, for JSON.

        Returns
        -------
        dict
            Values of built-in types.
        """
        names = ("name", "samples", "source", "psd", "needs", "rows", "repeats", "summary")
        return {name: getattr(self, name) for name in names} | {"options": to_plain(self.options)}

    def __call__(self, *samples: object, **options: object) -> NoReturn:
        """Raise a TypeError that explains how to use a kernel."""
        raise TypeError(
            f"a kernel compares all samples of a set; pass as_similarity([a, b], "
            f"k={self.name!r}).dense(), which has the similarity of a and b at [0, 1]"
        )

    @property
    def sentence(self) -> str:
        """A sentence about the samples and options of the kernel."""
        return f"k={self.name!r} compares {self.samples}. Options: {', '.join(self.signature)}."

    @cached_property
    def options(self) -> Record:
        """Keyword options with their defaults, including `on_error`, which every kernel has."""
        return get_option_defaults(self.build) | {"on_error": "raise"}

    @property
    def signature(self) -> list[str]:
        """The options as they are passed in a call, such as "sigma=None"."""
        options = self.options.items()
        return [f"{name}={getattr(value, '__name__', repr(value))}" for name, value in options]

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return get_docstring_summary(self.build)


# The kernels defined by each module of `vendiscore/kernels/`.
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
    """Register a function as a kernel, as a decorator; every function then accepts it as `k`.

    The decorated function takes a list of samples, and options as keywords with defaults. It
    returns a Similarity. The first line of its docstring is shown in tables of kernels.

    Parameters
    ----------
    name : str
        Name of the kernel, to be passed as `k`.
    samples : str
        Type of the samples that it compares: "text", "vectors" or a word of your own.
    source : str
        Where the kernel is defined, for example a paper or "this docstring".
    psd : bool, default True
        Whether its similarity matrix is always positive semidefinite.
    needs : str, default ""
        The extra of vendiscore that it requires; "" if it requires none.
    fit : callable, optional
        A function ``fit(samples, **options)`` that returns the options that are fitted to samples
        unless they are passed, such as a bandwidth. Sets that are compared share these options.
    rows : bool, default False
        Whether all samples have equally many features and the features of a sample do not depend
        on other samples. `State` requires this.
    label : str, default ""
        A predicate of similar samples, such as "share words". The web app offers only kernels
        with a label.
    term : str, default ""
        Technical name of the kernel; `name` if empty.
    by : str, default ""
        Beginning of a sentence about the kernel; "By" and the term if empty.
    controls : sequence of Control, default ()
        Options that users of the web app can set.
    repeats : bool, default False
        Whether the function receives duplicate strings or numbers. This is needed for options
        with one value per sample. Otherwise it receives each distinct sample once.

    Returns
    -------
    callable
        The decorator. It returns the function unchanged.

    Raises
    ------
    ValueError
        If a function defined elsewhere is registered under this name. Defining the same function
        again replaces it.

    See Also
    --------
    list_kernels : List all kernels.
    register_measure : Add a measure.
    MatrixSimilarity : Similarities as a matrix.
    FeatureSimilarity : Similarities as dot products of features.
    RowsSimilarity : Similarities computed on demand.

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
    """List all registered kernels, sorted by name.

    "semantic", "static" and Hub ids, which `k` also accepts, are the kernel "text_embeddings" or
    "image_embeddings" with a certain model.

    Returns
    -------
    list of Kernel
        The kernels; `kernel.name` is the value to pass as `k`.

    See Also
    --------
    get_kernel : Get one kernel by name.
    register_kernel : Add a kernel.

    Examples
    --------
    >>> [kernel.name for kernel in list_kernels() if kernel.samples == "vectors"]
    ['cosine', 'laplacian', 'linear', 'rbf']
    """
    _kernels.load()
    return list(_kernels.entries.values())


def get_kernel(name: str) -> Kernel:
    """Get a registered kernel by name.

    Parameters
    ----------
    name : str
        Name of the kernel, as passed to `k`.

    Returns
    -------
    Kernel
        The kernel. ``help(kernel)`` shows its options.

    Raises
    ------
    ValueError
        If no kernel has this name; the message suggests a similar one.

    See Also
    --------
    list_kernels : List all kernels.

    Examples
    --------
    >>> get_kernel("morgan").needs  # the extra that installs RDKit
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
    """Return the kernel that `k=` refers to, and the model (Hub id or folder) if it names one.

    "semantic" and "static" refer to `NAMED_MODELS`.
    """
    kind = "text" if name in NAMED_MODELS else model_modality(name)
    if kind is None or _kernels.find(name) is not None:
        return get_kernel(name), None
    return get_kernel(f"{kind}_embeddings"), NAMED_MODELS.get(name, name)


def describe_kernel(name: str) -> str:
    """Describe the kernel that `k=` refers to, with the model if it names one.

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
    """Return the options of a kernel, with the model that its name refers to, if any."""
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
    """Format the names of positive semidefinite kernels for this sample type."""
    return ", ".join(k.name for k in list_kernels() if k.psd and k.samples == samples)


def check_kernel_options(kernel: Kernel, options: Options, extra_names: Iterable[str] = ()) -> None:
    """Raise a TypeError for an option that the kernel lacks, with a suggestion."""
    for option in options:
        if option not in kernel.options:
            raise TypeError(
                f"`{option}` is not an option of kernel {kernel.name!r}. "
                f"{suggest_name(option, kernel.options, extra_names, quote='`', kind='keyword')}"
            )


def kernels_with_option(option: str) -> list[str]:
    return [kernel.name for kernel in list_kernels() if option in kernel.options]
