"""The Vendi Score as a Hugging Face metric: `evaluate.load("vendiscore.py")`.

`evaluate` copies this script elsewhere. It finds the library (package `vendiscore`) and hands on
its metric, `VendiScore` of `vendiscore/integrations/huggingface.py`.
"""

from .library import check, library

__version__ = "0.5.0.dev0"

_library = library(__name__, __file__, __version__)


class VendiScore(_library.integrations.huggingface.VendiScore):
    """The metric of the library that goes with this script."""

    def _download_and_prepare(self, dl_manager):
        check(_library)  # `evaluate` runs this file once for all clones that have it
