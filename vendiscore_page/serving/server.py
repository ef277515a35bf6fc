"""The server: the page's own routes, and the public API with its MCP tools by gradio."""

import functools
import inspect
import logging
import os
from collections.abc import Awaitable, Callable
from importlib.util import find_spec

import gradio as gr
import gradio.routes
from gradio.context import LocalContext
from gradio.routes import generate_code_snippets
from gradio.utils import get_function_description
from starlette.middleware import Middleware

from vendiscore import __version__

from ..aliases import Record
from ..answers import api, offered_encoders
from ..answers.arguments import describe_error, offered_kernels
from ..quotas import RefusedError
from .endpoints import Routes
from .guard import Guard
from .lanes import LONG, MIDDLE, SHORT, Lanes, Visitor, visitor_of, whole
from .logs import hide_input
from .static_files import Files
from .store import Kept, tidy
from .tools import describe
from .wire import INVALID, message

API = (
    api.vendi_score_texts,
    api.vendi_score_images,
    api.vendi_score_molecules,
    api.vendi_score_vectors,
    api.vendi_compare,
    api.compute,
)
# Samples in the code that gradio writes for a call, by the name of the argument.
EXAMPLES = {
    "texts": ["a cat sat", "a dog ran"],
    "images": [
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
    ],
    "smiles": ["CCO", "CCN"],
    "rows": [[1, 0], [0, 1]],
    "samples": ["a cat sat", "a dog ran"],
    "sets": [["a cat sat", "a dog ran", "a cow ate", "a pig hid"], ["one", "two", "one", "two"]],
}
_SESSIONS = 20  # whose settings gradio keeps a copy of; every call of the API is one
# Characters of samples in Python that are scored in less than about a second.
_FEW, _FEW_ROWS = 20_000, 1_000_000
# Characters of samples and of arguments of `compute`, whose time depends on both.
_FEW_OF_ANY, _FEW_ARGUMENTS = 5_000, 300


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


def launch(server: gr.Server, **options: object) -> None:
    """Serve until interrupted, with the settings that the page relies on; `options` as gradio's."""
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
    gradio.routes.generate_code_snippets = _snippets
    os.environ["GRADIO_SERVER_MODE_ENABLED"] = "1"  # as gr.Server.launch does, without a title
    functions.launch(_app=server, prevent_thread_lock=True, **settings | options)
    logging.getLogger("uvicorn").propagate = True  # to the one log, which uvicorn has left
    if functions.mcp_server_obj:
        describe(functions.mcp_server_obj)
    functions.block_thread()


def _described(functions: gr.Blocks) -> Callable[..., Record]:
    """Return gradio's list of the functions, with texts of arguments and an example of samples."""
    listed = functions.get_api_info

    def described(*args: object, **kwargs: object) -> Record:
        info = listed(*args, **kwargs)
        for each in functions.fns.values():
            _, texts, _ = get_function_description(each.fn)
            for parameter in info["named_endpoints"][f"/{each.api_name}"]["parameters"]:
                name = parameter["parameter_name"]
                parameter["python_type"]["description"] = texts.get(name, "")
                parameter["example_input"] = EXAMPLES.get(name, parameter["example_input"])
        return info

    return described


def _snippets(*args: object, **kwargs: object) -> Record:
    """Return gradio's code for a call, with a shell command that keeps the id of the answer."""
    found: Record = generate_code_snippets(*args, **kwargs)
    # A variable that is read at the end of a pipe is lost with the shell of this end.
    words = found["bash"].replace("| read EVENT_ID; curl -N", "| xargs -I {} curl -sN")
    return found | {"bash": words.replace("$EVENT_ID", "{}")}


def _called(function: Callable[..., Record], lanes: Lanes) -> Callable[..., Awaitable[Record]]:
    """Run an API function in its lane, and tell clients its errors."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    async def run(*args: object, **kwargs: object) -> Record:
        request = LocalContext.request.get(None)
        visitor = visitor_of(request) if request else Visitor("")
        try:
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            steps = whole(lambda: function(*given.args, **given.kwargs))
            return await lanes.run(visitor, _lane(given.arguments), steps)
        except Exception as error:
            raise gr.Error(_describe_error(error, signature), print_exception=False) from None

    return run


def _describe_error(error: Exception, signature: inspect.Signature) -> str:
    """Return the message of an error, whose suggestions are arguments of the API."""
    text, status = message(error)
    if status != INVALID or isinstance(error, RefusedError):
        return text
    return describe_error(error, tuple(signature.parameters))


def _lane(arguments: Record) -> str:
    samples, kernel = next(iter(arguments.values())), arguments.get("kernel")
    encoders = (kernel == name for kind in offered_encoders.ALLOWED.values() for name in kind)
    # A few bytes of an image can stand for megapixels.
    if any(encoders) or "images" in arguments or arguments.get("kind") == "images":
        return LONG
    if isinstance(text := arguments.get("arguments"), str):
        if any(name in text for name in ("embeddings", "image", "pixels", *offered_kernels())):
            return LONG
        few = len(repr(samples)) <= _FEW_OF_ANY and len(text) <= _FEW_ARGUMENTS
        return SHORT if few else MIDDLE
    most = _FEW_ROWS if "rows" in arguments else _FEW
    return MIDDLE if "sets" in arguments or len(repr(samples)) > most else SHORT
