"""`vendiscore.compat` has the functions and signatures of the package vendi_score."""

import importlib
import inspect

import pytest
from vendi_score import vendi as reference_vendi

from vendiscore import compat

vendi, text_utils = compat.vendi, compat.text_utils
image_utils, molecule_utils = compat.image_utils, compat.molecule_utils
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = [
    pytest.mark.filterwarnings("ignore:The parameter 'token_pattern'"),
    pytest.mark.filterwarnings("ignore:Please import `csr_matrix`"),
]
REFERENCE_MODULES = {
    vendi: reference_vendi,
    **{
        ours: importlib.import_module(f"vendi_score.{ours.__name__.rpartition('.')[2]}")
        for ours in (text_utils, image_utils, molecule_utils)
    },
}
FUNCTION_NAMES = {
    vendi: "weight_K normalize_K entropy_q score_K score_X score_dual score intdiv_K intdiv_X "
    "intdiv",
    text_utils: "get_ngrams get_embeddings single_ngram_diversity ngram_diversity bleu self_bleu "
    "pairwise_bleu ngram_vendi_score embedding_vendi_score",
    image_utils: "get_pixel_vectors get_embeddings get_inception_embeddings pixel_vendi_score "
    "embedding_vendi_score",
    molecule_utils: "get_mol load_molecules get_tanimoto_K",
}
ALL_FUNCTIONS = [(ours, name) for ours, names in FUNCTION_NAMES.items() for name in names.split()]


@pytest.mark.parametrize(("ours", "name"), ALL_FUNCTIONS)
def test_function_has_signature_of_vendi_score(ours, name):
    def arguments(module):
        result = inspect.signature(getattr(module, name)).parameters.values()
        return [x for x in result if x.kind is not x.VAR_KEYWORD]

    def default(x):
        return str(list(x.default) if isinstance(x.default, tuple) else x.default)

    arguments_here = arguments(ours)
    for parameter, reference in zip(
        arguments_here, arguments(REFERENCE_MODULES[ours]), strict=False
    ):
        assert parameter.name == reference.name
        assert reference.default is reference.empty or default(parameter) == default(reference)
    assert all(
        x.default is not x.empty for x in arguments_here[len(arguments(REFERENCE_MODULES[ours])) :]
    )


def test_unsupported_names_raise_import_error_with_replacement():
    for module, reference in REFERENCE_MODULES.items():
        reference_names = [
            name
            for name, value in vars(reference).items()
            if inspect.isfunction(value) and value.__module__ == reference.__name__
        ]
        for name in {*reference_names} - {*FUNCTION_NAMES[module].split()}:
            with pytest.raises(ImportError, match=f"has no '{name}'; use this instead: "):
                getattr(module, name)
    with pytest.raises(ImportError, match="instead: keep samples in a list"):
        exec("from vendiscore.compat import data_utils")
    with pytest.raises(AttributeError, match="has no 'nothing'"):
        text_utils.nothing  # noqa: B018
