"""Guard the server: refuse large requests, and close routes that nobody needs.

gradio serves more routes than the page has, and fetches any file that a request names, by its
address or on the server. The API takes values alone, so that no request here names a file.
gradio also keeps copies of the arguments of calls, so large ones go around it, in `Calls`.
"""

import asyncio
import json
import os
import re
from collections import defaultdict
from collections.abc import Awaitable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..aliases import Record, Value
from ..quotas import (
    MAX_CONCURRENT_UPLOADS,
    MAX_PAGE_REQUEST,
    MAX_REQUEST,
    MAX_UPLOADS,
    RefusedError,
)
from .lanes import address
from .store import Kept

# Paths that the page itself requests, then gradio's own at its start, and the paths of
# gradio_client, of clients of MCP, and of the Hub.
_GET = re.compile(
    r"^/(page/[\w.-]+(/[\w.-]+){0,2}|config/?|robots\.txt"
    r"|gradio_api/(startup-events|info/?|app_id|openapi\.json|queue/data|heartbeat/[\w-]+"
    r"|call/(v2/)?\w+/[\w-]+|mcp(/.*)?))?$"
)
_POST = re.compile(
    r"^/(page/[a-z]+|gradio_api/(queue/join|cancel|reset|mcp(/.*)?|call/(v2/)?(vendi_\w+|compute))/?)$"
)
_DELETE = re.compile(r"^/gradio_api/mcp(/.*)?$")  # the end of a session
_OPEN = {"GET": _GET, "HEAD": _GET, "OPTIONS": _GET, "POST": _POST, "DELETE": _DELETE}
_NO_FILES = "Paths and addresses of files are not accepted; send the contents of the files."
_ARGUMENTS = "No function accepts these arguments; see /gradio_api/info."
_LARGE = 20_000  # bytes of a call whose arguments gradio does not get
_REFERENCE = "argument of a call: "  # begins what gradio gets instead
# Paths at which gradio sends the results of a call or of a session.
_RESULTS = re.compile(r"^/gradio_api/(?:queue/data|call/(?:v2/)?\w+/(?P<session>[\w-]+))$")
_SESSION = re.compile(r"(?:^|&)session_hash=([\w-]+)")
_BUSY = "Too many files are being uploaded at the moment; try again in a few minutes."


class Calls:
    """Large arguments of the calls of the API, and the calls that run."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._running: defaultdict[str, set[asyncio.Future[Any]]] = defaultdict(set)

    def put_arguments(self, call: Record, path: list[str], nbytes: int, owner: str) -> Record:
        """Return a call with references instead of lists and objects; keep these until it runs."""

        def replace(value: object) -> object:
            if not isinstance(value, list | dict):
                return value
            return _REFERENCE + self._kept.put(value, nbytes, owner)

        if path[1] == "mcp":
            parameters = call.get("params")
            if not isinstance(parameters, dict):
                return call
            arguments = parameters.get("arguments")
            if not isinstance(arguments, dict):
                return call
            arguments = {name: replace(value) for name, value in arguments.items()}
            return call | {"params": parameters | {"arguments": arguments}}
        if path[-2] == "v2":
            return {name: replace(value) for name, value in call.items()}
        return call | {"data": [replace(value) for value in call["data"]]}

    def take_argument(self, value: object) -> object:
        """Return the argument that a value refers to, and the value itself if it is none."""
        if not isinstance(value, str) or not value.startswith(_REFERENCE):
            return value
        if (found := self._kept.take(value.removeprefix(_REFERENCE))) is None:
            raise RefusedError("The samples of this call are not available any more; call again.")
        return found

    async def run(self, session: str, work: Awaitable[Value]) -> Value:
        """Return the result of a call, unless its visitor leaves."""
        call = asyncio.ensure_future(work)
        self._running[session].add(call)
        try:
            return await call
        except asyncio.CancelledError:
            if call.cancelled() and asyncio.current_task().cancelling() == 0:  # type: ignore[union-attr]
                raise RefusedError("The client of this call has disconnected.") from None
            raise
        finally:
            call.cancel()
            self._running[session].discard(call)
            if not self._running[session]:
                del self._running[session]

    def stop(self, session: str) -> None:
        """Stop the calls of a visitor who left."""
        for call in self._running.get(session, ()):
            call.cancel()


class Guard:
    """ASGI middleware in front of all routes, which refuses by the status of the HTTPException."""

    def __init__(
        self, app: ASGIApp, functions: Mapping[str, int], calls: Calls | None = None
    ) -> None:
        self.app = app
        self.functions = functions
        self.calls = calls or Calls(Kept())
        self._arrived = 0  # bytes of the uploads under way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def noticed(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._let_in({**scope, "headers": _headers(scope)}, receive, noticed)
        except HTTPException as error:
            if not started:
                answer = PlainTextResponse(error.detail, error.status_code, {"connection": "close"})
                if scope["path"].startswith("/page/"):
                    problem = {"problem": {"text": error.detail}}
                    answer = JSONResponse(problem, error.status_code, {"connection": "close"})
                await answer(scope, receive, send)
        except RuntimeError as error:
            # A stream of events, of an unknown session say, has told its end already.
            if not (started and isinstance(error.__cause__, HTTPException)):
                raise
            await send({"type": "http.response.body", "body": b""})

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        if method not in _OPEN or not _OPEN[method].match(path):
            raise HTTPException(404, "This address does not exist.")
        if method == "POST" and not path.startswith("/page/"):
            checked = await self._checked(scope, receive)
            try:
                await self.app(scope, checked, send)
            except (TypeError, KeyError, ValueError) as error:
                # Raised by gradio where it puts named arguments in order.
                raise HTTPException(422, _ARGUMENTS) from error
        elif method == "POST" and Headers(scope=scope).get("sec-fetch-site") == "cross-site":
            raise HTTPException(403, "Requests from other sites must use the API.")
        elif method == "POST" and path == "/page/read":
            await self._upload(scope, receive, send)
        else:
            limited = _limited(scope, receive, MAX_PAGE_REQUEST)
            if method == "GET" and (session := _session_of_results(scope)):
                limited = self._noticing(session, limited)
            await self.app(scope, limited, send)

    def _noticing(self, session: str, receive: Receive) -> Receive:
        """Return what gives the messages of `receive`, and stops calls when the client leaves."""

        async def noticing() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.calls.stop(session)
            return message

        return noticing

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        limited, own = _limited(scope, receive, MAX_UPLOADS), 0
        if self._arrived + _length(scope) > MAX_CONCURRENT_UPLOADS:
            raise HTTPException(503, _BUSY)

        async def arriving() -> Message:
            nonlocal own
            message = await limited()
            size = len(message.get("body", b""))
            own += size
            self._arrived += size
            # Bytes that others only announced do not count: they may never send them.
            if self._arrived > MAX_CONCURRENT_UPLOADS:
                raise HTTPException(503, _BUSY)
            return message

        try:
            await self.app(scope, arriving, send)
        finally:
            self._arrived -= own

    async def _checked(self, scope: Scope, receive: Receive) -> Receive:
        """Return what gives the body of `receive`, if it names no file and can be a call."""
        receive = _limited(scope, receive, MAX_REQUEST)
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return receive
        if body:
            asked = await run_in_threadpool(_loaded, body)
            path = scope["path"].strip("/").split("/")
            self._check_call(path, asked)
            calls_function = path[1] in ("call", "queue", "mcp") and isinstance(asked, dict)
            if calls_function and len(body) > _LARGE:
                owner = address(Request(scope))
                asked = self.calls.put_arguments(asked, path, len(body), owner)
                body = json.dumps(asked).encode()
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return waiting.pop() if waiting else await receive()

        return again

    def _check_call(self, path: list[str], asked: object) -> None:
        """Raise unless a function can be called by its name, or by its place in the queue."""
        if path[1] not in ("call", "queue"):
            return
        asked, names = asked if isinstance(asked, dict) else {}, list(self.functions)
        name, at = path[-1], asked.get("fn_index")
        if path[1] == "queue" and type(at) is int and 0 <= at < len(names):
            name = names[at]
        if name not in names or asked.get("batched"):
            raise HTTPException(422, _ARGUMENTS)
        data, count = asked.get("data"), self.functions[name]
        if path[-2] != "v2" and not (isinstance(data, list) and len(data) == count):
            raise HTTPException(
                422,
                f"`data` must be a list of the {count} arguments of {name} (see /gradio_api/info); "
                f"to pass only some of them by name, use /gradio_api/call/v2/{name}.",
            )


def _loaded(body: bytes) -> object:
    """Read a JSON value; refuse one that holds a file, as gradio knows it, anywhere."""
    files = []

    def look(found: Record) -> Record:
        if "path" in found and "meta" in found:
            files.append(found)
        return found

    try:
        asked = json.loads(body, object_hook=look)
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body must be JSON.") from None
    if files:
        raise HTTPException(400, _NO_FILES)
    return asked


def _limited(scope: Scope, receive: Receive, limit: int) -> Receive:
    """Return what gives a body up to a limit, unless its declared length is beyond it."""
    # FastAPI lets an HTTPException through; any other, it takes for a body that cannot be parsed.
    large = HTTPException(413, f"A request may have up to {limit // 10**6} MB; send fewer samples.")
    if _length(scope) > limit:
        raise large
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > limit:
            raise large
        return message

    return limited


def _length(scope: Scope) -> int:
    said = Headers(scope=scope).get("content-length", "")
    return int(said) if said.isdecimal() else 0


def _session_of_results(scope: Scope) -> str:
    """Return the session whose results a request waits for; "" for other requests."""
    if not (found := _RESULTS.match(scope["path"])):
        return ""
    query = _SESSION.search(scope.get("query_string", b"").decode("latin-1"))
    return found["session"] or (query[1] if query else "")


def _headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the headers, with the address of a Space for any that a request says it came to."""
    found = [
        (name, value)
        for name, value in scope["headers"]
        if name == b"x-forwarded-for" or not name.startswith((b"x-forwarded-", b"x-gradio-server"))
    ]
    if host := os.environ.get("SPACE_HOST", "").split(",")[0]:  # others are domains of its owner
        found += [(b"x-forwarded-host", host.encode()), (b"x-forwarded-proto", b"https")]
    return found
