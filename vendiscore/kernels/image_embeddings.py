"""The kernel "image_embeddings": cosine similarity of embeddings of images."""

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
    """The cosine similarity of image embeddings, by default pool features of Inception v3.

    The default is torchvision's Inception v3 without its last layer (2,048 features) with the
    transforms of its weights (resize to 342 pixels, centre crop of 299, ImageNet normalization).
    The reference implementation of the Vendi Score omits some of these transforms, so its scores
    differ. To score many sets, load the encoder once and pass it as `model`. Images are decoded one
    batch at a time.

    Parameters
    ----------
    images : sequence, array or path of a folder
        Images as accepted by the kernel "pixels"; greyscale is converted to RGB.
    model_path : str or Path, optional
        Hub id or local folder of a transformers vision model (DINOv2, CLIP, ViT, …) with its image
        processor, to use instead of Inception. CLIP-like models return their image features.
    model : object, optional
        An encoder returned by ``vendiscore.encoder(…, kind="images")``, or any model that this
        function accepts. The embedding of an image must not depend on the other images.
    transform : callable, optional
        Preprocessing of a torch `model`: PIL image → tensor.
    pooling : {"pooler", "cls", "mean"}, optional
        Pooling of a transformers model. By default as its files specify, otherwise "pooler".
    batch_size : int, default 64
        Number of images that the model processes at once.
    device : str or torch.device, optional
        Device of the model; by default a GPU if available.
    half : bool, optional
        Whether to use half precision; by default only on a GPU. With False, all machines give the
        same result up to rounding.
    revision : str, optional
        Branch, tag or commit of the model on the Hub.
    background : str, optional
        Colour behind transparent pixels, such as "white" or "#808080".

    Raises
    ------
    SampleError
        If samples are not readable images, are transparent and no `background` is given, or have
        embeddings that are zero or not finite.
    TypeError, ValueError
        If `background` is not a colour, the model returns no array of embeddings, does not support
        `pooling` or lacks trained weights.
    MissingPackageError
        If pillow, torch, torchvision or transformers is needed but missing.
    OSError
        If the model does not exist. A ConnectionError if it is not in the local cache and the Hub
        cannot be reached; the message lists installed alternatives.
    """
    check_images(images)
    check_background(background)
    encoder = make_encoder(
        IMAGES, model_path, model, transform, pooling, batch_size, device, half, revision
    )
    if background is not None:  # the colour behind transparent pixels
        encoder = encoder.with_reader(partial(read_images, background=background))
    with name_files_in_errors(images):
        X, settings, report = encoder.embed_with_report(images)
    return FeatureSimilarity(X, settings).normalized().noted(**report)
