"""Code written for vendi_score runs here by another import, to the same numbers."""

import importlib
import inspect

import pytest
from vendi_score import vendi as theirs

from vendiscore import compat

vendi, text_utils = compat.vendi, compat.text_utils
image_utils, molecule_utils = compat.image_utils, compat.molecule_utils
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = [
    pytest.mark.filterwarnings("ignore:The parameter 'token_pattern'"),
    pytest.mark.filterwarnings("ignore:Please import `csr_matrix`"),
]
peers = {
    vendi: theirs,
    **{
        ours: importlib.import_module(f"vendi_score.{ours.__name__.rpartition('.')[2]}")
        for ours in (text_utils, image_utils, molecule_utils)
    },
}
NAMES = {
    vendi: "weight_K normalize_K entropy_q score_K score_X score_dual score intdiv_K intdiv_X "
    "intdiv",
    text_utils: "get_ngrams get_embeddings single_ngram_diversity ngram_diversity bleu self_bleu "
    "pairwise_bleu ngram_vendi_score embedding_vendi_score",
    image_utils: "get_pixel_vectors get_embeddings get_inception_embeddings pixel_vendi_score "
    "embedding_vendi_score",
    molecule_utils: "get_mol load_molecules get_tanimoto_K",
}
EVERY = [(ours, name) for ours, names in NAMES.items() for name in names.split()]


@pytest.mark.parametrize(("ours", "name"), EVERY)
def test_each_function_has_the_arguments_of_its_namesake(ours, name):
    def arguments(module):
        result = inspect.signature(getattr(module, name)).parameters.values()
        return [x for x in result if x.kind is not x.VAR_KEYWORD]

    def default(x):
        return str(list(x.default) if isinstance(x.default, tuple) else x.default)

    own = arguments(ours)
    for mine, peer in zip(own, arguments(peers[ours]), strict=False):
        assert mine.name == peer.name
        assert peer.default is peer.empty or default(mine) == default(peer)
    assert all(x.default is not x.empty for x in own[len(arguments(peers[ours])) :])


def test_every_other_name_says_what_to_use_instead():
    for ours, peer in peers.items():
        own = [
            name
            for name, value in vars(peer).items()
            if inspect.isfunction(value) and value.__module__ == peer.__name__
        ]
        for name in {*own} - {*NAMES[ours].split()}:
            with pytest.raises(ImportError, match=f"has no '{name}'; use this instead: "):
                getattr(ours, name)
    with pytest.raises(ImportError, match="instead: keep samples in a list"):
        exec("from vendiscore.compat import data_utils")
    with pytest.raises(AttributeError, match="has no 'nothing'"):
        text_utils.nothing  # noqa: B018
