"""The menu of versions of the documentation opens the same page of another version."""

import functools
import json
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser_actions import expect

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEMPLATE = (DOCS / "templates" / "sidebar" / "variant-selector.html").read_text(encoding="utf-8")


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a folder and records the requested paths."""

    def log_request(self, code: object = "-", size: object = "-") -> None:
        self.server.requested.append(self.path)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    handler = functools.partial(QuietHandler, directory=tmp_path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.requested = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def write_site(folder: Path, site: str, pages: dict[str, list[str]]) -> None:
    """Write pages with the menu of the template, by version, and the list of versions."""
    jinja2 = pytest.importorskip("jinja2")
    script = (DOCS / "static" / "versions.js").read_text(encoding="utf-8")
    for version, names in pages.items():
        menu = jinja2.Template(TEMPLATE).render(documentation_address=site, release=version)
        for name in names:
            path = folder / version / name
            path.parent.mkdir(parents=True, exist_ok=True)
            html = f"<!doctype html><title>{version} {name}</title><link rel=icon href=data:>"
            path.write_text(f"{html}{menu}<script>{script}</script>", encoding="utf-8")
    (folder / "versions.json").write_text(json.dumps(list(pages)), encoding="utf-8")


PAGES = {"0.6.0": ["index.html", "tasks/large.html"], "dev": ["index.html", "tasks/large.html"]}
PAGES["0.5.0"] = ["index.html"]


def test_menu_opens_same_page_of_other_version_if_it_exists(browser, server, tmp_path):
    site = f"http://127.0.0.1:{server.server_port}/docs"
    write_site(tmp_path / "docs", site, PAGES)
    page = browser.new_page()
    page.goto(f"{site}/dev/tasks/large.html?q=1#part")
    expect(page.locator("summary")).to_have_text("Version dev")
    page.locator("summary").click()
    expect(page.locator(".versions li")).to_have_text(list(PAGES))
    expect(page.locator("[aria-current]")).to_have_text("dev")
    page.get_by_role("link", name="0.6.0").click()
    page.wait_for_url(f"{site}/0.6.0/tasks/large.html#part")
    page.locator("summary").click()
    page.get_by_role("link", name="0.5.0").click()  # it has no such page
    page.wait_for_url(f"{site}/0.5.0/")
    expect(page).to_have_title("0.5.0 index.html")
    page.close()


def test_copy_at_other_address_has_no_menu_and_sends_no_request(browser, server, tmp_path):
    write_site(tmp_path / "docs", f"http://localhost:{server.server_port}/docs", PAGES)
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.server_port}/docs/dev/index.html")
    page.wait_for_load_state("networkidle")
    expect(page.locator("details.versions")).to_be_hidden()
    assert server.requested == ["/docs/dev/index.html"]
    page.close()


def test_menu_is_hidden_without_list_of_versions(browser, server, tmp_path):
    site = f"http://127.0.0.1:{server.server_port}/docs"
    write_site(tmp_path / "docs", site, PAGES)
    (tmp_path / "docs" / "versions.json").unlink()
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(f"{site}/dev/index.html")
    page.wait_for_load_state("networkidle")
    expect(page.locator("details.versions")).to_be_hidden()
    assert errors == []
    page.close()
