"""The strip that shows a score between reference values, as text and as HTML."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vendiscore.scoring import typical
from vendiscore.scoring.reference_scale import render_html_strip, render_text_strip

TABLES = typical._load_tables()
REFERENCE_VALUES = [["gpt-4o", 3.95], ["people & co", 7.79]]
NAMES = st.text("abcdefghijklmnopqrstuvwxyz -'", min_size=1, max_size=45)


@given(
    st.lists(st.tuples(NAMES, st.floats(1, 300)), min_size=1, max_size=14),
    st.floats(1, 300),
    st.sampled_from([(), (0.3, 310.0), (20.0, 40.0)]),
)
def test_text_strip_has_two_lines_of_at_most_100_characters(
    reference_values, value, interval
) -> None:
    ordered = sorted(map(list, reference_values), key=lambda pair: pair[1])
    lines = render_text_strip(ordered, 300, value, interval).split("\n")
    assert len(lines) == 2
    assert max(map(len, lines)) <= 100
    assert re.fullmatch(r"1 [─━┼●]{60} 300", lines[0])
    assert lines[0].count("●") == 1
    assert "\x1b" not in lines[0]
    assert (
        ("━" in lines[0])
        or not interval
        or interval[0] == 0.3
        or len(reference_values) > 5
        or value < 40
    )


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["about"])
def test_text_strip_marks_match_order_and_number_of_names(table) -> None:
    for n in (8, 30):
        reference_values = typical._interpolate_scores(table, n, 1)
        for value in np.linspace(1, n, 12):
            line, names = render_text_strip(reference_values, n, float(value), ()).split("\n")
            values = [float(x) for x in re.findall(r"\(([\d.]+)\)", names)]
            assert values == sorted(values)
            assert line.count("┼") + 1 == len(values) or line.count("┼") == len(values)
            dot = names.split(", ").index(f"● ({value:.4g})")
            assert line[: line.index("●")].count("┼") == dot


def test_text_strip_names_the_nearest_sets() -> None:
    reference_values = [[f"a set whose name is long, number {i}", 10.0 * i] for i in range(1, 10)]
    names = render_text_strip(reference_values, 100, 52.0, ()).split("\n")[1]
    name = "a set whose name is long, number"
    assert names == f"{name} 5 (50), ● (52), {name} 6 (60)"


def test_html_strip_has_sentence_as_label_and_escapes_names() -> None:
    sentence = "For 8 texts <b>, this is between gpt-4o (3.95) and people & co (7.79)."
    strip = render_text_strip(REFERENCE_VALUES, 8, 6, ())
    result = render_html_strip({"typical": sentence, "strip": strip})
    figure = ET.fromstring(result)
    assert figure[0].attrib["role"] == "img"
    assert figure[0].attrib["aria-label"] == sentence
    assert figure[0][0].text == strip.split("\n")[0]
    assert figure[1].text == "gpt-4o (3.95), ● (6), people & co (7.79)"
    assert render_html_strip(typical.empty_reference_scale()) == ""
