"""
Magnitude at all scales
=======================

From far away a set of points is one point; close up, every point counts. *Magnitude* is the
effective number of points in between, as a function of the scale t. You will see

* the magnitude functions of simple spaces, from 1 to n, and where they converge,
* plateaus at the numbers of clusters, and of clusters in clusters,
* slopes, which distinguish a line from a square,
* areas under the function, which show that a set has dropped modes, and a trap,
* the Vendi Score at the same scales, and its differences.
"""

# %%
# Four spaces of 900 points
# -------------------------
# With d the distances of the points and Z = exp(−t d), magnitude is the sum of the weights w with Z
# w = 1. At small t all entries of Z are near 1 and the points share one unit of weight; at large t
# Z is the identity and each has its own. :py:func:`vendiscore.magnitude_function` computes it at
# any scales.
import matplotlib.pyplot as plt
import numpy as np

from vendiscore import (
    convergence_scale,
    mag_area,
    mag_areas,
    mag_diff,
    magnitude_dimension,
    magnitude_function,
    score,
)

plt.style.use("tableau-colorblind10")
plt.rcParams.update({"font.size": 12, "figure.constrained_layout.use": True})
rng = np.random.default_rng(0)

SIDE = 30
n = SIDE**2
along, turn = np.linspace(0, 1, n), np.linspace(0, 2 * np.pi, n, endpoint=False)
grid = np.linspace(0, 1, SIDE)
spaces = {
    "two clusters": np.repeat([[0.0, 0.5], [1.0, 0.5]], n // 2, axis=0)
    + 1e-4 * rng.standard_normal((n, 2)),
    "line": np.stack([along, np.full(n, 0.5)], axis=1),
    "circle": 0.5 + 0.5 * np.stack([np.cos(turn), np.sin(turn)], axis=1),
    "square": np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2),
}
colours = dict(zip(spaces, ["C1", "C0", "0.35", "C5"], strict=True))
sizes = dict(zip(spaces, [6, 2, 2, 0.8], strict=True))
lines = dict(zip(spaces, ["-", "-", "--", "-"], strict=True))
scales = np.geomspace(0.1, 1e6, 36)
functions = {name: magnitude_function(X, scales=scales) for name, X in spaces.items()}

figure = plt.figure(figsize=(7.4, 5.1))
mosaic = [[name, *3 * ["all"]] for name in spaces]
axes = figure.subplot_mosaic(mosaic)
for name, X in spaces.items():
    axes[name].plot(*X.T, ".", color=colours[name], ms=sizes[name])
    axes[name].set(title=name, xlim=(-0.15, 1.15), ylim=(-0.15, 1.15), aspect="equal")
    axes[name].set(xticks=[], yticks=[])
    axes["all"].loglog(*functions[name], lines[name], lw=3, color=colours[name])
axes["all"].set(xlabel="scale t", ylabel="magnitude", title="From one point to 900")
axes["all"].set_yticks([1, 2, 10, 100, 900], ["1", "2", "10", "100", "900"])
axes["all"].minorticks_off()
axes["all"].grid(alpha=0.3)
plt.show()

# %%
# The two clusters stay near 2 over a hundredfold of scales: these scales separate the clusters, but
# not the points in them. The other functions have no plateau. At the *convergence scale* a set has
# 95 % of its points: closer points have a larger one. It has the unit of 1 / distance.
for name, X in spaces.items():
    print(f"{name:13} converges at t = {convergence_scale(X):,.0f}")

# %%
# Plateaus count clusters
# -----------------------
# Three clusters, each of four smaller ones, each of ten points: at every scale, magnitude counts
# the separable ones. On a plateau the number does not depend on the scale, so quote it.
corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
large = np.array([[0, 0], [1, 0], [0.5, 0.8]])
nested = (large[:, None] + 1e-3 * corners).reshape(-1, 2)
nested = (nested[:, None] + 1e-6 * rng.random((12, 10, 2))).reshape(-1, 2)
scales = np.geomspace(0.1, 1e9, 80)
found = magnitude_function(nested, scales=scales)
slopes = magnitude_dimension(nested, scales=scales).values

figure, ax = plt.subplots(figsize=(8, 4))
ax.loglog(*found, lw=3)
flat = slopes < 0.02
ax.loglog(scales[flat], found.values[flat], "o", ms=9, color="C1", label="slope below 0.02")
ax.set_yticks([1, 3, 12, 120], ["1", "3", "12", "120"])
ax.minorticks_off()
ax.grid(alpha=0.3)
ax.set(xlabel="scale t", ylabel="magnitude", title="3 clusters of 4 clusters of 10 points")
ax.legend(frameon=False)
plt.show()
print("magnitude where it is flat:", *sorted({int(value.round()) for value in found.values[flat]}))

# %%
# Slopes show the dimension
# -------------------------
# At twice the scale, a line has about twice as many separable points, and a square four times as
# many: the slope of the curve, with both axes in logarithms, is the dimension. The slope shows the
# dimension only in between, since every finite set is one point from far away and n points close
# up. The largest of :py:func:`vendiscore.magnitude_dimension` is an estimate, and need not be an
# integer: the 900 points of the square, only 30 to a side, leave it well below 2.
figure, ax = plt.subplots(figsize=(7, 4))
scales = np.geomspace(0.3, 3e4, 40)
for name in ("square", "circle", "line"):
    slopes = magnitude_dimension(spaces[name], scales=scales)
    ax.semilogx(*slopes, lines[name], lw=3, color=colours[name], label=name)
    print(f"{name:6} largest slope {slopes.values.max():.2f}")
for dimension in (1, 2):
    ax.axhline(dimension, color="0.6", ls=":")
ax.set(xlabel="scale t", ylabel="slope of log magnitude", title="The dimension at each scale")
ax.legend(frameon=False)
plt.show()

# %%
# Areas show dropped modes
# ------------------------
# A reference has five modes; a model returns equally many samples, but from two of the modes. The
# area under a magnitude function, *MagArea*, adds up all scales, and :py:func:`vendiscore.mag_diff`
# is the integral of the difference of two of them, up to the convergence scale of the reference:
# negative for less diverse samples, and with ``relative=True`` as a share of the reference's area.
# Where the functions cross, positive and negative parts cancel; here they do not cross.
angles = 2 * np.pi * np.arange(5) / 5
modes = np.stack([np.cos(angles), np.sin(angles)], axis=1)
noise = 0.12 * rng.standard_normal((2, 250, 2))
reference = modes[np.arange(250) % 5] + noise[0]
dropped = modes[np.arange(250) % 2] + noise[1]
cut = convergence_scale(reference)
scales = np.linspace(0, cut, 40)
ours, theirs = (magnitude_function(X, scales=scales) for X in (dropped, reference))

figure, axes = plt.subplots(1, 2, figsize=(9, 4), width_ratios=[2, 3])
axes[0].plot(*reference.T, "o", color="C0", ms=4, alpha=0.5, label="reference")
axes[0].plot(*dropped.T, "x", color="C1", ms=5, label="two modes only")
axes[0].set(aspect="equal", xlabel="x", ylabel="y", ylim=(-1.5, 2.1))
axes[0].legend(frameon=False, loc="upper center", ncols=1)
axes[1].plot(*theirs, lw=3, color="C0")
axes[1].plot(*ours, lw=3, color="C1", ls="--")
axes[1].fill_between(scales, ours.values, theirs.values, color="C1", alpha=0.25)
axes[1].text(0.5 * cut, 0.25 * theirs.values[-1], "MagDiff is minus\nthis area")
axes[1].set(xlabel="scale t", ylabel="magnitude", title="250 samples each", ylim=(0, None))
plt.show()

share = mag_diff(dropped, reference, relative=True)
print(f"MagDiff {mag_diff(dropped, reference):.0f}, or {share:.0%} of the reference's area")

# %%
# **The trap**: without a common end, the area of a set goes up to its *own* convergence scale,
# which is the larger the closer its points are. So here the worse set has the larger area. Compare
# areas by :py:func:`vendiscore.mag_areas`, with one end for all, or pass one `t_cut`.
print("each to its own end:   ", *(f"{mag_area(X):.0f}" for X in (reference, dropped)))
areas = mag_areas([reference, dropped], t_cut=cut)
print("both to the reference's:", *(f"{area:.0f}" for area in areas))

# %%
# Comparison with the Vendi Score
# -------------------------------
# The Vendi Score has a similar curve over scales: the kernel "laplacian" with σ = 1/t is
# Z itself, with Manhattan distances. Both go from 1 to n. They differ in what they count. Here 90 %
# of 200 points are in one cluster and 10 % in another.
uneven = np.repeat([[0.0, 0.0], [1.0, 0.0]], [180, 20], axis=0)
uneven = uneven + 1e-4 * rng.standard_normal((200, 2))
scales = np.geomspace(0.1, 1e6, 50)
curves = {"magnitude": magnitude_function(uneven, scales=scales, metric="manhattan").values}
for q in (1, 2):
    name = f"Vendi Score, q = {q}"
    curves[name] = [score(uneven, k="laplacian", sigma=1 / t, q=q) for t in scales]

figure, axes = plt.subplots(1, 2, figsize=(9, 4))
looks = [("C1", "-"), ("C0", "--"), ("C5", "-.")]
for (name, values), (colour, line) in zip(curves.items(), looks, strict=True):
    axes[0].loglog(scales, values, line, lw=3, color=colour, label=name)
    axes[1].semilogx(scales, values, line, lw=3, color=colour)
axes[0].set(title="One point to 200 …", xlabel="scale t", ylabel="effective number")
axes[0].set_yticks([1, 2, 10, 200], ["1", "2", "10", "200"])
axes[0].minorticks_off()
axes[0].legend(frameon=False)
axes[1].set(title="… by way of two clusters", xlabel="scale t", ylim=(0.9, 2.5), xlim=(0.1, 3e3))
plt.show()

middle = 10.0  # a scale on the plateau
two = [score(uneven, k="laplacian", sigma=1 / middle, q=q) for q in (1, 2)]
one = magnitude_function(uneven, scales=[middle], metric="manhattan").values[0]
p = np.array([0.9, 0.1])
print(
    f"at t = {middle:.0f}: magnitude {one:.2f}, Vendi Score {two[0]:.2f} (q=1), {two[1]:.2f} (q=2)"
)
print(f"exp of the entropy of the shares: {np.exp(-p @ np.log(p)):.2f}")
print(f"1 / the sum of their squares: {1 / (p @ p):.2f}")

# %%
# Magnitude counts both clusters equally, whatever their sizes: copies add nothing, so a rare
# cluster counts as much as a common one. The Vendi Score weighs clusters by their shares, so a rare
# cluster counts little, and less at a higher order q. Magnitude describes the *support*, the Vendi
# Score the *distribution*.
#
# Take away
# ---------
# * A magnitude function shows all scales; a plateau is a number of clusters that can be quoted
#   without a scale.
# * Compare two sets over one interval of scales: by `mag_diff`, `mag_areas` or a common `t_cut`.
# * Its slope is the dimension, if there are enough points.
# * With a kernel that has a bandwidth, a Vendi Score is at *one* scale. If you do not know the
#   scale, try several `sigma`, and quote the one that you used.
#
# Next: :doc:`../concepts/magnitude` for definitions; :doc:`../reference/magnitude` for distances of
# texts, molecules and kernels; :doc:`../choose` to choose between the two.
