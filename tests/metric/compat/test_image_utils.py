"""The functions of vendi_score.image_utils give the numbers of that package."""

import numpy as np
import pytest
from vendi_score import image_utils as peer

from vendiscore import score_X
from vendiscore.compat import image_utils

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.filterwarnings("ignore:Please import `csr_matrix`"),
]
RNG = np.random.default_rng(0)


def test_pixels_and_networks_of_images_are_equal():
    Image = pytest.importorskip("PIL.Image")
    noise = RNG.integers(1, 255, (6, 32, 32, 3), dtype=np.uint8)
    images = [Image.fromarray(each) for each in noise]
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 5)).eval()
    assert (image_utils.get_pixel_vectors(images) == peer.get_pixel_vectors(images)).all()
    assert image_utils.pixel_vendi_score(images) == pytest.approx(
        peer.pixel_vendi_score(images), rel=1e-9
    )
    np.testing.assert_allclose(
        image_utils.get_embeddings(images, model), peer.get_embeddings(images, model), rtol=1e-5
    )
    result = image_utils.embedding_vendi_score(images, model=model)
    assert result == pytest.approx(peer.embedding_vendi_score(images, model=model), rel=1e-5)


def test_pixel_vectors_have_the_bytes_of_each_image():
    Image = pytest.importorskip("PIL.Image")
    pixels = RNG.integers(1, 255, (4, 8, 8), dtype=np.uint8)
    images = [Image.fromarray(each) for each in pixels]
    plain = image_utils.get_pixel_vectors(images, resize=0)
    assert (plain == pixels.reshape(4, -1)).all()
    assert image_utils.get_pixel_vectors(images, 4).shape == (4, 16)
    rows = plain.astype(float)
    result = image_utils.pixel_vendi_score(images, resize=0)
    assert result == pytest.approx(score_X(rows, normalize=True), rel=1e-9)


def test_a_transform_replaces_the_conversion_to_a_tensor():
    Image = pytest.importorskip("PIL.Image")
    images = [Image.fromarray(np.full((4, 4), value, np.uint8)) for value in (10, 20)]

    def read_value(image):
        return torch.tensor([float(np.asarray(image).max()), 1.0])

    result = image_utils.get_embeddings(images, torch.nn.Identity(), read_value)
    assert result.tolist() == [[10, 1], [20, 1]]
