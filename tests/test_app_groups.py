"""Groups on the page and through its API: the numbers of the package for a list of lists."""

import base64
import json
import re

import numpy as np
import pytest
from drawn import png

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore.app import examples, handlers, jobs, reading, shows
from vendiscore.app.group_report import page as group_page
from vendiscore.app.limits import MAX_SAMPLES, RefusedError
from vendiscore.errors import SampleError
from vendiscore.progress import finish
from vendiscore.scoring import compute

TEXTS = [
    ["a cat sat", "a dog sat", "the cat ran off"],
    ["red", "red", "green and red", "blue"],
    ["a cat sat", "no"],
]
BOX = "\n\n \n".join("\n".join(group) for group in TEXTS)
ROWS = np.random.default_rng(0).normal(size=(12, 3))
NESTED_ROWS = [rows.tolist() for rows in np.split(ROWS, [5, 9])]
SMILES = [["CCO", "CCC", "CCCC"], ["c1ccccc1", "CCO"]]
IMAGES = examples.images()["Shapes in three colours"]


def show(*given, **options):
    """The text tab's page and lines, with errors raised."""
    box, path, column = (*given, None, None)[:3]
    steps = shows.show_text(box, path, column, "ngram_overlap", [1, 2], "word", 1, 1, **options)
    return list(steps)[-1]


def everything(page):
    return json.loads(base64.b64decode(re.search('json;base64,([^"]+)"', page).group(1)))


def table_of(page):
    return re.findall(r"<tr><th>([^<]*)</th><td>(\d+)</td><td>([\d.]+)</td></tr>", page)


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, "inf"])
def test_a_list_of_lists_has_the_numbers_of_the_package(q):
    ours = handlers.text(TEXTS, ns=[1, 2], q=q)
    right = compute(TEXTS, k="ngram_overlap", ns=[1, 2], q=q, details=True)
    assert (ours["VS"], ours["VS_se"]) == (right["VS"], right["VS_se"])
    assert ours["groups"] == right["details"]["groups"]
    assert ours["details"]["signature"] == right["details"]["signature"]
    assert [row["group"] for row in ours["groups"]] == [0, 1, 2]
    assert (ours["n"], ours["q"]) == (9, q)
    assert json.loads(json.dumps(ours)) == ours


@pytest.mark.parametrize(
    ("answer", "nested", "how"),
    [
        (lambda: handlers.molecules(SMILES), SMILES, {"k": "morgan"}),
        (lambda: handlers.vectors(NESTED_ROWS), NESTED_ROWS, {"k": "cosine"}),
        (lambda: handlers.vectors(NESTED_ROWS, "rbf"), NESTED_ROWS, {"k": "rbf"}),
        (
            lambda: handlers.vectors(NESTED_ROWS, "laplacian", 0.7, q=2),
            NESTED_ROWS,
            {"k": "laplacian", "sigma": 0.7, "q": 2},
        ),
        (
            lambda: handlers.vectors(NESTED_ROWS, "X"),
            NESTED_ROWS,
            {"score_X": True, "normalize": True},
        ),
        (
            lambda: handlers.images(
                [[base64.b64encode(png(i)).decode() for i in part] for part in halves()]
            ),
            [IMAGES[:5], IMAGES[5:]],
            {"k": "pixels", "mode": "RGB"},
        ),
    ],
    ids=["molecules", "cosine", "rbf", "laplacian", "X", "images"],
)
def test_every_kind_of_sample_can_be_grouped(answer, nested, how):
    ours, right = answer(), compute(nested, **how)
    assert ours["VS"] == pytest.approx(right["VS"], rel=1e-12)
    assert ours["VS_se"] == pytest.approx(right["VS_se"], rel=1e-9)
    assert [row["n"] for row in ours["groups"]] == list(map(len, nested))


def halves():
    return IMAGES[:5], IMAGES[5:]


def test_one_group_has_a_mean_and_no_standard_error():
    ours = handlers.text([TEXTS[0]], ns=[1, 2])
    assert ours["VS"] == compute(TEXTS[0], k="ngram_overlap", ns=[1, 2])["VS"]
    assert "VS_se" not in ours
    assert "one group, whose score this is" in ours["sentence"]


def test_groups_of_one_are_scored_with_a_note_of_what_is_missing():
    with pytest.warns(UserWarning, match="Every group has one sample"):
        ours = handlers.text([["a b"], ["c d"]])
    assert (ours["VS"], ours["VS_se"]) == (1, 0)
    assert any("Every group has one sample" in note for note in ours["details"]["notes"])


LONG = "x" * 20_001


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: handlers.text([["a"], "b"]), "number 0 is such a list, but number 1 is not: 'b'"),
        (lambda: handlers.text(["b", ["a"]]), "number 1 is such a list, but number 0 is not: 'b'"),
        (lambda: handlers.text([["a"], []]), "Group 1 is empty and has no score"),
        (lambda: handlers.text([[]]), "Group 0 is empty and has no score"),
        (lambda: handlers.text([["a"], ["b", 3]]), "but number 1 of group 1 is int"),
        (lambda: handlers.text([["a"], [["b"]]]), "but number 0 of group 1 is list"),
        (lambda: handlers.text([["a"], ["b", LONG]]), "number 1 of group 1 has 20,001 char"),
        (lambda: handlers.text([["a"] * 501] * 2), f"More than {MAX_SAMPLES:,} texts"),
        (lambda: handlers.text([["a"]] * 1001), f"More than {MAX_SAMPLES:,} texts"),
        (lambda: handlers.text([["x" * 19_999] * 13] * 2), "characters are too many"),
        (lambda: handlers.molecules([["CCO"], ["C" * 301]]), "number 0 of group 1 has 301 char"),
        (lambda: handlers.vectors([[[1.0], [2.0]], [1.0]]), "but number 1 is not: [1.0]"),
        (lambda: handlers.vectors([[[1.0], [2.0]], []]), "Group 1 is empty"),
        (lambda: handlers.vectors([[[1.0]], [[2.0, 1.0]]]), "as many numbers as the first"),
        (
            lambda: handlers.vectors([[[1.0]], [[2.0], [float("nan")]]]),
            "Row 1 of group 1 has nan",
        ),
        (lambda: handlers.vectors([[[1.0]], [[1.0]]], "K"), "K is one matrix of all samples"),
        (lambda: handlers.images([["QQ=="], ["?"]]), "Image 0 of group 0 is not an image"),
        (lambda: handlers.images([["QQ=="] * 101] * 2), "More than 200 images"),
        (
            lambda: handlers.compare([[["a"]] * 4, ["a"] * 4]),
            "one list of texts, not a list of lists",
        ),
    ],
)
def test_groups_past_the_limits_are_refused(call, said):
    with pytest.raises(RefusedError) as caught:
        call()
    assert said in str(caught.value)


def test_rows_of_which_some_are_empty_are_no_groups():
    with pytest.raises(RefusedError, match="as many numbers as the first"):
        handlers.vectors([[1.0, 2.0], []])


def test_a_bad_sample_is_named_by_its_place_in_its_group():
    with pytest.raises(SampleError, match=r"\(sample 1 of group 1\)"):
        handlers.molecules([["CCO", "CCC"], ["CCO", "C1CC("]])


def test_blank_lines_separate_groups_where_one_says_so():
    page, code = show(BOX, blocks=True)
    right = compute(TEXTS, k="ngram_overlap", ns=[1, 2], details=True)
    assert f"VS = {right['VS']:.6f} ± {right['VS_se']:.6f} · " in page
    assert "effectively different in a group, the mean of 3 groups" in page
    of_groups = enumerate(right["details"]["groups"], 1)
    rows = [(str(i), str(row["n"]), f"{row['VS']:.2f}") for i, row in of_groups]
    assert table_of(page) == rows
    assert "Read 9 lines in 3 groups, separated by blank lines." in page
    assert "<svg" not in page
    found = everything(page)
    assert (found["VS"], found["VS_se"], found["samples"]) == (right["VS"], right["VS_se"], TEXTS)
    assert code.splitlines()[1] == f"samples = {TEXTS!r}"


def test_without_the_box_ticked_blank_lines_are_nothing():
    flat = [text for group in TEXTS for text in group]
    page, code = show(BOX)
    assert f"VS = {compute(flat, k='ngram_overlap', ns=[1, 2])['VS']:.6f}" in page
    assert "effectively different of 9" in page
    assert code.splitlines()[1] == f"samples = {flat!r}"


def test_one_block_is_one_group_and_many_are_not_all_shown():
    page, _ = show("a b\nc d", blocks=True)
    assert "the mean of 1 group<" in page.replace("</p>", "<")
    assert "±" not in page
    many = "\n\n".join(f"a b\nc d {i}" for i in range(60))
    page, _ = show(many, blocks=True)
    assert len(table_of(page)) == 40
    assert "And 20 more groups in the table (CSV)." in page
    assert len(everything(page)["groups"]) == 60


@pytest.mark.parametrize("separator", [reading.BLANK, "==="])
def test_blocks_are_of_lines_only(separator):
    with pytest.raises(RefusedError, match="pick “a new line” under “Between two texts”, or untic"):
        show(BOX, separator=separator, blocks=True)


def test_a_text_file_has_blocks_and_a_table_a_column(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(BOX)
    right = compute(TEXTS, k="ngram_overlap", ns=[1, 2])
    page, _ = show("", str(path), blocks=True)
    assert f"VS = {right['VS']:.6f} ± {right['VS_se']:.6f}" in page
    table = tmp_path / "mine.csv"
    table.write_text("text,prompt\na,1\n")
    with pytest.raises(RefusedError, match="A table has no blocks of lines: pick the column"):
        show("", str(table), blocks=True)
    with pytest.raises(RefusedError, match="There is no column 'seed'; the file has text, prompt"):
        show("", str(table), by="seed")


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("blocks", [False, True])
def test_rows_of_a_table_are_grouped_by_a_column_in_any_order(tmp_path, kind, blocks):
    pairs = [(text, f"prompt {g}") for g, group in enumerate(TEXTS) for text in group]
    mixed = [pairs[i] for i in np.random.default_rng(1).permutation(len(pairs))]
    path = tmp_path / f"mine.{kind}"
    if kind == "csv":
        path.write_text("answer,prompt\n" + "\n".join(map(",".join, mixed)))
    else:
        lines = [json.dumps({"answer": text, "prompt": prompt}) for text, prompt in mixed]
        path.write_text("\n".join(lines))
    right = compute(TEXTS, k="ngram_overlap", ns=[1, 2])
    page, code = show("", str(path), by="prompt", blocks=blocks)
    assert f"VS = {right['VS']:.6f} ± {right['VS_se']:.6f}" in page
    assert "3 groups by column" in page
    names = [name for name, _, _ in table_of(page)]
    assert names == list(dict.fromkeys(prompt for _, prompt in mixed))
    nested = eval(code.splitlines()[1].removeprefix("samples = "))
    assert nested == [[text for text, prompt in mixed if prompt == name] for name in names]


def test_rows_without_a_group_can_be_left_out_and_groups_that_vanish_are_named(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("answer,prompt\na b,x\nc d,\n,y\na c,x\n,y\nc d,z\nc e,z\n")
    with pytest.raises(RefusedError, match=r"row 3, 'c d', has no group in column 'prompt'"):
        show("", str(path), by="prompt")
    page, _ = show("", str(path), by="prompt", leave_out=True)
    right = compute([["a b", "a c"], ["c d", "c e"]], k="ngram_overlap", ns=[1, 2])
    assert f"VS = {right['VS']:.6f} ± {right['VS_se']:.6f}" in page
    assert "Left out 3 of 7 (rows 3, 4, 6)" in page
    assert "Nothing is left of these groups, which are not scored: y." in page


def test_a_label_of_a_visitor_stays_text(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("answer,prompt\na b,<script>${x}\nc d,<script>${x}\nc e,b\nc f,b\n")
    page, _ = show("", str(path), by="prompt")
    assert "&lt;script&gt;&#36;&#123;x&#125;" in page
    for sign in ("<script", "${"):
        assert sign not in page


def test_a_page_of_groups_says_whether_they_can_be_compared():
    job = jobs.text_job(TEXTS, ns=[1])
    page = group_page(finish(job.by_group(1)), job.what, TEXTS)
    assert "Groups have 2 to 4 samples, and most scores are larger for more samples" in page
