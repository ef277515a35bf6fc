"""Words and punctuation of English text, by the rules of the Penn Treebank.

The rules come from R. MacIntyre's tokenizer for the Treebank, as NLTK extended them in its
`NLTKWordTokenizer` (Apache License 2.0), and the tokens are the same. Their order matters: some
need the space that an earlier one inserts. Most are `str.replace`, fast where nothing is to do.
"""

from __future__ import annotations

import re
from unicodedata import category

# Whitespace of the rules; `str.split` also splits at \x1c to \x1f.
_SPACE = " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
_SPACE += "\u200a\u2028\u2029\u202f\u205f\u3000"
_CLOSING = "])}>\"' »”’"  # characters allowed after the period that ends a text
_OPENING_QUOTE = re.compile(r"([ (\[{<])(?:\"|'')")
_APOSTROPHE = re.compile("'((?i:re|ve|ll|[mtsdn])?)")
_COMMA = re.compile(r"([:,])(\D|\Z)")
_BESIDE = re.compile("[:,][:,]")
_IN_NUMBER = {mark: re.compile(rf" {mark} (?=\d)") for mark in ",:"}
_PADDED = ("*", "[", "]", "(", ")", "{", "}", "<", ">", "--", "»", "”", "’")
_LAST_APOSTROPHE = re.compile("'(?<=[^']')(?= )")
_POSSESSIVE = re.compile(rf"'(?<=[^'\s]')(?=[sSmMdD]?[{_SPACE}])")
_CLITIC = re.compile(rf"(?:'(?:ll|LL|re|RE|ve|VE)|n't|N'T)(?<=[^'\s]...)(?=[{_SPACE}])")
# Lower-cased text with a contraction contains one of these; (?i) takes ı and İ for i.
_CONTRACTED = ("cannot", "d'ye", "gimme", "gotta", "lemme", "more'n", "nna", "ı", "\u0307")
_CONTRACTION = re.compile(
    r"(?i)\b(can(?=not\b)|d(?='ye\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)"
    r"|more(?='n\b)|wan(?=na\s))('?\w+)"
)
_TIS, _TWAS = (re.compile(rf"(?i)(?<=[{_SPACE}])('t)({verb})\b") for verb in ("is", "was"))
# Word characters of the package regex, which NLTK uses, beyond letters, marks and digits.
_LETTER = re.compile("[\u200c\u200dⒶ-ⓩ🄰-🅉🅐-🅩🅰-🆉]")


def tokenize(text: str) -> list[str]:
    """Return the words and punctuation of a text, as NLTK's `NLTKWordTokenizer` splits them.

    >>> tokenize('He said, "I can\\'t."')
    ['He', 'said', ',', '``', 'I', 'ca', "n't", '.', "''"]
    """
    text = "``" + text[1:] if text.startswith('"') else text
    for mark in "«“‘„":
        text = text.replace(mark, f" {mark} ")
    if "`" in text:
        text = re.sub("``?", r" \g<0> ", text)
    if '"' in text or "''" in text:
        text = _OPENING_QUOTE.sub(lambda match: f"{match[1]} `` ", text)
    text = _APOSTROPHE.sub(_apart, text)
    body = (whole := text.rstrip(_SPACE)).rstrip(_CLOSING)
    if body.endswith(".") and not body.endswith(".."):
        text = f"{body[:-1]} . {whole[len(body) :]} "
    if _BESIDE.search(text):  # commas and colons are put apart, unless a digit follows
        text = _COMMA.sub(r" \1 \2", text)
    else:
        for mark, before_digit in _IN_NUMBER.items():
            if mark in text:
                text = before_digit.sub(mark, text.replace(mark, f" {mark} "))
    if ".." in text:
        text = re.sub(r"\.{2,}", r" \g<0> ", text)
    for mark in ";@#$%&?!‒–—―":
        text = text.replace(mark, f" {mark} ")
    text = _LAST_APOSTROPHE.sub(" '", text)
    for mark in _PADDED:
        text = text.replace(mark, f" {mark} ")
    text = f" {text} ".replace("''", " '' ").replace('"', " '' ")
    if "'" in text:
        text = _CLITIC.sub(lambda match: f" {match[0]}", _POSSESSIVE.sub(" '", text))
    lowered = text.lower()
    if any(word in lowered for word in _CONTRACTED):
        text = _CONTRACTION.sub(r" \1 \2 ", text)
        # Only after a contraction: elsewhere the apostrophe is split off by now.
        text = _TWAS.sub(r"\1 \2 ", _TIS.sub(r"\1 \2 ", text))
    return text.split()


def _apart(match: re.Match[str]) -> str:
    """Split an apostrophe from the word after it, unless that word is a clitic, as in 've."""
    text, (start, end) = match.string, match.span()
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    return "' " + match[1] if _is_letter(after) and not _is_letter(before) else match[0]


def _is_letter(character: str) -> bool:
    """Return whether `\\w` of the package regex matches a character: marks too, but not ²."""
    kind = category(character or " ")
    return kind[0] in "LM" or kind in ("Nd", "Nl", "Pc") or bool(_LETTER.match(character))
