"""What strings are by their looks: names of images, SMILES, scripts without spaces.

A look costs a thousandth of what comparing n-grams does, of Chinese a twentieth. It errs on the
side of text, and leads to a warning, or to n-grams of characters where no words can be seen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# So many of the strings are looked at, and so large a share of them must look alike.
LOOKED_AT = 200
SHARE = 0.9

_IMAGE = re.compile(r"\S.*\.(png|jpe?g|gif|bmp|webp|tiff?)", re.IGNORECASE)
# Atoms that need no brackets, anything in brackets, bonds, branches and closed rings.
_SMILES = re.compile(
    r"(?=[A-Za-z\[])(?:Cl|Br|[BCNOPSFIbcnops]|\[[^\[\]\s]+\]|[-=#$:/\\.()]|%?\d+)+"
)
_BRACKETED = re.compile(r"\[[^\]]*\]")
# Letters of scripts that do not write spaces between words: Thai and Lao, Tibetan, Burmese, Khmer,
# kana, and Chinese characters, with their later planes.
_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
_UNSPACED += "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(f"[{_UNSPACED}]+")
_GAP = re.compile(f"(?<=[{_UNSPACED}])\\s+(?=[{_UNSPACED}])")
_LETTERS = re.compile(r"[^\W\d_]+")
# Words have fewer letters than this, clauses more: people who split words of such a script write a
# space after 2 letters of Chinese and 5 of Thai, others after a clause or never.
_WORD = 8


def kernel_meant(strings: Sequence[str]) -> tuple[str, str] | None:
    """What nearly all strings look like if not text, and the kernel for it.

    >>> kernel_meant(["CCO", "c1ccccc1O", "CC(=O)O"])
    ('SMILES of molecules', 'morgan')
    >>> kernel_meant(["cats/1.png", "cats/2.png"])
    ('names of image files', 'pixels')
    >>> kernel_meant(["See Spot run."])
    """
    some = strings[:: -(-len(strings) // LOOKED_AT)]
    enough = SHARE * len(some)
    if sum(_IMAGE.fullmatch(s) is not None for s in some) >= enough:
        return "names of image files", "pixels"
    # Words may consist of letters of atoms; most molecules show a bond, branch, ring or bracket.
    marked = 2 * sum(not s.isalpha() for s in some) >= len(some)
    if marked and sum(map(_is_smiles, some)) >= enough:
        return "SMILES of molecules", "morgan"
    return None


def unspaced(texts: Sequence[str]) -> int:
    """How many of the texts are mostly in letters of scripts that write no spaces between words.

    >>> unspaced(["See Spot run.", "今天下雨。", "今天 下雨 。"])
    1
    """
    whole = "".join(texts)
    return 0 if whole.isascii() or not _RUN.search(whole) else sum(map(_is_unspaced, texts))


def _is_smiles(text: str) -> bool:
    if not _SMILES.fullmatch(text) or text.count("(") != text.count(")"):
        return False
    rings = re.findall(r"%\d\d|\d", _BRACKETED.sub("", text))
    return all(rings.count(ring) % 2 == 0 for ring in rings)


def _is_unspaced(text: str) -> bool:
    own = sum(map(len, _RUN.findall(text)))
    others = sum(map(len, _LETTERS.findall(_RUN.sub(" ", text))))
    return own > others and len(_GAP.findall(text)) * _WORD < own
