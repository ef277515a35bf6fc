"""Calls that are edited as text: controls, groups, columns, references and magnitude functions."""

import json
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest
from page_answers import make_samples

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore import compute
from vendiscore.magnitude.curve import magnitude_curve
from vendiscore_page.answers import kernel_menu
from vendiscore_page.answers.edited_call import compute_samples, compute_sets, read_call
from vendiscore_page.inputs import pictures
from vendiscore_page.inputs.submission import KINDS
from vendiscore_page.quotas import RefusedError

TEXTS = ["a cat sat", "a cat ran", "the dog sat", "a bird flew"]
X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kernel_of_the_menu_is_a_call_that_sets_the_controls(kind):
    for choice in kernel_menu.list_choices(kind):
        call = kernel_menu.parse_options(choice, {})
        text = ", ".join(f"{name}={value!r}" for name, value in call.items())
        controls = read_call(kind, f"{text}, q=2")["controls"]
        assert (controls["kernel"], controls["q"]) == (choice.kernel, 2)
        assert kernel_menu.parse_options(choice, controls["options"]) == call


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


def test_unusable_samples_are_left_out_and_noted():
    samples = make_samples([*TEXTS[:3], None], problems={3: "is empty"})
    answer = compute_samples(samples, "q=2")
    assert (answer["values"], answer["n"]) == (compute(TEXTS[:3], q=2), 3)
    assert answer["notes"][0].startswith("Not used: 1 of 4 samples")


Y = np.random.default_rng(1).normal(size=(9, 3))
MAGNITUDE = "measures=['MagArea', 't_conv', 'MagDiff']"


@pytest.fixture(scope="module")
def magnitude_metric():
    """The metric that `evaluate.load` returns for the script in the root of the repository."""
    evaluate = pytest.importorskip("evaluate")
    return evaluate.load(str(Path(__file__).parents[3] / "magnitude.py"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("samples", "keywords"),
    [(X, {}), (X, {"k": "rbf"}), (TEXTS, {"k": "ngram_overlap"})],
    ids=["vectors", "rbf", "texts"],
)
def test_magnitude_of_one_set_is_that_of_the_evaluate_metric(magnitude_metric, samples, keywords):
    written = "".join(f"{name}={value!r}, " for name, value in keywords.items())
    kind = "texts" if samples is TEXTS else "vectors"
    text = f"{written}measures=['MagArea', 't_conv'], t_cut='t_conv'"
    answer = compute_samples(make_samples(samples, kind), text)
    expected = magnitude_metric.compute(samples=samples, **keywords)
    assert answer["values"] == pytest.approx(expected, rel=1e-12)
    (curve,) = answer["curves"]
    scales = curve["scales"]
    expected = magnitude_metric.compute(samples=samples, t=scales, **keywords)
    assert curve["values"] == pytest.approx(list(expected.values()), rel=1e-12)
    assert curve["convergence"] == pytest.approx(answer["values"]["t_conv"], rel=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("sets", "keywords"),
    [
        ((X, Y), {}),
        ((X, Y), {"k": "rbf"}),
        ((X, Y), {"metric": "cityblock", "n_scales": 40, "epsilon": 0.1}),
        ((TEXTS, [*TEXTS[2:], "no cat at all"]), {"k": "ngram_overlap"}),
    ],
    ids=["vectors", "rbf", "options", "texts"],
)
def test_magnitude_of_two_sets_is_that_of_the_evaluate_metric(magnitude_metric, sets, keywords):
    written = "".join(f"{name}={value!r}, " for name, value in keywords.items())
    kind = "texts" if sets[0] is TEXTS else "vectors"
    named = {name: make_samples(samples, kind) for name, samples in zip("AB", sets, strict=True)}
    answer = compute_sets(named, f"{written}{MAGNITUDE}")
    expected = magnitude_metric.compute(samples=sets[0], references=sets[1], **keywords)
    assert answer["values"] == pytest.approx(expected, rel=1e-12)
    expected = magnitude_metric.compute(samples=sets[1], references=sets[1], **keywords)
    assert expected.pop("MagDiff") == 0
    assert answer["reference_values"] == pytest.approx(expected, rel=1e-12)
    assert [curve["name"] for curve in answer["curves"]] == ["A", "B"]
    if keywords.get("k") == "rbf":  # its option is fitted to the references
        both = {"samples": sets[0], "references": sets[1]}
        details = magnitude_metric.compute(**both, k="rbf", details=True)["details"]
        keywords = {"k": "rbf", "sigma": details["options"]["sigma"]}
    keywords = {name: x for name, x in keywords.items() if name in ("k", "metric", "sigma")}
    for curve, samples in zip(answer["curves"], sets, strict=True):
        expected = magnitude_metric.compute(samples=samples, t=curve["scales"], **keywords)
        assert curve["values"] == pytest.approx(list(expected.values()), rel=1e-12)


def test_sets_of_a_table_are_compared_and_code_prints_the_values(capsys):
    table = make_samples(np.concatenate([X, Y]), "vectors", groups=["A"] * len(X) + ["B"] * len(Y))
    answer = compute_sets({"table": table}, MAGNITUDE)
    sets = {"A": make_samples(X, "vectors"), "B": make_samples(Y, "vectors")}
    for name in ("values", "reference_values", "sets", "name"):
        assert answer[name] == compute_sets(sets, MAGNITUDE)[name]
    assert answer["notes"][-1].endswith("A has 12 samples, and B has 9.")
    exec(answer["code"], {"samples": X, "references": Y})
    printed = list(map(literal_eval, capsys.readouterr().out.splitlines()))
    assert printed == [answer["values"], answer["reference_values"] | {"MagDiff": 0.0}]
    groups = ["p", "q"] * 6
    sets = {name: make_samples(X, "vectors", groups=groups) for name in "AB"}
    assert "groups, such as prompts, have no effect" in compute_sets(sets, MAGNITUDE)["notes"][0]


def test_sets_that_cannot_be_compared_are_rejected():
    A, B = make_samples(X, "vectors"), make_samples(Y, "vectors")
    with pytest.raises(RefusedError, match="compare two sets, got 3"):
        compute_sets({"A": A, "B": B, "C": B}, MAGNITUDE)
    with pytest.raises(RefusedError, match="same type of samples, got texts and vectors"):
        compute_sets({"A": A, "B": make_samples(TEXTS)}, MAGNITUDE)
    with pytest.raises(RefusedError, match="`references` cannot be set here"):
        compute_sets({"A": A, "B": B}, f"{MAGNITUDE}, references=[[1, 2, 3]]")
    with pytest.raises(RefusedError, match="`references` have no effect on IntDiv"):
        compute_sets({"A": A, "B": B}, "measures='IntDiv'")


def test_images_are_compared_as_they_were_uploaded():
    from image_samples import encode_png

    from vendiscore_page.inputs import examples

    images = examples.find_example("Shapes in three colours").open_images()
    files = [(f"{i:02}.png", encode_png(image)) for i, image in enumerate(images)]
    samples = pictures.read_pictures(files, "images")
    answer = compute_samples(samples, "k='pixels', measures=['VS', 'IntDiv']")
    expected = compute(images, k="pixels", measures=["VS", "IntDiv"])
    assert answer["values"] == pytest.approx(expected, rel=1e-12)
