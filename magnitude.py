"""The magnitude of a metric space as a Hugging Face metric: `evaluate.load("magnitude.py")`.

`evaluate` copies this script elsewhere. It finds the library (package `vendiscore`) and hands on
its metric, `Magnitude` of `vendiscore/integrations/huggingface.py`.
"""

from .library import check, library

__version__ = "0.5.0.dev0"

_library = library(__name__, __file__, __version__)


class Magnitude(_library.integrations.huggingface.Magnitude):
    """The metric of the library that goes with this script."""

    def _download_and_prepare(self, dl_manager):
        check(_library)  # `evaluate` runs this file once for all clones that have it
