"""Comparisons in the web app match the package, and long ones can be stopped."""

import io
import json

import numpy as np
import pandas
import pytest
from browser_actions import (
    button,
    choose_files,
    choose_similarity,
    count_clicks,
    download_file,
    drop_files,
    expect,
    expect_comparison,
    open_tab,
    paste,
    press_score,
    zip_images,
)

pytest.importorskip("uvicorn")
from vendiscore import compare
from vendiscore_page.inputs import examples


def test_comparison_examples_match_package(visit):
    page = visit()
    open_tab(page, "Compare")
    names = page.locator("#sets-examples button").all_inner_texts()
    assert names == [pairing["name"] for pairing in examples.PAIRINGS]
    for pairing in examples.PAIRINGS:
        button(page, pairing["name"]).click()
        expect(page.locator("#result .r-bar")).to_be_visible()
        expect(page.locator("#result .r-was")).to_be_hidden()
        if pairing["kind"] != "molecules":
            continue
        expect(page.locator("#result .r-sides")).to_contain_text("Medicines")
        sets = {
            entry["name"]: examples.find_example(entry["example"], pairing["kind"]).text.split()
            for entry in pairing["sets"]
        }
        expect_comparison(page, compare(sets, k="morgan"))
    expect(page.locator(".set")).to_have_count(2)


def test_pasted_sets_are_compared_and_table_is_downloaded(visit):
    page = visit()
    open_tab(page, "Compare")
    rut = examples.find_example("A model in a rut").text.splitlines()
    stories = examples.find_example("Twelve story openings").text.splitlines()[:8]
    page.get_by_label("Name of the set").first.fill("Rut")
    for name, texts in (("Rut", rut), ("B", stories)):
        paste(page, "\n".join(texts), page.get_by_role("textbox", name=f"Samples of {name}"))
    choose_similarity(page, "share words")
    button(page, "Compare").click()
    expect(page.locator("#result .r-verdicts")).to_contain_text(
        "B and Rut differ, but the data do not show which is more diverse"
    )
    expected = compare({"Rut": rut, "B": stories}, k="ngram_overlap")
    expect_comparison(page, expected)
    sets, pairs, samples = (
        pandas.read_csv(io.BytesIO(download_file(page, f"{name} (CSV)")))
        for name in ("Sets", "Differences", "Rows")
    )
    assert sets["set"].tolist() == ["B", "Rut"]
    assert sets["VS"].tolist() == pytest.approx([row.score for row in expected.sets[::-1]])
    assert pairs["difference"].tolist() == pytest.approx([-expected.pairs[0].difference])
    assert pairs["p"].tolist() == pytest.approx([expected.pairs[0].p_adjusted])
    assert samples["sample"].tolist() == [*rut, *stories]
    everything = json.loads(download_file(page, "Everything (JSON)"))
    assert everything["rows"][1]["VS"] == pytest.approx(expected.sets[0].score, rel=1e-12)
    report = download_file(page, "Report (HTML)").decode()
    assert report.startswith("<!DOCTYPE html>")
    assert "B and Rut differ, but the data do not show which is more diverse" in report
    assert "<script" not in report
    assert "<button" not in report
    page.get_by_label("Name of the set").first.fill("Model")
    expect(page.locator(".r-was")).to_be_visible()


def test_sets_of_images_can_be_compared(visit):
    page = visit()
    open_tab(page, "Compare")
    _, copies, stripes = (entry.open_images() for entry in examples.MENU["images"])
    choose_files(page, ("stripes.zip", zip_images(stripes)), container=page.locator(".set").first)
    drop_files(page, ("copies.zip", zip_images(copies)), selector=".set >> nth=1")
    choose_similarity(page, "look the same")
    button(page, "Compare").click()
    expect(page.locator("#result .r-verdicts")).to_contain_text(
        "stripes is more diverse than copies"
    )
    expect_comparison(page, compare({"stripes": stripes, "copies": copies}, k="pixels", mode="RGB"))


def test_comparison_of_one_set_shows_error(visit):
    page = visit()
    open_tab(page, "Compare")
    paste(page, "a\nb", page.get_by_role("textbox", name="Samples of A"))
    press_score(page)
    alert = page.locator("#compare").get_by_role("alert")
    expect(alert).to_contain_text("A comparison needs at least two sets")


TABLE = "model,answer\n" + "\n".join(
    f"{model},{text}"
    for model, name in (("rut", "A model in a rut"), ("stories", "Twelve story openings"))
    for text in (f'"{line}"' for line in examples.find_example(name).text.splitlines())
)


def group_by_model(page) -> None:
    """Select the column "model" for grouping, with two clicks."""
    page.get_by_role("combobox", name="Group column").click()
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="Group column").click()
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="Group column").select_option("model")
    expect(page.locator(".read").locator("visible=true")).to_contain_text("2 groups by column")


def test_table_of_two_models_is_compared_in_five_clicks(visit):
    for path in ("Compare", "Text, Score", "Text, Compare"):
        page = visit()
        box = page.locator("#box")
        if path == "Compare":
            open_tab(page, "Compare")
            box = page.get_by_role("textbox", name="Samples of A")
        paste(page, TABLE, box)
        group_by_model(page)
        if path == "Text, Score":
            press_score(page)
            button(page, "Compare these 2 groups").click()
        elif path == "Text, Compare":
            open_tab(page, "Compare")
        if path != "Text, Score":
            press_score(page)
        verdicts = page.locator("#result .r-verdicts")
        expect(verdicts).to_contain_text("stories is more diverse than rut")
        expect(page.locator("#result .r-was")).to_be_hidden()
        assert count_clicks(page) <= 5


def test_comparison_rejects_groups_with_second_set(visit):
    page = visit()
    open_tab(page, "Compare")
    choose_files(page, ("answers.csv", TABLE.encode()), container=page.locator(".set").first)
    page.get_by_role("combobox", name="Set column").select_option("one set")
    press_score(page)
    alert = page.locator("#compare").get_by_role("alert")
    expect(alert).to_contain_text("select the column with the set names")
    page.get_by_role("combobox", name="Group column").select_option("model")
    paste(page, "a\nb\nc\nd", page.get_by_role("textbox", name="Samples of B"))
    press_score(page)
    expect(alert).to_contain_text("answers contains groups. Remove the other sets")


def test_long_comparison_shows_progress_and_can_be_stopped(visit):
    page = visit()
    open_tab(page, "Compare")
    rng = np.random.default_rng(0)
    for number, n in enumerate((1000, 900)):
        rows = "\n".join(",".join(f"{x:.3f}" for x in row) for row in rng.normal(size=(n, 3)))
        paste(page, rows, page.locator(".set textarea").nth(number))
    choose_similarity(page, "are close rbf")
    press_score(page)
    expect(page.locator("#progress")).to_contain_text("% done")
    button(page, "Stop").click()
    expect(button(page, "Stop")).to_be_hidden()
    expect(page.locator("#progress")).to_have_text("Stopped.")
    expect(page.locator("#said")).to_have_text("Stopped.")
    expect(page.locator("#result .r-bar")).to_have_count(0)
    expect(page.locator("#score")).to_be_focused()
    open_tab(page, "Text")  # the page still works
    button(page, "A primer").click()
    expect(page.locator("#result .r-number")).to_contain_text("of 5")
