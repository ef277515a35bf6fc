"""Write the tables of README.md that come from the registry and from benchmark results.

python benchmarks/readme.py            # rewrites the marked blocks
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

from vendiscore.catalogue import markdown

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def speed() -> str:
    """Medians of ours and theirs, from all results that hold pairs."""
    lines = ["| | ours | peer | faster |", "|---|---|---|---|"]
    for path in sorted(RESULTS.glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")).get("rows", []):
            if "times_faster" in row:
                cells = [row["name"], f"{row['ours_s']:.3g} s", f"{row['theirs_s']:.3g} s"]
                lines.append(f"| {' | '.join(cells)} | {row['times_faster']:.3g} × |")
    return "\n".join(lines)


BLOCKS: dict[str, Callable[[], str]] = {"kernels": markdown, "speed": speed}


def rendered(text: str) -> str:
    """The README with every marked block made anew."""
    for name, render in BLOCKS.items():
        pattern = rf"(<!-- {name}\b[^>]*-->\n).*?(<!-- /{name} -->)"
        text = re.sub(pattern, lambda m, r=render: f"{m[1]}{r()}\n{m[2]}", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(rendered(readme.read_text(encoding="utf-8")), encoding="utf-8")
