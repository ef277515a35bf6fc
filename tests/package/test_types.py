"""Types that mean something: few places say `Any`, and no name stands for it."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {
    path.relative_to(ROOT): path.read_text(encoding="utf-8")
    for folder in ("vendiscore", "vendiscore_page")
    for path in (ROOT / folder).rglob("*.py")
}


def test_few_places_take_any_type():
    assert sum(len(re.findall(r"\bAny\b", text)) for text in TEXTS.values()) <= 170  # 1,650 once


def test_no_name_of_a_type_stands_for_any():
    hidden = [
        f"{path}: {ast.unparse(node)}"
        for path, text in TEXTS.items()
        for node in ast.parse(text).body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
        if ast.unparse(node.value).strip("'") == "Any"
    ]
    assert hidden == []
