"""Images by the cosine of their embeddings."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..encoders.image_encoders import IMAGES, Transform, read_images
from ..encoders.networks import Pooling
from ..encoders.pil_images import check_background, check_images, name_files_in_errors
from ..encoders.sample_encoder import BATCH_SIZE, make_encoder
from ..resolve.kernel import register_kernel
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity
from ..support.types import Device


@register_kernel(
    "image_embeddings",
    samples="images",
    needs="images",
    source="Friedman & Dieng, arXiv 2210.02410, §4; Inception v3: Szegedy et al., arXiv 1512.00567",
    rows=True,
    label="show the same",
    by="By what they show",
)
def image_embeddings(
    images: Sequence[object],
    model_path: str | Path | None = None,
    model: Any = None,
    transform: Transform | None = None,
    pooling: Pooling | None = None,
    batch_size: int = BATCH_SIZE,
    device: Device = None,
    half: bool | None = None,
    revision: str | None = None,
    background: str | None = None,
) -> Similarity:
    """The cosine of the embeddings of two images, by default of Inception v3's pool features.

    The default is torchvision's Inception v3 without its last layer (2,048 features), with the
    transforms of its weights (to 342 pixels, centre crop of 299, ImageNet normalisation), half of
    which the reference implementation leaves out: its numbers differ. For many sets make the
    encoder once, and pass it as `model`. One batch of images at a time is decoded.

    Parameters
    ----------
    images : sequence or array, or the path of a folder
        As `k="pixels"` takes them; greyscale is made RGB.
    model_path : str or Path, optional
        Hub id or local folder of a transformers vision model (DINOv2, CLIP, ViT, …) and its image
        processor, instead of Inception. CLIP and its kin give their image features.
    model, transform : optional
        What `vendiscore.encoder(…, kind="images")` returns or takes; it must embed each image by
        itself. `transform` (PIL image → tensor) is the preprocessing of a torch `model`.
    pooling : {"pooler", "cls", "mean"}
        For transformers models: as the files of `model_path` say, or else "pooler".
    batch_size, device, half, revision
        As `vendiscore.encoder` takes them; half=False gives the same on all machines up to
        rounding.
    background : str, optional
        The colour behind transparent pixels, such as "white" or "#808080".

    Raises
    ------
    SampleError, TypeError, ValueError
        If samples are not readable images, are transparent without a `background`, or their
        embeddings zero or not finite; for another `background` than a colour; for a model that
        returns no such array, has no such pooling, or lacks trained weights.
    MissingPackageError, ConnectionError
        Without pillow, torch, torchvision, transformers or Inception's weights, where needed.
    """
    check_images(images)
    check_background(background)
    encoder = make_encoder(
        IMAGES, model_path, model, transform, pooling, batch_size, device, half, revision
    )
    if background is not None:
        encoder = encoder.with_reader(partial(read_images, background=background))
    with name_files_in_errors(images):
        X, settings, omissions = encoder.embed_checked(images)
    return FeatureSimilarity(X, settings).normalized().noted(**omissions)
