"""A visitor of the running page without a browser: calls the API, or presses the button of a tab.

What a browser checks before it sends something is left out.
"""

from __future__ import annotations

import base64
import json
import re
import time
from typing import Any

import httpx

# The inputs of what the Score button of each tab runs, by which it is found.
TABS = {
    "text": ["textbox", "file", *["dropdown"] * 2, "checkboxgroup", "radio", *["slider"] * 2,
             "dropdown", *["checkbox"] * 2, "dropdown", "textbox"],
    "images": ["gallery", "file", "dropdown", *["slider"] * 2, "checkbox", "textbox"],
    "molecules": ["textbox", "file", *["dropdown"] * 2, *["slider"] * 2, "checkbox", "textbox"],
    "vectors": ["textbox", "file", "dropdown", "number", *["slider"] * 2, "checkbox", "textbox"],
    "compare": ["radio", "dropdown", *["textbox"] * 3, *["file"] * 3, *["slider"] * 2,
                *["dropdown"] * 2, "checkbox", *["textbox"] * 3],
}  # fmt: skip
# What stands in the last of them at first: a separator, nothing to leave out, no groups, boxes that
# count.
_AT_FIRST = {
    "text": ["a new line", False, False, None, "box"],
    "images": [False, "box"],
    "molecules": [False, "box"],
    "vectors": [False, "box"],
    "compare": [None, "a new line", False, *["box"] * 3],
}


class CallError(Exception):
    """The server refused a call; the message is what clients are told."""


def call(http: httpx.Client, name: str, data: list[Any]) -> dict[str, Any]:
    """The result of one call of the API. `http` is at <address of the page>/gradio_api."""
    started = http.post(f"/call/{name}", json={"data": data})
    if started.status_code != 200:
        raise CallError(started.text)
    answer = http.get(f"/call/{name}/{started.json()['event_id']}").text
    kind, body = [event for event in events(answer) if event[0] in ("complete", "error")][-1]
    found = json.loads(body)
    if kind == "error":
        raise CallError(found["error"])
    result: dict[str, Any] = found[0]
    return result


def press(http: httpx.Client, tab: str, data: list[Any]) -> str:
    """The HTML that a tab shows in the end, or the message of an error.

    What is missing of the data at its end is as at first.
    """
    missing = len(TABS[tab]) - len(data)
    data = [*data, *(_AT_FIRST[tab][-missing:] if missing else [])]
    session = f"s{time.perf_counter_ns()}"
    joined = http.post(
        "/queue/join",
        json={"data": data, "fn_index": _handler(http, tab), "session_hash": session},
    )
    if joined.status_code != 200:
        raise CallError(joined.text)
    shown = ""
    with http.stream("GET", "/queue/data", params={"session_hash": session}) as stream:
        for line in stream.iter_lines():
            message = json.loads(line.removeprefix("data: ")) if line else {}
            output = message.get("output") or {}
            shown = (output.get("data") or [output.get("error") or shown])[0] or shown
            if message.get("msg") in ("process_completed", "close_stream"):
                break
    return str(shown)


def upload(http: httpx.Client, files: list[tuple[str, bytes]]) -> list[dict[str, Any]]:
    """Send files of these names; what stands for them when a button is pressed."""
    sent = http.post("/upload", files=[("files", file) for file in files])
    if sent.status_code != 200:
        raise CallError(sent.text)
    return [{"path": path, "meta": {"_type": "gradio.FileData"}} for path in sent.json()]


def everything(page: str) -> dict[str, Any]:
    """The JSON that a tab offers to download."""
    found = re.search('application/json;base64,([^"]+)"', page)
    if not found:
        raise CallError(re.sub(r"<[^>]+>", " ", page)[:300])
    result: dict[str, Any] = json.loads(base64.b64decode(found.group(1)))
    return result


def score(page: str) -> float:
    """The score that a tab shows, to six digits."""
    found = re.search(r"VS = ([\d.]+)", page)
    if not found:
        raise CallError(re.sub(r"<[^>]+>", " ", page)[:300])
    return float(found.group(1))


def events(text: str) -> list[tuple[str, str]]:
    """The (name, data) of server-sent events."""
    parts = [part.split("\n", 1) for part in text.strip().split("\n\n") if "\n" in part]
    return [(a.removeprefix("event: "), b.removeprefix("data: ")) for a, b in parts]


def _handler(http: httpx.Client, tab: str) -> int:
    address = str(http.base_url).replace("/gradio_api", "")
    if address not in _configs:
        _configs[address] = http.get(address + "config").json()
    config = _configs[address]
    types = {component["id"]: component["type"] for component in config["components"]}
    found = [
        handler["id"]
        for handler in config["dependencies"]
        if [types[i] for i in handler["inputs"]] == TABS[tab] and len(handler["outputs"]) == 2
    ]
    return int(found[0])


_configs: dict[str, Any] = {}
