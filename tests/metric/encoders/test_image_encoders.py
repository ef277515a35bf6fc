"""Image encoders: conversion to RGB, transforms and pooling."""

from types import SimpleNamespace

import numpy as np
import pytest

from vendiscore import SampleError, encoder
from vendiscore.encoders.image_encoders import IMAGES, read_images

torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (5, 4, 4, 3), dtype=np.uint8)
IMAGES_RGB = [Image.fromarray(pixels) for pixels in PIXELS]


def to_tensor(image):
    return torch.tensor(np.asarray(image) / 255, dtype=torch.float32).permute(2, 0, 1)


class MeanColour(torch.nn.Module):
    """Network that returns the mean colour with shape (n, 3, 1, 1)."""

    def forward(self, X):
        return X.mean(dim=(2, 3), keepdim=True)


def embed(images, model, transform=to_tensor, **options):
    return encoder(kind="images", model=model, transform=transform, **options).encode(images)


def test_read_images_returns_rgb_and_names_invalid_images():
    grey_image = Image.new("L", (2, 2), 7)
    result = read_images([grey_image, IMAGES_RGB[0]])
    assert [image.mode for image in result] == ["RGB", "RGB"]
    assert np.asarray(result[0]).max() == 7
    with pytest.raises(SampleError) as caught:
        read_images([IMAGES_RGB[0], b"x", grey_image, 3])
    assert [*caught.value.problems] == [1, 3]
    transparent_image = Image.new("RGBA", (1, 1), (0, 0, 0, 0))
    assert np.asarray(read_images([transparent_image], "white")[0]).tolist() == [[[255, 255, 255]]]


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_network_with_transform_embeds_images(batch_size):
    result = embed(IMAGES_RGB, torch.nn.Sequential(torch.nn.Flatten()), batch_size=batch_size)
    expected = np.moveaxis(PIXELS, 3, 1).reshape(5, -1) / 255
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_convolutional_output_is_flattened_to_rows():
    result = embed(IMAGES_RGB, MeanColour())
    np.testing.assert_allclose(result, PIXELS.mean(axis=(1, 2)) / 255, rtol=1e-5)


@pytest.mark.parametrize(("pooling", "expected"), [(None, "pooler"), ("cls", 0), ("mean", "mean")])
def test_output_of_vision_network_is_pooled(pooling, expected):
    class Vision(torch.nn.Module):
        def forward(self, X):
            hidden = X.flatten(2).transpose(1, 2)  # one state of three numbers per pixel
            return SimpleNamespace(last_hidden_state=hidden, pooler_output=hidden.amax(dim=1))

    states = PIXELS.reshape(5, 16, 3) / 255
    expected_rows = {"pooler": states.max(axis=1), 0: states[:, 0], "mean": states.mean(axis=1)}
    model = encoder(kind="images", model=Vision(), transform=to_tensor, pooling=pooling)
    np.testing.assert_allclose(model.encode(IMAGES_RGB), expected_rows[expected], rtol=1e-5)
    assert model.settings["pooling"] == (pooling or "pooler")
    assert model.settings["transform"] == "to_tensor"


def test_network_with_get_image_features_uses_them():
    class ImageAndTextNetwork(torch.nn.Module):
        def get_image_features(self, inputs):
            return inputs.amax(dim=(2, 3))

    def processor(image):  # like an image processor of transformers
        return {"pixel_values": to_tensor(image)[None]}

    result = embed(IMAGES_RGB, ImageAndTextNetwork(), processor)
    np.testing.assert_allclose(result, PIXELS.max(axis=(1, 2)) / 255, rtol=1e-6)


def test_images_of_different_shapes_require_resizing_transform():
    with pytest.raises(ValueError, match=r"`transform` must return .* \(3, 4, 4\) and \(3, 2, 2\)"):
        embed([IMAGES_RGB[0], Image.new("RGB", (2, 2))], MeanColour())
    images = [IMAGES_RGB[0], Image.new("RGB", (2, 2), "white")]
    assert embed(images, MeanColour(), lambda image: to_tensor(image.resize((2, 2)))).shape == (
        2,
        3,
    )


def test_transform_requires_torch_network():
    with pytest.raises(TypeError, match="`transform` requires a torch network as `model`"):
        encoder(kind="images", model=lambda images: images, transform=to_tensor)


@pytest.mark.parametrize("options", [{"revision": "main"}, {"pooling": "cls"}])
def test_inception_rejects_revision_and_pooling(options):
    with pytest.raises(
        ValueError, match=f"`{next(iter(options))}` has no effect with Inception v3"
    ):
        encoder(kind="images", **options).encode(IMAGES_RGB)


def test_error_without_inception_weights_names_folder(monkeypatch, tmp_path):
    pytest.importorskip("torchvision")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    with pytest.raises(
        ConnectionError, match="weights of Inception v3 are not in the local cache"
    ) as caught:
        encoder(kind="images").encode(IMAGES_RGB)
    assert str(tmp_path) in str(caught.value)


def test_images_modality_reads_and_checks_images():
    assert IMAGES.read is read_images
    with pytest.raises(SampleError):
        IMAGES.check([3])
