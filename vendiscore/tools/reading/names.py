"""Words in column names, and the role of a column that the last word of its name states."""

import re
from collections.abc import Iterable
from itertools import islice

#: Words in names of columns of generated output, such as "answer".
TEXT_NAMES = re.compile(
    "(text|sentence|content|answer|response|resp|candidate|completion|output|generation|generated"
    "|prediction|pred|hyp|caption|chosen|rejected|story|storie|reply|replie|summary|summarie"
    "|translation|paraphrase|antwort|antworten|ausgabe|réponse|reponse|respuesta|risposta|resposta|回答|答案)s?"
)
#: Words of these that name the output of a model, and nothing else.
OUTPUT_NAMES = re.compile(
    "(response|resp|completion|output|generation|generated|prediction|pred|hyp)s?"
)
#: Words of these that often name labels.
PREDICTION_NAMES = re.compile("(prediction|pred)s?")
#: Words in names of columns of prompts, such as "question".
PROMPT_NAMES = re.compile(
    "(prompt|question|request|instruction|input|query|querie|context|frage|fragen|aufgabe|eingabe"
    "|anweisung|pregunta|domanda|pergunta|问题|質問)s?"
)
#: Words in names of columns of ids that identify prompts, as "prompt" and "question" do.
TASK_NAMES = re.compile("(task|problem|example|item|doc|instance)s?")
#: Words in names of columns of generation settings.
SETTING_NAMES = re.compile(
    "(temperature|temp|scale|setting|condition|variant|method|strategy|strategie|treatment|group"
    "|persona|style|language|lang|sprache|model)s?"
)
#: Words in names of columns of models, annotators or other sources.
MODEL_NAMES = re.compile(
    "(model|source|annotator|author|checkpoint|generator|system|worker|modell)(s|e)?"
)
#: Words in names of columns of humans, each of whom answers prompts.
PERSON_NAMES = re.compile("(annotator|author|worker)s?")
#: Words in names of columns of ids and of labels, whose numbers are not features either.
ID_NAMES = re.compile(
    "(id|qid|docid|index|idx|key|no|nr|number|row|rowname|uid|uuid|nummer|unnamed|hash)s?"
)
LABEL_NAMES = re.compile(
    "(label|class|classe|klasse|category|categorie|kategorie|target|split|fold|seed|set|choice"
    "|option)s?"
)
#: Words in names of columns of correct answers, wherever they occur in the name.
REFERENCE_NAMES = re.compile(
    "(reference|ref|gold|golden|groundtruth|ground|truth|expected|true|correct|incorrect|wrong|ideal"
    "|best|musterlösung)s?"
)
#: Words in names of columns whose texts name or describe the samples of a row.
OTHER_NAMES = re.compile(
    "(name|title|headline|address|addresse|file|filename|path|url|date|time|timestamp|score|rank|rating|reward|quelle"
    "|metric|schema|version|type|reason|explanation|rationale|justification|disclaimer"
    "|evaluator|rater|judge|grader)s?"
)
#: Words in names of columns of titles.
TITLE_NAMES = re.compile("(title|headline)s?")
#: Words in names of columns of numbers that measure or count something about a row.
RESULT_NAMES = re.compile(
    "(accuracy|accuracie|auc|average|avg|bleu|correctness|cost|count|cpm|distance|duration|epoch"
    "|error|fpkm|frequency|frequencie|latency|latencie|loss|losse|mae|mean|mse|precision|price"
    "|recall|rmse|rouge|rpkm|season|std|step|sum|token|total|tpm|vote|word|year)s?"
)
#: Words in names of columns that state whether answers are correct.
CORRECT_NAMES = re.compile("correct|passed|pass|success|solved")
#: Words in names of columns of molecules.
MOLECULE_NAMES = re.compile("smiles?|smi")
#: Words in names of columns of names of molecules.
MOLECULE_LABELS = re.compile("(name|title|compound|molecule|drug|substance|ligand)s?")
#: Words in names of columns whose lists are the parts of one text.
LINE_NAMES = re.compile("(line|verse|stanza|paragraph)s?")
#: Words in names of columns of sequences of letters, such as proteins.
SEQUENCE_NAMES = re.compile("(sequence|seq)s?")
#: Words in the name of the first column of a table of counts of genes or proteins.
GENE_NAMES = re.compile("(gene|transcript|ensembl|ensg|protein|peptide)s?")
#: Words in the name of the first column of a table of abundances: of kinds, and of places.
SPECIES_NAMES = re.compile("(otu|asv|taxon|taxa|specie|sp|spp|tax|genus|genera|plant|bird)s?")
SITE_NAMES = re.compile(
    "(site|plot|quadrat|transect|station|locality|sample|patch|square|standort|standorte"
    "|probefläche|probeflächen)s?"
)
#: Words of which names of columns of coordinates consist.
COORDINATE_NAMES = re.compile(
    "(x|y|lat|latitude|lon|long|lng|longitude|easting|northing|coordinate|coord)s?|x座標|y座標|經度|緯度"
)
#: Names of columns with the number of individuals, or of repetitions of a row.
COUNT_NAMES = re.compile(
    "n|(count|frequency|frequencie|freq|abundance|occurrence|weight|percentage"
    "|percent|proportion|share|cover|coverage)s?|anzahl|häufigkeit|häufigkeiten"
)
_MIN_SENTENCE_WORDS, LONG_NAME = 6, 60  # words and characters of a name: sentences have more
_MAX_NAME_LENGTH = 1_000  # characters; longer texts name nothing
# Words that name a column of any texts; the word before decides the role ("prompt_text").
_GENERIC_TEXT = re.compile("(text|sentence|content)s?")
# Codes of languages after a word for generated output or prompts ("answer_en").
_LANGUAGES = re.compile("ar|cs|da|de|en|eng|es|fi|fr|hi|it|ja|jp|ko|nl|pl|pt|ru|sv|tr|uk|vi|zh")
_PREPOSITIONS = ("at", "by", "for", "from", "in", "on", "with")  # not "generated_by"
_IDENTIFIERS = re.compile("(id|name)s?")
_ROLES = (
    ("id", ID_NAMES),
    ("label", LABEL_NAMES),
    ("other", OTHER_NAMES),
    ("model", MODEL_NAMES),
    ("setting", SETTING_NAMES),
    ("prompt", PROMPT_NAMES),
    ("text", TEXT_NAMES),
)


def split_name(name: str) -> list[str]:
    """Split a column name into lower-case words, also at capital letters within a word.

    Texts of more than 1,000 characters have no words, because they are no names.

    >>> split_name("modelAnswer_2"), split_name("RéponseJSON"), split_name("HTMLText")
    (['model', 'answer'], ['réponse', 'json'], ['html', 'text'])
    >>> split_name("OTUs")
    ['otus']
    """
    if len(name) > _MAX_NAME_LENGTH:
        return []
    words = []
    for letters in re.findall(r"[^\W\d_]+", name):
        start = 0
        for i in range(1, len(letters)):
            after = letters[i + 1 : i + 3]
            # A capital letter begins a word after a small letter or before one, which is not the
            # sign of a plural.
            is_before_small = after[:1].islower() and after != "s"
            if letters[i].isupper() and (letters[i - 1].islower() or is_before_small):
                words.append(letters[start:i].lower())
                start = i
        words.append(letters[start:].lower())
    return words


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
    return any(map(pattern.fullmatch, split_name(name)))


def role_of(name: str) -> str:
    """Detect the role of a column from the last word of its name.

    If it is a word for any texts ("text"), the last word before it that states a role decides, and
    other words before it ("news_text") do not state that the texts were generated.
    Codes of languages after words for generated output and prompts ("answer_en") do not count.
    Words for correct answers ("gold") decide wherever they occur. "generated" before another word
    without a role names generated output ("generated_email").

    Parameters
    ----------
    name : str
        Column name.

    Returns
    -------
    str
        "text" (generated output), "prompt", "model", "setting" (of generation), "reference", "id",
        "label", "other" (such as names, dates and scores), or "" if the name does not state a role.

    See Also
    --------
    is_named : Match the words of a name.

    Examples
    --------
    >>> [role_of(name) for name in ("prompt", "prompt_id", "model_id", "model_answer", "city")]
    ['prompt', 'id', 'model', 'text', '']
    >>> [role_of(name) for name in ("gold_answer", "answer_length", "prompt_text", "text")]
    ['reference', '', 'prompt', 'text']
    """
    words = _split_role_words(name)
    if not words:
        return ""
    if is_named(name, REFERENCE_NAMES):
        return "reference"
    if _GENERIC_TEXT.fullmatch(words[-1]):
        stated = filter(None, map(_detect_word_role, reversed(words[:-1])))
        return next(stated, "" if len(words) > 1 else "text")
    last = words[-1]
    if words[0] == "generated" and last not in _PREPOSITIONS and not _detect_word_role(last):
        return "text"
    # The id and the name of a model identify it.
    if len(words) > 1 and _IDENTIFIERS.fullmatch(last) and MODEL_NAMES.fullmatch(words[-2]):
        return "model"
    return _detect_word_role(last)


def _split_role_words(name: str) -> list[str]:
    """Return the words of a name, without the code of a language after "answer" or "prompt"."""
    words = split_name(name)
    is_text = len(words) > 1 and _detect_word_role(words[-2]) in ("text", "prompt")
    return words[:-1] if is_text and _LANGUAGES.fullmatch(words[-1]) else words


def _detect_word_role(word: str) -> str:
    return next((role for role, pattern in _ROLES if pattern.fullmatch(word)), "")


def is_generic(name: str) -> bool:
    """Return whether a name of a column consists of words for any texts, as "text" does."""
    return all(map(_GENERIC_TEXT.fullmatch, _split_role_words(name)))


def is_coordinate(name: str) -> bool:
    """Return whether a name of a column consists of words for coordinates, as "x" does.

    Names with digits are none, as R writes X1, X2 and so on for any columns.
    """
    words = split_name(name)
    has_digits = any(map(str.isdigit, name))
    return bool(words) and not has_digits and all(map(COORDINATE_NAMES.fullmatch, words))


def is_column_name(cell: str) -> bool:
    """Return whether a cell has up to three words, one of which names columns."""
    has_column_word = role_of(cell) or is_named(cell, MOLECULE_NAMES)
    return bool(has_column_word) and len(cell.split()) < 4 and not is_sentence(cell)


def is_sentence(cell: str) -> bool:
    """Return whether a cell ends as sentences do, or has too many words for a name."""
    is_long = len(cell) > LONG_NAME or len(cell.split()) >= _MIN_SENTENCE_WORDS
    return is_long or (len(cell) > 3 and cell.endswith((".", "!", "?", "…", "。", "!", "?")))


def format_dropped_count(count: int, noun: str, suffix: str = "") -> str:
    """Return a sentence, such as "1 blank line is left out".

    >>> format_dropped_count(2, "row", " without an answer")
    '2 rows without an answer are left out'
    """
    if count == 1:
        return f"1 {noun}{suffix} is left out"
    return f"{count:,} {noun}s{suffix} are left out"


def join_names(names: Iterable[str], width: int = 40) -> str:
    """Join names with commas, shortened if they are long or many.

    Parameters
    ----------
    names : iterable of str
        The names.
    width : int, default 40
        Maximum number of characters of a name.

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
    listed = list(islice(names, 9))
    return ", ".join(name[:width] for name in listed[:8]) + (" …" if len(listed) > 8 else "")
