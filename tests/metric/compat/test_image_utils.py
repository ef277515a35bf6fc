"""`compat.image_utils` returns the results of `vendi_score.image_utils`."""

import numpy as np
import pytest
from vendi_score import image_utils as reference

from vendiscore import score_X
from vendiscore.compat import image_utils

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.filterwarnings("ignore:Please import `csr_matrix`"),
]
RNG = np.random.default_rng(0)


def test_pixel_and_network_results_match_vendi_score():
    Image = pytest.importorskip("PIL.Image")
    noise = RNG.integers(1, 255, (6, 32, 32, 3), dtype=np.uint8)
    images = [Image.fromarray(pixels) for pixels in noise]
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 5)).eval()
    assert (image_utils.get_pixel_vectors(images) == reference.get_pixel_vectors(images)).all()
    assert image_utils.pixel_vendi_score(images) == pytest.approx(
        reference.pixel_vendi_score(images), rel=1e-9
    )
    np.testing.assert_allclose(
        image_utils.get_embeddings(images, model),
        reference.get_embeddings(images, model),
        rtol=1e-5,
    )
    result = image_utils.embedding_vendi_score(images, model=model)
    assert result == pytest.approx(reference.embedding_vendi_score(images, model=model), rel=1e-5)


def test_pixel_vectors_contain_image_bytes():
    Image = pytest.importorskip("PIL.Image")
    pixels = RNG.integers(1, 255, (4, 8, 8), dtype=np.uint8)
    images = [Image.fromarray(array) for array in pixels]
    vectors = image_utils.get_pixel_vectors(images, resize=0)
    assert (vectors == pixels.reshape(4, -1)).all()
    assert image_utils.get_pixel_vectors(images, 4).shape == (4, 16)
    rows = vectors.astype(float)
    result = image_utils.pixel_vendi_score(images, resize=0)
    assert result == pytest.approx(score_X(rows, normalize=True), rel=1e-9)


def test_get_embeddings_applies_transform_instead_of_to_tensor():
    Image = pytest.importorskip("PIL.Image")
    images = [Image.fromarray(np.full((4, 4), value, np.uint8)) for value in (10, 20)]

    def read_value(image):
        return torch.tensor([float(np.asarray(image).max()), 1.0])

    result = image_utils.get_embeddings(images, torch.nn.Identity(), read_value)
    assert result.tolist() == [[10, 1], [20, 1]]
