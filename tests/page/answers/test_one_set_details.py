"""Further answers on request: near-duplicates, drawings, papers, report and menu."""

import numpy as np
import pytest
from page_answers import json_round_trip, make_clusters, make_samples, score_as_json, score_samples

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore_page.answers import one_set, sample_readout
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.inputs import examples, uploads
from vendiscore_page.inputs.submission import InputSettings, UserInput
from vendiscore_page.quotas import RefusedError

RUT = examples.find_example("A model in a rut").text.splitlines()
X = make_clusters(60)


def test_groups_at_new_threshold_match_new_score():
    result = score_samples(X, "vectors", "rbf", options={"sigma": 1.0})
    assert result.answer["floor"] == pytest.approx(0.3)
    for threshold in (0.3, 0.5, 0.95, 1):
        new_result = score_as_json(X, "vectors", "rbf", options={"sigma": 1.0}, threshold=threshold)
        groups = json_round_trip(result.groups(threshold))
        names = ("threshold", "repeats", "boundary", "groups", "without")
        assert groups == {name: new_result[name] for name in names}
    for invalid_threshold in (0.2, 1.01, "x", None, float("nan")):
        with pytest.raises(RefusedError, match="similarity threshold must be"):
            result.groups(invalid_threshold)


def test_drawings_return_svg_for_valid_molecules():
    uris = one_set.draw_molecules(["c1ccccc1", "CCO", "no molecule"])["uris"]
    assert all(uri.startswith("data:image/svg+xml;base64,") for uri in uris[:2])
    assert uris[0] != uris[1]
    assert uris[2] == ""
    assert score_as_json(["CCO", "CCC"], "molecules", "morgan")["samples"]["image"] is None
    for invalid_smiles, message in (
        (None, "Expected a list of SMILES, got NoneType"),
        ("CCO", "Expected a list of SMILES, got str"),
        ([1], "Every molecule must be a string, but number 0 is int"),
        (["C" * 301], "has 301 characters"),
        (["C"] * 61, "At most 60 molecules are drawn at once, got 61"),
    ):
        with pytest.raises(RefusedError, match=message):
            one_set.draw_molecules(invalid_smiles)


def test_papers_contain_pictures_sentences_and_code():
    result = score_samples(RUT)
    papers = json_round_trip(result.papers())
    names = [picture["name"] for picture in papers["pictures"]]
    assert names == ["heat", "spectrum", "profile", "growth"]
    assert all(picture["svg"].startswith("<svg") for picture in papers["pictures"])
    assert not any("<" in picture["caption"] for picture in papers["pictures"])
    assert papers["code"] == result.answer["code"]
    assert papers["signature"] == result.answer["signature"] == papers["details"]["signature"]
    text = " ".join(papers["sentences"])
    assert "Samples were compared by ngram_overlap" in text


def test_report_contains_score_of_answer():
    result = score_samples(RUT)
    page = result.report("A <b>title</b>")
    assert "A &lt;b&gt;title&lt;/b&gt;" in page
    assert f"Effective number: <b>{result.answer['VS']:.1f}</b> of 12" in page
    assert "No two are as similar as 0.95" in page


def test_preview_describes_samples_before_scoring():
    samples = make_samples(["CCO", "", "CCC", "CC"], "molecules", problems={1: "is empty"}, total=9)
    preview = json_round_trip(sample_readout.read_answer(samples))
    assert preview["preview"] == ["CCO", "CCC", "CC"]
    assert preview["said"] == "random subset of 4 of 9 lines, 1 unreadable"
    assert (preview["n"], preview["total"], preview["kind"]) == (4, 9, "molecules")
    assert preview["problems"]["count"] == 1
    assert preview["problems"]["others"] == 3
    vector_preview = json_round_trip(
        sample_readout.read_answer(make_samples(np.arange(10.0).reshape(2, 5), "vectors"))
    )
    assert vector_preview["preview"] == ["0, 1, 2, 3, …", "5, 6, 7, 8, …"]
    assert vector_preview["problems"] is None


def test_menu_has_default_kernel_for_each_sample_type():
    menu = json_round_trip(one_set.build_menu())
    assert list(menu["kinds"]) == ["texts", "images", "molecules", "vectors"]
    for kind, result in menu["kinds"].items():
        assert result["default"] == result["kernels"][0]["kernel"]
        assert all(entry["label"] and entry["small"] for entry in result["kernels"])
        assert [entry["name"] for entry in result["examples"]]
        assert not one_set.is_long(
            make_samples(np.eye(3) if kind == "vectors" else [], kind),
            Settings(result["kernels"][-1]["kernel"]),
        )
    options = menu["kinds"]["texts"]["kernels"][-1]["options"]
    assert [entry["name"] for entry in options] == ["ns", "unit"]
    assert menu["compare"]["examples"]
    assert menu["limits"]["q"] == 1


def test_menu_examples_use_listed_kernels_and_valid_sets():
    menu = json_round_trip(one_set.build_menu())
    for kind, result in menu["kinds"].items():
        kernels = {entry["kernel"]: entry["compares"] for entry in result["kernels"]}
        assert {entry.get("kernel", "") for entry in result["examples"]} <= {"", *kernels}
        matrices = {name for name, compares in kernels.items() if not compares}
        assert matrices == ({"K", "K, clipped"} if kind == "vectors" else set())
    for pairing in menu["compare"]["examples"]:
        assert pairing["kind"] in menu["kinds"]
        sets = [
            uploads.read(UserInput(), InputSettings(kind=pairing["kind"], example=entry["example"]))
            for entry in pairing["sets"]
        ]
        assert len(sets) >= 2 or sets[0].sets_by == "model"  # one table contains the sets
        assert min(map(len, sets)) >= 4
