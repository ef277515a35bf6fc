"""Files as people have them go through the page: chosen, dropped, and refused in words."""

import re

import files_people_have as have
import numpy as np
import pytest
from drawn import png
from in_browser import (
    alike,
    button,
    choose,
    drop,
    expect,
    number,
    open_tab,
    paste,
    press_score,
    row,
    shows,
    was_read,
    zipped,
)

pytest.importorskip("gradio")
from vendiscore import compute
from vendiscore_page.inputs import examples

TEXTS = [
    "id first.csv", "pandas numbers.csv", "windows.csv", "tabs.tsv", "no header.csv",
]  # fmt: skip
# Tables whose rows are named by a column of ids.
IDS = {name: [101, 102, 103] for name in ("id first.csv", "windows.csv", "tabs.tsv")}
IDS["pandas numbers.csv"] = [0, 1, 2]
NUMBERS = ["utf-16.csv", "quoted.csv", "a.npz", "records.json"]
STRIPES = examples.find_example("Stripes at all angles").images()


def test_texts_of_tables_are_read_and_named_by_their_rows(visit):
    page = visit()
    cases = {case.name: case for case in have.texts()}
    for name in TEXTS:
        case = cases[name]
        choose(page, (name, case.data))
        was_read(page, "3 rows, 0 unreadable")
        alike(page, "share words")
        press_score(page)
        shows(page, compute(case.values, k="ngram_overlap")["VS"], 3)
        rows = page.get_by_role("region", name="Table of all samples").get_by_role("row")
        for place, text in zip(IDS.get(name, case.places), case.values, strict=True):
            expect(rows.filter(has_text=text)).to_contain_text(str(place))
        page.locator("#chip").get_by_role("button").click()  # taken away again
        expect(page.locator("#read")).to_be_hidden()


def test_writing_without_spaces_is_compared_by_characters(visit):
    page = visit()
    paste(page, "\n".join(have.CHINESE))
    alike(page, "share words")
    press_score(page)
    page.get_by_text("How sure?").click()
    expect(page.locator(".r-summary p", has_text="no spaces between words")).to_be_visible()
    shows(page, compute(have.CHINESE, k="ngram_overlap", analyzer="char")["VS"], 3)


def test_five_tables_pasted_and_as_files_give_one_result(visit):
    page = visit()
    alike(page, "share words")
    for case in have.tables():
        result = []
        for filed in (False, True):
            if filed:
                choose(page, ("a.csv", case.data))
            else:
                paste(page, case.data.decode())
            was_read(page, "3 rows, 0 unreadable")
            if case.name == "models":
                page.get_by_role("combobox", name="Grouped by").select_option("model")
                expect(page.locator("#read")).to_contain_text("2 groups by column")
            press_score(page)
            first = " ".join(case.values[0].split())
            rows = page.get_by_role("region", name="Table of all samples").get_by_role("row")
            expect(rows.filter(has_text=first).first).to_be_visible()
            expect(page.locator("#progress")).to_be_hidden()
            expect(page.locator("#result .r-was")).to_be_hidden()
            result.append((number(page).inner_text(), page.locator(".r-all tbody").inner_text()))
        assert result[0] == result[1]
        page.locator("#chip").get_by_role("button").click()
        button(page, "Clear").click()


def test_a_large_paste_becomes_a_file_and_says_so(visit):
    page = visit()
    lines = "\n".join(f"{i} is a line of no great length" for i in range(150_000))
    assert len(lines) > 5_000_000
    paste(page, lines)
    chip = page.locator("#chip")
    expect(chip).to_contain_text("too long for the box, so it is kept as a file")
    expect(page.locator("#box")).to_be_hidden()
    expect(page.locator("#box")).to_have_value("")
    was_read(page, "A random 1,000 of 150,000")
    press_score(page)
    expect(number(page)).to_contain_text("of 1,000")
    chip.get_by_role("button").click()
    rest = "\n".join(f"{i} is a line" for i in range(20_000))
    page.locator("#box").fill("the first\nthe last")
    page.locator("#box").evaluate("box => box.setSelectionRange(10, 10)")
    page.evaluate("text => navigator.clipboard.writeText(text)", rest)
    page.locator("#box").focus()
    page.keyboard.press("ControlOrMeta+V")  # between the two that were there
    was_read(page, "A random 1,000 of 20,001")
    open_tab(page, "Compare")
    paste(page, rest, page.get_by_role("textbox", name="Samples of B"))
    expect(page.locator(".set").nth(1)).to_contain_text("too long for the box")


def test_what_is_said_of_a_part_names_the_part(visit):
    page = visit()
    X = np.random.default_rng(0).normal(size=(2300, 2))
    choose(page, ("X.csv", "\n".join(",".join(map(str, row)) for row in X).encode()))
    press_score(page)
    result = page.locator("#result")
    said = r"One of each, and all others of the random 2,000: \d+, of which 2\.\d are effectively"
    expect(result).to_contain_text(re.compile(said))
    expect(result).to_contain_text("This chart is of a random 2,000 of all 2,300 samples.")


def test_numbers_turn_the_page_to_vectors(visit):
    page = visit()
    cases = {case.name: case for case in have.vectors()}
    for name in NUMBERS:
        choose(page, (name, cases[name].data))
        expect(page.get_by_role("tab", name="Vectors")).to_have_attribute("aria-selected", "true")
        was_read(page, f"{len(cases[name].values)} ")
        press_score(page)
        shows(page, compute(np.asarray(cases[name].values, float), k="cosine")["VS"], 4)
        page.locator("#chip").get_by_role("button").click()


def test_what_only_a_visitor_can_tell_is_asked(visit):
    page = visit()
    cases = {case.name: case for case in have.questions()}
    choose(page, ("two.csv", cases["two.csv"].data))
    question = page.locator("#samples").get_by_role("group", name=re.compile("could be meant"))
    expect(question).to_contain_text("Columns a, b")
    question.get_by_role("button", name="b", exact=True).click()
    alike(page, "share words")
    press_score(page)
    shows(page, compute(cases["two.csv"].values, k="ngram_overlap")["VS"], 2)
    page.get_by_role("combobox", name="Column").select_option("a")
    expect(page.locator(".r-was")).to_contain_text("samples have changed")
    press_score(page)
    expect(row(page, 2)).to_contain_text("hello you there")
    choose(page, ("unquoted.csv", cases["unquoted.csv"].data))
    asked = page.locator("#samples .question")
    expect(asked).to_contain_text("row 1 has 2 cells but row 3 has 3")
    asked.get_by_role("button", name=re.compile("line")).click()
    press_score(page)
    expect(row(page, 3)).to_contain_text("I think, maybe, so.")


def test_wrong_files_are_refused_in_words_and_the_page_works_on(visit):
    page = visit()
    alert = page.locator("#samples").get_by_role("alert")
    for case in have.turned_down()[:2] + have.turned_down()[7:12]:
        choose(page, (case.name, case.data))
        expect(alert).to_contain_text(case.said)
    press_score(page)
    expect(alert).to_be_visible()
    expect(page.locator("#result .r-bar")).to_have_count(0)
    page.locator("#chip").get_by_role("button").click()
    paste(page, "a b\nc d\ne")
    press_score(page)
    expect(number(page)).to_contain_text("of 3")


def test_phone_photos_and_dropped_images_are_scored(visit):
    page = visit()
    photos = {
        "IMG_1.heic": have.turned("HEIF"),
        "IMG_2.jpg": have.turned("JPEG"),
        "IMG_3.png": have.photo("PNG", seed=1),
    }
    drop(page, *photos.items())
    expect(page.get_by_role("tab", name="Images")).to_have_attribute("aria-selected", "true")
    was_read(page, "3 images, 0 unreadable")
    alike(page, "look the same")
    press_score(page)
    expect(number(page)).to_contain_text("of 3")
    for at in (1, 2):  # the same photo, whichever way it is stored
        expect(row(page, at)).to_contain_text(re.compile(r"(1\.00|0\.99)"))
    drop(page, *((f"{i}.png", png(image)) for i, image in enumerate(STRIPES)))
    was_read(page, "12 images")
    press_score(page)
    shows(page, compute(STRIPES, k="pixels", mode="RGB")["VS"], 12)
    drop(page, ("mine.zip", zipped(STRIPES[:5])))
    was_read(page, "5 images")
    press_score(page)
    shows(page, compute(STRIPES[:5], k="pixels", mode="RGB")["VS"], 5)


def test_pasted_tables_and_smiles_are_read_as_what_they_are(visit):
    page = visit()
    open_tab(page, "Molecules")
    paste(page, "id\tsmiles\nX1\tCCO\nX2\tc1ccccc1\nX3\tCCC\n")
    was_read(page, "3 rows")
    press_score(page)
    shows(page, compute(["CCO", "c1ccccc1", "CCC"], k="morgan")["VS"], 3)
    open_tab(page, "Vectors")
    paste(page, "1 0 0\n0 1 0\n0 1 0\n")
    button(page, "Score").click()
    shows(page, 1.889881574842, 3)
