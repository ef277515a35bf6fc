"""Sixty handwritten digits drawn at random, and sixty that were selected."""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from vendiscore import score, select

digits = load_digits()
drawn = np.random.default_rng(0).choice(len(digits.data), 60, replace=False)
sets = {
    "drawn at random": drawn,
    "selected": select(digits.data, 60, k="cosine").places,
}
figure, axes = plt.subplots(1, 2, figsize=(7, 2.6))
for ax, (name, places) in zip(axes, sets.items(), strict=True):
    framed = np.pad(digits.images[places], ((0, 0), (1, 1), (1, 1)))
    rows = [np.hstack(list(framed[i : i + 10])) for i in range(0, 60, 10)]
    ax.imshow(np.vstack(rows), cmap="gray_r")
    ax.set_title(f"{name}: VS {score(digits.data[places], 'cosine'):.1f}")
    ax.axis("off")
