"""The Vendi Score as a Hugging Face metric: `evaluate.load("vendiscore.py")`.

`evaluate` copies this script elsewhere. It finds the library (package `vendiscore`) and hands on
its metric, `VendiScore` of `vendiscore/integrations/huggingface.py`.
"""

import importlib

from .library import check, library

__version__ = "0.1.0"

_library = library(__name__, __file__, __version__)
_metrics = importlib.import_module(f"{_library.__name__}.integrations.huggingface")


class VendiScore(_metrics.VendiScore):
    """The metric of the library that goes with this script."""

    def _download_and_prepare(self, dl_manager):
        check(_library)  # `evaluate` runs this file once for all clones that have it
