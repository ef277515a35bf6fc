"""The HTTP API: each function takes its arguments, by name, as one JSON object."""

from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from ..aliases import Record
from .api_calls import ApiCalls
from .lanes import Lanes
from .schemas import make_openapi
from .static_files import HEADERS, accepts_gzip
from .wire import parse_json, respond, to_json


class HttpApi:
    """Routes of the API and of its description."""

    def __init__(self, lanes: Lanes, calls: ApiCalls) -> None:
        self._lanes = lanes
        self._calls = calls
        self._openapi = make_openapi(calls.functions.values())

    def build_routes(self) -> list[Route]:
        return [
            Route("/openapi.json", self.describe),
            *(
                Route(f"/api/{name}", partial(self.call, name=name), methods=["POST"])
                for name in self._calls.functions
            ),
        ]

    async def describe(self, request: Request) -> Response:
        return await _respond(request, self._openapi)

    async def call(self, request: Request, name: str) -> Response:
        """Return the result of a call, or {"error": message} with the status of the error."""
        try:
            arguments = await run_in_threadpool(parse_json, await request.body())
            lane, steps = self._calls.prepare(name, arguments)
            return await _respond(request, await self._lanes.run_for(request, lane, steps))
        except ClientDisconnect:
            return Response()  # the client has disconnected
        except Exception as error:
            text, status = self._calls.describe_error(error, name)
            return await _respond(request, {"error": text}, status)


async def _respond(request: Request, value: Record, status: int = 200) -> Response:
    body = await run_in_threadpool(to_json, value)
    headers = {"Content-Type": "application/json"}
    if accepts_gzip(request):
        return await respond(body, headers, status)
    return Response(body, status, {**HEADERS, "Cache-Control": "no-store", **headers})
