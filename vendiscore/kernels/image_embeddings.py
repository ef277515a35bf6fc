"""Images by the cosine of their embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..encoders.image_encoders import IMAGES, Transform
from ..encoders.models import BATCH_SIZE, make_encoder
from ..encoders.networks import Pooling
from ..encoders.pil_images import check_images, naming_files
from ..registry.kernel import register_kernel
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity


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
    images: Any,
    model_path: str | Path | None = None,
    model: Any = None,
    transform: Transform | None = None,
    pooling: Pooling | None = None,
    batch_size: int = BATCH_SIZE,
    device: Any = None,
    half: bool | None = None,
    revision: str | None = None,
) -> Similarity:
    """The cosine of the embeddings of two images, by default of Inception v3's pool features.

    The default network is torchvision's Inception v3 without its last layer (2,048 features),
    with the transforms that belong to its weights (to 342 pixels, centre crop of 299, ImageNet
    normalisation). The reference implementation leaves half of them out: its numbers differ.

    Parameters
    ----------
    images : sequence or array, or the path of a folder
        As `k="pixels"` takes them; greyscale is made RGB.
    model_path : str or Path, optional
        Hub id or local folder of a transformers vision model (DINOv2, CLIP, ViT, …) and its
        image processor, instead of Inception. CLIP and its kin give their image features.
    model : object, optional
        Instead of both: what `vendiscore.encoder(…, kind="images")` returns or takes as `model`.
        It must embed each image by itself.
    transform : callable PIL image → tensor (C, H, W), optional
        The preprocessing of a torch `model`: of torchvision, or a transformers image processor.
    pooling : {"pooler", "cls", "mean"}
        For transformers models: as the files of `model_path` say, or else "pooler".
    batch_size, device, half, revision
        As `vendiscore.encoder` takes them. Half precision is the default on a GPU, for a model
        loaded here; half=False gives the same number on every machine up to rounding.

    Returns
    -------
    Similarity
        With float32 features (n, d); `settings` has model, revision, pooling and where that is
        from (`pooling_from`), and dims.

    Raises
    ------
    SampleError
        If samples are no readable images, or their embeddings are zero or not finite.
    MissingPackageError
        Without pillow, torch, torchvision or transformers, where the call needs it.
    TypeError, ValueError
        For a model that returns no such array, has no such pooling, or lacks trained weights.
    ConnectionError
        If the weights of Inception v3 are not here and cannot be downloaded, or must not be
        (HF_HUB_OFFLINE).

    Notes
    -----
    Time is that of the model, and of loading it, which `model_path` and the default do in every
    call: for many sets make the encoder once, and pass it as `model`. At most a batch of images is
    decoded and on the device at a time; nothing is cached beside the downloaded weights.
    """
    check_images(images)
    encoder = make_encoder(
        *(IMAGES, model_path, model, transform),
        pooling=pooling,
        batch_size=batch_size,
        device=device,
        half=half,
        revision=revision,
    )
    with naming_files(images):
        X, settings = encoder.embedded(images)
    return FeatureSimilarity(X, settings).normalized()
