"""List every sentence that a visitor of the page can see, to be read aloud.

python benchmarks/page_sentences.py > benchmarks/results/page_sentences.txt
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "vendiscore_page" / "static"
# Modules whose literals reach the page, as patterns.
MODULES = [
    "vendiscore_page/answers/*.py",
    "vendiscore_page/inputs/*.py",
    "vendiscore_page/serving/*.py",
    "vendiscore_page/quotas.py",
    "vendiscore/analysis/*.py",
    "vendiscore/analysis/comparison.py",
    "vendiscore/plots/[cfs]*.py",
    "vendiscore/reading/*.py",
    "vendiscore/report/figures.py",
    "vendiscore/report/source_report.py",
    "vendiscore/scoring/typical.py",
    "vendiscore/analysis/between_sources.py",
    "vendiscore/analysis/source_scores.py",
]
GAP = "…"  # stands for a value
_SPOKEN = ("aria-label", "placeholder", "alt", "title", "content")
_COMMENT_OR_STRING = re.compile(
    r"//[^\n]*|/\*.*?\*/|(?<=[(=:,n]) ?/(?:\[(?:\\.|[^\]\\])*\]|\\.|[^/\\\n])+/|[\"'`{}]", re.DOTALL
)
_UNSEEN = re.compile(r"(class|role|from|data-at\"): ?$|import $|querySelector(All)?\($")
_CODE = re.compile(
    r"\w=|=>|\w\[|\w\(|\bimport | as (np|pd)\b|^[\w./-]*$|</|: ?[\w#]+;|^[MmLl]\d|^\W*$"
)


def javascript(source: str) -> list[str]:
    """Return the strings of JavaScript, with a gap for each value of a template."""
    found: list[str] = []
    _code(source, 0, found)
    return found


def _code(source: str, at: int, found: list[str]) -> int:
    """Read code up to the brace that closes it; return the place behind it."""
    depth = 0
    while match := _COMMENT_OR_STRING.search(source, at):
        at, sign = match.end(), match.group()
        if sign in ("'", '"', "`"):
            text, at = _string(source, at, sign, found)
            if not _UNSEEN.search(source[: match.start()]):
                found.append(text)
        elif sign == "}" and not depth:
            return at
        else:
            depth += {"{": 1, "}": -1}.get(sign, 0)
    return len(source)


def _string(source: str, at: int, quote: str, found: list[str]) -> tuple[str, int]:
    text = ""
    while source[at] != quote:
        if quote == "`" and source.startswith("${", at):
            text, at = text + GAP, _code(source, at + 2, found)
        else:
            step = 2 if source[at] == "\\" else 1
            text, at = text + source[at : at + step], at + step
    return text, at + 1


def python(source: str) -> list[str]:
    """Return the strings of Python but for docstrings, with a gap for each formatted value."""
    nodes = list(ast.walk(ast.parse(source)))
    apart = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        apart |= set(map(id, node.values)) if isinstance(node, ast.JoinedStr) else set()
    strings = [node for node in nodes if _literal(node) and id(node) not in apart]
    return [_literal(node) for node in sorted(strings, key=lambda x: (x.lineno, x.col_offset))]


def _literal(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return (
        "".join(_literal(x) or GAP for x in node.values) if isinstance(node, ast.JoinedStr) else ""
    )


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in _SPOKEN]

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def html(source: str) -> list[str]:
    """Return the texts of HTML, and what its attributes say."""
    page = _Page()
    page.feed(source)
    return page.found


def sentences() -> Iterator[tuple[str, list[str]]]:
    """Yield each file with what it shows or says, in the order of the file."""
    files = chain(STATIC.rglob("*.html"), STATIC.rglob("*.js"), *map(ROOT.glob, MODULES))
    readers = {".html": html, ".js": javascript, ".py": python}
    for path in sorted(set(files)):
        texts = readers[path.suffix](path.read_text(encoding="utf-8"))
        lines = [" ".join(text.split()) for text in texts]
        seen = dict.fromkeys(line for line in lines if " " in line and not _is_code(line))
        if seen:
            yield str(path.relative_to(ROOT)), list(seen)


def _is_code(line: str) -> bool:
    if not re.search(r"(^| )[A-Za-z][a-z]+\b", line.replace(GAP, " ")):
        return True
    return bool(re.match(r"r-|[.#:]\w", line) or (_CODE.search(line) and not line[0].isupper()))


if __name__ == "__main__":
    for name, lines in sentences():
        print(f"\n{name}", *lines, sep="\n  ")
