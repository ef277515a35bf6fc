"""Three sets of twelve digits: copies, one digit by many hands, all ten digits."""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from vendiscore import score

digits = load_digits()
rng = np.random.default_rng(3)
ones = np.flatnonzero(digits.target == 1)
sets = {
    "twelve copies": np.repeat(ones[:1], 12),
    "one digit, twelve hands": rng.choice(ones, 12, replace=False),
    "all ten digits": rng.permutation(
        [rng.choice(np.flatnonzero(digits.target == i % 10)) for i in range(12)]
    ),
}
figure, axes = plt.subplots(1, 3, figsize=(7, 2.2), gridspec_kw={"wspace": 0.15})
for ax, (name, places) in zip(axes, sets.items(), strict=True):
    framed = np.pad(digits.images[places], ((0, 0), (1, 1), (1, 1)))
    ax.imshow(np.vstack([np.hstack(list(framed[i : i + 4])) for i in (0, 4, 8)]), cmap="gray_r")
    ax.set_title(f"{name}\nVendi Score {score(digits.data[places], 'cosine'):.1f}")
    ax.axis("off")
