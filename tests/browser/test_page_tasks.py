"""Ten user tasks need at most three clicks and give the score of the package."""

import csv
import io
import re

import pytest
from accessibility import find_violations_in_both_themes
from browser_actions import (
    button,
    expect,
    expect_comparison,
    expect_read_note,
    find_group,
    find_row,
    perform_step,
    perform_task,
    read_table,
)

pytest.importorskip("uvicorn")
import page_tasks

from vendiscore import compute, explain, sources

# Visible text before the first element of a selector.
_TEXT_BEFORE_SCRIPT = """(result, selector) => {
    const words = document.createRange();
    words.setStart(result, 0);
    words.setEndBefore(result.querySelector(selector));
    getSelection().removeAllRanges();
    getSelection().addRange(words);
    return getSelection().toString();
}"""


def test_pasted_answers_with_paragraphs_are_scored(visit):
    page = visit()
    perform_task(page, page_tasks.score_pasted_answers())
    expect_read_note(page, "20 parts, 0 unreadable, split by ---")
    expect(page.locator(".r-about")).to_contain_text("MiniLM · q 1")
    expect(page.locator(".r-sentence")).to_contain_text("By what they mean")
    expect(page.locator(".r-summary details")).to_contain_text(" words by MiniLM, this is ")
    expect(page.locator(".r-strip .r-flag").nth(2)).to_be_visible()
    expect(find_group(page, 0)).to_contain_text("3 ×Certainly! Building small habits")
    expect(find_group(page, 3)).to_contain_text("2 ×Sleep well")
    expect(page.locator(".r-groups > details")).to_have_count(6)
    assert button(page, "Score").is_visible()
    # Texts are shown in full, with their line number.
    find_group(page, 3).click()
    text = page_tasks.SLEEP[0].split(".")[0]
    member = find_group(page, 3).get_by_role("listitem").filter(has_text=text)
    expect(member.first).to_contain_text("#8")
    expect(member.first).to_contain_text("A regular bedtime makes all the difference.")
    expect(find_row(page, 7)).to_contain_text("No idea, honestly.")


def test_table_column_is_scored(visit):
    page = visit()
    perform_task(page, page_tasks.score_csv_column())
    expect(page.get_by_role("combobox", name="Sample column")).to_have_value("comment")
    expect(page.locator(".r-about")).to_contain_text("comments.csv › comment · MiniLM")


def test_rows_without_near_duplicates_are_saved(visit):
    page = visit()
    csv_text = perform_task(page, page_tasks.save_rows_without_near_duplicates()).decode(
        "utf-8-sig"
    )
    expected_indices = explain(page_tasks.ANSWERS, **page_tasks.MEANING).kept.tolist()
    rows = [*csv.DictReader(io.StringIO(csv_text, newline=""))]
    assert [row["id"] for row in rows] == [str(i + 1) for i in expected_indices]
    answers = [row["answer"].replace("\r\n", "\n") for row in rows]
    assert answers == [page_tasks.ANSWERS[i] for i in expected_indices]


def test_hundred_answers_are_selected(visit):
    page = visit()
    perform_task(page, page_tasks.select_hundred_rows())
    expect(button(page, "Save these samples (CSV)")).to_be_visible()


def test_table_with_invalid_molecules_is_scored(visit):
    page = visit()
    task = page_tasks.score_molecule_table()
    perform_step(page, *task.steps[0])
    expect(page.get_by_role("tab", name="Molecules")).to_have_attribute("aria-selected", "true")
    alert = page.locator("#samples").get_by_role("alert")
    expect(alert).to_contain_text("5 of 27 samples are unreadable (rows 3, 9, 10, 20 and 28)")
    expect(page.get_by_role("combobox", name="Sample column")).to_have_value("smiles")
    expect(alert).to_contain_text("Press “Score” to continue without them.")
    perform_task(page, task, start=1)
    expect(page.locator(".r-about")).to_contain_text("molecules.csv › smiles · Morgan")
    expect(page.locator(".r-summary p", has_text="Not used: 5 of 27")).to_contain_text("rows 3")
    expect(page.locator("#result .r-copies")).to_contain_text("rows 3, 9, 10, 20 and 28")
    page.locator("#read summary", has_text="Not used").click()
    dropped = page.locator("#read .lines li").all()
    for (row, text), line in zip(page_tasks.INVALID_MOLECULES.items(), dropped, strict=True):
        expect(line).to_contain_text(f"row {row}, '{text}'")
    expect(find_row(page, "M4")).to_contain_text(page_tasks.SMILES[4])
    expect(find_row(page, "M3")).to_have_count(0)
    find_row(page, "M4").scroll_into_view_if_needed()  # drawn when visible
    expect(find_row(page, "M4").locator("img[src^='data:image/svg']")).to_have_js_property(
        "complete", True
    )
    pictures = "[...document.querySelectorAll('.r-molecule')]"
    are_loaded = f"{pictures}.every(image => image.complete && image.naturalWidth > 0)"
    assert page.evaluate(are_loaded)  # including those outside the viewport
    assert find_row(page, "M4").locator("img").evaluate("image => image.naturalWidth") > 0


def test_zip_of_photos_is_scored(visit):
    page = visit()
    perform_task(page, page_tasks.score_zip_of_photos())
    expect_read_note(page, "60 images")
    expect(page.get_by_role("tab", name="Images")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".r-about")).to_contain_text("trip.zip · DINOv2")
    expect(page.locator(".r-groups img").first).to_have_js_property("complete", True)
    expect(find_row(page, 60)).to_contain_text("IMG_1059.jpg")
    assert find_row(page, 1).locator("img").evaluate("image => image.naturalWidth") > 0


def test_two_caption_files_are_compared(visit):
    page = visit()
    perform_task(page, page_tasks.compare_two_caption_files())
    expect(page.locator("#result .r-verdicts")).to_contain_text("people is more diverse than model")
    expect(page.get_by_label("Name of the set").first).to_have_value("model")
    expect_comparison(page, page_tasks.compare_captions())


def test_twenty_thousand_embeddings_are_scored(visit):
    page = visit()
    perform_task(page, page_tasks.score_twenty_thousand_embeddings())
    expect(page.get_by_role("tab", name="Vectors")).to_have_attribute("aria-selected", "true")
    expect_read_note(page, "20,000 rows, 0 unreadable")
    expect(button(page, "Draw another random subset")).to_have_count(0)
    expect(page.locator(".r-about")).to_contain_text("embeddings.npy · cosine · q 1")
    heading = page.get_by_role("heading", name=re.compile("^All samples"))
    expect(heading).to_have_text("All samples (random subset of 2,000 of 20,000)")


def test_report_is_downloaded(visit):
    page = visit()
    task = page_tasks.download_report()
    report = perform_task(page, task).decode()
    assert f"{task.expected_value:.1f}" in report
    assert "as diverse as" in report
    assert "The last bakery on Mars runs out of sugar." in report
    assert "<script" not in report


@pytest.mark.filterwarnings(
    "ignore:intervals have width 0 for small"
)  # the model "small" repeats one answer
def test_models_of_table_are_compared_within_prompts(visit):
    page = visit()
    task = page_tasks.compare_models_of_table()
    perform_step(page, *task.steps[0])
    for role, value in {
        "Sample column": "answer",
        "Model (3)": "model",
        "Prompt (12)": "prompt",
    }.items():
        expect(page.get_by_role("combobox", name=role)).to_have_value(value)
    perform_task(page, task, start=1)
    expected = page_tasks.compare_models()
    _, by, prompts, texts = map(list, zip(*page_tasks.MODEL_ANSWERS, strict=True))
    expect(page.locator("#result .r-verdicts")).to_contain_text("large is more diverse than medium")
    assert expected.verdict("large", "small") == "more diverse"
    different = sources(texts, by=by, prompts=prompts, **page_tasks.MEANING)
    expect(page.locator(".r-sources")).to_contain_text(different.sentence)
    expect_comparison(page, expected)
    matrix = read_table(page, "Prompt × model")
    assert len(matrix) == len(set(prompts))
    group_labels = list(zip(by, prompts, strict=True))
    groups = compute(texts, groups=group_labels, details=True, **page_tasks.MEANING)["details"][
        "groups"
    ]
    scores = {tuple(group["group"]): group["VS"] for group in groups}
    for cells in matrix:
        for model in ("small", "medium", "large"):
            expected = scores[model, cells["prompt"]]
            assert float(cells[model]) == pytest.approx(expected, abs=0.051)
    page.get_by_role("region", name="Prompt × model").locator("tbody button").last.click()
    opened = page.locator(".r-matrix .r-answers")
    expect(opened).to_contain_text("4 answers")
    expect(opened.locator("s")).to_have_count(3)
    before = page.locator("#result").evaluate(_TEXT_BEFORE_SCRIPT, ".r-answers")
    assert len(before.split()) <= 90
    assert find_violations_in_both_themes(page) == []


def test_eight_answer_columns_of_one_model_are_scored(visit):
    page = visit()
    perform_task(page, page_tasks.score_eight_answer_columns())
    rows = page.get_by_role("region", name="Table of the groups").locator("tbody tr")
    expect(rows).to_have_count(len(page_tasks.ANSWER_ROWS))
    scores = [compute(row, **page_tasks.MEANING)["VS"] for row in page_tasks.ANSWER_ROWS]
    expect(rows.first).to_contain_text(f"8{max(scores):.1f}")
