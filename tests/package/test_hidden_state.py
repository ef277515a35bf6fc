"""Nothing asks if an attribute was computed before, nor is computed for its side effect alone."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "vendiscore"
CODE = [path for path in sorted(PACKAGE.rglob("*.py")) if PACKAGE / "app" not in path.parents]
# Methods of a dictionary of attributes that read or drop one of them.
ONE_BY_ONE = {"get", "pop", "setdefault"}


def is_vars(node):
    """Return whether an expression is a dictionary of attributes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "vars"
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def is_hidden(node):
    """Return whether what happened before decides what this does, or will decide for others."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__dict__" or (is_vars(node.value) and node.attr in ONE_BY_ONE)
    if isinstance(node, ast.Compare):
        return any(map(is_vars, node.comparators))
    if isinstance(node, ast.Subscript):
        return is_vars(node.value)
    if isinstance(node, ast.Delete):
        return any(isinstance(target, ast.Attribute) for target in node.targets)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Attribute)
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets] == ["_"]
    return False


@pytest.mark.parametrize(
    "code",
    [
        "x.__dict__",
        "'K' in vars(x)",
        "vars(x)['K']",
        "vars(x).pop('K', None)",
        "del x.K",
        "x.K",
        "_ = x.K",
        "_ = x.K if y else None",
    ],
)
def test_hidden_state_is_noticed(code):
    assert any(map(is_hidden, ast.walk(ast.parse(code))))


@pytest.mark.parametrize("code", ["del x['K']", "x.K = 1", "y = x.K", "vars(x).update(y)", "f(x)"])
def test_what_is_plain_is_no_hidden_state(code):
    assert not any(map(is_hidden, ast.walk(ast.parse(code))))


def test_no_module_has_hidden_state():
    lines = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in CODE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if is_hidden(node)
    ]
    assert lines == []
