"""What people come for: seven tasks, each in few clicks, with the right answer on the screen."""

import io
import re

import numpy as np
import pytest
from files_people_have import photo, zipped
from in_browser import (
    button,
    choose,
    clicks,
    expect,
    group,
    open_tab,
    paste,
    press_score,
    row,
    shows,
    was_read,
)
from PIL import Image

pytest.importorskip("gradio")
from vendiscore import sources
from vendiscore.app.answers import offered_encoders
from vendiscore.app.answers.several_sets import MIN_PERMUTATIONS
from vendiscore.app.inputs import examples
from vendiscore.comparison import compare
from vendiscore.scoring.compute import compute

MEANING = offered_encoders.ALLOWED["texts"]["MiniLM"]
START = "Certainly! Building small habits is the key to a healthier life."
HABITS = [
    f"{START} Start with {what} each morning, and let it grow from there.\n\n"
    f"1. Begin with {what}.\n2. Keep at it every day.\n\nRemember: small habits add up!"
    for what in (
        *("one glass of water", "a glass of water", "two glasses of water", "a short walk"),
        *("a brief walk", "a walk", "five push-ups", "ten push-ups", "a few push-ups"),
        *("some stretching", "a little stretching"),
    )
]
SLEEP = [
    f"Sleep well: go to bed at {hour} every night.\n\nA regular bedtime makes all the difference."
    for hour in ("nine", "ten", "half past nine", "half past ten", "the same hour")
]
OTHERS = [
    "No idea, honestly.\n\nAsk my grandmother, she is ninety-six.",
    "Quit the job that makes you ill.\n\nThe money is not worth it.",
    "Vaccines.\n\nNothing else in the history of medicine comes close.",
    "Grow your own tomatoes.\n\nYou will be outdoors, and they taste of something.",
]
ANSWERS = [
    text for texts in (HABITS[:6], OTHERS[:1], SLEEP, OTHERS[1:], HABITS[6:]) for text in texts
]


def test_twenty_pasted_answers_with_paragraphs_in_three_clicks(visit):
    page = visit()
    paste(page, "\n---\n".join(ANSWERS))
    was_read(page, "20 parts, 0 unreadable, split by ---")
    press_score(page)
    shows(page, compute(ANSWERS, **MEANING)["VS"], 20)
    assert clicks(page) <= 3
    expect(page.locator(".r-about")).to_contain_text("MiniLM · q 1")
    expect(page.locator(".r-sentence")).to_contain_text("By what they mean")
    expect(page.locator(".r-verdict")).to_have_text("repeats itself a lot (MiniLM, n = 20)")
    expect(group(page, 0)).to_contain_text("11 ×Certainly! Building small habits")
    expect(group(page, 1)).to_contain_text("5 ×Sleep well")
    expect(group(page, 2)).to_contain_text("4 alone")
    assert button(page, "Score").is_visible()
    # All of it can be read, and found in what was pasted.
    group(page, 1).click()
    for i, text in enumerate(SLEEP, 8):
        member = group(page, 1).get_by_role("listitem").filter(has_text=text.split(".")[0])
        expect(member.first).to_contain_text(f"#{i}")
        expect(member.first).to_contain_text("A regular bedtime makes all the difference.")
    expect(row(page, 7)).to_contain_text("No idea, honestly.")
    expect(row(page, 7)).to_contain_text("alone")


GOOD = (
    examples.find_example("Scents").text.splitlines()
    + examples.find_example("Small medicines").text.split()[:6]
)
BAD = {3: "C1CC", 9: "CC(C", 10: "Xx", 20: "not a molecule", 28: "c1ccc"}


def test_a_table_of_molecules_with_five_bad_rows_in_four_clicks(visit):
    page = visit()
    rest = iter(GOOD)
    smiles = {at: BAD.get(at) or next(rest) for at in range(2, 29)}
    table = "id,smiles,mass\n" + "\n".join(f"M{i},{s},{i}.5" for i, s in smiles.items())
    choose(page, ("molecules.csv", table.encode()))
    expect(page.get_by_role("tab", name="Molecules")).to_have_attribute("aria-selected", "true")
    trouble = page.locator("#samples").get_by_role("alert")
    expect(trouble).to_contain_text("5 of 27 unreadable, rows 3, 9, 10, 20 and 28")
    expect(page.get_by_role("combobox", name="Column")).to_have_value("smiles")
    expect(trouble).to_contain_text("Score leaves them out.")
    press_score(page)
    shows(page, compute(GOOD, k="morgan")["VS"], 22)
    assert clicks(page) <= 4
    expect(page.locator(".r-about")).to_contain_text("molecules.csv › smiles · Morgan")
    expect(page.locator(".r-summary p", has_text="Left out 5 of 27")).to_contain_text("rows 3")
    expect(page.locator("#result .r-copies")).to_contain_text("rows 3, 9, 10, 20 and 28")
    page.locator("#read summary", has_text="Left out").click()
    for (at, text), line in zip(BAD.items(), page.locator("#read .lines li").all(), strict=True):
        expect(line).to_contain_text(f"row {at}, '{text}'")
    expect(row(page, "M4")).to_contain_text(smiles[4])
    expect(row(page, "M3")).to_have_count(0)
    row(page, "M4").scroll_into_view_if_needed()  # drawn when it comes into sight
    expect(row(page, "M4").locator("img[src^='data:image/svg']")).to_have_js_property(
        "complete", True
    )
    pictures = "[...document.querySelectorAll('.r-molecule')]"
    whole = f"{pictures}.every(image => image.complete && image.naturalWidth > 0)"
    assert page.evaluate(whole)  # those out of sight, too
    assert row(page, "M4").locator("img").evaluate("image => image.naturalWidth") > 0


def test_a_zip_of_sixty_photos_in_three_clicks(visit):
    page = visit()
    # Twelve scenes, each photographed five times.
    shots = {
        f"trip/IMG_{1000 + i}.jpg": photo(
            width=160, height=120, seed=i // 5, quality=60 + 8 * (i % 5)
        )
        for i in range(60)
    }
    choose(page, ("trip.zip", zipped(shots)))
    was_read(page, "60 images")
    press_score(page)
    images = [Image.open(io.BytesIO(data)) for data in shots.values()]
    kind = offered_encoders.ALLOWED["images"]["DINOv2"]
    shows(page, compute(images, **kind)["VS"], 60)
    assert clicks(page) <= 3
    expect(page.get_by_role("tab", name="Images")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".r-about")).to_contain_text("trip.zip · DINOv2")
    expect(page.locator(".r-groups img").first).to_have_js_property("complete", True)
    expect(row(page, 60)).to_contain_text("IMG_1059.jpg")
    assert row(page, 1).locator("img").evaluate("image => image.naturalWidth") > 0


PLAIN = [f"a photo of {a} {b}" for a in ("a cat", "a dog") for b in ("", "on a sofa", "asleep")]
RICH = [
    *("a cat asleep on a sofa", "two boats at sunset", "a red bus in the rain"),
    *("children flying kites", "a bowl of ramen", "a glacier from the air", "an empty stadium"),
    *("a blacksmith at work", "a market in Marrakesh", "a chess game in a park"),
]


def test_two_sets_of_captions_of_different_size_in_five_clicks(visit):
    page = visit()
    sets = {"model": PLAIN * 3 + PLAIN[:2], "people": RICH}
    open_tab(page, "Compare")
    for at, (name, captions) in enumerate(sets.items()):
        choose(page, (f"{name}.txt", "\n".join(captions).encode()), at=page.locator(".set").nth(at))
    button(page, "Compare").click()
    right = compare(*sets.values(), names=list(sets), permutations=MIN_PERMUTATIONS, **MEANING)
    expect(page.locator("#result .r-verdicts")).to_contain_text("people is more diverse than model")
    assert clicks(page) <= 5
    expect(page.get_by_label("Name of the set").first).to_have_value("model")
    lines = page.get_by_role("region", name="Scores of the sets").locator("tbody tr")
    for line, found in zip(lines.all(), right.sets, strict=True):
        cells = line.locator("th, td").all_inner_texts()
        assert cells[:3] == [found.name, str(found.n), f"{found.score:.1f}"]
    pair = page.get_by_role("region", name="Differences between the sets").locator("tbody tr")
    expect(pair).to_contain_text(f"{abs(right.pairs[0].difference):.1f}")
    only = page.locator(".r-only", has_text="Only in model")
    expect(only).to_contain_text("a photo of a cat")
    expect(only).to_contain_text("least like anything in people")


def test_twenty_thousand_embeddings_are_scored_whole_in_four_clicks(visit, tmp_path):
    page = visit()
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 384))
    X = centres[rng.integers(0, 40, 20_000)] + 0.5 * rng.normal(size=(20_000, 384))
    X = X.astype(np.float32)
    np.save(tmp_path / "embeddings.npy", X)
    choose(page, tmp_path / "embeddings.npy")
    expect(page.get_by_role("tab", name="Vectors")).to_have_attribute("aria-selected", "true")
    was_read(page, "20,000 rows, 0 unreadable")
    expect(button(page, "Another draw")).to_have_count(0)
    press_score(page)
    shows(page, compute(X, k="cosine")["VS"], 20_000)
    assert clicks(page) <= 4
    expect(page.locator(".r-about")).to_contain_text("embeddings.npy · cosine · q 1")
    looked = page.get_by_role("heading", name=re.compile("^All samples"))
    expect(looked).to_have_text("All samples (2,000 of 20,000, those looked at)")


def test_the_report_for_the_boss_in_two_clicks(visit):
    page = visit()
    button(page, "A model in a rut").click()
    right = compute(examples.find_example("A model in a rut").text.splitlines(), **MEANING)["VS"]
    shows(page, right, 12)
    before = clicks(page)
    button(page, "Download").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Report (HTML)").click()
    assert clicks(page) - before <= 2
    assert waiting.value.suggested_filename.endswith(".html")
    with open(waiting.value.path(), encoding="utf-8") as file:
        report = file.read()
    assert f"{right:.1f}" in report
    assert "as diverse as" in report
    assert "The last bakery on Mars runs out of sugar." in report
    assert "<script" not in report


TOPICS = ["a walk", "the sea", "bread", "winter", "a song", "the moon"]
FORMS = ["I like {}.", "Nobody forgets {}.", "There is {} in every story.", "Who needs {}?"]
# How many forms each model knows, of which each answer takes one.
KNOWN = {"small": 1, "medium": 2, "large": 4}


def test_models_and_prompts_in_one_table_in_six_clicks(visit):
    page = visit()
    rows = [
        (f"a{topic}-{model}-{i}", model, f"Write about {topic}.", FORMS[i % n].format(topic))
        for topic in TOPICS
        for model, n in KNOWN.items()
        for i in range(4)
    ]
    table = "id,model,prompt,answer\n" + "".join(",".join(row) + "\n" for row in rows)
    choose(page, ("answers.csv", table.encode()))
    for role, value in {"Column": "answer", "Model (3)": "model", "Prompt (6)": "prompt"}.items():
        expect(page.get_by_role("combobox", name=role)).to_have_value(value)
    button(page, "Which of 3 models is more diverse?").click()
    _, by, prompts, texts = map(list, zip(*rows, strict=True))
    how = {"level": 0.99, "permutations": MIN_PERMUTATIONS, **MEANING}
    right = compare(texts, by=by, groups=prompts, **how)
    expect(page.locator("#result .r-verdicts")).to_contain_text("large is more diverse than small")
    assert right.verdict("large", "small") == "more diverse"
    different = sources(texts, by=by, prompts=prompts, **MEANING)
    expect(page.locator(".r-sources .r-sentence")).to_have_text(different.sentence)
    assert clicks(page) <= 6
    sets = page.get_by_role("region", name="Scores of the sets").locator("tbody tr")
    for line, found in zip(sets.all(), right.sets, strict=True):
        cells = line.locator("th, td").all_inner_texts()
        shown = [f"{found.score:.1f}", f"{found.matched:.1f}"]
        assert cells[:4] == [found.name, str(found.n), *shown]
    pairs = page.get_by_role("region", name="Differences between the sets").locator("tbody tr")
    for line, found in zip(pairs.all(), right.pairs, strict=True):
        expect(line).to_contain_text(f"{found.a} − {found.b}")
        expect(line).to_contain_text(f"{abs(found.difference):.1f}")
        expect(line).to_contain_text(right.verdict(found.a, found.b))
