"""Detect strings that are not prose, such as SMILES, and scripts without spaces."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

# Replaces blank texts in long evaluation or training runs, which would otherwise fail.
BLANK = "∅"
# Maximum number of strings to examine, and the fraction of them that must match.
_MAX_EXAMINED = 200
_MIN_MATCHING = 0.9
# Rings, double bonds, and halogens next to another atom indicate a molecule. If all strings can be
# SMILES, at least this fraction must contain one.
_MOLECULE_SIGNS = re.compile(
    r"([1-9])[A-Za-z]{2,}\1|[A-Za-z)][=#][A-Za-z]|[A-Z](?:Cl|Br)\b|\b(?:Cl|Br)[A-Z]"
)
_MIN_MOLECULE_SIGNS = 0.1

IMAGE_EXTENSIONS = (
    *("png", "apng", "jpg", "jpeg", "jpe", "jfif", "gif", "bmp", "dib", "webp", "avif", "heic"),
    *("heif", "tif", "tiff", "ppm", "pgm", "pbm", "pnm", "jp2", "tga"),
)
_IMAGE_NAME = re.compile(rf"\s*\S.*\.(?:{'|'.join(IMAGE_EXTENSIONS)})\s*", re.IGNORECASE)
# Atoms with and without brackets, bonds, branches and rings. No bond, branch or dot at the end,
# because abbreviated words end like this.
_ATOM = r"\d*(?:[A-Z][a-z]?|[bcnops]|as|se|te|\*)@{0,2}(?:H\d?)?(?:\++\d?|-+\d?)?(?::\d+)?\]"
_SMILES = re.compile(
    rf"(?=[A-Za-z\[])(?:Cl|Br|[BCNOPSFIbcnops]|\[{_ATOM}|[-=#$:/\\.()]|%?\d)+(?<![-=#$:/\\.(])"
)
# The 20 amino acids, the rare U and O, the ambiguity codes B, Z and X, and * at the end.
_PROTEIN = re.compile(r"\s*[ACDEFGHIKLMNPQRSTVWYXBZUO]{20,}\*?\s*")
# At least 8 letters: the longest such word in the vocabulary of MiniLM is "cantata".
_NUCLEOTIDES = re.compile(r"\s*[ACGTUN]{8,}\s*", re.IGNORECASE)
_BRACKETED = re.compile(r"\[[^\]]*\]")
# White space and invisible characters.
INVISIBLE_CHARACTERS = (
    " \t\n\v\f\r\x85\xa0\xad\u180e\u2000\u2001\u2002\u2003\u2009\u200a\u200b\u200c\u200d"
)
INVISIBLE_CHARACTERS += "\u200e\u200f\u2028\u2029\u202f\u205f\u2060\u2800\u3000\ufe0f\ufeff"
# Letters of scripts without spaces between words: Thai and Lao, Tibetan, Burmese, Khmer, kana, and
# Chinese characters including the supplementary planes.
_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
_UNSPACED += "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKENIZERS = {
    re.compile("[\u3040-\u30ff\u31f0-\u31ff]"): "tokenizer='ja-mecab'",
    re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"): (
        "tokenizer=jieba.lcut (or 'zh', by characters, but Latin words whole)"
    ),
    re.compile("[\u0e00-\u0e7f]"): "tokenizer=pythainlp.word_tokenize",
}
_UNSPACED_LETTERS = re.compile(f"[{_UNSPACED}]+")
_UNSPACED_GAP = re.compile(f"(?<=[{_UNSPACED}])\\s+(?=[{_UNSPACED}])")
_LETTERS = re.compile(r"[^\W\d_]+")
# Words have fewer letters than this, clauses more. In texts with separated words, a space follows
# about 2 letters of Chinese or 5 of Thai; otherwise it follows a clause, or there is none.
_MAX_WORD_LETTERS = 8


def suggest_tokenizer(texts: Sequence[str]) -> str:
    """Return the argument to suggest for texts in scripts without spaces.

    It depends on the script, for example "tokenizer='ja-mecab'" for Japanese.
    """
    for script, tokenizer in _TOKENIZERS.items():
        if any(script.search(text) for text in texts):
            return tokenizer
    return "a `tokenizer` of your own"


def fill_blanks(samples: object) -> Any:
    """Replace texts that are empty or white space by `BLANK`, also in nested lists.

    >>> fill_blanks([["a", " "], ["", "b"]])
    [['a', '∅'], ['∅', 'b']]
    """
    if isinstance(samples, (list, tuple)):
        return list(map(fill_blanks, samples))
    return BLANK if isinstance(samples, str) and not samples.strip() else samples


def looks_like(strings: Sequence[str], share: float = _MIN_MATCHING) -> tuple[str, str] | None:
    """Detect strings that are not text, such as SMILES.

    Parameters
    ----------
    strings : list of str
        The strings.
    share : float, default 0.9
        Minimum proportion of strings that must match.

    Returns
    -------
    tuple of str or None
        A description and the name of a kernel; None if the strings look like text.

    See Also
    --------
    vendiscore.report.column_kind : Detect the type of a column.

    Examples
    --------
    >>> looks_like(["CC(=O)O", "c1ccccc1"])
    ('SMILES of molecules', 'morgan')
    """
    # Examine every `step`-th string, at most _MAX_EXAMINED in total.
    step = -(-len(strings) // _MAX_EXAMINED)  # rounded up
    examined = strings[::step] if strings else []
    min_count = share * max(1, len(examined))
    if sum(bool(_IMAGE_NAME.fullmatch(text)) for text in examined) >= min_count:
        return "names of image files", "pixels"
    # In a line of a .smi file, the SMILES ends at the first space and a name follows.
    first_words = [(text.split(maxsplit=1) or [""])[0] for text in examined]
    # Words can consist of symbols of atoms only. So require that at least half of the strings have
    # bonds, branches, rings or brackets, as most molecules do, or that at least a tenth of them
    # have _MOLECULE_SIGNS, which words never contain.
    n_with_signs = sum(map(bool, map(_MOLECULE_SIGNS.search, first_words)))
    n_with_symbols = sum(not word.isalpha() for word in first_words)
    has_signs = 2 * n_with_symbols >= len(examined)
    has_signs |= _MIN_MOLECULE_SIGNS * len(examined) <= n_with_signs > 0
    if has_signs and sum(map(can_be_smiles, first_words)) >= min_count:
        return "SMILES of molecules", "morgan"
    return None


def are_proteins(strings: Sequence[str]) -> bool:
    """Return whether 90 % of the strings are a single word of at least 20 amino acid codes."""
    return 0 < _MIN_MATCHING * len(strings) <= sum(map(bool, map(_PROTEIN.fullmatch, strings)))


def are_sequences(strings: Sequence[str]) -> bool:
    """Return whether 90 % of the strings are words of at least 8 nucleotides or 20 amino acids.

    >>> are_sequences(["ACGTTGCA", "acgttgcc"]), are_sequences(["a cat", "tag"])
    (True, False)
    """
    nucleotides = sum(bool(_NUCLEOTIDES.fullmatch(string)) for string in strings)
    return 0 < _MIN_MATCHING * len(strings) <= nucleotides or are_proteins(strings)


def count_unspaced(texts: Sequence[str]) -> int:
    """Count the texts whose words are not separated, in scripts that use no spaces.

    Texts in these scripts with spaces between words, such as segmented Chinese, are not counted.
    """
    joined = "".join(texts)
    if joined.isascii() or not _UNSPACED_LETTERS.search(joined):
        return 0
    return sum(map(_is_unspaced, texts))


def can_be_smiles(text: str) -> bool:
    """Return whether a word has the syntax of SMILES; it may still be chemically invalid."""
    if not _SMILES.fullmatch(text) or text.count("(") != text.count(")"):
        return False
    # A ring is opened and closed by the same digit. Digits in brackets have other meanings.
    counts = Counter(re.findall(r"%\d\d|\d", _BRACKETED.sub("", text)))
    return all(count % 2 == 0 for count in counts.values())


def _is_unspaced(text: str) -> bool:
    """Return whether a text is mostly in a script without spaces, and has few spaces."""
    n_unspaced = sum(map(len, _UNSPACED_LETTERS.findall(text)))
    n_other = sum(map(len, _LETTERS.findall(_UNSPACED_LETTERS.sub(" ", text))))
    n_gaps = len(_UNSPACED_GAP.findall(text))
    # On average, more than _MAX_WORD_LETTERS letters lie between spaces, so these separate clauses.
    return n_unspaced > n_other and n_gaps * _MAX_WORD_LETTERS < n_unspaced


def normalize_text(text: str) -> str:
    """Normalize Unicode form and case, and remove spaces, punctuation and control characters.

    A text that consists only of removed characters is returned unchanged.

    >>> normalize_text("Don\u2019t STOP!") == normalize_text("dont stop")
    True
    """
    # Case folding can undo the normal form, so normalize again.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    # The categories are punctuation, separators such as spaces, and control characters.
    normalized = "".join(char for char in folded if unicodedata.category(char)[0] not in "PZC")
    return normalized or text
