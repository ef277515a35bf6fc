"""The server: it sends the page at once, and answers other requests when their code is imported."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from .chunked_bodies import Protocol
from .heap import use_one_heap
from .logs import hide_input
from .static_files import INDEX, Files

if TYPE_CHECKING:
    from ..quotas import JobLimits
    from .store import Store

_FIRST_PORT, _N_PORTS = 7860, 100  # the ports of which the first free one is used
_POLL_SECONDS = 0.01
_CLOSE_SECONDS = 2  # for requests that are running when the server ends


class Page:
    """The files of the page, and in front of other requests a wait until `load` has ended."""

    def __init__(
        self,
        store: "Store | None" = None,
        limits: "dict[str, JobLimits] | None" = None,
        has_gradio: bool = False,
    ) -> None:
        self._options = store, limits, has_gradio
        self._files = files = Files()
        self._application: Starlette | None = None
        self._is_loaded = asyncio.Event()
        self.app = Starlette(
            routes=[
                Route("/", partial(self._send, name=INDEX)),
                *(Route(f"/page/{name}", partial(self._send, name=name)) for name in files.names),
                Route("/page/{version}/{name:path}", self._send_version),
                Mount("/", self._wait),
            ]
        )

    @asynccontextmanager
    async def load(self) -> AsyncIterator[None]:
        """Import and start what the other routes need, while the server runs."""
        self._application = application = await asyncio.to_thread(self._build)
        async with application.router.lifespan_context(application):
            self._is_loaded.set()
            yield

    def _build(self) -> Starlette:
        from .application import build_application

        return build_application(*self._options)

    async def _send(self, request: Request, name: str) -> Response:
        return self._files.respond(request, name)

    async def _send_version(self, request: Request) -> Response:
        return self._files.respond(request, **request.path_params)

    async def _wait(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._is_loaded.wait()
        assert self._application is not None
        await self._application(scope, receive, send)


def build(
    store: "Store | None" = None,
    limits: "dict[str, JobLimits] | None" = None,
    has_gradio: bool = False,
) -> Page:
    """Build the server; `limits` of jobs by lane, and with `has_gradio` also gradio's routes."""
    return Page(store, limits, has_gradio)


def launch(page: Page, port: int | None = None) -> None:
    """Serve until interrupted, by default at the first free port."""
    use_one_heap()
    hide_input()
    with open_socket(port) as listener, suppress(KeyboardInterrupt):
        asyncio.run(_serve(page, listener))


def open_socket(port: int | None = None) -> socket.socket:
    """Open a socket at a port, or at the first free port from GRADIO_SERVER_PORT or 7860.

    Its host is GRADIO_SERVER_NAME; by default, only this machine can connect, except on a Space.
    """
    default = "0.0.0.0" if "SPACE_ID" in os.environ else "127.0.0.1"
    host = os.environ.get("GRADIO_SERVER_NAME") or default
    first = int(os.environ.get("GRADIO_SERVER_PORT") or _FIRST_PORT)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in [port] if port else range(first, first + _N_PORTS):
        with suppress(OSError):
            return socket.create_server((host, candidate), family=family)
    raise OSError(f"no port of {host} from {port or first} is available")


async def _serve(page: Page, listener: socket.socket) -> None:
    server = uvicorn.Server(
        uvicorn.Config(
            page.app,
            lifespan="off",
            http=Protocol,
            ws="none",
            log_config=None,  # to the log that hides input
            log_level=logging.WARNING,
            access_log=False,
            timeout_graceful_shutdown=_CLOSE_SECONDS,
        )
    )
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not (server.started or serving.done()):
        await asyncio.sleep(_POLL_SECONDS)
    host, port = listener.getsockname()[:2]
    print(f"The web app runs at http://{host}:{port} (stop it with Ctrl+C).", flush=True)
    async with page.load():
        await serving
