"""`vendiscore page`: serve the web app on this machine until interrupted."""

from argparse import Namespace
from importlib.util import find_spec

from ...support.optional import MissingPackageError


def run_page(args: Namespace) -> str:
    """Serve the web app until the user interrupts it; the output is empty."""
    if find_spec("gradio") is None:
        raise MissingPackageError(
            "gradio", "app", "the web app", "pip install -e '.[app]' in a clone of the repository"
        )
    from vendiscore_page.serving.server import build, launch

    try:
        launch(build(), server_port=args.port or None)  # None for the first free port
    except (OSError, OverflowError):
        raise OSError(f"port {args.port} is not available; pass another --port") from None
    return ""
