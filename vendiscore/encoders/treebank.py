"""Word tokenization of English text by the rules of the Penn Treebank.

The rules come from R. MacIntyre's Treebank tokenizer, as extended in NLTK's `NLTKWordTokenizer`
(Apache License 2.0), and produce the same tokens. Their order matters, because some rules need the
space that an earlier one inserts. Most use `str.replace`, which is fast if nothing matches.
"""

import re
from collections.abc import Sequence
from unicodedata import category

# White space in the rules; `str.split` also splits at \x1c to \x1f.
_SPACE = " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
_SPACE += "\u200a\u2028\u2029\u202f\u205f\u3000"
_CLOSING = "])}>\"' »”’"  # characters allowed after the final period of a text
# The final period of a text and the closing marks after it.
_LAST_PERIOD = re.compile(
    rf"\.(?<!\.\.)([{re.escape(_CLOSING)}]*+)[{_SPACE.replace(chr(10), '')}]*+(?=\n)"
)
_OPENING_QUOTE = re.compile(r"\"(?<=[ (\[{<].)|''(?<=[ (\[{<]..)")
_APOSTROPHE = re.compile("'((?i:re|ve|ll|[mtsdn])?)")
_COMMA = re.compile(r"([:,])(\D)")
_ADJACENT_MARKS = ("::", ":,", ",:", ",,")
_MARK_BEFORE_DIGIT = {mark: re.compile(rf" {mark} (?=\d)") for mark in ",:"}
_PADDED_MARKS = ("*", "[", "]", "(", ")", "{", "}", "<", ">", "--", "»", "”", "’")
_LAST_APOSTROPHE = re.compile("'(?<=[^']')(?= )")
_POSSESSIVE = re.compile(rf"'(?<=[^'\s]')(?=[sSmMdD]?[{_SPACE}])")
_CLITIC = re.compile(rf"(?:'(?:ll|LL|re|RE|ve|VE)|n't|N'T)(?<=[^'\s]...)(?=[{_SPACE}])")
_MAX_BATCH_CHARACTERS = 1 << 14  # number of characters processed together
# A lower-case text with a contraction contains one of these; (?i) matches ı and İ as i.
_CONTRACTION_PARTS = ("cannot", "d'ye", "gimme", "gotta", "lemme", "more'n", "nna", "ı", "\u0307")
_CONTRACTION = re.compile(
    r"(?i)\b(can(?=not\b)|d(?='ye\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)"
    r"|more(?='n\b)|wan(?=na\s))('?\w+)"
)
_TIS, _TWAS = (re.compile(rf"(?i)(?<=[{_SPACE}])('t)({verb})\b") for verb in ("is", "was"))
# Word characters of the package regex (used by NLTK) other than letters, marks and digits.
_LETTER = re.compile("[\u200c\u200dⒶ-ⓩ🄰-🅉🅐-🅩🅰-🆉]")


def tokenize(text: str) -> list[str]:
    """Split a text into words and punctuation, like NLTK's `NLTKWordTokenizer`.

    >>> tokenize('He said, "I can\\'t."')
    ['He', 'said', ',', '``', 'I', 'ca', "n't", '.', "''"]
    """
    return tokenize_all([text])[0]


def tokenize_all(texts: Sequence[str]) -> list[list[str]]:
    """Tokenize many texts, several at once as lines of a single string, which is faster."""
    # Line feeds within a text become tabs, which all rules treat in the same way.
    lines = [text.replace("\n", "\t") for text in texts]
    tokens = []
    start = 0
    while start < len(lines):
        characters = 0
        end = start
        while end < len(lines) and characters < _MAX_BATCH_CHARACTERS:
            characters += len(lines[end])
            end += 1
        # Each text is a line between line feeds, because some rules refer to the start or end of a
        # line.
        separated = _separate_tokens("\n{}\n".format("\n".join(lines[start:end])))
        tokens += [line.split() for line in separated[1:-1].split("\n")]
        start = end
    return tokens


def _separate_tokens(text: str) -> str:
    """Put spaces around each token in lines of text, by the rules of the Penn Treebank.

    The conditions, such as ``if "'" in text``, only skip rules that would not match.
    """
    text = text.replace('\n"', "\n``")
    for mark in "«“‘„":
        text = text.replace(mark, f" {mark} ")
    if "`" in text:
        text = re.sub("``?", r" \g<0> ", text)
    if '"' in text or "''" in text:
        text = _OPENING_QUOTE.sub(" `` ", text)
    if "'" in text:
        text = _APOSTROPHE.sub(_split_apostrophe, text)
    text = _LAST_PERIOD.sub(r" . \1 ", text)
    # Separate commas and colons, unless a digit follows. The second branch is faster, but differs
    # from the first for adjacent marks: a match of _COMMA includes the next character, so the rule
    # skips the second mark of ",,".
    if any(marks in text for marks in _ADJACENT_MARKS):
        text = _COMMA.sub(r" \1 \2", text)
    else:
        for mark, before_digit in _MARK_BEFORE_DIGIT.items():
            if mark in text:
                text = before_digit.sub(mark, text.replace(mark, f" {mark} "))
    if ".." in text:
        text = re.sub(r"\.\.+", r" \g<0> ", text)
    for mark in ";@#$%&?!‒–—―":
        text = text.replace(mark, f" {mark} ")
    text = _LAST_APOSTROPHE.sub(" '", text)
    for mark in _PADDED_MARKS:
        text = text.replace(mark, f" {mark} ")
    text = text.replace("''", " '' ").replace('"', " '' ")
    if "'" in text:
        text = _CLITIC.sub(r" \g<0>", _POSSESSIVE.sub(" '", text))
    lowered = text.lower()
    parts = [part for part in _CONTRACTION_PARTS if part in lowered]
    if not parts:
        return text
    lines = text.split("\n")
    lowered_lines = lowered.split("\n")
    # Apply the slow rules only to the few lines that can contain a contraction.
    for i in [i for i, line in enumerate(lowered_lines) if any(part in line for part in parts)]:
        line = _CONTRACTION.sub(r" \1 \2 ", f" {lines[i]} ")
        # "'tis" and "'twas" match only after a contraction, which adds a space before them;
        # elsewhere the apostrophe is already separated.
        lines[i] = _TWAS.sub(r"\1 \2 ", _TIS.sub(r"\1 \2 ", line))
    return "\n".join(lines)


def _split_apostrophe(match: re.Match[str]) -> str:
    """Return the text of a match, with a space after an apostrophe that starts a word.

    The pattern _APOSTROPHE matches an apostrophe, and the letters of a clitic after it, as in
    "'ve". A match that is a complete clitic is returned unchanged. If its letters are the start of
    a longer word, as in "'velvet", the apostrophe is separated: "' velvet".
    """
    text = match.string
    start, end = match.span()
    before = text[max(start - 1, 0) : start]
    after = text[end : end + 1]
    starts_word = _is_letter(after) and not _is_letter(before)
    return "' " + match[1] if starts_word else match[0]


def _is_letter(character: str) -> bool:
    r"""Return whether `\w` of the package regex matches a character: includes marks, but not ²."""
    unicode_category = category(character or " ")  # "" is the start or end of the text
    return (
        unicode_category[0] in "LM"
        or unicode_category in ("Nd", "Nl", "Pc")
        or bool(_LETTER.match(character))
    )
