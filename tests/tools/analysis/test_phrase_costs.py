"""The results of `phrases` as sentences, tables and records."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from vendiscore.tools.analysis.phrase_costs import (
    PhraseComparison,
    PhraseCosts,
    PhraseDifference,
    PhraseRow,
)

ROWS = [
    PhraseRow("of course", 5, 2.5, 0.25, 3.0),
    PhraseRow("course I <think>", 3, 1.0, 0.1, 0.5, ("of course",)),
]
COSTS = PhraseCosts(ROWS, 20, 1.0, 10.0, 20.0, 8.0, 2, 1, [], {})
LARGE = PhraseCosts(
    [replace(ROWS[0], cost=np.nan, share=np.nan)], 20, 1.0, np.nan, 20.0, 8.0, 2, 1, ["A note."], {}
)
DIFFERENCES = [
    PhraseDifference("of course", 5, 1, 2.5, 0.5, 2.0, 0.01),
    PhraseDifference("I think", 2, 3, 0.25, 0.5, -0.25, 0.9),
]
COMPARISON = PhraseComparison(DIFFERENCES, 20, 1.0, 10.0, 12.0, 99, 7, 2, 1, [], {})


def test_sentence_states_cost_and_scores():
    assert str(COSTS) == (
        '"of course" occurs in 5 of 20 texts and costs 2.5 effective texts: if each of these texts '
        "had words of its own instead, the score would be 12.5 instead of 10 (q=1)."
    )


def test_sentence_uses_order_2_if_the_cost_is_not_computed():
    assert str(LARGE) == (
        '"of course" occurs in 5 of 20 texts and costs 3 effective texts: if each of these texts '
        "had words of its own instead, the score would be 11 instead of 8 (q=2). A note."
    )


def test_sentence_of_comparison_states_number_of_significant_phrases():
    assert str(COMPARISON) == (
        '1 phrase costs set A more than set B: "of course" costs set A 2.5 effective texts and set '
        "B 0.5 (p = 0.01, adjusted for 7 phrases)."
    )
    none = PhraseComparison(DIFFERENCES[1:], 20, 1.0, 10.0, 12.0, 99, 7, 2, 1, [], {})
    assert str(none).startswith("No phrase costs set A significantly more than set B.")
    empty = PhraseComparison([], 20, 1.0, 10.0, 12.0, 99, 0, 2, 1, [], {})
    assert str(empty).startswith("No phrase that occurs in at least 2 texts lowers")


@pytest.mark.parametrize("result", [COSTS, LARGE, COMPARISON])
def test_results_are_converted(result):
    frame = result.to_frame()
    assert list(frame["phrase"]) == [row.phrase for row in result.rows]
    record = json.loads(json.dumps(result.to_dict()))
    assert [row["phrase"] for row in record["phrases"]] == list(frame["phrase"])
    assert str(pickle.loads(pickle.dumps(result))) == str(result)
    assert "<table>" in result._repr_html_()
    assert "<think>" not in result._repr_html_()


def test_record_has_the_key_of_the_order():
    assert COSTS.to_dict()["VS"] == 10.0
    assert LARGE.to_dict()["VS"] is None
    assert LARGE.to_dict()["phrases"][0]["cost"] is None


def test_plots_show_costs_of_each_set():
    figure = pytest.importorskip("matplotlib.figure").Figure
    ax = COMPARISON.plot(ax=figure().add_subplot())
    assert [bar.get_width() for bar in ax.patches] == [2.5, 0.25, 0.5, 0.5]
    ax = LARGE.plot(ax=figure().add_subplot())
    assert [bar.get_width() for bar in ax.patches] == [3.0]
