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
from ..answers.call_arguments import describe_error, names_encoder
from ..quotas import (
    JOB_LIMITS,
    TINY_CHARACTERS,
    TINY_SAMPLES,
    TINY_VALUES,
    JobLimits,
    RefusedError,
)
from .endpoints import Routes
from .guard import Calls, Guard
from .lanes import LONG, MIDDLE, SHORT, TINY, Lanes, Visitor, visitor_of
from .logs import hide_input
from .static_files import Files
from .store import Kept, tidy
from .tools import describe
from .wire import INVALID, message
from .workers import Run, Workers

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
_NUMBER = 10  # characters of a number
# By name of the samples: characters of arguments that the server processes itself (a number has
# about ten), and characters of which Python writes one or two for each sample.
_TINY = {"texts": (TINY_CHARACTERS, "'\""), "rows": (10 * TINY_VALUES, "]")}


def build(kept: Kept | None = None, limits: dict[str, JobLimits] = JOB_LIMITS) -> gr.Server:
    """Build the server with all its routes; start it by `launch`. `limits` of jobs by lane."""
    arguments = {each.__name__: len(inspect.signature(each).parameters) for each in API}
    kept = kept or Kept()
    calls = Calls(kept)
    server = gr.Server(
        title="Vendi Score",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        middleware=[Middleware(Guard, functions=arguments, calls=calls)],
    )
    lanes, server.state.kept = Lanes(), kept
    server.state.workers = Workers(limits, kept.seconds)
    run = server.state.workers.run
    routes = Routes(lanes, server.state.kept, Files(), run)
    server.router.routes.extend(routes.all())
    for function in API:
        server.api(
            _called(function, lanes, run, calls), name=function.__name__, concurrency_limit=None
        )
    return server


def launch(server: gr.Server, **options: object) -> None:
    """Serve until interrupted, with the settings that the page relies on; `options` as gradio's."""
    server.state.workers.start()
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


def _called(
    function: Callable[..., Record], lanes: Lanes, run_job: Run, calls: Calls
) -> Callable[..., Awaitable[Record]]:
    """Run an API function in its lane, and tell clients its errors."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    async def run(*args: object, **kwargs: object) -> Record:
        request = LocalContext.request.get(None)
        visitor = visitor_of(request) if request else Visitor("")
        try:
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            for name, value in given.arguments.items():
                given.arguments[name] = calls.take_argument(value)
            lane = _lane(given.arguments)
            work = lanes.run(visitor, lane, run_job(lane, function, *given.args))
            return await calls.run(getattr(request, "session_hash", None) or "", work)
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
    kernel = arguments.get("kernel")
    encoders = (kernel == name for kind in offered_encoders.ALLOWED.values() for name in kind)
    # A few bytes of an image can stand for megapixels.
    if any(encoders) or "images" in arguments or arguments.get("kind") == "images":
        return LONG
    if isinstance(text := arguments.get("arguments"), str):
        if names_encoder(text) or "pixels" in text:
            return LONG
        few = len(text) <= _FEW_ARGUMENTS and not _is_long(arguments["samples"], _FEW_OF_ANY)
        return SHORT if few else MIDDLE
    values = list(arguments.values())
    max_characters, marks = _TINY.get(next(iter(arguments)), (0, ""))
    if not _is_long(values, max_characters):
        text = repr(values)
        if len(text) <= max_characters and sum(map(text.count, marks)) <= 2 * TINY_SAMPLES:
            return TINY
    max_short = _FEW_ROWS if "rows" in arguments else _FEW
    return MIDDLE if "sets" in arguments or _is_long(values, max_short) else SHORT


def _is_long(value: object, limit: int) -> bool:
    """Return whether Python writes a value with more characters than a limit, approximately.

    `repr` would stop the whole server while it writes a large value.
    """
    waiting, length = [value], 0
    while waiting and length <= limit:
        one = waiting.pop()
        length += len(one) + 2 if isinstance(one, str) else _NUMBER
        if isinstance(one, list | dict) and len(one) > limit:
            return True
        if isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
    return length > limit
