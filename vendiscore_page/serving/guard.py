"""Guard the server: refuse large requests and requests of other sites, with a message."""

import asyncio
import contextlib

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..quotas import (
    MAX_BODY_SECONDS,
    MAX_CONCURRENT_UPLOADS,
    MAX_PAGE_REQUEST,
    MAX_REQUEST,
    MAX_UPLOADS,
    SLOW_BYTES,
    SLOW_SECONDS,
)
from .static_files import HEADERS

# How much of the rest of a refused request is read, and for how long. A client that still sends
# when the connection is closed may lose the message.
_MAX_READ_BYTES, _MAX_READING_SECONDS = 256_000_000, 4.0
_PIECE_BYTES = 16_000  # bytes of an upload that are parsed before other requests have their turn
_BUSY_MESSAGE = "Too many files are being uploaded at the moment; try again in a few minutes."
_BUSY_API_MESSAGE = (
    "Too many large requests are being sent at the moment; try again in a few minutes."
)
_SLOW_MESSAGE = (
    f"The request was not received in time: a request must send {SLOW_BYTES // 1000} kB in every "
    f"{SLOW_SECONDS} seconds, and end within {MAX_BODY_SECONDS // 60} minutes. Send it again, with "
    f"fewer samples if your connection is slow."
)


class Guard:
    """ASGI middleware in front of all routes, which refuses by the status of the HTTPException."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._received = 0  # bytes of the uploads and of the calls of the API under way

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
        receive = _limit_time(receive)
        if not path.startswith("/page/"):
            receive = _limit(scope, receive, MAX_REQUEST)
            # Small calls are let in while large ones are under way.
            await self._share(scope, receive, send, _BUSY_API_MESSAGE, MAX_PAGE_REQUEST)
        elif is_post and Headers(scope=scope).get("sec-fetch-site") == "cross-site":
            raise HTTPException(403, "Requests from other sites must use the API.")
        elif is_post and path == "/page/read":
            receive = _split(_limit(scope, receive, MAX_UPLOADS))
            await self._share(scope, receive, send, _BUSY_MESSAGE)
        else:
            await self.app(scope, _limit(scope, receive, MAX_PAGE_REQUEST), send)

    async def _share(
        self, scope: Scope, receive: Receive, send: Send, message: str, small: int = 0
    ) -> None:
        """Let in a request while all bodies together are below a limit, or if its own is small."""
        n_bytes = 0
        declared = _declared_length(scope)
        if declared > small and self._received + declared > MAX_CONCURRENT_UPLOADS:
            raise HTTPException(503, message)

        async def receive_message() -> Message:
            nonlocal n_bytes
            part = await receive()
            size = len(part.get("body", b""))
            n_bytes += size
            self._received += size
            # Bytes that others only announced do not count: they may never send them.
            if n_bytes > small and self._received > MAX_CONCURRENT_UPLOADS:
                raise HTTPException(503, message)
            return part

        try:
            await self.app(scope, receive_message, send)
        finally:
            self._received -= n_bytes


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


def _limit_time(receive: Receive) -> Receive:
    """Return what gives a body, unless it arrives too slowly."""
    end: float | None = None
    slow_end: float | None = None
    received, ended = 0, False

    async def timely() -> Message:
        nonlocal end, slow_end, received, ended
        if ended:  # a message that the client has left has no time limit
            return await receive()
        now = asyncio.get_running_loop().time()
        end = end or now + MAX_BODY_SECONDS
        if slow_end is None or received >= SLOW_BYTES:
            slow_end, received = now + SLOW_SECONDS, 0
        try:
            async with asyncio.timeout_at(min(end, slow_end)):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, _SLOW_MESSAGE) from None
        received += len(message.get("body", b""))
        ended = not message.get("more_body", False)
        return message

    return timely


def _split(receive: Receive) -> Receive:
    """Return what gives a body in small pieces, with turns of other requests between them."""
    remaining, more_body = memoryview(b""), True

    async def receive_piece() -> Message:
        nonlocal remaining, more_body
        if remaining:
            await asyncio.sleep(0)
        else:
            message = await receive()
            if len(message.get("body", b"")) <= _PIECE_BYTES:
                return message
            remaining, more_body = memoryview(message["body"]), message.get("more_body", False)
        piece, remaining = bytes(remaining[:_PIECE_BYTES]), remaining[_PIECE_BYTES:]
        more = more_body or len(remaining) > 0
        return {"type": "http.request", "body": piece, "more_body": more}

    return receive_piece


def _declared_length(scope: Scope) -> int:
    value = Headers(scope=scope).get("content-length", "")
    return int(value) if value.isdecimal() else 0
