"""The HTML document of a report is escaped, small and deterministic."""

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
MAX_BYTES = 500_000


@pytest.mark.parametrize("long", [1, 300])
def test_texts_are_escaped(long) -> None:
    texts = [text * long for text in HOSTILE]
    result = report(texts, title=HOSTILE[0] + HOSTILE[2], k="ngram_overlap", ns=[1])
    page = parse_report(result)
    assert page.title == (HOSTILE[0] + HOSTILE[2])[:160]
    document = result.html().lower()
    assert "<script" not in document
    assert "<img" not in document
    assert document.count("<svg") == len(page.labels)
    for row, text in zip(page.tables["samples"][0][1:], texts, strict=True):
        assert text.startswith(row[1][:60])


def test_group_column_and_function_names_are_escaped() -> None:
    records = [{HOSTILE[0]: text} for text in HOSTILE]
    for result in (
        report(HOSTILE, groups=[HOSTILE[i % 2] for i in range(6)]),
        report(records, k={f"ngram_overlap:{HOSTILE[0]}": 1.0}),
        report(list(range(6)), k=make_named_kernel(HOSTILE[1])),
    ):
        page = parse_report(result)
        assert "<script" not in result.html()
        assert "<img" not in result.html()
        assert page.labels


def make_named_kernel(name):
    def kernel(a, b):
        return float(a == b)

    kernel.__qualname__ = name
    return kernel


def test_long_texts_are_collapsed_and_truncated() -> None:
    texts = ["word " * 1_000, "other " * 30, "short"]
    result = report(texts, k="labels")
    html = result.html()
    assert '<details class="text" dir="auto"><summary>word word' in html
    assert "… and 3,800 more characters" in html
    assert html.count("word ") < 1_500
    assert parse_report(result).tables["samples"][0][3][1] == "short"


REPORT_CODE = """
import sys, vendiscore, numpy as np
X = np.random.default_rng(0).normal(size=(30, 3))
texts = ['a cat', 'a dog', 'a cat', 'no pets', 'snow', 'a red cat']
tags = [{f't{i}', f't{i * 7 % 5}', 'x'} for i in range(9)]
reports = [vendiscore.report(texts), vendiscore.report(tags, k='tags'),
        vendiscore.report(X, k='rbf', measures=['VS', 'MagArea']),
        vendiscore.report([1, 2, 5, 7], k=lambda a, b: float(np.exp(-abs(a - b))))]
sys.stdout.write(''.join(report.html() for report in reports))
"""


def test_report_is_deterministic_across_processes(capsys) -> None:
    """The other process has another string hash seed."""
    environment = os.environ | {"PYTHONHASHSEED": "1", "PYTHONIOENCODING": "utf-8"}
    process = subprocess.run(
        [sys.executable, "-c", REPORT_CODE], env=environment, capture_output=True, check=True
    )
    assert len(process.stdout) > 100_000
    exec(REPORT_CODE, {"__name__": "__main__"})
    assert capsys.readouterr().out == process.stdout.decode()


def test_report_does_not_depend_on_previous_reports() -> None:
    texts = ["a cat", "a dog", "snow"]
    first = report(texts).html()
    report(texts[:2])
    assert report(texts).html() == first


def test_report_of_1000_long_texts_is_below_half_a_megabyte() -> None:
    texts = [f"{i} " + "字&<" * 700 for i in range(500)]
    texts += texts
    with pytest.warns(UserWarning, match="The interval of VS has width 0"):
        result = report(texts, k="labels")
    page = parse_report(result)
    assert len(result.html().encode()) < MAX_BYTES
    rows = len(page.tables["samples"][0]) - 1
    assert 20 < rows < 999
    assert f"only the first {rows} of 1,000 samples are listed." in page.text["samples"]


def test_report_of_1000_questions_lists_all_below_half_a_megabyte(questions) -> None:
    result = report(questions[:1_000])
    page = parse_report(result)
    assert len(result.html().encode()) < MAX_BYTES
    ((_, *rows),) = page.tables["samples"]
    assert len(rows) == 1_000
    assert "only the first" not in page.text["samples"]


def test_report_of_1000_images_is_below_half_a_megabyte(mnist) -> None:
    pytest.importorskip("PIL")
    result = report(list(mnist["images"][:1_000]), k="pixels", q=2)
    assert len(result.html().encode()) < MAX_BYTES
    parse_report(result)


def test_report_of_300_molecules_is_below_half_a_megabyte(odors) -> None:
    pytest.importorskip("rdkit")
    result = report([smiles for smiles, _ in odors[:300]], k="morgan", q=2)
    assert len(result.html().encode()) < MAX_BYTES
    parse_report(result)


def test_report_of_random_similarities_is_below_half_a_megabyte() -> None:
    X = np.random.default_rng(0).normal(size=(400, 3))
    result = report(X, k="cosine", q=2)
    assert len(result.html().encode()) < MAX_BYTES
