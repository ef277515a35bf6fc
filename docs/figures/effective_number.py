"""Three sets of nine samples: their similarities, and the eigenvalues that these come to."""

import matplotlib.pyplot as plt
import numpy as np

from vendiscore import score_K

BLUE = "#0072B2"


def groups(sizes: list[int], inside: float, between: float) -> np.ndarray:
    """Return similarities of samples in groups."""
    of = np.repeat(np.arange(len(sizes)), sizes)
    K = np.where(of[:, None] == of, inside, between)
    np.fill_diagonal(K, 1.0)
    return K


sets = {
    "nearly alike": groups([9], 0.95, 0.0),
    "three groups": groups([3, 3, 3], 0.95, 0.1),
    "nearly all different": groups([1] * 9, 0.0, 0.05),
}
figure, axes = plt.subplots(2, 3, figsize=(7, 4.4), height_ratios=[1.5, 1])
for (name, K), (above, below) in zip(sets.items(), axes.T, strict=True):
    image = above.imshow(K, cmap="cividis", vmin=0, vmax=1)
    above.set_title(f"{name}\nVS = {score_K(K):.2f} of {len(K)}", fontsize=12)
    above.set(xticks=[], yticks=[], xlabel="sample")
    above.spines[["top", "right"]].set_visible(True)
    below.bar(np.arange(1, 10), np.linalg.eigvalsh(K / len(K))[::-1], color=BLUE)
    below.set(ylim=(0, 1), xticks=[1, 3, 5, 7, 9], xlabel="eigenvalue of K/n")
axes[0, 0].set_ylabel("sample")
axes[1, 0].set_ylabel("share")
figure.colorbar(image, ax=axes[0], label="similarity", shrink=0.9)
