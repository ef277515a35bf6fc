"""Plain English in the code: docstrings begin with verbs, and sentences have a subject.

The first line of a function's docstring is a sentence in the imperative, no sentence begins with
"What", "Which", "That", "Those" or "Of" unless it asks, and no listed phrase stands anywhere.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("vendiscore", "vendiscore_page", "kernels", "examples", "benchmarks", "tests")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PAGES = [
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "kernels" / "README.md"]
    if not path.is_relative_to(ROOT / "docs" / "_build")
]
# A function's docstring begins with one of these verbs. Add a verb that is missing.
VERBS = set((ROOT / "tests" / "support" / "imperative_verbs.txt").read_text().split())
PHRASES = re.compile(
    r"\b(?:those of|these of|that of|is no|are no|was no|were no|is told|are told|is said|are said|"
    r"what came|as it came|as they came|beside|digits behind)\b",
    re.IGNORECASE,
)
HEADLESS = re.compile(r"(?:What|Which|That|Those|Of|How|Whether|Why)\b(?!,)")  # `How, str`: types
SENTENCE = re.compile(r"(?<=[.!?:;])\s+")


@cache
def docstrings(path: Path) -> list[tuple[ast.AST, str]]:
    """Return the nodes of a file that have a docstring, with it."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = [(node, ast.get_docstring(node)) for node in nodes if isinstance(node, kinds)]
    return [(node, text) for node, text in found if text]


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments; lines that follow one another are one text."""
    line, text = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        own = token.string.lstrip("# ")
        if token.start[0] == line + 1 and token.line.lstrip().startswith("#"):
            text += f" {own}"
        else:
            yield line, text
            text = own
        line = token.start[0]
    yield line, text


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Yield paragraphs of a page: no code, no tables, no formulas, no generated blocks."""
    text = page.read_text(encoding="utf-8")
    hidden = r"^(`{3,}|:{3,}).*?^\1\s*$|<!-- ([\w-]+).*?<!-- /\2 -->|\A---.*?^---$|\$\$.*?\$\$"
    text = re.sub(
        hidden, lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE
    )
    line = 1
    for paragraph in text.split("\n\n"):
        if not paragraph.lstrip().startswith(("|", ">>>")):
            yield line, paragraph
        line += paragraph.count("\n") + 2


def faults(text: str) -> Iterator[str]:
    """Yield phrases and sentences of a text that an outsider would stumble over."""
    text = re.sub(r"``?[^`]*``?|\"[^\"\n]*\"|“[^”]*”", "x", text.partition(">>>")[0])
    yield from (match[0] for match in PHRASES.finditer(text))
    for sentence in SENTENCE.split(" ".join(text.split())):
        if HEADLESS.match(sentence) and not sentence.endswith("?"):
            yield sentence[:60]


def is_function(node: ast.AST) -> bool:
    """Return whether a node is a function that is called: no property, no fixture of tests."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    named = {ast.unparse(each).split("(")[0].rpartition(".")[2] for each in node.decorator_list}
    return not named & {"property", "cached_property", "fixture"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_functions_say_what_to_do(folder):
    """Kernels and measures are definitions: their first line is a formula or a noun."""
    wrong = []
    for path in (path for path in FILES if path.is_relative_to(ROOT / folder)):
        for node, text in docstrings(path):
            defined = [ast.unparse(each) for each in getattr(node, "decorator_list", [])]
            if any("register" in each for each in defined) or not is_function(node):
                continue
            if text.split()[0].strip(",.:;") not in VERBS and not node.name.startswith("test"):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {text[:60]!r}")
    assert wrong == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_and_comments_are_plain_english(folder):
    wrong = []
    for path in (path for path in FILES if path.is_relative_to(ROOT / folder)):
        texts = [(getattr(node, "lineno", 1), text) for node, text in docstrings(path)]
        for line, text in [*texts, *comments(path.read_text(encoding="utf-8"))]:
            wrong += [f"{path.relative_to(ROOT)}:{line} {fault!r}" for fault in faults(text)]
    assert wrong == []


def test_pages_are_plain_english():
    wrong = [
        f"{page.relative_to(ROOT)}:{line} {fault!r}"
        for page in PAGES
        for line, text in prose(page)
        for fault in faults(text)
    ]
    assert wrong == []


def test_a_fault_is_found():
    assert [*faults("Those of distinct points.")] == ["Those of", "Those of distinct points."]
    assert [*faults("Return a number; what is it?")] == []
    assert [*faults("This is no number.")] == ["is no"]
