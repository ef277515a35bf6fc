"""The error of the trapezoidal rule and its proven bound, from the committed results."""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

# Figures are drawn in the folder of the clone.
RESULTS = Path("benchmarks/results/identity.json")
rows = [row for row in json.loads(RESULTS.read_text())["rows"] if "step" in row]
steps = [row["step"] for row in rows]
line = np.linspace(0.66, 3.1, 100)
figure, ax = plt.subplots()
proved = 8 * np.pi * np.exp(-2 * np.pi**2 / line)
ax.semilogy(line, proved, color="0.3", lw=2, label="8π exp(−2π²/h)")
for name, key, form in (
    ("all nodes", "error_of_the_rule", {"marker": "o", "color": "#0072B2", "ms": 9}),
    ("nodes used by vendiscore", "error", {"marker": "^", "color": "#D55E00", "ms": 8}),
):
    ax.plot(steps, [row[key] for row in rows], ls="", label=name, **form)
for row in rows:
    where = (row["step"], row["error"])
    ax.annotate(f"{row['nodes']} nodes", where, (8, -14), textcoords="offset points")
ax.set(
    title="Error of the trapezoidal rule",
    xlabel="step h in log t",
    ylabel="largest error",
    xlim=(0.5, 3.4),
    ylim=(1e-13, 1),
)
ax.legend(frameon=False, fontsize=11, loc="lower right")
