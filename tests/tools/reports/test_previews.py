"""A report shows samples of all types: texts, images, molecules, rows and others."""

import base64
import io
import re

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("matplotlib")
from report_parser import parse_report

import vendiscore
from vendiscore import compute, report

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 6))
TEXTS = ["a cat sat", "a dog ran", "a cat ran", "snow fell"]


def kernel(a: float, b: float) -> float:
    return float(np.exp(-abs(a - b)))


@pytest.mark.parametrize(
    ("samples", "options", "title", "expected"),
    [
        (TEXTS, {}, "4 texts", "a dog ran"),
        (np.array(TEXTS), {}, "4 texts", "snow fell"),
        (TEXTS, {"k": "labels"}, "4 texts", "a dog ran"),
        (X, {"k": "rbf"}, "20 rows", "row 0: 0.126, -0.132, 0.64, 0.105, …"),
        (X.tolist(), {"k": "cosine"}, "20 rows", "row 0: 0.126, -0.132, 0.64, 0.105, …"),
        (X.astype(np.float32), {"score_X": True, "normalize": True}, "20 samples", "row 19"),
        (sp.csr_array(abs(X)), {"k": "cosine"}, "20 rows", "row 19"),
        (np.eye(5), {"score_K": True}, "5 samples", "row 4"),
        ([1.0, 2.5, -0.0], {"k": kernel}, "3 samples", "2.5"),
        ([(0, 1), (2, 3), (5, 5)], {"k": lambda a, b: kernel(a[0], b[0])}, "3 rows", "row 2: 5, 5"),
        ([{"b", "a"}, {"c"}, {"a"}], {"k": "tags"}, "3 samples", "['a', 'b']"),
        (vendiscore.as_similarity(TEXTS), {}, "4 samples", "row 3"),
        ({"t": TEXTS, "n": [1, 2, 1, 3]}, {"k": ["ngram_overlap:t", "labels:n"]}, "4 samples",
         "t: a dog ran, n: 2"),
        ([{"t": t, "n": 1} for t in TEXTS], {"k": ["ngram_overlap:t", "labels:n"]},
         "4 samples", "t: snow fell, n: 1"),
        (abs(X[:, :1] - X[:, 0]), {"metric": "precomputed", "measures": "MagArea", "t_cut": 2},
         "20 samples", "row 7"),
        (X, {"measures": "MagArea", "t_cut": 2}, "20 rows", "row 0: 0.126"),
    ],
    ids=[
        *("texts", "array of texts", "labels", "vectors", "lists", "features", "sparse", "K"),
        *("numbers", "tuples", "tags", "similarity", "columns", "records", "distances", "spaces"),
    ],
)  # fmt: skip
def test_report_shows_all_sample_types(samples, options, title, expected) -> None:
    page = parse_report(report(samples, **options))
    assert page.title == f"Diversity of {title}"
    assert expected in page.text["samples"]


def test_tensors_are_shown_as_rows() -> None:
    torch = pytest.importorskip("torch")
    result = report(torch.tensor(X), k="rbf")
    assert "row 0: 0.126, -0.132, 0.64, 0.105, …" in parse_report(result).text["samples"]
    assert float(result.numbers["VS"]) == pytest.approx(compute(X, k="rbf")["VS"])


@pytest.mark.parametrize("image_type", ["array", "PIL", "file"])
def test_images_are_embedded_as_thumbnails(image_type, tmp_path) -> None:
    Image = pytest.importorskip("PIL.Image")
    arrays = [RNG.integers(0, 256, size=(60, 90, 3), dtype=np.uint8) for _ in range(4)]
    images = [Image.fromarray(array) for array in arrays]
    paths = [str(tmp_path / f'"{i}".png') for i in range(4)]
    for path, image in zip(paths, images, strict=True):
        image.save(path)
    page = parse_report(
        report({"array": arrays, "PIL": images, "file": paths}[image_type], k="pixels")
    )
    uris = [link for link in page.links if link.startswith("data:image/jpeg;base64,")]
    thumbnail = Image.open(io.BytesIO(base64.b64decode(uris[0].partition(",")[2])))
    assert thumbnail.size == (48, 32)
    assert len(set(uris)) == 4
    assert page.title == "Diversity of 4 images"


def test_images_beyond_the_size_limit_are_shown_as_text() -> None:
    pytest.importorskip("PIL")
    from vendiscore.tools.reports import previews

    images = list(RNG.integers(0, 256, size=(9, 8, 8), dtype=np.uint8))
    result = previews.Previews(images, "images", 1_000, {})
    cells = [result.render_html(i, 99) for i in range(9)]
    assert sum(map(len, re.findall('src="([^"]*)"', "".join(cells)))) <= 1_000
    assert cells[0].startswith("<img ")
    assert cells[-1] == "<span>image 8</span>"


def test_molecules_are_drawn_next_to_their_smiles() -> None:
    Chem = pytest.importorskip("rdkit.Chem")
    smiles = ["CCO", "CC(=O)Oc1ccccc1C(=O)O", "c1ccccc1N", "C[C@H](N)C(=O)O"]
    result = report(smiles, k="morgan")
    page = parse_report(result)
    assert page.title == "Diversity of 4 molecules"
    assert smiles[1] in page.text["redundant"]
    assert '<svg class="molecule" viewBox="0 0 150 110" aria-hidden="true"' in result.html()
    assert '<path d="M' in result.html()
    page_of_mols = parse_report(report([Chem.MolFromSmiles(text) for text in smiles], k="morgan"))
    assert smiles[1] in page_of_mols.text["redundant"]


def test_near_duplicates_list_the_sample_to_keep_first() -> None:
    pytest.importorskip("rdkit")
    Image = pytest.importorskip("PIL.Image")
    chains = [f"{'C' * n}O" for n in (12, 14, 16, 18)]
    squares = [Image.fromarray(np.full((9, 9), level, np.uint8)) for level in (200, 210, 220)]
    for samples, kernel, css_class, expected_start in (
        ([*chains, "c1ccccc1N"], "morgan", "molecules", '<svg class="molecule"'),
        (squares, "pixels", "images", "<img "),
        (["a b c d", "a b c d", "e f"], "ngram_overlap", "text", "<bdi><mark>a b c d"),
    ):
        result = report(samples, k=kernel).html()
        (group,) = re.findall(rf'similar \w+</b><ul class="{css_class}">(.*?)</ul>', result)
        first_item, *other_items = group.removeprefix("<li>").split("<li>")
        assert first_item.startswith(expected_start)
        assert "sample to keep" in first_item
        assert "sample to keep" not in "".join(other_items)


def test_drawings_of_near_duplicates_have_a_minimum_width() -> None:
    pytest.importorskip("rdkit")
    result = report([f"{'C' * n}O" for n in (12, 14, 16, 18)], k="morgan").html()
    assert re.search(r"ul\.molecules > li \{ width: 1[2-6]0px", result)
    assert re.search(r"\.report ul\.molecules \{[^}]*display: flex", result)


def test_molecule_labels_are_escaped() -> None:
    pytest.importorskip("rdkit")
    result = report(["CCO |$_AP1;;<b onload='x'>&$|", "CCN", "CCC"], k="morgan")
    assert "<b " not in result.html()
    parse_report(result)


def test_dropped_molecules_are_reported_with_the_score() -> None:
    pytest.importorskip("rdkit")
    with pytest.warns(UserWarning, match="dropped 1 of 4"):
        result = report(["CCO", "XX", "CCC", "c1ccccc1"], k="morgan", on_error="skip")
    page = parse_report(result)
    assert page.title == "Diversity of 3 molecules"
    assert "The kernel cannot use 1 sample (dropped): sample 1 is not" in (page.text["score"])
    ((_, *rows),) = page.tables["samples"]
    assert [(row[0], row[1]) for row in rows] == [("0", "CCO"), ("2", "CCC"), ("3", "c1ccccc1")]


def test_grouped_report_has_a_table_and_shows_the_mean() -> None:
    labels = ["b<", "b<", "a", "a", "a", "b<", "c", "c", "c"]
    samples = [*TEXTS, "a cat sat", "the end", "a dog ran", "a dog sat", "a red dog ran"]
    result = report(samples, groups=labels, q=2)
    page = parse_report(result)
    mean, se = result.numbers["VS_q2"], result.numbers["VS_q2_se"]
    members = ([0, 1, 5], [2, 3, 4], [6, 7, 8])
    group_scores = [compute([samples[i] for i in indices], q=2)["VS_q2"] for indices in members]
    assert page.tables["groups"] == [
        [
            ["group", "n", "VS_q2"],
            *([g, "3", f"{v:.2f}"] for g, v in zip(["b<", "a", "c"], group_scores, strict=True)),
        ]
    ]
    sentence = f"The mean effective number of texts in a group is {mean:.2f} ± {se:.2f}, of 3."
    assert sentence in page.text["score"]
    assert "All 9 texts are distinct within their groups." in page.text["score"]
    assert (
        f"{result.numbers['VS_q2_low']:.2f} to {result.numbers['VS_q2_high']:.2f} (Bayesian "
        in page.text["score"]
    )
    assert "This section describes all groups together." in page.text["alike"]
    assert (
        "Growth is not shown; it requires one set, but the samples are in groups."
        in (page.text["growth"])
    )
    assert result.numbers == compute(samples, groups=labels, q=2, ci=0.95, details=True)


def test_nested_lists_are_groups() -> None:
    page = parse_report(report([TEXTS[:2], TEXTS[2:], ["a", "b", "c"]]))
    assert [row[:2] for row in page.tables["groups"][0][1:]] == [["0", "2"], ["1", "2"], ["2", "3"]]
    assert page.title == "Diversity of 7 texts"


def test_groups_beyond_the_limit_are_counted() -> None:
    page = parse_report(report([["a b", "a c"]] * 70))
    assert len(page.tables["groups"][0]) == 61
    assert "And 10 more groups (see the attribute `numbers` of the report)." in page.text["groups"]


def test_references_are_compared_by_two_sample_measures() -> None:
    result = report(X, X[:5], k="rbf", measures=["VS", "MagDiff"])
    page = parse_report(result)
    assert "Samples were compared with the references by MagDiff." in page.text["score"]
    (header, *rows) = page.tables["score"][0]
    assert header == ["name", "value", "interval", "range", "description"]
    assert [row[0] for row in rows] == ["VS", "MagDiff"]
    vs_value, mag_diff_value = (result.numbers[name] for name in ("VS", "MagDiff"))
    assert [row[1] for row in rows] == [f"{vs_value:.2f}", f"{mag_diff_value:.2f}"]
    assert rows[0][3] == "[1, n], higher is more diverse"
    assert "references=references" in page.code[-1]


def test_score_table_describes_measures_that_are_not_diversities() -> None:
    page = parse_report(report(X, X[:10], k="rbf", measures=["Precision", "MMD"], neighbours=2))
    rows = page.tables["score"][0][1:]
    directions = [row[3].partition(", ")[2].rpartition(", ")[2] for row in rows]
    assert directions == ["higher is more like the references", "lower is more similar"]
    assert (
        "Lower is more similar."
        in parse_report(report(X, X[:5], k="rbf", measures="MMD")).text["score"]
    )


def test_several_orders_are_listed_in_a_table() -> None:
    result = report(TEXTS, q=[0, 1, 2, "inf", 0.5])
    page = parse_report(result)
    names = [row[0] for row in page.tables["score"][0][1:]]
    assert names == ["VS_q0", "VS_q1", "VS_q2", "VS_qinf", "VS_q0.5"]
    assert f"Effective number: {result.numbers['VS_q1']:.1f} of 4" in page.text["score"]


def test_report_names_measure_other_than_vs_and_its_direction() -> None:
    page = parse_report(report(TEXTS, measures="IntDiv"))
    value = compute(TEXTS, measures="IntDiv")["IntDiv"]
    assert f"{value:.4g} IntDiv" in page.text["score"]
    assert "Higher is more diverse." in page.text["score"]


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (["a"], "The score of a single sample is always 1; add more samples."),
        (["a", "b"], "This set of 2 texts is as diverse as 2.0 texts that have nothing in common"),
        (["a", "a"], "According to this kernel, 1 of the 2 texts is an exact duplicate of others."),
        (["a b"] * 20, "According to this kernel, these 20 texts are nearly identical."),
    ],
    ids=["one", "two", "two identical", "all identical"],
)
def test_report_of_one_or_two_samples(samples, expected) -> None:
    page = parse_report(report(samples))
    assert expected in page.text["score"]
    assert ("alike" in page.text) == (len(samples) > 1)


def test_zero_weight_samples_have_no_mode() -> None:
    page = parse_report(report(TEXTS, p=[0.5, 0.5, 0, 0]))
    assert [row[5] for row in page.tables["samples"][0][3:]] == ["", ""]  # no mode
    assert "it requires equally weighted samples" in page.text["growth"]


def test_estimated_score_is_called_an_estimate() -> None:
    Y = np.random.default_rng(1).normal(size=(600, 40))
    result = report(Y, k="rbf", method="estimate", rtol=0.05)
    low, high = result.numbers.get("VS_low"), result.numbers.get("VS_high")
    score_text = parse_report(result).text["score"]
    assert "estimate" in score_text
    if low is not None and low < high:
        assert f"It is proved to be between {low:.4g} and {high:.4g}." in score_text
