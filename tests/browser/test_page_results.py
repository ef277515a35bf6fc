"""Results in the web app match the package in all places and downloads."""

import csv
import io
import json
import re

import pytest
from browser_actions import (
    TABS,
    button,
    choose_files,
    choose_similarity,
    download_file,
    expect,
    expect_score,
    find_group,
    find_row,
    open_more_settings,
    open_tab,
    paste,
    press_score,
    save_file,
)

pytest.importorskip("uvicorn")
from vendiscore import __version__, compute, explain
from vendiscore_page.answers import offered_encoders
from vendiscore_page.inputs import examples

TEXTS = examples.find_example("A model in a rut").text.splitlines()
KERNELS = {"K": {"score_K": True}}
MEANING = offered_encoders.ALLOWED["texts"]["MiniLM"]


def compute_example_score(tab: str, name: str) -> tuple[float, int]:
    """Return the score of an example with its default kernel, and its size."""
    if tab == "Text":
        samples, options = examples.find_example(name).text.splitlines(), MEANING
    elif tab == "Images":
        samples = [image.convert("RGB") for image in examples.find_example(name).open_images()]
        options = offered_encoders.ALLOWED["images"]["DINOv2"]
    elif tab == "Molecules":
        samples, options = examples.find_example(name).text.splitlines(), {"k": "morgan"}
    else:
        example = examples.find_example(name, "vectors")
        samples = [[float(x) for x in line.split(",")] for line in example.text.splitlines()]
        options = KERNELS.get(example.kernel, {"k": example.kernel})
    return compute(samples, **options)["VS"], len(samples)


@pytest.mark.parametrize("tab", TABS[:4])
def test_example_scores_match_package(visit, tab):
    page = visit()
    open_tab(page, tab)
    names = page.locator("#examples button").all_inner_texts()
    assert len(names) == 3
    for name in names[::-1]:
        button(page, name).click()
        expect_score(page, *compute_example_score(tab, name))
        expect(button(page, name)).to_have_attribute("aria-pressed", "true")
    if tab in ("Images", "Molecules"):
        picture = page.locator(".r-all img").first
        picture.scroll_into_view_if_needed()  # molecules are drawn when visible
        # The picture is an empty GIF until it is drawn.
        expect(picture).to_have_attribute("src", re.compile("^data:image/(?!gif)"))
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 1


@pytest.mark.parametrize(
    ("kernel", "label"), [("ngram_overlap", "share words"), ("", "mean the same")]
)
def test_texts_show_scores_by_wording_and_meaning(visit, kernel, label):
    page = visit()
    paste(page, "\n".join(TEXTS))
    choose_similarity(page, label)
    press_score(page)
    scores = {
        "wording (n-grams)": compute(TEXTS, k="ngram_overlap")["VS"],
        "meaning (MiniLM)": compute(TEXTS, **MEANING)["VS"],
    }
    first, second = scores.items() if kernel else reversed(scores.items())
    expect_score(page, first[1], 12)
    expected_text = f"{first[1]:.1f} by {first[0]}, {second[1]:.1f} by {second[0]}"
    expect(page.locator("#result .r-second")).to_have_text(expected_text)
    details = page.locator(".r-summary details")
    expect(details).to_contain_text(f"By {second[0]}: 95 % interval")
    page.get_by_role("heading", name="For papers").click()
    code = page.get_by_role("group", name="Python", exact=True)
    expect(code).to_contain_text("k='text_embeddings'")
    expect(code).to_contain_text("k='ngram_overlap'")


def test_same_score_is_shown_copied_and_downloaded(visit):
    page = visit()
    paste(page, "\n".join(TEXTS))
    choose_similarity(page, "share words")
    press_score(page)
    expected_result = compute(TEXTS, k="ngram_overlap", ci=0.95)
    low, high = expected_result["VS_low"], expected_result["VS_high"]
    score_text = f"{expected_result['VS']:.1f}"
    expect_score(page, expected_result["VS"], 12)
    expect(
        page.get_by_role("img", name=f"Scale from 1 to 12: this set {score_text}")
    ).to_be_visible()
    expect(page.locator("#said")).to_contain_text(f"Effective number: {score_text}, plus or minus")
    expect(page.locator(".r-sentence")).to_contain_text(f"as diverse as {score_text}")
    button(page, "Share this result").click()
    button(page, "Copy the sentence").click()
    expect(page.locator(".r-told")).to_have_text("The sentence is copied.")
    sentence = page.evaluate("navigator.clipboard.readText()")
    assert "By the words they share, this set of 12 texts is as diverse as" in sentence
    assert f"Vendi Score: {score_text} ± " in sentence
    button(page, "Share this result").click()
    button(page, "Copy the Markdown row").click()
    expect(page.locator(".r-told")).to_have_text("The Markdown row is copied.")
    header, _, line = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert header == "| n | kernel | Vendi Score | 95 % | vendiscore |"
    interval_text = f"{low:.1f} to {high:.1f}"
    assert re.fullmatch(
        rf"\| 12 \| ngram_overlap \| {score_text} ± [\d.]+ \| {interval_text} \| {__version__} \|",
        line,
    )
    everything = json.loads(download_file(page, "Everything (JSON)"))
    assert everything["VS"] == pytest.approx(expected_result["VS"], rel=1e-12)
    table = list(
        csv.DictReader(io.StringIO(download_file(page, "Table (CSV)").decode("utf-8-sig")))
    )
    assert [line["sample"] for line in table] == TEXTS
    assert [line["place"] for line in table] == [str(i) for i in range(1, 13)]
    assert f"<b>{score_text}</b> of 12" in download_file(page, "Report").decode()
    page.get_by_role("heading", name="For papers").click()
    button(page, "Copy: Python").click()
    expect(page.get_by_role("button", name="Copy: Python")).to_have_text("Copied")
    code = page.evaluate("navigator.clipboard.readText()")
    printed: list[dict[str, float]] = []
    exec(code, {"print": lambda *values: printed.extend(values)})
    assert printed[0]["VS"] == pytest.approx(expected_result["VS"], rel=1e-12)
    assert page.locator(".r-papers figure img[src]").count() >= 3


def test_shared_picture_is_png(visit):
    page = visit()
    button(page, "A primer").click()
    expect_score(page, *compute_example_score("Text", "A primer"))
    button(page, "Share this result").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the picture").click()
    with open(waiting.value.path(), "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"


def test_changed_settings_mark_result_as_outdated(visit):
    page = visit()
    paste(page, "\n".join(TEXTS))
    choose_similarity(page, "share words")
    press_score(page)
    expect_score(page, compute(TEXTS, k="ngram_overlap")["VS"], 12)
    open_more_settings(page)
    page.get_by_role("slider", name="Order q").press("End")
    outdated_note = page.locator(".r-was")
    expect(outdated_note).to_have_text(
        "The settings have changed since this result was computed. Score again."
    )
    press_score(page)
    expect_score(page, compute(TEXTS, k="ngram_overlap", q=10)["VS_q10"], 12)
    page.get_by_role("slider", name="Order q").press("ArrowLeft")
    page.get_by_label("4", exact=True).uncheck()
    page.get_by_role("combobox", name="made of").select_option("char")
    expect(outdated_note).to_be_visible()
    press_score(page)
    expected_scores = compute(TEXTS, k="ngram_overlap", ns=[1, 2, 3], analyzer="char", q=9.75)
    expect_score(page, expected_scores["VS_q9.75"], 12)
    page.get_by_label("4", exact=True).check()
    expect(outdated_note).to_be_visible()
    page.get_by_label("4", exact=True).uncheck()  # back to the settings of the score
    expect(outdated_note).to_be_hidden()


def test_threshold_slider_updates_near_duplicate_groups(visit):
    page = visit()
    paste(page, "\n".join(TEXTS))
    choose_similarity(page, "share words")
    press_score(page)
    expect_score(page, compute(TEXTS, k="ngram_overlap")["VS"], 12)
    slider = page.get_by_role("slider", name="similarity threshold")
    result = explain(TEXTS, k="ngram_overlap").threshold
    expect(slider).to_have_value(f"{result:g}")
    counts = explain(TEXTS, k="ngram_overlap").repeats
    counts_text = ", ".join(f"{count} at {level:.2f}" for level, count in counts.items())
    counts_note = f"Number of near-duplicates by similarity threshold: {counts_text}."
    expect(page.get_by_text(counts_note)).to_be_visible()
    requests = []
    page.on("request", lambda request: requests.append(request.url.rsplit("/", 1)[1]))
    for threshold in (0.8, 0.6, 1.0):
        slider.fill(str(threshold))
        explanation = explain(TEXTS, k="ngram_overlap", threshold=threshold)
        sizes = [1 + len(others) for _, others in explanation.groups]
        for number, size in enumerate(sizes):
            expect(find_group(page, number)).to_contain_text(f"{size} ×")
        expect(page.locator(".r-groups > details")).to_have_count(len(sizes))
    assert set(requests) == {"groups"}
    explanation = explain(TEXTS, k="ngram_overlap", threshold=0.6)
    slider.fill("0.9")
    page.get_by_text("are they duplicates?").click()
    pairs = page.locator(".r-edge tbody tr")
    closest = pairs.filter(has=page.locator("[aria-pressed=true]", has_text="different")).first
    similarity = float(closest.locator("td").first.inner_text())
    button(closest, "duplicates").click()
    assert 0.9 > float(slider.input_value()) > similarity - 0.0015
    expect(pairs.filter(has_text=f"{similarity:.3f}").first).to_be_visible()
    expect(page.locator(".r-groups > details").first).to_contain_text("2 ×")
    slider.fill("0.6")
    expect(find_group(page, 0)).to_contain_text(f"{1 + len(explanation.groups[0][1])} ×")
    find_group(page, 0).click()
    retained = find_group(page, 0).get_by_role("listitem").filter(has_text="kept")
    expect(retained).to_have_count(1)
    words = retained.locator(".r-full").inner_text()
    save_button = f"Save {len(explanation.kept)} samples without near-duplicates (CSV)"
    table = save_file(page, save_button).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert [int(line["place"]) - 1 for line in rows] == explanation.kept.tolist()
    assert words in {line["sample"] for line in rows}


def test_histogram_is_aligned_with_threshold_slider(visit):
    page = visit()
    paste(page, "\n".join(TEXTS))
    choose_similarity(page, "share words")
    press_score(page)
    slider = page.get_by_role("slider", name="similarity threshold")
    picture = page.get_by_role("img", name=re.compile("^Histogram of the similarity"))
    expect(picture).to_contain_text("similarity to the nearest sample")
    minimum = float(slider.get_attribute("min"))
    assert picture.get_attribute("aria-label").startswith(
        f"Histogram of the similarity to the nearest sample, from {minimum:.2f} to 1.00."
    )
    expect(picture).to_contain_text("samples")
    for value in (minimum, 0.65, 1.0):
        slider.fill(str(value))
        mark = page.locator(".r-mark").evaluate("line => line.getBoundingClientRect().toJSON()")
        box = slider.bounding_box()
        thumb = box["x"] + 8 + (box["width"] - 16) * (value - minimum) / (1 - minimum)
        assert abs(mark["x"] + mark["width"] / 2 - thumb) < 0.6
    assert sum(explain(TEXTS, k="ngram_overlap").nearest_similarity < minimum) == 1
    expect(page.locator(".r-figure figcaption").first).to_contain_text(
        "Not shown: 1 sample below 0.30."
    )


def test_phone_shows_explanations_of_terms(visit):
    page = visit(390, 800)
    button(page, "A model in a rut").click()
    expect(page.locator("#result .r-number")).to_be_visible()
    expect(page.locator("#limits")).to_be_hidden()
    expect(page.locator(".r-all")).to_contain_text("similarity: similarity to the nearest sample")
    assert page.locator(".r-about").evaluate("about => about.scrollWidth <= about.clientWidth")
    page.locator("footer").get_by_text("Size limits").click()
    expect(page.locator("#limits")).to_contain_text("for 15 minutes after their last use")


def test_map_filters_table_by_theme_and_column(visit):
    page = visit()
    rows = [f"{4 if i % 3 else 5},{text.replace(',', '')}" for i, text in enumerate(TEXTS)]
    choose_files(page, ("mine.csv", "\n".join(["rating,answer", *rows]).encode()))
    choose_similarity(page, "share words")
    press_score(page)
    expect_score(page, compute([row.split(",")[1] for row in rows], k="ngram_overlap")["VS"], 12)
    dots, legend = page.get_by_role("application"), page.locator(".r-legend button")
    table = page.get_by_role("region", name="Table of all samples").locator("tbody tr")
    expect(legend).to_have_count(6)
    page.get_by_label("number of themes").fill("2")
    page.get_by_label("number of themes").press("Enter")
    expect(legend).to_have_count(2)
    theme_size = int(legend.first.locator("b").inner_text())
    legend.first.click()
    expect(legend.first).to_have_attribute("aria-pressed", "true")
    expect(table).to_have_count(theme_size)
    expect(page.locator(".r-dim")).to_have_count(12 - theme_size)
    page.get_by_label("coloured by").select_option("rating")
    expect(legend).to_have_text([re.compile("4.*8.*67 %"), re.compile("5.*4.*33 %")])
    page.get_by_label("Search the map").fill("bakery")
    expect(table).to_have_count(1)
    page.get_by_label("Search the map").fill("")
    dots.press("End")
    card = page.locator(".r-hover")
    expect(card).to_contain_text("nearest")
    sample_mark = card.locator("b").inner_text()
    expect(card).to_contain_text(rows[int(sample_mark[1:]) - 2].split(",")[1])
    dots.press("Enter")
    expect(find_row(page, sample_mark[1:]).locator(".r-open")).to_be_focused()


def test_table_can_be_sorted_filtered_and_expanded(visit):
    page = visit()
    long = [f"{'very ' * 60}long text number {i}" for i in range(3)]
    paste(page, "\n".join([*TEXTS, *long]))
    choose_similarity(page, "share words")
    press_score(page)
    explanation = explain([*TEXTS, *long], k="ngram_overlap")
    table = page.get_by_role("region", name="Table of all samples")
    table.get_by_role("button", name="contribution").click()
    largest_index = max(range(15), key=lambda i: explanation.adds[i])
    expect(table.get_by_role("rowheader").first).to_have_text(str(largest_index + 1))
    expect(table.get_by_role("columnheader", name="contribution")).to_have_attribute(
        "aria-sort", "descending"
    )
    page.get_by_role("searchbox", name="filter").fill("#13")
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table).not_to_contain_text("long text number 0")
    table.locator(".r-open").click()
    expect(table.locator(".r-full").first).to_have_text(long[0])
    page.get_by_role("searchbox", name="filter").fill("bakery")
    expect(table.get_by_role("rowheader")).to_have_text(["12"])


def test_long_text_is_truncated_between_characters(visit):
    page = visit()
    start = "a" * 79 + " " + "b" * 79
    paste(page, f"{start}😀 c\nd")
    choose_similarity(page, "share words")
    press_score(page)
    expect(find_row(page, 1).locator(".r-words")).to_have_text(f"{start}😀…")
