"""Suggest a valid name or call in the message about an unknown name.

One rule is used for names of every kind (`suggest_name`):

1. A synonym of an accepted name, from the table SYNONYMS (`synonyms`): suggest that name.
2. A name that is not an accepted one, but occurs in the table ELSEWHERE: show the sentence from
   this table, which says what to use instead.
3. A name that is accepted elsewhere, such as a flag of another command: show where.
4. An abbreviation or misspelling of an accepted name or of its synonyms: suggest that name.
5. A name of another kind, such as a measure passed as a kernel: show how to pass it.
6. Otherwise: list accepted names that are similar, each with its description, if there are any.

Rules 1 to 3 also apply to the name without a word such as "max" or "path" at its beginning or end
(`max_samples`, `output_path`). A name is suggested only if it accepts the value that was passed.
"""

import difflib
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Literal, NoReturn

from .accepted_values import ACCEPTED_VALUES
from .synonyms import HINTS_BY_WORD, SYNONYMS, TARGETS_BY_SYNONYM, NameKind

# Minimum `difflib` ratio of a misspelling; 0.65 would suggest "--split" for "--plot".
MIN_SPELLING_SIMILARITY = 0.8
# Minimum length of an abbreviation such as "ngram" for "ngram_overlap".
MIN_PREFIX_LENGTH = 4
# Minimum `difflib` ratio of names that are listed as similar and share no word with the name.
MIN_LISTED_SIMILARITY = 0.65
# First and last words of names that do not change their meaning.
_OPTIONAL_FIRST_WORDS = {"compute", "do", "enable", "get", "input", "my", "print", "return"}
_OPTIONAL_FIRST_WORDS |= {"set", "show", "target", "use", "with"}
_OPTIONAL_LAST_WORDS = {"col", "column", "count", "dir", "directory", "field", "file", "filename"}
_OPTIONAL_LAST_WORDS |= {"flag", "fn", "folder", "func", "function", "list", "method", "n", "name"}
_OPTIONAL_LAST_WORDS |= {"num", "option", "param", "path", "size", "str", "string", "type"}
_OPTIONAL_LAST_WORDS |= {"value", "values"}
_COUNT_WORDS = {"max", "min", "n", "num", "number", "total"}
# Names that are listed with their descriptions if there is no better suggestion.
MAX_CANDIDATES = 3
# Longer lists of names are not shown.
MAX_LISTED_NAMES = 12
MAX_DESCRIPTION_LENGTH = 100
# Default of `value`: the name was used without a value.
NO_VALUE = object()

# Sentences about a name of one kind that was used as another; {} is the name.
_OTHER_KINDS: dict[NameKind, str] = {
    "measure": "'{0}' is a measure; pass measures='{0}'.",
    "kernel": "'{0}' is a kernel; pass k='{0}'.",
    "metric": "'{0}' is a distance; pass metric='{0}' with a measure such as 'MagArea'.",
    "function": "Use the function vendiscore.{0}.",
}
_RELATED_KINDS: dict[NameKind, tuple[NameKind, ...]] = {
    "function": ("measure", "kernel"),
    "kernel": ("measure",),
    "keyword": ("kernel", "measure", "function"),
    "measure": ("kernel", "function"),
    "metric": ("kernel",),
}

# A model is OWNER/NAME on the Hugging Face Hub or a path. It is taken to be an image model if its
# name contains one of _VISION_MODEL_NAMES.
_VISION_MODEL_NAMES = (
    "dino",
    "clip",
    "vit",
    "resnet",
    "inception",
    "convnext",
    "swin",
    "beit",
    "mae",
)
_HUB_ID = re.compile(r"[^/]*(?:/[^/]+)+")
_CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_WORD_PART = re.compile(r"[A-Za-z0-9]+")
_DOCSTRING_SECTION = re.compile(r"\n(\w[\w ]*)\n-+\n")
_DOCSTRING_ENTRY = re.compile(r"^([\w*, .]+?)(?: : .*)?\n((?:    .*\n?|\n)+)", re.MULTILINE)


_MAX_NAME_LENGTH = 200  # characters of a name that are compared with other names


def suggest_name(
    name: object,
    candidates: Mapping[str, str] | Iterable[str],
    extra_names: Mapping[str, str] | Iterable[str] = (),
    *,
    kind: NameKind | None = None,
    value: object = NO_VALUE,
    other_scopes: Mapping[str, str] = MappingProxyType({}),
    quote: str = "'",
    fallback: str = "",
) -> str:
    """Return a hint for an unknown name: a suggestion, or the most similar names.

    Parameters
    ----------
    name : object
        The unknown name.
    candidates : dict or iterable of str
        Accepted names, as a dict from names to descriptions if they have any. They are listed if
        they are at most MAX_LISTED_NAMES.
    extra_names : dict or iterable of str, optional
        Further accepted names, which are not listed.
    kind : NameKind, optional
        What is named, such as "kernel" or "keyword", which selects the synonyms to use. By default,
        synonyms are not used.
    value : object, optional
        The value that was passed with the name; keywords that do not accept it are not suggested.
    other_scopes : dict of str to str, optional
        Names that are accepted elsewhere, and where, for example {"sigma": "an option of 'rbf'"}.
    quote : str, default "'"
        Quotation mark around names.
    fallback : str, default ""
        Where to find all names, if there is no suggestion and they are too many to list.
    """
    name = _shorten(name)
    listed = _with_descriptions(candidates)
    accepted = _with_descriptions(extra_names) | listed
    # The unknown name itself is not suggested, even if `extra_names` contains it.
    if str(name) not in listed:
        accepted.pop(str(name), None)
    hint = suggestion(name, accepted, kind, value, other_scopes, quote)
    has_many_names = len(listed) > MAX_LISTED_NAMES
    if hint and has_many_names:
        return hint
    # Without a suggestion, show the most similar names with their descriptions. Names without
    # descriptions are only listed, unless they are too many.
    if not hint and (has_many_names or any(listed.values())):
        hint = describe_candidates(name, accepted, kind, quote)
    if has_many_names:
        return f"{hint}\n{fallback}".strip()
    available = f"Available: {', '.join(sorted(listed))}." if listed else ""
    return join_hint(hint, available)


def _shorten(name: object) -> object:
    """Return the beginning of a very long name, as comparing spellings takes quadratic time."""
    return name[:_MAX_NAME_LENGTH] if isinstance(name, str) else name


def join_hint(hint: str, sentence: str) -> str:
    """Join a hint and a sentence; after a hint of several lines, the sentence is a line."""
    separator = "\n" if "\n" in hint else " "
    return f"{hint}{separator}{sentence}".strip()


def describe_other_scope(name: str, target: str, where: str, quote: str = "") -> str:
    """Return a hint that `target`, which was probably meant by `name`, is valid elsewhere.

    `where` is the predicate of a sentence, such as "a flag of compare".
    """
    sentence = f"It is {where}."
    if normalize_name(target) == normalize_name(name):
        return sentence
    return f"Did you mean {quote}{target}{quote}? {sentence}"


def suggestion(
    name: object,
    accepted: Mapping[str, str] | Iterable[str],
    kind: NameKind | None = None,
    value: object = NO_VALUE,
    other_scopes: Mapping[str, str] = MappingProxyType({}),
    quote: str = "'",
) -> str:
    """Return a sentence with what was probably meant by the unknown `name`; "" if unclear.

    `accepted` are the valid names, and `other_scopes` maps names that are valid elsewhere to a
    description of where. `name` can be a synonym, abbreviation or misspelling of one of them, or a
    name of another kind, such as a measure that was passed as a kernel. `kind` selects the synonyms
    of this kind of names. Names that do not accept `value` are not suggested.
    """
    name = _shorten(name)
    accepted = _with_descriptions(accepted)
    # In this order: synonyms and replacements, misspelled accepted names, names of another kind,
    # and misspelled names that are accepted elsewhere.
    for variant in name_variants(str(name)) if kind else [str(name)]:
        if hint := _suggest_exact(variant, accepted, kind, value, other_scopes, quote):
            return hint
    close = closest_spelling(name, [*accepted, *other_scopes], kind)
    if close in accepted and accepts_value(close, value):
        return _format_targets([close], accepted, value, quote)
    if kind and (hint := _describe_other_kind(name, kind, value)):
        return hint
    if close and close in other_scopes:
        return describe_other_scope(str(name), close, other_scopes[close], quote)
    return ""


def _suggest_exact(
    name: str,
    accepted: Mapping[str, str],
    kind: NameKind | None,
    value: object,
    other_scopes: Mapping[str, str],
    quote: str,
) -> str:
    """Return a suggestion for a name that is not misspelled, or "" if it is unknown.

    The name is known if it is a synonym of an accepted name, occurs in the table ELSEWHERE, which
    says what to use instead, or is one of `other_scopes`, the names that are valid elsewhere.
    """
    if targets := resolve_synonyms(name, accepted, kind):
        return _format_targets(targets, accepted, value, quote)
    if kind and (hint := replacement_hint(name, kind)):
        return hint
    for target in resolve_synonyms(name, other_scopes, kind):
        return describe_other_scope(name, target, other_scopes[target], quote)
    return ""


def name_variants(name: str) -> list[str]:
    """Return a name and variants of it, which may be names in this package.

    A variant lacks a first or last word that does not change the meaning, such as "path". If the
    first word denotes a number, such as "max", a variant has the first word "n" instead.

    >>> name_variants("output_path"), name_variants("maxSamples")
    (['output_path', 'output'], ['maxSamples', 'n_Samples'])
    """
    words = _WORD_PART.findall(_CAMEL_CASE_BOUNDARY.sub("_", name))
    variants = [name]
    # Names of numbers start with "n" in this package.
    if len(words) > 1 and words[0].lower() in _COUNT_WORDS:
        variants.append("n_" + "_".join(words[1:]))
        if words[1].lower() in ("count", "num", "number"):  # "max_count" has the variant "count"
            variants.append(words[1])
    has_first = len(words) > 1 and words[0].lower() in _OPTIONAL_FIRST_WORDS
    has_last = len(words) > 1 and words[-1].lower() in _OPTIONAL_LAST_WORDS
    if has_last:
        variants.append("_".join(words[:-1]))
    if has_first:
        variants.append("_".join(words[1:]))
    if has_first and has_last and len(words) > 2:
        variants.append("_".join(words[1:-1]))
    return variants


def closest_name(
    name: object, candidates: Iterable[str], kind: NameKind | None = None
) -> str | None:
    """Return the candidate that `name` is a synonym, abbreviation or misspelling of, or None.

    `kind` says what is named, such as "kernel", which selects the synonyms. Without it, synonyms
    are not used.
    """
    candidates = list(candidates)
    targets = resolve_synonyms(name, candidates, kind)
    return targets[0] if targets else closest_spelling(name, candidates, kind)


def resolve_synonyms(
    name: object, candidates: Iterable[str], kind: NameKind | None = None
) -> list[str]:
    """Return the candidates that `name` is a synonym of, or equals but for case and punctuation.

    `kind` says what is named, such as "kernel", which selects the synonyms. Without it, synonyms
    are not used.
    """
    word = normalize_name(str(name))
    by_word = {normalize_name(candidate): candidate for candidate in sorted(candidates)}
    if word in by_word:
        return [by_word[word]]
    targets = TARGETS_BY_SYNONYM[kind].get(word, []) if kind else []
    words = map(normalize_name, targets)
    return [by_word[target] for target in words if target in by_word]


def find_related_names(name: str, candidates: Iterable[str], kind: NameKind) -> list[str]:
    """Return the candidates that have a synonym in common with the accepted name `name`.

    `kind` says what is named, such as "keyword", which selects the synonyms.
    """
    names = list(candidates)
    synonyms = SYNONYMS[kind].get(name, "").split()
    found = [target for word in synonyms for target in resolve_synonyms(word, names, kind)]
    return list(dict.fromkeys(found))


def closest_spelling(
    name: object, candidates: Iterable[str], kind: NameKind | None = None
) -> str | None:
    """Return the candidate that `name` abbreviates or misspells, or whose synonym it misspells.

    An abbreviation consists of the first words of exactly one candidate. `kind` says what is named,
    such as "kernel", which selects the synonyms. Without it, synonyms are not used.
    """
    word, candidates = normalize_name(str(name)), sorted(candidates)
    # Shorter names abbreviate too many candidates.
    abbreviated = [
        candidate
        for candidate in candidates
        if len(word) >= MIN_PREFIX_LENGTH and word in _initial_words(candidate)
    ]
    if len(abbreviated) == 1:
        return abbreviated[0]
    by_word = {normalize_name(candidate): candidate for candidate in candidates}
    # A misspelled synonym counts as a misspelling of its first target.
    for synonym in TARGETS_BY_SYNONYM[kind] if kind else ():
        if len(synonym) >= MIN_PREFIX_LENGTH:
            for target in resolve_synonyms(synonym, candidates, kind)[:1]:
                by_word.setdefault(synonym, target)
    similar = [other for other in by_word if _is_misspelling(word, other)]
    close = difflib.get_close_matches(word, similar, n=1, cutoff=0.0)
    return by_word[close[0]] if close else None


def replacement_hint(name: object, kind: NameKind) -> str:
    """Return the sentence about `name` from the table ELSEWHERE, or "".

    The sentence says what to use instead of a name of another library or another function.
    """
    return HINTS_BY_WORD.get(kind, {}).get(normalize_name(str(name)), "")


def describe_candidates(
    name: object,
    accepted: Mapping[str, str],
    kind: NameKind | None = None,
    quote: str = "'",
) -> str:
    """List the accepted names that are most similar to `name`, one per line; "" if none is."""
    word = normalize_name(str(name))
    words = _split_words(str(name))
    if len(word) < 2 or not accepted:
        return ""
    synonyms = SYNONYMS.get(kind, {}) if kind else {}

    words_by_candidate = [
        _split_words(candidate) | _split_words(text) for candidate, text in accepted.items()
    ]
    # Words that occur in many candidates are no evidence of which one is meant, and are removed.
    words = {
        name_word
        for name_word in words
        if sum(name_word in candidate_words for candidate_words in words_by_candidate)
        <= MAX_CANDIDATES
    }

    def similarity(candidate: str) -> float:
        # The ratio of equal characters (at most 1) plus the fraction of words that are shared.
        spellings = [normalize_name(candidate), *synonyms.get(candidate, "").split()]
        ratio = max(difflib.SequenceMatcher(None, word, spelling).ratio() for spelling in spellings)
        candidate_words = _split_words(candidate)
        description_words = _split_words(accepted[candidate])
        # A shared word in the name counts 1, one only in the description ½.
        n_shared = len(words & candidate_words)
        n_shared_in_description = len(words & (description_words - candidate_words))
        # `words or word`: without words, nothing is shared, and the divisor must not be 0.
        return ratio + (n_shared + 0.5 * n_shared_in_description) / len(words or word)

    scores = {candidate: similarity(candidate) for candidate in accepted}
    ranked = sorted(accepted, key=lambda candidate: (-scores[candidate], candidate))
    listed: list[str] = []
    for candidate in ranked:
        # Names with the same description are aliases, of which only the best is listed.
        is_repeated = any(accepted[candidate] == accepted[other] != "" for other in listed)
        if scores[candidate] >= MIN_LISTED_SIMILARITY and not is_repeated:
            listed.append(candidate)
    if not listed:
        return ""
    lines = _format_lines(listed[:MAX_CANDIDATES], accepted, quote)
    return "\n".join(["The most similar names are", *lines])


def describe_parameters(function: Callable[..., object]) -> dict[str, str]:
    """Return the parameters of a function as a dict from their names to descriptions.

    A description is the first sentence in the numpydoc docstring; "" if there is none. Variadic
    parameters, such as `**options`, are omitted.

    >>> describe_parameters(suggest_name)["name"]
    'The unknown name.'
    """
    documented = describe_entries(inspect.getdoc(function) or "", "Parameters")
    return {
        parameter.name: documented.get(parameter.name, "")
        for parameter in inspect.signature(function).parameters.values()
        if not parameter.kind.description.startswith("variadic")
        and not parameter.name.startswith("_")
    }


def describe_entries(docstring: str, *titles: str) -> dict[str, str]:
    """Return the names in sections of a numpydoc docstring, each with its first sentence.

    Names are, for example, those of parameters. `titles` are words in the titles of the sections,
    such as "Parameters".
    """
    entries = {}
    # After the text before the first section, titles and texts of sections alternate.
    _, *sections = _DOCSTRING_SECTION.split(f"\n{docstring}\n")
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        if not any(title_word in title for title_word in titles):
            continue
        for names, description in _DOCSTRING_ENTRY.findall(text):
            for name in names.split(","):
                entries[name.strip(" *")] = first_sentence(description)
    return entries


def first_sentence(text: str) -> str:
    """Return the first sentence of a text in one line, shortened to MAX_DESCRIPTION_LENGTH."""
    text = " ".join(text.split())
    sentence, stop, _ = text.partition(". ")
    return textwrap.shorten(f"{sentence}{stop.strip()}", MAX_DESCRIPTION_LENGTH, placeholder=" …")


def model_modality(name: str) -> Literal["text", "image"] | None:
    """Guess from a Hub id or path whether a model embeds text or images; None for other names."""
    if not _HUB_ID.fullmatch(name.replace("\\", "/").rstrip("/")):
        return None
    return "image" if any(word in name.lower() for word in _VISION_MODEL_NAMES) else "text"


def normalize_name(name: str) -> str:
    """Return a name in lower case, with letters and digits only."""
    return "".join(filter(str.isalnum, name.lower()))


def accepts_value(keyword: str, value: object) -> bool:
    """Return False if a value cannot be valid for a keyword, and True otherwise."""
    if value is NO_VALUE or value is None or keyword not in ACCEPTED_VALUES:
        return True
    return ACCEPTED_VALUES[keyword][0](value)


def _format_targets(
    targets: Sequence[str], accepted: Mapping[str, str], value: object, quote: str
) -> str:
    """Return "Did you mean …?" with those of the names `targets` that accept `value`.

    Several names are listed with their descriptions from `accepted`. If no name accepts the value,
    all are shown with an example of a valid value.
    """
    fitting = [target for target in targets if accepts_value(target, value)]
    names = [f"{quote}{target}{quote}" for target in (fitting or targets)[:MAX_CANDIDATES]]
    # No target accepts the value: show an example of a valid value for each.
    if not fitting:
        examples = [ACCEPTED_VALUES[target][1] for target in targets[:MAX_CANDIDATES]]
        names = [f"{name} ({example})" for name, example in zip(names, examples, strict=True)]
    elif len(fitting) > 1:
        lines = _format_lines(fitting[:MAX_CANDIDATES], accepted, quote)
        return "\n".join(["Did you mean one of these?", *lines])
    return f"Did you mean {' or '.join(names)}?"


def _format_lines(names: Iterable[str], descriptions: Mapping[str, str], quote: str) -> list[str]:
    """Return one indented line for each name, with its description if it has one."""
    return [
        f"  {quote}{name}{quote}{f': {text}' if (text := descriptions[name]) else ''}"
        for name in names
    ]


def _describe_other_kind(name: object, kind: NameKind, value: object) -> str:
    """Return a sentence if `name` is a name of another kind than `kind`; "" otherwise.

    For example, `name` is a measure that was passed as a kernel. If `name` is a keyword, `value` is
    its value, otherwise NO_VALUE. The keyword in `cosine=True` can be meant as a kernel. The
    keyword in `labels=["a", "b"]` cannot, because its value is not a boolean.
    """
    if value is not NO_VALUE and not isinstance(value, bool):
        return ""
    for other in _RELATED_KINDS.get(kind, ()):
        for variant in name_variants(str(name)):
            if targets := resolve_synonyms(variant, SYNONYMS[other], other):
                return _OTHER_KINDS[other].format(targets[0])
            if hint := replacement_hint(variant, other):
                return hint
    return ""


def _with_descriptions(names: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    return dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, "")


def _is_misspelling(word: str, other: str) -> bool:
    """Return whether two normalized names differ in one letter, or in less than one of five."""
    # One replaced letter, except the first, in a word of at least three letters.
    replaced = len(word) == len(other) > 2 and word[0] == other[0]
    if replaced and sum(a != b for a, b in zip(word, other, strict=True)) == 1:
        return True
    ratio = difflib.SequenceMatcher(None, word, other).ratio()
    return abs(len(word) - len(other)) <= 1 and ratio >= MIN_SPELLING_SIMILARITY


def _initial_words(name: str) -> set[str]:
    """Return the first word of a name, its first two words, and so on, without the whole name.

    Each is in lower case, with letters and digits only.
    """
    words = _WORD.findall(_CAMEL_CASE_BOUNDARY.sub("_", name))
    return {normalize_name("".join(words[:n])) for n in range(1, len(words))}


def _split_words(text: str) -> set[str]:
    """Return the words of a name or a description in lower case, without a plural s."""
    words = _WORD.findall(_CAMEL_CASE_BOUNDARY.sub(" ", text).lower())
    return {word.removesuffix("s") for word in words if len(word) > 2}


class NonCallableModule(ModuleType):
    """A module with a name that users may try to call; a call raises an error with a hint."""

    def __call__(self, *args: object, **options: object) -> NoReturn:
        name = self.__name__.rpartition(".")[2]
        raise TypeError(f"module `{name}` cannot be called. {replacement_hint(name, 'function')}")

    def __getattr__(self, name: str) -> NoReturn:
        message = f"module {self.__name__!r} has no attribute {name!r}"
        # Python and other tools look up many private names, such as `__path__`.
        if not name.startswith("_") and (public := vars(self).get("__all__")):
            descriptions = {key: first_sentence(vars(self)[key].__doc__ or "") for key in public}
            message += f". {suggest_name(name, descriptions, quote='`')}"
        raise AttributeError(message)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return importlib.import_module, (self.__name__,)


def make_non_callable(module: str) -> None:
    """Make calls of a module raise an error with a hint, which is in the table ELSEWHERE.

    Users may try to call a module such as `vendiscore.magnitude`, whose name could be a function.
    """
    sys.modules[module].__class__ = NonCallableModule
