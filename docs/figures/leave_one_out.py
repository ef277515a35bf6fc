"""The gain in the score of nine captions by each of them."""

import matplotlib.pyplot as plt
import numpy as np

from vendiscore import explain

captions = [
    "a brown dog runs on the beach",
    "a brown dog runs on the sand",
    "a dog runs on the beach",
    "a brown dog runs along the beach",
    "a cat sleeps on a red sofa",
    "a black cat sleeps on a sofa",
    "two children fly a kite",
    "rain falls over the harbour",
    "rain falls over the harbour",
]
found = explain(captions, k="ngram_overlap", ns=[1, 2], threshold=0.99)
percent = 100 * np.expm1(found.adds)
order = np.argsort(percent)
colours = np.where(percent[order] > 0, "#0072B2", "#D55E00")
figure, ax = plt.subplots()
ax.barh(np.arange(len(captions)), percent[order], color=colours)
ax.axvline(0, color="0.3", lw=1)
ax.set_yticks(np.arange(len(captions)), [captions[i] for i in order], fontsize=10)
ax.set(
    title=f"{len(captions)} captions are {found.score:.2f} effectively different ones",
    xlabel="change of the score by this caption (%)",
)
