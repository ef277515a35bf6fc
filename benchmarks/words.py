"""Count the words of the documents: in tables, in prose, and in code, for each file.

python benchmarks/words.py            # prints a row for each file, and the sums that are limited

A word is what stands between spaces. Prose is what is neither in a table nor in a block of code.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Counts = tuple[int, int, int]


def pages() -> list[Path]:
    """Return the README and all pages below docs/ but built ones."""
    docs = ROOT / "docs"
    written = (path for path in docs.rglob("*.md") if not path.is_relative_to(docs / "_build"))
    return [ROOT / "README.md", *sorted(written)]


def counts(text: str) -> Counts:
    """Return the words of a page in tables, in prose and in blocks of code."""
    tables = prose = code = 0
    inside = False
    for line in text.splitlines():
        if line.strip().startswith("```"):
            inside = not inside
        elif inside:
            code += len(line.split())
        elif line.lstrip().startswith("|"):
            tables += len(line.replace("|", " ").split())
        else:
            prose += len(line.split())
    return tables, prose, code


def counted() -> dict[str, Counts]:
    """Return the counts of each page by its path."""
    return {path.relative_to(ROOT).as_posix(): counts(path.read_text("utf-8")) for path in pages()}


def sums(every: dict[str, Counts]) -> dict[str, int]:
    """Return the sums that tests limit."""
    rest = {name: row for name, row in every.items() if name != "docs/papers.md"}
    decisions, papers = every["docs/decisions.md"], every["docs/papers.md"]
    return {
        "README.md": sum(every["README.md"]),
        "tables, but of papers": sum(row[0] for row in rest.values()),
        "prose, but of papers and decisions": sum(row[1] for row in rest.values()) - decisions[1],
        "decisions": sum(decisions),
        "tables of papers": papers[0],
        "prose of papers": papers[1],
    }


if __name__ == "__main__":
    every = counted()
    for name, row in sorted(every.items(), key=lambda item: -sum(item[1][:2])):
        print(*(f"{count:6,}" for count in row), f" {name}")
    for name, count in sums(every).items():
        print(f"{count:6,}  {name}")
