"""The word tokenizer returns the tokens of NLTK's `NLTKWordTokenizer`."""

import random
import sys
from collections.abc import Iterable
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from vendiscore.encoders.treebank import tokenize, tokenize_all

nltk_tokenize = NLTKWordTokenizer().tokenize
WORDS = """
    a x dog I don can't cannot CANNOT gonna gimme gımme gİmme lemme wanna Wanna gotta d'ye more'n
    'tis 'twas 'Twas 'twaſ 'tıs n't N'T n'T 's 'S 'm 'd 'll 'LL 'Ll 're 'RE 've 'VE 'n 't it's
    they'll s ll re v m d t n don't dogs' O'Neil 3 3.5 1,000 10:30 U.S. e.g. www.a.b x@y.z #tag
    $5 5% é _ naïve ſ ı İ ² ½ ① Ⓐ 🅰 中 国 한 ก ب
    \u0301 \u0940 \u200d \u200c 😀 👩\u200d💻 \u212a Ⅷ ٣ \ud800
"""
# Texts for rules that depend on the result of other rules.
CASES = """
    ```` ``` "` `" "`` ""a" (" ("" [''x'' '''' ''' {''' <"> ^" " "
    ,,a ,,,a ,,,, ,: :,5 ,5 a, a: ,, ,;, ,,5 :,: n't've they'lln't 'n't ''n't "n't (n't
    . .. a. a.. a.) a.") a.'" a.”’ a.] a.» a.' (a.)b a., a.; a.: ..a. .a. a.'s
    I'VE WE'RE 'VE x'VE's it's's it's' don't's they'll's x'd'll a''s it's; it's')
    d'yed'ye d'ye'll more'n'tis cannot'tis cannot'tis'twas cannot'twas'tis gonna'twas
    wannacannot rock'n'roll
    'ſa 'ſ 'é '² '½ 'Ⓐ ²'a a\u0301'b '\u0301 '\u200d \u200d'a 'tis 'nough 'em '90s
    wanna wanna. wanna, gonna-x x-cannot _cannot cannot_ cannoté cannot\u0301 gİmme gımme GIMME
"""
ENDINGS = ("", "\n", " ", "\t", "\x1c", "\x1c\n", "\n\x1c", "\xa0", "\u200b", ".", ".\n", " \n )")
PUNCTUATION = [
    *"'\"`.,:;?!@#$%&*-()[]{}<>«»“”‘’„‒–—―‐…′\\/|~^+=",
    *("''", "``", "...", "..", "--", "---", ",,", "'", "'", "'", '"', ".", ",", ":", " ", "\n"),
]
SPACES = [
    *" " * 12,
    *"\t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u3000\u200b",
]
# Python's Unicode tables may be older than those of the package regex, which NLTK uses.
ASSIGNED_CHARACTERS = st.characters(exclude_categories=["Cn"])


def find_differences(texts: Iterable[str]) -> list[tuple[str, list[str], list[str]]]:
    """Return the first texts with different tokens, and both lists of tokens."""
    texts = list(texts)
    token_pairs = zip(texts, tokenize_all(texts), map(nltk_tokenize, texts), strict=True)
    return [
        (text, tokens, expected) for text, tokens, expected in token_pairs if tokens != expected
    ][:5]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ""),
        ("It isn't 5% of $3.50.", "It is n't 5 % of $ 3.50 ."),
        ('He said, "I can\'t."', "He said , `` I ca n't . ''"),
        ("'hello' 'tis the dogs' cat's", "' hello ' ' tis the dogs ' cat 's"),
        ("Cannot, gonna; wanna. wanna go", "Can not , gon na ; wanna. wan na go"),
        ("at 10:30, 1,000,a: ok", "at 10:30 , 1,000 , a : ok"),
        ("U.S. (e.g. this.)", "U.S. ( e.g. this . )"),
        ("wait...no--yes---", "wait ... no -- yes -- -"),
        ("“quoted” ‘single’ «chevrons»", "“ quoted ” ‘ single ’ « chevrons »"),
        ("don’t l'été", "don ’ t l'été"),
    ],
)
def test_tokens_match_documented_examples(text: str, tokens: str) -> None:
    assert tokenize(text) == tokens.split()
    assert find_differences([text]) == []


def test_interacting_rules_match_nltk() -> None:
    texts = CASES.split()
    pairs = [(a, b) for a in texts for b in texts[::7]]
    assert find_differences(text + end for text in texts for end in ENDINGS) == []
    assert find_differences(end + text for text in texts for end in ENDINGS) == []
    assert find_differences(a + gap + b for a, b in pairs for gap in ("", " ", "\n", "\x1d")) == []


def test_characters_of_all_categories_match_nltk() -> None:
    categories = ((chr(i), category(chr(i))) for i in range(sys.maxunicode + 1))
    characters = [
        c
        for c, character_category in categories
        if character_category not in ("Cn", "Co")
        and (character_category != "Lo" or ord(c) % 20 == 0)
    ]
    for i in range(0, len(characters), 500):
        chunk = characters[i : i + 500]
        for form in ("'{0} {0}'x 's{0} {0}'s don't{0}", "1,{0} a:{0} cannot{0} {0}gonna {0}''"):
            assert find_differences([" ".join(form.format(c) for c in chunk)]) == []
        assert find_differences(f"a.{c}" for c in chunk) == []


def test_random_texts_match_nltk() -> None:
    rng, words = random.Random(0), WORDS.split()

    def draw_piece() -> str:
        chance = rng.random()
        if chance < 0.97:
            return rng.choice(words if chance < 0.4 else PUNCTUATION if chance < 0.8 else SPACES)
        character = chr(rng.randrange(rng.choice([0x250, 0x3000, 0x20000])))
        return " " if category(character) == "Cn" else character

    texts = ("".join(draw_piece() for _ in range(rng.randint(1, 12))) for _ in range(25_000))
    assert find_differences(texts) == []


@given(st.text(st.one_of(st.sampled_from("'\"`.,:-()[ \nnstdlveTIS5"), ASSIGNED_CHARACTERS)))
def test_generated_texts_match_nltk(text: str) -> None:
    assert tokenize(text) == nltk_tokenize(text)


@pytest.mark.parametrize("name", ["questions", "answers", "jtvae_molecules"])
def test_texts_of_datasets_match_nltk(name: str, request: pytest.FixtureRequest) -> None:
    texts = request.getfixturevalue(name)[:: {"answers": 3, "jtvae_molecules": 20}.get(name, 1)]
    assert find_differences(dict.fromkeys(texts)) == []


def test_tokenize_all_matches_tokenize() -> None:
    pieces = [*WORDS.split(), *CASES.split(), *PUNCTUATION, *SPACES, *ENDINGS]
    rng = random.Random(1)
    texts = ["".join(rng.choices(pieces, k=rng.randrange(12))) for _ in range(3000)]
    assert tokenize_all(texts) == [tokenize(text) for text in texts]


def test_tokenize_takes_linear_time() -> None:
    for piece in ("'", "''", '"', ". ", ".)", ",", "it's ", "'tis ", "cannot'", "`", "\x1c", "n't"):
        tokenize(piece * 50_000)  # would take minutes if any rule were quadratic
