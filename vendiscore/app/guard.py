"""What stands before the server: large requests and routes that the page does not use end here.

gradio limits single uploaded files only, and serves routes for other uses (recordings, proxies,
direct calls past the queue), some of which keep what they are sent.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException

from .limits import MAX_REQUEST, MAX_UPLOADS

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# All that a browser, gradio_client and MCP clients post to; every event is queued.
_POST = re.compile(
    r"^/gradio_api/(upload|queue/join|cancel|reset|mcp(/.*)?"
    r"|call/(v2/)?(text|images|molecules|vectors|compare))/?$"
)
_CLOSED = re.compile(r"^/(gradio_api/(proxy=|vibe|run-history|runs|profiling|dev/)|monitoring)")


class Guard:
    """ASGI middleware that answers 404 for unused routes and 413 for bodies beyond the limits."""

    def __init__(self, app: Callable[[Message, Receive, Send], Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, reading = scope["path"], scope["method"] in ("GET", "HEAD", "OPTIONS")
        # An MCP client ends its session by DELETE.
        if _CLOSED.match(path) or not (reading or _POST.match(path)):
            await _refuse(send, 404, "There is nothing here.")
            return
        limit = MAX_UPLOADS if path.startswith("/gradio_api/upload") else MAX_REQUEST
        started = False
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise _too_large(limit)
            return message

        async def noticed(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            if _length(scope) > limit:
                raise _too_large(limit)
            await self.app(scope, counted, noticed)
        except HTTPException as error:
            if not started:
                await _refuse(send, error.status_code, error.detail)


def _too_large(limit: int) -> HTTPException:
    # FastAPI lets an HTTPException through; any other, it takes for a body that cannot be parsed.
    text = f"A request may have up to {limit // 10**6} MB; send less at once."
    return HTTPException(413, text)


def _length(scope: Message) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def _refuse(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
