"""A visitor of the running page without a browser: calls the API, or asks the routes of the page.

Checks of a browser before it sends something are left out. `http` is at the address of the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import httpx

MCP_HEADERS = {"accept": "application/json, text/event-stream"}  # as a client of MCP does
# The functions of the API, and the argument of each that holds the samples.
SAMPLE_ARGUMENTS = {
    "vendi_score_texts": "texts",
    "vendi_score_images": "images",
    "vendi_score_molecules": "smiles",
    "vendi_score_vectors": "rows",
    "vendi_compare": "sets",
}


class CallError(Exception):
    """The server refused a call of the API; clients get this message."""


class RejectedRequestError(Exception):
    """The server refused what the page asked: the status, and the problem that is shown."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(problem.get("text", ""))
        self.status, self.problem = status, problem


def call_api(http: httpx.Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Return the result of one call of the API."""
    started = http.post(f"/gradio_api/call/v2/{name}", json=arguments)
    if started.status_code != 200:
        raise CallError(started.text)
    answer = http.get(f"/gradio_api/call/v2/{name}/{started.json()['event_id']}").text
    kind, body = [event for event in parse_events(answer) if event[0] in ("complete", "error")][-1]
    found = json.loads(body)
    if kind == "error":
        raise CallError(found["error"])
    result: dict[str, Any] = found[0]
    return result


def call_mcp(http: httpx.Client, method: str, **parameters: Any) -> httpx.Response:
    """Return what a client of MCP is answered."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    return http.post("/gradio_api/mcp/", json=body, headers=MCP_HEADERS)


def call_mcp_tool(http: httpx.Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Return the result of a tool of MCP."""
    answer = call_mcp(http, "tools/call", name=name, arguments=arguments)
    result: dict[str, Any] = json.loads(parse_events(answer.text)[0][1])["result"]
    return result


def upload_samples(
    http: httpx.Client,
    text: str = "",
    files: Sequence[tuple[str, bytes]] = (),
    **options: Any,
) -> dict[str, Any]:
    """Return what the page shows of samples as soon as they are there, with the key of them."""
    parts: list[tuple[str, Any]] = [
        ("options", (None, json.dumps(options))),
        ("text", (None, text)),
        *(("files", file) for file in files),
    ]
    return parse_response(http.post("/page/read", files=parts))


def post_to_route(http: httpx.Client, path: str, **body: Any) -> dict[str, Any]:
    """Return the answer of one of the page's routes."""
    return parse_response(http.post(f"/page/{path}", json=body))


def score_upload(http: httpx.Client, key: str, kernel: str, **more: Any) -> Any:
    """Return the result of samples in the end."""
    return list(iter_messages(http, "score", key=key, kernel=kernel, **more))[-1]["result"]


def upload_and_score(
    http: httpx.Client,
    kernel: str,
    text: str = "",
    files: Sequence[tuple[str, bytes]] = (),
    settings: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,
) -> dict[str, Any]:
    """Return the result of samples that are sent first, as the page does."""
    sent = upload_samples(http, text, files, **options)
    result: dict[str, Any] = score_upload(http, sent["key"], kernel, **settings)
    return result


def compare_uploads(http: httpx.Client, keys: dict[str, str], kernel: str, **more: Any) -> Any:
    """Return the comparison of sets by name."""
    sets = [{"name": name, "key": key} for name, key in keys.items()]
    return list(iter_messages(http, "compare", sets=sets, kernel=kernel, **more))[-1]["result"]


def iter_messages(http: httpx.Client, path: str, **body: Any) -> Iterator[dict[str, Any]]:
    """Yield the messages of a call line by line: {"said": …}, then {"result": …}."""
    with http.stream("POST", f"/page/{path}", json=body) as stream:
        if stream.status_code != 200:
            stream.read()
            parse_response(stream)
        for line in stream.iter_lines():
            result = json.loads(line) if line.strip() else {}
            if "problem" in result:
                raise RejectedRequestError(200, result["problem"])
            if result:
                yield result


def parse_response(response: httpx.Response) -> dict[str, Any]:
    result: dict[str, Any] = response.json()
    if response.status_code != 200:
        raise RejectedRequestError(response.status_code, result.get("problem", {}))
    return result


def parse_events(text: str) -> list[tuple[str, str]]:
    """Return the (name, data) of server-sent events."""
    parts = [part.split("\n", 1) for part in text.strip().split("\n\n") if "\n" in part]
    return [(a.removeprefix("event: "), b.removeprefix("data: ")) for a, b in parts]
