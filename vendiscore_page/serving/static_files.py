"""Files of the page itself, below a folder named by a digest of all, for browsers to keep."""

import gzip
import re
from hashlib import blake2b
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from .wire import HEADERS, takes_gzip

STATIC = Path(__file__).parents[1] / "static"
INDEX = "index.html"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_NAMED = re.compile(rb'(?<=["\'])/?page/([\w./-]+\.(?:css|js|svg))(?:\?[^"\']*)?(?=["\'])')
# Types and explanations of a script, in lines of their own, which no browser needs.
_COMMENT = re.compile(rb"^ */\*\*(?:(?!\*/).)*\*/\n", re.DOTALL | re.MULTILINE)
# A script or a style sheet has nothing to load, whatever opens it.
_NOTHING = {"Content-Security-Policy": "default-src 'none'"}
_FOREVER = "public, max-age=31536000, immutable"


class Files:
    """The files of a folder, by their paths in it, and one version of all together."""

    def __init__(self, folder: Path = STATIC) -> None:
        paths = (path for path in sorted(folder.rglob("*")) if path.suffix in _KINDS)
        bodies = {path.relative_to(folder).as_posix(): _read(path) for path in paths}
        self.version: str = _digest(repr(bodies).encode())
        if INDEX in bodies:
            below = f"page/{self.version}/"
            named = _NAMED.sub(rf"{below}\1".encode(), bodies[INDEX])
            # All modules are asked for at once, not each when another is found to import it.
            modules = (name for name in bodies if name.endswith(".js"))
            links = [f'<link rel="modulepreload" href="{below}{name}">' for name in modules]
            bodies[INDEX] = named.replace(b"</head>", "\n".join([*links, "</head>"]).encode(), 1)
        self._files = {}
        for name, body in bodies.items():
            etag = f'"{_digest(body)}"'
            headers = {**HEADERS, "ETag": etag, "Vary": "Accept-Encoding"}
            headers["Content-Type"] = _KINDS[Path(name).suffix]
            headers |= _NOTHING if name.endswith((".css", ".js")) else {}
            self._files[name] = body, gzip.compress(body), etag, headers

    def response(self, request: Request, name: str, version: str = "") -> Response:
        """Send a file; a browser need not ask again for one of this version."""
        if name not in self._files:
            return Response("This address does not exist.", 404, HEADERS, "text/plain")
        body, small, etag, headers = self._files[name]
        headers = {**headers, "Cache-Control": _FOREVER if version == self.version else "no-cache"}
        # A proxy that compresses anew makes a weak tag of it.
        known = request.headers.get("if-none-match", "").split(",")
        if etag in (tag.strip().removeprefix("W/") for tag in known):
            return Response(b"", 304, headers)
        if takes_gzip(request):
            return Response(small, 200, {**headers, "Content-Encoding": "gzip"})
        return Response(body, 200, headers)


def _read(path: Path) -> bytes:
    body = path.read_bytes()
    return _COMMENT.sub(b"", body) if path.suffix == ".js" else body


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
