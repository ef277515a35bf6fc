"""Every number in the text of README has a source, which benchmarks/README.md lists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]
SOURCES = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
# Names, definitions and references that contain digits, but state no result.
NAMES = (
    r"all-MiniLM-L6-v2|Inception v3|DINOv2|gpt-4o|gemini-1\.5-pro|arXiv [\d.]+|TMLR \d{4}|"
    r"Apache 2\.0|Python 3\.11|<http://localhost:8000>|q = [01∞]|lies between 1|a line from 1"
)


def rows() -> list[tuple[str, str]]:
    """Return the quotes of README and their sources, from the table."""
    table = SOURCES.partition("| number in README | source |\n|---|---|\n")[2].partition("\n\n")[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return [(quote.replace("\\n", "\n"), source) for quote, source in cells]


def remove_code_and_tables(text: str) -> str:
    """Remove code, generated tables, the targets of links, and the tables of names."""
    for pattern in (
        r"```.*?```",
        r"<!-- ([\w-]+) -->.*?<!-- /\1 -->",
        r"(?<=\])\([^)]*\)",
        r"^\|.*$",
    ):
        text = re.sub(
            pattern,
            "",
            text,
            flags=re.DOTALL if "```" in pattern or "<!--" in pattern else re.MULTILINE,
        )
    return text


def test_quotes_occur_in_readme_and_sources_exist():
    for quote, source in rows()[:-1]:
        assert quote in README, quote
        for path in re.findall(r"\]\(([^)]+)\)", source):
            assert (ROOT / "benchmarks" / path).exists(), path


def test_every_number_in_the_text_has_a_source():
    text = README
    for quote, _ in rows()[:-1]:
        assert re.search(r"\d", quote), f"a quote without a number: {quote}"
        text = text.replace(quote, "")
    text = re.sub(NAMES, "", remove_code_and_tables(text))
    text = re.sub(r"`[^`]*`", "", text)
    remaining = [line for line in text.splitlines() if re.search(r"\d", line)]
    assert remaining == []


def test_generated_blocks_of_readme_are_known():
    names = set(re.findall(r"<!-- ([\w-]+) -->", README)) - {"test"}
    assert names == {"typical-few", "wording", "speed-short"}
