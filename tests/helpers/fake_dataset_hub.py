"""A fake Hugging Face Hub on 127.0.0.1 that serves parquet files of data sets."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Files = dict[str, dict[str, list[bytes]]]  # by configuration and split


class FakeDatasetHub:
    """`with FakeDatasetHub({"me/stories": files}) as hub` serves parquet files at `hub.url`.

    `sets` maps the name of each data set to its files. `responses` maps names of data sets to the
    status and body of the response to every request for that name. `hub.requested_paths` contains
    the paths of the requests.
    """

    def __init__(
        self,
        sets: dict[str, Files],
        responses: dict[str, tuple[int, bytes]] | None = None,
    ) -> None:
        self.sets, self.responses = sets, responses or {}
        self.requested_paths: list[str] = []

    def __enter__(self) -> FakeDatasetHub:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.requested_paths.append(self.path)
                status, body, extra = hub.respond(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                for name, value in extra.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def respond(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        """Return the status, body and headers of the response for a path."""
        name, _, file_path = path.removeprefix("/api/datasets/").partition("/parquet")
        if name in self.responses:
            status, body = self.responses[name]
            return status, body, {}
        if name not in self.sets:
            return 401, b'{"error": "Repository not found"}', {}
        base = f"{self.url}/api/datasets/{name}/parquet"
        files = {
            f"/{config}/{split}/{i}.parquet": data
            for config, splits in self.sets[name].items()
            for split, shards in splits.items()
            for i, data in enumerate(shards)
        }
        if not file_path:
            listed = {
                config: {
                    split: [f"{base}/{config}/{split}/{i}.parquet" for i in range(len(shards))]
                    for split, shards in splits.items()
                }
                for config, splits in self.sets[name].items()
            }
            return 200, json.dumps(listed).encode(), {"Content-Type": "application/json"}
        if file_path not in files:
            return 404, b"", {}
        return 200, files[file_path], {}
