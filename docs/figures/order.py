"""Profiles of two sets that cross: even classes against one common class and many rare ones."""

import matplotlib.pyplot as plt
import numpy as np

from vendiscore import compute

orders = np.linspace(0, 4, 41)
sets = {
    "even: 8 classes of 5": ([5] * 8, "#0072B2", "-"),
    "uneven: one of 20, 20 of one": ([20] + [1] * 20, "#D55E00", "--"),
}
figure, ax = plt.subplots()
for name, (sizes, colour, style) in sets.items():
    labels = np.repeat(np.arange(len(sizes)), sizes)
    scores = list(compute(labels, k="labels", q=list(orders)).values())
    last = next(iter(compute(labels, k="labels", q="inf").values()))
    ax.plot(orders, scores, style, color=colour, lw=2.5, label=name)
    for q in (0, 0.5, 1, 2):
        ax.plot(q, scores[int(np.argmin(abs(orders - q)))], "o", color=colour, ms=7)
    ax.plot(4.5, last, "D", color=colour, ms=7)
ax.set_xticks([0, 0.5, 1, 2, 3, 4, 4.5], ["0", "½", "1", "2", "3", "4", "∞"])
ax.set(
    title="Which of two sets of 40 is more diverse depends on the order",
    xlabel="order q",
    ylabel="effectively different",
    ylim=(0, 22),
    yticks=[0, 5, 10, 15, 20],
)
ax.legend(frameon=False, fontsize=11)
