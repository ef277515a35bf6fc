"""A browser, and a page that nothing went wrong on."""

import os
import re
import shutil

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
SWITCHES = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update"
)
# A browser logs this message for every refusal; the page says it in words.
REFUSED = re.compile(r"Failed to load resource: .* status of (410|422) ")


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if not os.path.exists(CHROMIUM):
        pytest.skip("no chromium: apt-get install chromium, or set CHROMIUM")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES.split(" "))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def window(browser, server):
    """A window of the browser for all pages that need no other options.

    One that stays open keeps their process, whose start is half of a visit. The page keeps what it
    keeps in the storage of the session, which each tab has of its own.
    """
    context = new_window(browser, server)
    context.new_page().goto(server.url)
    yield context
    context.close()


def new_window(browser, app, **options):
    from browser_actions import COUNT_CLICKS_SCRIPT

    context = browser.new_context(**options)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=app.url)
    context.add_init_script(COUNT_CLICKS_SCRIPT)
    return context


@pytest.fixture
def visit(browser, window, server):
    """Opens the page; after the test, nothing was asked of another host and nothing went wrong."""
    from browser_actions import expect

    opened, wrong = [], []

    def open_page(width: int = 1280, height: int = 720, *, at: str = "", to=server, **options):
        context = window
        if options or to is not server:
            context = new_window(browser, to, **options)
            opened.append(context)
        page = context.new_page()
        opened.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda line: said(line) and wrong.append(line.text))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: local(request.url, to) or wrong.append(request.url))
        page.goto(f"{to.url}/{at}")
        expect(page.locator("#kernels input[type=radio]").first).to_be_visible()
        return page

    def said(line) -> bool:
        return line.type in ("error", "warning") and not REFUSED.match(line.text)

    def local(url: str, to) -> bool:
        return url.startswith((to.url, "data:", "blob:"))

    yield open_page
    for each in reversed(opened):
        each.close()
    assert wrong == []
