"""No name of a type is another name of `Any`."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {
    path.relative_to(ROOT): path.read_text(encoding="utf-8")
    for folder in ("vendiscore", "vendiscore_page")
    for path in (ROOT / folder).rglob("*.py")
}


def test_no_name_of_a_type_stands_for_any():
    hidden = [
        f"{path}: {ast.unparse(node)}"
        for path, text in TEXTS.items()
        for node in ast.parse(text).body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
        if ast.unparse(node.value).strip("'") == "Any"
    ]
    assert hidden == []
