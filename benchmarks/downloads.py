"""Save every download of the page, and open each with what people open it with.

python benchmarks/downloads.py

Two results are saved from, in Chromium: a table of models, prompts and answers, and a set of texts,
both with cells that a spreadsheet might run, quotes, commas and signs that LaTeX reads. Each CSV
is read by pandas, and by LibreOffice, which must find no formula in it; LaTeX is compiled by
pdflatex; pictures are decoded by Pillow or drawn by the browser; reports are opened in the browser,
which must report no error and ask no other host; JSON is parsed. Needs LibreOffice (Debian's
libreoffice-calc-nogui), pdflatex with booktabs (texlive-latex-recommended) and a browser, as the
tests of the page do.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("HF_HOME", tempfile.mkdtemp(prefix="vendiscore-downloads-"))
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "helpers"), str(ROOT)]

import pandas as pd  # noqa: E402
from page_process import running_app  # noqa: E402
from PIL import Image  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402

HOSTILE = ("=1+1", "+cmd|' /C calc'!A0", "@SUM(1)", "-2+3", 'say "a, b"', "50 % of $x_1 & {y}")
TEXTS = [f"{sign} number {i} of {i % 3} kinds" for i, sign in enumerate(HOSTILE * 3)]
_SWITCHES = ["--headless", "--no-sandbox", "--disable-gpu"]


def table() -> bytes:
    """Return answers of three models to eight prompts, two of each, with hostile cells."""
    rows = [
        {"model": model, "prompt": f"{HOSTILE[j % 6]} prompt {j}", "answer": TEXTS[(i + j) % 18]}
        for model in ("=plain", "R&D_1", "50% off")
        for j in range(8)
        for i in range(2)
    ]
    return pd.DataFrame(rows).to_csv(index=False).encode()


def saved(page: Page, name: str, folder: Path) -> list[Path]:
    """Return the files that the entries of menus save when they are pressed."""
    files = []
    for opener in page.locator(f"#result .r-menu > button{name}").all():
        if not opener.is_visible():
            continue
        entries = opener.locator("xpath=..").locator(".r-panel button")
        for i in range(entries.count()):
            words = entries.nth(i).locator("span").first.text_content() or ""
            if "Copy" in words or "address" in words or "link" in words.lower():
                continue
            opener.click()
            with page.expect_download(timeout=60_000) as waiting:
                entries.nth(i).click()
            files.append(folder / f"{len(files)}-{waiting.value.suggested_filename}")
            waiting.value.save_as(files[-1])
    return files


def read_csv(path: Path, page: Page) -> str:
    found = pd.read_csv(path)
    assert len(found), path
    assert not found.columns.str.startswith("Unnamed").any(), path
    with tempfile.TemporaryDirectory() as folder:
        command = ["soffice", "--headless", "--convert-to", "fods", "--outdir", folder, str(path)]
        home = f"-env:UserInstallation=file://{folder}/profile"
        subprocess.run([*command, home], check=True, capture_output=True, timeout=180)
        sheet = (Path(folder) / f"{path.stem}.fods").read_text(encoding="utf-8")
    assert "table:formula" not in sheet, path
    return f"{len(found)} rows × {len(found.columns)} columns in pandas; no formula in LibreOffice"


def compile_latex(path: Path, page: Page) -> str:
    with tempfile.TemporaryDirectory() as folder:
        document = (
            "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs}"
            f"\\begin{{document}}\n{path.read_text(encoding='utf-8')}\n\\end{{document}}\n"
        )
        Path(folder, "a.tex").write_text(document, encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
        return f"pdflatex made {Path(folder, 'a.pdf').stat().st_size:,} bytes"


def open_picture(path: Path, page: Page) -> str:
    with Image.open(path) as image:
        image.load()
        return f"{image.width} × {image.height} pixels"


def open_in_browser(path: Path, page: Page) -> str:
    wrong: list[str] = []
    other = page.context.new_page()
    other.on("console", lambda line: line.type == "error" and wrong.append(line.text))
    other.on("pageerror", lambda error: wrong.append(str(error)))
    other.on("request", lambda x: x.url.startswith("http") and wrong.append(x.url))
    other.goto(path.as_uri())
    words = other.locator(":root").inner_text() if path.suffix == ".html" else "drawn"
    other.close()
    assert not wrong, (path, wrong)
    return f"opened without an error, {len(words.split()):,} words"


def read_json(path: Path, page: Page) -> str:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert not {"id", "key"} & set(found), path
    return f"{len(found)} fields, no key of the session"


def read_markdown(path: Path, page: Page) -> str:
    lines = path.read_text(encoding="utf-8").strip().splitlines()
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1, path
    return f"{len(lines)} lines of as many cells"


OPENED: dict[str, Callable[[Path, Page], str]] = {
    ".csv": read_csv,
    ".tex": compile_latex,
    ".png": open_picture,
    ".svg": open_in_browser,
    ".html": open_in_browser,
    ".json": read_json,
    ".md": read_markdown,
}


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as made,
        running_app(Path(made)) as app,
        sync_playwright() as driver,
    ):
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=chromium, args=_SWITCHES)
        for what in ("a table of models", "a set of texts"):
            page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            page.goto(app.url)
            if what == "a set of texts":
                page.locator("#box").fill("\n".join(TEXTS))
                page.get_by_label("share words").check()
                page.locator("#score").click()
                page.locator("#result .r-number").wait_for()
            else:
                file = {"name": "answers.csv", "mimeType": "text/csv", "buffer": table()}
                page.locator("#samples input[type=file]").set_input_files([file])
                page.get_by_label("share words").check()
                page.get_by_role("button", name="Which of 3 models").click()
                page.locator("#result .r-matrix, #result table").first.wait_for()
                page.get_by_text("How sure?").first.wait_for()
            print(f"From {what}:")
            for path in saved(page, "", Path(made)):
                print(f"  {path.name.partition('-')[2]}: {OPENED[path.suffix](path, page)}")
        browser.close()


if __name__ == "__main__":
    main()
