import numpy as np

from vendiscore import plots
from vendiscore.magnitude.curve import magnitude_curve

rows = np.random.default_rng(0).standard_normal((40, 3))
plots.magnitude(magnitude_curve(rows), t=1.0)
