"""Words and punctuation: token for token what NLTK's `NLTKWordTokenizer` has."""

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
# Rules that look at what others leave.
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
ENDS = ("", "\n", " ", "\t", "\x1c", "\x1c\n", "\n\x1c", "\xa0", "\u200b", ".", ".\n", " \n )")
MARKS = [
    *"'\"`.,:;?!@#$%&*-()[]{}<>«»“”‘’„‒–—―‐…′\\/|~^+=",
    *("''", "``", "...", "..", "--", "---", ",,", "'", "'", "'", '"', ".", ",", ":", " ", "\n"),
]
SPACES = [
    *" " * 12,
    *"\t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u3000\u200b",
]
# Python's tables may lack characters that the package regex, which NLTK uses, knows.
KNOWN = st.characters(exclude_categories=["Cn"])


def differences(texts: Iterable[str]) -> list[tuple[str, list[str], list[str]]]:
    """Return the first texts of which the tokens differ, with both lists of tokens."""
    texts = list(texts)
    both = zip(texts, tokenize_all(texts), map(nltk_tokenize, texts), strict=True)
    return [(text, ours, theirs) for text, ours, theirs in both if ours != theirs][:5]


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
def test_tokens_in_the_head(text: str, tokens: str) -> None:
    assert tokenize(text) == tokens.split()
    assert differences([text]) == []


def test_rules_that_need_one_another() -> None:
    texts = CASES.split()
    pairs = [(a, b) for a in texts for b in texts[::7]]
    assert differences(text + end for text in texts for end in ENDS) == []
    assert differences(end + text for text in texts for end in ENDS) == []
    assert differences(a + gap + b for a, b in pairs for gap in ("", " ", "\n", "\x1d")) == []


def test_characters_of_every_category() -> None:
    kinds = ((chr(i), category(chr(i))) for i in range(sys.maxunicode + 1))
    known = [
        c for c, kind in kinds if kind not in ("Cn", "Co") and (kind != "Lo" or ord(c) % 20 == 0)
    ]
    for i in range(0, len(known), 500):
        some = known[i : i + 500]
        for form in ("'{0} {0}'x 's{0} {0}'s don't{0}", "1,{0} a:{0} cannot{0} {0}gonna {0}''"):
            assert differences([" ".join(form.format(c) for c in some)]) == []
        assert differences(f"a.{c}" for c in some) == []


def test_texts_drawn_at_random() -> None:
    rng, words = random.Random(0), WORDS.split()

    def piece() -> str:
        chance = rng.random()
        if chance < 0.97:
            return rng.choice(words if chance < 0.4 else MARKS if chance < 0.8 else SPACES)
        drawn = chr(rng.randrange(rng.choice([0x250, 0x3000, 0x20000])))
        return " " if category(drawn) == "Cn" else drawn

    texts = ("".join(piece() for _ in range(rng.randint(1, 12))) for _ in range(25_000))
    assert differences(texts) == []


@given(st.text(st.one_of(st.sampled_from("'\"`.,:-()[ \nnstdlveTIS5"), KNOWN)))
def test_any_text(text: str) -> None:
    assert tokenize(text) == nltk_tokenize(text)


@pytest.mark.parametrize("name", ["questions", "answers", "jtvae_molecules"])
def test_texts_of_the_data_sets(name: str, request: pytest.FixtureRequest) -> None:
    texts = request.getfixturevalue(name)[:: {"answers": 3, "jtvae_molecules": 20}.get(name, 1)]
    assert differences(dict.fromkeys(texts)) == []


def test_many_texts_have_the_tokens_of_each() -> None:
    pieces = [*WORDS.split(), *CASES.split(), *MARKS, *SPACES, *ENDS]
    rng = random.Random(1)
    texts = ["".join(rng.choices(pieces, k=rng.randrange(12))) for _ in range(3000)]
    assert tokenize_all(texts) == [tokenize(text) for text in texts]


def test_a_long_text_takes_time_in_proportion() -> None:
    for piece in ("'", "''", '"', ". ", ".)", ",", "it's ", "'tis ", "cannot'", "`", "\x1c", "n't"):
        tokenize(piece * 50_000)  # minutes, if any rule were quadratic
