"""The Vendi Score as a Hugging Face metric: `evaluate.load("vendiscore.py")`.

`evaluate` copies this script into its cache and runs the copy. The copy imports the package
`vendiscore` and defines the metric as a subclass of `VendiScore` in
`vendiscore/integrations/huggingface.py`.
"""

from .library import find_package

__version__ = "0.5.0.dev0"

_package = find_package(__file__, __version__)


class VendiScore(_package.integrations.huggingface.VendiScore):
    """The metric of the package that belongs to this script."""

    # `evaluate` runs a single copy of this file for all clones in which it has the same text.
    # Therefore each call of `evaluate.load`, and each unpickled metric, checks the package.

    def _download_and_prepare(self, dl_manager):
        find_package(__file__, __version__)

    def __getstate__(self):
        return super().__getstate__() | {"package": _package.__path__[0]}

    def __setstate__(self, state):
        find_package(__file__, __version__, state["package"])
        super().__setstate__(state)
