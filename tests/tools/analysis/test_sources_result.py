"""Sentences, tables and plots of the result of `sources`."""

import numpy as np
import pytest

from vendiscore import sources
from vendiscore.tools.analysis.sources_result import ScoreWithInterval, SourceRow, Sources


def make_result(**changes):
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


def test_score_with_interval_formats_and_returns_keys():
    assert str(ScoreWithInterval(1.9, 0.1, 1.7, 2.1)) == "1.90 (1.70 to 2.10)."
    assert ScoreWithInterval(1.9).words == ScoreWithInterval(1.9, 0.1).words == "1.9"
    assert ScoreWithInterval(1.9, 0.1, 1.7, 2.1).keys("VS") == {
        "VS": 1.9, "VS_se": 0.1, "VS_low": 1.7, "VS_high": 2.1,
    }  # fmt: skip
    assert ScoreWithInterval(1.9).keys("VS") == {"VS": 1.9}


def test_source_row_sentence():
    assert SourceRow("x", 3, 0.25, "y", 0.5).sentence == (
        "x adds 0.25; nearest is y, with a similarity of 0.5."
    )


def test_sentence_names_interval_correction_kernel_and_order():
    sentence = make_result().sentence
    assert sentence.startswith("The effective number of sources is 2.00 (1.80 to 2.20) of 3")
    assert "2.5 without the differences within a source" in sentence
    assert sentence.endswith("(90 % interval, 2 prompts, kernel labels, q=2).")
    minimal = make_result(
        found=ScoreWithInterval(2.0), corrected=None, per_prompt=(), prompts=(), settings={}
    )
    assert minimal.sentence == "The effective number of sources is 2 of 3 (q=2)."


def test_pairs_returns_nearest_or_farthest():
    assert make_result().pairs(2) == [("x", "y", 0.9), ("y", "z", 0.3)]
    assert make_result().pairs(1, farthest=True) == [("x", "z", 0.2)]
    assert len(make_result().pairs()) == 3
    with pytest.raises(ValueError, match="`count` must be an integer of at least 1"):
        make_result().pairs(0)


def test_groups_links_sources_at_a_similarity():
    assert make_result().groups(0.8) == [["x", "y"], ["z"]]
    assert sorted(make_result().groups(0.95)) == [["x"], ["y"], ["z"]]
    assert make_result().groups(0.2)[0] == ["x", "y", "z"]
    with pytest.raises(ValueError, match="`threshold` must be a similarity, at most 1"):
        make_result().groups(1.5)


def test_to_frame_has_one_row_per_source_prompt_or_pair():
    assert make_result().to_frame()["name"].tolist() == ["x", "y", "z"]
    prompts = make_result().to_frame("prompts")
    assert prompts.to_dict("list") == {"prompt": ["p", "r"], "VS_q2": [1.5, 2.0]}
    pairs = make_result().to_frame("pairs")
    assert pairs["similarity"].tolist() == [0.9, 0.3, 0.2]
    with pytest.raises(ValueError, match="`rows` must be 'sources', 'prompts' or 'pairs'"):
        make_result().to_frame("models")


def test_to_dict_keys_contain_the_order():
    record = make_result().to_dict()
    assert (record["VS_q2"], record["VS_q2_low"], record["VS_q2_corrected"]) == (2.0, 1.8, 2.5)
    assert record["order"] == ["z", "x", "y"]
    assert record["notes"] == ["a note"]
    assert record["signature"].startswith("sources|kernel=labels|q=2|sources=3|")
    assert "VS_corrected" not in make_result(corrected=None, q=1.0).to_dict()


def test_adds_equals_score_drop_without_the_source():
    answers = {"x": ["a b", "c"], "y": ["a b", "d"], "z": ["e", "f g"]}
    make_result = sources(answers, ns=[1])
    for row in make_result.sources:
        remaining = {name: texts for name, texts in answers.items() if name != row.name}
        assert row.adds == pytest.approx(
            make_result.score - sources(remaining, ns=[1]).score, abs=1e-9
        )


@pytest.mark.parametrize("kind", ["map", "heat"])
def test_plot_labels_the_sources(kind):
    figures = pytest.importorskip("matplotlib.figure")
    ax = make_result().plot(figures.Figure().add_subplot(), kind=kind)
    if kind == "map":
        assert {text.get_text() for text in ax.texts} == {"x", "y", "z"}
    else:
        assert [label.get_text() for label in ax.get_yticklabels()] == ["z", "x", "y"]
    with pytest.raises(ValueError, match="`kind` must be 'map' or 'heat'"):
        make_result().plot(kind="tree")
