"""The link "Edit this page" and the menu of versions appear once the addresses are known."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/someone/vendiscore"
DOCUMENTATION = "https://someone.example.org/vendiscore"

pytest.importorskip("sphinx")
pytest.importorskip("furo")
pytest.importorskip("myst_parser")


def load_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hosting = load_module(DOCS / "extensions" / "hosting.py")
documentation = load_module(ROOT / ".ci" / "documentation.py")


def build_page(folder: Path, **settings: str) -> str:
    """Build a page with the theme, templates and extension of the site; return its HTML."""
    folder.mkdir()
    (folder / "index.md").write_text("# Title\n", encoding="utf-8")
    settings |= {
        "extensions": "myst_parser,hosting",
        "html_theme": "furo",
        "html_copy_source": "0",
        "html_static_path": str(DOCS / "static"),
        "templates_path": str(DOCS / "templates"),
    }
    options = [part for item in settings.items() for part in ("-D", "=".join(item))]
    code = f"import sys; sys.path.insert(0, {str(DOCS / 'extensions')!r})\n"
    code += "from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "-q", "-W", "-C", *options, str(folder)]
    subprocess.run([*command, str(folder / "html")], check=True)
    return (folder / "html" / "index.html").read_text(encoding="utf-8")


def test_pages_have_neither_link_nor_menu_without_addresses(tmp_path: Path) -> None:
    html = build_page(tmp_path / "page")
    assert "edit-this-page" not in html
    assert "versions" not in html


def test_pages_have_link_and_menu_with_addresses(tmp_path: Path) -> None:
    html = build_page(
        tmp_path / "page", repository_address=REPOSITORY, documentation_address=DOCUMENTATION
    )
    assert html.count(f'href="{REPOSITORY}/edit/main/docs/index.md"') == 1
    assert "view-this-page" not in html
    assert f'<details class="versions" data-site="{DOCUMENTATION}/" hidden>' in html
    assert html.count("_static/versions.js") == 1


def test_each_address_is_optional(tmp_path: Path) -> None:
    html = build_page(tmp_path / "edit", repository_address=REPOSITORY)
    assert "edit-this-page" in html
    assert "versions" not in html
    html = build_page(tmp_path / "menu", documentation_address=DOCUMENTATION)
    assert "edit-this-page" not in html
    assert "versions.js" in html


def read_addresses(folder: Path, urls: str, **environment: str) -> tuple[str, str]:
    (folder / "pyproject.toml").write_text(f'[project]\nname = "x"\n{urls}', encoding="utf-8")
    return hosting.read_addresses(folder / "pyproject.toml", environment)


def test_addresses_are_read_from_pyproject_or_environment(tmp_path: Path) -> None:
    assert read_addresses(tmp_path, "") == ("", "")
    urls = f'[project.urls]\nRepository = "{REPOSITORY}/"\nDocumentation = "{DOCUMENTATION}/"\n'
    assert read_addresses(tmp_path, urls) == (REPOSITORY, DOCUMENTATION)
    environment = {"VENDISCORE_REPOSITORY": "https://gitlab.com/a/b"}
    assert read_addresses(tmp_path, urls, **environment) == (
        "https://gitlab.com/a/b",
        DOCUMENTATION,
    )
    assert read_addresses(tmp_path, urls, VENDISCORE_DOCUMENTATION="") == (REPOSITORY, "")


@pytest.mark.parametrize(
    "address", ["http://example.org", "example.org", "https://", "javascript:"]
)
def test_addresses_without_https_are_rejected(tmp_path: Path, address: str) -> None:
    with pytest.raises(ValueError, match=r"'Repository' must begin with https://.*pyproject\.toml"):
        read_addresses(tmp_path, f'[project.urls]\nRepository = "{address}"\n')


@pytest.mark.parametrize(
    ("page", "suffix"),
    [
        ("index", ".md"),
        ("tasks/large", ".md"),
        ("changelog", ".md"),
        ("gallery/index", ".rst"),
        ("gallery/collapse", ".rst"),
    ],
)
def test_edit_address_names_existing_file(page: str, suffix: str) -> None:
    for repository, form in ((REPOSITORY, "/edit/"), ("https://gitlab.com/a/b", "/-/edit/")):
        address = hosting.edit_address(repository, page, suffix)
        start = f"{repository}{form}main/"
        assert address.startswith(start)
        assert (ROOT / address.removeprefix(start)).is_file()


def test_latest_patches_of_latest_minor_versions_are_published() -> None:
    tags = ["v0.9.0", "v0.10.0", "v0.10.2", "v0.10.1", "v0.11.0", "v0.8.5", "0.12.0", "v1.0.0rc1"]
    assert documentation.select_releases(tags) == ["0.11.0", "0.10.2", "0.9.0"]
    assert documentation.select_releases([]) == []


@pytest.mark.parametrize("releases", [[], ["0.6.0", "0.5.1"]])
def test_site_has_folder_of_each_version_and_their_list(tmp_path, monkeypatch, releases) -> None:
    def build(version: str, folder: Path) -> None:
        folder.mkdir()
        (folder / "index.html").write_text(version)

    monkeypatch.setattr(
        documentation, "build_documentation", lambda python, clone, folder: build("dev", folder)
    )
    site = tmp_path / "site"
    documentation.build_site(site, releases, build)
    versions = json.loads((site / "versions.json").read_text(encoding="utf-8"))
    assert versions == [*releases, "dev"]
    assert [(site / version / "index.html").read_text() for version in versions] == versions
    assert f"url={versions[0]}/" in (site / "index.html").read_text(encoding="utf-8")
