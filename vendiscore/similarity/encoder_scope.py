"""Detect texts for which an encoder of prose is unsuitable: other scripts, sequences, code, ids."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from ..support.text_detection import are_sequences, looks_like

# Maximum number of samples to check, evenly spaced, and of characters to examine for code.
_MAX_CHECKED = 1_000
_MAX_CHECKED_LENGTH = 1_000
# Minimum fraction of samples that must match a pattern, for example that of identifiers.
_MIN_MATCHING = 0.9
# A single word with a digit, a symbol that prose words do not contain, or camel case.
_IDENTIFIER = re.compile(
    r"(?=\S*[^\W_])(?=\S*(?:[\d_@#/\\:=+*|~^<>\[\]{}%$&]|\w\.\w|[a-z][A-Z]))\S+"
)
# Patterns of code. At least two of them occur in 80 % of C headers, 90 % of shell scripts and
# Python modules, 100 % of 4,000 Python functions and 30 % of single lines of code, but only in
# 0.3 % of 22,000 answers to prompts (27 % of the paragraphs of this package's documents).
_CODE_PATTERNS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"[;{}][ \t]*$",
        r"\w\((?:\w*\)|[^\s()]+[,)])|\w\.\w+\(",
        r"[=!<>]=|[-=]>|::|&&|\|\||(?<![=!<>])[<>+*/%&|-]?=(?!=)\s*\S",
        r"\b[A-Za-z]+_\w+\b|\b[a-z]+[A-Z][a-z]\w*\(",
        r"^[ \t]*(?:(?:def|class|async|function|const|let|var|public|private|static|export) \w"
        r"|import [\w.{*]|from \S+ import |return\b|#include|#define"
        r"|(?:if|for|while|else if|elif) ?\(|for \w+ in |elif |else:|try:)",
        r"</\w+>|/>",
        r"^[ \t]*(?://|#|/\*|\*)|<!--",
    )
)
_MIN_CODE_PATTERNS = 2
_KANA = ("HIRAGANA", "KATAKANA")
_LANGUAGE_NAMES = {"CJK": "Chinese", "HANGUL": "Korean"} | dict.fromkeys(_KANA, "Japanese")


class Mismatch(NamedTuple):
    """The reason why an encoder is unsuitable for samples, and a kernel to use instead.

    Attributes
    ----------
    reason : str
        A clause such as "the samples look like code".
    kernel : str
        The keyword arguments of the kernel, such as "k='ngram_overlap'".
    """

    reason: str
    kernel: str


def find_mismatch(
    texts: Sequence[object], scripts: Sequence[str], *, sequences: bool = False
) -> Mismatch | None:
    """Detect texts that an encoder of prose in the given scripts is unsuitable for.

    Other languages in the same script, such as Spanish for an encoder of English, are not detected.

    Parameters
    ----------
    texts : sequence
        Samples; at most 1,000 of them are checked, evenly spaced.
    scripts : sequence of str
        Scripts that the encoder was trained for, as the first word of names of Unicode
        characters ("LATIN"). If empty, no text is detected.
    sequences : bool, default False
        Whether the texts are known to be biological sequences, as in a FASTA file.

    Returns
    -------
    Mismatch or None
        `reason`, a clause, and `kernel`, the keyword arguments of a suitable kernel; None if no
        mismatch was detected.

    Examples
    --------
    >>> find_mismatch(["CC(=O)O", "c1ccccc1"], ["LATIN"])
    Mismatch(reason='the samples look like SMILES of molecules', kernel="k='morgan'")
    >>> find_mismatch(["猫が座る。", "雨が降る。"], ["LATIN"]).reason
    'the texts are mostly Japanese'
    >>> find_mismatch(["A cat sat.", "Rain fell."], ["LATIN"]) is None
    True
    """
    if not scripts or not len(texts):
        return None
    step = -(-len(texts) // _MAX_CHECKED)  # rounded up
    strings = [text for text in texts[::step] if isinstance(text, str)]
    if sequences or are_sequences(strings):
        reason = "the samples are sequences of letters (proteins or DNA)"
        return Mismatch(reason, "k='ngram_overlap', analyzer='char'")
    pattern = looks_like(strings)
    if pattern:
        sample_type, kernel = pattern
        return Mismatch(f"the samples look like {sample_type}", f"k={kernel!r}")
    script = _describe_other_script(strings, scripts)
    if script:
        return Mismatch(f"the texts are mostly {script}", "k='ngram_overlap'")
    n_identifiers = sum(bool(_IDENTIFIER.fullmatch(text.strip())) for text in strings)
    if 0 < _MIN_MATCHING * len(strings) <= n_identifiers:
        return Mismatch("the samples look like identifiers or numbers", "k='labels'")
    if 2 * sum(map(_is_code, strings)) > len(strings):  # more than half
        return Mismatch("the samples look like code", "k='ngram_overlap'")
    return None


def _is_code(text: str) -> bool:
    """Return whether at least two patterns of program code occur in the beginning of a text."""
    beginning = text[:_MAX_CHECKED_LENGTH]
    n_matching = sum(bool(pattern.search(beginning)) for pattern in _CODE_PATTERNS)
    return n_matching >= _MIN_CODE_PATTERNS


def _describe_other_script(texts: Sequence[str], scripts: Sequence[str]) -> str:
    """Describe the most frequent unsupported script if most letters are in unsupported scripts.

    `scripts` are the supported scripts. The result is a language, such as "Japanese", or "in …
    script". It is "" if at least half of the letters are in supported scripts.
    """
    script_counts: Counter[str] = Counter()  # number of letters
    for character, count in Counter("".join(texts)).items():
        if script := character_script(character):
            script_counts[script] += count
    unsupported_counts = Counter(
        {script: count for script, count in script_counts.items() if script not in scripts}
    )
    if 2 * unsupported_counts.total() <= script_counts.total():
        return ""
    (script, _), *_ = unsupported_counts.most_common(1)
    if script == "CJK" and _most_have_kana(texts):  # Japanese texts also contain kanji
        script = "HIRAGANA"
    return _LANGUAGE_NAMES.get(script, f"in {script.title()} script")


def _most_have_kana(texts: Sequence[str]) -> bool:
    """Return whether at least half of the texts contain kana, so that they are not Chinese."""
    return 2 * sum(any(character_script(x) in _KANA for x in text) for text in texts) >= len(texts)


@cache
def character_script(character: str) -> str:
    """Return the script of a letter, the first word of its Unicode name; "" if it is no letter.

    >>> [character_script(x) for x in "aＡé漢あж1!"]
    ['LATIN', 'LATIN', 'LATIN', 'CJK', 'HIRAGANA', 'CYRILLIC', '', '']
    """
    if unicodedata.category(character) not in ("Lu", "Ll", "Lt", "Lo"):
        return ""
    plain = unicodedata.normalize("NFKC", character)[:1]  # from full-width or mathematical forms
    return unicodedata.name(plain, "").partition(" ")[0]
