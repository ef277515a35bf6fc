"""A browser, and a page that nothing went wrong on."""

import os
import shutil

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
SWITCHES = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update"
)


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if not os.path.exists(CHROMIUM):
        pytest.skip("no chromium: apt-get install chromium, or set CHROMIUM")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES.split(" "))
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, server):
    """Opens the page; after the test, nothing was asked of another host and nothing went wrong."""
    from in_browser import expect, score

    contexts, wrong = [], []

    def open_page(width: int = 1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda line: line.type == "error" and wrong.append(line.text))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: local(request.url) or wrong.append(request.url))
        page.goto(server.url)
        expect(score(page)).to_be_visible()
        return page

    def local(url: str) -> bool:
        return url.startswith((server.url, "data:", "blob:"))

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
