"""The magnitude function of five clusters has a plateau at five."""

import matplotlib.pyplot as plt
import numpy as np

from vendiscore.magnitude.magnitude_functions import convergence_scale, magnitude_function, spread

BLUE, ORANGE = "#0072B2", "#D55E00"
rng = np.random.default_rng(0)
angles = 2 * np.pi * np.arange(5) / 5
centres = np.column_stack([np.cos(angles), np.sin(angles)])
X = np.repeat(centres, 8, axis=0) + 0.004 * rng.standard_normal((40, 2))
scales = np.geomspace(0.02, 3e4, 120)

figure, (left, ax) = plt.subplots(1, 2, width_ratios=[1, 2.2])
left.plot(*X.T, "o", color=BLUE, ms=4, alpha=0.6)
left.set(aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1], xlim=(-1.3, 1.3), ylim=(-1.3, 1.3))
left.set(title="40 points, 5 clusters", xlabel="first coordinate", ylabel="second coordinate")

ax.plot(*magnitude_function(X, scales=scales), color=BLUE, lw=2.5, label="magnitude")
ax.plot(scales, [spread(X, t) for t in scales], "--", color=ORANGE, lw=2, label="spread")
for height in (5, 40):
    ax.axhline(height, color="0.5", lw=1, ls=":")
ax.axvline(convergence_scale(X), color="0.3", lw=1.2, ls="--")
ax.annotate("t_conv", (convergence_scale(X), 1.15), (6, 0), textcoords="offset points")
ax.set(xscale="log", yscale="log", xlabel="scale t", ylabel="effective number of points")
ax.set_yticks([1, 5, 40], ["1", "5", "40"])
ax.set_yticks([], minor=True)
ax.set_title("One, then five, then forty")
ax.legend(frameon=False, fontsize=11, loc="upper left")
