"""Two growth curves that cross, and what is read off at unequal sizes."""

import matplotlib.pyplot as plt
import numpy as np

from vendiscore import growth

rng = np.random.default_rng(3)
few = rng.integers(0, 15, 800)  # 15 classes, all as common
many = np.minimum(rng.zipf(1.45, 800), 10**6)  # some common classes, and a long tail
sizes = [5, 10, 20, 40, 80, 160, 320, 480, 640, 800]
figure, ax = plt.subplots()
for name, labels, colour, style in (
    ("15 classes, all as common", few, "#0072B2", "-"),
    ("few common classes, a long tail", many, "#D55E00", "--"),
):
    curve = growth(labels, sizes, k="labels", q=1)
    ax.fill_between(curve.sizes, curve.low, curve.high, color=colour, alpha=0.2, lw=0)
    ax.plot(curve.sizes, curve.scores, style, color=colour, lw=2.5, label=name)
ax.set_xscale("log")
ax.set_xticks([5, 10, 20, 40, 80, 160, 320, 800], [5, 10, 20, 40, 80, 160, 320, 800])
ax.set_xticks([], minor=True)
ax.set(
    title="Which source is the more diverse depends on n",
    xlabel="number of samples",
    ylabel="effectively different",
    ylim=(0, None),
)
ax.legend(frameon=False, fontsize=11, loc="upper left")
