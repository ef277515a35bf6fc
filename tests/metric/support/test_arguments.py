"""One argument of any scalar type is read as a plain value, or refused by its name."""

import ast
import math
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from vendiscore.support.arguments import (
    check_bool,
    check_choice,
    check_float,
    check_int,
    check_order,
    has_gradient,
)

PACKAGE = Path(__file__).resolve().parents[3] / "vendiscore"


def test_scalars_of_all_kinds_become_plain_values():
    assert type(check_int("ns", np.int8(3))) is int
    for value in (3, 3.0, np.float16(3), np.array(3), Fraction(3), Decimal(3)):
        assert (check_float("sigma", value, "a number"), type(check_float("sigma", value, ""))) == (
            3,
            float,
        )
    assert check_bool("details", np.True_) is True
    assert check_choice("psd", "clip", ("check", "clip")) == "clip"
    assert not has_gradient([np.ones(3), "a"])


def test_a_gradient_is_detected_inside_containers():
    torch = pytest.importorskip("torch")
    tensor, constant = torch.ones(2, requires_grad=True), torch.ones(2)
    for value in (tensor, [constant, tensor], ("a", tensor), {"x": [tensor]}):
        assert has_gradient(value)
    for value in (constant, [constant], ["a", 1], {"x": constant}, [], 3.0):
        assert not has_gradient(value)


@pytest.mark.parametrize("value", [True, np.True_, "3", b"3", 3j, np.complex64(3), None, [3], "x"])
def test_other_values_are_no_numbers(value):
    for read in (lambda: check_float("x", value, "a number"), lambda: check_int("x", value)):
        with pytest.raises(TypeError, match=r"^`x` must be an? "):
            read()


def defaults(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of parameters, and of fields of classes, with their defaults."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            places = [*node.posonlyargs, *node.args]
            named = zip(node.kwonlyargs, node.kw_defaults, strict=True)
            for arg, default in [*zip(places[::-1], node.defaults[::-1], strict=False), *named]:
                if default is not None:
                    yield arg.arg, default
        if isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and field.value is not None:
                    yield ast.unparse(field.target), field.value


def test_every_function_takes_the_default_order_from_one_place():
    """Read from the source: whoever imports all modules imports torch and the page with them."""
    usual = ("DEFAULT_ORDER", "(DEFAULT_ORDER,)")
    result = [
        (path.name, name, ast.unparse(default))
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, default in defaults(ast.parse(path.read_text(encoding="utf-8")))
        if name in ("q", "order", "orders")
    ]
    assert [row for row in result if row[2] not in (*usual, "()", "None")] == []
    assert sum(row[2] in usual for row in result) > 20


def test_calls_take_the_default_order_from_there():
    """In a process of its own, where the default is 2 before any other module is loaded."""
    program = """
import importlib.util, sys
place = importlib.util.find_spec("vendiscore").submodule_search_locations[0]
name = "vendiscore.support.arguments"
spec = importlib.util.spec_from_file_location(name, place + "/support/arguments.py")
arguments = sys.modules[name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(arguments)
arguments.DEFAULT_ORDER = 2
import vendiscore
texts = ["a b", "a c", "d e", "d e"]
assert vendiscore.compute(texts) == vendiscore.compute(texts, q=2)
assert vendiscore.sources({"x": texts, "y": texts[::-1]}).q == 2
"""
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_an_order_is_read_in_one_way_within_the_bounds_of_a_function():
    assert [check_order(q) for q in (0, 0.5, np.int64(2), "inf")] == [0.0, 0.5, 2.0, math.inf]
    assert check_order(2, allow_zero=False, max_value=2) == 2
    for q, bounds, said in (
        (-1, {}, r"`q` must be a number in \[0, inf\] or 'inf', got -1; the default is q=1"),
        (math.nan, {}, "got nan"),
        (0, {"allow_zero": False}, "must be an order above 0, got 0; use a small order"),
        (2.5, {"allow_zero": False, "max_value": 2}, "an order above 0 and at most 2, got 2.5"),
    ):
        with pytest.raises(ValueError, match=said):
            check_order(q, **bounds)
    for q in ("1", [1], True, None):
        with pytest.raises(TypeError, match="`q` must be a number in"):
            check_order(q)
