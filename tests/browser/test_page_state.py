"""The web app keeps settings and results in the address and over a reload."""

import json
import re

import pytest
from browser_actions import (
    button,
    choose_files,
    choose_similarity,
    count_clicks,
    download_file,
    expect,
    expect_read_note,
    expect_score,
    open_more_settings,
    open_tab,
    paste,
    press_score,
    score_number,
)

pytest.importorskip("uvicorn")
from vendiscore import compute
from vendiscore_page.inputs import examples
from vendiscore_page.quotas import MAX_SAMPLES

TEXTS = ["one red apple on a tree", "one red apple on a plate", "three green pears", "nothing"]
SCORE = compute(TEXTS, k="ngram_overlap")["VS"]


def score_texts(page) -> None:
    paste(page, "\n".join(TEXTS))
    choose_similarity(page, "share words")
    press_score(page)
    expect_score(page, SCORE, 4)


def test_back_button_returns_to_previous_tab_and_result(visit):
    page = visit()
    score_texts(page)
    tabs = ["Molecules", "Compare", "Vectors"]
    for name in tabs:
        open_tab(page, name)
    open_tab(page, "Vectors")  # adds no step to the history
    for name in ("Compare", "Molecules", "Text"):
        page.go_back()
        tab = page.get_by_role("tab", name=name, exact=True)
        expect(tab).to_have_attribute("aria-selected", "true")
    expect_score(page, SCORE, 4)
    expect(page.locator("#box")).to_have_value("\n".join(TEXTS))
    page.wait_for_timeout(400)  # the address is updated with a delay
    assert "kind=texts" in page.url
    page.go_forward()
    expect(page.get_by_role("tab", name="Molecules")).to_have_attribute("aria-selected", "true")
    page.reload()
    expect(page.get_by_role("tab", name="Molecules")).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")


def test_url_restores_tab_settings_and_example(visit):
    page = visit()
    open_tab(page, "Molecules")
    choose_similarity(page, "share well-known groups")
    button(page, "Scents").click()
    smiles = examples.find_example("Scents").text.splitlines()
    expected = compute(smiles, k="maccs", q=2)["VS_q2"]
    open_more_settings(page)
    page.get_by_role("slider", name="Order q").fill("2")
    press_score(page)
    expect_score(page, expected, 16)
    page.get_by_role("slider", name="similarity threshold").fill("0.65")
    expect(page).to_have_url(re.compile("threshold=0.65"))
    address = page.url.split("/", 3)[3]
    assert all(
        parameter in address for parameter in ("kind=molecules", "kernel=maccs", "q=2", "Scents")
    )
    other = visit(fragment=address)  # another user opens the link
    expect_score(other, expected, 16)
    expect(other.get_by_role("slider", name="similarity threshold")).to_have_value("0.65")
    expect(other.get_by_role("tab", name="Molecules")).to_have_attribute("aria-selected", "true")
    expect(other.get_by_role("radio", name="share well-known groups")).to_be_checked()


def test_invalid_url_parameters_are_ignored(visit):
    page = visit(
        fragment="#kind=%3Cscript%3E&q=-7&kernel=__proto__&example=none&o.ns=x&threshold=NaN"
    )
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")
    score_texts(page)
    other = visit(fragment="#kind=texts&kernel=no-such&o.ns=9&q=1e99&example=none")
    paste(other, "a b\nc d")
    press_score(other)
    expect(other.locator("#result .r-number, #samples [role=alert]")).to_be_visible()


def test_reload_keeps_samples_settings_and_result(visit):
    page = visit()
    score_texts(page)
    page.reload()
    expect_score(page, SCORE, 4)
    expect(page.locator("#box")).to_have_value("\n".join(TEXTS))
    expect(page.get_by_role("radio", name="share words")).to_be_checked()
    page.get_by_role("slider", name="similarity threshold").fill("0.5")
    expect(page.locator(".r-groups")).to_contain_text("×")
    page.locator("#box").press_sequentially(" ")
    page.reload()
    expect(page.locator(".r-was")).to_contain_text("have changed since this result")


def test_click_on_moving_button_is_registered(visit):
    page = visit()
    paste(page, "one\ntwo\nthree")
    expect_read_note(page, "3 lines")
    choose_similarity(page, "share words")

    def press(dx):
        box = page.locator("#score").bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.evaluate("document.querySelector('#score').style.translate = '0 200px'")
        page.mouse.move(box["x"] + 20 + dx, box["y"] + box["height"] / 2)
        page.mouse.up()

    press(300)  # dragging away cancels the click
    expect(page.locator("#result .empty")).to_be_visible()
    page.evaluate("document.querySelector('#score').style.translate = ''")
    press(0)
    expect_score(page, 3.0, 3)


def test_reload_keeps_result_of_file(visit):
    page = visit()
    choose_files(page, ("mine.txt", "\n".join(TEXTS).encode()))
    expect_read_note(page, "4 lines")
    choose_similarity(page, "share words")
    press_score(page)
    expect_score(page, SCORE, 4)
    page.reload()
    expect_score(page, SCORE, 4)
    choose_similarity(page, "mean the same")
    choose_similarity(page, "share words")
    expect(page.locator(".r-was")).to_be_hidden()
    press_score(page)  # the server still has the result
    expect_score(page, SCORE, 4)


# A busy page updates its address during a reload of the previous address.
OUTDATED_URL_SCRIPT = """addEventListener("pagehide", () => {
  if (window.written) history.replaceState(history.state, "", window.written);
});"""


def test_reload_keeps_result_if_url_is_outdated(visit):
    page = visit()
    page.add_init_script(OUTDATED_URL_SCRIPT)
    page.reload()
    score_texts(page)
    expect(page).to_have_url(re.compile("kernel=ngram_overlap"))
    page.evaluate("window.written = location.hash")
    page.evaluate("history.replaceState(history.state, '', '#kind=texts&kernel=MiniLM')")
    page.reload()
    expect_score(page, SCORE, 4)
    expect(page.get_by_role("radio", name="share words")).to_be_checked()


def test_expired_result_is_recomputed(visit, expiring_server):
    page = visit(app=expiring_server)
    score_texts(page)
    page.wait_for_timeout(1500)  # until the result expires
    with page.expect_response(lambda response: response.status == 410):
        page.get_by_role("slider", name="similarity threshold").fill("0.5")
    expect(page.locator(".r-groups")).to_contain_text("×")
    expect(page.locator(".r-problem:visible")).to_have_count(0)
    assert json.loads(download_file(page, "Everything"))["VS"] == pytest.approx(SCORE, rel=1e-12)


def test_changed_samples_mark_result_as_outdated(visit):
    page = visit()
    score_texts(page)
    page.locator("#box").press("End")
    page.keyboard.type("!")
    outdated_note = page.locator(".r-was")
    expect(outdated_note).to_have_text(
        "The samples have changed since this result was computed. Score again."
    )
    page.keyboard.press("Control+Enter")
    expect(outdated_note).to_be_hidden()
    expect(score_number(page)).to_contain_text("of 4")


def test_examples_do_not_replace_user_samples(visit):
    page = visit()
    paste(page, "\n".join(TEXTS))
    expect_read_note(page, "4 lines")
    expect(button(page, "A primer")).to_have_count(0)
    page.evaluate("location.hash = '#kind=texts&example=A+primer'")  # follow a link
    page.wait_for_timeout(100)
    expect(page.locator("#box")).to_have_value("\n".join(TEXTS))
    button(page, "Clear").click()
    button(page, "A primer").click()
    expect(score_number(page)).to_contain_text("of 5")
    expect(page.locator("#box")).to_have_value(examples.find_example("A primer").text)
    button(page, "A model in a rut").click()  # an example replaces another example
    expect(score_number(page)).to_contain_text("of 12")


def test_clear_removes_samples(visit):
    page = visit()
    score_texts(page)
    button(page, "Clear").click()
    expect(page.locator("#box")).to_have_value("")
    expect(page.locator("#box")).to_be_focused()
    expect(page.locator("#read")).to_be_hidden()
    expect(button(page, "Clear")).to_be_hidden()
    press_score(page)
    expect(page.locator("#samples").get_by_role("alert")).to_contain_text("no samples yet")


def test_too_many_samples_are_subsampled_and_can_be_redrawn(visit):
    page = visit()
    texts = [f"number {i} of many {i % 7}" for i in range(3 * MAX_SAMPLES)]
    paste(page, "\n".join(texts))
    expect_read_note(page, "A random subset of 1,000 of 3,000")
    choose_similarity(page, "share words")  # waits until the layout is stable
    first = page.locator("ol.preview").inner_text()
    press_score(page)
    expect(score_number(page)).to_contain_text("of 1,000")
    expect(page.locator("#result .r-summary")).to_contain_text("3,000")
    button(page, "Draw another random subset").click()
    expect(page.locator(".r-was")).to_contain_text("samples have changed")
    expect(page.locator("ol.preview")).not_to_have_text(first, use_inner_text=True)
    press_score(page)
    expect(page.locator(".r-was")).to_be_hidden()
    assert count_clicks(page) == 5
