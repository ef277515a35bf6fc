"""gradio's routes behind those of the page, for clients of gradio.

gradio serves more routes than its clients need, fetches any file that a request names, by its
address or on the server, and keeps copies of the arguments of calls. So only the routes of its
clients are open, calls name no file, and large arguments go around it.
"""

import asyncio
import inspect
import json
import os
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

# gradio reads these when it is imported. It must not send usage statistics.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "100")  # stored in memory, and not used

import gradio as gr
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..aliases import Record, Value
from ..quotas import RefusedError
from .api_calls import ApiCalls
from .guard import replay
from .lanes import Lanes, get_address, get_visitor
from .schemas import EXAMPLES, parse_docstring
from .store import Store
from .wire import INVALID, parse_json_value

_GET = re.compile(
    r"^/(config/?|gradio_api/(startup-events|info/?|app_id|openapi\.json|queue/data"
    r"|heartbeat/[\w-]+|call/(v2/)?\w+/[\w-]+))$"
)
_POST = re.compile(r"^/gradio_api/(queue/join|cancel|reset|call/(v2/)?(vendi_\w+|compute))/?$")
_ALLOWED_PATHS = {"GET": _GET, "HEAD": _GET, "OPTIONS": _GET, "POST": _POST}
_NO_FILES_MESSAGE = "Paths and addresses of files are not accepted; send the contents of the files."
_ARGUMENTS_MESSAGE = "No function accepts these arguments; see /gradio_api/info."
_MAX_GRADIO_BYTES = 20_000  # bytes of a call whose arguments gradio does not get
_REFERENCE = "argument of a call: "  # begins what gradio gets instead
# Paths at which gradio sends the results of a call or of a session.
_RESULTS = re.compile(r"^/gradio_api/(?:queue/data|call/(?:v2/)?\w+/(?P<session>[\w-]+))$")
_SESSION = re.compile(r"(?:^|&)session_hash=([\w-]+)")
_MAX_SESSIONS = 20  # whose settings gradio keeps a copy of; every call is one
Lifespan = Callable[[], AbstractAsyncContextManager[Any]]


class Calls:
    """Large arguments of calls, which gradio does not get, and the calls that run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._running: defaultdict[str, set[asyncio.Future[Any]]] = defaultdict(set)

    def put_arguments(self, call: Record, path: list[str], nbytes: int, owner: str) -> Record:
        """Return a call with references instead of lists and objects; keep these until it runs."""

        def replace(value: object) -> object:
            if not isinstance(value, list | dict):
                return value
            return _REFERENCE + self._store.put(value, nbytes, owner)

        if path[-2] == "v2":
            return {name: replace(value) for name, value in call.items()}
        return call | {"data": [replace(value) for value in call["data"]]}

    def take_argument(self, value: object) -> object:
        """Return the argument that a value refers to, and the value itself if it is none."""
        if not isinstance(value, str) or not value.startswith(_REFERENCE):
            return value
        if (argument := self._store.take(value.removeprefix(_REFERENCE))) is None:
            raise RefusedError("The samples of this call are not available any more; call again.")
        return argument

    async def run(self, session: str, work: Awaitable[Value]) -> Value:
        """Return the result of a call, unless its client leaves."""
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
        """Stop the calls of a client that left."""
        for call in self._running.get(session, ()):
            call.cancel()


class GradioGuard:
    """ASGI app in front of gradio's, which lets in what its clients need."""

    def __init__(self, app: ASGIApp, counts: Mapping[str, int], calls: Calls) -> None:
        """Set the app, the number of arguments of each function, and the store of arguments."""
        self.app = app
        self._counts = counts
        self._calls = calls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        if method not in _ALLOWED_PATHS or not _ALLOWED_PATHS[method].match(path):
            raise HTTPException(404)
        started = False

        async def send_message(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        scope = {**scope, "headers": _replace_forwarded(scope)}
        if method == "POST":
            receive = await self._check(scope, receive)
        elif session := _find_session(scope):
            receive = self._stop_calls_at_end(session, receive)
        try:
            await self.app(scope, receive, send_message)
        except RuntimeError as error:
            # A stream of events, of an unknown session say, has told its end already.
            if not (started and isinstance(error.__cause__, HTTPException)):
                raise
            await send({"type": "http.response.body", "body": b""})

    def _stop_calls_at_end(self, session: str, receive: Receive) -> Receive:
        """Return what gives the messages of `receive`, and stops calls when the client leaves."""

        async def receive_message() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                self._calls.stop(session)
            return message

        return receive_message

    async def _check(self, scope: Scope, receive: Receive) -> Receive:
        """Return what gives the body of `receive`, if it names no file and can be a call."""
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return receive
        if body:
            call = await run_in_threadpool(_load_call, body)
            path = scope["path"].strip("/").split("/")
            if path[1] in ("call", "queue"):
                self._check_call(path, call)
                if isinstance(call, dict) and len(body) > _MAX_GRADIO_BYTES:
                    owner = get_address(Request(scope))
                    call = self._calls.put_arguments(call, path, len(body), owner)
                    body = json.dumps(call).encode()
        return replay(body, receive)

    def _check_call(self, path: list[str], call: object) -> None:
        """Raise unless a function can be called by its name, or by its place in the queue."""
        call, names = call if isinstance(call, dict) else {}, list(self._counts)
        name, index = path[-1], call.get("fn_index")
        if path[1] == "queue" and type(index) is int and 0 <= index < len(names):
            name = names[index]
        if name not in names or call.get("batched"):
            raise HTTPException(422, _ARGUMENTS_MESSAGE)
        data, count = call.get("data"), self._counts[name]
        if path[-2] != "v2" and not (isinstance(data, list) and len(data) == count):
            raise HTTPException(
                422,
                f"`data` must be a list of the {count} arguments of {name} (see /gradio_api/info); "
                f"to pass only some of them by name, use /gradio_api/call/v2/{name}.",
            )


def mount_gradio(lanes: Lanes, api_calls: ApiCalls, store: Store) -> tuple[ASGIApp, Lifespan]:
    """Return gradio's routes, and the context in which they work."""
    calls = Calls(store)
    with _Functions(title="Vendi Score") as functions:
        for name in api_calls.functions:
            handler = _make_handler(name, lanes, api_calls, calls)
            gr.api(handler, api_name=name, concurrency_limit=None)
    functions.state_session_capacity = _MAX_SESSIONS
    app = Starlette()
    # Raised by gradio where it puts named arguments in order.
    handlers = dict.fromkeys((TypeError, KeyError, ValueError), _refuse_arguments)
    gr.mount_gradio_app(
        app,
        functions,
        path="",
        app_kwargs={"exception_handlers": handlers},
        ssr_mode=False,
        enable_monitoring=False,
        mcp_server=False,
    )
    counts = {
        name: len(inspect.signature(function).parameters)
        for name, function in api_calls.functions.items()
    }
    return GradioGuard(app, counts, calls), partial(app.router.lifespan_context, app)


def _make_handler(
    name: str, lanes: Lanes, api_calls: ApiCalls, calls: Calls
) -> Callable[..., Awaitable[Record]]:
    """Return the function that gradio calls, with the signature of a function of the API."""
    function = api_calls.functions[name]
    signature = inspect.signature(function)

    async def handle(request: gr.Request, *values: object) -> Record:
        try:
            arguments = dict(zip(signature.parameters, values, strict=True))
            arguments = {key: calls.take_argument(x) for key, x in arguments.items()}
            lane, steps = api_calls.prepare(name, arguments)
            work = lanes.run(get_visitor(request), lane, steps)
            return await calls.run(getattr(request, "session_hash", None) or "", work)
        except Exception as error:
            text = api_calls.describe_error(error, name)[0]
            raise gr.Error(text, print_exception=False) from None

    parameters = list(signature.parameters.values())
    request_parameter = inspect.Parameter(
        "request", inspect.Parameter.POSITIONAL_ONLY, annotation=gr.Request
    )
    parameters = [parameter.replace(kind=request_parameter.kind) for parameter in parameters]
    handle.__signature__ = signature.replace(parameters=[request_parameter, *parameters])  # type: ignore[attr-defined]
    handle.__annotations__ = {"request": gr.Request, **function.__annotations__}
    handle.__name__, handle.__doc__ = name, function.__doc__
    return handle


class _Functions(gr.Blocks):  # type: ignore[misc, unused-ignore]  # Any without gradio
    """gradio's list of functions, with descriptions of arguments and examples of samples."""

    def get_api_info(self, *args: Any, **kwargs: Any) -> Any:
        info: Any = super().get_api_info(*args, **kwargs)
        for function in self.fns.values():
            endpoint = info["named_endpoints"].get(f"/{function.api_name}")
            descriptions = parse_docstring(function.fn).arguments
            for parameter in endpoint["parameters"] if endpoint else ():
                name = parameter["parameter_name"]
                parameter["python_type"]["description"] = descriptions.get(name, "")
                parameter["example_input"] = EXAMPLES.get(name, parameter["example_input"])
        return info


def _load_call(body: bytes) -> object:
    """Read a JSON value; refuse one that holds a file, as gradio knows it, anywhere."""
    files = []

    def collect_file(value: Record) -> Record:
        if "path" in value and "meta" in value:
            files.append(value)
        return value

    try:
        call = parse_json_value(body, object_hook=collect_file)
    except RefusedError as error:
        raise HTTPException(INVALID, str(error)) from None
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body must be JSON.") from None
    if files:
        raise HTTPException(400, _NO_FILES_MESSAGE)
    return call


async def _refuse_arguments(request: Request, error: Exception) -> Response:
    return PlainTextResponse(_ARGUMENTS_MESSAGE, 422)


def _find_session(scope: Scope) -> str:
    """Return the session whose results a request waits for; "" for other requests."""
    if not (match := _RESULTS.match(scope["path"])):
        return ""
    query = _SESSION.search(scope.get("query_string", b"").decode("latin-1"))
    return match["session"] or (query[1] if query else "")


def _replace_forwarded(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the headers, with the address of a Space for any that a request says it came to."""
    headers = [
        (name, value)
        for name, value in scope["headers"]
        if name == b"x-forwarded-for" or not name.startswith((b"x-forwarded-", b"x-gradio-server"))
    ]
    if host := os.environ.get("SPACE_HOST", "").split(",")[0]:  # others are domains of its owner
        headers += [(b"x-forwarded-host", host.encode()), (b"x-forwarded-proto", b"https")]
    return headers
