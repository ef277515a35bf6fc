"""Kernels, a file for each kind of sample; files of `kernels/` beside the script add theirs."""

from pathlib import Path

# Links are not resolved: a folder of the Hub's cache is made of them. And beside an installed
# package there may be others' folders of that name, such as the package `kernels`.
_beside = Path(__file__).absolute().parents[2]
if (_beside / "vendiscore.py").is_file() and not (_beside / "kernels" / "__init__.py").exists():
    __path__.append(str(_beside / "kernels"))
