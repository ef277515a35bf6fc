"""Python code and addresses that the page shows: of its Space if it runs in one."""

import configparser
import os
import re
from pathlib import Path

# Samples and arguments of more characters than this are not written out.
INLINE = 1_500
GIT_CONFIG = Path(__file__).parents[2] / ".git" / "config"
_REMOTE = re.compile(
    r"(?:(?:https|ssh)://(?:[^@/]+@)?|git@)(?P<host>[\w.-]+)(?::\d+(?=/))?[:/](?P<path>[\w./~-]+?)"
    r"(?:\.git)?/?",
    re.ASCII,
)


def format_score_call(samples: str, options: str) -> str:
    """Write Python that scores samples: by this Space if the page runs in one, else the package."""
    suffix = f", {options}" if options else ""
    if space := os.environ.get("SPACE_ID"):
        return f'evaluate.load("{space}").compute(samples={samples}{suffix})'
    return f"vendiscore.compute({samples}{suffix})"


def format_import(modules: str) -> str:
    """Write the import of what `format_score_call` needs, and of these modules."""
    caller = "evaluate" if os.environ.get("SPACE_ID") else "vendiscore"
    return f"import {caller}, {modules}" if modules else f"import {caller}"


def list_links() -> dict[str, str]:
    """Return addresses of code, documentation and citation: of the Space, or where a clone is from.

    Empty if neither is known.
    """
    space = os.environ.get("SPACE_ID")
    address = f"https://huggingface.co/spaces/{space}" if space else _read_origin(GIT_CONFIG)
    if not address:
        return {}
    return {
        "Code": f"{address}/tree/main",
        "Documentation": f"{address}/tree/main/docs",
        "How to cite": f"{address}/blob/main/CITATION.cff",
    }


def _read_origin(path: Path) -> str:
    """Read the web address of the remote "origin" of a clone, without credentials; "" if none."""
    config = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        config.read(path, encoding="utf-8")
    except (OSError, ValueError, configparser.Error):
        return ""
    url = config.get('remote "origin"', "url", fallback="")
    match = _REMOTE.fullmatch(url)
    return f"https://{match['host']}/{match['path']}" if match else ""
