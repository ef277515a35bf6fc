"""Unusable samples are all listed by row, and can be dropped."""

import io

import numpy as np
import page_answers
import pytest
from page_answers import json_round_trip

from vendiscore import compute
from vendiscore.support.progress import run_steps
from vendiscore_page.answers import one_set, sample_readout
from vendiscore_page.answers.jobs import Settings
from vendiscore_page.answers.sample_readout import UnusableError
from vendiscore_page.inputs.examples import find_example
from vendiscore_page.inputs.uploads import InputSettings, UserInput, read
from vendiscore_page.quotas import RefusedError

pytest.importorskip("rdkit")
VALID = ["CCO", "CCC", "c1ccccc1", "CCN", "CC(=O)O"]
INVALID = ["C1CC", "XX", "foo(", "n1", "[Q]"]
MIXED = [smiles for pair in zip(VALID, INVALID, strict=True) for smiles in pair]
TABLE = "compound_id,SMILES\n" + "\n".join(f"X{i},{smiles}" for i, smiles in enumerate(MIXED))


def read_file(data: str, name: str = "a.csv", **options):
    return read(UserInput(files=[(name, data.encode())]), InputSettings(**options))


def read_text(text: str, **options):
    return read(UserInput(text=text), InputSettings(**options))


def score_samples(samples, kernel: str, **settings):
    result = run_steps(one_set.score(samples, Settings(kernel, **settings)))
    return json_round_trip(result.answer)


def get_unusable_error(samples, kernel: str, **settings) -> UnusableError:
    with pytest.raises(UnusableError) as caught:
        score_samples(samples, kernel, **settings)
    return caught.value


def test_invalid_molecules_are_all_listed_or_dropped():
    samples = read_file(TABLE, "mols.csv")
    assert list(samples.problems) == [1, 3, 5, 7, 9]
    error = get_unusable_error(samples, "morgan")
    assert error.summary == "5 of 10 molecules cannot be used"
    assert (error.n_usable, error.rows) == (5, "rows 3, 5, 7, 9 and 11")
    for row, smiles, line in zip((3, 5, 7, 9, 11), INVALID, error.lines, strict=True):
        assert line == f"row {row}, {smiles!r}, is not a SMILES that RDKit can parse"
    assert "or continue with the other 5" in str(error)
    result = score_samples(samples, "morgan", leave_out=True)
    assert result["VS"] == pytest.approx(compute(VALID, k="morgan")["VS"], rel=1e-12)
    assert result["left_out"] == [3, 5, 7, 9, 11]
    notes = " ".join(result["notes"])
    assert "10 molecules of column 'SMILES'; left out: compound_id" in notes
    assert "Not used: 5 of 10 samples (rows 3, 5, 7, 9 and 11)" in notes


def test_consecutive_rows_are_listed_as_range():
    samples = read_file(
        "id,SMILES\n" + "\n".join(f"{i},{s}" for i, s in enumerate(VALID * 4 + INVALID))
    )
    assert get_unusable_error(samples, "morgan").rows == "rows 22–26"
    assert sample_readout.read_answer(samples)["problems"]["rows"] == "rows 22–26"


def test_blank_long_and_invalid_rows_are_listed_together():
    error = get_unusable_error(
        read_file(f"id,text\n1,so it is\n2,\n3,{'C' * 20_001}\n5,no it is\n"), "ngram_overlap"
    )
    assert [line.partition(",")[0] for line in error.lines] == ["row 3", "row 4"]
    samples = read_file(f"id,smiles\n1,CCO\n2,\n3,{'C' * 301}\n4,x\n5,CCC\n6,CCN\n")
    error = get_unusable_error(samples, "morgan")
    assert [line.partition(",")[0] for line in error.lines] == ["row 3", "row 4", "row 5"]
    assert "301 characters, more than 300" in str(error)


def test_line_numbers_count_blank_lines():
    error = get_unusable_error(read_text("CCO\n\nXX\nCCC\nXX", kind="molecules"), "morgan")
    assert error.rows == "lines 3 and 5"
    assert error.lines[1].startswith("line 5, 'XX', is not")


def test_error_shows_first_ten_of_many_invalid_rows():
    lines = ["CCO", "CCC", *(f"X{i}" for i in range(30))]
    error = get_unusable_error(read_text("\n".join(lines), kind="molecules"), "morgan")
    assert error.summary == "30 of 32 molecules cannot be used"
    assert (len(error.lines), error.lines[-1]) == (11, "and 20 more")


@pytest.mark.parametrize("leave_out", [False, True])
def test_error_without_usable_sample_offers_nothing(leave_out):
    error = get_unusable_error(read_text("X1\nX2", kind="molecules"), "morgan", leave_out=leave_out)
    assert error.n_usable == 0
    assert "There are no usable samples" in str(error)


def test_texts_shorter_than_ngrams_are_rejected_or_dropped():
    samples = read_text("one two three\nfour\nfive six seven\neight nine")
    options = {"ns": [3]}
    error = get_unusable_error(samples, "ngram_overlap", options=options)
    assert error.lines[0].startswith("line 2, 'four', has 1 token, fewer than")
    assert "pass" not in str(error)
    result = score_samples(samples, "ngram_overlap", options=options, leave_out=True)
    expected = compute(["one two three", "five six seven"], ns=[3])["VS"]
    assert result["VS"] == pytest.approx(expected, rel=1e-12)


def test_invalid_and_zero_vectors_are_listed_together():
    samples = read_text("x,y\n1,2\n3,abc\n0,0\n4,5\n")
    error = get_unusable_error(samples, "cosine")
    assert error.rows == "rows 3 and 4"
    assert error.lines[0] == "row 3 has 'abc', which is not a number"
    result = score_samples(samples, "cosine", leave_out=True)
    expected = compute([[1, 2], [4, 5]], k="cosine")["VS"]
    assert result["VS"] == pytest.approx(expected, rel=1e-12)


def test_dropped_row_of_similarity_matrix_drops_its_column():
    with pytest.raises(UnusableError):
        score_samples(read_text("1, 0.9, 0\n0.9, 1, nan\n0, nan, 1\n"), "K")
    result = score_samples(read_text("1, 0.9, 0.1\n0.9, 1, 0\nx, 0, 1\n"), "K", leave_out=True)
    expected = compute([[1, 0.9], [0.9, 1]], score_K=True)["VS"]
    assert result["VS"] == pytest.approx(expected, rel=1e-12)


def test_unusable_samples_of_all_sets_are_listed_together():
    sets = {
        "mine": read_file(TABLE),
        "yours": read_file("smiles\n" + "\n".join([*VALID, "bad", INVALID[0]])),
    }
    with pytest.raises(UnusableError) as caught:
        page_answers.compare_as_json(sets, "molecules", "morgan")
    assert caught.value.summary == "7 of 17 molecules cannot be used"
    assert caught.value.rows == ("set mine, rows 3, 5, 7, 9 and 11; set yours, rows 7 and 8")
    result = page_answers.compare_as_json(sets, "molecules", "morgan", leave_out=True)
    assert [row["n"] for row in result["rows"]] == [5, 5]


def test_black_images_are_rejected_or_dropped():
    shapes = find_example("Shapes in three colours").open_images()[:3]
    black = shapes[0].point(lambda _: 0)
    files = []
    for i, image in enumerate([shapes[0], black, *shapes[1:], black]):
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
        files.append((f"shape {i}.png", buffer.getvalue()))
    samples = read(UserInput(files=files))
    error = get_unusable_error(samples, "pixels")
    assert error.rows == "images shape 1.png and shape 4.png"
    assert error.lines[0].startswith("image shape 1.png is completely black")
    result = score_samples(samples, "pixels", leave_out=True)
    expected = compute([image.convert("RGB") for image in shapes], k="pixels")["VS"]
    assert result["VS"] == pytest.approx(expected, rel=1e-12)


def test_uploaded_image_scores_like_file(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    paths = []
    for i in range(4):
        paths.append(tmp_path / f"{i}.png")
        Image.fromarray(rng.integers(0, 255, (50, 41, 3), dtype=np.uint8)).save(paths[-1])
    samples = read(UserInput(files=[(path.name, path.read_bytes()) for path in paths]))
    expected = compute([str(path) for path in paths], k="pixels", mode="RGB")["VS"]
    assert score_samples(samples, "pixels")["VS"] == pytest.approx(expected, rel=1e-12)


def test_paragraphs_can_be_scored_as_lines():
    text = "\n\n".join(f"Answer {i} is {word}.\nIt ends." for i, word in enumerate("abcd"))
    assert score_samples(read_text(text), "ngram_overlap")["n"] == 4
    lines = score_samples(read_text(text, separator="line"), "ngram_overlap", options={"ns": [1]})
    assert lines["n"] == 8
    expected = compute([line for line in text.split("\n") if line], ns=[1])["VS"]
    assert lines["VS"] == pytest.approx(expected, rel=1e-12)


def test_comparison_rejects_sets_of_different_types():
    with pytest.raises((RefusedError, ValueError)):
        page_answers.compare_as_json(
            {"a": read_text("a b\nc d"), "b": read_text("1,2\n3,4")}, "texts"
        )
