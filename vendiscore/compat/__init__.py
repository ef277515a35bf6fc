"""Drop-in replacements for the modules of `vendi_score` 0.0.3.

Replace `from vendi_score import vendi, text_utils, image_utils, molecule_utils` by the same import
from `vendiscore.compat`. Results are equal, except for the differences listed in docs/migrate.md.
"""

from importlib import import_module
from types import ModuleType
from typing import NoReturn

_MODULES = ("vendi", "text_utils", "image_utils", "molecule_utils")
_EXAMPLE_HINT = "keep samples in a list, and their labels and features in lists of the same length"
# Replacements for each of the other names.
_REPLACEMENTS = {
    "data_utils": _EXAMPLE_HINT,
    "Example": _EXAMPLE_HINT,
    "Group": "pass a list of lists, or groups=… of vendiscore.compute",
    "get_tokenizer": "pass tokenizer=transformers.AutoTokenizer.from_pretrained(…).tokenize",
    "sklearn_tokenizer": "pass tokenizer=CountVectorizer().build_tokenizer() of scikit-learn",
    "get_mnli": 'datasets.load_dataset("multi_nli") has these texts',
    "add_ngrams_to_examples": "get_ngrams(texts) returns them as an array",
    "add_embeddings_to_examples": "get_embeddings(texts) returns them as an array",
    "get_cifar10": "torchvision.datasets.CIFAR10 has these images",
    "get_cifar100": "torchvision.datasets.CIFAR100 has these images",
    "get_mnist": "torchvision.datasets.MNIST has these images",
    "get_inception": 'vendiscore.encoder(kind="images") is this network',
    "inception_transforms": 'vendiscore.encoder(kind="images") prepares images itself',
    "plot_images": "vendiscore.report(images) shows them",
    "disable_rdkit_log": "nothing is printed here; call rdkit.RDLogger.DisableLog",
    "enable_rdkit_log": "nothing is printed here; call rdkit.RDLogger.EnableLog",
}


def __getattr__(name: str) -> ModuleType:
    """Import a module of `vendiscore.compat` on first use; raise an error for other names.

    For a name that `vendi_score` has, the error suggests a replacement.
    """
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    return raise_missing_name(name)


def raise_missing_name(name: str) -> NoReturn:
    """Raise an error for a name that `vendiscore.compat` does not define.

    For names of `vendi_score`, the error is an ImportError that suggests a replacement, because
    `from … import` discards the message of an AttributeError. For other names, it is an
    AttributeError.
    """
    if name in _REPLACEMENTS:
        raise ImportError(
            f"vendiscore.compat has no {name!r}; use this instead: {_REPLACEMENTS[name]}", name=name
        )
    raise AttributeError(f"vendiscore.compat has no {name!r}", name=name)
