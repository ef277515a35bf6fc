"""Static models in a folder: mean token vectors, without torch."""

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
NUMPY_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8"}


def encode_safetensors(tensors: dict[str, tuple[str, np.ndarray]]) -> bytes:
    """Return the content of a safetensors file."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (dtype, array) in tensors.items():
        bits = array.astype(NUMPY_DTYPES[dtype])
        offsets = [len(data), len(data) + bits.nbytes]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        data += bits.tobytes()
    header_json = json.dumps(header).encode()
    return len(header_json).to_bytes(8, "little") + header_json + data


def write_static_model(
    folder: Path, dtype: str = "F32", name: str = "embeddings", **other_arrays: np.ndarray
) -> Path:
    """Write a static model of six tokens, and return the folder."""
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    other_tensors = {
        key: ("I64" if key == "mapping" else "F64", array) for key, array in other_arrays.items()
    }
    data = encode_safetensors(
        {name: (dtype, VECTORS[:, : other_arrays.pop("width", 3)]), **other_tensors}
    )
    (folder / "model.safetensors").write_bytes(data)
    return folder


def compute_expected_means(texts: list[str]) -> np.ndarray:
    ids = [[WORDS.index(word) for word in text.split() if word in WORDS] for text in texts]
    return np.array([VECTORS[token_ids].mean(axis=0) for token_ids in ids])


@pytest.mark.parametrize(("dtype", "rounding"), [("F64", 0), ("F32", 1e-6), ("F16", 1e-3)])
@pytest.mark.parametrize("name", ["embeddings", "embedding.weight"])
def test_embedding_is_mean_of_known_token_vectors(tmp_path, dtype, rounding, name):
    static_encoder = encoder(write_static_model(tmp_path, dtype, name))
    np.testing.assert_allclose(
        static_encoder.encode(TEXTS), compute_expected_means(TEXTS), rtol=1e-6 + 5 * rounding
    )


def test_tokens_can_share_rows_and_have_weights(tmp_path):
    mapping, weights = np.array([0, 1, 2, 2, 4, 5]), np.array([1.0, 0, 1, 1, 2, 1])
    result = encoder(write_static_model(tmp_path, mapping=mapping, weights=weights)).encode(TEXTS)
    expected = [
        np.mean([VECTORS[mapping[i]] * weights[i] for i in map(WORDS.index, text.split())], axis=0)
        for text in TEXTS[:3]
    ]
    np.testing.assert_allclose(result[:3], expected, rtol=1e-6)


def test_kernel_of_model_folder_is_cosine_of_mean_vectors(tmp_path):
    folder = write_static_model(tmp_path)
    X = compute_expected_means(TEXTS)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for options in (
        {"k": str(folder)},
        {"k": "text_embeddings", "model_path": folder},
        {"k": "semantic", "model_path": folder},
        {"k": "semantic", "model": encoder(folder)},
    ):
        result = as_similarity(TEXTS, **options)
        np.testing.assert_allclose(result.dense(), X @ X.T, atol=1e-6)
        assert result.settings["model"] == "StaticModel"
    signature = compute(TEXTS, k=str(folder), details=True)["details"]["signature"]
    weights = as_similarity(TEXTS, k=str(folder)).settings["weights"]
    assert "kernel=text_embeddings" in signature
    assert weights in signature
    assert str(folder) in signature


def test_other_weights_change_weights_setting(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    result = {
        encoder(write_static_model(tmp_path / subfolder, dtype)).settings["weights"]
        for subfolder, dtype in (("a", "F64"), ("b", "F16"))
    }
    assert len(result) == 2


def test_error_names_text_without_known_tokens(tmp_path):
    with pytest.raises(ValueError, match=r"sample 1 has an embedding of zeros"):
        compute(["a cat", "unheard"], k=str(write_static_model(tmp_path)))
    with pytest.warns(UserWarning, match="dropped 1 of 3 samples"):
        result = compute(["a cat", "", "ran"], k=str(tmp_path), on_error="skip", details=True)
    assert list(result["details"]["dropped"]) == [1]


@pytest.mark.parametrize("option", [{"device": "cpu"}, {"pooling": "mean"}, {"revision": "main"}])
def test_static_model_rejects_network_options(tmp_path, option):
    with pytest.raises(ValueError, match=f"`{next(iter(option))}` has no effect with a static mo"):
        encoder(write_static_model(tmp_path), **option)


def test_broken_model_files_are_rejected(tmp_path):
    path = write_static_model(tmp_path) / "model.safetensors"
    model_bytes = path.read_bytes()
    for data in (
        b"",
        b"not a model at all",
        model_bytes[:40],
        (1 << 60).to_bytes(8, "little") + b"{}",
    ):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="is not a complete safetensors file"):
            encoder(tmp_path)
    path.write_bytes(model_bytes[:-4])
    with pytest.raises(ValueError, match="is not a complete safetensors file"):
        encoder(tmp_path)
    with pytest.raises(ValueError, match="numbers of a type that NumPy does not support"):
        encoder(write_static_model(tmp_path, "BF16"))


def test_find_static_files_accepts_only_static_models(tmp_path):
    assert find_static_files("sentence-transformers/all-MiniLM-L6-v2") is None
    assert find_static_files(tmp_path) is None
    folder = write_static_model(tmp_path)
    assert find_static_files(folder)
    steps = [{"type": "sentence_transformers.models.StaticEmbedding"}]
    modules = folder / "modules.json"
    for extra_steps, is_static in (
        ([], True),
        ([{"type": "x.Normalize"}], True),
        ([{"type": "x.Dense"}], False),
    ):
        modules.write_text(json.dumps(steps + extra_steps))
        assert bool(find_static_files(folder)) == is_static
    for invalid_json in ("[{", "[]", "[{}]", "{}"):
        modules.write_text(invalid_json)
        assert find_static_files(folder) is None
    modules.unlink()
    (folder / "second.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    assert find_static_files(folder) is None


def test_static_model_does_not_import_torch(tmp_path):
    code = f"""
import sys, vendiscore
print(vendiscore.compute({TEXTS!r}, k={str(write_static_model(tmp_path))!r})["VS"])
print([name for name in ("torch", "transformers", "sentence_transformers") if name in sys.modules])
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.splitlines()[1] == "[]"


def test_model_folder_named_wordllama_requires_slash(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wordllama").mkdir()
    write_static_model(tmp_path / "wordllama")
    assert encoder("./wordllama").encode(TEXTS).shape == (4, 3)
    with pytest.raises(ImportError, match="needs the package 'wordllama', which is not installed"):
        encoder("wordllama")


def test_wordllama_vectors_reflect_meaning():
    if find_spec("wordllama") is None:
        pytest.skip("needs wordllama")
    texts = ["a cat sat on the mat", "the kitten rested on a rug", "stock prices fell sharply"]
    K = as_similarity(texts, k="static").dense()
    assert K[0, 1] > 0.3 > 0.1 > max(K[0, 2], K[1, 2])
    assert encoder("wordllama").encode(texts).shape == (3, 256)
    assert "wordllama" not in sys.modules  # not imported, because the import is slow
