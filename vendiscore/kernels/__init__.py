"""Built-in kernels. Users of the metric script can add more by modules in a folder `kernels/`."""

from pathlib import Path

from ..support.suggestions import make_non_callable

# Next to the metric script vendiscore.py, a folder `kernels` contains further kernels. Next to an
# installed package, `kernels` may be an unrelated package. Symbolic links are not resolved, because
# a folder in the cache of the Hub consists of links.
_script_folder = Path(__file__).absolute().parents[2]
if (_script_folder / "vendiscore.py").is_file() and not (
    _script_folder / "kernels" / "__init__.py"
).exists():
    __path__.append(str(_script_folder / "kernels"))

make_non_callable(__name__)
