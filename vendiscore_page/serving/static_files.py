"""Files of the page itself, below a folder named by a digest of all, for browsers to keep."""

import gzip
import re
from hashlib import blake2b
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from .script_bundle import bundle_modules

STATIC = Path(__file__).parents[1] / "static"
INDEX, SCRIPT, STYLE = "index.html", "page.js", "page.css"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
        "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_FILE_LINK = re.compile(r'(?<=["\'])page/([\w.-]+\.(?:css|js|json|svg))(?=["\'])')
# Types and explanations of a script, in lines of their own, which no browser needs.
_COMMENT = re.compile(r"^ */\*\*(?:(?!\*/).)*\*/\n", re.DOTALL | re.MULTILINE)
# A script or a style sheet has nothing to load, whatever opens it.
_NO_RESOURCES = {"Content-Security-Policy": "default-src 'none'"}
_FOREVER = "public, max-age=31536000, immutable"


class Files:
    """The page's document, script, style sheet and data, and one version of all together."""

    def __init__(self, folder: Path = STATIC) -> None:
        scripts, sheets = _read_texts(folder, ".js"), _read_texts(folder, ".css")
        modules = {name: _COMMENT.sub("", text) for name, text in scripts.items()}
        # Rules of the whole page stand at the top of the folder, and come first.
        ordered = sorted(sheets, key=lambda name: name.count("/"))
        files = {SCRIPT: bundle_modules(modules), STYLE: "".join(map(sheets.__getitem__, ordered))}
        for suffix in (".html", ".json", ".svg"):
            files |= _read_texts(folder, suffix)
        self.version: str = _compute_digest(repr(files).encode())
        self._files = {}
        for name, text in files.items():
            linked = _FILE_LINK.sub(rf"page/{self.version}/\1", text) if name == INDEX else text
            body = linked.encode()
            etag = f'"{_compute_digest(body)}"'
            headers = {**HEADERS, "ETag": etag, "Vary": "Accept-Encoding"}
            headers["Content-Type"] = _CONTENT_TYPES[Path(name).suffix]
            headers |= _NO_RESOURCES if name.endswith((".css", ".js")) else {}
            self._files[name] = body, gzip.compress(body), etag, headers

    @property
    def names(self) -> list[str]:
        return list(self._files)

    def respond(self, request: Request, name: str, version: str = "") -> Response:
        """Send a file; a browser need not ask again for one of this version."""
        if name not in self._files:
            return Response("This address does not exist.", 404, HEADERS, "text/plain")
        body, compressed, etag, headers = self._files[name]
        headers = {**headers, "Cache-Control": _FOREVER if version == self.version else "no-cache"}
        # A proxy that compresses anew makes a weak tag of it.
        known_tags = request.headers.get("if-none-match", "").split(",")
        if etag in (tag.strip().removeprefix("W/") for tag in known_tags):
            return Response(b"", 304, headers)
        if accepts_gzip(request):
            return Response(compressed, 200, {**headers, "Content-Encoding": "gzip"})
        return Response(body, 200, headers)


def accepts_gzip(request: Request) -> bool:
    return "gzip" in request.headers.get("accept-encoding", "")


def _read_texts(folder: Path, suffix: str) -> dict[str, str]:
    """Read the files of a folder that have a suffix, by their paths in it."""
    paths = sorted(folder.rglob(f"*{suffix}"))
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}


def _compute_digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
