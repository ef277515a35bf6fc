"""Calls that are edited as text: controls, groups, columns, references and magnitude functions."""

import json
from ast import literal_eval

import numpy as np
import pytest
from page_answers import make_samples

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore import compute
from vendiscore.magnitude.curve import magnitude_curve
from vendiscore_page.answers import kernel_menu
from vendiscore_page.answers.edited_call import compute_samples, read_call
from vendiscore_page.inputs import pictures
from vendiscore_page.inputs.submission import KINDS
from vendiscore_page.quotas import RefusedError

TEXTS = ["a cat sat", "a cat ran", "the dog sat", "a bird flew"]
X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kernel_of_the_menu_is_a_call_that_sets_the_controls(kind):
    for choice in kernel_menu.choices(kind):
        call = kernel_menu.arguments(choice, {})
        text = ", ".join(f"{name}={value!r}" for name, value in call.items())
        controls = read_call(kind, f"{text}, q=2")["controls"]
        assert (controls["kernel"], controls["q"]) == (choice.kernel, 2)
        assert kernel_menu.arguments(choice, controls["options"]) == call


@pytest.mark.parametrize(
    "text", ["measures='IntDiv'", "k='bleu'", "k='ngram_overlap', q=[1, 2]", "ns=[1]", "p=[1]"]
)
def test_other_calls_have_no_controls(text):
    assert read_call("texts", text)["controls"] is None


def test_values_of_outside_the_controls_have_no_controls():
    assert read_call("texts", "k='ngram_overlap', ns=[50]")["controls"] is None


@pytest.mark.filterwarnings("ignore")
def test_groups_and_prompts_that_were_read_are_used_unless_the_call_sets_them():
    groups = ["x", "x", "y", "y"]
    samples = make_samples(TEXTS, groups=groups)
    assert compute_samples(samples, "q=2")["values"] == compute(TEXTS, groups=groups, q=2)
    assert compute_samples(samples, "groups=None")["values"] == compute(TEXTS)
    other = ["y", "x", "x", "y"]
    answer = compute_samples(samples, f"groups={other}")
    assert answer["values"] == compute(TEXTS, groups=other)
    prompts = ["a cat"] * 4
    answer = compute_samples(make_samples(TEXTS, prompts=prompts), "")
    assert answer["values"] == compute(TEXTS, prompts=prompts, given_prompt=True)


@pytest.mark.filterwarnings("ignore")
def test_columns_of_a_table_can_be_named():
    cells = {"text": TEXTS, "model": ["A", "B", "A", "B"], "x": [1.0, 2.0, 3.0, 5.0]}
    samples = make_samples(TEXTS, cells=cells)
    answer = compute_samples(samples, "groups='model', details=True")
    values = {name: x for name, x in answer["values"].items() if name != "details"}
    assert values == compute(TEXTS, groups=cells["model"])
    records = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    mixture = {"ngram_overlap:text": 0.5, "rbf:x": 0.5}
    options = {"rbf:x": {"sigma": 2.0}}
    answer = compute_samples(samples, f"k={mixture!r}, options={options!r}")
    assert answer["values"] == pytest.approx(compute(records, k=mixture, options=options))
    with pytest.raises(RefusedError, match="the columns are text, model, x"):
        compute_samples(samples, "groups='author'")


def test_magnitude_functions_are_those_of_the_library():
    answer = compute_samples(make_samples(X, "vectors"), "measures=['MagArea', 't_conv']")
    assert answer["values"] == compute(X, measures=["MagArea", "t_conv"])
    (curve,) = answer["curves"]
    expected = magnitude_curve(X)
    assert curve["values"] == pytest.approx(expected.values, rel=1e-12)
    assert curve["scales"] == pytest.approx(expected.scales, rel=1e-12)
    assert curve["convergence"] == pytest.approx(answer["values"]["t_conv"], rel=1e-9)
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer
    texts = compute_samples(make_samples(TEXTS), "k='ngram_overlap', measures='MagArea'")
    expected = magnitude_curve(TEXTS, k="ngram_overlap")
    assert texts["curves"][0]["values"] == pytest.approx(expected.values, rel=1e-12)
    assert compute_samples(make_samples(TEXTS), "measures='IntDiv'")["curves"] == []


@pytest.mark.parametrize("role", ["sets", "groups"])
def test_one_set_can_be_the_references_of_the_others(role):
    labels = ["A", "B"] * 6
    samples = make_samples(X, "vectors", **{role: labels})
    answer = compute_samples(samples, "measures=['MagDiff', 'MagArea'], references='B'")
    expected = compute(X[::2], X[1::2], measures=["MagDiff", "MagArea"])
    assert answer["values"] == pytest.approx(expected, rel=1e-12)
    assert [curve["name"] for curve in answer["curves"]] == ["samples", "references"]
    expected = magnitude_curve(X[1::2])
    assert answer["curves"][1]["values"] == pytest.approx(expected.values, rel=1e-12)
    with pytest.raises(RefusedError, match=r"one of their sets \(A, B\), got 'C'"):
        compute_samples(samples, "measures='MagDiff', references='C'")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("options", "text", "variables"),
    [
        ({}, "q=2", {}),
        ({"groups": ["x", "x", "y", "y"]}, "q=2", {"groups": ["x", "x", "y", "y"]}),
        ({"prompts": ["a cat"] * 4}, "", {"prompts": ["a cat"] * 4}),
        (
            {"cells": {"m": ["A", "B", "A", "B"]}},
            "groups='m', ns=[1, 2]",
            {"table": {"m": ["A", "B", "A", "B"]}},
        ),
    ],
)
def test_code_prints_the_values(options, text, variables, capsys):
    answer = compute_samples(make_samples(TEXTS, **options), text)
    exec(answer["code"], {"samples": TEXTS, **variables})
    assert literal_eval(capsys.readouterr().out) == answer["values"]


def test_unusable_samples_are_left_out():
    samples = make_samples([*TEXTS[:3], None], problems={3: "is empty"})
    answer = compute_samples(samples, "q=2")
    assert (answer["values"], answer["n"]) == (compute(TEXTS[:3], q=2), 3)


def test_images_are_compared_as_they_were_uploaded():
    from image_samples import encode_png

    from vendiscore_page.inputs import examples

    images = examples.find_example("Shapes in three colours").images()
    files = [(f"{i:02}.png", encode_png(image)) for i, image in enumerate(images)]
    samples = pictures.pictures(files, "images")
    answer = compute_samples(samples, "k='pixels', measures=['VS', 'IntDiv']")
    expected = compute(images, k="pixels", measures=["VS", "IntDiv"])
    assert answer["values"] == pytest.approx(expected, rel=1e-12)
