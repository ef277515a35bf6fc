"""A client of the running web app: calls the API, the MCP tools or the routes of the page.

It does not run the checks of the browser. `http` has the address of the page as its base URL.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import httpx

# Of bodies that are not sent by `json=`, which rejects NaN and half surrogates.
JSON_HEADERS = {"content-type": "application/json"}
MCP_HEADERS = {"accept": "application/json, text/event-stream"}  # as a client of MCP does
# Functions of the API, and their argument for the samples.
SAMPLE_ARGUMENTS = {
    "vendi_score_texts": "texts",
    "vendi_score_images": "images",
    "vendi_score_molecules": "smiles",
    "vendi_score_vectors": "rows",
    "vendi_compare": "sets",
    "compute": "samples",
}


class CallError(Exception):
    """The server rejected a call of the API, with this message."""


class RejectedRequestError(Exception):
    """The server rejected a request of the page: the status, and the problem that is shown."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(problem.get("text", ""))
        self.status, self.problem = status, problem


def call_api(http: httpx.Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Return the result of one call of the API."""
    answer = http.post(f"/api/{name}", content=json.dumps(arguments), headers=JSON_HEADERS)
    result: dict[str, Any] = answer.json()
    if answer.status_code != 200:
        raise CallError(result["error"])
    return result


def call_gradio(http: httpx.Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Return the result of one call as a client of gradio makes it."""
    started = http.post(
        f"/gradio_api/call/v2/{name}", content=json.dumps(arguments), headers=JSON_HEADERS
    )
    if started.status_code != 200:
        raise CallError(started.text)
    answer = http.get(f"/gradio_api/call/v2/{name}/{started.json()['event_id']}").text
    kind, body = [event for event in parse_events(answer) if event[0] in ("complete", "error")][-1]
    content = json.loads(body)
    if kind == "error":
        raise CallError(content["error"])
    result: dict[str, Any] = content[0]
    return result


def call_mcp(http: httpx.Client, method: str, **parameters: Any) -> httpx.Response:
    """Return the response to an MCP client."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    headers = MCP_HEADERS | JSON_HEADERS
    return http.post("/gradio_api/mcp/", content=json.dumps(body), headers=headers)


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
    """Upload samples; return their preview and key."""
    parts: list[tuple[str, Any]] = [
        ("options", (None, json.dumps(options))),
        ("text", (None, text)),
        *(("files", file) for file in files),
    ]
    return parse_response(http.post("/page/read", files=parts))


def post_to_route(http: httpx.Client, path: str, **body: Any) -> dict[str, Any]:
    """Return the answer of one of the page's routes."""
    return parse_response(http.post(f"/page/{path}", json=body))


def score_upload(http: httpx.Client, key: str, kernel: str, **settings: Any) -> Any:
    """Return the final result of uploaded samples."""
    return list(iter_messages(http, "score", key=key, kernel=kernel, **settings))[-1]["result"]


def upload_and_score(
    http: httpx.Client,
    kernel: str,
    text: str = "",
    files: Sequence[tuple[str, bytes]] = (),
    settings: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,
) -> dict[str, Any]:
    """Upload samples and return their result."""
    sent = upload_samples(http, text, files, **options)
    result: dict[str, Any] = score_upload(http, sent["key"], kernel, **settings)
    return result


def compare_uploads(http: httpx.Client, keys: dict[str, str], kernel: str, **settings: Any) -> Any:
    """Return the comparison of uploaded sets."""
    sets = [{"name": name, "key": key} for name, key in keys.items()]
    return list(iter_messages(http, "compare", sets=sets, kernel=kernel, **settings))[-1]["result"]


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
    blocks = [lines.split("\n", 1) for lines in text.strip().split("\n\n") if "\n" in lines]
    return [(a.removeprefix("event: "), b.removeprefix("data: ")) for a, b in blocks]
