"""Answers that the page gives when asked: other groups, drawings, papers, the report, the menu."""

import numpy as np
import pytest
from page_answers import json_round_trip, make_clusters, make_samples, score_as_json, score_samples

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore_page.answers import one_set, sample_readout
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs import examples, uploads
from vendiscore_page.inputs.submission import Asked, Given
from vendiscore_page.quotas import RefusedError

RUT = examples.find_example("A model in a rut").text.splitlines()
X = make_clusters(60)
# Near-copies in fives.


def test_groups_at_new_threshold_match_new_score():
    result = score_samples(X, "vectors", "rbf", options={"sigma": 1.0})
    assert result.answer["floor"] == pytest.approx(0.3)
    for threshold in (0.3, 0.5, 0.95, 1):
        again = score_as_json(X, "vectors", "rbf", options={"sigma": 1.0}, threshold=threshold)
        moved = json_round_trip(result.groups(threshold))
        names = ("threshold", "repeats", "boundary", "groups", "without")
        assert moved == {name: again[name] for name in names}
    for wrong in (0.2, 1.01, "x", None, float("nan")):
        with pytest.raises(RefusedError, match="from which samples are alike must be"):
            result.groups(wrong)


def test_drawings_return_svg_for_valid_molecules():
    uris = one_set.drawings(["c1ccccc1", "CCO", "no molecule"])["uris"]
    assert all(uri.startswith("data:image/svg+xml;base64,") for uri in uris[:2])
    assert uris[0] != uris[1]
    assert uris[2] == ""
    assert score_as_json(["CCO", "CCC"], "molecules", "morgan")["samples"]["image"] is None
    for wrong, said in (
        (None, "Expected a list of SMILES, got NoneType"),
        ("CCO", "Expected a list of SMILES, got str"),
        ([1], "Every molecule must be a string, but number 0 is int"),
        (["C" * 301], "has 301 characters"),
        (["C"] * 61, "At most 60 molecules are drawn at once, got 61"),
    ):
        with pytest.raises(RefusedError, match=said):
            one_set.drawings(wrong)


def test_papers_contain_pictures_sentences_and_code():
    result = score_samples(RUT)
    found = json_round_trip(result.papers())
    names = [picture["name"] for picture in found["pictures"]]
    assert names == ["heat", "spectrum", "profile", "growth"]
    assert all(picture["svg"].startswith("<svg") for picture in found["pictures"])
    assert not any("<" in picture["caption"] for picture in found["pictures"])
    assert found["code"] == result.answer["code"]
    assert found["signature"] == result.answer["signature"] == found["details"]["signature"]
    said = " ".join(found["sentences"])
    assert "Samples were compared by ngram_overlap" in said


def test_report_contains_score_of_answer():
    ours = score_samples(RUT)
    page = ours.report("A <b>title</b>")
    assert "A &lt;b&gt;title&lt;/b&gt;" in page
    assert f"Effective number: <b>{ours.answer['VS']:.1f}</b> of 12" in page
    assert "No two are as similar as 0.95" in page


def test_preview_describes_samples_before_scoring():
    samples = make_samples(["CCO", "", "CCC", "CC"], "molecules", problems={1: "is empty"}, total=9)
    ours = json_round_trip(sample_readout.read_answer(samples))
    assert ours["preview"] == ["CCO", "CCC", "CC"]
    assert ours["said"] == "4 lines of 9, drawn at random, 1 unreadable"
    assert (ours["n"], ours["total"], ours["kind"]) == (4, 9, "molecules")
    assert ours["problems"]["count"] == 1
    assert ours["problems"]["others"] == 3
    rows = json_round_trip(
        sample_readout.read_answer(make_samples(np.arange(10.0).reshape(2, 5), "vectors"))
    )
    assert rows["preview"] == ["0, 1, 2, 3, …", "5, 6, 7, 8, …"]
    assert rows["problems"] is None


def test_menu_has_default_kernel_for_each_sample_type():
    menu = json_round_trip(one_set.menu())
    assert list(menu["kinds"]) == ["texts", "images", "molecules", "vectors"]
    for kind, result in menu["kinds"].items():
        assert result["default"] == result["kernels"][0]["kernel"]
        assert all(each["label"] and each["small"] for each in result["kernels"])
        assert [each["name"] for each in result["examples"]]
        assert not one_set.is_long(
            make_samples(np.eye(3) if kind == "vectors" else [], kind),
            Settings(result["kernels"][-1]["kernel"]),
        )
    options = menu["kinds"]["texts"]["kernels"][-1]["options"]
    assert [each["name"] for each in options] == ["ns", "unit"]
    assert menu["compare"]["examples"]
    assert menu["limits"]["q"] == 1


def test_menu_examples_use_listed_kernels_and_valid_sets():
    menu = json_round_trip(one_set.menu())
    for kind, result in menu["kinds"].items():
        kernels = {each["kernel"]: each["compares"] for each in result["kernels"]}
        assert {each.get("kernel", "") for each in result["examples"]} <= {"", *kernels}
        matrices = {name for name, compares in kernels.items() if not compares}
        assert matrices == ({"K", "K, clipped"} if kind == "vectors" else set())
    for pairing in menu["compare"]["examples"]:
        assert pairing["kind"] in menu["kinds"]
        sets = [
            uploads.read(Given(), Asked(kind=pairing["kind"], example=each["example"]))
            for each in pairing["sets"]
        ]
        assert len(sets) >= 2 or sets[0].sets_by == "model"  # sets of one table
        assert min(map(len, sets)) >= 4
