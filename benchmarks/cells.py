"""Read results of benchmarks, and write them as tables."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
LOADED: set[str] = set()  # names of result files that were read


def loaded(name: str) -> Any:
    LOADED.add(name)
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %".replace("-", "−")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = list(head)
    lines = [f"| {' | '.join(row)} |" for row in (cells, *rows)]
    text = "\n".join([lines[0], "|---" * len(cells) + "|", *lines[1:]])
    return re.sub(r"(?<=\d) (?=(?:s|×|%|MB|GB) )", "\N{NO-BREAK SPACE}", text)
