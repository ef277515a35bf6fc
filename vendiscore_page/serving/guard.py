"""Guard the server: refuse large requests and requests of other sites, with a message."""

import asyncio
import contextlib

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..quotas import MAX_CONCURRENT_UPLOADS, MAX_PAGE_REQUEST, MAX_REQUEST, MAX_UPLOADS
from .static_files import HEADERS

# How much of the rest of a refused request is read, and for how long. A client that still sends
# when the connection is closed may lose the message.
_MAX_READ_BYTES, _MAX_READING_SECONDS = 256_000_000, 4.0
_BUSY_MESSAGE = "Too many files are being uploaded at the moment; try again in a few minutes."


class Guard:
    """ASGI middleware in front of all routes, which refuses by the status of the HTTPException."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._uploaded = 0  # bytes of the uploads under way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = ended = False

        async def receive_message() -> Message:
            nonlocal ended
            message = await receive()
            ended = not message.get("more_body", False)  # also if the client has left
            return message

        async def send_message(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._check_and_forward(scope, receive_message, send_message)
        except HTTPException as error:
            if not started:
                remaining = 0 if ended else _MAX_READ_BYTES
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_MAX_READING_SECONDS):
                        while remaining > 0:
                            message = await receive_message()
                            size = max(1, len(message.get("body", b"")))
                            remaining = 0 if ended else remaining - size
                            await asyncio.sleep(0)  # also lets the time end
                refusal = make_refusal(scope["path"], error)
                refusal.headers["connection"] = "close"  # the body may not have ended
                await refusal(scope, receive, send)

    async def _check_and_forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, is_post = scope["path"], scope["method"] == "POST"
        if not path.startswith("/page/"):
            await self.app(scope, _limit(scope, receive, MAX_REQUEST), send)
        elif is_post and Headers(scope=scope).get("sec-fetch-site") == "cross-site":
            raise HTTPException(403, "Requests from other sites must use the API.")
        elif is_post and path == "/page/read":
            await self._upload(scope, receive, send)
        else:
            await self.app(scope, _limit(scope, receive, MAX_PAGE_REQUEST), send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        limited, n_bytes = _limit(scope, receive, MAX_UPLOADS), 0
        if self._uploaded + _declared_length(scope) > MAX_CONCURRENT_UPLOADS:
            raise HTTPException(503, _BUSY_MESSAGE)

        async def receive_message() -> Message:
            nonlocal n_bytes
            message = await limited()
            size = len(message.get("body", b""))
            n_bytes += size
            self._uploaded += size
            # Bytes that others only announced do not count: they may never send them.
            if self._uploaded > MAX_CONCURRENT_UPLOADS:
                raise HTTPException(503, _BUSY_MESSAGE)
            return message

        try:
            await self.app(scope, receive_message, send)
        finally:
            self._uploaded -= n_bytes


def make_refusal(path: str, error: HTTPException) -> Response:
    """Return the response to a request that is refused, in the form that the path has."""
    if path.startswith("/page/"):
        return JSONResponse({"problem": {"text": error.detail}}, error.status_code, HEADERS)
    if path.startswith("/api/"):
        return JSONResponse({"error": error.detail}, error.status_code, HEADERS)
    return PlainTextResponse(error.detail, error.status_code, HEADERS)


def replay(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that has been read, and then the messages of `receive`."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_message() -> Message:
        return messages.pop() if messages else await receive()

    return receive_message


def _limit(scope: Scope, receive: Receive, limit: int) -> Receive:
    """Return what gives a body up to a limit, unless its declared length is beyond it."""
    error = HTTPException(413, f"A request may have up to {limit // 10**6} MB; send fewer samples.")
    if _declared_length(scope) > limit:
        raise error
    n_read = 0

    async def receive_message() -> Message:
        nonlocal n_read
        message = await receive()
        n_read += len(message.get("body", b""))
        if n_read > limit:
            raise error
        return message

    return receive_message


def _declared_length(scope: Scope) -> int:
    value = Headers(scope=scope).get("content-length", "")
    return int(value) if value.isdecimal() else 0
