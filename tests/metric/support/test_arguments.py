"""Scalar arguments are converted to Python types; errors name the argument."""

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


def test_checks_convert_scalars_to_python_types():
    assert type(check_int("ns", np.int8(3))) is int
    for value in (3, 3.0, np.float16(3), np.array(3), Fraction(3), Decimal(3)):
        assert (check_float("sigma", value, "a number"), type(check_float("sigma", value, ""))) == (
            3,
            float,
        )
    assert check_bool("details", np.True_) is True
    assert check_choice("psd", "clip", ("check", "clip")) == "clip"
    assert not has_gradient([np.ones(3), "a"])


def test_has_gradient_detects_gradients_in_containers():
    torch = pytest.importorskip("torch")
    tensor, constant = torch.ones(2, requires_grad=True), torch.ones(2)
    for value in (tensor, [constant, tensor], ("a", tensor), {"x": [tensor]}):
        assert has_gradient(value)
    for value in (constant, [constant], ["a", 1], {"x": constant}, [], 3.0):
        assert not has_gradient(value)


@pytest.mark.parametrize("value", [True, np.True_, "3", b"3", 3j, np.complex64(3), None, [3], "x"])
def test_check_float_and_check_int_reject_other_types(value):
    for check_value in (lambda: check_float("x", value, "a number"), lambda: check_int("x", value)):
        with pytest.raises(TypeError, match=r"^`x` must be an? "):
            check_value()


def iter_defaults(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield names and defaults of parameters and class fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            positional = [*node.posonlyargs, *node.args]
            keyword_only = zip(node.kwonlyargs, node.kw_defaults, strict=True)
            for arg, default in [
                *zip(positional[::-1], node.defaults[::-1], strict=False),
                *keyword_only,
            ]:
                if default is not None:
                    yield arg.arg, default
        if isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and field.value is not None:
                    yield ast.unparse(field.target), field.value


def test_functions_use_default_order_as_default():
    """Inspect the source, because importing all modules would import torch and the web app."""
    allowed = ("DEFAULT_ORDER", "(DEFAULT_ORDER,)")
    result = [
        (path.name, name, ast.unparse(default))
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, default in iter_defaults(ast.parse(path.read_text(encoding="utf-8")))
        if name in ("q", "order", "orders")
    ]
    assert [row for row in result if row[2] not in (*allowed, "()", "None")] == []
    assert sum(row[2] in allowed for row in result) > 20


def test_changed_default_order_applies_to_all_functions():
    """Run a process that sets the default order to 2 before it imports other modules."""
    program = """
import importlib.util, sys
folder = importlib.util.find_spec("vendiscore").submodule_search_locations[0]
name = "vendiscore.support.arguments"
spec = importlib.util.spec_from_file_location(name, folder + "/support/arguments.py")
arguments = sys.modules[name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(arguments)
arguments.DEFAULT_ORDER = 2
import vendiscore
texts = ["a b", "a c", "d e", "d e"]
assert vendiscore.compute(texts) == vendiscore.compute(texts, q=2)
assert vendiscore.sources({"x": texts, "y": texts[::-1]}).q == 2
"""
    command = [sys.executable, "-c", program]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert process.returncode == 0, process.stderr


def test_check_order_converts_orders_and_checks_bounds():
    assert [check_order(q) for q in (0, 0.5, np.int64(2), "inf")] == [0.0, 0.5, 2.0, math.inf]
    assert check_order(2, allow_zero=False, max_value=2) == 2
    for q, bounds, message in (
        (-1, {}, r"`q` must be a number in \[0, inf\] or 'inf', got -1; the default is q=1"),
        (math.nan, {}, "got nan"),
        (0, {"allow_zero": False}, "must be an order above 0, got 0; use a small order"),
        (2.5, {"allow_zero": False, "max_value": 2}, "an order above 0 and at most 2, got 2.5"),
    ):
        with pytest.raises(ValueError, match=message):
            check_order(q, **bounds)
    for q in ("1", [1], True, None):
        with pytest.raises(TypeError, match="`q` must be a number in"):
            check_order(q)
