"""`vendiscore page`: serve the web app on this machine until interrupted."""

from argparse import Namespace
from importlib.util import find_spec

from ...support.optional import MissingPackageError

# Modules that the web app needs, besides those that the kinds of samples need.
_MODULES = ("starlette", "uvicorn", "python_multipart", "mcp")


def run_page(args: Namespace) -> str:
    """Serve the web app until the user interrupts it; the output is empty."""
    try:
        serve(args.port or None, args.gradio)
    except (OSError, OverflowError):
        raise OSError(f"port {args.port} is not available; pass another --port") from None
    return ""


def serve(port: int | None = None, has_gradio: bool = False) -> None:
    """Serve the web app, by default at the first free port; `has_gradio` for gradio's clients."""
    for module in (*_MODULES, *(["gradio"] if has_gradio else [])):
        if find_spec(module) is None:
            extra, purpose = "app", "the web app"
            if module == "gradio":
                extra, purpose = "gradio", "the API for clients of gradio"
            command = f"pip install -e '.[{extra}]' in a clone of the repository"
            raise MissingPackageError(module, extra, purpose, command)
    from vendiscore_page.serving.server import build, launch

    launch(build(has_gradio=has_gradio), port)
