"""Kernel "image_embeddings", tested with networks with random weights."""

import json
import shutil
import sys

import numpy as np
import pytest
from image_samples import cosine_matrix, image_similarity_matrix, make_images
from PIL import Image

from vendiscore import MissingPackageError, SampleError, as_similarity
from vendiscore.kernels.image_embeddings import image_embeddings


@pytest.fixture(scope="module")
def torch():
    pytest.importorskip("torchvision")
    return pytest.importorskip("torch")


@pytest.fixture
def inception(torch, tmp_path_factory, monkeypatch):
    """Inception v3 with random weights, stored at the path of torchvision's trained weights.

    torchvision sets transform_input=True only for networks with trained weights, so the fixture
    sets it. Weights are initialized as in He et al., because signals vanish in single precision
    over 48 layers with torch's default initialization.
    """
    import torchvision

    torch.manual_seed(0)
    model = torchvision.models.inception_v3(
        weights=None, transform_input=True, init_weights=False
    ).eval()
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    hub = tmp_path_factory.mktemp("hub")
    monkeypatch.setattr(torch.hub, "_hub_dir", str(hub))
    weights = torchvision.models.Inception_V3_Weights.DEFAULT
    file = hub / "checkpoints" / weights.url.rpartition("/")[2]
    file.parent.mkdir()
    torch.save(model.state_dict(), file)
    yield model
    file.unlink()  # 100 MB


def compute_documented_features(torch, model, images):
    """Return pooled features as documented by torchvision: weights.transforms(), the network,
    and the output of avgpool."""
    from torchvision.models import Inception_V3_Weights

    preprocess = Inception_V3_Weights.DEFAULT.transforms()
    pooled = []
    hook = model.avgpool.register_forward_hook(lambda _, __, output: pooled.append(output))
    with torch.no_grad():
        for image in images:
            model(preprocess(image).unsqueeze(0))
    hook.remove()
    return torch.cat(pooled).flatten(1).numpy()


def test_inception_matches_torchvision_documentation(torch, inception):
    images = [Image.fromarray(array) for array in make_images(5)]
    S = as_similarity(images, k="image_embeddings", batch_size=4, device="cpu")
    assert S.X.shape == (5, 2048)
    indices = [0, 3, 4]  # image 4 is in a batch of its own
    expected = compute_documented_features(torch, inception, [images[i] for i in indices])
    scale = np.abs(expected).max()
    assert scale > 1e-3
    np.testing.assert_allclose(S.X[indices] / scale, expected / scale, atol=2e-5)
    assert S.settings["model"] == "torchvision Inception_V3_Weights.IMAGENET1K_V1"

    from torchvision import transforms

    unnormalized_transform = transforms.Compose(
        [transforms.Resize(299), transforms.CenterCrop(299), transforms.ToTensor()]
    )
    inception.fc = torch.nn.Identity()
    with torch.no_grad():
        unnormalized = inception(
            torch.stack([unnormalized_transform(images[i]) for i in indices])
        ).numpy()
    assert np.abs(unnormalized - expected).max() > 100 * 2e-5 * scale
    assert np.abs(cosine_matrix(unnormalized) - cosine_matrix(expected)).max() > 1e-3


def test_inception_converts_greyscale_to_rgb(inception):
    grey_images = make_images(2, channels=1)
    rgb_images = [np.stack([image] * 3, axis=2) for image in grey_images]
    S = as_similarity([*grey_images, *rgb_images], k="image_embeddings", device="cpu")
    np.testing.assert_allclose(S.X[:2], S.X[2:], rtol=1e-4, atol=1e-5 * np.abs(S.X).max())


SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "image_size": 16,
    "patch_size": 8,
    "initializer_range": 0.5,
}


def save_vision(model, folder, **options):
    import transformers

    model.save_pretrained(folder)
    size = {"height": 16, "width": 16}
    transformers.ViTImageProcessor(size=size, **options).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def vit(torch, tmp_path_factory):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = transformers.ViTModel(transformers.ViTConfig(**SIZES))
    return save_vision(model, tmp_path_factory.mktemp("vit"))


@pytest.mark.parametrize("pooling", ["pooler", "cls", "mean"])
@pytest.mark.parametrize("batch_size", [2, 64])
def test_vision_model_matches_processor_and_network(torch, vit, pooling, batch_size):
    import transformers

    images = make_images(5)
    S = as_similarity(
        images, k="image_embeddings", model_path=vit, pooling=pooling, batch_size=batch_size
    )
    model = transformers.ViTModel.from_pretrained(vit).eval()
    processor = transformers.AutoImageProcessor.from_pretrained(vit)
    rows = []
    for image in images:
        with torch.no_grad():
            output = model(**processor(Image.fromarray(image), return_tensors="pt"))
        hidden = output.last_hidden_state[0]
        rows.append({"pooler": output.pooler_output[0], "cls": hidden[0], "mean": hidden.mean(0)})
    expected = torch.stack([row[pooling] for row in rows]).numpy()
    np.testing.assert_allclose(S.X, expected, atol=1e-5)
    assert S.settings["dims"] == 16
    assert S.settings["model"] == "ViTModel"
    assert S.settings["model_path"] == str(vit)


def test_vision_model_uses_pooling_of_its_files(torch, vit, tmp_path):
    def build_similarity(**options):
        return as_similarity(make_images(3), k="image_embeddings", **options)

    default_settings = build_similarity(model_path=vit).settings
    assert (default_settings["pooling"], default_settings["pooling_from"]) == ("pooler", "default")
    folder = tmp_path / "model"
    shutil.copytree(vit, folder)
    steps = [
        {"name": name, "type": f"sentence_transformers.models.{name}", "path": path}
        for name, path in (("Transformer", ""), ("Pooling", "1_Pooling"))
    ]
    (folder / "1_Pooling").mkdir()
    pooling = {"pooling_mode": "mean", "word_embedding_dimension": 16}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "modules.json").write_text(json.dumps(steps))
    with pytest.raises(ValueError, match="does not accept images, according to its files"):
        build_similarity(model_path=folder)
    modality_config = {"image": {"method": "forward", "method_output_name": "last_hidden_state"}}
    modality_config = {"modality_config": modality_config, "module_output_name": "token_embeddings"}
    (folder / "sentence_bert_config.json").write_text(json.dumps(modality_config))
    S = build_similarity(model_path=folder)
    assert (S.settings["pooling"], S.settings["pooling_from"]) == ("mean", "modules.json")
    np.testing.assert_array_equal(S.X, build_similarity(model_path=vit, pooling="mean").X)
    explicit = build_similarity(model_path=folder, pooling="cls")
    assert explicit.settings["pooling_from"] == "given"
    np.testing.assert_array_equal(explicit.X, build_similarity(model_path=vit, pooling="cls").X)


def test_callers_vision_model_accepts_processor_as_transform(torch, vit):
    import transformers

    model = transformers.ViTModel.from_pretrained(vit).train()
    processor = transformers.AutoImageProcessor.from_pretrained(vit)
    options = {"model": model, "transform": processor}
    K = image_similarity_matrix(make_images(5), k="image_embeddings", **options)
    np.testing.assert_allclose(
        K, image_similarity_matrix(make_images(5), k="image_embeddings", model_path=vit), atol=1e-6
    )
    assert model.training


def test_clip_returns_image_features_and_dinov2_pooled_output(torch, tmp_path):
    import transformers

    torch.manual_seed(0)
    sizes = {k: v for k, v in SIZES.items() if k not in ("initializer_range",)}
    text = {k: v for k, v in sizes.items() if k not in ("image_size", "patch_size")}
    clip = transformers.CLIPModel(
        transformers.CLIPConfig(
            text_config={**text, "vocab_size": 9}, vision_config=sizes, projection_dim=6
        )
    )
    dino = transformers.Dinov2Model(transformers.Dinov2Config(**SIZES))
    images = make_images(3)
    pixels = transformers.ViTImageProcessor(size={"height": 16, "width": 16})(
        [Image.fromarray(image) for image in images], return_tensors="pt"
    )["pixel_values"]
    for name, model in (("clip", clip.eval()), ("dino", dino.eval())):
        folder = save_vision(model, tmp_path / name)
        S = as_similarity(images, k="image_embeddings", model_path=folder)
        with torch.no_grad():
            output = model.get_image_features(pixels) if name == "clip" else model(pixels)
        np.testing.assert_allclose(S.X, output.pooler_output.numpy(), atol=1e-5)
        assert S.dim == (6 if name == "clip" else 16)


def test_convolutional_network_returns_single_row_per_image(torch, tmp_path):
    import transformers

    torch.manual_seed(0)
    config = transformers.ResNetConfig(embedding_size=4, hidden_sizes=[4, 8], depths=[1, 1])
    folder = save_vision(transformers.ResNetModel(config), tmp_path)
    S = as_similarity(make_images(3), k="image_embeddings", model_path=folder)
    assert S.X.shape == (3, 8)
    with pytest.raises(
        ValueError, match="`pooling='mean'` requires a model with one hidden state per"
    ):
        image_similarity_matrix(
            make_images(3), k="image_embeddings", model_path=folder, pooling="mean"
        )


def test_vision_model_without_trained_pooler_is_rejected(torch, vit, tmp_path):
    import transformers

    model = transformers.ViTModel.from_pretrained(vit, add_pooling_layer=False)
    folder = save_vision(model, tmp_path)
    with pytest.raises(ValueError, match=r"requires trained weights, but .* has none for pooler"):
        image_similarity_matrix(make_images(3), k="image_embeddings", model_path=folder)
    cls = image_similarity_matrix(
        make_images(3), k="image_embeddings", model_path=folder, pooling="cls"
    )
    np.testing.assert_allclose(
        cls,
        image_similarity_matrix(
            make_images(3), k="image_embeddings", model_path=vit, pooling="cls"
        ),
        atol=1e-6,
    )


def make_small_network(torch):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3),
        torch.nn.BatchNorm2d(4),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
    )


def to_tensor(image):
    from torchvision.transforms import functional

    return functional.to_tensor(image.resize((16, 16)))


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: x[:, :, None, None]])
def test_any_network_with_transform_embeds_images(torch, wrap):
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = make_small_network(torch)

        def forward(self, x):
            assert not torch.is_grad_enabled()
            return wrap(self.inner(x))

    images = [Image.fromarray(image) for image in make_images(5)]
    model = Network().train()
    S = as_similarity(images, k="image_embeddings", model=model, transform=to_tensor, batch_size=2)
    assert model.training
    assert model.inner[1].training
    assert model.inner[1].num_batches_tracked == 0  # batch statistics were not updated
    model.eval()
    with torch.no_grad():
        expected = model.inner(torch.stack([to_tensor(image) for image in images])).numpy()
    np.testing.assert_allclose(S.X, expected, atol=1e-6)


def test_encode_method_and_function_are_models(torch):
    batch_sizes = []

    class Means:
        def encode(self, images):
            assert all(image.mode == "RGB" for image in images)
            batch_sizes.append(len(images))
            return torch.tensor(np.stack([np.asarray(i, float).mean((0, 1)) for i in images]))

    images = [*make_images(2), *make_images(3, channels=1)]
    S = as_similarity(images, k="image_embeddings", model=Means(), batch_size=2)
    mean_colours = [
        np.asarray(Image.fromarray(image).convert("RGB")).mean((0, 1)) for image in images
    ]
    np.testing.assert_allclose(S.dense(), cosine_matrix(mean_colours), atol=1e-12)
    assert batch_sizes == [2, 2, 1]
    K_of_function = image_similarity_matrix(images, k="image_embeddings", model=Means().encode)
    np.testing.assert_allclose(K_of_function, S.dense(), atol=1e-12)


def test_invalid_sample_is_rejected_before_first_batch(tmp_path):
    def model(images):
        raise AssertionError("the model must not run")

    with pytest.raises(SampleError, match=r"sample 3 is not a file: 'nowhere.png'; check the path"):
        image_similarity_matrix([*make_images(3), "nowhere.png"], k="image_embeddings", model=model)
    with pytest.raises(SampleError, match=r"sample 2 must be a PIL image, .* got int: 7"):
        image_similarity_matrix([*make_images(2), 7], k="image_embeddings", model=model)


def test_unreadable_file_is_named_by_sample_index(tmp_path):
    broken_file = tmp_path / "bad.jpg"
    broken_file.write_bytes(b"\xff\xd8 nothing more")

    def model(images):
        return [[1.0, image.width] for image in images]

    with pytest.raises(SampleError, match=r"sample 4 cannot be read as an image: .*bad.jpg"):
        image_similarity_matrix(
            [*make_images(4), broken_file], k="image_embeddings", model=model, batch_size=3
        )


def test_all_unusable_images_are_named():
    def model(images):
        return [[1.0, image.width % 2] if image.width != 7 else [0.0, 0.0] for image in images]

    broken = b"\xff\xd8 nothing more"
    black = np.ones((5, 7), np.uint8)
    images = [*make_images(2), broken, black, *make_images(1), broken, black]
    for batch_size in (1, 2, 64):
        with pytest.raises(SampleError) as caught:
            image_embeddings(images, model=model, batch_size=batch_size)
        assert list(caught.value.problems) == [2, 3, 5, 6]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"pooling": "max"}, ValueError, "`pooling` must be"),
        ({"batch_size": 0}, ValueError, "`batch_size` must be an integer of at least 1, got 0"),
        (
            {"transform": to_tensor},
            ValueError,
            "`transform` has no effect with model_path=…, w",
        ),
        ({"pooling": "mean"}, ValueError, "`pooling` has no effect with Inception v3"),
        ({"revision": "main"}, ValueError, "`revision` has no effect with Inception v3"),
        ({"half": True, "device": "cpu"}, ValueError, "`half` must be False on a CPU, got True"),
        ({"model": len, "model_path": "b"}, ValueError, "`model_path` has no effect with model=…"),
        ({"model": len, "device": "cpu"}, ValueError, "`device` has no effect with a model that"),
        ({"model": "b"}, TypeError, "got str; pass model_path='b'"),
    ],
)
def test_invalid_options_are_rejected(torch, options, error, message):
    if "model" not in options:
        options = {"device": "cpu", **options}
    with pytest.raises(error, match=message):
        image_similarity_matrix(make_images(), k="image_embeddings", **options)


def test_network_requires_transform_that_resizes(torch):
    with pytest.raises(TypeError, match=r"`transform` is missing: `model` is a torch network .Seq"):
        image_similarity_matrix(
            make_images(), k="image_embeddings", model=make_small_network(torch)
        )
    from torchvision.transforms import functional

    options = {"model": make_small_network(torch), "transform": functional.to_tensor}
    with pytest.raises(
        ValueError, match=r"of equal shape, got \(3, 24, 40\) and \(3, 9, 40\); add"
    ):
        image_similarity_matrix(
            [*make_images(1), *make_images(1, height=9)], k="image_embeddings", **options
        )


def test_missing_weights_error_lists_alternatives(torch, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.hub, "_hub_dir", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        ConnectionError, match=r"HF_HUB_OFFLINE is set\); pass .*k='pixels'.*download https://"
    ):
        image_similarity_matrix(make_images(), k="image_embeddings", device="cpu")
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # a port without a server
    with pytest.raises(ConnectionError, match=r"cannot be reached \(.*\); .*download https://"):
        image_similarity_matrix(make_images(), k="image_embeddings", device="cpu")


@pytest.mark.parametrize("package", ["torch", "torchvision"])
def test_missing_package_error_gives_install_command(monkeypatch, torch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"'{package}'.*pip install {package}"):
        image_similarity_matrix(make_images(), k="image_embeddings", device="cpu")
