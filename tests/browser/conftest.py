"""Fixtures that open the web app in Chromium and fail on errors in the page."""

import os
import re
import shutil

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
SWITCHES = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update"
)
# Chromium logs this message for rejected requests, which the page handles.
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
    """A browser context for all pages without special options.

    Keeping it open saves the start of a process per page. Each tab has its own session storage,
    so that pages do not share state.
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
    """A function that opens the page; after the test, check for errors and external requests."""
    from browser_actions import expect

    opened, problems = [], []

    def open_page(
        width: int = 1280, height: int = 720, *, fragment: str = "", app=server, **options
    ):
        context = window
        if options or app is not server:
            context = new_window(browser, app, **options)
            opened.append(context)
        page = context.new_page()
        opened.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda line: is_problem(line) and problems.append(line.text))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: is_local_request(request.url, app) or problems.append(request.url),
        )
        page.goto(f"{app.url}/{fragment}")
        expect(page.locator("#kernels input[type=radio]").first).to_be_visible()
        return page

    def is_problem(line) -> bool:
        return line.type in ("error", "warning") and not REFUSED.match(line.text)

    def is_local_request(url: str, app) -> bool:
        return url.startswith((app.url, "data:", "blob:"))

    yield open_page
    for page_or_context in reversed(opened):
        page_or_context.close()
    assert problems == []
