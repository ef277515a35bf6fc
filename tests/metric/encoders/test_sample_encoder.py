"""Encoders load a model once and give the scores of the corresponding keywords."""

import itertools
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from vendiscore import SampleError, as_similarity, compute, encoder, get_kernel
from vendiscore.support.progress import map_steps, run_steps, run_with_progress

pytest.importorskip("PIL")
from image_samples import make_images
from tiny_text_models import (
    TEXTS,
    LetterCounts,
    make_tiny_tokenizer,
    save_tiny_bert,
    torch,
    transformers,
)

# Some shared texts are too long for the small model, or contain only unknown words.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Kernel 'text_embeddings' (represents|cannot represent)"
)

VIT = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 16}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def vit(tmp_path_factory):
    pytest.importorskip("torchvision")
    folder = tmp_path_factory.mktemp("vit")
    torch.manual_seed(0)
    config = transformers.ViTConfig(**VIT, intermediate_size=32, patch_size=8)
    transformers.ViTModel(config).save_pretrained(folder)
    size = {"height": 16, "width": 16}
    transformers.ViTImageProcessor(size=size).save_pretrained(folder)
    return folder


@pytest.fixture
def loaded_paths(monkeypatch):
    """List of the model paths that transformers loads."""
    result = []
    load = transformers.AutoModel.from_pretrained

    def recording_load(path, *args, **options):
        result.append(path)
        return load(path, *args, **options)

    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", recording_load)
    return result


@pytest.mark.parametrize(
    "options",
    [
        {"pooling": "mean"},
        {"pooling": "pooler", "max_length": 5, "batch_size": 2, "half": False, "device": "cpu"},
    ],
)
def test_text_encoder_matches_keywords_and_loads_once(bert, loaded_paths, options):
    model = encoder(bert, **options)
    for texts in (TEXTS, TEXTS[::-1], ["dog", "cat", "dog"]):
        del loaded_paths[1:]
        result = compute(texts, k="text_embeddings", model=model, details=True)
        assert loaded_paths == [bert]
        expected = compute(texts, k="text_embeddings", model_path=bert, **options, details=True)
        assert result["VS"] == pytest.approx(expected["VS"], rel=1e-12)
        assert result["details"] == expected["details"]


def test_image_encoder_matches_keywords_and_loads_once(vit, loaded_paths):
    model = encoder(vit, kind="images", pooling="cls", batch_size=2)
    for images in (make_images(5), make_images(3, channels=1, seed=1)):
        result = compute(images, k="image_embeddings", model=model, details=True)
        assert loaded_paths == [vit]
        options = {"model_path": vit, "pooling": "cls", "batch_size": 2}
        expected = compute(images, k="image_embeddings", **options, details=True)
        del loaded_paths[1:]
        assert result["VS"] == pytest.approx(expected["VS"], rel=1e-12)
        assert result["details"] == expected["details"]


def test_encoder_of_function_matches_function_as_model():
    result = compute(TEXTS, k="text_embeddings", model=encoder(model=LetterCounts()), details=True)
    assert result == compute(TEXTS, k="text_embeddings", model=LetterCounts(), details=True)
    image = np.ones((4, 4, 3), np.uint8)
    width_encoder = encoder(
        model=lambda images: [[1, image.width] for image in images], kind="images"
    )
    np.testing.assert_array_equal(width_encoder.encode([image, image[:, :2]]), [[1, 4], [1, 2]])


def test_encode_returns_embeddings_of_kernel(bert):
    model = encoder(bert, pooling="mean")
    S = as_similarity(TEXTS, k="text_embeddings", model=model)
    X = model.encode(TEXTS)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(S.X, X)
    np.testing.assert_array_equal(model.encode(iter(TEXTS)), X)
    np.testing.assert_array_equal(model.encode(np.array(TEXTS)), X)


def test_encoder_has_settings_and_repr(bert):
    model = encoder(bert, pooling="mean", batch_size=7)
    assert (model.kind, model.batch_size) == ("text", 7)
    result = {name: model.settings[name] for name in ("model", "pooling", "max_length")}
    assert result == {"model": "BertModel", "pooling": "mean", "max_length": 12}
    assert "encoder of text: model='BertModel'" in repr(model)
    model.settings["pooling"] = "cls"  # changes a copy
    assert model.settings["pooling"] == "mean"


def test_truncated_texts_are_reported_per_set(bert):
    model = encoder(bert, pooling="mean", max_length=5)
    for texts, truncated in ((TEXTS, [1, 3, 5, 6]), (["dog"], []), (TEXTS[:2], [1])):
        result = as_similarity(texts, k="text_embeddings", model=model)
        assert sorted(result.partial) == truncated


@pytest.mark.parametrize("name", ["text_embeddings", "image_embeddings"])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_embedding_rows_do_not_depend_on_other_samples(bert, vit, name, batch_size):
    assert get_kernel(name).rows
    path, samples = (bert, TEXTS) if name == "text_embeddings" else (vit, make_images(6))
    options = {"model_path": path, "pooling": "cls", "batch_size": batch_size}
    expected = as_similarity(samples, k=name, **options).features()
    for indices in ([4], [0, 5, 2]):
        rows = as_similarity([samples[i] for i in indices], k=name, **options).features()
        np.testing.assert_allclose(rows, expected[indices], atol=2e-6)


def test_encode_lists_all_unusable_samples(bert):
    encoded_texts = []
    model = encoder(model=lambda texts: encoded_texts.extend(texts) or [[len(t), 0] for t in texts])
    with pytest.raises(SampleError, match=r"sample 1 must be a str, got int: 7 \(2 samples") as e:
        model.encode(["a", 7, "b", None])
    assert (list(e.value.problems), encoded_texts) == ([1, 3], [])
    with pytest.raises(SampleError, match="sample 1 has an embedding of zeros") as e:
        model.encode(["a", "", "b", ""])
    assert list(e.value.problems) == [1, 3]
    with pytest.raises(TypeError, match="must be a collection of samples, got one str"):
        model.encode("a text")
    with pytest.raises(SampleError, match="sample 1 is not a file: 'no/such"):
        encoder(model=len, kind="images").encode([make_images(1)[0], "no/such.png"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "text", "transform": len}, ValueError, "`transform` has no effect with kind='t"),
        ({"kind": "images", "tokenizer": len}, ValueError, "`tokenizer` has no effect with kind="),
        ({"kind": "images", "max_length": 3}, ValueError, "`max_length` has no effect with kind="),
        ({"kind": "sound"}, ValueError, "`kind` must be 'text' or 'images', got 'sound'"),
        ({"model": len, "pooling": "cls"}, ValueError, "`pooling` has no effect with a model that"),
        ({"model": len, "model_path": "b"}, ValueError, "`model_path` has no effect with model=…"),
        ({"model_path": len}, TypeError, "`model_path` must be a Hub id or a folder, got builtin"),
        ({"model": len, "batch_size": 0}, ValueError, "`batch_size` must be an integer of at le"),
    ],
)
def test_encoder_rejects_incompatible_keywords(options, error, message):
    with pytest.raises(error, match=message):
        encoder(**options)


@pytest.mark.parametrize(
    "options",
    [{"pooling": "cls"}, {"max_length": 3}, {"device": "cpu"}, {"half": False}, {"batch_size": 2}],
    ids=str,
)
def test_model_keywords_conflict_with_encoder(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"`{name}` has no effect with an encoder, which has its"):
        compute(TEXTS, k="text_embeddings", model=encoder(model=LetterCounts()), **options)


def test_kernel_rejects_encoder_of_other_modality():
    with pytest.raises(TypeError, match=r"an encoder of images, got <encoder of text: model='Lett"):
        compute(make_images(2), k="image_embeddings", model=encoder(model=LetterCounts()))
    with pytest.raises(
        TypeError, match="`tokenizer` requires a transformers network as `model`, got Encod"
    ):
        compute(["a"], k="text_embeddings", model=encoder(model=LetterCounts()), tokenizer=len)


@pytest.fixture
def callers_network(bert):
    """Network in training mode, except for one layer in evaluation mode."""
    model = transformers.AutoModel.from_pretrained(bert).train()
    model.encoder.layer[1].eval()
    return model


def list_training_modes(model):
    return [module.training for module in model.modules()]


def test_callers_network_keeps_training_mode_between_calls(bert, callers_network):
    modes_before = list_training_modes(callers_network)
    model = encoder(model=callers_network, tokenizer=make_tiny_tokenizer(), pooling="mean")
    expected = encoder(bert, pooling="mean").encode(TEXTS)
    for _ in range(2):
        assert list_training_modes(callers_network) == modes_before
        np.testing.assert_allclose(model.encode(TEXTS), expected, atol=1e-6)
    assert list_training_modes(callers_network) == modes_before
    # Later calls use updated weights.
    with torch.no_grad():
        callers_network.embeddings.word_embeddings.weight.mul_(0.5)
    assert np.abs(model.encode(TEXTS) - expected).max() > 0.01


def test_embed_steps_count_samples_and_can_be_closed(callers_network):
    modes_before = list_training_modes(callers_network)
    model = encoder(
        model=callers_network, tokenizer=make_tiny_tokenizer(), pooling="mean", batch_size=3
    )
    steps = model.embed_steps(TEXTS)
    assert next(steps) == 0
    assert next(steps) == 3
    assert not callers_network.training
    assert not torch.is_inference_mode_enabled()
    steps.close()
    assert list_training_modes(callers_network) == modes_before
    small_batch_encoder = encoder(
        model=callers_network, tokenizer=make_tiny_tokenizer(), pooling="mean", batch_size=2
    )
    assert list(small_batch_encoder.embed_steps(TEXTS)) == [0, 2, 4, 6]
    X, settings, omissions = run_steps(small_batch_encoder.embed_steps(TEXTS))
    assert list(omissions) == ["missed", "partial"]
    np.testing.assert_allclose(X, model.encode(TEXTS), atol=1e-6)
    assert (settings["batch_size"], settings["dims"]) == (2, 16)


def test_training_mode_is_restored_after_last_embed_steps(callers_network):
    modes_before = list_training_modes(callers_network)
    model = encoder(
        model=callers_network, tokenizer=make_tiny_tokenizer(), pooling="mean", batch_size=3
    )
    first, second = model.embed_steps(TEXTS), model.embed_steps(TEXTS)
    next(first)
    next(second)
    first.close()
    assert not callers_network.training  # otherwise `second` would run with dropout
    np.testing.assert_array_equal(run_steps(second)[0], model.encode(TEXTS))
    assert list_training_modes(callers_network) == modes_before


def test_threads_share_encoder(bert):
    """Tokenizers store padding and truncation as state while they run."""
    model = encoder(bert, pooling="mean")
    varied_texts = [f"dog {'ran ' * i}" for i in range(40)]
    sets = [["cat " * (1 + i), *varied_texts] for i in range(30)]  # some are truncated
    expected = [model.encode(texts) for texts in sets]
    with ThreadPoolExecutor(8) as pool:
        for result, expected_rows in zip(
            pool.map(model.encode, sets * 10), expected * 10, strict=True
        ):
            np.testing.assert_allclose(result, expected_rows, atol=1e-6)


def test_threads_share_callers_network(callers_network):
    model = encoder(
        model=callers_network, tokenizer=make_tiny_tokenizer(), pooling="mean", batch_size=1
    )
    modes_before, expected = list_training_modes(callers_network), model.encode(TEXTS)
    start = threading.Barrier(4)

    def encode_prefix(count):
        start.wait()
        return [model.encode(TEXTS[:count]) for _ in range(5)]

    with ThreadPoolExecutor(4) as pool:
        for result in itertools.chain(*pool.map(encode_prefix, range(1, 5))):
            np.testing.assert_allclose(result, expected[: len(result)], atol=1e-6)
    assert list_training_modes(callers_network) == modes_before


def test_encoder_of_function_does_not_import_torch():
    code = """
import sys, vendiscore
lengths = vendiscore.encoder(model=lambda texts: [[len(text), 1] for text in texts])
print(vendiscore.compute(["a", "a"], k="text_embeddings", model=lengths))
print([name for name in ("torch", "transformers", "torchvision", "PIL") if name in sys.modules])
"""
    folder = Path(__file__).resolve().parents[3]
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True
    )
    assert process.stdout.splitlines() == ["{'VS': 1.0}", "[]"], process.stderr


def count_steps(n):
    yield from range(n)
    return n


def test_run_with_progress_shows_complete_bar(monkeypatch, capsys):
    monkeypatch.setattr("vendiscore.support.progress._DELAY", 0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert run_with_progress(count_steps(5), 5, "counting") == 5
    assert "counting: 100%" in capsys.readouterr().err
    import datasets

    datasets.disable_progress_bars()
    try:
        assert run_with_progress(count_steps(5), 5, "counting") == 5
    finally:
        datasets.enable_progress_bars()
    assert not capsys.readouterr().err


def test_map_steps_maps_values_and_closes_steps():
    steps = count_steps(3)
    messages = map_steps(steps, "{} done".format)
    assert next(messages) == "0 done"
    messages.close()
    assert list(steps) == []
    assert list(map_steps(count_steps(2), str)) == ["0", "1"]
    assert run_steps(map_steps(count_steps(2), str)) == 2


def test_functions_with_same_name_have_different_signatures():
    def make_model(k):
        def encode(texts):
            return [[len(text) + 1.0, float(k)] for text in texts]

        return encode

    def compute_signature(model):
        result = compute(TEXTS, k="text_embeddings", model=model, details=True)
        return result["details"]["signature"]

    assert compute_signature(make_model(1)) == compute_signature(make_model(1))
    assert compute_signature(make_model(1)) != compute_signature(make_model(2))
