"""A fake Hugging Face Hub on 127.0.0.1 that serves one Space or model in one or more revisions."""

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


class FakeHub:
    """`with FakeHub(space, main=files) as hub` serves at `hub.url` and records `hub.requests`."""

    files, api = "/spaces/", "/api/spaces/"
    unknown = "/api/models/nobody"  # an owner of nothing

    def __init__(self, space: str, **revisions: dict[str, bytes]) -> None:
        self.space = space
        self.revisions = revisions | {_commit_hash(name): revisions[name] for name in revisions}
        self.requests: list[str] = []

    def __enter__(self) -> "FakeHub":
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self.send_file(head=True)

            def do_GET(self) -> None:
                self.send_file(head=False)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                hub.requests.append(f"POST {self.path}")
                answer = json.dumps(hub.receive(self.path, body)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def send_file(self, head: bool) -> None:
                hub.requests.append(f"{self.command} {self.path}")
                status, body, extra = hub.respond(unquote(self.path.partition("?")[0]))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                for name, value in extra.items():
                    self.send_header(name, value)
                self.end_headers()
                if not head:
                    self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def receive(self, path: str, body: bytes) -> dict[str, object]:
        """Apply a commit: each line contains a new file or a file to delete."""
        address = f"{self.url}{self.files}{self.space}"
        if path.endswith("/preupload/main"):
            names = [{"path": file["path"]} for file in json.loads(body)["files"]]
            regular = {"uploadMode": "regular", "shouldIgnore": False, "oid": None}
            return {"files": [name | regular for name in names]}
        if path.endswith("/commit/main"):
            files = self.revisions["main"]
            for line in map(json.loads, body.splitlines()):
                value = line["value"]
                if line["key"] == "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                elif line["key"] == "deletedFile":
                    del files[value["path"]]
            return {
                "commitUrl": f"{address}/commit/{_commit_hash('main')}",
                "commitOid": _commit_hash("main"),
            }
        return {"url": address, "warnings": [], "errors": []}

    def respond(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        """Return the status, body and headers of the response for a path."""
        error_code = "RepoNotFound" if path.startswith(f"{self.unknown}/") else "EntryNotFound"
        missing = (404, b"{}", {"X-Error-Code": error_code, "Content-Type": "application/json"})
        for revision, files in self.revisions.items():
            commit = revision if len(revision) == 40 else _commit_hash(revision)
            prefix = f"{self.files}{self.space}/resolve/{revision}/"
            if path.startswith(prefix):
                body = files.get(path.removeprefix(prefix))
                if body is None:
                    # The client records with the commit that a file does not exist.
                    return missing[0], missing[1], {**missing[2], "X-Repo-Commit": commit}
                etag = hashlib.sha1(body).hexdigest()
                return 200, body, {"ETag": f'"{etag}"', "X-Repo-Commit": commit}
            api = f"{self.api}{self.space}"
            api_paths = (f"{api}/revision/{revision}", f"{api}/tree/{revision}")
            if path in (*api_paths, api):
                tree = [
                    {
                        "type": "file",
                        "path": name,
                        "size": len(body),
                        "oid": hashlib.sha1(body).hexdigest(),
                    }
                    for name, body in files.items()
                ]
                info = {
                    "id": self.space,
                    "sha": commit,
                    "siblings": [{"rfilename": f["path"], "size": f["size"]} for f in tree],
                }
                answer = json.dumps(tree if "/tree/" in path else info).encode()
                return 200, answer, {"Content-Type": "application/json"}
        return missing


class FakeModelHub(FakeHub):
    """A fake Hub with one model instead of a Space."""

    files, api = "/", "/api/models/"


def _commit_hash(revision: str) -> str:
    return hashlib.sha1(revision.encode()).hexdigest()


def read_checkout(root: Path) -> dict[str, bytes]:
    """Return the files that the Space of this checkout contains."""
    files = [root / name for name in ("vendiscore.py", "library.py", "README.md")]
    files += [
        *(root / "vendiscore").rglob("*.py"),
        *(root / "vendiscore").rglob("*.json"),
        *(root / "kernels").iterdir(),
    ]
    return {str(file.relative_to(root)): file.read_bytes() for file in files if file.is_file()}
