"""The link "Edit this page" and the menu of versions, if the addresses of the project are known.

The addresses are "Repository" and "Documentation" of `[project.urls]` in pyproject.toml, or the
environment variables VENDISCORE_REPOSITORY and VENDISCORE_DOCUMENTATION. Without them, pages have
neither the link nor the menu, and send no requests.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sphinx.application import Sphinx

# Pages whose text is in a file outside docs/, or in a file of another name.
SOURCES = {"changelog": "CHANGELOG.md", "gallery/index": "docs/tutorials/README.rst"}


def read_addresses(pyproject: Path, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the addresses of the repository and of the documentation; "" if one is unknown.

    Raises a ValueError if an address does not begin with https://.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    addresses = []
    for name in ("Repository", "Documentation"):
        variable = f"VENDISCORE_{name.upper()}"
        address = environment.get(variable, project.get("urls", {}).get(name, ""))
        if address and not (address.startswith("https://") and urlsplit(address).hostname):
            raise ValueError(
                f"the address {name!r} must begin with https://, got {address!r}; correct it in "
                f"[project.urls] of pyproject.toml, or in the variable {variable}"
            )
        addresses.append(address.rstrip("/"))
    return addresses[0], addresses[1]


def edit_address(repository: str, page: str, suffix: str) -> str:
    """Return the address of a form that edits the source of a page on the branch `main`."""
    path = SOURCES.get(page, f"docs/{page}{suffix}")
    if page.startswith("gallery/") and page not in SOURCES:  # written by Sphinx from a program
        path = f"docs/tutorials/{page.removeprefix('gallery/')}.py"
    host = urlsplit(repository).hostname or ""
    return f"{repository}{'/-' if 'gitlab' in host else ''}/edit/main/{path}"


def add_addresses(
    app: Sphinx, page: str, template: str, context: dict[str, Any], document: object
) -> None:
    """Pass the addresses to the templates of a page."""
    if app.config.repository_address and (suffix := context.get("page_source_suffix")):
        address = edit_address(app.config.repository_address, page, suffix)
        context["theme_source_edit_link"] = address
    context["documentation_address"] = app.config.documentation_address


def add_script(app: Sphinx) -> None:
    """Load the script of the menu, if the address of the documentation is known."""
    if app.config.documentation_address:
        app.add_js_file("versions.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("repository_address", "", "html", str)
    app.add_config_value("documentation_address", "", "html", str)
    app.connect("builder-inited", add_script)
    app.connect("html-page-context", add_addresses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
