"""Names of columns as people and tools write them, and the role of each."""

import re
from collections.abc import Iterable
from itertools import islice

#: Words in names of columns of texts, such as "answer".
TEXT_NAMES = re.compile(
    "(text|answer|response|resp|candidate|completion|output|generation|generated|prediction|sentence|caption"
    "|story|storie|reply|replie|summary|summarie|translation|antwort|antworten|ausgabe)s?"
)
#: Words in names of columns of prompts, such as "question".
PROMPT_NAMES = re.compile(
    "(prompt|question|instruction|input|query|context|frage|fragen|aufgabe|eingabe|anweisung)s?"
)
#: Words in names of columns of ids that stand for prompts, as "prompt" and "question" do.
TASK_NAMES = re.compile("(task|problem|example|item|doc|instance)s?")
#: Words in names of columns of numbers that generation was set to, as a model is.
SETTING_NAMES = re.compile(
    "(temperature|temp|scale|setting|condition|variant|method|strategy|model)s?"
)
#: Words in names of columns of models, annotators or other sources.
MODEL_NAMES = re.compile(
    "(model|source|annotator|author|checkpoint|generator|system|worker|modell)(s|e)?"
)
#: Words in names of columns of ids and of labels, whose numbers are not features either.
ID_NAMES = re.compile("(id|index|idx|key|no|nr|number|row|rowname|uid|uuid|nummer|unnamed|hash)s?")
LABEL_NAMES = re.compile(
    "(label|class|classe|klasse|category|categorie|kategorie|target|split|fold|seed|set)s?"
)
#: Words in names of columns whose texts are not the samples.
OTHER_NAMES = re.compile(
    "(name|reference|gold|title|url|date|time|timestamp|score|rank|rating|reward|quelle"
    "|metric|schema|version|type)s?"
)
#: Words in names of columns of molecules.
MOLECULE_NAMES = re.compile("smiles?|smi")
#: Words in names of columns of sequences of letters, such as proteins.
SEQUENCE_NAMES = re.compile("(sequence|seq)s?")
#: Words in the name of the first column of a table of abundances: of kinds, and of places.
SPECIES_NAMES = re.compile("(otu|asv|taxon|taxa|specie|genus|genera)s?")
SITE_NAMES = re.compile("(site|plot|quadrat|transect|station|locality|sample)s?")
_MANY_WORDS, _LONG_NAME = 6, 60  # in a header: sentences have more
# A word for texts that any column can hold.
_ANY_TEXT = re.compile("(text|sentence)s?")


def is_named(name: str, pattern: re.Pattern[str]) -> bool:
    """Return whether a word of a column name matches a pattern.

    Parameters
    ----------
    name : str
        Column name. "modelAnswer_2" has the words "model" and "answer".
    pattern : re.Pattern
        Pattern of words in lower case, such as `TEXT_NAMES`.

    Returns
    -------
    bool
        Whether a word matches.

    See Also
    --------
    role_of : Detect the role of a column name.

    Examples
    --------
    >>> is_named("modelAnswer_2", TEXT_NAMES)
    True
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return any(pattern.fullmatch(word.lower()) for word in words)


def role_of(name: str) -> str:
    """Detect the role of a column from its name.

    Parameters
    ----------
    name : str
        Column name.

    Returns
    -------
    str
        "model", "id", "label", "other", "prompt", "text" or "".

    See Also
    --------
    is_named : Match the words of a name.

    Examples
    --------
    >>> [role_of(name) for name in ("prompt", "prompt_id", "model_id", "model_answer", "city")]
    ['prompt', 'id', 'model', 'text', '']
    """
    words = [word for word in re.findall("[a-zA-Z]+", name) if not is_named(word, _ANY_TEXT)]
    answers = any(is_named(word, TEXT_NAMES) for word in words)
    asked = is_named(name, PROMPT_NAMES)
    if is_named(name, MODEL_NAMES) and not (answers or asked):
        return "model"
    for role, pattern in (("id", ID_NAMES), ("label", LABEL_NAMES), ("other", OTHER_NAMES)):
        if is_named(name, pattern):
            return role
    if asked and not answers:
        return "prompt"
    return "text" if is_named(name, TEXT_NAMES) else ""


def is_column_name(cell: str) -> bool:
    """Return whether a cell has up to three words, one of which names columns."""
    named = role_of(cell) or is_named(cell, MOLECULE_NAMES)
    return bool(named) and len(cell.split()) < 4 and not is_sentence(cell)


def is_sentence(cell: str) -> bool:
    """Return whether a cell ends as sentences do, or has too many words for a name."""
    longer = len(cell) > _LONG_NAME or len(cell.split()) >= _MANY_WORDS
    return longer or (len(cell) > 3 and cell.endswith((".", "!", "?", "…", "。", "!", "?")))


def say_left_out(count: int, what: str, more: str = "") -> str:
    """Return a sentence, such as "1 blank line is left out".

    >>> say_left_out(2, "row", " without an answer")
    '2 rows without an answer are left out'
    """
    if count == 1:
        return f"1 {what}{more} is left out"
    return f"{count:,} {what}s{more} are left out"


def join_names(names: Iterable[str]) -> str:
    """Join names with commas, shortened if they are long or many.

    Parameters
    ----------
    names : iterable of str
        The names.

    Returns
    -------
    str
        The joined names.

    See Also
    --------
    role_of : Detect the role of a column name.

    Examples
    --------
    >>> join_names("abcdefghijk")
    'a, b, c, d, e, f, g, h …'
    """
    shown = list(islice(names, 9))
    return ", ".join(f"{name:.40}" for name in shown[:8]) + (" …" if len(shown) > 8 else "")
