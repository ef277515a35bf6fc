"""The magnitude of a metric space as a Hugging Face metric: `evaluate.load("magnitude.py")`.

`evaluate` copies this script elsewhere. It finds the library (package `vendiscore`) and hands on
the class, which is in `vendiscore/integrations/huggingface.py`.
"""

import importlib

from .library import library

__version__ = "0.1.0"

_package = library(__name__, __file__, __version__).__name__

Magnitude = importlib.import_module(f"{_package}.integrations.huggingface").Magnitude
