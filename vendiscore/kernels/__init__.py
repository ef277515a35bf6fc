"""Kernels, a file for each kind of sample; files of `kernels/` next to the script add more."""

from pathlib import Path

from ..support.suggestions import make_non_callable

# Links are not resolved: a folder of the Hub's cache consists of links. Next to an installed
# package another package may be called `kernels`.
_script_folder = Path(__file__).absolute().parents[2]
if (_script_folder / "vendiscore.py").is_file() and not (
    _script_folder / "kernels" / "__init__.py"
).exists():
    __path__.append(str(_script_folder / "kernels"))

make_non_callable(__name__)
