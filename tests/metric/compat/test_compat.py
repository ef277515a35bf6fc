"""Code written for vendi_score runs here by another import, to the same numbers."""

import importlib
import inspect

import numpy as np
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
TEXT, IMAGE, MOLECULE = (peers[ours] for ours in (text_utils, image_utils, molecule_utils))
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
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 6))
K = np.exp(-np.abs(X[:, :1] - X[:, 0]))
P = RNG.dirichlet(np.ones(30))
TEXTS = ["the cat sat on the mat .", "a dog ran to the mat .", "the cat ran to a dog ."] * 2
TEXTS += ["it rains all day long .", "snow fell on the hill"]
SMILES = ["CCO", "CCN", "c1ccccc1O", "c1ccccc1N", "CC(=O)O", "CCO"]


def near(a, b):
    return np.exp(-abs(a - b))


@pytest.mark.parametrize(("ours", "name"), EVERY)
def test_each_function_has_the_arguments_of_its_namesake(ours, name):
    def arguments(module):
        found = inspect.signature(getattr(module, name)).parameters.values()
        return [x for x in found if x.kind is not x.VAR_KEYWORD]

    def default(x):
        return str(list(x.default) if isinstance(x.default, tuple) else x.default)

    own = arguments(ours)
    for mine, peer in zip(own, arguments(peers[ours]), strict=False):
        assert mine.name == peer.name
        assert peer.default is peer.empty or default(mine) == default(peer)
    assert all(x.default is not x.empty for x in own[len(arguments(peers[ours])) :])


CALLS = {
    "weight_K": lambda v: v.weight_K(K),
    "weight_K of weights": lambda v: v.weight_K(K, P),
    "normalize_K": lambda v: v.normalize_K(3 * K),
    "entropy_q": lambda v: [v.entropy_q(P, q) for q in (0, 0.5, 1, 2, "inf")],
    "score_K": lambda v: [v.score_K(K, q) for q in (0.5, 1, 2, "inf")],
    "score_K of weights": lambda v: v.score_K(3 * K, p=P, normalize=True),
    "score_X": lambda v: v.score_X(X, p=P),
    "score_dual": lambda v: [v.score_dual(X, q) for q in (0.5, 1, 2)],
    "score": lambda v: v.score(list(X[:, 0]), near, q=2),
    "intdiv_K": lambda v: [v.intdiv_K(K, q, p) for q in (1, 2) for p in (None, P)],
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers_of_matrices_are_equal(name):
    np.testing.assert_allclose(CALLS[name](vendi), CALLS[name](theirs), rtol=1e-9, atol=1e-12)


def test_intdiv_of_samples_and_of_rows_is_that_of_their_matrix():
    """There both raise a NameError."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert vendi.intdiv_X(X, 2, P) == pytest.approx(theirs.intdiv_K(unit @ unit.T, 2, P), 1e-9)
    assert vendi.intdiv(list(X[:, 0]), near) == pytest.approx(theirs.intdiv_K(K), 1e-9)


REPETITION = {
    "single_ngram_diversity": lambda t: t.single_ngram_diversity(TEXTS, 2, str.split),
    "ngram_diversity": lambda t: t.ngram_diversity(TEXTS, tokenizer=str.split, lowercase=True),
    "self_bleu": lambda t: t.self_bleu(TEXTS, str.split),
    "pairwise_bleu": lambda t: t.pairwise_bleu(TEXTS, str.split),
    "bleu": lambda t: t.bleu([x.split() for x in TEXTS[:2]], [x.split() for x in TEXTS[2:]]),
    "get_ngrams": lambda t: t.get_ngrams(TEXTS, (1, 2), str.split).toarray(),
}


@pytest.mark.parametrize("name", REPETITION)
def test_repetition_of_words_is_equal(name):
    ours, peer = REPETITION[name](text_utils), REPETITION[name](TEXT)
    np.testing.assert_allclose(ours, peer, rtol=1e-9)


def test_bleu_of_strings_is_that_of_their_words():
    """There it compares characters."""
    words = [text.split() for text in TEXTS]
    found = text_utils.bleu(TEXTS[:2], TEXTS[2:], str.split)
    assert found == pytest.approx(TEXT.bleu(words[:2], words[2:]), rel=1e-9)


def test_the_score_of_ngrams_is_that_of_the_mean_of_their_cosines():
    """There SciPy's present versions raise an AttributeError."""
    counts = [TEXT.get_ngrams(TEXTS, n, str.split).toarray() for n in (1, 2)]
    units = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in counts]
    mean = np.mean([unit @ unit.T for unit in units], axis=0)
    found = text_utils.ngram_vendi_score(TEXTS, ns=[1, 2], tokenizer=str.split)
    assert found == pytest.approx(theirs.score_K(mean), rel=1e-9)


def test_embeddings_of_a_loaded_network_are_equal(tmp_path):
    import sentences

    folder = sentences.tiny_bert(tmp_path)
    words = [text for text in sentences.TEXTS if 0 < len(text) < 50]
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    given = {"model": model, "tokenizer": tokenizer}
    np.testing.assert_allclose(
        text_utils.get_embeddings(words, **given), TEXT.get_embeddings(words, **given), rtol=1e-5
    )
    found = text_utils.embedding_vendi_score(words, **given)
    assert found == pytest.approx(TEXT.embedding_vendi_score(words, **given), rel=1e-5)


def test_pixels_and_networks_of_images_are_equal():
    Image = pytest.importorskip("PIL.Image")
    noise = RNG.integers(1, 255, (6, 32, 32, 3), dtype=np.uint8)
    images = [Image.fromarray(each) for each in noise]
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 5)).eval()
    assert (image_utils.get_pixel_vectors(images) == IMAGE.get_pixel_vectors(images)).all()
    assert image_utils.pixel_vendi_score(images) == pytest.approx(
        IMAGE.pixel_vendi_score(images), rel=1e-9
    )
    np.testing.assert_allclose(
        image_utils.get_embeddings(images, model), IMAGE.get_embeddings(images, model), rtol=1e-5
    )
    found = image_utils.embedding_vendi_score(images, model=model)
    assert found == pytest.approx(IMAGE.embedding_vendi_score(images, model=model), rel=1e-5)


def test_molecules_are_read_and_compared_alike(tmp_path, capsys):
    pytest.importorskip("rdkit")
    file = tmp_path / "some.csv"
    file.write_text("smiles,mass\n" + "\n".join(f"{s},1" for s in [*SMILES, "C1CC"]))
    for how in ({}, {"unique": True}, {"max_samples": 3}):
        ours, peer = (of.load_molecules(file, **how) for of in (molecule_utils, MOLECULE))
        assert [each.features for each in ours] == [each.features for each in peer]
    mols = [molecule_utils.get_mol(s) for s in SMILES]
    assert molecule_utils.get_mol("C1CC") is MOLECULE.get_mol("C1CC") is None
    assert molecule_utils.get_mol("") is None
    assert molecule_utils.get_mol(mols[0]) is mols[0]
    for fp in ("morgan", "rdk"):
        found = molecule_utils.get_tanimoto_K(mols, fp)
        np.testing.assert_allclose(found, MOLECULE.get_tanimoto_K(mols, fp), rtol=1e-12)


def test_every_other_name_says_what_to_use_instead():
    for ours, peer in peers.items():
        own = [
            name
            for name, value in vars(peer).items()
            if inspect.isfunction(value) and value.__module__ == peer.__name__
        ]
        for name in {*own} - {*NAMES[ours].split()}:
            with pytest.raises(ImportError, match=f"has no '{name}'; instead: "):
                getattr(ours, name)
    with pytest.raises(ImportError, match="instead: keep samples in a list"):
        exec("from vendiscore.compat import data_utils")
    with pytest.raises(AttributeError, match="has no 'nothing'"):
        text_utils.nothing  # noqa: B018
