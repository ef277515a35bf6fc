"""Results about sources, in words and tables."""

import numpy as np
import pytest

from vendiscore import sources
from vendiscore.tools.analysis.sources_result import ScoreWithInterval, SourceRow, Sources


def result(**changes):
    similarity = np.array([[1, 0.9, 0.2], [0.9, 1, 0.3], [0.2, 0.3, 1]])
    names = ("x", "y", "z")
    fields = {
        "sources": tuple(SourceRow(name, 2, 0.5, "y", 0.9, 0.4) for name in names),
        "found": ScoreWithInterval(2.0, 0.1, 1.8, 2.2),
        "corrected": ScoreWithInterval(2.5),
        "q": 2.0,
        "level": 0.9,
        "similarity": similarity,
        "prompts": ("p", "q", "r"),
        "per_prompt": (1.5, float("nan"), 2.0),
        "order": np.array([2, 0, 1]),
        "places": np.array([[0.0, 0], [1, 0], [0, 1]]),
        "settings": {"kernel": "labels"},
        "notes": ("a note",),
        "dropped": {},
    }
    return Sources(**{**fields, **changes})


def test_a_score_is_quoted_with_its_interval_if_it_has_one():
    assert str(ScoreWithInterval(1.9, 0.1, 1.7, 2.1)) == "1.90 (1.70 to 2.10)."
    assert ScoreWithInterval(1.9).words == ScoreWithInterval(1.9, 0.1).words == "1.9"
    assert ScoreWithInterval(1.9, 0.1, 1.7, 2.1).keys("VS") == {
        "VS": 1.9, "VS_se": 0.1, "VS_low": 1.7, "VS_high": 2.1,
    }  # fmt: skip
    assert ScoreWithInterval(1.9).keys("VS") == {"VS": 1.9}


def test_a_row_is_a_sentence():
    assert SourceRow("x", 3, 0.25, "y", 0.5).sentence == (
        "x adds 0.25; nearest is y, with a similarity of 0.5."
    )


def test_the_sentence_has_the_terms_of_the_number():
    sentence = result().sentence
    assert sentence.startswith("The effective number of sources is 2.00 (1.80 to 2.20) of 3")
    assert "2.5 without the differences within a source" in sentence
    assert sentence.endswith("(90 % interval, 2 prompts, kernel labels, q=2).")
    plain = result(
        found=ScoreWithInterval(2.0), corrected=None, per_prompt=(), prompts=(), settings={}
    )
    assert plain.sentence == "The effective number of sources is 2 of 3 (q=2)."


def test_pairs_are_the_nearest_or_the_farthest():
    assert result().pairs(2) == [("x", "y", 0.9), ("y", "z", 0.3)]
    assert result().pairs(1, farthest=True) == [("x", "z", 0.2)]
    assert len(result().pairs()) == 3
    with pytest.raises(ValueError, match="`count` must be an integer of at least 1"):
        result().pairs(0)


def test_groups_are_linked_at_a_similarity():
    assert result().groups(0.8) == [["x", "y"], ["z"]]
    assert sorted(result().groups(0.95)) == [["x"], ["y"], ["z"]]
    assert result().groups(0.2)[0] == ["x", "y", "z"]
    with pytest.raises(ValueError, match="`threshold` must be a similarity, at most 1"):
        result().groups(1.5)


def test_tables_have_a_row_for_each_source_prompt_or_pair():
    assert result().to_frame()["name"].tolist() == ["x", "y", "z"]
    prompts = result().to_frame("prompts")
    assert prompts.to_dict("list") == {"prompt": ["p", "r"], "VS_q2": [1.5, 2.0]}
    pairs = result().to_frame("pairs")
    assert pairs["similarity"].tolist() == [0.9, 0.3, 0.2]
    with pytest.raises(ValueError, match="`rows` must be 'sources', 'prompts' or 'pairs'"):
        result().to_frame("models")


def test_a_record_names_scores_by_their_order():
    record = result().to_dict()
    assert (record["VS_q2"], record["VS_q2_low"], record["VS_q2_corrected"]) == (2.0, 1.8, 2.5)
    assert record["order"] == ["z", "x", "y"]
    assert record["notes"] == ["a note"]
    assert record["signature"].startswith("sources|kernel=labels|q=2|sources=3|")
    assert "VS_corrected" not in result(corrected=None, q=1.0).to_dict()


def test_what_a_source_adds_is_the_drop_of_the_number_without_it():
    answers = {"x": ["a b", "c"], "y": ["a b", "d"], "z": ["e", "f g"]}
    result = sources(answers, ns=[1])
    for row in result.sources:
        rest = {name: texts for name, texts in answers.items() if name != row.name}
        assert row.adds == pytest.approx(result.score - sources(rest, ns=[1]).score, abs=1e-9)


@pytest.mark.parametrize("kind", ["map", "heat"])
def test_pictures_name_the_sources(kind):
    figures = pytest.importorskip("matplotlib.figure")
    ax = result().plot(figures.Figure().add_subplot(), kind=kind)
    if kind == "map":
        assert {text.get_text() for text in ax.texts} == {"x", "y", "z"}
    else:
        assert [label.get_text() for label in ax.get_yticklabels()] == ["z", "x", "y"]
    with pytest.raises(ValueError, match="`kind` must be 'map' or 'heat'"):
        result().plot(kind="tree")
