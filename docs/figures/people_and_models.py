"""Halves of the answers of people and of two models, by words and by meaning: who is like whom."""

import json
from pathlib import Path

import matplotlib.pyplot as plt

from vendiscore import plots

# Figures are drawn in the folder of the clone.
RESULTS = Path("benchmarks/results/sources.json")
rows = [row for row in json.loads(RESULTS.read_text())["rows"] if row["part"] == "halves"]
figure, axes = plt.subplots(1, len(rows), figsize=(9.2, 3.4), layout="constrained", sharey=True)
figure.get_layout_engine().set(wspace=0.2, w_pad=0.2)
for ax, row in zip(axes, rows, strict=True):
    names = [one["name"] for one in row["sources"]]
    plots.heat_map(row["similarity"], labels=names, ax=ax)
    ax.set(title=f"by {row['by']}: {row['VS']:.2f} of 6, corrected {row['VS_corrected']:.2f}")
