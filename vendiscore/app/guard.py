"""What stands before the server: large requests and routes that the page does not use end here.

gradio limits single uploaded files only, and serves routes for other uses (recordings, proxies,
direct calls past the queue), some of which keep what they are sent. Where a file is named, in a
request or in an address, it also takes an address of the network, and fetches it whole before it
asks anybody; its MCP tools take any file that the server can read. So a file must be an upload
here, and `fetch_nothing` closes what is left for gradio to fetch with.
"""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, NoReturn

from starlette.exceptions import HTTPException

from .limits import MAX_REQUEST, MAX_STORED, MAX_UPLOADS, RefusedError
from .tidy import stored

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# All that a browser, gradio_client and MCP clients post to; every event is queued.
_POST = re.compile(
    r"^/gradio_api/(upload|queue/join|cancel|reset|mcp(/.*)?"
    r"|call/(v2/)?(text|images|molecules|vectors|compare))/?$"
)
_CLOSED = re.compile(
    r"^/(gradio_api/(proxy=|file/|vibe|run-history|runs|profiling|dev/|deep_link)|monitoring)"
)
_FILE = "/gradio_api/file="
_UPLOADED_ONLY = (
    "Upload files first and name them by the path that the upload answers; nothing else is read, "
    "and nothing is fetched from an address."
)
_BUSY = "Too many files are being uploaded at the moment; please try again in a few minutes."


class Guard:
    """ASGI middleware in front of gradio.

    It answers 404 for unused routes and files that nobody uploaded, 400 for requests that name
    such files, 413 for bodies beyond the limits, and 503 while the uploads of all visitors
    together are beyond theirs.
    """

    def __init__(self, app: Callable[[Message, Receive, Send], Awaitable[None]]) -> None:
        self.app = app
        self._arriving = 0  # bytes that the uploads under way may come to

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, reading = scope["path"], scope["method"] in ("GET", "HEAD", "OPTIONS")
        # An MCP client ends its session by DELETE.
        closed = _CLOSED.match(path) or not (reading or _POST.match(path))
        if closed or (path.startswith(_FILE) and not _is_upload(path.removeprefix(_FILE))):
            await _refuse(send, 404, "There is nothing here.")
            return
        started = False

        async def noticed(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            if path.startswith("/gradio_api/upload") and not reading:
                await self._upload(scope, receive, noticed)
            else:
                await self.app(scope, await _checked(scope, receive), noticed)
        except HTTPException as error:
            if not started:
                await _refuse(send, error.status_code, error.detail)

    async def _upload(self, scope: Message, receive: Receive, send: Send) -> None:
        expected = _length(scope, MAX_UPLOADS) or MAX_UPLOADS
        if stored(uploads()) + self._arriving + expected > MAX_STORED:
            raise HTTPException(503, _BUSY)
        self._arriving += expected
        try:
            await self.app(scope, _counted(receive, MAX_UPLOADS), send)
        finally:
            self._arriving -= expected


def fetch_nothing() -> None:
    """Take from gradio what it fetches addresses of visitors with.

    All that it fetches for others goes through these two functions, which it looks up anew.
    """
    client = importlib.import_module("safehttpx")
    for name in ("get", "async_validate_url"):
        if not hasattr(client, name):
            raise AttributeError(f"safehttpx.{name} is gone: see what gradio fetches with now.")
        setattr(client, name, _fetch)


def uploads() -> Path:
    """The folder that gradio keeps uploads in."""
    return Path(os.environ["GRADIO_TEMP_DIR"])


async def _fetch(*_: Any, **__: Any) -> NoReturn:
    raise RefusedError(_UPLOADED_ONLY)


async def _checked(scope: Message, receive: Receive) -> Receive:
    """What gives the body that `receive` gives, once it names no file but uploads."""
    _length(scope, MAX_REQUEST)
    receive = _counted(receive, MAX_REQUEST)
    if scope["method"] != "POST":
        return receive
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return receive
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if body and not all(map(_is_upload, _files(body))):
        raise HTTPException(400, _UPLOADED_ONLY)
    whole = {"type": "http.request", "body": bytes(body), "more_body": False}
    waiting = [whole]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _files(body: bytearray) -> list[Any]:
    """The paths of all that gradio takes for a file, and of a little more."""
    try:
        left = [json.loads(body)]
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body must be JSON.") from None
    found = []
    while left:
        value = left.pop()
        if isinstance(value, dict):
            if "path" in value and "meta" in value:
                found.append(value["path"])
            value = value.values()
        left.extend(part for part in value if isinstance(part, dict | list))
    return found


def _is_upload(path: Any) -> bool:
    try:
        return Path(os.path.realpath(path)).is_relative_to(uploads().resolve())
    except (TypeError, ValueError):  # no text, or with a null character
        return False


def _counted(receive: Receive, limit: int) -> Receive:
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > limit:
            raise _too_large(limit)
        return message

    return counted


def _too_large(limit: int) -> HTTPException:
    # FastAPI lets an HTTPException through; any other, it takes for a body that cannot be parsed.
    text = f"A request may have up to {limit // 10**6} MB; send less at once."
    return HTTPException(413, text)


def _length(scope: Message, limit: int) -> int:
    """The length that a request says it has, if it says one; never beyond the limit."""
    said = dict(scope["headers"]).get(b"content-length", b"")
    length = int(said) if said.isdigit() else 0
    if length > limit:
        raise _too_large(limit)
    return length


async def _refuse(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
