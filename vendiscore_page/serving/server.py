"""The server: the page's own routes, and the public API with its MCP tools by gradio."""

import functools
import inspect
import json
import os
import re
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import Any

import gradio as gr
from gradio.context import LocalContext
from gradio.utils import get_function_description
from starlette.middleware import Middleware

from vendiscore import __version__

from ..aliases import Record
from ..answers import api, offered_encoders
from ..inputs import pictures
from ..inputs.declared_sizes import Size
from .endpoints import Routes
from .guard import Guard, fetch_nothing
from .lanes import LONG, MIDDLE, SHORT, Lanes, Visitor, lane_of, visitor_of, whole
from .logs import hide_input
from .static_files import Files
from .store import Kept, tidy
from .wire import message

API = (
    api.vendi_score_texts,
    api.vendi_score_images,
    api.vendi_score_molecules,
    api.vendi_score_vectors,
    api.vendi_compare,
)
_SESSIONS = 20  # whose settings gradio keeps a copy of; every call of the API is one
# What is scored in less than about a second.
_FEW, _FEW_NUMBERS = 300, 100_000


def build(kept: Kept | None = None) -> gr.Server:
    """Build the server with all its routes; start it by `launch`."""
    arguments = {each.__name__: len(inspect.signature(each).parameters) for each in API}
    server = gr.Server(
        title="Vendi Score",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        middleware=[Middleware(Guard, functions=arguments)],
    )
    lanes, server.state.kept = Lanes(), kept or Kept()
    routes = Routes(lanes, server.state.kept, Files())
    server.router.routes.extend(routes.all())
    for function in API:
        server.api(_called(function, lanes), name=function.__name__, concurrency_limit=None)
    return server


def launch(server: gr.Server, **options: object) -> Any:
    """Start the server with the settings that the page relies on; `options` as for gradio."""
    fetch_nothing()
    offered_encoders.prepare()
    tidy(server.state.kept)
    hide_input()
    settings = {
        "state_session_capacity": _SESSIONS,
        "show_error": True,  # of gradio's own checks; ours never let a traceback out
        "ssr_mode": False,
        "run_history": False,
        "enable_monitoring": False,
        "mcp_server": find_spec("mcp") is not None,
    }
    with gr.Blocks(mode="server", title=server.title) as functions:
        for function, how in server._deferred_apis:
            gr.api(function, **how)
    functions.get_api_info = _described(functions)
    os.environ["GRADIO_SERVER_MODE_ENABLED"] = "1"  # as gr.Server.launch does, without a title
    return functions.launch(_app=server, **settings | options)


def _described(functions: Any) -> Callable[..., Any]:
    """Return gradio's list of the functions, with the texts of their arguments."""
    listed = functions.get_api_info

    def described(*args: object, **kwargs: object) -> Any:
        info = listed(*args, **kwargs)
        for each in functions.fns.values():
            _, texts, _ = get_function_description(each.fn)
            for parameter in info["named_endpoints"][f"/{each.api_name}"]["parameters"]:
                text = texts.get(parameter["parameter_name"], "")
                parameter["python_type"]["description"] = text
        return info

    return described


def _called(
    function: Callable[..., Record], lanes: Lanes
) -> Callable[..., Awaitable[Record | str]]:
    """Run an API function in its lane, and tell clients its errors."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    async def run(*args: object, **kwargs: object) -> Record | str:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        request = LocalContext.request.get(None)
        visitor = visitor_of(request) if request else Visitor("")
        steps = whole(lambda: function(*given.args, **given.kwargs))
        try:
            lane = await lanes.run(visitor, SHORT, whole(lambda: _lane(given.arguments)))
            answer = await lanes.run(visitor, lane, steps)
        except Exception as error:
            raise gr.Error(message(error)[0], print_exception=False) from None
        # gradio answers the tools of MCP with `str` of a result, and describes them by one line.
        is_tool = request and request.headers.get("x-gradio-user") == "mcp"
        return json.dumps(answer) if is_tool else answer

    run.__doc__ = _in_lines(inspect.getdoc(function) or "")
    return run


def _in_lines(docstring: str) -> str:
    """Join the lines of each argument, and of what is returned: gradio joins them by commas."""
    above, title, returned = docstring.partition("Returns:\n")
    above = re.sub(r"\n {8}", " ", above)
    return f"{above}{title}    {' '.join(returned.split())}" if title else above


def _lane(arguments: Record) -> str:
    kernel = arguments.get("kernel")
    if any(kernel == name for kind in offered_encoders.ALLOWED.values() for name in kind):
        return LONG
    leaves = _leaves(next(iter(arguments.values())))
    pixels = 0
    if "images" in arguments or arguments.get("kind") == "images":
        files = (pictures.decode_base64(text) for text in leaves)
        pixels = sum(pictures.area(data) for data in files if data is not None)
    lane = lane_of(Size(pixels=pixels))
    most = _FEW_NUMBERS if "rows" in arguments else _FEW
    many = "sets" in arguments or len(leaves) > most
    return MIDDLE if many and lane == SHORT else lane


def _leaves(values: object) -> list[object]:
    """Return all values in lists within lists."""
    leaves, left = [], [values]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
        else:
            leaves.append(value)
    return leaves
