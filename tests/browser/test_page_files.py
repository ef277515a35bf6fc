"""Files are chosen, dropped or pasted in the web app, and invalid ones are rejected."""

import re

import numpy as np
import pytest
import user_files as have
from accessibility import find_violations_in_both_themes
from browser_actions import (
    button,
    choose_files,
    choose_question,
    choose_similarity,
    drop_files,
    expect,
    expect_comparison,
    expect_read_note,
    expect_score,
    find_row,
    open_tab,
    paste,
    press_score,
    score_number,
    zip_images,
)
from image_samples import encode_png

pytest.importorskip("uvicorn")
from vendiscore import compare, compute
from vendiscore_page.inputs import examples

TEXT_FILES = [
    "id first.csv", "pandas numbers.csv", "windows.csv", "tabs.tsv", "no header.csv",
]  # fmt: skip
# Tables with an id column.
ROW_IDS = {name: [101, 102, 103] for name in ("id first.csv", "windows.csv", "tabs.tsv")}
ROW_IDS["pandas numbers.csv"] = [0, 1, 2]
VECTOR_FILES = ["utf-16.csv", "quoted.csv", "a.npz", "records.json"]
STRIPES = examples.find_example("Stripes at all angles").open_images()


def test_table_texts_are_scored_and_labelled_by_row_or_id(visit):
    page = visit()
    cases = {case.name: case for case in have.text_files()}
    for name in TEXT_FILES:
        case = cases[name]
        choose_files(page, (name, case.data))
        expect_read_note(page, "3 rows, 0 unreadable")
        choose_similarity(page, "share words")
        press_score(page)
        expect_score(page, compute(case.values, k="ngram_overlap")["VS"], 3)
        rows = page.get_by_role("region", name="Table of all samples").get_by_role("row")
        for row_label, text in zip(ROW_IDS.get(name, case.locations), case.values, strict=True):
            expect(rows.filter(has_text=text)).to_contain_text(str(row_label))
        page.locator("#chip").get_by_role("button").click()  # remove the file
        expect(page.locator("#read")).to_be_hidden()


def test_text_without_spaces_is_compared_by_characters(visit):
    page = visit()
    paste(page, "\n".join(have.CHINESE))
    choose_similarity(page, "share words")
    press_score(page)
    page.get_by_text("Uncertainty and notes").click()
    expect(page.locator(".r-summary p", has_text="no spaces between words")).to_be_visible()
    expect_score(page, compute(have.CHINESE, k="ngram_overlap", analyzer="char")["VS"], 3)


def test_pasted_tables_and_files_give_same_result(visit):
    page = visit()
    choose_similarity(page, "share words")
    for case in have.pasted_tables():
        result = []
        for as_file in (False, True):
            if as_file:
                choose_files(page, ("a.csv", case.data))
            else:
                paste(page, case.data.decode())
            expect_read_note(page, "3 rows, 0 unreadable")
            if case.name == "models":
                page.get_by_role("combobox", name="Group column").select_option("model")
                expect(page.locator("#read")).to_contain_text("2 groups by column")
            press_score(page)
            first = " ".join(case.values[0].split())
            rows = page.get_by_role("region", name="Table of all samples").get_by_role("row")
            expect(rows.filter(has_text=first).first).to_be_visible()
            expect(page.locator("#progress")).to_be_hidden()
            expect(page.locator("#result .r-was")).to_be_hidden()
            result.append(
                (score_number(page).inner_text(), page.locator(".r-all tbody").inner_text())
            )
        assert result[0] == result[1]
        page.locator("#chip").get_by_role("button").click()
        button(page, "Clear").click()


def test_large_paste_is_kept_as_file(visit):
    page = visit()
    lines = "\n".join(f"{i} is a line of no great length" for i in range(150_000))
    assert len(lines) > 5_000_000
    paste(page, lines)
    chip = page.locator("#chip")
    expect(chip).to_contain_text("too long for the box and is kept as a file")
    expect(page.locator("#box")).to_be_hidden()
    expect(page.locator("#box")).to_have_value("")
    expect_read_note(page, "A random subset of 1,000 of 150,000")
    press_score(page)
    expect(score_number(page)).to_contain_text("of 1,000")
    chip.get_by_role("button").click()
    long_text = "\n".join(f"{i} is a line" for i in range(20_000))
    page.locator("#box").fill("the first\nthe last")
    page.locator("#box").evaluate("box => box.setSelectionRange(10, 10)")
    page.evaluate("text => navigator.clipboard.writeText(text)", long_text)
    page.locator("#box").focus()
    page.keyboard.press("ControlOrMeta+V")  # between the two existing lines
    expect_read_note(page, "A random subset of 1,000 of 20,001")
    open_tab(page, "Compare")
    paste(page, long_text, page.get_by_role("textbox", name="Samples of B"))
    expect(page.locator(".set").nth(1)).to_contain_text("too long for the box")


def test_texts_about_random_subset_contain_its_size(visit):
    page = visit()
    X = np.random.default_rng(0).normal(size=(2300, 2))
    choose_files(page, ("X.csv", "\n".join(",".join(map(str, row)) for row in X).encode()))
    press_score(page)
    result = page.locator("#result")
    pattern = (
        r"Without near-duplicates in the random subset of 2,000: \d+ samples?, "
        r"effective number 2\.\d"
    )
    expect(result).to_contain_text(re.compile(pattern))
    note = "This figure shows a random subset of 2,000 of all 2,300 samples."
    expect(result).to_contain_text(note)


def test_file_of_numbers_opens_vectors_tab(visit):
    page = visit()
    cases = {case.name: case for case in have.vector_files()}
    for name in VECTOR_FILES:
        choose_files(page, (name, cases[name].data))
        expect(page.get_by_role("tab", name="Vectors")).to_have_attribute("aria-selected", "true")
        expect_read_note(page, f"{len(cases[name].values)} ")
        press_score(page)
        expect_score(page, compute(np.asarray(cases[name].values, float), k="cosine")["VS"], 4)
        page.locator("#chip").get_by_role("button").click()


def test_ambiguous_file_shows_question(visit):
    page = visit()
    cases = {case.name: case for case in have.ambiguous_files()}
    choose_files(page, ("two.csv", cases["two.csv"].data))
    question = page.locator("#samples").get_by_role("group", name=re.compile("could be meant"))
    expect(question).to_contain_text("Columns a, b")
    question.get_by_role("button", name=re.compile("^b \\(“")).click()
    choose_similarity(page, "share words")
    press_score(page)
    expect_score(page, compute(cases["two.csv"].values, k="ngram_overlap")["VS"], 2)
    page.get_by_role("combobox", name="Sample column").select_option("a")
    expect(page.locator(".r-was")).to_contain_text("samples have changed")
    press_score(page)
    expect(find_row(page, 2)).to_contain_text("hello you there")
    choose_files(page, ("unquoted.csv", cases["unquoted.csv"].data))
    second_question = page.locator("#samples .question")
    expect(second_question).to_contain_text("row 1 has 2 cells but row 3 has 3")
    second_question.get_by_role("button", name=re.compile("line")).click()
    press_score(page)
    expect(find_row(page, 3)).to_contain_text("I think, maybe, so.")


def test_rejected_files_show_error_and_page_still_works(visit):
    page = visit()
    alert = page.locator("#samples").get_by_role("alert")
    for case in have.rejected_files()[:2] + have.rejected_files()[7:12]:
        choose_files(page, (case.name, case.data))
        expect(alert).to_contain_text(case.message)
    press_score(page)
    expect(alert).to_be_visible()
    expect(page.locator("#result .r-bar")).to_have_count(0)
    page.locator("#chip").get_by_role("button").click()
    paste(page, "a b\nc d\ne")
    press_score(page)
    expect(score_number(page)).to_contain_text("of 3")


def test_dropped_photos_and_images_are_scored(visit):
    page = visit()
    photos = {
        "IMG_1.heic": have.encode_rotated_photo("HEIF"),
        "IMG_2.jpg": have.encode_rotated_photo("JPEG"),
        "IMG_3.png": have.encode_photo("PNG", seed=1),
    }
    drop_files(page, *photos.items())
    expect(page.get_by_role("tab", name="Images")).to_have_attribute("aria-selected", "true")
    expect_read_note(page, "3 images, 0 unreadable")
    choose_similarity(page, "look the same")
    press_score(page)
    expect(score_number(page)).to_contain_text("of 3")
    for number in (1, 2):  # the same photo in two formats
        expect(find_row(page, number)).to_contain_text(re.compile(r"(1\.00|0\.99)"))
    drop_files(page, *((f"{i}.png", encode_png(image)) for i, image in enumerate(STRIPES)))
    expect_read_note(page, "12 images")
    press_score(page)
    expect_score(page, compute(STRIPES, k="pixels", mode="RGB")["VS"], 12)
    drop_files(page, ("mine.zip", zip_images(STRIPES[:5])))
    expect_read_note(page, "5 images")
    press_score(page)
    expect_score(page, compute(STRIPES[:5], k="pixels", mode="RGB")["VS"], 5)


def test_pasted_smiles_table_and_vectors_are_detected(visit):
    page = visit()
    open_tab(page, "Molecules")
    paste(page, "id\tsmiles\nX1\tCCO\nX2\tc1ccccc1\nX3\tCCC\n")
    expect_read_note(page, "3 rows")
    press_score(page)
    expect_score(page, compute(["CCO", "c1ccccc1", "CCC"], k="morgan")["VS"], 3)
    open_tab(page, "Vectors")
    paste(page, "1 0 0\n0 1 0\n0 1 0\n")
    button(page, "Score").click()
    expect_score(page, 1.889881574842, 3)


def test_several_text_files_are_a_question(visit):
    page = visit()
    choose_similarity(page, "share words")
    apples, pears = ([f"{word} {i} of them" for i in range(5)] for word in ("apples", "pears"))
    contents = {"a.txt": "\n".join(apples), "b.txt": "\n".join(pears)}
    choose_files(page, *((name, text.encode()) for name, text in contents.items()))
    question = page.locator("#read .question")
    expect(question).to_contain_text("What do these 2 text files contain?")
    assert find_violations_in_both_themes(page) == []
    button(page, "Each file is a set of texts, to be compared").click()
    expect_read_note(page, "10 lines")
    press_score(page)
    expect(page.locator("#result .r-bar")).to_be_visible()
    expect_comparison(page, compare({"a.txt": apples, "b.txt": pears}, k="ngram_overlap"))
    choose_question(page, "Score 2 texts, one per file")
    expect_score(page, compute([*contents.values()], k="ngram_overlap")["VS"], 2)
