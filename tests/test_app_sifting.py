"""What cannot be used is listed at once, by its row, and the others can be scored."""

import base64
import html
import json
import re

import numpy as np
import pytest

from vendiscore.scoring import compute

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore.app import examples, jobs, reading, shows
from vendiscore.app.limits import RefusedError
from vendiscore.app.sifting import UnusableError

GOOD = ["CCO", "CCC", "c1ccccc1", "CCN", "CC(=O)O"]
BAD = ["C1CC", "XX", "foo(", "n1", "[Q]"]
SMILES = "compound_id,SMILES\n" + "\n".join(
    f"X{i},{smiles}"
    for i, smiles in enumerate(s for pair in zip(GOOD, BAD, strict=True) for s in pair)
)


@pytest.fixture
def save(tmp_path):
    def write(name: str, data: str) -> str:
        path = tmp_path / name
        path.write_text(data, encoding="utf-8")
        return str(path)

    return write


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def last(steps) -> str:
    *_, (page, _) = shows.safe(lambda: steps)()
    return page


def download(page: str) -> dict:
    found = re.search(r'application/json;base64,([^"]+)"', page)
    return json.loads(base64.b64decode(found.group(1)))


def test_five_bad_molecules_are_listed_at_one_try_and_left_out_at_the_next(save):
    path = save("mols.csv", SMILES)
    page = last(shows.show_molecules("", path, None, "morgan", 1, 1))
    said = text_of(page)
    assert "5 of 10 molecules cannot be used" in said
    for row, smiles in zip((3, 5, 7, 9, 11), BAD, strict=True):
        assert f"row {row}, {smiles!r}, is not a SMILES that RDKit can read" in said
    assert "tick “Leave out what cannot be used” to score the others (5)" in said
    assert "on_error" not in said
    page = last(shows.show_molecules("", path, None, "morgan", 1, 1, leave_out=True))
    assert f"VS = {compute(GOOD, k='morgan')['VS']:.6f}" in page
    assert "Left out 5 of 10 (rows 3, 5, 7, 9, 11)" in text_of(page)
    assert "Read 10 rows of column 'SMILES' of mols.csv" in text_of(page)
    found = download(page)
    assert found["samples"] == GOOD
    assert len(found["notes"]) == 2


def test_what_is_blank_too_long_and_unreadable_is_listed_together(save):
    path = save("a.csv", f"id,smiles\n1,CCO\n2,\n3,{'C' * 301}\n4,x\n5,CCC\n")
    with pytest.raises(UnusableError) as caught:
        list(shows.show_molecules("", path, None, "morgan", 1, 1))
    assert [line.partition(",")[0] for line in caught.value.each] == ["row 3", "row 4", "row 5"]
    assert "301 characters, more than 300" in str(caught.value)


def test_lines_of_the_box_are_counted_from_one_with_blank_ones():
    said = text_of(last(shows.show_molecules("CCO\n\nXX\nCCC\nXX", None, None, "morgan", 1, 1)))
    assert "line 3, 'XX', is not" in said
    assert "line 5, 'XX', is not" in said


def test_of_many_bad_rows_ten_are_shown_with_their_number():
    box = "\n".join(["CCO", "CCC", *(f"X{i}" for i in range(30))])
    with pytest.raises(UnusableError) as caught:
        list(shows.show_molecules(box, None, None, "morgan", 1, 1))
    assert caught.value.what == "30 of 32 molecules cannot be used:"
    assert len(caught.value.each) == 11
    assert caught.value.each[-1] == "and 20 more"


def test_where_nothing_can_be_used_nothing_is_offered():
    for leave_out in (False, True):
        with pytest.raises(UnusableError, match="None is left to score"):
            list(shows.show_molecules("X1\nX2", None, None, "morgan", 1, 1, leave_out))


def test_texts_too_short_for_their_ngrams_are_left_out_by_line():
    box = "one two three\nfour\nfive six seven\neight nine"
    given = [box, None, None, "ngram_overlap", [3], "word", 1, 1]
    said = text_of(last(shows.show_text(*given)))
    assert "line 2, 'four', has 1 token, fewer than" in said
    assert "pass" not in said
    page = last(shows.show_text(*given, leave_out=True))
    right = compute(["one two three", "five six seven"], ns=[3])["VS"]
    assert f"VS = {right:.6f}" in page


def test_bad_rows_of_numbers_and_rows_without_a_direction_are_listed_together():
    box = "x,y\n1,2\n3,abc\n0,0\n4,5\n"
    said = text_of(last(shows.show_vectors(box, None, "cosine", 0, 1, 1)))
    assert "row 3 has 'abc', which is not a number" in said
    assert "row 4 " in said
    page = last(shows.show_vectors(box, None, "cosine", 0, 1, 1, True))
    assert f"VS = {compute([[1, 2], [4, 5]], k='cosine')['VS']:.6f}" in page


def test_a_row_left_out_of_a_similarity_matrix_takes_its_column_along():
    box = "1, 0.9, 0\n0.9, 1, nan\n0, nan, 1\n"
    assert "rows cannot be used" in last(shows.show_vectors(box, None, "K", 0, 1, 1))
    box = "1, 0.9, 0.1\n0.9, 1, 0\nx, 0, 1\n"
    page = last(shows.show_vectors(box, None, "K", 0, 1, 1, True))
    assert f"VS = {compute([[1, 0.9], [0.9, 1]], score_K=True)['VS']:.6f}" in page


def test_the_sets_of_a_comparison_are_sifted_together_and_what_was_read_is_said(save):
    other = save("b.csv", "smiles\n" + "\n".join([*GOOD, "bad", *BAD[:1]]))
    given = ["molecules", "morgan", "", "", "", save("a.csv", SMILES), other, None, 1, 299]
    said = text_of(last(shows.show_comparison(*given)))
    assert "7 of 17 molecules cannot be used" in said
    assert "set A, row 3, 'C1CC', is not" in said
    assert "set B, row 7, 'bad', is not" in said
    page = last(shows.show_comparison(*given, leave_out=True))
    assert download(page)["sets"] == [GOOD, GOOD]
    assert "Set A: Read 10 rows of column 'SMILES' of a.csv" in text_of(page)
    assert "Set B: Left out 2 of 7 (rows 7, 8)" in text_of(page)


def test_a_comparison_takes_one_column_of_all_files_or_asks_for_it(save):
    texts = [f"number {i} it is" for i in range(12)]
    table = "left,right\n" + "\n".join(f"{text},{text[::-1]}" for text in texts)
    paths = [save("a.csv", table), save("b.csv", table)]
    given = ["texts", "ngram_overlap", "", "", "", *paths, None, 1, 299]
    assert "Set A: Which column holds the texts?" in text_of(last(shows.show_comparison(*given)))
    page = last(shows.show_comparison(*given, column="right"))
    assert download(page)["sets"][0] == [text[::-1] for text in texts]


def test_images_that_have_no_direction_are_named_and_left_out(tmp_path, monkeypatch):
    shapes = examples.images()["Shapes in three colours"][:3]
    black = shapes[0].point(lambda _: 0)
    (tmp_path / "images").mkdir()
    monkeypatch.chdir(tmp_path)
    paths = []
    for i, image in enumerate([shapes[0], black, *shapes[1:], black]):
        paths.append((f"images/shape {i}.png", None))
        image.save(paths[-1][0])
    said = text_of(last(shows.show_images(paths, None, "pixels", 1, 1)))
    assert "2 of 5 images cannot be used" in said
    assert "image shape 1.png is black all over" in said
    assert "image shape 4.png is black all over" in said
    *_, (page, code) = shows.show_images(paths, None, "pixels", 1, 1, True)
    right = compute([image.convert("RGB") for image in shapes], k="pixels")["VS"]
    assert f"VS = {right:.6f}" in page
    assert "Left out 2 of 5 (images shape 1.png, shape 4.png)" in text_of(page)
    there = {}
    exec("\n".join(code.splitlines()[:2]).replace("evaluate, ", ""), there)
    assert there["samples"] == [f"images/shape {i}.png" for i in (0, 2, 3)]


LEFT = examples.TEXTS["A primer"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: shows.show_text(
            LEFT, None, None, "ngram_overlap", [1], "word", 1, 1, source=shows.FILE
        ),
        lambda: shows.show_molecules("CCO", None, None, "morgan", 1, 1, source=shows.FILE),
        lambda: shows.show_vectors("1,2", None, "rbf", 0, 1, 1, source=shows.FILE),
        lambda: shows.show_images([("a.png", None)], None, "pixels", 1, 1, source=shows.FILE),
        lambda: shows.show_comparison(
            "texts", "ngram_overlap", LEFT, LEFT, "", None, None, None, 1, 299, source_b=shows.FILE
        ),
    ],
)
def test_what_is_left_in_the_box_is_not_scored_for_an_upload_that_did_not_arrive(ask):
    with pytest.raises(RefusedError, match="No file has arrived"):
        list(ask())


def test_paragraphs_are_scored_as_one_says():
    box = "\n\n".join(f"Answer {i} is {word}.\nIt ends." for i, word in enumerate("abcd"))
    given = [box, None, None, "ngram_overlap", [1], "word", 1, 1]
    page = last(shows.show_text(*given))
    assert "effectively different of 8" in text_of(page)
    assert "They stand in 4 paragraphs" in text_of(page)
    page = last(shows.show_text(*given, separator=reading.BLANK))
    assert f"VS = {compute(box.split(chr(10) * 2), ns=[1])['VS']:.6f}" in page


def test_the_page_says_so_where_the_script_of_the_texts_decides_what_ngrams_are_of():
    box = "今天天气很好。\n我喜欢吃苹果。\n他明天去上海。"
    given = [box, None, None, "ngram_overlap", [1, 2]]
    by_itself, as_told = (last(shows.show_text(*given, unit, 1, 1)) for unit in ("word", "char"))
    of_characters = "analyzer=char" in by_itself
    assert ("These texts have no spaces between words" in by_itself) == of_characters
    assert "no spaces" not in as_told


def test_the_page_offers_each_kernel_of_vectors_once_and_no_bandwidth_of_an_example():
    X = np.random.default_rng(0).normal(size=(9, 4))
    scores = {
        name: compute(X, **jobs.VECTOR_KERNELS[name])["VS"]
        for name in jobs.VECTOR_CHOICES
        if not name.startswith("K")
    }
    assert len({round(score, 6) for score in scores.values()}) == len(scores) == 3
    for same in ("X", "dual"):
        assert compute(X, **jobs.VECTOR_KERNELS[same])["VS"] == pytest.approx(scores["cosine"])
    assert {sigma for _, _, sigma in examples.VECTORS.values()} == {0}
