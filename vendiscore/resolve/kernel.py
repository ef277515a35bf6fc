"""The registry of kernels: functions from a list of samples and options to a Similarity."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NoReturn, TypeVar

from ..similarity.base import Similarity
from ..support.arguments import check_bool
from ..support.errors import short_repr
from ..support.signature import to_plain
from ..support.suggestions import describe_parameters, model_modality, suggest_name
from ..support.summary import SummaryMixin
from ..support.types import Options, Record
from .registry import Registry, get_docstring_summary, get_option_defaults

Build = TypeVar("Build", bound=Callable[..., Similarity])
Fit = Callable[..., Options]
# A mixture of kernels, as passed to `k`: a dict from names to weights, or a list of names.
Mixture = Mapping[str, float] | Sequence[str]
Combine = Literal["sum", "product"]
# Short names of embedding models for `k`: a small sentence encoder, and word vectors that are part
# of an installed package and therefore need no network.
NAMED_MODELS = {"semantic": "sentence-transformers/all-MiniLM-L6-v2", "static": "wordllama"}

# For each sample type of a built-in kernel, the content of files that it compares, if the kernel
# does not declare others.
_CONTENT_BY_SAMPLES = {
    "text": ("texts",),
    "molecules": ("molecules",),
    "vectors": ("vectors",),
    "class probabilities": ("vectors",),
    "rows of bits": ("vectors",),
    "images": ("images",),
    "labels": ("values",),
    "sets of labels": ("values",),
}


class FittedOptions(Record):
    """Options that the function `fit` of a kernel computes from the samples, with notes for users.

    An example is the bandwidth of "rbf".
    """

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
        Type of the input: "number" is a non-negative number, "choice" is one of `choices`, and
        "checks" are several of `choices`, which are then integers.
    value : float, str or list of int
        Default value. A number or choice is passed to the kernel only if it differs from the
        default.
    choices : sequence of int or mapping of str to str
        The allowed values. A mapping goes from values to their names in results.
    most : int
        The largest number that the API accepts.
    info : str
        Explanation of the option.
    keyword : str
        Name of the kernel option that is set; `name` if empty.
    phrase : str
        Text that describes a value in results, with the placeholder {} for the value, such as
        "of {}".

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
    content: Sequence[str] = ()

    def __post_init__(self) -> None:
        text = f"{self.sentence}\n\n{inspect.getdoc(self.build) or ''}"
        # The dataclass is frozen, so attributes cannot be assigned.
        object.__setattr__(self, "__doc__", text)  # shown by help()

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        """Pickle only the name, because functions of a kernel may not support pickling."""
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
            f"a Kernel object cannot be called; use as_similarity([a, b], k={self.name!r})"
            f".dense()[0, 1] for the similarity of a and b"
        )

    @property
    def sentence(self) -> str:
        """A sentence about the samples and options of the kernel."""
        return f"k={self.name!r} compares {self.samples}. Options: {', '.join(self.signature)}."

    @cached_property
    def options(self) -> Record:
        """The default of each option by name, including `on_error`, which all kernels support."""
        return get_option_defaults(self.build) | {"on_error": "raise"}

    @property
    def option_descriptions(self) -> dict[str, str]:
        """The first sentence of the description of each option, by name."""
        documented = describe_parameters(self.build)
        return {
            name: documented.get(name, "What to do with unusable samples: raise or skip.")
            for name in self.options
        }

    @property
    def signature(self) -> list[str]:
        """The options with their defaults as in a call, such as "sigma=None"."""
        options = self.options.items()
        return [f"{name}={getattr(value, '__name__', repr(value))}" for name, value in options]

    @property
    def summary(self) -> str:
        """The first line of the docstring of the kernel function."""
        return get_docstring_summary(self.build)


# The names of the kernels that each module of `vendiscore/kernels/` defines.
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
    content: Sequence[str] = (),
) -> Callable[[Build], Build]:
    """Return a decorator that registers a function as a kernel, whose name can be passed as `k`.

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
        The extra of vendiscore that the kernel requires; "" if it requires none.
    fit : callable, optional
        A function ``fit(samples, **options)`` that returns a dict of fitted options, such as a
        bandwidth. It returns only options that the caller did not pass. Sets that are compared
        share the fitted options.
    rows : bool, default False
        Whether all samples have equally many features and the features of a sample do not depend
        on other samples. `State` requires this.
    label : str, default ""
        What similar samples have in common, as a predicate such as "share words". The web app
        offers only kernels with a label.
    term : str, default ""
        Technical name of the kernel; `name` if empty.
    by : str, default ""
        Beginning of a sentence about scores of this kernel, such as "By n-grams"; "By" and `term`
        if empty.
    controls : sequence of Control, default ()
        Options that users of the web app can set.
    repeats : bool, default False
        Whether the function receives all samples. By default it receives each distinct string or
        number only once. Options with one value per sample need True.
    content : sequence of str, default ()
        Content of files that the kernel compares: "texts", "sequences" (of letters), "molecules",
        "images", "vectors" or "values"; the first one is what the command reads. If empty, it
        follows from `samples`; kernels with a word of your own then compare any content.

    Returns
    -------
    callable
        The decorator. It returns the function unchanged.

    Raises
    ------
    ValueError
        If a function defined elsewhere is registered under this name. Defining the same function
        again replaces it. Also if the name is a short name of a model, such as "semantic".

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

    if name in NAMED_MODELS:
        raise ValueError(
            f"kernel {name!r} has the short name of the model {NAMED_MODELS[name]}; choose another "
            f"name for the kernel"
        )
    # The arguments of this function have the names of the fields of Kernel.
    fields = {**locals(), "term": term or name, "by": by or f"By {term or name}"}
    fields |= {"controls": tuple(controls), "rows": check_bool("rows", rows)}
    fields["content"] = tuple(content) or _CONTENT_BY_SAMPLES.get(samples, ())

    def register(build: Build) -> Build:
        _kernels.add(name, Kernel(build=build, **fields), build)
        return build

    return register


def list_kernels() -> list[Kernel]:
    """List all registered kernels, sorted by name.

    The list does not contain "semantic", "static" and Hub ids, which `k` also accepts: they select
    the kernel "text_embeddings" or "image_embeddings" with the corresponding model.

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
            f"`name` must be the name of a kernel, got an object of type {type(name).__name__}; to "
            f"score samples, use compute(samples, k=name)"
        )
    kernel = _kernels.find(name)
    if kernel is None:
        # The kernel may be defined in a file or package that cannot be imported.
        import_errors = [
            f" The kernels of {source} cannot be imported: {reason}."
            for source, reason in _kernels.import_errors.items()
        ]
        fallback = "`vendiscore.list_kernels()` lists all kernels."
        # The suggestion shows these descriptions, and also searches them.
        summaries = {entry.name: entry.summary for entry in _kernels.entries.values()}
        hint = suggest_name(name, summaries, NAMED_MODELS, fallback=fallback, kind="kernel")
        raise ValueError(f"unknown kernel `k={short_repr(name)}`. {hint}{''.join(import_errors)}")
    return kernel


def parse_kernel_name(name: str) -> tuple[Kernel, str | None]:
    """Return the kernel for a string passed as `k`, and its model (Hub id or folder) or None.

    The string is the name of a kernel, a short name of a model such as "semantic" (a key of
    `NAMED_MODELS`), a Hub id or a folder.
    """
    if name in NAMED_MODELS:
        return get_kernel("text_embeddings"), NAMED_MODELS[name]
    modality = model_modality(name)
    # A registered kernel has precedence, even if its name looks like a Hub id or a path.
    if modality is None or _kernels.find(name) is not None:  # not a model; raises if unknown
        return get_kernel(name), None
    return get_kernel(f"{modality}_embeddings"), name


def describe_kernel(name: str) -> str:
    """Describe the kernel, and the model if there is one, for a string passed as `k`.

    >>> print(describe_kernel("semantic").partition(", model=")[0])
    k='semantic' is k='text_embeddings' with the model sentence-transformers/all-MiniLM-L6-v2.
    <BLANKLINE>
    It compares text. Options: model_path='sentence-transformers/all-MiniLM-L6-v2'
    """
    kernel, model = parse_kernel_name(name)
    if model is None:
        return (kernel.__doc__ or "").strip()
    options = kernel.options | {"model_path": model}
    option_text = ", ".join(f"{option}={value!r}" for option, value in options.items())
    return (
        f"k={name!r} is k={kernel.name!r} with the model {model}.\n\nIt compares "
        f"{kernel.samples}. Options: {option_text}.\n\n{inspect.getdoc(kernel.build) or ''}"
    ).strip()


def add_model_option(name: str, model: str | None, options: Options) -> Record:
    """Return `options` with `model_path` set to `model`, unless `model` is None.

    `name` is the string passed as `k`, and `model` the Hub id or folder of a model that it
    specifies. If `name` is a short name such as "semantic", and `options` contains another model as
    `model` or `model_path`, this other model is used. If `name` is a Hub id or folder, such an
    option raises a TypeError.
    """
    passed = {key: options[key] for key in ("model", "model_path") if options.get(key) is not None}
    if model is None or (passed and name in NAMED_MODELS):
        return dict(options)
    # Here, `name` is a Hub id or folder.
    for key in passed:
        raise TypeError(
            f"`k={name!r}` and `{key}` both specify a model; remove `{key}`, or pass "
            f"k='text_embeddings' or k='image_embeddings'"
        )
    return {**options, "model_path": model}


def format_psd_kernels(samples: str) -> str:
    """Return the names of the positive semidefinite kernels for this sample type, with commas."""
    return ", ".join(k.name for k in list_kernels() if k.psd and k.samples == samples)


def check_kernel_options(
    kernel: Kernel, options: Options, extra_names: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Raise a TypeError for an option that the kernel lacks, with a suggestion.

    The message suggests an option of the kernel, or one of `extra_names`, further keywords with
    their descriptions.
    """
    for option, value in options.items():
        if option not in kernel.options:
            # If another kernel has this option, the hint says so (`other_scopes`).
            hint = suggest_name(
                option,
                kernel.option_descriptions,
                extra_names,
                kind="keyword",
                value=value,
                other_scopes=describe_kernel_options(),
                quote="`",
            )
            raise TypeError(f"{option!r} is not an option of kernel {kernel.name!r}. {hint}")


def describe_kernel_options() -> dict[str, str]:
    """Return a dict from each kernel option to a text that names the kernels with this option."""
    kernels_by_option: dict[str, list[str]] = {}
    for kernel in list_kernels():
        for option in kernel.options:
            kernels_by_option.setdefault(option, []).append(repr(kernel.name))
    descriptions = {
        option: (
            f"an option of {', '.join(kernels)}; pass the name of the kernel as `k`, or remove it"
        )
        for option, kernels in kernels_by_option.items()
    }
    return descriptions | {
        "on_error": "an option of every registered kernel; pass the name of the kernel as `k`"
    }


def kernels_with_option(option: str) -> list[str]:
    """Return the names of the kernels that have this option."""
    return [kernel.name for kernel in list_kernels() if option in kernel.options]
