"""Static models from a folder: the mean vector of tokens, with no torch."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from vendiscore import as_similarity, compute, encoder
from vendiscore.encoders.static_models import find_static_files

tokenizers = pytest.importorskip("tokenizers")

WORDS = ["[UNK]", "a", "cat", "dog", "sat", "ran"]
VECTORS = np.array([[9, 9, 9], [0.1, 0.1, 0], [1, 0, 0], [0.9, 0.2, 0], [0, 1, 0], [0, 0, 1.0]])
TEXTS = ["a cat sat", "a dog sat", "ran", "ran unheard cat"]
NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8"}


def written(tensors: dict[str, tuple[str, np.ndarray]]) -> bytes:
    """Return tensors as a file of safetensors."""
    header, numbers = {"__metadata__": {"format": "pt"}}, b""
    for name, (kind, array) in tensors.items():
        bits = array.astype(NUMPY[kind])
        places = [len(numbers), len(numbers) + bits.nbytes]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": places}
        numbers += bits.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers


def model(folder: Path, kind: str = "F32", name: str = "embeddings", **more: np.ndarray) -> Path:
    """Return a folder with a static model of a few words."""
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, "[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(folder / "tokenizer.json"))
    others = {key: ("I64" if key == "mapping" else "F64", array) for key, array in more.items()}
    data = written({name: (kind, VECTORS[:, : more.pop("width", 3)]), **others})
    (folder / "model.safetensors").write_bytes(data)
    return folder


def means(texts: list[str]) -> np.ndarray:
    ids = [[WORDS.index(word) for word in text.split() if word in WORDS] for text in texts]
    return np.array([VECTORS[own].mean(axis=0) for own in ids])


@pytest.mark.parametrize(("kind", "rounding"), [("F64", 0), ("F32", 1e-6), ("F16", 1e-3)])
@pytest.mark.parametrize("name", ["embeddings", "embedding.weight"])
def test_a_text_is_the_mean_of_the_vectors_of_its_known_tokens(tmp_path, kind, rounding, name):
    made = encoder(model(tmp_path, kind, name))
    np.testing.assert_allclose(made.encode(TEXTS), means(TEXTS), rtol=1e-6 + 5 * rounding)


def test_tokens_may_share_rows_and_have_weights(tmp_path):
    mapping, weights = np.array([0, 1, 2, 2, 4, 5]), np.array([1.0, 0, 1, 1, 2, 1])
    result = encoder(model(tmp_path, mapping=mapping, weights=weights)).encode(TEXTS)
    expected = [
        np.mean([VECTORS[mapping[i]] * weights[i] for i in map(WORDS.index, text.split())], axis=0)
        for text in TEXTS[:3]
    ]
    np.testing.assert_allclose(result[:3], expected, rtol=1e-6)


def test_a_folder_as_the_kernel_is_the_cosine_of_these_means(tmp_path):
    folder = model(tmp_path)
    X = means(TEXTS)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for how in (
        {"k": str(folder)},
        {"k": "text_embeddings", "model_path": folder},
        {"k": "semantic", "model_path": folder},
        {"k": "semantic", "model": encoder(folder)},
    ):
        result = as_similarity(TEXTS, **how)
        np.testing.assert_allclose(result.dense(), X @ X.T, atol=1e-6)
        assert result.settings["model"] == "StaticModel"
    signature = compute(TEXTS, k=str(folder), details=True)["details"]["signature"]
    weights = as_similarity(TEXTS, k=str(folder)).settings["weights"]
    assert "kernel=text_embeddings" in signature
    assert weights in signature
    assert str(folder) in signature


def test_other_weights_have_another_signature(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    result = {
        encoder(model(tmp_path / x, kind)).settings["weights"]
        for x, kind in (("a", "F64"), ("b", "F16"))
    }
    assert len(result) == 2


def test_a_text_without_known_tokens_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"sample 1 has an embedding of zeros"):
        compute(["a cat", "unheard"], k=str(model(tmp_path)))
    with pytest.warns(UserWarning, match="dropped 1 of 3 samples"):
        result = compute(["a cat", "", "ran"], k=str(tmp_path), on_error="skip", details=True)
    assert list(result["details"]["dropped"]) == [1]


@pytest.mark.parametrize("option", [{"device": "cpu"}, {"pooling": "mean"}, {"revision": "main"}])
def test_options_of_networks_have_no_effect(tmp_path, option):
    with pytest.raises(ValueError, match=f"`{next(iter(option))}` has no effect with a static mo"):
        encoder(model(tmp_path), **option)


def test_broken_files_are_refused(tmp_path):
    path = model(tmp_path) / "model.safetensors"
    whole = path.read_bytes()
    for data in (b"", b"not a model at all", whole[:40], (1 << 60).to_bytes(8, "little") + b"{}"):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="is not a complete safetensors file"):
            encoder(tmp_path)
    path.write_bytes(whole[:-4])
    with pytest.raises(ValueError, match="is not a complete safetensors file"):
        encoder(tmp_path)
    with pytest.raises(ValueError, match="is not a complete safetensors file"):
        encoder(model(tmp_path, "BF16"))


def test_only_folders_of_one_static_model_are_taken_for_one(tmp_path):
    assert find_static_files("sentence-transformers/all-MiniLM-L6-v2") is None
    assert find_static_files(tmp_path) is None
    folder = model(tmp_path)
    assert find_static_files(folder)
    steps = [{"type": "sentence_transformers.models.StaticEmbedding"}]
    modules = folder / "modules.json"
    for more, is_one in (
        ([], True),
        ([{"type": "x.Normalize"}], True),
        ([{"type": "x.Dense"}], False),
    ):
        modules.write_text(json.dumps(steps + more))
        assert bool(find_static_files(folder)) == is_one
    for broken in ("[{", "[]", "[{}]", "{}"):
        modules.write_text(broken)
        assert find_static_files(folder) is None
    modules.unlink()
    (folder / "second.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    assert find_static_files(folder) is None


def test_torch_is_not_imported(tmp_path):
    code = f"""
import sys, vendiscore
print(vendiscore.compute({TEXTS!r}, k={str(model(tmp_path))!r})["VS"])
print([name for name in ("torch", "transformers", "sentence_transformers") if name in sys.modules])
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[1] == "[]"


def test_a_folder_named_as_the_package_needs_a_slash(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wordllama").mkdir()
    model(tmp_path / "wordllama")
    assert encoder("./wordllama").encode(TEXTS).shape == (4, 3)
    with pytest.raises(ImportError, match="needs the package 'wordllama', which is not installed"):
        encoder("wordllama")


def test_the_vectors_of_wordllama_know_what_texts_mean():
    if find_spec("wordllama") is None:
        pytest.skip("needs wordllama")
    texts = ["a cat sat on the mat", "the kitten rested on a rug", "stock prices fell sharply"]
    K = as_similarity(texts, k="static").dense()
    assert K[0, 1] > 0.3 > 0.1 > max(K[0, 2], K[1, 2])
    assert encoder("wordllama").encode(texts).shape == (3, 256)
    assert "wordllama" not in sys.modules  # importing it takes a second
