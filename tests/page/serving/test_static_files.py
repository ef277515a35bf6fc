"""Static files are compressed and cached, have security headers, and no other file is served."""

import gzip

import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
starlette = pytest.importorskip("starlette.applications")
testing = pytest.importorskip("starlette.testclient")
from starlette.middleware import Middleware  # noqa: E402

from vendiscore_page.serving import endpoints, server  # noqa: E402
from vendiscore_page.serving.guard import Guard  # noqa: E402
from vendiscore_page.serving.lanes import Lanes  # noqa: E402
from vendiscore_page.serving.static_files import Files  # noqa: E402
from vendiscore_page.serving.store import Store  # noqa: E402

SOURCE = """/** A module. */

import { el as make } from "./dom.js";

/**
 * Adds.
 * @param {number} a
 */
export function add(a) {
  /** @type {number[]} */
  const list = [a, make]; // one
  /** @type {Text} */ (list.node).data = "/** kept */";
  return list;
}
"""
BUNDLE = """const $0 = (() => {
export const el = 1;
return { el };
})();
const $1 = (() => {

const { el: make } = $0;

export function add(a) {
  const list = [a, make]; // one
  /** @type {Text} */ (list.node).data = "/** kept */";
  return list;
}
return { add };
})();
""".replace("export ", "")


@pytest.fixture
def http(tmp_path, monkeypatch):
    """A client of a server with only the routes of the page and a few files."""
    (tmp_path / "index.html").write_text(
        '<head><script src="page/page.js"></script><link href="page/page.css"></head>'
        '<a href="page/menu">'
    )
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "add.js").write_text(SOURCE.replace("./dom", "../dom"))
    (tmp_path / "dom.js").write_text("export const el = 1;\n")
    (tmp_path / "deeper" / "a.css").write_text("a {}\n" + " " * 1000)
    (tmp_path / "base.css").write_text("b {}\n")
    (tmp_path / "secret.py").write_text("no")
    monkeypatch.setattr(server, "Files", lambda: Files(tmp_path))
    routes = endpoints.Routes(Lanes(), Store()).build_routes()
    application = starlette.Starlette(routes=routes, middleware=[Middleware(Guard)])
    page = server.build()
    page._application = application
    page._is_loaded.set()
    with testing.TestClient(page.app) as http:
        yield http


def test_index_links_versioned_files(http):
    index = http.get("/")
    result = index.text
    version = result.split("page/")[1].split("/")[0]
    assert f'<script src="page/{version}/page.js"></script>' in result
    assert f'<link href="page/{version}/page.css">' in result
    assert '<a href="page/menu">' in result
    assert index.headers["cache-control"] == "no-cache"
    script = http.get(f"/page/{version}/page.js")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert http.get("/page/older/page.js").headers["cache-control"] == "no-cache"
    assert http.get("/page/page.js").text == script.text
    assert http.head("/").status_code == 200


def test_script_omits_type_comments(http):
    assert http.get("/page/page.js").text == BUNDLE


def test_stylesheet_starts_with_base_rules(http):
    assert http.get("/page/page.css").text.startswith("b {}\na {}\n")


def test_files_are_compressed_and_cached_by_etag(http):
    with http.stream("GET", "/page/page.css") as stream:
        raw = b"".join(stream.iter_raw())
    assert len(raw) < 100
    assert len(gzip.decompress(raw)) > 1000
    tag = stream.headers["etag"]
    for cached_tag in (tag, f"W/{tag}", f'"a", {tag}'):
        response = http.get("/page/page.css", headers={"if-none-match": cached_tag})
        assert (response.status_code, response.content) == (304, b"")
    assert http.get("/page/page.css", headers={"if-none-match": '"a"'}).status_code == 200
    plain = http.get("/page/page.css", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers


def test_unlisted_static_files_return_not_found(http):
    other_paths = ("secret.py", "../secret.py", "%2e%2e/secret.py", "a/b/page.js", "nothing.js", "")
    for path in ("dom.js", *other_paths):
        assert http.get(f"/page/{path}").status_code == 404, path


def test_responses_have_security_headers(http):
    for answer in (
        http.get("/"),
        http.get("/page/page.js"),
        http.get("/page/older/nothing.js"),
        http.post("/page/score", json={"key": "gone"}),
        http.post("/page/read", json={}),
    ):
        policy = answer.headers["content-security-policy"]
        script = answer.url.path.endswith("page.js")  # a script has a stricter policy
        assert policy.startswith("default-src 'none'" if script else "default-src 'self'; ")
        assert "unsafe-eval" not in policy
        assert "frame-ancestors" not in policy  # the Hub shows Spaces in a frame
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_cross_site_requests_are_rejected(http):
    for site, status in (("cross-site", 403), ("same-origin", 410), ("none", 410)):
        answer = http.post("/page/groups", json={}, headers={"sec-fetch-site": site})
        assert answer.status_code == status
