"""The page, the API and the MCP tools: gradio Blocks around the plain functions of `handlers`."""

from __future__ import annotations

import functools
import inspect
import json
import logging
import os
import re
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.context import LocalContext
from gradio.exceptions import ComponentProcessingError, InvalidPathError

from . import encoders, handlers, tabs, tidy
from .guard import Guard, fetch_nothing
from .limits import IN_WORDS, MAX_UPLOAD
from .shows import EXPECTED, OURS
from .tabs import POOL

_log = logging.getLogger(__name__)
_QUEUE = 40  # who comes later is told that the page is busy
# gradio keeps a copy of the page's settings for each session, and every call of the API is one;
# no handler reads them.
_SESSIONS = 20
_ABOUT = """# How many *effectively different* samples are here?
The **Vendi Score** of a set is a number between 1 (all samples are the same) and *n* (no two have
anything in common). It is read off the spectrum of their similarities. Paste your own, or pick an
example."""


class Page(gr.Blocks):  # type: ignore[misc]
    """The Blocks, with errors of gradio itself that name files of the server kept to the log."""

    async def process_api(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            result: dict[str, Any] = await super().process_api(*args, **kwargs)
        except (OSError, InvalidPathError, ComponentProcessingError):
            _log.exception("gradio failed")
            raise gr.Error(OURS, print_exception=False) from None
        return result


def build() -> gr.Blocks:
    """The page, with a result on every tab. Start it by `launch`."""
    # A folder of its own, so that nothing else is ever swept or served.
    os.environ.setdefault("GRADIO_TEMP_DIR", tempfile.mkdtemp(prefix="vendiscore-"))
    with Page(
        title="Vendi Score: how many effectively different samples?",
        analytics_enabled=False,
        delete_cache=(tidy.EVERY, tidy.KEEP),
    ) as page:
        gr.Markdown(_ABOUT)
        with gr.Tab("Text"):
            tabs.text_tab()
        with gr.Tab("Images"):
            tabs.image_tab()
        with gr.Tab("Molecules"):
            tabs.molecule_tab()
        with gr.Tab("Vectors"):
            tabs.vector_tab()
        with gr.Tab("Compare"):
            tabs.compare_tab()
        gr.Markdown(
            f"**Limits.** {IN_WORDS} Uploads are deleted after 15 minutes at the latest.",
            elem_classes="vs-limits",
        )
        for function in (
            handlers.text,
            handlers.images,
            handlers.molecules,
            handlers.vectors,
            handlers.compare,
        ):
            gr.api(_told(function), api_name=function.__name__, **POOL)
    page.queue(max_size=_QUEUE, default_concurrency_limit=2)
    return page


def launch(page: gr.Blocks, **options: Any) -> Any:
    """Start the server with the settings that the page relies on; `options` as for gradio."""
    from starlette.middleware import Middleware

    fetch_nothing()
    encoders.prepare()
    tidy.start()
    system = ["system-ui", "sans-serif"]
    return page.launch(
        **{
            "theme": gr.themes.Default(
                primary_hue="indigo", font=system, font_mono=["ui-monospace", "monospace"]
            ),
            "css_paths": Path(__file__).with_name("style.css"),
            "max_file_size": MAX_UPLOAD,
            "state_session_capacity": _SESSIONS,
            "max_threads": 12,  # two for the pool, the rest for what is done at once
            "show_error": True,  # of gradio's own checks; ours never let a traceback out
            "ssr_mode": False,
            "run_history": False,
            "enable_monitoring": False,
            "footer_links": ["api", "settings"],
            "mcp_server": find_spec("mcp") is not None,
            "app_kwargs": {"middleware": [Middleware(Guard)]},
            **options,
        }
    )


def _told(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any] | str]:
    """The API function, with what goes wrong as an error that clients are told.

    gradio gives the tools of MCP the first line that describes an argument, and answers them with
    `str` of what it gets: so each is on one line here, and they get JSON.
    """

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> dict[str, Any] | str:
        try:
            answer = function(*args, **kwargs)
        except EXPECTED as error:
            raise gr.Error(str(error), print_exception=False) from None
        except Exception:
            _log.exception("%s failed", function.__name__)
            raise gr.Error(OURS, print_exception=False) from None
        request = LocalContext.request.get(None)
        by_tool = request is not None and request.headers.get("x-gradio-user") == "mcp"
        return json.dumps(answer) if by_tool else answer

    run.__doc__ = re.sub(r"\n {8}", " ", inspect.getdoc(function) or "")
    return run
