"""The file of a report: nothing in it is anything but text, and it is small and always the same."""

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from report_parser import parse_report

from vendiscore import report

HOSTILE = [
    "<script>alert(1)</script>",
    'a "quoted" <img src=x onerror=alert(1)> one',
    "]]> --> </style></title></textarea><svg onload=alert(1)>",
    "javascript:alert(1) &lt;b&gt; ${x} {{y}} `z`",
    "$\\frac{1}{2}$ \\u2028 \u2028 \u202e right to left",
    "\x1b[31m red",
]
MOST = 500_000


@pytest.mark.parametrize("long", [1, 300])
def test_texts_can_be_nothing_but_text(long) -> None:
    texts = [text * long for text in HOSTILE]
    result = report(texts, title=HOSTILE[0] + HOSTILE[2], k="ngram_overlap", ns=[1])
    page = parse_report(result)
    assert page.title == (HOSTILE[0] + HOSTILE[2])[:160]
    written = result.html().lower()
    assert "<script" not in written
    assert "<img" not in written
    assert written.count("<svg") == len(page.labels)
    shown = [row[1] for row in page.tables["samples"][0][1:]]
    assert all(text.startswith(said[:60]) for said, text in zip(shown, texts, strict=True))


def test_labels_of_groups_names_of_columns_and_functions_are_text_too() -> None:
    records = [{HOSTILE[0]: text} for text in HOSTILE]
    for result in (
        report(HOSTILE, groups=[HOSTILE[i % 2] for i in range(6)]),
        report(records, k={f"ngram_overlap:{HOSTILE[0]}": 1.0}),
        report(list(range(6)), k=_named(HOSTILE[1])),
    ):
        page = parse_report(result)
        assert "<script" not in result.html()
        assert "<img" not in result.html()
        assert page.labels


def _named(name):
    def kernel(a, b):
        return float(a == b)

    kernel.__qualname__ = name
    return kernel


def test_long_texts_are_folded_and_cut() -> None:
    texts = ["word " * 1_000, "other " * 30, "short"]
    result = report(texts, k="labels")
    html = result.html()
    assert '<details class="text" dir="auto"><summary>word word' in html
    assert "… and 3,800 more characters" in html
    assert html.count("word ") < 1_500
    assert parse_report(result).tables["samples"][0][3][1] == "short"


MADE = """
import sys, vendiscore, numpy as np
X = np.random.default_rng(0).normal(size=(30, 3))
texts = ['a cat', 'a dog', 'a cat', 'no pets', 'snow', 'a red cat']
tags = [{f't{i}', f't{i * 7 % 5}', 'x'} for i in range(9)]
made = [vendiscore.report(texts), vendiscore.report(tags, k='tags'),
        vendiscore.report(X, k='rbf', measures=['VS', 'MagArea']),
        vendiscore.report([1, 2, 5, 7], k=lambda a, b: float(np.exp(-abs(a - b))))]
sys.stdout.write(''.join(each.html() for each in made))
"""


def test_two_processes_write_the_same_bytes(capsys) -> None:
    """This one and another, which has other hashes of strings."""
    environment = os.environ | {"PYTHONHASHSEED": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", MADE], env=environment, capture_output=True, check=True
    )
    assert len(done.stdout) > 100_000
    exec(MADE, {"__name__": "__main__"})
    assert capsys.readouterr().out == done.stdout.decode()


def test_what_was_drawn_before_changes_nothing() -> None:
    texts = ["a cat", "a dog", "snow"]
    first = report(texts).html()
    report(texts[:2])
    assert report(texts).html() == first


def test_a_thousand_long_texts_of_any_letters_are_less_than_half_a_megabyte() -> None:
    texts = [f"{i} " + "字&<" * 700 for i in range(500)]
    texts += texts
    with pytest.warns(UserWarning, match="The interval of VS has width 0"):
        result = report(texts, k="labels")
    page = parse_report(result)
    assert len(result.html().encode()) < MOST
    rows = len(page.tables["samples"][0]) - 1
    assert 20 < rows < 999
    assert f"only the first {rows} of 1,000 samples are listed." in page.text["samples"]


def test_a_thousand_questions_are_all_in_less_than_half_a_megabyte(questions) -> None:
    result = report(questions[:1_000])
    page = parse_report(result)
    assert len(result.html().encode()) < MOST
    ((_, *rows),) = page.tables["samples"]
    assert len(rows) == 1_000
    assert "only the first" not in page.text["samples"]


def test_a_thousand_images_are_less_than_half_a_megabyte(mnist) -> None:
    pytest.importorskip("PIL")
    result = report(list(mnist["images"][:1_000]), k="pixels", q=2)
    assert len(result.html().encode()) < MOST
    parse_report(result)


def test_many_molecules_are_less_than_half_a_megabyte(odors) -> None:
    pytest.importorskip("rdkit")
    result = report([smiles for smiles, _ in odors[:300]], k="morgan", q=2)
    assert len(result.html().encode()) < MOST
    parse_report(result)


def test_random_similarities_are_the_largest_picture() -> None:
    X = np.random.default_rng(0).normal(size=(400, 3))
    result = report(X, k="cosine", q=2)
    assert len(result.html().encode()) < MOST
