"""All routes of the server except the files of the page, whose imports take a moment."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from ..quotas import JOB_LIMITS, JobLimits
from .api_calls import ApiCalls
from .endpoints import Routes
from .guard import Guard, make_refusal
from .http_api import HttpApi
from .lanes import Lanes
from .store import Store, start_sweeping
from .tools import Tools
from .workers import Workers

NO_GRADIO = (
    "This server has no routes of gradio; start it with `vendiscore page --gradio`, or call "
    "/api/ as /openapi.json describes."
)


def build_application(
    store: Store | None = None,
    limits: dict[str, JobLimits] | None = None,
    has_gradio: bool = False,
) -> Starlette:
    """Build the routes and start their worker processes; `limits` of jobs by lane."""
    store = store or Store()
    workers = Workers(limits or JOB_LIMITS, store.seconds)
    workers.start()
    lanes, calls = Lanes(), ApiCalls(workers.run)
    tools = Tools(lanes, calls)
    contexts = [tools.run]
    routes: list[Route | Mount] = [
        *Routes(lanes, store, workers.run).build_routes(),
        *HttpApi(lanes, calls).build_routes(),
        *tools.build_routes(),
    ]
    if has_gradio:
        from .gradio_routes import mount_gradio

        app, context = mount_gradio(lanes, calls, store)
        contexts.append(context)
        routes.append(Mount("/", app))
    else:
        routes += [Route(path, _explain_gradio) for path in ("/config", "/gradio_api/{path:path}")]
        routes.append(Route("/gradio_api/{path:path}", _explain_gradio, methods=["POST"]))

    @asynccontextmanager
    async def run_all(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for context in contexts:
                await stack.enter_async_context(context())
            yield

    start_sweeping(store)
    middleware = [Middleware(Guard)]
    if "SPACE_ID" in os.environ:  # other sites may call the API of a Space, as gradio allows
        middleware.append(Middleware(CORSMiddleware, allow_origins=["*"], allow_methods=["*"]))
    return Starlette(
        routes=routes,
        middleware=middleware,
        exception_handlers={404: _refuse_unknown},
        lifespan=run_all,
    )


async def _explain_gradio(request: Request) -> Response:
    return PlainTextResponse(NO_GRADIO, 404)


async def _refuse_unknown(request: Request, error: Exception) -> Response:
    return make_refusal(request.url.path, HTTPException(404, "This address does not exist."))
