"""Tools for clients of the Model Context Protocol: functions of the API, as docstrings say."""

import json
from contextlib import AbstractAsyncContextManager

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from vendiscore import __version__

from ..aliases import Record
from ..quotas import MAX_PAGE_REQUEST, RefusedError
from .api_calls import ApiCalls
from .guard import replay
from .lanes import Lanes
from .schemas import make_input_schema, make_output_schema, parse_docstring
from .wire import INVALID, parse_json_value

NAME = "vendiscore"
INSTRUCTIONS = (
    "Compute the Vendi Score, the effective number of samples: 1 if all are identical, n if no two "
    "of the n samples are similar. Call one of the four vendi_score tools for one set: texts, "
    "images as base64, molecules as SMILES, or vectors. Call vendi_compare to test which of two to "
    "eight sets or models is more diverse; if models answered the same prompts, pass it rows "
    "with model, prompt and text. Call compute for everything else, such as magnitude, other "
    "measures, kernels, weights and references, with arguments of the Python library as text. "
    "Report VS with n, the kernel and VS_low to VS_high (with "
    "q = 2, these fields are VS_q2, VS_q2_low and VS_q2_high); scores of different n, q or kernels "
    "cannot be compared. Send the samples, not their addresses."
)
PATH = "/gradio_api/mcp"
_ARGUMENTS = "arguments of a tool"  # key of the ASGI scope
_NO_STREAM = "Clients of the Model Context Protocol send POST requests to this address."


class Tools:
    """ASGI app of the tools, over streamable HTTP without sessions, while `run` is active.

    The arguments of a call do not pass through the server of the protocol, which would validate and
    copy large lists several times.
    """

    def __init__(self, lanes: Lanes, calls: ApiCalls) -> None:
        self._lanes = lanes
        self._calls = calls
        self._tools = [
            types.Tool(
                name=name,
                description=parse_docstring(function).description,
                inputSchema=make_input_schema(function),
                outputSchema=make_output_schema(function),
            )
            for name, function in calls.functions.items()
        ]
        self._server: Server[object, Request] = Server(NAME, __version__, INSTRUCTIONS)
        self._server.list_tools()(self._list)
        # Schemas would repeat a large input in their errors; ours are for people.
        self._server.call_tool(validate_input=False)(self._call)
        self._manager = StreamableHTTPSessionManager(self._server, stateless=True)

    def run(self) -> AbstractAsyncContextManager[None]:
        return self._manager.run()

    def build_routes(self) -> list[Route]:
        return [
            Route(f"{PATH}/schema", self.describe),
            *(Route(path, self, methods=["POST"]) for path in (PATH, f"{PATH}/")),
            *(Route(path, _refuse_stream) for path in (PATH, f"{PATH}/")),
        ]

    async def describe(self, request: Request) -> JSONResponse:
        """Return the list of the tools, as the Hub reads it."""
        return JSONResponse([tool.model_dump(exclude_none=True) for tool in self._tools])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return
        arguments, body = await run_in_threadpool(_take_arguments, body)
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        scope = {**scope, "headers": headers, _ARGUMENTS: arguments}
        await self._manager.handle_request(scope, replay(body, receive), send)

    async def _list(self) -> list[types.Tool]:
        return self._tools

    async def _call(self, name: str, _: Record) -> types.CallToolResult:
        request = self._server.request_context.request
        assert request is not None  # over HTTP
        try:
            lane, steps = self._calls.prepare(name, request.scope[_ARGUMENTS])
            answer = await self._lanes.run_for(request, lane, steps)
        except ClientDisconnect:
            raise ValueError("The client has disconnected.") from None
        except Exception as error:
            raise ValueError(self._calls.describe_error(error, name)[0]) from None
        content = [types.TextContent(type="text", text=json.dumps(answer))]
        return types.CallToolResult(content=list(content), structuredContent=answer)


def _take_arguments(body: bytes) -> tuple[Record, bytes]:
    """Return the arguments of a call of a tool, and the rest of the message."""
    try:
        sent = parse_json_value(body)
    except RefusedError as error:
        raise HTTPException(INVALID, str(error)) from None
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body must be JSON.") from None
    arguments: Record = {}
    parameters = sent.get("params") if isinstance(sent, dict) else None
    if isinstance(parameters, dict) and isinstance(parameters.get("arguments"), dict):
        arguments = parameters.pop("arguments")
        body = json.dumps(sent).encode()
    if len(body) > MAX_PAGE_REQUEST:  # which would be validated and copied several times
        raise HTTPException(413, "Only the arguments of a tool may be large.")
    return arguments, body


async def _refuse_stream(request: Request) -> PlainTextResponse:
    return PlainTextResponse(_NO_STREAM, 405, {"Allow": "POST"})
