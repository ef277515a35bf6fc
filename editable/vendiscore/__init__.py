"""The package of this clone, for an editable install, which has this folder alone on its path.

Without a package on the path, Python takes the folder of a clone for a package without files.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_init = Path(__file__).resolve().parents[2] / __name__ / "__init__.py"
_spec = spec_from_file_location(__name__, _init, submodule_search_locations=[str(_init.parent)])
sys.modules[__name__] = module_from_spec(_spec)
_spec.loader.exec_module(sys.modules[__name__])
