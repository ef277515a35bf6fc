"""Examples in documents and in the `kernels` folder run."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNEL_FILES = sorted((ROOT / "kernels").glob("*.py"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("path", KERNEL_FILES, ids=lambda path: path.stem)
def test_examples_in_kernels_folder_run(path):
    module = importlib.import_module(f"vendiscore.kernels.{path.stem}")
    assert Path(module.__file__) == path
    assert doctest.testmod(module, optionflags=FLAGS).failed == 0


PAGES = [ROOT / "kernels" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")]


@pytest.mark.usefixtures("restored_registries")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_document_run(page):
    assert doctest.testfile(str(page), False, optionflags=FLAGS).failed == 0
